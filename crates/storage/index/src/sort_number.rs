//! Numbers that entries sort by: most comparisons of a build are of two of these.
//!
//! The values of the key columns are concatenated, each with a bit for NULL in front, as far as 64 bits go. What is cut off, and values without a number, are left to
//! [`compare_entries`](crate::IndexAccessMethod::compare_entries) to tell.

use tuple::{Datum, sortable_float};

use crate::desc::{Compare, KeyColumn, as_bytes, as_float, as_int};

/// A number for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortNumber {
    /// An entry with a smaller one comes first.
    pub number: u64,
    /// Entries with this number, all of which say so, differ in their TIDs only.
    pub whole: bool,
}

impl SortNumber {
    /// Of an entry of which nothing is known.
    pub const NONE: SortNumber = SortNumber { number: 0, whole: false };

    /// By the values of key columns.
    pub fn of(keys: &[KeyColumn], values: &[Datum]) -> SortNumber {
        let mut number = Bits { bits: 0, left: u64::BITS };
        for (key, value) in keys.iter().zip(values) {
            let whole = match key.compare {
                Compare::Bool => number.put(key, value, 1, |value| as_int(value).map(|n| n as u64)),
                Compare::Char => number.put(key, value, 8, |value| as_int(value).map(|n| n as u64)),
                Compare::Int2 => number.put(key, value, 16, |value| signed(value, 16)),
                Compare::Int4 => number.put(key, value, 32, |value| signed(value, 32)),
                Compare::Int8 => number.put(key, value, 64, |value| signed(value, 64)),
                Compare::Oid => number.put(key, value, 32, |value| as_int(value).map(|n| n as u64)),
                Compare::Float4 | Compare::Float8 => {
                    number.put(key, value, 64, |value| as_float(value).map(sortable_float))
                }
                Compare::Bytes => {
                    number.put(key, value, 64, |value| as_bytes(value).map(leading)) && value.is_null()
                }
                Compare::By(order) => {
                    number.put(key, value, 64, |value| (!value.is_null()).then(|| order.leading(value)))
                        && value.is_null()
                }
                Compare::With(_) => number.put_null(key, value) && value.is_null(),
            };
            if !whole {
                return SortNumber { number: number.bits, whole: false };
            }
        }
        SortNumber { number: number.bits, whole: true }
    }
}

/// A signed integer of so many bits.
fn signed(value: &Datum, width: u32) -> Option<u64> {
    as_int(value).map(|n| (n as u64).wrapping_add(1 << (width - 1)))
}

/// The first bytes, the first one on top.
fn leading(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let n = bytes.len().min(8);
    head[..n].copy_from_slice(&bytes[..n]);
    u64::from_be_bytes(head)
}

/// Bits put one behind the other, from the top.
struct Bits {
    bits: u64,
    left: u32,
}

impl Bits {
    /// A column, whose values take `width` bits by `bits_of`. Whether there was room for all of it.
    fn put(
        &mut self,
        key: &KeyColumn,
        value: &Datum,
        width: u32,
        bits_of: impl Fn(&Datum) -> Option<u64>,
    ) -> bool {
        if !self.put_null(key, value) {
            return false;
        }
        let mask = u64::MAX >> (u64::BITS - width);
        let bits = match bits_of(value) {
            // Values of NULLs are all the same.
            None => 0,
            Some(bits) if key.descending => !bits & mask,
            Some(bits) => bits & mask,
        };
        self.push(bits, width)
    }

    /// Only whether it is NULL.
    fn put_null(&mut self, key: &KeyColumn, value: &Datum) -> bool {
        self.push(u64::from(value.is_null() != key.nulls_first), 1)
    }

    fn push(&mut self, bits: u64, width: u32) -> bool {
        if width <= self.left {
            self.left -= width;
            self.bits |= bits << self.left;
            return true;
        }
        self.bits |= bits >> (width - self.left);
        self.left = 0;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::desc::{OrderBy, compare_column};

    fn check(keys: &[KeyColumn], rows: &[Vec<Datum>]) {
        for a in rows {
            for b in rows {
                let order = keys
                    .iter()
                    .zip(a.iter().zip(b))
                    .map(|(key, (a, b))| compare_column(key, a, b))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal);
                let (x, y) = (SortNumber::of(keys, a), SortNumber::of(keys, b));
                let numbers = x.number.cmp(&y.number);
                assert!(numbers == order || numbers.is_eq() && !(x.whole && y.whole), "{keys:?} {a:?} {b:?}");
            }
        }
    }

