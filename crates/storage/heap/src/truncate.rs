//! # What
//! Cutting empty pages off a table's end, as the last step of VACUUM.
//!
//! # Nobody waits for it
//! Cutting needs ACCESS EXCLUSIVE, and finding out what may be cut takes long. So the tail is looked through first, from the end and without a lock,
//! some pages at a time. Only then is the lock taken, if that needs no waiting; under it the pages, which are in the pool, are looked at
//! once more, the file is cut, and the lock given back. Whoever comes meanwhile waits for one such step at most; if that is seen before the file
//! is cut the lock goes at once, and the step is tried again, unless somebody waits for VACUUM as a whole.
//!
//! # WAL and crash
//! The cut is logged by the callback, and takes the map's bits of the pages with it.
//!
//! # PostgreSQL counterpart and differences
//! `lazy_truncate_heap`, which looks through the whole tail under the lock.

use base::{BlockNo, Fork};
use buffer::{Ring, RingKind};
use page::{LpFlags, PageBytes};

use crate::error::HeapResult;
use crate::fetch::heap_tag;
use crate::vacuum::{Vacuum, VacuumPhase};

/// Pages that a step cuts off at most.
const STEP: u32 = 1024;
/// Pages looked at under the lock between two looks for those who wait.
const LOOK: u32 = 64;
/// An empty tail of so many pages is worth cutting off, or one of a sixteenth of the table.
const WORTH: u32 = 1000;
const SHARE: u32 = 16;

/// How often a step gives way before the rest is left to the next VACUUM.
const GIVES_WAY: u32 = 10;

/// How a step ended.
enum Step {
    /// These pages are left.
    Cut(u32),
    /// Nothing may be cut any more.
    Done,
    /// Somebody waits for the lock.
    Wanted,
}

/// Cuts empty pages off the end if that is worth while. Pages that VACUUM passed over may be empty, or not.
pub(crate) fn truncate(vacuum: &mut Vacuum<'_>) -> HeapResult<()> {
    let mut pages = vacuum.total;
    let least = (vacuum.total / SHARE).clamp(1, WORTH);
    let worth = |empty: u32| empty >= least;
    if !vacuum.options.truncate || !worth(vacuum.total - vacuum.nonempty) {
        return Ok(());
    }
    let ring = vacuum.access.pool.ring_of(RingKind::Vacuum, STEP as usize * base::PAGE_SIZE);
    let mut given_way = 0;
    loop {
        let keep = look(vacuum, &ring, pages)?;
        let first = pages == vacuum.total;
        if keep == pages || first && !worth(pages - keep) {
            return Ok(());
        }
        if !vacuum.callbacks.lock_for_truncation()? {
            vacuum.stats.truncation_stopped = true;
            return Ok(());
        }
        let step = cut(vacuum, &ring, keep, pages);
        vacuum.callbacks.unlock_after_truncation();
        match step? {
            Step::Cut(left) => {
                vacuum.stats.pages_removed += pages - left;
                pages = left;
            }
            Step::Done => return Ok(()),
            Step::Wanted => {
                vacuum.callbacks.progress(VacuumPhase::TruncatingHeap, BlockNo(keep), pages, (0, 0))?;
                given_way += 1;
                // Who still waits does so for the lock that VACUUM itself has, and would wait as long as this goes on.
                if given_way == GIVES_WAY || vacuum.callbacks.is_lock_wanted() {
                    vacuum.stats.truncation_stopped = true;
                    return Ok(());
                }
            }
        }
    }
}

/// How many of the pages must stay, as it seems without a lock, if a step is cut off at most.
fn look(vacuum: &mut Vacuum<'_>, ring: &Ring, pages: u32) -> HeapResult<u32> {
    let least = vacuum.nonempty.max(pages.saturating_sub(STEP));
    vacuum.access.pool.prefetch_run(heap_tag(vacuum.rel, BlockNo(least)), pages - least);
    let mut keep = pages;
    while keep > least && is_empty_page(vacuum, ring, keep - 1)? {
        keep -= 1;
        vacuum.callbacks.progress(VacuumPhase::TruncatingHeap, BlockNo(keep), pages, (0, 0))?;
    }
    Ok(keep)
}

/// One step, under the lock.
fn cut(vacuum: &mut Vacuum<'_>, ring: &Ring, keep: u32, pages: u32) -> HeapResult<Step> {
    if vacuum.access.pool.nblocks(vacuum.rel.desc.file, Fork::Main)? != pages {
        // Somebody has added pages since: they are in use.
        return Ok(Step::Done);
    }
    let mut left = pages;
    while left > keep {
        if left.is_multiple_of(LOOK) && vacuum.callbacks.is_lock_wanted() {
            return Ok(Step::Wanted);
        }
        if !is_empty_page(vacuum, ring, left - 1)? {
            break;
        }
        left -= 1;
    }
    if left == pages {
        return Ok(Step::Done);
    }
    if vacuum.callbacks.is_lock_wanted() {
        return Ok(Step::Wanted);
    }
    vacuum.rel.forget_targets();
    vacuum.callbacks.truncate(vacuum.access, left)?;
    Ok(Step::Cut(left))
}

fn is_empty_page(vacuum: &Vacuum<'_>, ring: &Ring, n: u32) -> HeapResult<bool> {
    let pin = vacuum.access.pool.read_with(heap_tag(vacuum.rel, BlockNo(n)), Some(ring))?;
    let page = pin.shared();
    Ok(is_empty(&page))
}

/// Whether nothing on the page is in use.
fn is_empty(page: &PageBytes) -> bool {
    (1..=page::max_offset(page))
        .all(|n| page::line_pointer(page, n).is_none_or(|lp| lp.flags == LpFlags::Unused))
}
