//! Sessions without a client, which vacuum tables or apply changes: how they are made, and how they yield to sessions that need a table.
//!
//! # PostgreSQL counterpart
//! `AutoVacWorkerMain` in `autovacuum.c`; `ProcSleep` in `proc.c`, where it cancels a worker.

use std::sync::Arc;

use base::settings::{Setting, Value};
use base::{Oid, SqlResult, sql_err};
use catalog::BOOTSTRAP_SUPERUSER;
use runtime::Interrupt;
use txn::LockManager;

use super::{BackendKind, Instance, Session, SessionInfo, Sessions};

/// Number of a session that looks at a data directory: no client has it.
const INSPECTOR_PID: i32 = i32::MAX;

/// Whoever has waited for a lock for `deadlock_timeout` has the worker cancelled that holds it.
pub(super) fn give_way(locks: &LockManager, sessions: &Arc<Sessions>) {
    let sessions = sessions.clone();
    locks.on_blocked(move |blockers| {
        let backends = blockers.iter().filter_map(|blocker| sessions.get(blocker.0 as i32));
        for worker in backends.filter(|backend| backend.kind == BackendKind::AutovacuumWorker) {
            worker.interrupts.set(Interrupt::Cancel);
        }
    });
}

impl Session {
    /// A session without a client, which keeps up tables of a database: with all rights, and as little as may be of what users set.
    pub fn for_upkeep(instance: Arc<Instance>, pid: i32, database: Oid) -> SqlResult<Session> {
        Session::without_client(instance, pid, database, BackendKind::AutovacuumWorker)
    }

    /// A session without a client, which applies the changes of a subscription, or copies a table for one: with all rights, but where it takes others'. No
    /// triggers fire but those that are to fire on a replica.
    pub fn for_subscription(
        instance: Arc<Instance>,
        pid: i32,
        database: Oid,
        copies: bool,
    ) -> SqlResult<Session> {
        let kind = if copies { BackendKind::TableCopier } else { BackendKind::ApplyWorker };
        let session = Session::without_client(instance, pid, database, kind)?;
        {
            let mut settings = session.settings.borrow_mut();
            settings.set_internal(Setting::session_replication_role, Value::Choice("replica"));
            settings.set_internal(Setting::row_security, Value::Bool(true));
        }
        session.apply_settings();
        Ok(session)
    }

    /// A session on a data directory that is only inspected, without a server.
    pub fn for_inspection(instance: Arc<Instance>, database: Oid) -> SqlResult<Session> {
        Session::without_client(instance, INSPECTOR_PID, database, BackendKind::Inspector)
    }

    fn without_client(
        instance: Arc<Instance>,
        pid: i32,
        database: Oid,
        kind: BackendKind,
    ) -> SqlResult<Session> {
        let names = instance.read_shared(pid, |reader| {
            let role = reader.role_by_oid(BOOTSTRAP_SUPERUSER)?.map(|role| role.name);
            Ok(role.zip(reader.database_by_oid(database)?.map(|database| database.name)))
        })?;
        let (user, database) =
            names.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database {database} does not exist"))?;
        let info = SessionInfo::local(pid, user, database);
        let session = Session::open(instance, info, kind)?;
        {
            let mut settings = session.settings.borrow_mut();
            for setting in [
                Setting::statement_timeout,
                Setting::lock_timeout,
                Setting::transaction_timeout,
                Setting::idle_in_transaction_session_timeout,
            ] {
                settings.set_internal(setting, Value::Int(0));
            }
            settings.set_internal(Setting::search_path, Value::Text("".into()));
            settings.set_internal(Setting::default_transaction_isolation, Value::Choice("read committed"));
            settings.set_internal(Setting::stats_fetch_consistency, Value::Choice("none"));
            // Nobody reads its notices.
            settings.set_internal(Setting::client_min_messages, Value::Choice("error"));
        }
        session.apply_settings();
        Ok(session)
    }
}
