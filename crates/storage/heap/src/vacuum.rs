//! # What
//! VACUUM of one table: prune and freeze every page that may need it, remove the index entries of dead line pointers, free those line
//! pointers, set visibility-map bits, cut the empty tail.
//!
//! # Invariants
//! 1. A dead line pointer is freed only after every index has lost its entries for it.
//! 2. Every page is looked at that may hold an id: what is known of the oldest afterwards is known of the whole table.
//! 3. Dead TIDs take no more memory than allowed ([`TidSet`]): when it is full, indexes and the pages so far are done before the scan goes on.
//!
//! # Locks
//! A cleanup latch on one heap page at a time, then its map page. Index callbacks run with no latch held. A page that is pinned by others is not
//! waited for: its existing dead line pointers are collected, the rest is left to the next VACUUM.
//!
//! # PostgreSQL counterpart and differences
//! `vacuumlazy.c`. Xids do not wrap, so there is no aggressive or fail-safe mode. How the tail is cut off is told in `truncate.rs`.

use std::ops::Range;

use base::{BlockNo, Fork, OffsetNo, Tid, Xid};
use buffer::{ExclusivePage, PageChange, Pin, Purpose, ReadStream, Ring, RingKind, WalAction};
use page::LpFlags;
use txn::OldestIds;
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::fsm;
use crate::header::{MAX_TUPLE, read_header};
use crate::ops;
use crate::prune::{PruneGoal, Pruner, oldest_ids};
use crate::records::{Put, VmChange, info};
use crate::rel::{Access, HeapRel};
use crate::tid_set::TidSet;
use crate::truncate::truncate;
use crate::update::corrupt;
use crate::visibility::{Fate, Judge, is_removable};
use crate::vm::{self, MapGuards, VmCursor};

/// With [`IndexCleanup::Auto`] indexes are left alone if fewer than one in so many pages has dead line pointers.
const BYPASS_PAGES: u32 = 50;
/// And these take fewer bytes than this.
const BYPASS_BYTES: usize = 32 << 20;
/// Most bytes for dead TIDs, however many are allowed.
const MOST_MEMORY: usize = 16 << 30;

/// What becomes of index entries of dead rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexCleanup {
    /// They are removed unless there are so few that this is not worth a pass over the indexes.
    #[default]
    Auto,
    /// They are removed.
    On,
    /// They stay, and with them the dead line pointers.
    Off,
}

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
    /// What becomes of index entries.
    pub index_cleanup: IndexCleanup,
    /// Bytes of the ring that pages come into which are not in the pool; 0: they may take any buffer.
    pub ring: usize,
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
    /// Removes index entries whose TID is in the set from every index of the table.
    fn bulk_delete(&mut self, dead: &TidSet, ring: Option<&Ring>) -> HeapResult<()>;
    /// Ends the work on every index (recycling pages, statistics).
    fn cleanup_indexes(&mut self, ring: Option<&Ring>) -> HeapResult<()>;
    /// Whether the table has indexes at all; without, dead line pointers are freed at once.
    fn has_indexes(&self) -> bool;
    /// Gets ACCESS EXCLUSIVE for the truncation if nobody else has a lock on the table, now or within some seconds. Never stands in the table's
    /// queue.
    fn lock_for_truncation(&mut self) -> HeapResult<bool>;
    /// Whether another session waits for that lock.
    fn is_lock_wanted(&mut self) -> bool;
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
    /// Pages that could not be pruned, as others had them pinned, and had something to prune.
    pub pages_missed: u32,
    /// Versions on these that could have gone.
    pub tuples_missed: u64,
    /// Pages cut off the end.
    pub pages_removed: u32,
    /// The cutting was given up, as others had locks on the table.
    pub truncation_stopped: bool,
    /// Pages whose all-visible bit was set.
    pub pages_set_visible: u32,
    /// Pages whose all-frozen bit was set.
    pub pages_set_frozen: u32,
    /// Of those, pages that were all-visible before.
    pub pages_were_visible: u32,
    /// Pages with versions that were frozen.
    pub pages_frozen: u32,
    /// Pages with dead line pointers, after pruning.
    pub dead_item_pages: u32,
    /// Dead line pointers on these.
    pub dead_items: u64,
    /// They stay: the indexes were left alone.
    pub bypassed: bool,
    /// Pages whose all-visible bit is set at the end.
    pub pages_all_visible: u32,
    /// Pages whose all-frozen bit is set at the end.
    pub pages_all_frozen: u32,
    /// Live rows on the pages looked at.
    pub live_tuples: u64,
    /// Dead versions that must stay yet.
    pub recently_dead_tuples: u64,
    /// Of these, versions ended by transactions that had begun before VACUUM.
    pub died_before: u64,
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

