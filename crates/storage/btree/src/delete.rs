//! Deleting an empty leaf, in two steps of one WAL record each.
//!
//! 1. *Half-dead*: the leaf's downlink goes; its key space falls to its right sibling. If the leaf is the only child of its parent, that parent goes too, and so
//!    on up: a branch without other leaves. The leaf remembers the branch's top in its high key.
//! 2. *Unlink*, once for each page of the branch from the top down to the leaf: the siblings are linked with each other. The page keeps its own links for
//!    scans on their way to it, and the next xid: when every snapshot is younger, nobody can be on his way any more.
//!
//! A crash between the steps leaves a half-dead leaf, which searches pass by and the next VACUUM deletes.
//!
//! Never deleted: the right-most page of a level, a root, the right-most child of a parent with other children (its key space would fall to another
//! parent's child), a page without downlink because its left sibling's split is incomplete, a leaf whose right sibling is half-dead.
//!
//! # Who deletes
//! VACUUM, and scans that leave a leaf on which every entry is marked as dead: else every scan from the front of a queue would pass by all the leaves
//! that have been used up since the last VACUUM. A scan deletes a leaf alone, no branch, and only if it gets the cleanup latch at once: who keeps the leaf
//! pinned believes its TIDs, and VACUUM, which waits for pins before it gives TIDs away, does not look for them on deleted pages. There is at most one
//! VACUUM, so that branches are deleted by one at a time; leaves may be by several.
//!
//! # Locks
//! From left to right and from child to parent: leaf, its right sibling, parents upwards; for the unlinking the leaf (if the target is above it), left sibling,
//! target, right sibling, meta page.

use base::{BlockNo, OffsetNo};
use buffer::PageChange;
use index::bytes::Check;
use index::{Access, Exclusive, IndexResult, Pages};

use crate::ascend::find_parent;
use crate::format::{DELETED, HALF_DEAD, INCOMPLETE_SPLIT, LEAF, META, Meta, NONE, Node, ROOT};
use crate::key::SearchKey;
use crate::ops;
use crate::redo::{HalfDead, Kind, Unlink, delete_bytes};
use crate::rel::BtreeRel;
use crate::scan::interrupts;
use crate::search::{Hops, Stack, descend};

/// What may go with an empty leaf.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// It alone.
    Leaf,
    /// Also the pages above it that lead nowhere else.
    Branch,
}

/// Deletes the leaf `block` if all its entries are marked as dead and nobody has it pinned. No page is latched by the caller.
pub(crate) fn delete_dead_leaf(access: &Access<'_>, rel: &BtreeRel, block: BlockNo) -> IndexResult<()> {
    if empty_dead(access, rel, block)? {
        delete_leaf(access, rel, block, Extent::Leaf, &mut Vec::new())?;
    }
    Ok(())
}

/// Removes the entries of a leaf if all are marked as dead and nobody has it pinned; whether it did.
fn empty_dead(access: &Access<'_>, rel: &BtreeRel, block: BlockNo) -> IndexResult<bool> {
    let pin = access.pool.read(rel.tag(block))?;
    let Some(mut page) = pin.try_cleanup() else { return Ok(false) };
    let node = rel.node(block, &page)?;
    if !node.op.is_leaf() || node.op.ignored() || node.op.rightmost() || !node.is_all_dead() {
        return Ok(false);
    }
    let doomed: Vec<OffsetNo> = (node.first()..=node.max()).collect();
    rel.check(block, ops::delete(&mut page, &doomed, &[]))?;
    let mut action = rel.action(access, Kind::Delete);
    let i = action.page(&mut page, PageChange::default());
    action.page_data(i, &delete_bytes(&doomed, &[]));
    action.commit();
    Ok(true)
}

/// Deletes the leaf `block` if it is empty and may go, with what may go with it; adds the pages deleted to `deleted`. No page is latched by the
/// caller.
pub(crate) fn delete_leaf(
    access: &Access<'_>,
    rel: &BtreeRel,
    block: BlockNo,
    extent: Extent,
    deleted: &mut Vec<BlockNo>,
) -> IndexResult<()> {
    let page = rel.shared(access.pool, block)?;
    let node = rel.node(block, &page)?;
    if !node.op.is(HALF_DEAD) {
        if !deletable(&node) {
            return Ok(());
        }
        let (mut values, mut tid) = (Vec::new(), None);
        if let Some(high) = rel.check(block, node.high_key())? {
            rel.check(block, high.decode(&rel.desc.layout, rel.nkeys(), &mut values))?;
            tid = rel.check(block, high.pivot_tid())?;
        }
        let left = node.op.prev;
        drop(page);
        if values.is_empty() || has_no_downlink(access, rel, left, block)? {
            return Ok(());
        }
        let key = SearchKey { tid, ..SearchKey::new(&rel.desc, &values, false) };
        let stack = rel.asking(|| {
            let mut stack = Stack::new();
            descend(access, rel, &key, 0, Some(&mut stack))?;
            Ok(stack)
        })?;
        if !mark_half_dead(access, rel, (block, extent), stack)? {
            return Ok(());
        }
    } else {
        drop(page);
    }
    base::stop_point!("btree-delete-half-dead");
    while let Some(target) = unlink(access, rel, block)? {
        deleted.push(target);
        base::stop_point!("btree-delete-unlinked");
        if target == block {
            break;
        }
        interrupts()?;
    }
    Ok(())
}

