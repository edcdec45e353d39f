//! Hash values that SQL sees: those of the support functions of the hash operator classes, which hash partitioning is built on
//! too. They are PostgreSQL's, so that rows go where its users expect them.
//!
//! The function is Bob Jenkins's `lookup3`, with a seed of 64 bits mixed in first. A value of 32 bits is the low half of that with
//! seed 0. Joins and aggregates inside the server use the faster [`crate::compare::hash`].

use base::{Oid, SqlError, sql_err};
use tuple::Datum;

use crate::{
    call::{Call, RegKind},
    compare::{double, tid_parts, widen},
    json::binary::{Json, Kind},
    json::walk::{Step, Walk},
    numeric::Numeric,
    registry::type_imp,
    value::FromDatum,
};

/// The three words that `lookup3` works on.
struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    /// The start for so many bytes of input.
    fn new(length: usize, seed: u64) -> State {
        let start = 0x9e37_79b9u32.wrapping_add(length as u32).wrapping_add(3_923_095);
        let mut state = State { a: start, b: start, c: start };
        if seed != 0 {
            state.a = state.a.wrapping_add((seed >> 32) as u32);
            state.b = state.b.wrapping_add(seed as u32);
            state.mix();
        }
        state
    }

    fn add(&mut self, a: u32, b: u32, c: u32) {
        self.a = self.a.wrapping_add(a);
        self.b = self.b.wrapping_add(b);
        self.c = self.c.wrapping_add(c);
    }

    fn mix(&mut self) {
        let State { a, b, c } = self;
        let step = |x: &mut u32, y: &mut u32, z: u32, bits: u32| {
            *x = x.wrapping_sub(*y) ^ y.rotate_left(bits);
            *y = y.wrapping_add(z);
        };
        step(a, c, *b, 4);
        step(b, a, *c, 6);
        step(c, b, *a, 8);
        step(a, c, *b, 16);
        step(b, a, *c, 19);
        step(c, b, *a, 4);
    }

    fn finish(mut self) -> u64 {
        let State { a, b, c } = &mut self;
        let step = |x: &mut u32, y: u32, bits: u32| *x = (*x ^ y).wrapping_sub(y.rotate_left(bits));
        step(c, *b, 14);
        step(a, *c, 11);
        step(b, *a, 25);
        step(c, *b, 16);
        step(a, *c, 4);
        step(b, *a, 14);
        step(c, *b, 24);
        u64::from(self.b) << 32 | u64::from(self.c)
    }
}

/// Hash of a byte string.
pub fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let mut state = State::new(bytes.len(), seed);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let mut blocks = bytes.chunks_exact(12);
    for block in &mut blocks {
        state.add(word(&block[..4]), word(&block[4..8]), word(&block[8..]));
        state.mix();
    }
    let mut tail = [0u8; 12];
    let rest = blocks.remainder();
    tail[..rest.len()].copy_from_slice(rest);
    // The lowest byte of the third word is left to the length.
    state.add(word(&tail[..4]), word(&tail[4..8]), word(&tail[8..]) << 8);
    state.finish()
}

pub(crate) fn hash_word(value: u32, seed: u64) -> u64 {
    let mut state = State::new(4, seed);
    state.add(value, 0, 0);
    state.finish()
}

/// Integers of all widths that have the same value hash equal.
pub(crate) fn hash_wide(value: i64, seed: u64) -> u64 {
    let high = (value >> 32) as u32;
    hash_word(value as u32 ^ if value >= 0 { high } else { !high }, seed)
}

fn hash_float(value: f64, seed: u64) -> u64 {
    if value == 0.0 {
        return seed;
    }
    let value = if value.is_nan() { f64::NAN } else { value };
    hash_bytes(&value.to_le_bytes(), seed)
}

pub(crate) fn hash_numeric(value: &Numeric, seed: u64) -> u64 {
    if !value.is_finite() {
        return seed;
    }
    if value.limbs.is_empty() {
        return seed.wrapping_sub(1);
    }
    let digits: Vec<u8> = value.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    hash_bytes(&digits, seed) ^ i64::from(value.weight) as u64
}

pub(crate) fn hash_tid(bytes: &[u8], seed: u64) -> u64 {
    let (block, offset) = tid_parts(bytes);
    let mut parts = [0; 6];
    parts[..2].copy_from_slice(&((block >> 16) as u16).to_le_bytes());
    parts[2..4].copy_from_slice(&(block as u16).to_le_bytes());
    parts[4..].copy_from_slice(&offset.to_le_bytes());
    hash_bytes(&parts, seed)
}

pub(crate) fn hash_timetz(bytes: &[u8], seed: u64) -> u64 {
    let (time, zone) = crate::time::timetz_parts(bytes);
    hash_wide(time, seed) ^ hash_word(zone as u32, seed)
}

pub(crate) fn hash_network(bytes: &[u8], seed: u64) -> u64 {
    let mut parts = bytes.to_vec();
    if let Some(family) = parts.first_mut() {
        *family = if *family == 6 { 3 } else { 2 };
    }
    hash_bytes(&parts, seed)
}

