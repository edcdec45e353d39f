//! What can go wrong in a table, and what may stand in the way of a writer.

use std::fmt;

use base::{BlockNo, CommandId, OffsetNo, RelFile, SqlError, SqlState, Tid, Xid};
use buffer::BufferError;
use runtime::Interrupt;
use txn::TxnError;

/// Failure of a heap operation. The page is unchanged after any of them.
#[derive(Debug)]
pub enum HeapError {
    /// Bytes on a page contradict the format.
    Corrupt {
        /// The table.
        rel: RelFile,
        /// The page.
        block: BlockNo,
        /// The line pointer, or 0.
        offset: OffsetNo,
        /// What is wrong.
        what: &'static str,
    },
    /// The row does not fit on a page even with its large values moved out.
    RowTooBig {
        /// Its size in bytes.
        size: usize,
        /// Largest size possible.
        max: usize,
    },
    /// A large value's chunks are not all there.
    ToastMissing {
        /// The value.
        value_id: u32,
        /// OID of the toast table.
        toast_relation: u32,
    },
    /// The page could not be had.
    Buffer(BufferError),
    /// A transaction's fate could not be told.
    Txn(TxnError),
    /// A row that the snapshot sees was removed (`old_snapshot_threshold`).
    SnapshotTooOld,
    /// The statement is to stop.
    Interrupted(Interrupt),
    /// A callback (toast index, index cleanup) failed.
    Callback(SqlError),
}

/// Result of heap operations.
pub type HeapResult<T> = Result<T, HeapError>;

impl HeapError {
    /// The error as a client sees it.
    pub fn into_sql(self) -> SqlError {
        match self {
            HeapError::Callback(error) => error,
            HeapError::RowTooBig { size, max } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("row is too big: size {size}, maximum size {max}"),
            ),
            HeapError::Corrupt { .. } | HeapError::ToastMissing { .. } => {
                SqlError::new(SqlState::DATA_CORRUPTED, self.to_string())
            }
            HeapError::Buffer(error) => error.into(),
            HeapError::Txn(error) => error.into(),
            HeapError::SnapshotTooOld => SqlError::new(SqlState::SNAPSHOT_TOO_OLD, self.to_string()),
            HeapError::Interrupted(interrupt) => interrupt.into(),
        }
    }
}

impl fmt::Display for HeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapError::Corrupt { rel, block, offset, what } => {
                write!(f, "corrupted tuple ({block},{offset}) of relation \"{rel}\": {what}")
            }
            HeapError::RowTooBig { size, max } => {
                write!(f, "row is too big: size {size}, maximum size {max}")
            }
            HeapError::ToastMissing { value_id, toast_relation } => {
                write!(f, "missing chunk for toast value {value_id} in relation {toast_relation}")
            }
            HeapError::Buffer(error) => error.fmt(f),
            HeapError::Txn(error) => write!(f, "{error:?}"),
            HeapError::SnapshotTooOld => f.write_str("snapshot too old"),
            HeapError::Interrupted(reason) => write!(f, "interrupted: {reason:?}"),
            HeapError::Callback(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HeapError {}

impl From<BufferError> for HeapError {
    fn from(error: BufferError) -> HeapError {
        HeapError::Buffer(error)
    }
}

impl From<TxnError> for HeapError {
    fn from(error: TxnError) -> HeapError {
        HeapError::Txn(error)
    }
}

impl From<Interrupt> for HeapError {
    fn from(interrupt: Interrupt) -> HeapError {
        HeapError::Interrupted(interrupt)
    }
}

impl From<SqlError> for HeapError {
    fn from(error: SqlError) -> HeapError {
        HeapError::Callback(error)
    }
}

/// Why a row version can be neither changed nor locked now. No latch is held when it is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `xid` changed or locked it and has not ended: wait with [`txn::Transaction::wait_for`], then call again.
    WouldBlock {
        /// Whom to wait for.
        xid: Xid,
        /// This transaction has locked it already, and may not line up behind those that wait for it.
        mine: bool,
    },
    /// A transaction that committed updated it.
    Concurrent {
        /// Its next version.
        next: Tid,
        /// Who updated it: the next version's xmin.
        xmax: Xid,
    },
    /// A transaction that committed deleted it.
    Deleted {
        /// Who deleted it.
        xmax: Xid,
    },
    /// A transaction that committed put the row into another table, a partition.
    Moved,
    /// This transaction changed it already, in this command or a later one (or an earlier one, when an old version is looked at).
    SelfModified {
        /// The command that did.
        cmax: CommandId,
        /// Its next version; the same place if it was deleted.
        next: Tid,
    },
    /// Its inserter aborted, has not ended, or is a later command of this transaction; or there is no row here.
    Invisible,
}

/// What became of an UPDATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// Done.
    Updated {
        /// The new version.
        tid: Tid,
        /// A HOT update: the old version's index entries lead to it, and no index needs a new one.
        hot: bool,
    },
    /// Not done.
    Refused(Refusal),
}

/// What became of a DELETE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// Done.
    Deleted,
    /// Not done.
    Refused(Refusal),
}

/// A version that came after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Later {
    /// Where it is.
    pub tid: Tid,
    /// Who wrote it.
    pub xmin: Xid,
}

/// What became of a request to lock a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutcome {
    /// The row version is locked (or was already, at least as strongly, by this transaction).
    Locked {
        /// Another transaction updated it without changing its key: the next version is to be locked too, by [`crate::lock_later`].
        later: Option<Later>,
    },
    /// Not done.
    Refused(Refusal),
}
