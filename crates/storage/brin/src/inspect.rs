//! Pages of the index as people look at them, one by one.

use base::OffsetNo;
use index::bytes::Check;
use page::PageBytes;
use tuple::Datum;

use crate::format::{BLOCKS, Kind, Opaque, PAGE_TAG, RANGES, block_at, place_at};
use crate::rel::BrinRel;

/// What the meta page says.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// What tells a page of this method from any other.
    pub magic: u32,
    /// Pages of the table in a range.
    pub pages_per_range: u32,
    /// The last directory of maps that there is.
    pub last_directory: u32,
}

/// What is known of one column of a range.
#[derive(Clone, Debug)]
pub struct Column {
    /// Number of the item.
    pub item: OffsetNo,
    /// The range's first page of the table.
    pub block: u64,
    /// The column, from 1.
    pub column: usize,
    /// It has a NULL, and its values unless it has none.
    pub has_null: bool,
    /// What is kept of its values, if it has some.
    pub values: Option<Vec<Datum>>,
    /// The range is being summarized.
    pub placeholder: bool,
}

/// What a page is.
///
/// # Errors
/// It is not a page of such an index.
pub fn kind(page: &PageBytes) -> Check<&'static str> {
    Ok(match Opaque::read(page)?.kind {
        Kind::Meta => "meta",
        Kind::Directory => "directory",
        Kind::Map => "revmap",
        Kind::Data => "regular",
    })
}

/// What the meta page says.
///
/// # Errors
/// It is not the meta page of such an index.
pub fn meta(page: &PageBytes) -> Check<Meta> {
    let op = Opaque::read(page)?;
    if op.kind != Kind::Meta {
        return Err("not a meta page");
    }
    let last = (0..BLOCKS).map(|slot| block_at(page, slot).0).max().unwrap_or(0);
    Ok(Meta { magic: PAGE_TAG, pages_per_range: op.pages, last_directory: last })
}

/// Where the summaries are that a map knows: block and item, 0 for none.
///
/// # Errors
/// It is not a map of such an index.
pub fn map(page: &PageBytes) -> Check<Vec<(u32, OffsetNo)>> {
    if Opaque::read(page)?.kind != Kind::Map {
        return Err("not a map page");
    }
    let place = |slot| {
        let place = place_at(page, slot);
        (place.block.0, place.offset)
    };
    Ok((0..RANGES).map(place).collect())
}

/// What is known of each column of each range on a page. `pages`: of the table in a range.
///
/// # Errors
/// It is not a data page of this index, or is damaged.
pub fn items(rel: &BrinRel, page: &PageBytes, pages: u32) -> Check<Vec<Column>> {
    if Opaque::read(page)?.kind != Kind::Data {
        return Err("not a regular page");
    }
    let mut all = Vec::new();
    for item in 1..=page::max_offset(page) {
        let Some(bytes) = page::item(page, item) else { continue };
        let summary = rel.summary(bytes)?;
        let block = u64::from(summary.range) * u64::from(pages);
        for (at, column) in summary.columns.into_iter().enumerate() {
            let placeholder = summary.placeholder;
            let (has_null, values) = (column.has_null, column.values);
            all.push(Column { item, block, column: at + 1, has_null, values, placeholder });
        }
    }
    Ok(all)
}
