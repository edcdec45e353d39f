//! Where an expression ends, and how a match is divided among its parts.
//!
//! What a part can match is computed for sets of positions at once, a back reference counting as what its group can match. So far it costs
//! polynomial time, and where there are no back references it is the truth. Only then is a match divided among the parts, which
//! backtracks where back references disagree.

use std::cell::{Cell, OnceCell, RefCell};

use base::{SqlError, SqlResult, sql_err};

use super::{Expression, Node, Place, positions::Positions};
use crate::piece::Pace;

/// Positions of groups in characters, the whole match first.
type Groups = Vec<Option<(usize, usize)>>;

/// What earlier searches in the same text have found out about it.
pub(in crate::text) struct Memory {
    /// Positions that were looked at so far.
    steps: Cell<usize>,
    /// Where matches may begin.
    starts: OnceCell<Positions>,
    looks: Box<[Look]>,
    pace: RefCell<Pace>,
}

/// What is known of a look-around.
#[derive(Default)]
struct Look {
    /// Steps that went into questions about single positions.
    steps: Cell<usize>,
    /// Where its expression fits.
    fits: OnceCell<Positions>,
}

impl Memory {
    pub(in crate::text) fn new(expression: &Expression) -> Memory {
        Memory {
            steps: Cell::new(0),
            starts: OnceCell::new(),
            looks: (0..expression.looks).map(|_| Look::default()).collect(),
            pace: RefCell::new(Pace::new()),
        }
    }

    fn did(&self, steps: usize) -> SqlResult<()> {
        self.steps.set(self.steps.get() + steps);
        self.pace.borrow_mut().did(steps)
    }
}

/// An expression and a text that is searched.
pub(in crate::text) struct Matcher<'a> {
    pub(in crate::text) expression: &'a Expression,
    pub(in crate::text) text: &'a [char],
    pub(in crate::text) memory: &'a Memory,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether two characters differ in case at most.
fn same_letter(a: char, b: char) -> bool {
    a.to_lowercase().eq(b.to_lowercase()) || a.to_uppercase().eq(b.to_uppercase())
}

/// Fails where the stack ends.
fn check_stack() -> SqlResult<()> {
    let too_complex = |_| -> SqlError {
        sql_err!(INVALID_REGULAR_EXPRESSION, "regular expression failed: regular expression is too complex")
    };
    runtime::check_stack().map_err(too_complex)
}

