//! What is done with cubes. Of a cube with fewer dimensions than another, those that it lacks count as 0.

use std::cmp::Ordering;

use super::value::Cube;

fn common(a: &Cube, b: &Cube) -> usize {
    a.dimensions().min(b.dimensions())
}

fn all(a: &Cube, b: &Cube) -> usize {
    a.dimensions().max(b.dimensions())
}

/// Order of two numbers; NaN differs from none.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// Whether a number is surely greater than another: NaN is not.
fn is_above(a: f64, b: f64) -> bool {
    a > b
}

/// By the lower corners, then by the upper ones, then by the number of dimensions: those that both have first, the others as against 0.
pub(super) fn compare(a: &Cube, b: &Cube) -> Ordering {
    let common = common(a, b);
    let corners = |range: std::ops::Range<usize>| {
        let low = range.clone().map(|at| order(a.low(at), b.low(at)));
        let high = range.map(|at| order(a.high(at), b.high(at)));
        low.chain(high).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    corners(0..common)
        .then_with(|| corners(common..all(a, b)))
        .then_with(|| a.dimensions().cmp(&b.dimensions()))
}

pub(super) fn contains(a: &Cube, b: &Cube) -> bool {
    let beyond = (a.dimensions()..b.dimensions()).all(|at| b.one[at] == 0.0 && b.other[at] == 0.0);
    beyond && (0..common(a, b)).all(|at| !is_above(a.low(at), b.low(at)) && !is_above(b.high(at), a.high(at)))
}

pub(super) fn overlaps(a: &Cube, b: &Cube) -> bool {
    (0..all(a, b)).all(|at| !is_above(a.low(at), b.high(at)) && !is_above(b.low(at), a.high(at)))
}

/// The least cube around both.
pub(super) fn union(a: &Cube, b: &Cube) -> Cube {
    let low = |at| a.low(at).min(b.low(at));
    let high = |at| a.high(at).max(b.high(at));
    Cube::between((0..all(a, b)).map(low).collect(), (0..all(a, b)).map(high).collect())
}

/// What lies in both; of cubes that are apart, what lies between them.
pub(super) fn intersection(a: &Cube, b: &Cube) -> Cube {
    let low = |at| a.low(at).max(b.low(at));
    let high = |at| a.high(at).min(b.high(at));
    Cube::between((0..all(a, b)).map(low).collect(), (0..all(a, b)).map(high).collect())
}

/// The volume.
pub(super) fn size(of: &Cube) -> f64 {
    if of.point || of.dimensions() == 0 {
        return 0.0;
    }
    (0..of.dimensions()).map(|at| (of.other[at] - of.one[at]).abs()).product()
}

/// The gaps between two cubes, by dimension.
fn gaps<'a>(a: &'a Cube, b: &'a Cube) -> impl Iterator<Item = f64> + 'a {
    (0..all(a, b)).map(|at| (b.low(at) - a.high(at)).max(a.low(at) - b.high(at)).max(0.0))
}

pub(super) fn distance(a: &Cube, b: &Cube) -> f64 {
    gaps(a, b).map(|gap| gap * gap).sum::<f64>().sqrt()
}

pub(super) fn taxicab(a: &Cube, b: &Cube) -> f64 {
    gaps(a, b).sum()
}

pub(super) fn chebyshev(a: &Cube, b: &Cube) -> f64 {
    gaps(a, b).fold(0.0, f64::max)
}

/// Grows by `by` on all sides, in `dimensions` of them at least; where it would shrink to less than nothing it is the middle.
pub(super) fn enlarged(of: &Cube, by: f64, dimensions: usize) -> Cube {
    let wanted = if by > 0.0 { dimensions } else { 0 };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for at in 0..wanted.max(of.dimensions()) {
        let (low, high) = (of.low(at) - by, of.high(at) + by);
        let middle = (low + high) / 2.0;
        let shrunk = low > high;
        one.push(if shrunk { middle } else { low });
        other.push(if shrunk { middle } else { high });
    }
    Cube::between(one, other)
}
