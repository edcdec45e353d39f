//! Padding, trimming, replacing, splitting, quoting; the same on `bytea` where it exists.

use base::{SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::{
    call::Call,
    registry::{SetRows, Values},
    value::FromDatum,
};

use super::{MAX_TEXT, char_count, char_end, functions::byte_substring, too_long};

functions! {
    885 btrim(text) -> text [immutable strict] { |a: &str| Datum::text(a.trim_matches(' ')) }
    884 btrim(text, text) -> text [immutable strict] { |a: &str, set: &str| Datum::text(a.trim_matches(|c| set.contains(c))) }
    881 ltrim(text) -> text [immutable strict] { |a: &str| Datum::text(a.trim_start_matches(' ')) }
    875 ltrim(text, text) -> text [immutable strict] { |a: &str, set: &str| Datum::text(a.trim_start_matches(|c| set.contains(c))) }
    882 rtrim(text) -> text [immutable strict] { |a: &str| Datum::text(a.trim_end_matches(' ')) }
    876 rtrim(text, text) -> text [immutable strict] { |a: &str, set: &str| Datum::text(a.trim_end_matches(|c| set.contains(c))) }
    879 lpad(text, int4) -> text [immutable strict] { |a: &str, n: i32| pad(a, n, " ", true) }
    873 lpad(text, int4, text) -> text [immutable strict] { |a: &str, n: i32, fill: &str| pad(a, n, fill, true) }
    880 rpad(text, int4) -> text [immutable strict] { |a: &str, n: i32| pad(a, n, " ", false) }
    874 rpad(text, int4, text) -> text [immutable strict] { |a: &str, n: i32, fill: &str| pad(a, n, fill, false) }
    1622 repeat(text, int4) -> text [immutable strict] { |a: &str, n: i32| repeat(a, n) }
    2087 replace(text, text, text) -> text [immutable strict] { |a: &str, from: &str, to: &str| if from.is_empty() { a.to_owned() } else { a.replace(from, to) } }
    878 translate(text, text, text) -> text [immutable strict] { |a: &str, from: &str, to: &str| translate(a, from, to) }
    2088 split_part(text, text, int4) -> text [immutable strict] { |a: &str, delimiter: &str, n: i32| split_part(a, delimiter, n).map(Datum::text) }
    1405 overlay(text, text, int4) -> text [immutable strict] { |a: &str, new: &str, from: i32| overlay(a, new, from, char_count(new.as_bytes()) as i32) }
    1404 overlay(text, text, int4, int4) -> text [immutable strict] { |a: &str, new: &str, from: i32, count: i32| overlay(a, new, from, count) }
    752 overlay(bytea, bytea, int4) -> bytea [immutable strict] { |a: &[u8], new: &[u8], from: i32| byte_overlay(a, new, from, new.len() as i32) }
    749 overlay(bytea, bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], new: &[u8], from: i32, count: i32| byte_overlay(a, new, from, count) }
    1282 quote_ident(text) -> text [immutable strict] { |a: &str| quote_identifier(a) }
    1283 quote_literal(text) -> text [immutable strict] { |a: &str| quote_literal(a) }
    1285 quote_literal(anyelement) -> text [stable strict] { |cx; a: &Datum| quote_any(cx, a) }
    1289 quote_nullable(text) -> text [immutable] { |a: Option<&str>| a.map_or("NULL".into(), quote_literal) }
    1290 quote_nullable(anyelement) -> text [stable] { |cx; a: &Datum| if a.is_null() { Ok("NULL".into()) } else { quote_any(cx, a) } }
    1268 parse_ident(text, bool) -> _text [immutable strict names(&["str", "strict"]) defaults(&["true"])] { fn parse_identifier }
    394 string_to_array(text, text) -> _text [immutable] { fn string_to_array }
    376 string_to_array(text, text, text) -> _text [immutable] { fn string_to_array }
    6160 string_to_table(text, text) -> text [immutable returns_set rows(1000.0)] { set string_to_table }
    6161 string_to_table(text, text, text) -> text [immutable returns_set rows(1000.0)] { set string_to_table }
    1948 byteaeq(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_eq() }
    1953 byteane(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_ne() }
    1949 bytealt(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_lt() }
    1950 byteale(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_le() }
    1951 byteagt(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_gt() }
    1952 byteage(bytea, bytea) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)).is_ge() }
    1954 byteacmp(bytea, bytea) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| (a.cmp(b)) as i32 }
    6393 bytea_larger(bytea, bytea) -> bytea [immutable strict leakproof] { |a: &[u8], b: &[u8]| Bytes::new(a.max(b)) }
    6394 bytea_smaller(bytea, bytea) -> bytea [immutable strict leakproof] { |a: &[u8], b: &[u8]| Bytes::new(a.min(b)) }
    2011 byteacat(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], b: &[u8]| [a, b].concat() }
    2086 substr(bytea, int4) -> bytea [immutable strict] { |a: &[u8], from: i32| byte_substring(a, from, None).map(Bytes::new) }
    2085 substr(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], from: i32, n: i32| byte_substring(a, from, Some(n)).map(Bytes::new) }
    2013 substring(bytea, int4) -> bytea [immutable strict] { |a: &[u8], from: i32| byte_substring(a, from, None).map(Bytes::new) }
    2012 substring(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], from: i32, n: i32| byte_substring(a, from, Some(n)).map(Bytes::new) }
    2014 position(bytea, bytea) -> int4 [immutable strict] { |a: &[u8], part: &[u8]| byte_position(a, part) }
    2015 btrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| Bytes::new(byte_trim(a, set, true, true)) }
    6195 ltrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| Bytes::new(byte_trim(a, set, true, false)) }
    6196 rtrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| Bytes::new(byte_trim(a, set, false, true)) }
    6382 reverse(bytea) -> bytea [immutable strict] { |a: &[u8]| a.iter().rev().copied().collect::<Vec<u8>>() }
    721 get_byte(bytea, int4) -> int4 [immutable strict] { |a: &[u8], n: i32| byte_at(a, n.into()).map(|i| i32::from(a[i])) }
    722 set_byte(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], n: i32, new: i32| byte_at(a, n.into()).map(|i| { let mut out = a.to_vec(); out[i] = new as u8; out }) }
    723 get_bit(bytea, int8) -> int4 [immutable strict] { |a: &[u8], n: i64| bit_at(a, n).map(|(i, bit)| i32::from(a[i] >> bit & 1)) }
    724 set_bit(bytea, int8, int4) -> bytea [immutable strict] { |a: &[u8], n: i64, new: i32| set_bit(a, n, new) }
    6163 bit_count(bytea) -> int8 [immutable strict] { |a: &[u8]| a.iter().map(|b| i64::from(b.count_ones())).sum::<i64>() }
}

