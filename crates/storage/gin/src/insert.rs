//! Entering rows under keys, one after the other or many at once: down to the leaf, splits, and the downlinks of what they made.
//!
//! A writer holds no latch on its way down. Whoever finds a page that was split goes on to the right; whoever finds one whose right sibling has no downlink yet makes it
//! first.

use std::cmp::Ordering;

use base::{BlockNo, OffsetNo, Tid};
use buffer::PageChange;
use index::bytes::put_sized;
use index::{Access, Exclusive, FreeList, INIT, IndexError, IndexResult, Pages, Shared, interrupts};
use smallvec::SmallVec;
use tuple::parts::Part;
use tuple::{Bytes, Datum};

use crate::format::{
    DELETED, EMPTY, INCOMPLETE, KEY, MAX_KEY, NONE, NULL_KEY, NULL_ROW, Node, Opaque, Position, ROOM, ROOT,
    leaf_items, link, list_room, pack,
};
use crate::redo::{Kind, Step};
use crate::rel::GinRel;
use crate::{ops, posting};

/// Most bytes of a record's steps.
const MOST_BYTES: usize = 16_000;

/// A key, and ascending TIDs of rows that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub column: u8,
    pub category: u8,
    pub key: Bytes,
    pub tids: SmallVec<[u64; 1]>,
}

impl Entry {
    /// Position of one of its rows.
    pub fn at(&self, tid: u64) -> Position<'_> {
        Position { column: self.column, category: self.category, key: &self.key, tid }
    }

    /// Order of the keys.
    pub fn compare(&self, other: &Entry, rel: &GinRel) -> Ordering {
        rel.compare(self.at(0), other.at(0))
    }
}

/// Hands out the keys of a row's values as their classes tell them: column, category and bytes. `parts` is to work with.
pub(crate) fn row_keys(
    rel: &GinRel,
    (values, tid): (&[Datum], Tid),
    parts: &mut Vec<Part>,
    mut each: impl FnMut(u8, u8, Bytes) -> IndexResult<()>,
) -> IndexResult<()> {
    for ((value, class), column) in values.iter().zip(&rel.desc.parts).zip(1u8..) {
        if value.is_null() {
            each(column, NULL_ROW, Bytes::default())?;
            continue;
        }
        class.parts(value, parts);
        if parts.is_empty() {
            each(column, EMPTY, Bytes::default())?;
        }
        for part in parts.drain(..) {
            match part {
                Some(key) if key.len() > MAX_KEY => {
                    let (size, max) = (key.len(), MAX_KEY);
                    return Err(IndexError::TooLarge { format: "", size, max, tid });
                }
                Some(key) => each(column, KEY, key)?,
                None => each(column, NULL_KEY, Bytes::default())?,
            }
        }
    }
    Ok(())
}

/// The keys of a row's values, in order, each once.
pub(crate) fn row_entries(rel: &GinRel, values: &[Datum], tid: Tid) -> IndexResult<Vec<Entry>> {
    let (mut out, mut parts) = (Vec::new(), Vec::new());
    row_keys(rel, (values, tid), &mut parts, |column, category, key| {
        out.push(Entry { column, category, key, tids: SmallVec::from_buf([pack(tid)]) });
        Ok(())
    })?;
    out.sort_unstable_by(|a, b| a.compare(b, rel));
    out.dedup_by(|a, b| a.compare(b, rel).is_eq());
    Ok(out)
}

/// Enters everything. `entries` are in order, each key once.
pub(crate) fn enter(access: &Access<'_>, rel: &GinRel, entries: &[Entry]) -> IndexResult<()> {
    let mut batch = Batch { entries, tid: 0 };
    while let Some(next) = batch.next() {
        interrupts()?;
        access.pool.admit(rel.desc.persistence)?;
        let leaf = leaf_for(access, rel, next)?;
        enter_leaf(access, rel, leaf, &mut batch)?;
    }
    Ok(())
}

/// What is still to be entered.
struct Batch<'a> {
    entries: &'a [Entry],
    /// How many TIDs of the first entry are in.
    tid: usize,
}

