//! Types of fixed length that are seen as arrays of another type, with subscripts from 0: `name`, `point`, `box`, `lseg`, `line`.

use base::{Oid, SqlResult, sql_err};
use tuple::{Bytes, Datum, Physical};

use super::{Cursor, decode_element, encode};
use crate::{
    registry::builtin_type,
    value::{FromDatum, str_of},
};

/// How elements lie in such a type.
#[derive(Clone, Copy, Debug)]
pub struct FixedArray {
    element: Physical,
    /// Bytes of an element.
    width: usize,
    /// Number of elements.
    count: usize,
    /// Whether zero bytes at the end are left out.
    padded: bool,
}

impl FixedArray {
    /// The shape of a type; none if it is no such type.
    pub fn of(container: Oid) -> Option<FixedArray> {
        let info = builtin_type(container).filter(|info| info.element.is_valid() && info.len > 0)?;
        let element = builtin_type(info.element)?.physical;
        let width = element.fixed_len()?;
        let padded = info.physical == Physical::Name;
        Some(FixedArray { element, width, count: info.len as usize / width, padded })
    }

    fn index(&self, subscripts: &[i32]) -> Option<usize> {
        match subscripts {
            [n] => usize::try_from(*n).ok().filter(|n| *n < self.count),
            _ => None,
        }
    }

    /// The element at this subscript; NULL where there is none.
    pub fn get(&self, container: &Datum, subscripts: &[i32]) -> Datum {
        let Some(index) = self.index(subscripts) else { return Datum::Null };
        let bytes = self.whole(container);
        let at = index * self.width;
        decode_element(self.element, &mut Cursor(&bytes[at..at + self.width])).unwrap_or_default()
    }

    /// The value with another element at this subscript.
    pub fn set(&self, container: &Datum, subscripts: &[i32], value: &Datum) -> SqlResult<Datum> {
        if subscripts.len() != 1 {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
        }
        let index = self
            .index(subscripts)
            .ok_or_else(|| sql_err!(ARRAY_SUBSCRIPT_ERROR, "array subscript out of range"))?;
        let mut element = Vec::with_capacity(self.width);
        encode(self.element, value, &mut element);
        let mut bytes = self.whole(container);
        bytes[index * self.width..][..self.width].copy_from_slice(&element);
        if self.padded {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            let text = str_of(&bytes[..end]).len();
            bytes.truncate(text);
        }
        Ok(Datum::Bytes(Bytes::from(bytes)))
    }

    /// All bytes of the value.
    fn whole(&self, container: &Datum) -> Vec<u8> {
        let mut bytes = <&[u8]>::from_datum(container).to_vec();
        bytes.resize(self.width * self.count, 0);
        bytes
    }
}
