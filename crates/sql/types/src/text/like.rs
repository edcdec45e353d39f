//! LIKE, ILIKE and the translation of SIMILAR TO.

use base::{SqlError, SqlResult, sql_err};

use super::functions::lower_by;
use crate::call::Call;
use crate::piece::{PIECE, Pace};

functions! {
    1569 like(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern) }
    1571 like(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern) }
    2007 like(bytea, bytea) -> bool [immutable strict] { |a: &[u8], pattern: &[u8]| like(a, pattern) }
    1570 notlike(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern).map(|m| !m) }
    1572 notlike(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern).map(|m| !m) }
    2008 notlike(bytea, bytea) -> bool [immutable strict] { |a: &[u8], pattern: &[u8]| like(a, pattern).map(|m| !m) }
    850 textlike(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern) }
    851 textnlike(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern).map(|m| !m) }
    858 namelike(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern) }
    859 namenlike(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern).map(|m| !m) }
    1631 bpcharlike(bpchar, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern) }
    1632 bpcharnlike(bpchar, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| like_in(cx, a, pattern).map(|m| !m) }
    2005 bytealike(bytea, bytea) -> bool [immutable strict] { |a: &[u8], pattern: &[u8]| byte_like(a, pattern) }
    2006 byteanlike(bytea, bytea) -> bool [immutable strict] { |a: &[u8], pattern: &[u8]| byte_like(a, pattern).map(|m| !m) }
    1633 texticlike(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern) }
    1634 texticnlike(text, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern).map(|m| !m) }
    1635 nameiclike(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern) }
    1636 nameicnlike(name, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern).map(|m| !m) }
    1660 bpchariclike(bpchar, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern) }
    1661 bpcharicnlike(bpchar, text) -> bool [immutable strict] { |cx; a: &str, pattern: &str| ilike(cx, a, pattern).map(|m| !m) }
    1637 like_escape(text, text) -> text [immutable strict] { |pattern: &str, escape: &str| like_escape(pattern, escape) }
    1987 similar_to_escape(text) -> text [immutable strict] { |pattern: &str| similar(pattern, Some("\\")) }
    1623 similar_escape(text, text) -> text [immutable] { |pattern: Option<&str>, escape: Option<&str>| pattern.map(|p| similar(p, Some(escape.unwrap_or("\\")))).transpose() }
    1986 similar_to_escape(text, text) -> text [immutable strict] { |pattern: &str, escape: &str| similar(pattern, Some(escape)) }
}

fn dangling() -> SqlError {
    sql_err!(INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character")
}

/// Whether UTF-8 text matches a pattern: `%` any characters, `_` one, `\` takes the next literally.
pub fn like(text: &[u8], pattern: &[u8]) -> SqlResult<bool> {
    matches(text, pattern, |rest| 1 + rest[1..].iter().take_while(|b| **b & 0xC0 == 0x80).count())
}

fn byte_like(bytes: &[u8], pattern: &[u8]) -> SqlResult<bool> {
    matches(bytes, pattern, |_| 1)
}

/// LIKE in the collation of a call.
fn like_in(cx: &Call, text: &str, pattern: &str) -> SqlResult<bool> {
    let rules = cx.rules("LIKE")?;
    match rules.is_deterministic() {
        true => like(text.as_bytes(), pattern.as_bytes()),
        false => super::search::like(rules, text, pattern),
    }
}

fn ilike(cx: &Call, text: &str, pattern: &str) -> SqlResult<bool> {
    let rules = cx.rules("ILIKE")?;
    if !rules.is_deterministic() {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations are not supported for ILIKE"
        ));
    }
    like(lower_by(rules, text)?.as_bytes(), lower_by(rules, pattern)?.as_bytes())
}

/// Greedy matching with one point of return, the last `%`: a later `%` makes earlier choices irrelevant.
fn matches(text: &[u8], pattern: &[u8], step: fn(&[u8]) -> usize) -> SqlResult<bool> {
    let (mut t, mut p) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    let mut pace = Pace::new();
    loop {
        pace.did(1)?;
        let matched = match pattern.get(p) {
            None if t == text.len() => return Ok(true),
            None => false,
            Some(b'%') => {
                p += 1;
                back = Some((t, p));
                continue;
            }
            Some(_) if t == text.len() => {
                return if ends_in_escape(&pattern[p..]) { Err(dangling()) } else { Ok(false) };
            }
            Some(b'_') => {
                t += step(&text[t..]);
                p += 1;
                true
            }
            Some(b'\\') => {
                let literal = pattern.get(p + 1).ok_or_else(dangling)?;
                let same = *literal == text[t];
                if same {
                    p += 2;
                    t += 1;
                }
                same
            }
            Some(literal) => {
                let same = *literal == text[t];
                if same {
                    p += 1;
                    t += 1;
                }
                same
            }
        };
        if !matched {
            let Some((from, after)) = back else { return Ok(false) };
            if from >= text.len() {
                return Ok(false);
            }
            let mut from = from + step(&text[from..]);
            if let Some(literal) = pattern.get(after).filter(|b| !matches!(b, b'_' | b'\\')) {
                match next_byte(*literal, text, from, &mut pace)? {
                    Some(at) => from = at,
                    None => return Ok(false),
                }
            }
            back = Some((from, after));
            (t, p) = (from, after);
        }
    }
}

