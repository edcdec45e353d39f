//! Text and binary forms.

use super::*;
use crate::value::Reader;

/// The parts of a range's text: bounds as written, `None` where there is no limit.
struct Written {
    lower: Option<String>,
    upper: Option<String>,
    lower_inclusive: bool,
    upper_inclusive: bool,
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

fn malformed(text: &str, detail: &str) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "malformed range literal: \"{text}\"").detail(detail.to_owned())
}

/// What follows `word` at the front, whatever its case.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

/// Takes a range's text apart; `None` for the empty range.
fn take_apart(text: &str) -> SqlResult<Option<Written>> {
    let mut rest = text.trim_start_matches(is_blank);
    if let Some(tail) = after_word(rest, "empty") {
        return match tail.trim_start_matches(is_blank) {
            "" => Ok(None),
            _ => Err(malformed(text, "Junk after \"empty\" key word.")),
        };
    }
    let lower_inclusive = match rest.chars().next() {
        Some('[') => true,
        Some('(') => false,
        _ => return Err(malformed(text, "Missing left parenthesis or bracket.")),
    };
    rest = &rest[1..];
    let lower = take_bound(text, &mut rest)?;
    rest = rest.strip_prefix(',').ok_or_else(|| malformed(text, "Missing comma after lower bound."))?;
    let upper = take_bound(text, &mut rest)?;
    let upper_inclusive = match rest.chars().next() {
        Some(']') => true,
        Some(')') => false,
        _ => return Err(malformed(text, "Too many commas.")),
    };
    if !rest[1..].trim_start_matches(is_blank).is_empty() {
        return Err(malformed(text, "Junk after right parenthesis or bracket."));
    }
    Ok(Some(Written { lower, upper, lower_inclusive, upper_inclusive }))
}

fn take_bound(text: &str, rest: &mut &str) -> SqlResult<Option<String>> {
    if rest.starts_with([',', ')', ']']) {
        return Ok(None);
    }
    let mut value = String::new();
    let mut quoted = false;
    let mut chars = rest.char_indices();
    let end = || malformed(text, "Unexpected end of input.");
    loop {
        let (at, c) = chars.next().ok_or_else(end)?;
        match c {
            ',' | ')' | ']' if !quoted => {
                *rest = &rest[at..];
                return Ok(Some(value));
            }
            '\\' => value.push(chars.next().ok_or_else(end)?.1),
            '"' if !quoted => quoted = true,
            '"' if rest[at + 1..].starts_with('"') => {
                chars.next();
                value.push('"');
            }
            '"' => quoted = false,
            c => value.push(c),
        }
    }
}

fn read(shape: Shape, text: &str, cx: &Call) -> SqlResult<Range> {
    let Some(written) = take_apart(text)? else { return Ok(Range::empty(shape)) };
    let value = |text: Option<String>| match text {
        Some(text) => crate::registry::input(shape.subtype, &text, -1, cx),
        None => Ok(Datum::Null),
    };
    let (lower, upper) = (value(written.lower)?, value(written.upper)?);
    Range::new(
        shape,
        Bound::new(&lower, written.lower_inclusive, true),
        Bound::new(&upper, written.upper_inclusive, false),
    )
}

/// Value of a range's text form.
pub fn input(info: &RangeInfo, text: &str, cx: &Call) -> SqlResult<Datum> {
    read(Shape::of(info, cx)?, text, cx)?.into_datum()
}

/// Value of a multirange's text form.
pub fn multirange_input(info: &RangeInfo, text: &str, cx: &Call) -> SqlResult<Datum> {
    let malformed = |detail: &str| {
        sql_err!(INVALID_TEXT_REPRESENTATION, "malformed multirange literal: \"{text}\"")
            .detail(detail.to_owned())
    };
    let shape = Shape::of(info, cx)?;
    let skip = |text: &mut &str| *text = text.trim_start_matches(is_blank);
    let mut rest = text;
    skip(&mut rest);
    rest = rest.strip_prefix('{').ok_or_else(|| malformed("Missing left brace."))?;
    let mut spans = Vec::new();
    skip(&mut rest);
    if !rest.starts_with('}') {
        loop {
            skip(&mut rest);
            if let Some(tail) = after_word(rest, "empty") {
                rest = tail;
            } else if rest.starts_with(['[', '(']) {
                let length = range_length(rest).ok_or_else(|| malformed("Unexpected end of input."))?;
                spans.extend(read(shape, &rest[..length], cx)?.span);
                rest = &rest[length..];
            } else if rest.is_empty() {
                return Err(malformed("Unexpected end of input."));
            } else {
                return Err(malformed("Expected range start."));
            }
            skip(&mut rest);
            match rest.chars().next() {
                Some(',') => rest = &rest[1..],
                Some('}') => break,
                None => return Err(malformed("Unexpected end of input.")),
                Some(_) => return Err(malformed("Expected comma or end of multirange.")),
            }
        }
    }
    if !rest[1..].trim_start_matches(is_blank).is_empty() {
        return Err(malformed("Junk after closing right brace."));
    }
    Multirange::new(info.multirange, shape, spans)?.into_datum()
}

