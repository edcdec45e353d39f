//! How columns lie in a row: size and alignment of each.

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
}

/// The columns of a row, in order, dropped ones included.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowLayout {
    /// Every column.
    pub attrs: Vec<Attr>,
}
