//! Objects as GRANT and REVOKE name them.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::AclKind;
use catalog::system::{
    SystemTable, pg_class, pg_foreign_data_wrapper, pg_foreign_server, pg_language, pg_proc, pg_tablespace,
    pg_type,
};
use catalog::{BOOTSTRAP_SUPERUSER, CatalogView, RowExt, TypeKind};
use parse::ast::{Grant, GrantTarget, ObjectKind, ObjectName};
use session::Session;
use txn::LockMode;
use types::acl::{self, bits};

use super::super::{names, routine_name, type_name};
use super::Order;

/// An object.
pub(super) enum Found {
    Relation(Oid),
    Other(AclKind, Oid),
    /// A setting.
    Parameter(String),
}

/// The objects that a statement names.
pub(super) fn find(session: &Session, statement: &Grant) -> SqlResult<Vec<Found>> {
    let mut found = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        match statement.target {
            GrantTarget::AllInSchema => in_schema(session, statement.kind, object, &mut found)?,
            _ => found.push(one(session, statement.kind, object)?),
        }
    }
    Ok(found)
}

fn last(object: &ObjectName) -> SqlResult<&str> {
    match object {
        ObjectName::Name(name) => Ok(name.last()),
        _ => Err(SqlError::internal("a name was expected")),
    }
}

/// All objects of a kind in a schema.
fn in_schema(
    session: &Session,
    kind: ObjectKind,
    object: &ObjectName,
    found: &mut Vec<Found>,
) -> SqlResult<()> {
    let name = last(object)?;
    let schema = session.with_reader(|reader| reader.schema_to_look_in(name))?;
    let schema = schema.ok_or_else(|| names::undefined_schema(name))?;
    match kind {
        ObjectKind::Table | ObjectKind::Sequence => {
            let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
            let wanted: &[u8] = if kind == ObjectKind::Table { b"rvmfp" } else { b"S" };
            let here = rows.iter().map(|(_, row)| row).filter(|row| {
                row.oid(pg_class::RELNAMESPACE) == schema && wanted.contains(&row.char(pg_class::RELKIND))
            });
            found.extend(here.map(|row| Found::Relation(row.oid(pg_class::OID))));
        }
        _ => {
            let rows = session.with_reader(|reader| reader.scan(&pg_proc::TABLE))?;
            let fits = |letter: u8| match kind {
                ObjectKind::Function => letter != b'p',
                ObjectKind::Procedure => letter == b'p',
                _ => true,
            };
            let here = rows
                .iter()
                .map(|(_, row)| row)
                .filter(|row| row.oid(pg_proc::PRONAMESPACE) == schema && fits(row.char(pg_proc::PROKIND)));
            found.extend(here.map(|row| Found::Other(AclKind::FUNCTION, row.oid(pg_proc::OID))));
        }
    }
    Ok(())
}

fn one(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<Found> {
    Ok(match kind {
        ObjectKind::Table | ObjectKind::Sequence => {
            Found::Relation(names::open(session, &names::relation_name(object)?, LockMode::AccessShare)?.oid)
        }
        ObjectKind::Schema => {
            let name = last(object)?;
            let oid = session.with_reader(|reader| reader.schema_by_name(name))?;
            Found::Other(AclKind::SCHEMA, oid.ok_or_else(|| names::undefined_schema(name))?)
        }
        ObjectKind::Database => {
            let name = last(object)?;
            let database = session.with_reader(|reader| reader.database_by_name(name))?;
            let database =
                database.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
            Found::Other(AclKind::DATABASE, database.oid)
        }
        ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
            let ObjectName::WithArgs(object) = object else {
                return Err(SqlError::internal("a function was expected"));
            };
            Found::Other(AclKind::FUNCTION, routine_name::find(session, kind, object)?.oid)
        }
        ObjectKind::Type | ObjectKind::Domain => Found::Other(AclKind::TYPE, of_type(session, kind, object)?),
        ObjectKind::Language => {
            use pg_language::*;
            let name = last(object)?;
            let oid = by_name(session, (&TABLE, PG_LANGUAGE_NAME_INDEX, OID), "language", name)?;
            let row = session.with_reader(|r| r.find_one(&TABLE, PG_LANGUAGE_OID_INDEX, &[oid.into()]))?;
            if !row.is_some_and(|(_, row)| row.bool(LANPLTRUSTED)) {
                return Err(sql_err!(WRONG_OBJECT_TYPE, "language \"{name}\" is not trusted").detail(
                    "GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages.",
                ));
            }
            Found::Other(AclKind::LANGUAGE, oid)
        }
        ObjectKind::Tablespace => {
            use pg_tablespace::*;
            let place = (&TABLE, PG_TABLESPACE_SPCNAME_INDEX, OID);
            Found::Other(AclKind::TABLESPACE, by_name(session, place, "tablespace", last(object)?)?)
        }
        ObjectKind::ForeignDataWrapper => {
            use pg_foreign_data_wrapper::*;
            let place = (&TABLE, PG_FOREIGN_DATA_WRAPPER_NAME_INDEX, OID);
            let oid = by_name(session, place, "foreign-data wrapper", last(object)?)?;
            Found::Other(AclKind::FOREIGN_DATA_WRAPPER, oid)
        }
        ObjectKind::ForeignServer => {
            use pg_foreign_server::*;
            let place = (&TABLE, PG_FOREIGN_SERVER_NAME_INDEX, OID);
            Found::Other(AclKind::FOREIGN_SERVER, by_name(session, place, "server", last(object)?)?)
        }
        ObjectKind::Parameter => Found::Parameter(last(object)?.to_ascii_lowercase()),
        ObjectKind::LargeObject => {
            let ObjectName::Number(number) = object else {
                return Err(SqlError::internal("a number was expected"));
            };
            Found::Other(AclKind::LARGE_OBJECT, session::lookup::large_object(session, number)?)
        }
        other => {
            return Err(SqlError::not_supported(format!(
                "GRANT ON {}",
                super::super::object_kind::of(other).words.sql
            )));
        }
    })
}

