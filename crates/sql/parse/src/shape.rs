//! # What
//! The shape of a statement: its text without the values of its literals. [`scan`] finds the literals of a query in one pass over its bytes,
//! without the grammar and without memory of its own, and gives up on everything unusual. [`values`] tells which of them are mere values.
//!
//! # Invariants
//! 1. Two texts that both fit one skeleton ([`Shape::fits`]) are the same tokens but for the values of literals, and each literal is of the same
//!    [`Class`]; so the grammar makes the same tree of both, but for those values.
//! 2. A text of several statements has no shape, nor has one that holds `$`, a string with escapes or of bits, or a number in an unusual form.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

pub use crate::values::{Value, values};

/// Bytes: a longer text has no shape.
pub const LONGEST: usize = 4096;

/// A text with more literals has no shape.
const MOST_LITERALS: usize = 100;

/// What a literal is, as far as the grammar and the choice of its type go. The number is its mark in a skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Digits of a number that fits into 32 bits with its sign.
    Int4 = 1,
    /// Digits of a larger one that fits into 64.
    Int8 = 2,
    /// Digits with a point between.
    Numeric = 3,
    /// A plain quoted string.
    Text = 4,
}

/// A literal in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Byte offset of its first character.
    pub start: usize,
    /// Byte offset behind its last one.
    pub end: usize,
    /// What it is.
    pub class: Class,
}

/// A text whose literals are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape<'t> {
    text: &'t str,
    literals: SmallVec<[Literal; 16]>,
    hash: u64,
}

impl<'t> Shape<'t> {
    /// The whole text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Its literals, in order.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// A literal as it is written.
    pub fn written(&self, literal: &Literal) -> &'t str {
        &self.text[literal.start..literal.end]
    }

    /// The same for all texts that fit one skeleton.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The text with a mark for each literal.
    pub fn skeleton(&self) -> Box<str> {
        let mut skeleton = String::with_capacity(self.text.len());
        let mut from = 0;
        for literal in &self.literals {
            skeleton.push_str(&self.text[from..literal.start]);
            skeleton.push(char::from(literal.class as u8));
            from = literal.end;
        }
        skeleton.push_str(&self.text[from..]);
        skeleton.into()
    }

    /// Whether a skeleton is that of this text. No text with a shape holds a mark outside its literals.
    pub fn fits(&self, skeleton: &str) -> bool {
        let text = self.text.as_bytes();
        let mut rest = skeleton.as_bytes();
        let mut from = 0;
        for literal in &self.literals {
            let Some(after) = rest.strip_prefix(&text[from..literal.start]) else { return false };
            let Some((mark, after)) = after.split_first() else { return false };
            if *mark != literal.class as u8 {
                return false;
            }
            rest = after;
            from = literal.end;
        }
        rest == &text[from..]
    }
}

/// What a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Word,
    Digit,
    /// An operator or punctuation that needs no second look.
    Plain,
    /// `'`, `"`, `-`, `/`, `.`, `;`
    Special,
    /// Whatever has no place in a shape.
    Refused,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Refused; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Kind::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => Kind::Word,
            b'0'..=b'9' => Kind::Digit,
            b'\'' | b'"' | b'-' | b'/' | b'.' | b';' => Kind::Special,
            b'$' | 0..=0x1f | 0x7f => Kind::Refused,
            _ => Kind::Plain,
        };
        byte += 1;
    }
    kinds
};

fn kind(byte: u8) -> Kind {
    KINDS[usize::from(byte)]
}

/// The shape of a single SELECT, INSERT, UPDATE or DELETE; `None` for anything else or unusual, whether it is correct or not.
pub fn scan(text: &str) -> Option<Shape<'_>> {
    let bytes = text.as_bytes();
    if bytes.len() > LONGEST || !begins_query(bytes) {
        return None;
    }
    let mut scanner = Scanner { bytes, at: 0, literals: SmallVec::new(), after_string: false };
    scanner.run()?;
    let literals = scanner.literals;
    let mut hasher = FxHasher::default();
    let mut from = 0;
    for literal in &literals {
        hasher.write(&bytes[from..literal.start]);
        hasher.write_u8(literal.class as u8);
        from = literal.end;
    }
    hasher.write(&bytes[from..]);
    Some(Shape { text, literals, hash: hasher.finish() })
}

