//! # What
//! Arrays of any element type, `oidvector` and `int2vector`.
//!
//! # Layout
//! The payload, little-endian, says enough to be taken apart without a catalog:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | OID of the element type |
//! | 4 | number of dimensions, 0 (empty array) to 6 |
//! | 5 | 1 if there are NULLs |
//! | 6 | physical class of the elements: 0 bool, 1 "char", 2 int2, 3 int4, 4 int8, 5 oid, 6 float4, 7 float8, 8 fixed length, 9 name, 10 variable length; 128 more if a comparable type follows |
//! | 7 | length in bytes of class 8 |
//! | 8..12 | only with 128 in byte 6: the built-in type that elements of a user's type compare as ([`TypeShape::comparable`](crate::registry::TypeShape)) |
//! | then | a dimension each: length and lower bound, 4 bytes each |
//! | then | an element each, last subscript fastest: if there are NULLs, a byte 1 (0 for NULL, and nothing follows); length in 4 bytes for classes 9 and 10; the bytes |
//!
//! # Invariants
//! 1. The product of the dimensions is the number of elements; an empty array has no dimension.
//! 2. Damaged payloads decode to NULL elements, never to a panic.
//!
//! # PostgreSQL counterpart and differences
//! `arrayfuncs.c`: the same text and binary forms; the payload is ours.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, sql_err};
use smallvec::SmallVec;
use tuple::{Bytes, Datum, Physical};

use collation::Rules;

use crate::comparator::Order;
use crate::registry::type_imp;
use crate::{call::Call, piece::Pace, registry::shape_of};

mod access;
mod fixed;
mod functions;
pub(crate) mod kinds;
pub(crate) mod parts;
mod search;
mod stack;
mod text;

pub use access::Bound;
pub use fixed::FixedArray;
pub(crate) use functions::FUNCTIONS;
pub(crate) use search::FUNCTIONS as SEARCH_FUNCTIONS;
pub use stack::{accumulate, nested, stacked};
pub use text::{binary_receive, binary_send, input, output, vector_input, vector_output};

/// Most dimensions of an array.
pub const MAX_DIMENSIONS: usize = 6;

/// Most elements of an array.
pub const MAX_ELEMENTS: usize = 134_217_727;

/// One dimension: number of elements and first subscript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of elements.
    pub length: i32,
    /// First subscript.
    pub lower: i32,
}

impl Dimension {
    /// Last subscript.
    pub fn upper(self) -> i32 {
        self.lower.wrapping_add(self.length).wrapping_sub(1)
    }
}

/// The dimensions of an array.
pub type Dimensions = SmallVec<[Dimension; 2]>;

/// An array in memory.
#[derive(Clone, Debug)]
pub struct Array {
    /// Type of the elements.
    pub element: Oid,
    /// Built-in type that elements compare as.
    pub comparable: Oid,
    /// How elements lie in the payload.
    pub physical: Physical,
    /// Outermost first; none for the empty array.
    pub dimensions: Dimensions,
    values: Vec<Datum>,
}

/// An error for arrays above [`MAX_ELEMENTS`].
pub(crate) fn too_large() -> SqlError {
    sql_err!(PROGRAM_LIMIT_EXCEEDED, "array size exceeds the maximum allowed ({MAX_ELEMENTS})")
}

impl Array {
    /// An array without elements.
    pub fn empty(element: Oid, cx: &Call) -> SqlResult<Array> {
        let shape = shape_of(element, cx)?;
        Ok(Array {
            element,
            comparable: shape.comparable,
            physical: shape.physical,
            dimensions: Dimensions::new(),
            values: Vec::new(),
        })
    }

    /// A one-dimensional array with subscripts from 1.
    pub fn from_values(element: Oid, values: Vec<Datum>, cx: &Call) -> SqlResult<Array> {
        let mut array = Array::empty(element, cx)?;
        array.set_values(values);
        Ok(array)
    }

    fn set_values(&mut self, values: Vec<Datum>) {
        self.dimensions.clear();
        if !values.is_empty() {
            self.dimensions.push(Dimension { length: values.len() as i32, lower: 1 });
        }
        self.values = values;
    }