fn by_name(
    session: &Session,
    (table, index, oid): (&'static SystemTable, Oid, usize),
    what: &str,
    name: &str,
) -> SqlResult<Oid> {
    let row = session.with_reader(|reader| reader.find_one(table, index, &[name.into()]))?;
    row.map(|(_, row)| row.oid(oid))
        .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "{what} \"{name}\" does not exist"))
}

fn of_type(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<Oid> {
    let oid = session.with_reader(|reader| match object {
        ObjectName::Type(name) => Ok(type_name::resolve(reader, name, "")?.oid),
        object => {
            let name = names::relation_name(object)?;
            let found = reader.type_by_name(name.schema.as_deref(), &name.name)?;
            found
                .map(|def| def.oid)
                .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", name.dotted()))
        }
    })?;
    let def = session.type_by_oid(oid)?;
    let is_domain = matches!(def.as_ref().map(|def| &def.kind), Some(TypeKind::Domain(_)));
    if kind == ObjectKind::Domain && !is_domain {
        let shown = session.with_reader(|reader| type_name::format(reader, oid, -1))?;
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{shown}\" is not a domain"));
    }
    let key = [oid.into()];
    let row = session.with_reader(|r| r.find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &key))?;
    let is_array =
        |row: &catalog::Row| row.oid(pg_type::TYPELEM).is_valid() && row.int(pg_type::TYPLEN) == -1;
    if row.is_some_and(|(_, row)| is_array(&row)) {
        let message = "cannot set privileges of array types";
        return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message)
            .hint("Set the privileges of the element type instead."));
    }
    Ok(oid)
}

/// Carries out an order on a setting (`pg_parameter_acl`).
pub(super) fn change_parameter(session: &Session, order: &Order, name: &str) -> SqlResult<()> {
    let name = Setting::find(name).map_or(name, |setting| setting.name()).to_ascii_lowercase();
    session.settings.borrow().check_stored(&name, None, base::settings::Who::Superuser).or_else(|error| {
        // A setting that cannot be set now exists all the same.
        if Setting::find(&name).is_some() { Ok(()) } else { Err(error) }
    })?;
    let owner = BOOTSTRAP_SUPERUSER;
    let known = session.with_reader(|reader| reader.parameter_acl(&name))?;
    let old = match &known {
        Some((_, items)) => items.clone(),
        None => acl::default_items(b'p', owner)?,
    };
    let all = bits("sA");
    let privileges = order.privileges.unwrap_or(all);
    let (grantor, grantable, held) = session.with_reader(|reader| {
        let (grantor, grantable) = super::grantor(reader, &old, owner, privileges)?;
        Ok::<_, SqlError>((grantor, grantable, reader.rights(grantor, b'p', (owner, Some(&old)))?))
    })?;
    let quoted = format!("\"{name}\"");
    let about = ("parameter", quoted.as_str());
    let possible = super::restrict(session, order, (privileges, all), grantable, held, about)?;
    let new = order.apply(session, old, (grantor, owner), possible)?;
    session.with_changer(|changer| changer.set_parameter_acl(&name, &new))
}
