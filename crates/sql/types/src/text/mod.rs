//! `text`, `varchar`, `bpchar`, `name`: comparison, conversion, and the functions on strings.
//!
//! Text is UTF-8. Lengths and positions count characters. Order and case are those of a collation, whose rules calls and comparators carry ([`crate::comparator`]).

use base::{SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::piece::{self, PIECE, Pace};
use crate::value::FromDatum;

mod are;
mod edit;
mod encode;
pub(crate) mod folded;
mod format;
mod functions;
pub(crate) mod kinds;
mod like;
mod normal;
pub(crate) mod radix;
mod regex;
mod search;

pub(crate) use edit::FUNCTIONS as EDIT_FUNCTIONS;
pub(crate) use edit::default_rules;
pub use edit::{ALIKE, FiberFacts, alike, quote_identifier, server_encoding, texts_are_bytes};
pub(crate) use encode::FUNCTIONS as ENCODE_FUNCTIONS;
pub(crate) use encode::base64;
pub use encode::{bytea_in, bytea_out, md5_text};
pub(crate) use folded::FUNCTIONS as FOLDED_FUNCTIONS;
pub(crate) use format::FUNCTIONS as FORMAT_FUNCTIONS;
pub(crate) use functions::FUNCTIONS;
pub(crate) use kinds::AS_IS;
pub(crate) use like::FUNCTIONS as LIKE_FUNCTIONS;
pub use like::{LikePattern, like};
pub(crate) use normal::FUNCTIONS as NORMAL_FUNCTIONS;
pub(crate) use regex::FUNCTIONS as REGEX_FUNCTIONS;
pub use regex::{check_regex, regex_groups, regex_hir, regex_matches};

/// Longest `name`, in bytes.
pub const NAME_LENGTH: usize = 63;

/// Most bytes that a text function may build: PostgreSQL's limit of an allocation.
pub(crate) const MAX_TEXT: usize = 0x3FFF_FFFF;

/// The error for results above [`MAX_TEXT`].
pub(crate) fn too_long() -> SqlError {
    sql_err!(PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// The first bytes of a text that fit a `name`, whole characters only.
pub fn clip_name(text: &str) -> &str {
    clip_bytes(text, NAME_LENGTH)
}

/// The longest prefix of whole characters of at most `most` bytes.
pub fn clip_bytes(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    &text[..end]
}

/// Byte position behind `count` characters, the end if there are fewer.
pub fn char_end(text: &str, mut count: usize) -> usize {
    if text.len() <= count {
        return text.len();
    }
    let (mut pace, mut start) = (Pace::new(), 0);
    // Whole pieces are counted, which is faster than to walk.
    while text.len() - start > PIECE && count > PIECE / 16 {
        let end = text.floor_char_boundary(start + PIECE.min(count));
        count -= count_in(&text.as_bytes()[start..end]);
        start = end;
        pace.pass(PIECE);
    }
    text[start..].char_indices().nth(count).map_or(text.len(), |(i, _)| start + i)
}

/// The number of characters of valid UTF-8.
pub fn char_count(bytes: &[u8]) -> usize {
    if bytes.len() <= PIECE {
        return count_in(bytes);
    }
    let mut pace = Pace::new();
    let count = |piece: &[u8]| {
        pace.pass(PIECE);
        count_in(piece)
    };
    bytes.chunks(PIECE).map(count).sum()
}

#[inline]
fn count_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b & 0xC0 != 0x80).count()
}

/// The limit that a modifier of `varchar(n)` or `char(n)` means.
fn limit(typmod: i32) -> Option<usize> {
    (typmod >= 4).then(|| (typmod - 4) as usize)
}

/// A text brought to `varchar(n)`: too long is an error unless only blanks are cut, or the cast is explicit.
pub fn varchar_fit(text: &str, typmod: i32, explicit: bool) -> SqlResult<&str> {
    let Some(limit) = limit(typmod) else { return Ok(text) };
    let end = char_end(text, limit);
    if !explicit && text[end..].bytes().any(|b| b != b' ') {
        return Err(sql_err!(
            STRING_DATA_RIGHT_TRUNCATION,
            "value too long for type character varying({limit})"
        ));
    }
    Ok(&text[..end])
}

/// A text brought to `char(n)`: cut as [`varchar_fit`] does, or filled with blanks.
pub fn bpchar_fit(text: &str, typmod: i32, explicit: bool) -> SqlResult<Datum> {
    let Some(limit) = limit(typmod) else { return Ok(Datum::text(text)) };
    let end = char_end(text, limit);
    if !explicit && text[end..].bytes().any(|b| b != b' ') {
        return Err(sql_err!(STRING_DATA_RIGHT_TRUNCATION, "value too long for type character({limit})"));
    }
    let text = &text[..end];
    let missing = limit - char_count(text.as_bytes());
    if limit > MAX_TEXT {
        return Err(too_long());
    }
    if missing == 0 {
        return Ok(Datum::text(text));
    }
    let mut out = String::with_capacity(text.len() + missing);
    out.push_str(text);
    out.extend(std::iter::repeat_n(' ', missing));
    Ok(Datum::Bytes(out.into()))
}

/// The modifier of `varchar(n)` or `char(n)`.
pub fn length_typmod(modifiers: &[&str], type_name: &str) -> SqlResult<i32> {
    let [text] = modifiers else { return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid type modifier")) };
    let length: i32 = crate::int::parse(text, "integer")?;
    if length < 1 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "length for type {type_name} must be at least 1"));
    }
    if length > 10 * 1024 * 1024 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "length for type {type_name} cannot exceed 10485760"));
    }
    Ok(length + 4)
}

/// Checks outside bytes to be UTF-8 without zero bytes.
#[inline]
pub fn check_utf8(bytes: &[u8]) -> SqlResult<&str> {
    // Most parameters are short and plain.
    if bytes.len() <= SHORT && bytes.iter().all(|byte| matches!(byte, 1..=0x7F)) {
        // SAFETY: ASCII is UTF-8.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    check_any_utf8(bytes)
}

/// Bytes that are looked at one by one before anything better is tried.
const SHORT: usize = 32;

fn check_any_utf8(bytes: &[u8]) -> SqlResult<&str> {
    let bad = |at: usize, len: usize| {
        let shown: Vec<String> =
            bytes[at..(at + len).min(bytes.len())].iter().map(|b| format!("0x{b:02x}")).collect();
        sql_err!(
            CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": {}",
            shown.join(" ")
        )
    };
    let zero = |text: &str| -> SqlResult<Option<usize>> {
        for (i, piece) in piece::slices(text.as_bytes()).enumerate() {
            if let Some(at) = memchr::memchr(0, piece?) {
                return Ok(Some(i * PIECE + at));
            }
        }
        Ok(None)
    };
    match crate::value::utf8(bytes) {
        Ok(text) => match zero(text)? {
            None => Ok(text),
            Some(at) => Err(bad(at, 1)),
        },
        Err(at) => {
            let want = match bytes[at] {
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF7 => 4,
                _ => 1,
            };
            Err(bad(at, want))
        }
    }
}

/// Text of a `bpchar` as other types see it: without the blanks at its end.
fn unpadded(bytes: &[u8]) -> Bytes {
    Bytes::new(crate::compare::trim_blanks(bytes))
}

/// A `name` from text: cut to 63 bytes.
pub fn name_datum(text: &str) -> Datum {
    Datum::text(clip_name(text))
}

/// Text argument of a variadic list, or `None` for NULL.
fn text_of(datum: &Datum) -> Option<&str> {
    (!datum.is_null()).then(|| <&str>::from_datum(datum))
}
