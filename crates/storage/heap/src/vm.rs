//! The visibility map.

use base::BlockNo;
use buffer::Pin;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel};

/// Keeps the map page of the last look pinned, for the next.
#[derive(Default)]
pub struct VmCursor {
    #[allow(dead_code)]
    pin: Option<(u32, Pin)>,
}

/// Whether every row on a heap page is visible to everybody, so that an index-only scan need not look at it.
pub fn all_visible(
    access: &Access<'_>,
    rel: &HeapRel,
    block: BlockNo,
    cursor: &mut VmCursor,
) -> HeapResult<bool> {
    let _ = (access, rel, block, cursor);
    todo!()
}
