//! How columns lie in a row: size and alignment of each.

use crate::Datum;
use crate::varlena::Compression;

/// Physical class of a type: which [`crate::Datum`] variant it has and how its bytes lie on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Physical {
    /// 1 byte
    Bool,
    /// 1 byte
    Char,
    /// 2 bytes
    Int2,
    /// 4 bytes
    Int4,
    /// 8 bytes
    Int8,
    /// 4 bytes
    Oid,
    /// 4 bytes
    Float4,
    /// 8 bytes
    Float8,
    /// `n` bytes as they are (`uuid`, `interval`, `tid`)
    Fixed(u16),
    /// `name`: 64 bytes, zero-padded
    Name,
    /// A header of 1 or 4 bytes with the length, then the payload; may be compressed or out of line
    Varlena,
}

/// One column as storage sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attr {
    /// Physical class.
    pub physical: Physical,
    /// Alignment in bytes: 1, 2, 4 or 8. A varlena with a 1-byte header is never aligned.
    pub align: u8,
    /// For varlena: PostgreSQL's `attstorage`, one of `p`, `e`, `m`, `x`.
    pub storage: u8,
    /// How large values are compressed; `None`: by the default method.
    pub compression: Option<Compression>,
}

impl Physical {
    /// Bytes on disk of a fixed-length class.
    #[inline]
    pub fn fixed_len(self) -> Option<usize> {
        match self {
            Physical::Bool | Physical::Char => Some(1),
            Physical::Int2 => Some(2),
            Physical::Int4 | Physical::Oid | Physical::Float4 => Some(4),
            Physical::Int8 | Physical::Float8 => Some(8),
            Physical::Fixed(n) => Some(n as usize),
            Physical::Name => Some(NAME_LEN),
            Physical::Varlena => None,
        }
    }
}

/// Bytes of a `name` on disk.
pub const NAME_LEN: usize = 64;

/// The columns of a row, in order, dropped ones included.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RowLayout {
    attrs: Vec<Attr>,
    /// Where the leading fixed-length columns start when none before them is null; one more entry for the first varlena:
    /// where the column before it ends, not yet aligned.
    offsets: Vec<u32>,
    /// What columns have in rows that were stored before the columns were there; those behind the last of these have NULL.
    missing: Vec<Datum>,
}

impl RowLayout {
    /// The layout of rows with these columns.
    pub fn new(attrs: Vec<Attr>) -> RowLayout {
        let mut offsets = Vec::new();
        let mut at = 0usize;
        for attr in &attrs {
            let Some(len) = attr.physical.fixed_len() else {
                offsets.push(at as u32);
                break;
            };
            at = align_up(at, attr.align);
            offsets.push(at as u32);
            at += len;
        }
        RowLayout { attrs, offsets, missing: Vec::new() }
    }

    /// The same with what each column has in rows that do not store it.
    pub fn with_missing(mut self, mut missing: Vec<Datum>) -> RowLayout {
        missing.truncate(missing.iter().rposition(|value| !value.is_null()).map_or(0, |last| last + 1));
        self.missing = missing;
        self
    }

    /// What a column has in a row that does not store it.
    #[inline]
    pub fn missing(&self, column: usize) -> &Datum {
        self.missing.get(column).unwrap_or(&Datum::Null)
    }

    /// Whether a row of so many stored columns has others that are not NULL.
    #[inline]
    pub fn lacks(&self, stored: usize) -> bool {
        self.missing.len() > stored
    }

    /// Every column.
    #[inline]
    pub fn attrs(&self) -> &[Attr] {
        &self.attrs
    }

    /// Whether the first column has values of any length.
    #[inline]
    pub fn starts_with_varlena(&self) -> bool {
        self.attrs.first().is_some_and(|attr| attr.physical == Physical::Varlena)
    }

    /// Number of columns.
    #[inline]
    pub fn len(&self) -> usize {
        self.attrs.len()
    }

    /// Whether rows have no columns at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.attrs.is_empty()
    }

    /// Start of column `column` when no column up to it is null, if it is among the leading columns whose place does not depend on the row.
    #[inline]
    pub(crate) fn cached_offset(&self, column: usize) -> Option<usize> {
        self.offsets.get(column).map(|&at| at as usize)
    }
}

/// Rounds up to an alignment of 1, 2, 4 or 8.
#[inline]
pub(crate) fn align_up(at: usize, align: u8) -> usize {
    let mask = align.max(1) as usize - 1;
    (at + mask) & !mask
}
