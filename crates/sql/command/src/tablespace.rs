//! # What
//! CREATE, ALTER and DROP TABLESPACE, and in which tablespace a relation is to be. The engine makes and removes the files.
//!
//! # Invariants
//! 1. Who puts a relation or a database into a tablespace that users made has its lock until the transaction ends, and so has found its row under the lock: no tablespace is dropped
//!    while files are made there.
//! 2. `pg_class.reltablespace` is 0 for the database's own tablespace, whatever name was written.
//!
//! # Locks
//! [`lock_of`]: ROW EXCLUSIVE to put something there, ACCESS EXCLUSIVE to drop it.
//!
//! # PostgreSQL counterpart and differences
//! `commands/tablespace.c`. There DROP TABLESPACE does not wait for transactions that have put something there, but finds the tablespace not empty.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::{self, AclKind};
use catalog::system::pg_tablespace as t;
use catalog::tables::PG_GLOBAL;
use catalog::{Row, RowExt};
use parse::ast::{DefElem, ObjectName, RoleSpec};
use session::Session;
use tuple::Datum;
use txn::{LockMode, LockTag, LockWait};

use super::storage_parameter::{self, Target};
use super::{comment, names, options, role, schema};

/// Most bytes of a location: what the server adds to it must fit into a path.
const MOST_LOCATION: usize = 1024 - (1 + base::TABLESPACE_VERSION.len() + 1 + 10 + 1 + 10 + 1 + 4 + 1 + 10);

/// The lock of a tablespace.
fn lock_of(tablespace: Oid) -> LockTag {
    LockTag::Object { database: Oid::INVALID, class: t::TABLE.oid, object: tablespace, sub: 0 }
}

fn undefined(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist")
}

/// The row of a tablespace, as of now.
fn find(session: &Session, name: &str) -> SqlResult<Option<Row>> {
    let index = t::PG_TABLESPACE_SPCNAME_INDEX;
    let found = session.with_reader(|reader| reader.find_one(&t::TABLE, index, &[name.into()]))?;
    Ok(found.map(|(_, row)| row))
}

/// Locks the tablespace with this name, if there is one, and gives its row as of then.
fn open(session: &Session, name: &str, mode: LockMode) -> SqlResult<Option<Row>> {
    while let Some(found) = find(session, name)? {
        let oid = found.oid(t::OID);
        if oid.is_pinned() {
            return Ok(Some(found));
        }
        session.txn.borrow_mut().lock(lock_of(oid), mode, LockWait::Block)?;
        match find(session, name)? {
            Some(now) if now.oid(t::OID) == oid => return Ok(Some(now)),
            _ => {
                session.txn.borrow_mut().unlock(lock_of(oid), mode);
            }
        }
    }
    Ok(None)
}

/// Keeps a tablespace that is known by its OID from being dropped.
pub(crate) fn keep(session: &Session, tablespace: Oid) -> SqlResult<()> {
    if !tablespace.is_pinned() {
        session.txn.borrow_mut().lock(lock_of(tablespace), LockMode::RowExclusive, LockWait::Block)?;
    }
    Ok(())
}

/// The tablespace with this name, to put something there.
pub(crate) fn named(session: &Session, name: &str) -> SqlResult<Oid> {
    let row = open(session, name, LockMode::RowExclusive)?;
    row.map(|row| row.oid(t::OID)).ok_or_else(|| undefined(name))
}

/// How a new relation is kept, as far as its tablespace depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// It is temporary.
    pub(crate) temporary: bool,
    /// It is partitioned: it has no files, but its tablespace is that of its parts.
    pub(crate) partitioned: bool,
}

/// `reltablespace` of a new relation: the tablespace that is named; or the one it inherits, or that of `default_tablespace`. Fails unless the current user may create there.
pub(crate) fn of_new(session: &Session, name: Option<&str>, inherited: Oid, kept: Kept) -> SqlResult<Oid> {
    let own = session.catalog.tablespace();
    let check = |oid: Oid| match oid == own && kept.partitioned {
        true => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot specify default tablespace for partitioned relations"
        )),
        false => Ok(oid),
    };
    let oid = match name {
        Some(name) => check(named(session, name)?)?,
        None if inherited.is_valid() => {
            keep(session, inherited)?;
            inherited
        }
        None if kept.temporary => match session.next_temp_tablespace() {
            Oid::INVALID => return Ok(Oid::INVALID),
            // Whoever drops it at this moment has the same answer as who names it.
            oid => named(session, &name_of(session, oid)?)?,
        },
        None => match by_default(session)? {
            Some(oid) => check(oid)?,
            None => return Ok(Oid::INVALID),
        },
    };
    for_relation(session, oid)
}

