//! Building an index bottom-up from sorted rows.

use base::{SqlError, Tid};
use tuple::Datum;

use crate::{Access, BtreeRel, BtreeResult};

/// Makes the index's main fork, which must be empty, an empty tree: a meta page.
pub fn create_empty(access: &Access<'_>, rel: &BtreeRel) -> BtreeResult<()> {
    let _ = (access, rel);
    todo!()
}

/// Builds the tree in the empty main fork from entries in the order of [`BtreeRel::compare_entries`]. `next` clears and fills the
/// values of one entry and returns its TID, or `None` behind the last. Returns the number of entries.
pub fn build(
    access: &Access<'_>,
    rel: &BtreeRel,
    next: &mut dyn FnMut(&mut Vec<Datum>) -> Result<Option<Tid>, SqlError>,
) -> BtreeResult<u64> {
    let _ = (access, rel, next);
    todo!()
}
