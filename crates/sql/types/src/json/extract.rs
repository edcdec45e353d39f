//! Parts of documents: by key, number and path, and as rows.

use base::{SqlError, SqlResult};
use tuple::Datum;

use crate::{
    array::Array,
    call::Call,
    piece::Pace,
    registry::{SetRows, Values},
    value::FromDatum,
};

use super::{
    binary::{Json, Kind},
    tape::{Shape, Tape, Value},
    walk::text_datum,
};

/// What the making of one part costs, in bytes that are gone through in the same time.
const PART: usize = 64;

/// A JSON text's part, as JSON or as SQL text.
fn part(value: Option<Value<'_>>, as_text: bool) -> Datum {
    match value {
        None => Datum::Null,
        Some(value) if !as_text => Datum::text(value.text()),
        Some(value) if value.shape() == Shape::Null => Datum::Null,
        Some(value) => Datum::text(&value.plain()),
    }
}

/// A stored document's part, as `jsonb` or as SQL text.
fn node(value: Option<Json<'_>>, as_text: bool) -> SqlResult<Datum> {
    match value {
        None => Ok(Datum::Null),
        Some(node) if as_text => text_datum(node),
        Some(node) => Ok(node.to_datum()),
    }
}

/// `json -> 'key'`
pub(super) fn field(json: &str, key: &str, as_text: bool) -> SqlResult<Datum> {
    Ok(part(Tape::of(json, true)?.root().get(key), as_text))
}

/// `json -> n`
pub(super) fn element(json: &str, index: i32, as_text: bool) -> SqlResult<Datum> {
    Ok(part(Tape::of(json, true)?.root().at(index.into()), as_text))
}

/// `jsonb -> 'key'`
pub(super) fn jsonb_field(json: Json<'_>, key: &str, as_text: bool) -> SqlResult<Datum> {
    node(json.get(key), as_text)
}

/// `jsonb -> n`. A scalar document counts as an array of one element here, as in PostgreSQL.
pub(super) fn jsonb_element(json: Json<'_>, index: i32, as_text: bool) -> SqlResult<Datum> {
    if json.is_scalar() && matches!(index, 0 | -1) {
        return node(Some(json), as_text);
    }
    node(json.at(index.into()), as_text)
}

/// The steps of a path; `None` when one of them is NULL.
fn steps(array: &Array) -> Option<Vec<&str>> {
    array.elements().iter().map(Option::<&str>::from_datum).collect()
}

/// A path element as an array's subscript.
pub(super) fn subscript(text: &str) -> Option<i64> {
    text.trim_start().parse::<i32>().ok().map(i64::from)
}

/// `json #> path`
pub(super) fn path(json: &str, path: &[u8], as_text: bool) -> SqlResult<Datum> {
    let array = Array::from_payload(path);
    let Some(steps) = steps(&array) else { return Ok(Datum::Null) };
    let tape = Tape::of(json, true)?;
    let mut at = Some(tape.root());
    for step in steps {
        at = at.and_then(|value| match value.shape() {
            Shape::Object => value.get(step),
            Shape::Array => value.at(subscript(step)?),
            _ => None,
        });
    }
    Ok(part(at, as_text))
}

/// `jsonb #> path`
pub(super) fn jsonb_path(json: Json<'_>, path: &[u8], as_text: bool) -> SqlResult<Datum> {
    let array = Array::from_payload(path);
    let Some(steps) = steps(&array) else { return Ok(Datum::Null) };
    let mut at = Some(json);
    for step in steps {
        at = at.and_then(|value| match value.kind() {
            Kind::Object => value.get(step),
            Kind::Array => value.at(subscript(step)?),
            _ => None,
        });
    }
    node(at, as_text)
}

fn wrong_kind(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INVALID_PARAMETER_VALUE, message)
}

/// `json_typeof`
pub(super) fn type_of(json: &str) -> SqlResult<&'static str> {
    Ok(match Tape::of(json, false)?.root().shape() {
        Shape::Object => "object",
        Shape::Array => "array",
        Shape::String | Shape::Key => "string",
        Shape::Number => "number",
        Shape::Bool => "boolean",
        Shape::Null => "null",
    })
}

