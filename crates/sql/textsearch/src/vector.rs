//! # What
//! The stored form of `tsvector`: lexemes in the order of their bytes, each with the positions at which it was found.
//!
//! # Layout
//! Number of lexemes (4 bytes); for each a word of 32 bits: whether it has positions (lowest bit), length (11 bits), where it begins in what
//! follows (20 bits); the lexemes, each followed by its positions: padding to an even offset, their number, and 16 bits for each: weight (2
//! bits), place (14 bits). Numbers are little-endian.
//!
//! # Invariants
//! 1. Lexemes are in strictly ascending order, positions ascend, there are at most 256 of a lexeme.
//!
//! # PostgreSQL counterpart
//! `tsvector.c`, `tsvector_op.c`. Lengths are PostgreSQL's, since vectors are ordered by length first.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use runtime::pace::{Pace, sort_by};

use crate::token::{Style, Words};

/// Longest lexeme, exclusive, in bytes.
pub const MAX_LEXEME: usize = (1 << 11) - 1;
/// Most bytes of all lexemes and positions.
pub const MAX_BYTES: usize = (1 << 20) - 1;
/// Most positions of one lexeme.
pub const MAX_POSITIONS: usize = 256;
/// Largest place of a position.
pub const MAX_POSITION: u16 = (1 << 14) - 1;

/// A place in the document, from 1, and the weight of what stands there: 3 for `A` to 0 for `D`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position(pub u16);

impl Position {
    /// A position; places are limited to [`MAX_POSITION`].
    pub fn new(place: u16, weight: u8) -> Position {
        Position(place.min(MAX_POSITION) | u16::from(weight & 3) << 14)
    }

    /// Where.
    pub fn place(self) -> u16 {
        self.0 & MAX_POSITION
    }

    /// How weighty.
    pub fn weight(self) -> u8 {
        (self.0 >> 14) as u8
    }

    fn with_weight(self, weight: u8) -> Position {
        Position::new(self.place(), weight)
    }
}

/// The number of a weight's letter.
pub fn weight_of(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        b'A' => Some(3),
        b'B' => Some(2),
        b'C' => Some(1),
        b'D' => Some(0),
        _ => None,
    }
}

/// The letter of a weight.
pub fn letter_of(weight: u8) -> char {
    ['D', 'C', 'B', 'A'][usize::from(weight & 3)]
}

/// Positions of a lexeme, in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Positions<'a>(&'a [u8]);

impl<'a> Positions<'a> {
    /// How many.
    pub fn len(self) -> usize {
        self.0.len() / 2
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.len() < 2
    }

    /// One by one.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Position> + ExactSizeIterator + Clone + 'a {
        self.0.chunks_exact(2).map(|b| Position(u16::from_le_bytes([b[0], b[1]])))
    }
}

/// A stored vector.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    entries: &'a [u8],
    data: &'a [u8],
    bytes: usize,
}

impl<'a> Vector<'a> {
    /// Over the bytes of a value.
    pub fn new(bytes: &'a [u8]) -> Vector<'a> {
        let count = bytes.first_chunk().map_or(0, |b| u32::from_le_bytes(*b) as usize);
        let (entries, data) =
            bytes.get(4..).and_then(|rest| rest.split_at_checked(count * 4)).unwrap_or_default();
        Vector { entries, data, bytes: bytes.len() }
    }

    /// Number of lexemes.
    pub fn len(&self) -> usize {
        self.entries.len() / 4
    }

    /// Whether there is no lexeme.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entry(&self, i: usize) -> Option<(bool, usize, usize)> {
        let word = u32::from_le_bytes(self.entries.get(i * 4..i * 4 + 4)?.try_into().ok()?);
        Some((word & 1 != 0, (word >> 1 & 0x7ff) as usize, (word >> 12) as usize))
    }

