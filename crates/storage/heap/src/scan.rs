//! # What
//! Sequential scans, and the scans that build an index or take ANALYZE's sample.
//!
//! A scan comes to a page once: under one shared latch it decides about all versions and copies the page. Rows are then handed out from the
//! copy, their values decoded on demand.
//!
//! # Why a copy
//! The bytes of a version, its header apart, do not change while the page is pinned, for items move only under a cleanup latch. PostgreSQL
//! therefore reads them from the pinned page without latch. Here a writer under the exclusive latch holds `&mut` to the *whole* page, which
//! no shared reference may overlap, whatever bytes are touched. Copying 8 KiB costs about a tenth of a microsecond and frees the scan of the pin: a
//! scan that pauses does not hold up VACUUM.
//!
//! # Locks
//! One heap page, shared, within [`HeapScan::next`]; none between calls.
//!
//! # PostgreSQL counterpart and differences
//! `heapgetpage`, `heapam_index_build_range_scan`. No synchronised scans.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use base::{BlockNo, Fork, OffsetNo, PAGE_SIZE, Tid, Xid};
use buffer::{Pin, Purpose, ReadStream, Ring, RingKind};
use page::{LpFlags, PageBytes};
use tuple::RowPlace;
use txn::{Transaction, TxnSystem};

use crate::error::{HeapError, HeapResult};
use crate::header::{Bases, Header, read_header};
use crate::ops;
use crate::prune::{MANY_DEAD, looks_prunable, prune_dead, prune_opt};
use crate::rel::{Access, HeapRel, View};
use crate::row::{TupleRef, place};
use crate::serial::{SoughtRows, note_version};
use crate::visibility::{Fate, Judge, ender, is_removable};

/// Tables of at least this part of the pool are read through a ring.
const RING_FROM: usize = 4;

/// A table's pages that several scans take for themselves, piece by piece: each page is read by one of them.
#[derive(Debug, Default)]
pub struct SharedPages {
    /// How many there are: those that there were when the first scan came.
    count: OnceLock<u32>,
    taken: AtomicU32,
}

impl SharedPages {
    /// A piece is this part of what is left: large at first, and small at the end, so that all scans end at about the same time.
    const PART: u32 = 64;
    /// Pages of the largest piece.
    const LARGEST: u32 = 1024;

    /// The next pages that nobody has taken; none at the end.
    fn take(&self) -> Range<u32> {
        let count = self.count.get().copied().unwrap_or(0);
        let piece = |taken: u32| ((count - taken) / Self::PART).clamp(1, Self::LARGEST).min(count - taken);
        // Relaxed: a number that nothing else depends on.
        let taken =
            self.taken.fetch_update(Relaxed, Relaxed, |taken| (taken < count).then(|| taken + piece(taken)));
        taken.map_or(0..0, |taken| taken..taken + piece(taken))
    }

    /// No scan takes another page.
    pub fn end(&self) {
        self.taken.store(u32::MAX, Relaxed);
    }
}

/// A scan of a table's pages in order.
pub struct HeapScan {
    rel: Arc<HeapRel>,
    /// Given by the caller; `None`: all pages.
    range: Option<Range<u32>>,
    /// All pages are shared with other scans.
    shared: Option<Arc<SharedPages>>,
    /// Pages still to be read.
    blocks: Range<u32>,
    ring: Option<Ring>,
    stream: ReadStream,
    page: Box<PageBytes>,
    block: BlockNo,
    visible: Vec<OffsetNo>,
    /// Of the page's HOT chains, once somebody has asked.
    roots: Vec<OffsetNo>,
    /// Next entry of `visible`.
    at: usize,
    /// What a serializable transaction locks row by row instead of the table.
    sought: Option<SoughtRows>,
    /// Pages that it found in the pool, and those that it read.
    pages: [u64; 2],
}

