//! # What
//! COPY's text and CSV formats: bytes to lines, lines to fields, and values back to text.
//!
//! # Invariants
//! 1. No input makes this panic; what is not of the format is an error of class 22P04.
//! 2. What [`write_field`] writes, [`Splitter::fields`] reads back.
//! 3. Fields that are as they were written are not copied: they lie in the input. While `plain` holds, all of that is ASCII without NUL.

use std::sync::Arc;

use base::{SqlError, SqlResult, sql_err};
use memchr::{memchr2, memchr3};

use super::options::{CopyOptions, Format};

/// How lines end; found out at the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Unknown,
    Newline,
    Return,
    Both,
}

/// A field of a line: where its text lies in the splitter's input, or among what was de-escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    start: usize,
    end: usize,
    /// It had to be de-escaped.
    copied: bool,
    /// It is the NULL string, unquoted.
    pub(crate) null: bool,
    /// It was quoted, at least in part.
    pub(crate) quoted: bool,
    /// It is the string that stands for the column's default, unquoted.
    pub(crate) default: bool,
}

/// What the input holds next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line, without its ending.
    Line,
    /// Nothing more, or the end marker.
    End,
    /// More input is needed.
    More,
}

/// Finds lines in a stream of bytes, and fields in lines.
pub(crate) struct Splitter {
    options: Arc<CopyOptions>,
    buffer: Vec<u8>,
    /// The buffer is ASCII without NUL.
    plain: bool,
    /// Where the present line begins.
    start: usize,
    /// How far the search for its end has come.
    at: usize,
    /// The present line.
    line: (usize, usize),
    ending: Ending,
    in_quote: bool,
    after_escape: bool,
    /// Lines read; newlines within quotes count.
    pub(crate) line_number: u64,
    ended: bool,
    /// Those fields of the present line that had to be de-escaped.
    text: Vec<u8>,
    fields: Vec<Field>,
}

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::BAD_COPY_FILE_FORMAT, message)
}

impl Splitter {
    /// No input yet.
    pub(crate) fn new(options: Arc<CopyOptions>) -> Splitter {
        Splitter {
            options,
            buffer: Vec::new(),
            plain: true,
            start: 0,
            at: 0,
            line: (0, 0),
            ending: Ending::Unknown,
            in_quote: false,
            after_escape: false,
            line_number: 0,
            ended: false,
            text: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Appends input.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.at -= self.start;
            self.start = 0;
        }
        // A line of any length may have to be kept: it is not looked at again for each piece.
        let rest = self.plain || self.buffer.len() < bytes.len() && is_plain(&self.buffer);
        self.plain = rest && is_plain(bytes);
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether the present line, and all input that is at hand, is ASCII without NUL.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The present line's bytes.
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer[self.line.0..self.line.1]
    }

    /// Goes to the next line. `last`: no more input will come.
    pub(crate) fn next_line(&mut self, last: bool) -> SqlResult<Next> {
        if self.ended {
            return Ok(Next::End);
        }
        if self.at == self.start && !self.in_quote {
            if self.start == self.buffer.len() {
                return Ok(if last { Next::End } else { Next::More });
            }
            self.line_number += 1;
            self.after_escape = false;
        }
        let found = match self.options.format {
            Format::Csv => self.end_of_csv_line(last)?,
            _ => self.end_of_text_line(last)?,
        };
        let Some((end, skip)) = found else {
            if !last {
                if self.at == self.start {
                    // The line was counted and will be looked at again from its beginning.
                    self.line_number -= 1;
                }
                return Ok(Next::More);
            }
            return self.take_line(self.buffer.len(), 0);
        };
        self.take_line(end, skip)
    }

    fn take_line(&mut self, end: usize, skip: usize) -> SqlResult<Next> {
        self.line = (self.start, end);
        self.start = end + skip;
        self.at = self.start;
        self.in_quote = false;
        if self.options.format == Format::Text && self.line() == b"\\." {
            self.ended = true;
            return Ok(Next::End);
        }
        Ok(Next::Line)
    }

    /// Looks at a line's ending at `at`: its length if it is one, `None` if more input must tell.
    fn ending_at(&mut self, at: usize, last: bool) -> SqlResult<Option<usize>> {
        let csv = self.options.format == Format::Csv;
        let what = if csv { "unquoted" } else { "literal" };
        let refuse = |found: &str, written: &str| {
            let error = bad(format!("{what} {found} found in data"));
            Err(error.hint(if csv {
                format!("Use quoted CSV field to represent {found}.")
            } else {
                format!("Use \"{written}\" to represent {found}.")
            }))
        };
        if self.buffer[at] == b'\n' {
            return match self.ending {
                Ending::Unknown | Ending::Newline => {
                    self.ending = Ending::Newline;
                    Ok(Some(1))
                }
                _ => refuse("newline", "\\n"),
            };
        }
        let next = self.buffer.get(at + 1);
        if next.is_none() && !last && matches!(self.ending, Ending::Unknown | Ending::Both) {
            return Ok(None);
        }
        match (self.ending, next == Some(&b'\n')) {
            (Ending::Unknown | Ending::Both, true) => {
                self.ending = Ending::Both;
                Ok(Some(2))
            }
            (Ending::Unknown | Ending::Return, _) => {
                self.ending = Ending::Return;
                Ok(Some(1))
            }
            _ => refuse("carriage return", "\\r"),
        }
    }

