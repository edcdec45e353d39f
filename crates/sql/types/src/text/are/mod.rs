//! # What
//! PostgreSQL's advanced regular expressions where the `regex` crate has no answer: back references, look-around, deep nesting, and which of
//! several matches at one place is meant (the longest or the shortest, by the rules of Spencer's engine).
//!
//! # Layout
//! * [`Node`]: the expression as a tree; `parse` makes it. `matcher` finds where it ends and takes a match apart. `positions`: the sets that it
//!   computes.
//!
//! # Invariants
//! 1. Without back references a match costs polynomial time: sets of positions are computed, not paths. With them it may cost
//!    exponential time, as in PostgreSQL; whatever loops looks for interrupts.
//! 2. Depth of nesting is bounded by [`MAX_DEPTH`] and by the stack: what recurses over a tree asks for it, but [`Node::longest`], whose frames are
//!    tiny. Trees are taken down in a loop.
//! 3. The tree with each back reference written out as its group has at most [`MAX_SIZE`] nodes.
//!
//! # PostgreSQL counterpart and differences
//! `backend/regex`. No automata are built: the tree is interpreted.

use std::rc::Rc;

use regex::Regex;

mod matcher;
mod parse;
mod positions;

pub(super) use matcher::{Matcher, Memory};
pub(super) use parse::parse;

/// Levels of nesting that are accepted.
const MAX_DEPTH: usize = 8000;

/// Nodes that an expression may have.
const MAX_SIZE: usize = 200_000;

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
    Class(Box<Class>),
    Place(Place),
    Look {
        /// From 0, in the order in which they end.
        number: usize,
        ahead: bool,
        negated: bool,
        inner: Box<Node>,
    },
    /// Back reference to a group, and what is in that.
    Back(usize, Rc<Node>),
    Group(usize, Rc<Node>),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        longest: Option<bool>,
        /// Whether a back reference is within.
        back: bool,
    },
}

/// A parsed expression.
#[derive(Debug)]
pub(super) struct Expression {
    root: Node,
    /// Number of groups.
    pub groups: usize,
    /// Number of look-arounds.
    looks: usize,
    /// Whether there are back references.
    back: bool,
    /// `^`, `$` know lines.
    lines: bool,
    /// Letters match in either case.
    fold: bool,
    /// Whether the `regex` crate can tell if and where a match begins.
    pub regular: bool,
    /// Whether it can also tell where the match and its groups end: there is but one quantifier, and no choice.
    pub plain: bool,
}

/// Trees may be deeper than the stack that is left when they go.
impl Drop for Expression {
    fn drop(&mut self) {
        let mut rest = vec![std::mem::replace(&mut self.root, Node::Sequence(Vec::new()))];
        while let Some(node) = rest.pop() {
            match node {
                Node::Look { inner, .. } | Node::Repeat { inner, .. } => rest.push(*inner),
                // The last of those who share it takes it down.
                Node::Group(_, inner) | Node::Back(_, inner) => rest.extend(Rc::into_inner(inner)),
                Node::Sequence(list) | Node::Choice(list) => rest.extend(list),
                Node::Character(_) | Node::Any(_) | Node::Class(_) | Node::Place(_) => {}
            }
        }
    }
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
}
