//! # What
//! The bytes of pages and summaries. Everything that reads them is bounds-checked and answers damage with [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 16 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `tag` u32 | [`PAGE_TAG`]: tells a page of this method from any other |
//! | 4 | `kind` u16 | [`Kind`] |
//! | 6 | | 0 |
//! | 8 | `number` u32 | of a directory or map: which one it is |
//! | 12 | `pages` u32 | of the meta page: pages of the table in a range |
//!
//! The meta page has the blocks of directories, a directory those of maps: 4 bytes each, 0 for none, from the page's header to its special area. A map has 8 bytes for each range: block u32
//! and offset u16 of its summary, 0 for none, and 2 zero bytes. Data pages have summaries as items.
//!
//! | at | of a summary | |
//! |---|---|---|
//! | 0 | `range` u32 | its number: it begins with the table's block `range * pages` |
//! | 4 | `flags` u16 | [`PLACEHOLDER`] |
//! | 6 | `columns` u16 | |
//! | 8 | one byte a column | [`HAS_VALUE`], [`HAS_NULL`] |
//! | … | | null bitmap of all columns' values, zeros up to a multiple of 8, the values as a [`RowLayout`] lays them out, zeros up to a multiple of 8 |

use base::{BlockNo, OffsetNo, PAGE_SIZE};
use index::bytes::{Check, u16_at, u32_at};
use page::{PageBytes, align8};
use tuple::{Datum, RowLayout, varlena};

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 16;
/// Where the meta page is; no other page is there, so that it also says that there is none.
pub(crate) const META: BlockNo = BlockNo(0);
/// "brin".
pub(crate) const PAGE_TAG: u32 = 0x6e69_7262;

const FIRST: usize = page::HEADER_SIZE;
const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;
/// Blocks on the meta page or a directory.
pub(crate) const BLOCKS: u32 = (ROOM / 4) as u32;
/// Ranges of a map.
pub(crate) const RANGES: u32 = (ROOM / 8) as u32;
/// Largest summary.
pub(crate) const MAX_ITEM: usize = (ROOM - 4) & !7;

/// The range is being summarized: it holds rows that came since, and nobody knows what else.
pub(crate) const PLACEHOLDER: u16 = 1;
/// Some value of the column is not NULL.
pub(crate) const HAS_VALUE: u8 = 1;
/// Some value of the column is NULL.
pub(crate) const HAS_NULL: u8 = 2;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Kind {
    Meta = 1,
    Directory = 2,
    Map = 3,
    Data = 4,
}

impl Kind {
    pub fn from_u16(n: u16) -> Check<Kind> {
        [Kind::Meta, Kind::Directory, Kind::Map, Kind::Data]
            .into_iter()
            .find(|kind| *kind as u16 == n)
            .ok_or("unknown kind of page")
    }
}

/// The special area, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub kind: Kind,
    pub number: u32,
    pub pages: u32,
}

impl Opaque {
    pub fn new(kind: Kind, number: u32) -> Opaque {
        Opaque { kind, number, pages: 0 }
    }

    pub fn read(page: &PageBytes) -> Check<Opaque> {
        if page::special_offset(page) != PAGE_SIZE - SPECIAL {
            return Err("special area has the wrong size");
        }
        let s = &page[PAGE_SIZE - SPECIAL..];
        if u32_at(s, 0) != PAGE_TAG {
            return Err("not a page of a BRIN index");
        }
        Ok(Opaque { kind: Kind::from_u16(u16_at(s, 4))?, number: u32_at(s, 8), pages: u32_at(s, 12) })
    }

    pub fn write(&self, page: &mut PageBytes) {
        let s = &mut page[PAGE_SIZE - SPECIAL..];
        s.fill(0);
        s[0..4].copy_from_slice(&PAGE_TAG.to_le_bytes());
        s[4..6].copy_from_slice(&(self.kind as u16).to_le_bytes());
        s[8..12].copy_from_slice(&self.number.to_le_bytes());
        s[12..16].copy_from_slice(&self.pages.to_le_bytes());
    }

    /// Whether the page is this one.
    pub fn is(&self, kind: Kind, number: u32) -> bool {
        self.kind == kind && self.number == number
    }
}

/// Where a summary is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub block: BlockNo,
    pub offset: OffsetNo,
}

impl Place {
    pub fn is_none(&self) -> bool {
        self.offset == 0
    }
}

/// A block of a meta page or directory.
pub(crate) fn block_at(page: &PageBytes, slot: u32) -> BlockNo {
    BlockNo(u32_at(page, FIRST + 4 * (slot % BLOCKS) as usize))
}

