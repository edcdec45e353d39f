//! `line`: the infinite line Ax + By + C = 0.

use super::{segment::answered, *};
use crate::registry::types::prelude::*;

/// A line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

impl FromDatum<'_> for Line {
    fn from_datum(datum: &Datum) -> Line {
        let [a, b, c] = fixed(datum);
        Line { a, b, c }
    }
}

impl IntoDatum for Line {
    fn into_datum(self) -> SqlResult<Datum> {
        payload(&[self.a, self.b, self.c])
    }
}

impl Line {
    /// The line through a point with a slope.
    pub fn at(point: Point, slope: f64) -> SqlResult<Line> {
        Ok(if slope.is_infinite() {
            Line { a: -1.0, b: 0.0, c: point.x }
        } else if slope == 0.0 {
            Line { a: 0.0, b: -1.0, c: point.y }
        } else {
            Line { a: slope, b: -1.0, c: plain_zero(sub(point.y, mul(slope, point.x)?)?) }
        })
    }

    /// The line through two points.
    fn through(a: Point, b: Point) -> SqlResult<Line> {
        if a.same(b) {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "invalid line specification: must be two distinct points"
            ));
        }
        Line::at(a, a.slope(b)?)
    }

    pub fn slope(self) -> SqlResult<f64> {
        if near::zero(self.a) {
            Ok(0.0)
        } else if near::zero(self.b) {
            Ok(f64::INFINITY)
        } else {
            div(self.a, -self.b)
        }
    }

    fn normal_slope(self) -> SqlResult<f64> {
        if near::zero(self.a) {
            Ok(f64::INFINITY)
        } else if near::zero(self.b) {
            Ok(0.0)
        } else {
            div(self.b, self.a)
        }
    }

    pub fn contains(self, point: Point) -> SqlResult<bool> {
        Ok(near::zero(add(add(mul(self.a, point.x)?, mul(self.b, point.y)?)?, self.c)?))
    }

    /// Where two lines meet; nowhere if they are parallel.
    pub fn meet(self, other: Line) -> SqlResult<Option<Point>> {
        // The one that can be solved for y comes first.
        let (p, q) = if !near::zero(self.b) {
            (self, other)
        } else if !near::zero(other.b) {
            (other, self)
        } else {
            return Ok(None);
        };
        if near::equal(q.a, mul(p.a, div(q.b, p.b)?)?) {
            return Ok(None);
        }
        let x = div(sub(mul(p.b, q.c)?, mul(q.b, p.c)?)?, sub(mul(p.a, q.b)?, mul(q.a, p.b)?)?)?;
        let y = div(-add(mul(p.a, x)?, p.c)?, p.b)?;
        Ok(Some(Point { x: plain_zero(x), y: plain_zero(y) }))
    }

    /// The point of the line that is nearest; none where the arithmetic has no answer (NaN, infinity).
    pub fn nearest(self, point: Point) -> SqlResult<Option<(Point, f64)>> {
        match Line::at(point, self.normal_slope()?)?.meet(self)? {
            None => Ok(None),
            Some(foot) => Ok(Some((foot, foot.distance(point)?))),
        }
    }

    /// Distance to a point; NaN where there is no answer.
    pub fn distance_to(self, point: Point) -> SqlResult<f64> {
        Ok(self.nearest(point)?.map_or(f64::NAN, |(_, distance)| distance))
    }

    fn distance(self, other: Line) -> SqlResult<f64> {
        if self.meet(other)?.is_some() {
            return Ok(0.0);
        }
        let usable = |v: f64| !near::zero(v) && !v.is_nan();
        let ratio = if usable(self.a) && usable(other.a) {
            div(self.a, other.a)?
        } else if usable(self.b) && usable(other.b) {
            div(self.b, other.b)?
        } else {
            1.0
        };
        div(sub(self.c, mul(ratio, other.c)?)?.abs(), hypotenuse(self.a, self.b)?)
    }

    fn same(self, other: Line) -> SqlResult<bool> {
        if [self.a, self.b, self.c, other.a, other.b, other.c].iter().any(|v| v.is_nan()) {
            return Ok(exactly(self.a, other.a) && exactly(self.b, other.b) && exactly(self.c, other.c));
        }
        let ratio = if !near::zero(other.a) {
            div(self.a, other.a)?
        } else if !near::zero(other.b) {
            div(self.b, other.b)?
        } else if !near::zero(other.c) {
            div(self.c, other.c)?
        } else {
            1.0
        };
        Ok(near::equal(self.a, mul(ratio, other.a)?)
            && near::equal(self.b, mul(ratio, other.b)?)
            && near::equal(self.c, mul(ratio, other.c)?))
    }

    fn perpendicular(self, other: Line) -> SqlResult<bool> {
        if near::zero(self.a) {
            return Ok(near::zero(other.b));
        }
        if near::zero(other.a) {
            return Ok(near::zero(self.b));
        }
        if near::zero(self.b) {
            return Ok(near::zero(other.a));
        }
        if near::zero(other.b) {
            return Ok(near::zero(self.a));
        }
        Ok(near::equal(div(mul(self.a, other.a)?, mul(self.b, other.b)?)?, -1.0))
    }
}