    /// End of the line that begins at `start`, and the length of its ending.
    fn end_of_text_line(&mut self, last: bool) -> SqlResult<Option<(usize, usize)>> {
        while self.at < self.buffer.len() {
            match self.buffer[self.at] {
                b'\n' | b'\r' => {
                    return Ok(self.ending_at(self.at, last)?.map(|skip| (self.at, skip)));
                }
                b'\\' => match self.buffer.get(self.at + 1) {
                    None if last => self.at += 1,
                    None => return Ok(None),
                    Some(b'.') => {
                        self.check_marker(last)?;
                        let Some(next) = self.buffer.get(self.at + 2) else {
                            if last {
                                self.at += 2;
                                continue;
                            }
                            return Ok(None);
                        };
                        debug_assert!(matches!(next, b'\n' | b'\r'));
                        self.at += 2;
                    }
                    Some(_) => self.at += 2,
                },
                _ => self.skip_to(b'\n', b'\r', b'\\'),
            }
        }
        Ok(None)
    }

    /// `\.` must stand alone on its line.
    fn check_marker(&self, last: bool) -> SqlResult<()> {
        let behind = self.buffer.get(self.at + 2);
        let alone = self.at == self.start
            && match behind {
                None => true,
                Some(b) => matches!(b, b'\n' | b'\r'),
            };
        if alone || (behind.is_none() && !last && self.at == self.start) {
            return Ok(());
        }
        Err(bad("end-of-copy marker is not alone on its line"))
    }

    fn end_of_csv_line(&mut self, last: bool) -> SqlResult<Option<(usize, usize)>> {
        let quote = self.options.quote;
        // A quote that escapes itself needs no care: two of them leave the quoted part and enter it again.
        let escape = Some(self.options.escape).filter(|escape| *escape != quote);
        loop {
            // All else changes nothing. Behind an escape the next byte counts, whichever it is.
            match self.in_quote {
                false => self.skip_to(quote, b'\n', b'\r'),
                true if self.after_escape => {}
                true => self.skip_to(quote, b'\n', escape.unwrap_or(quote)),
            }
            let Some(&byte) = self.buffer.get(self.at) else { return Ok(None) };
            if self.in_quote && Some(byte) == escape {
                self.after_escape = !self.after_escape;
            }
            if byte == quote && !self.after_escape {
                self.in_quote = !self.in_quote;
            }
            if Some(byte) != escape {
                self.after_escape = false;
            }
            if self.in_quote {
                if byte == b'\n' {
                    self.line_number += 1;
                }
            } else if matches!(byte, b'\n' | b'\r') {
                return Ok(self.ending_at(self.at, last)?.map(|skip| (self.at, skip)));
            }
            self.at += 1;
        }
    }

    /// Goes on to the next of three bytes, or to the end of what has come.
    fn skip_to(&mut self, a: u8, b: u8, c: u8) {
        let rest = &self.buffer[self.at..];
        self.at += memchr3(a, b, c, rest).unwrap_or(rest.len());
    }

    /// Splits the present line.
    pub(crate) fn fields(&mut self) -> SqlResult<&[Field]> {
        self.text.clear();
        self.fields.clear();
        match self.options.format {
            Format::Csv => self.split_csv()?,
            _ => self.split_text(),
        }
        Ok(&self.fields)
    }

    /// The bytes of a field of the present line.
    pub(crate) fn bytes(&self, field: Field) -> &[u8] {
        let source = if field.copied { &self.text } else { &self.buffer };
        &source[field.start..field.end]
    }

    /// The text of a field of the present line.
    pub(crate) fn text(&self, field: Field) -> SqlResult<&str> {
        let bytes = self.bytes(field);
        if self.plain && !field.copied {
            // SAFETY: the field lies in the buffer, all of which is ASCII (invariant 3).
            return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
        }
        types::text::check_utf8(bytes)
    }

    /// The field with this number of the present line.
    pub(crate) fn get(&self, i: usize) -> Option<Field> {
        self.fields.get(i).copied()
    }

    /// The bytes of the field with this number of the present line.
    pub(crate) fn field(&self, i: usize) -> Option<&[u8]> {
        self.fields.get(i).map(|field| self.bytes(*field))
    }

