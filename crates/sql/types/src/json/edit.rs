//! Changed copies of stored documents: concatenation, deletion, `jsonb_set`, `jsonb_insert`, assignment to subscripts.
//!
//! Along the path the members are rewritten; everything beside it is copied as bytes.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    array::Array,
    value::{FromDatum, IntoDatum},
};

use super::{
    binary::{Builder, Json, Kind},
    depth::deeper,
};

/// Copies the members of a container, without its brackets; a scalar is one element.
fn copy_members(from: Json<'_>, out: &mut Builder) -> SqlResult<()> {
    match from.kind() {
        Kind::Array => from.elements().for_each(|element| out.node(element)),
        Kind::Object => {
            for (key, value) in from.pairs() {
                out.key(key)?;
                out.node(value);
            }
        }
        _ => out.node(from),
    }
    Ok(())
}

/// `a || b`
pub(super) fn concat(a: Json<'_>, b: Json<'_>) -> SqlResult<Datum> {
    let objects = (a.kind() == Kind::Object, b.kind() == Kind::Object);
    // An empty container beside one of its kind changes nothing.
    if objects.0 == objects.1 && !a.is_scalar() && !b.is_scalar() {
        if a.is_empty() {
            return Ok(b.to_datum());
        }
        if b.is_empty() {
            return Ok(a.to_datum());
        }
    }
    let mut out = Builder::new();
    out.open(objects == (true, true));
    for (side, object) in [(a, objects.0), (b, objects.1)] {
        if object && objects != (true, true) {
            out.node(side);
        } else {
            copy_members(side, &mut out)?;
        }
    }
    out.close()?;
    Ok(out.finish())
}

fn from_scalar(what: &str) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "cannot {what}")
}

/// `j - 'key'` and `j - '{keys}'`
pub(super) fn delete_keys(from: Json<'_>, keys: &[&str]) -> SqlResult<Datum> {
    if from.is_scalar() {
        return Err(from_scalar("delete from scalar"));
    }
    if from.is_empty() || keys.is_empty() {
        return Ok(from.to_datum());
    }
    let mut out = Builder::new();
    let object = from.kind() == Kind::Object;
    out.open(object);
    for (key, value) in from.pairs().filter(|(key, _)| !keys.contains(key)) {
        out.key(key)?;
        out.node(value);
    }
    for element in from.elements() {
        if element.kind() != Kind::String || !keys.contains(&element.text()) {
            out.node(element);
        }
    }
    out.close()?;
    Ok(out.finish())
}

/// `j - n`
pub(super) fn delete_element(from: Json<'_>, index: i32) -> SqlResult<Datum> {
    match from.kind() {
        Kind::Array => {}
        Kind::Object => return Err(from_scalar("delete from object using integer index")),
        _ => return Err(from_scalar("delete from scalar")),
    }
    let count = from.len() as i64;
    let index = i64::from(index) + if index < 0 { count } else { 0 };
    if !(0..count).contains(&index) {
        return Ok(from.to_datum());
    }
    let mut out = Builder::new();
    out.open(false);
    for (i, element) in from.elements().enumerate() {
        if i as i64 != index {
            out.node(element);
        }
    }
    out.close()?;
    Ok(out.finish())
}

/// What is done at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Take it out.
    Delete,
    /// Put the new value in its place; `create`: also where there is nothing.
    Set { create: bool },
    /// Insert the new value beside an array element, or under a new key of an object.
    Insert { after: bool },
    /// Set, and make the containers that the path lacks: what a subscript does.
    Assign,
}

impl Change {
    fn creates(self) -> bool {
        matches!(self, Change::Set { create: true } | Change::Insert { .. } | Change::Assign)
    }
}

/// One change on its way down.
pub(crate) struct Edit<'a> {
    path: &'a [&'a str],
    change: Change,
    new: Option<Json<'a>>,
}

impl<'a> Edit<'a> {
    /// The keys of a path; `error` if one is NULL.
    pub(super) fn path_of(array: &'a Array) -> SqlResult<Vec<&'a str>> {
        if array.dimensions.len() > 1 {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
        }
        array
            .elements()
            .iter()
            .enumerate()
            .map(|(i, element)| {
                Option::<&str>::from_datum(element).ok_or_else(|| {
                    sql_err!(NULL_VALUE_NOT_ALLOWED, "path element at position {} is null", i + 1)
                })
            })
            .collect()
    }

    pub(crate) fn new(path: &'a [&'a str], change: Change, new: Option<Json<'a>>) -> Edit<'a> {
        Edit { path, change, new }
    }

    /// The changed document.
    pub(crate) fn apply(&self, root: Json<'_>) -> SqlResult<Datum> {
        if self.path.is_empty() {
            return Ok(root.to_datum());
        }
        let mut out = Builder::new();
        self.step(root, 0, &mut out)?;
        Ok(out.finish())
    }

    fn put(&self, out: &mut Builder) {
        if let Some(new) = self.new {
            out.node(new);
        }
    }

    /// Writes `node` as the change leaves it; the path goes on at `level`.
    fn step(&self, node: Json<'_>, level: usize, out: &mut Builder) -> SqlResult<()> {
        deeper(level, || match node.kind() {
            Kind::Array => self.array(node, level, out),
            Kind::Object => self.object(node, level, out),
            _ => {
                if self.change == Change::Assign {
                    return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot replace existing key")
                        .detail("The path assumes key is a composite object, but it is a scalar value."));
                }
                out.node(node);
                Ok(())
            }
        })
    }

