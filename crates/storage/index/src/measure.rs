//! What the pages of an index are used for and how full they are, for those who measure indexes.

use base::{BlockNo, OffsetNo};
use page::{LpFlags, PageBytes};

/// What a page is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageUse {
    /// It tells of the index as a whole.
    Meta {
        /// Version of the method's format, as PostgreSQL counts them.
        version: u32,
        /// The root; block 0 if there is none yet.
        root: BlockNo,
        /// Levels below the root.
        level: u32,
    },
    /// It leads to other pages.
    Inner,
    /// It has entries of rows.
    Leaf,
    /// It has entries that are not in the index's order yet.
    Pending,
    /// It is on its way out, and no search uses it.
    Leaving,
    /// It is out of use.
    Deleted,
}

/// Items, and the bytes that they take without line pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemSum {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl ItemSum {
    /// Adds items.
    pub fn add(&mut self, other: ItemSum) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// A page of an index, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageMeasure {
    /// What it is used for.
    pub used: PageUse,
    /// Its right sibling; of a B-tree's page.
    pub next: Option<BlockNo>,
    /// Bytes that items and line pointers share.
    pub room: usize,
    /// Bytes that nothing uses.
    pub free: usize,
    /// Items of rows that may be live.
    pub live: ItemSum,
    /// Items of rows that are known to be dead.
    pub dead: ItemSum,
}

impl PageMeasure {
    /// A page with this use and `room`, whose free bytes lie between its line pointers and its items. Its items are not counted.
    pub fn new(used: PageUse, next: Option<BlockNo>, page: &PageBytes) -> PageMeasure {
        PageMeasure {
            used,
            next,
            room: page::special_offset(page).saturating_sub(page::HEADER_SIZE),
            free: page::upper(page).saturating_sub(page::lower(page)),
            live: ItemSum::default(),
            dead: ItemSum::default(),
        }
    }

    /// With the items of the page, from number `first` on.
    pub fn with_items(mut self, page: &PageBytes, first: OffsetNo) -> PageMeasure {
        for n in first..=page::max_offset(page) {
            let Some(pointer) = page::line_pointer(page, n) else { continue };
            let one = ItemSum { count: 1, bytes: u64::from(pointer.len) };
            match pointer.flags {
                LpFlags::Dead => self.dead.add(one),
                _ => self.live.add(one),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_counted_by_whether_they_are_dead() {
        let mut page = [0; base::PAGE_SIZE];
        page::init(&mut page, 16);
        let before = PageMeasure::new(PageUse::Leaf, None, &page);
        assert_eq!((before.free, before.live.count), (before.room, 0));
        for _ in 0..3 {
            page::add_item(&mut page, &[7; 24], None).unwrap();
        }
        let pointer = page::line_pointer(&page, 2).unwrap();
        page::set_line_pointer(&mut page, 2, page::LinePointer { flags: LpFlags::Dead, ..pointer });
        let all = PageMeasure::new(PageUse::Leaf, None, &page).with_items(&page, 1);
        assert_eq!(all.live, ItemSum { count: 2, bytes: 48 });
        assert_eq!(all.dead, ItemSum { count: 1, bytes: 24 });
        assert_eq!(all.room - all.free, 3 * (24 + 4));
        assert_eq!(PageMeasure::new(PageUse::Leaf, None, &page).with_items(&page, 3).live.count, 1);
    }
}
