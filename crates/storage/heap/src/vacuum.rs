//! # What
//! VACUUM of one table: prune and freeze every page that may need it, remove the index entries of dead line pointers, free those line
//! pointers, set visibility-map bits, cut the empty tail.
//!
//! # Invariants
//! 1. A dead line pointer is freed only after every index has lost its entries for it.
//! 2. Every page is looked at that may hold an id: what is known of the oldest afterwards is known of the whole table.
//! 3. Dead TIDs are collected in order (pages are read in order), so looking one up is a binary search, and no more memory is used than allowed:
//!    when it is full, indexes and the pages so far are done before the scan goes on.
//!
//! # Locks
//! A cleanup latch on one heap page at a time, then its map page. Index callbacks run with no latch held. A page that is pinned by others is not
//! waited for: its existing dead line pointers are collected, the rest is left to the next VACUUM.
//!
//! # PostgreSQL counterpart and differences
//! `vacuumlazy.c`. Xids do not wrap, so there is no aggressive or fail-safe mode.

use base::{BlockNo, Fork, OffsetNo, Tid, Xid};
use buffer::{ExclusivePage, PageChange, Pin, Ring, RingKind, WalAction};
use page::{LpFlags, PageBytes};
use txn::OldestIds;
use wal::Rmgr;

use crate::error::HeapResult;
use crate::fetch::heap_tag;
use crate::fsm;
use crate::header::{MAX_TUPLE, read_header};
use crate::ops;
use crate::prune::{PruneGoal, PruneSummary, execute, oldest_ids, plan};
use crate::records::{Put, VmChange, info};
use crate::rel::{Access, HeapRel};
use crate::update::corrupt;
use crate::vm::{self, MapGuards, VmCursor};

/// What VACUUM is to do.
#[derive(Clone, Copy, Debug)]
pub struct VacuumOptions {
    /// Most bytes for dead TIDs between two passes over the indexes (`maintenance_work_mem`).
    pub memory: usize,
    /// Look at every page, also those that the visibility map says are all frozen.
    pub disable_page_skipping: bool,
    /// Take ids older than these out of rows.
    pub freeze_limit: OldestIds,
    /// No transaction puts older ids into rows from now on.
    pub usable: OldestIds,
    /// Cut empty pages off the end, if [`VacuumCallbacks::lock_for_truncation`] allows it.
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
    /// Called after each page: sleeps for the cost limit, reports progress, checks interrupts. No latch is held.
    /// `dead` are the line pointers collected, and their bytes in memory.
    fn progress(
        &mut self,
        phase: VacuumPhase,
        block: BlockNo,
        total: u32,
        dead: (usize, usize),
    ) -> HeapResult<()>;
}

/// What VACUUM found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumStats {
    /// Pages of the table at the end.
    pub pages: u32,
    /// Pages looked at.
    pub pages_scanned: u32,
    /// Pages that could not be pruned, as others had them pinned.
    pub pages_pinned: u32,
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
    /// Versions frozen.
    pub tuples_frozen: u64,
    /// Dead line pointers freed.
    pub line_pointers_freed: u64,
    /// Passes over the indexes.
    pub index_passes: u32,
    /// The table holds no older ids.
    pub oldest: OldestIds,
}

/// Dead TIDs, ascending: for each page a run of offsets in one array.
#[derive(Default)]
struct DeadTids {
    pages: Vec<(BlockNo, u32)>,
    offsets: Vec<OffsetNo>,
}

impl DeadTids {
    fn push(&mut self, block: BlockNo, offsets: &[OffsetNo]) {
        debug_assert!(
            self.pages.last().is_none_or(|last| last.0 < block),
            "invariant 3: pages come in order"
        );
        if !offsets.is_empty() {
            self.pages.push((block, self.offsets.len() as u32));
            self.offsets.extend_from_slice(offsets);
        }
    }

    /// How many there are, and how many bytes they take.
    fn size(&self) -> (usize, usize) {
        (self.offsets.len(), self.bytes())
    }

    fn bytes(&self) -> usize {
        self.pages.len() * size_of::<(BlockNo, u32)>() + self.offsets.len() * size_of::<OffsetNo>()
    }

