//! Array values in catalog rows.

use base::{Oid, SqlResult};
use tuple::Datum;
use types::oids;

/// An `int2vector`.
pub fn int2_vector(numbers: &[i16]) -> SqlResult<Datum> {
    vector(oids::int2vector, numbers)
}

/// An `oidvector`.
pub fn oid_vector(numbers: &[Oid]) -> SqlResult<Datum> {
    vector(oids::oidvector, numbers)
}

fn vector<T: std::fmt::Display>(ty: Oid, numbers: &[T]) -> SqlResult<Datum> {
    let text: Vec<String> = numbers.iter().map(T::to_string).collect();
    types::input(ty, &text.join(" "), -1, &types::Call::default())
}

/// An `int2[]`.
pub fn int2_array(numbers: &[i16]) -> SqlResult<Datum> {
    let values: Vec<Datum> = numbers.iter().map(|&n| Datum::Int2(n)).collect();
    Ok(types::array::from_elements(oids::int2, &values))
}

/// An `oid[]`.
pub fn oid_array(numbers: &[Oid]) -> Datum {
    let values: Vec<Datum> = numbers.iter().map(|&n| n.into()).collect();
    types::array::from_elements(oids::oid, &values)
}

/// A `text[]`.
pub fn text_array<S: AsRef<str>>(texts: &[S]) -> Datum {
    let values: Vec<Datum> = texts.iter().map(|t| Datum::text(t.as_ref())).collect();
    types::array::from_elements(oids::text, &values)
}

/// A `"char"[]`.
pub fn char_array(letters: &[u8]) -> Datum {
    let values: Vec<Datum> = letters.iter().map(|&c| Datum::Char(c)).collect();
    types::array::from_elements(oids::char, &values)
}