    /// An array of the given dimensions; an error when they do not multiply to the number of values.
    pub fn with_dimensions(
        element: Oid,
        dimensions: Dimensions,
        values: Vec<Datum>,
        cx: &Call,
    ) -> SqlResult<Array> {
        let mut array = Array::empty(element, cx)?;
        if element_count(&dimensions)? != values.len() {
            return Err(SqlError::internal("array dimensions do not match its elements"));
        }
        array.dimensions = if values.is_empty() { Dimensions::new() } else { dimensions };
        array.values = values;
        Ok(array)
    }

    /// All elements, last subscript fastest.
    pub fn elements(&self) -> &[Datum] {
        &self.values
    }

    /// All elements, given away.
    pub fn into_elements(self) -> Vec<Datum> {
        self.values
    }

    /// Whether any element is NULL.
    pub fn has_nulls(&self) -> bool {
        self.values.iter().any(Datum::is_null)
    }

    /// The stored payload.
    pub fn to_payload(&self) -> Bytes {
        let mut out = Vec::with_capacity(16 + self.values.len() * 8);
        let nulls = self.has_nulls();
        let (class, length) = class_of(self.physical);
        let class = if self.comparable == self.element { class } else { class | HAS_COMPARABLE };
        out.extend_from_slice(&self.element.0.to_le_bytes());
        out.extend_from_slice(&[self.dimensions.len() as u8, u8::from(nulls), class, length]);
        if self.comparable != self.element {
            out.extend_from_slice(&self.comparable.0.to_le_bytes());
        }
        for dimension in &self.dimensions {
            out.extend_from_slice(&dimension.length.to_le_bytes());
            out.extend_from_slice(&dimension.lower.to_le_bytes());
        }
        let mut pace = Pace::new();
        let mut values = &self.values[..];
        while let [Datum::Int4(_), ..] = values
            && !nulls
        {
            values = put_int4s(values, &mut out, &mut pace);
        }
        for value in values {
            let before = out.len();
            if nulls {
                out.push(u8::from(!value.is_null()));
            }
            if !value.is_null() {
                encode(self.physical, value, &mut out);
            }
            pace.pass(8 + out.len() - before);
        }
        Bytes::from(out)
    }

    /// The stored payload as a value.
    pub fn to_datum(&self) -> Datum {
        Datum::Bytes(self.to_payload())
    }

    /// Reads a stored payload.
    pub fn from_payload(bytes: &[u8]) -> Array {
        let mut pace = Pace::new();
        Array::read(bytes, |n| pace.pass(n))
    }

    /// The same in one go: comparisons and hashes let nobody run.
    pub(crate) fn at_once(bytes: &[u8]) -> Array {
        Array::read(bytes, |_| {})
    }

    fn read(bytes: &[u8], step: impl FnMut(usize)) -> Array {
        decode_array(bytes, step).unwrap_or(Array {
            element: Oid::INVALID,
            comparable: Oid::INVALID,
            physical: Physical::Varlena,
            dimensions: Dimensions::new(),
            values: Vec::new(),
        })
    }
}

/// Number of elements that dimensions mean; an error when it is too large.
pub fn element_count(dimensions: &[Dimension]) -> SqlResult<usize> {
    if dimensions.is_empty() {
        return Ok(0);
    }
    let mut count = 1usize;
    for dimension in dimensions {
        count = count
            .checked_mul(dimension.length.max(0) as usize)
            .filter(|n| *n <= MAX_ELEMENTS)
            .ok_or_else(too_large)?;
        if dimension.length > 0 && dimension.lower.checked_add(dimension.length).is_none() {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "array lower bound is too large: {}",
                dimension.lower
            ));
        }
    }
    Ok(count)
}

/// Bit of a class byte: the comparable type follows.
pub(crate) const HAS_COMPARABLE: u8 = 128;

pub(crate) fn class_of(physical: Physical) -> (u8, u8) {
    match physical {
        Physical::Bool => (0, 0),
        Physical::Char => (1, 0),
        Physical::Int2 => (2, 0),
        Physical::Int4 => (3, 0),
        Physical::Int8 => (4, 0),
        Physical::Oid => (5, 0),
        Physical::Float4 => (6, 0),
        Physical::Float8 => (7, 0),
        Physical::Fixed(n) => (8, n as u8),
        Physical::Name => (9, 0),
        Physical::Varlena => (10, 0),
    }
}

