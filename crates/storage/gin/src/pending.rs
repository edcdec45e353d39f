//! Fast update: rows whose entries are not in the tree yet, in the order in which they came.
//!
//! There are a few *lanes*, so that sessions on several workers do not wait for each other. A lane's first page takes new entries. When it is full its entries move to a new page, which hangs on it
//! before those that moved earlier; so pages behind the first one never change, and the oldest is the last. Cleaning enters what such pages have into the tree, sorted, and then cuts
//! them off, from the oldest on.
//!
//! # Invariants
//! 1. An entry is in a lane, or in the tree, or for a moment in both; who reads the lanes first and the tree afterwards sees it.
//! 2. Who goes from one page of a lane to the next keeps the first one latched until he has the next. So nobody comes to a page that was cut off, and it can be used
//!    for something else at once. Replay heeds no latch but that of the page that it changes: where a log is replayed, who comes to a page that is not one of
//!    pending entries any more knows that it was cut off, and all behind it before or with it; their entries are in the tree. A page that serves in a lane again
//!    shows him entries twice at the most.
//! 3. One cleans an index at a time ([`TURNS`]): what a VACUUM found dead is not entered again behind it by somebody who read it in a lane before.
//!
//! # Locks
//! A lane's pages from the first to the last, then the meta page. That turn comes before all latches.

use std::cmp::Ordering;

use base::{BlockNo, PAGE_SIZE};
use buffer::PageChange;
use index::bytes::put_sized_with;
use index::{Access, Exclusive, FreeList, INIT, IndexResult, Pages, Shared, TURNS, interrupts};
use smallvec::SmallVec;

use crate::format::{
    META_BLOCK, NONE, Node, Opaque, PENDING, Position, ROOM, pending_row_size, put_pending_row,
};
use crate::insert::{Entry, enter};
use crate::ops;
use crate::redo::{Kind, cut_bytes, read_items};
use crate::rel::GinRel;

/// First page of the first lane.
pub(crate) const FIRST_LANE: u32 = 2;
/// Number of lanes.
pub(crate) const LANES: u32 = 4;

/// Most pages that one record cuts off.
const MOST_CUT: usize = 32;
/// Bytes of memory for each page of a lane whose entries are sorted.
const PAGE_COST: usize = 16 * PAGE_SIZE;

/// First pages of all lanes.
pub(crate) fn lanes() -> impl Iterator<Item = BlockNo> {
    (FIRST_LANE..FIRST_LANE + LANES).map(BlockNo)
}

/// Enters rows: into a lane, or directly into the tree those with too many keys. `limit`: bytes in the lanes from which on they are cleaned.
pub(crate) fn add(
    access: &Access<'_>,
    rel: &GinRel,
    mut rows: &[Vec<Entry>],
    limit: usize,
) -> IndexResult<()> {
    while let Some(row) = rows.first() {
        interrupts()?;
        let count = match size(row) > ROOM {
            true => enter(access, rel, row).map(|()| 1)?,
            false => append(access, rel, rows, limit)?,
        };
        rows = &rows[count..];
    }
    Ok(())
}

/// Bytes that a row takes on a page.
fn size(row: &[Entry]) -> usize {
    pending_row_size(row.iter().map(|entry| entry.key.len())) + 4
}

/// Appends as many rows to a lane's first page, at least one, as there is room for. Returns how many.
fn append(access: &Access<'_>, rel: &GinRel, rows: &[Vec<Entry>], limit: usize) -> IndexResult<usize> {
    access.pool.admit(rel.desc.persistence)?;
    let lane = BlockNo(FIRST_LANE + runtime::worker_index().unwrap_or(0) as u32 % LANES);
    let mut page = rel.exclusive(access.pool, lane)?;
    let full = page::free_space(&page) < size(&rows[0]);
    if full {
        move_on(access, rel, &mut page)?;
    }
    let mut left = page::free_space(&page);
    let fits = |row: &&Vec<Entry>| {
        let rest = left.checked_sub(size(row));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let count = rows.iter().take_while(fits).count();
    let mut data = Vec::with_capacity(PAGE_SIZE);
    for row in &rows[..count] {
        let tid = row[0].tids[0];
        put_sized_with(&mut data, |data| put_pending_row(tid, row.iter().map(|entry| entry.at(tid)), data));
    }
    rel.check(lane, read_items(&data).and_then(|items| ops::append(&mut page, &items)))?;
    let mut action = rel.action(access, Kind::PendingAdd);
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &data);
    action.commit();
    drop(page);
    if full && pages(access, rel)? as usize * ROOM > limit {
        clean(access, rel, false)?;
    }
    Ok(count)
}

/// Pages that hang on all lanes.
fn pages(access: &Access<'_>, rel: &GinRel) -> IndexResult<u32> {
    lanes().map(|lane| Ok(rel.node(lane, &*rel.shared(access.pool, lane)?)?.op.pages)).sum()
}

