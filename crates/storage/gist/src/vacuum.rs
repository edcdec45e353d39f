//! VACUUM: removing dead entries in physical order, deleting emptied leaves, making deleted pages free.

use std::collections::HashSet;

use base::{BlockNo, Tid};
use buffer::ExclusivePage;
use index::{Access, Cleaned, IndexError, IndexResult, Manner, Pages, Sweep, VacuumStats, Visited, sweep};
use page::PageBytes;

use crate::format::{DELETED, FOLLOW_RIGHT, FREE, NONE, ROOT};
use crate::insert::{find_downlink, remove};
use crate::rel::GistRel;

impl Sweep for GistRel {
    fn visited(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Visited> {
        let op = self.node(block, page)?.op;
        let (deleted, free) = (op.is(DELETED), op.is(FREE));
        // The root's link is that of the list of free pages.
        let next = Some(op.next).filter(|next| block != ROOT && *next != NONE);
        Ok(Visited { has_entries: op.is_leaf() && !deleted, deleted, free, split: op.split, next })
    }

    fn clean(
        &self,
        access: &Access<'_>,
        page: &mut ExclusivePage<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
    ) -> IndexResult<Cleaned> {
        let block = page.tag().block;
        let (mut doomed, mut left) = (Vec::new(), 0);
        for item in self.node(block, page)?.items() {
            let (n, item) = self.check(block, item)?;
            if is_dead(item.tid()) {
                doomed.push(n);
            } else {
                left += 1;
            }
        }
        if !doomed.is_empty() {
            remove(access, self, page, &doomed)?;
        }
        Ok(Cleaned { left, removed: doomed.len() as u64 })
    }

    /// Notes pages with downlinks to leaves.
    fn meet(&self, block: BlockNo, page: &PageBytes, met: &mut Vec<BlockNo>) -> IndexResult<()> {
        if self.node(block, page)?.op.level == 1 {
            met.push(block);
        }
        Ok(())
    }
}

/// One pass over all pages, then over the parents of leaves that it has emptied.
pub(crate) fn pass(
    access: &Access<'_>,
    rel: &GistRel,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let swept = sweep(access, rel, is_dead, manner)?;
    let mut deletion = Deletion { access, rel, empty: swept.empty.into_iter().collect(), deleted: 0 };
    for parent in swept.met {
        if deletion.empty.is_empty() {
            break;
        }
        (manner.pause)().map_err(IndexError::Interrupted)?;
        deletion.delete_children(parent)?;
    }
    let mut stats = swept.stats;
    stats.pages_newly_deleted += deletion.deleted;
    stats.pages_deleted += deletion.deleted;
    Ok(stats)
}

struct Deletion<'a> {
    access: &'a Access<'a>,
    rel: &'a GistRel,
    /// Leaves without entries.
    empty: HashSet<BlockNo>,
    /// How many of them were taken out of the tree.
    deleted: u32,
}

impl Deletion<'_> {
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
        self.deleted += 1;
        Ok(())
    }
}
