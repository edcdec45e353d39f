//! JSON text taken apart: a flat list of its nodes, each with its place in the text.

use std::borrow::Cow;

use base::SqlResult;

use super::{
    lex::{Token, unescape},
    parse::{Events, parse},
};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    Array,
    /// A pair's key; the value follows.
    Key,
    String,
    Number,
    Bool,
    Null,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    shape: Shape,
    start: u32,
    end: u32,
    /// Entry behind this node and all it holds.
    next: u32,
}

/// All nodes of a text, in its order.
pub(crate) struct Tape<'a> {
    text: &'a str,
    entries: Vec<Entry>,
}

/// A value in a tape.
#[derive(Clone, Copy)]
pub(crate) struct Value<'t> {
    tape: &'t Tape<'t>,
    at: usize,
}

#[derive(Default)]
struct Recorder {
    entries: Vec<Entry>,
    open: Vec<usize>,
}

impl Recorder {
    fn push(&mut self, shape: Shape, start: usize, end: usize) {
        let next = self.entries.len() as u32 + 1;
        self.entries.push(Entry { shape, start: start as u32, end: end as u32, next });
    }
}

impl Events for Recorder {
    fn open(&mut self, object: bool, start: usize) -> SqlResult<()> {
        self.open.push(self.entries.len());
        self.push(if object { Shape::Object } else { Shape::Array }, start, start);
        Ok(())
    }

    fn close(&mut self, _object: bool, end: usize) -> SqlResult<()> {
        let next = self.entries.len() as u32;
        if let Some(at) = self.open.pop() {
            self.entries[at].end = end as u32;
            self.entries[at].next = next;
        }
        Ok(())
    }

    fn key(&mut self, start: usize, end: usize) -> SqlResult<()> {
        self.push(Shape::Key, start, end);
        Ok(())
    }

    fn scalar(&mut self, token: Token, start: usize, end: usize) -> SqlResult<()> {
        let shape = match token {
            Token::String => Shape::String,
            Token::Number => Shape::Number,
            Token::Null => Shape::Null,
            _ => Shape::Bool,
        };
        self.push(shape, start, end);
        Ok(())
    }
}

impl<'a> Tape<'a> {
    /// Takes a text apart; `escapes`: whether strings will be read, so that their escapes must have a meaning.
    pub(crate) fn of(text: &'a str, escapes: bool) -> SqlResult<Tape<'a>> {
        let mut recorder = Recorder::default();
        parse(text, escapes, &mut recorder)?;
        Ok(Tape { text, entries: recorder.entries })
    }

    /// The document.
    pub(crate) fn root(&self) -> Value<'_> {
        Value { tape: self, at: 0 }
    }
}

impl<'t> Value<'t> {
    fn entry(self) -> Entry {
        self.tape.entries[self.at]
    }

    pub(crate) fn shape(self) -> Shape {
        self.entry().shape
    }

    /// The text as it stands.
    pub(crate) fn text(self) -> &'t str {
        let entry = self.entry();
        &self.tape.text[entry.start as usize..entry.end as usize]
    }

    /// A string's or key's meaning, any other value's text.
    pub(crate) fn plain(self) -> Cow<'t, str> {
        match self.shape() {
            Shape::String | Shape::Key => unescape(self.text()),
            _ => Cow::Borrowed(self.text()),
        }
    }

    fn children(self) -> impl Iterator<Item = Value<'t>> {
        let tape = self.tape;
        let end = self.entry().next as usize;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let child = Value { tape, at };
                at = child.entry().next as usize;
                child
            })
        })
    }

    /// Elements of an array; none of anything else.
    pub(crate) fn elements(self) -> impl Iterator<Item = Value<'t>> {
        self.children().take_while(move |_| self.shape() == Shape::Array)
    }

    /// Keys and values of an object; none of anything else.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (Cow<'t, str>, Value<'t>)> {
        let mut children = self.children().take_while(move |_| self.shape() == Shape::Object);
        std::iter::from_fn(move || {
            let key = children.next()?;
            Some((key.plain(), children.next()?))
        })
    }

    /// The value of a key: of the last pair that has it.
    pub(crate) fn get(self, key: &str) -> Option<Value<'t>> {
        self.pairs().filter(|(name, _)| name == key).last().map(|(_, value)| value)
    }

    /// An element, counted from the end if negative.
    pub(crate) fn at(self, index: i64) -> Option<Value<'t>> {
        let index = if index < 0 { index + self.elements().count() as i64 } else { index };
        self.elements().nth(usize::try_from(index).ok()?)
    }

    /// All nodes within this one, itself included, in the order of the text.
    pub(crate) fn nodes(self) -> impl Iterator<Item = Value<'t>> {
        (self.at..self.entry().next as usize).map(move |at| Value { tape: self.tape, at })
    }

    /// Number of nodes in front of the end of this one, in the tape.
    pub(crate) fn end(self) -> usize {
        self.entry().next as usize
    }

    /// Its place in the tape.
    pub(crate) fn place(self) -> usize {
        self.at
    }
}
