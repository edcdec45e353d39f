//! # What
//! CREATE, ALTER and DROP LANGUAGE.
//!
//! # PostgreSQL counterpart
//! `commands/proclang.c`, `commands/alter.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::AclKind;
use catalog::change::{NewLanguage, ObjectAddress};
use catalog::system::pg_language;
use catalog::{Row, RowExt};
use parse::ast::{CreateLanguage, Drop, Name, ObjectName};
use session::Session;
use session::output::Output;

use super::{extension, names, routine_name};

/// CREATE LANGUAGE; without a handler it is CREATE EXTENSION.
pub(crate) fn create(session: &Session, statement: &CreateLanguage, out: &mut dyn Output) -> SqlResult<()> {
    let name = statement.name.as_str();
    let Some(handler) = &statement.handler else {
        return extension::create(session, name, statement.replace, &[], "", out);
    };
    if !session.has_all_rights()? {
        return Err(sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "must be superuser to create custom procedural language"
        ));
    }
    if session::lookup::language::find(session, name).is_ok() {
        return Err(sql_err!(DUPLICATE_OBJECT, "language \"{name}\" already exists"));
    }
    let support = |name: &Option<Name>, args: &[Oid]| match name {
        Some(name) => routine_name::exact(session, name, args),
        None => Ok(Oid::INVALID),
    };
    let handler = routine_name::exact(session, handler, &[])?;
    let new = NewLanguage {
        name,
        owner: session.names.user(),
        trusted: statement.trusted,
        handler,
        inline: support(&statement.inline, &[types::oids::internal])?,
        validator: support(&statement.validator, &[types::oids::oid])?,
    };
    session.with_changer(|changer| changer.create_language(&new))
}

/// A language's row.
fn row(session: &Session, oid: Oid) -> SqlResult<Row> {
    let index = pg_language::PG_LANGUAGE_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_language::TABLE, index, &[oid.into()]))?;
    row.map(|(_, row)| row).ok_or_else(|| SqlError::internal(format!("language {oid} is gone")))
}

fn address(row: &Row) -> ObjectAddress {
    ObjectAddress { class: pg_language::TABLE.oid, object: row.oid(pg_language::OID), sub: 0 }
}

/// The language of this name, which the user must own.
fn owned(session: &Session, object: Option<&ObjectName>) -> SqlResult<Row> {
    let Some(ObjectName::Name(name)) = object else {
        return Err(SqlError::internal("a language was expected"));
    };
    let row = row(session, session::lookup::language::find(session, name.last())?)?;
    check_owner(session, &row)?;
    Ok(row)
}

fn check_owner(session: &Session, row: &Row) -> SqlResult<()> {
    if names::owns(session, row.oid(pg_language::LANOWNER))? {
        return Ok(());
    }
    let name = row.str(pg_language::LANNAME);
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of language {name}"))
}

/// ALTER LANGUAGE ... RENAME TO.
pub(crate) fn rename(session: &Session, object: Option<&ObjectName>, name: &str) -> SqlResult<()> {
    let row = owned(session, object)?;
    if session::lookup::language::find(session, name).is_ok() {
        return Err(sql_err!(DUPLICATE_OBJECT, "language \"{name}\" already exists"));
    }
    session.with_changer(|changer| changer.set_object_name(address(&row), pg_language::LANNAME, name))
}

/// ALTER LANGUAGE ... OWNER TO.
pub(crate) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let row = owned(session, Some(object))?;
    if row.oid(pg_language::LANOWNER) == owner {
        return Ok(());
    }
    names::check_may_become(session, owner)?;
    let oid = row.oid(pg_language::OID);
    session.with_changer(|changer| changer.set_owner(&AclKind::LANGUAGE, oid, owner, true))
}

/// What DROP LANGUAGE names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let ObjectName::Name(name) = object else {
            return Err(SqlError::internal("a language was expected"));
        };
        match session::lookup::language::find(session, name.last()) {
            Ok(oid) => {
                check_owner(session, &row(session, oid)?)?;
                objects.push(ObjectAddress { class: pg_language::TABLE.oid, object: oid, sub: 0 });
            }
            Err(missing) => names::skip_missing(session, statement.missing_ok, missing)?,
        }
    }
    Ok(objects)
}