pub(crate) struct Vacuum<'a> {
    pub access: &'a Access<'a>,
    pub rel: &'a HeapRel,
    pub options: &'a VacuumOptions,
    pub callbacks: &'a mut dyn VacuumCallbacks,
    ring: Option<Ring>,
    /// Transactions from this one on have begun later.
    began: Xid,
    map: VmCursor,
    dead: TidSet,
    pruner: Pruner,
    free_space: fsm::Recorder,
    /// What is left of the indexes' work ([`IndexCleanup`]).
    index_cleanup: IndexCleanup,
    pub stats: VacuumStats,
    /// One behind the last page that was looked at and has something on it.
    pub nonempty: u32,
    pub total: u32,
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
        ring: (options.ring > 0).then(|| access.pool.ring_of(RingKind::Vacuum, options.ring)),
        began: access.txns.next_xid(),
        map: VmCursor::default(),
        dead: TidSet::default(),
        pruner: Pruner::default(),
        free_space: fsm::Recorder::default(),
        index_cleanup: options.index_cleanup,
        stats: VacuumStats { oldest: options.usable, ..VacuumStats::default() },
        nonempty: 0,
        total,
    };
    vacuum.scan()?;
    vacuum.end_dead()?;
    if vacuum.callbacks.has_indexes() && options.index_cleanup != IndexCleanup::Off {
        vacuum.callbacks.progress(VacuumPhase::CleaningUpIndexes, BlockNo(total), total, (0, 0))?;
        vacuum.callbacks.cleanup_indexes(vacuum.ring.as_ref())?;
    }
    truncate(&mut vacuum)?;
    let mut stats = vacuum.stats;
    stats.pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
    (stats.pages_all_visible, stats.pages_all_frozen) = vm::count(access, rel, stats.pages)?;
    Ok(stats)
}

/// The pages that the first pass looks at.
struct ChosenPages<'a> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    blocks: Range<u32>,
    /// Those too that are all frozen.
    all: bool,
    map: VmCursor,
    /// The map could not be read.
    failed: Option<HeapError>,
}

impl ChosenPages<'_> {
    fn next(&mut self) -> Option<u32> {
        loop {
            let block = self.blocks.next()?;
            // The last page is always looked at, to find out whether the file can be cut.
            if self.all || block + 1 == self.blocks.end {
                return Some(block);
            }
            match vm::bits(self.access, self.rel, BlockNo(block), &mut self.map) {
                Ok(bits) if bits & vm::ALL_FROZEN != 0 => {}
                Ok(_) => return Some(block),
                Err(error) => {
                    self.failed = Some(error);
                    return None;
                }
            }
        }
    }
}

