//! Checks a whole tree.

use base::{SqlError, Tid};
use tuple::Datum;

use crate::{Access, BtreeRel, BtreeResult};

/// What a check counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Levels, 0 for an empty tree.
    pub levels: u32,
    /// Leaf pages in the chain.
    pub leaves: u32,
    /// Entries that are not marked as dead.
    pub entries: u64,
    /// Incomplete splits met.
    pub incomplete_splits: u32,
    /// Half-dead leaves met.
    pub half_dead: u32,
    /// Deleted pages.
    pub deleted: u32,
}

/// Checks order, links, high keys, downlinks and levels; hands every entry that is not marked as dead to `heap`. The tree must not
/// change meanwhile.
pub fn verify(
    access: &Access<'_>,
    rel: &BtreeRel,
    heap: Option<&mut dyn FnMut(Tid, &[Datum]) -> Result<(), SqlError>>,
) -> BtreeResult<VerifyReport> {
    let _ = (access, rel, heap);
    todo!()
}
