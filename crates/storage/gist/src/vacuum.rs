//! VACUUM: removing dead entries in physical order, deleting emptied leaves, making deleted pages free.
//!
//! Physical order reads fast, but entries move while it runs: a split may carry some to a page with a smaller number that has been visited. Every split stamps
//! all its pages with the WAL position; VACUUM notes the position where it began, and when it meets a page that was split since and whose right sibling lies behind it, it
//! visits that sibling too, and its siblings as long as the same holds.

use std::collections::HashSet;

use base::{BlockNo, Lsn, Tid};
use buffer::{ExclusivePage, Ring};
use index::bytes::Check;
use index::{Access, IndexError, IndexResult, Manner, VacuumStats, each_block};

use crate::format::{DELETED, FOLLOW_RIGHT, FREE, NONE, Node, Opaque, ROOT};
use crate::insert::{find_downlink, remove};
use crate::rel::GistRel;

struct Pass<'a, 'd> {
    access: &'a Access<'a>,
    rel: &'a GistRel,
    is_dead: Option<&'d mut dyn FnMut(Tid) -> bool>,
    ring: Option<&'a Ring>,
    start: Lsn,
    stats: VacuumStats,
    /// Leaves without entries.
    empty: HashSet<BlockNo>,
    /// Pages with downlinks to leaves.
    parents: Vec<BlockNo>,
}

/// Removes every entry whose TID `is_dead`, deletes emptied leaves, and adds to `stats`. May be called several times in one VACUUM.
pub(crate) fn bulk_delete(
    access: &Access<'_>,
    rel: &GistRel,
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
    rel: &GistRel,
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
    rel: &GistRel,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let (start, ring) = (access.pool.wal().insert_end(), manner.ring);
    let (stats, empty, parents) = (VacuumStats::default(), HashSet::new(), Vec::new());
    let mut pass = Pass { access, rel, is_dead, ring, start, stats, empty, parents };
    pass.stats.pages = each_block(access, &rel.desc, 0, manner, |block| pass.visit(block))?;
    for parent in std::mem::take(&mut pass.parents) {
        if pass.empty.is_empty() {
            break;
        }
        (manner.pause)().map_err(IndexError::Interrupted)?;
        pass.delete_children(parent)?;
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
            if !op.is_some_and(|op| op.is_leaf() && !op.is(DELETED)) {
                drop(pin);
                return if block == first { self.visit_other(block, op) } else { Ok(()) };
            }
            let mut page = pin.cleanup();
            let op = self.rel.node(block, &page)?.op;
            if !op.is_leaf() || op.is(DELETED) {
                // It is no leaf any more: the root was split.
                continue;
            }
            let next = if block == ROOT { NONE } else { op.next };
            let moved = op.split >= self.start && next != NONE && next < first;
            if self.clean(&mut page, block, block == first)? && block != ROOT {
                self.empty.insert(block);
            }
            if !moved {
                return Ok(());
            }
            drop(page);
            block = next;
        }
    }

    /// A page that holds no entries.
    fn visit_other(&mut self, block: BlockNo, op: Option<Opaque>) -> IndexResult<()> {
        match op {
            Some(op) if op.is(FREE) => {
                self.stats.pages_deleted += 1;
                self.stats.pages_free += 1;
            }
            Some(op) if !op.is(DELETED) => {
                if op.level == 1 {
                    self.parents.push(block);
                }
            }
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

    /// Removes dead entries from a leaf under the cleanup latch; whether it is empty now.
    fn clean(&mut self, page: &mut ExclusivePage<'_>, block: BlockNo, count: bool) -> IndexResult<bool> {
        let (doomed, left) = self.rel.check(block, self.look(page))?;
        if count {
            self.stats.tuples += left;
        }
        self.stats.tuples_removed += doomed.len() as u64;
        if !doomed.is_empty() {
            remove(self.access, self.rel, page, &doomed)?;
        }
        Ok(left == 0)
    }

    /// Numbers of the entries of a leaf that are dead, and how many are left.
    fn look(&mut self, page: &page::PageBytes) -> Check<(Vec<u16>, u64)> {
        let (mut doomed, mut left) = (Vec::new(), 0);
        for item in Node::new(page)?.items() {
            let (n, item) = item?;
            if self.is_dead.as_mut().is_some_and(|is_dead| is_dead(item.tid())) {
                doomed.push(n);
            } else {
                left += 1;
            }
        }
        Ok((doomed, left))
    }

    /// Takes the empty leaves below a page out of the tree; one child stays.
    fn delete_children(&mut self, parent: BlockNo) -> IndexResult<()> {
        let mut children = Vec::new();
        {
            let page = self.rel.shared(self.access.pool, parent)?;
            let node = self.rel.node(parent, &page)?;
            if node.op.level != 1 || node.op.is(DELETED) {
                return Ok(());
            }
            for item in node.items() {
                let child = self.rel.check(parent, item)?.1.child();
                if self.empty.remove(&child) {
                    children.push(child);
                }
            }
        }
        for child in children {
            self.delete_child(parent, child)?;
        }
        Ok(())
    }

    fn delete_child(&mut self, parent: BlockNo, child: BlockNo) -> IndexResult<()> {
        let (access, rel) = (self.access, self.rel);
        let mut leaf = rel.exclusive(access.pool, child)?;
        let node = rel.node(child, &leaf)?;
        if !node.op.is_leaf() || node.op.is(DELETED | FOLLOW_RIGHT) || node.max() > 0 {
            return Ok(());
        }
        let mut above = rel.exclusive(access.pool, parent)?;
        let node = rel.node(parent, &above)?;
        if node.op.level != 1 || node.max() < 2 {
            return Ok(());
        }
        let Some(at) = find_downlink(rel, parent, &node, child)? else { return Ok(()) };
        rel.delete_leaf(access, &mut leaf, &mut above, at)?;
        self.stats.pages_newly_deleted += 1;
        self.stats.pages_deleted += 1;
        Ok(())
    }
}
