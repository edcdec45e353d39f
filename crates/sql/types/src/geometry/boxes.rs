//! `box`: a rectangle along the axes.

use super::{point::middle, segment::answered, *};
use crate::registry::types::prelude::*;

/// A rectangle: upper right and lower left corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Box2 {
    pub high: Point,
    pub low: Point,
}

impl FromDatum<'_> for Box2 {
    fn from_datum(datum: &Datum) -> Box2 {
        let [hx, hy, lx, ly] = fixed(datum);
        Box2 { high: Point { x: hx, y: hy }, low: Point { x: lx, y: ly } }
    }
}

impl IntoDatum for Box2 {
    fn into_datum(self) -> SqlResult<Datum> {
        payload(&[self.high.x, self.high.y, self.low.x, self.low.y])
    }
}

impl Box2 {
    /// Of the bytes of its value.
    #[inline]
    pub fn of_bytes(bytes: &[u8]) -> Box2 {
        let [hx, hy, lx, ly] = floats(bytes);
        Box2 { high: Point { x: hx, y: hy }, low: Point { x: lx, y: ly } }
    }

    /// The rectangle with these opposite corners, in any order.
    pub fn around(a: Point, b: Point) -> Box2 {
        let order = |a: f64, b: f64| if compare_floats(a, b).is_gt() { (a, b) } else { (b, a) };
        let ((hx, lx), (hy, ly)) = (order(a.x, b.x), order(a.y, b.y));
        Box2 { high: Point { x: hx, y: hy }, low: Point { x: lx, y: ly } }
    }

    /// The smallest rectangle with all points in it.
    #[inline]
    pub fn bounding(points: &[Point]) -> Box2 {
        let first = points.first().copied().unwrap_or_default();
        points.iter().fold(Box2 { high: first, low: first }, |area, p| area.union(Box2 { high: *p, low: *p }))
    }

    #[inline]
    fn union(self, other: Box2) -> Box2 {
        Box2 {
            high: Point { x: larger(self.high.x, other.high.x), y: larger(self.high.y, other.high.y) },
            low: Point { x: smaller(self.low.x, other.low.x), y: smaller(self.low.y, other.low.y) },
        }
    }

    fn intersection(self, other: Box2) -> Option<Box2> {
        self.overlaps(other).then(|| Box2 {
            high: Point { x: smaller(self.high.x, other.high.x), y: smaller(self.high.y, other.high.y) },
            low: Point { x: larger(self.low.x, other.low.x), y: larger(self.low.y, other.low.y) },
        })
    }

    fn same(self, other: Box2) -> bool {
        self.high.same(other.high) && self.low.same(other.low)
    }

    pub fn overlaps(self, other: Box2) -> bool {
        near::at_most(self.low.x, other.high.x)
            && near::at_most(other.low.x, self.high.x)
            && near::at_most(self.low.y, other.high.y)
            && near::at_most(other.low.y, self.high.y)
    }

    pub fn contains(self, other: Box2) -> bool {
        near::at_least(self.high.x, other.high.x)
            && near::at_most(self.low.x, other.low.x)
            && near::at_least(self.high.y, other.high.y)
            && near::at_most(self.low.y, other.low.y)
    }

    pub fn contains_point(self, p: Point) -> bool {
        self.high.x >= p.x && self.low.x <= p.x && self.high.y >= p.y && self.low.y <= p.y
    }

    pub fn width(self) -> SqlResult<f64> {
        sub(self.high.x, self.low.x)
    }

    pub fn height(self) -> SqlResult<f64> {
        sub(self.high.y, self.low.y)
    }

    fn area(self) -> SqlResult<f64> {
        mul(self.width()?, self.height()?)
    }

    pub fn center(self) -> SqlResult<Point> {
        middle(self.high, self.low)
    }

    fn by_area(self, other: Box2, test: fn(f64, f64) -> bool) -> SqlResult<bool> {
        Ok(test(self.area()?, other.area()?))
    }