impl HeapScan {
    /// A scan that has not started, over all pages there are now or those of `blocks`.
    pub fn new(access: &Access<'_>, rel: Arc<HeapRel>, blocks: Option<Range<u32>>) -> HeapResult<HeapScan> {
        let stream = ReadStream::new(access.pool, (rel.desc.file, Fork::Main), None, Purpose::Query);
        let mut scan = HeapScan {
            rel,
            range: blocks,
            shared: None,
            blocks: 0..0,
            ring: None,
            stream,
            page: Box::new([0; PAGE_SIZE]),
            block: BlockNo(0),
            visible: Vec::new(),
            roots: Vec::new(),
            at: 0,
            sought: None,
            pages: [0; 2],
        };
        scan.rescan(access)?;
        Ok(scan)
    }

    /// Is to go over these pages only, or all, when it starts again.
    pub fn limit(&mut self, blocks: Option<Range<u32>>) {
        self.range = blocks;
    }

    /// Starts again from the first page; pages added meanwhile are included if the scan is of all pages.
    pub fn rescan(&mut self, access: &Access<'_>) -> HeapResult<()> {
        let nblocks = access.pool.nblocks(self.rel.desc.file, Fork::Main)?;
        self.blocks = match &self.range {
            Some(range) => range.start.min(nblocks)..range.end.min(nblocks),
            None => 0..nblocks,
        };
        if self.ring.is_none() && self.blocks.len() >= access.pool.buffers() / RING_FROM {
            let ring = self.ring.insert(access.pool.ring(RingKind::BulkRead));
            let file = (self.rel.desc.file, Fork::Main);
            self.stream = ReadStream::new(access.pool, file, Some(ring), Purpose::Query);
        }
        self.stream.restart();
        if let Some(shared) = &self.shared {
            shared.count.get_or_init(|| nblocks);
            self.blocks = shared.take();
        }
        self.visible.clear();
        self.at = 0;
        Ok(())
    }

    /// Starts again, from now on over these pages.
    pub fn go_to(&mut self, access: &Access<'_>, blocks: Range<u32>) -> HeapResult<()> {
        self.range = Some(blocks);
        self.rescan(access)
    }

    /// Starts again, from now on over those of the table's pages that it takes of the shared ones; or over all of them.
    pub fn share(&mut self, access: &Access<'_>, pages: Option<Arc<SharedPages>>) -> HeapResult<()> {
        self.shared = pages;
        self.rescan(access)
    }

    /// Says that of all rows only those will be used, whose range a serializable transaction has locked; or, as at first, all of them.
    pub fn seek(&mut self, rows: Option<SoughtRows>) {
        self.sought = rows;
    }

    /// The table.
    pub fn rel(&self) -> &Arc<HeapRel> {
        &self.rel
    }

    /// Pages that the scan, all its rounds together, found in the pool, and those that it read.
    pub fn pages(&self) -> [u64; 2] {
        self.pages
    }

