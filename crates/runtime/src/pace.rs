//! Work that takes long is cut into pieces, with a look for interrupts between two of them: a millisecond at most, where 10 are
//! allowed ([`crate::watch`]). What is smaller than a piece never looks.
//!
//! # Invariants
//! 1. A look may let others run: nobody holds a latch, a short lock or a borrow of what the worker's fibers share.

use std::cmp::Ordering;
use std::mem;

use base::SqlResult;

/// Bytes or steps between two looks.
pub const PIECE: usize = 64 << 10;

/// Counts work until the next look.
pub struct Pace(usize);

impl Default for Pace {
    fn default() -> Pace {
        Pace::new()
    }
}

impl Pace {
    /// Nothing is done yet.
    pub fn new() -> Pace {
        Pace(PIECE)
    }

    /// So many bytes or steps are done.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn did(&mut self, n: usize) -> SqlResult<()> {
        if n < self.0 {
            self.0 -= n;
            return Ok(());
        }
        self.0 = PIECE;
        Ok(crate::check_piece()?)
    }

    /// The same where no error can be told.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn pass(&mut self, n: usize) {
        if n < self.0 {
            self.0 -= n;
        } else {
            self.0 = PIECE;
            crate::pause();
        }
    }
}

/// Items that are sorted in one go.
const RUN: usize = 8192;

/// Sorts, equal items in the order in which they are. Many items are sorted in runs that are merged, with looks between.
pub fn sort_by<T: Default>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) -> SqlResult<()> {
    if items.len() <= RUN {
        items.sort_by(order);
        return Ok(());
    }
    for run in items.chunks_mut(RUN) {
        run.sort_by(&mut order);
        crate::check_interrupts()?;
    }
    merge_runs(items, RUN, order)
}

/// As [`sort_by`], by what may be no order, and may take long: then the items end up in some order. The standard library's sorts may panic.
pub fn sort_by_any<T: Default>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) -> SqlResult<()> {
    for pair in items.chunks_exact_mut(2) {
        crate::check_interrupts()?;
        if order(&pair[0], &pair[1]).is_gt() {
            pair.swap(0, 1);
        }
    }
    merge_runs(items, 2, order)
}

/// Merges sorted runs of `width` items.
fn merge_runs<T: Default>(
    items: &mut [T],
    mut width: usize,
    mut order: impl FnMut(&T, &T) -> Ordering,
) -> SqlResult<()> {
    let mut pace = Pace::new();
    while width < items.len() {
        for pair in items.chunks_mut(2 * width).filter(|pair| pair.len() > width) {
            merge(pair, width, &mut order, &mut pace)?;
        }
        width *= 2;
    }
    Ok(())
}

/// Merges two sorted runs, the first of which has `middle` items.
fn merge<T: Default>(
    items: &mut [T],
    middle: usize,
    order: &mut impl FnMut(&T, &T) -> Ordering,
    pace: &mut Pace,
) -> SqlResult<()> {
    if order(&items[middle - 1], &items[middle]).is_le() {
        return Ok(());
    }
    let mut left: Vec<T> = items[..middle].iter_mut().map(mem::take).collect();
    let (mut i, mut j, mut at) = (0, middle, 0);
    // What was merged never overtakes what is still to be read of the second run.
    while i < left.len() {
        if j < items.len() && order(&items[j], &left[i]).is_lt() {
            items.swap(at, j);
            j += 1;
        } else {
            items[at] = mem::take(&mut left[i]);
            i += 1;
        }
        at += 1;
        pace.did(64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_stably() {
        for n in [0, 1, RUN, RUN + 1, 3 * RUN + 7, 9 * RUN] {
            let mut items: Vec<(usize, usize)> = (0..n).map(|i| (i * 7919 % 1000, i)).collect();
            sort_by(&mut items, |a, b| a.0.cmp(&b.0)).unwrap();
            assert!(items.is_sorted(), "{n}");
        }
    }
}
