//! XPath over values: `xpath`, XMLEXISTS, and the rows and columns of XMLTABLE.

use std::rc::Rc;

use ::xml::xpath::{self, Item, Path, Value};
use ::xml::{Document, Kind, NodeId, Reading, declaration};
use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use tuple::Datum;

use super::{datum, escaped, lines, text_of};
use crate::array::Array;
use crate::call::Call;
use crate::oids;
use crate::value::FromDatum;

/// Prefixes that names in paths may have.
#[derive(Clone, Debug, Default)]
pub struct Namespaces(pub Vec<(String, String)>);

/// A document that paths are followed through.
#[derive(Debug)]
pub struct Source {
    document: Document,
    namespaces: Namespaces,
}

/// Rows that a path gives.
#[derive(Debug)]
pub struct Rows {
    source: Rc<Source>,
    items: Vec<Item>,
}

/// What a column's path gives for a row.
pub enum Found {
    /// Nothing.
    Nothing,
    /// Text that is to be read as the column's type.
    Text(String),
}

impl Source {
    /// Of a value, which must be a document.
    pub fn new(value: &str, namespaces: Namespaces, cx: &Call) -> SqlResult<Source> {
        let length = declaration::parse(value).map_or(0, |(_, length)| length);
        let outcome = ::xml::read(&value[length..], Reading::default())?;
        if outcome.problems.iter().any(|p| p.severity != ::xml::Severity::Warning) {
            return Err(sql_err!(INVALID_XML_DOCUMENT, "could not parse XML document")
                .detail(lines(&outcome.problems, |s| s != ::xml::Severity::Warning)));
        }
        for problem in outcome.problems {
            cx.session.tell(SqlError::with_severity(Severity::Warning, SqlState::WARNING, problem.text));
        }
        Ok(Source { document: outcome.document, namespaces })
    }

    fn value(&self, path: &Path, item: Item) -> SqlResult<Value> {
        path.evaluate(&self.document, &self.namespaces.0, item).map_err(told)
    }

    /// The nodes of a path as rows; other values are none.
    pub fn rows(self: &Rc<Source>, path: &str) -> SqlResult<Rows> {
        let path = compiled(path, "row path filter must not be empty string")?;
        let items = match self.value(&path, Item::of(NodeId::ROOT))? {
            Value::Nodes(items) => items,
            _ => Vec::new(),
        };
        Ok(Rows { source: self.clone(), items })
    }

