//! How the text forms of `tsvector` and `tsquery` write words: plain, quoted, with escapes, and with positions.

use base::{SqlResult, sql_err};

use crate::vector::{MAX_POSITION, Position};

/// Whose words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `'word':1A,2`
    Vector,
    /// Operators end a word, and so does the colon of its modifiers.
    Query,
    /// As a query's, but what people type into a search field: quotes and backslashes are no escapes.
    Web,
}

/// Reads the words of a text one by one.
pub(crate) struct Words<'a> {
    text: &'a str,
    /// Where the next word begins, in bytes.
    pub(crate) at: usize,
    style: Style,
}

/// Whether a character stands between words.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Whether a character is an operator of queries.
pub(crate) fn is_operator(c: char) -> bool {
    matches!(c, '!' | '&' | '|' | '(' | ')' | '<')
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str, style: Style) -> Words<'a> {
        Words { text, at: 0, style }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn wrong<T>(&self) -> SqlResult<T> {
        let what = if self.style == Style::Vector { "tsvector" } else { "tsquery" };
        Err(sql_err!(SYNTAX_ERROR, "syntax error in {what}: \"{}\"", self.text))
    }

    /// Appends the next word to `word` and its positions to `positions`; false at the end of the text.
    pub(crate) fn next(&mut self, word: &mut String, positions: &mut Vec<Position>) -> SqlResult<bool> {
        word.clear();
        positions.clear();
        while self.peek().is_some_and(is_space) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        let Some(first) = self.peek() else { return Ok(false) };
        match first {
            '\'' if self.style != Style::Web => self.quoted(word)?,
            _ if self.style != Style::Vector && is_operator(first) => return self.wrong(),
            '"' if self.style == Style::Web => return self.wrong(),
            _ => self.plain(word)?,
        }
        if self.style == Style::Vector && self.peek() == Some(':') {
            self.at += 1;
            self.positions(positions)?;
        }
        Ok(true)
    }

    /// A word up to a space, an operator or a colon.
    fn plain(&mut self, word: &mut String) -> SqlResult<()> {
        while let Some(c) = self.peek() {
            let ends = match c {
                ':' => !word.is_empty(),
                '"' => self.style == Style::Web,
                _ => is_space(c) || self.style != Style::Vector && is_operator(c),
            };
            if ends {
                break;
            }
            self.character(c, word)?;
        }
        if word.is_empty() { self.wrong() } else { Ok(()) }
    }

    /// Takes one character, or the one behind a backslash.
    fn character(&mut self, c: char, word: &mut String) -> SqlResult<()> {
        self.at += c.len_utf8();
        if c != '\\' || self.style == Style::Web {
            word.push(c);
            return Ok(());
        }
        match self.peek() {
            Some(escaped) => {
                word.push(escaped);
                self.at += escaped.len_utf8();
                Ok(())
            }
            None => Err(sql_err!(SYNTAX_ERROR, "there is no escaped character: \"{}\"", self.text)),
        }
    }

    /// A word in quotes, in which two quotes are one.
    fn quoted(&mut self, word: &mut String) -> SqlResult<()> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return self.wrong(),
                Some('\'') => {
                    self.at += 1;
                    if self.peek() != Some('\'') {
                        return if word.is_empty() { self.wrong() } else { Ok(()) };
                    }
                    word.push('\'');
                    self.at += 1;
                }
                Some(c) => self.character(c, word)?,
            }
        }
    }

    /// `1A,2`, up to a space.
    fn positions(&mut self, positions: &mut Vec<Position>) -> SqlResult<()> {
        loop {
            let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return self.wrong();
            }
            let number = &self.text[self.at..self.at + digits];
            self.at += digits;
            // As C's `atoi`, which wraps around in its own way: what does not fit is far behind the last position.
            let place = number.parse::<i32>().unwrap_or(i32::MAX).min(MAX_POSITION.into()) as u16;
            if place == 0 {
                return Err(sql_err!(SYNTAX_ERROR, "wrong position info in tsvector: \"{}\"", self.text));
            }
            let (weight, more) = self.weight()?;
            positions.push(Position::new(place, weight));
            if !more {
                return Ok(());
            }
        }
    }

    /// The weight behind a position, and whether another position follows.
    fn weight(&mut self) -> SqlResult<(u8, bool)> {
        let mut weight = 0;
        loop {
            let Some(c) = self.peek() else { return Ok((weight, false)) };
            let found = match c {
                ',' => {
                    self.at += 1;
                    return Ok((weight, true));
                }
                'a' | 'A' | '*' => 3,
                'b' | 'B' => 2,
                'c' | 'C' => 1,
                'd' | 'D' => 0,
                _ if is_space(c) => return Ok((weight, false)),
                _ if c.is_ascii_digit() => {
                    self.at += 1;
                    continue;
                }
                _ => return self.wrong(),
            };
            if weight != 0 {
                return self.wrong();
            }
            weight = found;
            self.at += 1;
        }
    }
}
