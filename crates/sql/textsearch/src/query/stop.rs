//! Queries without their stop words, or without what no index can find.

use base::SqlResult;

use super::build::query_of;
use super::{Item, Op, Query};

/// A part of the tree that was looked at: where what is left of it begins, and by how much the words that went widen the distances of phrases
/// to its left and right.
struct Part {
    start: Option<usize>,
    left: u32,
    right: u32,
}

/// The query without its stop words. Phrases around them become wider, so that the other words keep their distances.
pub fn without_stop_words(query: Query<'_>) -> SqlResult<Query<'_>> {
    let mut out: Vec<Item> = Vec::with_capacity(query.items.len());
    let mut parts: Vec<Part> = Vec::new();
    // From the back: operands in front of operators.
    for item in query.items.into_iter().rev() {
        let part = match item {
            Item::Stop => Part { start: None, left: 0, right: 0 },
            Item::Value(_) => {
                out.push(item);
                Part { start: Some(out.len() - 1), left: 0, right: 0 }
            }
            Item::Operator { op: Op::Not, .. } => {
                let part = parts.pop().unwrap_or(Part { start: None, left: 0, right: 0 });
                if part.start.is_some() {
                    out.push(item);
                }
                part
            }
            Item::Operator { op, distance, .. } => {
                let nothing = || Part { start: None, left: 0, right: 0 };
                let right = parts.pop().unwrap_or_else(nothing);
                let left = parts.pop().unwrap_or_else(nothing);
                joined(op, distance, left, right, &mut out)
            }
        };
        parts.push(part);
    }
    query_of(out)
}

/// What is left of an operator and its operands.
fn joined(op: Op, distance: u16, left: Part, right: Part, out: &mut Vec<Item>) -> Part {
    let phrase = op == Op::Phrase;
    let own = if phrase { u32::from(distance) } else { 0 };
    match (left.start, right.start) {
        (None, None) => {
            let width = if phrase { left.left + own + right.left } else { left.left.max(right.left) };
            Part { start: None, left: width, right: width }
        }
        (None, start) => {
            let more = if phrase { left.left + own } else { 0 };
            Part { start, left: more + right.left, right: right.right }
        }
        (start, None) => {
            let more = if phrase { own + right.right } else { 0 };
            Part { start, left: left.left, right: left.right + more }
        }
        (start, Some(_)) => {
            let wider = (own + left.right + right.left).min(i16::MAX as u32) as u16;
            out.push(Item::Operator { op, distance: if phrase { wider } else { 0 }, left: 1 });
            match phrase {
                true => Part { start, left: left.left, right: right.right },
                false => Part { start, left: 0, right: 0 },
            }
        }
    }
}

/// What of a query an index can find: nothing that is negated, and none of an alternative to that.
pub fn indexable(query: Query<'_>) -> SqlResult<Query<'_>> {
    let mut out: Vec<Item> = Vec::with_capacity(query.items.len());
    let mut parts: Vec<(usize, bool)> = Vec::new();
    for item in query.items.into_iter().rev() {
        let part = match item {
            Item::Operator { op: Op::Not, .. } => {
                let (start, _) = parts.pop().unwrap_or_default();
                out.truncate(start);
                (start, false)
            }
            Item::Operator { op, .. } => {
                let (_, right) = parts.pop().unwrap_or_default();
                let (start, left) = parts.pop().unwrap_or_default();
                if left && right {
                    out.push(item);
                } else if op == Op::Or {
                    out.truncate(start);
                }
                (start, if op == Op::Or { left && right } else { left || right })
            }
            item => {
                out.push(item);
                (out.len() - 1, true)
            }
        };
        parts.push(part);
    }
    query_of(out)
}
