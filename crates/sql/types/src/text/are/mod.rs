//! # What
//! PostgreSQL's advanced regular expressions where the `regex` crate has no answer: back references, look-around, and which of
//! several matches at one place is meant (the longest or the shortest, by the rules of Spencer's engine).
//!
//! # Layout
//! * [`Node`]: the expression as a tree; `parse` makes it. `matcher` finds where it ends and takes a match apart.
//!
//! # Invariants
//! 1. Without back references a match costs polynomial time: sets of positions are computed, not paths. With them it may cost
//!    exponential time; every step asks the session for interrupts.
//! 2. Depth of nesting is bounded: the parser refuses more than [`MAX_DEPTH`] levels.
//!
//! # PostgreSQL counterpart and differences
//! `backend/regex`. No automata are built: the tree is interpreted.

use regex::Regex;

mod matcher;
mod parse;

pub(super) use matcher::find;
pub(super) use parse::parse;

/// Levels of nesting that are accepted.
const MAX_DEPTH: usize = 400;

/// Most repetitions that a quantifier may name.
const MAX_COUNT: u32 = 255;

/// A place without width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `\A`
    TextStart,
    /// `\Z`
    TextEnd,
    /// `\m`
    WordStart,
    /// `\M`
    WordEnd,
    /// `\y`
    WordEdge,
    /// `\Y`
    NoWordEdge,
}

/// A set of characters.
#[derive(Debug)]
struct Class {
    ascii: [bool; 128],
    /// Decides for the others.
    other: Regex,
}

impl Class {
    fn contains(&self, c: char) -> bool {
        match self.ascii.get(c as usize) {
            Some(found) => *found,
            None => self.other.is_match(c.encode_utf8(&mut [0; 4])),
        }
    }
}

/// A part of an expression.
#[derive(Debug)]
enum Node {
    Character(char),
    /// `.`; whether a newline is one too.
    Any(bool),
    Class(Class),
    Place(Place),
    Look {
        ahead: bool,
        negated: bool,
        inner: Box<Node>,
    },
    /// Back reference to a group.
    Back(usize),
    Group(usize, Box<Node>),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        longest: Option<bool>,
    },
}

/// A parsed expression.
#[derive(Debug)]
pub(super) struct Expression {
    root: Node,
    /// Number of groups.
    pub groups: usize,
    /// `^`, `$` know lines.
    lines: bool,
    /// Letters match in either case.
    fold: bool,
    /// Whether the `regex` crate can tell if and where a match begins.
    pub regular: bool,
    /// Whether it can also tell where the match and its groups end: there is but one quantifier, and no choice.
    pub plain: bool,
}

impl Node {
    /// Whether it wants the longest or the shortest match; `None` where it has no preference.
    fn longest(&self) -> Option<bool> {
        match self {
            Node::Group(_, inner) => inner.longest(),
            Node::Repeat { inner, longest, .. } => longest.or_else(|| inner.longest()),
            Node::Sequence(list) => list.iter().find_map(Node::longest),
            Node::Choice(_) => Some(true),
            _ => None,
        }
    }

    fn has_back(&self) -> bool {
        match self {
            Node::Back(_) => true,
            Node::Group(_, inner) | Node::Repeat { inner, .. } => inner.has_back(),
            Node::Sequence(list) | Node::Choice(list) => list.iter().any(Node::has_back),
            _ => false,
        }
    }

    fn group(&self, wanted: usize) -> Option<&Node> {
        match self {
            Node::Group(n, inner) if *n == wanted => Some(inner),
            Node::Group(_, inner) | Node::Repeat { inner, .. } => inner.group(wanted),
            Node::Sequence(list) | Node::Choice(list) => list.iter().find_map(|n| n.group(wanted)),
            _ => None,
        }
    }
}
