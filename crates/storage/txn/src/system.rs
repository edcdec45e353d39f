//! One server's transactions.
use std::path::Path;
use std::sync::Arc;

use base::{Lsn, MultiXactId, RelFile, Xid};

use crate::lock::LockManager;
use crate::{Horizons, RelKind, Snapshot};

/// Fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XidStatus {
    /// Not ended yet.
    InProgress,
    /// Committed, with all its parents.
    Committed,
    /// Rolled back or lost in a crash.
    Aborted,
}

/// What can go wrong below a transaction.
#[derive(Debug)]
pub enum TxnError {
    /// "could not access status of transaction N".
    Status {
        /// The transaction asked about.
        xid: Xid,
        /// Why: the file's error.
        error: std::io::Error,
        /// File concerned.
        file: String,
    },
    /// WAL could not be flushed: the server stops.
    Wal(String),
    /// Waiting for a lock failed.
    Lock(crate::LockError),
    /// Out of command ids (2^32 - 2 in a transaction).
    TooManyCommands,
}

/// What this crate needs of the write-ahead log. Implemented by `wal::Wal`.
pub trait Log: Send + Sync {
    /// Appends a record of resource manager `rmgr`; returns its end.
    fn insert(&self, rmgr: u8, info: u8, xid: Xid, data: &[&[u8]]) -> Lsn;
    /// Waits until WAL is durable up to `upto`.
    fn flush(&self, upto: Lsn) -> Result<(), TxnError>;
    /// Durable up to here.
    fn flushed(&self) -> Lsn;
}

/// Unlinks files of relations dropped by a commit or created by an aborted transaction.
pub trait DropFiles: Send + Sync {
    /// Drops all forks of these, cached pages first.
    fn drop_files(&self, files: &[RelFile]);
}

/// Settings.
#[derive(Clone, Debug)]
pub struct TxnOptions {
    /// Pages of the commit log kept in memory (`transaction_buffers`).
    pub transaction_buffers: usize,
}

/// Where to go on from, as the control file or checkpoint says.
#[derive(Clone, Copy, Debug)]
pub struct TxnStart {
    /// First xid not yet given out.
    pub next_xid: Xid,
    /// First multixact id not yet given out.
    pub next_multi: MultiXactId,
    /// Whether WAL is to be replayed before `finish_recovery`.
    pub in_recovery: bool,
}

/// All transactions of a server.
pub struct TxnSystem {}

impl TxnSystem {
    /// Makes an empty commit log (initdb), with xids up to `Xid::FIRST_NORMAL`.
    pub fn create(_dir: &Path) -> Result<(), TxnError> {
        todo!()
    }
    /// Opens the data directory's commit log.
    pub fn open(
        _dir: &Path,
        _log: Arc<dyn Log>,
        _files: Arc<dyn DropFiles>,
        _options: TxnOptions,
        _start: TxnStart,
    ) -> Result<Arc<TxnSystem>, TxnError> {
        todo!()
    }
    /// The present snapshot: shared and reused until a transaction with an xid ends.
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }
    /// Fate of `xid`: asks the running set first, so a transaction never is half committed.
    pub fn status(&self, _xid: Xid) -> Result<XidStatus, TxnError> {
        todo!()
    }
    /// Fate of an `xid` known to have ended (a snapshot sees it, or `is_in_progress` said no): the commit log alone.
    pub fn did_commit(&self, _xid: Xid) -> Result<bool, TxnError> {
        todo!()
    }
    /// Whether a hint bit saying that `xid` committed may be set now: its commit record is durable.
    pub fn may_hint_committed(&self, _xid: Xid) -> bool {
        todo!()
    }
    /// Whether `xid` (top level or subtransaction) is still running.
    pub fn is_in_progress(&self, _xid: Xid) -> bool {
        todo!()
    }
    /// The top-level xid of a subtransaction that is not aborted; `xid` itself otherwise.
    pub fn top_level(&self, _xid: Xid) -> Xid {
        todo!()
    }
    /// Present bounds, made accurate (VACUUM's cutoff is `maybe_needed`).
    pub fn horizon(&self, _kind: RelKind) -> Horizons {
        todo!()
    }
    /// Whether nobody can need a row version deleted by the committed `xid` any more.
    pub fn is_removable(&self, _kind: RelKind, _xid: Xid) -> bool {
        todo!()
    }
    /// First xid not yet given out.
    pub fn next_xid(&self) -> Xid {
        todo!()
    }
    /// Oldest xid still running, or `next_xid`.
    pub fn oldest_running(&self) -> Xid {
        todo!()
    }
    /// Heavyweight locks.
    pub fn locks(&self) -> &LockManager {
        todo!()
    }
}
