//! GIN over arrays: `array_ops`. The parts of an array are its elements.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Mutex;

use base::{Oid, SqlError};
use collation::Rules;
use tuple::parts::{Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::tree::{Match, TreeQuery};
use tuple::{Bytes, Datum, Physical};

use super::Elements;
use crate::comparator::{Comparator, Order};
use crate::value::bytes_of;

/// Strategy numbers.
mod strategy {
    pub const OVERLAPS: u16 = 1;
    pub const CONTAINS: u16 = 2;
    pub const WITHIN: u16 = 3;
}

/// Arrays of one element type under one collation.
#[derive(Debug)]
struct Arrays {
    /// Order of the elements, where bytes do not tell.
    order: Option<Order>,
}

/// `array_ops` for elements of a type, built-in or the one that it compares as. One is made for each type and rules, and stays, as the rules do.
pub(crate) fn class_of(element: Oid, rules: &'static Rules) -> Option<&'static dyn PartsClass> {
    static MADE: Mutex<BTreeMap<(Oid, u32), &'static Arrays>> = Mutex::new(BTreeMap::new());
    let order = Comparator::of(element, rules).order?;
    // Numbers become bytes that are equal if they are.
    let plain = crate::builtin_type(element).is_some_and(|info| !is_kept_as_bytes(info.physical));
    let order = (!plain && !Comparator::is_bitwise(element, rules)).then_some(order);
    let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let class =
        made.entry((element, rules.number())).or_insert_with(|| Box::leak(Box::new(Arrays { order })));
    Some(*class)
}

fn is_kept_as_bytes(physical: Physical) -> bool {
    matches!(physical, Physical::Varlena | Physical::Name | Physical::Fixed(_))
}

/// An element as bytes: numbers so that their order is that of the bytes, and equal ones are the same.
fn key(element: &Datum) -> Part {
    Some(match element {
        Datum::Null | Datum::Toasted(_) => return None,
        Datum::Bool(value) => Bytes::new(&[u8::from(*value)]),
        Datum::Char(value) => Bytes::new(&[*value]),
        Datum::Int2(value) => Bytes::new(&(*value ^ i16::MIN).to_be_bytes()),
        Datum::Int4(value) => Bytes::new(&(*value ^ i32::MIN).to_be_bytes()),
        Datum::Int8(value) => Bytes::new(&(*value ^ i64::MIN).to_be_bytes()),
        Datum::Oid(value) => Bytes::new(&value.to_be_bytes()),
        Datum::Float4(value) => float(f64::from(*value)),
        Datum::Float8(value) => float(*value),
        Datum::Bytes(bytes) => bytes.clone(),
    })
}

fn float(value: f64) -> Bytes {
    let value = if value.is_nan() { f64::NAN.abs() } else { value + 0.0 };
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    Bytes::new(&ordered.to_be_bytes())
}

fn elements(array: &Datum) -> Elements {
    Elements::new(bytes_of(array))
}

impl PartsClass for Arrays {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.order {
            None => a.cmp(b),
            Some(_) if a == b => Ordering::Equal,
            Some(order) => order.compare(&Datum::Bytes(Bytes::new(a)), &Datum::Bytes(Bytes::new(b))),
        }
    }

    fn orders_bytes(&self) -> bool {
        self.order.is_none()
    }

    fn equal_image(&self) -> bool {
        self.order.is_none()
    }

    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        out.extend(elements(value).map(|element| key(&element)));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let parts: Vec<Part> = elements(query.value).map(|element| key(&element)).collect();
        let (all, nulls) = (parts.len(), parts.iter().any(Option::is_none));
        let mut sought: Vec<Sought> = parts.into_iter().map(Sought::exactly).collect();
        let kind = match query.strategy {
            strategy::OVERLAPS => Kind::Overlaps,
            strategy::CONTAINS => Kind::Contains,
            strategy::WITHIN => Kind::Within,
            _ => Kind::Equals,
        };
        let mode = match kind {
            Kind::Contains if all == 0 => SearchMode::All,
            Kind::Within => SearchMode::SomeOrEmpty,
            Kind::Equals if all == 0 => SearchMode::SomeOrEmpty,
            _ => SearchMode::Some,
        };
        match kind {
            // NULL is equal to nothing.
            Kind::Contains if nulls => sought.clear(),
            Kind::Overlaps | Kind::Within => sought.retain(|sought| sought.part.is_some()),
            _ => {}
        }
        sought.sort_by(|a, b| a.part.as_deref().cmp(&b.part.as_deref()));
        sought.dedup();
        Ok(Box::new(Query { kind, mode, sought }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Overlaps,
    Contains,
    Within,
    Equals,
}

#[derive(Debug)]
struct Query {
    kind: Kind,
    mode: SearchMode,
    sought: Vec<Sought>,
}

/// Whether all parts are there.
pub(crate) fn all_of(present: &[Match]) -> Match {
    present.iter().copied().min_by_key(|found| rank(*found)).unwrap_or(Match::Yes)
}

/// Whether one part at least is there.
pub(crate) fn any_of(present: &[Match]) -> Match {
    present.iter().copied().max_by_key(|found| rank(*found)).unwrap_or(Match::No)
}

fn rank(found: Match) -> u8 {
    match found {
        Match::No => 0,
        Match::Maybe => 1,
        Match::Yes => 2,
    }
}

/// What is known if it is to be checked again anyway.
pub(crate) fn at_most_maybe(found: Match) -> Match {
    if found == Match::Yes { Match::Maybe } else { found }
}

impl PartsQuery for Query {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        self.mode
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        match self.kind {
            Kind::Overlaps => any_of(present),
            Kind::Contains => all_of(present),
            Kind::Within => Match::Maybe,
            Kind::Equals => at_most_maybe(all_of(present)),
        }
    }
}

functions! {
    2743 ginarrayextract(anyarray, internal, internal) -> internal [immutable strict] { catalog_only }
    2744 ginarrayconsistent(internal, int2, anyarray, int4, internal, internal, internal, internal) -> bool [immutable strict] { catalog_only }
    2774 ginqueryarrayextract(anyarray, internal, int2, internal, internal, internal, internal) -> internal [immutable strict] { catalog_only }
    3076 ginarrayextract(anyarray, internal) -> internal [immutable strict] { catalog_only }
    3920 ginarraytriconsistent(internal, int2, anyarray, int4, internal, internal, internal) -> char [immutable strict] { catalog_only }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_numbers() {
        let ordered = |values: &[Datum]| {
            let keys: Vec<Bytes> = values.iter().map(|value| key(value).unwrap()).collect();
            assert!(keys.is_sorted_by(|a, b| a[..] < b[..]), "{values:?}: {keys:?}");
        };
        ordered(&[i32::MIN, -1, 0, 1, i32::MAX].map(Datum::Int4));
        ordered(&[i64::MIN, -1, 0, 1, i64::MAX].map(Datum::Int8));
        ordered(&[i16::MIN, -1, 0, 1, i16::MAX].map(Datum::Int2));
        ordered(&[f64::NEG_INFINITY, -1.5, 0.0, 1.5, f64::INFINITY, f64::NAN].map(Datum::Float8));
        assert_eq!(key(&Datum::Float8(-0.0)), key(&Datum::Float8(0.0)));
        assert_eq!(key(&Datum::Float4(-f32::NAN)), key(&Datum::Float4(f32::NAN)));
    }

    #[test]
    fn numbers_of_different_scale_are_one_key() {
        let class = class_of(crate::oids::numeric, &collation::C).unwrap();
        let bytes = |text: &str| {
            let number: crate::numeric::Numeric = crate::numeric::Numeric::parse(text).unwrap();
            number.to_payload().to_vec()
        };
        assert_eq!(class.compare(&bytes("1.0"), &bytes("1.00")), Ordering::Equal);
        assert_eq!(class.compare(&bytes("1.0"), &bytes("1.01")), Ordering::Less);
        assert!(class_of(crate::oids::point, &collation::C).is_none());
    }
}
