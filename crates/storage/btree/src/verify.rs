//! # What
//! Checks a whole tree, level by level from the root: for `bt_index_check` and the like, for `stampede verify`, for tests.
//!
//! # Invariants
//! 1. Nothing is changed. Pages are copied under their latch and checked without it.
//! 2. While others write, only that is told which holds whatever they do: the order on each page, and that a page holds nothing below the high key of
//!    one that was met on its left (a page's key space only ever moves to the right). The caller's snapshot keeps deleted pages from being used again.
//!
//! # PostgreSQL counterpart
//! `verify_nbtree.c` of `contrib/amcheck`.

use std::cmp::Ordering;
use std::collections::HashSet;

use base::{BlockNo, Fork, PAGE_SIZE, Tid};
use index::bytes::Check;
use index::{Access, EntryCheck, IndexDesc, IndexError, IndexResult, Pages, VerifyOptions};
use page::PageBytes;
use tuple::Datum;

use crate::format::{DELETED, FREE, HALF_DEAD, INCOMPLETE_SPLIT, Item, META, NONE, Node, ROOT};
use crate::key::SearchKey;
use crate::rel::BtreeRel;
use crate::search::{Hops, descend, move_right};

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

/// What is said of items on a page that are not in order.
pub const ITEM_ORDER: &str = "items are not in order";
/// What is said of an item that belongs to the right of its page.
pub const HIGH_KEY: &str = "item is above the high key";
/// The error for a page whose first item belongs to a page on its left.
pub const CROSS_PAGE_ORDER: &str = "item is not above the high key on the left";
/// What is said of a separator in a parent that is not the high key on the left of its child.
pub const DOWNLINK: &str = "downlink's key is not the high key on the left";
/// What is said of an entry that searches miss.
pub const ROOT_DESCENT: &str = "entry is not found by a search from the root";

