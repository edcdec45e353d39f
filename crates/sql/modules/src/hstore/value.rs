//! A set of keys with a text or NULL each: its payload and its text form.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | number of pairs, and the highest bit |
//! | then | of each pair's key and value 4 bytes: where it ends among the texts; bit 30: it is NULL; the highest bit: it is the first of all |
//! | then | the texts: key, value, key, value, … |
//!
//! Numbers are little-endian. Pairs are in the order of their keys' lengths, then bytes; no key is there twice. It is PostgreSQL's form, so that the hashes
//! of values are PostgreSQL's. Damaged bytes give missing texts, never a panic.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::value::FromDatum;

const PRESENT: u32 = 0x8000_0000;
const FIRST: u32 = 0x8000_0000;
const IS_NULL: u32 = 0x4000_0000;
const END: u32 = 0x3fff_ffff;

/// Characters read between two checks for interrupts.
const AT_ONCE: usize = 64 << 10;

/// A key and its value.
pub(super) type Pair<'a> = (&'a str, Option<&'a str>);

/// Order of two keys.
pub(super) fn key_order(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

/// A stored set.
#[derive(Clone, Copy)]
pub(super) struct Hstore<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> FromDatum<'a> for Hstore<'a> {
    fn from_datum(value: &'a Datum) -> Hstore<'a> {
        let bytes = <&[u8]>::from_datum(value);
        let count = word(bytes, 0) & !PRESENT;
        let fits = bytes.len().saturating_sub(4) / 8;
        Hstore { bytes, count: (count as usize).min(fits) }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at * 4..at * 4 + 4).and_then(|word| word.try_into().ok());
    word.map_or(0, u32::from_le_bytes)
}

impl<'a> Hstore<'a> {
    /// Number of pairs.
    pub(super) fn len(self) -> usize {
        self.count
    }

    fn texts(self) -> &'a [u8] {
        self.bytes.get(4 + 8 * self.count..).unwrap_or_default()
    }

    fn entry(self, at: usize) -> u32 {
        word(self.bytes, 1 + at)
    }

    fn text(self, at: usize) -> &'a str {
        let end = (self.entry(at) & END) as usize;
        let start = if at == 0 { 0 } else { (self.entry(at - 1) & END) as usize };
        types::value::str_of(self.texts().get(start..end).unwrap_or_default())
    }

    /// The key of a pair.
    pub(super) fn key(self, pair: usize) -> &'a str {
        self.text(2 * pair)
    }

    /// The value of a pair.
    pub(super) fn value(self, pair: usize) -> Option<&'a str> {
        (self.entry(2 * pair + 1) & IS_NULL == 0).then(|| self.text(2 * pair + 1))
    }

    /// All pairs.
    pub(super) fn pairs(self) -> impl Iterator<Item = Pair<'a>> {
        (0..self.count).map(move |pair| (self.key(pair), self.value(pair)))
    }

    /// The value at a key; `None` if the key is not there.
    pub(super) fn get(self, key: &str) -> Option<Option<&'a str>> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match key_order(self.key(middle), key) {
                Ordering::Equal => return Some(self.value(middle)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Whether all pairs of another are in this one.
    pub(super) fn contains(self, other: Hstore<'_>) -> bool {
        other.pairs().all(|(key, value)| self.get(key) == Some(value))
    }

    /// Order of two values: by the text of all keys and values, then by the number of pairs, then by where each key and value ends.
    pub(super) fn compare(self, other: Hstore<'_>) -> Ordering {
        if self.count == 0 || other.count == 0 {
            return self.count.cmp(&other.count);
        }
        let ends = |of: Hstore<'_>, at: usize| (of.entry(at) & END, of.entry(at) & IS_NULL != 0);
        let entries = || (0..2 * self.count).map(|at| ends(self, at).cmp(&ends(other, at)));
        let texts = self.texts().cmp(other.texts());
        texts
            .then(self.count.cmp(&other.count))
            .then_with(|| entries().find(|order| order.is_ne()).unwrap_or(Ordering::Equal))
    }
}

/// Stores pairs in any order; of those with one key the first counts.
pub(super) fn store(mut pairs: Vec<Pair<'_>>) -> SqlResult<Datum> {
    types::piece::sort_by(&mut pairs, |a, b| key_order(a.0, b.0))?;
    pairs.dedup_by(|later, kept| later.0 == kept.0);
    store_sorted(&pairs)
}