impl<'a> Batch<'a> {
    fn tids(&self) -> &'a [u64] {
        self.entries.first().map_or(&[], |entry| &entry.tids[self.tid..])
    }

    fn next(&self) -> Option<Position<'a>> {
        Some(self.entries.first()?.at(*self.tids().first()?))
    }

    fn pass(&mut self, count: usize) {
        self.tid += count;
        if self.tids().is_empty() {
            self.entries = &self.entries[1..];
            self.tid = 0;
        }
    }
}

/// Where on a leaf a key's rows go.
struct Slot {
    /// The item that gets them; none: a new one, before `n`.
    item: Option<OffsetNo>,
    n: OffsetNo,
    /// Rows from this one on go elsewhere.
    limit: u64,
}

fn slot(rel: &GinRel, node: &Node<'_>, of: Position<'_>) -> Result<Slot, &'static str> {
    let behind = rel.behind(node, of)?;
    let has_key = |n: OffsetNo| -> Result<bool, &'static str> {
        Ok(n >= node.first() && n <= node.max() && rel.same_key(node.position(n)?, of))
    };
    let item = match (has_key(behind - 1)?, has_key(behind)?) {
        (true, _) => Some(behind - 1),
        (false, true) => Some(behind),
        (false, false) => None,
    };
    let next = item.map_or(behind, |n| n + 1);
    let limit = if has_key(next)? {
        node.leaf(next)?.first()
    } else {
        // What is behind the last item may end within the key's rows.
        match node.high()? {
            Some(high) if rel.same_key(high, of) => high.tid,
            _ => u64::MAX,
        }
    };
    Ok(Slot { item, n: behind, limit })
}

/// Enters as much as belongs to a leaf; splits it if it is full.
fn enter_leaf(
    access: &Access<'_>,
    rel: &GinRel,
    mut page: Exclusive,
    batch: &mut Batch<'_>,
) -> IndexResult<()> {
    let block = page.tag().block;
    let mut bytes = Vec::new();
    let mut full = None;
    while let Some(of) = batch.next() {
        let node = rel.node(block, &page)?;
        if bytes.len() > MOST_BYTES || rel.check(block, rel.is_beyond(&node, of))? {
            break;
        }
        let slot = rel.check(block, slot(rel, &node, of))?;
        let tids = batch.tids();
        // So few that an item becomes two at most.
        let most = (list_room(of.key.len()) / (2 * posting::LONGEST)).max(1);
        let count = tids.iter().take(most).take_while(|tid| **tid < slot.limit).count();
        if count == 0 {
            return Err(rel.corrupt(block, "items of a key overlap"));
        }
        let tids = &tids[..count];
        let (fits, appended) = match slot.item {
            Some(n) => {
                let appended = rel.check(block, node.leaf(n))?.last() < tids[0];
                let step = Step::Tids(n, tids);
                let fits = rel.check(block, step.apply(&mut page))?;
                if fits {
                    step.put(&mut bytes);
                }
                (fits, appended)
            }
            None => {
                let items = leaf_items(of, tids, false);
                let step = Step::Item(slot.n, &items[0]);
                let fits = rel.check(block, step.apply(&mut page))?;
                if fits {
                    step.put(&mut bytes);
                }
                (fits, false)
            }
        };
        if !fits {
            full = Some((slot.item.unwrap_or(slot.n), appended));
            break;
        }
        batch.pass(count);
    }
    if !bytes.is_empty() {
        let mut action = rel.action(access, Kind::Insert);
        let i = action.page(&mut page, PageChange::default());
        action.page_data(i, &bytes);
        action.commit();
    }
    match full {
        Some((at, appended)) => split(access, rel, page, at, appended),
        None => Ok(()),
    }
}

/// The leaf that a position belongs to, latched exclusively; its right sibling has its downlink.
fn leaf_for(access: &Access<'_>, rel: &GinRel, of: Position<'_>) -> IndexResult<Exclusive> {
    page_for(access, rel, of, 0)
}

/// The page of a level that a position belongs to, latched exclusively; its right sibling has its downlink.
pub(crate) fn page_for(
    access: &Access<'_>,
    rel: &GinRel,
    of: Position<'_>,
    level: u16,
) -> IndexResult<Exclusive> {
    // Nobody is taken out of the tree so often.
    'again: for _ in 0..1000 {
        let mut block = above(access, rel, of, level)?;
        loop {
            let page = rel.exclusive(access.pool, block)?;
            let node = rel.node(block, &page)?;
            if node.op.level != level || !node.op.is_in_tree() {
                // The root was split, or the page has gone.
                if block == ROOT && node.op.level < level {
                    return Err(rel.corrupt(ROOT, "tree has too few levels"));
                }
                continue 'again;
            }
            if node.op.is(INCOMPLETE) {
                finish_split(access, rel, page)?;
                continue 'again;
            }
            if !rel.check(block, rel.is_beyond(&node, of))? {
                return Ok(page);
            }
            block = node.op.next;
        }
    }
    Err(rel.corrupt(ROOT, "no page of the tree is where a position belongs"))
}

