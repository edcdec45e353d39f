//! Documents as rows: `json_to_record`, `json_to_recordset` and their `jsonb` twins.
//!
//! The caller says the row's columns ([`Call::columns`]); a function that gives a named composite type waits for values of
//! such types.

use std::borrow::Cow;

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    array::{Array, Dimension, Dimensions, MAX_DIMENSIONS},
    call::{Call, ResultColumn},
    oids,
    registry::{self, SetRows, Values, shape_of},
    value::FromDatum,
};

use super::{
    binary::{Json, Kind},
    encode::{Category, category},
    extract::Rows,
    input,
    tape::{Shape, Tape, Value},
    walk::text_datum,
};

functions! {
    3204 json_to_record(json) -> record [stable strict one_row] { set to_record }
    3205 json_to_recordset(json) -> record [stable returns_set rows(100.0)] { set to_recordset }
    3490 jsonb_to_record(jsonb) -> record [stable strict one_row] { set jsonb_to_record }
    3491 jsonb_to_recordset(jsonb) -> record [stable returns_set rows(100.0)] { set jsonb_to_recordset }
    3209 jsonb_populate_record(anyelement, jsonb) -> anyelement [stable] { fn no_composite }
    3475 jsonb_populate_recordset(anyelement, jsonb) -> anyelement [stable returns_set rows(100.0)] { set no_composites }
    3960 json_populate_record(anyelement, json, bool) -> anyelement [stable names(&["base", "from_json", "use_json_as_text"]) defaults(&["false"])] { fn no_composite }
    3961 json_populate_recordset(anyelement, json, bool) -> anyelement [stable returns_set rows(100.0) names(&["base", "from_json", "use_json_as_text"]) defaults(&["false"])] { set no_composites }
    6338 jsonb_populate_record_valid(anyelement, jsonb) -> bool [stable] { fn no_composite }
}

fn no_composite(_cx: &Call, _args: &[Datum]) -> SqlResult<Datum> {
    Err(SqlError::not_supported("a value of a composite type from JSON"))
}

fn no_composites(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    no_composite(cx, args)?;
    Ok(Box::new(Values(std::iter::empty())))
}

/// A value of either kind of document.
#[derive(Clone, Copy)]
enum Source<'t> {
    Text(Value<'t>),
    Binary(Json<'t>),
}

impl<'t> Source<'t> {
    fn is_null(self) -> bool {
        match self {
            Source::Text(value) => value.shape() == Shape::Null,
            Source::Binary(node) => node.kind() == Kind::Null,
        }
    }

    fn is_array(self) -> bool {
        match self {
            Source::Text(value) => value.shape() == Shape::Array,
            Source::Binary(node) => node.kind() == Kind::Array,
        }
    }

    fn is_object(self) -> bool {
        match self {
            Source::Text(value) => value.shape() == Shape::Object,
            Source::Binary(node) => node.kind() == Kind::Object,
        }
    }

    fn is_string(self) -> bool {
        match self {
            Source::Text(value) => value.shape() == Shape::String,
            Source::Binary(node) => node.kind() == Kind::String,
        }
    }

    fn get(self, key: &str) -> Option<Source<'t>> {
        match self {
            Source::Text(value) => value.get(key).map(Source::Text),
            Source::Binary(node) => node.get(key).map(Source::Binary),
        }
    }

    fn elements(self) -> Vec<Source<'t>> {
        match self {
            Source::Text(value) => value.elements().map(Source::Text).collect(),
            Source::Binary(node) => node.elements().map(Source::Binary).collect(),
        }
    }

    /// A string's meaning, any other value's text.
    fn plain(self) -> SqlResult<Cow<'t, str>> {
        match self {
            Source::Text(value) => Ok(value.plain()),
            Source::Binary(node) if node.kind() == Kind::String => Ok(Cow::Borrowed(node.text())),
            Source::Binary(node) => Ok(Cow::Owned(<&str>::from_datum(&text_datum(node)?).to_owned())),
        }
    }

    fn as_json(self) -> SqlResult<Datum> {
        match self {
            Source::Text(value) => Ok(Datum::text(value.text())),
            Source::Binary(node) => {
                let mut out = Vec::new();
                input::output(node.bytes(), &mut out)?;
                Ok(Datum::Bytes(out.into()))
            }
        }
    }

    fn as_jsonb(self) -> SqlResult<Datum> {
        match self {
            Source::Text(value) => input::from_text(value.text()),
            Source::Binary(node) => Ok(node.to_datum()),
        }
    }
}

/// The value of a type that a document's value means; `key`: where it stands, for hints.
fn value_of(source: Source<'_>, type_oid: Oid, typmod: i32, key: &str, cx: &Call) -> SqlResult<Datum> {
    match type_oid {
        _ if source.is_null() => return Ok(Datum::Null),
        oids::json => return source.as_json(),
        oids::jsonb => return source.as_jsonb(),
        _ => {}
    }
    match category(type_oid, cx) {
        (Category::Array, base) if !source.is_string() => array_of(source, base, typmod, key, cx),
        (Category::Row, _) => Err(SqlError::not_supported("a value of a composite type from JSON")),
        _ => registry::input(type_oid, &source.plain()?, typmod, cx),
    }
}

