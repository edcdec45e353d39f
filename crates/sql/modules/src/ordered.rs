//! Values of types that have an order, as the keys of operator classes: how they compare, and their bytes.

use std::cmp::Ordering;

use collation::Rules;
use tuple::{Datum, Physical};

use types::{Comparator, Order};

/// Order of two values of a class's type.
#[derive(Clone, Copy)]
pub(crate) enum Comparing {
    /// As values of a type without collation.
    As(base::Oid),
    By(Order),
}

impl Comparing {
    pub(crate) fn compare(self, a: &Datum, b: &Datum) -> Ordering {
        match self {
            Comparing::As(ty) => types::compare(ty).map_or(Ordering::Equal, |compare| compare(a, b)),
            Comparing::By(order) => order.compare(a, b),
        }
    }
}

/// The order of a collated type's values under the rules of a collation.
pub(crate) fn order_under(ty: base::Oid, rules: &'static Rules) -> Order {
    Comparator::of(ty, rules).order.unwrap_or(Order::Plain(|_, _| Ordering::Equal))
}

/// Bytes of a value of fixed length.
pub(crate) fn width(physical: Physical) -> usize {
    match physical {
        Physical::Bool | Physical::Char => 1,
        Physical::Int2 => 2,
        Physical::Int4 | Physical::Oid | Physical::Float4 => 4,
        Physical::Fixed(length) => length.into(),
        _ => 8,
    }
}

/// Appends a value's bytes.
pub(crate) fn put(value: &Datum, out: &mut Vec<u8>) {
    match value {
        Datum::Bool(v) => out.push(u8::from(*v)),
        Datum::Char(v) => out.push(*v),
        Datum::Int2(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int4(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int8(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Oid(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float4(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float8(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        _ => {}
    }
}

/// The value with these bytes.
pub(crate) fn take(physical: Physical, bytes: &[u8]) -> Datum {
    fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    match physical {
        Physical::Bool => Datum::Bool(bytes.first().is_some_and(|byte| *byte != 0)),
        Physical::Char => Datum::Char(bytes.first().copied().unwrap_or(0)),
        Physical::Int2 => Datum::Int2(i16::from_le_bytes(array(bytes))),
        Physical::Int4 => Datum::Int4(i32::from_le_bytes(array(bytes))),
        Physical::Int8 => Datum::Int8(i64::from_le_bytes(array(bytes))),
        Physical::Oid => Datum::Oid(u32::from_le_bytes(array(bytes))),
        Physical::Float4 => Datum::Float4(f32::from_le_bytes(array(bytes))),
        Physical::Float8 => Datum::Float8(f64::from_le_bytes(array(bytes))),
        _ => Datum::Bytes(bytes.to_vec().into()),
    }
}
