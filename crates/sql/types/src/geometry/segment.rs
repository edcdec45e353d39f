//! `lseg`: a line segment.

use super::{point::middle, *};
use crate::registry::types::prelude::*;

/// A segment with its two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment(pub Point, pub Point);

impl FromDatum<'_> for Segment {
    fn from_datum(datum: &Datum) -> Segment {
        let [ax, ay, bx, by] = fixed(datum);
        Segment(Point { x: ax, y: ay }, Point { x: bx, y: by })
    }
}

impl IntoDatum for Segment {
    fn into_datum(self) -> SqlResult<Datum> {
        payload(&[self.0.x, self.0.y, self.1.x, self.1.y])
    }
}

impl Segment {
    fn slope(self) -> SqlResult<f64> {
        self.0.slope(self.1)
    }

    fn line(self) -> SqlResult<Line> {
        Line::at(self.0, self.slope()?)
    }

    pub fn length(self) -> SqlResult<f64> {
        self.0.distance(self.1)
    }

    pub fn center(self) -> SqlResult<Point> {
        middle(self.0, self.1)
    }

    /// Whether the way over the point is no longer than the segment.
    pub fn contains(self, point: Point) -> SqlResult<bool> {
        let way = point.distance(self.0)? + point.distance(self.1)?;
        Ok(near::equal(way, self.length()?))
    }

    /// Where a line meets the segment: an end of it exactly where it is one within the tolerance.
    pub fn meet_line(self, line: Line) -> SqlResult<Option<Point>> {
        let Some(point) = self.line()?.meet(line)? else { return Ok(None) };
        if !self.contains(point)? {
            return Ok(None);
        }
        Ok(Some(if self.0.same(point) {
            self.0
        } else if self.1.same(point) {
            self.1
        } else {
            point
        }))
    }

    /// Where two segments meet.
    pub fn meet(self, other: Segment) -> SqlResult<Option<Point>> {
        match self.meet_line(other.line()?)? {
            Some(point) if other.contains(point)? => Ok(Some(point)),
            _ => Ok(None),
        }
    }

    /// The point of the segment that is nearest to a line, and its distance (NaN where there is no answer).
    pub fn nearest_to_line(self, line: Line) -> SqlResult<(Point, f64)> {
        if let Some(point) = self.meet_line(line)? {
            return Ok((point, 0.0));
        }
        let (first, second) = (line.distance_to(self.0)?, line.distance_to(self.1)?);
        Ok(if compare_floats(first, second).is_lt() { (self.0, first) } else { (self.1, second) })
    }

    /// The point of the segment that is nearest to another, and its distance.
    pub fn nearest(self, point: Point) -> SqlResult<(Point, f64)> {
        let normal = Line::at(point, self.0.normal_slope(self.1)?)?;
        let (found, _) = self.nearest_to_line(normal)?;
        Ok((found, found.distance(point)?))
    }

    /// The point of the segment that is nearest to another segment, and its distance.
    pub fn nearest_to(self, other: Segment) -> SqlResult<(Point, f64)> {
        if let Some(point) = self.meet(other)? {
            return Ok((point, 0.0));
        }
        let mut best = self.nearest(other.0)?;
        let mut consider = |candidate: (Point, f64)| {
            if compare_floats(candidate.1, best.1).is_lt() {
                best = candidate;
            }
        };
        consider(self.nearest(other.1)?);
        consider((self.0, other.nearest(self.0)?.1));
        consider((self.1, other.nearest(self.1)?.1));
        Ok(best)
    }

    fn parallel(self, other: Segment) -> SqlResult<bool> {
        Ok(near::equal(self.slope()?, other.slope()?))
    }

    fn perpendicular(self, other: Segment) -> SqlResult<bool> {
        Ok(near::equal(self.slope()?, other.0.normal_slope(other.1)?))
    }

    fn same(self, other: Segment) -> bool {
        self.0.same(other.0) && self.1.same(other.1)
    }

    fn by_length(self, other: Segment, test: fn(f64, f64) -> bool) -> SqlResult<bool> {
        Ok(test(self.length()?, other.length()?))
    }
}

/// The point, unless the distance has no answer.
pub(crate) fn answered((point, distance): (Point, f64)) -> Option<Point> {
    (!distance.is_nan()).then_some(point)
}

fn nearest_of_segment(from: Segment, on: Segment) -> SqlResult<Option<Point>> {
    if from.slope()? == on.slope()? {
        return Ok(None);
    }
    on.nearest_to(from).map(answered)
}

fn nearest_of_line(line: Line, on: Segment) -> SqlResult<Option<Point>> {
    if on.slope()? == line.slope()? {
        return Ok(None);
    }
    on.nearest_to_line(line).map(answered)
}

