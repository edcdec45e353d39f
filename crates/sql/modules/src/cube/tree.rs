//! GiST over cubes: `gist_cube_ops`. A key is the least cube around those below it; in a leaf it is the row's.

use std::cmp::Ordering;

use tuple::Datum;
use tuple::tree::{Match, TreeClass, TreeQuery};
use types::value::FromDatum;

use super::geometry::{chebyshev, compare, contains, distance, overlaps, size, taxicab, union};
use super::value::Cube;

/// Strategy numbers.
mod strategy {
    pub const OVERLAPS: u16 = 3;
    pub const SAME: u16 = 6;
    pub const CONTAINS: u16 = 7;
    pub const WITHIN: u16 = 8;
    pub const COORDINATE: u16 = 15;
    pub const TAXICAB: u16 = 16;
    pub const EUCLIDEAN: u16 = 17;
}

/// `gist_cube_ops`
#[derive(Debug)]
pub(super) struct Cubes;

impl TreeClass for Cubes {
    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let (key, of) = (Cube::from_datum(key), Cube::from_datum(query.value));
        let found = match (query.strategy, leaf) {
            (strategy::OVERLAPS, _) | (strategy::WITHIN, false) => overlaps(&key, &of),
            (strategy::SAME, true) => compare(&key, &of).is_eq(),
            (strategy::WITHIN, true) => contains(&of, &key),
            (strategy::CONTAINS | strategy::SAME, _) => contains(&key, &of),
            _ => true,
        };
        Match::of(found, leaf)
    }

    fn union(&self, keys: &[&Datum]) -> Datum {
        let all = keys.iter().map(|key| Cube::from_datum(key)).reduce(|a, b| union(&a, &b));
        all.map_or(Datum::Null, |cube| cube.datum())
    }

    fn same(&self, a: &Datum, b: &Datum) -> bool {
        compare(&Cube::from_datum(a), &Cube::from_datum(b)).is_eq()
    }

    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let key = Cube::from_datum(key);
        let grown = size(&union(&key, &Cube::from_datum(new))) - size(&key);
        if grown.is_finite() { grown.max(0.0) as f32 } else { f32::MAX }
    }

    /// Along the dimension in which the middles lie farthest apart.
    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let cubes: Vec<Cube> = keys.iter().map(|key| Cube::from_datum(key)).collect();
        let middle = |cube: &Cube, at: usize| cube.low(at) / 2.0 + cube.high(at) / 2.0;
        let spread = |at: usize| {
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for cube in &cubes {
                least = least.min(middle(cube, at));
                most = most.max(middle(cube, at));
            }
            most - least
        };
        let dimensions = cubes.iter().map(Cube::dimensions).max().unwrap_or(0);
        let widest = (0..dimensions).max_by(|a, b| spread(*a).total_cmp(&spread(*b))).unwrap_or(0);
        let mut order: Vec<usize> = (0..cubes.len()).collect();
        order.sort_by(|a, b| middle(&cubes[*a], widest).total_cmp(&middle(&cubes[*b], widest)));
        let mut sides = vec![false; cubes.len()];
        order[cubes.len() / 2..].iter().for_each(|at| sides[*at] = true);
        sides
    }

    fn distance(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> (f64, bool) {
        let key = Cube::from_datum(key);
        if query.strategy == strategy::COORDINATE {
            return (least_coordinate(&key, i32::from_datum(query.value), leaf), false);
        }
        let of = Cube::from_datum(query.value);
        let distance = match query.strategy {
            strategy::TAXICAB => taxicab(&key, &of),
            strategy::EUCLIDEAN => distance(&key, &of),
            _ => chebyshev(&key, &of),
        };
        (distance, false)
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        compare(&Cube::from_datum(a), &Cube::from_datum(b))
    }
}

/// What `~>` gives of a cube, or the least that it gives of any within.
fn least_coordinate(key: &Cube, number: i32, leaf: bool) -> f64 {
    let at = (number.unsigned_abs() as usize).wrapping_sub(1);
    let (dimension, upper) = (at / 2, at % 2 == 1);
    match (leaf, number > 0) {
        (true, positive) => {
            let found = if upper { key.high(dimension) } else { key.low(dimension) };
            if positive { found } else { -found }
        }
        (false, true) => key.low(dimension),
        (false, false) => -key.high(dimension),
    }
}
