//! Putting an item on a page of any level, splitting it if it is full, and carrying the new page's downlink up.
//!
//! A split is two WAL records: the split itself leaves [`INCOMPLETE_SPLIT`] on the left page, the insertion of the downlink into the parent
//! takes it off. Between the two the right page is reached through its left sibling; whoever finds the flag on the way to insert something
//! finishes the split first.

use base::{BlockNo, OffsetNo};
use buffer::PageChange;
use index::bytes::Check;
use index::{Access, Exclusive, INIT, IndexResult, Pages};

use crate::format::{INCOMPLETE_SPLIT, META, Meta, NONE, Node, Opaque, ROOT, with_child};
use crate::ops::{self, SplitPlan};
use crate::redo::{Kind, SPLIT_CHILD, SPLIT_SIBLING, split_bytes};
use crate::rel::BtreeRel;
use crate::search::{Hops, Stack, allocate, edge, meta_bytes};
use crate::split::choose;

/// An item on its way to a page.
pub(crate) struct New<'a> {
    /// Item number it gets, or the posting list it goes into.
    pub at: OffsetNo,
    pub item: &'a [u8],
    /// The item goes into the posting list at `at`.
    pub posting: bool,
    /// It is the downlink for a split of the only page on the level below, which may have been the fast root.
    pub only_child: bool,
}

/// Inserts on `page`, or splits it. `child`: the left half of the split below whose flag goes with this insertion; latched.
pub(crate) fn insert_or_split(
    access: &Access<'_>,
    rel: &BtreeRel,
    page: Exclusive,
    child: Option<Exclusive>,
    stack: Stack,
    new: New<'_>,
) -> IndexResult<()> {
    if page::free_space(&page) >= new.item.len() + 4 {
        insert_here(access, rel, page, child, &new)
    } else {
        split(access, rel, page, child, stack, &new)
    }
}

fn insert_here(
    access: &Access<'_>,
    rel: &BtreeRel,
    mut page: Exclusive,
    mut child: Option<Exclusive>,
    new: &New<'_>,
) -> IndexResult<()> {
    let block = page.tag().block;
    let mut meta = if new.only_child { raise_fast_root(access, rel, &page)? } else { None };
    let change = if new.posting {
        ops::insert_into_posting(&mut page, new.at, new.item)
    } else {
        ops::insert(&mut page, new.at, new.item)
    };
    rel.check(block, change)?;
    let mut data = new.at.to_le_bytes().to_vec();
    if let Some(child) = &mut child {
        rel.check(child.tag().block, ops::finish_split(child))?;
    }
    if let Some((page, meta)) = &mut meta {
        meta.write(page);
        rel.cache_root(meta);
        data.extend(meta_bytes(meta));
    }
    let kind = match (&child, new.posting, &meta) {
        (_, _, Some(_)) => Kind::InsertMeta,
        (Some(_), ..) => Kind::InsertUpper,
        (None, true, _) => Kind::InsertPosting,
        (None, false, _) => Kind::InsertLeaf,
    };
    let mut action = rel.action(access, kind);
    action.data(&data);
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, new.item);
    if let Some(child) = &mut child {
        action.page(child, PageChange::default());
    }
    if let Some((page, _)) = &mut meta {
        action.page(page, INIT);
    }
    action.commit();
    Ok(())
}

/// The meta page, latched, and its new contents, if the fast root is below `page` and must move up to it.
fn raise_fast_root(
    access: &Access<'_>,
    rel: &BtreeRel,
    page: &Exclusive,
) -> IndexResult<Option<(Exclusive, Meta)>> {
    let level = u32::from(rel.node(page.tag().block, page)?.op.level);
    let meta_page = rel.exclusive(access.pool, META)?;
    let meta = rel.check(META, Meta::read(&meta_page))?;
    if meta.fast_level >= level {
        return Ok(None);
    }
    Ok(Some((meta_page, Meta { fast_root: page.tag().block, fast_level: level, ..meta })))
}