    fn page(&self, i: usize) -> &[OffsetNo] {
        let end = self.pages.get(i + 1).map_or(self.offsets.len(), |next| next.1 as usize);
        &self.offsets[self.pages[i].1 as usize..end]
    }

    fn contains(&self, tid: Tid) -> bool {
        match self.pages.binary_search_by_key(&tid.block, |page| page.0) {
            Ok(i) => self.page(i).binary_search(&tid.offset).is_ok(),
            Err(_) => false,
        }
    }

    fn clear(&mut self) {
        self.pages.clear();
        self.offsets.clear();
    }
}

struct Vacuum<'a> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    options: &'a VacuumOptions,
    callbacks: &'a mut dyn VacuumCallbacks,
    ring: Ring,
    map: VmCursor,
    dead: DeadTids,
    stats: VacuumStats,
    /// One behind the last page that has something on it.
    nonempty: u32,
    total: u32,
}

/// Vacuums a table.
pub fn vacuum(
    access: &Access<'_>,
    rel: &HeapRel,
    options: &VacuumOptions,
    callbacks: &mut dyn VacuumCallbacks,
) -> HeapResult<VacuumStats> {
    let total = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    let mut vacuum = Vacuum {
        access,
        rel,
        options,
        callbacks,
        ring: access.pool.ring(RingKind::Vacuum),
        map: VmCursor::default(),
        dead: DeadTids::default(),
        stats: VacuumStats { oldest: options.usable, ..VacuumStats::default() },
        nonempty: 0,
        total,
    };
    vacuum.scan()?;
    vacuum.remove_dead()?;
    if vacuum.callbacks.has_indexes() {
        vacuum.callbacks.progress(VacuumPhase::CleaningUpIndexes, BlockNo(total), total, (0, 0))?;
        vacuum.callbacks.cleanup_indexes(access)?;
    }
    vacuum.truncate()?;
    let mut stats = vacuum.stats;
    stats.pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    (stats.pages_all_visible, stats.pages_all_frozen) = vm::count(access, rel, stats.pages)?;
    Ok(stats)
}