/// Hash of parts after one another; a NULL counts as 0.
pub(crate) fn hash_list(start: u64, parts: impl Iterator<Item = Option<u64>>) -> u64 {
    parts.fold(start, |sum, part| sum.wrapping_mul(31).wrapping_add(part.unwrap_or(0)))
}

pub(crate) fn hash_json(value: &Datum, seed: u64) -> u64 {
    const ARRAY: u64 = 0x4000_0000;
    const OBJECT: u64 = 0x2000_0000;
    let both = |flag: u64| flag << 32 | flag;
    let turned = |hash: u64| {
        let (high, low) = ((hash >> 32) as u32, hash as u32);
        u64::from(high.rotate_left(1)) << 32 | u64::from(low.rotate_left(1))
    };
    let mut hash = 0;
    let root = Json::from_datum(value);
    if !root.is_scalar() && root.is_empty() {
        return seed;
    }
    // A document that is a scalar is an array of one.
    if root.is_scalar() {
        hash ^= both(ARRAY);
    }
    for step in Walk::of(root) {
        let part = match step {
            Step::Open(node) => {
                hash ^= both(if node.kind() == Kind::Object { OBJECT } else { ARRAY });
                continue;
            }
            Step::Close(_) => continue,
            Step::Key(key) => hash_bytes(key, seed),
            Step::Scalar(node) => match node.kind() {
                Kind::String => hash_bytes(node.text().as_bytes(), seed),
                Kind::Number => hash_numeric(&Numeric::from_payload(node.number_payload()), seed),
                Kind::Bool(value) if seed != 0 => hash_word(value.into(), seed),
                Kind::Bool(true) => 2,
                Kind::Bool(false) => 4,
                _ => 1u64.wrapping_add(seed),
            },
        };
        hash = turned(hash) ^ part;
    }
    hash
}

/// Hash of a value by its physical class alone.
pub(crate) fn plain(value: &Datum, seed: u64) -> u64 {
    match value {
        Datum::Bool(_) | Datum::Int2(_) | Datum::Int4(_) | Datum::Oid(_) => {
            hash_word(widen(value) as u32, seed)
        }
        Datum::Int8(v) => hash_wide(*v, seed),
        Datum::Float4(_) | Datum::Float8(_) => hash_float(double(value), seed),
        Datum::Bytes(bytes) => hash_bytes(bytes, seed),
        _ => seed,
    }
}

/// Hash of a value that is not NULL; the type is built in, or the one that a user's type compares as.
pub fn hash_value(type_oid: Oid, value: &Datum, seed: u64) -> u64 {
    (type_imp(type_oid).seeded_hash.unwrap_or(plain))(value, seed)
}

/// The error for a type without hash.
pub(crate) fn no_hash(cx: &Call, type_oid: Oid) -> SqlError {
    let name = crate::format_type(type_oid, None)
        .or_else(|| cx.session.reg_name(RegKind::Type, type_oid))
        .unwrap_or_else(|| type_oid.to_string());
    sql_err!(UNDEFINED_FUNCTION, "could not identify a hash function for type {name}")
}

/// What a support function gives.
pub fn hash32(type_oid: Oid, value: &Datum) -> i32 {
    hash_value(type_oid, value, 0) as i32
}

/// What a support function with a seed gives.
pub fn hash64(type_oid: Oid, value: &Datum, seed: i64) -> i64 {
    hash_value(type_oid, value, seed as u64) as i64
}

/// The seed of hash partitioning.
pub const PARTITION_SEED: u64 = 0x7A5B_2236_7996_DCFD;

/// Hash of a partition key's value that is not NULL; none if the type cannot be hashed. Rows lie where it says: it never changes.
pub fn partition_hash(type_oid: Oid, value: &Datum) -> Option<u64> {
    type_imp(type_oid).seeded_hash.map(|hash| hash(value, PARTITION_SEED))
}

/// The hash of a partition key so far and that of its next column.
pub fn combine(row: u64, column: u64) -> u64 {
    row ^ column.wrapping_add(0x49a0_f4dd_15e5_a8e3).wrapping_add(row << 54).wrapping_add(row >> 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oids;

    /// What PostgreSQL's functions give for the same seed.
    #[test]
    fn rows_fall_where_postgresql_puts_them() {
        let text = |s: &str| partition_hash(oids::text, &Datum::text(s)).map(|h| h as i64);
        assert_eq!(partition_hash(oids::int4, &Datum::Int4(1)).map(|h| h as i64), Some(5968994663651403477));
        assert_eq!(partition_hash(oids::int8, &Datum::Int8(-5)).map(|h| h as i64), Some(5466844944386338076));
        assert_eq!(
            partition_hash(oids::float8, &Datum::Float8(1.5)).map(|h| h as i64),
            Some(-2826383321045882978)
        );
        assert_eq!(text("ab"), Some(596009030900183869));
        assert_eq!(text("abcdefghijklmnop"), Some(-2963246452690924729));
    }
}
