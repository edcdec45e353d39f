//! Text and binary forms of arrays and vectors.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    oids,
    piece::{self, Pace},
    quoted::{push_quoted, quoted_size},
    registry::{self, shape_of},
    text::MAX_TEXT,
    value::{Reader, str_of},
};

use super::{Array, Dimension, Dimensions, MAX_DIMENSIONS, element_count};

/// What separates parts: ASCII blanks only, as other ones belong to elements.
fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn malformed(text: &str) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "malformed array literal: \"{text}\"")
}

/// Reads `{…}` or `[l:u]…={…}`.
pub fn input(element: Oid, text: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let shape = shape_of(element, cx)?;
    let mut parser = Parser {
        text,
        rest: text,
        delimiter: shape.delimiter as char,
        element,
        typmod,
        cx,
        lengths: Vec::new(),
        values: Vec::new(),
    };
    let bounds = parser.bounds()?;
    if !parser.rest.starts_with('{') {
        let detail = if bounds.is_empty() {
            "Array value must start with \"{\" or dimension information.".to_owned()
        } else {
            "Array contents must start with \"{\".".to_owned()
        };
        return Err(malformed(text).detail(detail));
    }
    parser.braces(0)?;
    if !parser.rest.trim_start_matches(blank).is_empty() {
        return Err(malformed(text).detail("Junk after closing right brace."));
    }
    let (lengths, values) = (parser.lengths, parser.values);
    let mut dimensions: Dimensions =
        lengths.iter().map(|length| Dimension { length: length.unwrap_or(0), lower: 1 }).collect();
    if !bounds.is_empty() {
        let same = bounds.len() == dimensions.len()
            && bounds.iter().zip(&dimensions).all(|(b, d)| b.length == d.length);
        if !same {
            return Err(malformed(text).detail("Specified array dimensions do not match array contents."));
        }
        dimensions = bounds;
    }
    if values.is_empty() {
        return Ok(Array::empty(element, cx)?.to_datum());
    }
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    delimiter: char,
    element: Oid,
    typmod: i32,
    cx: &'a Call<'a>,
    /// Length of each depth, once its first brace is closed.
    lengths: Vec<Option<i32>>,
    values: Vec<Datum>,
}

