//! From text to tree.

use std::rc::Rc;

use base::{SqlError, SqlResult};
use regex::RegexBuilder;

use super::{Class, Expression, MAX_COUNT, MAX_DEPTH, MAX_SIZE, Node, Place};
use crate::{
    piece::Pace,
    text::regex::{Chars, Flags, bracket, escape, invalid},
};

struct Parser<'a> {
    chars: Chars<'a>,
    flags: Flags,
    /// Groups opened so far.
    groups: usize,
    /// What is in the groups, by their numbers from 1, and its number of nodes; none while a group is open.
    closed: Vec<Option<(Rc<Node>, usize)>>,
    depth: usize,
    /// Nodes so far, those that back references stand for counted again.
    size: usize,
    looks: usize,
    backs: usize,
    pace: Pace,
    /// Within a look-around, where there are no groups and no back references.
    looking: bool,
    regular: bool,
    quantifiers: usize,
    choices: usize,
}

/// Parses the body of an expression, embedded options taken off.
pub(in crate::text) fn parse(pattern: &str, flags: Flags) -> SqlResult<Expression> {
    let mut parser = Parser {
        chars: pattern.chars().peekable(),
        flags,
        groups: 0,
        closed: Vec::new(),
        depth: 0,
        size: 0,
        looks: 0,
        backs: 0,
        pace: Pace::new(),
        looking: false,
        regular: true,
        quantifiers: 0,
        choices: 0,
    };
    let root = match flags.literal {
        true => parser.literal()?,
        false => parser.choice()?,
    };
    if parser.chars.next().is_some() {
        return Err(invalid("parentheses () not balanced"));
    }
    Ok(Expression {
        root,
        groups: parser.groups,
        looks: parser.looks,
        back: parser.backs > 0,
        lines: flags.newline || flags.weird,
        fold: flags.fold,
        regular: parser.regular,
        plain: parser.regular && parser.choices == 0 && parser.quantifiers <= 1,
    })
}

/// Steps of work that a class stands for, which has an automaton.
const CLASS: usize = 4096;

fn too_complex() -> SqlError {
    invalid("regular expression is too complex")
}