    /// Every value of each list under every direction, beside values of another column.
    fn check_all(compare: Compare, values: &[Datum]) {
        let second = [Datum::Null, Datum::Int4(i32::MIN), Datum::Int4(-1), Datum::Int4(0), Datum::Int4(1)];
        let all: Vec<Datum> = values.iter().cloned().chain([Datum::Null]).collect();
        let rows: Vec<Vec<Datum>> =
            all.iter().flat_map(|a| second.iter().map(|b| vec![a.clone(), b.clone()])).collect();
        for (descending, nulls_first) in [(false, false), (false, true), (true, false), (true, true)] {
            let first = KeyColumn { compare, descending, nulls_first };
            let other = KeyColumn { compare: Compare::Int4, ..first };
            check(&[first], &rows);
            check(&[first, other], &rows);
            check(
                &[other, first],
                &rows.iter().map(|row| vec![row[1].clone(), row[0].clone()]).collect::<Vec<_>>(),
            );
        }
    }

    /// Integers, of which the numbers do not tell even from odd ones.
    #[derive(Debug)]
    struct Evens;

    impl OrderBy for Evens {
        fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
            as_int(a).cmp(&as_int(b))
        }

        fn leading(&self, value: &Datum) -> u64 {
            signed(value, 64).unwrap_or_default() >> 1
        }
    }

    #[test]
    fn numbers_never_contradict_the_order() {
        let ints = |make: fn(i64) -> Datum, all: &[i64]| all.iter().map(|n| make(*n)).collect::<Vec<_>>();
        check_all(Compare::Bool, &[Datum::Bool(false), Datum::Bool(true)]);
        check_all(Compare::Char, &[Datum::Char(0), Datum::Char(127), Datum::Char(255)]);
        let small = [-32768, -1, 0, 1, 2, 32767];
        check_all(Compare::Int2, &ints(|n| Datum::Int2(n as i16), &small));
        let medium = [i64::from(i32::MIN), -1, 0, 1, i64::from(i32::MAX)];
        check_all(Compare::Int4, &ints(|n| Datum::Int4(n as i32), &medium));
        check_all(
            Compare::Int8,
            &ints(Datum::Int8, &[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
        );
        check_all(Compare::Oid, &[Datum::Oid(0), Datum::Oid(1), Datum::Oid(u32::MAX)]);
        let floats =
            [f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::MIN_POSITIVE, 1.5, f64::INFINITY, f64::NAN, -f64::NAN];
        check_all(Compare::Float8, &floats.map(Datum::Float8));
        check_all(Compare::Float4, &floats.map(|v| Datum::Float4(v as f32)));
        let texts = ["", "\0", "a", "a\0", "ab", "abcdefgh", "abcdefg", "abcdefgha", "abcdefghb", "\u{ff}"];
        check_all(Compare::Bytes, &texts.map(Datum::text));
        check_all(Compare::By(&Evens), &ints(Datum::Int8, &[-3, 0, 1, 4, 5, 6]));
        check_all(Compare::With(|a, b| as_int(a).cmp(&as_int(b))), &ints(Datum::Int8, &[-3, 0, 5]));
    }

    #[test]
    fn small_columns_are_told_whole() {
        let keys = [Compare::Int4, Compare::Int2].map(KeyColumn::ascending);
        assert!(SortNumber::of(&keys, &[Datum::Int4(5), Datum::Null]).whole);
        let keys = [Compare::Int4, Compare::Int4].map(KeyColumn::ascending);
        assert!(!SortNumber::of(&keys, &[Datum::Int4(5), Datum::Int4(5)]).whole);
        assert!(!SortNumber::of(&[KeyColumn::ascending(Compare::Bytes)], &[Datum::text("a")]).whole);
    }
}