/// The next place of a byte.
fn next_byte(byte: u8, text: &[u8], mut from: usize, pace: &mut Pace) -> SqlResult<Option<usize>> {
    while from < text.len() {
        let window = &text[from..text.len().min(from + PIECE)];
        let found = memchr::memchr(byte, window);
        pace.did(found.unwrap_or(window.len()) / 8)?;
        match found {
            Some(at) => return Ok(Some(from + at)),
            None => from += window.len(),
        }
    }
    Ok(None)
}

/// Whether what is left of a pattern starts with an escape character that escapes nothing.
fn ends_in_escape(pattern: &[u8]) -> bool {
    pattern == b"\\"
}

/// What a planner can use of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LikePattern {
    /// No wildcard: equality with this text.
    Exact(String),
    /// Begins with this text, more follows.
    Prefix(String),
    /// Begins with a wildcard.
    Any,
}

impl LikePattern {
    /// Splits a LIKE pattern.
    pub fn of(pattern: &str) -> LikePattern {
        let mut prefix = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' | '_' if prefix.is_empty() => return LikePattern::Any,
                '%' | '_' => return LikePattern::Prefix(prefix),
                '\\' => prefix.extend(chars.next()),
                _ => prefix.push(c),
            }
        }
        LikePattern::Exact(prefix)
    }
}

/// The single escape character of an ESCAPE clause; `None` for none.
fn escape_char(escape: &str) -> SqlResult<Option<char>> {
    let mut chars = escape.chars();
    match (chars.next(), chars.next()) {
        (first, None) => Ok(first),
        _ => Err(sql_err!(INVALID_ESCAPE_SEQUENCE, "invalid escape string")
            .hint("Escape string must be empty or one character.")),
    }
}

/// A pattern with its own escape character brought to the backslash.
fn like_escape(pattern: &str, escape: &str) -> SqlResult<String> {
    let escape = escape_char(escape)?;
    let mut out = String::with_capacity(pattern.len());
    let mut after_escape = false;
    for c in pattern.chars() {
        if Some(c) == escape && !after_escape {
            out.push('\\');
            after_escape = true;
        } else if c == '\\' && escape != Some('\\') {
            out.push_str("\\\\");
            after_escape = false;
        } else {
            out.push(c);
            after_escape = false;
        }
    }
    Ok(out)
}

/// A SIMILAR TO pattern as an advanced regular expression.
pub(super) fn similar(pattern: &str, escape: Option<&str>) -> SqlResult<String> {
    let escape = escape_char(escape.unwrap_or("\\"))?;
    let mut out = String::from("^(?:");
    let mut after_escape = false;
    let mut quotes = 0;
    // Inside brackets: how many characters since `[`, where `^` and a first `]` are special.
    let mut bracket: Option<usize> = None;
    for c in pattern.chars() {
        if after_escape {
            if c == '"' && bracket.is_none() {
                match quotes {
                    0 => out.push_str("){1,1}?("),
                    1 => out.push_str("){1,1}(?:"),
                    _ => {
                        return Err(sql_err!(
                            INVALID_USE_OF_ESCAPE_CHARACTER,
                            "SQL regular expression may not contain more than two escape-double-quote separators"
                        ));
                    }
                }
                quotes += 1;
            } else {
                out.push('\\');
                out.push(c);
            }
            after_escape = false;
        } else if Some(c) == escape {
            after_escape = true;
        } else if let Some(count) = bracket {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
            let first = count == 0 || (count == 1 && out.ends_with("^]"));
            bracket = if c == ']' && !first {
                None
            } else {
                Some(if c == '^' && count == 0 { 1 } else { count + 2 })
            };
        } else {
            match c {
                '[' => {
                    out.push('[');
                    bracket = Some(0);
                }
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    out.push('\\');
                    out.push(c);
                }
                _ => out.push(c),
            }
        }
    }
    out.push_str(")$");
    Ok(out)
}
