//! Values to bytes.

use crate::{Datum, NAME_LEN, Physical, RowLayout, layout::align_up, varlena};

/// What the header of a tuple says about its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodedInfo {
    /// Some column is null: a bitmap must go with the data.
    pub has_nulls: bool,
    /// Some column is of variable length and not null.
    pub has_varlena: bool,
    /// Some value is stored elsewhere.
    pub has_external: bool,
}

/// Bytes of the null bitmap of a row of `columns` columns.
#[inline]
pub const fn bitmap_len(columns: usize) -> usize {
    columns.div_ceil(8)
}

/// Appends the null bitmap (bit set: not null).
pub fn encode_nulls(values: &[Datum], out: &mut Vec<u8>) {
    for chunk in values.chunks(8) {
        let byte =
            chunk.iter().enumerate().fold(0, |byte, (bit, value)| byte | u8::from(!value.is_null()) << bit);
        out.push(byte);
    }
}

/// Appends zeros up to an alignment relative to `start`.
#[inline]
pub(crate) fn pad(align: u8, start: usize, out: &mut Vec<u8>) {
    let to = start + align_up(out.len() - start, align);
    out.resize(to, 0);
}

impl RowLayout {
    /// Appends the data of a row. `values` may be shorter than the layout (columns behind are absent), never longer. Alignment counts from where
    /// `out` ends at the call, which must become an 8-aligned place.
    ///
    /// # Panics
    /// If a value is not of its column's physical class: a broken promise of the layer above.
    pub fn encode(&self, values: &[Datum], out: &mut Vec<u8>) -> EncodedInfo {
        assert!(values.len() <= self.len(), "{} values for {} columns", values.len(), self.len());
        let start = out.len();
        let mut info = EncodedInfo::default();
        for (attr, value) in self.attrs().iter().zip(values) {
            match (attr.physical, value) {
                (_, Datum::Null) => info.has_nulls = true,
                (Physical::Varlena, Datum::Bytes(payload)) => {
                    info.has_varlena = true;
                    varlena::write_plain(payload, attr.align, start, out);
                }
                (Physical::Varlena, Datum::Toasted(stored)) => {
                    info.has_varlena = true;
                    if varlena::is_external(stored) {
                        info.has_external = true;
                    } else {
                        pad(attr.align, start, out);
                    }
                    out.extend_from_slice(stored);
                }
                (physical, value) => {
                    pad(attr.align, start, out);
                    encode_fixed(physical, value, out);
                }
            }
        }
        info
    }

    /// Bytes that [`RowLayout::encode`] would append.
    pub fn encoded_len(&self, values: &[Datum]) -> usize {
        let mut at = 0;
        for (attr, value) in self.attrs().iter().zip(values) {
            match (attr.physical, value) {
                (_, Datum::Null) => {}
                (Physical::Varlena, Datum::Bytes(payload)) => {
                    if payload.len() > varlena::SHORT_MAX {
                        at = align_up(at, attr.align);
                    }
                    at += varlena::plain_len(payload.len());
                }
                (Physical::Varlena, Datum::Toasted(stored)) => {
                    if !varlena::is_external(stored) {
                        at = align_up(at, attr.align);
                    }
                    at += stored.len();
                }
                (physical, _) => at = align_up(at, attr.align) + physical.fixed_len().unwrap_or(0),
            }
        }
        at
    }
}

fn encode_fixed(physical: Physical, value: &Datum, out: &mut Vec<u8>) {
    match (physical, value) {
        (Physical::Bool, Datum::Bool(v)) => out.push(u8::from(*v)),
        (Physical::Char, Datum::Char(v)) => out.push(*v),
        (Physical::Int2, Datum::Int2(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Int4, Datum::Int4(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Int8, Datum::Int8(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Oid, Datum::Oid(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Float4, Datum::Float4(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Float8, Datum::Float8(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (Physical::Fixed(n), Datum::Bytes(v)) if v.len() == n as usize => out.extend_from_slice(v),
        (Physical::Name, Datum::Bytes(v)) if v.len() < NAME_LEN => {
            out.extend_from_slice(v);
            out.resize(out.len() + NAME_LEN - v.len(), 0);
        }
        (physical, value) => panic!("{value:?} is no value of {physical:?}"),
    }
}