    /// Lexeme `i`.
    #[inline]
    pub fn lexeme(&self, i: usize) -> &'a [u8] {
        let Some((_, len, at)) = self.entry(i) else { return &[] };
        self.data.get(at..at + len).unwrap_or_default()
    }

    /// Lexeme `i` as text.
    pub fn text(&self, i: usize) -> &'a str {
        std::str::from_utf8(self.lexeme(i)).unwrap_or_default()
    }

    /// Positions of lexeme `i`.
    #[inline]
    pub fn positions(&self, i: usize) -> Positions<'a> {
        let Some((true, len, at)) = self.entry(i) else { return Positions(&[]) };
        let at = (at + len).next_multiple_of(2);
        let count = self.data.get(at..at + 2).map_or(0, |b| usize::from(u16::from_le_bytes([b[0], b[1]])));
        Positions(self.data.get(at + 2..at + 2 + 2 * count).unwrap_or_default())
    }

    /// All lexemes with their positions.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], Positions<'a>)> {
        let vector = *self;
        (0..self.len()).map(move |i| (vector.lexeme(i), vector.positions(i)))
    }

    /// Where a lexeme is, or would be.
    pub fn find(&self, lexeme: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.lexeme(middle).cmp(lexeme) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// The order of the type: by length, by number of lexemes, then lexeme by lexeme, shorter lexemes first.
    pub fn compare(&self, other: &Vector) -> Ordering {
        let count = self.bytes.cmp(&other.bytes).then(self.len().cmp(&other.len()));
        count.then_with(|| {
            let pairs = self.iter().zip(other.iter());
            pairs.map(|(a, b)| compare_entries(a, b)).find(|found| found.is_ne()).unwrap_or(Ordering::Equal)
        })
    }

    /// Appends the text form.
    pub fn write(&self, out: &mut Vec<u8>) -> SqlResult<()> {
        let mut pace = Pace::new();
        for (i, (lexeme, positions)) in self.iter().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            quote(lexeme, out);
            for (n, position) in positions.iter().enumerate() {
                out.push(if n == 0 { b':' } else { b',' });
                out.extend_from_slice(position.place().to_string().as_bytes());
                if position.weight() > 0 {
                    out.push(letter_of(position.weight()) as u8);
                }
            }
            pace.did(lexeme.len() + 32 * (1 + positions.len()))?;
        }
        Ok(())
    }

    /// Appends the binary form.
    pub fn send(&self, out: &mut Vec<u8>) -> SqlResult<()> {
        out.extend_from_slice(&(self.len() as i32).to_be_bytes());
        let mut pace = Pace::new();
        for (lexeme, positions) in self.iter() {
            out.extend_from_slice(lexeme);
            out.push(0);
            out.extend_from_slice(&(positions.len() as u16).to_be_bytes());
            positions.iter().for_each(|position| out.extend_from_slice(&position.0.to_be_bytes()));
            pace.did(16 + lexeme.len())?;
        }
        Ok(())
    }

    /// Its lexemes with their positions changed, those for which `keep` gives none left out.
    fn changed(
        &self,
        mut keep: impl FnMut(&'a [u8], Positions<'a>, &mut Vec<Position>) -> bool,
    ) -> SqlResult<Vec<u8>> {
        let (mut out, mut positions) = (Writer::new(self.len()), Vec::new());
        for (lexeme, found) in self.iter() {
            positions.clear();
            if keep(lexeme, found, &mut positions) {
                out.push(lexeme, &positions)?;
            }
        }
        out.finish()
    }

    /// Without positions and weights.
    pub fn strip(&self) -> SqlResult<Vec<u8>> {
        self.changed(|_, _, _| true)
    }

    /// With this weight everywhere, or at some lexemes only.
    pub fn with_weight(&self, weight: u8, of: Option<&[&[u8]]>) -> SqlResult<Vec<u8>> {
        let chosen = of.map(sorted).transpose()?;
        self.changed(|lexeme, found, positions| {
            let here = chosen.as_ref().is_none_or(|chosen| chosen.binary_search(&lexeme).is_ok());
            positions.extend(found.iter().map(|p| if here { p.with_weight(weight) } else { p }));
            true
        })
    }

    /// Without these lexemes.
    pub fn without(&self, lexemes: &[&[u8]]) -> SqlResult<Vec<u8>> {
        let gone = sorted(lexemes)?;
        self.changed(|lexeme, found, positions| {
            positions.extend(found.iter());
            gone.binary_search(&lexeme).is_err()
        })
    }

    /// Only what has one of the weights, whose bits are set in `weights`.
    pub fn filter(&self, weights: u8) -> SqlResult<Vec<u8>> {
        self.changed(|_, found, positions| {
            positions.extend(found.iter().filter(|p| weights & 1 << p.weight() != 0));
            !positions.is_empty()
        })
    }

    /// Both, the places of the second counted on from the last of the first.
    pub fn concat(&self, other: &Vector) -> SqlResult<Vec<u8>> {
        let last = self.iter().filter_map(|(_, found)| found.iter().next_back()).map(Position::place).max();
        let shift = last.unwrap_or(0);
        let (mut i, mut j) = (0, 0);
        let (mut out, mut positions) = (Writer::new(self.len() + other.len()), Vec::new());
        while i < self.len() || j < other.len() {
            let order = match (i < self.len(), j < other.len()) {
                (true, true) => self.lexeme(i).cmp(other.lexeme(j)),
                (first, _) => {
                    if first {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
            };
            positions.clear();
            let lexeme = if order.is_le() { self.lexeme(i) } else { other.lexeme(j) };
            if order.is_le() {
                positions.extend(self.positions(i).iter());
                i += 1;
            }
            if order.is_ge() {
                append_shifted(&mut positions, other.positions(j), shift);
                j += 1;
            }
            out.push(lexeme, &positions)?;
        }
        out.finish()
    }
}

fn sorted<'a>(lexemes: &[&'a [u8]]) -> SqlResult<Vec<&'a [u8]>> {
    let mut lexemes = lexemes.to_vec();
    sort_by(&mut lexemes, |a, b| a.cmp(b))?;
    Ok(lexemes)
}

