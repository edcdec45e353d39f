//! Comparison, casts, lengths, case, search.

use std::cmp::Ordering;

use base::{Oid, SqlResult, sql_err};
use collation::Rules;
use tuple::{Bytes, Datum};

use crate::call::Call;
use crate::comparator::{Comparator, order_in};
use crate::compare::trim_blanks;
use crate::{encoding, piece};

use super::search;
use super::{
    bpchar_fit, char_count, char_end, clip_name, name_datum, texts_are_bytes, unpadded, varchar_fit,
};

functions! {
    67 texteq(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b) }
    157 textne(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b).map(|same| !same) }
    740 text_lt(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_lt()) }
    741 text_le(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_le()) }
    742 text_gt(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_gt()) }
    743 text_ge(text, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ge()) }
    5050 btvarstrequalimage(oid) -> bool [immutable strict] { |cx; collation: u32| if collation == 0 { Ok(true) } else { cx.with_collation(Oid(collation)).rules(COMPARISON).map(Rules::is_deterministic) } }
    360 bttextcmp(text, text) -> int4 [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order as i32) }
    1048 bpchareq(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, trim_blanks(a), trim_blanks(b)) }
    1053 bpcharne(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, trim_blanks(a), trim_blanks(b)).map(|same| !same) }
    1049 bpcharlt(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, trim_blanks(a), trim_blanks(b)).map(|order| order.is_lt()) }
    1050 bpcharle(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, trim_blanks(a), trim_blanks(b)).map(|order| order.is_le()) }
    1051 bpchargt(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, trim_blanks(a), trim_blanks(b)).map(|order| order.is_gt()) }
    1052 bpcharge(bpchar, bpchar) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, trim_blanks(a), trim_blanks(b)).map(|order| order.is_ge()) }
    1078 bpcharcmp(bpchar, bpchar) -> int4 [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, trim_blanks(a), trim_blanks(b)).map(|order| order as i32) }
    62 nameeq(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b) }
    659 namene(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b).map(|same| !same) }
    655 namelt(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_lt()) }
    656 namele(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_le()) }
    657 namegt(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_gt()) }
    658 namege(name, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ge()) }
    359 btnamecmp(name, name) -> int4 [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order as i32) }
    240 nameeqtext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b) }
    245 namenetext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b).map(|same| !same) }
    241 namelttext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_lt()) }
    242 nameletext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_le()) }
    244 namegttext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_gt()) }
    243 namegetext(name, text) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ge()) }
    246 btnametextcmp(name, text) -> int4 [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order as i32) }
    247 texteqname(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b) }
    252 textnename(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| same(cx, a, b).map(|same| !same) }
    248 textltname(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_lt()) }
    249 textlename(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_le()) }
    251 textgtname(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_gt()) }
    250 textgename(text, name) -> bool [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ge()) }
    253 bttextnamecmp(text, name) -> int4 [immutable strict leakproof] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order as i32) }
    458 text_larger(text, text) -> text [immutable strict leakproof] { |cx; a: &Datum, b: &Datum| larger(cx, a, b, crate::oids::text) }
    459 text_smaller(text, text) -> text [immutable strict leakproof] { |cx; a: &Datum, b: &Datum| smaller(cx, a, b, crate::oids::text) }
    1063 bpchar_larger(bpchar, bpchar) -> bpchar [immutable strict leakproof] { |cx; a: &Datum, b: &Datum| larger(cx, a, b, crate::oids::bpchar) }
    1064 bpchar_smaller(bpchar, bpchar) -> bpchar [immutable strict leakproof] { |cx; a: &Datum, b: &Datum| smaller(cx, a, b, crate::oids::bpchar) }
    2160 text_pattern_lt(text, text) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a < b }
    2161 text_pattern_le(text, text) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a <= b }
    2163 text_pattern_ge(text, text) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a >= b }
    2164 text_pattern_gt(text, text) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| a > b }
    2166 bttext_pattern_cmp(text, text) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| a.cmp(b) as i32 }
    2174 bpchar_pattern_lt(bpchar, bpchar) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| trim_blanks(a) < trim_blanks(b) }
    2175 bpchar_pattern_le(bpchar, bpchar) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| trim_blanks(a) <= trim_blanks(b) }
    2177 bpchar_pattern_ge(bpchar, bpchar) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| trim_blanks(a) >= trim_blanks(b) }
    2178 bpchar_pattern_gt(bpchar, bpchar) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| trim_blanks(a) > trim_blanks(b) }
    2180 btbpchar_pattern_cmp(bpchar, bpchar) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| trim_blanks(a).cmp(trim_blanks(b)) as i32 }
    6413 hashbytea(bytea) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::bytea, a) }
    6414 hashbyteaextended(bytea, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::bytea, a, seed) }
    400 hashtext(text) -> int4 [immutable strict] { |cx; a: &Datum| seeded(cx, crate::oids::text, a, 0).map(|hash| hash as i32) }
    448 hashtextextended(text, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| seeded(cx, crate::oids::text, a, seed as u64).map(|hash| hash as i64) }
    455 hashname(name) -> int4 [immutable strict] { |cx; a: &Datum| seeded(cx, crate::oids::name, a, 0).map(|hash| hash as i32) }
    447 hashnameextended(name, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| seeded(cx, crate::oids::name, a, seed as u64).map(|hash| hash as i64) }
    1080 hashbpchar(bpchar) -> int4 [immutable strict] { |cx; a: &Datum| seeded(cx, crate::oids::bpchar, a, 0).map(|hash| hash as i32) }
    972 hashbpcharextended(bpchar, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| seeded(cx, crate::oids::bpchar, a, seed as u64).map(|hash| hash as i64) }
    1258 textcat(text, text) -> text [immutable strict] { |a: &[u8], b: &[u8]| piece::concat(&[a, b]) }
    2003 textanycat(text, anynonarray) -> text [stable strict] { fn super::format::concat_operator }
    2004 anytextcat(anynonarray, text) -> text [stable strict] { fn super::format::concat_operator }
    407 name(text) -> name [immutable strict leakproof] { |a: &str| name_datum(a) }
    409 name(bpchar) -> name [immutable strict leakproof] { |a: &str| Datum::text(clip_name(a.trim_end_matches(' '))) }
    1400 name(varchar) -> name [immutable strict leakproof] { |a: &str| name_datum(a) }
    406 text(name) -> text [immutable strict leakproof] { |a: &[u8]| Bytes::new(a) }
    401 text(bpchar) -> text [immutable strict] { |a: &[u8]| unpadded(a) }
    408 bpchar(name) -> bpchar [immutable strict] { |a: &[u8]| Bytes::new(a) }
    860 bpchar(char) -> bpchar [immutable strict] { |a: u8| crate::ids::char_out(a) }
    1401 varchar(name) -> varchar [immutable strict leakproof] { |a: &[u8]| Bytes::new(a) }
    669 varchar(varchar, int4, bool) -> varchar [immutable strict] { |a: &str, typmod: i32, explicit: bool| varchar_fit(a, typmod, explicit).map(Datum::text) }
    668 bpchar(bpchar, int4, bool) -> bpchar [immutable strict] { |a: &str, typmod: i32, explicit: bool| bpchar_fit(a, typmod, explicit) }
    1317 length(text) -> int4 [immutable strict] { |a: &[u8]| char_count(a) as i32 }
    1318 length(bpchar) -> int4 [immutable strict] { |a: &[u8]| char_count(trim_blanks(a)) as i32 }
    1257 textlen(text) -> int4 [immutable strict] { |a: &[u8]| char_count(a) as i32 }
    1381 char_length(text) -> int4 [immutable strict] { |a: &[u8]| char_count(a) as i32 }
    1372 char_length(bpchar) -> int4 [immutable strict] { |a: &[u8]| char_count(trim_blanks(a)) as i32 }
    1369 character_length(text) -> int4 [immutable strict] { |a: &[u8]| char_count(a) as i32 }
    1367 character_length(bpchar) -> int4 [immutable strict] { |a: &[u8]| char_count(trim_blanks(a)) as i32 }
    1374 octet_length(text) -> int4 [immutable strict] { |a: &[u8]| octets(a) }
    1375 octet_length(bpchar) -> int4 [immutable strict] { |a: &[u8]| octets(a) }
    720 octet_length(bytea) -> int4 [immutable strict] { |a: &[u8]| a.len() as i32 }
    1811 bit_length(text) -> int4 [immutable strict] { |a: &[u8]| octets(a) * 8 }
    1810 bit_length(bytea) -> int4 [immutable strict] { |a: &[u8]| a.len() as i32 * 8 }
    2010 length(bytea) -> int4 [immutable strict] { |a: &[u8]| a.len() as i32 }
    870 lower(text) -> text [immutable strict] { |cx; a: &str| lower(cx, a) }
    871 upper(text) -> text [immutable strict] { |cx; a: &str| upper(cx, a) }
    872 initcap(text) -> text [immutable strict] { |cx; a: &str| initcap(cx, a) }
    6412 casefold(text) -> text [immutable strict] { |cx; a: &str| casefold(cx, a) }
    849 position(text, text) -> int4 [immutable strict] { |cx; text: &str, part: &str| position(cx, text, part) }
    868 strpos(text, text) -> int4 [immutable strict] { |cx; text: &str, part: &str| position(cx, text, part) }
    3696 starts_with(text, text) -> bool [immutable strict leakproof] { |cx; text: &[u8], prefix: &[u8]| starts_with(cx, text, prefix) }
    883 substr(text, int4) -> text [immutable strict] { |a: &str, from: i32| substring(a, from, None) }
    877 substr(text, int4, int4) -> text [immutable strict] { |a: &str, from: i32, count: i32| substring(a, from, Some(count)) }
    937 substring(text, int4) -> text [immutable strict] { |a: &str, from: i32| substring(a, from, None) }
    936 substring(text, int4, int4) -> text [immutable strict] { |a: &str, from: i32, count: i32| substring(a, from, Some(count)) }
    3060 left(text, int4) -> text [immutable strict] { |a: &str, n: i32| &a[..char_end(a, from_start(a, n))] }
    3061 right(text, int4) -> text [immutable strict] { |a: &str, n: i32| &a[char_end(a, char_count(a.as_bytes()) - from_start(a, n))..] }
    3062 reverse(text) -> text [immutable strict] { |a: &str| reverse(a) }
    1620 ascii(text) -> int4 [immutable strict] { |a: &str| ascii(a) }
    1621 chr(int4) -> text [immutable strict] { |code: i32| chr(code) }
    266 nameconcatoid(name, oid) -> name [immutable strict] { |name: &str, oid: u32| { let tail = format!("_{oid}"); Datum::Bytes(format!("{}{tail}", super::clip_bytes(name, super::NAME_LENGTH - tail.len())).into()) } }
}

