//! # What
//! Ranges and multiranges over any ordered type.
//!
//! # Layout
//! A payload says enough to be compared and taken apart without a catalog. Little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | OID of the range type |
//! | 4..8 | OID of the type of the bounds |
//! | 8..12 | the built-in type that bounds compare as |
//! | 12, 13 | physical class of the bounds and its length, as in arrays |
//! | then, range | flags (the bits of the binary form); the bounds that there are |
//! | then, multirange | OID of the multirange type; number of ranges, 4 bytes; each as flags and bounds |
//!
//! # Invariants
//! 1. A bound without value (infinite) is never inclusive; the lower bound is not above the upper one; a range without
//!    points is `empty`.
//! 2. Ranges over integers and dates are canonical: `[)`.
//! 3. The ranges of a multirange are not empty, in order, and neither overlap nor touch.
//!
//! # PostgreSQL counterpart and differences
//! `rangetypes.c`, `multirangetypes.c`. The payload is ours. Range types with a canonical function of the user's are not there.

use std::cmp::Ordering;

use crate::comparator::{Comparator, default_rules};
use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum, Physical};

use crate::{
    array::{Cursor, class_of, decode_element, encode, physical_of},
    call::Call,
    oids,
    registry::shape_of,
    value::{FromDatum, IntoDatum},
};

mod aggregate;
mod bound;
mod functions;
pub(crate) mod kinds;
mod multi;
mod multi_functions;
pub(crate) mod spaces;
mod text;
pub(crate) mod trees;

pub(crate) use aggregate::RangeAgg;
pub(crate) use bound::{Bound, Span};
pub(crate) use functions::FUNCTIONS;
pub(crate) use multi::Multirange;
pub(crate) use multi_functions::FUNCTIONS as MULTIRANGE_FUNCTIONS;
pub use text::{
    input, multirange_input, multirange_output, multirange_receive, multirange_send, output, receive, send,
};

/// What a range type is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeInfo {
    /// The range type.
    pub range: Oid,
    /// Its multirange type.
    pub multirange: Oid,
    /// Type of the bounds.
    pub subtype: Oid,
}

const fn info(range: Oid, multirange: Oid, subtype: Oid) -> RangeInfo {
    RangeInfo { range, multirange, subtype }
}

/// The built-in range types.
pub static RANGES: [RangeInfo; 6] = [
    info(oids::int4range, oids::int4multirange, oids::int4),
    info(oids::numrange, oids::nummultirange, oids::numeric),
    info(oids::tsrange, oids::tsmultirange, oids::timestamp),
    info(oids::tstzrange, oids::tstzmultirange, oids::timestamptz),
    info(oids::daterange, oids::datemultirange, oids::date),
    info(oids::int8range, oids::int8multirange, oids::int8),
];

/// The built-in range type with this OID, or the one that the multirange type with this OID belongs to.
pub fn builtin_range(type_oid: Oid) -> Option<&'static RangeInfo> {
    RANGES.iter().find(|info| info.range == type_oid || info.multirange == type_oid)
}

/// What the range or multirange type with this OID is made of.
pub fn range_info(type_oid: Oid, cx: &Call) -> SqlResult<RangeInfo> {
    match builtin_range(type_oid) {
        Some(info) => Ok(*info),
        None => cx
            .session
            .range_info(type_oid)
            .ok_or_else(|| SqlError::internal(format!("type {type_oid} is not a range type"))),
    }
}

/// A built-in function that does what this constructor of a user's range type does: the type to make is that of the call.
pub fn constructor(source: &str) -> Option<Oid> {
    Some(Oid(match source {
        "range_constructor2" => 3840,
        "range_constructor3" => 3841,
        "multirange_constructor0" => 4280,
        "multirange_constructor1" => 4281,
        "multirange_constructor2" => 4282,
        _ => return None,
    }))
}

/// How values of a range type lie in payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub range: Oid,
    pub subtype: Oid,
    pub comparable: Oid,
    pub physical: Physical,
}