/// An array on its way from nested JSON arrays.
struct ArrayFill<'a> {
    element: Oid,
    typmod: i32,
    key: &'a str,
    /// Number of dimensions, once the first element that is no array was seen.
    depth: Option<usize>,
    lengths: Vec<Option<usize>>,
    values: Vec<Datum>,
    /// Subscripts of the place.
    place: Vec<usize>,
}

impl ArrayFill<'_> {
    fn expected_array(&self) -> SqlError {
        let hint = match self.place.as_slice() {
            [] => format!("See the value of key \"{}\".", self.key),
            place => {
                let place: String = place.iter().map(|i| format!("[{i}]")).collect();
                format!("See the array element {place} of key \"{}\".", self.key)
            }
        };
        sql_err!(INVALID_TEXT_REPRESENTATION, "expected JSON array").hint(hint)
    }

    /// Takes the elements of an array at a level from 1.
    fn level(&mut self, source: Source<'_>, level: usize, cx: &Call) -> SqlResult<()> {
        if level > MAX_DIMENSIONS {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions ({level}) exceeds the maximum allowed ({MAX_DIMENSIONS})"
            ));
        }
        let elements = source.elements();
        if self.lengths.len() < level {
            self.lengths.push(None);
        }
        let count = elements.len();
        if *self.lengths[level - 1].get_or_insert(count) != count {
            return Err(sql_err!(INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        for (i, element) in elements.into_iter().enumerate() {
            self.place.push(i);
            if self.depth.is_none() && !element.is_array() {
                self.depth = Some(level);
            }
            match self.depth {
                Some(depth) if level >= depth => {
                    self.values.push(value_of(element, self.element, self.typmod, self.key, cx)?);
                }
                _ if !element.is_array() => return Err(self.expected_array()),
                _ => self.level(element, level + 1, cx)?,
            }
            self.place.pop();
        }
        Ok(())
    }
}

fn array_of(source: Source<'_>, type_oid: Oid, typmod: i32, key: &str, cx: &Call) -> SqlResult<Datum> {
    let element = shape_of(type_oid, cx)?.element;
    let mut fill = ArrayFill {
        element,
        typmod,
        key,
        depth: None,
        lengths: Vec::new(),
        values: Vec::new(),
        place: Vec::new(),
    };
    if !source.is_array() {
        return Err(fill.expected_array());
    }
    fill.level(source, 1, cx)?;
    let Some(depth) = fill.depth else { return Ok(Array::empty(element, cx)?.to_datum()) };
    let dimensions: Dimensions = fill.lengths[..depth]
        .iter()
        .map(|length| Dimension { length: length.unwrap_or(0) as i32, lower: 1 })
        .collect();
    Ok(Array::with_dimensions(element, dimensions, fill.values, cx)?.to_datum())
}

/// The columns of a row from an object.
fn row_of(source: Source<'_>, columns: &[ResultColumn], cx: &Call) -> SqlResult<Vec<Datum>> {
    let column = |column: &ResultColumn| match source.get(&column.name) {
        Some(value) => value_of(value, column.type_oid, column.typmod, &column.name, cx),
        None => Ok(Datum::Null),
    };
    columns.iter().map(column).collect()
}

fn check_columns(cx: &Call, name: &str) -> SqlResult<()> {
    if !cx.columns.is_empty() {
        return Ok(());
    }
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "could not determine row type for result of {name}")
        .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list."))
}

fn wrong_kind(message: String) -> SqlError {
    SqlError::new(base::SqlState::INVALID_PARAMETER_VALUE, message)
}

fn record(cx: &Call, source: Source<'_>, name: &str) -> SqlResult<Box<dyn SetRows>> {
    check_columns(cx, name)?;
    if !source.is_object() {
        let what = if source.is_array() { "an array" } else { "a scalar" };
        return Err(wrong_kind(format!("cannot call populate_composite on {what}")));
    }
    Rows::boxed(vec![row_of(source, cx.columns, cx)?])
}

fn recordset(cx: &Call, source: Source<'_>, name: &str) -> SqlResult<Box<dyn SetRows>> {
    check_columns(cx, name)?;
    if !source.is_array() {
        let what = match source {
            Source::Binary(_) => "a non-array",
            Source::Text(_) if source.is_object() => "an object",
            Source::Text(_) => "a scalar",
        };
        return Err(wrong_kind(format!("cannot call {name} on {what}")));
    }
    let mut rows = Vec::new();
    for element in source.elements() {
        if !element.is_object() {
            return Err(wrong_kind(format!("argument of {name} must be an array of objects")));
        }
        rows.push(row_of(element, cx.columns, cx)?);
    }
    Rows::boxed(rows)
}

fn to_record(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let tape = Tape::of(<&str>::from_datum(&args[0]), true)?;
    record(cx, Source::Text(tape.root()), "json_to_record")
}

fn jsonb_to_record(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    record(cx, Source::Binary(Json::from_datum(&args[0])), "jsonb_to_record")
}

fn to_recordset(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let Some(text) = Option::<&str>::from_datum(&args[0]) else { return Rows::boxed(Vec::new()) };
    let tape = Tape::of(text, true)?;
    recordset(cx, Source::Text(tape.root()), "json_to_recordset")
}

fn jsonb_to_recordset(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let Some(json) = Option::<Json>::from_datum(&args[0]) else { return Rows::boxed(Vec::new()) };
    recordset(cx, Source::Binary(json), "jsonb_to_recordset")
}
