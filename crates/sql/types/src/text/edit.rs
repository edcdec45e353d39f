//! Padding, trimming, replacing, splitting, quoting; the same on `bytea` where it exists.

use base::{Encoding, SqlResult, sql_err};
use collation::Rules;
use rustc_hash::FxHashMap;
use tuple::{Bytes, Datum};

use crate::{
    call::Call,
    piece::{self, Finder, PIECE, Pace},
    registry::SetRows,
    value::FromDatum,
};

use super::search;
use super::{MAX_TEXT, char_count, char_end, functions::byte_substring, too_long};

functions! {
    885 btrim(text) -> text [immutable strict] { |a: &str| trim(a, " ", true, true) }
    884 btrim(text, text) -> text [immutable strict] { |a: &str, set: &str| trim(a, set, true, true) }
    881 ltrim(text) -> text [immutable strict] { |a: &str| trim(a, " ", true, false) }
    875 ltrim(text, text) -> text [immutable strict] { |a: &str, set: &str| trim(a, set, true, false) }
    882 rtrim(text) -> text [immutable strict] { |a: &str| trim(a, " ", false, true) }
    876 rtrim(text, text) -> text [immutable strict] { |a: &str, set: &str| trim(a, set, false, true) }
    879 lpad(text, int4) -> text [immutable strict] { |a: &str, n: i32| pad(a, n, " ", true) }
    873 lpad(text, int4, text) -> text [immutable strict] { |a: &str, n: i32, fill: &str| pad(a, n, fill, true) }
    880 rpad(text, int4) -> text [immutable strict] { |a: &str, n: i32| pad(a, n, " ", false) }
    874 rpad(text, int4, text) -> text [immutable strict] { |a: &str, n: i32, fill: &str| pad(a, n, fill, false) }
    1622 repeat(text, int4) -> text [immutable strict] { |a: &str, n: i32| repeat(a, n) }
    2087 replace(text, text, text) -> text [immutable strict] { |cx; a: &str, from: &str, to: &str| replace(cx, a, from, to) }
    878 translate(text, text, text) -> text [immutable strict] { |a: &str, from: &str, to: &str| translate(a, from, to) }
    2088 split_part(text, text, int4) -> text [immutable strict] { |cx; a: &str, delimiter: &str, n: i32| split_part(cx, a, delimiter, n) }
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
    2011 byteacat(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], b: &[u8]| piece::concat(&[a, b]) }
    2086 substr(bytea, int4) -> bytea [immutable strict] { |a: &[u8], from: i32| byte_substring(a, from, None).and_then(piece::datum) }
    2085 substr(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], from: i32, n: i32| byte_substring(a, from, Some(n)).and_then(piece::datum) }
    2013 substring(bytea, int4) -> bytea [immutable strict] { |a: &[u8], from: i32| byte_substring(a, from, None).and_then(piece::datum) }
    2012 substring(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], from: i32, n: i32| byte_substring(a, from, Some(n)).and_then(piece::datum) }
    2014 position(bytea, bytea) -> int4 [immutable strict] { |a: &[u8], part: &[u8]| byte_position(a, part) }
    2015 btrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| byte_trim(a, set, true, true).and_then(piece::datum) }
    6195 ltrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| byte_trim(a, set, true, false).and_then(piece::datum) }
    6196 rtrim(bytea, bytea) -> bytea [immutable strict] { |a: &[u8], set: &[u8]| byte_trim(a, set, false, true).and_then(piece::datum) }
    6382 reverse(bytea) -> bytea [immutable strict] { |a: &[u8]| byte_reverse(a) }
    721 get_byte(bytea, int4) -> int4 [immutable strict] { |a: &[u8], n: i32| byte_at(a, n.into()).map(|i| i32::from(a[i])) }
    722 set_byte(bytea, int4, int4) -> bytea [immutable strict] { |a: &[u8], n: i32, new: i32| byte_at(a, n.into()).and_then(|i| { let mut out = piece::copy(a)?; out[i] = new as u8; Ok(out) }) }
    723 get_bit(bytea, int8) -> int4 [immutable strict] { |a: &[u8], n: i64| bit_at(a, n).map(|(i, bit)| i32::from(a[i] >> bit & 1)) }
    724 set_bit(bytea, int8, int4) -> bytea [immutable strict] { |a: &[u8], n: i64, new: i32| set_bit(a, n, new) }
    6163 bit_count(bytea) -> int8 [immutable strict] { |a: &[u8]| bit_count(a) }
}

