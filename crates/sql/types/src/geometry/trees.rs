//! GiST over geometric types: `box_ops`, `point_ops`, `poly_ops`, `circle_ops`. All keys are rectangles; those of points have no extent, those of polygons and circles bound
//! them, so that rows are asked again.

use std::cmp::Ordering;

use tuple::sortable_float;
use tuple::tree::{Costs, Match, Matcher, TreeClass, TreeQuery};

use super::*;

/// `box_ops`
pub(crate) static BOXES: Rectangles = Rectangles { of: Of::Box };
/// `point_ops`
pub(crate) static POINTS: Rectangles = Rectangles { of: Of::Point };
/// `poly_ops`
pub(crate) static POLYGONS: Rectangles = Rectangles { of: Of::Polygon };
/// `circle_ops`
pub(crate) static CIRCLES: Rectangles = Rectangles { of: Of::Circle };

/// Strategy numbers.
pub(super) mod strategy {
    pub const LEFT: u16 = 1;
    pub const OVER_LEFT: u16 = 2;
    pub const OVERLAPS: u16 = 3;
    pub const OVER_RIGHT: u16 = 4;
    pub const RIGHT: u16 = 5;
    pub const SAME: u16 = 6;
    pub const CONTAINS: u16 = 7;
    pub const WITHIN: u16 = 8;
    pub const OVER_BELOW: u16 = 9;
    pub const BELOW: u16 = 10;
    pub const ABOVE: u16 = 11;
    pub const OVER_ABOVE: u16 = 12;
    pub const OLD_BELOW: u16 = 29;
    pub const OLD_ABOVE: u16 = 30;
    /// Points within boxes, polygons, circles.
    pub const IN_BOX: u16 = 28;
    pub const IN_POLYGON: u16 = 48;
    pub const IN_CIRCLE: u16 = 68;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Box,
    Point,
    Polygon,
    Circle,
}

/// A class whose keys are rectangles.
#[derive(Debug)]
pub(crate) struct Rectangles {
    of: Of,
}

fn bounds_of(circle: Circle) -> Box2 {
    let Circle { center, radius } = circle;
    Box2 {
        high: Point { x: center.x + radius, y: center.y + radius },
        low: Point { x: center.x - radius, y: center.y - radius },
    }
}

pub(super) fn bounds_of_polygon(value: &Datum) -> Box2 {
    Box2::bounding(&Polygon::from_datum(value).points)
}

fn at(point: Point) -> Box2 {
    Box2 { high: point, low: point }
}

pub(super) fn stored(area: Box2) -> Datum {
    // Doubles always have a payload.
    area.into_datum().unwrap_or_default()
}

/// Whether two rectangles are related in this way.
pub(super) fn related(strategy: u16, a: Box2, b: Box2) -> bool {
    match strategy {
        strategy::LEFT => near::less(a.high.x, b.low.x),
        strategy::OVER_LEFT => near::at_most(a.high.x, b.high.x),
        strategy::OVERLAPS => a.overlaps(b),
        strategy::OVER_RIGHT => near::at_least(a.low.x, b.low.x),
        strategy::RIGHT => near::above(a.low.x, b.high.x),
        strategy::SAME => a.high.same(b.high) && a.low.same(b.low),
        strategy::CONTAINS => a.contains(b),
        strategy::WITHIN => b.contains(a),
        strategy::OVER_BELOW => near::at_most(a.high.y, b.high.y),
        strategy::BELOW | strategy::OLD_BELOW => near::less(a.high.y, b.low.y),
        strategy::ABOVE | strategy::OLD_ABOVE => near::above(a.low.y, b.high.y),
        strategy::OVER_ABOVE => near::at_least(a.low.y, b.low.y),
        _ => false,
    }
}

