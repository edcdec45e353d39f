//! # What
//! What statements that differ in constants only have in common: a number ([`Fingerprint::id`]), and a text with `$n` in place of the constants
//! ([`Fingerprint::normalized`]).
//!
//! # Layout
//! Of queries, whoever analyses them makes the fingerprint, with [`Mixer`]. [`of_utility`] makes that of any other statement, from its words.
//!
//! # Invariants
//! 1. An id depends on the statement alone: not on the session, the run of the server or the machine. Ids are kept over restarts. 0 is none.
//! 2. Constants are byte offsets into the text of which the statement is a part, in ascending order.
//!
//! # PostgreSQL counterpart and differences
//! `nodes/queryjumblefuncs.c`, and what `pg_stat_statements` makes of its result. Ids are not PostgreSQL's. Utility statements are told by
//! their words, where PostgreSQL looks at their trees.

use std::hash::{Hash, Hasher};

use rupg_sql::Lexer;

use crate::ast::{Location, Statement};

/// What a statement has in common with those that differ in constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number that `pg_stat_activity.query_id` shows.
    pub id: i64,
    /// Where its constants are.
    pub constants: Box<[Constant]>,
    /// Highest number of a parameter in it.
    pub highest_parameter: i32,
    /// Its parameters are constants of other texts, each written with a space on both sides.
    pub parameters_are_constants: bool,
}

/// A constant in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    /// One at this byte.
    One(u32),
    /// A list in brackets whose first and last constants are at these bytes.
    List(u32, u32),
}

impl Constant {
    /// Its first byte.
    pub fn start(self) -> usize {
        match self {
            Constant::One(start) | Constant::List(start, _) => start as usize,
        }
    }
}

/// Makes one number of many.
#[derive(Clone, Debug)]
pub struct Mixer(u64);

impl Default for Mixer {
    fn default() -> Mixer {
        Mixer(0x9e37_79b9_7f4a_7c15)
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 = (mixed ^ (mixed >> 32)).rotate_left(23);
    }

    fn finish(&self) -> u64 {
        let mut mixed = self.0;
        for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
            mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
        }
        mixed ^ (mixed >> 33)
    }
}

impl Mixer {
    /// The number as the id of a statement: never 0.
    pub fn id(&self) -> i64 {
        match self.finish() as i64 {
            0 => 1,
            id => id,
        }
    }
}

/// A word of a text: where it begins and ends, and for an opening bracket the byte of its closing one.
struct Word {
    start: usize,
    end: usize,
    closed_at: usize,
}

/// The words of a statement that the grammar has accepted.
fn words(text: &str) -> Vec<Word> {
    let mut lexer = Lexer::new(text);
    let mut words: Vec<Word> = Vec::new();
    let mut open = Vec::new();
    while let Ok(token) = lexer.next_token()
        && token.kind != 0
    {
        match text.as_bytes()[token.start] {
            b'(' | b'[' => open.push(words.len()),
            b')' | b']' => {
                if let Some(opening) = open.pop() {
                    words[opening].closed_at = token.start;
                }
            }
            _ => {}
        }
        words.push(Word { start: token.start, end: token.end, closed_at: 0 });
    }
    words
}

impl Fingerprint {
    /// The statement with `$n` for its constants; it is the part of `text` from `from` on, so many bytes long.
    pub fn normalized(&self, text: &str, from: usize, length: usize) -> String {
        let end = text.floor_char_boundary((from + length).min(text.len()));
        let text = &text[text.floor_char_boundary(from)..end];
        let trimmed = text.trim_start();
        let from = from + (text.len() - trimmed.len());
        let text = trimmed.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        if self.constants.is_empty() {
            return text.to_owned();
        }
        Normalizer { text, words: words(text), out: String::with_capacity(text.len()), done: 0 }
            .run(self, from)
    }
}

struct Normalizer<'t> {
    text: &'t str,
    words: Vec<Word>,
    out: String,
    /// Bytes of the text that have been dealt with.
    done: usize,
}

