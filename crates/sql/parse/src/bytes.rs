//! # What
//! Escapes for single bytes, in databases whose texts are bytes. The grammar reads UTF-8, to which `E'\xe9'` is an error.
//!
//! # Invariants
//! 1. A text is as long as before, so that positions in it mean the same: an escape of four bytes becomes a backslash and a character of three,
//!    which the grammar reads as that character.
//! 2. What the grammar would not accept is left as it is.

use std::borrow::Cow;

use base::{SqlError, SqlResult, SqlState};

use crate::position;

/// The text with the escapes of bytes above those of ASCII in its strings as `inside` writes such a byte: by a character of three bytes. An escape for a
/// character that is not one of ASCII is an error (0A000): only bytes are characters.
pub fn escapes_as_bytes(text: &str, inside: fn(u8) -> char) -> SqlResult<Cow<'_, str>> {
    if !text.contains('\\') && !text.contains("&'") && !text.contains("&\"") {
        return Ok(Cow::Borrowed(text));
    }
    let mut scan = Scan { text, at: 0, replaced: Vec::new() };
    scan.run()?;
    if scan.replaced.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, byte) in scan.replaced {
        out.push_str(&text[from..at]);
        out.push('\\');
        out.push(inside(byte));
        from = at + ESCAPE;
    }
    out.push_str(&text[from..]);
    Ok(Cow::Owned(out))
}

/// Bytes of the escape of a byte above those of ASCII, by two hexadecimal digits or three octal ones.
const ESCAPE: usize = 4;