fn append_shifted(positions: &mut Vec<Position>, more: Positions<'_>, shift: u16) {
    for position in more.iter() {
        let full = positions.last().is_some_and(|last| last.place() == MAX_POSITION);
        if full || positions.len() >= MAX_POSITIONS {
            return;
        }
        positions.push(Position::new(position.place() + shift, position.weight()));
    }
}

fn compare_entries(a: (&[u8], Positions), b: (&[u8], Positions)) -> Ordering {
    // What has positions is before what has none.
    let by_kind = a.1.is_empty().cmp(&b.1.is_empty());
    by_kind.then_with(|| a.0.cmp(b.0)).then_with(|| {
        a.1.len().cmp(&b.1.len()).reverse().then_with(|| {
            let pairs = a.1.iter().zip(b.1.iter());
            let key = |p: Position| (p.place(), p.weight());
            pairs.map(|(a, b)| key(b).cmp(&key(a))).find(|found| found.is_ne()).unwrap_or(Ordering::Equal)
        })
    })
}

/// Appends a word in quotes.
pub(crate) fn quote(word: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for byte in word {
        if matches!(byte, b'\'' | b'\\') {
            out.push(*byte);
        }
        out.push(*byte);
    }
    out.push(b'\'');
}

/// Writes a stored vector: lexemes come in ascending order.
pub(crate) struct Writer {
    entries: Vec<u8>,
    data: Vec<u8>,
    pace: Pace,
}

impl Writer {
    pub(crate) fn new(count: usize) -> Writer {
        Writer { entries: Vec::with_capacity(4 + 4 * count), data: Vec::new(), pace: Pace::new() }
    }

    pub(crate) fn push(&mut self, lexeme: &[u8], positions: &[Position]) -> SqlResult<()> {
        let at = self.data.len();
        if at <= MAX_BYTES {
            let entry = u32::from(!positions.is_empty()) | (lexeme.len() as u32) << 1 | (at as u32) << 12;
            self.entries.extend_from_slice(&entry.to_le_bytes());
        }
        self.data.extend_from_slice(lexeme);
        if !positions.is_empty() {
            self.data.resize(self.data.len().next_multiple_of(2), 0);
            self.data.extend_from_slice(&(positions.len() as u16).to_le_bytes());
            positions.iter().for_each(|p| self.data.extend_from_slice(&p.0.to_le_bytes()));
        }
        self.pace.did(32 + lexeme.len() + 2 * positions.len())
    }

    pub(crate) fn finish(self) -> SqlResult<Vec<u8>> {
        if self.data.len() > MAX_BYTES {
            return Err(too_long(self.data.len()));
        }
        let mut out = Vec::with_capacity(4 + self.entries.len() + self.data.len());
        out.extend_from_slice(&((self.entries.len() / 4) as u32).to_le_bytes());
        out.extend_from_slice(&self.entries);
        out.extend_from_slice(&self.data);
        Ok(out)
    }
}

fn too_long(bytes: usize) -> SqlError {
    sql_err!(PROGRAM_LIMIT_EXCEEDED, "string is too long for tsvector ({bytes} bytes, max {MAX_BYTES} bytes)")
}

/// Words with positions in the order in which they were found, on their way into a vector.
#[derive(Default)]
pub struct Builder {
    bytes: Vec<u8>,
    words: Vec<Word>,
}

/// A word of a [`Builder`].
#[derive(Clone, Copy, Default)]
struct Word {
    at: u32,
    len: u16,
    /// 0: none.
    position: Position,
}

impl Builder {
    /// Bytes of all words so far.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// How many words were added.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether no word was added.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds a word at one position, or at none.
    pub fn push(&mut self, word: &[u8], position: Option<Position>) {
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(word);
        self.words.push(Word { at, len: word.len() as u16, position: position.unwrap_or_default() });
    }

    /// Adds the last word once more, at another position.
    fn again(&mut self, position: Position) {
        if let Some(last) = self.words.last().copied() {
            self.words.push(Word { position, ..last });
        }
    }