/// Checks the order of items, links, high keys, downlinks, levels and the list of free pages, as far as `options` say; hands every entry that is
/// not marked as dead to `heap`.
pub fn verify(
    access: &Access<'_>,
    rel: &BtreeRel,
    options: VerifyOptions,
    heap: Option<EntryCheck<'_>>,
) -> IndexResult<VerifyReport> {
    let meta = rel.meta(access.pool)?;
    let mut v = Verify { access, rel, options, heap, report: VerifyReport::default(), seen: HashSet::new() };
    v.physical()?;
    if options.still {
        v.free_list(meta.free_head, meta.free_count)?;
    }
    if meta.root == NONE {
        return Ok(v.report);
    }
    v.report.levels = meta.level + 1;
    let mut expected = vec![Downlink { child: meta.root, low: None }];
    for level in (0..=meta.level).rev() {
        let pages = v.level(level as u16, &expected)?;
        expected = pages.downlinks;
        if !options.still {
            continue;
        }
        if level == meta.fast_level && pages.first_block != meta.fast_root {
            return Err(rel.corrupt(META, "fast root is not the first page of its level"));
        }
        if level >= meta.fast_level && level < meta.level && pages.live > 1 && level > meta.fast_level {
            return Err(rel.corrupt(META, "a level above the fast root has several pages"));
        }
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
    options: VerifyOptions,
    heap: Option<EntryCheck<'h>>,
    report: VerifyReport,
    seen: HashSet<BlockNo>,
}

impl Verify<'_, '_> {
    /// A copy of a page.
    fn page(&self, block: BlockNo) -> IndexResult<Box<PageBytes>> {
        runtime::check_interrupts().map_err(IndexError::Interrupted)?;
        let mut copy: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
        copy.copy_from_slice(&self.rel.shared(self.access.pool, block)?[..]);
        Ok(copy)
    }

    /// Every page can be read and has a sound special area.
    fn physical(&mut self) -> IndexResult<()> {
        for n in 1..self.access.pool.nblocks(self.rel.desc.file, Fork::Main)? {
            let block = BlockNo(n);
            let page = self.page(block)?;
            if !page::is_new(&page) && self.rel.node(block, &page)?.op.is(DELETED) {
                self.report.deleted += 1;
            }
        }
        Ok(())
    }

    fn free_list(&mut self, mut block: BlockNo, count: u32) -> IndexResult<()> {
        while block != NONE {
            let new = self.seen.insert(block);
            self.rel.ensure(block, new, "list of free pages is a ring")?;
            let page = self.page(block)?;
            let node = self.rel.node(block, &page)?;
            self.rel.ensure(
                block,
                node.op.is(FREE) && node.op.is(DELETED),
                "page on the free list is in use",
            )?;
            self.report.free += 1;
            block = node.next_free();
        }
        self.rel.ensure(META, self.report.free == count, "number of free pages is wrong")
    }

    /// Walks one level from its first page, the first of `expected`, which lists the children that the level above knows.
    fn level(&mut self, level: u16, expected: &[Downlink]) -> IndexResult<LevelPages> {
        let still = self.options.still;
        let first =
            expected.first().ok_or_else(|| self.rel.corrupt(META, "internal level has no downlinks"))?.child;
        // A half-dead first leaf has no downlink: begin to the left of it.
        let mut block = if still { self.leftmost_from(first)? } else { first };
        let mut expected = expected.iter().peekable();
        let mut out = LevelPages { first_block: NONE, live: 0, downlinks: Vec::new() };
        let mut before = NONE;
        let mut high: Option<Vec<u8>> = None;
        let mut incomplete = false;
        loop {
            let new = self.seen.insert(block);
            self.rel.ensure(block, new, "page is linked twice")?;
            let page = self.page(block)?;
            let node = self.rel.node(block, &page)?;
            let listed = expected.next_if(|downlink| downlink.child == block);
            let skeleton = if still {
                self.links(block, &node, before)?;
                node.op.is(HALF_DEAD)
                    || listed.is_none() && !incomplete && !node.op.is_leaf() && node.count() == 1
            } else {
                node.op.ignored()
            };
            if !node.op.is(DELETED) {
                self.rel.ensure(block, node.op.level == level, "level is wrong")?;
                self.rel.ensure(block, node.op.is_leaf() == (level == 0), "leaf flag is wrong")?;
            }
            if node.op.is(HALF_DEAD) {
                self.report.half_dead += 1;
                self.rel.ensure(block, level == 0, "internal page is half-dead")?;
            }
            if !skeleton {
                if still {
                    self.rel.ensure(block, listed.is_some() != incomplete, "page and downlink disagree")?;
                }
                if let Some(downlink) = listed.filter(|_| still) {
                    let same = same_pivot(self.rel, downlink.low.as_deref(), high.as_deref());
                    let same = self.rel.check(block, same)?;
                    self.rel.ensure(block, same, DOWNLINK)?;
                }
                let mut items = self.items(block, &node, high.as_deref())?;
                if !still {
                    // Where the level below begins is all that is wanted.
                    items.truncate(usize::from(out.downlinks.is_empty()));
                }
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
                self.rel.ensure(block, !node.op.ignored(), "right-most page is deleted")?;
                break;
            }
            block = node.op.next;
        }
        if still {
            self.rel.ensure(
                before,
                expected.next().is_none(),
                "a downlink leads to a page outside the chain",
            )?;
            self.rel.ensure(before, !incomplete, "right-most page has an incomplete split")?;
        }
        Ok(out)
    }

    /// Links of a page in a still tree, behind the page `before`.
    fn links(&self, block: BlockNo, node: &Node<'_>, before: BlockNo) -> IndexResult<()> {
        self.rel.ensure(block, node.op.prev == before, "left link is wrong")?;
        self.rel.ensure(block, !node.op.is(DELETED), "a deleted page is linked")?;
        let alone = node.op.leftmost() && node.op.rightmost();
        self.rel.ensure(block, !node.op.is(ROOT) || alone, "root has siblings")
    }

    fn leftmost_from(&self, mut block: BlockNo) -> IndexResult<BlockNo> {
        let mut hops = Hops::default();
        loop {
            let page = self.page(block)?;
            let op = self.rel.node(block, &page)?.op;
            if op.leftmost() {
                return Ok(block);
            }
            hops.count(self.rel, block)?;
            let left = self.page(op.prev)?;
            let skeleton = self.rel.node(op.prev, &left)?;
            self.rel.ensure(
                block,
                skeleton.op.is(HALF_DEAD) || !skeleton.op.is_leaf() && skeleton.count() == 1,
                "first child of a level has a left sibling",
            )?;
            block = op.prev;
        }
    }

    /// Items of one page: in order, above `low`, not above the high key. Returns the downlinks of an internal page.
    fn items(&mut self, block: BlockNo, node: &Node<'_>, low: Option<&[u8]>) -> IndexResult<Vec<Downlink>> {
        let desc = &self.rel.desc;
        let high = self.rel.check(block, node.high_key())?;
        let mut before: Option<Item<'_>> = match low {
            Some(low) => Some(self.rel.check(block, Item::new(low))?),
            None => None,
        };
        let mut complaint = CROSS_PAGE_ORDER;
        let mut downlinks = Vec::new();
        for item in node.items() {
            let (n, item) = self.rel.check(block, item)?;
            let leaf = node.op.is_leaf();
            let mut leaf_tids = Vec::new();
            self.rel.ensure(block, item.is_pivot() != leaf, "item of the wrong kind")?;
            if leaf {
                let tids = self.rel.check(block, item.tids())?;
                self.rel.ensure(block, tids.is_sorted_by(|a, b| a < b), "posting list is not in order")?;
                leaf_tids = tids;
            } else if n == node.first() {
                self.rel.ensure(
                    block,
                    item.columns(&desc.layout) == 0,
                    "first item is not minus infinity",
                )?;
                downlinks.push(Downlink { child: item.child(), low: low.map(<[u8]>::to_vec) });
                continue;
            } else {
                downlinks.push(Downlink { child: item.child(), low: Some(item.bytes().to_vec()) });
            }
            if let Some(before) = &before {
                let order = self.rel.check(block, in_order(desc, before, &item, true))?;
                self.rel.ensure(block, order, complaint)?;
            }
            if let Some(high) = &high {
                let order = self.rel.check(block, in_order(desc, &item, high, false))?;
                self.rel.ensure(block, order, HIGH_KEY)?;
            }
            if leaf {
                self.entry(block, node, n, &item, &leaf_tids)?;
            }
            before = Some(item);
            complaint = ITEM_ORDER;
        }
        self.rel.ensure(
            block,
            node.op.is_leaf() || !downlinks.is_empty(),
            "internal page has no children",
        )?;
        Ok(downlinks)
    }

    fn entry(
        &mut self,
        block: BlockNo,
        node: &Node<'_>,
        n: u16,
        item: &Item<'_>,
        tids: &[Tid],
    ) -> IndexResult<()> {
        if node.is_dead(n) {
            return Ok(());
        }
        self.report.entries += tids.len() as u64;
        if self.heap.is_none() && !self.options.root_descend {
            return Ok(());
        }
        let layout = &self.rel.desc.layout;
        let mut values = Vec::new();
        self.rel.check(block, item.decode(layout, layout.len(), &mut values))?;
        if self.options.root_descend {
            for &tid in tids {
                let found = self.is_found(&values, tid)?;
                self.rel.ensure(block, found, ROOT_DESCENT)?;
            }
        }
        if let Some(heap) = &mut self.heap {
            for &tid in tids {
                heap(tid, &values).map_err(IndexError::Callback)?;
            }
        }
        Ok(())
    }
}

