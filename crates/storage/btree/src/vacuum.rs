//! VACUUM: removing dead entries in physical order, deleting emptied pages, making deleted pages free.
//!
//! Physical order reads fast, but entries move while it runs: a split may carry some to a page with a smaller number that has been visited. Every split
//! stamps both halves with the WAL position; VACUUM notes the position where it began, and when it meets a page that was split since and whose right
//! sibling lies behind it, it visits that sibling too, and its siblings as long as the same holds. The splitter latches the right page before it
//! reads the position, so a stamp older than VACUUM's start means that VACUUM waits for the page and sees it complete.

use base::{BlockNo, Fork, Lsn, OffsetNo, Tid};
use buffer::{ExclusivePage, PageChange, Pin, Ring};
use index::bytes::Check;
use index::{Access, IndexResult, Manner, Pages, VacuumStats, each_block};

use crate::delete::{Extent, delete_leaf};
use crate::format::{DELETED, FREE, HALF_DEAD, Item, META, Meta, NONE, Node, Opaque};
use crate::ops::{self, ListUpdate};
use crate::redo::{Kind, delete_bytes};
use crate::rel::BtreeRel;
use crate::search::{meta_bytes, put_free};

struct Pass<'a, F> {
    access: &'a Access<'a>,
    rel: &'a BtreeRel,
    is_dead: Option<F>,
    ring: Option<&'a Ring>,
    start: Lsn,
    stats: VacuumStats,
    deleted: Vec<BlockNo>,
}

/// Removes every entry whose TID `is_dead`, deletes emptied pages, and adds to `stats`. May be called several times in one VACUUM.
pub fn bulk_delete(
    access: &Access<'_>,
    rel: &BtreeRel,
    is_dead: impl FnMut(Tid) -> bool,
    manner: &mut Manner<'_>,
    stats: &mut VacuumStats,
) -> IndexResult<()> {
    stats.add_pass(pass(access, rel, Some(is_dead), manner)?);
    Ok(())
}

/// Ends a VACUUM. `stats`: what [`bulk_delete`] gathered; `None` if it did not run: then the index is only gone through if enough deleted pages
/// wait to become free.
pub fn cleanup(
    access: &Access<'_>,
    rel: &BtreeRel,
    manner: &mut Manner<'_>,
    stats: Option<VacuumStats>,
) -> IndexResult<VacuumStats> {
    let mut stats = match stats {
        Some(stats) => stats,
        None => {
            let pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
            let meta = rel.meta(access.pool)?;
            if u64::from(meta.pending) * 20 <= u64::from(pages) {
                return Ok(VacuumStats {
                    pages,
                    pages_free: meta.free_count,
                    pages_deleted: meta.free_count + meta.pending,
                    estimated: true,
                    ..VacuumStats::default()
                });
            }
            pass(access, rel, None::<fn(Tid) -> bool>, manner)?
        }
    };
    let mut page = rel.exclusive(access.pool, META)?;
    let mut meta = rel.check(META, Meta::read(&page))?;
    stats.pages_free = meta.free_count;
    let pending = stats.pages_deleted.saturating_sub(meta.free_count);
    if pending != meta.pending {
        meta.pending = pending;
        meta.write(&mut page);
        let mut action = rel.action(access, Kind::Meta);
        action.data(&meta_bytes(&meta));
        action.page(&mut page, PageChange { will_init: true, ..PageChange::default() });
        action.commit();
    }
    Ok(stats)
}

/// One pass over all pages in physical order, those added meanwhile included.
fn pass(
    access: &Access<'_>,
    rel: &BtreeRel,
    is_dead: Option<impl FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let start = access.pool.wal().insert_end();
    let ring = manner.ring;
    let mut pass =
        Pass { access, rel, is_dead, ring, start, stats: VacuumStats::default(), deleted: Vec::new() };
    pass.stats.pages = each_block(access, &rel.desc, 1, manner, |pin| pass.visit(pin))?;
    // Some of the pages just deleted may be free already, if no snapshot is that old.
    for block in std::mem::take(&mut pass.deleted) {
        if put_free(access, rel, block)? {
            pass.stats.pages_free += 1;
        }
    }
    Ok(pass.stats)
}

