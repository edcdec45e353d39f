//! A VACUUM's pass over an index in physical order, for methods whose pages split to the right.
//!
//! Physical order reads fast, but entries move while it runs: a split may carry some to a page with a smaller number that has been visited. Every split stamps
//! all its pages with the WAL position; the pass notes the position where it began, and when it meets a page that was split since and whose right sibling lies behind it, it
//! visits that sibling too, and its siblings as long as the same holds.

use base::{BlockNo, Lsn, Tid};
use buffer::{ExclusivePage, Pin, Ring};
use page::PageBytes;

use crate::{Access, FreeList, IndexResult, Manner, Pages, VacuumStats, each_block};

/// What a pass asks of a page that is not new.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    /// It has entries of rows, or none left, and is in use.
    pub has_entries: bool,
    /// It was taken out of use.
    pub deleted: bool,
    /// It is on the list of free pages.
    pub free: bool,
    /// Where the log was when it was split last.
    pub split: Lsn,
    /// Its right sibling, if it has one.
    pub next: Option<BlockNo>,
}

/// What became of a page's entries.
#[derive(Clone, Copy, Debug)]
pub struct Cleaned {
    /// How many are left.
    pub left: u64,
    /// How many were removed.
    pub removed: u64,
}

/// A method that is swept.
pub trait Sweep: FreeList {
    /// What a page is.
    fn visited(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Visited>;

    /// Removes those entries of a page whose TIDs `is_dead`, under the cleanup latch.
    fn clean(
        &self,
        access: &Access<'_>,
        page: &mut ExclusivePage<'_>,
        is_dead: &mut dyn FnMut(Tid) -> bool,
    ) -> IndexResult<Cleaned>;

    /// Meets a page in use that has no entries of rows.
    fn meet(&self, _block: BlockNo, _page: &PageBytes, _met: &mut Vec<BlockNo>) -> IndexResult<()> {
        Ok(())
    }
}

/// What a pass found.
#[derive(Debug, Default)]
pub struct Swept {
    /// Counts.
    pub stats: VacuumStats,
    /// Pages that had entries and have none, but the first of the index; in no order, and one may come twice.
    pub empty: Vec<BlockNo>,
    /// What [`Sweep::meet`] noted.
    pub met: Vec<BlockNo>,
}

struct Pass<'a, 'd, M> {
    access: &'a Access<'a>,
    rel: &'a M,
    is_dead: Option<&'d mut dyn FnMut(Tid) -> bool>,
    ring: Option<&'a Ring>,
    start: Lsn,
    swept: Swept,
}

/// One pass over all pages, those added meanwhile included: removes entries whose TIDs `is_dead`, makes deleted pages free.
///
/// # Errors
/// A page is damaged or cannot be read; the statement was interrupted.
pub fn sweep<M: Sweep>(
    access: &Access<'_>,
    rel: &M,
    is_dead: Option<&mut dyn FnMut(Tid) -> bool>,
    manner: &mut Manner<'_>,
) -> IndexResult<Swept> {
    let (start, ring) = (access.pool.wal().insert_end(), manner.ring);
    let mut pass = Pass { access, rel, is_dead, ring, start, swept: Swept::default() };
    pass.swept.stats.pages = each_block(access, rel.desc(), 0, manner, |pin| pass.visit(pin))?;
    Ok(pass.swept)
}

impl<M: Sweep> Pass<'_, '_, M> {
    /// Visits a page, then pages behind it that took entries from it meanwhile.
    fn visit(&mut self, first: Pin) -> IndexResult<()> {
        let (first, mut pinned) = (first.tag().block, Some(first));
        let mut block = first;
        loop {
            let pin = match pinned.take() {
                Some(pin) => pin,
                None => self.access.pool.read_with(self.rel.tag(block), self.ring)?,
            };
            let page = pin.shared();
            let found = if page::is_new(&page) { None } else { Some(self.rel.visited(block, &page)?) };
            if !found.is_some_and(|found| found.has_entries) {
                if block != first {
                    return Ok(());
                }
                if found.is_some_and(|found| !found.deleted && !found.free) {
                    return self.rel.meet(block, &page, &mut self.swept.met);
                }
                drop(page);
                drop(pin);
                return self.count_unused(block, found.is_some_and(|found| found.free));
            }
            drop(page);
            let mut page = pin.cleanup();
            let found = self.rel.visited(block, &page)?;
            if !found.has_entries {
                // It has none any more: the root was split.
                continue;
            }
            if self.clean(&mut page, block == first)? && block != M::HEAD {
                self.swept.empty.push(block);
            }
            match found.next {
                Some(next) if found.split >= self.start && next < first => block = next,
                _ => return Ok(()),
            }
        }
    }

    /// A page that was deleted before, or added to the file, but a crash or an error came before its use.
    fn count_unused(&mut self, block: BlockNo, free: bool) -> IndexResult<()> {
        self.swept.stats.pages_deleted += 1;
        if free || self.rel.put_free(self.access, block)? {
            self.swept.stats.pages_free += 1;
        }
        Ok(())
    }

    /// Whether a page is empty once its dead entries are removed.
    fn clean(&mut self, page: &mut ExclusivePage<'_>, count: bool) -> IndexResult<bool> {
        let Cleaned { left, removed } = match &mut self.is_dead {
            Some(is_dead) => self.rel.clean(self.access, page, *is_dead)?,
            None => self.rel.clean(self.access, page, &mut |_| false)?,
        };
        let stats = &mut self.swept.stats;
        stats.tuples += if count { left } else { 0 };
        stats.tuples_removed += removed;
        Ok(left == 0)
    }
}