/// Moves the entries of a lane's first page to a new page behind it.
fn move_on(access: &Access<'_>, rel: &GinRel, page: &mut Exclusive) -> IndexResult<()> {
    let lane = page.tag().block;
    let node = rel.node(lane, page)?;
    if !node.op.is(PENDING) {
        return Err(rel.corrupt(lane, "page is not one of pending entries"));
    }
    let op = node.op;
    let mut made = rel.allocate(access, false)?;
    let block = made.tag().block;
    let items: Vec<&[u8]> = (1..=node.max()).filter_map(|n| page::item(page, n)).collect();
    rel.check(block, ops::fill(&mut made, Opaque { pages: 0, ..op }, &items))?;
    let first = Opaque { next: block, pages: op.pages + 1, ..op };
    rel.check(lane, ops::fill::<&[u8]>(page, first, &[]))?;
    let mut action = rel.action(access, Kind::PendingMove);
    for target in [page, &mut made] {
        let blob = rel.check(target.tag().block, ops::blob(target))?;
        let i = action.page(target, INIT);
        action.page_data(i, &blob);
    }
    action.commit();
    Ok(())
}

/// Calls `visit` for all pending entries, under the latches of their pages.
pub(crate) fn each(
    access: &Access<'_>,
    rel: &GinRel,
    visit: &mut dyn FnMut(Position<'_>) -> IndexResult<()>,
) -> IndexResult<()> {
    for lane in lanes() {
        interrupts()?;
        let mut page: Shared = rel.shared(access.pool, lane)?;
        loop {
            let block = page.tag().block;
            let node = pending_node(rel, block, &page)?;
            for n in 1..=node.max() {
                for of in rel.check(block, node.pending_row(n))? {
                    visit(rel.check(block, of)?)?;
                }
            }
            if node.op.next == NONE {
                break;
            }
            let next = rel.shared(access.pool, node.op.next)?;
            if access.pool.wal().is_recovering() && !rel.node(next.tag().block, &next)?.op.is(PENDING) {
                // What replay cuts off meanwhile is in the tree already, and all that is behind it.
                break;
            }
            page = next;
        }
    }
    Ok(())
}

fn pending_node<'p>(rel: &GinRel, block: BlockNo, page: &'p page::PageBytes) -> IndexResult<Node<'p>> {
    let node = rel.node(block, page)?;
    match node.op.is(PENDING) {
        true => Ok(node),
        false => Err(rel.corrupt(block, "page is not one of pending entries")),
    }
}

/// Enters what is pending into the tree. Waits for whoever does so already, or leaves it to him. Returns the number of pages that were cut off.
pub(crate) fn clean(access: &Access<'_>, rel: &GinRel, wait: bool) -> IndexResult<u64> {
    let turn = TURNS.of(access, rel.desc.file);
    let _guard = match wait {
        true => turn.lock(),
        false => match turn.try_lock() {
            Some(guard) => guard,
            None => return Ok(0),
        },
    };
    let mut chains = Vec::new();
    for lane in lanes() {
        interrupts()?;
        chains.push((lane, chain(access, rel, lane)?));
    }
    let mut cut_off = 0;
    let most = (access.limits.memory / PAGE_COST).max(1);
    while chains.iter().any(|(_, chain)| !chain.is_empty()) {
        // From each lane its oldest pages.
        let share = most.div_ceil(chains.len());
        let mut entries = Unsorted::default();
        for (_, chain) in &chains {
            for block in &chain[chain.len().saturating_sub(share)..] {
                interrupts()?;
                read(access, rel, *block, &mut entries)?;
            }
        }
        enter_all(access, rel, entries)?;
        for (lane, chain) in &mut chains {
            let count = chain.len().min(share);
            cut_off += count as u64;
            cut(access, rel, *lane, chain, count)?;
        }
    }
    Ok(cut_off)
}

/// Pages that hang on a lane, the newest first; those of its first page are among them.
fn chain(access: &Access<'_>, rel: &GinRel, lane: BlockNo) -> IndexResult<Vec<BlockNo>> {
    access.pool.admit(rel.desc.persistence)?;
    let mut page = rel.exclusive(access.pool, lane)?;
    if page::max_offset(&page) > 0 {
        move_on(access, rel, &mut page)?;
    }
    let mut next = pending_node(rel, lane, &page)?.op.next;
    drop(page);
    let mut chain = Vec::new();
    while next != NONE {
        chain.push(next);
        let page = rel.shared(access.pool, next)?;
        next = pending_node(rel, next, &page)?.op.next;
    }
    Ok(chain)
}

/// Appends the entries of a page.
fn read(access: &Access<'_>, rel: &GinRel, block: BlockNo, out: &mut Unsorted) -> IndexResult<()> {
    let page = rel.shared(access.pool, block)?;
    let node = pending_node(rel, block, &page)?;
    for n in 1..=node.max() {
        for of in rel.check(block, node.pending_row(n))? {
            out.add(rel, rel.check(block, of)?);
        }
    }
    Ok(())
}

/// An entry of one row among those that are to be sorted; most comparisons are of numbers.
struct Loose {
    number: u64,
    tid: u64,
    /// Where its key is among the keys.
    at: usize,
    len: u16,
    column: u8,
    category: u8,
}

