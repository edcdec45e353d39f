//! Tokens of `jsonpath` text.

use base::{SqlError, SqlResult, sql_err};

/// A token with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name without quotes; keywords are told by their spelling.
    Word(String),
    /// A quoted string.
    String(String),
    /// `$name`
    Variable(String),
    /// A number's text; whether it is written as an integer.
    Number(String, bool),
    /// An operator or bracket.
    Sign(&'static str),
    End,
}

/// Operators and brackets, longer ones first.
const SIGNS: &[&str] = &[
    "&&", "||", "**", "<=", "==", "<>", "!=", ">=", "?", "%", "$", ".", "[", "]", "{", "}", "(", ")", "|",
    "&", "!", "=", "<", ">", "@", "#", ",", "*", ":", "-", "+", "/",
];

/// Takes tokens from a path's text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

pub(super) fn syntax_error(near: Option<&str>) -> SqlError {
    match near {
        Some(text) => sql_err!(SYNTAX_ERROR, "syntax error at or near \"{text}\" of jsonpath input"),
        None => sql_err!(SYNTAX_ERROR, "syntax error at end of jsonpath input"),
    }
}

fn is_special(c: char) -> bool {
    "?%$.[]{}()|&!=<>@#,*:-+/".contains(c)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) -> SqlResult<()> {
        loop {
            let rest = self.rest();
            if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| {
                    sql_err!(SYNTAX_ERROR, "unexpected end of comment at end of jsonpath input")
                })?;
                self.at += end + 4;
            } else {
                let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
                if blanks == 0 {
                    return Ok(());
                }
                self.at += blanks;
            }
        }
    }

    /// The next token, and its text as errors show it (none: as the end).
    pub(super) fn next(&mut self) -> SqlResult<(Token, Option<&'a str>)> {
        self.skip_blanks()?;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok((Token::End, None)) };
        let digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        if first.is_ascii_digit() || (first == '.' && digit(1)) {
            return self.number();
        }
        if first == '"' {
            self.at += 1;
            return Ok((Token::String(self.quoted()?), Some("\"")));
        }
        if let Some(name) = rest.strip_prefix('$') {
            if name.starts_with('"') {
                self.at += 2;
                return Ok((Token::Variable(self.quoted()?), Some("\"")));
            }
            if name.starts_with(|c| !is_special(c) && !is_blank(c)) {
                self.at += 1;
                return Ok((Token::Variable(self.word()?), None));
            }
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return Ok((Token::Sign(sign), Some(sign)));
        }
        Ok((Token::Word(self.word()?), None))
    }

    fn number(&mut self) -> SqlResult<(Token, Option<&'a str>)> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        // Digits, with single underscores between them.
        let digits = |from: usize, good: fn(&u8) -> bool| {
            let mut at = from;
            while bytes.get(at).is_some_and(good)
                || (at > from && bytes.get(at) == Some(&b'_') && bytes.get(at + 1).is_some_and(good))
            {
                at += 1;
            }
            at
        };
        let radix: Option<fn(&u8) -> bool> = match (bytes[0], bytes.get(1).map(u8::to_ascii_lowercase)) {
            (b'0', Some(b'x')) => Some(u8::is_ascii_hexdigit),
            (b'0', Some(b'o')) => Some(|b| matches!(b, b'0'..=b'7')),
            (b'0', Some(b'b')) => Some(|b| matches!(b, b'0' | b'1')),
            _ => None,
        };
        let mut integer = true;
        let mut bad = false;
        let mut end = match radix {
            Some(good) => {
                let end = digits(2, good);
                bad = end == 2;
                end
            }
            // A leading zero stands alone.
            None if bytes[0] == b'0' => 1,
            None => digits(0, u8::is_ascii_digit),
        };
        if radix.is_none() {
            if bytes.get(end) == Some(&b'.') {
                integer = false;
                end = digits(end + 1, u8::is_ascii_digit);
            }
            if let Some(b'e' | b'E') = bytes.get(end) {
                let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                let after = digits(end + 1 + sign, u8::is_ascii_digit);
                if after > end + 1 + sign {
                    integer = false;
                    end = after;
                } else if sign == 1 {
                    let text = &rest[..end + 2];
                    return Err(sql_err!(
                        SYNTAX_ERROR,
                        "invalid numeric literal at or near \"{text}\" of jsonpath input"
                    ));
                }
            }
        }
        let junk = rest[end..].chars().next().filter(|c| !is_special(*c) && !is_blank(*c) && *c != '"');
        if let Some(c) = junk.filter(|c| *c != '_' || bad) {
            let text = &rest[..end + c.len_utf8()];
            return Err(sql_err!(
                SYNTAX_ERROR,
                "trailing junk after numeric literal at or near \"{text}\" of jsonpath input"
            ));
        }
        let text = &rest[..end];
        self.at += end;
        Ok((Token::Number(text.to_owned(), integer), Some(text)))
    }

    fn word(&mut self) -> SqlResult<String> {
        let mut out = String::new();
        while let Some(c) = self.rest().chars().next() {
            if is_special(c) || is_blank(c) || c == '"' {
                break;
            }
            self.at += c.len_utf8();
            if c == '\\' {
                self.escape(&mut out)?;
            } else {
                out.push(c);
            }
        }
        Ok(out)
    }

    /// A string whose first quote is behind us.
    fn quoted(&mut self) -> SqlResult<String> {
        let mut out = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(sql_err!(SYNTAX_ERROR, "unterminated quoted string at end of jsonpath input"));
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => self.escape(&mut out)?,
                c => out.push(c),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, out: &mut String) -> SqlResult<()> {
        let Some(c) = self.rest().chars().next() else {
            return Err(sql_err!(SYNTAX_ERROR, "unexpected end after backslash at end of jsonpath input"));
        };
        let start = self.at - 1;
        if c == 'u' {
            return self.unicode(start, out);
        }
        self.at += c.len_utf8();
        out.push(match c {
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => {
                let code = self.hex(start, 2, "invalid hexadecimal character sequence")?;
                self.push_code(code, out)?;
                return Ok(());
            }
            other => other,
        });
        Ok(())
    }

    /// So many hexadecimal digits.
    fn hex(&mut self, start: usize, count: usize, message: &str) -> SqlResult<u32> {
        let mut code = 0;
        for _ in 0..count {
            match self.rest().chars().next().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => {
                    let near = &self.text[start..self.at];
                    return Err(sql_err!(SYNTAX_ERROR, "{message} at or near \"{near}\" of jsonpath input"));
                }
            }
            self.at += 1;
        }
        Ok(code)
    }

    fn push_code(&self, code: u32, out: &mut String) -> SqlResult<()> {
        if code == 0 {
            return Err(sql_err!(UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
                .detail("\\u0000 cannot be converted to text."));
        }
        let character = char::from_u32(code).ok_or_else(|| surrogate_error(false))?;
        if !character.is_ascii() && crate::text::texts_are_bytes() {
            return Err(crate::encoding::untranslatable_escape());
        }
        out.push(character);
        Ok(())
    }

    /// `\uXXXX` and `\u{X…}`, in pairs for surrogates.
    fn unicode(&mut self, start: usize, out: &mut String) -> SqlResult<()> {
        let message = "invalid Unicode escape sequence";
        let mut high = None;
        let mut first = start;
        loop {
            self.at += 1;
            let code = match self.rest().strip_prefix('{').and_then(|r| r.split_once('}')) {
                Some((digits, _)) if (1..=6).contains(&digits.len()) => {
                    self.at += 1;
                    let code = self.hex(first, digits.len(), message)?;
                    self.at += 1;
                    code
                }
                _ => self.hex(first, 4, message)?,
            };
            match (high, code) {
                (None, 0xD800..=0xDBFF) => {
                    high = Some(code);
                    if !self.rest().starts_with("\\u") {
                        return Err(surrogate_error(false));
                    }
                    first = self.at;
                    self.at += 1;
                }
                (Some(_), 0xD800..=0xDBFF) => return Err(surrogate_error(true)),
                (Some(high), 0xDC00..=0xDFFF) => {
                    return self.push_code(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00), out);
                }
                (Some(_), _) => return Err(surrogate_error(false)),
                (None, code) => return self.push_code(code, out),
            }
        }
    }
}

fn surrogate_error(high: bool) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type jsonpath").detail(if high {
        "Unicode high surrogate must not follow a high surrogate."
    } else {
        "Unicode low surrogate must follow a high surrogate."
    })
}