/// A line between two points.
pub(crate) static LSEG: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::point,
        array: oids::_lseg,
        io: [Oid(119), Oid(120), Oid(2480), Oid(2481)],
        subscript: Oid(6180),
        ..TypeInfo::new(oids::lseg, "lseg", b'G', Physical::Fixed(32))
    }),
    input: |_, text, _, _| text::segment_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::segment_out(value, cx), out),
    receive: |_, reader, _, _| text::segment_received(reader)?.into_datum(),
    ..GEOMETRY
};

functions! {
    119 lseg_in(cstring) -> lseg [immutable strict] { input lseg }
    120 lseg_out(lseg) -> cstring [immutable strict] { output lseg }
    2480 lseg_recv(internal) -> lseg [immutable strict] { receive lseg }
    2481 lseg_send(lseg) -> bytea [immutable strict] { send lseg }
    225 lseg_center(lseg) -> point [immutable strict] { |a: Segment| a.center() }
    277 inter_sl(lseg, line) -> bool [immutable strict] { |a: Segment, b: Line| a.meet_line(b).map(|found| found.is_some()) }
    361 lseg_distance(lseg, lseg) -> float8 [immutable strict] { |a: Segment, b: Segment| a.nearest_to(b).map(|found| found.1) }
    362 lseg_interpt(lseg, lseg) -> point [immutable strict] { |a: Segment, b: Segment| a.meet(b) }
    363 dist_ps(point, lseg) -> float8 [immutable strict] { |a: Point, b: Segment| b.nearest(a).map(|found| found.1) }
    366 close_ps(point, lseg) -> point [immutable strict] { |a: Point, b: Segment| b.nearest(a).map(answered) }
    369 on_ps(point, lseg) -> bool [immutable strict] { |a: Point, b: Segment| b.contains(a) }
    380 dist_sp(lseg, point) -> float8 [immutable strict] { |a: Segment, b: Point| a.nearest(b).map(|found| found.1) }
    704 dist_ls(line, lseg) -> float8 [immutable strict] { |a: Line, b: Segment| b.nearest_to_line(a).map(|found| found.1) }
    727 dist_sl(lseg, line) -> float8 [immutable strict] { |a: Segment, b: Line| a.nearest_to_line(b).map(|found| found.1) }
    960 on_sl(lseg, line) -> bool [immutable strict] { |a: Segment, b: Line| Ok::<_, base::SqlError>(b.contains(a.0)? && b.contains(a.1)?) }
    993 lseg(point, point) -> lseg [immutable strict] { |a: Point, b: Point| Segment(a, b) }
    994 lseg_intersect(lseg, lseg) -> bool [immutable strict] { |a: Segment, b: Segment| a.meet(b).map(|found| found.is_some()) }
    995 lseg_parallel(lseg, lseg) -> bool [immutable strict] { |a: Segment, b: Segment| a.parallel(b) }
    996 lseg_perp(lseg, lseg) -> bool [immutable strict] { |a: Segment, b: Segment| a.perpendicular(b) }
    997 lseg_vertical(lseg) -> bool [immutable strict] { |a: Segment| near::equal(a.0.x, a.1.x) }
    998 lseg_horizontal(lseg) -> bool [immutable strict] { |a: Segment| near::equal(a.0.y, a.1.y) }
    999 lseg_eq(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| a.same(b) }
    1408 isparallel(lseg, lseg) -> bool [immutable strict] { |a: Segment, b: Segment| a.parallel(b) }
    1409 isperp(lseg, lseg) -> bool [immutable strict] { |a: Segment, b: Segment| a.perpendicular(b) }
    1410 isvertical(lseg) -> bool [immutable strict] { |a: Segment| near::equal(a.0.x, a.1.x) }
    1411 ishorizontal(lseg) -> bool [immutable strict] { |a: Segment| near::equal(a.0.y, a.1.y) }
    1482 lseg_ne(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| !a.same(b) }
    1483 lseg_lt(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| a.by_length(b, near::less) }
    1484 lseg_le(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| a.by_length(b, near::at_most) }
    1485 lseg_gt(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| a.by_length(b, near::above) }
    1486 lseg_ge(lseg, lseg) -> bool [immutable strict leakproof] { |a: Segment, b: Segment| a.by_length(b, near::at_least) }
    1487 lseg_length(lseg) -> float8 [immutable strict] { |a: Segment| a.length() }
    1488 close_ls(line, lseg) -> point [immutable strict] { |a: Line, b: Segment| nearest_of_line(a, b) }
    1489 close_lseg(lseg, lseg) -> point [immutable strict] { |a: Segment, b: Segment| nearest_of_segment(a, b) }
    1530 length(lseg) -> float8 [immutable strict] { |a: Segment| a.length() }
    1532 point(lseg) -> point [immutable strict] { |a: Segment| a.center() }
}
