//! VACUUM: removing dead entries in physical order, taking emptied buckets out of use, making deleted pages free.

use base::{BlockNo, Tid};
use buffer::{ExclusivePage, PageChange};
use index::{
    Access, Cleaned, Exclusive, IndexError, IndexResult, Manner, Pages, Shared, Sweep, VacuumStats, Visited,
    sweep,
};
use page::PageBytes;

use crate::format::{DELETED, FREE, INCOMPLETE, NONE, Opaque};
use crate::insert::remove;
use crate::ops;
use crate::redo::{Kind, PageDelete};
use crate::rel::HashRel;

impl Sweep for HashRel {
    fn visited(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Visited> {
        let op = self.node(block, page)?.op;
        let (deleted, free) = (op.is(DELETED), op.is(FREE));
        let next = Some(op.next).filter(|next| *next != NONE);
        Ok(Visited { has_entries: op.is_bucket() && !deleted, deleted, free, split: op.split, next })
    }

    fn clean(
        &self,
        access: &Access<'_>,
        page: &mut ExclusivePage<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
    ) -> IndexResult<Cleaned> {
        let node = self.node(page.tag().block, page)?;
        let total = node.count();
        let doomed: Vec<u16> =
            (0..total).filter(|&at| is_dead(node.key(at).tid)).map(|at| at as u16).collect();
        if !doomed.is_empty() {
            remove(access, self, page, &doomed)?;
        }
        Ok(Cleaned { left: (total - doomed.len()) as u64, removed: doomed.len() as u64 })
    }
}

/// One pass over all pages, then over the buckets that it has emptied.
pub(crate) fn pass(
    access: &Access<'_>,
    rel: &HashRel,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let mut swept = sweep(access, rel, is_dead, manner)?;
    for block in swept.empty {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        if delete_bucket(access, rel, block)? {
            swept.stats.pages_newly_deleted += 1;
            swept.stats.pages_deleted += 1;
        }
    }
    Ok(swept.stats)
}

/// Takes an empty bucket out of use: its right sibling takes over its keys. Both its siblings must be in the same directory, so the first and the last bucket of each stay.
/// `false` if it is not to be, or not empty any more.
fn delete_bucket(access: &Access<'_>, rel: &HashRel, block: BlockNo) -> IndexResult<bool> {
    let Some((before, after)) = neighbours(access, rel, block)? else { return Ok(false) };
    // From left to right, then up.
    let mut left = rel.exclusive(access.pool, before)?;
    let op = rel.node(before, &left)?.op;
    if !op.is_bucket() || op.is(DELETED | INCOMPLETE) || op.next != block {
        return Ok(false);
    }
    let mut page = rel.exclusive(access.pool, block)?;
    let node = rel.node(block, &page)?;
    let gone = node.op;
    let unfit = !gone.is_bucket() || gone.is(DELETED | INCOMPLETE) || gone.next != after;
    if unfit || node.count() > 0 {
        return Ok(false);
    }
    let mut right = rel.exclusive(access.pool, after)?;
    let mut above: Exclusive = rel.descend(access, gone.low, 1)?;
    let node = rel.node(above.tag().block, &above)?;
    let at = node.lower_bound(gone.low);
    let fits = at + 1 < node.count() && node.child(at) == block && node.child(at + 1) == after;
    if !fits || rel.node(after, &right)?.op.is(DELETED) {
        return Ok(false);
    }
    let delete = PageDelete { at: at as u16, safe: access.horizon.next_xid(), right: after, low: gone.low };
    rel.check(block, ops::mark_deleted(&mut page, delete.safe))?;
    rel.check(before, ops::set_next(&mut left, after))?;
    rel.check(after, ops::set_low(&mut right, gone.low))?;
    rel.check(above.tag().block, ops::merge(&mut above, delete.at))?;
    let mut action = rel.action(access, Kind::PageDelete);
    action.data(&delete.bytes());
    action.page(&mut page, PageChange::default());
    action.page(&mut left, PageChange::default());
    action.page(&mut right, PageChange::default());
    action.page(&mut above, PageChange::default());
    action.commit();
    Ok(true)
}

/// The buckets to the left and to the right of one, as its directory has them.
fn neighbours(access: &Access<'_>, rel: &HashRel, block: BlockNo) -> IndexResult<Option<(BlockNo, BlockNo)>> {
    let page = rel.shared(access.pool, block)?;
    let Opaque { low, .. } = rel.node(block, &page)?.op;
    drop(page);
    let above: Shared = rel.descend(access, low, 1)?;
    let node = rel.node(above.tag().block, &above)?;
    let at = node.lower_bound(low);
    let inner = at > 0 && at + 1 < node.count() && node.child(at) == block;
    Ok(inner.then(|| (node.child(at - 1), node.child(at + 1))))
}