impl Shape {
    pub fn of(info: &RangeInfo, cx: &Call) -> SqlResult<Shape> {
        let shape = shape_of(info.subtype, cx)?;
        Ok(Shape {
            range: info.range,
            subtype: info.subtype,
            comparable: shape.comparable,
            physical: shape.physical,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.range.0.to_le_bytes());
        out.extend_from_slice(&self.subtype.0.to_le_bytes());
        out.extend_from_slice(&self.comparable.0.to_le_bytes());
        let (class, length) = class_of(self.physical);
        out.extend_from_slice(&[class, length]);
    }

    fn read(cursor: &mut Cursor) -> Option<Shape> {
        let mut oid = || Some(Oid(u32::from_le_bytes(cursor.array()?)));
        let (range, subtype, comparable) = (oid()?, oid()?, oid()?);
        let [class, length] = cursor.array()?;
        Some(Shape { range, subtype, comparable, physical: physical_of(class, length)? })
    }

    /// Order of two values of the subtype. Texts are in the order of the database: ranges of other collations are not made.
    pub fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        match (a, b) {
            // All types that are stored as integers are ordered as these integers.
            (Datum::Int4(a), Datum::Int4(b)) => return a.cmp(b),
            (Datum::Int8(a), Datum::Int8(b)) => return a.cmp(b),
            _ => {}
        }
        match Comparator::of(self.comparable, default_rules()).order {
            Some(order) => order.compare(a, b),
            None => Ordering::Equal,
        }
    }
}

/// Bits of the flags.
mod flag {
    pub const EMPTY: u8 = 0x01;
    pub const LOWER_INCLUSIVE: u8 = 0x02;
    pub const UPPER_INCLUSIVE: u8 = 0x04;
    pub const LOWER_INFINITE: u8 = 0x08;
    pub const UPPER_INFINITE: u8 = 0x10;
}

/// The flags of a range.
fn flags(span: Option<&Span>) -> u8 {
    let Some(span) = span else { return flag::EMPTY };
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    bit(span.lower.inclusive, flag::LOWER_INCLUSIVE)
        | bit(span.upper.inclusive, flag::UPPER_INCLUSIVE)
        | bit(span.lower.value.is_none(), flag::LOWER_INFINITE)
        | bit(span.upper.value.is_none(), flag::UPPER_INFINITE)
}

fn write_span(shape: &Shape, span: Option<&Span>, out: &mut Vec<u8>) {
    out.push(flags(span));
    let Some(span) = span else { return };
    for value in [&span.lower.value, &span.upper.value].into_iter().flatten() {
        encode(shape.physical, value, out);
    }
}

/// A span, or none for the empty range; the outer `None` is damage.
fn read_span(shape: &Shape, cursor: &mut Cursor) -> Option<Option<Span>> {
    let [flags] = cursor.array()?;
    if flags & flag::EMPTY != 0 {
        return Some(None);
    }
    let mut value = |infinite: u8| {
        if flags & infinite != 0 { Some(None) } else { decode_element(shape.physical, cursor).map(Some) }
    };
    let (lower, upper) = (value(flag::LOWER_INFINITE)?, value(flag::UPPER_INFINITE)?);
    Some(Some(Span {
        lower: Bound { value: lower, inclusive: flags & flag::LOWER_INCLUSIVE != 0, lower: true },
        upper: Bound { value: upper, inclusive: flags & flag::UPPER_INCLUSIVE != 0, lower: false },
    }))
}

/// A range in memory; without span it is empty.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub shape: Shape,
    pub span: Option<Span>,
}

impl FromDatum<'_> for Range {
    fn from_datum(datum: &Datum) -> Range {
        Range::of_bytes(<&[u8]>::from_datum(datum))
    }
}

impl Range {
    /// Of the bytes of its value.
    fn of_bytes(bytes: &[u8]) -> Range {
        let mut cursor = Cursor(bytes);
        let shape = Shape::read(&mut cursor);
        let span = shape.and_then(|shape| read_span(&shape, &mut cursor)).flatten();
        Range { shape: shape.unwrap_or(NO_SHAPE), span }
    }
}

/// Whether a value of a range or multirange type contains nothing.
///
/// # Errors
/// The type is neither.
pub fn is_empty(value: &Datum, type_oid: Oid, cx: &Call) -> SqlResult<bool> {
    Ok(match range_info(type_oid, cx)?.multirange == type_oid {
        true => Multirange::from_datum(value).spans.is_empty(),
        false => Range::from_datum(value).span.is_none(),
    })
}

/// Whether a range contains elements of its type, if that is the same for all of them: an empty one contains none, one without bounds all.
pub fn contains_any(range: &Datum) -> Option<bool> {
    match Range::from_datum(range).span {
        None => Some(false),
        Some(span) if span.lower.value.is_none() && span.upper.value.is_none() => Some(true),
        Some(_) => None,
    }
}