pub(crate) fn set_block(page: &mut PageBytes, slot: u32, block: BlockNo) {
    let at = FIRST + 4 * (slot % BLOCKS) as usize;
    page[at..at + 4].copy_from_slice(&block.0.to_le_bytes());
}

/// A place of a map.
pub(crate) fn place_at(page: &PageBytes, slot: u32) -> Place {
    let at = FIRST + 8 * (slot % RANGES) as usize;
    Place { block: BlockNo(u32_at(page, at)), offset: u16_at(page, at + 4) }
}

pub(crate) fn set_place(page: &mut PageBytes, slot: u32, place: Place) {
    let at = FIRST + 8 * (slot % RANGES) as usize;
    page[at..at + 4].copy_from_slice(&place.block.0.to_le_bytes());
    page[at + 4..at + 6].copy_from_slice(&place.offset.to_le_bytes());
}

/// Range of a summary.
pub(crate) fn range_of(item: &[u8]) -> u32 {
    u32_at(item, 0)
}

/// What is known of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Column {
    pub has_null: bool,
    /// Of the values that are not NULL, if there are some.
    pub values: Option<Vec<Datum>>,
}

/// What is known of a range. Without rows, all columns are empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    pub range: u32,
    pub placeholder: bool,
    pub columns: Vec<Column>,
}

const BAD: &str = "summary does not match its layout";
/// Payloads above this are worth a try at compression.
const COMPRESS_FROM: usize = 508;

impl Summary {
    /// Of no rows.
    pub fn empty(range: u32, columns: usize) -> Summary {
        Summary { range, placeholder: false, columns: vec![Column::default(); columns] }
    }

    /// From the bytes of an item. `widths`: number of values of each column.
    pub fn read(item: &[u8], layout: &RowLayout, widths: &[usize]) -> Check<Summary> {
        let columns = widths.len();
        if item.len() < 8 || u16_at(item, 6) as usize != columns {
            return Err(BAD);
        }
        let states = item.get(8..8 + columns).ok_or(BAD)?;
        let total = layout.len();
        let nulls_at = 8 + columns;
        let data_at = align8(nulls_at + total.div_ceil(8));
        let nulls = item.get(nulls_at..nulls_at + total.div_ceil(8)).ok_or(BAD)?;
        let data = item.get(data_at..).ok_or(BAD)?;
        let mut values = Vec::with_capacity(total);
        layout.decode(total, Some(nulls), data, total, &mut values).map_err(|_| BAD)?;
        for value in &mut values {
            if let Datum::Toasted(stored) = value {
                *value = varlena::resolve_inline(stored).ok().flatten().ok_or(BAD)?;
            }
        }
        let mut values = values.into_iter();
        let column = |(state, width): (&u8, &usize)| {
            let own: Vec<Datum> = values.by_ref().take(*width).collect();
            Column { has_null: state & HAS_NULL != 0, values: (state & HAS_VALUE != 0).then_some(own) }
        };
        let columns = states.iter().zip(widths).map(column).collect();
        Ok(Summary { range: range_of(item), placeholder: u16_at(item, 4) & PLACEHOLDER != 0, columns })
    }

    pub fn bytes(&self, layout: &RowLayout, widths: &[usize]) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.extend_from_slice(&self.range.to_le_bytes());
        out.extend_from_slice(&(if self.placeholder { PLACEHOLDER } else { 0 }).to_le_bytes());
        out.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        let mut values = Vec::with_capacity(layout.len());
        for (column, width) in self.columns.iter().zip(widths) {
            let value = if column.values.is_some() { HAS_VALUE } else { 0 };
            out.push(value | if column.has_null { HAS_NULL } else { 0 });
            let from = values.len();
            values.extend(column.values.iter().flatten().cloned());
            values.resize(from + width, Datum::Null);
        }
        for (value, attr) in values.iter_mut().zip(layout.attrs()) {
            if let Datum::Bytes(bytes) = value
                && bytes.len() > COMPRESS_FROM
                && matches!(attr.storage, b'x' | b'm')
                && let Some(small) = varlena::compress(bytes, attr.compression.unwrap_or_default())
            {
                *value = Datum::Toasted(small);
            }
        }
        tuple::encode_nulls(&values, &mut out);
        out.resize(align8(out.len()), 0);
        layout.encode(&values, &mut out);
        out.resize(align8(out.len()), 0);
        out
    }
}