impl Matcher<'_> {
    /// The leftmost match that begins at `from` or behind. `divided`: whether its groups are wanted.
    pub(in crate::text) fn find(&self, from: usize, divided: bool) -> SqlResult<Option<Groups>> {
        let mut start = from;
        while let Some(at) = self.next_start(start)? {
            if let Some(found) = self.match_at(at, divided)? {
                return Ok(Some(found));
            }
            start = at + 1;
        }
        Ok(None)
    }

    /// The first position at `at` or behind where a match may begin. As long as single tries have cost less than a look at the whole
    /// text they go on.
    fn next_start(&self, at: usize) -> SqlResult<Option<usize>> {
        if at > self.text.len() {
            return Ok(None);
        }
        self.memory.did(1)?;
        if self.memory.steps.get() <= 2 * self.text.len() {
            return Ok(Some(at));
        }
        if self.memory.starts.get().is_none() {
            let all = Positions::all(0, self.text.len());
            let starts = self.starts(&self.expression.root, all)?;
            let _ = self.memory.starts.set(starts);
        }
        Ok(self.memory.starts.get().and_then(|starts| starts.from(at)))
    }

    /// The match that begins at a position: the longest or the shortest, as the expression prefers.
    pub(in crate::text) fn match_at(&self, start: usize, divided: bool) -> SqlResult<Option<Groups>> {
        let root = &self.expression.root;
        let ends = self.ends(root, Positions::one(start))?;
        let shortest = root.longest() == Some(false);
        let mut rest = ends.iter();
        while let Some(end) = if shortest { rest.next() } else { rest.next_back() } {
            let mut groups = vec![None; self.expression.groups + 1];
            let found = !(divided || self.expression.back) || self.divide(root, start, end, &mut groups)?;
            if found {
                groups[0] = Some((start, end));
                return Ok(Some(groups));
            }
        }
        Ok(None)
    }

    fn holds(&self, place: Place, at: usize) -> bool {
        let before = at.checked_sub(1).map(|i| self.text[i]);
        let behind = self.text.get(at).copied();
        let (word_before, word_behind) = (before.is_some_and(is_word), behind.is_some_and(is_word));
        let lines = self.expression.lines;
        match place {
            Place::LineStart => before.is_none() || (lines && before == Some('\n')),
            Place::LineEnd => behind.is_none() || (lines && behind == Some('\n')),
            Place::TextStart => before.is_none(),
            Place::TextEnd => behind.is_none(),
            Place::WordStart => !word_before && word_behind,
            Place::WordEnd => word_before && !word_behind,
            Place::WordEdge => word_before != word_behind,
            Place::NoWordEdge => word_before == word_behind,
        }
    }

    /// Whether the look-around's expression fits at a position: asked there, or for the whole text once that is no dearer.
    fn fits(&self, (number, ahead, inner): (usize, bool, &Node), at: usize) -> SqlResult<bool> {
        let look = &self.memory.looks[number];
        if look.steps.get() <= self.text.len() {
            let before = self.memory.steps.get();
            let found = !self.reach(inner, Positions::one(at), ahead)?.is_empty();
            look.steps.set(look.steps.get() + self.memory.steps.get() - before);
            return Ok(found);
        }
        if look.fits.get().is_none() {
            // What fits from somewhere behind to here, or from here to somewhere behind, is the same seen from its other end.
            let fits = self.reach(inner, Positions::all(0, self.text.len()), !ahead)?;
            let _ = look.fits.set(fits);
        }
        Ok(look.fits.get().is_some_and(|fits| fits.contains(at)))
    }

    /// Where a part may end that begins at one of `starts`. A back reference counts as what it refers to.
    fn ends(&self, node: &Node, starts: Positions) -> SqlResult<Positions> {
        self.reach(node, starts, true)
    }

    /// The places at which a part may begin that ends at one of `ends`.
    fn starts(&self, node: &Node, ends: Positions) -> SqlResult<Positions> {
        self.reach(node, ends, false)
    }

    fn reach(&self, node: &Node, from: Positions, forward: bool) -> SqlResult<Positions> {
        if from.is_empty() {
            return Ok(from);
        }
        check_stack()?;
        self.memory.did(1)?;
        Ok(match node {
            Node::Character(_) | Node::Any(_) | Node::Class(_) => self.step(node, &from, forward)?,
            Node::Place(place) => self.filter(&from, |at| Ok(self.holds(*place, at)))?,
            Node::Look { number, ahead, negated, inner } => {
                self.filter(&from, |at| Ok(self.fits((*number, *ahead, inner), at)? != *negated))?
            }
            Node::Back(_, inner) | Node::Group(_, inner) => self.reach(inner, from, forward)?,
            Node::Sequence(list) if forward => {
                list.iter().try_fold(from, |at, part| self.reach(part, at, forward))?
            }
            Node::Sequence(list) => {
                list.iter().rev().try_fold(from, |at, part| self.reach(part, at, forward))?
            }
            Node::Choice(branches) => {
                let mut out = Positions::default();
                for branch in branches {
                    out = out.union(&self.reach(branch, from.clone(), forward)?);
                }
                out
            }
            Node::Repeat { inner, least, most, .. } => {
                self.reach_repeated(inner, (*least, *most), from, forward)?
            }
        })
    }

    fn filter(&self, from: &Positions, holds: impl Fn(usize) -> SqlResult<bool>) -> SqlResult<Positions> {
        let mut out = Positions::default();
        for at in from.iter() {
            self.memory.did(1)?;
            if holds(at)? {
                out.push(at, at);
            }
        }
        Ok(out)
    }

    /// Whether a part that stands for one character stands for this one.
    fn is_one(&self, node: &Node, c: char) -> bool {
        match node {
            Node::Character(own) => c == *own || (self.expression.fold && same_letter(c, *own)),
            Node::Any(newline) => *newline || c != '\n',
            Node::Class(class) => class.contains(c),
            _ => false,
        }
    }

    /// One character onwards, or back, where it fits.
    fn step(&self, node: &Node, from: &Positions, forward: bool) -> SqlResult<Positions> {
        let mut out = Positions::default();
        for at in from.iter() {
            self.memory.did(1)?;
            let Some(index) = (if forward { Some(at) } else { at.checked_sub(1) }) else { continue };
            if self.text.get(index).is_some_and(|c| self.is_one(node, *c)) {
                let to = if forward { at + 1 } else { index };
                out.push(to, to);
            }
        }
        Ok(out)
    }

    fn reach_repeated(
        &self,
        inner: &Node,
        (least, most): (u32, Option<u32>),
        from: Positions,
        forward: bool,
    ) -> SqlResult<Positions> {
        if matches!(inner, Node::Character(_) | Node::Any(_) | Node::Class(_)) {
            let (least, most) = (least as usize, most.map_or(usize::MAX, |most| most as usize));
            return match forward {
                true => self.runs_from(inner, (least, most), &from),
                false => self.runs_to(inner, (least, most), &from),
            };
        }
        let mut at = from;
        for _ in 0..least {
            let next = self.reach(inner, at.clone(), forward)?;
            // More of the same changes nothing.
            if next == at {
                break;
            }
            at = next;
        }
        let mut all = at.clone();
        let mut count = least;
        while most.is_none_or(|most| count < most) {
            at = self.reach(inner, at, forward)?.without(&all);
            if at.is_empty() {
                break;
            }
            self.memory.did(all.stretches())?;
            all = all.union(&at);
            count += 1;
        }
        Ok(all)
    }

    /// Where runs of so many characters end that begin at one of `from`.
    fn runs_from(
        &self,
        node: &Node,
        (least, most): (usize, usize),
        from: &Positions,
    ) -> SqlResult<Positions> {
        let mut out = Positions::default();
        // Where the run ends that the position before was in.
        let mut run = 0;
        let mut next = from.from(0);
        while let Some(at) = next {
            run = run.max(at);
            while run - at < most && self.text.get(run).is_some_and(|c| self.is_one(node, *c)) {
                run += 1;
                self.memory.did(1)?;
            }
            self.memory.did(1)?;
            if run - at >= least {
                out.push(at + least, run.min(at.saturating_add(most)));
            }
            // Without an upper bound whoever begins in this run ends as this one does.
            let passed = most == usize::MAX && run - at >= least;
            next = from.from(if passed { at.max(run.saturating_sub(least)) + 1 } else { at + 1 });
        }
        Ok(out)
    }

    /// Where runs of so many characters begin that end at one of `ends`.
    fn runs_to(&self, node: &Node, (least, most): (usize, usize), ends: &Positions) -> SqlResult<Positions> {
        let mut out = Positions::default();
        // The run around the position before: where it begins, and how far it is known.
        let (mut begin, mut known) = (0, 0);
        for end in ends.iter() {
            let mut at = end;
            while at > known && end - at < most && self.is_one(node, self.text[at - 1]) {
                at -= 1;
                self.memory.did(1)?;
            }
            if at > known {
                begin = at;
            }
            known = end;
            self.memory.did(1)?;
            if end - begin >= least {
                out.push(begin.max(end.saturating_sub(most)), end - least);
            }
        }
        Ok(out)
    }

    /// Divides a stretch, which the part's shape fits, among the groups within; false if a back reference does not fit.
    fn divide(&self, node: &Node, start: usize, end: usize, groups: &mut Groups) -> SqlResult<bool> {
        check_stack()?;
        self.memory.did(1)?;
        match node {
            Node::Character(_) | Node::Any(_) | Node::Class(_) | Node::Place(_) | Node::Look { .. } => {
                Ok(true)
            }
            Node::Back(number, _) => match groups[*number] {
                Some((a, b)) => self.same(a..b, start..end),
                None => Ok(false),
            },
            Node::Group(number, inner) => {
                let found = self.divide(inner, start, end, groups)?;
                if found {
                    groups[*number] = Some((start, end));
                }
                Ok(found)
            }
            Node::Sequence(list) => {
                let mut rest = vec![Positions::one(end)];
                for part in list.iter().rev() {
                    let before = self.starts(part, rest.last().cloned().unwrap_or_default())?;
                    rest.push(before);
                }
                rest.reverse();
                self.divide_sequence(list, &rest, (start, end), groups)
            }
            Node::Choice(branches) => {
                for branch in branches {
                    if self.ends(branch, Positions::one(start))?.contains(end) {
                        let before = groups.clone();
                        if self.divide(branch, start, end, groups)? {
                            return Ok(true);
                        }
                        *groups = before;
                    }
                }
                Ok(false)
            }
            Node::Repeat { inner, least, most, back: false, .. } => {
                match self.last_repetition(node, (inner, *least, *most), (start, end))? {
                    Some(at) => self.divide(inner, at, end, groups),
                    None => Ok(true),
                }
            }
            Node::Repeat { least: 0, .. } if start == end => Ok(true),
            Node::Repeat { inner, least, most, .. } => {
                self.divide_repeated(Repeated { inner, least: *least, most: *most, end }, start, groups)
            }
        }
    }

    /// Where the last repetition begins, the only one whose groups count; none if there is no repetition. The others take as
    /// much (or as little) as they can.
    fn last_repetition(
        &self,
        node: &Node,
        (inner, least, most): (&Node, u32, Option<u32>),
        (start, end): (usize, usize),
    ) -> SqlResult<Option<usize>> {
        if most == Some(0) {
            return Ok(None);
        }
        let others = (least.saturating_sub(1), most.map(|most| most - 1));
        let before = self.reach_repeated(inner, others, Positions::one(start), true)?;
        let candidates = before.intersection(&self.starts(inner, Positions::one(end))?);
        Ok(if node.longest() == Some(false) { candidates.from(0) } else { candidates.last() })
    }

    fn same(&self, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> SqlResult<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        let differ = |(x, y): (&char, &char)| x != y && !(self.expression.fold && same_letter(*x, *y));
        let at = self.text[a.clone()].iter().zip(&self.text[b]).position(differ);
        self.memory.did(at.unwrap_or(a.len()))?;
        Ok(at.is_none())
    }

    /// Where a part may end that begins at `start` and is divided among groups. A back reference has no choice.
    fn ends_divided(&self, part: &Node, start: usize, groups: &Groups) -> SqlResult<Positions> {
        match part {
            Node::Back(number, _) => Ok(match groups[*number] {
                Some((a, b)) if start + (b - a) <= self.text.len() => Positions::one(start + (b - a)),
                _ => Positions::default(),
            }),
            _ => self.ends(part, Positions::one(start)),
        }
    }

    /// Each part in turn takes the longest (or shortest) stretch that lets the others fit. `rest[i]` says where the parts from
    /// number `i` on may begin.
    fn divide_sequence(
        &self,
        list: &[Node],
        rest: &[Positions],
        (start, end): (usize, usize),
        groups: &mut Groups,
    ) -> SqlResult<bool> {
        check_stack()?;
        let Some((part, others)) = list.split_first() else { return Ok(start == end) };
        let candidates = self.ends_divided(part, start, groups)?.intersection(&rest[1]);
        let shortest = part.longest() == Some(false);
        let mut candidates = candidates.iter();
        while let Some(at) = if shortest { candidates.next() } else { candidates.next_back() } {
            let before = groups.clone();
            if self.divide(part, start, at, groups)?
                && self.divide_sequence(others, &rest[1..], (at, end), groups)?
            {
                return Ok(true);
            }
            *groups = before;
        }
        Ok(false)
    }

    /// Divides a repetition with back references within: each takes the longest (or shortest) stretch that lets the others fit.
    fn divide_repeated(&self, repeated: Repeated<'_>, start: usize, groups: &mut Groups) -> SqlResult<bool> {
        let Repeated { inner, least, most, end } = repeated;
        let mut tried = vec![Repetition::new(self, repeated, 0, start, groups)?];
        while let Some(last) = tried.last_mut() {
            let (count, start) = (last.count, last.start);
            if start == end && count >= least {
                return Ok(true);
            }
            let candidate = if most.is_some_and(|most| count >= most) { None } else { last.ends.pop() };
            groups.clone_from(&last.groups);
            let Some(at) = candidate else {
                tried.pop();
                continue;
            };
            inner.forget(groups);
            if self.divide(inner, start, at, groups)? {
                tried.push(Repetition::new(self, repeated, count + 1, at, groups)?);
            }
        }
        Ok(false)
    }
}

