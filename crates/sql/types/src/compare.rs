//! Order, equality and hash: what families of types that compare with each other share.
//!
//! Integers; oid and its aliases; byte strings; floats. [`mod@crate::registry::types`] leads from a type to its own.

use std::{
    cmp::Ordering,
    hash::{BuildHasher, Hasher},
};

use base::Oid;
use tuple::Datum;

use crate::{
    hashing,
    registry::{
        CompareFn, type_imp,
        types::{EqualFn, HashFn, TypeImp},
    },
    value::FromDatum,
};

/// B-tree order of a type: the comparison of its default operator class.
#[inline]
pub fn compare(type_oid: Oid) -> Option<CompareFn> {
    type_imp(type_oid).compare
}

/// Equality of a type: as [`compare`] says, or of the hash class where there is no order (`xid`, `cid`).
#[inline]
pub fn equal(type_oid: Oid) -> Option<EqualFn> {
    type_imp(type_oid).equal
}

/// Hash of a type's values; equal values of one family hash equal, NULL is never passed.
#[inline]
pub fn hash(type_oid: Oid) -> Option<HashFn> {
    type_imp(type_oid).hash
}

/// Integers of any width, and what is counted by one.
pub(crate) const INTEGERS: TypeImp = TypeImp {
    compare: Some(integers),
    plain_order: true,
    equal: Some(|a, b| integers(a, b).is_eq()),
    hash: Some(hash_integer),
    seeded_hash: Some(hashing::plain),
    ..TypeImp::NONE
};

/// Unsigned numbers of 64 bits.
pub(crate) const UNSIGNED: TypeImp = TypeImp {
    compare: Some(|a, b| (i64::from_datum(a) as u64).cmp(&(i64::from_datum(b) as u64))),
    plain_order: false,
    equal: Some(|a, b| a == b),
    ..INTEGERS
};

/// OIDs.
pub(crate) const OBJECT_IDS: TypeImp =
    TypeImp { compare: Some(object_ids), equal: Some(|a, b| object_ids(a, b).is_eq()), ..INTEGERS };

/// Numbers of 32 bits that are equal or not, but in no order.
pub(crate) const UNORDERED_IDS: TypeImp = TypeImp { compare: None, plain_order: false, ..OBJECT_IDS };

/// Floating-point numbers of either width.
pub(crate) const FLOATS: TypeImp = TypeImp {
    compare: Some(floats),
    plain_order: true,
    equal: Some(|a, b| floats(a, b).is_eq()),
    hash: Some(hash_float),
    seeded_hash: Some(hashing::plain),
    ..TypeImp::NONE
};

/// Strings of bytes.
pub(crate) const BYTES: TypeImp = TypeImp {
    compare: Some(|a, b| byte(a).cmp(byte(b))),
    plain_order: true,
    equal: Some(|a, b| byte(a) == byte(b)),
    hash: Some(|value| hash_bytes(byte(value))),
    seeded_hash: Some(hashing::plain),
    ..TypeImp::NONE
};

#[inline]
fn byte(datum: &Datum) -> &[u8] {
    <&[u8]>::from_datum(datum)
}

/// Integers of any width, compared by value.
#[inline]
pub fn integers(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Int4(a), Datum::Int4(b)) => a.cmp(b),
        (Datum::Int8(a), Datum::Int8(b)) => a.cmp(b),
        _ => widen(a).cmp(&widen(b)),
    }
}

/// An integer-like value as 64 bits.
#[inline]
pub fn widen(datum: &Datum) -> i64 {
    match datum {
        Datum::Int2(v) => i64::from(*v),
        Datum::Int4(v) => i64::from(*v),
        Datum::Int8(v) => *v,
        Datum::Oid(v) => i64::from(*v),
        Datum::Bool(v) => i64::from(*v),
        Datum::Char(v) => i64::from(*v),
        other => <i64 as FromDatum>::from_datum(other),
    }
}

/// Whether values of a type are stored as integers whose order and equality are theirs.
pub fn orders_as_integer(type_oid: Oid) -> bool {
    use crate::oids;
    [
        oids::bool,
        oids::char,
        oids::int2,
        oids::int4,
        oids::int8,
        oids::oid,
        oids::date,
        oids::time,
        oids::timestamp,
        oids::timestamptz,
        oids::money,
    ]
    .contains(&type_oid)
}

/// The bytes without the blanks at their end, which `bpchar` does not compare.
pub fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|b| *b != b' ').map_or(0, |i| i + 1);
    &bytes[..end]
}

fn object_ids(a: &Datum, b: &Datum) -> Ordering {
    u32::from_datum(a).cmp(&u32::from_datum(b))
}

/// A float of either width as a double.
pub fn double(datum: &Datum) -> f64 {
    match datum {
        Datum::Float4(v) => f64::from(*v),
        other => f64::from_datum(other),
    }
}

fn floats(a: &Datum, b: &Datum) -> Ordering {
    compare_floats(double(a), double(b))
}

/// PostgreSQL's order of floats: NaN equals itself and is above all, the two zeros are equal.
#[inline]
pub fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Block and line pointer of a stored `tid`.
pub fn tid_parts(bytes: &[u8]) -> (u32, u16) {
    match bytes {
        [a, b, c, d, e, f] => (u32::from_le_bytes([*a, *b, *c, *d]), u16::from_le_bytes([*e, *f])),
        _ => (0, 0),
    }
}

/// Spreads the bits of a word.
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// Hash of an integer-like value.
pub(crate) fn hash_integer(datum: &Datum) -> u64 {
    mix((widen(datum) as u64).wrapping_add(0x9E37_79B9_7F4A_7C15))
}

/// Hash of a byte string.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    hasher.write(bytes);
    mix(hasher.finish() ^ bytes.len() as u64)
}

fn hash_float(datum: &Datum) -> u64 {
    let value = double(datum);
    // The zeros are equal, and so are all NaNs.
    let bits = if value == 0.0 {
        0
    } else if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    };
    mix(bits.wrapping_add(1))
}

/// Hash of a number: of its value, not of its display scale.
pub fn hash_numeric(datum: &Datum) -> u64 {
    let payload = byte(datum);
    if payload.len() < 4 {
        return 0;
    }
    // Behind the scale: sign, weight and limbs.
    mix(hash_bytes(&payload[2..])
        ^ u64::from(payload[1] >> 6)
        ^ if payload[1] >= 0x80 { u64::from(payload[0]) << 8 } else { 0 })
}