    fn split_text(&mut self) {
        let line = &self.buffer[self.line.0..self.line.1];
        // What is behind the line does no harm.
        let next =
            |at: usize, a: u8, b: u8| first_of(a, b, &self.buffer[self.line.0 + at..], line.len() - at);
        let (delimiter, null) = (self.options.delimiter, self.options.null.as_bytes());
        let default = self.options.default.as_deref().map(str::as_bytes);
        let mut at = 0;
        loop {
            let raw = at;
            at += next(at, delimiter, b'\\');
            let copied = at < line.len() && line[at] == b'\\';
            let (mut start, mut end) = (self.line.0 + raw, self.line.0 + at);
            if copied {
                start = self.text.len();
                self.text.extend_from_slice(&line[raw..at]);
                while at < line.len() && line[at] != delimiter {
                    if line[at] == b'\\' && at + 1 < line.len() {
                        at = unescape(line, at + 1, &mut self.text);
                    } else {
                        let plain = 1 + next(at + 1, delimiter, b'\\');
                        self.text.extend_from_slice(&line[at..at + plain]);
                        at += plain;
                    }
                }
                end = self.text.len();
            }
            // The NULL string is compared with what was written, escapes and all.
            let null = &line[raw..at] == null;
            let default = Some(&line[raw..at]) == default;
            self.fields.push(Field { start, end, copied, null, quoted: false, default });
            if at >= line.len() {
                return;
            }
            at += 1;
        }
    }

    fn split_csv(&mut self) -> SqlResult<()> {
        let line = &self.buffer[self.line.0..self.line.1];
        let next =
            |at: usize, a: u8, b: u8| first_of(a, b, &self.buffer[self.line.0 + at..], line.len() - at);
        let CopyOptions { delimiter, quote, escape, .. } = *self.options;
        let null = self.options.null.as_bytes();
        let default = self.options.default.as_deref().map(str::as_bytes);
        let mut at = 0;
        loop {
            let raw = at;
            at += next(at, delimiter, quote);
            let quoted = at < line.len() && line[at] == quote;
            let (mut start, mut end) = (self.line.0 + raw, self.line.0 + at);
            if quoted {
                start = self.text.len();
                self.text.extend_from_slice(&line[raw..at]);
                at = unquote(line, at, (delimiter, quote, escape), &mut self.text)?;
                end = self.text.len();
            }
            let null = !quoted && &line[raw..at] == null;
            let default = !quoted && Some(&line[raw..at]) == default;
            self.fields.push(Field { start, end, copied: quoted, null, quoted, default });
            if at >= line.len() {
                return Ok(());
            }
            at += 1;
        }
    }
}

/// Whether bytes are ASCII without NUL.
fn is_plain(bytes: &[u8]) -> bool {
    plain_length(bytes, |byte| !matches!(byte, 1..=0x7F)) == bytes.len()
}

/// How many of the first `limit` bytes come before the first of two, of which most fields have few. What comes behind may be looked at too.
#[inline]
fn first_of(a: u8, b: u8, bytes: &[u8], limit: usize) -> usize {
    /// Bytes that are looked at together.
    const STEP: usize = 8;
    /// Steps after which a field is a long one.
    const STEPS: usize = 2;
    let (steps, _) = bytes.as_chunks::<STEP>();
    for (number, step) in steps.iter().take(STEPS).enumerate() {
        let word = u64::from_le_bytes(*step);
        let found = zero_bytes(word ^ repeated(a)) | zero_bytes(word ^ repeated(b));
        if found != 0 {
            return (number * STEP + found.trailing_zeros() as usize / 8).min(limit);
        }
    }
    let passed = (steps.len().min(STEPS) * STEP).min(limit);
    passed + memchr2(a, b, &bytes[passed..limit]).unwrap_or(limit - passed)
}

/// A word of equal bytes.
fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The upper bit of the lowest byte that is zero, perhaps with bits of bytes above; zero if there is none.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeated(1)) & !word & repeated(0x80)
}

/// Appends what a field of a CSV line says from its first quote, at `at`, on. Returns where it ends.
fn unquote(
    line: &[u8],
    mut at: usize,
    (delimiter, quote, escape): (u8, u8, u8),
    out: &mut Vec<u8>,
) -> SqlResult<usize> {
    while at < line.len() && line[at] != delimiter {
        if line[at] != quote {
            let plain = first_of(delimiter, quote, &line[at..], line.len() - at);
            out.extend_from_slice(&line[at..at + plain]);
            at += plain;
            continue;
        }
        at += 1;
        loop {
            let Some(&byte) = line.get(at) else { return Err(bad("unterminated CSV quoted field")) };
            let next = line.get(at + 1).copied();
            at += 1;
            if byte == escape && next.is_some_and(|n| n == escape || n == quote) {
                out.extend(next);
                at += 1;
            } else if byte == quote {
                break;
            } else {
                let plain = first_of(quote, escape, &line[at..], line.len() - at);
                out.extend_from_slice(&line[at - 1..at + plain]);
                at += plain;
            }
        }
    }
    Ok(at)
}

