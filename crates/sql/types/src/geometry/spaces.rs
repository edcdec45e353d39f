//! SP-GiST over geometric types: `quad_point_ops`, `kd_point_ops`, `box_ops`, `poly_ops`. A value is a point of a space with two dimensions, or with four if it is a rectangle: where it begins and
//! ends on each axis. A part of the space is an interval in each dimension. Rows of polygons, which are known by the rectangles around them, are asked again.

use tuple::space::{Branch, Choice, Division, LeafMatcher, Space, SpaceClass};
use tuple::tree::{Match, TreeQuery};

use super::trees::{bounds_of_polygon, distance, related, stored, strategy, touches};
use super::*;

/// `quad_point_ops`
pub(crate) static QUAD_POINTS: Points = Points { axes: Axes::Both };
/// `kd_point_ops`
pub(crate) static KD_POINTS: Points = Points { axes: Axes::One };
/// `box_ops`
pub(crate) static BOXES: Boxes = Boxes { polygons: false };
/// `poly_ops`
pub(crate) static POLYGONS: Boxes = Boxes { polygons: true };

/// Whether one coordinate may be at most another one as some operator compares. Operators have a tolerance, or have not; NaN is taken for anything.
fn may_be_at_most(a: f64, b: f64) -> bool {
    a.is_nan() || b.is_nan() || a <= b + 2.0 * EPSILON
}

