//! # What
//! The stored form of `jsonb`: reading it in place ([`Json`]) and writing it front to back ([`Builder`]).
//!
//! # Layout
//! A document is one *node*. A node's first byte is its kind, and its length is known from outside (the datum's, or the
//! table of the container around it). Numbers are little-endian, offsets count from the container's kind byte.
//!
//! | kind | | behind it |
//! |---|---|---|
//! | 0 | null | nothing |
//! | 1 | false | nothing |
//! | 2 | true | nothing |
//! | 3 | number | a [`numeric`](crate::numeric) payload |
//! | 4 | string | UTF-8 |
//! | 5 | array | the element nodes one behind the other; the table: for each element 4 bytes, the offset of its end; 4 bytes, the number of elements |
//! | 6 | object | for each pair the key's UTF-8 and the value's node; the table: for each pair 12 bytes: offset of the key, offset of the value (the end of the key), offset of the value's end; 4 bytes, the number of pairs |
//!
//! The table stands at the end so that a document is written in one pass, whatever its nesting, and a part of it is
//! taken out, or put into another document, by copying its bytes. A key is found by binary search in the table, an element by
//! its number; nothing else is decoded.
//!
//! # Invariants
//! 1. The entries of an object's table are ordered by the length of the key, then by its bytes; no key occurs twice.
//! 2. A child lies within its parent's nodes, in front of the table: a walk ends whatever the bytes are.
//! 3. Damaged bytes read as [`Kind::Damaged`], never as a panic; printing them is an error.
//!
//! # PostgreSQL counterpart and differences
//! `jsonb_util.c`: the same order of keys, hence the same output; the bytes are ours. Pairs lie in the order in which they
//! were given, so equal documents may have different bytes: compare with [`super::compare_datums`].

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use smallvec::SmallVec;
use tuple::{Bytes, Datum};

use crate::{
    numeric::Numeric,
    piece::{self, Pace},
    value::{FromDatum, IntoDatum, str_of},
};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const STRING: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// Bytes of an array's table entry.
const ELEMENT_ENTRY: usize = 4;
/// Bytes of an object's table entry.
const PAIR_ENTRY: usize = 12;
/// Most bytes of a string, and of the members of one container.
const MAX_SIZE: usize = 0x0FFF_FFFF;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// Bytes that are no node.
    Damaged,
}

/// A node in place.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(&'a [u8]);

impl<'a> Json<'a> {
    /// The document that a stored value holds.
    pub fn of(bytes: &'a [u8]) -> Json<'a> {
        Json(bytes)
    }

    /// The node's bytes: a document of their own.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The node as a document of its own.
    pub fn to_datum(self) -> Datum {
        Datum::Bytes(Bytes::new(self.0))
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(&NULL) => Kind::Null,
            Some(&FALSE) => Kind::Bool(false),
            Some(&TRUE) => Kind::Bool(true),
            Some(&NUMBER) => Kind::Number,
            Some(&STRING) => Kind::String,
            Some(&ARRAY) if self.table(ELEMENT_ENTRY).is_some() => Kind::Array,
            Some(&OBJECT) if self.table(PAIR_ENTRY).is_some() => Kind::Object,
            _ => Kind::Damaged,
        }
    }

    /// Neither array nor object?
    pub fn is_scalar(self) -> bool {
        !matches!(self.kind(), Kind::Array | Kind::Object)
    }

