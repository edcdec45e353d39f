//! # What
//! How far join orders are searched: `from_collapse_limit` and `join_collapse_limit`. FROM is kept as it was written ([`Shape`]); where it has more
//! relations than the limits allow, some of them are joined among themselves first ([`Problem`]), each such group with a search of its own.
//!
//! # PostgreSQL counterpart and differences
//! `deconstruct_recurse`. The sides of a FULL join are no groups here: that its order matters is known of it anyway.

use crate::expr::RelId;
use crate::logical::From;
use crate::relset::RelSet;

/// An item of FROM as it was written, subqueries that were merged in their places.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A relation.
    Rel(RelId),
    /// JOIN: what is on its two sides.
    Join(Vec<Shape>, Vec<Shape>),
    /// FROM of a subquery that was merged.
    Merged(Vec<Shape>),
}

impl Shape {
    /// FROM as it is now.
    pub fn of(items: &[From]) -> Vec<Shape> {
        let shape = |item: &From| match item {
            From::Rel(rel) => Shape::Rel(*rel),
            From::Join { left, right, .. } => Shape::Join(Shape::of(left), Shape::of(right)),
        };
        items.iter().map(shape).collect()
    }

    /// A subquery has been merged.
    pub fn merge(items: &mut [Shape], rel: RelId, inner: &[Shape]) {
        for item in items {
            match item {
                Shape::Rel(known) if *known == rel => *item = Shape::Merged(inner.to_vec()),
                Shape::Rel(_) => {}
                Shape::Join(left, right) => {
                    Shape::merge(left, rel, inner);
                    Shape::merge(right, rel, inner);
                }
                Shape::Merged(items) => Shape::merge(items, rel, inner),
            }
        }
    }
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `from_collapse_limit`
    pub from: usize,
    /// `join_collapse_limit`
    pub join: usize,
}

/// What is joined in one search.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A relation.
    Rel(RelId),
    /// Some that are joined among themselves before.
    Group(Vec<Problem>),
}

/// Which relations may be joined with which. Relations that the query did not name in FROM, as those of sublinks, may be joined anywhere.
pub fn problem(written: &[Shape], rels: RelSet, limits: Limits) -> Vec<Problem> {
    let count = rels.iter().count();
    let flat = count <= limits.from.min(limits.join);
    let mut parts = if flat { Vec::new() } else { parts_of(written, rels, limits) };
    let placed = parts.iter().fold(RelSet::EMPTY, |set, part| set | part.rels());
    parts.extend((rels - placed).iter().map(Problem::Rel));
    parts
}

impl Problem {
    fn rels(&self) -> RelSet {
        match self {
            Problem::Rel(rel) => RelSet::one(*rel),
            Problem::Group(parts) => parts.iter().fold(RelSet::EMPTY, |set, part| set | part.rels()),
        }
    }
}

/// A list of FROM.
fn parts_of(items: &[Shape], rels: RelSet, limits: Limits) -> Vec<Problem> {
    let mut out = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let inner = parts_of_item(item, rels, limits);
        let left = items.len() - number - 1;
        match out.len() + inner.len() + left <= limits.from {
            true => out.extend(inner),
            false => out.extend(grouped(inner)),
        }
    }
    out
}

fn parts_of_item(item: &Shape, rels: RelSet, limits: Limits) -> Vec<Problem> {
    match item {
        Shape::Rel(rel) => Vec::from_iter(rels.contains(*rel).then_some(Problem::Rel(*rel))),
        Shape::Merged(items) => parts_of(items, rels, limits),
        Shape::Join(left, right) => {
            let (left, right) = (parts_of_side(left, rels, limits), parts_of_side(right, rels, limits));
            match left.len() + right.len() <= limits.join {
                true => left.into_iter().chain(right).collect(),
                false => [left, right].into_iter().flat_map(grouped).collect(),
            }
        }
    }
}

/// A side of a JOIN counts as a FROM list of its own only if it was flattened into one.
fn parts_of_side(items: &[Shape], rels: RelSet, limits: Limits) -> Vec<Problem> {
    match items {
        [item] => parts_of_item(item, rels, limits),
        items => parts_of(items, rels, limits),
    }
}

/// Several parts as one.
fn grouped(parts: Vec<Problem>) -> Option<Problem> {
    match parts.len() {
        0 | 1 => parts.into_iter().next(),
        _ => Some(Problem::Group(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parts: &[Problem]) -> String {
        let part = |part: &Problem| match part {
            Problem::Rel(rel) => rel.to_string(),
            Problem::Group(parts) => format!("({})", text(parts)),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn beyond_the_limits_some_stay_together() {
        let rel = Shape::Rel;
        let written = [
            rel(0),
            Shape::Join(vec![Shape::Join(vec![rel(1)], vec![rel(2)])], vec![rel(3)]),
            Shape::Merged(vec![rel(4), rel(5)]),
        ];
        let rels = (0..7).fold(RelSet::EMPTY, |set, rel| set | RelSet::one(rel));
        let with = |from, join| text(&problem(&written, rels, Limits { from, join }));
        assert_eq!(with(8, 8), "0 1 2 3 4 5 6");
        assert_eq!(with(8, 1), "0 (1 2) 3 4 5 6");
        assert_eq!(with(8, 2), "0 (1 2) 3 4 5 6");
        assert_eq!(with(5, 8), "0 1 2 3 (4 5) 6");
        assert_eq!(with(1, 8), "0 (1 2 3) (4 5) 6");
    }
}