/// An empty leaf that is neither root nor right-most.
fn deletable(node: &Node<'_>) -> bool {
    node.op.flags & (LEAF | ROOT | DELETED | HALF_DEAD | INCOMPLETE_SPLIT) == LEAF
        && !node.op.rightmost()
        && node.count() == 0
}

/// Whether `block` is the right half of a split that its left sibling has not finished.
fn has_no_downlink(access: &Access<'_>, rel: &BtreeRel, left: BlockNo, block: BlockNo) -> IndexResult<bool> {
    if left == NONE {
        return Ok(false);
    }
    let page = rel.shared(access.pool, left)?;
    let op = rel.node(left, &page)?.op;
    Ok(op.next == block && op.is(INCOMPLETE_SPLIT))
}

/// Where a branch hangs: the first ancestor that stays, and what the branch's top leaves to whom.
struct Branch {
    parent: Exclusive,
    at: OffsetNo,
    top: BlockNo,
    top_right: BlockNo,
}

/// The first step; `false` if the leaf must stay.
fn mark_half_dead(
    access: &Access<'_>,
    rel: &BtreeRel,
    (block, extent): (BlockNo, Extent),
    stack: Stack,
) -> IndexResult<bool> {
    let mut leaf = rel.exclusive(access.pool, block)?;
    let node = rel.node(block, &leaf)?;
    if !deletable(&node) {
        return Ok(false);
    }
    let right = node.op.next;
    // Held until the downlink is gone, so that the right sibling keeps its own.
    let sibling = rel.shared(access.pool, right)?;
    if rel.node(right, &sibling)?.op.is(HALF_DEAD) {
        return Ok(false);
    }
    let Some(mut branch) = find_branch(access, rel, (block, extent), right, stack)? else {
        return Ok(false);
    };
    let parent_block = branch.parent.tag().block;
    let top = if branch.top == block { NONE } else { branch.top };
    rel.check(parent_block, ops::remove_downlink(&mut branch.parent, branch.at, branch.top_right))?;
    rel.check(block, ops::half_dead(&mut leaf, top))?;
    let what = HalfDead { at: branch.at, top_right: branch.top_right, top };
    let mut action = rel.action(access, Kind::HalfDead);
    action.data(&what.bytes());
    action.page(&mut leaf, PageChange::default());
    action.page(&mut branch.parent, PageChange::default());
    action.commit();
    Ok(true)
}

/// Finds out how far up the branch of an empty leaf, which is latched, goes. `None`: the leaf must stay.
fn find_branch(
    access: &Access<'_>,
    rel: &BtreeRel,
    (leaf, extent): (BlockNo, Extent),
    right: BlockNo,
    mut stack: Stack,
) -> IndexResult<Option<Branch>> {
    let (mut child, mut level, mut top_right) = (leaf, 0, right);
    loop {
        let Some((parent, at)) = find_parent(access, rel, child, level, &mut stack)? else {
            return Err(rel.corrupt(child, "page has no downlink in its parent level"));
        };
        let block = parent.tag().block;
        let node = rel.node(block, &parent)?;
        if at < node.max() {
            return Ok(Some(Branch { parent, at, top: child, top_right }));
        }
        if extent == Extent::Leaf || at != node.first() || node.op.rightmost() {
            return Ok(None);
        }
        let left = node.op.prev;
        top_right = node.op.next;
        drop(parent);
        if has_no_downlink(access, rel, left, block)? {
            return Ok(None);
        }
        child = block;
        level = level.checked_add(1).ok_or_else(|| rel.corrupt(block, "levels do not end"))?;
    }
}