    /// The next visible row. All rows of a page are judged at once: a scan sees a page as it was when it came there. For a serializable
    /// transaction the table is locked before ([`watch_scan`](crate::watch_scan)), or what it looks for ([`HeapScan::seek`]).
    #[inline]
    pub fn next(&mut self, access: &Access<'_>, view: &View<'_>) -> HeapResult<Option<TupleRef<'_>>> {
        while self.at >= self.visible.len() {
            if !self.next_page(access, view, |_| true)? {
                return Ok(None);
            }
        }
        self.take()
    }

    /// Number of visible rows that are left on the page.
    pub fn left(&self) -> usize {
        self.visible.len().saturating_sub(self.at)
    }

    /// Passes over the visible rows that are left on the page, and tells how many they were.
    pub fn pass_page(&mut self) -> usize {
        let left = self.left();
        self.at += left;
        left
    }

    /// Comes to a page with visible rows that were not handed out, if it is not on one; `false` at the end.
    pub fn come_to_page(&mut self, access: &Access<'_>, view: &View<'_>) -> HeapResult<bool> {
        while self.at >= self.visible.len() {
            if !self.next_page(access, view, |_| true)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes over the visible rows that are left on the page but for those with these numbers, which ascend.
    pub fn keep(&mut self, numbers: &[u16]) {
        for (to, &number) in numbers.iter().enumerate() {
            self.visible[self.at + to] = self.visible[self.at + number as usize];
        }
        self.visible.truncate(self.at + numbers.len());
    }

    /// Where the visible rows that are left on the page lie in [`HeapScan::page`]; `false` if some is no tuple.
    pub fn places(&self, rows: &mut Vec<RowPlace>) -> bool {
        rows.clear();
        let left = &self.visible[self.at.min(self.visible.len())..];
        rows.extend(left.iter().map_while(|n| place(&self.page, *n)));
        rows.len() == left.len()
    }

    /// The page that it is on.
    pub fn block(&self) -> BlockNo {
        self.block
    }

    /// The copy of the page that it is on.
    pub fn page(&self) -> &PageBytes {
        &self.page
    }

    /// As [`HeapScan::next`], of those pages only that `chosen` takes.
    pub fn next_of(
        &mut self,
        access: &Access<'_>,
        view: &View<'_>,
        chosen: impl Fn(u32) -> bool,
    ) -> HeapResult<Option<TupleRef<'_>>> {
        while self.at >= self.visible.len() {
            if !self.next_page(access, view, &chosen)? {
                return Ok(None);
            }
        }
        self.take()
    }

    #[inline]
    fn take(&mut self) -> HeapResult<Option<TupleRef<'_>>> {
        let n = self.visible[self.at];
        self.at += 1;
        let tid = Tid::new(self.block, n);
        let row =
            page::item(&self.page, n).and_then(|bytes| TupleRef::new(tid, bytes, Bases::of(&self.page)));
        match row {
            Some(row) => Ok(Some(row)),
            None => Err(no_tuple(&self.rel, tid)),
        }
    }

    /// The row that [`HeapScan::next`] returned last.
    pub fn current(&self) -> Option<TupleRef<'_>> {
        let n = *self.visible.get(self.at.checked_sub(1)?)?;
        TupleRef::new(Tid::new(self.block, n), page::item(&self.page, n)?, Bases::of(&self.page))
    }

    /// Where an index entry for the row that [`HeapScan::next`] returned last points to: the root of its HOT chain.
    pub fn root(&mut self, access: &Access<'_>) -> HeapResult<Tid> {
        let n = self.at.checked_sub(1).and_then(|at| self.visible.get(at)).copied().unwrap_or(0);
        let tid = Tid::new(self.block, n);
        let Some(header) = read_header(&self.page, n) else { return Err(no_tuple(&self.rel, tid)) };
        if !header.is_heap_only() {
            return Ok(tid);
        }
        if self.roots.is_empty() {
            self.roots = chain_roots(access.txns, &self.page)?;
        }
        match self.roots.get(n as usize) {
            Some(&root) if root != 0 => Ok(Tid::new(self.block, root)),
            _ => Err(no_root(&self.rel, tid)),
        }
    }

    /// The end of the scan, unless pages are missing behind it that were cut off after losing what the view sees.
    fn end(&self, view: &View<'_>) -> HeapResult<bool> {
        let end = match &self.shared {
            Some(shared) => shared.count.get().copied().unwrap_or(0),
            None => self.blocks.end,
        };
        let lost = self.range.is_none() && view.snapshot.lost_from(self.rel.desc.file, BlockNo(end));
        if lost { Err(HeapError::SnapshotTooOld) } else { Ok(false) }
    }

    /// Reads and judges the next page; `false` at the end.
    fn next_page(
        &mut self,
        access: &Access<'_>,
        view: &View<'_>,
        chosen: impl Fn(u32) -> bool,
    ) -> HeapResult<bool> {
        runtime::check_interrupts()?;
        let before = runtime::usage::pages();
        let (blocks, shared) = (&mut self.blocks, self.shared.as_deref());
        let pin =
            self.stream.next(access.pool, self.ring.as_ref(), || next_block(blocks, shared, &chosen))?;
        let Some(pin) = pin else { return self.end(view) };
        let block = pin.tag().block;
        let mut page = pin.shared();
        if looks_prunable(access.txns, &self.rel, &page) {
            drop(page);
            prune_opt(access, &self.rel, &pin)?;
            page = pin.shared();
        }
        if view.snapshot.lost_page(self.rel.desc.file, block) {
            return Err(HeapError::SnapshotTooOld);
        }
        self.block = block;
        self.at = 0;
        self.visible.clear();
        self.roots.clear();
        let all_visible = ops::is_all_visible(&page);
        let mut judge = Judge { txns: access.txns, page: &page };
        let bases = Bases::of(&page);
        let serial = self.rel.serial(view.me);
        let rows = self.sought.is_some();
        let (mut dead, mut seen_xmin) = (0, Xid::INVALID);
        for n in 1..=page::max_offset(&page) {
            if page::line_pointer(&page, n).is_none_or(|lp| lp.flags != LpFlags::Normal) {
                continue;
            }
            if all_visible && serial.is_none() {
                self.visible.push(n);
                continue;
            }
            let tid = Tid::new(self.block, n);
            let header = page::item(&page, n).and_then(|bytes| Header::read(bytes, bases));
            let Some(mut header) = header else { return Err(no_tuple(&self.rel, tid)) };
            let sees = if all_visible {
                true
            } else if header.raw_xmin == seen_xmin && !header.has_xmin_hint() && header.xmax_invalid() {
                judge.hint_inserted(n, &mut header)
            } else {
                let hinted = header.has_xmin_hint();
                let sees = judge.sees(n, &mut header, view)?;
                if sees && !hinted && header.xmin_hinted_committed() {
                    seen_xmin = header.raw_xmin;
                }
                sees
            };
            if let Some(serial) = serial.as_ref().filter(|_| !all_visible || rows) {
                let version = || TupleRef::new(tid, page::item(&page, n)?, bases);
                let sought = self.sought.as_mut();
                let is_sought =
                    || sought.is_none_or(|sought| sought.may_hold(&self.rel.desc.layout, version()));
                let place = (&*self.rel, tid);
                note_version(serial, access.txns, place, &header, (view.me, sees), rows, is_sought)?;
            }
            if sees {
                self.visible.push(n);
            } else if header.raw_xmax.is_normal() && header.multi().is_none() {
                dead += u32::from(is_removable(access.txns, self.rel.desc.kind, header.raw_xmax));
            }
        }
        if !self.visible.is_empty() {
            self.page.copy_from_slice(&page[..]);
        }
        drop(page);
        if dead >= MANY_DEAD {
            prune_dead(access, &self.rel, &pin)?;
        }
        let now = runtime::usage::pages();
        self.pages = [self.pages[0] + now[0] - before[0], self.pages[1] + now[1] - before[1]];
        Ok(true)
    }
}

