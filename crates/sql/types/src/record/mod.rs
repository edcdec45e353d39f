//! # What
//! Row values: of composite types and of `record`.
//!
//! # Layout
//! The payload, little-endian, says enough to be compared, hashed and shown without a catalog:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | OID of the row's type; 2249 for `record` |
//! | 4..6 | number of fields |
//! | 6 | 1 if names follow behind the fields |
//! | then | a field each: OID of its type in 4 bytes (0 for a dropped column); physical class and length as in [arrays](mod@crate::array); if the class has bit 128, the comparable type in 4 bytes; 1 if there is a value, else 0; the value |
//! | then | with 1 in byte 6, each field's name: length in a byte, UTF-8. Rows of subqueries have them, which are never stored |
//!
//! # Invariants
//! 1. Fields stand at their column's number. A row made before a column was added has fewer: what is missing is NULL.
//! 2. Damaged payloads decode to rows without fields, never to a panic.
//!
//! # PostgreSQL counterpart and differences
//! `rowtypes.c`: the same text and binary forms; the payload is ours.

use std::cmp::Ordering;

use crate::comparator::{Comparator, default_rules};
use base::Oid;
use tuple::{Bytes, Datum, Physical};

use crate::array::{Cursor, HAS_COMPARABLE, class_of, decode_element, encode, physical_of};
use crate::registry::TypeShape;

pub(crate) mod functions;
mod text;

pub(crate) use functions::FUNCTIONS;
pub use text::{Column, input, output, receive, send};

/// What a row's payload says of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// Its type; 0 for a dropped column.
    pub type_oid: Oid,
    /// Built-in type that it compares as.
    pub comparable: Oid,
    /// How it lies in the payload.
    pub physical: Physical,
}

impl FieldType {
    /// A field of a type.
    pub fn new(type_oid: Oid, shape: &TypeShape) -> FieldType {
        FieldType { type_oid, comparable: shape.comparable, physical: shape.physical }
    }

    /// The place of a dropped column.
    pub const DROPPED: FieldType =
        FieldType { type_oid: Oid::INVALID, comparable: Oid::INVALID, physical: Physical::Bool };

    /// Whether it stands for a dropped column.
    pub fn is_dropped(&self) -> bool {
        !self.type_oid.is_valid()
    }
}

/// The type of a row, as its payload tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowType {
    /// Composite type, or `record`.
    pub type_oid: Oid,
    /// Fields by column number.
    pub fields: Box<[FieldType]>,
    /// Names of the fields of an anonymous row; empty if they have none.
    pub names: Box<[Box<str>]>,
}

impl RowType {
    /// A row of these values, one for each field.
    pub fn row(&self, values: &[Datum]) -> Datum {
        let mut out = Vec::with_capacity(8 + values.len() * 16);
        out.extend_from_slice(&self.type_oid.0.to_le_bytes());
        out.extend_from_slice(&(self.fields.len() as u16).to_le_bytes());
        out.push(u8::from(!self.names.is_empty()));
        for (field, value) in self.fields.iter().zip(values) {
            push_field(field, value, &mut out);
        }
        for name in &self.names {
            // Identifiers have 63 bytes at most.
            let length = name.floor_char_boundary(255);
            out.push(length as u8);
            out.extend_from_slice(&name.as_bytes()[..length]);
        }
        Datum::Bytes(Bytes::from(out))
    }
}

fn push_field(field: &FieldType, value: &Datum, out: &mut Vec<u8>) {
    let (class, length) = class_of(field.physical);
    let plain = field.comparable == field.type_oid;
    out.extend_from_slice(&field.type_oid.0.to_le_bytes());
    out.extend_from_slice(&[if plain { class } else { class | HAS_COMPARABLE }, length]);
    if !plain {
        out.extend_from_slice(&field.comparable.0.to_le_bytes());
    }
    // A row may still have what was in the column.
    let value = if field.is_dropped() { &Datum::Null } else { value };
    out.push(u8::from(!value.is_null()));
    encode(field.physical, value, out);
}

/// A row taken apart.
#[derive(Clone, Debug)]
pub struct Row {
    /// Composite type, or `record`.
    pub type_oid: Oid,
    /// Fields and their values, by column number.
    pub fields: Vec<(FieldType, Datum)>,
    /// Names of the fields, if the row carries them.
    pub names: Vec<String>,
}

impl Row {
    /// Reads a stored payload.
    pub fn from_payload(bytes: &[u8]) -> Row {
        decode(bytes, usize::MAX).unwrap_or(Row {
            type_oid: Oid::INVALID,
            fields: Vec::new(),
            names: Vec::new(),
        })
    }

    /// Fields of columns that are not dropped.
    pub fn live(&self) -> impl Iterator<Item = &(FieldType, Datum)> {
        self.fields.iter().filter(|(field, _)| !field.is_dropped())
    }
}

