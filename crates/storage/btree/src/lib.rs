//! # What
//! The B-tree index: Lehman and Yao's tree with right links and high keys, as PostgreSQL's nbtree.

mod ascend;
mod bounds;
mod build;
mod delete;
mod error;
mod format;
mod insert;
mod key;
mod ops;
mod redo;
mod rel;
mod scan;
mod search;
mod split;
mod unique;
mod vacuum;
mod verify;

use base::{SqlError, Tid, Xid};
use buffer::BufferPool;

pub use build::{SortedEntries, build, create_empty};
pub use error::{BtreeError, BtreeResult};
pub use insert::{InsertOutcome, UniqueCheck, insert};
pub use redo::{describe, redo};
pub use rel::{BtreeDesc, BtreeRel, Compare, KeyColumn};
pub use scan::{Direction, Scan, ScanKey, ScanKeys, ScanOp};
pub use vacuum::{VacuumStats, bulk_delete, cleanup};
pub use verify::{HeapCheck, VerifyReport, verify};

/// What every operation needs besides the index: handed down, never stored.
///
/// The caller holds a registered snapshot (or runs VACUUM) as long as an operation or scan lasts: that keeps deleted pages
/// from being recycled under it.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Pages.
    pub pool: &'a BufferPool,
    /// When deleted pages may be used again.
    pub horizon: &'a dyn Horizon,
    /// Transaction that WAL records are written for; invalid for readers and VACUUM.
    pub xid: Xid,
}

/// Removal horizon of the table's kind, as page deletion needs it.
pub trait Horizon {
    /// The next xid to be assigned: every snapshot that is now registered has an xmax of at most this.
    fn next_xid(&self) -> Xid;
    /// Whether every registered snapshot was taken when `xid` had been assigned and had ended: no scan that ran when
    /// `xid` was the next one runs any more.
    fn is_removable(&self, xid: Xid) -> bool;
}

/// What the heap says of a row that has an equal key, looked at with a "dirty" snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleState {
    /// Some version in the HOT chain is live for everybody to come (or made by this transaction): a conflict.
    Live {
        /// The live version.
        tid: Tid,
    },
    /// Inserted or deleted by a transaction still running: wait for it, then check again.
    InProgress(Xid),
    /// Deleted, but some snapshot may still see it: no conflict.
    Deleted,
    /// Dead to everybody, the whole HOT chain: no conflict, and the entry is marked as dead.
    Dead,
}

/// Unique checks ask the heap through this. Called with the leaf latched exclusively: an implementation may latch heap
/// pages and read commit status, and must never enter an index or wait for a transaction.
pub trait Liveness {
    /// State of the HOT chain whose root is `tid`.
    fn check(&self, tid: Tid) -> Result<TupleState, SqlError>;
}

#[cfg(test)]
mod tests;