pub(crate) fn physical_of(class: u8, length: u8) -> Option<Physical> {
    Some(match class {
        0 => Physical::Bool,
        1 => Physical::Char,
        2 => Physical::Int2,
        3 => Physical::Int4,
        4 => Physical::Int8,
        5 => Physical::Oid,
        6 => Physical::Float4,
        7 => Physical::Float8,
        8 => Physical::Fixed(length.into()),
        9 => Physical::Name,
        10 => Physical::Varlena,
        _ => return None,
    })
}

/// Appends a value that is not NULL, as it lies in arrays and rows.
pub(crate) fn encode(physical: Physical, value: &Datum, out: &mut Vec<u8>) {
    match value {
        Datum::Bool(v) => out.push(u8::from(*v)),
        Datum::Char(v) => out.push(*v),
        Datum::Int2(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int4(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int8(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Oid(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float4(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float8(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Bytes(bytes) => {
            if !matches!(physical, Physical::Fixed(_)) {
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            }
            out.extend_from_slice(bytes);
        }
        Datum::Toasted(bytes) => {
            debug_assert!(false, "a stored form inside an array");
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        }
        Datum::Null => {}
    }
}

/// Elements that are handled between two looks at the clock.
const BATCH: usize = 1024;

/// Appends leading integers, one at least if there is one; what is left.
fn put_int4s<'v>(values: &'v [Datum], out: &mut Vec<u8>, pace: &mut Pace) -> &'v [Datum] {
    let (batch, _) = values.split_at(values.len().min(BATCH));
    let before = out.len();
    for value in batch {
        let Datum::Int4(number) = value else { break };
        out.extend_from_slice(&number.to_le_bytes());
    }
    let count = (out.len() - before) / 4;
    pace.pass(12 * count);
    &values[count..]
}

/// Takes pieces from a payload.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}

pub(crate) fn decode_element(physical: Physical, cursor: &mut Cursor) -> Option<Datum> {
    Some(match physical {
        Physical::Bool => Datum::Bool(cursor.take(1)?[0] != 0),
        Physical::Char => Datum::Char(cursor.take(1)?[0]),
        Physical::Int2 => Datum::Int2(i16::from_le_bytes(cursor.array()?)),
        Physical::Int4 => Datum::Int4(i32::from_le_bytes(cursor.array()?)),
        Physical::Int8 => Datum::Int8(i64::from_le_bytes(cursor.array()?)),
        Physical::Oid => Datum::Oid(u32::from_le_bytes(cursor.array()?)),
        Physical::Float4 => Datum::Float4(f32::from_le_bytes(cursor.array()?)),
        Physical::Float8 => Datum::Float8(f64::from_le_bytes(cursor.array()?)),
        Physical::Fixed(n) => Datum::Bytes(Bytes::new(cursor.take(n.into())?)),
        Physical::Name | Physical::Varlena => {
            let length = u32::from_le_bytes(cursor.array()?) as usize;
            Datum::Bytes(Bytes::new(cursor.take(length)?))
        }
    })
}

/// What a payload says before its elements.
struct Head {
    element: Oid,
    comparable: Oid,
    physical: Physical,
    dimensions: Dimensions,
    /// Elements.
    count: usize,
    /// Some may be NULL.
    nulls: bool,
}

impl Head {
    /// Reads it, up to the elements.
    fn read(cursor: &mut Cursor) -> Option<Head> {
        let element = Oid(u32::from_le_bytes(cursor.array()?));
        let [count, nulls, class, length] = cursor.array()?;
        let physical = physical_of(class & !HAS_COMPARABLE, length)?;
        let comparable =
            if class & HAS_COMPARABLE != 0 { Oid(u32::from_le_bytes(cursor.array()?)) } else { element };
        let mut dimensions = Dimensions::new();
        for _ in 0..count {
            let length = i32::from_le_bytes(cursor.array()?);
            let lower = i32::from_le_bytes(cursor.array()?);
            dimensions.push(Dimension { length, lower });
        }
        let count = element_count(&dimensions).ok()?;
        Some(Head { element, comparable, physical, dimensions, count, nulls: nulls != 0 })
    }

    /// Reads the next element.
    #[inline]
    fn next(&self, cursor: &mut Cursor) -> Option<Datum> {
        let present = !self.nulls || *cursor.take(1)?.first()? != 0;
        if present { decode_element(self.physical, cursor) } else { Some(Datum::Null) }
    }
}

/// Tells `step` of each element's bytes.
fn decode_array(bytes: &[u8], mut step: impl FnMut(usize)) -> Option<Array> {
    let mut cursor = Cursor(bytes);
    let head = Head::read(&mut cursor)?;
    // A damaged length must not reserve more than the payload could hold.
    let mut values = Vec::with_capacity(head.count.min(bytes.len()));
    if head.physical == Physical::Int4 && !head.nulls {
        for batch in cursor.take(head.count.checked_mul(4)?)?.chunks(4 * BATCH) {
            let numbers = batch.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes));
            values.extend(numbers.map(Datum::Int4));
            step(3 * batch.len());
        }
    }
    for _ in values.len()..head.count {
        let before = cursor.0.len();
        values.push(head.next(&mut cursor)?);
        step(8 + before - cursor.0.len());
    }
    let Head { element, comparable, physical, dimensions, .. } = head;
    Some(Array { element, comparable, physical, dimensions, values })
}

/// The elements of a payload one after the other, as long as it is not damaged.
pub(crate) struct Elements {
    payload: Bytes,
    /// Where the next one begins.
    at: usize,
    left: usize,
    head: Option<Head>,
}

impl Elements {
    pub(crate) fn new(payload: Bytes) -> Elements {
        let mut cursor = Cursor(&payload);
        let head = Head::read(&mut cursor);
        let at = payload.len() - cursor.0.len();
        Elements { at, left: head.as_ref().map_or(0, |head| head.count), head, payload }
    }
}

impl Iterator for Elements {
    type Item = Datum;

    #[inline]
    fn next(&mut self) -> Option<Datum> {
        self.left = self.left.checked_sub(1)?;
        let mut cursor = Cursor(&self.payload[self.at..]);
        let value = self.head.as_ref()?.next(&mut cursor)?;
        self.at = self.payload.len() - cursor.0.len();
        Some(value)
    }
}

/// A `text[]` of these elements.
pub fn from_texts<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Datum {
    from_text_values(texts.map(|text| text.map_or(Datum::Null, Datum::text)).collect())
}

/// A `text[]` of these values.
pub(crate) fn from_text_values(values: Vec<Datum>) -> Datum {
    let mut array = Array {
        element: crate::oids::text,
        comparable: crate::oids::text,
        physical: Physical::Varlena,
        dimensions: Dimensions::new(),
        values: Vec::new(),
    };
    array.set_values(values);
    array.to_datum()
}

/// A `name[]` of these elements.
pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Datum {
    let values: Vec<Datum> = names.map(Datum::text).collect();
    let mut array = Array {
        element: crate::oids::name,
        comparable: crate::oids::name,
        physical: Physical::Name,
        dimensions: Dimensions::new(),
        values: Vec::new(),
    };
    array.set_values(values);
    array.to_datum()
}

/// A `regtype[]` of these elements.
pub fn from_regtypes(types: impl Iterator<Item = Oid>) -> Datum {
    let mut array = Array {
        element: crate::oids::regtype,
        comparable: crate::oids::regtype,
        physical: Physical::Oid,
        dimensions: Dimensions::new(),
        values: Vec::new(),
    };
    array.set_values(types.map(|oid| Datum::Oid(oid.0)).collect());
    array.to_datum()
}

/// An `int4[]` of these elements.
pub fn from_int4s(numbers: &[i32]) -> Datum {
    let values = numbers.iter().map(|number| Datum::Int4(*number)).collect();
    of_numbers(crate::oids::int4, Physical::Int4, values)
}

/// An `int2[]` of these elements.
pub(crate) fn from_small_ints(numbers: impl Iterator<Item = i16>) -> Datum {
    of_numbers(crate::oids::int2, Physical::Int2, numbers.map(Datum::Int2).collect())
}

fn of_numbers(element: Oid, physical: Physical, values: Vec<Datum>) -> Datum {
    let mut array =
        Array { element, comparable: element, physical, dimensions: Dimensions::new(), values: Vec::new() };
    array.set_values(values);
    array.to_datum()
}

/// An `oidvector` (subscripts from 0).
pub fn from_oids(oids: &[Oid]) -> Datum {
    let values = oids.iter().map(|oid| Datum::Oid(oid.0)).collect();
    vector(crate::oids::oid, Physical::Oid, values)
}

/// An `int2vector` (subscripts from 0).
pub fn from_int2s(numbers: &[i16]) -> Datum {
    vector(crate::oids::int2, Physical::Int2, numbers.iter().map(|n| Datum::Int2(*n)).collect())
}

/// A vector has one dimension even when it is empty, and subscripts from 0.
fn vector(element: Oid, physical: Physical, values: Vec<Datum>) -> Datum {
    let mut dimensions = Dimensions::new();
    dimensions.push(Dimension { length: values.len() as i32, lower: 0 });
    Array { element, comparable: element, physical, dimensions, values }.to_datum()
}

/// The elements of an `oidvector` or of an `oid[]`.
pub fn oid_vector(bytes: &[u8]) -> Vec<u32> {
    Array::from_payload(bytes).values.iter().map(|v| if let Datum::Oid(oid) = v { *oid } else { 0 }).collect()
}

/// The elements of an `int2vector` or of an `int2[]`.
pub fn int2_vector(bytes: &[u8]) -> Vec<i16> {
    Array::from_payload(bytes).values.iter().map(|v| if let Datum::Int2(n) = v { *n } else { 0 }).collect()
}

/// Order of two arrays of one type, their elements plain: by elements, NULL last; then by their number, then by shape.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    compare_under(&collation::C, a, b)
}

/// The same, by the rules of a collation.
pub(crate) fn compare_under(rules: &Rules, a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Array::at_once(a), Array::at_once(b));
    match type_imp(a.comparable).collated.filter(|_| !rules.is_bytewise()) {
        Some(of) => compare_with(&a, &b, |x, y| (of.compare)(rules, x, y)),
        None => compare_by(crate::compare::compare(a.comparable).map(Order::Plain), &a, &b),
    }
}