impl Parser<'_> {
    fn bad(&self, detail: impl Into<String>) -> SqlError {
        malformed(self.text).detail(detail)
    }

    /// `[l:u][l:u]=`
    fn bounds(&mut self) -> SqlResult<Dimensions> {
        let mut out = Dimensions::new();
        loop {
            self.rest = self.rest.trim_start_matches(blank);
            let Some(after) = self.rest.strip_prefix('[') else { break };
            if out.len() == MAX_DIMENSIONS {
                return Err(sql_err!(
                    PROGRAM_LIMIT_EXCEEDED,
                    "number of array dimensions exceeds the maximum allowed ({MAX_DIMENSIONS})"
                ));
            }
            let missing =
                || malformed(self.text).detail("\"[\" must introduce explicitly-specified array dimensions.");
            let (inner, rest) =
                after.split_once(']').ok_or_else(|| self.bad("Missing \"]\" after array dimensions."))?;
            let number = |text: &str| -> SqlResult<i32> {
                let value = text.trim_matches(blank).parse::<i64>().map_err(|_| missing())?;
                i32::try_from(value)
                    .map_err(|_| sql_err!(PROGRAM_LIMIT_EXCEEDED, "array bound is out of integer range"))
            };
            let (lower, upper) = match inner.split_once(':') {
                Some((lower, upper)) => (number(lower)?, number(upper)?),
                None => (1, number(inner)?),
            };
            if upper == i32::MAX {
                return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "array upper bound is too large: {upper}"));
            }
            if upper < lower {
                return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"));
            }
            let length =
                i32::try_from(i64::from(upper) - i64::from(lower) + 1).map_err(|_| super::too_large())?;
            out.push(Dimension { length, lower });
            self.rest = rest;
        }
        if !out.is_empty() {
            let after = self
                .rest
                .strip_prefix('=')
                .ok_or_else(|| self.bad("Missing \"=\" after array dimensions."))?;
            self.rest = after.trim_start_matches(blank);
            element_count(&out)?;
        }
        Ok(out)
    }

    /// One `{…}` at this depth.
    fn braces(&mut self, depth: usize) -> SqlResult<()> {
        if depth == MAX_DIMENSIONS {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions exceeds the maximum allowed ({MAX_DIMENSIONS})"
            ));
        }
        if self.lengths.len() == depth {
            self.lengths.push(None);
        }
        self.rest = &self.rest[1..];
        let mut count = 0;
        // Whether the items here are braces; known with the first one.
        let nested_before = self.lengths.len() > depth + 1;
        let mut nested: Option<bool> = None;
        let mut pace = Pace::new();
        loop {
            pace.did(64)?;
            if nested != Some(true) && self.lengths.len() == depth + 1 {
                let taken = self.integers(&mut pace)?;
                count += taken;
                nested = nested.or((taken > 0).then_some(false));
            }
            self.rest = self.rest.trim_start_matches(blank);
            let Some(c) = self.rest.chars().next() else { return Err(self.bad("Unexpected end of input.")) };
            let dimensions = "Multidimensional arrays must have sub-arrays with matching dimensions.";
            if c == '}' {
                if count > 0 {
                    return Err(self.bad("Unexpected \"}\" character."));
                }
                self.rest = &self.rest[1..];
                break;
            }
            if c == '{' {
                if nested == Some(false)
                    || (!nested_before && nested.is_none() && self.lengths[depth].is_some())
                {
                    return Err(self.bad(dimensions));
                }
                nested = Some(true);
                self.braces(depth + 1)?;
            } else if c == self.delimiter {
                return Err(self.bad(format!("Unexpected \"{c}\" character.")));
            } else {
                if nested == Some(true) || self.lengths.len() > depth + 1 {
                    return Err(self.bad(dimensions));
                }
                nested = Some(false);
                let value = self.item()?;
                self.values.push(value);
            }
            count += 1;
            self.rest = self.rest.trim_start_matches(blank);
            match self.rest.chars().next() {
                None => return Err(self.bad("Unexpected end of input.")),
                Some('}') => {
                    self.rest = &self.rest[1..];
                    break;
                }
                Some(c) if c == self.delimiter => self.rest = &self.rest[c.len_utf8()..],
                Some('{') => return Err(self.bad("Unexpected \"{\" character.")),
                Some(_) => return Err(self.bad("Unexpected array element.")),
            }
        }
        match self.lengths[depth] {
            None => self.lengths[depth] = Some(count),
            Some(length) if length == count => {}
            Some(_) => {
                return Err(
                    self.bad("Multidimensional arrays must have sub-arrays with matching dimensions.")
                );
            }
        }
        Ok(())
    }

    /// Takes integers that are written plainly, each with the delimiter behind it, as long as there are some; how many. Arrays of numbers may be long.
    fn integers(&mut self, pace: &mut Pace) -> SqlResult<i32> {
        let made: fn(i64) -> Option<Datum> = match self.element {
            oids::int2 => |n| i16::try_from(n).ok().map(Datum::Int2),
            oids::int4 => |n| i32::try_from(n).ok().map(Datum::Int4),
            oids::int8 => |n| Some(Datum::Int8(n)),
            _ => return Ok(0),
        };
        let before = self.values.len();
        while let Some((number, len)) = plain_integer(self.rest.as_bytes(), self.delimiter as u8)
            && let Some(value) = made(number)
        {
            pace.did(len)?;
            self.rest = &self.rest[len..];
            self.values.push(value);
        }
        i32::try_from(self.values.len() - before).map_err(|_| super::too_large())
    }

    /// One element: quoted or plain.
    fn item(&mut self) -> SqlResult<Datum> {
        let mut text = String::new();
        let mut quoted = false;
        let mut escaped = false;
        let mut keep = 0;
        let mut chars = self.rest.char_indices();
        let end = loop {
            let Some((i, c)) = chars.next() else { return Err(self.bad("Unexpected end of input.")) };
            match c {
                '"' => {
                    if quoted || !text.trim_end_matches(blank).is_empty() {
                        return Err(self.bad("Incorrectly quoted array element."));
                    }
                    quoted = true;
                    text.clear();
                    loop {
                        match chars.next() {
                            Some((_, '"')) => break,
                            Some((_, '\\')) => text.extend(chars.next().map(|(_, c)| c)),
                            Some((_, c)) => text.push(c),
                            None => return Err(self.bad("Unexpected end of input.")),
                        }
                    }
                }
                '{' => return Err(self.bad("Unexpected \"{\" character.")),
                '}' => break i,
                c if c == self.delimiter => break i,
                c if quoted && blank(c) => {}
                _ if quoted => return Err(self.bad("Incorrectly quoted array element.")),
                '\\' => {
                    escaped = true;
                    let Some((_, c)) = chars.next() else { return Err(self.bad("Unexpected end of input.")) };
                    text.push(c);
                    keep = text.len();
                }
                c => text.push(c),
            }
        };
        self.rest = &self.rest[end..];
        if !quoted {
            // Blanks at the end belong to the separator, unless escaped.
            let trimmed = text.trim_end_matches(blank).len().max(keep);
            text.truncate(trimmed);
            if !escaped && self.cx.format.array_nulls && text.eq_ignore_ascii_case("null") {
                return self.cx.session.type_null(self.element);
            }
        }
        registry::input(self.element, &text, self.typmod, self.cx)
    }
}

