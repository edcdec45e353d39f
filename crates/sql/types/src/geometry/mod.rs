//! # What
//! The plane: `point`, `lseg`, `line`, `box`, `path`, `polygon`, `circle`.
//!
//! # Layout
//! Payloads are doubles, little-endian, in the order of the fields: `point` x, y; `lseg` two points; `line` A, B, C; `box` upper
//! right and lower left corner; `circle` centre and radius; `polygon` its points; `path` a byte 1 if it is closed, then its points.
//!
//! # Invariants
//! 1. A `box` has its corners in order: no coordinate of the first is below that of the second (NaN aside).
//! 2. A `line` has A or B above the tolerance; a `polygon` and a `path` have a point at least.
//!
//! # PostgreSQL counterpart and differences
//! `geo_ops.c`. Coordinates that differ by [`EPSILON`] or less are the same to most operators, as there. Arithmetic fails on
//! overflow like that of `float8`. A polygon's bounding box is not stored but computed.

use base::{SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::{
    compare::compare_floats,
    float::{add, div, mul, sub},
    registry::types::TypeImp,
    value::{FromDatum, IntoDatum},
};

pub(crate) mod boxes;
pub(crate) mod circle;
pub(crate) mod line;
pub(crate) mod path;
pub(crate) mod point;
pub(crate) mod polygon;
pub(crate) mod segment;
pub(crate) mod spaces;
mod text;
pub(crate) mod trees;

pub(crate) use boxes::{Box2, FUNCTIONS as BOX_FUNCTIONS};
pub(crate) use circle::{Circle, FUNCTIONS as CIRCLE_FUNCTIONS};
pub(crate) use line::{FUNCTIONS as LINE_FUNCTIONS, Line};
pub(crate) use path::{FUNCTIONS as PATH_FUNCTIONS, Path};
pub(crate) use point::{FUNCTIONS as POINT_FUNCTIONS, Point};
pub(crate) use polygon::{FUNCTIONS as POLYGON_FUNCTIONS, Polygon};
pub(crate) use segment::{FUNCTIONS as SEGMENT_FUNCTIONS, Segment};

/// What all types of the plane share.
const GEOMETRY: TypeImp = TypeImp {
    send: |_, value, _, out| {
        text::send_doubles(<&[u8]>::from_datum(value), out);
        Ok(())
    },
    ..TypeImp::NONE
};

/// What two coordinates may differ by and still be the same.
pub(crate) const EPSILON: f64 = 1.0e-6;

/// Comparisons with the tolerance.
pub(crate) mod near {
    use super::EPSILON;

    pub fn zero(a: f64) -> bool {
        a.abs() <= EPSILON
    }

    pub fn equal(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= EPSILON
    }

    pub fn different(a: f64, b: f64) -> bool {
        a != b && (a - b).abs() > EPSILON
    }

    pub fn less(a: f64, b: f64) -> bool {
        a + EPSILON < b
    }

    pub fn at_most(a: f64, b: f64) -> bool {
        a <= b + EPSILON
    }

    pub fn above(a: f64, b: f64) -> bool {
        a > b + EPSILON
    }

    pub fn at_least(a: f64, b: f64) -> bool {
        a + EPSILON >= b
    }
}

/// Whether two coordinates are the same double: NaN is itself.
pub(crate) fn exactly(a: f64, b: f64) -> bool {
    compare_floats(a, b).is_eq()
}

/// Length of the hypotenuse, without overflow on the way.
pub(crate) fn hypotenuse(a: f64, b: f64) -> SqlResult<f64> {
    if a.is_infinite() || b.is_infinite() {
        return Ok(f64::INFINITY);
    }
    if a.is_nan() || b.is_nan() {
        return Ok(f64::NAN);
    }
    let (a, b) = (a.abs(), b.abs());
    let (long, short) = if a < b { (b, a) } else { (a, b) };
    if short == 0.0 {
        return Ok(long);
    }
    let ratio = short / long;
    let length = long * (1.0 + ratio * ratio).sqrt();
    if length.is_infinite() {
        return Err(crate::float::overflow());
    }
    if length == 0.0 {
        return Err(crate::float::underflow());
    }
    Ok(length)
}

/// The larger coordinate: NaN is above all.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if compare_floats(a, b).is_gt() { a } else { b }
}

/// The smaller coordinate.
#[inline]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if compare_floats(a, b).is_lt() { a } else { b }
}

/// Zero without its sign.
pub(crate) fn plain_zero(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a }
}

/// Reads the doubles of a payload.
fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default()))
}

/// The first doubles of a payload; zeros where it is damaged.
#[inline]
fn fixed<const N: usize>(datum: &Datum) -> [f64; N] {
    floats(<&[u8]>::from_datum(datum))
}

/// The same of its bytes.
#[inline]
fn floats<const N: usize>(bytes: &[u8]) -> [f64; N] {
    let mut out = [0.0; N];
    for (slot, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *slot = f64::from_le_bytes(*bytes);
    }
    out
}

fn payload(values: &[f64]) -> SqlResult<Datum> {
    // A box has the most.
    let mut bytes = [0; 4 * 8];
    for (place, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *place = value.to_le_bytes();
    }
    Ok(Datum::Bytes(Bytes::new(&bytes[..8 * values.len()])))
}

fn points_of(bytes: &[u8]) -> Vec<Point> {
    let values: Vec<f64> = doubles(bytes).collect();
    values.chunks_exact(2).map(|pair| Point { x: pair[0], y: pair[1] }).collect()
}

fn push_points(points: &[Point], out: &mut Vec<u8>) {
    for point in points {
        out.extend_from_slice(&point.x.to_le_bytes());
        out.extend_from_slice(&point.y.to_le_bytes());
    }
}

/// The segments from point to point, and the closing one first where the outline is closed.
fn outline(points: &[Point], closed: bool) -> impl Iterator<Item = Segment> + '_ {
    let closing = points.last().zip(points.first()).filter(|_| closed).map(|(a, b)| Segment(*a, *b));
    closing.into_iter().chain(points.windows(2).map(|pair| Segment(pair[0], pair[1])))
}

/// The smaller of a distance found before and another.
fn nearer(found: Option<f64>, distance: f64) -> Option<f64> {
    match found {
        Some(before) if compare_floats(distance, before).is_ge() => found,
        _ => Some(distance),
    }
}
