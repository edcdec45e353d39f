//! Texts that compare without regard to case, as lower-case letters do: what `citext` is made of.

use std::cmp::Ordering;

use tuple::Datum;

use super::functions::folded;
use crate::registry::types::TypeImp;
use crate::value::FromDatum;

/// Texts that compare without regard to case. No type of a catalog: those of users compare as it.
pub(crate) static FOLDED: TypeImp = TypeImp {
    compare: Some(compare),
    equal: Some(|a, b| compare(a, b).is_eq()),
    hash: Some(hash),
    seeded_hash: Some(|value, seed| {
        crate::hashing::hash_value(
            crate::oids::text,
            &Datum::text(&in_lower_case(<&str>::from_datum(value))),
            seed,
        )
    }),
    ..crate::registry::types::MADE
};

functions! {
    9961 citext_lt(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_lt() }
    9962 citext_le(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_le() }
    9963 citext_eq(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_eq() }
    9964 citext_ne(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_ne() }
    9965 citext_ge(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_ge() }
    9966 citext_gt(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_gt() }
    9967 citext_cmp(folded, folded) -> int4 [immutable strict] { |a: &str, b: &str| ordering(a, b) as i32 }
    9968 citext_hash(folded) -> int4 [immutable strict] { |a: &str| hash32(a) }
    9969 citext_smaller(folded, folded) -> folded [immutable strict] { |a: &str, b: &str| if ordering(a, b).is_lt() { a } else { b } }
    9970 citext_larger(folded, folded) -> folded [immutable strict] { |a: &str, b: &str| if ordering(a, b).is_gt() { a } else { b } }
    9971 citext_pattern_lt(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_lt() }
    9972 citext_pattern_le(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_le() }
    9973 citext_pattern_ge(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_ge() }
    9974 citext_pattern_gt(folded, folded) -> bool [immutable strict] { |a: &str, b: &str| ordering(a, b).is_gt() }
    9975 citext_pattern_cmp(folded, folded) -> int4 [immutable strict] { |a: &str, b: &str| ordering(a, b) as i32 }
}

/// Order of two texts in lower case.
fn ordering(a: &str, b: &str) -> Ordering {
    // Most texts that are looked up are spelled alike.
    if a == b { Ordering::Equal } else { a.chars().map(folded).cmp(b.chars().map(folded)) }
}

/// Order of two values.
fn compare(a: &Datum, b: &Datum) -> Ordering {
    ordering(<&str>::from_datum(a), <&str>::from_datum(b))
}

fn in_lower_case(text: &str) -> String {
    text.chars().map(folded).collect()
}

/// Hash of a value: equal values have equal ones.
fn hash(a: &Datum) -> u64 {
    crate::compare::hash_bytes(in_lower_case(<&str>::from_datum(a)).as_bytes())
}

/// The hash that SQL sees: that of the text in lower case.
fn hash32(text: &str) -> i32 {
    crate::hashing::hash32(crate::oids::text, &Datum::text(&in_lower_case(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_makes_no_difference() {
        let (a, b) = (Datum::text("Straße ÄÖ"), Datum::text("sTRAßE äö"));
        assert_eq!(compare(&a, &b), Ordering::Equal);
        assert_eq!(hash(&a), hash(&b));
        assert_eq!(compare(&Datum::text("B"), &Datum::text("a")), Ordering::Greater);
        assert_eq!(compare(&Datum::text("a"), &Datum::text("AB")), Ordering::Less);
    }
}