/// An integer of at most 18 digits in front of a delimiter, and how many bytes both are.
#[inline]
fn plain_integer(text: &[u8], delimiter: u8) -> Option<(i64, usize)> {
    let negative = *text.first()? == b'-';
    let first = usize::from(negative);
    let (mut number, mut at) = (0, first);
    loop {
        let byte = *text.get(at)?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let sound = byte == delimiter && at > first;
            return sound.then_some((if negative { -number } else { number }, at + 1));
        }
        if at == first + 18 {
            return None;
        }
        number = number * 10 + i64::from(digit);
        at += 1;
    }
}

/// Appends the text form.
pub fn output(bytes: &[u8], cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let array = Array::from_payload(bytes);
    if array.values.is_empty() {
        out.extend_from_slice(b"{}");
        return Ok(());
    }
    let delimiter = shape_of(array.element, cx)?.delimiter;
    let start = out.len();
    if array.dimensions.iter().any(|d| d.lower != 1) {
        for dimension in &array.dimensions {
            out.extend_from_slice(format!("[{}:{}]", dimension.lower, dimension.upper()).as_bytes());
        }
        out.push(b'=');
    }
    let mut values = array.values.iter();
    write_level(&array, 0, &mut values, delimiter, start, cx, out)
}

fn write_level(
    array: &Array,
    depth: usize,
    values: &mut std::slice::Iter<Datum>,
    delimiter: u8,
    start: usize,
    cx: &Call,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    out.push(b'{');
    let mut pace = Pace::new();
    for i in 0..array.dimensions[depth].length {
        if i > 0 {
            out.push(delimiter);
        }
        if depth + 1 < array.dimensions.len() {
            write_level(array, depth + 1, values, delimiter, start, cx, out)?;
        } else if let Some(value) = values.next() {
            write_item(array.element, value, delimiter, start, cx, out)?;
            pace.did(64)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends an element to the text that begins at `start`.
fn write_item(
    element: Oid,
    value: &Datum,
    delimiter: u8,
    start: usize,
    cx: &Call,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    if value.is_null() {
        out.extend_from_slice(b"NULL");
        return Ok(());
    }
    let mut text = Vec::new();
    registry::output(element, value, cx, &mut text)?;
    let plain = !text.is_empty()
        && !text.eq_ignore_ascii_case(b"null")
        && !text.iter().any(|b| {
            matches!(b, b'"' | b'\\' | b'{' | b'}')
                || *b == delimiter
                || b.is_ascii_whitespace()
                || *b == 0x0B
        });
    let size = if plain { text.len() } else { quoted_size(&text) };
    // The brace at the end and a zero byte behind it count too.
    let whole = out.len() - start + size + 2;
    if whole > MAX_TEXT {
        return Err(SqlError::internal(format!("invalid memory alloc request size {whole}")));
    }
    if plain {
        return piece::append(out, &text);
    }
    push_quoted(&text, Some(b'\\'), cx, out)
}

/// Reads PostgreSQL's binary form: dimensions, NULL flag, element type, bounds, elements with their lengths.
pub fn binary_receive(element: Oid, bytes: &[u8], typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let mut reader = Reader::new(bytes);
    let count = reader.i32()?;
    if !(0..=MAX_DIMENSIONS as i32).contains(&count) {
        return Err(if count < 0 {
            sql_err!(INVALID_BINARY_REPRESENTATION, "invalid number of dimensions: {count}")
        } else {
            sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions ({count}) exceeds the maximum allowed ({MAX_DIMENSIONS})"
            )
        });
    }
    let flags = reader.i32()?;
    if !(0..=1).contains(&flags) {
        return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid array flags"));
    }
    let sent = Oid(reader.i32()? as u32);
    if element != sent {
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "binary data has array element type {sent} ({}) instead of expected {element} ({})",
            registry::format_type(sent, None).unwrap_or_else(|| "???".into()),
            registry::format_type(element, None).unwrap_or_else(|| "???".into())
        ));
    }
    let mut dimensions = Dimensions::new();
    for _ in 0..count {
        let dimension = Dimension { length: reader.i32()?, lower: reader.i32()? };
        if dimension.length < 0 {
            return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid array dimensions"));
        }
        dimensions.push(dimension);
    }
    let count = element_count(&dimensions)?;
    let mut values = Vec::with_capacity(count.min(bytes.len() / 4));
    let mut pace = Pace::new();
    for _ in 0..count {
        pace.did(64)?;
        let length = reader.i32()?;
        values.push(match length {
            -1 => cx.session.type_null(element)?,
            ..-1 => return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "insufficient data left in message")),
            _ => registry::receive(element, reader.take(length as usize)?, typmod, cx)?,
        });
    }
    reader.end()?;
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