/// Shape of damaged bytes.
const NO_SHAPE: Shape =
    Shape { range: Oid(0), subtype: Oid(0), comparable: Oid(0), physical: Physical::Varlena };

impl IntoDatum for Range {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = Vec::with_capacity(32);
        self.shape.write(&mut out);
        write_span(&self.shape, self.span.as_ref(), &mut out);
        Ok(Datum::Bytes(Bytes::from(out)))
    }
}

impl Range {
    /// The range between two bounds, canonical; an error when they are the wrong way round.
    pub fn new(shape: Shape, lower: Bound, upper: Bound) -> SqlResult<Range> {
        let mut span = Span::between(&shape, lower, upper)?;
        if let Some(found) = span.take() {
            let (lower, upper) = bound::canonical(&shape, found)?;
            span = Span::between(&shape, lower, upper)?;
        }
        Ok(Range { shape, span })
    }

    pub fn empty(shape: Shape) -> Range {
        Range { shape, span: None }
    }
}

/// Order of two stored ranges: the empty one first, then by lower and upper bound.
pub(crate) fn compare(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (Range::from_datum(a), Range::from_datum(b));
    bound::order(&a.shape, a.span.as_ref(), b.span.as_ref())
}

/// Order of two stored multiranges: range by range, the shorter first.
pub(crate) fn compare_multi(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (Multirange::from_datum(a), Multirange::from_datum(b));
    for (x, y) in a.spans.iter().zip(&b.spans) {
        let found = bound::order(&a.shape, Some(x), Some(y));
        if found.is_ne() {
            return found;
        }
    }
    a.spans.len().cmp(&b.spans.len())
}

/// Hash of a range's parts with the hash of values that is given.
fn hash_span(span: Option<&Span>, word: impl Fn(u32) -> u64, value: impl Fn(&Datum) -> u64) -> u64 {
    let side = |bound: fn(&Span) -> &Bound| span.and_then(|s| bound(s).value.as_ref()).map_or(0, &value);
    let start = word(i32::from(flags(span) as i8) as u32) ^ side(|s| &s.lower);
    let (high, low) = ((start >> 32) as u32, start as u32);
    (u64::from(high.rotate_left(1)) << 32 | u64::from(low.rotate_left(1))) ^ side(|s| &s.upper)
}

/// Hash that SQL sees.
pub(crate) fn sql_hash(value: &Datum, seed: u64) -> u64 {
    let range = Range::from_datum(value);
    let of = |v: &Datum| crate::hashing::hash_value(range.shape.comparable, v, seed);
    hash_span(range.span.as_ref(), |w| crate::hashing::hash_word(w, seed), of)
}

/// Hash that SQL sees, of a multirange.
pub(crate) fn sql_hash_multi(value: &Datum, seed: u64) -> u64 {
    let multi = Multirange::from_datum(value);
    let of = |v: &Datum| crate::hashing::hash_value(multi.shape.comparable, v, seed);
    multi.spans.iter().fold(1, |sum: u64, span| {
        let part = hash_span(Some(span), |w| crate::hashing::hash_word(w, seed), of);
        sum.wrapping_mul(31).wrapping_add(part)
    })
}

/// Hash for joins and aggregates.
pub(crate) fn hash(value: &Datum) -> u64 {
    let range = Range::from_datum(value);
    let of = |v: &Datum| crate::compare::hash(range.shape.comparable).map_or(0, |hash| hash(v));
    hash_span(range.span.as_ref(), |w| crate::compare::mix(w.into()), of)
}

/// Hash for joins and aggregates, of a multirange.
pub(crate) fn hash_multi(value: &Datum) -> u64 {
    let multi = Multirange::from_datum(value);
    let of = |v: &Datum| crate::compare::hash(multi.shape.comparable).map_or(0, |hash| hash(v));
    multi.spans.iter().fold(1, |sum: u64, span| {
        let part = hash_span(Some(span), |w| crate::compare::mix(w.into()), of);
        crate::compare::mix(sum.wrapping_mul(31).wrapping_add(part))
    })
}

/// Whether a type whose bounds cannot be hashed is an error.
pub(crate) fn hashable(cx: &Call, shape: &Shape) -> SqlResult<()> {
    match crate::compare::hash(shape.comparable) {
        Some(_) => Ok(()),
        None => Err(crate::hashing::no_hash(cx, shape.subtype)),
    }
}

fn data_error(text: &str) -> SqlError {
    sql_err!(DATA_EXCEPTION, "{text}")
}
