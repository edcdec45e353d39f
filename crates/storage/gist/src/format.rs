//! # What
//! The bytes of the tree: special area and items. Everything that reads them is bounds-checked and answers damage with [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 40 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `next` u32 | right sibling, 0 if none; of the root, which has none: first page of the list of free pages |
//! | 4 | `level` u16 | 0 for leaves |
//! | 6 | `flags` u16 | [`FOLLOW_RIGHT`], [`DELETED`], [`FREE`] |
//! | 8 | `tag` u32 | [`PAGE_TAG`]: tells a page of this method from any other |
//! | 12 | | 0 |
//! | 16 | `nsn` u64 | version of the parent at which the last split of this page got its downlinks |
//! | 24 | `version` u64 | of an internal page: how often it got downlinks of splits, or was split |
//! | 32 | `split` u64 | WAL insert position when the page was last split or made by a split; VACUUM compares it with its own start |
//!
//! An item is a multiple of 8 bytes: a header of 8, a null bitmap of 8 if a column is null (32 bits used), the columns as [`RowLayout`] lays them out, zeros up
//! to a multiple of 8. A leaf's item has all columns, an internal one the key columns.
//!
//! | at | leaf | internal |
//! |---|---|---|
//! | 0 u32 | heap block | child block |
//! | 4 u16 | heap offset | 0 |
//! | 6 u16 | [`NULLS`] | [`NULLS`] |
//!
//! A deleted page has one item: the xid that must be older than every snapshot before the page is used again (u64), the next free page (u32), 4 zero bytes.

use base::{BlockNo, Lsn, OffsetNo, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, read_deleted, u16_at, u32_at, u64_at};
use index::{PageMeasure, PageUse};
use page::{PageBytes, align8};
use tuple::{Datum, RowBytes, RowLayout, varlena};

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 40;
/// No page: the root is nobody's sibling or child.
pub(crate) const NONE: BlockNo = BlockNo(0);
/// Where the root is.
pub(crate) const ROOT: BlockNo = BlockNo(0);

/// The right sibling has no downlink yet.
pub(crate) const FOLLOW_RIGHT: u16 = 1;
/// Out of the tree.
pub(crate) const DELETED: u16 = 2;
/// Deleted and on the list of free pages.
pub(crate) const FREE: u16 = 4;

/// "gist".
pub(crate) const PAGE_TAG: u32 = 0x7473_6967;

const NULLS: u16 = 0x8000;
const HEADER: usize = 8;

/// Bytes of a page that items and line pointers share.
pub(crate) const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;
/// Largest item: four of them fit on a page.
pub(crate) const MAX_ENTRY: usize = (ROOM / 4 - 4) & !7;

const NO_ITEM: &str = "line pointer names no item";

/// The special area, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub next: BlockNo,
    pub level: u16,
    pub flags: u16,
    pub nsn: u64,
    pub version: u64,
    pub split: Lsn,
}

impl Opaque {
    /// Of a page of this level that nobody has split.
    pub fn new(level: u16) -> Opaque {
        Opaque { next: NONE, level, flags: 0, nsn: 0, version: 0, split: Lsn::INVALID }
    }

    pub fn read(page: &PageBytes) -> Check<Opaque> {
        if page::special_offset(page) != PAGE_SIZE - SPECIAL {
            return Err("special area has the wrong size");
        }
        let s = &page[PAGE_SIZE - SPECIAL..];
        if u32_at(s, 8) != PAGE_TAG {
            return Err("not a page of a GiST index");
        }
        Ok(Opaque {
            next: BlockNo(u32_at(s, 0)),
            level: u16_at(s, 4),
            flags: u16_at(s, 6),
            nsn: u64_at(s, 16),
            version: u64_at(s, 24),
            split: Lsn(u64_at(s, 32)),
        })
    }

    pub fn write(&self, page: &mut PageBytes) {
        let s = &mut page[PAGE_SIZE - SPECIAL..];
        s[0..4].copy_from_slice(&self.next.0.to_le_bytes());
        s[4..6].copy_from_slice(&self.level.to_le_bytes());
        s[6..8].copy_from_slice(&self.flags.to_le_bytes());
        s[8..12].copy_from_slice(&PAGE_TAG.to_le_bytes());
        s[12..16].fill(0);
        s[16..24].copy_from_slice(&self.nsn.to_le_bytes());
        s[24..32].copy_from_slice(&self.version.to_le_bytes());
        s[32..40].copy_from_slice(&self.split.0.to_le_bytes());
    }

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub fn is_leaf(&self) -> bool {
        self.level == 0
    }
}

/// A page of the tree, its special area checked.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub page: &'a PageBytes,
    pub op: Opaque,
}

