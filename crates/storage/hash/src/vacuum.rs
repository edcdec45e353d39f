//! VACUUM: removing dead entries in physical order, taking emptied buckets out of use, making deleted pages free.
//!
//! Physical order reads fast, but entries move while it runs: a split may carry some to a page with a smaller number that has been visited. Every split stamps
//! both its pages with the WAL position; VACUUM notes the position where it began, and when it meets a page that was split since and whose right sibling lies behind it, it
//! visits that sibling too, and its siblings as long as the same holds.

use base::{BlockNo, Lsn, Tid};
use buffer::{ExclusivePage, PageChange, Ring};
use index::{Access, IndexError, IndexResult, Manner, VacuumStats, each_block};

use crate::format::{DELETED, FREE, INCOMPLETE, NONE, Opaque, ROOT};
use crate::insert::remove;
use crate::ops;
use crate::redo::{Kind, PageDelete};
use crate::rel::{Exclusive, HashRel, Shared};

struct Pass<'a, 'd> {
    access: &'a Access<'a>,
    rel: &'a HashRel,
    is_dead: Option<&'d mut dyn FnMut(Tid) -> bool>,
    ring: Option<&'a Ring>,
    start: Lsn,
    stats: VacuumStats,
    /// Buckets without entries.
    empty: Vec<BlockNo>,
}

/// Removes every entry whose TID `is_dead`, takes emptied buckets out of use, and adds to `stats`. May be called several times in one VACUUM.
pub(crate) fn bulk_delete(
    access: &Access<'_>,
    rel: &HashRel,
    is_dead: &mut dyn FnMut(Tid) -> bool,
    manner: &mut Manner<'_>,
    stats: &mut VacuumStats,
) -> IndexResult<()> {
    stats.add_pass(pass(access, rel, Some(is_dead), manner)?);
    Ok(())
}

/// Ends a VACUUM: without [`bulk_delete`] before, it only looks for pages that may be used again.
pub(crate) fn cleanup(
    access: &Access<'_>,
    rel: &HashRel,
    manner: &mut Manner<'_>,
    stats: Option<VacuumStats>,
) -> IndexResult<VacuumStats> {
    match stats {
        Some(stats) => Ok(stats),
        None => pass(access, rel, None, manner),
    }
}

/// One pass over all pages in physical order, those added meanwhile included.
fn pass(
    access: &Access<'_>,
    rel: &HashRel,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let (start, ring) = (access.pool.wal().insert_end(), manner.ring);
    let (stats, empty) = (VacuumStats::default(), Vec::new());
    let mut pass = Pass { access, rel, is_dead, ring, start, stats, empty };
    pass.stats.pages = each_block(access, &rel.desc, 0, manner, |block| pass.visit(block))?;
    for block in std::mem::take(&mut pass.empty) {
        (manner.pause)().map_err(IndexError::Interrupted)?;
        if delete_bucket(access, rel, block)? {
            pass.stats.pages_newly_deleted += 1;
            pass.stats.pages_deleted += 1;
        }
    }
    Ok(pass.stats)
}

impl Pass<'_, '_> {
    /// Visits a page, then pages behind it that took entries from it meanwhile.
    fn visit(&mut self, first: BlockNo) -> IndexResult<()> {
        let mut block = first;
        loop {
            let pin = self.access.pool.read_with(self.rel.tag(block), self.ring)?;
            let op = {
                let page = pin.shared();
                if page::is_new(&page) { None } else { Some(self.rel.node(block, &page)?.op) }
            };
            if !op.is_some_and(|op| op.is_bucket() && !op.is(DELETED)) {
                drop(pin);
                return if block == first { self.visit_other(block, op) } else { Ok(()) };
            }
            let mut page = pin.cleanup();
            let op = self.rel.node(block, &page)?.op;
            if !op.is_bucket() || op.is(DELETED) {
                // It is no bucket any more: the root was split.
                continue;
            }
            let moved = op.split >= self.start && op.next != NONE && op.next < first;
            if self.clean(&mut page, block, block == first)? && block != ROOT {
                self.empty.push(block);
            }
            if !moved {
                return Ok(());
            }
            drop(page);
            block = op.next;
        }
    }

    /// A page that holds no entries.
    fn visit_other(&mut self, block: BlockNo, op: Option<Opaque>) -> IndexResult<()> {
        match op {
            Some(op) if op.is(FREE) => {
                self.stats.pages_deleted += 1;
                self.stats.pages_free += 1;
            }
            Some(op) if !op.is(DELETED) => {}
            // Deleted before, or added to the file, but a crash or an error came before its use.
            _ => {
                self.stats.pages_deleted += 1;
                if self.rel.put_free(self.access, block)? {
                    self.stats.pages_free += 1;
                }
            }
        }
        Ok(())
    }

    /// Removes dead entries from a bucket under the cleanup latch; whether it is empty now.
    fn clean(&mut self, page: &mut ExclusivePage<'_>, block: BlockNo, count: bool) -> IndexResult<bool> {
        let node = self.rel.node(block, page)?;
        let total = node.count();
        let doomed: Vec<u16> = match &mut self.is_dead {
            Some(is_dead) => (0..total).filter(|&at| is_dead(node.key(at).tid)).map(|at| at as u16).collect(),
            None => Vec::new(),
        };
        let left = total - doomed.len();
        if count {
            self.stats.tuples += left as u64;
        }
        self.stats.tuples_removed += doomed.len() as u64;
        if !doomed.is_empty() {
            remove(self.access, self.rel, page, &doomed)?;
        }
        Ok(left == 0)
    }
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
