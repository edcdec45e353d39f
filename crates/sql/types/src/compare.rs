//! Order, equality and hash of every type that has them.
//!
//! Families of types that compare with each other share one comparison and one hash: integers; oid and its aliases;
//! text, varchar and name; timestamp and timestamptz.

use std::{
    cmp::Ordering,
    hash::{BuildHasher, Hasher},
};

use base::Oid;
use tuple::Datum;

use crate::{oids, registry::CompareFn, value::FromDatum};

/// See [`crate::registry::compare`].
pub fn compare(type_oid: Oid) -> Option<CompareFn> {
    Some(match type_oid {
        oids::int2 | oids::int4 | oids::int8 => integers,
        oids::date | oids::time | oids::timestamp | oids::timestamptz | oids::money => integers,
        oids::bit | oids::varbit => crate::bits::compare,
        oids::text
        | oids::varchar
        | oids::name
        | oids::bytea
        | oids::unknown
        | oids::cstring
        | oids::uuid
        | oids::macaddr
        | oids::macaddr8 => bytes,
        oids::inet | oids::cidr => crate::network::compare,
        oids::bpchar => padded,
        oids::folded => crate::text::compare_folded,
        oids::bool => bools,
        oids::char => chars,
        oids::float4 | oids::float8 => floats,
        oids::numeric => numerics,
        oids::xid8 | oids::pg_lsn => unsigned,
        oids::tid => tids,
        oids::interval => |a, b| crate::interval::compare(byte(a), byte(b)),
        oids::timetz => |a, b| crate::time::compare_timetz(byte(a), byte(b)),
        oids::oidvector => oid_vectors,
        oids::jsonb => crate::json::compare_datums,
        oids::anyenum => integers,
        oids::anyrange => crate::range::compare,
        oids::anymultirange => crate::range::compare_multi,
        oids::record => |a, b| crate::record::compare(byte(a), byte(b)),
        _ if is_oid_alias(type_oid) => object_ids,
        _ => {
            if let Some(family) = crate::range::pseudo_type(type_oid) {
                return compare(family);
            }
            let info = crate::registry::builtin_type(type_oid)?;
            if type_oid != oids::anyarray && (!info.is_array() || compare(info.element).is_none()) {
                return None;
            }
            arrays
        }
    })
}

/// See [`crate::registry::equal`].
pub fn equal(type_oid: Oid) -> Option<fn(&Datum, &Datum) -> bool> {
    Some(match type_oid {
        oids::int2
        | oids::int4
        | oids::int8
        | oids::date
        | oids::time
        | oids::timestamp
        | oids::timestamptz
        | oids::money => |a, b| integers(a, b).is_eq(),
        oids::bit | oids::varbit => |a, b| byte(a) == byte(b),
        oids::xid | oids::cid => |a, b| object_ids(a, b).is_eq(),
        oids::text
        | oids::varchar
        | oids::name
        | oids::bytea
        | oids::uuid
        | oids::macaddr
        | oids::macaddr8 => |a, b| byte(a) == byte(b),
        oids::inet | oids::cidr => |a, b| byte(a) == byte(b),
        oids::bpchar => |a, b| padded(a, b).is_eq(),
        oids::folded => |a, b| crate::text::compare_folded(a, b).is_eq(),
        oids::bool => |a, b| a == b,
        oids::char => |a, b| a == b,
        oids::float4 | oids::float8 => |a, b| floats(a, b).is_eq(),
        oids::numeric => |a, b| numerics(a, b).is_eq(),
        oids::xid8 | oids::pg_lsn => |a, b| a == b,
        oids::tid => |a, b| byte(a) == byte(b),
        oids::interval => |a, b| crate::interval::compare(byte(a), byte(b)).is_eq(),
        oids::timetz => |a, b| crate::time::compare_timetz(byte(a), byte(b)).is_eq(),
        oids::oidvector | oids::int2vector => |a, b| byte(a) == byte(b),
        oids::jsonb => |a, b| crate::json::compare_datums(a, b).is_eq(),
        oids::anyenum => |a, b| a == b,
        oids::anyrange => |a, b| crate::range::compare(a, b).is_eq(),
        oids::anymultirange => |a, b| crate::range::compare_multi(a, b).is_eq(),
        oids::record => |a, b| crate::record::compare(byte(a), byte(b)).is_eq(),
        _ if is_oid_alias(type_oid) => |a, b| object_ids(a, b).is_eq(),
        _ => {
            if let Some(family) = crate::range::pseudo_type(type_oid) {
                return equal(family);
            }
            compare(type_oid)?;
            |a, b| arrays(a, b).is_eq()
        }
    })
}