/// Order of two texts in the collation of a call.
fn order(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<Ordering> {
    Ok(cx.rules(COMPARISON)?.compare(a, b))
}

/// Whether two texts are equal in the collation of a call.
fn same(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<bool> {
    Ok(cx.rules(COMPARISON)?.equal(a, b))
}

/// What the collation is missed for in comparisons.
const COMPARISON: &str = "string comparison";

fn larger(cx: &Call, a: &Datum, b: &Datum, type_oid: Oid) -> SqlResult<Datum> {
    let keep_first = order_in(cx, type_oid)?.is_some_and(|order| order.compare(a, b).is_gt());
    Ok(if keep_first { a.clone() } else { b.clone() })
}

fn smaller(cx: &Call, a: &Datum, b: &Datum, type_oid: Oid) -> SqlResult<Datum> {
    let keep_first = order_in(cx, type_oid)?.is_some_and(|order| order.compare(a, b).is_lt());
    Ok(if keep_first { a.clone() } else { b.clone() })
}

/// The hash that SQL sees, in the collation of a call.
fn seeded(cx: &Call, type_oid: Oid, value: &Datum, seed: u64) -> SqlResult<u64> {
    let comparator = Comparator::of(type_oid, cx.rules("string hashing")?);
    Ok(comparator.seeded_hash.map_or(0, |hash| hash.hash(value, seed)))
}

/// A letter in lower case, whatever the collation.
pub(super) fn folded(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A text changed as a whole, or in parts where its rules change characters one by one; a long one otherwise on another thread.
fn changed(
    rules: &'static Rules,
    text: &str,
    change: fn(&'static Rules, &str) -> String,
) -> SqlResult<String> {
    if text.len() <= piece::PIECE {
        return Ok(change(rules, text));
    }
    if !rules.maps_characters() {
        return Ok(runtime::blocking(|| change(rules, text)));
    }
    let mut out = String::with_capacity(text.len());
    for piece in piece::texts(text) {
        out.push_str(&change(rules, piece?));
    }
    Ok(out)
}

/// In lower case by these rules.
pub(super) fn lower_by(rules: &'static Rules, text: &str) -> SqlResult<String> {
    changed(rules, text, |rules, text| rules.lower(text).into_owned())
}

/// In lower case.
fn lower(cx: &Call, text: &str) -> SqlResult<String> {
    lower_by(cx.rules("lower() function")?, text)
}

/// In upper case.
fn upper(cx: &Call, text: &str) -> SqlResult<String> {
    changed(cx.rules("upper() function")?, text, |rules, text| rules.upper(text).into_owned())
}

/// First letter of each word in upper case, the others in lower case.
fn initcap(cx: &Call, text: &str) -> SqlResult<String> {
    let rules = cx.rules("initcap() function")?;
    if text.len() <= piece::PIECE {
        Ok(rules.title(text))
    } else {
        Ok(runtime::blocking(|| rules.title(text)))
    }
}

fn reverse(text: &str) -> SqlResult<String> {
    let mut out = String::with_capacity(text.len());
    let mut end = text.len();
    while end > 0 {
        let start = text.ceil_char_boundary(end.saturating_sub(piece::PIECE));
        out.extend(text[start..end].chars().rev());
        end = start;
        if end > 0 {
            runtime::check_piece()?;
        }
    }
    Ok(out)
}

/// Character position of `part` from 1, 0 if it is not in `text`.
fn position(cx: &Call, text: &str, part: &str) -> SqlResult<i32> {
    let rules = cx.rules("substring search")?;
    if !rules.is_deterministic() {
        let found = search::find(rules, text, part, 0)?;
        return Ok(found.map_or(0, |found| char_count(&text.as_bytes()[..found.start]) as i32 + 1));
    }
    let at = piece::Finder::new(part.as_bytes()).find(text.as_bytes(), 0)?;
    Ok(at.map_or(0, |at| char_count(&text.as_bytes()[..at]) as i32 + 1))
}

/// Characters from position `from` (1 is the first), at most `count`.
fn substring(text: &str, from: i32, count: Option<i32>) -> SqlResult<&str> {
    let end = match count {
        Some(count) if count < 0 => {
            // Where even the end lies before the string there is nothing to complain about.
            return Err(sql_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(count) => i64::from(from) + i64::from(count),
        None => i64::MAX,
    };
    let start = i64::from(from).max(1);
    if end <= start {
        return Ok("");
    }
    let rest = &text[char_end(text, (start - 1) as usize)..];
    Ok(&rest[..char_end(rest, usize::try_from(end - start).unwrap_or(usize::MAX))])
}

/// The bytes from position `from` (1 is the first), at most `count`.
pub(super) fn byte_substring(bytes: &[u8], from: i32, count: Option<i32>) -> SqlResult<&[u8]> {
    let end = match count {
        Some(count) if count < 0 => {
            return Err(sql_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(count) => i64::from(from) + i64::from(count),
        None => i64::MAX,
    };
    let start = (i64::from(from).max(1) - 1).min(bytes.len() as i64);
    let end = (end - 1).clamp(start, bytes.len() as i64);
    Ok(&bytes[start as usize..end as usize])
}

/// Number of characters that `left(text, n)` keeps; a negative `n` counts from the end.
fn from_start(text: &str, n: i32) -> usize {
    let count = char_count(text.as_bytes());
    if n >= 0 { (n as usize).min(count) } else { count.saturating_sub(n.unsigned_abs() as usize) }
}

/// Bytes of a text.
fn octets(text: &[u8]) -> i32 {
    let count = if texts_are_bytes() { char_count(text) } else { text.len() };
    count as i32
}

fn starts_with(cx: &Call, text: &[u8], prefix: &[u8]) -> SqlResult<bool> {
    if !cx.rules("starts_with()")?.is_deterministic() {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations are not supported for substring searches"
        ));
    }
    Ok(text.starts_with(prefix))
}

fn casefold(cx: &Call, text: &str) -> SqlResult<String> {
    if texts_are_bytes() {
        return Err(sql_err!(
            SYNTAX_ERROR,
            "Unicode case folding can only be performed if server encoding is UTF8"
        ));
    }
    changed(cx.rules("casefold() function")?, text, |rules, text| rules.fold(text).into_owned())
}

fn ascii(text: &str) -> i32 {
    let Some(first) = text.chars().next() else { return 0 };
    match encoding::byte_of(first).filter(|_| texts_are_bytes()) {
        Some(byte) => byte.into(),
        None => first as i32,
    }
}

fn chr(code: i32) -> SqlResult<String> {
    match code {
        1..=0xFF if texts_are_bytes() => Ok(encoding::inside(code as u8).to_string()),
        1.. if texts_are_bytes() => {
            Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "requested character too large for encoding: {code}"))
        }
        0 => Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "null character not permitted")),
        ..0 => Err(sql_err!(INVALID_PARAMETER_VALUE, "character number must be positive")),
        _ => match char::from_u32(code as u32) {
            Some(c) => Ok(c.to_string()),
            None if code > 0x10_FFFF => {
                Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "requested character too large for encoding: {code}"))
            }
            None => {
                Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "requested character not valid for encoding: {code}"))
            }
        },
    }
}
