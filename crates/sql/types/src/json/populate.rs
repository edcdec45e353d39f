//! Documents as rows: `json_to_record`, `json_populate_record`, their set-returning and their `jsonb` twins.
//!
//! The columns of the rows are those of a composite type, of the first argument, or those that the caller names
//! ([`Call::columns`]).

use std::borrow::Cow;

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    array::{Array, Dimension, Dimensions, MAX_DIMENSIONS},
    call::{Call, ResultColumn},
    oids,
    record::{FieldType, Row, RowType},
    registry::{self, SetRows, shape_of},
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
    3209 jsonb_populate_record(anyelement, jsonb) -> anyelement [stable] { fn populate_record }
    3475 jsonb_populate_recordset(anyelement, jsonb) -> anyelement [stable returns_set rows(100.0)] { set populate_recordset }
    3960 json_populate_record(anyelement, json, bool) -> anyelement [stable names(&["base", "from_json", "use_json_as_text"]) defaults(&["false"])] { fn populate_record }
    3961 json_populate_recordset(anyelement, json, bool) -> anyelement [stable returns_set rows(100.0) names(&["base", "from_json", "use_json_as_text"]) defaults(&["false"])] { set populate_recordset }
    6338 jsonb_populate_record_valid(anyelement, jsonb) -> bool [stable] { fn populate_record_valid }
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
    if source.is_null() {
        return cx.session.type_null(type_oid);
    }
    let (category, base) = category(type_oid, cx);
    let value = match category {
        Category::Json => source.as_json()?,
        Category::Jsonb => source.as_jsonb()?,
        Category::Array if !source.is_string() => array_of(source, base, typmod, key, cx)?,
        Category::Row if !source.is_string() => RowShape::of_type(base, cx)?.populate(source, None, cx)?,
        // The input function of a domain checks it.
        _ => return registry::input(type_oid, &source.plain()?, typmod, cx),
    };
    if base == type_oid { Ok(value) } else { cx.session.domain_check(type_oid, value) }
}

/// A document as a value of a type; `omit_quotes`: a string goes without its quotes.
pub fn typed(
    document: &Datum,
    type_oid: Oid,
    typmod: i32,
    omit_quotes: bool,
    cx: &Call<'_>,
) -> SqlResult<Datum> {
    let node = Json::from_datum(document);
    let whole = if omit_quotes && node.kind() == Kind::String {
        return registry::input(type_oid, node.text(), typmod, cx);
    } else if omit_quotes {
        matches!(category(type_oid, cx).0, Category::Text)
    } else {
        !matches!(category(type_oid, cx).0, Category::Array | Category::Row)
    };
    if whole && !matches!(type_oid, oids::json | oids::jsonb) {
        let text = Source::Binary(node).as_json()?;
        return registry::input(type_oid, <&str>::from_datum(&text), typmod, cx);
    }
    match (node.kind(), type_oid) {
        (_, oids::jsonb) => Ok(document.clone()),
        (_, oids::json) => Source::Binary(node).as_json(),
        // A string is no array and no row here, though a field's would be read as one.
        (Kind::String, _) => match category(type_oid, cx) {
            (Category::Array, base) => array_of(Source::Binary(node), base, typmod, "", cx),
            (Category::Row, base) => RowShape::of_type(base, cx)?.populate(Source::Binary(node), None, cx),
            _ => value_of(Source::Binary(node), type_oid, typmod, "", cx),
        },
        _ => value_of(Source::Binary(node), type_oid, typmod, "", cx),
    }
}

/// NULL as a value of a type: an error for domains that do not allow it.
pub fn null_of(type_oid: Oid, cx: &Call<'_>) -> SqlResult<Datum> {
    cx.session.type_null(type_oid)
}