fn pad(text: &str, length: i32, fill: &str, left: bool) -> SqlResult<String> {
    let length = length.max(0) as usize;
    if length.saturating_mul(4) > MAX_TEXT {
        return Err(too_long());
    }
    let have = char_count(text.as_bytes());
    if have >= length || fill.is_empty() {
        return Ok(text[..char_end(text, length)].to_owned());
    }
    let filling: String = fill.chars().cycle().take(length - have).collect();
    Ok(if left { filling + text } else { text.to_owned() + &filling })
}

fn repeat(text: &str, count: i32) -> SqlResult<String> {
    let count = count.max(0) as usize;
    if text.len().checked_mul(count).is_none_or(|n| n > MAX_TEXT) {
        return Err(too_long());
    }
    Ok(text.repeat(count))
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    text.chars()
        .filter_map(|c| match from.chars().position(|f| f == c) {
            None => Some(c),
            Some(i) => to.get(i).copied(),
        })
        .collect()
}

fn split_part<'a>(text: &'a str, delimiter: &str, n: i32) -> SqlResult<&'a str> {
    if n == 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    if delimiter.is_empty() {
        return Ok(if n == 1 || n == -1 { text } else { "" });
    }
    let part = if n > 0 {
        text.split(delimiter).nth(n as usize - 1)
    } else {
        text.rsplit(delimiter).nth(n.unsigned_abs() as usize - 1)
    };
    Ok(part.unwrap_or(""))
}

