//! Row locks.

use base::Tid;

use crate::error::{HeapResult, LockOutcome, LockStrength};
use crate::rel::{Access, HeapRel, Writer};

/// Locks the row version at `tid` until the end of the (sub)transaction. Shared strengths are refused as not supported.
pub fn lock_tuple(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
    strength: LockStrength,
) -> HeapResult<LockOutcome> {
    let _ = (access, rel, writer, tid, strength);
    todo!()
}
