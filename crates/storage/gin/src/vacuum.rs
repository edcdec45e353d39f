//! VACUUM: removing dead rows leaf by leaf from left to right, deleting emptied leaves, making deleted pages free.
//!
//! Entries move to the right only, so that whoever goes from left to right meets all that were there when he began.

use base::{BlockNo, OffsetNo, Tid};
use buffer::{PageChange, Ring};
use index::bytes::Check;
use index::{
    Access, Exclusive, FreeList, INIT, IndexError, IndexResult, Manner, Pages, VacuumStats, each_block,
};

use crate::format::{DELETED, FREE, INCOMPLETE, NONE, Node, Opaque, Position, ROOM, leaf_items, unpack};
use crate::insert::{leaf_to_read, page_for};
use crate::ops;
use crate::redo::{Kind, change_bytes};
use crate::rel::GinRel;

/// Removes every entry whose TID `is_dead`, and adds to `stats`. May be called several times in one VACUUM.
pub(crate) fn bulk_delete(
    access: &Access<'_>,
    rel: &GinRel,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    manner: &mut Manner<'_>,
    stats: &mut VacuumStats,
) -> IndexResult<()> {
    crate::pending::clean(access, rel, true)?;
    let mut found = VacuumStats::default();
    let mut block = leaf_to_read(access, rel, Position::LEAST)?.tag().block;
    // The last leaf that stays.
    let mut left = NONE;
    while block != NONE {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        access.pool.admit(rel.desc.persistence)?;
        let (next, empty) = clean(access, rel, block, is_dead, manner.ring, &mut found)?;
        if empty && left != NONE && delete_leaf(access, rel, left, block)? {
            found.pages_newly_deleted += 1;
        } else {
            left = block;
        }
        block = next;
    }
    stats.add_pass(found);
    Ok(())
}

/// Takes an empty leaf out of the tree, whose left sibling gets its part of the order. `false` if that is not its sibling under the same parent, or the leaf is not empty
/// any more.
fn delete_leaf(access: &Access<'_>, rel: &GinRel, left: BlockNo, block: BlockNo) -> IndexResult<bool> {
    let mut before = rel.exclusive(access.pool, left)?;
    let node = rel.node(left, &before)?;
    let usable = |op: Opaque| op.is_leaf() && op.is_in_tree() && !op.is(INCOMPLETE);
    if !usable(node.op) || node.op.next != block {
        return Ok(false);
    }
    let mut leaf = rel.exclusive(access.pool, block)?;
    let gone = rel.node(block, &leaf)?;
    if !usable(gone.op) || gone.max() >= gone.first() {
        return Ok(false);
    }
    let low = rel.check(left, node.high())?.ok_or_else(|| rel.corrupt(left, "page has no upper bound"))?;
    let mut parent = page_for(access, rel, low, 1)?;
    let above = parent.tag().block;
    let at = {
        let node = rel.node(above, &parent)?;
        let behind = rel.check(above, rel.behind(&node, low))?;
        let leads = |n: OffsetNo, to: BlockNo| -> Check<bool> {
            Ok(n >= node.first() && node.link(n)?.child() == to)
        };
        if behind < node.first() + 2 {
            return Ok(false);
        }
        let both =
            rel.check(above, leads(behind - 1, block))? && rel.check(above, leads(behind - 2, left))?;
        if !both {
            return Ok(false);
        }
        behind - 1
    };
    let items: Vec<Vec<u8>> = (gone.first() == 2)
        .then(|| page::item(&leaf, 1))
        .flatten()
        .into_iter()
        .chain((node.first()..=node.max()).filter_map(|n| page::item(&before, n)))
        .map(<[u8]>::to_vec)
        .collect();
    if items.iter().map(|item| item.len() + 4).sum::<usize>() > ROOM {
        return Ok(false);
    }
    let joined = Opaque { next: gone.op.next, ..node.op };
    let safe = access.horizon.next_xid();
    rel.check(left, ops::fill(&mut before, joined, &items))?;
    rel.check(block, ops::mark_deleted(&mut leaf, safe))?;
    rel.check(above, ops::change_items::<&[u8]>(&mut parent, &[(at, None)]))?;
    let blob = rel.check(left, ops::blob(&before))?;
    let mut action = rel.action(access, Kind::DeletePage);
    action.data(&safe.0.to_le_bytes());
    action.data(&at.to_le_bytes());
    action.page(&mut leaf, PageChange::default());
    let i = action.page(&mut before, INIT);
    action.page_data(i, &blob);
    action.page(&mut parent, PageChange::default());
    action.commit();
    Ok(true)
}