    /// The stored form.
    pub fn finish(mut self) -> SqlResult<Vec<u8>> {
        let bytes = &self.bytes;
        let text = |word: &Word| &bytes[word.at as usize..word.at as usize + usize::from(word.len)];
        sort_by(&mut self.words, |a, b| {
            text(a).cmp(text(b)).then_with(|| a.position.place().cmp(&b.position.place()))
        })?;
        let mut out = Writer::new(self.words.len());
        let mut positions = Vec::new();
        for same in self.words.chunk_by(|a, b| text(a) == text(b)) {
            positions.clear();
            for position in same.iter().map(|word| word.position).filter(|p| p.place() > 0) {
                add_position(&mut positions, position);
            }
            out.push(text(&same[0]), &positions)?;
        }
        out.finish()
    }
}

/// Adds a position behind those in front of it; of two at one place the weightier stays.
fn add_position(positions: &mut Vec<Position>, position: Position) {
    let full = positions.len() == MAX_POSITIONS;
    match positions.last_mut() {
        Some(last) if last.place() == position.place() => {
            *last = last.with_weight(last.weight().max(position.weight()));
        }
        _ if full => {}
        _ => positions.push(position),
    }
}

/// The vector that a text means.
pub fn parse(text: &str) -> SqlResult<Vec<u8>> {
    let mut words = Words::new(text, Style::Vector);
    let (mut word, mut positions) = (String::new(), Vec::new());
    let (mut out, mut pace) = (Builder::default(), Pace::new());
    while words.next(&mut word, &mut positions)? {
        if word.len() >= MAX_LEXEME {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "word is too long ({} bytes, max {} bytes)",
                word.len(),
                MAX_LEXEME - 1
            ));
        }
        if out.bytes() > MAX_BYTES {
            return Err(too_long(out.bytes()));
        }
        out.push(word.as_bytes(), positions.first().copied());
        positions.iter().skip(1).for_each(|position| out.again(*position));
        pace.did(16 + word.len() + 4 * positions.len())?;
    }
    out.finish()
}

/// The vector that a binary form means.
pub fn receive(bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let short = || sql_err!(PROTOCOL_VIOLATION, "insufficient data left in message");
    let invalid = |what: &str| sql_err!(INTERNAL_ERROR, "{what}");
    let (count, mut rest) = bytes.split_first_chunk().ok_or_else(short)?;
    let count = u32::from_be_bytes(*count);
    // As many as memory for them may be asked for.
    if count > 0x3fff_ffff / 4 {
        return Err(invalid("invalid size of tsvector"));
    }
    let (mut out, mut pace, mut places) = (Builder::default(), Pace::new(), Vec::new());
    for _ in 0..count {
        let end = rest.iter().position(|b| *b == 0).ok_or_else(short)?;
        let lexeme = &rest[..end];
        let text = std::str::from_utf8(lexeme);
        text.map_err(|_| {
            sql_err!(CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\"")
        })?;
        let (number, behind) = rest[end + 1..].split_first_chunk().ok_or_else(short)?;
        let number = usize::from(u16::from_be_bytes(*number));
        if lexeme.len() > MAX_LEXEME {
            return Err(invalid("invalid tsvector: lexeme too long"));
        }
        if out.bytes() > MAX_BYTES {
            return Err(invalid("invalid tsvector: maximum total lexeme length exceeded"));
        }
        if number > MAX_POSITIONS {
            return Err(invalid("unexpected number of tsvector positions"));
        }
        let (positions, behind) = behind.split_at_checked(2 * number).ok_or_else(short)?;
        places.clear();
        places.extend(positions.chunks_exact(2).map(|b| Position(u16::from_be_bytes([b[0], b[1]]))));
        if places.iter().any(|p| p.place() == 0) || !places.is_sorted_by(|a, b| a.place() < b.place()) {
            return Err(invalid("position information is misordered"));
        }
        out.push(lexeme, places.first().copied());
        places.iter().skip(1).for_each(|position| out.again(*position));
        rest = behind;
        pace.did(16 + lexeme.len())?;
    }
    match rest {
        [] => out.finish(),
        _ => Err(sql_err!(INVALID_BINARY_REPRESENTATION, "incorrect binary data format")),
    }
}

/// The vector of these lexemes, without positions.
pub fn of_lexemes(lexemes: &[&[u8]]) -> SqlResult<Vec<u8>> {
    let mut lexemes = sorted(lexemes)?;
    lexemes.dedup();
    let mut out = Writer::new(lexemes.len());
    for lexeme in lexemes {
        if lexeme.len() >= MAX_LEXEME {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "word is too long ({} bytes, max {} bytes)",
                lexeme.len(),
                MAX_LEXEME - 1
            ));
        }
        out.push(lexeme, &[])?;
    }
    out.finish()
}

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;