impl Vacuum<'_> {
    /// First pass: prune, freeze, collect dead line pointers.
    fn scan(&mut self) -> HeapResult<()> {
        let mut chosen = ChosenPages {
            access: self.access,
            rel: self.rel,
            blocks: 0..self.total,
            all: self.options.disable_page_skipping,
            map: VmCursor::default(),
            failed: None,
        };
        let mut stream = self.stream();
        while let Some(pin) = stream.next(self.access.pool, self.ring.as_ref(), || chosen.next())? {
            let block = pin.tag().block;
            let free = self.scan_page(block, pin)?;
            if let Some(free) = free {
                self.free_space.record(self.access, self.rel, block, free)?;
            }
            self.stats.pages_scanned += 1;
            self.progress(VacuumPhase::ScanningHeap, block)?;
            if self.dead.bytes() >= self.options.memory.min(MOST_MEMORY) {
                if self.index_cleanup == IndexCleanup::Off {
                    self.dead.clear();
                } else {
                    self.index_cleanup = IndexCleanup::On;
                    self.remove_dead()?;
                }
            }
        }
        if let Some(error) = chosen.failed {
            return Err(error);
        }
        self.free_space.finish(self.access, self.rel)
    }

    fn progress(&mut self, phase: VacuumPhase, block: BlockNo) -> HeapResult<()> {
        self.callbacks.progress(phase, block, self.total, (self.dead.len(), self.dead.bytes()))
    }

    fn stream(&self) -> ReadStream {
        let file = (self.rel.desc.file, Fork::Main);
        ReadStream::new(self.access.pool, file, self.ring.as_ref(), Purpose::Maintenance)
    }

    /// Returns the free bytes to be recorded, unless the second pass will do that.
    fn scan_page(&mut self, block: BlockNo, pin: Pin) -> HeapResult<Option<usize>> {
        self.access.pool.admit(self.rel.desc.persistence)?;
        self.map.pin(self.access, self.rel, block)?;
        let Some(mut page) = pin.try_cleanup() else {
            return self.scan_pinned(&pin);
        };
        if page::is_new(&page) {
            return Ok(Some(MAX_TUPLE));
        }
        let goal = PruneGoal {
            freeze_limit: Some(self.options.freeze_limit),
            no_indexes: !self.callbacks.has_indexes(),
            began: self.began,
        };
        self.pruner.plan(self.access, self.rel, &page, &goal)?;
        let map = self.bits_to_set(&page);
        let Pruner { plan, summary, .. } = &self.pruner;
        self.pruner.execute(self.access, self.rel, &mut page, map.map(|bits| (&self.map, bits)))?;
        self.stats.tuples_removed += u64::from(summary.removed);
        self.stats.live_tuples += u64::from(summary.live);
        self.stats.recently_dead_tuples += u64::from(summary.recently_dead);
        self.stats.died_before += u64::from(summary.died_before);
        self.stats.tuples_frozen += plan.frozen.len() as u64;
        self.stats.pages_frozen += u32::from(!plan.frozen.is_empty());
        self.stats.oldest = self.stats.oldest.min(summary.oldest);
        if summary.has_items {
            self.nonempty = block.0 + 1;
        }
        let room = ops::room(&page);
        drop(page);
        let dead = std::mem::take(&mut self.pruner.summary.dead_items);
        let free = self.note_dead(block, &dead, room);
        self.pruner.summary.dead_items = dead;
        Ok(free)
    }

    /// Collects the dead line pointers of a page; returns the free bytes to be recorded, unless the second pass will do that.
    fn note_dead(&mut self, block: BlockNo, offsets: &[OffsetNo], room: usize) -> Option<usize> {
        if offsets.is_empty() || !self.callbacks.has_indexes() {
            return Some(room);
        }
        self.stats.dead_item_pages += 1;
        self.stats.dead_items += offsets.len() as u64;
        self.dead.push(block, offsets);
        (self.index_cleanup == IndexCleanup::Off).then_some(room)
    }

    /// A page that others have pinned: nothing may move, but dead line pointers can be collected.
    fn scan_pinned(&mut self, pin: &Pin) -> HeapResult<Option<usize>> {
        let page = pin.shared();
        let block = page.tag().block;
        let (mut dead, mut missed) = (Vec::new(), 0);
        for n in 1..=page::max_offset(&page) {
            match page::line_pointer(&page, n).map(|lp| lp.flags) {
                Some(LpFlags::Dead) => dead.push(n),
                Some(LpFlags::Normal) => {
                    self.nonempty = block.0 + 1;
                    let Some(mut header) = read_header(&page, n) else { continue };
                    self.stats.oldest = self.stats.oldest.min(oldest_ids(self.access.txns, &header)?);
                    match (Judge { txns: self.access.txns, page: &page }).for_vacuum(n, &mut header)? {
                        Fate::Live => self.stats.live_tuples += 1,
                        Fate::InsertInProgress => {}
                        Fate::Dead(xmax) if is_removable(self.access.txns, self.rel.desc.kind, xmax) => {
                            missed += 1
                        }
                        Fate::DeleteInProgress => self.stats.recently_dead_tuples += 1,
                        Fate::Dead(xmax) => {
                            self.stats.recently_dead_tuples += 1;
                            self.stats.died_before += u64::from(xmax < self.began);
                        }
                    }
                }
                Some(LpFlags::Redirect) => self.nonempty = block.0 + 1,
                _ => {}
            }
        }
        self.stats.tuples_missed += missed;
        self.stats.pages_missed += u32::from(missed > 0);
        let room = ops::room(&page);
        drop(page);
        Ok(self.note_dead(block, &dead, room))
    }

    /// The map's bits that the page deserves and does not have yet, as it was summarised; they are counted. The map page is pinned.
    fn bits_to_set(&mut self, page: &ExclusivePage<'_>) -> Option<u8> {
        let summary = &self.pruner.summary;
        if !summary.all_visible {
            return None;
        }
        let bits = vm::ALL_VISIBLE | if summary.all_frozen { vm::ALL_FROZEN } else { 0 };
        let had = self.map.bits(page.tag().block);
        if ops::is_all_visible(page) && had & bits == bits {
            return None;
        }
        let (was_visible, was_frozen) = (had & vm::ALL_VISIBLE != 0, had & vm::ALL_FROZEN != 0);
        let frozen = summary.all_frozen && !was_frozen;
        self.stats.pages_set_visible += u32::from(!was_visible);
        self.stats.pages_set_frozen += u32::from(frozen);
        self.stats.pages_were_visible += u32::from(frozen && was_visible);
        Some(had | bits)
    }

    /// The scan is over: what is left of the dead TIDs goes, unless that is not wanted or not worth while.
    fn end_dead(&mut self) -> HeapResult<()> {
        let pages = self.stats.dead_item_pages.saturating_mul(BYPASS_PAGES);
        let few = pages < self.total && self.dead.bytes() < BYPASS_BYTES;
        if self.index_cleanup == IndexCleanup::Off || self.index_cleanup == IndexCleanup::Auto && few {
            self.stats.bypassed = self.index_cleanup == IndexCleanup::Off || !self.dead.is_empty();
            self.dead.clear();
            return Ok(());
        }
        self.remove_dead()
    }

    /// Removes the dead TIDs collected so far from the indexes, then frees their line pointers.
    fn remove_dead(&mut self) -> HeapResult<()> {
        if self.dead.is_empty() {
            return Ok(());
        }
        self.progress(VacuumPhase::VacuumingIndexes, BlockNo(self.total))?;
        self.callbacks.bulk_delete(&self.dead, self.ring.as_ref())?;
        self.stats.index_passes += 1;
        let mut offsets = Vec::new();
        let mut blocks = self.dead.blocks().to_vec().into_iter();
        let mut stream = self.stream();
        let mut next = || Some(blocks.next()?.0);
        while let Some(pin) = stream.next(self.access.pool, self.ring.as_ref(), &mut next)? {
            let block = pin.tag().block;
            self.dead.offsets(block, &mut offsets);
            let free = self.free_page(block, &pin, &offsets)?;
            self.free_space.record(self.access, self.rel, block, free)?;
            self.progress(VacuumPhase::VacuumingHeap, block)?;
        }
        self.free_space.finish(self.access, self.rel)?;
        self.dead.clear();
        Ok(())
    }

    /// Second pass over one page.
    fn free_page(&mut self, block: BlockNo, pin: &Pin, offsets: &[OffsetNo]) -> HeapResult<usize> {
        self.access.pool.admit(self.rel.desc.persistence)?;
        self.map.pin(self.access, self.rel, block)?;
        let mut page = pin.exclusive();
        // The page as it will be: without dead line pointers it may be all-visible. What of the plan is not carried out here died since the first pass.
        let goal = PruneGoal { no_indexes: true, ..PruneGoal::default() };
        self.pruner.plan(self.access, self.rel, &page, &goal)?;
        self.pruner.set_hints(&mut page, true);
        let map = match self.pruner.plan.is_only_unused(offsets) {
            true => self.bits_to_set(&page),
            false => None,
        };
        let mut maps = MapGuards::latch(map.map(|bits| (&self.map, VmChange { block, bits })));
        ops::free_dead(&mut page, offsets)
            .map_err(|_| corrupt(self.rel, Tid::new(block, 0), "a dead line pointer came to life"))?;
        let mut log = Vec::with_capacity(64);
        log.set(offsets);
        let mut main = Vec::new();
        if map.is_some() {
            ops::set_all_visible(&mut page, true);
            maps.apply();
            main.u8(1);
        }
        let (pool, persistence) = (self.access.pool, self.rel.desc.persistence);
        let mut action = WalAction::for_relation(pool, persistence, Rmgr::Heap, info::VACUUM, Xid::INVALID);
        let i = action.page(&mut page, PageChange::default());
        action.page_data(i, &log);
        action.data(&main);
        maps.log(&mut action);
        action.commit();
        self.stats.line_pointers_freed += offsets.len() as u64;
        Ok(ops::room(&page))
    }
}