    fn body(self) -> &'a [u8] {
        self.0.get(1..).unwrap_or_default()
    }

    /// Text of a string.
    pub fn text(self) -> &'a str {
        str_of(self.body())
    }

    /// Stored payload of a number.
    pub fn number_payload(self) -> &'a [u8] {
        self.body()
    }

    /// Value of a number.
    pub fn number(self) -> Numeric {
        Numeric::from_payload(self.body())
    }

    fn u32_at(self, at: usize) -> Option<usize> {
        let bytes = self.0.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    /// Start of a container's table, and number of its entries.
    fn table(self, entry: usize) -> Option<(usize, usize)> {
        let end = self.0.len().checked_sub(4)?;
        let count = self.u32_at(end)?;
        let start = end.checked_sub(count.checked_mul(entry)?)?;
        (start >= 1).then_some((start, count))
    }

    /// Number of elements or pairs; 0 of a scalar.
    pub fn len(self) -> usize {
        let entry = match self.0.first() {
            Some(&ARRAY) => ELEMENT_ENTRY,
            Some(&OBJECT) => PAIR_ENTRY,
            _ => return 0,
        };
        self.table(entry).map_or(0, |(_, count)| count)
    }

    /// Whether there is no element or pair.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    fn child(self, start: usize, end: usize, table: usize) -> Json<'a> {
        let inside = start >= 1 && start < end && end <= table;
        Json(if inside { self.0.get(start..end).unwrap_or_default() } else { &[] })
    }

    /// An element of an array, from 0.
    pub fn element(self, index: usize) -> Option<Json<'a>> {
        if self.0.first() != Some(&ARRAY) {
            return None;
        }
        let (table, count) = self.table(ELEMENT_ENTRY)?;
        if index >= count {
            return None;
        }
        let end = self.u32_at(table + index * ELEMENT_ENTRY)?;
        let start = if index == 0 { 1 } else { self.u32_at(table + (index - 1) * ELEMENT_ENTRY)? };
        Some(self.child(start, end, table))
    }

    /// All elements.
    pub fn elements(self) -> impl Iterator<Item = Json<'a>> {
        (0..if self.kind() == Kind::Array { self.len() } else { 0 }).filter_map(move |i| self.element(i))
    }

    /// A pair of an object, in the order of keys.
    pub fn pair(self, index: usize) -> Option<(&'a [u8], Json<'a>)> {
        if self.0.first() != Some(&OBJECT) {
            return None;
        }
        let (table, count) = self.table(PAIR_ENTRY)?;
        if index >= count {
            return None;
        }
        let entry = table + index * PAIR_ENTRY;
        let (key, value, end) = (self.u32_at(entry)?, self.u32_at(entry + 4)?, self.u32_at(entry + 8)?);
        let name = if key >= 1 && value <= table { self.0.get(key..value).unwrap_or_default() } else { &[] };
        Some((name, self.child(value, end, table)))
    }

    /// All pairs, in the order of keys.
    pub fn pairs(self) -> impl Iterator<Item = (&'a str, Json<'a>)> {
        (0..if self.kind() == Kind::Object { self.len() } else { 0 })
            .filter_map(move |i| self.pair(i))
            .map(|(key, value)| (str_of(key), value))
    }

    /// The value of a key of an object.
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        let (mut low, mut high) = (0, if self.kind() == Kind::Object { self.len() } else { 0 });
        while low < high {
            let middle = (low + high) / 2;
            let (name, value) = self.pair(middle)?;
            match key_order(name, key.as_bytes()) {
                Ordering::Equal => return Some(value),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The element that a subscript means: from the end if negative.
    pub fn at(self, index: i64) -> Option<Json<'a>> {
        let index = if index < 0 { index + self.len() as i64 } else { index };
        self.element(usize::try_from(index).ok()?)
    }
}

impl<'a> FromDatum<'a> for Json<'a> {
    fn from_datum(datum: &'a Datum) -> Json<'a> {
        Json(<&[u8]>::from_datum(datum))
    }
}

impl IntoDatum for Json<'_> {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(self.to_datum())
    }
}

/// Order of keys in a table: shorter ones first.
pub(crate) fn key_order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The error for bytes that are no document.
pub(crate) fn damaged() -> SqlError {
    sql_err!(DATA_CORRUPTED, "invalid jsonb value")
}

/// A child of an open container: offsets in the builder's bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: usize,
    value: usize,
    end: usize,
}

/// A container that is being written.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: usize,
    first_entry: usize,
    object: bool,
    /// Start of the key that waits for its value.
    key: usize,
}

/// Writes a document front to back.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    open: SmallVec<[Frame; 8]>,
}

impl Builder {
    /// An empty document.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Begins an array or an object.
    pub fn open(&mut self, object: bool) {
        let start = self.bytes.len();
        self.bytes.push(if object { OBJECT } else { ARRAY });
        self.open.push(Frame { start, first_entry: self.entries.len(), object, key: start });
    }