/// Bytes up to the bracket that ends the range at the front.
fn range_length(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ')' | ']' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn write(shape: &Shape, span: Option<&Span>, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let Some(span) = span else {
        out.extend_from_slice(b"empty");
        return Ok(());
    };
    out.push(if span.lower.inclusive { b'[' } else { b'(' });
    write_bound(shape, &span.lower, cx, out)?;
    out.push(b',');
    write_bound(shape, &span.upper, cx, out)?;
    out.push(if span.upper.inclusive { b']' } else { b')' });
    Ok(())
}

fn write_bound(shape: &Shape, bound: &Bound, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let Some(value) = &bound.value else { return Ok(()) };
    let mut text = Vec::new();
    crate::registry::output(shape.subtype, value, cx, &mut text)?;
    let special = |b: &u8| b"\"\\()[],".contains(b) || b.is_ascii_whitespace() || *b == 0x0b;
    if !text.is_empty() && !text.iter().any(special) {
        out.extend_from_slice(&text);
        return Ok(());
    }
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
    Ok(())
}

/// Appends a range's text form.
pub fn output(value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let range = Range::from_datum(value);
    write(&range.shape, range.span.as_ref(), cx, out)
}

/// Appends a multirange's text form.
pub fn multirange_output(value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let multi = Multirange::from_datum(value);
    out.push(b'{');
    for (i, span) in multi.spans.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(&multi.shape, Some(span), cx, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn length(reader: &mut Reader) -> SqlResult<usize> {
    usize::try_from(reader.i32()?)
        .map_err(|_| sql_err!(INVALID_BINARY_REPRESENTATION, "incorrect binary data format"))
}

fn received(shape: Shape, reader: &mut Reader, cx: &Call) -> SqlResult<Range> {
    let flags = reader.take(1)?[0];
    if flags & flag::EMPTY != 0 {
        return Ok(Range::empty(shape));
    }
    let mut value = |infinite: u8| {
        if flags & infinite != 0 {
            return Ok(Datum::Null);
        }
        let length = length(reader)?;
        crate::registry::receive(shape.subtype, reader.take(length)?, -1, cx)
    };
    let (lower, upper) = (value(flag::LOWER_INFINITE)?, value(flag::UPPER_INFINITE)?);
    Range::new(
        shape,
        Bound::new(&lower, flags & flag::LOWER_INCLUSIVE != 0, true),
        Bound::new(&upper, flags & flag::UPPER_INCLUSIVE != 0, false),
    )
}

/// Value of a range's binary form.
pub fn receive(info: &RangeInfo, reader: &mut Reader, cx: &Call) -> SqlResult<Datum> {
    received(Shape::of(info, cx)?, reader, cx)?.into_datum()
}

/// Value of a multirange's binary form.
pub fn multirange_receive(info: &RangeInfo, reader: &mut Reader, cx: &Call) -> SqlResult<Datum> {
    let shape = Shape::of(info, cx)?;
    let count = length(reader)?;
    let mut spans = Vec::new();
    for _ in 0..count {
        let length = length(reader)?;
        let mut inner = Reader::new(reader.take(length)?);
        spans.extend(received(shape, &mut inner, cx)?.span);
        inner.end()?;
    }
    Multirange::new(info.multirange, shape, spans)?.into_datum()
}

fn sent(shape: &Shape, span: Option<&Span>, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    out.push(flags(span));
    let Some(span) = span else { return Ok(()) };
    for value in [&span.lower.value, &span.upper.value].into_iter().flatten() {
        with_length(out, |out| crate::registry::send(shape.subtype, value, cx, out))?;
    }
    Ok(())
}

/// Appends what `write` appends, behind its length.
fn with_length(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> SqlResult<()>) -> SqlResult<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out)?;
    let length = (out.len() - start - 4) as i32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Appends a range's binary form.
pub fn send(value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let range = Range::from_datum(value);
    sent(&range.shape, range.span.as_ref(), cx, out)
}

/// Appends a multirange's binary form.
pub fn multirange_send(value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let multi = Multirange::from_datum(value);
    out.extend_from_slice(&(multi.spans.len() as i32).to_be_bytes());
    for span in &multi.spans {
        with_length(out, |out| sent(&multi.shape, Some(span), cx, out))?;
    }
    Ok(())
}