/// `jsonb_typeof`
pub(super) fn jsonb_type_of(json: Json<'_>) -> SqlResult<&'static str> {
    Ok(match json.kind() {
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Bool(_) => "boolean",
        Kind::Null => "null",
        Kind::Damaged => return Err(super::binary::damaged()),
    })
}

/// `json_array_length`
pub(super) fn array_length(json: &str) -> SqlResult<i32> {
    let tape = Tape::of(json, false)?;
    match tape.root().shape() {
        Shape::Array => Ok(tape.root().elements().count() as i32),
        Shape::Object => Err(wrong_kind("cannot get array length of a non-array")),
        _ => Err(wrong_kind("cannot get array length of a scalar")),
    }
}

/// `jsonb_array_length`
pub(super) fn jsonb_array_length(json: Json<'_>) -> SqlResult<i32> {
    match json.kind() {
        Kind::Array => Ok(json.len() as i32),
        Kind::Object => Err(wrong_kind("cannot get array length of a non-array")),
        _ => Err(wrong_kind("cannot get array length of a scalar")),
    }
}

/// Rows that are all known at the start.
pub(super) struct Rows(std::vec::IntoIter<Vec<Datum>>);

impl Rows {
    pub(super) fn boxed(list: Vec<Vec<Datum>>) -> SqlResult<Box<dyn SetRows>> {
        Ok(Box::new(Rows(list.into_iter())))
    }
}

impl SetRows for Rows {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        match self.0.next() {
            Some(next) => {
                *row = next;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

fn values(list: Vec<Datum>) -> SqlResult<Box<dyn SetRows>> {
    Ok(Box::new(Values(list.into_iter().map(Ok))))
}

/// All parts of a document, which may be many.
fn gather<T>(parts: impl Iterator<Item = SqlResult<T>>) -> SqlResult<Vec<T>> {
    let mut pace = Pace::new();
    parts
        .map(|part| {
            pace.did(PART)?;
            part
        })
        .collect()
}

/// Which rows a set-returning function gives.
fn each_of(args: &[Datum], as_text: bool) -> SqlResult<Box<dyn SetRows>> {
    let Some(text) = Option::<&str>::from_datum(&args[0]) else { return Rows::boxed(Vec::new()) };
    let tape = Tape::of(text, true)?;
    match tape.root().shape() {
        Shape::Object => {}
        Shape::Array => return Err(wrong_kind("cannot deconstruct an array as an object")),
        _ => return Err(wrong_kind("cannot deconstruct a scalar")),
    }
    let rows =
        tape.root().pairs().map(|(key, value)| Ok(vec![Datum::text(&key), part(Some(value), as_text)]));
    Rows::boxed(gather(rows)?)
}

fn jsonb_each_of(args: &[Datum], as_text: bool, name: &str) -> SqlResult<Box<dyn SetRows>> {
    let Some(bytes) = Option::<&[u8]>::from_datum(&args[0]) else { return Rows::boxed(Vec::new()) };
    let json = Json::of(bytes);
    if json.kind() != Kind::Object {
        return Err(wrong_kind(format!("cannot call {name} on a non-object")));
    }
    let rows = json.pairs().map(|(key, value)| Ok(vec![Datum::text(key), node(Some(value), as_text)?]));
    Rows::boxed(gather(rows)?)
}

pub(super) fn each(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    each_of(args, false)
}

pub(super) fn each_text(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    each_of(args, true)
}

pub(super) fn jsonb_each(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    jsonb_each_of(args, false, "jsonb_each")
}

pub(super) fn jsonb_each_text(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    jsonb_each_of(args, true, "jsonb_each_text")
}

pub(super) fn object_keys(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let Some(text) = Option::<&str>::from_datum(&args[0]) else { return values(Vec::new()) };
    let tape = Tape::of(text, true)?;
    match tape.root().shape() {
        Shape::Object => values(gather(tape.root().pairs().map(|(key, _)| Ok(Datum::text(&key))))?),
        Shape::Array => Err(wrong_kind("cannot call json_object_keys on an array")),
        _ => Err(wrong_kind("cannot call json_object_keys on a scalar")),
    }
}

pub(super) fn jsonb_object_keys(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let Some(bytes) = Option::<&[u8]>::from_datum(&args[0]) else { return values(Vec::new()) };
    let json = Json::of(bytes);
    match json.kind() {
        Kind::Object => values(gather(json.pairs().map(|(key, _)| Ok(Datum::text(key))))?),
        Kind::Array => Err(wrong_kind("cannot call jsonb_object_keys on an array")),
        _ => Err(wrong_kind("cannot call jsonb_object_keys on a scalar")),
    }
}

fn elements_of(args: &[Datum], as_text: bool, name: &str) -> SqlResult<Box<dyn SetRows>> {
    let Some(text) = Option::<&str>::from_datum(&args[0]) else { return values(Vec::new()) };
    let tape = Tape::of(text, true)?;
    match tape.root().shape() {
        Shape::Array => values(gather(tape.root().elements().map(|value| Ok(part(Some(value), as_text))))?),
        Shape::Object => Err(wrong_kind(format!("cannot call {name} on a non-array"))),
        _ => Err(wrong_kind(format!("cannot call {name} on a scalar"))),
    }
}

fn jsonb_elements_of(args: &[Datum], as_text: bool) -> SqlResult<Box<dyn SetRows>> {
    let Some(bytes) = Option::<&[u8]>::from_datum(&args[0]) else { return values(Vec::new()) };
    let json = Json::of(bytes);
    match json.kind() {
        Kind::Array => values(gather(json.elements().map(|value| node(Some(value), as_text)))?),
        Kind::Object => Err(wrong_kind("cannot extract elements from an object")),
        _ => Err(wrong_kind("cannot extract elements from a scalar")),
    }
}

pub(super) fn array_elements(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    elements_of(args, false, "json_array_elements")
}

pub(super) fn array_elements_text(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    elements_of(args, true, "json_array_elements_text")
}

pub(super) fn jsonb_array_elements(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    jsonb_elements_of(args, false)
}

pub(super) fn jsonb_array_elements_text(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    jsonb_elements_of(args, true)
}

/// `json_strip_nulls`: the text anew, without blanks.
pub(super) fn strip_nulls(json: &str, in_arrays: bool) -> SqlResult<Datum> {
    let tape = Tape::of(json, true)?;
    let mut out = Vec::with_capacity(json.len());
    // Open containers: where they end in the tape, whether they are objects, whether a member was written.
    let mut open: Vec<(usize, bool, bool)> = Vec::new();
    let mut key = None;
    for value in tape.root().nodes() {
        while open.last().is_some_and(|(end, ..)| *end == value.place()) {
            out.push(if open.pop().is_some_and(|(_, object, _)| object) { b'}' } else { b']' });
        }
        if value.shape() == Shape::Key {
            key = Some(value);
            continue;
        }
        let pair = key.take();
        if value.shape() == Shape::Null
            && let Some((_, object, _)) = open.last()
            && (*object || in_arrays)
        {
            continue;
        }
        if let Some((_, _, any)) = open.last_mut()
            && std::mem::replace(any, true)
        {
            out.push(b',');
        }
        if let Some(name) = pair {
            super::lex::escape(&name.plain(), &mut out);
            out.push(b':');
        }
        match value.shape() {
            Shape::Object | Shape::Array => {
                let object = value.shape() == Shape::Object;
                out.push(if object { b'{' } else { b'[' });
                open.push((value.end(), object, false));
            }
            Shape::String => super::lex::escape(&value.plain(), &mut out),
            _ => out.extend_from_slice(value.text().as_bytes()),
        }
    }
    for (_, object, _) in open.iter().rev() {
        out.push(if *object { b'}' } else { b']' });
    }
    Ok(Datum::Bytes(out.into()))
}
