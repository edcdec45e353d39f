//! Text and binary forms of rows.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use super::{FieldType, Row, RowType};
use crate::call::{Call, RegKind};
use crate::quoted::{push_quoted, quoted_size};
use crate::registry;
use crate::text::MAX_TEXT;
use crate::value::Reader;

/// Longest text of a row: a zero byte behind it counts in PostgreSQL.
const MOST_BYTES: usize = MAX_TEXT - 1;

/// A column of a composite type, as input needs it.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its place in the payload.
    pub field: FieldType,
    /// Type modifier.
    pub typmod: i32,
}

fn malformed(text: &str, detail: &str) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "malformed record literal: \"{text}\"").detail(detail.to_owned())
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// A row of type `type_oid` from `(a,b)`.
pub fn input(type_oid: Oid, columns: &[Column], text: &str, cx: &Call) -> SqlResult<Datum> {
    let mut rest = text.trim_start_matches(is_blank);
    rest = rest.strip_prefix('(').ok_or_else(|| malformed(text, "Missing left parenthesis."))?;
    let mut values = Vec::with_capacity(columns.len());
    let mut first = true;
    for column in columns {
        if column.field.is_dropped() {
            values.push(Datum::Null);
            continue;
        }
        if !first {
            rest = rest.strip_prefix(',').ok_or_else(|| malformed(text, "Too few columns."))?;
        }
        first = false;
        let item = if rest.starts_with([',', ')']) { None } else { Some(item(&mut rest, text)?) };
        values.push(match item {
            Some(item) => registry::input(column.field.type_oid, &item, column.typmod, cx)?,
            None => cx.session.type_null(column.field.type_oid)?,
        });
    }
    let rest = rest.strip_prefix(')').ok_or_else(|| malformed(text, "Too many columns."))?;
    if !rest.trim_start_matches(is_blank).is_empty() {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    Ok(row_type(type_oid, columns).row(&values))
}

fn row_type(type_oid: Oid, columns: &[Column]) -> RowType {
    RowType { type_oid, fields: columns.iter().map(|c| c.field).collect(), names: Box::default() }
}

/// One field up to the comma or parenthesis behind it.
fn item(rest: &mut &str, text: &str) -> SqlResult<String> {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = rest.char_indices().peekable();
    loop {
        let Some((at, c)) = chars.next() else { return Err(malformed(text, "Unexpected end of input.")) };
        match c {
            ',' | ')' if !quoted => {
                *rest = &rest[at..];
                return Ok(out);
            }
            '\\' => match chars.next() {
                Some((_, c)) => out.push(c),
                None => return Err(malformed(text, "Unexpected end of input.")),
            },
            '"' if quoted && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                chars.next();
                out.push('"');
            }
            '"' => quoted = !quoted,
            c => out.push(c),
        }
    }
}

/// Appends a row's text form. `columns`: those of its composite type, if it has one.
pub fn output(bytes: &[u8], columns: Option<&[Column]>, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let row = Row::from_payload(bytes);
    let start = out.len();
    out.push(b'(');
    for (i, (type_oid, value)) in shown(&row, columns).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        if !value.is_null() {
            let mut text = Vec::new();
            registry::output(type_oid, value, cx, &mut text)?;
            push_item(&text, start, cx, out)?;
        }
    }
    out.push(b')');
    Ok(())
}

/// The fields that a reader sees: dropped columns are left out, columns added since are NULL.
fn shown<'a>(
    row: &'a Row,
    columns: Option<&'a [Column]>,
) -> impl Iterator<Item = (Oid, &'a Datum)> + use<'a> {
    let count = columns.map_or(row.fields.len(), <[Column]>::len);
    (0..count).filter_map(move |i| {
        let field = match columns {
            Some(columns) => columns[i].field,
            None => row.fields[i].0,
        };
        let value = row.fields.get(i).map_or(&Datum::Null, |(_, value)| value);
        (!field.is_dropped()).then_some((field.type_oid, value))
    })
}

/// Appends a field to the text that begins at `start`.
fn push_item(text: &[u8], start: usize, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let special = |b: &u8| matches!(b, b'"' | b'\\' | b'(' | b')' | b',' | b' ' | b'\t'..=b'\r');
    let plain = !text.is_empty() && !text.iter().any(special);
    let size = if plain { text.len() } else { quoted_size(text) };
    // The parenthesis at the end counts too.
    check_size(out.len() - start + size + 1)?;
    if plain {
        out.extend_from_slice(text);
        return Ok(());
    }
    push_quoted(text, None, cx, out)
}

/// Fails if a row's text would be longer than PostgreSQL allows.
fn check_size(size: usize) -> SqlResult<()> {
    if size <= MOST_BYTES {
        return Ok(());
    }
    let error =
        sql_err!(PROGRAM_LIMIT_EXCEEDED, "string buffer exceeds maximum allowed length ({MAX_TEXT} bytes)");
    Err(error.detail(format!("Cannot enlarge string buffer containing {MOST_BYTES} bytes by 1 more bytes.")))
}

/// Appends a row's binary form.
pub fn send(bytes: &[u8], columns: Option<&[Column]>, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let row = Row::from_payload(bytes);
    let count = shown(&row, columns).count() as i32;
    out.extend_from_slice(&count.to_be_bytes());
    for (type_oid, value) in shown(&row, columns) {
        out.extend_from_slice(&type_oid.0.to_be_bytes());
        if value.is_null() {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        }
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        registry::send(type_oid, value, cx, out)?;
        let length = (out.len() - at - 4) as i32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// A row of type `type_oid` from its binary form.
pub fn receive(type_oid: Oid, columns: &[Column], bytes: &[u8], cx: &Call) -> SqlResult<Datum> {
    let mut reader = Reader::new(bytes);
    let (given, expected) = (reader.i32()?, columns.iter().filter(|c| !c.field.is_dropped()).count());
    if usize::try_from(given) != Ok(expected) {
        return Err(sql_err!(DATATYPE_MISMATCH, "wrong number of columns: {given}, expected {expected}"));
    }
    let mut values = Vec::with_capacity(columns.len());
    let mut number = 0;
    for column in columns {
        if column.field.is_dropped() {
            values.push(Datum::Null);
            continue;
        }
        number += 1;
        values.push(receive_field(column, number, &mut reader, cx)?);
    }
    reader.end()?;
    Ok(row_type(type_oid, columns).row(&values))
}

fn receive_field(column: &Column, number: usize, reader: &mut Reader<'_>, cx: &Call) -> SqlResult<Datum> {
    let (given, wanted) = (Oid(reader.i32()? as u32), column.field.type_oid);
    if given != wanted {
        let name = |oid: Oid| {
            let known = crate::format_type(oid, None).or_else(|| cx.session.reg_name(RegKind::Type, oid));
            known.unwrap_or_else(|| "???".into())
        };
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "binary data has type {given} ({}) instead of expected {wanted} ({}) in record column {number}",
            name(given),
            name(wanted)
        ));
    }
    match reader.i32()? {
        -1 => cx.session.type_null(wanted),
        length => {
            let length = usize::try_from(length)
                .map_err(|_| sql_err!(INVALID_BINARY_REPRESENTATION, "insufficient data left in message"))?;
            registry::receive(wanted, reader.take(length)?, column.typmod, cx)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_longest_length() {
        assert!(check_size(MOST_BYTES).is_ok());
        let error = check_size(MOST_BYTES + 1).unwrap_err();
        assert_eq!(error.message(), "string buffer exceeds maximum allowed length (1073741823 bytes)");
    }
}
