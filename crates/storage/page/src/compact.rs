//! # What
//! Closing the gaps between a page's items (thread 3), the hot spot of redo, VACUUM and on-access pruning.
//!
//! Nothing is sorted. Items keep the traditional order (a higher line pointer lies lower on the page) as far as they have it.
//! Items at the end of the page that are in place already are skipped. If the rest is *presorted* (offsets fall as line
//! pointers rise, which is how pages are filled), runs of adjacent items are moved towards the end with one memmove each, last
//! run first, and no move can overwrite an item that has still to move. Otherwise the bytes that may move are copied to a scratch page
//! once, and copied back run by run.
//!
//! # PostgreSQL counterpart and differences
//! `compactify_tuples`. Same method; the scratch page belongs to the thread and not to the stack frame, for fibers have small stacks.

use std::cell::RefCell;

use base::PAGE_SIZE;

use crate::{PageBytes, header, items};

/// An item to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Index of its line pointer, from 0.
    pub index: u16,
    /// Where the item is, in bytes from the start of the page.
    pub offset: u16,
    /// Its length rounded up to 8.
    pub len: u16,
}

thread_local! {
    static SCRATCH: RefCell<Box<PageBytes>> = RefCell::new(Box::new([0; PAGE_SIZE]));
}

/// Moves `items` to the end of the page in the order given, first item last on the page, sets their line pointers' offsets
/// and the page's `upper`. `presorted`: offsets in `items` fall strictly.
///
/// Every item must satisfy the page's invariant 2; the caller has checked. Bytes between `lower` and the new `upper` are left as they are.
pub fn compact(page: &mut PageBytes, items: &[Item], presorted: bool) {
    let mut upper = header::special_offset(page);
    let mut first = 0;
    while let Some(item) = items.get(first) {
        if item.offset as usize + item.len as usize != upper {
            break;
        }
        upper -= item.len as usize;
        first += 1;
    }
    let rest = &items[first..];
    let upper =
        if presorted { move_presorted(page, rest, upper) } else { move_by_scratch(page, rest, upper) };
    header::set_upper(page, upper);
}

/// One pending run of adjacent items: `start..end` on the old page, to be moved so that it begins at `target`.
struct Run {
    start: usize,
    end: usize,
}

fn move_presorted(page: &mut PageBytes, items: &[Item], mut upper: usize) -> usize {
    let Some(head) = items.first() else { return upper };
    let mut run = Run {
        start: head.offset as usize + head.len as usize,
        end: head.offset as usize + head.len as usize,
    };
    for item in items {
        let (offset, len) = (item.offset as usize, item.len as usize);
        if run.start != offset + len {
            page.copy_within(run.start..run.end, upper);
            run = Run { start: offset + len, end: offset + len };
        }
        upper -= len;
        run.start = offset;
        items::set_item_offset(page, item.index, upper as u16);
    }
    page.copy_within(run.start..run.end, upper);
    upper
}

fn move_by_scratch(page: &mut PageBytes, items: &[Item], mut upper: usize) -> usize {
    let Some(head) = items.first() else { return upper };
    SCRATCH.with_borrow_mut(|scratch| {
        // Items that move lie below the skipped ones only if those are contiguous from the end, which they are.
        let lowest = header::upper(page);
        scratch[lowest..upper].copy_from_slice(&page[lowest..upper]);
        let mut run = Run {
            start: head.offset as usize + head.len as usize,
            end: head.offset as usize + head.len as usize,
        };
        for item in items {
            let (offset, len) = (item.offset as usize, item.len as usize);
            if run.start != offset + len {
                page[upper..upper + run.end - run.start].copy_from_slice(&scratch[run.start..run.end]);
                run = Run { start: offset + len, end: offset + len };
            }
            upper -= len;
            run.start = offset;
            items::set_item_offset(page, item.index, upper as u16);
        }
        page[upper..upper + run.end - run.start].copy_from_slice(&scratch[run.start..run.end]);
        upper
    })
}