/// Appends PostgreSQL's binary form.
pub fn binary_send(bytes: &[u8], cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let array = Array::from_payload(bytes);
    out.extend_from_slice(&(array.dimensions.len() as i32).to_be_bytes());
    out.extend_from_slice(&i32::from(array.has_nulls()).to_be_bytes());
    out.extend_from_slice(&array.element.0.to_be_bytes());
    for dimension in &array.dimensions {
        out.extend_from_slice(&dimension.length.to_be_bytes());
        out.extend_from_slice(&dimension.lower.to_be_bytes());
    }
    let mut pace = Pace::new();
    for value in &array.values {
        pace.did(32)?;
        if value.is_null() {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        }
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        registry::send(array.element, value, cx, out)?;
        let length = (out.len() - at - 4) as i32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Reads an `oidvector` or `int2vector`: numbers with blanks between.
pub fn vector_input(text: &str, oids: bool) -> SqlResult<Datum> {
    let words = text.split_ascii_whitespace();
    if oids {
        let values: SqlResult<Vec<Oid>> = words.map(|w| crate::ids::parse_oid(w, "oid").map(Oid)).collect();
        Ok(super::from_oids(&values?))
    } else {
        let values: SqlResult<Vec<i16>> = words.map(|w| crate::int::parse(w, "smallint")).collect();
        Ok(super::from_int2s(&values?))
    }
}

/// Text of a vector.
pub fn vector_output(bytes: &[u8]) -> String {
    let array = Array::from_payload(bytes);
    let words: Vec<String> = array
        .values
        .iter()
        .map(|v| match v {
            Datum::Oid(oid) => oid.to_string(),
            other => crate::compare::widen(other).to_string(),
        })
        .collect();
    words.join(" ")
}

/// Text of a value of any type.
pub(super) fn text_of(type_oid: Oid, value: &Datum, cx: &Call) -> SqlResult<String> {
    let mut out = Vec::new();
    registry::output(type_oid, value, cx, &mut out)?;
    Ok(str_of(&out).to_owned())
}