/// Removes dead rows from a leaf. Returns the leaf to be cleaned next, and whether this one is empty now.
fn clean(
    access: &Access<'_>,
    rel: &GinRel,
    block: BlockNo,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    ring: Option<&Ring>,
    stats: &mut VacuumStats,
) -> IndexResult<(BlockNo, bool)> {
    let pin = access.pool.read_with(rel.tag(block), ring)?;
    let mut page: Exclusive = pin.into_exclusive();
    let node = rel.node(block, &page)?;
    let next = node.op.next;
    if !node.op.is_leaf() {
        // The root was split: the first leaf is another page.
        drop(page);
        return Ok((leaf_to_read(access, rel, Position::LEAST)?.tag().block, false));
    }
    if !node.op.is_in_tree() {
        return Ok((next, false));
    }
    let changes = rel.check(block, changes(&node, is_dead, stats))?;
    if !changes.is_empty() {
        rel.check(block, ops::change_items(&mut page, &changes))?;
        let mut action = rel.action(access, Kind::Change);
        let i = action.page(&mut page, PageChange::default());
        action.page_data(i, &change_bytes(&changes));
        action.commit();
    }
    let node = rel.node(block, &page)?;
    Ok((next, node.max() < node.first()))
}

/// What the items of a leaf become without dead rows.
fn changes(
    node: &Node<'_>,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    stats: &mut VacuumStats,
) -> Check<Vec<(OffsetNo, Option<Vec<u8>>)>> {
    let (mut out, mut tids) = (Vec::new(), Vec::new());
    for n in node.first()..=node.max() {
        let leaf = node.leaf(n)?;
        tids.clear();
        leaf.tids(&mut tids)?;
        let before = tids.len();
        tids.retain(|tid| !is_dead(unpack(*tid)));
        stats.tuples += tids.len() as u64;
        stats.tuples_removed += (before - tids.len()) as u64;
        if tids.len() == before {
            continue;
        }
        out.push((
            n,
            match tids.is_empty() {
                true => None,
                // Distances become larger, but never longer than those they are the sum of.
                false => leaf_items(leaf.position(), &tids, false).into_iter().next(),
            },
        ));
    }
    Ok(out)
}

/// Ends a VACUUM: enters what is pending, counts pages, and makes free those that were deleted.
pub(crate) fn cleanup(
    access: &Access<'_>,
    rel: &GinRel,
    manner: &mut Manner<'_>,
    stats: Option<VacuumStats>,
) -> IndexResult<VacuumStats> {
    if stats.is_none() {
        crate::pending::clean(access, rel, true)?;
    }
    let mut stats = stats.unwrap_or(VacuumStats { estimated: true, ..VacuumStats::default() });
    let (mut deleted, mut free) = (0, 0);
    stats.pages = each_block(access, &rel.desc, 1, manner, |pin| {
        let block = pin.tag().block;
        let op = {
            let pin = pin;
            let page = pin.shared();
            if page::is_new(&page) { None } else { Some(rel.node(block, &page)?.op) }
        };
        match op {
            Some(op) if op.is(FREE) => (deleted, free) = (deleted + 1, free + 1),
            Some(op) if !op.is(DELETED) => {}
            // Deleted before, or added to the file, but a crash or an error came before its use.
            _ => {
                deleted += 1;
                free += u32::from(rel.put_free(access, block)?);
            }
        }
        Ok(())
    })?;
    (stats.pages_deleted, stats.pages_free) = (deleted, free);
    Ok(stats)
}
