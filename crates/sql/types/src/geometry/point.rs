//! `point`: an ordered pair, multiplied and divided as a complex number.

use super::*;
use crate::registry::types::prelude::*;

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}

impl FromDatum<'_> for Point {
    fn from_datum(datum: &Datum) -> Point {
        let [x, y] = fixed(datum);
        Point { x, y }
    }
}

impl IntoDatum for Point {
    fn into_datum(self) -> SqlResult<Datum> {
        payload(&[self.x, self.y])
    }
}

impl Point {
    /// Whether two points are the same within the tolerance; with a NaN, whether they are exactly.
    pub fn same(self, other: Point) -> bool {
        if [self.x, self.y, other.x, other.y].iter().any(|v| v.is_nan()) {
            return exactly(self.x, other.x) && exactly(self.y, other.y);
        }
        near::equal(self.x, other.x) && near::equal(self.y, other.y)
    }

    pub fn distance(self, other: Point) -> SqlResult<f64> {
        hypotenuse(sub(self.x, other.x)?, sub(self.y, other.y)?)
    }

    /// Slope of the line through both: infinite where it is vertical.
    pub fn slope(self, other: Point) -> SqlResult<f64> {
        if near::equal(self.x, other.x) {
            return Ok(f64::INFINITY);
        }
        if near::equal(self.y, other.y) {
            return Ok(0.0);
        }
        div(sub(self.y, other.y)?, sub(self.x, other.x)?)
    }

    /// Slope of a line that is perpendicular to that through both.
    pub fn normal_slope(self, other: Point) -> SqlResult<f64> {
        if near::equal(self.x, other.x) {
            return Ok(0.0);
        }
        if near::equal(self.y, other.y) {
            return Ok(f64::INFINITY);
        }
        div(sub(self.x, other.x)?, sub(other.y, self.y)?)
    }

    pub fn add(self, other: Point) -> SqlResult<Point> {
        Ok(Point { x: add(self.x, other.x)?, y: add(self.y, other.y)? })
    }

    pub fn sub(self, other: Point) -> SqlResult<Point> {
        Ok(Point { x: sub(self.x, other.x)?, y: sub(self.y, other.y)? })
    }

    pub fn mul(self, other: Point) -> SqlResult<Point> {
        Ok(Point {
            x: sub(mul(self.x, other.x)?, mul(self.y, other.y)?)?,
            y: add(mul(self.x, other.y)?, mul(self.y, other.x)?)?,
        })
    }

    pub fn div(self, other: Point) -> SqlResult<Point> {
        let norm = add(mul(other.x, other.x)?, mul(other.y, other.y)?)?;
        Ok(Point {
            x: div(add(mul(self.x, other.x)?, mul(self.y, other.y)?)?, norm)?,
            y: div(sub(mul(self.y, other.x)?, mul(self.x, other.y)?)?, norm)?,
        })
    }
}

/// Where a point lies relative to an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Outside,
    Inside,
    Edge,
}

/// Where a point lies relative to the closed outline through `corners`: by the crossings of a ray to the right, each counted
/// with its direction, and half where an end of an edge is on the ray.
pub(crate) fn side(point: Point, corners: &[Point]) -> SqlResult<Side> {
    let relative = |corner: &Point| corner.sub(point);
    let Some(first) = corners.first() else { return Ok(Side::Outside) };
    let first = relative(first)?;
    let mut before = first;
    let mut total = 0;
    for corner in corners[1..].iter().map(relative).chain([Ok(first)]) {
        let corner = corner?;
        match crossings(corner, before)? {
            None => return Ok(Side::Edge),
            Some(count) => total += count,
        }
        before = corner;
    }
    Ok(if total == 0 { Side::Outside } else { Side::Inside })
}

