//! VACUUM: removing dead rows leaf by leaf from left to right, and making deleted pages free.
//!
//! Entries move to the right only, so that whoever goes from left to right meets all that were there when he began.

use base::{BlockNo, OffsetNo, Tid};
use buffer::{PageChange, Ring};
use index::bytes::Check;
use index::{Access, IndexError, IndexResult, Manner, VacuumStats, each_block};

use crate::format::{DELETED, FREE, NONE, Node, Position, leaf_items, unpack};
use crate::insert::leaf_to_read;
use crate::ops;
use crate::redo::{Kind, change_bytes};
use crate::rel::{Exclusive, GinRel};

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
    while block != NONE {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        access.pool.admit(rel.desc.persistence)?;
        block = clean(access, rel, block, is_dead, manner.ring, &mut found)?;
    }
    stats.add_pass(found);
    Ok(())
}

/// Removes dead rows from a leaf. Returns the leaf to be cleaned next.
fn clean(
    access: &Access<'_>,
    rel: &GinRel,
    block: BlockNo,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    ring: Option<&Ring>,
    stats: &mut VacuumStats,
) -> IndexResult<BlockNo> {
    let pin = access.pool.read_with(rel.tag(block), ring)?;
    let mut page: Exclusive = pin.into_exclusive();
    let node = rel.node(block, &page)?;
    let next = node.op.next;
    if !node.op.is_leaf() {
        // The root was split: the first leaf is another page.
        drop(page);
        return Ok(leaf_to_read(access, rel, Position::LEAST)?.tag().block);
    }
    if !node.op.is_in_tree() {
        return Ok(next);
    }
    let changes = rel.check(block, changes(&node, is_dead, stats))?;
    if !changes.is_empty() {
        rel.check(block, ops::change_items(&mut page, &changes))?;
        let mut action = rel.action(access, Kind::Change);
        let i = action.page(&mut page, PageChange::default());
        action.page_data(i, &change_bytes(&changes));
        action.commit();
    }
    Ok(next)
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
    let ring = manner.ring;
    let (mut deleted, mut free) = (0, 0);
    stats.pages = each_block(access, &rel.desc, 1, manner, |block| {
        let op = {
            let pin = access.pool.read_with(rel.tag(block), ring)?;
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