/// The value of field `n`, from 0.
pub fn field(bytes: &[u8], n: usize) -> Datum {
    let row = decode(bytes, n + 1);
    row.and_then(|mut row| (row.fields.len() > n).then(|| row.fields.swap_remove(n).1)).unwrap_or_default()
}

/// The type that a row says it has.
pub fn type_of(bytes: &[u8]) -> Oid {
    decode(bytes, 0).map_or(Oid::INVALID, |row| row.type_oid)
}

fn decode(bytes: &[u8], upto: usize) -> Option<Row> {
    let mut cursor = Cursor(bytes);
    let type_oid = Oid(u32::from_le_bytes(cursor.array()?));
    let all = usize::from(u16::from_le_bytes(cursor.array()?));
    let count = all.min(upto);
    let [named] = cursor.array()?;
    let mut fields = Vec::with_capacity(count);
    for _ in 0..count {
        let field_type = Oid(u32::from_le_bytes(cursor.array()?));
        let [class, length] = cursor.array()?;
        let physical = physical_of(class & !HAS_COMPARABLE, length)?;
        let comparable =
            if class & HAS_COMPARABLE != 0 { Oid(u32::from_le_bytes(cursor.array()?)) } else { field_type };
        let [present] = cursor.array()?;
        let value = if present != 0 { decode_element(physical, &mut cursor)? } else { Datum::Null };
        fields.push((FieldType { type_oid: field_type, comparable, physical }, value));
    }
    let mut names = Vec::new();
    if named != 0 && count == all {
        for _ in 0..count {
            let [length] = cursor.array()?;
            names.push(String::from_utf8_lossy(cursor.take(length.into())?).into_owned());
        }
    }
    Some(Row { type_oid, fields, names })
}

/// Order of two rows: field by field, NULL last; then by the number of fields.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = aligned(a, b);
    compare_rows(&a, &b)
}

/// Two rows; those of one composite type with the same columns: each may have been made before some were added, or dropped.
fn aligned(a: &[u8], b: &[u8]) -> (Row, Row) {
    let (mut a, mut b) = (Row::from_payload(a), Row::from_payload(b));
    if a.type_oid != b.type_oid || a.type_oid == crate::oids::record {
        return (a, b);
    }
    for i in 0..a.fields.len().max(b.fields.len()) {
        let (x, y) = (a.fields.get(i).map(|f| f.0), b.fields.get(i).map(|f| f.0));
        match (x, y) {
            (Some(x), Some(y)) if x.is_dropped() || y.is_dropped() => {
                a.fields[i] = (FieldType::DROPPED, Datum::Null);
                b.fields[i] = (FieldType::DROPPED, Datum::Null);
            }
            (Some(x), None) => b.fields.push((x, Datum::Null)),
            (None, Some(y)) => a.fields.push((y, Datum::Null)),
            _ => {}
        }
    }
    (a, b)
}

/// Order of two rows. Rows do not record the collations of their fields: texts are compared in the order of the database.
fn compare_rows(a: &Row, b: &Row) -> Ordering {
    for ((x_type, x), (_, y)) in a.live().zip(b.live()) {
        let found = match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => match Comparator::of(x_type.comparable, default_rules()).order {
                Some(order) => order.compare(x, y),
                None => image_order(x, y),
            },
        };
        if found.is_ne() {
            return found;
        }
    }
    a.live().count().cmp(&b.live().count())
}

/// Hash of a row's fields.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut row = Row::from_payload(bytes);
    if row.type_oid != crate::oids::record {
        // An equal row that was made before a column was added does not have its NULL.
        let last = row.fields.iter().rposition(|(_, value)| !value.is_null()).map_or(0, |last| last + 1);
        row.fields.truncate(last);
    }
    row.live().fold(0, |sum: u64, (field, value)| {
        let part = match (value, crate::compare::hash(field.comparable)) {
            (Datum::Null, _) => 0,
            (value, Some(hash)) => hash(value),
            (value, None) => crate::compare::hash_bytes(&image(value)),
        };
        crate::compare::mix(sum.wrapping_mul(31).wrapping_add(part))
    })
}

/// Order of two values by their bits, for the `record_image` operators: integers unsigned, byte strings as such.
fn image_order(a: &Datum, b: &Datum) -> Ordering {
    fn word(value: &Datum) -> Option<u64> {
        Some(match value {
            Datum::Float4(v) => v.to_bits() as i32 as u64,
            Datum::Float8(v) => v.to_bits(),
            Datum::Bytes(_) | Datum::Toasted(_) | Datum::Null => return None,
            other => crate::compare::widen(other) as u64,
        })
    }
    match (word(a), word(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => image(a).cmp(&image(b)),
    }
}

fn image(value: &Datum) -> Vec<u8> {
    let mut out = Vec::new();
    match value {
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        other => encode(Physical::Varlena, other, &mut out),
    }
    out
}

#[cfg(test)]
mod tests;