fn begins_query(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|b| kind(*b) != Kind::Space).unwrap_or(bytes.len());
    let Some((word, rest)) = bytes[start..].split_at_checked(6) else { return false };
    let known: [&[u8]; 4] = [b"select", b"insert", b"update", b"delete"];
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
        && rest.first().is_none_or(|b| !matches!(kind(*b), Kind::Word | Kind::Digit | Kind::Refused))
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    literals: SmallVec<[Literal; 16]>,
    /// The token before was a string: another one might be its continuation.
    after_string: bool,
}

impl Scanner<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match kind(byte) {
                Kind::Space => {
                    self.at += 1;
                    continue;
                }
                Kind::Word => self.word()?,
                Kind::Digit => self.number()?,
                Kind::Plain => self.at += 1,
                Kind::Special => match byte {
                    b'\'' if self.after_string => return None,
                    b'\'' => {
                        self.string()?;
                        self.after_string = true;
                        continue;
                    }
                    b'-' if self.next() == Some(b'-') => {
                        self.skip_while(|b| b != b'\n' && b != b'\r')?;
                        continue;
                    }
                    b'/' if self.next() == Some(b'*') => {
                        self.comment()?;
                        continue;
                    }
                    b'"' => {
                        self.at += 1;
                        self.skip_while(|b| b != b'"')?;
                        self.at += 1;
                    }
                    b'.' if self.next().is_some_and(|b| kind(b) == Kind::Digit) => return None,
                    b';' => {
                        return self.bytes[self.at + 1..]
                            .iter()
                            .all(|b| kind(*b) == Kind::Space)
                            .then_some(());
                    }
                    _ => self.at += 1,
                },
                Kind::Refused => return None,
            }
            self.after_string = false;
        }
        // An unterminated quoted name went beyond the end.
        (self.at == self.bytes.len()).then_some(())
    }

    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    /// Goes on while `wanted`; `None` at a byte that could be taken for a mark.
    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.at)
            && wanted(byte)
        {
            if is_mark(byte) {
                return None;
            }
            self.at += 1;
        }
        Some(())
    }

    /// A name or keyword. `e'…'` and the like are other strings.
    fn word(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at)
            && (matches!(kind(byte), Kind::Word | Kind::Digit) || byte == b'$')
        {
            self.at += 1;
        }
        if self.at - start > 1 {
            return Some(());
        }
        match (self.bytes[start].to_ascii_lowercase(), self.bytes.get(self.at)) {
            (b'b' | b'e' | b'n' | b'x', Some(b'\'')) | (b'u', Some(b'&')) => None,
            _ => Some(()),
        }
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.digits();
        let mut class = integer_class(&self.bytes[start..self.at]);
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            let point = self.at;
            self.digits();
            class = (self.at > point).then_some(Class::Numeric);
        }
        if let Some(&byte) = self.bytes.get(self.at)
            && (kind(byte) == Kind::Word || byte == b'.')
        {
            return None;
        }
        self.found(start, class?)
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            self.at += self.bytes[self.at..].iter().position(|b| *b == b'\'')? + 1;
            if self.bytes.get(self.at) != Some(&b'\'') {
                return self.found(start, Class::Text);
            }
            self.at += 1;
        }
    }

    fn found(&mut self, start: usize, class: Class) -> Option<()> {
        self.literals.push(Literal { start, end: self.at, class });
        (self.literals.len() <= MOST_LITERALS).then_some(())
    }

    /// A comment from `/*`; they nest.
    fn comment(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match (*self.bytes.get(self.at)?, self.next()) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Some(());
                    }
                }
                (byte, _) if is_mark(byte) => return None,
                _ => self.at += 1,
            }
        }
    }
}

/// Whether a byte is no white space but a control character, as the marks of a skeleton are.
fn is_mark(byte: u8) -> bool {
    byte < 0x20 && kind(byte) == Kind::Refused
}

/// The class of a row of digits; `None` if no integer type has room for it.
fn integer_class(digits: &[u8]) -> Option<Class> {
    if digits.len() <= 9 {
        return Some(Class::Int4);
    }
    match std::str::from_utf8(digits).ok()?.parse::<i64>().ok()? {
        value if i32::try_from(value).is_ok() => Some(Class::Int4),
        _ => Some(Class::Int8),
    }
}

#[cfg(test)]
mod tests;