/// The same, by an order of the elements; by their bits if they are in none.
pub(crate) fn compare_by(order: Option<Order>, a: &Array, b: &Array) -> Ordering {
    match order {
        Some(Order::Plain(order)) => compare_with(a, b, order),
        Some(order) => compare_with(a, b, |x, y| order.compare(x, y)),
        None => compare_with(a, b, |x, y| x.partial_cmp_physical(y)),
    }
}

fn compare_with(a: &Array, b: &Array, order: impl Fn(&Datum, &Datum) -> Ordering) -> Ordering {
    for (x, y) in a.values.iter().zip(&b.values) {
        let found = match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => order(x, y),
        };
        if found.is_ne() {
            return found;
        }
    }
    a.values.len().cmp(&b.values.len()).then_with(|| a.dimensions.len().cmp(&b.dimensions.len())).then_with(
        || {
            let shape = |array: &Array| -> Vec<(i32, i32)> {
                array.dimensions.iter().map(|d| (d.length, d.lower)).collect()
            };
            shape(a).cmp(&shape(b))
        },
    )
}

/// Order of values whose type has none.
trait PhysicalOrder {
    fn partial_cmp_physical(&self, other: &Self) -> Ordering;
}

impl PhysicalOrder for Datum {
    fn partial_cmp_physical(&self, other: &Datum) -> Ordering {
        match (self, other) {
            (Datum::Bytes(a), Datum::Bytes(b)) => a.as_slice().cmp(b.as_slice()),
            (Datum::Float4(_) | Datum::Float8(_), _) => {
                crate::compare::compare_floats(crate::compare::double(self), crate::compare::double(other))
            }
            _ => crate::compare::integers(self, other),
        }
    }
}

/// Hash of an array's elements, plain.
pub fn hash(bytes: &[u8]) -> u64 {
    hash_under(&collation::C, bytes)
}

/// The same, by the rules of a collation.
pub(crate) fn hash_under(rules: &Rules, bytes: &[u8]) -> u64 {
    let array = Array::at_once(bytes);
    let hash = crate::compare::hash(array.comparable);
    let collated = type_imp(array.comparable).collated.filter(|_| !rules.is_deterministic());
    array.values.iter().fold(1, |sum: u64, value| {
        let part = match (value, collated, hash) {
            (Datum::Null, ..) => 0,
            (value, Some(of), _) => (of.hash)(rules, value),
            (value, None, Some(hash)) => hash(value),
            (value, None, None) => crate::compare::hash_bytes(format!("{value:?}").as_bytes()),
        };
        crate::compare::mix(sum.wrapping_mul(31).wrapping_add(part))
    })
}
