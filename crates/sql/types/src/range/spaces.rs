//! SP-GiST over ranges: `range_ops`. A range is a point with two coordinates, its bounds; empty ranges are apart.
//!
//! The prefix of an inner tuple is a range: the middles of the lower and of the upper bounds. Nodes: bit 0 is set if the lower bound lies above its middle, bit 1 if the upper one does; the last node is
//! that of empty ranges. Bytes of a part of the space: [`EMPTY`] and [`OTHER`], then four ranges, each behind its length, none without one: lower bounds are between the lower ones of the first two,
//! upper bounds between the upper ones of the last two.

use tuple::space::{Branch, Choice, Division, Space, SpaceClass};
use tuple::tree::{Match, TreeQuery};

use super::trees::{asked, related, strategy};
use super::*;
use crate::geometry::spaces::middle;

/// `range_ops`
pub(crate) static RANGES: Bounds = Bounds;

/// The part has empty ranges.
const EMPTY: u8 = 1;
/// The part has others.
const OTHER: u8 = 2;
/// The node of empty ranges.
const EMPTY_NODE: usize = 4;

/// The class.
#[derive(Debug)]
pub(crate) struct Bounds;

/// Where bounds lie, in prefixes of inner tuples.
#[derive(Clone, Default)]
struct Part {
    has: u8,
    /// Least and greatest lower bound, least and greatest upper bound.
    limits: [Option<Vec<u8>>; 4],
}

impl Part {
    fn read(space: &Space) -> Part {
        let Some((&has, mut left)) = space.split_first() else {
            return Part { has: EMPTY | OTHER, ..Part::default() };
        };
        let mut part = Part { has, ..Part::default() };
        for limit in &mut part.limits {
            let Some((length, tail)) = left.split_first_chunk::<4>() else { break };
            let Some((bytes, tail)) = tail.split_at_checked(u32::from_le_bytes(*length) as usize) else {
                break;
            };
            *limit = (!bytes.is_empty()).then(|| bytes.to_vec());
            left = tail;
        }
        part
    }

    fn written(&self) -> Space {
        let mut out = Space::from_iter([self.has]);
        for limit in &self.limits {
            let bytes = limit.as_deref().unwrap_or_default();
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        }
        out
    }

    /// A limit as a bound; none if there is no limit.
    fn limit(&self, number: usize) -> Option<Bound> {
        let bytes = self.limits[number].as_ref()?;
        let span = Range::from_datum(&Datum::Bytes(Bytes::from(bytes.clone()))).span?;
        Some(if number < 2 { span.lower } else { span.upper })
    }
}

fn middles_of(branch: &Branch<'_>) -> Option<(Shape, Span)> {
    let right = branch.nodes.len() == EMPTY_NODE + 1;
    let Range { shape, span } = Range::from_datum(&Datum::Bytes(Bytes::from(branch.prefix.to_vec())));
    span.filter(|_| right).map(|span| (shape, span))
}

fn node_of(shape: &Shape, of: Option<&Span>, middles: &Span) -> usize {
    let Some(of) = of else { return EMPTY_NODE };
    usize::from(of.lower.order(shape, &middles.lower).is_gt())
        | usize::from(of.upper.order(shape, &middles.upper).is_gt()) << 1
}

