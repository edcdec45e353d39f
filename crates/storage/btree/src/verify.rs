//! Checks a whole tree, level by level from the root: for tests, and for whoever doubts an index.

use std::cmp::Ordering;
use std::collections::HashSet;

use base::{BlockNo, Fork, SqlError, Tid};
use tuple::Datum;

use crate::format::{Check, DELETED, FREE, HALF_DEAD, INCOMPLETE_SPLIT, Item, META, NONE, Node, ROOT};
use crate::key::SearchKey;
use crate::rel::{BtreeDesc, BtreeRel};
use crate::search::Shared;
use crate::{Access, BtreeError, BtreeResult};

/// What a check counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Levels, 0 for an empty tree.
    pub levels: u32,
    /// Leaf pages in the chain.
    pub leaves: u32,
    /// Internal pages.
    pub internal: u32,
    /// Entries that are not marked as dead.
    pub entries: u64,
    /// Incomplete splits met.
    pub incomplete_splits: u32,
    /// Half-dead leaves met.
    pub half_dead: u32,
    /// Deleted pages, free ones included.
    pub deleted: u32,
    /// Pages on the list of free pages.
    pub free: u32,
}

/// Takes one entry's TID and values; an error fails the check.
pub type HeapCheck<'a> = &'a mut dyn FnMut(Tid, &[Datum]) -> Result<(), SqlError>;

/// Checks order, links, high keys, downlinks, levels and the list of free pages; hands every entry that is not marked as dead to `heap`. The tree
/// must not change meanwhile.
pub fn verify(access: &Access<'_>, rel: &BtreeRel, heap: Option<HeapCheck<'_>>) -> BtreeResult<VerifyReport> {
    let meta = rel.meta(access.pool)?;
    let mut v = Verify { access, rel, heap, report: VerifyReport::default(), seen: HashSet::new() };
    v.physical()?;
    v.free_list(meta.free_head, meta.free_count)?;
    if meta.root == NONE {
        return Ok(v.report);
    }
    v.report.levels = meta.level + 1;
    let mut expected = vec![Downlink { child: meta.root, low: None }];
    for level in (0..=meta.level).rev() {
        let pages = v.level(level as u16, &expected)?;
        if level == meta.fast_level && pages.first_block != meta.fast_root {
            return Err(rel.corrupt(META, "fast root is not the first page of its level"));
        }
        if level >= meta.fast_level && level < meta.level && pages.live > 1 && level > meta.fast_level {
            return Err(rel.corrupt(META, "a level above the fast root has several pages"));
        }
        expected = pages.downlinks;
    }
    Ok(v.report)
}

/// A child in the order of its level, with the key that separates it from the child before.
struct Downlink {
    child: BlockNo,
    low: Option<Vec<u8>>,
}

struct LevelPages {
    first_block: BlockNo,
    live: u32,
    downlinks: Vec<Downlink>,
}

struct Verify<'a, 'h> {
    access: &'a Access<'a>,
    rel: &'a BtreeRel,
    heap: Option<HeapCheck<'h>>,
    report: VerifyReport,
    seen: HashSet<BlockNo>,
}

impl Verify<'_, '_> {
    fn page(&self, block: BlockNo) -> BtreeResult<Shared> {
        self.rel.shared(self.access.pool, block)
    }

    fn ensure(&self, block: BlockNo, holds: bool, what: &'static str) -> BtreeResult<()> {
        if holds { Ok(()) } else { Err(self.rel.corrupt(block, what)) }
    }

    /// Every page can be read and has a sound special area.
    fn physical(&mut self) -> BtreeResult<()> {
        for n in 1..self.access.pool.nblocks(self.rel.desc.file, Fork::Main)? {
            let block = BlockNo(n);
            let page = self.page(block)?;
            if !page::is_new(&page) && self.rel.node(block, &page)?.op.is(DELETED) {
                self.report.deleted += 1;
            }
        }
        Ok(())
    }