/// Entries in any order, of any rows.
#[derive(Default)]
pub(crate) struct Unsorted {
    entries: Vec<Loose>,
    /// Their keys, one behind the other.
    keys: Vec<u8>,
}

impl Unsorted {
    pub fn add(&mut self, rel: &GinRel, of: Position<'_>) {
        let Position { column, category, key, tid } = of;
        let (at, len) = (self.keys.len(), key.len() as u16);
        self.entries.push(Loose { number: rel.number(key), tid, at, len, column, category });
        self.keys.extend_from_slice(key);
    }

    /// In order, each key once.
    fn sorted(self, rel: &GinRel) -> IndexResult<Vec<Entry>> {
        let Unsorted { mut entries, keys } = self;
        let key = |of: &Loose| &keys[of.at..][..usize::from(of.len)];
        let order = |a: &Loose, b: &Loose| {
            let numbers = (a.column, a.category, a.number).cmp(&(b.column, b.category, b.number));
            numbers.then_with(|| match rel.is_whole(a.len) && rel.is_whole(b.len) {
                true => Ordering::Equal,
                false => rel.compare_keys(a.column, a.category, key(a), key(b)),
            })
        };
        interrupts()?;
        entries.sort_unstable_by(|a, b| order(a, b).then(a.tid.cmp(&b.tid)));
        interrupts()?;
        let mut out = Vec::new();
        for same in entries.chunk_by(|a, b| order(a, b).is_eq()) {
            let mut tids: SmallVec<[u64; 1]> = same.iter().map(|entry| entry.tid).collect();
            tids.dedup();
            let Loose { column, category, .. } = same[0];
            out.push(Entry { column, category, key: key(&same[0]).into(), tids });
        }
        Ok(out)
    }
}

/// Enters into the tree what is in any order.
pub(crate) fn enter_all(access: &Access<'_>, rel: &GinRel, entries: Unsorted) -> IndexResult<()> {
    enter(access, rel, &entries.sorted(rel)?)
}

/// Cuts the last `count` pages of a chain off, whose entries are in the tree.
fn cut(
    access: &Access<'_>,
    rel: &GinRel,
    lane: BlockNo,
    chain: &mut Vec<BlockNo>,
    mut count: usize,
) -> IndexResult<()> {
    while count > 0 {
        interrupts()?;
        access.pool.admit(rel.desc.persistence)?;
        let now = count.min(MOST_CUT);
        let gone = chain.split_off(chain.len() - now);
        let mut first = rel.exclusive(access.pool, lane)?;
        let before = before(access, rel, &first, gone[0])?;
        let pages = rel.node(lane, &first)?.op.pages.saturating_sub(now as u32);
        cut_record(access, rel, (&mut first, pages), before, &gone)?;
        count -= now;
    }
    Ok(())
}

/// The page that a page of a lane hangs on, if that is not the lane's first, which the caller has.
fn before(
    access: &Access<'_>,
    rel: &GinRel,
    first: &Exclusive,
    wanted: BlockNo,
) -> IndexResult<Option<Exclusive>> {
    let mut next = pending_node(rel, first.tag().block, first)?.op.next;
    let mut found = None;
    while next != wanted {
        if next == NONE {
            return Err(rel.corrupt(wanted, "page of pending entries hangs on no lane"));
        }
        let page = rel.exclusive(access.pool, next)?;
        next = pending_node(rel, next, &page)?.op.next;
        found = Some(page);
    }
    Ok(found)
}

fn cut_record(
    access: &Access<'_>,
    rel: &GinRel,
    (first, pages): (&mut Exclusive, u32),
    mut before: Option<Exclusive>,
    gone: &[BlockNo],
) -> IndexResult<()> {
    let mut freed = Vec::with_capacity(gone.len());
    for block in gone {
        freed.push(rel.exclusive(access.pool, *block)?);
    }
    let mut meta = rel.exclusive(access.pool, META_BLOCK)?;
    let mut free = rel.node(META_BLOCK, &meta)?.op.next;
    let lane = first.tag().block;
    let own = before.is_none();
    rel.check(lane, ops::set_pages(first, pages, own))?;
    if let Some(before) = &mut before {
        rel.check(before.tag().block, ops::set_next(before, NONE))?;
    }
    for page in freed.iter_mut().rev() {
        rel.check(page.tag().block, ops::mark_free(page, free))?;
        free = page.tag().block;
    }
    rel.check(META_BLOCK, ops::set_next(&mut meta, free))?;
    let blobs: Vec<Vec<u8>> =
        freed.iter().map(|page| rel.check(page.tag().block, ops::blob(page))).collect::<IndexResult<_>>()?;
    let mut action = rel.action(access, Kind::PendingCut);
    action.data(&cut_bytes(pages, own, gone.len(), free));
    action.page(first, PageChange::default());
    if let Some(before) = &mut before {
        action.page(before, PageChange::default());
    }
    for (page, blob) in freed.iter_mut().zip(&blobs) {
        let i = action.page(page, INIT);
        action.page_data(i, blob);
    }
    action.page(&mut meta, PageChange::default());
    action.commit();
    Ok(())
}
