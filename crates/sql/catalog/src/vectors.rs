//! Array values in catalog rows.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::array::{self, Array};
use types::{Call, FormatContext, oids};

/// An `int2vector`.
pub fn int2_vector(numbers: &[i16]) -> Datum {
    array::from_int2s(numbers)
}

/// An `oidvector`.
pub fn oid_vector(numbers: &[Oid]) -> Datum {
    array::from_oids(numbers)
}

/// An array of any built-in element type.
pub fn array_of(element: Oid, values: Vec<Datum>) -> SqlResult<Datum> {
    let format = FormatContext::default();
    Ok(Array::from_values(element, values, &Call::new(&format))?.to_datum())
}

/// An `int2[]`.
pub fn int2_array(numbers: &[i16]) -> SqlResult<Datum> {
    array_of(oids::int2, numbers.iter().map(|&n| Datum::Int2(n)).collect())
}

/// An `oid[]`.
pub fn oid_array(numbers: &[Oid]) -> SqlResult<Datum> {
    array_of(oids::oid, numbers.iter().map(|&n| n.into()).collect())
}

/// A `text[]`.
pub fn text_array<S: AsRef<str>>(texts: &[S]) -> Datum {
    array::from_texts(texts.iter().map(|t| Some(t.as_ref())))
}

/// A `"char"[]`.
pub fn char_array(letters: &[u8]) -> SqlResult<Datum> {
    array_of(oids::char, letters.iter().map(|&c| Datum::Char(c)).collect())
}

/// Elements of an array or vector; none of NULL.
pub fn elements(value: &Datum) -> Vec<Datum> {
    match value {
        Datum::Bytes(bytes) => Array::from_payload(bytes).into_elements(),
        _ => Vec::new(),
    }
}

/// Elements of an `int2vector` or `int2[]`.
pub fn int2s(value: &Datum) -> Vec<i16> {
    elements(value).into_iter().map(|d| if let Datum::Int2(n) = d { n } else { 0 }).collect()
}

/// Elements of an `oidvector` or `oid[]`.
pub fn oids(value: &Datum) -> Vec<Oid> {
    elements(value).into_iter().map(|d| if let Datum::Oid(n) = d { Oid(n) } else { Oid::INVALID }).collect()
}

/// Elements of a `text[]`.
pub fn texts(value: &Datum) -> Vec<String> {
    let text = |d: &Datum| {
        if let Datum::Bytes(b) = d { String::from_utf8_lossy(b).into_owned() } else { String::new() }
    };
    elements(value).iter().map(text).collect()
}
