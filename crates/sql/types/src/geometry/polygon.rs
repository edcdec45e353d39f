//! `polygon`: a closed outline with what is in it.

use super::{
    point::{Side, middle, side},
    *,
};
use crate::registry::types::prelude::*;
use crate::{call::Call, json::depth::deeper};

/// A polygon.
#[derive(Clone, Debug)]
pub(crate) struct Polygon {
    pub points: Vec<Point>,
}

impl FromDatum<'_> for Polygon {
    fn from_datum(datum: &Datum) -> Polygon {
        Polygon { points: points_of(<&[u8]>::from_datum(datum)) }
    }
}

impl IntoDatum for Polygon {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = Vec::with_capacity(self.points.len() * 16);
        push_points(&self.points, &mut out);
        out.into_datum()
    }
}

impl Polygon {
    fn bounds(&self) -> Box2 {
        Box2::bounding(&self.points)
    }

    fn edges(&self) -> impl Iterator<Item = Segment> + '_ {
        outline(&self.points, true)
    }

    fn contains_point(&self, point: Point) -> SqlResult<bool> {
        Ok(side(point, &self.points)? != Side::Outside)
    }

    /// Whether the corners are the same, from any one of them on and in either direction.
    fn same(&self, other: &Polygon) -> bool {
        let n = self.points.len();
        if n != other.points.len() {
            return false;
        }
        (0..n).any(|start| {
            let forward = |i: usize| other.points[(start + i) % n];
            let backward = |i: usize| other.points[(start + n - i) % n];
            (0..n).all(|i| self.points[i].same(forward(i)))
                || (0..n).all(|i| self.points[i].same(backward(i)))
        })
    }

    fn overlaps(&self, cx: &Call, other: &Polygon) -> SqlResult<bool> {
        let (Some(first), Some(other_first)) = (self.points.first(), other.points.first()) else {
            return Ok(false);
        };
        if !self.bounds().overlaps(other.bounds()) {
            return Ok(false);
        }
        for a in self.edges() {
            for b in other.edges() {
                cx.session.check_interrupts()?;
                if a.meet(b)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(other.contains_point(*first)? || self.contains_point(*other_first)?)
    }

    fn contains(&self, cx: &Call, other: &Polygon) -> SqlResult<bool> {
        if other.points.is_empty() || !self.bounds().contains(other.bounds()) {
            return Ok(false);
        }
        let edges: Vec<Segment> = self.edges().collect();
        for segment in other.edges() {
            if !self.has_within(cx, &edges, segment, 0, 0)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a segment lies within: it is cut where edges from number `start` on cross it, and each piece is looked at.
    fn has_within(
        &self,
        cx: &Call,
        edges: &[Segment],
        segment: Segment,
        start: usize,
        level: usize,
    ) -> SqlResult<bool> {
        let mut cut = false;
        for (i, edge) in edges.iter().enumerate().skip(start) {
            cx.session.check_interrupts()?;
            let within =
                |piece: Segment| deeper(level, || self.has_within(cx, edges, piece, i + 1, level + 1));
            let ok = match (edge.contains(segment.0)?, edge.contains(segment.1)?) {
                (true, true) => return Ok(true),
                (true, false) => uncovered(segment, *edge)?.map_or(Ok(true), within)?,
                (false, true) => uncovered(Segment(segment.1, segment.0), *edge)?.map_or(Ok(true), within)?,
                (false, false) => match segment.meet(*edge)? {
                    Some(point) => {
                        cut = true;
                        within(Segment(segment.0, point))? && within(Segment(segment.1, point))?
                    }
                    None => true,
                },
            };
            if !ok {
                return Ok(false);
            }
        }
        Ok(cut || self.contains_point(middle(segment.0, segment.1)?)?)
    }

    fn distance(&self, cx: &Call, other: &Polygon) -> SqlResult<Option<f64>> {
        if self.overlaps(cx, other)? {
            return Ok(Some(0.0));
        }
        let mut best = None;
        for a in self.edges() {
            for b in other.edges() {
                cx.session.check_interrupts()?;
                best = nearer(best, a.nearest_to(b)?.1);
            }
        }
        Ok(best)
    }

    pub fn distance_to(&self, point: Point) -> SqlResult<f64> {
        if self.contains_point(point)? {
            return Ok(0.0);
        }
        let mut best = None;
        for edge in self.edges() {
            best = nearer(best, edge.nearest(point)?.1);
        }
        Ok(best.unwrap_or_default())
    }

    /// The circle around the mean of the corners with the mean of their distances.
    pub fn circle(&self) -> SqlResult<Circle> {
        let count = self.points.len() as f64;
        let sum = self.points.iter().try_fold(Point::default(), |sum, p| sum.add(*p))?;
        let center = Point { x: div(sum.x, count)?, y: div(sum.y, count)? };
        let reach = self.points.iter().try_fold(0.0, |sum, p| add(sum, p.distance(center)?))?;
        Ok(Circle { center, radius: div(reach, count)? })
    }
}

/// What is still to be looked at of a segment that begins on `edge` and leaves it: where an end of the edge lies on the segment,
/// what is beyond.
fn uncovered(segment: Segment, edge: Segment) -> SqlResult<Option<Segment>> {
    let ends = if segment.0.same(edge.0) {
        [Some(edge.1), None]
    } else if segment.0.same(edge.1) {
        [Some(edge.0), None]
    } else {
        [Some(edge.0), Some(edge.1)]
    };
    for end in ends.into_iter().flatten() {
        if segment.contains(end)? {
            return Ok(Some(Segment(segment.1, end)));
        }
    }
    Ok(None)
}

/// A closed row of points.
pub(crate) static POLYGON: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_polygon,
        io: [Oid(347), Oid(348), Oid(2486), Oid(2487)],
        align: 8,
        ..TypeInfo::new(oids::polygon, "polygon", b'G', Physical::Varlena)
    }),
    input: |_, text, _, _| text::polygon_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::polygon_out(value, cx), out),
    receive: |_, reader, _, _| text::polygon_received(reader)?.into_datum(),
    send: |_, value, _, out| {
        text::send_polygon(value, out);
        Ok(())
    },
    ..GEOMETRY
};