/// Without the characters of a set at either end.
fn trim<'a>(mut text: &'a str, set: &str, left: bool, right: bool) -> SqlResult<&'a str> {
    let (mut pace, of_set) = (Pace::new(), |c: char| set.contains(c));
    while left && !text.is_empty() {
        let kept = text[..text.floor_char_boundary(PIECE)].trim_start_matches(of_set);
        let cut = text.floor_char_boundary(PIECE) - kept.len();
        text = &text[cut..];
        if !kept.is_empty() {
            break;
        }
        pace.did(cut * (set.len() / 16 + 1))?;
    }
    while right && !text.is_empty() {
        let start = text.ceil_char_boundary(text.len().saturating_sub(PIECE));
        let kept = text[start..].trim_end_matches(of_set).len();
        let cut = text.len() - start - kept;
        text = &text[..start + kept];
        if kept > 0 {
            break;
        }
        pace.did(cut * (set.len() / 16 + 1))?;
    }
    Ok(text)
}

fn pad(text: &str, length: i32, fill: &str, left: bool) -> SqlResult<String> {
    let length = length.max(0) as usize;
    if length.saturating_mul(4) > MAX_TEXT {
        return Err(too_long());
    }
    let have = char_count(text.as_bytes());
    let (text, filling) = if have >= length || fill.is_empty() {
        (&text[..char_end(text, length)], String::new())
    } else {
        let missing = length - have;
        let size = char_count(fill.as_bytes());
        let mut filling = repeated(fill, missing / size)?;
        filling.push_str(&fill[..char_end(fill, missing % size)]);
        (text, filling)
    };
    let parts = if left { [&filling, text] } else { [text, &filling] };
    joined(&parts)
}

/// Whole texts one behind the other.
fn joined(parts: &[&str]) -> SqlResult<String> {
    let mut out = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        for piece in piece::texts(part) {
            out.push_str(piece?);
        }
    }
    Ok(out)
}

fn repeat(text: &str, count: i32) -> SqlResult<String> {
    let count = count.max(0) as usize;
    if text.len().checked_mul(count).is_none_or(|n| n > MAX_TEXT) {
        return Err(too_long());
    }
    repeated(text, count)
}

fn repeated(text: &str, count: usize) -> SqlResult<String> {
    if text.len() >= PIECE {
        return joined(&vec![text; count]);
    }
    // Short texts first become a piece.
    let some = (PIECE / text.len().max(1)).min(count);
    let piece = text.repeat(some);
    if some == count {
        return Ok(piece);
    }
    let mut out = String::with_capacity(text.len() * count);
    let mut pace = Pace::new();
    for _ in 0..count / some {
        out.push_str(&piece);
        pace.did(piece.len())?;
    }
    out.push_str(&piece[..count % some * text.len()]);
    Ok(out)
}

fn replace(cx: &Call, text: &str, from: &str, to: &str) -> SqlResult<Vec<u8>> {
    let rules = cx.rules(SEARCH)?;
    if !rules.is_deterministic() {
        return search::replace(rules, text, from, to);
    }
    if from.is_empty() {
        return piece::copy(text.as_bytes());
    }
    let (bytes, mut finder) = (text.as_bytes(), Finder::new(from.as_bytes()));
    let mut out = Vec::with_capacity(text.len());
    let (mut done, mut pace) = (0, Pace::new());
    while let Some(at) = finder.find(bytes, done)? {
        piece::append(&mut out, &bytes[done..at])?;
        piece::append(&mut out, to.as_bytes())?;
        pace.did(to.len())?;
        if out.len() > MAX_TEXT {
            return Err(too_long());
        }
        done = at + from.len();
    }
    piece::append(&mut out, &bytes[done..])?;
    Ok(out)
}

fn translate(text: &str, from: &str, to: &str) -> SqlResult<String> {
    let mut to = to.chars();
    // The first of several equal characters counts. No counterpart: it goes.
    let mut map: FxHashMap<char, Option<char>> = FxHashMap::default();
    for c in from.chars() {
        let new = to.next();
        map.entry(c).or_insert(new);
    }
    let ascii: Vec<Option<char>> =
        (0..128u8).map(char::from).map(|c| map.get(&c).copied().unwrap_or(Some(c))).collect();
    let new = |c: char| match ascii.get(c as usize) {
        Some(new) => *new,
        None => map.get(&c).copied().unwrap_or(Some(c)),
    };
    let mut out = String::with_capacity(text.len());
    for piece in piece::texts(text) {
        out.extend(piece?.chars().filter_map(new));
    }
    Ok(out)
}