    fn free_list(&mut self, mut block: BlockNo, count: u32) -> BtreeResult<()> {
        while block != NONE {
            let new = self.seen.insert(block);
            self.ensure(block, new, "list of free pages is a ring")?;
            let page = self.page(block)?;
            let node = self.rel.node(block, &page)?;
            self.ensure(block, node.op.is(FREE) && node.op.is(DELETED), "page on the free list is in use")?;
            self.report.free += 1;
            block = node.next_free();
        }
        self.ensure(META, self.report.free == count, "number of free pages is wrong")
    }

    /// Walks one level from its first page, the first of `expected`, which lists the children that the level above knows.
    fn level(&mut self, level: u16, expected: &[Downlink]) -> BtreeResult<LevelPages> {
        let first =
            expected.first().ok_or_else(|| self.rel.corrupt(META, "internal level has no downlinks"))?.child;
        // A half-dead first leaf has no downlink: begin to the left of it.
        let mut block = self.leftmost_from(first)?;
        let mut expected = expected.iter().peekable();
        let mut out = LevelPages { first_block: NONE, live: 0, downlinks: Vec::new() };
        let mut before = NONE;
        let mut high: Option<Vec<u8>> = None;
        let mut incomplete = false;
        loop {
            let new = self.seen.insert(block);
            self.ensure(block, new, "page is linked twice")?;
            let page = self.page(block)?;
            let node = self.rel.node(block, &page)?;
            self.ensure(block, node.op.prev == before, "left link is wrong")?;
            self.ensure(block, node.op.level == level, "level is wrong")?;
            self.ensure(block, node.op.is_leaf() == (level == 0), "leaf flag is wrong")?;
            self.ensure(block, !node.op.is(DELETED), "a deleted page is linked")?;
            self.ensure(
                block,
                !node.op.is(ROOT) || node.op.leftmost() && node.op.rightmost(),
                "root has siblings",
            )?;
            let listed = expected.next_if(|downlink| downlink.child == block);
            let skeleton = node.op.is(HALF_DEAD)
                || listed.is_none() && !incomplete && !node.op.is_leaf() && node.count() == 1;
            if node.op.is(HALF_DEAD) {
                self.report.half_dead += 1;
                self.ensure(block, level == 0, "internal page is half-dead")?;
            }
            if !skeleton {
                self.ensure(block, listed.is_some() != incomplete, "page and downlink disagree")?;
                if let Some(downlink) = listed {
                    let same = same_pivot(self.rel, downlink.low.as_deref(), high.as_deref());
                    let same = self.rel.check(block, same)?;
                    self.ensure(block, same, "downlink's key is not the high key on the left")?;
                }
                let items = self.items(block, &node, high.as_deref())?;
                out.downlinks.extend(items);
                if out.live == 0 {
                    out.first_block = block;
                }
                out.live += 1;
                high = self.rel.check(block, node.high_key())?.map(|item| item.bytes().to_vec());
                incomplete = node.op.is(INCOMPLETE_SPLIT);
                self.report.incomplete_splits += u32::from(incomplete);
                if level == 0 { self.report.leaves += 1 } else { self.report.internal += 1 }
            }
            before = block;
            if node.op.rightmost() {
                break;
            }
            block = node.op.next;
        }
        self.ensure(before, expected.next().is_none(), "a downlink leads to a page outside the chain")?;
        self.ensure(before, !incomplete, "right-most page has an incomplete split")?;
        Ok(out)
    }

    fn leftmost_from(&self, mut block: BlockNo) -> BtreeResult<BlockNo> {
        loop {
            let page = self.page(block)?;
            let op = self.rel.node(block, &page)?.op;
            if op.leftmost() {
                return Ok(block);
            }
            let left = self.page(op.prev)?;
            let skeleton = self.rel.node(op.prev, &left)?;
            self.ensure(
                block,
                skeleton.op.is(HALF_DEAD) || !skeleton.op.is_leaf() && skeleton.count() == 1,
                "first child of a level has a left sibling",
            )?;
            block = op.prev;
        }
    }

