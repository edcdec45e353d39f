//! Functions on any number of arguments of any type: `concat`, `concat_ws`, `format`, and `||` with a non-text side.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    value::{FromDatum, str_of},
};

use super::edit::{quote_identifier, quote_literal};

functions! {
    3058 concat(any) -> text [stable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn concat }
    3059 concat_ws(text, any) -> text [stable variadic(crate::oids::any) outs(b"iv", &[crate::oids::text, crate::oids::any])] { fn concat_ws }
    3539 format(text, any) -> text [stable variadic(crate::oids::any) outs(b"iv", &[crate::oids::text, crate::oids::any])] { fn format_any }
    3540 format(text) -> text [stable] { fn format_any }
}

/// The arguments from `first` on as text, spread out if they came as one VARIADIC array.
fn texts(cx: &Call, args: &[Datum], first: usize) -> SqlResult<Vec<Option<String>>> {
    let text = |value: &Datum, type_oid| -> SqlResult<Option<String>> {
        if value.is_null() {
            return Ok(None);
        }
        let mut out = Vec::new();
        crate::registry::output(type_oid, value, cx, &mut out)?;
        Ok(Some(str_of(&out).to_owned()))
    };
    if cx.variadic_array && args.len() == first + 1 {
        if args[first].is_null() {
            return Ok(Vec::new());
        }
        let array = crate::array::Array::from_payload(<&[u8]>::from_datum(&args[first]));
        return array.elements().iter().map(|value| text(value, array.element)).collect();
    }
    args.iter().enumerate().skip(first).map(|(i, value)| text(value, cx.arg_type(i))).collect()
}

/// `||` where one side is not text, as a transition function; a call in an expression is planned as `||` of texts.
pub(super) fn concat_operator(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Bytes(texts(cx, args, 0)?.into_iter().flatten().collect::<String>().into()))
}

fn concat(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if cx.variadic_array && args[0].is_null() {
        return Ok(Datum::Null);
    }
    concat_operator(cx, args)
}

fn concat_ws(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let Some(separator) = super::text_of(&args[0]) else { return Ok(Datum::Null) };
    if cx.variadic_array && args.get(1).is_some_and(Datum::is_null) {
        return Ok(Datum::Null);
    }
    let parts: Vec<String> = texts(cx, args, 1)?.into_iter().flatten().collect();
    Ok(Datum::Bytes(parts.join(separator).into()))
}

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INVALID_PARAMETER_VALUE, message)
}

fn too_few() -> SqlError {
    bad("too few arguments for format()")
}

/// A width that is written out, or taken from an argument.
enum Width {
    None,
    Fixed(i64),
    Next,
    Argument(usize),
}

/// One `%…` of a format.
struct Directive {
    position: Option<usize>,
    left: bool,
    width: Width,
    kind: char,
}

fn format_any(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let Some(format) = super::text_of(&args[0]) else { return Ok(Datum::Null) };
    let values = texts(cx, args, 1)?;
    let mut out = String::new();
    let mut rest = format;
    // 0-based index of the next argument.
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (directive, after) = parse_directive(rest)?;
        rest = after;
        let width = match directive.width {
            Width::None => 0,
            Width::Fixed(width) => width,
            Width::Next => {
                next += 1;
                argument_width(&values, next - 1)?
            }
            Width::Argument(n) => {
                next = n;
                argument_width(&values, n - 1)?
            }
        };
        if let Some(n) = directive.position {
            next = n - 1;
        }
        let value = values.get(next).ok_or_else(too_few)?;
        next += 1;
        let text = convert(directive.kind, value.as_deref())?;
        pad(&mut out, &text, width, directive.left);
    }
    out.push_str(rest);
    Ok(Datum::Bytes(out.into()))
}

fn convert(kind: char, value: Option<&str>) -> SqlResult<String> {
    match (kind, value) {
        ('s', value) => Ok(value.unwrap_or_default().to_owned()),
        ('I', Some(value)) => Ok(quote_identifier(value)),
        ('I', None) => {
            Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier"))
        }
        ('L', value) => Ok(value.map_or("NULL".into(), quote_literal)),
        (other, _) => Err(bad(format!("unrecognized format() type specifier \"{other}\""))
            .hint("For a single \"%\" use \"%%\".")),
    }
}

fn argument_width(values: &[Option<String>], index: usize) -> SqlResult<i64> {
    match values.get(index).ok_or_else(too_few)? {
        None => Ok(0),
        Some(text) => crate::int::parse::<i32>(text, "integer").map(i64::from),
    }
}

fn pad(out: &mut String, text: &str, width: i64, left: bool) {
    let left = left || width < 0;
    let missing = (width.unsigned_abs() as usize)
        .min(super::MAX_TEXT)
        .saturating_sub(super::char_count(text.as_bytes()));
    let blanks = std::iter::repeat_n(' ', missing);
    if left {
        out.push_str(text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.push_str(text);
    }
}

/// Digits at the front, and what follows.
fn number(text: &str) -> SqlResult<(Option<i64>, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 {
        return Ok((None, text));
    }
    let value = text[..end]
        .parse::<i32>()
        .map_err(|_| sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"))?;
    Ok((Some(value.into()), &text[end..]))
}

/// `[position$][-][width | * | *n$]kind`
fn parse_directive(text: &str) -> SqlResult<(Directive, &str)> {
    let unterminated = || bad("unterminated format() type specifier").hint("For a single \"%\" use \"%%\".");
    let position_zero = || bad("format specifies argument 0, but arguments are numbered from 1");
    let mut directive = Directive { position: None, left: false, width: Width::None, kind: 's' };
    let mut rest = text;
    if let (Some(n), after) = number(rest)? {
        match after.strip_prefix('$') {
            Some(after) => {
                if n == 0 {
                    return Err(position_zero());
                }
                directive.position = Some(n as usize);
                rest = after;
            }
            None => {
                // No position: a width.
                directive.width = Width::Fixed(n);
                rest = after;
            }
        }
    }
    if matches!(directive.width, Width::None) {
        while let Some(after) = rest.strip_prefix('-') {
            directive.left = true;
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('*') {
            let (n, after_number) = number(after)?;
            match n {
                None => {
                    directive.width = Width::Next;
                    rest = after;
                }
                Some(0) => return Err(position_zero()),
                Some(n) => {
                    rest = after_number
                        .strip_prefix('$')
                        .ok_or_else(|| bad("width argument position must be ended by \"$\""))?;
                    directive.width = Width::Argument(n as usize);
                }
            }
        } else if let (Some(n), after) = number(rest)? {
            directive.width = Width::Fixed(n);
            rest = after;
        }
    }
    directive.kind = rest.chars().next().ok_or_else(unterminated)?;
    let after = &rest[directive.kind.len_utf8()..];
    Ok((directive, after))
}