/// The rows that documents become.
struct RowShape {
    row: RowType,
    /// Name and type modifier of each column.
    columns: Vec<(String, i32)>,
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
        let error = sql_err!(INVALID_TEXT_REPRESENTATION, "expected JSON array");
        let place: String = self.place.iter().map(|i| format!("[{i}]")).collect();
        match (place.as_str(), self.key) {
            ("", "") => error,
            ("", key) => error.hint(format!("See the value of key \"{key}\".")),
            (place, "") => error.hint(format!("See the array element {place}.")),
            (place, key) => error.hint(format!("See the array element {place} of key \"{key}\".")),
        }
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

impl RowShape {
    /// Of a composite type.
    fn of_type(type_oid: Oid, cx: &Call) -> SqlResult<RowShape> {
        let missing = || SqlError::internal(format!("type {type_oid} has no columns"));
        let columns = cx.session.row_columns(type_oid)?.ok_or_else(missing)?;
        let names = cx.session.row_names(type_oid)?;
        Ok(RowShape {
            columns: names.into_iter().zip(columns.iter().map(|c| c.typmod)).collect(),
            row: RowType {
                type_oid,
                fields: columns.iter().map(|c| c.field).collect(),
                names: Box::default(),
            },
        })
    }

    /// Of a row that says itself what it is made of.
    fn of_value(value: &Datum, cx: &Call) -> SqlResult<RowShape> {
        let row = Row::from_payload(<&[u8]>::from_datum(value));
        if row.type_oid != oids::record {
            return RowShape::of_type(row.type_oid, cx);
        }
        let name = |i: usize| row.names.get(i).cloned().unwrap_or_else(|| format!("f{}", i + 1));
        Ok(RowShape {
            columns: (0..row.fields.len()).map(|i| (name(i), -1)).collect(),
            row: RowType {
                type_oid: oids::record,
                fields: row.fields.iter().map(|(field, _)| *field).collect(),
                names: row.names.iter().map(|name| name.as_str().into()).collect(),
            },
        })
    }

    /// Of the columns that a query names.
    fn of_columns(columns: &[ResultColumn], cx: &Call) -> SqlResult<RowShape> {
        let field = |c: &ResultColumn| Ok(FieldType::new(c.type_oid, &shape_of(c.type_oid, cx)?));
        Ok(RowShape {
            columns: columns.iter().map(|c| (c.name.clone(), c.typmod)).collect(),
            row: RowType {
                type_oid: oids::record,
                fields: columns.iter().map(field).collect::<SqlResult<_>>()?,
                names: columns.iter().map(|c| c.name.as_str().into()).collect(),
            },
        })
    }

    /// The values of a row from an object; what it does not say, the row before does.
    fn values(&self, source: Source<'_>, before: Option<&Row>, cx: &Call) -> SqlResult<Vec<Datum>> {
        if !source.is_object() {
            let what = if source.is_array() { "an array" } else { "a scalar" };
            return Err(wrong_kind(format!("cannot call populate_composite on {what}")));
        }
        let mut values = Vec::with_capacity(self.columns.len());
        for (i, ((name, typmod), field)) in self.columns.iter().zip(&self.row.fields).enumerate() {
            values.push(match (source.get(name), before) {
                _ if field.is_dropped() => Datum::Null,
                (Some(value), _) => value_of(value, field.type_oid, *typmod, name, cx)?,
                (None, Some(before)) => before.fields.get(i).map(|f| f.1.clone()).unwrap_or_default(),
                (None, None) => cx.session.type_null(field.type_oid)?,
            });
        }
        Ok(values)
    }

