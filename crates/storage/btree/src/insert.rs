//! Insertion.

use base::{Tid, Xid};
use tuple::Datum;

use crate::{Access, BtreeRel, BtreeResult, Liveness};

/// What insertion does about equal keys.
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

/// Enters `values` (key columns, then INCLUDE columns; detoasted) for the heap row `tid`.
pub fn insert(
    access: &Access<'_>,
    rel: &BtreeRel,
    values: &[Datum],
    tid: Tid,
    unique: UniqueCheck<'_>,
) -> BtreeResult<InsertOutcome> {
    let _ = (access, rel, values, tid, unique);
    todo!()
}