functions! {
    347 poly_in(cstring) -> polygon [immutable strict] { input polygon }
    348 poly_out(polygon) -> cstring [immutable strict] { output polygon }
    2486 poly_recv(internal) -> polygon [immutable strict] { receive polygon }
    2487 poly_send(polygon) -> bytea [immutable strict] { send polygon }
    227 poly_center(polygon) -> point [immutable strict] { |a: Polygon| a.circle().map(|circle| circle.center) }
    339 poly_same(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.same(&b) }
    340 poly_contain(polygon, polygon) -> bool [immutable strict] { |cx; a: Polygon, b: Polygon| a.contains(cx, &b) }
    341 poly_left(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().high.x < b.bounds().low.x }
    342 poly_overleft(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().high.x <= b.bounds().high.x }
    343 poly_overright(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().low.x >= b.bounds().low.x }
    344 poly_right(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().low.x > b.bounds().high.x }
    345 poly_contained(polygon, polygon) -> bool [immutable strict] { |cx; a: Polygon, b: Polygon| b.contains(cx, &a) }
    346 poly_overlap(polygon, polygon) -> bool [immutable strict] { |cx; a: Polygon, b: Polygon| a.overlaps(cx, &b) }
    729 poly_distance(polygon, polygon) -> float8 [immutable strict] { |cx; a: Polygon, b: Polygon| a.distance(cx, &b) }
    1428 poly_contain_pt(polygon, point) -> bool [immutable strict] { |a: Polygon, b: Point| a.contains_point(b) }
    1429 pt_contained_poly(point, polygon) -> bool [immutable strict] { |a: Point, b: Polygon| b.contains_point(a) }
    1445 poly_npoints(polygon) -> int4 [immutable strict] { |a: Polygon| a.points.len() as i32 }
    1540 point(polygon) -> point [immutable strict] { |a: Polygon| a.circle().map(|circle| circle.center) }
    1556 npoints(polygon) -> int4 [immutable strict] { |a: Polygon| a.points.len() as i32 }
    2566 poly_below(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().high.y < b.bounds().low.y }
    2567 poly_overbelow(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().high.y <= b.bounds().high.y }
    2568 poly_overabove(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().low.y >= b.bounds().low.y }
    2569 poly_above(polygon, polygon) -> bool [immutable strict] { |a: Polygon, b: Polygon| a.bounds().low.y > b.bounds().high.y }
    5011 spg_poly_quad_compress(polygon) -> r#box [immutable strict] { |a: Polygon| a.bounds() }
    3275 dist_ppoly(point, polygon) -> float8 [immutable strict] { |a: Point, b: Polygon| b.distance_to(a) }
    3292 dist_polyp(polygon, point) -> float8 [immutable strict] { |a: Polygon, b: Point| a.distance_to(b) }
}