/// Writes the byte that the escape at `at` (behind the backslash) stands for. Returns where the line goes on.
fn unescape(line: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let digit = |i: usize, radix: u32| line.get(i).and_then(|b| (*b as char).to_digit(radix));
    let byte = match line[at] {
        b'0'..=b'7' => {
            let (mut value, mut i) = (0, at);
            while let Some(d) = digit(i, 8).filter(|_| i < at + 3) {
                value = value * 8 + d;
                i += 1;
            }
            push_byte(value as u8, out);
            return i;
        }
        b'x' if digit(at + 1, 16).is_some() => {
            let (mut value, mut i) = (0, at + 1);
            while let Some(d) = digit(i, 16).filter(|_| i < at + 3) {
                value = value * 16 + d;
                i += 1;
            }
            push_byte(value as u8, out);
            return i;
        }
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        other => other,
    };
    out.push(byte);
    at + 1
}

/// Writes a byte that was told by its number.
fn push_byte(byte: u8, out: &mut Vec<u8>) {
    if byte.is_ascii() || !types::text::texts_are_bytes() {
        out.push(byte);
    } else {
        out.extend_from_slice(types::encoding::inside(byte).encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Appends a value in the format: escaped or quoted as it needs. `None` is NULL. `only`: the line has this column alone.
pub(crate) fn write_field(
    options: &CopyOptions,
    value: Option<&[u8]>,
    (force_quote, only): (bool, bool),
    out: &mut Vec<u8>,
) {
    let Some(value) = value else {
        out.extend_from_slice(options.null.as_bytes());
        return;
    };
    let start = out.len();
    out.extend_from_slice(value);
    finish_field(options, start, (force_quote, only), out);
}

/// The same for a value that has been appended as it is from `start` on.
pub(crate) fn finish_field(
    options: &CopyOptions,
    start: usize,
    (force_quote, only): (bool, bool),
    out: &mut Vec<u8>,
) {
    let value = &out[start..];
    match options.format {
        Format::Csv if force_quote || needs_quotes(options, value, only) => {
            let value = out.split_off(start);
            write_quoted(options, &value, out);
        }
        Format::Csv => {}
        _ => {
            let plain = plain_length(value, |byte| is_special(options, byte));
            if plain < value.len() {
                let rest = out.split_off(start + plain);
                write_text(options, &rest, out);
            }
        }
    }
}

/// Whether the text format escapes it.
fn is_special(options: &CopyOptions, byte: u8) -> bool {
    matches!(byte, 8..=13 | b'\\') || byte == options.delimiter
}

fn write_text(options: &CopyOptions, value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    loop {
        let plain = plain_length(rest, |byte| is_special(options, byte));
        out.extend_from_slice(&rest[..plain]);
        let Some(&special) = rest.get(plain) else { return };
        let letter = match special {
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            11 => b'v',
            12 => b'f',
            b'\r' => b'r',
            other => other,
        };
        out.extend_from_slice(&[b'\\', letter]);
        rest = &rest[plain + 1..];
    }
}

/// How many bytes come before the first special one.
fn plain_length(bytes: &[u8], special: impl Fn(u8) -> bool) -> usize {
    /// As many as are looked at together.
    const STEP: usize = 16;
    let has_special = |step: &[u8; STEP]| step.iter().fold(false, |found, byte| found | special(*byte));
    let (steps, _) = bytes.as_chunks::<STEP>();
    let plain = steps.iter().take_while(|step| !has_special(step)).count() * STEP;
    plain + bytes[plain..].iter().take_while(|byte| !special(**byte)).count()
}

/// Whether a value would be read as something else without quotes in CSV.
fn needs_quotes(options: &CopyOptions, value: &[u8], only: bool) -> bool {
    let special = |b: u8| b == options.delimiter || b == options.quote || matches!(b, b'\n' | b'\r');
    value == options.null.as_bytes() || only && value == b"\\." || plain_length(value, special) < value.len()
}

fn write_quoted(options: &CopyOptions, value: &[u8], out: &mut Vec<u8>) {
    let CopyOptions { quote, escape, .. } = *options;
    out.push(quote);
    for &byte in value {
        if byte == quote || byte == escape {
            out.push(escape);
        }
        out.push(byte);
    }
    out.push(quote);
}

/// `missing data for column "b"`.
pub(crate) fn missing_data(column: &str) -> SqlError {
    sql_err!(BAD_COPY_FILE_FORMAT, "missing data for column \"{column}\"")
}

/// `extra data after last expected column`.
pub(crate) fn extra_data() -> SqlError {
    bad("extra data after last expected column")
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