impl Vacuum<'_> {
    /// First pass: prune, freeze, collect dead line pointers.
    fn scan(&mut self) -> HeapResult<()> {
        for n in 0..self.total {
            let block = BlockNo(n);
            let bits = vm::bits(self.access, self.rel, block, &mut self.map)?;
            // The last page is always looked at, to find out whether the file can be cut.
            if bits & vm::ALL_FROZEN != 0 && !self.options.disable_page_skipping && n + 1 < self.total {
                self.nonempty = n + 1;
                continue;
            }
            if self.dead.bytes() >= self.options.memory {
                self.remove_dead()?;
            }
            let free = self.scan_page(block)?;
            if let Some(free) = free {
                fsm::record(self.access, self.rel, block, free)?;
            }
            self.stats.pages_scanned += 1;
            self.callbacks.progress(VacuumPhase::ScanningHeap, block, self.total, self.dead.size())?;
        }
        Ok(())
    }

    /// Returns the free bytes to be recorded, unless the second pass will do that.
    fn scan_page(&mut self, block: BlockNo) -> HeapResult<Option<usize>> {
        self.access.pool.admit(self.rel.desc.persistence)?;
        self.map.pin(self.access, self.rel, block)?;
        let pin = self.access.pool.read_with(heap_tag(self.rel, block), &self.ring)?;
        let Some(mut page) = pin.try_cleanup() else {
            return self.scan_pinned(&pin);
        };
        if page::is_new(&page) {
            return Ok(Some(MAX_TUPLE));
        }
        let goal = PruneGoal {
            freeze_limit: Some(self.options.freeze_limit),
            no_indexes: !self.callbacks.has_indexes(),
        };
        let (plan, summary) = plan(self.access, self.rel, &mut page, &goal)?;
        execute(self.access, self.rel, &mut page, &plan)?;
        self.stats.tuples_removed += u64::from(summary.removed);
        self.stats.live_tuples += u64::from(summary.live);
        self.stats.recently_dead_tuples += u64::from(summary.recently_dead);
        self.stats.tuples_frozen += plan.frozen.len() as u64;
        self.stats.oldest = self.stats.oldest.min(summary.oldest);
        if summary.has_items {
            self.nonempty = block.0 + 1;
        }
        self.set_visible(&mut page, &summary)?;
        self.dead.push(block, &summary.dead_items);
        Ok(summary.dead_items.is_empty().then(|| ops::room(&page)))
    }

    /// A page that others have pinned: nothing may move, but dead line pointers can be collected.
    fn scan_pinned(&mut self, pin: &Pin) -> HeapResult<Option<usize>> {
        self.stats.pages_pinned += 1;
        let page = pin.shared();
        let block = page.tag().block;
        let mut dead = Vec::new();
        for n in 1..=page::max_offset(&page) {
            match page::line_pointer(&page, n).map(|lp| lp.flags) {
                Some(LpFlags::Dead) => dead.push(n),
                Some(LpFlags::Normal) => {
                    self.stats.live_tuples += 1;
                    if let Some(header) = read_header(&page, n) {
                        self.stats.oldest = self.stats.oldest.min(oldest_ids(self.access.txns, &header)?);
                    }
                    self.nonempty = block.0 + 1;
                }
                Some(LpFlags::Redirect) => self.nonempty = block.0 + 1,
                _ => {}
            }
        }
        let room = ops::room(&page);
        drop(page);
        if dead.is_empty() || !self.callbacks.has_indexes() {
            return Ok(Some(room));
        }
        self.dead.push(block, &dead);
        Ok(None)
    }

    /// Sets the page's and the map's bits as far as they are missing. The map page is pinned.
    fn set_visible(&mut self, page: &mut ExclusivePage<'_>, summary: &PruneSummary) -> HeapResult<()> {
        if !summary.all_visible {
            return Ok(());
        }
        let block = page.tag().block;
        let bits = vm::ALL_VISIBLE | if summary.all_frozen { vm::ALL_FROZEN } else { 0 };
        let had = self.map.bits(block);
        if ops::is_all_visible(page) && had & bits == bits {
            return Ok(());
        }
        let mut maps = MapGuards::latch([(&self.map, VmChange { block, bits: had | bits })]);
        ops::set_all_visible(page, true);
        maps.apply();
        let rel = self.rel;
        let mut action = WalAction::for_relation(
            self.access.pool,
            rel.desc.persistence,
            Rmgr::Heap,
            info::VISIBLE,
            Xid::INVALID,
        );
        action.page(page, PageChange::default());
        maps.log(&mut action);
        action.commit();
        Ok(())
    }

    /// Removes the dead TIDs collected so far from the indexes, then frees their line pointers.
    fn remove_dead(&mut self) -> HeapResult<()> {
        if self.dead.pages.is_empty() {
            return Ok(());
        }
        let size = self.dead.size();
        self.callbacks.progress(VacuumPhase::VacuumingIndexes, BlockNo(self.total), self.total, size)?;
        let dead = &self.dead;
        self.callbacks.bulk_delete(self.access, &mut |tid| dead.contains(tid))?;
        self.stats.index_passes += 1;
        for i in 0..self.dead.pages.len() {
            let block = self.dead.pages[i].0;
            let free = self.free_page(i)?;
            fsm::record(self.access, self.rel, block, free)?;
            self.callbacks.progress(VacuumPhase::VacuumingHeap, block, self.total, self.dead.size())?;
        }
        self.dead.clear();
        Ok(())
    }

    /// Second pass over one page.
    fn free_page(&mut self, i: usize) -> HeapResult<usize> {
        self.access.pool.admit(self.rel.desc.persistence)?;
        let block = self.dead.pages[i].0;
        self.map.pin(self.access, self.rel, block)?;
        let pin = self.access.pool.read_with(heap_tag(self.rel, block), &self.ring)?;
        let mut page = pin.exclusive();
        let offsets = self.dead.page(i);
        let mut log = Vec::with_capacity(2 + 2 * offsets.len());
        log.offsets(offsets);
        ops::free_dead(&mut page, offsets)
            .map_err(|_| corrupt(self.rel, Tid::new(block, 0), "a dead line pointer came to life"))?;
        let rel = self.rel;
        let mut action = WalAction::for_relation(
            self.access.pool,
            rel.desc.persistence,
            Rmgr::Heap,
            info::VACUUM,
            Xid::INVALID,
        );
        let block_index = action.page(&mut page, PageChange::default());
        action.page_data(block_index, &log);
        action.commit();
        self.stats.line_pointers_freed += offsets.len() as u64;
        // Without dead line pointers the page may be all-visible now.
        let (plan, summary) = plan(self.access, self.rel, &mut page, &PruneGoal::default())?;
        // The summary is of the page after the plan, which is not carried out here: something died since the first pass.
        if plan.keeps_items() {
            self.set_visible(&mut page, &summary)?;
        }
        Ok(ops::room(&page))
    }

    /// Cuts empty pages off the end if that is worth while: at least 1,000 pages or a sixteenth of the table.
    fn truncate(&mut self) -> HeapResult<()> {
        let empty = self.total - self.nonempty;
        if !self.options.truncate || empty == 0 || empty < 1000 && empty < self.total / 16 {
            return Ok(());
        }
        if !self.callbacks.lock_for_truncation() {
            return Ok(());
        }
        let result = self.truncate_locked();
        self.callbacks.unlock_after_truncation();
        result
    }

    fn truncate_locked(&mut self) -> HeapResult<()> {
        let file = self.rel.desc.file;
        let nblocks = self.access.pool.nblocks(file, Fork::Main)?;
        if nblocks != self.total {
            // Somebody has added pages since: they are in use.
            return Ok(());
        }
        let mut keep = nblocks;
        while keep > self.nonempty {
            let pin = self.access.pool.read(heap_tag(self.rel, BlockNo(keep - 1)))?;
            if !is_empty(&pin.shared()) {
                break;
            }
            keep -= 1;
            self.callbacks.progress(VacuumPhase::TruncatingHeap, BlockNo(keep), nblocks, (0, 0))?;
        }
        if keep < nblocks {
            self.forget_visibility(keep, nblocks)?;
            self.rel.forget_targets();
            self.callbacks.truncate(self.access, keep)?;
            self.stats.pages_removed = nblocks - keep;
        }
        Ok(())
    }

    /// Clears the map's bits of pages that are to be cut off: later pages of these numbers start with none. The pages' own bits are cleared with
    /// them, so that a crash before the cut leaves both equal.
    fn forget_visibility(&mut self, from: u32, to: u32) -> HeapResult<()> {
        for n in from..to {
            let block = BlockNo(n);
            if vm::bits(self.access, self.rel, block, &mut self.map)? == 0 {
                continue;
            }
            let pin = self.access.pool.read(heap_tag(self.rel, block))?;
            let mut page = pin.exclusive();
            let mut maps = MapGuards::latch([(&self.map, VmChange { block, bits: 0 })]);
            ops::set_all_visible(&mut page, false);
            maps.apply();
            let mut action = WalAction::for_relation(
                self.access.pool,
                self.rel.desc.persistence,
                Rmgr::Heap,
                info::INVISIBLE,
                Xid::INVALID,
            );
            action.page(&mut page, PageChange::default());
            maps.log(&mut action);
            action.commit();
        }
        Ok(())
    }
}

/// Whether nothing on the page is in use.
fn is_empty(page: &PageBytes) -> bool {
    (1..=page::max_offset(page))
        .all(|n| page::line_pointer(page, n).is_none_or(|lp| lp.flags == LpFlags::Unused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_tids_are_found_by_page_and_offset() {
        let mut dead = DeadTids::default();
        dead.push(BlockNo(3), &[1, 5]);
        dead.push(BlockNo(4), &[]);
        dead.push(BlockNo(9), &[2]);
        let at = |block, offset| dead.contains(Tid::new(BlockNo(block), offset));
        assert!(at(3, 1) && at(3, 5) && at(9, 2));
        assert!(!at(3, 2) && !at(4, 1) && !at(9, 1) && !at(9, 5) && !at(0, 1));
    }
}
