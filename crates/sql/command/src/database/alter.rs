//! ALTER DATABASE: options, RENAME, SET TABLESPACE, REFRESH COLLATION VERSION. OWNER TO is among the other owners, SET among the stored
//! settings.

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::RowExt;
use catalog::system::pg_database as d;
use parse::ast::DefElem;
use session::{Instance, Session};
use tuple::Datum;
use txn::LockMode;

use super::locale::actual_version;
use super::options::{connection_limit, redundant};
use super::{
    accessed, check_creator, check_owner, exists, find, forget_at_commit, open, tablespace, undefined,
    wait_for_others,
};
use crate::names::{self, at};
use crate::options as read;

/// ALTER DATABASE with options.
pub(crate) fn alter(session: &Session, name: &str, list: &[DefElem], text: &str) -> SqlResult<()> {
    let (mut is_template, mut allow_connections, mut limit) = (None, None, None);
    for (i, option) in list.iter().enumerate() {
        let here = |error| at(error, text, option.location);
        let known = ["is_template", "allow_connections", "connection_limit", "tablespace"];
        if !known.contains(&option.name.as_str()) {
            return Err(here(sql_err!(SYNTAX_ERROR, "option \"{}\" not recognized", option.name)));
        }
        if list[..i].iter().any(|before| before.name == option.name) {
            return Err(here(redundant()));
        }
    }
    if let Some(option) = list.iter().find(|option| option.name == "tablespace") {
        if list.len() > 1 {
            let message = "option \"tablespace\" cannot be specified with other options";
            return Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), text, option.location));
        }
        session.prevent_in_block("ALTER DATABASE SET TABLESPACE")?;
        return set_tablespace(session, name, &read::string(option)?);
    }
    for option in list.iter().filter(|option| option.value.is_some()) {
        match option.name.as_str() {
            "is_template" => is_template = Some(read::boolean(option)?),
            "allow_connections" => allow_connections = Some(read::boolean(option)?),
            _ => limit = Some(connection_limit(option)?),
        }
    }
    let row = find(session, name)?.ok_or_else(|| undefined(name))?;
    check_owner(session, &row)?;
    let oid = row.oid(d::OID);
    if allow_connections == Some(false) && oid == session.catalog.database() {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot disallow connections for current database"));
    }
    session.with_changer(|changer| {
        changer.edit_database(oid, |row| {
            let set = |slot: &mut Datum, value: Option<Datum>| {
                if let Some(value) = value {
                    *slot = value;
                }
            };
            set(&mut row[d::DATISTEMPLATE], is_template.map(Datum::Bool));
            set(&mut row[d::DATALLOWCONN], allow_connections.map(Datum::Bool));
            set(&mut row[d::DATCONNLIMIT], limit.map(Datum::Int4));
        })
    })
}

/// Moves what is in the database's own tablespace; what lies elsewhere stays.
fn set_tablespace(session: &Session, name: &str, to: &str) -> SqlResult<()> {
    let row = open(session, name, LockMode::AccessExclusive)?.ok_or_else(|| undefined(name))?;
    check_owner(session, &row)?;
    let oid = row.oid(d::OID);
    if oid == session.catalog.database() {
        return Err(sql_err!(OBJECT_IN_USE, "cannot change the tablespace of the currently open database"));
    }
    let new = tablespace(session, to)?;
    if new == row.oid(d::DATTABLESPACE) {
        return Ok(());
    }
    wait_for_others(session, oid, || accessed(name))?;
    let engine = session.instance.engine().clone();
    if engine.database_has_files(new, oid)? {
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "some relations of database \"{name}\" are already in tablespace \"{to}\""
        )
        .hint("You must move them back to the database's default tablespace before using this command."));
    }
    engine.move_database(&mut session.txn.borrow_mut(), oid, new)?;
    forget_at_commit(session, oid, Instance::forget_catalog);
    session.with_changer(|changer| changer.edit_database(oid, |row| row[d::DATTABLESPACE] = new.into()))
}

/// ALTER DATABASE ... RENAME TO.
pub(crate) fn rename(session: &Session, old: &str, new: &str) -> SqlResult<()> {
    let row = open(session, old, LockMode::AccessExclusive)?.ok_or_else(|| undefined(old))?;
    check_owner(session, &row)?;
    check_creator(session, "rename")?;
    if find(session, new)?.is_some() {
        return Err(exists(new));
    }
    let oid = row.oid(d::OID);
    if oid == session.catalog.database() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "current database cannot be renamed"));
    }
    wait_for_others(session, oid, || accessed(old))?;
    forget_at_commit(session, oid, Instance::forget_catalog);
    session.with_changer(|changer| changer.edit_database(oid, |row| row[d::DATNAME] = Datum::text(new)))
}

/// ALTER DATABASE ... REFRESH COLLATION VERSION.
pub(crate) fn refresh_collation(session: &Session, name: &str) -> SqlResult<()> {
    let row = find(session, name)?.ok_or_else(|| undefined(name))?;
    check_owner(session, &row)?;
    let old = row.opt_str(d::DATCOLLVERSION);
    let new = actual_version(row.char(d::DATLOCPROVIDER), row.opt_str(d::DATLOCALE));
    let new = new.as_deref();
    let notice = |message: String| session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
    match (old, new) {
        (Some(old), Some(new)) if old != new => notice(format!("changing version from {old} to {new}")),
        (Some(_), Some(_)) | (None, None) => {
            notice("version has not changed".into());
            return Ok(());
        }
        _ => return Err(SqlError::internal("invalid collation version change")),
    }
    let oid = row.oid(d::OID);
    let new = new.map_or(Datum::Null, Datum::text);
    session.with_changer(|changer| changer.edit_database(oid, |row| row[d::DATCOLLVERSION] = new))
}