/// Splits `page`, with the new item on the half where it belongs, and goes on with the parent.
fn split(
    access: &Access<'_>,
    rel: &BtreeRel,
    mut page: Exclusive,
    mut child: Option<Exclusive>,
    stack: Stack,
    new: &New<'_>,
) -> IndexResult<()> {
    let block = page.tag().block;
    let old = rel.node(block, &page)?.op;
    // Before anything changes: it may have to ask for the order of keys (`index::asking`).
    let (left_count, high) = rel.check(block, split_point(rel, &page, new))?;
    let mut right = allocate(access, rel)?;
    let mut sibling = if old.rightmost() { None } else { Some(rel.exclusive(access.pool, old.next)?) };
    if let Some(sibling) = &sibling
        && rel.node(old.next, sibling)?.op.prev != block
    {
        return Err(rel.corrupt(old.next, "left link does not lead back to the page that is split"));
    }
    let plan = SplitPlan {
        at: new.at,
        posting: new.posting,
        left_count: left_count as u16,
        right: right.tag().block,
        split: access.pool.wal().insert_end(),
        new: new.item,
        high: &high,
    };
    base::stop_point!("btree-split-before-log");
    rel.check(block, ops::split_right(&mut right, &page, block, &plan))?;
    rel.check(block, ops::split_left(&mut page, &plan))?;
    // Nothing below can fail: the flags and links changed are on pages whose special areas have been checked.
    let mut present = 0;
    if let Some(sibling) = &mut sibling {
        rel.check(old.next, ops::link(sibling, Some(plan.right), None))?;
        present |= SPLIT_SIBLING;
    }
    if let Some(child) = &mut child {
        rel.check(child.tag().block, ops::finish_split(child))?;
        present |= SPLIT_CHILD;
    }
    let blob = rel.check(plan.right, ops::blob(&right))?;
    let mut action = rel.action(access, Kind::Split);
    action.data(&[present]);
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &split_bytes(&plan));
    let i = action.page(&mut right, INIT);
    action.page_data(i, &blob);
    if let Some(sibling) = &mut sibling {
        action.page(sibling, PageChange::default());
    }
    if let Some(child) = &mut child {
        action.page(child, PageChange::default());
    }
    action.commit();
    base::stop_point!("btree-split-after-log");
    drop((sibling, child));
    insert_parent(access, rel, page, right, stack, old.is(ROOT), old.leftmost() && old.rightmost())
}

fn split_point(rel: &BtreeRel, page: &page::PageBytes, new: &New<'_>) -> Check<(usize, Vec<u8>)> {
    let node = Node::new(page)?;
    let items = ops::items_with(&node, new.at, new.item, new.posting)?;
    let choice = choose(rel, &node, &items)?;
    Ok((choice.left_count, choice.high))
}

/// Gives `right`, made by a split of `left`, its downlink. Both are latched.
fn insert_parent(
    access: &Access<'_>,
    rel: &BtreeRel,
    left: Exclusive,
    right: Exclusive,
    mut stack: Stack,
    was_root: bool,
    was_only: bool,
) -> IndexResult<()> {
    if was_root {
        return new_root(access, rel, left, right);
    }
    let (block, right_block) = (left.tag().block, right.tag().block);
    let node = rel.node(block, &left)?;
    let level = node.op.level;
    let high =
        rel.check(block, node.high_key())?.ok_or_else(|| rel.corrupt(block, "split page has no high key"))?;
    let item = with_child(high.bytes(), right_block);
    let (parent, at) = find_parent(access, rel, block, level, &mut stack)?
        .ok_or_else(|| rel.corrupt(block, "page has no downlink in its parent level"))?;
    drop(right);
    let new = New { at: at + 1, item: &item, posting: false, only_child: was_only };
    insert_or_split(access, rel, parent, Some(left), stack, new)
}