/// Where to divide numbers in two: there are some above it, unless all are the same.
pub(crate) fn middle<T: Clone>(
    mut values: Vec<T>,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Option<T> {
    values.sort_by(&order);
    let (middle, last) = (values.get(values.len().saturating_sub(1) / 2)?, values.last()?);
    if order(middle, last).is_lt() {
        return Some(middle.clone());
    }
    let below = values.iter().rev().find(|value| order(value, middle).is_lt());
    Some(below.unwrap_or(middle).clone())
}

fn middle_of(values: impl Iterator<Item = f64>) -> f64 {
    middle(values.collect(), |a, b| compare_floats(*a, *b)).unwrap_or_default()
}

fn above(value: f64, middle: f64) -> bool {
    compare_floats(value, middle).is_gt()
}

/// Intervals, one for each of `N` dimensions.
#[derive(Clone, Copy)]
struct Part<const N: usize> {
    low: [f64; N],
    high: [f64; N],
}

impl<const N: usize> Part<N> {
    const WHOLE: Part<N> = Part { low: [f64::NEG_INFINITY; N], high: [f64::INFINITY; N] };

    fn read(space: &Space) -> Part<N> {
        let mut part = Part::WHOLE;
        for (i, value) in doubles(space).enumerate().take(2 * N) {
            if i < N { part.low[i] = value } else { part.high[i - N] = value }
        }
        part
    }

    fn written(self) -> Space {
        self.low.iter().chain(&self.high).flat_map(|value| value.to_le_bytes()).collect()
    }

    /// The part above the middle of a dimension, or the other one.
    fn halve(&mut self, dimension: usize, middle: f64, upper: bool) {
        if upper {
            self.low[dimension] = larger(self.low[dimension], middle);
        } else {
            self.high[dimension] = smaller(self.high[dimension], middle);
        }
    }

    /// Whether it may have values as near to these as operators for equality ask.
    fn may_have(&self, values: [f64; N]) -> bool {
        (0..N).all(|i| may_be_at_most(self.low[i], values[i]) && may_be_at_most(values[i], self.high[i]))
    }
}

/// Divides points of a space in all dimensions.
fn divide<const N: usize>(points: &[[f64; N]], leaves: &[Datum]) -> Division {
    let middles: [f64; N] = std::array::from_fn(|i| middle_of(points.iter().map(|point| point[i])));
    Division {
        prefix: middles.iter().flat_map(|value| value.to_le_bytes()).collect(),
        labels: vec![0; 1 << N],
        node_of: points.iter().map(|point| node_of(point, &middles)).collect(),
        rest: leaves.to_vec(),
    }
}

fn node_of<const N: usize>(point: &[f64; N], middles: &[f64; N]) -> usize {
    (0..N).filter(|&i| above(point[i], middles[i])).map(|i| 1 << i).sum()
}

/// The middles of an inner tuple that divides in all dimensions; none if it is no such tuple.
fn middles_of<const N: usize>(branch: &Branch<'_>) -> Option<[f64; N]> {
    let right = branch.prefix.len() == 8 * N && branch.nodes.len() == 1 << N;
    let mut values = doubles(branch.prefix);
    right.then(|| std::array::from_fn(|_| values.next().unwrap_or_default()))
}

fn part_of<const N: usize>(branch: &Branch<'_>, node: usize, space: &Space) -> Part<N> {
    let mut part = Part::read(space);
    if let Some(middles) = middles_of::<N>(branch) {
        (0..N).for_each(|i| part.halve(i, middles[i], node >> i & 1 == 1));
    }
    part
}

/// Which axes an inner tuple divides.
#[derive(Debug)]
enum Axes {
    Both,
    One,
}

/// A class of points.
#[derive(Debug)]
pub(crate) struct Points {
    axes: Axes,
}

fn coordinates(point: &Datum) -> [f64; 2] {
    let Point { x, y } = Point::from_datum(point);
    [x, y]
}

/// Axis and middle of an inner tuple that divides one axis: bytes of its prefix.
fn axis_of(branch: &Branch<'_>) -> Option<(usize, f64)> {
    let (axis, middle) = branch.prefix.split_first()?;
    let right = *axis < 2 && middle.len() == 8 && branch.nodes.len() == 2;
    right.then(|| (usize::from(*axis), doubles(middle).next().unwrap_or_default()))
}

fn at(point: Point) -> Box2 {
    Box2 { high: point, low: point }
}

/// The area that a query of points is about.
fn asked_of_points(query: TreeQuery<'_>) -> Box2 {
    match query.strategy {
        strategy::WITHIN => Box2::from_datum(query.value),
        _ => at(Point::from_datum(query.value)),
    }
}

fn point_meets(point: Point, number: u16, asked: Box2) -> Match {
    let satisfied = match number {
        strategy::WITHIN => touches(at(point), asked),
        other => related(other, at(point), asked),
    };
    Match::of(satisfied, true)
}

impl SpaceClass for Points {
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let point = coordinates(leaf);
        let node = match self.axes {
            Axes::Both => middles_of(&branch).map(|middles| node_of(&point, &middles)),
            Axes::One => axis_of(&branch).map(|(axis, middle)| usize::from(above(point[axis], middle))),
        };
        node.map_or(Choice::Nowhere, |node| Choice::Down { node, rest: leaf.clone() })
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let points: Vec<[f64; 2]> = leaves.iter().map(coordinates).collect();
        if matches!(self.axes, Axes::Both) {
            return divide(&points, leaves);
        }
        // Along the axis on which they lie further apart.
        let extent = |axis: usize| {
            let finite = points.iter().map(|point| point[axis]).filter(|value| value.is_finite());
            let (low, high) = finite.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            high - low
        };
        let divided = |axis: usize| {
            let middle = middle_of(points.iter().map(|point| point[axis]));
            let mut prefix = vec![axis as u8];
            prefix.extend(middle.to_le_bytes());
            let node_of = points.iter().map(|point| usize::from(above(point[axis], middle))).collect();
            Division { prefix, labels: vec![0; 2], node_of, rest: leaves.to_vec() }
        };
        let first = usize::from(extent(1) > extent(0));
        let division = divided(first);
        // Only NaN or infinity may tell them apart.
        if division.node_of.contains(&1) { division } else { divided(1 - first) }
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        match self.axes {
            Axes::Both => part_of::<2>(&branch, node, space).written(),
            Axes::One => {
                let mut part = Part::<2>::read(space);
                if let Some((axis, middle)) = axis_of(&branch) {
                    part.halve(axis, middle, node == 1);
                }
                part.written()
            }
        }
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        let part = Part::<2>::read(space);
        if query.strategy == strategy::WITHIN {
            let area = Box2::from_datum(query.value);
            return (0..2).all(|i| {
                let (low, high) = if i == 0 { (area.low.x, area.high.x) } else { (area.low.y, area.high.y) };
                may_be_at_most(part.low[i], high) && may_be_at_most(low, part.high[i])
            });
        }
        let point = coordinates(query.value);
        match query.strategy {
            strategy::LEFT => may_be_at_most(part.low[0], point[0]),
            strategy::RIGHT => may_be_at_most(point[0], part.high[0]),
            strategy::BELOW | strategy::OLD_BELOW => may_be_at_most(part.low[1], point[1]),
            strategy::ABOVE | strategy::OLD_ABOVE => may_be_at_most(point[1], part.high[1]),
            strategy::SAME => part.may_have(point),
            _ => false,
        }
    }

    fn meets(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        point_meets(Point::from_datum(leaf), query.strategy, asked_of_points(query))
    }

    fn matcher<'a>(&'a self, query: TreeQuery<'a>) -> Option<LeafMatcher<'a>> {
        let (number, asked) = (query.strategy, asked_of_points(query));
        Some(Box::new(move |_, leaf| {
            let [x, y] = floats(leaf);
            point_meets(Point { x, y }, number, asked)
        }))
    }

    fn least_distance(&self, space: &Space, query: TreeQuery<'_>) -> f64 {
        let Part { low, high } = Part::<2>::read(space);
        let area = Box2 { high: Point { x: high[0], y: high[1] }, low: Point { x: low[0], y: low[1] } };
        least(area, query)
    }

    fn distance(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> (f64, bool) {
        (distance(at(Point::from_datum(leaf)), Point::from_datum(query.value)), false)
    }
}

/// The least distance from a rectangle of the values in it.
fn least(area: Box2, query: TreeQuery<'_>) -> f64 {
    let found = distance(area, Point::from_datum(query.value));
    if found.is_nan() { 0.0 } else { found }
}

/// A class of rectangles, or of what they are around.
#[derive(Debug)]
pub(crate) struct Boxes {
    polygons: bool,
}

/// Dimensions of rectangles.
const LOW_X: usize = 0;
const HIGH_X: usize = 1;
const LOW_Y: usize = 2;
const HIGH_Y: usize = 3;

fn sides(of: Box2) -> [f64; 4] {
    [of.low.x, of.high.x, of.low.y, of.high.y]
}

/// Whether a rectangle in a part of their space may be related to `b` in this way.
fn may_be_related(number: u16, part: &Part<4>, b: Box2) -> bool {
    let b = sides(b);
    // Some rectangle's side is at most that of `b`; some one's is at least that.
    let low = |side: usize, of: usize| may_be_at_most(part.low[side], b[of]);
    let high = |side: usize, of: usize| may_be_at_most(b[of], part.high[side]);
    match number {
        strategy::LEFT => low(HIGH_X, LOW_X),
        strategy::OVER_LEFT => low(HIGH_X, HIGH_X),
        strategy::OVERLAPS => {
            low(LOW_X, HIGH_X) && high(HIGH_X, LOW_X) && low(LOW_Y, HIGH_Y) && high(HIGH_Y, LOW_Y)
        }
        strategy::OVER_RIGHT => high(LOW_X, LOW_X),
        strategy::RIGHT => high(LOW_X, HIGH_X),
        strategy::SAME => part.may_have(b),
        strategy::CONTAINS => {
            low(LOW_X, LOW_X) && high(HIGH_X, HIGH_X) && low(LOW_Y, LOW_Y) && high(HIGH_Y, HIGH_Y)
        }
        strategy::WITHIN => {
            high(LOW_X, LOW_X) && low(HIGH_X, HIGH_X) && high(LOW_Y, LOW_Y) && low(HIGH_Y, HIGH_Y)
        }
        strategy::OVER_BELOW => low(HIGH_Y, HIGH_Y),
        strategy::BELOW => low(HIGH_Y, LOW_Y),
        strategy::ABOVE => high(LOW_Y, HIGH_Y),
        strategy::OVER_ABOVE => high(LOW_Y, LOW_Y),
        _ => false,
    }
}

impl Boxes {
    fn asked(&self, query: TreeQuery<'_>) -> Box2 {
        match self.polygons {
            true => bounds_of_polygon(query.value),
            false => Box2::from_datum(query.value),
        }
    }

    fn box_meets(&self, leaf: Box2, number: u16, asked: Box2) -> Match {
        if !self.polygons {
            return Match::of(related(number, leaf, asked), true);
        }
        let sides = sides(leaf);
        Match::of(may_be_related(number, &Part { low: sides, high: sides }, asked), false)
    }
}

impl SpaceClass for Boxes {
    fn leaf(&self, value: &Datum) -> Datum {
        if self.polygons { stored(bounds_of_polygon(value)) } else { value.clone() }
    }

    fn returns(&self) -> bool {
        !self.polygons
    }

    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice {
        let sides = sides(Box2::from_datum(leaf));
        middles_of(&branch).map_or(Choice::Nowhere, |middles| Choice::Down {
            node: node_of(&sides, &middles),
            rest: leaf.clone(),
        })
    }

    fn divide(&self, leaves: &[Datum]) -> Division {
        let points: Vec<[f64; 4]> = leaves.iter().map(|leaf| sides(Box2::from_datum(leaf))).collect();
        divide(&points, leaves)
    }

    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space {
        part_of::<4>(&branch, node, space).written()
    }

    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool {
        may_be_related(query.strategy, &Part::read(space), self.asked(query))
    }

    fn meets(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match {
        self.box_meets(Box2::from_datum(leaf), query.strategy, self.asked(query))
    }

    fn matcher<'a>(&'a self, query: TreeQuery<'a>) -> Option<LeafMatcher<'a>> {
        let (number, asked) = (query.strategy, self.asked(query));
        Some(Box::new(move |_, leaf| self.box_meets(Box2::of_bytes(leaf), number, asked)))
    }

    fn least_distance(&self, space: &Space, query: TreeQuery<'_>) -> f64 {
        let Part { low, high } = Part::<4>::read(space);
        let area = Box2 {
            high: Point { x: high[HIGH_X], y: high[HIGH_Y] },
            low: Point { x: low[LOW_X], y: low[LOW_Y] },
        };
        least(area, query)
    }

    fn distance(&self, _space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> (f64, bool) {
        (distance(Box2::from_datum(leaf), Point::from_datum(query.value)), self.polygons)
    }
}
