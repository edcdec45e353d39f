//! SQL values as JSON: the text of `json`, the nodes of `jsonb`.

use base::{Oid, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    array::Array,
    call::{Call, DateFormat, FormatContext},
    compare::widen,
    date,
    numeric::Numeric,
    oids,
    piece::{self, Pace},
    registry::{self, builtin_type},
    timestamp,
    value::{FromDatum, str_of},
};

use super::{
    binary::{Builder, Json},
    depth::deeper,
    input,
    lex::escape,
    walk,
};

/// How values of a type become JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Bool,
    Number,
    Date,
    Timestamp,
    TimestampTz,
    Json,
    Jsonb,
    Array,
    Row,
    /// As a string of the text form.
    Text,
}

/// A type's category, and the type itself below domains.
pub(crate) fn category(type_oid: Oid, cx: &Call) -> (Category, Oid) {
    let base = if builtin_type(type_oid).is_some() { type_oid } else { cx.session.base_type(type_oid) };
    let category = match base {
        oids::bool => Category::Bool,
        oids::int2 | oids::int4 | oids::int8 | oids::float4 | oids::float8 | oids::numeric => {
            Category::Number
        }
        oids::date => Category::Date,
        oids::timestamp => Category::Timestamp,
        oids::timestamptz => Category::TimestampTz,
        oids::json => Category::Json,
        oids::jsonb => Category::Jsonb,
        oids::record => Category::Row,
        oids::anyarray | oids::int2vector | oids::oidvector => Category::Array,
        _ => match registry::shape_of(base, cx) {
            Ok(shape) if shape.element.is_valid() => Category::Array,
            _ if builtin_type(base).is_none() && cx.session.is_row_type(base) => Category::Row,
            _ => Category::Text,
        },
    };
    (category, base)
}

/// Whether values of a type are converted independently of settings. User-defined types are not examined.
pub fn is_immutable(type_oid: Oid) -> bool {
    let format = FormatContext::default();
    let cx = Call::new(&format);
    if builtin_type(type_oid).is_none() {
        return false;
    }
    match category(type_oid, &cx).0 {
        Category::Bool | Category::Number | Category::Jsonb | Category::Json => true,
        Category::Array => registry::shape_of(type_oid, &cx).is_ok_and(|s| is_immutable(s.element)),
        Category::Date | Category::Timestamp | Category::TimestampTz | Category::Row => false,
        Category::Text => builtin_type(type_oid).is_some_and(|t| t.output_is_immutable()),
    }
}

/// ISO 8601 text of a date or time, whatever the session's style.
pub(crate) fn moment_text(category: Category, value: &Datum, cx: &Call) -> String {
    let format = FormatContext { date_format: DateFormat::Iso, ..cx.format.clone() };
    let iso = Call { format: &format, ..*cx };
    let text = match category {
        Category::Date => return date::text(i32::from_datum(value), &iso),
        Category::Timestamp => timestamp::text(i64::from_datum(value), &iso),
        _ => timestamp::text_tz(i64::from_datum(value), &iso),
    };
    let mut text = text.replacen(' ', "T", 1);
    if category == Category::TimestampTz
        && let Some(sign) = text.rfind(['+', '-']).filter(|at| text[..*at].contains('T'))
    {
        let zone = text[sign + 1..].find(' ').map_or(text.len(), |n| sign + 1 + n);
        if zone - sign == 3 {
            text.insert_str(zone, ":00");
        }
    }
    text
}

/// Text form of a value.
fn plain_text(type_oid: Oid, value: &Datum, cx: &Call) -> SqlResult<String> {
    let mut out = Vec::new();
    registry::output(type_oid, value, cx, &mut out)?;
    Ok(str_of(&out).to_owned())
}

/// Neither NaN nor an infinity.
fn is_number(text: &str) -> bool {
    !text.contains(['N', 'n'])
}

/// Appends a value as JSON text.
pub(crate) fn append_json(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    append_json_at(0, type_oid, value, cx, false, out)
}

fn append_json_at(
    level: usize,
    type_oid: Oid,
    value: &Datum,
    cx: &Call,
    pretty: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    if value.is_null() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    let (category, base) = category(type_oid, cx);
    match category {
        Category::Bool => out.extend_from_slice(if bool::from_datum(value) { b"true" } else { b"false" }),
        Category::Number => {
            let text = plain_text(base, value, cx)?;
            if is_number(&text) {
                out.extend_from_slice(text.as_bytes());
            } else {
                escape(&text, out);
            }
        }
        Category::Date | Category::Timestamp | Category::TimestampTz => {
            escape(&moment_text(category, value, cx), out);
        }
        Category::Json => piece::append(out, <&[u8]>::from_datum(value))?,
        Category::Jsonb => input::output(<&[u8]>::from_datum(value), out)?,
        Category::Array => {
            let array = Array::from_payload(<&[u8]>::from_datum(value));
            if array.dimensions.is_empty() || array.elements().is_empty() {
                out.extend_from_slice(b"[]");
                return Ok(());
            }
            let mut values = array.elements().iter();
            deeper(level, || append_dimension(level + 1, &array, 0, &mut values, cx, pretty, out))?;
        }
        Category::Row => {
            let fields = cx.session.row_fields(base, value)?;
            deeper(level, || {
                for (i, field) in fields.iter().enumerate() {
                    out.extend_from_slice(match (i, pretty) {
                        (0, _) => b"{",
                        (_, true) => b",\n ",
                        (_, false) => b",",
                    });
                    escape(&field.name, out);
                    out.push(b':');
                    append_json_at(level + 1, field.type_oid, &field.value, cx, false, out)?;
                }
                out.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
                Ok(())
            })?;
        }
        Category::Text => escape(&plain_text(base, value, cx)?, out),
    }
    Ok(())
}

