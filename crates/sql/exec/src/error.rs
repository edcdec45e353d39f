//! Errors of the layers below, as a client sees them.

use base::{SqlError, SqlState, sql_err};
use txn::{LockError, TxnError};

/// An interrupt.
pub fn interrupted(interrupt: runtime::Interrupt) -> SqlError {
    plan::interrupted(interrupt)
}

/// An error of the transaction layer.
pub fn txn(error: TxnError) -> SqlError {
    match error {
        TxnError::Lock(error) => lock(error),
        TxnError::TooManyCommands => {
            sql_err!(PROGRAM_LIMIT_EXCEEDED, "cannot have more than 2^32-2 commands in a transaction")
        }
        other => SqlError::new(SqlState::IO_ERROR, format!("{other:?}")),
    }
}

/// An error of the lock manager.
pub fn lock(error: LockError) -> SqlError {
    match error {
        LockError::Deadlock(edges) => {
            let lines: Vec<String> = edges
                .iter()
                .map(|e| {
                    format!(
                        "Process {} waits for {} on {}; blocked by process {}.",
                        e.waiter.0,
                        mode_name(e.mode),
                        tag_name(&e.tag),
                        e.blocker.0
                    )
                })
                .collect();
            sql_err!(T_R_DEADLOCK_DETECTED, "deadlock detected")
                .detail(lines.join("\n"))
                .hint("See server log for query details.")
        }
        LockError::NotAvailable => sql_err!(LOCK_NOT_AVAILABLE, "could not obtain lock"),
        LockError::Timeout => sql_err!(LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
        LockError::Interrupted(interrupt) => interrupted(interrupt),
    }
}

/// `ShareLock` and so on.
pub fn mode_name(mode: txn::LockMode) -> String {
    format!("{mode:?}Lock")
}

fn tag_name(tag: &txn::LockTag) -> String {
    use txn::LockTag;
    match tag {
        LockTag::Relation { database, relation } => format!("relation {relation} of database {database}"),
        LockTag::Extend { database, relation } => {
            format!("extension of relation {relation} of database {database}")
        }
        LockTag::Page { database, relation, block } => {
            format!("page {block} of relation {relation} of database {database}")
        }
        LockTag::Tuple { database, relation, tid } => {
            format!("tuple {tid} of relation {relation} of database {database}")
        }
        LockTag::Xid(xid) => format!("transaction {xid}"),
        LockTag::VirtualXid { session, local } => format!("virtual transaction {}/{local}", session.0),
        LockTag::Object { database, class, object, .. } => {
            format!("object {object} of class {class} of database {database}")
        }
        LockTag::Advisory { database, key1, key2, kind } => {
            format!("advisory lock [{database},{key1},{key2},{kind}]")
        }
    }
}

/// An error of the heap.
pub fn heap(error: heap::HeapError) -> SqlError {
    error.into_sql()
}