    /// The key of the next value.
    pub fn key(&mut self, key: &str) -> SqlResult<()> {
        if key.len() > MAX_SIZE {
            return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "string too long to represent as jsonb string")
                .detail(format!(
                    "Due to an implementation restriction, jsonb strings cannot exceed {MAX_SIZE} bytes."
                )));
        }
        if let Some(frame) = self.open.last_mut() {
            frame.key = self.bytes.len();
            self.bytes.extend_from_slice(key.as_bytes());
        }
        Ok(())
    }

    /// Notes the node that begins at `start` as a child of the open container.
    fn wrote(&mut self, start: usize) {
        if let Some(frame) = self.open.last() {
            self.entries.push(Entry { key: frame.key, value: start, end: self.bytes.len() });
        }
    }

    fn scalar(&mut self, kind: u8, body: &[u8]) {
        let start = self.bytes.len();
        self.bytes.push(kind);
        self.bytes.extend_from_slice(body);
        self.wrote(start);
    }

    /// `null`
    pub fn null(&mut self) {
        self.scalar(NULL, &[]);
    }

    /// `true` or `false`
    pub fn bool(&mut self, value: bool) {
        self.scalar(if value { TRUE } else { FALSE }, &[]);
    }

    /// A finite number.
    pub fn number(&mut self, value: &Numeric) {
        self.scalar(NUMBER, &value.to_payload());
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> SqlResult<()> {
        if text.len() > MAX_SIZE {
            return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "string too long to represent as jsonb string")
                .detail(format!(
                    "Due to an implementation restriction, jsonb strings cannot exceed {MAX_SIZE} bytes."
                )));
        }
        self.scalar(STRING, text.as_bytes());
        Ok(())
    }

    /// A node of another document.
    pub fn node(&mut self, node: Json<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(node.bytes());
        self.wrote(start);
    }

    /// Ends the innermost container. Of pairs with one key the last one stays.
    pub fn close(&mut self) -> SqlResult<()> {
        let Some(frame) = self.open.pop() else {
            return Err(SqlError::internal("a jsonb container ends that did not begin"));
        };
        if self.bytes.len() - frame.start > MAX_SIZE {
            let what = if frame.object { "object" } else { "array" };
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "total size of jsonb {what} elements exceeds the maximum of {MAX_SIZE} bytes"
            ));
        }
        if frame.object {
            self.sort_pairs(frame)?;
        }
        let count = self.entries.len() - frame.first_entry;
        let mut pace = Pace::new();
        for i in frame.first_entry..self.entries.len() {
            pace.did(4)?;
            let entry = self.entries[i];
            let offset = |at: usize| ((at - frame.start) as u32).to_le_bytes();
            if frame.object {
                self.bytes.extend_from_slice(&offset(entry.key));
                self.bytes.extend_from_slice(&offset(entry.value));
            }
            self.bytes.extend_from_slice(&offset(entry.end));
        }
        self.bytes.extend_from_slice(&(count as u32).to_le_bytes());
        self.entries.truncate(frame.first_entry);
        self.wrote(frame.start);
        Ok(())
    }

    /// Restores invariant 1 for the pairs of the container that ends.
    fn sort_pairs(&mut self, frame: Frame) -> SqlResult<()> {
        let Builder { bytes, entries, .. } = self;
        let pairs = &mut entries[frame.first_entry..];
        let before = pairs.len();
        let order =
            |bytes: &[u8], a: &Entry, b: &Entry| key_order(&bytes[a.key..a.value], &bytes[b.key..b.value]);
        piece::sort_by(pairs, |a, b| order(bytes, a, b))?;
        let mut kept: Vec<Entry> = Vec::with_capacity(before);
        for pair in pairs.iter() {
            match kept.last_mut() {
                Some(last) if order(bytes, last, pair).is_eq() => *last = *pair,
                _ => kept.push(*pair),
            }
        }
        if kept.len() == before {
            return Ok(());
        }
        // The bytes of pairs that fell away are taken out.
        let mut places: Vec<usize> = (0..kept.len()).collect();
        piece::sort_by(&mut places, |a, b| kept[*a].key.cmp(&kept[*b].key))?;
        let mut at = frame.start + 1;
        for i in places {
            let pair = kept[i];
            bytes.copy_within(pair.key..pair.end, at);
            kept[i] = Entry { key: at, value: at + pair.value - pair.key, end: at + pair.end - pair.key };
            at += pair.end - pair.key;
        }
        bytes.truncate(at);
        entries.truncate(frame.first_entry);
        entries.extend(kept);
        Ok(())
    }

    /// The document.
    pub fn finish(self) -> Datum {
        debug_assert!(self.open.is_empty(), "a jsonb container is still open");
        Datum::Bytes(Bytes::from(self.bytes))
    }
}