fn byte_reverse(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for piece in bytes.rchunks(PIECE) {
        out.extend(piece.iter().rev());
        if out.len() < bytes.len() {
            runtime::check_piece()?;
        }
    }
    Ok(out)
}

fn bit_count(bytes: &[u8]) -> SqlResult<i64> {
    let mut count = 0;
    for piece in piece::slices(bytes) {
        count += piece?.iter().map(|b| i64::from(b.count_ones())).sum::<i64>();
    }
    Ok(count)
}

/// What the collation is missed for in searches.
const SEARCH: &str = "substring search";

fn split_part<'a>(cx: &Call, text: &'a str, delimiter: &str, n: i32) -> SqlResult<&'a str> {
    if n == 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    if delimiter.is_empty() {
        return Ok(if n == 1 || n == -1 { text } else { "" });
    }
    let rules = cx.rules(SEARCH)?;
    if !rules.is_deterministic() {
        return search::split_part(rules, text, delimiter, n);
    }
    let mut finder = Finder::new(delimiter.as_bytes());
    let (bytes, wanted) = (text.as_bytes(), n.unsigned_abs());
    if n < 0 {
        let mut end = text.len();
        for _ in 1..wanted {
            let Some(at) = finder.rfind(bytes, end)? else { return Ok("") };
            end = at;
        }
        let start = finder.rfind(bytes, end)?.map_or(0, |at| at + delimiter.len());
        return Ok(&text[start..end]);
    }
    let mut start = 0;
    for _ in 1..wanted {
        let Some(at) = finder.find(bytes, start)? else { return Ok("") };
        start = at + delimiter.len();
    }
    Ok(&text[start..finder.find(bytes, start)?.unwrap_or(text.len())])
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
    joined(&[head, new, tail])
}

fn byte_overlay(bytes: &[u8], new: &[u8], from: i32, count: i32) -> SqlResult<Vec<u8>> {
    let behind = overlay_range(from, count, 1)?;
    let head = &bytes[..(from as usize - 1).min(bytes.len())];
    let tail = &bytes[(behind.max(1) as usize - 1).min(bytes.len())..];
    piece::concat(&[head, new, tail])
}

/// Words that PostgreSQL reserves (in any of its degrees but "unreserved"): an identifier of that spelling is quoted.
const RESERVED: &str = include_str!("reserved.txt");

/// Bit of the fiber's word: [`FiberFacts::quotes_all_identifiers`].
const QUOTES_ALL: u32 = 1;
/// Bit of the fiber's word: [`FiberFacts::texts_are_bytes`].
const BYTES: u32 = 2;
/// From this bit of the fiber's word on: [`FiberFacts::default_rules`].
const RULES: u32 = 8;

/// What texts depend on in many places that know no session: the running fiber remembers it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FiberFacts {
    /// Whether its session has `quote_all_identifiers`.
    pub quotes_all_identifiers: bool,
    /// Whether its session's database has the encoding `SQL_ASCII` ([`crate::encoding`]).
    pub texts_are_bytes: bool,
    /// [Number](collation::Rules::number) of the rules of its session's database.
    pub default_rules: u32,
    /// What [`alike`] answers, if that is not [`ALIKE`].
    pub alike: Option<[f32; 3]>,
}

impl FiberFacts {
    /// The running fiber's facts are these from now on.
    #[inline]
    pub fn apply(self) {
        let bit = |fact: bool, bit: u32| if fact { bit } else { 0 };
        let bits = bit(self.quotes_all_identifiers, QUOTES_ALL) | bit(self.texts_are_bytes, BYTES);
        runtime::set_word(0, bits | self.default_rules << RULES);
        for (n, limit) in self.alike.iter().flatten().enumerate() {
            // The sign tells it from a word that was not set.
            runtime::set_word(1 + n, (-limit).to_bits());
        }
    }
}

/// What [`alike`] answers by default.
pub const ALIKE: [f32; 3] = [0.3, 0.6, 0.5];

/// From which similarity on the running fiber's session calls texts alike: two texts, a word and a part of a text, a word and whole words of a text.
pub fn alike() -> [f32; 3] {
    std::array::from_fn(|n| match runtime::word(1 + n) {
        0 => ALIKE[n],
        limit => -f32::from_bits(limit),
    })
}

/// Whether texts of the running fiber's database are bytes.
#[inline]
pub fn texts_are_bytes() -> bool {
    runtime::word(0) & BYTES != 0
}

