//! Queries over the labels of a path in any order: `ltxtquery`. A payload is the text form, written the same way whoever wrote it.

use base::{SqlError, SqlResult, sql_err};

use super::path::{check_label, is_label, labels};
use super::pattern::Word;

/// Parentheses and negations in each other.
const DEEPEST: usize = 1000;

/// A query: what it consists of, each behind what it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query(Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Word(Word),
    Not,
    And,
    Or,
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    /// Characters read.
    at: usize,
    out: Vec<Item>,
    depth: usize,
}

fn wrong() -> SqlError {
    sql_err!(SYNTAX_ERROR, "syntax error")
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.at += 1;
        self.rest.next()
    }

    fn skip(&mut self) {
        while self.rest.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.next();
        }
    }

    fn any(&mut self) -> SqlResult<()> {
        self.all()?;
        while self.takes_operator('|') {
            self.all()?;
            self.out.push(Item::Or);
        }
        Ok(())
    }

    fn all(&mut self) -> SqlResult<()> {
        self.one()?;
        while self.takes_operator('&') {
            self.one()?;
            self.out.push(Item::And);
        }
        Ok(())
    }

    fn takes_operator(&mut self, sign: char) -> bool {
        self.skip();
        let found = self.rest.peek() == Some(&sign);
        if found {
            self.next();
        }
        found
    }

    fn one(&mut self) -> SqlResult<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(runtime::stack_too_deep().into());
        }
        self.skip();
        match self.rest.peek() {
            Some('!') => {
                self.next();
                self.one()?;
                self.out.push(Item::Not);
            }
            Some('(') => {
                self.next();
                self.any()?;
                self.skip();
                if self.next() != Some(')') {
                    return Err(wrong());
                }
            }
            Some(c) if is_label(*c) => self.word()?,
            _ => return Err(sql_err!(SYNTAX_ERROR, "operand syntax error")),
        }
        self.depth -= 1;
        Ok(())
    }

    fn word(&mut self) -> SqlResult<()> {
        let mut word = Word::default();
        while let Some(c) = self.rest.peek().copied() {
            if is_label(c) {
                if !word.is_plain() {
                    return Err(sql_err!(SYNTAX_ERROR, "modifiers syntax error"));
                }
                word.text.push(c);
            } else if !word.takes(c) {
                break;
            }
            self.next();
        }
        check_label(word.text.chars().count(), self.at)?;
        self.out.push(Item::Word(word));
        Ok(())
    }
}

impl Query {
    /// Reads the text form.
    pub(super) fn read(text: &str) -> SqlResult<Query> {
        let mut reader = Reader { rest: text.chars().peekable(), at: 0, out: Vec::new(), depth: 0 };
        reader.any()?;
        reader.skip();
        if reader.next().is_some() {
            return Err(wrong());
        }
        Ok(Query(reader.out))
    }

    /// Puts items together from the inside; none if they are damaged.
    pub(super) fn fold<T>(
        &self,
        word: impl Fn(&Word) -> T,
        not: impl Fn(T) -> T,
        both: impl Fn(bool, T, T) -> T,
    ) -> Option<T> {
        let mut stack = Vec::new();
        for item in &self.0 {
            let made = match item {
                Item::Word(of) => word(of),
                Item::Not => not(stack.pop()?),
                Item::And | Item::Or => {
                    let right = stack.pop()?;
                    both(*item == Item::And, stack.pop()?, right)
                }
            };
            stack.push(made);
        }
        stack.pop()
    }

    /// Whether the labels of a path satisfy it.
    pub(super) fn matches(&self, path: &str) -> bool {
        let both = |and: bool, a, b| if and { a && b } else { a || b };
        let there = |word: &Word| labels(path).any(|label| word.matches(label));
        self.fold(there, |inner: bool| !inner, both).unwrap_or(false)
    }

    /// The text form. Parentheses stand around what is of `|` within something else, and around all that `!` applies to but a word.
    pub(super) fn show(&self) -> String {
        /// A text, whether it is a word, and whether it is of `|`.
        type Shown = (String, bool, bool);
        let word = |word: &Word| {
            let mut out = String::new();
            word.show(&mut out);
            (out, true, false)
        };
        let not = |(inner, word, _): Shown| match word {
            true => (format!("!{inner}"), false, false),
            false => (format!("!( {inner} )"), false, false),
        };
        let both = |and, left: Shown, right: Shown| {
            let side = |(text, _, or): Shown| if or { format!("( {text} )") } else { text };
            let (left, right) = (side(left), side(right));
            (format!("{left} {} {right}", if and { '&' } else { '|' }), false, !and)
        };
        self.fold(word, not, both).map_or(String::new(), |(text, ..)| text)
    }
}