/// See [`crate::registry::hash`].
pub fn hash(type_oid: Oid) -> Option<fn(&Datum) -> u64> {
    Some(match type_oid {
        oids::int2 | oids::int4 | oids::int8 => hash_integer,
        oids::date | oids::time | oids::timestamp | oids::timestamptz => hash_integer,
        oids::xid | oids::cid | oids::bool | oids::char | oids::xid8 | oids::pg_lsn => hash_integer,
        oids::text
        | oids::varchar
        | oids::name
        | oids::bytea
        | oids::uuid
        | oids::tid
        | oids::macaddr
        | oids::macaddr8 => hash_byte_string,
        oids::oidvector | oids::int2vector | oids::inet | oids::cidr => hash_byte_string,
        oids::bpchar => |a| hash_bytes(trim_blanks(byte(a))),
        oids::folded => crate::text::hash_folded,
        oids::float4 | oids::float8 => hash_float,
        oids::numeric => hash_numeric,
        oids::interval => |a| crate::interval::hash(byte(a)),
        oids::timetz => |a| hash_bytes(byte(a)),
        oids::jsonb => crate::json::hash_datum,
        oids::anyenum => hash_integer,
        oids::anyrange => crate::range::hash,
        oids::anymultirange => crate::range::hash_multi,
        oids::record => |a| crate::record::hash(byte(a)),
        _ if is_oid_alias(type_oid) => hash_integer,
        _ => {
            if let Some(family) = crate::range::pseudo_type(type_oid) {
                return hash(family);
            }
            let info = crate::registry::builtin_type(type_oid)?;
            if type_oid != oids::anyarray && (!info.is_array() || hash(info.element).is_none()) {
                return None;
            }
            |a| crate::array::hash(byte(a))
        }
    })
}

/// `oid` and the types that are stored and compared as it is.
pub fn is_oid_alias(type_oid: Oid) -> bool {
    matches!(
        type_oid,
        oids::oid
            | oids::regclass
            | oids::regtype
            | oids::regproc
            | oids::regprocedure
            | oids::regoper
            | oids::regoperator
            | oids::regnamespace
            | oids::regrole
            | oids::regcollation
            | oids::regconfig
            | oids::regdictionary
    )
}

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

fn bytes(a: &Datum, b: &Datum) -> Ordering {
    byte(a).cmp(byte(b))
}

/// The bytes without the blanks at their end, which `bpchar` does not compare.
pub fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|b| *b != b' ').map_or(0, |i| i + 1);
    &bytes[..end]
}

fn padded(a: &Datum, b: &Datum) -> Ordering {
    trim_blanks(byte(a)).cmp(trim_blanks(byte(b)))
}

fn bools(a: &Datum, b: &Datum) -> Ordering {
    bool::from_datum(a).cmp(&bool::from_datum(b))
}

fn chars(a: &Datum, b: &Datum) -> Ordering {
    u8::from_datum(a).cmp(&u8::from_datum(b))
}

fn object_ids(a: &Datum, b: &Datum) -> Ordering {
    u32::from_datum(a).cmp(&u32::from_datum(b))
}

fn unsigned(a: &Datum, b: &Datum) -> Ordering {
    (i64::from_datum(a) as u64).cmp(&(i64::from_datum(b) as u64))
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

fn numerics(a: &Datum, b: &Datum) -> Ordering {
    crate::numeric::compare_payloads(byte(a), byte(b))
}

/// Block and line pointer of a stored `tid`.
pub fn tid_parts(bytes: &[u8]) -> (u32, u16) {
    match bytes {
        [a, b, c, d, e, f] => (u32::from_le_bytes([*a, *b, *c, *d]), u16::from_le_bytes([*e, *f])),
        _ => (0, 0),
    }
}

fn tids(a: &Datum, b: &Datum) -> Ordering {
    tid_parts(byte(a)).cmp(&tid_parts(byte(b)))
}

fn oid_vectors(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (crate::array::oid_vector(byte(a)), crate::array::oid_vector(byte(b)));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

fn arrays(a: &Datum, b: &Datum) -> Ordering {
    crate::array::compare(byte(a), byte(b))
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

fn hash_integer(datum: &Datum) -> u64 {
    mix((widen(datum) as u64).wrapping_add(0x9E37_79B9_7F4A_7C15))
}

/// Hash of a byte string.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    hasher.write(bytes);
    mix(hasher.finish() ^ bytes.len() as u64)
}

fn hash_byte_string(datum: &Datum) -> u64 {
    hash_bytes(byte(datum))
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