/// The page of a level that a descent to a position comes to; pages to its right may have to be passed.
fn above(access: &Access<'_>, rel: &GinRel, of: Position<'_>, level: u16) -> IndexResult<BlockNo> {
    let mut block = ROOT;
    loop {
        let page = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if node.op.level <= level {
            return Ok(block);
        }
        let (next, below) = step_down(rel, block, &node, of)?;
        if below && node.op.level == level + 1 {
            return Ok(next);
        }
        block = next;
    }
}

/// From an internal page: the child, or the right sibling; with it whether it is the child.
pub(crate) fn step_down(
    rel: &GinRel,
    block: BlockNo,
    node: &Node<'_>,
    of: Position<'_>,
) -> IndexResult<(BlockNo, bool)> {
    if !node.op.is_in_tree() {
        return Err(rel.corrupt(block, "page of the tree is not in use"));
    }
    if rel.check(block, rel.is_beyond(node, of))? {
        return Ok((node.op.next, false));
    }
    Ok((rel.check(block, rel.child(node, of))?, true))
}

/// The leaf that a position belongs to, latched shared.
pub(crate) fn leaf_to_read(access: &Access<'_>, rel: &GinRel, of: Position<'_>) -> IndexResult<Shared> {
    let mut block = ROOT;
    loop {
        let page = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if !node.op.is_leaf() {
            (block, _) = step_down(rel, block, &node, of)?;
        } else if node.op.is(DELETED) {
            // What it had is behind it now, or nowhere.
            block = node.op.next;
        } else if !node.op.is_in_tree() {
            return Err(rel.corrupt(block, "page of the tree is not in use"));
        } else if rel.check(block, rel.is_beyond(&node, of))? {
            block = node.op.next;
        } else {
            return Ok(page);
        }
        if block == NONE {
            return Err(rel.corrupt(block, "links end before the position sought"));
        }
    }
}