/// The next of a scan's pages, in pieces of those that it shares, if it does.
fn next_block(
    blocks: &mut Range<u32>,
    shared: Option<&SharedPages>,
    chosen: impl Fn(u32) -> bool,
) -> Option<u32> {
    loop {
        if let Some(block) = blocks.find(|block| chosen(*block)) {
            return Some(block);
        }
        *blocks = shared?.take();
        if blocks.start == blocks.end {
            return None;
        }
    }
}

fn no_tuple(rel: &HeapRel, tid: Tid) -> HeapError {
    let what = "line pointer leads to no tuple";
    HeapError::Corrupt { rel: rel.desc.file, block: tid.block, offset: tid.offset, what }
}

fn no_root(rel: &HeapRel, tid: Tid) -> HeapError {
    let what = "heap-only tuple without a root";
    HeapError::Corrupt { rel: rel.desc.file, block: tid.block, offset: tid.offset, what }
}

/// What an index build learns about a row version.
#[derive(Clone, Copy, Debug)]
pub struct BuildRow<'a> {
    /// Where the index entry is to point: the root of its HOT chain.
    pub root: Tid,
    /// The version.
    pub row: TupleRef<'a>,
    /// Whether it is live, so that it counts for uniqueness.
    pub live: bool,
}

/// Calls `visit` for every version on the pages `blocks` that an index must have an entry for: all but the dead. Nobody else writes to the table meanwhile (SHARE lock);
/// versions that the caller's transaction wrote are included; `is_mine` knows its xids. Returns whether some HOT chain has versions that only older snapshots see and that are not in the
/// index: then the index must not be used with such snapshots.
pub fn build_scan(
    access: &Access<'_>,
    rel: &Arc<HeapRel>,
    is_mine: &dyn Fn(Xid) -> bool,
    blocks: Range<u32>,
    visit: &mut dyn FnMut(BuildRow<'_>) -> HeapResult<()>,
) -> HeapResult<bool> {
    let mut broken_chains = false;
    let ring = access.pool.ring(RingKind::BulkRead);
    let file = (rel.desc.file, Fork::Main);
    let mut stream = ReadStream::new(access.pool, file, Some(&ring), Purpose::Query);
    let mut blocks = blocks;
    let mut copy: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
    let mut verdicts: Vec<(OffsetNo, bool)> = Vec::new();
    while let Some(pin) = stream.next(access.pool, Some(&ring), || blocks.next())? {
        runtime::check_interrupts()?;
        let block = pin.tag().block;
        prune_opt(access, rel, &pin)?;
        {
            let page = pin.shared();
            broken_chains |= judge_for_build(access, rel, is_mine, &page, &mut verdicts)?;
            copy.copy_from_slice(&page[..]);
        }
        let roots = chain_roots(access.txns, &copy)?;
        for &(n, live) in &verdicts {
            let tid = Tid::new(block, n);
            let row = page::item(&copy, n).and_then(|bytes| TupleRef::new(tid, bytes, Bases::of(&copy)));
            let Some(row) = row else { return Err(no_tuple(rel, tid)) };
            let root = if row.header().is_heap_only() { roots[n as usize] } else { n };
            if root == 0 {
                return Err(no_root(rel, tid));
            }
            visit(BuildRow { root: Tid::new(block, root), row, live })?;
        }
    }
    Ok(broken_chains)
}

/// Which versions of a page an index must have, and whether each is live. Returns whether versions were left out that old snapshots see.
fn judge_for_build(
    access: &Access<'_>,
    rel: &HeapRel,
    is_mine: &dyn Fn(Xid) -> bool,
    page: &buffer::SharedPage<'_>,
    verdicts: &mut Vec<(OffsetNo, bool)>,
) -> HeapResult<bool> {
    verdicts.clear();
    let mut left_out = false;
    // Versions being updated, and the next ones.
    let mut updating: Vec<(OffsetNo, OffsetNo)> = Vec::new();
    for n in 1..=page::max_offset(page) {
        if page::line_pointer(page, n).is_none_or(|lp| lp.flags != LpFlags::Normal) {
            continue;
        }
        let Some(mut header) = read_header(page, n) else {
            return Err(no_tuple(rel, Tid::new(page.tag().block, n)));
        };
        let fate = Judge { txns: access.txns, page }.for_vacuum(n, &mut header)?;
        let gone_for_me = matches!(fate, Fate::DeleteInProgress) && is_mine(ender(access.txns, &header)?);
        match fate {
            Fate::Dead(xmax) if is_removable(access.txns, rel.desc.kind, xmax) => {}
            // The live end of the chain stands for it; its values may differ from this version's.
            Fate::Dead(_) if header.is_hot_updated() => left_out = true,
            Fate::DeleteInProgress if header.is_hot_updated() => {
                left_out = true;
                updating.push((n, header.ctid.offset));
            }
            Fate::Dead(_) => verdicts.push((n, false)),
            Fate::DeleteInProgress => verdicts.push((n, !gone_for_me)),
            Fate::Live | Fate::InsertInProgress => verdicts.push((n, true)),
        }
    }
    // Catalogs have transactions that wrote and let go of their lock. One that was rolled back between two of the questions above leaves a
    // live version whose next one was dead already.
    let stands = |next| {
        verdicts.iter().any(|verdict| verdict.0 == next) || updating.iter().any(|version| version.0 == next)
    };
    let alone: Vec<OffsetNo> =
        updating.iter().filter(|version| !stands(version.1)).map(|version| version.0).collect();
    verdicts.extend(alone.into_iter().map(|n| (n, true)));
    Ok(left_out)
}

/// For each line pointer the root of the HOT chain that it is in; 0 if none.
pub(crate) fn chain_roots(txns: &TxnSystem, page: &PageBytes) -> HeapResult<Vec<OffsetNo>> {
    let max = page::max_offset(page);
    let mut roots = vec![0; max as usize + 1];
    for root in 1..=max {
        let Some(lp) = page::line_pointer(page, root) else { continue };
        let mut next = match lp.flags {
            LpFlags::Redirect => lp.offset,
            LpFlags::Normal if read_header(page, root).is_some_and(|h| !h.is_heap_only()) => root,
            _ => continue,
        };
        let mut expected_xmin = None;
        for _ in 0..=max {
            let Some(header) = read_header(page, next).filter(|_| next <= max) else { break };
            if expected_xmin.is_some_and(|xmin| xmin != header.raw_xmin) || roots[next as usize] != 0 {
                break;
            }
            roots[next as usize] = root;
            if !header.is_hot_updated() {
                break;
            }
            expected_xmin = Some(ender(txns, &header)?);
            next = header.ctid.offset;
        }
    }
    Ok(roots)
}

/// What ANALYZE learns of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// Live rows.
    pub live: u64,
    /// Dead ones, removable or not.
    pub dead: u64,
}

