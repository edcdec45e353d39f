//! # What
//! Conversions between encodings by name: CREATE CONVERSION. For other statements see `schema_object`.
//!
//! # PostgreSQL counterpart and differences
//! `commands/conversioncmds.c`, `catalog/pg_conversion.c`. What a user makes a default is not asked by `convert` and its kin: they know the
//! built-in conversions, which come first on the usual search path.

use base::{Encoding, Oid, SqlError, SqlResult, sql_err};
use catalog::change::{NewConversion, ObjectAddress};
use catalog::system::{pg_conversion as c, pg_proc};
use catalog::{Row, RowExt};
use parse::ast::{CreateConversion, Name, ObjectName};
use session::Session;
use types::oids;

use super::schema_object::SchemaObject;
use super::{names, routine_name};

/// What other statements than CREATE do with conversions.
pub(super) const CONVERSION: SchemaObject = SchemaObject {
    noun: "conversion",
    oid: c::OID,
    name: c::CONNAME,
    schema: c::CONNAMESPACE,
    owner: Some(c::CONOWNER),
    address: ObjectAddress::conversion,
    find,
    taken: |session, _, name, schema| {
        let found = session.with_reader(|r| r.conversion_row(name, schema))?;
        Ok(found.map(|_| String::new()))
    },
};

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