    fn object(&self, node: Json<'_>, level: usize, out: &mut Builder) -> SqlResult<()> {
        let name = self.path[level];
        let last = level + 1 == self.path.len();
        out.open(true);
        let mut found = false;
        for (key, value) in node.pairs() {
            if key != name {
                out.key(key)?;
                out.node(value);
                continue;
            }
            found = true;
            if !last {
                out.key(key)?;
                self.step(value, level + 1, out)?;
                continue;
            }
            match self.change {
                Change::Delete => {}
                Change::Set { .. } | Change::Assign => {
                    out.key(key)?;
                    self.put(out);
                }
                Change::Insert { .. } => {
                    return Err(sql_err!(INVALID_PARAMETER_VALUE, "cannot replace existing key")
                        .hint("Try using the function jsonb_set to replace key value."));
                }
            }
        }
        if !found && self.change.creates() && (last || self.change == Change::Assign) {
            out.key(name)?;
            self.fill(level + 1, out)?;
        }
        out.close()
    }

    fn array(&self, node: Json<'_>, level: usize, out: &mut Builder) -> SqlResult<()> {
        let text = self.path[level];
        let count = node.len() as i64;
        let given: i64 = text.trim_start().parse::<i32>().map(i64::from).map_err(|_| {
            let position = level + 1;
            sql_err!(
                INVALID_TEXT_REPRESENTATION,
                "path element at position {position} is not an integer: \"{text}\""
            )
        })?;
        let index = if given < 0 { given + count } else { given };
        if index < 0 && self.change == Change::Assign {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "path element at position {} is out of range: {given}",
                level + 1
            ));
        }
        let last = level + 1 == self.path.len();
        let create = self.change.creates() && (last || self.change == Change::Assign);
        out.open(false);
        if index < 0 && create {
            self.fill(level + 1, out)?;
        }
        for (i, element) in node.elements().enumerate() {
            if i as i64 != index {
                out.node(element);
            } else if !last {
                self.step(element, level + 1, out)?;
            } else {
                match self.change {
                    Change::Delete => {}
                    Change::Set { .. } | Change::Assign => self.put(out),
                    Change::Insert { after } => {
                        if after {
                            out.node(element);
                        }
                        self.put(out);
                        if !after {
                            out.node(element);
                        }
                    }
                }
            }
        }
        if index >= count && create {
            if self.change == Change::Assign {
                check_gap(index - count)?;
                (count..index).for_each(|_| out.null());
            }
            self.fill(level + 1, out)?;
        }
        out.close()
    }

    /// The new value with the containers around it that the rest of the path asks for.
    fn fill(&self, level: usize, out: &mut Builder) -> SqlResult<()> {
        let mut opened = 0;
        for text in self.path.iter().skip(level) {
            opened += 1;
            match text.parse::<i32>() {
                Ok(index) => {
                    if index < 0 {
                        return Err(sql_err!(
                            INVALID_PARAMETER_VALUE,
                            "path element at position {} is out of range: {index}",
                            level + opened
                        ));
                    }
                    check_gap(index.into())?;
                    out.open(false);
                    (0..index).for_each(|_| out.null());
                }
                Err(_) => {
                    out.open(true);
                    out.key(text)?;
                }
            }
        }
        self.put(out);
        for _ in 0..opened {
            out.close()?;
        }
        Ok(())
    }
}

/// An array of so many nulls would be larger than any document may be.
fn check_gap(nulls: i64) -> SqlResult<()> {
    if nulls > 0x0FFF_FFFF / 4 {
        return Err(sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of jsonb array elements exceeds the maximum allowed ({})",
            0x0FFF_FFFF / 4
        ));
    }
    Ok(())
}

/// `jsonb_set`, `jsonb_insert`, `#-` on arguments.
pub(super) fn change_path(
    root: Json<'_>,
    path: &[u8],
    new: Option<Json<'_>>,
    change: Change,
) -> SqlResult<Datum> {
    let array = Array::from_payload(path);
    if array.dimensions.len() > 1 {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
    }
    if root.is_scalar() {
        return Err(from_scalar(match change {
            Change::Delete => "delete path in scalar",
            _ => "set path in scalar",
        }));
    }
    if root.is_empty() && !change.creates() {
        return Ok(root.to_datum());
    }
    let path = Edit::path_of(&array)?;
    Edit::new(&path, change, new).apply(root)
}

/// One subscript of a `jsonb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// A number: an element, or a key that looks like it.
    Index(i32),
    /// A text: a key, or an element if it is a number.
    Key(String),
}

impl Subscript {
    fn text(&self) -> String {
        match self {
            Subscript::Index(n) => n.to_string(),
            Subscript::Key(key) => key.clone(),
        }
    }
}

/// `document[path]`: the part as `jsonb`, NULL where there is none.
pub fn subscript(document: &Datum, path: &[Subscript]) -> SqlResult<Datum> {
    let mut at = Json::from_datum(document);
    for step in path {
        let text = step.text();
        let found = match at.kind() {
            Kind::Object => at.get(&text),
            Kind::Array => super::extract::subscript(&text).and_then(|index| at.at(index)),
            _ => None,
        };
        match found {
            Some(found) => at = found,
            None => return Ok(Datum::Null),
        }
    }
    at.into_datum()
}

/// The document with a new value at `path`; containers that are missing are made, NULLs count as nothing and as `null`.
pub fn assign(document: &Datum, path: &[Subscript], value: &Datum) -> SqlResult<Datum> {
    let mut empty = Builder::new();
    empty.open(!matches!(path.first(), Some(Subscript::Index(_))));
    empty.close()?;
    let empty = empty.finish();
    let root = if document.is_null() { Json::from_datum(&empty) } else { Json::from_datum(document) };
    let new = if value.is_null() { Json::of(&[0]) } else { Json::from_datum(value) };
    let texts: Vec<String> = path.iter().map(Subscript::text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Edit::new(&texts, Change::Assign, Some(new)).apply(root)
}