/// The tablespace of what names none, if a setting says so. One that is not there is passed over.
fn by_default(session: &Session) -> SqlResult<Option<Oid>> {
    let name = session.settings.borrow().text(Setting::default_tablespace).to_owned();
    if name.is_empty() {
        return Ok(None);
    }
    Ok(open(session, &name, LockMode::RowExclusive)?.map(|row| row.oid(t::OID)))
}

/// `reltablespace` of a relation that is to be in a tablespace, where the current user must be allowed to create.
pub(crate) fn for_relation(session: &Session, tablespace: Oid) -> SqlResult<Oid> {
    if tablespace == session.catalog.tablespace() {
        return Ok(Oid::INVALID);
    }
    names::check_tablespace_creation(session, tablespace, &name_of(session, tablespace)?)?;
    if tablespace == PG_GLOBAL {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace"
        ));
    }
    Ok(tablespace)
}

/// The name of a tablespace.
pub(crate) fn name_of(session: &Session, tablespace: Oid) -> SqlResult<String> {
    let index = t::PG_TABLESPACE_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&t::TABLE, index, &[tablespace.into()]))?;
    Ok(row.map_or_else(|| tablespace.to_string(), |(_, row)| row.str(t::SPCNAME).to_owned()))
}

/// CREATE TABLESPACE.
pub(crate) fn create(
    session: &Session,
    name: &str,
    owner: Option<&RoleSpec>,
    location: &str,
    with: &[DefElem],
) -> SqlResult<()> {
    if !session.has_all_rights()? {
        let error = sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create tablespace \"{name}\"");
        return Err(error.hint("Must be superuser to create a tablespace."));
    }
    let owner = match owner {
        Some(owner) => schema::role(session, owner)?.0,
        None => session.names.user(),
    };
    let location = checked_location(session, location)?;
    if name.starts_with("pg_") {
        return Err(sql_err!(RESERVED_NAME, "unacceptable tablespace name \"{name}\"")
            .detail("The prefix \"pg_\" is reserved for system tablespaces."));
    }
    if find(session, name)?.is_some() {
        return Err(sql_err!(DUPLICATE_OBJECT, "tablespace \"{name}\" already exists"));
    }
    let parameters = checked_parameters(with)?;
    let oid = session.with_changer(|changer| changer.create_tablespace(name, owner, &parameters))?;
    let engine = session.instance.engine().clone();
    Ok(engine.create_tablespace(&mut session.txn.borrow_mut(), oid, &location)?)
}

/// Parameters as `name=value`. What says how much is read ahead has as little effect as the settings of the same names.
fn checked_parameters(list: &[DefElem]) -> SqlResult<Vec<String>> {
    storage_parameter::check(Target::Tablespace, list)
}

/// A location in the form that is kept, if there may be a tablespace; empty: in place.
fn checked_location(session: &Session, location: &str) -> SqlResult<String> {
    let trimmed = location.trim_end_matches('/');
    let location = if trimmed.is_empty() && !location.is_empty() { "/" } else { trimmed };
    if location.contains('\'') {
        return Err(sql_err!(INVALID_NAME, "tablespace location cannot contain single quotes"));
    }
    let in_place =
        location.is_empty() && session.settings.borrow().get(Setting::allow_in_place_tablespaces).as_bool();
    if !in_place && !location.starts_with('/') {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "tablespace location must be an absolute path"));
    }
    if location.len() > MOST_LOCATION {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "tablespace location \"{location}\" is too long"));
    }
    let data = session.engine().dir();
    if !in_place && std::path::Path::new(location).starts_with(data) {
        let message = "tablespace location should not be inside the data directory";
        session.warning(SqlState::INVALID_OBJECT_DEFINITION, message);
    }
    Ok(location.to_owned())
}