impl Verify<'_, '_> {
    /// Whether a search from the root comes to an entry.
    fn is_found(&self, values: &[Datum], tid: Tid) -> IndexResult<bool> {
        let rel = self.rel;
        let key = SearchKey { tid: Some(tid), ..SearchKey::new(&rel.desc, &values[..rel.nkeys()], false) };
        rel.asking(|| self.is_key_found(&key, tid))
    }

    fn is_key_found(&self, key: &SearchKey<'_>, tid: Tid) -> IndexResult<bool> {
        let (access, rel) = (self.access, self.rel);
        let Some(pin) = descend(access, rel, key, 0, None)? else { return Ok(false) };
        let (page, op) = move_right(access, rel, key, pin.into_shared(), None)?;
        let (block, node) = (page.tag().block, Node { page: &page, op });
        let at = rel.check(block, key.search(&node))?;
        if at > node.max() {
            return Ok(false);
        }
        let item = rel.check(block, node.item(at))?;
        let same = rel.check(block, key.compare(&item))? == Ordering::Equal;
        Ok(same && rel.check(block, item.tids())?.contains(&tid))
    }
}

/// Whether all of `a` is below all of `b`, or, if not `strict`, at most equal.
fn in_order(desc: &IndexDesc, a: &Item<'_>, b: &Item<'_>, strict: bool) -> Check<bool> {
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
        // Columns that the shorter pivot lacks count as minus infinity.
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
        && rel.desc.compare_keys(&left, &right).is_eq()
        && a.pivot_tid()? == b.pivot_tid()?)
}
