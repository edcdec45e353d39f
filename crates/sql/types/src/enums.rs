//! # What
//! Values of enums: order, hash, and the functions over `anyenum`. Labels are in the catalogs: the executor knows them.
//!
//! # Layout
//! A value is 8 bytes: the high half orders, the low half is the OID of the label's `pg_enum` row. The high half holds
//! `enumsortorder` (a float) as an integer of the same order, so values compare as integers, without a catalog.
//!
//! # Invariants
//! 1. The sort order of a label never changes, for it is in stored values: a label between two others gets a number between
//!    theirs.
//!
//! # PostgreSQL counterpart and differences
//! `enum.c`. There a value is the OID alone, and labels may be numbered anew; here a place between two neighbours is used up
//! after some twenty labels.

use tuple::Datum;

use crate::compare::integers;
use crate::registry::types::prelude::*;

/// Any enumeration, and what every one of them compares as.
pub(crate) static ANYENUM: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3504), Oid(3505), Oid(0), Oid(0)],
        len: 4,
        align: 4,
        ..TypeInfo::pseudo(oids::anyenum, "anyenum", Physical::Int8)
    }),
    compare: Some(integers),
    plain_order: true,
    equal: Some(|a, b| a == b),
    hash: Some(crate::compare::hash_integer),
    seeded_hash: Some(|value, seed| crate::hashing::hash_word(label_oid(value), seed)),
    ..TypeImp::NONE
};

functions! {
    3504 anyenum_in(cstring) -> anyenum [immutable strict] { input anyenum }
    3505 anyenum_out(anyenum) -> cstring [stable strict] { output anyenum }
    3508 enum_eq(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a == b }
    3509 enum_ne(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a != b }
    3510 enum_lt(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a < b }
    3511 enum_gt(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a > b }
    3512 enum_le(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a <= b }
    3513 enum_ge(anyenum, anyenum) -> bool [immutable strict] { |a: i64, b: i64| a >= b }
    3514 enum_cmp(anyenum, anyenum) -> int4 [immutable strict] { |a: i64, b: i64| a.cmp(&b) as i32 }
    3515 hashenum(anyenum) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::anyenum, a) }
    3414 hashenumextended(anyenum, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::anyenum, a, seed) }
    3524 enum_smaller(anyenum, anyenum) -> anyenum [immutable strict] { |a: &Datum, b: &Datum| if integers(a, b).is_lt() { a.clone() } else { b.clone() } }
    3525 enum_larger(anyenum, anyenum) -> anyenum [immutable strict] { |a: &Datum, b: &Datum| if integers(a, b).is_gt() { a.clone() } else { b.clone() } }
    3528 enum_first(anyenum) -> anyenum [stable] { session EnumFirst }
    3529 enum_last(anyenum) -> anyenum [stable] { session EnumLast }
    3530 enum_range(anyenum, anyenum) -> anyarray [stable] { session EnumRange }
    3531 enum_range(anyenum) -> anyarray [stable] { session EnumRange }
}

/// The value of the label with this `pg_enum.oid` and `enumsortorder`.
pub fn value(oid: u32, sort_order: f32) -> Datum {
    let bits = sort_order.to_bits() as i32;
    // Negative floats order backwards by their bits.
    let ordered = if bits < 0 { bits ^ i32::MAX } else { bits };
    Datum::Int8((i64::from(ordered) << 32) | i64::from(oid))
}

/// `pg_enum.oid` of a value's label.
pub fn label_oid(value: &Datum) -> u32 {
    crate::compare::widen(value) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_order_as_their_sort_orders() {
        let orders = [-8.0, -1.5, -1.0, -0.25, 0.0, 0.5, 1.0, 1.000_000_1, 2.0, 1000.0];
        for pair in orders.windows(2) {
            // A later label may have a smaller OID.
            let (a, b) = (value(900, pair[0]), value(100, pair[1]));
            assert!(integers(&a, &b).is_lt(), "{} {}", pair[0], pair[1]);
        }
        assert_eq!(label_oid(&value(u32::MAX, -3.0)), u32::MAX);
    }
}