/// Whether a rectangle within `key` may be related to `b` in this way.
fn may_be_related(strategy: u16, key: Box2, b: Box2) -> bool {
    match strategy {
        strategy::LEFT => !related(strategy::OVER_RIGHT, key, b),
        strategy::OVER_LEFT => !related(strategy::RIGHT, key, b),
        strategy::OVER_RIGHT => !related(strategy::LEFT, key, b),
        strategy::RIGHT => !related(strategy::OVER_LEFT, key, b),
        strategy::SAME | strategy::CONTAINS => key.contains(b),
        strategy::OVERLAPS | strategy::WITHIN => key.overlaps(b),
        strategy::OVER_BELOW => !related(strategy::ABOVE, key, b),
        strategy::BELOW | strategy::OLD_BELOW => !related(strategy::OVER_ABOVE, key, b),
        strategy::ABOVE | strategy::OLD_ABOVE => !related(strategy::OVER_BELOW, key, b),
        strategy::OVER_ABOVE => !related(strategy::BELOW, key, b),
        _ => false,
    }
}

pub(super) fn touches(a: Box2, b: Box2) -> bool {
    a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y
}

/// Whether a key of points matches; `value` bounds what is asked.
fn point_matches(key: Box2, number: u16, value: Box2, leaf: bool) -> Match {
    match number {
        strategy::IN_BOX => Match::of(touches(key, value), true),
        strategy::IN_POLYGON | strategy::IN_CIRCLE => Match::of(key.overlaps(value), false),
        other if leaf => Match::of(related(other, key, value), true),
        strategy::SAME => Match::of(key.overlaps(value), true),
        other => {
            let p = value.high;
            Match::of(
                match other {
                    strategy::LEFT => near::less(key.low.x, p.x),
                    strategy::RIGHT => near::above(key.high.x, p.x),
                    strategy::BELOW | strategy::OLD_BELOW => near::less(key.low.y, p.y),
                    strategy::ABOVE | strategy::OLD_ABOVE => near::above(key.high.y, p.y),
                    _ => false,
                },
                true,
            )
        }
    }
}

/// Distance of a point from a rectangle.
pub(super) fn distance(area: Box2, p: Point) -> f64 {
    let gap = |low: f64, high: f64, at: f64| {
        if at < low {
            low - at
        } else if at > high {
            at - high
        } else if low.is_nan() || high.is_nan() || at.is_nan() {
            f64::NAN
        } else {
            0.0
        }
    };
    hypotenuse(gap(area.low.x, area.high.x, p.x), gap(area.low.y, area.high.y, p.y)).unwrap_or(f64::INFINITY)
}

fn area(of: Box2) -> f64 {
    (of.high.x - of.low.x) * (of.high.y - of.low.y)
}

/// By how much a rectangle would grow: its area, and where that stays 0 its sides.
fn growth(key: Box2, new: Box2) -> f32 {
    let within = key.low.x <= new.low.x
        && key.low.y <= new.low.y
        && new.high.x <= key.high.x
        && new.high.y <= key.high.y;
    if within {
        return 0.0;
    }
    let both = Box2::bounding(&[key.high, key.low, new.high, new.low]);
    let growth = area(both) - area(key);
    let sides = |of: Box2| of.high.x - of.low.x + of.high.y - of.low.y;
    let found = if growth == 0.0 { sides(both) - sides(key) } else { growth };
    if found.is_nan() { f32::MAX } else { found as f32 }
}

fn middle(of: Box2) -> [f64; 2] {
    [of.low.x / 2.0 + of.high.x / 2.0, of.low.y / 2.0 + of.high.y / 2.0]
}

/// The upper bits of a number that sorts as the coordinate does.
fn sortable(value: f64) -> u32 {
    (sortable_float(value) >> 32) as u32
}

/// Bits with a gap behind each.
fn spread(bits: u32) -> u64 {
    let mut x = u64::from(bits);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555u64),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// Place on the curve that goes through the plane in the form of a Z.
fn curve(of: Box2) -> u64 {
    let [x, y] = middle(of);
    spread(sortable(x)) | spread(sortable(y)) << 1
}

