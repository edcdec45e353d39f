//! UPDATE and DELETE.

use base::Tid;
use tuple::Datum;

use crate::error::{DeleteOutcome, HeapResult, UpdateOutcome};
use crate::rel::{Access, HeapRel, Writer};

/// Writes a new version of the row version at `tid`. `values` are all columns; unchanged large values may be handed over as the
/// [`Datum::Toasted`] that was read. `hot_candidate`: no column of any index changes, so that the new version needs no index entries if it
/// fits on the same page. `keys_changed`: some column of a unique index that foreign keys may refer to changes.
pub fn update(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
    values: &[Datum],
    hot_candidate: bool,
    keys_changed: bool,
) -> HeapResult<UpdateOutcome> {
    let _ = (access, rel, writer, tid, values, hot_candidate, keys_changed);
    todo!()
}

/// Deletes the row version at `tid`.
pub fn delete(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
) -> HeapResult<DeleteOutcome> {
    let _ = (access, rel, writer, tid);
    todo!()
}
