//! # What
//! Conversions between encodings by name: CREATE CONVERSION, DROP, COMMENT, ALTER ... RENAME, OWNER, SET SCHEMA.
//!
//! # PostgreSQL counterpart and differences
//! `commands/conversioncmds.c`, `catalog/pg_conversion.c`. What a user makes a default is not asked by `convert` and its kin: they know the
//! built-in conversions, which come first on the usual search path.

use base::{Encoding, Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewConversion, ObjectAddress};
use catalog::system::{pg_conversion as c, pg_proc};
use catalog::{CatalogView, Row, RowExt};
use parse::ast::{CreateConversion, Drop, Name, ObjectName};
use types::oids;

use super::{names, owner, routine_name};
use crate::session::Session;

/// What a function that converts takes.
const ARGUMENTS: [Oid; 6] = [oids::int4, oids::int4, oids::cstring, oids::internal, oids::int4, oids::bool];

/// CREATE CONVERSION.
pub(crate) fn create(session: &Session, statement: &CreateConversion) -> SqlResult<()> {
    let name = names::relation_name(&ObjectName::Name(statement.name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let from = encoding(&statement.from, "source")?;
    let to = encoding(&statement.to, "destination")?;
    if from == Encoding::SqlAscii || to == Encoding::SqlAscii {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "encoding conversion to or from \"SQL_ASCII\" is not supported"
        ));
    }
    let function = routine_name::exact(session, &statement.function, &ARGUMENTS)?;
    check_function(session, (function, &statement.function), from, to)?;
    if session.with_reader(|r| r.conversion_row(&name.name, schema))?.is_some() {
        return Err(sql_err!(DUPLICATE_OBJECT, "conversion \"{}\" already exists", name.name));
    }
    if statement.default && session.with_reader(|r| r.has_default_conversion(schema, from, to))? {
        return Err(sql_err!(
            DUPLICATE_OBJECT,
            "default conversion for {} to {} already exists",
            from.name(),
            to.name()
        ));
    }
    let owner = session.names.user();
    let new =
        NewConversion { name: name.name, schema, owner, from, to, function, default: statement.default };
    session.with_changer(|changer| changer.create_conversion(&new))
}

fn encoding(name: &str, which: &str) -> SqlResult<Encoding> {
    Encoding::find(name)
        .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "{which} encoding \"{name}\" does not exist"))
}

/// The function must be one that PostgreSQL brings along, and for these encodings: no other can be carried out.
fn check_function(
    session: &Session,
    (function, name): (Oid, &Name),
    from: Encoding,
    to: Encoding,
) -> SqlResult<()> {
    let key = [function.into()];
    let row = session.with_reader(|r| r.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &key))?;
    let result = row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_proc::PRORETTYPE));
    if result != oids::int4 {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "encoding conversion function {} must return type integer",
            name.dotted()
        ));
    }
    let all = session.with_reader(|r| r.scan(&c::TABLE))?;
    let own: Vec<&Row> = all
        .iter()
        .map(|(_, row)| row)
        .filter(|row| row.oid(c::CONPROC) == function && row.oid(c::OID).is_pinned())
        .collect();
    let Some(first) = own.first() else {
        return Err(SqlError::not_supported(format!("conversion function {}", name.dotted())));
    };
    let does =
        |row: &&Row| row.int(c::CONFORENCODING) == from.number() && row.int(c::CONTOENCODING) == to.number();
    if own.iter().any(does) {
        return Ok(());
    }
    let (column, which, got) = match own.iter().any(|row| row.int(c::CONFORENCODING) == from.number()) {
        false => (c::CONFORENCODING, "source", from),
        true => (c::CONTOENCODING, "destination", to),
    };
    let expected = Encoding::from_number(first.int(column)).map_or("", Encoding::name);
    Err(SqlError::internal(format!("expected {which} encoding \"{expected}\", but got \"{}\"", got.name())))
}

/// The conversion of a name, the first in the search path; an inner error if there is none.
fn find(session: &Session, object: &ObjectName) -> SqlResult<Result<Row, SqlError>> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal("a conversion was expected"));
    };
    for schema in routine_name::schemas(session, name)? {
        if let Some(row) = session.with_reader(|r| r.conversion_row(name.last(), schema))? {
            return Ok(Ok(row));
        }
    }
    Ok(Err(sql_err!(UNDEFINED_OBJECT, "conversion \"{}\" does not exist", name.dotted())))
}

fn check_owner(session: &Session, row: &Row) -> SqlResult<()> {
    if names::owns(session, row.oid(c::CONOWNER))? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of conversion {}", row.str(c::CONNAME)))
}

/// Refuses a name that is taken in a schema.
fn check_free(session: &Session, name: &str, schema: Oid) -> SqlResult<()> {
    if session.with_reader(|r| r.conversion_row(name, schema))?.is_none() {
        return Ok(());
    }
    let schema = session.with_reader(|r| CatalogView::schema_name(r, schema))?.unwrap_or_default();
    Err(sql_err!(DUPLICATE_OBJECT, "conversion \"{name}\" already exists in schema \"{schema}\""))
}

fn address_of(row: &Row) -> ObjectAddress {
    ObjectAddress::conversion(row.oid(c::OID))
}

/// ALTER CONVERSION ... RENAME TO.
pub(crate) fn rename(session: &Session, object: Option<&ObjectName>, name: &str) -> SqlResult<()> {
    let row = find(session, object.ok_or_else(|| SqlError::internal("RENAME of nothing"))?)??;
    check_owner(session, &row)?;
    let schema = row.oid(c::CONNAMESPACE);
    names::check_creation(session, schema)?;
    check_free(session, name, schema)?;
    session.with_changer(|changer| changer.set_object_name(address_of(&row), c::CONNAME, name))
}

/// ALTER CONVERSION ... OWNER TO.
pub(crate) fn set_owner(session: &Session, object: &ObjectName, new: Oid) -> SqlResult<()> {
    let row = find(session, object)??;
    if row.oid(c::CONOWNER) == new {
        return Ok(());
    }
    check_owner(session, &row)?;
    owner::check_new_owner(session, new, row.oid(c::CONNAMESPACE))?;
    session.with_changer(|changer| changer.set_object_owner(address_of(&row), c::CONOWNER, new))
}

/// ALTER CONVERSION ... SET SCHEMA.
pub(crate) fn set_schema(session: &Session, object: Option<&ObjectName>, schema: &str) -> SqlResult<()> {
    let row = find(session, object.ok_or_else(|| SqlError::internal("SET SCHEMA of nothing"))?)??;
    let to = names::schema_to_move_to(session, schema)?;
    if row.oid(c::CONNAMESPACE) == to {
        return Ok(());
    }
    check_owner(session, &row)?;
    check_free(session, row.str(c::CONNAME), to)?;
    session.with_changer(|changer| changer.set_object_schema(address_of(&row), c::CONNAMESPACE, to))
}

/// What COMMENT names.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let row = find(session, object)??;
    check_owner(session, &row)?;
    Ok(address_of(&row))
}

/// What DROP names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        match find(session, object) {
            Ok(Ok(row)) => {
                if !names::owns_schema(session, row.oid(c::CONNAMESPACE))? {
                    check_owner(session, &row)?;
                }
                objects.push(address_of(&row));
            }
            Ok(Err(missing)) => names::skip_missing(session, statement.missing_ok, missing)?,
            Err(error) if error.code() == SqlState::UNDEFINED_SCHEMA => {
                names::skip_missing(session, statement.missing_ok, error)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(objects)
}