    /// A node as a value of its own.
    fn node(&self, item: Item) -> SqlResult<String> {
        if item.namespace > 0 {
            return Err(sql_err!(OUT_OF_MEMORY, "could not copy node"));
        }
        match self.document.kind(item.node) {
            Kind::Attribute { value, .. } => Ok(escaped(value)),
            Kind::Text(text) => Ok(escaped(text)),
            _ => Ok(::xml::write_copy(&self.document, item.node)?),
        }
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What a path gives for a row, as text of a type; `numeric`: of the category of numbers.
    pub fn column(&self, row: usize, path: &ColumnPath, type_oid: Oid, numeric: bool) -> SqlResult<Found> {
        let source = &*self.source;
        let is_xml = type_oid == oids::xml;
        let text = match source.value(&path.0, self.items[row])? {
            Value::Nodes(items) if items.is_empty() => return Ok(Found::Nothing),
            Value::Nodes(items) if is_xml => {
                let mut out = String::new();
                for item in items {
                    out.push_str(&source.node(item)?);
                }
                out
            }
            Value::Nodes(items) => match items.as_slice() {
                [one] => one.text(&source.document),
                _ => {
                    let words = "more than one value returned by column XPath expression";
                    return Err(sql_err!(CARDINALITY_VIOLATION, "{words}"));
                }
            },
            Value::Text(text) => {
                if is_xml {
                    escaped(&text)
                } else {
                    text
                }
            }
            Value::Boolean(b) if numeric => if b { "1" } else { "0" }.to_owned(),
            Value::Boolean(b) => b.to_string(),
            Value::Number(n) => xpath::number_text(n),
        };
        Ok(Found::Text(text))
    }
}

/// The path of a column.
pub struct ColumnPath(Path);

impl ColumnPath {
    /// Of text.
    pub fn new(text: &str) -> SqlResult<ColumnPath> {
        compiled(text, "column path filter must not be empty string").map(ColumnPath)
    }
}

fn compiled(text: &str, empty: &str) -> SqlResult<Path> {
    if text.is_empty() {
        return Err(sql_err!(INVALID_ARGUMENT_FOR_XQUERY, "{empty}"));
    }
    Path::parse(text).map_err(told)
}

fn told(error: xpath::Error) -> SqlError {
    let with = |error: SqlError, detail: &str| if detail.is_empty() { error } else { error.detail(detail) };
    match error {
        xpath::Error::Syntax(words) => {
            with(sql_err!(INVALID_ARGUMENT_FOR_XQUERY, "invalid XPath expression"), words)
        }
        xpath::Error::Value(words) => {
            with(sql_err!(INVALID_ARGUMENT_FOR_XQUERY, "could not create XPath object"), words)
        }
        xpath::Error::Depth(deep) => deep.into(),
        xpath::Error::Interrupt(interrupt) => interrupt.into(),
    }
}

/// What a path comes to in a value.
fn evaluated(path: &str, value: &str, namespaces: Namespaces, cx: &Call) -> SqlResult<(Source, Value)> {
    // The path is looked at first, so that an empty one is told before the value.
    if path.is_empty() {
        return Err(sql_err!(INVALID_ARGUMENT_FOR_XQUERY, "empty XPath expression"));
    }
    let source = Source::new(value, namespaces, cx)?;
    let path = Path::parse(path).map_err(told)?;
    let found = source.value(&path, Item::of(NodeId::ROOT))?;
    Ok((source, found))
}

/// XMLEXISTS.
pub(super) fn xml_exists(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (_, found) = evaluated(text_of(&args[0]), text_of(&args[1]), Namespaces::default(), cx)?;
    Ok(Datum::Bool(!matches!(found, Value::Nodes(items) if items.is_empty())))
}

/// The third argument of `xpath`.
fn namespaces(array: &Datum) -> SqlResult<Namespaces> {
    let array = Array::from_payload(<&[u8]>::from_datum(array));
    let lengths: Vec<i32> = array.dimensions.iter().map(|d| d.length).collect();
    match lengths.as_slice() {
        [] => return Ok(Namespaces::default()),
        [_, 2] => {}
        _ => {
            return Err(sql_err!(DATA_EXCEPTION, "invalid array for XML namespace mapping")
                .detail("The array must be two-dimensional with length of the second axis equal to 2."));
        }
    }
    let mut out = Vec::new();
    for pair in array.elements().chunks(2) {
        let [prefix, uri] = pair else { continue };
        if prefix.is_null() || uri.is_null() {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "neither namespace name nor URI may be null"));
        }
        let (prefix, uri) = (text_of(prefix).to_owned(), text_of(uri).to_owned());
        if prefix.is_empty() {
            return Err(sql_err!(
                OUT_OF_MEMORY,
                "could not register XML namespace with name \"{prefix}\" and URI \"{uri}\""
            ));
        }
        out.push((prefix, uri));
    }
    Ok(Namespaces(out))
}

/// What PostgreSQL's functions of two arguments add: they are SQL functions that call those of three.
fn in_body(name: &str, args: &[Datum], result: SqlResult<Datum>) -> SqlResult<Datum> {
    match args.len() {
        2 => result.map_err(|e| e.context(format!("SQL function \"{name}\" statement 1"))),
        _ => result,
    }
}

pub(super) fn xpath(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    in_body("xpath", args, found_values(cx, args))
}

fn found_values(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let named = args.get(2).map(namespaces).transpose()?.unwrap_or_default();
    let (source, found) = evaluated(text_of(&args[0]), text_of(&args[1]), named, cx)?;
    let values = match found {
        Value::Nodes(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                runtime::check_interrupts()?;
                values.push(datum(source.node(item)?));
            }
            values
        }
        Value::Boolean(b) => vec![datum(b.to_string())],
        Value::Number(n) => vec![datum(super::value_text(oids::float8, &Datum::Float8(n), true, cx)?)],
        Value::Text(text) => vec![datum(escaped(&text))],
    };
    Ok(Array::from_values(oids::xml, values, cx)?.to_datum())
}

pub(super) fn xpath_exists(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let found = || {
        let named = args.get(2).map(namespaces).transpose()?.unwrap_or_default();
        let (_, found) = evaluated(text_of(&args[0]), text_of(&args[1]), named, cx)?;
        Ok(Datum::Bool(!matches!(found, Value::Nodes(items) if items.is_empty())))
    };
    in_body("xpath_exists", args, found())
}
