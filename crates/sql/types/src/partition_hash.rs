//! # What
//! Hashes that decide which partition of a hash-partitioned table takes a row.
//!
//! They are stored in where rows lie, so they never change: Bob Jenkins' `lookup3` with PostgreSQL's start values, which makes rows fall
//! into the partitions that PostgreSQL would choose, for types of numbers, text, dates and the like. Other types use the hash of their equality.

use base::Oid;
use tuple::Datum;

use crate::oids;

/// Start value of every key's hash.
const SEED: u64 = 0x7A5B_2236_7996_DCFD;
/// What the three words start from, besides the length.
const START: u32 = 0x9e37_79b9_u32.wrapping_add(3_923_095);

fn mix([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for by in [4, 6, 8, 16, 19, 4] {
        a = a.wrapping_sub(c) ^ c.rotate_left(by);
        c = c.wrapping_add(b);
        // Each step is the one before with the words' roles moved on.
        [a, b, c] = [b, c, a];
    }
    [a, b, c]
}

fn finish([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    let step = |x: u32, y: u32, by: u32| (x ^ y).wrapping_sub(y.rotate_left(by));
    c = step(c, b, 14);
    a = step(a, c, 11);
    b = step(b, a, 25);
    c = step(c, b, 16);
    a = step(a, c, 4);
    b = step(b, a, 14);
    c = step(c, b, 24);
    [a, b, c]
}

fn start(length: usize) -> [u32; 3] {
    let word = START.wrapping_add(length as u32);
    mix([word.wrapping_add((SEED >> 32) as u32), word.wrapping_add(SEED as u32), word])
}

fn result([_, b, c]: [u32; 3]) -> u64 {
    u64::from(b) << 32 | u64::from(c)
}

fn of_word(word: u32) -> u64 {
    let [a, b, c] = start(4);
    result(finish([a.wrapping_add(word), b, c]))
}

fn of_bytes(bytes: &[u8]) -> u64 {
    let mut state = start(bytes.len());
    let word = |b: &[u8]| b.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
    let mut blocks = bytes.chunks_exact(12);
    for block in &mut blocks {
        for (word_of, part) in state.iter_mut().zip(block.chunks(4)) {
            *word_of = word_of.wrapping_add(word(part));
        }
        state = mix(state);
    }
    let rest = blocks.remainder();
    let part = |from: usize, to: usize| rest.get(from..rest.len().min(to)).map_or(0, word);
    state[0] = state[0].wrapping_add(part(0, 4));
    state[1] = state[1].wrapping_add(part(4, 8));
    // The lowest byte of the third word is the length's.
    state[2] = state[2].wrapping_add(part(8, 11) << 8);
    result(finish(state))
}

fn of_int8(value: i64) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    of_word(low ^ if value >= 0 { high } else { !high })
}

/// Hash of a value of type `ty` that is not NULL; none if the type cannot be hashed.
pub fn partition_hash(ty: Oid, value: &Datum) -> Option<u64> {
    Some(match value {
        Datum::Bool(v) => of_word(u32::from(*v)),
        Datum::Char(v) => of_word(i32::from(*v as i8) as u32),
        Datum::Int2(v) => of_word(i32::from(*v) as u32),
        Datum::Int4(v) => of_word(*v as u32),
        Datum::Int8(v) => of_int8(*v),
        Datum::Oid(v) => of_word(*v),
        Datum::Float4(v) => of_float(f64::from(*v)),
        Datum::Float8(v) => of_float(*v),
        Datum::Bytes(bytes) => match ty {
            oids::text | oids::varchar | oids::name | oids::bytea | oids::uuid => of_bytes(bytes),
            oids::bpchar => of_bytes(crate::compare::trim_blanks(bytes)),
            _ => of_int8(crate::hash(ty)?(value) as i64),
        },
        _ => of_int8(crate::hash(ty)?(value) as i64),
    })
}

fn of_float(value: f64) -> u64 {
    match value {
        0.0 => SEED,
        v if v.is_nan() => of_bytes(&f64::NAN.to_bits().to_le_bytes()),
        v => of_bytes(&v.to_bits().to_le_bytes()),
    }
}

/// The hash of a row so far and that of its next key.
pub fn combine(row: u64, key: u64) -> u64 {
    row ^ key.wrapping_add(0x49a0_f4dd_15e5_a8e3).wrapping_add(row << 54).wrapping_add(row >> 7)
}

#[cfg(test)]
mod tests {
    use super::*;

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