impl<F: FnMut(Tid) -> bool> Pass<'_, F> {
    /// Visits a page, then pages behind it that took entries from it meanwhile.
    fn visit(&mut self, first: Pin) -> IndexResult<()> {
        let (first, mut pinned) = (first.tag().block, Some(first));
        let mut block = first;
        loop {
            let pin = match pinned.take() {
                Some(pin) => pin,
                None => self.access.pool.read_with(self.rel.tag(block), self.ring)?,
            };
            let op = {
                let page = pin.shared();
                if page::is_new(&page) { None } else { Some(self.rel.node(block, &page)?.op) }
            };
            if !op.is_some_and(|op| op.is_leaf() && !op.ignored()) {
                drop(pin);
                // A page that is neither new nor in the tree has no right sibling to follow.
                return if block == first { self.visit_other(block, op) } else { Ok(()) };
            }
            let mut page = pin.cleanup();
            let node = self.rel.node(block, &page)?;
            let next = node.op.next;
            let moved = node.op.split >= self.start && next != NONE && next < first;
            if node.op.ignored() || !node.op.is_leaf() {
                continue;
            }
            let empty = self.clean(&mut page, block, block == first)?;
            drop(page);
            drop(pin);
            if empty && block == first {
                self.try_delete(block)?;
            }
            if !moved {
                return Ok(());
            }
            block = next;
        }
    }

    /// A page that holds no entries.
    fn visit_other(&mut self, block: BlockNo, op: Option<Opaque>) -> IndexResult<()> {
        match op {
            // Added to the file, but a crash or an error came before its use.
            None => {
                if put_free(self.access, self.rel, block)? {
                    self.stats.pages_deleted += 1;
                    self.stats.pages_free += 1;
                }
            }
            Some(op) if op.is(FREE) => {
                self.stats.pages_deleted += 1;
                self.stats.pages_free += 1;
            }
            Some(op) if op.is(DELETED) => {
                self.stats.pages_deleted += 1;
                if put_free(self.access, self.rel, block)? {
                    self.stats.pages_free += 1;
                }
            }
            Some(op) if op.is(HALF_DEAD) => self.try_delete(block)?,
            Some(_) => {}
        }
        Ok(())
    }

    fn try_delete(&mut self, block: BlockNo) -> IndexResult<()> {
        let before = self.deleted.len();
        delete_leaf(self.access, self.rel, block, Extent::Branch, &mut self.deleted)?;
        let count = (self.deleted.len() - before) as u32;
        self.stats.pages_newly_deleted += count;
        self.stats.pages_deleted += count;
        Ok(())
    }

    /// Removes dead entries from a leaf under the cleanup latch; whether it is empty now.
    fn clean(&mut self, page: &mut ExclusivePage<'_>, block: BlockNo, count: bool) -> IndexResult<bool> {
        let found = self.look(page);
        let Found { doomed, updates, removed, left } = self.rel.check(block, found)?;
        if count {
            self.stats.tuples += left;
        }
        self.stats.tuples_removed += removed;
        if !doomed.is_empty() || !updates.is_empty() {
            self.rel.check(block, ops::delete(page, &doomed, &updates))?;
            let mut action = self.rel.action(self.access, Kind::Vacuum);
            let i = action.page(page, PageChange::default());
            action.page_data(i, &delete_bytes(&doomed, &updates));
            action.commit();
        }
        Ok(left == 0)
    }

    /// Which entries of a leaf are dead.
    fn look(&mut self, page: &page::PageBytes) -> Check<Found> {
        let mut found = Found::default();
        for item in Node::new(page)?.items() {
            let (n, item) = item?;
            let Some(is_dead) = &mut self.is_dead else {
                found.left += item.tid_count() as u64;
                continue;
            };
            if item.is_posting() {
                look_at_list(is_dead, n, &item, &mut found)?;
            } else if is_dead(item.tid(0)?) {
                found.removed += 1;
                found.doomed.push(n);
            } else {
                found.left += 1;
            }
        }
        Ok(found)
    }
}

/// Which of the TIDs that share a key are dead.
fn look_at_list(
    is_dead: &mut impl FnMut(Tid) -> bool,
    n: OffsetNo,
    item: &Item<'_>,
    found: &mut Found,
) -> Check<()> {
    let count = item.tid_count();
    let mut removed = Vec::new();
    for i in 0..count {
        if is_dead(item.tid(i)?) {
            removed.push(i as u16);
        }
    }
    found.removed += removed.len() as u64;
    found.left += (count - removed.len()) as u64;
    if removed.len() == count {
        found.doomed.push(n);
    } else if !removed.is_empty() {
        found.updates.push(ListUpdate { at: n, removed });
    }
    Ok(())
}

#[derive(Default)]
struct Found {
    doomed: Vec<u16>,
    updates: Vec<ListUpdate>,
    removed: u64,
    left: u64,
}