fn overlay_range(from: i32, count: i32, text_from: i32) -> SqlResult<i32> {
    if from < text_from {
        return Err(sql_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    from.checked_add(count).ok_or_else(crate::int::int4_range)
}

fn overlay(text: &str, new: &str, from: i32, count: i32) -> SqlResult<String> {
    let behind = overlay_range(from, count, 1)?;
    let head = &text[..char_end(text, from as usize - 1)];
    let tail = &text[char_end(text, behind.max(1) as usize - 1)..];
    Ok([head, new, tail].concat())
}

fn byte_overlay(bytes: &[u8], new: &[u8], from: i32, count: i32) -> SqlResult<Vec<u8>> {
    let behind = overlay_range(from, count, 1)?;
    let head = &bytes[..(from as usize - 1).min(bytes.len())];
    let tail = &bytes[(behind.max(1) as usize - 1).min(bytes.len())..];
    Ok([head, new, tail].concat())
}

/// Words that PostgreSQL reserves (in any of its degrees but "unreserved"): an identifier of that spelling is quoted.
const RESERVED: &str = include_str!("reserved.txt");

/// The name as an identifier: quoted where lexer or grammar would not read it back.
pub fn quote_identifier(name: &str) -> String {
    let plain = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain && !RESERVED.lines().any(|word| word == name) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// The text as a literal, in the E form where it has backslashes.
pub(super) fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

fn quote_any(cx: &Call, value: &Datum) -> SqlResult<String> {
    let mut out = Vec::new();
    crate::registry::output(cx.arg_type(0), value, cx, &mut out)?;
    Ok(quote_literal(crate::value::str_of(&out)))
}

/// `parse_ident(text, strict)`: the parts of a dotted name.
fn parse_identifier(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let text = <&str>::from_datum(&args[0]);
    let strict = args.get(1).is_none_or(bool::from_datum);
    let bad = || sql_err!(INVALID_PARAMETER_VALUE, "string is not a valid identifier: \"{text}\"");
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    let mut after_dot = false;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut part = String::new();
            let mut chars = quoted.char_indices().peekable();
            let end = loop {
                match chars.next() {
                    Some((_, '"')) if chars.peek().is_some_and(|(_, c)| *c == '"') => {
                        chars.next();
                        part.push('"');
                    }
                    Some((i, '"')) => break i + 1,
                    Some((_, c)) => part.push(c),
                    None => return Err(bad().detail("String has unclosed double quotes.")),
                }
            };
            if part.is_empty() {
                return Err(bad().detail("Quoted identifier must not be empty."));
            }
            parts.push(part);
            rest = &quoted[end..];
        } else {
            let starts = |c: char| c.is_alphabetic() || c == '_' || !c.is_ascii();
            let end = rest
                .char_indices()
                .find(|(i, c)| !(starts(*c) || *i > 0 && (c.is_ascii_digit() || *c == '$')))
                .map_or(rest.len(), |(i, _)| i);
            if end == 0 {
                return Err(match (rest.starts_with('.'), after_dot) {
                    (true, _) => bad().detail("No valid identifier before \".\"."),
                    (_, true) => bad().detail("No valid identifier after \".\"."),
                    _ => bad(),
                });
            }
            parts.push(rest[..end].to_lowercase());
            rest = &rest[end..];
        }
        rest = rest.trim_start();
        match rest.strip_prefix('.') {
            Some(next) => {
                rest = next.trim_start();
                after_dot = true;
            }
            None if rest.is_empty() || !strict => break,
            None => return Err(bad()),
        }
    }
    Ok(crate::array::from_texts(parts.iter().map(|p| Some(p.as_str()))))
}

/// The fields of a text: by a delimiter, or its characters where that is NULL.
fn fields(args: &[Datum]) -> Vec<Option<String>> {
    let (Some(text), delimiter) = (super::text_of(&args[0]), super::text_of(&args[1])) else {
        return Vec::new();
    };
    let null = args.get(2).and_then(super::text_of);
    let keep = |part: &str| (Some(part) != null).then(|| part.to_owned());
    match delimiter {
        _ if text.is_empty() => Vec::new(),
        None => text.chars().map(|c| keep(c.encode_utf8(&mut [0; 4]))).collect(),
        Some("") => vec![keep(text)],
        Some(delimiter) => text.split(delimiter).map(keep).collect(),
    }
}

fn string_to_array(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    Ok(crate::array::from_texts(fields(args).iter().map(Option::as_deref)))
}

fn string_to_table(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let rows = fields(args).into_iter().map(|f| Ok(f.map_or(Datum::Null, |text| Datum::Bytes(text.into()))));
    Ok(Box::new(Values(rows)))
}

fn byte_position(bytes: &[u8], part: &[u8]) -> i32 {
    if part.is_empty() {
        return 1;
    }
    bytes.windows(part.len()).position(|w| w == part).map_or(0, |i| i as i32 + 1)
}

fn byte_trim<'a>(mut bytes: &'a [u8], set: &[u8], left: bool, right: bool) -> &'a [u8] {
    while left
        && let [first, rest @ ..] = bytes
        && set.contains(first)
    {
        bytes = rest;
    }
    while right
        && let [rest @ .., last] = bytes
        && set.contains(last)
    {
        bytes = rest;
    }
    bytes
}

fn byte_at(bytes: &[u8], n: i64) -> SqlResult<usize> {
    let range =
        || sql_err!(ARRAY_SUBSCRIPT_ERROR, "index {n} out of valid range, 0..{}", bytes.len() as i64 - 1);
    usize::try_from(n).ok().filter(|i| *i < bytes.len()).ok_or_else(range)
}

fn bit_at(bytes: &[u8], n: i64) -> SqlResult<(usize, u32)> {
    let bits = bytes.len() as i64 * 8;
    if !(0..bits).contains(&n) {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "index {n} out of valid range, 0..{}", bits - 1));
    }
    Ok(((n / 8) as usize, (n % 8) as u32))
}

fn set_bit(bytes: &[u8], n: i64, new: i32) -> SqlResult<Vec<u8>> {
    let (i, bit) = bit_at(bytes, n)?;
    if !(0..=1).contains(&new) {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
    }
    let mut out = bytes.to_vec();
    out[i] = out[i] & !(1 << bit) | (new as u8) << bit;
    Ok(out)
}
