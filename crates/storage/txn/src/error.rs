//! What can go wrong below a transaction, and how a client sees it.

use std::{fmt, io};

use base::os::file_error;
use base::{MultiXactId, SqlError, SqlState, Xid, sql_err};

use crate::lock::{DeadlockEdge, LockError};
use crate::serializable::Reason;
use crate::slru::SlruError;

/// What can go wrong below a transaction.
#[derive(Clone, Debug)]
pub enum TxnError {
    /// The commit log does not say what became of a transaction.
    Status {
        /// The transaction asked about.
        xid: Xid,
        /// Why.
        error: SlruError,
    },
    /// The members of a set of row lockers cannot be read or noted.
    Multi {
        /// The set, or the one that was to be made.
        multi: MultiXactId,
        /// Why.
        error: SlruError,
    },
    /// WAL could not be flushed. Sticky: the server stops and recovers.
    Wal(wal::WalError),
    /// A lock was not granted.
    Lock(LockError),
    /// A prepared transaction's state file cannot be written or read, or is damaged.
    StateFile {
        /// Its path in the data directory.
        name: String,
        /// What kind of error.
        kind: io::ErrorKind,
        /// Nothing happened, and it may succeed later: no room, no descriptor.
        transient: bool,
        /// Why.
        reason: String,
    },
    /// More transactions were prepared than the setting, given here, now allows.
    TooManyPrepared(usize),
    /// Out of command ids.
    TooManyCommands,
    /// The log is being replayed: nobody gets an xid.
    InRecovery,
    /// The log is being replayed: conflicts with those who write cannot be known.
    SerializableInRecovery,
    /// The transaction was cancelled: it could be part of an execution that is not serializable.
    Serialization(Reason),
}

impl From<Reason> for TxnError {
    #[cold]
    fn from(reason: Reason) -> TxnError {
        TxnError::Serialization(reason)
    }
}

impl From<LockError> for TxnError {
    fn from(error: LockError) -> TxnError {
        TxnError::Lock(error)
    }
}

impl From<wal::WalError> for TxnError {
    fn from(error: wal::WalError) -> TxnError {
        TxnError::Wal(error)
    }
}

impl TxnError {
    pub(crate) fn status(xid: Xid) -> impl FnOnce(SlruError) -> TxnError {
        move |error| TxnError::Status { xid, error }
    }

    /// Whether nothing happened and the same may succeed later: no room, no descriptor.
    pub fn is_transient(&self) -> bool {
        match self {
            TxnError::Status { error, .. } | TxnError::Multi { error, .. } => error.transient,
            TxnError::Wal(error) => error.transient,
            TxnError::StateFile { transient, .. } => *transient,
            _ => false,
        }
    }

    /// A set of row lockers cannot be read or noted, because of an error.
    pub fn multi(multi: MultiXactId) -> impl Fn(SlruError) -> TxnError {
        move |error| TxnError::Multi { multi, error }
    }
}

impl fmt::Display for TxnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SqlError::from(self.clone()).message())
    }
}

fn no_status(id: u64, error: SlruError) -> SqlError {
    let message = format!("could not access status of transaction {id}");
    match error.kind {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            SqlError::new(SqlState::DATA_CORRUPTED, message)
        }
        kind => file_error(kind, error.transient, message),
    }
    .detail(error.message)
}

impl From<TxnError> for SqlError {
    fn from(error: TxnError) -> SqlError {
        match error {
            TxnError::Status { xid, error } => no_status(xid.0, error),
            TxnError::Multi { multi, error } => no_status(multi.0, error),
            TxnError::Wal(error) => {
                SqlError::with_severity(base::Severity::Panic, SqlState::IO_ERROR, error.to_string())
            }
            TxnError::Lock(error) => error.into(),
            TxnError::StateFile { name, kind, transient, reason } => {
                let message = format!("could not access two-phase state file \"{name}\": {reason}");
                match kind {
                    io::ErrorKind::InvalidData => SqlError::new(SqlState::DATA_CORRUPTED, message),
                    kind => file_error(kind, transient, message),
                }
            }
            TxnError::Serialization(reason) => reason.into(),
            TxnError::InRecovery => {
                sql_err!(READ_ONLY_SQL_TRANSACTION, "cannot assign TransactionIds during recovery")
            }
            TxnError::SerializableInRecovery => {
                let default = "default_transaction_isolation";
                sql_err!(FEATURE_NOT_SUPPORTED, "cannot use serializable mode in a hot standby")
                    .detail(format!("\"{default}\" is set to \"serializable\"."))
                    .hint("You can use \"SET default_transaction_isolation = 'repeatable read'\" to change the default.")
            }
            TxnError::TooManyPrepared(most) => crate::prepared::too_many(most),
            TxnError::TooManyCommands => {
                sql_err!(PROGRAM_LIMIT_EXCEEDED, "cannot have more than 2^32-2 commands in a transaction")
            }
        }
    }
}

impl From<LockError> for SqlError {
    fn from(error: LockError) -> SqlError {
        match error {
            LockError::Deadlock(cycle) => {
                let line = |edge: &DeadlockEdge| {
                    format!(
                        "Process {} waits for {} on {}; blocked by process {}.",
                        edge.waiter.0,
                        edge.mode.name(),
                        edge.tag,
                        edge.blocker.0
                    )
                };
                sql_err!(T_R_DEADLOCK_DETECTED, "deadlock detected")
                    .detail(cycle.iter().map(line).collect::<Vec<_>>().join("\n"))
                    .hint("See server log for query details.")
            }
            LockError::NotAvailable => sql_err!(LOCK_NOT_AVAILABLE, "could not obtain lock"),
            LockError::OutOfMemory => sql_err!(OUT_OF_MEMORY, "out of shared memory")
                .hint("You might need to increase \"max_locks_per_transaction\"."),
            LockError::Timeout => sql_err!(LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
            LockError::Interrupted(interrupt) => interrupt.into(),
        }
    }
}