/// Calls `visit` for each live row of one page: ANALYZE's sample. Rows being inserted by others count as neither live nor dead.
pub fn sample_page(
    access: &Access<'_>,
    rel: &HeapRel,
    me: &Transaction,
    pin: Pin,
    visit: &mut dyn FnMut(TupleRef<'_>) -> HeapResult<()>,
) -> HeapResult<SampleCounts> {
    let mut counts = SampleCounts::default();
    let mut live = Vec::new();
    let copy: Box<PageBytes>;
    let block = pin.tag().block;
    {
        let pin = pin;
        let page = pin.shared();
        for n in 1..=page::max_offset(&page) {
            let Some(lp) = page::line_pointer(&page, n) else { continue };
            if lp.flags == LpFlags::Dead {
                counts.dead += 1;
            }
            if lp.flags != LpFlags::Normal {
                continue;
            }
            let Some(mut header) = read_header(&page, n) else {
                return Err(no_tuple(rel, Tid::new(block, n)));
            };
            match (Judge { txns: access.txns, page: &page }).for_vacuum(n, &mut header)? {
                Fate::Live => live.push(n),
                Fate::InsertInProgress if me.is_mine(header.raw_xmin) => live.push(n),
                Fate::InsertInProgress => {}
                Fate::DeleteInProgress if me.is_mine(ender(access.txns, &header)?) => counts.dead += 1,
                Fate::DeleteInProgress => live.push(n),
                Fate::Dead(_) => counts.dead += 1,
            }
        }
        copy = Box::new(*page);
    }
    counts.live = live.len() as u64;
    for n in live {
        let tid = Tid::new(block, n);
        let row = page::item(&copy, n).and_then(|bytes| TupleRef::new(tid, bytes, Bases::of(&copy)));
        visit(row.ok_or_else(|| no_tuple(rel, tid))?)?;
    }
    Ok(counts)
}