/// The second step for the highest page that is left of the branch of half-dead leaf `block`: returns that page, or `None` if somebody else
/// has deleted it.
fn unlink(access: &Access<'_>, rel: &BtreeRel, block: BlockNo) -> IndexResult<Option<BlockNo>> {
    let page = rel.shared(access.pool, block)?;
    let node = rel.node(block, &page)?;
    if !node.op.is(HALF_DEAD) {
        return Ok(None);
    }
    let top = rel.check(block, node.item(1))?.child();
    let leaf_left = node.op.prev;
    drop(page);
    let (target, left_hint) = if top == NONE {
        (block, leaf_left)
    } else {
        (top, rel.node(top, &*rel.shared(access.pool, top)?)?.op.prev)
    };
    let mut leaf = if target == block { None } else { Some(rel.exclusive(access.pool, block)?) };
    let mut left = match left_of(access, rel, target, left_hint)? {
        Left::None => None,
        Left::Page(page) => Some(page),
        Left::Lost => return Ok(None),
    };
    let mut page = rel.exclusive(access.pool, target)?;
    let node = rel.node(target, &page)?;
    if node.op.is(DELETED) {
        return Ok(None);
    }
    let left_block = left.as_ref().map_or(NONE, |page| page.tag().block);
    if node.op.prev != left_block {
        return Err(rel.corrupt(target, "page to delete is not where its siblings say"));
    }
    let leaf_top = rel.check(target, rest_of_branch(&node, block, leaf.is_some()))?;
    let (level, right_block) = (node.op.level, node.op.next);
    let mut right = rel.exclusive(access.pool, right_block)?;
    let right_op = rel.node(right_block, &right)?.op;
    if right_op.prev != target {
        return Err(rel.corrupt(right_block, "left link does not lead back to the page to delete"));
    }
    let mut meta = if left.is_none() && right_op.rightmost() {
        lower_fast_root(access, rel, right_block, level)?
    } else {
        None
    };
    let what = Unlink {
        safe: access.horizon.next_xid(),
        left: left_block,
        right: right_block,
        leaf_top,
        meta: meta.as_ref().map(|(_, meta)| *meta),
    };
    // Nothing below can fail: the special areas have been checked.
    rel.check(target, ops::mark_deleted(&mut page, what.safe))?;
    rel.check(right_block, ops::link(&mut right, Some(left_block), None))?;
    let mut action = rel.action(access, Kind::Unlink);
    action.data(&what.bytes());
    action.page(&mut page, PageChange::default());
    action.page(&mut right, PageChange::default());
    if let Some(left) = &mut left {
        rel.check(left_block, ops::link(left, None, Some(right_block)))?;
        action.page(left, PageChange::default());
    }
    if let (Some(leaf), Some(top)) = (&mut leaf, leaf_top) {
        rel.check(block, ops::half_dead(leaf, top))?;
        action.page(leaf, PageChange::default());
    }
    if let Some((page, meta)) = &mut meta {
        meta.write(page);
        rel.cache_root(meta);
        action.page(page, PageChange { will_init: true, ..PageChange::default() });
    }
    action.commit();
    Ok(Some(target))
}

/// Checks the page to unlink. For an internal one: what the half-dead `leaf` is to remember as the branch's next page, or none.
fn rest_of_branch(target: &Node<'_>, leaf: BlockNo, internal: bool) -> Check<Option<BlockNo>> {
    if target.op.is(DELETED | ROOT) || target.op.rightmost() {
        return Err("page to delete is a root, right-most or deleted");
    }
    if !internal {
        return if target.op.is(HALF_DEAD) { Ok(None) } else { Err("leaf to delete is not half-dead") };
    }
    if target.op.is_leaf() || target.count() != 1 {
        return Err("internal page to delete has not exactly one child");
    }
    let child = target.item(target.first())?.child();
    Ok(Some(if child == leaf { NONE } else { child }))
}

enum Left {
    None,
    Page(Exclusive),
    /// It ran out to the right: the target is not linked any more.
    Lost,
}

/// The left sibling of `target`, latched, found from `hint` by moving right.
fn left_of(access: &Access<'_>, rel: &BtreeRel, target: BlockNo, hint: BlockNo) -> IndexResult<Left> {
    if hint == NONE {
        return Ok(Left::None);
    }
    let mut page = rel.exclusive(access.pool, hint)?;
    let mut hops = Hops::default();
    loop {
        let block = page.tag().block;
        hops.count(rel, block)?;
        let op = rel.node(block, &page)?.op;
        if !op.is(DELETED) && op.next == target {
            return Ok(Left::Page(page));
        }
        if op.rightmost() {
            return Ok(Left::Lost);
        }
        drop(page);
        page = rel.exclusive(access.pool, op.next)?;
    }
}

/// The meta page, latched, and its new contents, if `block` is to be the fast root because it will be alone on `level`.
fn lower_fast_root(
    access: &Access<'_>,
    rel: &BtreeRel,
    block: BlockNo,
    level: u16,
) -> IndexResult<Option<(Exclusive, Meta)>> {
    let page = rel.exclusive(access.pool, META)?;
    let meta = rel.check(META, Meta::read(&page))?;
    if meta.fast_level > u32::from(level) + 1 {
        return Ok(None);
    }
    Ok(Some((page, Meta { fast_root: block, fast_level: level.into(), ..meta })))
}
