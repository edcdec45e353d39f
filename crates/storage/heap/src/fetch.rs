//! One row by its place.

use base::{Tid, Xid};
use txn::Transaction;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel, View};
use crate::row::HeapTuple;

/// What a fetch by an index entry found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// A visible version: it is in the buffer now.
    Visible,
    /// None that this view sees.
    Invisible,
    /// None, and nobody will ever see one: the index entry may be marked dead.
    AllDead,
}

/// Finds the version of a row that `view` sees, following the HOT chain from its root `tid`, and copies it to `out`.
pub fn fetch(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    tid: Tid,
    out: &mut HeapTuple,
) -> HeapResult<Fetched> {
    let _ = (access, rel, view, tid, out);
    todo!()
}

/// Copies the version at exactly `tid` whether or not anybody sees it; `false` if there is none. For a row that is locked, for an updated
/// row's next version, and for `ctid = …` (which checks [`crate::visibility`] afterwards).
pub fn fetch_version(access: &Access<'_>, rel: &HeapRel, tid: Tid, out: &mut HeapTuple) -> HeapResult<bool> {
    let _ = (access, rel, tid, out);
    todo!()
}

/// What a unique index must know of the row behind an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// A live row: a conflict.
    Live {
        /// Its live version.
        tid: Tid,
    },
    /// Being inserted or deleted: wait for this transaction and look again.
    InProgress(Xid),
    /// No version is live. `all_dead`: and nobody will see one, so the entry may be marked dead.
    Dead {
        /// See above.
        all_dead: bool,
    },
}

/// Whether the row at HOT chain root `tid` is live: "dirty" visibility, which sees what others have not committed yet.
pub fn unique_liveness(
    access: &Access<'_>,
    rel: &HeapRel,
    me: &Transaction,
    tid: Tid,
) -> HeapResult<Liveness> {
    let _ = (access, rel, me, tid);
    todo!()
}