/// One dimension of an array; there are at most six.
fn append_dimension(
    level: usize,
    array: &Array,
    depth: usize,
    values: &mut std::slice::Iter<Datum>,
    cx: &Call,
    pretty: bool,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    out.push(b'[');
    let mut pace = Pace::new();
    for i in 0..array.dimensions[depth].length {
        pace.did(64)?;
        if i > 0 {
            out.extend_from_slice(if pretty && depth == 0 { b",\n " } else { b"," });
        }
        if depth + 1 < array.dimensions.len() {
            append_dimension(level, array, depth + 1, values, cx, pretty, out)?;
        } else if let Some(value) = values.next() {
            append_json_at(level, array.element, value, cx, false, out)?;
        }
    }
    out.push(b']');
    Ok(())
}

/// Appends a value as a node.
pub(crate) fn append_jsonb(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Builder) -> SqlResult<()> {
    append_jsonb_at(0, type_oid, value, cx, out)
}

fn append_jsonb_at(
    level: usize,
    type_oid: Oid,
    value: &Datum,
    cx: &Call,
    out: &mut Builder,
) -> SqlResult<()> {
    if value.is_null() {
        out.null();
        return Ok(());
    }
    let (category, base) = category(type_oid, cx);
    match category {
        Category::Bool => out.bool(bool::from_datum(value)),
        Category::Number => match value {
            Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) => out.number(&Numeric::from_i64(widen(value))),
            _ => {
                let text = plain_text(base, value, cx)?;
                if !is_number(&text) {
                    return out.string(&text);
                }
                out.number(&Numeric::parse(&text)?);
            }
        },
        Category::Date | Category::Timestamp | Category::TimestampTz => {
            out.string(&moment_text(category, value, cx))?;
        }
        Category::Json => input::append_text(<&str>::from_datum(value), out)?,
        Category::Jsonb => out.node(Json::from_datum(value)),
        Category::Array => {
            let array = Array::from_payload(<&[u8]>::from_datum(value));
            let mut values = array.elements().iter();
            if array.dimensions.is_empty() {
                out.open(false);
                return out.close();
            }
            deeper(level, || append_jsonb_dimension(level + 1, &array, 0, &mut values, cx, out))?;
        }
        Category::Row => {
            let fields = cx.session.row_fields(base, value)?;
            deeper(level, || {
                out.open(true);
                for field in &fields {
                    out.key(&field.name)?;
                    append_jsonb_at(level + 1, field.type_oid, &field.value, cx, out)?;
                }
                out.close()
            })?;
        }
        Category::Text => out.string(&plain_text(base, value, cx)?)?,
    }
    Ok(())
}

fn append_jsonb_dimension(
    level: usize,
    array: &Array,
    depth: usize,
    values: &mut std::slice::Iter<Datum>,
    cx: &Call,
    out: &mut Builder,
) -> SqlResult<()> {
    out.open(false);
    let mut pace = Pace::new();
    for _ in 0..array.dimensions[depth].length {
        pace.did(64)?;
        if depth + 1 < array.dimensions.len() {
            append_jsonb_dimension(level, array, depth + 1, values, cx, out)?;
        } else if let Some(value) = values.next() {
            append_jsonb_at(level, array.element, value, cx, out)?;
        }
    }
    out.close()
}

/// The text of a value that is to be a key.
pub(crate) fn key_text(type_oid: Oid, value: &Datum, cx: &Call) -> SqlResult<String> {
    let (category, base) = category(type_oid, cx);
    match category {
        Category::Array | Category::Row | Category::Json | Category::Jsonb => {
            Err(sql_err!(INVALID_PARAMETER_VALUE, "key value must be scalar, not array, composite, or json"))
        }
        Category::Bool => Ok(if bool::from_datum(value) { "true".into() } else { "false".into() }),
        Category::Date | Category::Timestamp | Category::TimestampTz => Ok(moment_text(category, value, cx)),
        Category::Number | Category::Text => plain_text(base, value, cx),
    }
}

/// Whether values of a type stand on lines of their own in an aggregate's text.
pub(crate) fn is_structured(type_oid: Oid, cx: &Call) -> bool {
    matches!(category(type_oid, cx).0, Category::Array | Category::Row)
}

/// `to_json`, `array_to_json` and `row_to_json`, the latter two with line feeds if the second argument says so.
pub(crate) fn to_json(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let pretty = args.get(1).is_some_and(|a| !a.is_null() && bool::from_datum(a));
    let mut out = Vec::new();
    append_json_at(0, cx.arg_type(0), &args[0], cx, pretty, &mut out)?;
    Ok(Datum::Bytes(out.into()))
}

/// `to_jsonb`
pub(crate) fn to_jsonb(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut out = Builder::new();
    append_jsonb(cx.arg_type(0), &args[0], cx, &mut out)?;
    Ok(out.finish())
}

/// `jsonb` as `json`-like pretty text.
pub(crate) fn pretty(value: &[u8]) -> SqlResult<Datum> {
    let mut out = Vec::new();
    walk::write(Json::of(value), true, &mut out)?;
    Ok(Datum::Bytes(out.into()))
}