impl Rectangles {
    /// What bounds the value that keys are asked about.
    fn asked(&self, query: TreeQuery<'_>) -> Box2 {
        match (self.of, query.strategy) {
            (Of::Box, _) | (Of::Point, strategy::IN_BOX) => Box2::from_datum(query.value),
            (Of::Polygon, _) | (Of::Point, strategy::IN_POLYGON) => bounds_of_polygon(query.value),
            (Of::Circle, _) | (Of::Point, strategy::IN_CIRCLE) => bounds_of(Circle::from_datum(query.value)),
            (Of::Point, _) => at(Point::from_datum(query.value)),
        }
    }

    fn matches(&self, key: Box2, number: u16, value: Box2, leaf: bool) -> Match {
        match self.of {
            Of::Point => point_matches(key, number, value, leaf),
            Of::Box if leaf => Match::of(related(number, key, value), true),
            of => Match::of(may_be_related(number, key, value), of == Of::Box),
        }
    }
}

impl TreeClass for Rectangles {
    fn compress(&self, value: &Datum) -> Datum {
        match self.of {
            Of::Box => value.clone(),
            Of::Point => stored(at(Point::from_datum(value))),
            Of::Polygon => stored(bounds_of_polygon(value)),
            Of::Circle => stored(bounds_of(Circle::from_datum(value))),
        }
    }

    fn returns(&self) -> bool {
        matches!(self.of, Of::Box | Of::Point)
    }

    fn fetch(&self, key: &Datum) -> Datum {
        match self.of {
            Of::Point => Box2::from_datum(key).high.into_datum().unwrap_or_default(),
            _ => key.clone(),
        }
    }

    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        self.matches(Box2::from_datum(key), query.strategy, self.asked(query), leaf)
    }

    fn matcher<'a>(&'a self, query: TreeQuery<'a>) -> Option<Matcher<'a>> {
        let (number, value) = (query.strategy, self.asked(query));
        Some(Box::new(move |key, leaf| self.matches(Box2::of_bytes(key), number, value, leaf)))
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let both = |all: Box2, area: Box2| Box2::bounding(&[all.high, all.low, area.high, area.low]);
        keys.iter().map(|key| Box2::from_datum(key)).reduce(both).map_or(Datum::Null, stored)
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        let (a, b) = (Box2::from_datum(a), Box2::from_datum(b));
        let equal = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        equal(a.high.x, b.high.x)
            && equal(a.high.y, b.high.y)
            && equal(a.low.x, b.low.x)
            && equal(a.low.y, b.low.y)
    }

    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        growth(Box2::from_datum(key), Box2::from_datum(new))
    }

    fn costs<'a>(&'a self, new: &'a Datum) -> Option<Costs<'a>> {
        let new = Box2::from_datum(new);
        Some(Box::new(move |key| growth(Box2::of_bytes(key), new)))
    }

    fn penalties<'a>(&'a self, new: &'a Datum) -> Box<dyn Fn(&Datum) -> f32 + 'a> {
        let new = Box2::from_datum(new);
        Box::new(move |key| growth(Box2::from_datum(key), new))
    }

    /// Half of them on either side of the middle, along the axis on which they lie further apart.
    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let middles: Vec<[f64; 2]> = keys.iter().map(|key| middle(Box2::from_datum(key))).collect();
        let extent = |axis: usize| {
            let finite = middles.iter().map(|m| m[axis]).filter(|v| v.is_finite());
            let (low, high) = finite.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            high - low
        };
        let axis = usize::from(extent(1) > extent(0));
        halves(keys.len(), |a, b| middles[a][axis].total_cmp(&middles[b][axis]))
    }

    fn distance(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> (f64, bool) {
        let exact = matches!(self.of, Of::Point | Of::Box);
        (distance(Box2::from_datum(key), Point::from_datum(query.value)), !exact)
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        self.place(a).cmp(&self.place(b))
    }

    fn place(&self, key: &Datum) -> u64 {
        curve(Box2::from_datum(key))
    }
}

/// Distributes `count` keys: the greater half goes to the right.
pub(crate) fn halves(count: usize, order: impl Fn(usize, usize) -> Ordering) -> Vec<bool> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| order(a, b));
    let mut sides = vec![false; count];
    places[count / 2..].iter().for_each(|&i| sides[i] = true);
    sides
}
