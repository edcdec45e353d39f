//! The text of a function as tokens, with their places.
//!
//! What: words, strings, numbers and operators as SQL has them. Expressions and statements of SQL are not taken apart here: the
//! parser cuts them out of the text by the places of the tokens around them.

use base::{SqlError, SqlResult, sql_err};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tok {
    /// A word, in lower case.
    Word(String),
    /// A word in double quotes, as it is.
    Quoted(String),
    /// A string constant's value.
    Str(String),
    /// A number.
    Number,
    /// `$1`
    Param,
    /// An operator or a mark of punctuation.
    Op,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub tok: Tok,
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
}

/// Characters of which operators consist.
const OPERATOR: &str = "+-*/<>=~!@#%^&|`?";

/// Splits a text.
pub fn scan(text: &str) -> SqlResult<Vec<Token>> {
    let mut scanner = Scanner { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_space()?;
        let start = scanner.at;
        let tok = scanner.token()?;
        let last = tok == Tok::End;
        tokens.push(Token { tok, start, end: scanner.at });
        if last {
            return Ok(tokens);
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn error(&self, what: &str) -> SqlError {
        let near: String = self.rest().chars().take(20).collect();
        let error = sql_err!(SYNTAX_ERROR, "{what} at or near \"{near}\"");
        error.at(parse::position(self.text, self.at))
    }

    fn skip_space(&mut self) -> SqlResult<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c', '\x0b']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("--") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> SqlResult<()> {
        let (bytes, mut at, mut depth) = (self.text.as_bytes(), self.at + 2, 1);
        while depth > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") => (at, depth) = (at + 2, depth + 1),
                Some(b"*/") => (at, depth) = (at + 2, depth - 1),
                Some(_) => at += 1,
                None => return Err(self.error("unterminated /* comment")),
            }
        }
        self.at = at;
        Ok(())
    }

    fn token(&mut self) -> SqlResult<Tok> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return Ok(Tok::End) };
        let second = rest.as_bytes().get(1).copied();
        match c {
            '\'' => self.string(false).map(Tok::Str),
            'e' | 'E' if second == Some(b'\'') => {
                self.at += 1;
                self.string(true).map(Tok::Str)
            }
            '"' => self.quoted().map(Tok::Quoted),
            '$' if second.is_some_and(|c| c.is_ascii_digit()) => {
                self.at += 1;
                self.take_while(|c| c.is_ascii_digit());
                Ok(Tok::Param)
            }
            '$' => match self.dollar_string()? {
                Some(value) => Ok(Tok::Str(value)),
                None => Ok(self.mark(1)),
            },
            c if is_word_start(c) => {
                let word = self.take_while(|c| is_word_start(c) || c.is_ascii_digit() || c == '$');
                Ok(Tok::Word(word.to_lowercase()))
            }
            c if c.is_ascii_digit() || (c == '.' && second.is_some_and(|c| c.is_ascii_digit())) => {
                self.number();
                Ok(Tok::Number)
            }
            '.' if second == Some(b'.') => Ok(self.mark(2)),
            ':' if matches!(second, Some(b'=' | b':')) => Ok(self.mark(2)),
            c if OPERATOR.contains(c) => {
                let length = rest
                    .char_indices()
                    .find(|(i, c)| {
                        !OPERATOR.contains(*c) || rest[*i..].starts_with("--") || rest[*i..].starts_with("/*")
                    })
                    .map_or(rest.len(), |(i, _)| i);
                Ok(self.mark(length.max(1)))
            }
            c => Ok(self.mark(c.len_utf8())),
        }
    }

    fn mark(&mut self, length: usize) -> Tok {
        self.at += length;
        Tok::Op
    }

    fn take_while(&mut self, which: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !which(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn number(&mut self) {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        // `1..10` is a range, not a number with two points.
        if self.rest().starts_with('.') && !self.rest().starts_with("..") {
            self.at += 1;
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        }
        let before = self.text.as_bytes()[self.at - 1];
        if matches!(before, b'e' | b'E') && self.rest().starts_with(['+', '-']) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
    }

    fn string(&mut self, escapes: bool) -> SqlResult<String> {
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            match c {
                '\'' if chars.peek().is_some_and(|(_, c)| *c == '\'') => {
                    chars.next();
                    value.push('\'');
                }
                '\'' => {
                    self.at += i + 1;
                    return Ok(value);
                }
                '\\' if escapes => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, c)) => value.push(c),
                    None => break,
                },
                c => value.push(c),
            }
        }
        Err(self.error("unterminated quoted string"))
    }

    fn quoted(&mut self) -> SqlResult<String> {
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' if chars.peek().is_some_and(|(_, c)| *c == '"') => {
                    chars.next();
                    value.push('"');
                }
                '"' => {
                    self.at += i + 1;
                    return Ok(value);
                }
                c => value.push(c),
            }
        }
        Err(self.error("unterminated quoted identifier"))
    }

    /// `$tag$…$tag$`; `None` if the dollar begins no such string.
    fn dollar_string(&mut self) -> SqlResult<Option<String>> {
        let rest = self.rest();
        let Some(end) = rest[1..].find('$').map(|i| i + 2) else { return Ok(None) };
        let tag = &rest[..end];
        if !tag[1..end - 1].chars().all(|c| is_word_start(c) || c.is_ascii_digit()) {
            return Ok(None);
        }
        let Some(length) = rest[end..].find(tag) else {
            return Err(self.error("unterminated dollar-quoted string"));
        };
        self.at += end + length + tag.len();
        Ok(Some(rest[end..end + length].to_owned()))
    }
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = scan(text).expect(text);
        tokens.iter().filter(|t| t.tok != Tok::End).map(|t| &text[t.start..t.end]).collect()
    }

    #[test]
    fn ranges_and_numbers_are_told_apart() {
        assert_eq!(texts("1..10 1.5 .5 1e-3"), ["1", "..", "10", "1.5", ".5", "1e-3"]);
    }

    #[test]
    fn strings_and_comments() {
        assert_eq!(
            texts("a := 'it''s' -- x\n || $q$ ; $q$/* /* */ */;"),
            ["a", ":=", "'it''s'", "||", "$q$ ; $q$", ";"]
        );
        assert!(scan("'open").is_err());
        assert!(scan("/* open").is_err());
    }

    #[test]
    fn operators_end_before_comments() {
        assert_eq!(texts("a<=b<<c>>--d"), ["a", "<=", "b", "<<", "c", ">>"]);
        assert_eq!(texts("$1::int[2]"), ["$1", "::", "int", "[", "2", "]"]);
    }
}