impl<'a> Node<'a> {
    pub fn new(page: &'a PageBytes) -> Check<Node<'a>> {
        Ok(Node { page, op: Opaque::read(page)? })
    }

    /// Number of items.
    pub fn max(&self) -> OffsetNo {
        page::max_offset(self.page)
    }

    pub fn item(&self, n: OffsetNo) -> Check<Item<'a>> {
        Item::new(page::item(self.page, n).ok_or(NO_ITEM)?)
    }

    /// All items with their numbers.
    pub fn items(&self) -> impl Iterator<Item = Check<(OffsetNo, Item<'a>)>> + use<'a> {
        let node = *self;
        (1..=node.max()).map(move |n| Ok((n, node.item(n)?)))
    }

    /// Whether an item is marked as dead.
    pub fn is_dead(&self, n: OffsetNo) -> bool {
        page::line_pointer(self.page, n).is_some_and(|lp| lp.flags == page::LpFlags::Dead)
    }

    /// On a deleted page: the xid that must be older than every snapshot before the page is used again.
    pub fn safe_xid(&self) -> Xid {
        read_deleted(self.page).0
    }

    /// On a free page: the next one.
    pub fn next_free(&self) -> BlockNo {
        read_deleted(self.page).1
    }
}

/// One item, its header present.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a>(&'a [u8]);

impl<'a> Item<'a> {
    pub fn new(bytes: &'a [u8]) -> Check<Item<'a>> {
        if bytes.len() < HEADER { Err("item is too short") } else { Ok(Item(bytes)) }
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The page that an internal item leads to.
    pub fn child(&self) -> BlockNo {
        BlockNo(u32_at(self.0, 0))
    }

    /// The row of a leaf's item.
    pub fn tid(&self) -> Tid {
        Tid::new(BlockNo(u32_at(self.0, 0)), u16_at(self.0, 4))
    }

    /// The first `columns` columns, resolved.
    pub fn decode(&self, layout: &RowLayout, columns: usize) -> Check<Vec<Datum>> {
        let mut out = Vec::with_capacity(columns);
        self.decode_over(layout, columns, &mut out)?;
        Ok(out)
    }

    fn row(&self, columns: usize) -> Check<RowBytes<'a>> {
        let has_nulls = u16_at(self.0, 6) & NULLS != 0;
        let start = if has_nulls { HEADER + 8 } else { HEADER };
        let data = self.0.get(start..).ok_or("item is too short for its null bitmap")?;
        let nulls = has_nulls.then(|| &self.0[HEADER..HEADER + 4]);
        Ok(RowBytes { columns, nulls, data })
    }

    /// The bytes of the first key, if it is a byte string that needs no decoding.
    #[inline]
    pub fn first_bytes(&self, layout: &RowLayout) -> Option<&'a [u8]> {
        layout.first_bytes(&self.row(1).ok()?)
    }

    /// As [`decode`](Item::decode), into the place and the memory of another item's columns.
    pub fn decode_over(&self, layout: &RowLayout, columns: usize, out: &mut Vec<Datum>) -> Check<()> {
        layout.decode_over(&self.row(columns)?, columns, out).map_err(|_| BAD_ROW)?;
        for value in out {
            if let Datum::Toasted(stored) = value {
                *value = varlena::resolve_inline(stored).ok().flatten().ok_or(BAD_ROW)?;
            }
        }
        Ok(())
    }
}

const BAD_ROW: &str = "columns of an item do not match their layout";

fn item(word: u32, half: u16, layout: &RowLayout, values: &[Datum]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    out.extend_from_slice(&word.to_le_bytes());
    out.extend_from_slice(&half.to_le_bytes());
    let has_nulls = values.iter().any(Datum::is_null);
    out.extend_from_slice(&(if has_nulls { NULLS } else { 0 }).to_le_bytes());
    if has_nulls {
        let bits = values.iter().enumerate().fold(0u64, |b, (i, v)| b | u64::from(!v.is_null()) << i);
        out.extend_from_slice(&bits.to_le_bytes());
    }
    layout.encode(values, &mut out);
    out.resize(align8(out.len()), 0);
    out
}

/// A leaf's item: keys, then INCLUDE columns.
pub(crate) fn leaf_item(layout: &RowLayout, values: &[Datum], tid: Tid) -> Vec<u8> {
    item(tid.block.0, tid.offset, layout, values)
}

/// An internal page's item: keys.
pub(crate) fn downlink(layout: &RowLayout, keys: &[Datum], child: BlockNo) -> Vec<u8> {
    item(child.0, 0, layout, keys)
}

/// What a page is used for; see [`index::IndexAccessMethod::measure`].
pub(crate) fn measure(page: &PageBytes) -> Check<PageMeasure> {
    let op = Opaque::read(page)?;
    let used = match op.level {
        _ if op.is(DELETED) => PageUse::Deleted,
        0 => PageUse::Leaf,
        _ => PageUse::Inner,
    };
    let measure = PageMeasure::new(used, None, page);
    Ok(if used == PageUse::Leaf { measure.with_items(page, 1) } else { measure })
}
