//! `@>`: whether one document holds another.

use base::SqlResult;

use super::{
    binary::{Json, Kind},
    depth::deeper,
    walk::compare_scalars,
};

/// Whether `a` contains `b`. An array also contains a scalar document that is one of its elements.
pub(super) fn contains(a: Json<'_>, b: Json<'_>) -> SqlResult<bool> {
    match (a.kind(), b.kind()) {
        (Kind::Array, Kind::Array) | (Kind::Object, Kind::Object) => within(0, a, b),
        (Kind::Array, Kind::Object) | (Kind::Object, _) | (_, Kind::Object | Kind::Array) => Ok(false),
        (Kind::Array, _) => Ok(has_scalar(a, b)),
        _ => Ok(same_scalar(a, b)),
    }
}

fn same_scalar(a: Json<'_>, b: Json<'_>) -> bool {
    a.is_scalar() && b.is_scalar() && compare_scalars(a, b).is_eq()
}

fn has_scalar(array: Json<'_>, scalar: Json<'_>) -> bool {
    array.elements().any(|element| same_scalar(element, scalar))
}

/// For two containers of one kind.
fn within(level: usize, a: Json<'_>, b: Json<'_>) -> SqlResult<bool> {
    let member = |x: Json<'_>, y: Json<'_>| -> SqlResult<bool> {
        match (x.kind(), y.kind()) {
            (Kind::Array, Kind::Array) | (Kind::Object, Kind::Object) => {
                deeper(level, || within(level + 1, x, y))
            }
            _ => Ok(same_scalar(x, y)),
        }
    };
    if b.kind() == Kind::Object {
        if a.len() < b.len() {
            return Ok(false);
        }
        for (key, wanted) in b.pairs() {
            match a.get(key) {
                Some(value) if member(value, wanted)? => {}
                _ => return Ok(false),
            }
        }
        return Ok(true);
    }
    'wanted: for wanted in b.elements() {
        if wanted.is_scalar() {
            if !has_scalar(a, wanted) {
                return Ok(false);
            }
            continue;
        }
        for element in a.elements() {
            if member(element, wanted)? {
                continue 'wanted;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

/// `?`: whether a text is a key of an object, an element of an array, or the string itself.
pub(super) fn exists(a: Json<'_>, text: &str) -> bool {
    let is = |node: Json<'_>| node.kind() == Kind::String && node.text() == text;
    match a.kind() {
        Kind::Object => a.get(text).is_some(),
        Kind::Array => a.elements().any(is),
        _ => is(a),
    }
}