/// A line without ends.
pub(crate) static LINE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::float8,
        array: oids::_line,
        io: [Oid(1490), Oid(1491), Oid(2488), Oid(2489)],
        subscript: Oid(6180),
        ..TypeInfo::new(oids::line, "line", b'G', Physical::Fixed(24))
    }),
    input: |_, text, _, _| text::line_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::line_out(value, cx), out),
    receive: |_, reader, _, _| text::line_received(reader)?.into_datum(),
    ..GEOMETRY
};

functions! {
    1490 line_in(cstring) -> line [immutable strict] { input line }
    1491 line_out(line) -> cstring [immutable strict] { output line }
    2488 line_recv(internal) -> line [immutable strict] { receive line }
    2489 line_send(line) -> bytea [immutable strict] { send line }
    239 line_distance(line, line) -> float8 [immutable strict] { |a: Line, b: Line| a.distance(b) }
    278 inter_lb(line, r#box) -> bool [immutable strict] { |a: Line, b: Box2| line_crosses_box(a, b) }
    702 dist_lp(line, point) -> float8 [immutable strict] { |a: Line, b: Point| a.distance_to(b) }
    725 dist_pl(point, line) -> float8 [immutable strict] { |a: Point, b: Line| b.distance_to(a) }
    959 on_pl(point, line) -> bool [immutable strict] { |a: Point, b: Line| b.contains(a) }
    961 close_pl(point, line) -> point [immutable strict] { |a: Point, b: Line| b.nearest(a).map(|found| found.and_then(answered)) }
    1412 isparallel(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.meet(b).map(|found| found.is_none()) }
    1413 isperp(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.perpendicular(b) }
    1414 isvertical(line) -> bool [immutable strict] { |a: Line| near::zero(a.b) }
    1415 ishorizontal(line) -> bool [immutable strict] { |a: Line| near::zero(a.a) }
    1492 line_eq(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.same(b) }
    1493 line(point, point) -> line [immutable strict] { |a: Point, b: Point| Line::through(a, b) }
    1494 line_interpt(line, line) -> point [immutable strict] { |a: Line, b: Line| a.meet(b) }
    1495 line_intersect(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.meet(b).map(|found| found.is_some()) }
    1496 line_parallel(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.meet(b).map(|found| found.is_none()) }
    1497 line_perp(line, line) -> bool [immutable strict] { |a: Line, b: Line| a.perpendicular(b) }
    1498 line_vertical(line) -> bool [immutable strict] { |a: Line| near::zero(a.b) }
    1499 line_horizontal(line) -> bool [immutable strict] { |a: Line| near::zero(a.a) }
}

fn line_crosses_box(line: Line, area: Box2) -> SqlResult<bool> {
    for edge in area.edges() {
        if edge.meet_line(line)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