    /// Items of one page: in order, above `low`, not above the high key. Returns the downlinks of an internal page.
    fn items(&mut self, block: BlockNo, node: &Node<'_>, low: Option<&[u8]>) -> BtreeResult<Vec<Downlink>> {
        let desc = &self.rel.desc;
        let high = self.rel.check(block, node.high_key())?;
        let mut before: Option<Item<'_>> = match low {
            Some(low) => Some(self.rel.check(block, Item::new(low))?),
            None => None,
        };
        let mut downlinks = Vec::new();
        for item in node.items() {
            let (n, item) = self.rel.check(block, item)?;
            let leaf = node.op.is_leaf();
            self.ensure(block, item.is_pivot() != leaf, "item of the wrong kind")?;
            if leaf {
                let tids = self.rel.check(block, item.tids())?;
                self.ensure(block, tids.is_sorted_by(|a, b| a < b), "posting list is not in order")?;
                self.entry(block, node, n, &item, &tids)?;
            } else if n == node.first() {
                self.ensure(block, item.columns(&desc.layout) == 0, "first item is not minus infinity")?;
                downlinks.push(Downlink { child: item.child(), low: low.map(<[u8]>::to_vec) });
                continue;
            } else {
                downlinks.push(Downlink { child: item.child(), low: Some(item.bytes().to_vec()) });
            }
            if let Some(before) = &before {
                let order = self.rel.check(block, in_order(desc, before, &item, true))?;
                self.ensure(block, order, "items are not in order")?;
            }
            if let Some(high) = &high {
                let order = self.rel.check(block, in_order(desc, &item, high, false))?;
                self.ensure(block, order, "item is above the high key")?;
            }
            before = Some(item);
        }
        self.ensure(block, node.op.is_leaf() || !downlinks.is_empty(), "internal page has no children")?;
        Ok(downlinks)
    }

    fn entry(
        &mut self,
        block: BlockNo,
        node: &Node<'_>,
        n: u16,
        item: &Item<'_>,
        tids: &[Tid],
    ) -> BtreeResult<()> {
        if node.is_dead(n) {
            return Ok(());
        }
        self.report.entries += tids.len() as u64;
        if let Some(heap) = &mut self.heap {
            let layout = &self.rel.desc.layout;
            let mut values = Vec::new();
            self.rel.check(block, item.decode(layout, layout.len(), &mut values))?;
            for &tid in tids {
                heap(tid, &values).map_err(BtreeError::Callback)?;
            }
        }
        Ok(())
    }
}

/// Whether all of `a` is below all of `b`, or, if not `strict`, at most equal.
fn in_order(desc: &BtreeDesc, a: &Item<'_>, b: &Item<'_>, strict: bool) -> Check<bool> {
    let mut values = Vec::new();
    a.decode(&desc.layout, desc.keys.len(), &mut values)?;
    if values.is_empty() {
        return Ok(true);
    }
    let tid = if a.is_pivot() { a.pivot_tid()? } else { Some(a.last_tid()?) };
    let key = SearchKey { tid, ..SearchKey::new(desc, &values, false) };
    Ok(match key.compare(b)? {
        Ordering::Less => true,
        Ordering::Greater => false,
        // What the lesser pivot lacks is minus infinity.
        Ordering::Equal => {
            !strict
                || values.len() < b.columns(&desc.layout).min(desc.keys.len())
                || tid.is_none() && (!b.is_pivot() || b.pivot_tid()?.is_some())
        }
    })
}

/// Whether two pivots are the same place.
fn same_pivot(rel: &BtreeRel, a: Option<&[u8]>, b: Option<&[u8]>) -> Check<bool> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(a.is_none() && b.is_none()) };
    let (a, b) = (Item::new(a)?, Item::new(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    a.decode(&rel.desc.layout, rel.nkeys(), &mut left)?;
    b.decode(&rel.desc.layout, rel.nkeys(), &mut right)?;
    Ok(left.len() == right.len()
        && rel.compare_keys(&left, &right).is_eq()
        && a.pivot_tid()? == b.pivot_tid()?)
}
