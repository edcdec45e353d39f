//! # What
//! Whether a vector satisfies a query, and where.
//!
//! Words are asked of a [`Source`]: a vector, or an index that may not know for certain. Answers have three values. Phrases are answered by sets
//! of positions: where the last word of what matched stands, and how wide it is, or where it does *not* match.
//!
//! # PostgreSQL counterpart
//! `TS_execute` of `tsvector_op.c`.

use base::SqlResult;

use crate::query::{Item, Op, Operand, Query};
use crate::vector::{Position, Positions, Vector};

/// Whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is not.
    No,
    /// It cannot be told.
    Maybe,
    /// It is.
    Yes,
}

impl Answer {
    fn of(yes: bool) -> Answer {
        if yes { Answer::Yes } else { Answer::No }
    }
}

/// Places at which something matches, ascending.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Where its last word stands, or with `negated` all places where it does not match.
    pub at: Vec<u16>,
    /// Whether `at` has the places where it does not match.
    pub negated: bool,
    /// How far the first word stands in front of the last.
    pub width: i32,
}

/// What knows about words.
pub trait Source {
    /// Whether the word of item `at` is there; the places are added where they are asked for. Who does not know them answers "maybe".
    fn find(&mut self, at: usize, operand: &Operand, places: Option<&mut Vec<u16>>) -> Answer;
}

/// How a query is executed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether what is negated counts as found.
    pub skip_not: bool,
    /// Whether a phrase that cannot be told makes the whole maybe true, and not false.
    pub phrases_unsure: bool,
}

