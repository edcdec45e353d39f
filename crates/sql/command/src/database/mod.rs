//! # What
//! CREATE, ALTER and DROP DATABASE: privileges, and rows of `pg_database`. The engine makes and removes the files.
//!
//! # Layout
//! `create` (with `options` and `locale`), `alter`, `remove`. This file has what they share: finding and locking a database, and waiting for its sessions.
//!
//! # Invariants
//! 1. A database that is being copied, renamed or removed has no sessions, and its lock keeps new ones out: a session that connects takes this lock
//!    too, and is counted before it releases it ([`Session::new`]).
//! 2. Caches of a database that is renamed or removed are dropped at commit, before the lock is released.
//!
//! # Locks
//! [`database_lock`]: SHARE to copy a database, ACCESS EXCLUSIVE to rename or remove it, ROW EXCLUSIVE to connect to it.
//!
//! # PostgreSQL counterpart and differences
//! `commands/dbcommands.c`. No database is ever marked invalid: a removal takes effect as a whole when it commits, or not at all.

mod alter;
mod create;
mod locale;
mod options;
mod remove;

use std::time::Duration;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::system::pg_database;
use catalog::{Row, RowExt, database_lock};
use runtime::{Interrupt, WaitEvent};
use session::{Backend, BackendKind, Instance, Session};
use txn::{End, LockMode, LockWait, Phase};

use super::names;

pub(super) use alter::{alter, refresh_collation, rename};
pub(super) use create::create;
pub(super) use remove::drop;

/// How long to wait for sessions that are about to end, and how often to check.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

fn undefined(name: &str) -> SqlError {
    sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
}

fn exists(name: &str) -> SqlError {
    sql_err!(DUPLICATE_DATABASE, "database \"{name}\" already exists")
}

/// The row of a database, as of now.
fn find(session: &Session, name: &str) -> SqlResult<Option<Row>> {
    let index = pg_database::PG_DATABASE_DATNAME_INDEX;
    let found = session.with_reader(|reader| reader.find_one(&pg_database::TABLE, index, &[name.into()]))?;
    Ok(found.map(|(_, row)| row))
}

/// Locks the database with this name, if there is one, and gives its row as of then.
fn open(session: &Session, name: &str, mode: LockMode) -> SqlResult<Option<Row>> {
    while let Some(found) = find(session, name)? {
        let oid = found.oid(pg_database::OID);
        session.txn.borrow_mut().lock(database_lock(oid), mode, LockWait::Block)?;
        match find(session, name)? {
            Some(now) if now.oid(pg_database::OID) == oid => return Ok(Some(now)),
            _ => drop_lock(session, oid, mode),
        }
    }
    Ok(None)
}

fn drop_lock(session: &Session, database: Oid, mode: LockMode) {
    session.txn.borrow_mut().unlock(database_lock(database), mode);
}

fn check_owner(session: &Session, row: &Row) -> SqlResult<()> {
    if names::owns(session, row.oid(pg_database::DATDBA))? {
        return Ok(());
    }
    let name = row.str(pg_database::DATNAME);
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of database {name}"))
}

/// Fails unless the current user may make databases.
fn check_creator(session: &Session, act: &str) -> SqlResult<()> {
    let me = session.with_reader(|reader| reader.role_facts(reader.session.user()))?;
    if me.superuser || me.create_database {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to {act} database"))
}

/// The tablespace with this name, where databases may lie.
fn tablespace(session: &Session, name: &str) -> SqlResult<Oid> {
    let oid = crate::tablespace::named(session, name)?;
    names::check_tablespace_creation(session, oid, name)?;
    if oid == catalog::tables::PG_GLOBAL {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "pg_global cannot be used as default tablespace"));
    }
    Ok(oid)
}

/// Who uses a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Users {
    sessions: usize,
    prepared: usize,
}

impl Users {
    /// Other sessions, and prepared transactions.
    fn of(session: &Session, database: Oid) -> Users {
        let prepared = session.engine().txns().prepared().list();
        Users {
            sessions: other_sessions(session, database).len(),
            prepared: prepared.iter().filter(|prepared| prepared.database == database).count(),
        }
    }

    fn any(self) -> bool {
        self.sessions + self.prepared > 0
    }

    /// The DETAIL of an error that they cause.
    fn detail(self) -> String {
        let counted = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let is = |count: usize| if count == 1 { "is" } else { "are" };
        match self {
            Users { prepared: 0, sessions } => {
                format!("There {} {} using the database.", is(sessions), counted(sessions, "other session"))
            }
            Users { sessions: 0, prepared } => {
                let what = counted(prepared, "prepared transaction");
                format!("There {} {what} using the database.", is(prepared))
            }
            Users { sessions, prepared } => format!(
                "There are {sessions} other session(s) and {prepared} prepared transaction(s) using the database."
            ),
        }
    }
}

fn other_sessions(session: &Session, database: Oid) -> Vec<std::sync::Arc<Backend>> {
    let mut all = session.instance.sessions().list();
    all.retain(|other| other.database == database && other.pid != session.info.pid);
    all
}

/// Fails with `message` unless all others leave a database soon. Its lock is held.
fn wait_for_others(session: &Session, database: Oid, message: impl FnOnce() -> String) -> SqlResult<()> {
    let start = runtime::now();
    loop {
        let users = Users::of(session, database);
        if !users.any() {
            return Ok(());
        }
        // Autovacuum workers are cancelled.
        let workers = other_sessions(session, database);
        let workers = workers.iter().filter(|other| other.kind == BackendKind::AutovacuumWorker);
        workers.for_each(|worker| worker.interrupts.set(Interrupt::Terminate));
        if start.elapsed() >= PATIENCE {
            return Err(sql_err!(OBJECT_IN_USE, "{}", message()).detail(users.detail()));
        }
        let pause = || runtime::wait_interruptible(runtime::sleep(POLL));
        runtime::waiting(WaitEvent::BackendTermination, pause).map_err(eval::error::interrupted)?;
    }
}

fn accessed(name: &str) -> String {
    format!("database \"{name}\" is being accessed by other users")
}

/// Lets what is kept of a database go when the transaction commits.
fn forget_at_commit(session: &Session, database: Oid, forget: fn(&Instance, Oid)) {
    let instance = session.instance.clone();
    let action = move |end| {
        if end == End::Commit {
            forget(&instance, database);
        }
    };
    session.txn.borrow_mut().on_end(Phase::BeforeLocks, Box::new(action));
}

#[cfg(test)]
mod tests {
    use super::Users;

    #[test]
    fn details_count_as_people_do() {
        let detail = |sessions, prepared| Users { sessions, prepared }.detail();
        assert_eq!(detail(1, 0), "There is 1 other session using the database.");
        assert_eq!(detail(2, 0), "There are 2 other sessions using the database.");
        assert_eq!(detail(0, 1), "There is 1 prepared transaction using the database.");
        assert_eq!(detail(0, 3), "There are 3 prepared transactions using the database.");
        assert_eq!(
            detail(1, 1),
            "There are 1 other session(s) and 1 prepared transaction(s) using the database."
        );
    }
}