    /// A row from an object.
    fn populate(&self, source: Source<'_>, before: Option<&Row>, cx: &Call) -> SqlResult<Datum> {
        Ok(self.row.row(&self.values(source, before, cx)?))
    }
}

/// A call of a function whose first argument has the type of the result's rows.
struct Populate {
    name: &'static str,
    shape: RowShape,
    /// The first argument.
    before: Option<Row>,
    /// A domain over the composite type.
    domain: Option<Oid>,
}

impl Populate {
    fn new(cx: &Call, base: &Datum, name: &'static str) -> SqlResult<Populate> {
        let (category, type_oid) = category(cx.arg_type(0), cx);
        if !matches!(category, Category::Row) {
            return Err(sql_err!(DATATYPE_MISMATCH, "first argument of {name} must be a row type"));
        }
        let shape = match type_oid {
            oids::record if !base.is_null() => RowShape::of_value(base, cx)?,
            oids::record => {
                check_columns(cx, name)?;
                RowShape::of_columns(cx.columns, cx)?
            }
            _ => RowShape::of_type(type_oid, cx)?,
        };
        let before = (!base.is_null()).then(|| Row::from_payload(<&[u8]>::from_datum(base)));
        Ok(Populate { name, shape, before, domain: (type_oid != cx.arg_type(0)).then_some(cx.arg_type(0)) })
    }

    fn row(&self, source: Source<'_>, cx: &Call) -> SqlResult<Datum> {
        let row = self.shape.populate(source, self.before.as_ref(), cx)?;
        match self.domain {
            Some(domain) => cx.session.domain_check(domain, row),
            None => Ok(row),
        }
    }

    fn rows(&self, source: Source<'_>, cx: &Call) -> SqlResult<Box<dyn SetRows>> {
        let mut rows = Vec::new();
        for object in objects(source, self.name)? {
            cx.session.check_interrupts()?;
            rows.push(vec![self.row(object, cx)?]);
        }
        Rows::boxed(rows)
    }
}

/// Whether a call is one of the functions over `jsonb`.
fn is_binary(cx: &Call) -> bool {
    cx.arg_type(1) == oids::jsonb
}

fn populate_record(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let name = if is_binary(cx) { "jsonb_populate_record" } else { "json_populate_record" };
    if args[1].is_null() {
        return Ok(args[0].clone());
    }
    let populate = Populate::new(cx, &args[0], name)?;
    if is_binary(cx) {
        return populate.row(Source::Binary(Json::from_datum(&args[1])), cx);
    }
    let tape = Tape::of(<&str>::from_datum(&args[1]), true)?;
    populate.row(Source::Text(tape.root()), cx)
}

fn populate_record_valid(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    match populate_record(cx, args) {
        Ok(_) => Ok(Datum::Bool(true)),
        Err(error) if matches!(&error.code().as_str()[..2], "22" | "23") => Ok(Datum::Bool(false)),
        Err(error) => Err(error),
    }
}

fn populate_recordset(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let name = if is_binary(cx) { "jsonb_populate_recordset" } else { "json_populate_recordset" };
    if args[1].is_null() {
        return Rows::boxed(Vec::new());
    }
    let populate = Populate::new(cx, &args[0], name)?;
    if is_binary(cx) {
        return populate.rows(Source::Binary(Json::from_datum(&args[1])), cx);
    }
    let tape = Tape::of(<&str>::from_datum(&args[1]), true)?;
    populate.rows(Source::Text(tape.root()), cx)
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
    Rows::boxed(vec![RowShape::of_columns(cx.columns, cx)?.values(source, None, cx)?])
}

/// The objects of an array.
fn objects<'t>(source: Source<'t>, name: &str) -> SqlResult<Vec<Source<'t>>> {
    if !source.is_array() {
        let what = match source {
            Source::Binary(_) => "a non-array",
            Source::Text(_) if source.is_object() => "an object",
            Source::Text(_) => "a scalar",
        };
        return Err(wrong_kind(format!("cannot call {name} on {what}")));
    }
    let objects = source.elements();
    if objects.iter().any(|element| !element.is_object()) {
        return Err(wrong_kind(format!("argument of {name} must be an array of objects")));
    }
    Ok(objects)
}

fn recordset(cx: &Call, source: Source<'_>, name: &str) -> SqlResult<Box<dyn SetRows>> {
    check_columns(cx, name)?;
    let shape = RowShape::of_columns(cx.columns, cx)?;
    let mut rows = Vec::new();
    for object in objects(source, name)? {
        cx.session.check_interrupts()?;
        rows.push(shape.values(object, None, cx)?);
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
