//! Foreign-data wrappers, which belong to superusers.

use base::{Oid, SqlResult, sql_err};
use catalog::change::{NewWrapper, ObjectAddress, options_of};
use catalog::system::pg_foreign_data_wrapper as w;
use catalog::{CatalogView, Row, RowExt};
use parse::ast::{Drop, ForeignWrapper, Name, ObjectName, Rename};
use session::Session;
use types::oids;

use super::{WRAPPERS, changed};
use crate::{names, routine_name};

/// Fails unless the user is a superuser.
fn check_superuser(session: &Session, what: &str, name: &str) -> SqlResult<()> {
    if session.has_all_rights()? {
        return Ok(());
    }
    let error =
        sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to {what} foreign-data wrapper \"{name}\"");
    Err(error.hint(format!("Must be superuser to {what} a foreign-data wrapper.")))
}

/// HANDLER and VALIDATOR as a statement has them: 0 for NO, none if it says nothing.
fn functions(session: &Session, statement: &ForeignWrapper, text: &str) -> SqlResult<[Option<Oid>; 2]> {
    let mut found = [None, None];
    for written in &statement.functions {
        let slot = &mut found[usize::from(!written.is_handler)];
        if slot.is_some() {
            let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(names::at(error, text, written.location));
        }
        *slot = Some(match &written.function {
            None => Oid::INVALID,
            Some(name) if written.is_handler => handler(session, name)?,
            Some(name) => routine_name::exact(session, name, &[oids::_text, oids::oid])?,
        });
    }
    Ok(found)
}

fn handler(session: &Session, name: &Name) -> SqlResult<Oid> {
    let oid = routine_name::exact(session, name, &[])?;
    let function = session.function_by_oid(oid)?;
    match function.is_some_and(|function| function.result == oids::fdw_handler) {
        true => Ok(oid),
        false => Err(sql_err!(WRONG_OBJECT_TYPE, "function {} must return type fdw_handler", name.dotted())),
    }
}

/// CREATE FOREIGN DATA WRAPPER.
pub(crate) fn create(session: &Session, statement: &ForeignWrapper, text: &str) -> SqlResult<()> {
    let name = statement.name.as_str();
    check_superuser(session, "create", name)?;
    if (WRAPPERS.find)(session, name)?.is_some() {
        return Err(WRAPPERS.taken(name));
    }
    let [handler, validator] = functions(session, statement, text)?.map(Option::unwrap_or_default);
    let options = changed(session, Vec::new(), &statement.options, (validator, w::TABLE.oid))?;
    let new = NewWrapper { name, owner: session.names.user(), handler, validator, options: &options };
    session.with_changer(|changer| changer.create_wrapper(&new))
}

/// ALTER FOREIGN DATA WRAPPER.
pub(crate) fn alter(session: &Session, statement: &ForeignWrapper, text: &str) -> SqlResult<()> {
    let name = statement.name.as_str();
    check_superuser(session, "alter", name)?;
    let row = WRAPPERS.get(session, name)?;
    let [handler, validator] = functions(session, statement, text)?;
    if handler.is_some() {
        session.warning(
            base::SqlState::WARNING,
            "changing the foreign-data wrapper handler can change behavior of existing foreign tables",
        );
    }
    if validator.is_some_and(Oid::is_valid) {
        session.warning(
            base::SqlState::WARNING,
            "changing the foreign-data wrapper validator can cause the options for dependent objects to become invalid",
        );
    }
    let handler = handler.unwrap_or(row.oid(w::FDWHANDLER));
    let validator = validator.unwrap_or(row.oid(w::FDWVALIDATOR));
    let mut options = options_of(&row[w::FDWOPTIONS]);
    if !statement.options.is_empty() {
        options = changed(session, options, &statement.options, (validator, w::TABLE.oid))?;
    }
    session.with_changer(|changer| changer.alter_wrapper(row.oid(w::OID), [handler, validator], &options))
}

/// ALTER FOREIGN DATA WRAPPER ... OWNER TO.
pub(crate) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let row = WRAPPERS.get(session, crate::comment::name(object)?.last())?;
    give(session, &row, owner)
}

/// Gives a wrapper to another superuser.
pub(crate) fn give(session: &Session, row: &Row, owner: Oid) -> SqlResult<()> {
    let name = row.str(w::FDWNAME);
    check_superuser(session, "change owner of", name)?;
    if !session.with_reader(|reader| reader.is_superuser(owner))? {
        let error = sql_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to change owner of foreign-data wrapper \"{name}\""
        );
        return Err(error.hint("The owner of a foreign-data wrapper must be a superuser."));
    }
    if row.oid(w::FDWOWNER) == owner {
        return Ok(());
    }
    session.with_changer(|changer| changer.set_owner(&WRAPPERS.kind, row.oid(w::OID), owner, true))
}

/// What COMMENT and ALTER EXTENSION name.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    WRAPPERS.address(session, object)
}

/// What DROP FOREIGN DATA WRAPPER names.
pub(crate) fn dropped(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    WRAPPERS.dropped(session, statement)
}

/// ALTER FOREIGN DATA WRAPPER ... RENAME TO.
pub(crate) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    WRAPPERS.rename(session, asked)
}