impl Parser<'_> {
    fn literal(&mut self) -> SqlResult<Node> {
        let mut list = Vec::new();
        for c in self.chars.by_ref() {
            list.push(Node::Character(c));
            self.pace.did(1)?;
        }
        Ok(Node::Sequence(list))
    }

    /// Branches between `|`, up to the end or a closing parenthesis.
    fn choice(&mut self) -> SqlResult<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || runtime::check_stack().is_err() {
            return Err(too_complex());
        }
        let mut branches = vec![self.sequence()?];
        while self.chars.peek() == Some(&'|') {
            self.chars.next();
            self.choices += 1;
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Choice(branches) })
    }

    fn grow(&mut self, nodes: usize) -> SqlResult<()> {
        self.size += nodes;
        self.pace.did(16)?;
        if self.size > MAX_SIZE { Err(too_complex()) } else { Ok(()) }
    }

    fn sequence(&mut self) -> SqlResult<Node> {
        let mut list = Vec::new();
        loop {
            self.skip_comments()?;
            match self.chars.peek() {
                None | Some('|' | ')') => break,
                Some(_) => {}
            }
            let backs = self.backs;
            let atom = self.atom()?;
            self.skip_comments()?;
            list.push(self.quantified(atom, self.backs > backs)?);
            self.grow(1)?;
        }
        Ok(if list.len() == 1 { list.remove(0) } else { Node::Sequence(list) })
    }

    /// Blanks and comments, where they do not count.
    fn skip_comments(&mut self) -> SqlResult<()> {
        loop {
            let next = self.chars.peek().copied();
            if next == Some('(') && self.chars.clone().take(3).eq("(?#".chars()) {
                if !self.chars.by_ref().any(|c| c == ')') {
                    return Err(invalid("parentheses () not balanced"));
                }
            } else if self.flags.expanded && next.is_some_and(char::is_whitespace) {
                self.chars.next();
            } else if self.flags.expanded && next == Some('#') {
                self.chars.by_ref().find(|c| *c == '\n');
            } else {
                return Ok(());
            }
        }
    }

    fn atom(&mut self) -> SqlResult<Node> {
        let Some(c) = self.chars.next() else { return Err(invalid("invalid regexp")) };
        match c {
            '(' => self.parenthesis(),
            '[' => {
                let mut text = String::new();
                bracket(&mut self.chars, &mut text, self.flags)?;
                match text.as_str() {
                    "\\b{start}" => Ok(Node::Place(Place::WordStart)),
                    "\\b{end}" => Ok(Node::Place(Place::WordEnd)),
                    _ => self.class(&text),
                }
            }
            '.' => Ok(Node::Any(!(self.flags.newline || self.flags.partial))),
            '^' => Ok(Node::Place(Place::LineStart)),
            '$' => Ok(Node::Place(Place::LineEnd)),
            '\\' => self.backslash(),
            '*' | '+' | '?' => Err(invalid("quantifier operand invalid")),
            '{' if self.chars.peek().is_some_and(char::is_ascii_digit) => {
                Err(invalid("quantifier operand invalid"))
            }
            c => Ok(Node::Character(c)),
        }
    }

    fn class(&mut self, text: &str) -> SqlResult<Node> {
        self.pace.did(CLASS)?;
        let other = RegexBuilder::new(&format!("^{text}$"))
            .case_insensitive(self.flags.fold)
            .build()
            .map_err(|error| match error.to_string().contains("class range") {
                true => invalid("invalid character range"),
                false => invalid("invalid regexp"),
            })?;
        let mut ascii = [false; 128];
        for (code, slot) in ascii.iter_mut().enumerate() {
            *slot = other.is_match(char::from(code as u8).encode_utf8(&mut [0; 4]));
        }
        Ok(Node::Class(Box::new(Class { ascii, other })))
    }

    /// What stands behind an opening parenthesis, up to the closing one.
    fn parenthesis(&mut self) -> SqlResult<Node> {
        let mut take = |text: &str| {
            let found = self.chars.clone().take(text.len()).eq(text.chars());
            if found {
                self.chars.by_ref().take(text.len()).for_each(drop);
            }
            found
        };
        let look = [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
            .into_iter()
            .find(|(text, ..)| take(text));
        let capturing = look.is_none() && !take("?:");
        if capturing && self.chars.peek() == Some(&'?') {
            return Err(invalid("quantifier operand invalid"));
        }
        let before = self.looking;
        self.looking |= look.is_some();
        let number = (capturing && !self.looking).then(|| {
            self.groups += 1;
            self.closed.push(None);
            self.groups
        });
        let size = self.size;
        let inner = self.choice()?;
        if self.chars.next() != Some(')') {
            return Err(invalid("parentheses () not balanced"));
        }
        self.looking = before;
        Ok(match (look, number) {
            (Some((_, ahead, negated)), _) => {
                self.regular = false;
                self.looks += 1;
                Node::Look { number: self.looks - 1, ahead, negated, inner: Box::new(inner) }
            }
            (None, Some(number)) => {
                let inner = Rc::new(inner);
                self.closed[number - 1] = Some((inner.clone(), self.size - size));
                Node::Group(number, inner)
            }
            // A place in parentheses may be repeated.
            (None, None) => Node::Sequence(vec![inner]),
        })
    }

    fn backslash(&mut self) -> SqlResult<Node> {
        let place = match self.chars.peek() {
            Some('m') => Place::WordStart,
            Some('M') => Place::WordEnd,
            Some('y') => Place::WordEdge,
            Some('Y') => Place::NoWordEdge,
            Some('A') => Place::TextStart,
            Some('Z') => Place::TextEnd,
            Some('1'..='9') => return self.back_reference(),
            _ => {
                let mut text = String::new();
                escape(&mut self.chars, &mut text)?;
                let mut chars = text.chars();
                return match (chars.next(), chars.next(), chars.next()) {
                    (Some('\\'), Some(c), None) if !c.is_alphanumeric() => Ok(Node::Character(c)),
                    (Some(c), None, _) => Ok(Node::Character(c)),
                    _ => self.class(&text),
                };
            }
        };
        self.chars.next();
        Ok(Node::Place(place))
    }

    /// One digit, or more if there are so many groups.
    fn back_reference(&mut self) -> SqlResult<Node> {
        let mut number = 0usize;
        while let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(10)) {
            let longer = number * 10 + digit as usize;
            if number > 0 && longer > self.groups {
                break;
            }
            number = longer;
            self.chars.next();
        }
        let group = self.closed.get(number - 1).and_then(Option::as_ref).filter(|_| !self.looking);
        let Some((inner, size)) = group else { return Err(invalid("invalid backreference number")) };
        let (inner, size) = (inner.clone(), *size);
        self.grow(size)?;
        self.regular = false;
        self.backs += 1;
        Ok(Node::Back(number, inner))
    }

    /// The atom with the quantifier behind it, if there is one. `back`: whether a back reference is within.
    fn quantified(&mut self, atom: Node, back: bool) -> SqlResult<Node> {
        let counted = self.chars.clone().nth(1).is_some_and(|c| c.is_ascii_digit());
        let (least, most, fixed) = match self.chars.peek() {
            Some('*') => self.sign(0, None),
            Some('+') => self.sign(1, None),
            Some('?') => self.sign(0, Some(1)),
            Some('{') if counted => {
                self.chars.next();
                self.counts()?
            }
            _ => return Ok(atom),
        };
        if matches!(atom, Node::Place(_) | Node::Look { .. }) {
            return Err(invalid("quantifier operand invalid"));
        }
        self.quantifiers += 1;
        let lazy = self.chars.peek() == Some(&'?');
        if lazy {
            self.chars.next();
            self.choices += 1;
        }
        self.skip_comments()?;
        if matches!(self.chars.peek(), Some('*' | '+' | '?')) {
            return Err(invalid("quantifier operand invalid"));
        }
        let longest = if fixed { None } else { Some(!lazy) };
        Ok(Node::Repeat { inner: Box::new(atom), least, most, longest, back })
    }

    /// A quantifier of one character.
    fn sign(&mut self, least: u32, most: Option<u32>) -> (u32, Option<u32>, bool) {
        self.chars.next();
        (least, most, false)
    }

    /// `m}`, `m,}`, `m,n}`; the third result: whether it is the first form.
    fn counts(&mut self) -> SqlResult<(u32, Option<u32>, bool)> {
        let least = self.number()?;
        let (most, fixed) = match self.chars.peek() {
            Some(',') => {
                self.chars.next();
                match self.chars.peek() {
                    Some('}') => (None, false),
                    _ => (Some(self.number()?), false),
                }
            }
            _ => (Some(least), true),
        };
        match self.chars.next() {
            Some('}') => {}
            None => return Err(invalid("braces {} not balanced")),
            Some(_) => return Err(invalid("invalid repetition count(s)")),
        }
        if most.is_some_and(|most| most < least) {
            return Err(invalid("invalid repetition count(s)"));
        }
        Ok((least, most, fixed))
    }

    fn number(&mut self) -> SqlResult<u32> {
        let mut value = None;
        while let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0) * 10 + digit);
            if value > Some(MAX_COUNT) {
                return Err(invalid("invalid repetition count(s)"));
            }
            self.chars.next();
        }
        value.ok_or_else(|| match self.chars.peek() {
            None => invalid("braces {} not balanced"),
            Some(_) => invalid("invalid repetition count(s)"),
        })
    }
}
