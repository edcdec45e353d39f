//! VACUUM of an index.

use base::Tid;

use crate::{Access, BtreeRel, BtreeResult};

/// What VACUUM found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumStats {
    /// Pages of the main fork.
    pub pages: u32,
    /// Pages deleted by this VACUUM.
    pub pages_newly_deleted: u32,
    /// All deleted pages, recyclable or not.
    pub pages_deleted: u32,
    /// Pages in the free map now.
    pub pages_free: u32,
    /// Entries removed.
    pub tuples_removed: u64,
    /// Entries left.
    pub tuples: u64,
}

/// Removes every entry whose TID `is_dead`, in physical order, deletes emptied pages, and adds to `stats`.
pub fn bulk_delete(
    access: &Access<'_>,
    rel: &BtreeRel,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    stats: &mut VacuumStats,
) -> BtreeResult<()> {
    let _ = (access, rel, is_dead, stats);
    todo!()
}

/// Ends a VACUUM: recounts when no [`bulk_delete`] ran (`stats` is `None`), rebuilds the map of free pages.
pub fn cleanup(access: &Access<'_>, rel: &BtreeRel, stats: Option<VacuumStats>) -> BtreeResult<VacuumStats> {
    let _ = (access, rel, stats);
    todo!()
}
