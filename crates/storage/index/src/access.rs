//! What operations on an index need besides it, and what they ask of the heap.

use base::{BlockNo, OffsetNo, SqlError, Tid, Xid};
use buffer::BufferPool;

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
    /// What settings of the session have to say.
    pub limits: Limits,
}

/// Settings of a session that methods heed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `maintenance_work_mem`, in bytes: what a build, or the upkeep of an index, may gather.
    pub memory: usize,
    /// `gin_pending_list_limit`, in bytes.
    pub pending_list: usize,
    /// `gin_fuzzy_search_limit`: about how many rows a search may find; 0: all.
    pub fuzzy: u32,
    /// `work_mem` times `hnsw.scan_mem_multiplier`, in bytes: what a search of an HNSW index that goes on may keep in mind.
    pub scan: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: 64 << 20, pending_list: 4 << 20, fuzzy: 0, scan: 4 << 20 }
    }
}

/// Removal horizon of the table's kind, as page deletion needs it.
pub trait Horizon {
    /// The next xid to be assigned: every snapshot that is now registered has an xmax of at most this.
    fn next_xid(&self) -> Xid;
    /// Whether every registered snapshot was taken when `xid` had been assigned and had ended: no scan that ran when
    /// `xid` was the next one runs any more.
    fn is_removable(&self, xid: Xid) -> bool;
    /// Entries of rows that this thread has found dead to everybody are about to be marked as dead, or removed. The log says so before, for standbys whose
    /// snapshots may need them. False if all had better stay: the log is being replayed.
    fn may_remove(&self) -> bool {
        true
    }
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

/// Who is about to split a leaf asks the heap through this. Called with the leaf latched exclusively: see [`Liveness`].
pub trait DeadRows {
    /// Adds to `dead` those of the HOT chains with these `roots`, all on one heap page, that nobody sees any more, now or later. It may leave out
    /// some, as when the page would have to be read first.
    fn find(&self, block: BlockNo, roots: &[OffsetNo], dead: &mut Vec<OffsetNo>) -> Result<(), SqlError>;
}

/// What insertion does about equal keys. Anything but `No` counts rows with a NULL key column as different from all others unless the index
/// is `nulls_not_distinct`.
#[derive(Clone, Copy)]
pub enum UniqueCheck<'a> {
    /// Nothing: the index is not unique.
    No,
    /// Refuses a duplicate.
    Yes(&'a dyn Liveness),
    /// Enters it nevertheless and reports a possible conflict (deferrable constraints).
    Partial(&'a dyn Liveness),
    /// Checks only, enters nothing (deferred check of a row entered before under `Partial`; the row's own TID is no conflict).
    Existing(&'a dyn Liveness),
}

/// What became of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    /// The entry is in (or, for [`UniqueCheck::Existing`], the key is unique).
    Inserted,
    /// The entry is in, but another may conflict: to be checked again later ([`UniqueCheck::Partial`] only).
    InsertedMaybeConflict,
    /// Nothing was entered: a live row has this key.
    Conflict {
        /// That row.
        tid: Tid,
    },
    /// Nothing was entered: wait for `xid` to end, then call again.
    WaitFor {
        /// Transaction that is inserting or deleting a row with this key.
        xid: Xid,
        /// That row.
        tid: Tid,
    },
}