impl Source for Vector<'_> {
    fn find(&mut self, _at: usize, operand: &Operand, mut places: Option<&mut Vec<u16>>) -> Answer {
        let word = operand.word.as_bytes();
        let (mut at, exact) = match Vector::find(self, word) {
            Ok(at) => (at, true),
            Err(at) => (at, false),
        };
        if !operand.prefix {
            return if exact { weighed(operand, self.positions(at), places) } else { Answer::No };
        }
        let (mut found, mut words) = (Answer::No, 0);
        while at < self.len() && self.lexeme(at).starts_with(word) {
            let here = weighed(operand, self.positions(at), places.as_deref_mut());
            if here != Answer::No {
                words += 1;
                found = here;
                // Without positions nothing more is to be learnt; with them, one word that lacks them spoils it.
                if places.is_none() && here == Answer::Yes || here == Answer::Maybe {
                    break;
                }
            }
            at += 1;
        }
        if let Some(places) = places {
            match found {
                Answer::Maybe => places.clear(),
                _ if words > 1 => {
                    places.sort_unstable();
                    places.dedup();
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether a lexeme with these positions has one of the operand's weights. One without positions has them all.
fn weighed(operand: &Operand, positions: Positions<'_>, places: Option<&mut Vec<u16>>) -> Answer {
    let counts = |p: &Position| operand.weights == 0 || operand.weights & 1 << p.weight() != 0;
    match (positions.is_empty(), places) {
        (true, None) => Answer::Yes,
        (true, Some(_)) => Answer::Maybe,
        (false, None) => Answer::of(positions.iter().any(|p| counts(&p))),
        (false, Some(places)) => {
            let before = places.len();
            places.extend(positions.iter().filter(counts).map(Position::place));
            Answer::of(places.len() > before)
        }
    }
}

/// Whether a vector satisfies a query.
pub fn matches(vector: &Vector<'_>, query: &Query<'_>) -> SqlResult<bool> {
    if vector.is_empty() || query.is_empty() {
        return Ok(false);
    }
    Ok(execute(query, &mut { *vector }, Options::default())? != Answer::No)
}

/// What a source says of a query.
pub fn execute(query: &Query<'_>, source: &mut dyn Source, options: Options) -> SqlResult<Answer> {
    Execution { query, source, options, steps: runtime::pace::Pace::new() }.tree(0)
}

/// Where the terms match that must all be there, each in a list of its own: a stretch of the document that has a place of each may satisfy the
/// query, and no other can. Nothing if the query is not satisfied, or only by what is not there.
pub(crate) fn locations(query: &Query<'_>, source: &mut dyn Source) -> SqlResult<Vec<Places>> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let options = Options::default();
    let mut run = Execution { query, source, options, steps: runtime::pace::Pace::new() };
    Ok(run.located(0)?.unwrap_or_default())
}

struct Execution<'e, 'q> {
    query: &'e Query<'q>,
    source: &'e mut dyn Source,
    options: Options,
    steps: runtime::pace::Pace,
}

impl Execution<'_, '_> {
    fn look(&mut self) -> SqlResult<()> {
        runtime::check_stack()?;
        self.steps.did(16)
    }

    fn tree(&mut self, at: usize) -> SqlResult<Answer> {
        self.look()?;
        let query = self.query;
        let Some((op, _, left, right)) = query.operator(at) else {
            return Ok(match query.items.get(at) {
                Some(Item::Value(operand)) => self.source.find(at, operand, None),
                _ => Answer::No,
            });
        };
        Ok(match op {
            Op::Not if self.options.skip_not => Answer::Yes,
            Op::Not => match self.tree(right)? {
                Answer::No => Answer::Yes,
                Answer::Maybe => Answer::Maybe,
                Answer::Yes => Answer::No,
            },
            Op::And => match self.tree(left)? {
                Answer::No => Answer::No,
                first => match self.tree(right)? {
                    Answer::Yes => first,
                    second => second,
                },
            },
            Op::Or => match self.tree(left)? {
                Answer::Yes => Answer::Yes,
                first => match self.tree(right)? {
                    Answer::No => first,
                    second => second,
                },
            },
            Op::Phrase => match self.phrase(at, None)? {
                Answer::Maybe if !self.options.phrases_unsure => Answer::No,
                answer => answer,
            },
        })
    }

    /// The tree at `at` as a part of a phrase.
    fn phrase(&mut self, at: usize, places: Option<&mut Places>) -> SqlResult<Answer> {
        self.look()?;
        let query = self.query;
        let Some((op, distance, left, right)) = query.operator(at) else {
            return Ok(match query.items.get(at) {
                Some(Item::Value(operand)) => self.source.find(at, operand, places.map(|p| &mut p.at)),
                _ => Answer::No,
            });
        };
        if op == Op::Not {
            return self.not_in_phrase(right, places);
        }
        let (mut a, mut b) = (Places::default(), Places::default());
        let first = self.phrase(left, Some(&mut a))?;
        if op != Op::Or && first == Answer::No {
            return Ok(Answer::No);
        }
        let second = self.phrase(right, Some(&mut b))?;
        match (first, second) {
            (Answer::No, Answer::No) => return Ok(Answer::No),
            (_, Answer::No) if op != Op::Or => return Ok(Answer::No),
            (Answer::Maybe, _) | (_, Answer::Maybe) => return Ok(Answer::Maybe),
            _ => {}
        }
        if first == Answer::No {
            a.width = 0;
        }
        if second == Answer::No {
            b.width = 0;
        }
        let (shift_a, shift_b, width) = match op {
            Op::Phrase => {
                let distance = i32::from(distance);
                (distance + b.width, 0, distance + a.width + b.width)
            }
            _ => {
                let width = a.width.max(b.width);
                (width - a.width, width - b.width, width)
            }
        };
        let emit = Emit::of(op == Op::Or, a.negated, b.negated);
        let negated = match op {
            Op::Or => a.negated || b.negated,
            _ => a.negated && b.negated,
        };
        let found = merge(&a.at, shift_a, &b.at, shift_b, emit);
        let some = !found.is_empty();
        if let Some(places) = places {
            *places = Places { at: found, negated, width };
        }
        Ok(Answer::of(some || negated))
    }

    /// The lists of a tree that is satisfied.
    fn located(&mut self, at: usize) -> SqlResult<Option<Vec<Places>>> {
        self.look()?;
        let Some((op, _, left, right)) = self.query.operator(at).filter(|(op, ..)| *op != Op::Phrase) else {
            let mut places = Places::default();
            return Ok(match self.phrase(at, Some(&mut places))? {
                Answer::Yes if places.negated => Some(Vec::new()),
                Answer::Yes => Some(vec![places]),
                _ => None,
            });
        };
        if op == Op::Not {
            return Ok(if self.located(right)?.is_some() { None } else { Some(Vec::new()) });
        }
        let first = self.located(left)?;
        if op == Op::And && first.is_none() {
            return Ok(None);
        }
        let second = self.located(right)?;
        Ok(match (first, second) {
            (Some(mut first), Some(second)) if op == Op::And => {
                first.extend(second);
                Some(first)
            }
            (_, None) if op == Op::And => None,
            (None, None) => None,
            (first, second) => Some(self.either(first.unwrap_or_default(), second.unwrap_or_default())?),
        })
    }

    /// Lists of which one place of each is in every stretch that has a place of each of the first lists, or of each of the second.
    fn either(&mut self, first: Vec<Places>, second: Vec<Places>) -> SqlResult<Vec<Places>> {
        if first.is_empty() || second.is_empty() {
            return Ok(if first.is_empty() { second } else { first });
        }
        let mut out = Vec::with_capacity(first.len() * second.len());
        for (a, b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
            let at = merge(&a.at, 0, &b.at, 0, Emit { both: true, first: true, second: true });
            self.steps.did(16 + at.len())?;
            out.push(Places { at, negated: false, width: 0 });
        }
        Ok(out)
    }

    fn not_in_phrase(&mut self, at: usize, places: Option<&mut Places>) -> SqlResult<Answer> {
        let mut inner = Places::default();
        let everywhere = |width| Places { at: Vec::new(), negated: true, width };
        let (answer, outer) = match self.options.skip_not {
            true => (Answer::Yes, everywhere(0)),
            false => match self.phrase(at, Some(&mut inner))? {
                Answer::No => (Answer::Yes, everywhere(inner.width)),
                Answer::Maybe => (Answer::Maybe, Places::default()),
                Answer::Yes if inner.at.is_empty() => (Answer::No, Places { negated: false, ..inner }),
                Answer::Yes => (Answer::Yes, Places { negated: !inner.negated, ..inner }),
            },
        };
        if let Some(places) = places {
            *places = outer;
        }
        Ok(answer)
    }
}

/// Which places a merge gives.
#[derive(Clone, Copy)]
struct Emit {
    both: bool,
    first: bool,
    second: bool,
}

impl Emit {
    /// For OR, or for AND and phrases, of operands of which either may be negated.
    fn of(or: bool, a: bool, b: bool) -> Emit {
        let (both, first, second) = match (or, a, b) {
            (false, false, false) => (true, false, false),
            (false, true, true) => (true, true, true),
            (false, true, false) => (false, false, true),
            (false, false, true) => (false, true, false),
            (true, false, false) => (true, true, true),
            (true, true, true) => (true, false, false),
            (true, true, false) => (false, true, false),
            (true, false, true) => (false, false, true),
        };
        Emit { both, first, second }
    }
}

/// Merges two ascending lists of places, each shifted.
fn merge(a: &[u16], shift_a: i32, b: &[u16], shift_b: i32, emit: Emit) -> Vec<u16> {
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    loop {
        let x = a.get(i).map(|p| i32::from(*p) + shift_a);
        let y = b.get(j).map(|p| i32::from(*p) + shift_b);
        let (place, wanted) = match (x, y) {
            (None, None) => return out,
            (Some(x), Some(y)) if x == y => (x, emit.both),
            (Some(x), y) if y.is_none_or(|y| x < y) => (x, emit.first),
            (_, y) => (y.unwrap_or(0), emit.second),
        };
        i += usize::from(x == Some(place));
        j += usize::from(y == Some(place));
        if wanted && place > 0 {
            out.push(place.min(u16::MAX.into()) as u16);
        }
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