/// Stores pairs that are in order.
pub(super) fn store_sorted(pairs: &[Pair<'_>]) -> SqlResult<Datum> {
    let texts: usize = pairs.iter().map(|(key, value)| key.len() + value.map_or(0, str::len)).sum();
    if texts > END as usize {
        return Err(sql_err!(STRING_DATA_RIGHT_TRUNCATION, "string too long for hstore value"));
    }
    let mut out = Vec::with_capacity(4 + 8 * pairs.len() + texts);
    out.extend_from_slice(&(pairs.len() as u32 | PRESENT).to_le_bytes());
    let mut end = 0;
    for (i, (key, value)) in pairs.iter().enumerate() {
        end += key.len() as u32;
        let first = if i == 0 { FIRST } else { 0 };
        out.extend_from_slice(&(end | first).to_le_bytes());
        end += value.map_or(0, str::len) as u32;
        let null = if value.is_none() { IS_NULL } else { 0 };
        out.extend_from_slice(&(end | null).to_le_bytes());
    }
    for (key, value) in pairs {
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    Ok(Datum::Bytes(out.into()))
}

/// The text form: `"a"=>"1", "b"=>NULL`.
pub(super) fn write(of: Hstore<'_>, out: &mut Vec<u8>) {
    for (i, (key, value)) in of.pairs().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        write_quoted(key, out);
        out.extend_from_slice(b"=>");
        match value {
            Some(value) => write_quoted(value, out),
            None => out.extend_from_slice(b"NULL"),
        }
    }
}

fn write_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Reads the text form.
pub(super) fn read(text: &str, cx: &types::Call<'_>) -> SqlResult<Datum> {
    let mut parser = Parser { text, at: 0, next_look: AT_ONCE };
    let mut pairs = Vec::new();
    while let Some((key, _)) = parser.word(Some('='))? {
        parser.arrow()?;
        let (value, quoted) = parser.word(Some(','))?.ok_or_else(ends_early)?;
        let null = !quoted && value.eq_ignore_ascii_case("null");
        pairs.push((key, (!null).then_some(value)));
        if !parser.separator()? {
            break;
        }
        if parser.at >= parser.next_look {
            parser.next_look = parser.at + AT_ONCE;
            cx.session.check_interrupts()?;
        }
    }
    store(pairs.iter().map(|(key, value)| (key.as_str(), value.as_deref())).collect())
}

fn ends_early() -> SqlError {
    sql_err!(SYNTAX_ERROR, "syntax error in hstore: unexpected end of string")
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    next_look: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.next();
        }
    }

    fn unexpected(&self, found: char) -> SqlError {
        sql_err!(SYNTAX_ERROR, "syntax error in hstore, near \"{found}\" at position {}", self.at)
    }

    /// The next key or value and whether it was quoted; none at the end. It ends before `stop`, or behind a space. A key must not begin with it.
    fn word(&mut self, stop: Option<char>) -> SqlResult<Option<(String, bool)>> {
        self.skip_space();
        let mut word = String::new();
        match self.peek() {
            None => return Ok(None),
            Some('"') => {
                self.next();
                loop {
                    match self.next().ok_or_else(ends_early)? {
                        '"' => return Ok(Some((word, true))),
                        '\\' => word.push(self.next().ok_or_else(ends_early)?),
                        other => word.push(other),
                    }
                }
            }
            Some('=') if stop == Some('=') => return Err(self.unexpected('=')),
            // The first character of a value belongs to it, whatever it is.
            Some(first) if first != '\\' => {
                word.push(first);
                self.next();
            }
            Some(_) => {}
        }
        while let Some(next) = self.peek().filter(|next| Some(*next) != stop) {
            self.next();
            match next {
                '\\' => word.push(self.next().ok_or_else(ends_early)?),
                space if is_space(space) => break,
                other => word.push(other),
            }
        }
        Ok(Some((word, false)))
    }

    fn arrow(&mut self) -> SqlResult<()> {
        self.skip_space();
        for expected in ['=', '>'] {
            match self.peek().ok_or_else(ends_early)? {
                found if found == expected => self.next(),
                found => return Err(self.unexpected(found)),
            };
        }
        Ok(())
    }

    /// Whether another pair may follow.
    fn separator(&mut self) -> SqlResult<bool> {
        self.skip_space();
        match self.peek() {
            None => Ok(false),
            Some(',') => {
                self.next();
                Ok(true)
            }
            Some(found) => Err(self.unexpected(found)),
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
