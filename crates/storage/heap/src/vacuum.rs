//! VACUUM of one table.

use base::{BlockNo, Tid, Xid};

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel};

/// What VACUUM is to do.
#[derive(Clone, Copy, Debug)]
pub struct VacuumOptions {
    /// Most bytes for dead TIDs between two passes over the indexes (`maintenance_work_mem`).
    pub memory: usize,
    /// Look at every page, also those that the visibility map says are all frozen.
    pub disable_page_skipping: bool,
    /// Freeze xids older than this.
    pub freeze_limit: Xid,
    /// Cut empty pages off the end; the caller holds ACCESS EXCLUSIVE, or gives a way to get it in [`VacuumCallbacks::lock_for_truncation`].
    pub truncate: bool,
}

/// Where VACUUM is, as `pg_stat_progress_vacuum` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VacuumPhase {
    /// Scanning heap.
    ScanningHeap,
    /// Vacuuming indexes.
    VacuumingIndexes,
    /// Vacuuming heap.
    VacuumingHeap,
    /// Cleaning up indexes.
    CleaningUpIndexes,
    /// Truncating heap.
    TruncatingHeap,
}

/// What VACUUM needs from above.
pub trait VacuumCallbacks {
    /// Removes index entries whose TID `is_dead` from every index of the table.
    fn bulk_delete(&mut self, access: &Access<'_>, is_dead: &mut dyn FnMut(Tid) -> bool) -> HeapResult<()>;
    /// Ends the work on every index (recycling pages, statistics).
    fn cleanup_indexes(&mut self, access: &Access<'_>) -> HeapResult<()>;
    /// Whether the table has indexes at all; without, dead line pointers are freed at once.
    fn has_indexes(&self) -> bool;
    /// Tries to get ACCESS EXCLUSIVE for the truncation, without long waits.
    fn lock_for_truncation(&mut self) -> bool;
    /// Gives that lock back.
    fn unlock_after_truncation(&mut self);
    /// Cuts the file (main fork) to `nblocks` pages and logs that.
    fn truncate(&mut self, access: &Access<'_>, nblocks: u32) -> HeapResult<()>;
    /// Called after each page: sleeps for the cost limit, reports progress, checks interrupts.
    fn progress(&mut self, phase: VacuumPhase, block: BlockNo, total: u32) -> HeapResult<()>;
}

/// What VACUUM found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumStats {
    /// Pages of the table at the end.
    pub pages: u32,
    /// Pages looked at.
    pub pages_scanned: u32,
    /// Pages cut off the end.
    pub pages_removed: u32,
    /// Pages whose all-visible bit is set at the end.
    pub pages_all_visible: u32,
    /// Pages whose all-frozen bit is set at the end.
    pub pages_all_frozen: u32,
    /// Live rows on the pages looked at.
    pub live_tuples: u64,
    /// Dead versions that must stay yet.
    pub recently_dead_tuples: u64,
    /// Versions removed.
    pub tuples_removed: u64,
    /// Dead line pointers freed.
    pub line_pointers_freed: u64,
    /// Passes over the indexes.
    pub index_passes: u32,
}

/// Vacuums a table.
pub fn vacuum(
    access: &Access<'_>,
    rel: &HeapRel,
    options: &VacuumOptions,
    callbacks: &mut dyn VacuumCallbacks,
) -> HeapResult<VacuumStats> {
    let _ = (access, rel, options, callbacks);
    todo!()
}