/// Number of items that stay on the left page.
fn split_point(rel: &GinRel, node: &Node<'_>, at: OffsetNo, appended: bool) -> Result<usize, &'static str> {
    let first = node.first();
    let count = usize::from(node.max() + 1 - first);
    if count < 2 {
        return Err("full page has too few items to be split");
    }
    let size = |n: OffsetNo| page::item(node.page, n).map_or(0, <[u8]>::len) + 4;
    let sizes: Vec<usize> = (first..=node.max()).map(size).collect();
    let all: usize = sizes.iter().sum();
    let changed = usize::from(at.saturating_sub(first)).min(count);
    if changed + 1 >= count && (appended || node.op.next == NONE) {
        // Whoever goes on behind the last item finds a page of his own there, and this one stays full.
        return Ok(count - 1);
    }
    if appended && !rel.same_key(node.position(at)?, node.position(at + 1)?) {
        let left: usize = sizes[..=changed].iter().sum();
        if left * 3 > all {
            return Ok(changed + 1);
        }
    }
    let (mut left, mut point) = (0, 0);
    while point + 1 < count && (point == 0 || left + sizes[point] / 2 < all / 2) {
        left += sizes[point];
        point += 1;
    }
    Ok(point)
}

/// Distributes a full page's items to it and a new right sibling, which gets its downlink; the root's to two new pages.
fn split(
    access: &Access<'_>,
    rel: &GinRel,
    mut page: Exclusive,
    at: OffsetNo,
    appended: bool,
) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, &page)?;
    let op = node.op;
    let point = rel.check(block, split_point(rel, &node, at, appended))?;
    let items: Vec<Vec<u8>> = (node.first()..=node.max())
        .map(|n| {
            page::item(&page, n).map(<[u8]>::to_vec).ok_or_else(|| rel.corrupt(block, "item is missing"))
        })
        .collect::<IndexResult<_>>()?;
    let middle = separator(rel, block, &node, node.first() + point as OffsetNo)?;
    let high = match node.first() {
        1 => None,
        _ => page::item(&page, 1).map(<[u8]>::to_vec),
    };
    let is_root = block == ROOT;
    let mut made = vec![rel.allocate(access, false)?];
    if is_root {
        made.insert(0, rel.allocate(access, false)?);
    }
    let right = made[made.len() - 1].tag().block;
    let bound = link(middle_position(&middle), NONE);
    let left_items: Vec<&[u8]> =
        std::iter::once(&bound[..]).chain(items[..point].iter().map(Vec::as_slice)).collect();
    let right_items: Vec<&[u8]> = high.iter().chain(&items[point..]).map(Vec::as_slice).collect();
    let flags = if is_root { 0 } else { INCOMPLETE };
    let left_op = Opaque { next: right, flags, ..Opaque::new(op.level, 0) };
    let right_op = Opaque { next: op.next, ..Opaque::new(op.level, 0) };
    {
        let (last, rest) = made.split_last_mut().ok_or_else(|| rel.corrupt(block, "split made no page"))?;
        let left = rest.first_mut().unwrap_or(&mut page);
        rel.check(block, ops::fill(left, left_op, &left_items))?;
        rel.check(right, ops::fill(last, right_op, &right_items))?;
    }
    if is_root {
        let links = [link(Position::LEAST, made[0].tag().block), link(middle_position(&middle), right)];
        rel.check(ROOT, ops::fill(&mut page, Opaque::new(op.level + 1, 0), &links))?;
    }
    let mut action = rel.action(access, Kind::Split);
    for target in std::iter::once(&mut page).chain(&mut made) {
        let blob = rel.check(target.tag().block, ops::blob(target))?;
        let i = action.page(target, INIT);
        action.page_data(i, &blob);
    }
    action.commit();
    drop(made);
    if is_root { Ok(()) } else { finish_split(access, rel, page) }
}

/// What the least position of a page is, its bytes kept.
type Separator = (u8, u8, Bytes, u64);

fn middle_position(of: &Separator) -> Position<'_> {
    Position { column: of.0, category: of.1, key: &of.2, tid: of.3 }
}

/// The position that parts item `n` of a page from the one before it.
fn separator(rel: &GinRel, block: BlockNo, node: &Node<'_>, n: OffsetNo) -> IndexResult<Separator> {
    let after = rel.check(block, node.position(n))?;
    let before = rel.check(block, node.position(n - 1))?;
    // Rows of a new key belong to where its first row is.
    let tid = if node.op.is_leaf() && !rel.same_key(before, after) { 0 } else { after.tid };
    Ok((after.column, after.category, after.key.into(), tid))
}

/// Gives a downlink to the right sibling of a page that lacks it.
fn finish_split(access: &Access<'_>, rel: &GinRel, mut page: Exclusive) -> IndexResult<()> {
    let block = page.tag().block;
    let node = rel.node(block, &page)?;
    let (level, right) = (node.op.level, node.op.next);
    let high = rel.check(block, node.high())?.ok_or_else(|| rel.corrupt(block, "split page has no bound"))?;
    let item = link(high, right);
    let kept: Bytes = high.key.into();
    let of = Position { key: &kept, ..high };
    loop {
        let mut parent = page_for(access, rel, of, level + 1)?;
        let at = parent.tag().block;
        let node = rel.node(at, &parent)?;
        let n = rel.check(at, rel.behind(&node, of))?;
        let known = n > node.first() && rel.check(at, node.link(n - 1))?.child() == right;
        let present = known && rel.check(at, node.position(n - 1))? == of;
        if present {
            return Err(rel.corrupt(at, "page has a downlink already"));
        }
        if !rel.check(at, ops::add_item(&mut parent, n, &item))? {
            split(access, rel, parent, n, false)?;
            continue;
        }
        rel.check(block, ops::finish_split(&mut page))?;
        let mut data = n.to_le_bytes().to_vec();
        put_sized(&item, &mut data);
        let mut action = rel.action(access, Kind::Downlink);
        let i = action.page(&mut parent, PageChange::default());
        action.page_data(i, &data);
        action.page(&mut page, PageChange::default());
        action.commit();
        return Ok(());
    }
}

const _: () = assert!(MAX_KEY + 64 < ROOM / 3);
