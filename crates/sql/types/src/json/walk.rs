//! Walks over stored documents that keep their own stack: text output, order, hash, removal of nulls.

use std::cmp::Ordering;

use base::SqlResult;
use smallvec::SmallVec;
use tuple::Datum;

use crate::{
    compare::{hash_bytes, hash_numeric, mix},
    numeric::compare_payloads,
    piece::Pace,
    value::{FromDatum, str_of},
};

use super::{
    binary::{Builder, Json, Kind, damaged},
    lex::escape,
};

/// One step of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// A scalar.
    Scalar(Json<'a>),
    /// An array or object begins.
    Open(Json<'a>),
    /// The key of the next value.
    Key(&'a [u8]),
    /// The innermost container ends; whether it is an object.
    Close(bool),
}

/// A container on the way.
#[derive(Clone, Copy)]
struct Place<'a> {
    node: Json<'a>,
    object: bool,
    /// Child that comes next.
    index: usize,
    /// The value of the pair whose key was given.
    value: Option<Json<'a>>,
}

/// Steps of a document, front to back, pairs in the order of keys.
pub(crate) struct Walk<'a> {
    root: Option<Json<'a>>,
    open: SmallVec<[Place<'a>; 8]>,
}

impl<'a> Walk<'a> {
    pub(crate) fn of(root: Json<'a>) -> Walk<'a> {
        Walk { root: Some(root), open: SmallVec::new() }
    }

    fn enter(&mut self, node: Json<'a>) -> Step<'a> {
        match node.kind() {
            kind @ (Kind::Array | Kind::Object) => {
                self.open.push(Place { node, object: kind == Kind::Object, index: 0, value: None });
                Step::Open(node)
            }
            _ => Step::Scalar(node),
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if let Some(root) = self.root.take() {
            return Some(self.enter(root));
        }
        let place = self.open.last_mut()?;
        if let Some(value) = place.value.take() {
            return Some(self.enter(value));
        }
        let index = place.index;
        place.index += 1;
        if place.object {
            if let Some((key, value)) = place.node.pair(index) {
                place.value = Some(value);
                return Some(Step::Key(key));
            }
        } else if let Some(element) = place.node.element(index) {
            return Some(self.enter(element));
        }
        self.open.pop().map(|place| Step::Close(place.object))
    }
}

fn scalar_text(node: Json<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    match node.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Kind::Number => out.extend_from_slice(node.number().to_string().as_bytes()),
        Kind::String => escape(node.text(), out),
        Kind::Array | Kind::Object | Kind::Damaged => return Err(damaged()),
    }
    Ok(())
}

fn new_line(out: &mut Vec<u8>, level: usize) {
    out.push(b'\n');
    out.resize(out.len() + 4 * level, b' ');
}

/// Appends the text form: on one line, or with an indented line for every member.
pub(crate) fn write(root: Json<'_>, pretty: bool, out: &mut Vec<u8>) -> SqlResult<()> {
    // Whether the next member is the first one of its container, and whether it stands behind its key.
    let (mut first, mut keyed, mut level) = (true, false, 0usize);
    let mut pace = Pace::new();
    for step in Walk::of(root) {
        pace.did(16)?;
        if !matches!(step, Step::Close(_)) && !keyed && level > 0 {
            if !first {
                out.extend_from_slice(if pretty { b"," } else { b", " });
            }
            if pretty {
                new_line(out, level);
            }
        }
        keyed = false;
        match step {
            Step::Scalar(node) => {
                scalar_text(node, out)?;
                first = false;
            }
            Step::Key(key) => {
                escape(str_of(key), out);
                out.extend_from_slice(b": ");
                keyed = true;
            }
            Step::Open(node) => {
                out.push(if node.kind() == Kind::Object { b'{' } else { b'[' });
                first = true;
                level += 1;
            }
            Step::Close(object) => {
                level -= 1;
                if pretty {
                    new_line(out, level);
                }
                out.push(if object { b'}' } else { b']' });
                first = false;
            }
        }
    }
    Ok(())
}

/// A node as SQL text: a string without quotes, `null` as NULL.
pub(crate) fn text_datum(node: Json<'_>) -> SqlResult<Datum> {
    match node.kind() {
        Kind::Null => Ok(Datum::Null),
        Kind::String => Ok(Datum::text(node.text())),
        _ => {
            let mut out = Vec::new();
            write(node, false, &mut out)?;
            Ok(Datum::Bytes(out.into()))
        }
    }
}

/// Place of a kind in the order of values.
fn rank(node: Json<'_>) -> u8 {
    match node.kind() {
        Kind::Damaged => 0,
        Kind::Null => 1,
        Kind::String => 2,
        Kind::Number => 3,
        Kind::Bool(_) => 4,
        Kind::Array => 5,
        Kind::Object => 6,
    }
}

/// Order of two scalars.
pub(crate) fn compare_scalars(a: Json<'_>, b: Json<'_>) -> Ordering {
    match (a.kind(), b.kind()) {
        (Kind::Bool(a), Kind::Bool(b)) => a.cmp(&b),
        (Kind::String, Kind::String) => a.text().cmp(b.text()),
        (Kind::Number, Kind::Number) => compare_payloads(a.number_payload(), b.number_payload()),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Order of two documents: object, array, boolean, number, string, null from the top; containers by their number of
/// members first. A scalar document counts as an array of one element, below other arrays of as many.
pub(crate) fn compare(a: Json<'_>, b: Json<'_>) -> Ordering {
    match (a.kind(), b.kind()) {
        (Kind::Array, _) if b.is_scalar() => return a.len().cmp(&1).then(Ordering::Greater),
        (_, Kind::Array) if a.is_scalar() => return 1.cmp(&b.len()).then(Ordering::Less),
        _ => {}
    }
    let (mut left, mut right) = (Walk::of(a), Walk::of(b));
    while let (Some(x), Some(y)) = (left.next(), right.next()) {
        let found = match (x, y) {
            (Step::Scalar(x), Step::Scalar(y)) => compare_scalars(x, y),
            (Step::Key(x), Step::Key(y)) => x.cmp(y),
            (Step::Open(x), Step::Open(y)) => rank(x).cmp(&rank(y)).then_with(|| x.len().cmp(&y.len())),
            (Step::Scalar(x) | Step::Open(x), Step::Scalar(y) | Step::Open(y)) => rank(x).cmp(&rank(y)),
            // Containers of one length and kind end together.
            _ => Ordering::Equal,
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

/// Order of two stored values.
pub fn compare_datums(a: &Datum, b: &Datum) -> Ordering {
    compare(Json::from_datum(a), Json::from_datum(b))
}

/// Hash of a stored value; equal documents hash equal.
pub fn hash_datum(value: &Datum) -> u64 {
    let mut hash = 0u64;
    for step in Walk::of(Json::from_datum(value)) {
        let part = match step {
            Step::Scalar(node) => match node.kind() {
                Kind::String => hash_bytes(node.text().as_bytes()),
                Kind::Number => hash_numeric(&Datum::Bytes(node.number_payload().into())),
                kind => u64::from(rank(node)) + u64::from(kind == Kind::Bool(true)),
            },
            Step::Key(key) => hash_bytes(key),
            Step::Open(node) => 0x20 + u64::from(rank(node)),
            Step::Close(object) => 0x10 + u64::from(object),
        };
        hash = mix(hash.rotate_left(5) ^ part);
    }
    hash
}

/// The document without the pairs whose value is null, and without null elements if asked for.
pub(crate) fn strip_nulls(root: Json<'_>, in_arrays: bool) -> SqlResult<Datum> {
    let mut out = Builder::new();
    let mut key = None;
    let mut depth: SmallVec<[bool; 16]> = SmallVec::new();
    let mut pace = Pace::new();
    for step in Walk::of(root) {
        pace.did(16)?;
        if let Step::Key(name) = step {
            key = Some(name);
            continue;
        }
        let null = matches!(step, Step::Scalar(node) if node.kind() == Kind::Null);
        let pair = key.take();
        if null && (pair.is_some() || (in_arrays && depth.last() == Some(&false))) {
            continue;
        }
        if let Some(name) = pair {
            out.key(str_of(name))?;
        }
        match step {
            Step::Scalar(node) => out.node(node),
            Step::Open(node) => {
                depth.push(node.kind() == Kind::Object);
                out.open(node.kind() == Kind::Object);
            }
            Step::Close(_) => {
                depth.pop();
                out.close()?;
            }
            Step::Key(_) => {}
        }
    }
    Ok(out.finish())
}
