//! A row version outside its page: a copy, its place, and what its header says.

use base::{CommandId, OffsetNo, Tid, Xid};
use page::PageBytes;
use tuple::{BadRow, Datum, Position, RowBytes, RowLayout, RowPlace};

use crate::header::{Bases, DataPlace, HEADER_LEN, Header, infomask};
use crate::rel::View;
use crate::toast;

/// A row version in a buffer of the scan or fetch that found it.
#[derive(Clone, Copy, Debug)]
pub struct TupleRef<'a> {
    /// Its place (not its chain's root).
    pub tid: Tid,
    header: Header,
    bytes: &'a [u8],
}

impl<'a> TupleRef<'a> {
    /// Looks at a tuple's bytes; `None` if they are no tuple.
    #[inline]
    pub fn new(tid: Tid, bytes: &'a [u8], bases: Bases) -> Option<TupleRef<'a>> {
        Some(TupleRef { tid, header: Header::read(bytes, bases)?, bytes })
    }

    /// Its header.
    #[inline]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Header, bitmap and data.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The columns, undecoded.
    #[inline]
    pub fn row(&self) -> RowBytes<'a> {
        let hoff = self.header.hoff as usize;
        let nulls = self.header.has(infomask::HAS_NULL).then(|| &self.bytes[crate::header::HEADER_LEN..hoff]);
        RowBytes { columns: self.header.columns(), nulls, data: &self.bytes[hoff..] }
    }

    /// Number of columns stored; later ones were added to the table afterwards and have their missing default.
    #[inline]
    pub fn columns(&self) -> usize {
        self.header.columns()
    }

    /// Whether it stores as many columns, and all of their values in itself, so that a table with columns alike can store it as it is.
    #[inline]
    pub fn is_whole(&self, columns: usize) -> bool {
        self.header.columns() == columns
            && !self.header.has(infomask::HAS_EXTERNAL)
            && self.bytes.len() <= toast::THRESHOLD
    }

    /// Whether some column that it stores is NULL.
    #[inline]
    pub fn has_nulls(&self) -> bool {
        self.header.has(infomask::HAS_NULL)
    }

    /// Appends columns `0..upto` to `out`.
    #[inline]
    pub fn decode(&self, layout: &RowLayout, upto: usize, out: &mut Vec<Datum>) -> Result<(), BadRow> {
        layout.decode_more(&self.row(), &mut Position::default(), upto, out)
    }

    /// One column.
    #[inline]
    pub fn decode_column(&self, layout: &RowLayout, column: usize) -> Result<Datum, BadRow> {
        layout.decode_column(&self.row(), column)
    }

    /// System column `xmin`: as stored, also of frozen rows.
    pub fn xmin(&self) -> Xid {
        self.header.raw_xmin
    }

    /// System column `xmax`.
    pub fn xmax(&self) -> Xid {
        self.header.raw_xmax
    }

    /// System columns `cmin` and `cmax`, which PostgreSQL shows as stored: a combo number shows as such for both.
    pub fn raw_cid(&self) -> CommandId {
        CommandId(self.header.cid)
    }

    /// Command that inserted this version, meaningful to its inserter only.
    pub fn cmin(&self, view: &View<'_>) -> CommandId {
        if self.header.has(infomask::COMBO_CID) { view.combo.pair(self.header.cid).0 } else { self.raw_cid() }
    }
}

/// Where the columns of an item of a page lie in it; `None` if it is no tuple.
#[inline]
pub(crate) fn place(page: &PageBytes, n: OffsetNo) -> Option<RowPlace> {
    let lp = page::line_pointer(page, n).filter(|lp| lp.has_item())?;
    place_at(page, (lp.offset, lp.offset.checked_add(lp.len)?))
}

/// Where the columns of a tuple lie whose bytes are those from `start` to `end`; `None` if they are no tuple.
#[inline]
pub(crate) fn place_at(bytes: &[u8], (start, end): (u16, u16)) -> Option<RowPlace> {
    let of = DataPlace::read(bytes.get(start as usize..end as usize)?)?;
    let nulls = if of.has_nulls { start + HEADER_LEN as u16 } else { 0 };
    Some(RowPlace { data: (start + of.hoff, end), nulls, columns: of.columns })
}

/// A copy of a row version, to be reused from fetch to fetch.
#[derive(Clone, Debug, Default)]
pub struct HeapTuple {
    pub(crate) tid: Tid,
    pub(crate) bases: Bases,
    pub(crate) bytes: Vec<u8>,
}

impl HeapTuple {
    /// An empty buffer.
    pub fn new() -> HeapTuple {
        HeapTuple::default()
    }

    pub(crate) fn fill(&mut self, tid: Tid, bases: Bases, bytes: &[u8]) {
        self.tid = tid;
        self.bases = bases;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    /// The row version in it, if a fetch has put one there.
    #[inline]
    pub fn get(&self) -> Option<TupleRef<'_>> {
        TupleRef::new(self.tid, &self.bytes, self.bases)
    }
}
