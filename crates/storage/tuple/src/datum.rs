//! One physical value.

use std::sync::Arc;

use crate::Bytes;

/// One physical value, or NULL. The variant follows the column's [`crate::Physical`] class, never its contents.
///
/// Text-like, numeric, array and other variable-length types are [`Datum::Bytes`] holding the payload without header,
/// never compressed or out of line. A column read from a tuple may be [`Datum::Toasted`]; whoever evaluates a column
/// reference resolves it before any function of a type sees it.
#[derive(Clone, Debug, Default)]
pub enum Datum {
    /// SQL NULL of any type.
    #[default]
    Null,
    /// `bool`
    Bool(bool),
    /// `"char"`
    Char(u8),
    /// `int2`
    Int2(i16),
    /// `int4`, and `date` as days since 2000-01-01
    Int4(i32),
    /// `int8`, and `timestamp`, `timestamptz`, `time` as microseconds (since 2000-01-01)
    Int8(i64),
    /// `oid`, `xid`, `cid`, `regclass` and the other aliases of `oid`
    Oid(u32),
    /// `float4`
    Float4(f32),
    /// `float8`
    Float8(f64),
    /// Every other type: fixed-length ones such as `name` (64 bytes on disk, here without the padding), `uuid`, `interval`,
    /// `tid`, and all variable-length ones.
    Bytes(Bytes),
    /// A variable-length value as stored: compressed, or a pointer to its TOAST table. The raw bytes with header.
    Toasted(Arc<[u8]>),
}

/// The same value, as a plan or a test asks: NULL is NULL, and not-a-number is itself.
impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Null, Datum::Null) => true,
            (Datum::Bool(a), Datum::Bool(b)) => a == b,
            (Datum::Char(a), Datum::Char(b)) => a == b,
            (Datum::Int2(a), Datum::Int2(b)) => a == b,
            (Datum::Int4(a), Datum::Int4(b)) => a == b,
            (Datum::Int8(a), Datum::Int8(b)) => a == b,
            (Datum::Oid(a), Datum::Oid(b)) => a == b,
            (Datum::Float4(a), Datum::Float4(b)) => a == b || a.is_nan() && b.is_nan(),
            (Datum::Float8(a), Datum::Float8(b)) => a == b || a.is_nan() && b.is_nan(),
            (Datum::Bytes(a), Datum::Bytes(b)) => a == b,
            (Datum::Toasted(a), Datum::Toasted(b)) => a == b,
            _ => false,
        }
    }
}

impl Datum {
    /// Whether this is SQL NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// A text-like value.
    pub fn text(text: &str) -> Datum {
        Datum::Bytes(text.into())
    }
}

const _: () = assert!(size_of::<Datum>() == 24);

/// A number that sorts as a float does in indexes: both zeros are equal, and what is not a number comes last.
#[inline]
pub fn sortable_float(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

macro_rules! from_value {
    ($($from:ty => $variant:ident),* $(,)?) => {
        $(impl From<$from> for Datum {
            fn from(value: $from) -> Datum {
                Datum::$variant(value.into())
            }
        })*
    };
}

from_value! {
    bool => Bool, u8 => Char, i16 => Int2, i32 => Int4, i64 => Int8, f32 => Float4, f64 => Float8, &str => Bytes, String => Bytes,
}

impl From<base::Oid> for Datum {
    fn from(oid: base::Oid) -> Datum {
        Datum::Oid(oid.0)
    }
}
