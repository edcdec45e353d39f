//! Tokens of JSON text, and the errors that PostgreSQL words for bad ones.

use std::borrow::Cow;

use base::{SqlError, SqlResult, sql_err};

use crate::piece::{PIECE, Pace};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    String,
    Number,
    True,
    False,
    Null,
    End,
}

/// What was expected where another token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Value,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    End,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Expected::Value => "JSON value",
            Expected::Key => "string",
            Expected::KeyOrEnd => "string or \"}\"",
            Expected::Colon => "\":\"",
            Expected::CommaOrBrace => "\",\" or \"}\"",
            Expected::CommaOrBracket => "\",\" or \"]\"",
            Expected::End => "end of input",
        }
    }
}

/// Takes tokens from the front of a text.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    /// Start of the current token.
    pub(crate) start: usize,
    /// End of the current token.
    pub(crate) end: usize,
    /// Kind of the current token.
    pub(crate) token: Token,
    line: u32,
    line_start: usize,
    /// Whether escapes must have a meaning (surrogates in pairs, no `\u0000`), not only the right form.
    escapes: bool,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, escapes: bool) -> Lexer<'a> {
        Lexer { text, start: 0, end: 0, token: Token::End, line: 1, line_start: 0, escapes }
    }

    /// Moves to the next token.
    pub(crate) fn advance(&mut self) -> SqlResult<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.end;
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
            at += 1;
            if bytes[at - 1] == b'\n' {
                self.line += 1;
                self.line_start = at;
            }
        }
        self.start = at;
        let single = |token| (token, at + 1);
        let (token, end) = match bytes.get(at) {
            None => (Token::End, at),
            Some(b'{') => single(Token::ObjectStart),
            Some(b'}') => single(Token::ObjectEnd),
            Some(b'[') => single(Token::ArrayStart),
            Some(b']') => single(Token::ArrayEnd),
            Some(b',') => single(Token::Comma),
            Some(b':') => single(Token::Colon),
            Some(b'"') => {
                self.string()?;
                (Token::String, self.end)
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                (Token::Number, self.end)
            }
            Some(_) => {
                let length = bytes[at..].iter().take_while(|b| is_word(**b)).count();
                let token = match &bytes[at..at + length] {
                    b"true" => Token::True,
                    b"false" => Token::False,
                    b"null" => Token::Null,
                    _ => {
                        self.end = at + length.max(1);
                        return Err(self.invalid_token());
                    }
                };
                (token, at + length)
            }
        };
        self.token = token;
        self.end = end;
        Ok(())
    }

    fn number(&mut self) -> SqlResult<()> {
        let bytes = self.text.as_bytes();
        let digits =
            |at: usize| bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = self.start + usize::from(bytes[self.start] == b'-');
        let mut good = true;
        match bytes.get(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at += digits(at),
            _ => good = false,
        }
        if bytes.get(at) == Some(&b'.') {
            let n = digits(at + 1);
            good &= n > 0;
            at += 1 + n;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let n = digits(at);
            good &= n > 0;
            at += n;
        }
        let rest = bytes[at..].iter().take_while(|b| is_word(**b)).count();
        self.end = at + rest;
        if good && rest == 0 { Ok(()) } else { Err(self.invalid_token()) }
    }

    fn string(&mut self) -> SqlResult<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.start + 1;
        let mut high_surrogate = false;
        let mut pace = Pace::new();
        loop {
            match bytes.get(at) {
                None => return self.fail_at(at, Self::invalid_token),
                Some(b'"') => break,
                Some(c) if *c < 0x20 => {
                    let c = *c;
                    return self.fail_at(at, |l| {
                        l.error(format!("Character with value 0x{c:02x} must be escaped."))
                    });
                }
                Some(b'\\') => {
                    at += 1;
                    pace.did(1)?;
                    self.escape(&mut at, &mut high_surrogate)?;
                }
                Some(_) => {
                    if high_surrogate {
                        return self.fail_behind(at, Self::lone_surrogate);
                    }
                    at += 1;
                    // Runs of plain bytes are the common case.
                    let start = at;
                    while bytes.get(at).is_some_and(|b| *b >= 0x20 && *b != b'"' && *b != b'\\') {
                        at += 1;
                        if at - start == PIECE {
                            break;
                        }
                    }
                    pace.did(at - start)?;
                }
            }
        }
        if high_surrogate {
            return self.fail_at(at + 1, Self::lone_surrogate);
        }
        self.end = at + 1;
        Ok(())
    }

    /// One escape whose character stands at `at`; moves behind it.
    fn escape(&mut self, at: &mut usize, high_surrogate: &mut bool) -> SqlResult<()> {
        let bytes = self.text.as_bytes();
        match bytes.get(*at) {
            None => self.fail_at(*at, Self::invalid_token),
            Some(b'u') => {
                let mut code = 0;
                for _ in 0..4 {
                    *at += 1;
                    match bytes.get(*at).map(|b| (*b as char).to_digit(16)) {
                        None => return self.fail_at(*at, Self::invalid_token),
                        Some(None) => {
                            return self.fail_behind(*at, |l| {
                                l.error("\"\\u\" must be followed by four hexadecimal digits.".into())
                            });
                        }
                        Some(Some(digit)) => code = code * 16 + digit,
                    }
                }
                if self.escapes {
                    self.code_point(*at, code, high_surrogate)?;
                }
                *at += 1;
                Ok(())
            }
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                if *high_surrogate {
                    return self.fail_behind(*at, Self::lone_surrogate);
                }
                *at += 1;
                Ok(())
            }
            Some(_) => {
                if *high_surrogate && self.escapes {
                    return self.fail_behind(*at, Self::lone_surrogate);
                }
                // Only the escape is reported, not the whole string.
                self.start = *at;
                self.fail_behind(*at, |l| {
                    let text = l.token_text();
                    l.error(format!("Escape sequence \"\\{text}\" is invalid."))
                })
            }
        }
    }

    fn code_point(&mut self, at: usize, code: u32, high_surrogate: &mut bool) -> SqlResult<()> {
        match code {
            0xD800..=0xDBFF if *high_surrogate => self.fail_behind(at, |l| {
                l.error("Unicode high surrogate must not follow a high surrogate.".into())
            }),
            0xD800..=0xDBFF => {
                *high_surrogate = true;
                Ok(())
            }
            0xDC00..=0xDFFF if *high_surrogate => {
                *high_surrogate = false;
                if crate::text::texts_are_bytes() {
                    return self
                        .fail_behind(at, |l| crate::encoding::untranslatable_escape().context(l.context()));
                }
                Ok(())
            }
            0xDC00..=0xDFFF => self.fail_behind(at, Self::lone_surrogate),
            _ if *high_surrogate => self.fail_behind(at, Self::lone_surrogate),
            0 => self.fail_behind(at, |l| {
                let error = sql_err!(UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
                    .detail("\\u0000 cannot be converted to text.");
                error.context(l.context())
            }),
            0x80.. if crate::text::texts_are_bytes() => {
                self.fail_behind(at, |l| crate::encoding::untranslatable_escape().context(l.context()))
            }
            _ => Ok(()),
        }
    }

    fn lone_surrogate(&self) -> SqlError {
        self.error("Unicode low surrogate must follow a high surrogate.".into())
    }

    /// An error with the token ending in front of `at`.
    fn fail_at(&mut self, at: usize, error: impl FnOnce(&Self) -> SqlError) -> SqlResult<()> {
        self.end = at;
        Err(error(self))
    }

    /// An error with the token ending behind the character at `at`.
    fn fail_behind(&mut self, at: usize, error: impl FnOnce(&Self) -> SqlError) -> SqlResult<()> {
        let mut end = (at + 1).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.fail_at(end, error)
    }

    fn token_text(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    fn invalid_token(&self) -> SqlError {
        self.error(format!("Token \"{}\" is invalid.", self.token_text()))
    }

    /// The error for the current token where another is expected.
    pub(crate) fn unexpected(&self, expected: Expected) -> SqlError {
        if self.token == Token::End {
            return self.error("The input string ended unexpectedly.".into());
        }
        self.error(format!("Expected {}, but found \"{}\".", expected.words(), self.token_text()))
    }

    fn error(&self, detail: String) -> SqlError {
        let error =
            sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json").detail(detail);
        error.context(self.context())
    }

    /// `JSON data, line 1: …` with the line up to the current token, at most some fifty bytes of it.
    pub(crate) fn context(&self) -> String {
        let end = self.end.min(self.text.len());
        let mut start = self.line_start.min(end);
        while end - start >= 50 {
            start += self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        if start - self.line_start.min(start) <= 3 {
            start = self.line_start.min(start);
        }
        let prefix = if start > self.line_start { "..." } else { "" };
        let next = self.text.as_bytes().get(end);
        let suffix = match next {
            Some(b'\n' | b'\r') | None => "",
            Some(_) => "...",
        };
        format!("JSON data, line {}: {prefix}{}{suffix}", self.line, &self.text[start..end])
    }
}

/// The text that a checked string token (with its quotes) means.
pub(crate) fn unescape(token: &str) -> Cow<'_, str> {
    let body = token.get(1..token.len().saturating_sub(1)).unwrap_or_default();
    if !body.contains('\\') {
        return Cow::Borrowed(body);
    }
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let mut high = None;
    let mut pace = Pace::new();
    while let Some(at) = rest.find('\\') {
        pace.pass(8 + at);
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next().unwrap_or('\\');
        rest = rest.get(at + 1 + escape.len_utf8()..).unwrap_or_default();
        let plain = match escape {
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let code = rest.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0xFFFD);
                rest = rest.get(4..).unwrap_or_default();
                match (code, high.take()) {
                    (0xD800..=0xDBFF, _) => {
                        high = Some(code);
                        continue;
                    }
                    (0xDC00..=0xDFFF, Some(first)) => {
                        let pair: u32 = 0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00);
                        char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER)
                    }
                    _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                }
            }
            other => other,
        };
        out.push(plain);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// How each byte stands in a JSON string; 0: as it is, 1: as `\u00xx`, else behind a backslash.
const ESCAPES: [u8; 256] = {
    let (mut table, mut i) = ([0; 256], 0);
    while i < 0x20 {
        table[i] = 1;
        i += 1;
    }
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table
};

/// Appends a text as a JSON string.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let mut pace = Pace::new();
    out.reserve(text.len() + 2);
    out.push(b'"');
    for piece in text.as_bytes().chunks(PIECE) {
        let mut from = 0;
        for (i, byte) in piece.iter().enumerate() {
            let escape = ESCAPES[usize::from(*byte)];
            if escape == 0 {
                continue;
            }
            out.extend_from_slice(&piece[from..i]);
            from = i + 1;
            if escape == 1 {
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            } else {
                out.extend_from_slice(&[b'\\', escape]);
            }
        }
        out.extend_from_slice(&piece[from..]);
        pace.pass(piece.len());
    }
    out.push(b'"');
}