/// DROP TABLESPACE.
pub(crate) fn drop(session: &Session, name: &str, missing_ok: bool) -> SqlResult<()> {
    let Some(row) = open(session, name, LockMode::AccessExclusive)? else {
        if !missing_ok {
            return Err(undefined(name));
        }
        let message = format!("tablespace \"{name}\" does not exist, skipping");
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    };
    check_owner(session, &row)?;
    let oid = row.oid(t::OID);
    if oid.is_pinned() {
        return Err(authority::denied("tablespace", name));
    }
    let dependents = session.with_reader(|reader| reader.dependents_of(t::TABLE.oid, oid))?;
    if !dependents.is_empty() {
        return Err(sql_err!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "tablespace \"{name}\" cannot be dropped because some objects depend on it"
        )
        .detail(role::dependents_detail(session, &dependents)?));
    }
    if session.engine().has_files(oid)? {
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "tablespace \"{name}\" is not empty"));
    }
    session.with_changer(|changer| changer.drop_tablespace(oid))?;
    session.engine().drop_tablespace(&mut session.txn.borrow_mut(), oid);
    Ok(())
}

fn check_owner(session: &Session, row: &Row) -> SqlResult<()> {
    if names::owns(session, row.oid(t::SPCOWNER))? {
        return Ok(());
    }
    let name = row.str(t::SPCNAME);
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of tablespace {name}"))
}

/// ALTER TABLESPACE ... RENAME TO.
pub(crate) fn rename(session: &Session, old: &str, new: &str) -> SqlResult<()> {
    let row = find(session, old)?.ok_or_else(|| undefined(old))?;
    let oid = row.oid(t::OID);
    if !names::owns(session, row.oid(t::SPCOWNER))? {
        return Err(authority::denied("tablespace", old));
    }
    if new.starts_with("pg_") {
        return Err(sql_err!(RESERVED_NAME, "unacceptable tablespace name \"{new}\"")
            .detail("The prefix \"pg_\" is reserved for system tablespaces."));
    }
    if find(session, new)?.is_some() {
        return Err(sql_err!(DUPLICATE_OBJECT, "tablespace \"{new}\" already exists"));
    }
    session.with_changer(|changer| changer.edit_tablespace(oid, |row| row[t::SPCNAME] = Datum::text(new)))
}

/// ALTER TABLESPACE ... OWNER TO.
pub(crate) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let name = comment::name(object)?.last();
    let row = find(session, name)?.ok_or_else(|| undefined(name))?;
    if row.oid(t::SPCOWNER) == owner {
        return Ok(());
    }
    check_owner(session, &row)?;
    names::check_may_become(session, owner)?;
    let oid = row.oid(t::OID);
    session.with_changer(|changer| changer.set_owner(&AclKind::TABLESPACE, oid, owner, true))
}

/// ALTER TABLESPACE ... SET, RESET.
pub(crate) fn set_options(session: &Session, name: &str, list: &[DefElem], reset: bool) -> SqlResult<()> {
    let row = find(session, name)?.ok_or_else(|| undefined(name))?;
    check_owner(session, &row)?;
    let new = match reset {
        false => checked_parameters(list)?,
        true => {
            for option in list {
                if option.value.is_some() {
                    let _ = options::string(option)?;
                    return Err(sql_err!(SYNTAX_ERROR, "RESET must not include values for parameters"));
                }
                storage_parameter::check_name(Target::Tablespace, &option.name)?;
            }
            Vec::new()
        }
    };
    let named = |entry: &String| {
        let key = entry.split('=').next();
        list.iter().any(|option| Some(option.name.as_str()) == key)
    };
    let known = catalog::texts_of(&row[t::SPCOPTIONS]);
    let all: Vec<String> = known.into_iter().filter(|entry| !named(entry)).chain(new).collect();
    let value = if all.is_empty() { Datum::Null } else { catalog::text_array(&all) };
    let oid = row.oid(t::OID);
    session.with_changer(|changer| changer.edit_tablespace(oid, |row| row[t::SPCOPTIONS] = value))
}