/// Makes a root above the two halves of the old one.
fn new_root(access: &Access<'_>, rel: &BtreeRel, mut left: Exclusive, right: Exclusive) -> IndexResult<()> {
    let (block, right_block) = (left.tag().block, right.tag().block);
    let mut root = allocate(access, rel)?;
    let root_block = root.tag().block;
    let mut meta_page = rel.exclusive(access.pool, META)?;
    let meta = rel.check(META, Meta::read(&meta_page))?;
    let node = rel.node(block, &left)?;
    let high =
        rel.check(block, node.high_key())?.ok_or_else(|| rel.corrupt(block, "split page has no high key"))?;
    let level = node.op.level + 1;
    let opaque = Opaque { prev: NONE, next: NONE, level, flags: ROOT, split: node.op.split };
    let items = [ops::minus_infinity(block), with_child(high.bytes(), right_block)];
    rel.check(root_block, ops::fill(&mut root, opaque, None, &items))?;
    rel.check(block, ops::finish_split(&mut left))?;
    let (up, level) = (root_block, u32::from(level));
    let meta = Meta { root: up, level, fast_root: up, fast_level: level, ..meta };
    meta.write(&mut meta_page);
    rel.cache_root(&meta);
    let blob = rel.check(root_block, ops::blob(&root))?;
    let mut action = rel.action(access, Kind::NewRoot);
    action.data(&meta_bytes(&meta));
    let i = action.page(&mut root, INIT);
    action.page_data(i, &blob);
    action.page(&mut meta_page, INIT);
    action.page(&mut left, PageChange::default());
    action.commit();
    drop(right);
    Ok(())
}

/// Finishes a split whose second half is missing. `left` is latched and has the flag.
pub(crate) fn finish_split(
    access: &Access<'_>,
    rel: &BtreeRel,
    left: Exclusive,
    stack: Stack,
) -> IndexResult<()> {
    let block = left.tag().block;
    let op = rel.node(block, &left)?.op;
    let right = rel.exclusive(access.pool, op.next)?;
    let was_root = rel.meta(access.pool)?.root == block;
    let was_only = op.leftmost() && rel.node(op.next, &right)?.op.rightmost();
    insert_parent(access, rel, left, right, stack, was_root, was_only)
}

/// The parent of `child`, a page of `level`, latched exclusively, and the number of the downlink. `stack` tells where to begin and is cut to the
/// pages above the parent; the search goes right from there, and from the left end of the level if there is no hint.
pub(crate) fn find_parent(
    access: &Access<'_>,
    rel: &BtreeRel,
    child: BlockNo,
    level: u16,
    stack: &mut Stack,
) -> IndexResult<Option<(Exclusive, OffsetNo)>> {
    if let Some(hint) = stack.pop()
        && let Some(found) = find_downlink(access, rel, child, level + 1, hint, stack)?
    {
        return Ok(Some(found));
    }
    stack.clear();
    let Some(first) = edge(access, rel, level + 1, false)? else { return Ok(None) };
    let start = first.tag().block;
    drop(first);
    find_downlink(access, rel, child, level + 1, start, stack)
}

/// Looks for the downlink to `child` on page `block` of `level` and to the right of it.
fn find_downlink(
    access: &Access<'_>,
    rel: &BtreeRel,
    child: BlockNo,
    level: u16,
    mut block: BlockNo,
    stack: &Stack,
) -> IndexResult<Option<(Exclusive, OffsetNo)>> {
    let mut hops = Hops::default();
    loop {
        hops.count(rel, block)?;
        let page = rel.exclusive(access.pool, block)?;
        let node = rel.node(block, &page)?;
        if node.op.is(INCOMPLETE_SPLIT) && !node.op.ignored() {
            finish_split(access, rel, page, stack.clone())?;
            continue;
        }
        if node.op.level != level {
            return Ok(None);
        }
        if !node.op.ignored() {
            let found = node.items().find(|item| !matches!(item, Ok((_, item)) if item.child() != child));
            if let Some(found) = found {
                let (n, _) = rel.check(block, found)?;
                return Ok(Some((page, n)));
            }
        }
        if node.op.rightmost() {
            return Ok(None);
        }
        block = node.op.next;
    }
}