/// The rules of the running fiber's database: those of the collation `default`.
#[inline]
pub(crate) fn default_rules() -> &'static Rules {
    match runtime::word(0) >> RULES {
        0 => &collation::C,
        number => collation::numbered(number),
    }
}

/// The encoding of the running fiber's database.
pub fn server_encoding() -> Encoding {
    if texts_are_bytes() { Encoding::SqlAscii } else { Encoding::Utf8 }
}

/// The name as an identifier: quoted where lexer or grammar would not read it back, or everywhere ([`FiberFacts`]).
pub fn quote_identifier(name: &str) -> String {
    let plain = runtime::word(0) & QUOTES_ALL == 0
        && name.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
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

/// The fields of a text: by a delimiter, or its characters where that is NULL. As rows, one at a time.
struct Fields {
    text: Bytes,
    /// `None`: no delimiter, or an empty one.
    finder: Option<Finder<'static>>,
    /// The delimiter, where it is searched for by rules, and the rules by which fields mean NULL.
    loose: Option<Bytes>,
    rules: &'static Rules,
    /// Each character is a field.
    characters: bool,
    /// The field that means NULL.
    null: Option<Bytes>,
    /// Where the next field begins; `None`: there are no more.
    at: Option<usize>,
}

impl Fields {
    /// Of the arguments of `string_to_array`.
    fn of(cx: &Call, args: &[Datum]) -> SqlResult<Fields> {
        let bytes = |n: usize| match args.get(n) {
            Some(Datum::Bytes(bytes)) => Some(bytes.clone()),
            _ => None,
        };
        let (text, delimiter) = (bytes(0).unwrap_or_default(), bytes(1));
        let rules = cx.rules(SEARCH)?;
        let given = delimiter.as_ref().filter(|d| !d.is_empty());
        Ok(Fields {
            finder: given.filter(|_| rules.is_deterministic()).map(|d| Finder::owned(d)),
            loose: given.filter(|_| !rules.is_deterministic()).cloned(),
            rules,
            characters: delimiter.is_none(),
            null: bytes(2),
            at: (!text.is_empty()).then_some(0),
            text,
        })
    }

    fn take(&mut self) -> SqlResult<Option<Datum>> {
        let Some(start) = self.at else { return Ok(None) };
        let (mut end, mut next) = (self.text.len(), None);
        if let Some(finder) = &mut self.finder
            && let Some(at) = finder.find(&self.text, start)?
        {
            (end, next) = (at, Some(at + finder.len()));
        } else if let Some(delimiter) = &self.loose {
            let text = |bytes| crate::value::utf8(bytes).unwrap_or_default();
            let found = search::find(self.rules, text(&self.text), text(delimiter), start)?;
            if let Some(found) = found {
                (end, next) = (found.start, Some(found.end));
            }
        } else if self.characters {
            let more = self.text[start + 1..].iter().take_while(|b| **b & 0xC0 == 0x80).count();
            end = start + 1 + more;
            next = (end < self.text.len()).then_some(end);
        }
        self.at = next;
        let field = &self.text[start..end];
        let is_null = self.null.as_deref().is_some_and(|null| self.rules.equal(null, field));
        Ok(Some(if is_null { Datum::Null } else { piece::datum(field)? }))
    }
}

impl SetRows for Fields {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        row.clear();
        row.extend(self.take()?);
        Ok(!row.is_empty())
    }
}

fn string_to_array(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let (mut fields, mut values, mut pace) = (Fields::of(cx, args)?, Vec::new(), Pace::new());
    while let Some(field) = fields.take()? {
        values.push(field);
        pace.did(32)?;
    }
    Ok(crate::array::from_text_values(values))
}

fn string_to_table(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    Ok(Box::new(Fields::of(cx, args)?))
}

fn byte_position(bytes: &[u8], part: &[u8]) -> SqlResult<i32> {
    Ok(Finder::new(part).find(bytes, 0)?.map_or(0, |i| i as i32 + 1))
}

fn byte_trim<'a>(mut bytes: &'a [u8], set: &[u8], left: bool, right: bool) -> SqlResult<&'a [u8]> {
    let mut pace = Pace::new();
    while left
        && let [first, rest @ ..] = bytes
        && set.contains(first)
    {
        bytes = rest;
        pace.did(1)?;
    }
    while right
        && let [rest @ .., last] = bytes
        && set.contains(last)
    {
        bytes = rest;
        pace.did(1)?;
    }
    Ok(bytes)
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
    let mut out = piece::copy(bytes)?;
    out[i] = out[i] & !(1 << bit) | (new as u8) << bit;
    Ok(out)
}