/// A repetition that is to fill a stretch.
#[derive(Clone, Copy)]
struct Repeated<'a> {
    inner: &'a Node,
    least: u32,
    most: Option<u32>,
    end: usize,
}

/// How far a repetition has come: so many times, up to `start`.
struct Repetition {
    count: u32,
    start: usize,
    /// Ends of the next one that are still to be tried, the best last.
    ends: Vec<usize>,
    groups: Groups,
}

impl Repetition {
    fn new(
        matcher: &Matcher<'_>,
        repeated: Repeated<'_>,
        count: u32,
        start: usize,
        groups: &Groups,
    ) -> SqlResult<Repetition> {
        let fits = |at: &usize| *at <= repeated.end && (*at > start || count < repeated.least);
        let ends = matcher.ends(repeated.inner, Positions::one(start))?;
        let mut ends: Vec<usize> = ends.iter().filter(fits).collect();
        if repeated.inner.longest() == Some(false) {
            ends.reverse();
        }
        matcher.memory.did(ends.len())?;
        Ok(Repetition { count, start, ends, groups: groups.clone() })
    }
}

impl Node {
    /// Empties the groups within: a repetition begins anew.
    fn forget(&self, groups: &mut Groups) {
        match self {
            Node::Group(number, inner) => {
                groups[*number] = None;
                inner.forget(groups);
            }
            Node::Repeat { inner, .. } => inner.forget(groups),
            Node::Sequence(list) | Node::Choice(list) => list.iter().for_each(|n| n.forget(groups)),
            _ => {}
        }
    }
}