    /// Its four sides.
    pub fn edges(self) -> [Segment; 4] {
        let upper_left = Point { x: self.low.x, y: self.high.y };
        let lower_right = Point { x: self.high.x, y: self.low.y };
        [
            Segment(self.low, upper_left),
            Segment(self.high, upper_left),
            Segment(self.low, lower_right),
            Segment(self.high, lower_right),
        ]
    }

    /// The nearest of what each side gives.
    fn nearest_side(self, of: impl Fn(Segment) -> SqlResult<(Point, f64)>) -> SqlResult<(Point, f64)> {
        let [first, rest @ ..] = self.edges();
        let mut best = of(first)?;
        for edge in rest {
            let candidate = of(edge)?;
            if compare_floats(candidate.1, best.1).is_lt() {
                best = candidate;
            }
        }
        Ok(best)
    }

    fn nearest(self, point: Point) -> SqlResult<(Point, f64)> {
        if self.contains_point(point) {
            return Ok((point, 0.0));
        }
        self.nearest_side(|edge| edge.nearest(point))
    }

    fn touches(self, segment: Segment) -> SqlResult<bool> {
        if !Box2::around(segment.0, segment.1).overlaps(self) {
            return Ok(false);
        }
        if self.contains_point(segment.0) || self.contains_point(segment.1) {
            return Ok(true);
        }
        for edge in self.edges() {
            if edge.meet(segment)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The point of the box that is nearest to a segment; where they touch, the segment's that is nearest to the centre.
    fn nearest_to(self, segment: Segment) -> SqlResult<(Point, f64)> {
        if self.touches(segment)? {
            return Ok((segment.nearest(self.center()?)?.0, 0.0));
        }
        self.nearest_side(|edge| edge.nearest_to(segment))
    }

    fn circle(self) -> SqlResult<Circle> {
        let center = self.center()?;
        Ok(Circle { center, radius: center.distance(self.high)? })
    }

    fn map(self, f: impl Fn(Point) -> SqlResult<Point>) -> SqlResult<Box2> {
        Ok(Box2::around(f(self.high)?, f(self.low)?))
    }
}

/// A rectangle.
pub(crate) static BOX: TypeImp = TypeImp {
    row: Some(TypeInfo {
        delimiter: b';',
        element: oids::point,
        array: oids::_box,
        io: [Oid(123), Oid(124), Oid(2484), Oid(2485)],
        subscript: Oid(6180),
        ..TypeInfo::new(oids::r#box, "box", b'G', Physical::Fixed(32))
    }),
    input: |_, text, _, _| text::box_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::box_out(value, cx), out),
    receive: |_, reader, _, _| text::box_received(reader)?.into_datum(),
    ..GEOMETRY
};

functions! {
    123 box_in(cstring) -> r#box [immutable strict] { input r#box }
    124 box_out(r#box) -> cstring [immutable strict] { output r#box }
    2484 box_recv(internal) -> r#box [immutable strict] { receive r#box }
    2485 box_send(r#box) -> bytea [immutable strict] { send r#box }
    115 box_above_eq(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_least(a.low.y, b.high.y) }
    116 box_below_eq(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_most(a.high.y, b.low.y) }
    125 box_overlap(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.overlaps(b) }
    126 box_ge(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.by_area(b, near::at_least) }
    127 box_gt(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.by_area(b, near::above) }
    128 box_eq(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.by_area(b, near::equal) }
    129 box_lt(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.by_area(b, near::less) }
    130 box_le(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.by_area(b, near::at_most) }
    136 on_pb(point, r#box) -> bool [immutable strict] { |a: Point, b: Box2| b.contains_point(a) }
    138 box_center(r#box) -> point [immutable strict] { |a: Box2| a.center() }
    186 box_same(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.same(b) }
    187 box_contain(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| a.contains(b) }
    188 box_left(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::less(a.high.x, b.low.x) }
    189 box_overleft(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_most(a.high.x, b.high.x) }
    190 box_overright(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_least(a.low.x, b.low.x) }
    191 box_right(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::above(a.low.x, b.high.x) }
    192 box_contained(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| b.contains(a) }
    193 box_contain_pt(r#box, point) -> bool [immutable strict] { |a: Box2, b: Point| a.contains_point(b) }
    357 dist_bp(r#box, point) -> float8 [immutable strict] { |a: Box2, b: Point| a.nearest(b).map(|found| found.1) }
    364 dist_pb(point, r#box) -> float8 [immutable strict] { |a: Point, b: Box2| b.nearest(a).map(|found| found.1) }
    365 dist_sb(lseg, r#box) -> float8 [immutable strict] { |a: Segment, b: Box2| b.nearest_to(a).map(|found| found.1) }
    367 close_pb(point, r#box) -> point [immutable strict] { |a: Point, b: Box2| b.nearest(a).map(answered) }
    368 close_sb(lseg, r#box) -> point [immutable strict] { |a: Segment, b: Box2| b.nearest_to(a).map(answered) }
    372 on_sb(lseg, r#box) -> bool [immutable strict] { |a: Segment, b: Box2| b.contains_point(a.0) && b.contains_point(a.1) }
    373 inter_sb(lseg, r#box) -> bool [immutable strict] { |a: Segment, b: Box2| b.touches(a) }
    381 dist_bs(r#box, lseg) -> float8 [immutable strict] { |a: Box2, b: Segment| a.nearest_to(b).map(|found| found.1) }
    975 area(r#box) -> float8 [immutable strict] { |a: Box2| a.area() }
    976 width(r#box) -> float8 [immutable strict] { |a: Box2| a.width() }
    977 height(r#box) -> float8 [immutable strict] { |a: Box2| a.height() }
    978 box_distance(r#box, r#box) -> float8 [immutable strict] { |a: Box2, b: Box2| Ok::<_, base::SqlError>(a.center()?.distance(b.center()?)?) }
    980 box_intersect(r#box, r#box) -> r#box [immutable strict] { |a: Box2, b: Box2| a.intersection(b) }
    981 diagonal(r#box) -> lseg [immutable strict] { |a: Box2| Segment(a.high, a.low) }
    1421 r#box(point, point) -> r#box [immutable strict] { |a: Point, b: Point| Box2::around(a, b) }
    1422 box_add(r#box, point) -> r#box [immutable strict] { |a: Box2, b: Point| a.map(|p| p.add(b)) }
    1423 box_sub(r#box, point) -> r#box [immutable strict] { |a: Box2, b: Point| a.map(|p| p.sub(b)) }
    1424 box_mul(r#box, point) -> r#box [immutable strict] { |a: Box2, b: Point| a.map(|p| p.mul(b)) }
    1425 box_div(r#box, point) -> r#box [immutable strict] { |a: Box2, b: Point| a.map(|p| p.div(b)) }
    1446 r#box(polygon) -> r#box [immutable strict] { |a: Polygon| Box2::bounding(&a.points) }
    1448 polygon(r#box) -> polygon [immutable strict] { |a: Box2| box_polygon(a) }
    1479 circle(r#box) -> circle [immutable strict] { |a: Box2| a.circle() }
    1534 point(r#box) -> point [immutable strict] { |a: Box2| a.center() }
    1541 lseg(r#box) -> lseg [immutable strict] { |a: Box2| Segment(a.high, a.low) }
    1542 center(r#box) -> point [immutable strict] { |a: Box2| a.center() }
    2562 box_below(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::less(a.high.y, b.low.y) }
    2563 box_overbelow(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_most(a.high.y, b.high.y) }
    2564 box_overabove(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::at_least(a.low.y, b.low.y) }
    2565 box_above(r#box, r#box) -> bool [immutable strict] { |a: Box2, b: Box2| near::above(a.low.y, b.high.y) }
    4067 bound_box(r#box, r#box) -> r#box [immutable strict] { |a: Box2, b: Box2| a.union(b) }
    4091 r#box(point) -> r#box [immutable strict] { |a: Point| Box2 { high: a, low: a } }
}

fn box_polygon(area: Box2) -> Polygon {
    let Box2 { high, low } = area;
    Polygon { points: vec![low, Point { x: low.x, y: high.y }, high, Point { x: high.x, y: low.y }] }
}