/// Half crossings of the positive x axis by the edge from `before` to `to`; `None` if the origin is on it.
fn crossings(to: Point, before: Point) -> SqlResult<Option<i32>> {
    if near::zero(to.y) {
        return Ok(if near::zero(to.x) {
            None
        } else if near::above(to.x, 0.0) {
            match near::zero(before.y) {
                true => near::above(before.x, 0.0).then_some(0),
                false => Some(if near::less(before.y, 0.0) { 1 } else { -1 }),
            }
        } else if near::zero(before.y) {
            near::less(before.x, 0.0).then_some(0)
        } else {
            Some(0)
        });
    }
    let up = near::above(to.y, 0.0);
    let sign = if up { 1 } else { -1 };
    if near::zero(before.y) {
        return Ok(Some(if near::less(before.x, 0.0) { 0 } else { sign }));
    }
    if if up { near::above(before.y, 0.0) } else { near::less(before.y, 0.0) } {
        return Ok(Some(0));
    }
    // The edge crosses the axis: right of the origin, left of it, or it takes a product to tell.
    if near::at_least(to.x, 0.0) && near::above(before.x, 0.0) {
        return Ok(Some(2 * sign));
    }
    if near::less(to.x, 0.0) && near::at_most(before.x, 0.0) {
        return Ok(Some(0));
    }
    let turn = sub(mul(sub(to.x, before.x)?, to.y)?, mul(sub(to.y, before.y)?, to.x)?)?;
    if near::zero(turn) {
        return Ok(None);
    }
    let left = if up { near::above(turn, 0.0) } else { near::less(turn, 0.0) };
    Ok(Some(if left { 0 } else { 2 * sign }))
}

/// The middle of two points.
pub(crate) fn middle(a: Point, b: Point) -> SqlResult<Point> {
    Ok(Point { x: div(add(a.x, b.x)?, 2.0)?, y: div(add(a.y, b.y)?, 2.0)? })
}

/// A point.
pub(crate) static POINT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::float8,
        array: oids::_point,
        io: [Oid(117), Oid(118), Oid(2428), Oid(2429)],
        subscript: Oid(6180),
        ..TypeInfo::new(oids::point, "point", b'G', Physical::Fixed(16))
    }),
    input: |_, text, _, _| text::point_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::point_out(value, cx), out),
    receive: |_, reader, _, _| text::point_received(reader)?.into_datum(),
    ..GEOMETRY
};

functions! {
    117 point_in(cstring) -> point [immutable strict] { input point }
    118 point_out(point) -> cstring [immutable strict] { output point }
    2428 point_recv(internal) -> point [immutable strict] { receive point }
    2429 point_send(point) -> bytea [immutable strict] { send point }
    131 point_above(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::above(a.y, b.y) }
    132 point_left(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::less(a.x, b.x) }
    133 point_right(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::above(a.x, b.x) }
    134 point_below(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::less(a.y, b.y) }
    135 point_eq(point, point) -> bool [immutable strict] { |a: Point, b: Point| a.same(b) }
    988 point_ne(point, point) -> bool [immutable strict] { |a: Point, b: Point| !a.same(b) }
    989 point_vert(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::equal(a.x, b.x) }
    990 point_horiz(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::equal(a.y, b.y) }
    1406 isvertical(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::equal(a.x, b.x) }
    1407 ishorizontal(point, point) -> bool [immutable strict] { |a: Point, b: Point| near::equal(a.y, b.y) }
    991 point_distance(point, point) -> float8 [immutable strict] { |a: Point, b: Point| a.distance(b) }
    992 slope(point, point) -> float8 [immutable strict] { |a: Point, b: Point| a.slope(b) }
    1440 point(float8, float8) -> point [immutable strict] { |x: f64, y: f64| Point { x, y } }
    1441 point_add(point, point) -> point [immutable strict] { |a: Point, b: Point| a.add(b) }
    1442 point_sub(point, point) -> point [immutable strict] { |a: Point, b: Point| a.sub(b) }
    1443 point_mul(point, point) -> point [immutable strict] { |a: Point, b: Point| a.mul(b) }
    1444 point_div(point, point) -> point [immutable strict] { |a: Point, b: Point| a.div(b) }
}