impl Normalizer<'_> {
    fn run(mut self, fingerprint: &Fingerprint, from: usize) -> String {
        // A list of parameters that is shown as one constant takes their numbers along.
        let lists = fingerprint.constants.iter().any(|c| matches!(c, Constant::List(..)));
        let mut number = if lists { 0 } else { fingerprint.highest_parameter };
        for constant in &fingerprint.constants {
            let Some(start) = constant.start().checked_sub(from).filter(|start| *start >= self.done) else {
                continue;
            };
            let at = self.words.partition_point(|word| word.start < start);
            if self.words.get(at).is_none_or(|word| word.start != start) {
                continue;
            }
            number += 1;
            match *constant {
                Constant::One(_) => self.replace_one(at, number, fingerprint.parameters_are_constants),
                Constant::List(_, last) => self.replace_list(at, last as usize - from, number),
            }
        }
        self.out.push_str(&self.text[self.done..]);
        self.out
    }

    fn replace(&mut self, start: usize, end: usize, with: &str) {
        self.out.push_str(&self.text[self.done..start]);
        self.out.push_str(with);
        self.done = end;
    }

    /// The constant that begins at a word; behind the name of a type comes the string that is of it.
    fn constant_at(&self, at: usize) -> usize {
        let written = |word: &Word| &self.text[word.start..word.end];
        let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '"'));
        let first = written(&self.words[at]);
        if !is_name(first) || first.ends_with('\'') || is_one_of(first, &["true", "false", "null"]) {
            return at;
        }
        self.words[at..].iter().position(|word| written(word).ends_with('\'')).map_or(at, |more| at + more)
    }

    fn replace_one(&mut self, at: usize, number: i32, spaced: bool) {
        let at = self.constant_at(at);
        let (mut start, mut end) = (self.words[at].start, self.words[at].end);
        let text = self.text.as_bytes();
        if text[start] == b'-'
            && let Some(digits) = self.words.get(at + 1)
        {
            end = digits.end;
        }
        if spaced && text[start] == b'$' {
            start -= usize::from(start > self.done && text[start - 1] == b' ');
            end += usize::from(text.get(end) == Some(&b' '));
        }
        self.replace(start, end, &format!("${number}"));
    }

    /// Replaces what is in the innermost brackets around both ends of a list.
    fn replace_list(&mut self, at: usize, last: usize, number: i32) {
        let start = self.words[at].start;
        let around = |word: &&Word| word.closed_at > last && word.end <= start;
        match self.words[..at].iter().rfind(around).map(|word| (word.end, word.closed_at)) {
            Some((start, end)) if start >= self.done => {
                self.replace(start, end, &format!("${number} /*, ... */"));
            }
            _ => {}
        }
    }
}

/// The fingerprint of a statement that is no query; it is the part of `text` from `from` on, so many bytes long.
pub fn of_utility(statement: &Statement, text: &str, from: usize, length: usize) -> Fingerprint {
    let end = text.floor_char_boundary((from + length).min(text.len()));
    let part = &text[text.floor_char_boundary(from)..end];
    let kinds = constants_of(statement);
    let mut mixer = Mixer::default();
    let mut constants = Vec::new();
    let (mut highest_parameter, mut named) = (0, false);
    for word in words(part) {
        let written = &part[word.start..word.end];
        let first = written.as_bytes()[0];
        let is_name = first.is_ascii_alphabetic() || matches!(first, b'_' | b'"' | 0x80..);
        let constant = match first {
            b'0'..=b'9' | b'.' if written.len() > 1 || first != b'.' => kinds.literals,
            b'\'' => kinds.literals,
            b'E' | b'e' | b'B' | b'b' | b'X' | b'x' | b'N' | b'n' if written.ends_with('\'') => {
                kinds.literals
            }
            _ => named && is_name && !is_one_of(written, kinds.fillers),
        };
        named = !constant && is_one_of(written, kinds.names_after);
        if constant {
            "$".hash(&mut mixer);
            constants.push(Constant::One((from + word.start) as u32));
        } else if first == b'$' && written[1..].bytes().all(|b| b.is_ascii_digit()) && written.len() > 1 {
            written.hash(&mut mixer);
            highest_parameter = written[1..].parse().unwrap_or(0).max(highest_parameter);
        } else if matches!(first, b'"' | b'\'' | b'$') {
            written.hash(&mut mixer);
        } else if first != b';' {
            written.to_ascii_lowercase().hash(&mut mixer);
        }
    }
    Fingerprint {
        id: mixer.id(),
        constants: constants.into(),
        highest_parameter,
        parameters_are_constants: false,
    }
}

fn is_one_of(word: &str, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// Which words of a statement are constants.
#[derive(Clone, Copy)]
struct Kinds {
    /// Numbers and strings are.
    literals: bool,
    /// The name after one of these words is.
    names_after: &'static [&'static str],
    /// Words there that are no names.
    fillers: &'static [&'static str],
}

/// What PostgreSQL has analysed or evaluated before it tells statements apart has constants; what is kept as it was written has none.
fn constants_of(statement: &Statement) -> Kinds {
    let of = |literals| Kinds { literals, names_after: &[], fillers: &[] };
    match statement {
        Statement::Transaction(_) => {
            Kinds { literals: true, names_after: &["savepoint", "release", "to"], fillers: &["savepoint"] }
        }
        Statement::Deallocate(_) => {
            Kinds { literals: false, names_after: &["deallocate", "prepare"], fillers: &["all", "prepare"] }
        }
        Statement::Explain { query, .. } => of(!matches!(&**query, Statement::Execute(_))),
        Statement::CreateTableAs(create) => of(!matches!(&*create.query, Statement::Execute(_))),
        Statement::Set(_)
        | Statement::Call(_)
        | Statement::Execute(_)
        | Statement::DeclareCursor(_)
        | Statement::Prepare { .. } => of(true),
        _ => of(false),
    }
}

/// The place of a constant in a statement, if it is known.
pub fn place(location: Location) -> Option<u32> {
    u32::try_from(location.0).ok()
}

#[cfg(test)]
mod tests;