/// Goes through a text by what begins and ends its strings.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// Where escapes stand, and the bytes that they mean.
    replaced: Vec<(usize, u8)>,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn run(&mut self) -> SqlResult<()> {
        while self.at < self.text.len() {
            let (here, next) = (self.byte(self.at), self.byte(self.at + 1));
            match (here, next) {
                (b'\'', _) if self.is_behind(b"e") => self.escaped()?,
                (quote @ (b'\'' | b'"'), _) if self.is_behind(b"u&") => self.unicode(quote)?,
                (quote @ (b'\'' | b'"'), _) => self.skip_past(self.at + 1, &[quote]),
                (b'-', b'-') => self.skip_past(self.at + 2, b"\n"),
                (b'/', b'*') => self.comment(),
                (b'$', _) if !is_of_name(self.at.checked_sub(1).map_or(0, |at| self.byte(at))) => {
                    self.dollars()
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// Whether the word right before is this one, in any case.
    fn is_behind(&self, word: &[u8]) -> bool {
        let Some(start) = self.at.checked_sub(word.len()) else { return false };
        let before = start.checked_sub(1).map_or(0, |at| self.byte(at));
        self.text.as_bytes()[start..self.at].eq_ignore_ascii_case(word) && !is_of_name(before)
    }

    fn skip_past(&mut self, from: usize, end: &[u8]) {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|bytes| bytes == end);
        self.at = found.map_or(self.text.len(), |found| from + found + end.len());
    }

    fn comment(&mut self) {
        let mut depth = 0;
        while self.at < self.text.len() {
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    /// `$tag$ … $tag$`, or a parameter.
    fn dollars(&mut self) {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let tag = rest.iter().take_while(|byte| is_of_name(**byte) && **byte != b'$').count();
        if rest.get(tag) != Some(&b'$') || rest[0].is_ascii_digit() {
            self.at += 1;
            return;
        }
        let end = self.text.as_bytes()[self.at..self.at + tag + 2].to_vec();
        self.skip_past(self.at + end.len(), &end);
    }

    /// A string of the E form.
    fn escaped(&mut self) -> SqlResult<()> {
        self.at += 1;
        while self.at < self.text.len() {
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'\'', b'\'') => self.at += 2,
                (b'\'', _) => {
                    self.at += 1;
                    return Ok(());
                }
                (b'\\', letter) => {
                    let value = match letter {
                        b'x' => self.number(self.at + 2, 2, 16).map(|value| value as u8),
                        b'0'..=b'7' => self.number(self.at + 1, 3, 8).map(|value| value as u8),
                        b'u' => self.check(self.number(self.at + 2, 4, 16))?,
                        b'U' => self.check(self.number(self.at + 2, 8, 16))?,
                        _ => None,
                    };
                    if let Some(byte) = value.filter(|byte| !byte.is_ascii()) {
                        self.replaced.push((self.at, byte));
                        self.at += ESCAPE;
                    } else {
                        self.at += 2;
                    }
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// A string or name of the U& form.
    fn unicode(&mut self, quote: u8) -> SqlResult<()> {
        let start = self.at + 1;
        self.skip_past(start, &[quote]);
        let end = self.at;
        let sign = self.escape_sign();
        self.at = start;
        while self.at < end {
            if self.byte(self.at) != sign {
                self.at += 1;
                continue;
            }
            let value = match self.byte(self.at + 1) {
                next if next == sign => None,
                b'+' => self.number(self.at + 2, 6, 16),
                _ => self.number(self.at + 1, 4, 16),
            };
            self.check(value)?;
            self.at += 2;
        }
        self.at = end;
        Ok(())
    }

    /// The sign that UESCAPE names, or a backslash.
    fn escape_sign(&self) -> u8 {
        let rest = self.text[self.at..].trim_start();
        let named = rest.get(..7).filter(|word| word.eq_ignore_ascii_case("uescape")).and_then(|_| {
            let sign = rest[7..].trim_start().strip_prefix('\'')?;
            sign.bytes().next()
        });
        named.unwrap_or(b'\\')
    }

    /// So many digits as a number, if they are all there.
    fn number(&self, from: usize, count: usize, radix: u32) -> Option<u32> {
        let digits = self.text.get(from..from + count)?;
        u32::from_str_radix(digits, radix)
            .ok()
            .filter(|_| digits.bytes().all(|digit| digit.is_ascii_alphanumeric()))
    }

    /// Fails for a character that is not one of ASCII.
    fn check(&self, code: Option<u32>) -> SqlResult<Option<u8>> {
        match code {
            Some(0x80..) => {
                let message = "conversion between UTF8 and SQL_ASCII is not supported";
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position(self.text, self.at)))
            }
            _ => Ok(None),
        }
    }
}

/// Whether the byte can be within a name.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match escapes_as_bytes(text, |byte| char::from_u32(0xEF00 + u32::from(byte)).unwrap()) {
            Ok(out) => {
                assert_eq!(out.len(), text.len());
                crate::parse(&out).unwrap_or_else(|error| panic!("{out}: {}", error.message()));
                out.into_owned()
            }
            Err(error) => format!("{} {}", error.code().as_str(), error.message()),
        }
    }

    #[test]
    fn bytes_by_number_become_characters() {
        assert_eq!(
            read(r"select E'\xe9\351', e'a''\\xe9\x41\7'"),
            "select E'\\\u{efe9}\\\u{efe9}', e'a''\\\\xe9\\x41\\7'"
        );
        for untouched in [
            r"select '\xe9', E'\\351'",
            r"select namee '\xe9'",
            r"select $$E'\xe9'$$, $a$ $$ E'\xe9' $a$",
            r#"select 1 as "E'\xe9'""#,
            "select 1 -- E'\\xe9'\n",
            r"select 1 /* /* */ E'\xe9' */",
            r"select U&'\0041', U&'!0041\00e9' uescape '!'",
        ] {
            assert_eq!(read(untouched), untouched);
        }
    }

    #[test]
    fn characters_by_number_are_refused() {
        let refused = "0A000 conversion between UTF8 and SQL_ASCII is not supported";
        for text in [
            r"select E'\u00e9'",
            r"select U&'a\00e9'",
            r#"select 1 as U&"\+0000e9""#,
            r"select U&'!00e9' UESCAPE '!'",
        ] {
            assert_eq!(read(text), refused);
        }
    }

    #[test]
    fn no_text_is_too_short() {
        for text in ["E'", "E'\\", "E'\\x", "E'\\xé", "U&'\\", "$", "$a", "/*", "'", "U&\"\\é\"", "E'\\u00é'"]
        {
            let _ = escapes_as_bytes(text, |_| '\u{ef80}');
        }
    }
}
