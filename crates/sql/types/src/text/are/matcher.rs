//! Where an expression ends, and how a match is divided among its parts.

use std::collections::HashSet;

use base::SqlResult;

use super::{Expression, Node, Place};
use crate::{call::Session, json::depth::deeper};

/// Positions of groups in characters, the whole match first.
type Groups = Vec<Option<(usize, usize)>>;

/// Positions, ascending.
type Positions = Vec<usize>;

struct Matcher<'a> {
    expression: &'a Expression,
    text: &'a [char],
    session: &'a dyn Session,
}

/// The leftmost match that begins at `from` or behind.
pub(in crate::text) fn find(
    expression: &Expression,
    text: &[char],
    from: usize,
    session: &dyn Session,
) -> SqlResult<Option<Groups>> {
    let matcher = Matcher { expression, text, session };
    let root = &expression.root;
    for start in from..=text.len() {
        let mut ends = matcher.ends(root, vec![start])?;
        if root.longest() != Some(false) {
            ends.reverse();
        }
        for end in ends {
            let mut groups = vec![None; expression.groups + 1];
            if matcher.divide(root, start, end, &mut groups, 0)? {
                groups[0] = Some((start, end));
                return Ok(Some(groups));
            }
        }
    }
    Ok(None)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether two characters differ in case at most.
fn same_letter(a: char, b: char) -> bool {
    a.to_lowercase().eq(b.to_lowercase()) || a.to_uppercase().eq(b.to_uppercase())
}

/// Both sets together.
fn union(a: Positions, b: Positions) -> Positions {
    if a.is_empty() {
        return b;
    }
    let mut all = a;
    all.extend(b);
    all.sort_unstable();
    all.dedup();
    all
}

impl Matcher<'_> {
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

    /// Where a part may end that begins at one of `starts`. A back reference counts as what it refers to.
    fn ends(&self, node: &Node, starts: Positions) -> SqlResult<Positions> {
        self.reach(node, starts, true)
    }

    /// Where a part may begin that ends at one of `ends`.
    fn starts(&self, node: &Node, ends: Positions) -> SqlResult<Positions> {
        self.reach(node, ends, false)
    }

    fn reach(&self, node: &Node, from: Positions, forward: bool) -> SqlResult<Positions> {
        self.session.check_interrupts()?;
        if from.is_empty() {
            return Ok(from);
        }
        Ok(match node {
            Node::Character(c) => {
                let c = *c;
                self.step(from, forward, |found| {
                    found == c || (self.expression.fold && same_letter(found, c))
                })
            }
            Node::Any(newline) => self.step(from, forward, |found| *newline || found != '\n'),
            Node::Class(class) => self.step(from, forward, |found| class.contains(found)),
            Node::Place(place) => from.into_iter().filter(|at| self.holds(*place, *at)).collect(),
            Node::Look { ahead, negated, inner } => {
                let mut out = Vec::with_capacity(from.len());
                for at in from {
                    let found = !self.reach(inner, vec![at], *ahead)?.is_empty();
                    if found != *negated {
                        out.push(at);
                    }
                }
                out
            }
            Node::Back(number) => match self.expression.root.group(*number) {
                Some(group) => self.reach(group, from, forward)?,
                None => Vec::new(),
            },
            Node::Group(_, inner) => self.reach(inner, from, forward)?,
            Node::Sequence(list) => {
                let mut at = from;
                let mut parts: Vec<&Node> = list.iter().collect();
                if !forward {
                    parts.reverse();
                }
                for part in parts {
                    at = self.reach(part, at, forward)?;
                }
                at
            }
            Node::Choice(branches) => {
                let mut out = Vec::new();
                for branch in branches {
                    out = union(out, self.reach(branch, from.clone(), forward)?);
                }
                out
            }
            Node::Repeat { inner, least, most, .. } => {
                self.reach_repeated(inner, (*least, *most), from, forward)?
            }
        })
    }

    /// One character onwards, or back, where it fits.
    fn step(&self, from: Positions, forward: bool, fits: impl Fn(char) -> bool) -> Positions {
        let step = |at: usize| {
            let index = if forward { Some(at) } else { at.checked_sub(1) }?;
            let fits = self.text.get(index).is_some_and(|c| fits(*c));
            fits.then_some(if forward { at + 1 } else { index })
        };
        from.into_iter().filter_map(step).collect()
    }

    fn reach_repeated(
        &self,
        inner: &Node,
        (least, most): (u32, Option<u32>),
        from: Positions,
        forward: bool,
    ) -> SqlResult<Positions> {
        let mut at = from;
        for _ in 0..least {
            at = self.reach(inner, at, forward)?;
        }
        let mut seen: HashSet<usize> = at.iter().copied().collect();
        let mut all = at.clone();
        let mut count = least;
        while most.is_none_or(|most| count < most) {
            let mut next = self.reach(inner, at, forward)?;
            next.retain(|p| seen.insert(*p));
            if next.is_empty() {
                break;
            }
            all.extend_from_slice(&next);
            at = next;
            count += 1;
        }
        all.sort_unstable();
        Ok(all)
    }

    /// Divides a stretch, which the part's shape fits, among the groups within; false if a back reference does not fit.
    fn divide(
        &self,
        node: &Node,
        start: usize,
        end: usize,
        groups: &mut Groups,
        level: usize,
    ) -> SqlResult<bool> {
        self.session.check_interrupts()?;
        match node {
            Node::Character(_) | Node::Any(_) | Node::Class(_) | Node::Place(_) | Node::Look { .. } => {
                Ok(true)
            }
            Node::Back(number) => Ok(groups[*number].is_some_and(|(a, b)| self.same(a..b, start..end))),
            Node::Group(number, inner) => {
                let found = deeper(level, || self.divide(inner, start, end, groups, level + 1))?;
                if found {
                    groups[*number] = Some((start, end));
                }
                Ok(found)
            }
            Node::Sequence(list) => {
                let mut rest = vec![vec![end]];
                for part in list.iter().rev() {
                    let before = self.starts(part, rest.last().cloned().unwrap_or_default())?;
                    rest.push(before);
                }
                rest.reverse();
                deeper(level, || self.divide_sequence(list, &rest, (start, end), groups, level + 1))
            }
            Node::Choice(branches) => {
                for branch in branches {
                    if self.ends(branch, vec![start])?.binary_search(&end).is_ok() {
                        let before = groups.clone();
                        if deeper(level, || self.divide(branch, start, end, groups, level + 1))? {
                            return Ok(true);
                        }
                        *groups = before;
                    }
                }
                Ok(false)
            }
            Node::Repeat { inner, least, most, .. } if !inner.has_back() => {
                let Some(at) = self.last_repetition(node, (inner, *least, *most), (start, end))? else {
                    return Ok(true);
                };
                deeper(level, || self.divide(inner, at, end, groups, level + 1))
            }
            Node::Repeat { inner, least, most, .. } => {
                if start == end && *least == 0 {
                    return Ok(true);
                }
                let repeated = Repeated { inner, least: *least, most: *most, end };
                let mut failed = HashSet::new();
                deeper(level, || self.divide_repeated(&repeated, (0, start), groups, &mut failed, level + 1))
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
        let mut candidates = self.reach_repeated(inner, others, vec![start], true)?;
        let begins = self.starts(inner, vec![end])?;
        candidates.retain(|at| *at <= end && begins.binary_search(at).is_ok());
        Ok(if node.longest() == Some(false) { candidates.first() } else { candidates.last() }.copied())
    }

    fn same(&self, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> bool {
        let equal = |(x, y): (&char, &char)| x == y || (self.expression.fold && same_letter(*x, *y));
        a.len() == b.len() && self.text[a].iter().zip(&self.text[b]).all(equal)
    }

    /// Each part in turn takes the longest (or shortest) stretch that lets the others fit. `rest[i]` says where the parts from
    /// number `i` on may begin.
    fn divide_sequence(
        &self,
        list: &[Node],
        rest: &[Positions],
        (start, end): (usize, usize),
        groups: &mut Groups,
        level: usize,
    ) -> SqlResult<bool> {
        let Some((part, others)) = list.split_first() else { return Ok(start == end) };
        let mut candidates = self.ends(part, vec![start])?;
        candidates.retain(|at| rest[1].binary_search(at).is_ok());
        if part.longest() != Some(false) {
            candidates.reverse();
        }
        for at in candidates {
            let before = groups.clone();
            if self.divide(part, start, at, groups, level)?
                && deeper(level, || self.divide_sequence(others, &rest[1..], (at, end), groups, level + 1))?
            {
                return Ok(true);
            }
            *groups = before;
        }
        Ok(false)
    }

    /// One more repetition, and the rest. `failed`: states that were tried in vain, where groups cannot change that.
    fn divide_repeated(
        &self,
        repeated: &Repeated<'_>,
        (count, start): (u32, usize),
        groups: &mut Groups,
        failed: &mut HashSet<(u32, usize)>,
        level: usize,
    ) -> SqlResult<bool> {
        let Repeated { inner, least, most, end } = *repeated;
        if start == end && count >= least {
            return Ok(true);
        }
        // Above the least number only the position counts.
        let state = (if most.is_none() { count.min(least) } else { count }, start);
        if most.is_some_and(|most| count >= most) || failed.contains(&state) {
            return Ok(false);
        }
        let mut candidates = self.ends(inner, vec![start])?;
        candidates.retain(|at| *at <= end && (*at > start || count < least));
        if inner.longest() != Some(false) {
            candidates.reverse();
        }
        for at in candidates {
            let before = groups.clone();
            inner.forget(groups);
            if self.divide(inner, start, at, groups, level)?
                && deeper(level, || {
                    self.divide_repeated(repeated, (count + 1, at), groups, failed, level + 1)
                })?
            {
                return Ok(true);
            }
            *groups = before;
        }
        if !inner.has_back() {
            failed.insert(state);
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