impl SpaceClass for Bounds {
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let Some((shape, middles)) = middles_of(&branch) else { return Choice::Nowhere };
        let node = node_of(&shape, Range::from_datum(leaf).span.as_ref(), &middles);
        Choice::Down { node, rest: leaf.clone() }
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let all: Vec<Range> = leaves.iter().map(Range::from_datum).collect();
        let rest = leaves.to_vec();
        let labels = vec![0; EMPTY_NODE + 1];
        let order = |shape: Shape| move |a: &Bound, b: &Bound| a.order(&shape, b);
        let spans = || all.iter().filter_map(|range| Some((range.shape, range.span.as_ref()?)));
        let shape = all.first().map(|range| range.shape);
        let found = shape.and_then(|shape| {
            let lower = middle(spans().map(|(_, span)| span.lower.clone()).collect(), order(shape))?;
            let upper = middle(spans().map(|(_, span)| span.upper.clone()).collect(), order(shape))?;
            Some((shape, Span { lower, upper }))
        });
        let Some((shape, middles)) = found else {
            let node_of = vec![EMPTY_NODE; leaves.len()];
            return Division { prefix: Vec::new(), labels, node_of, rest };
        };
        let mut prefix = Vec::with_capacity(32);
        shape.write(&mut prefix);
        write_span(&shape, Some(&middles), &mut prefix);
        let node_of = all.iter().map(|range| node_of(&shape, range.span.as_ref(), &middles)).collect();
        Division { prefix, labels, node_of, rest }
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        let mut part = Part::read(space);
        if node == EMPTY_NODE {
            return Part { has: EMPTY, ..Part::default() }.written();
        }
        part.has = OTHER;
        // A limit that is set is not behind the one that is there: it lies in the part that is divided.
        part.limits[usize::from(node & 1 == 0)] = Some(branch.prefix.to_vec());
        part.limits[2 + usize::from(node >> 1 == 0)] = Some(branch.prefix.to_vec());
        part.written()
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        let part = Part::read(space);
        let value = asked(query).0;
        let has_empty = part.has & EMPTY != 0;
        let Some(y) = value else {
            return match query.strategy {
                strategy::CONTAINS => true,
                strategy::WITHIN | strategy::EQUALS => has_empty,
                _ => false,
            };
        };
        if query.strategy == strategy::WITHIN && has_empty {
            return true;
        }
        if part.has & OTHER == 0 {
            return false;
        }
        let Some(shape) = part
            .limits
            .iter()
            .flatten()
            .next()
            .map(|bytes| Range::from_datum(&Datum::Bytes(Bytes::from(bytes.clone()))).shape)
        else {
            return true;
        };
        let limits: [Option<Bound>; 4] = std::array::from_fn(|number| part.limit(number));
        // Some bound is at most, or at least, another one; by their values where it matters only what lies between.
        let low =
            |number: usize, of: &Bound| limits[number].as_ref().is_none_or(|l| l.order(&shape, of).is_le());
        let high =
            |number: usize, of: &Bound| limits[number].as_ref().is_none_or(|l| l.order(&shape, of).is_ge());
        let near = |number: usize, of: &Bound| {
            limits[number].as_ref().is_none_or(|l| l.order_values(&shape, of).is_le())
                && limits[number + 1].as_ref().is_none_or(|l| l.order_values(&shape, of).is_ge())
        };
        const LOWER: usize = 0;
        const UPPER: usize = 2;
        match query.strategy {
            strategy::BEFORE => low(UPPER, &y.lower),
            strategy::OVER_LEFT => low(UPPER, &y.upper),
            strategy::OVERLAPS => low(LOWER, &y.upper) && high(UPPER + 1, &y.lower),
            strategy::OVER_RIGHT => high(LOWER + 1, &y.lower),
            strategy::AFTER => high(LOWER + 1, &y.upper),
            strategy::ADJACENT => near(UPPER, &y.lower) || near(LOWER, &y.upper),
            strategy::CONTAINS | strategy::CONTAINS_ELEMENT => {
                low(LOWER, &y.lower) && high(UPPER + 1, &y.upper)
            }
            strategy::WITHIN => high(LOWER + 1, &y.lower) && low(UPPER, &y.upper),
            strategy::EQUALS => {
                low(LOWER, &y.lower)
                    && high(LOWER + 1, &y.lower)
                    && low(UPPER, &y.upper)
                    && high(UPPER + 1, &y.upper)
            }
            _ => false,
        }
    }

    fn meets(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        let Range { shape, span } = Range::from_datum(leaf);
        let value = asked(query).0;
        Match::of(related(query.strategy, &shape, span.as_ref(), value.as_ref()), true)
    }
}
