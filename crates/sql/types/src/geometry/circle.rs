//! `circle`: a centre and a radius.

use super::*;
use crate::registry::types::prelude::*;

/// A circle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circle {
    pub center: Point,
    pub radius: f64,
}

impl FromDatum<'_> for Circle {
    fn from_datum(datum: &Datum) -> Circle {
        let [x, y, radius] = fixed(datum);
        Circle { center: Point { x, y }, radius }
    }
}

impl IntoDatum for Circle {
    fn into_datum(self) -> SqlResult<Datum> {
        payload(&[self.center.x, self.center.y, self.radius])
    }
}

/// A distance, or 0 where things overlap.
fn clamped(distance: f64) -> f64 {
    if distance < 0.0 { 0.0 } else { distance }
}

impl Circle {
    fn same(self, other: Circle) -> bool {
        let radii = (self.radius.is_nan() && other.radius.is_nan()) || near::equal(self.radius, other.radius);
        radii && self.center.same(other.center)
    }

    fn area(self) -> SqlResult<f64> {
        mul(mul(self.radius, self.radius)?, std::f64::consts::PI)
    }

    fn by_area(self, other: Circle, test: fn(f64, f64) -> bool) -> SqlResult<bool> {
        Ok(test(self.area()?, other.area()?))
    }

    fn right(self) -> SqlResult<f64> {
        add(self.center.x, self.radius)
    }

    fn left(self) -> SqlResult<f64> {
        sub(self.center.x, self.radius)
    }

    fn top(self) -> SqlResult<f64> {
        add(self.center.y, self.radius)
    }

    fn bottom(self) -> SqlResult<f64> {
        sub(self.center.y, self.radius)
    }

    fn overlaps(self, other: Circle) -> SqlResult<bool> {
        Ok(near::at_most(self.center.distance(other.center)?, add(self.radius, other.radius)?))
    }

    fn contains(self, other: Circle) -> SqlResult<bool> {
        Ok(near::at_most(self.center.distance(other.center)?, sub(self.radius, other.radius)?))
    }

    fn contains_point(self, point: Point) -> SqlResult<bool> {
        Ok(self.center.distance(point)? <= self.radius)
    }

    fn distance(self, other: Circle) -> SqlResult<f64> {
        let reach = add(self.radius, other.radius)?;
        Ok(clamped(sub(self.center.distance(other.center)?, reach)?))
    }

    fn distance_to(self, point: Point) -> SqlResult<f64> {
        Ok(clamped(sub(point.distance(self.center)?, self.radius)?))
    }

    fn distance_to_polygon(self, polygon: &Polygon) -> SqlResult<f64> {
        Ok(clamped(sub(polygon.distance_to(self.center)?, self.radius)?))
    }

    fn moved(self, center: SqlResult<Point>) -> SqlResult<Circle> {
        Ok(Circle { center: center?, ..self })
    }

    fn scaled(self, by: Point) -> SqlResult<Circle> {
        let radius = mul(self.radius, hypotenuse(by.x, by.y)?)?;
        Ok(Circle { center: self.center.mul(by)?, radius })
    }

    fn shrunk(self, by: Point) -> SqlResult<Circle> {
        let radius = div(self.radius, hypotenuse(by.x, by.y)?)?;
        Ok(Circle { center: self.center.div(by)?, radius })
    }

    /// The square in it whose corners lie on it.
    fn inner_box(self) -> SqlResult<Box2> {
        let reach = div(self.radius, std::f64::consts::SQRT_2)?;
        let reach = Point { x: reach, y: reach };
        Ok(Box2 { high: self.center.add(reach)?, low: self.center.sub(reach)? })
    }

    /// A polygon of `count` corners on it, from the left on.
    fn polygon(self, count: i32) -> SqlResult<Polygon> {
        if near::zero(self.radius) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert circle with radius zero to polygon"));
        }
        if count < 2 {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "must request at least 2 points"));
        }
        if count as usize > MAX_POINTS {
            return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "too many points requested"));
        }
        let step = div(2.0 * std::f64::consts::PI, count.into())?;
        let mut points = Vec::with_capacity(count as usize);
        for i in 0..count {
            let angle = mul(step, i.into())?;
            points.push(Point {
                x: sub(self.center.x, mul(self.radius, angle.cos())?)?,
                y: add(self.center.y, mul(self.radius, angle.sin())?)?,
            });
        }
        Ok(Polygon { points })
    }
}

/// Most points of a value: 1 GB.
const MAX_POINTS: usize = (1 << 30) / 16;

/// A centre and a radius.
pub(crate) static CIRCLE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_circle,
        io: [Oid(1450), Oid(1451), Oid(2490), Oid(2491)],
        ..TypeInfo::new(oids::circle, "circle", b'G', Physical::Fixed(24))
    }),
    input: |_, text, _, _| text::circle_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::circle_out(value, cx), out),
    receive: |_, reader, _, _| text::circle_received(reader)?.into_datum(),
    ..GEOMETRY
};

functions! {
    1450 circle_in(cstring) -> circle [immutable strict] { input circle }
    1451 circle_out(circle) -> cstring [immutable strict] { output circle }
    2490 circle_recv(internal) -> circle [immutable strict] { receive circle }
    2491 circle_send(circle) -> bytea [immutable strict] { send circle }
    728 dist_cpoly(circle, polygon) -> float8 [immutable strict] { |a: Circle, b: Polygon| a.distance_to_polygon(&b) }
    785 dist_polyc(polygon, circle) -> float8 [immutable strict] { |a: Polygon, b: Circle| b.distance_to_polygon(&a) }
    1146 circle_add_pt(circle, point) -> circle [immutable strict] { |a: Circle, b: Point| a.moved(a.center.add(b)) }
    1147 circle_sub_pt(circle, point) -> circle [immutable strict] { |a: Circle, b: Point| a.moved(a.center.sub(b)) }
    1148 circle_mul_pt(circle, point) -> circle [immutable strict] { |a: Circle, b: Point| a.scaled(b) }
    1149 circle_div_pt(circle, point) -> circle [immutable strict] { |a: Circle, b: Point| a.shrunk(b) }
    1416 point(circle) -> point [immutable strict] { |a: Circle| a.center }
    1452 circle_same(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| a.same(b) }
    1453 circle_contain(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| a.contains(b) }
    1454 circle_left(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::less(a.right()?, b.left()?)) }
    1455 circle_overleft(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::at_most(a.right()?, b.right()?)) }
    1456 circle_overright(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::at_least(a.left()?, b.left()?)) }
    1457 circle_right(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::above(a.left()?, b.right()?)) }
    1458 circle_contained(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| b.contains(a) }
    1459 circle_overlap(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| a.overlaps(b) }
    1460 circle_below(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::less(a.top()?, b.bottom()?)) }
    1461 circle_above(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::above(a.bottom()?, b.top()?)) }
    1462 circle_eq(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::equal) }
    1463 circle_ne(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::different) }
    1464 circle_lt(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::less) }
    1465 circle_gt(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::above) }
    1466 circle_le(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::at_most) }
    1467 circle_ge(circle, circle) -> bool [immutable strict leakproof] { |a: Circle, b: Circle| a.by_area(b, near::at_least) }
    1468 area(circle) -> float8 [immutable strict] { |a: Circle| a.area() }
    1469 diameter(circle) -> float8 [immutable strict] { |a: Circle| mul(a.radius, 2.0) }
    1470 radius(circle) -> float8 [immutable strict] { |a: Circle| a.radius }
    1471 circle_distance(circle, circle) -> float8 [immutable strict] { |a: Circle, b: Circle| a.distance(b) }
    1472 circle_center(circle) -> point [immutable strict] { |a: Circle| a.center }
    1473 circle(point, float8) -> circle [immutable strict] { |a: Point, b: f64| Circle { center: a, radius: b } }
    1474 circle(polygon) -> circle [immutable strict] { |a: Polygon| a.circle() }
    1475 polygon(int4, circle) -> polygon [immutable strict] { |a: i32, b: Circle| b.polygon(a) }
    1476 dist_pc(point, circle) -> float8 [immutable strict] { |a: Point, b: Circle| b.distance_to(a) }
    1477 circle_contain_pt(circle, point) -> bool [immutable strict] { |a: Circle, b: Point| a.contains_point(b) }
    1478 pt_contained_circle(point, circle) -> bool [immutable strict] { |a: Point, b: Circle| b.contains_point(a) }
    1480 r#box(circle) -> r#box [immutable strict] { |a: Circle| a.inner_box() }
    1543 center(circle) -> point [immutable strict] { |a: Circle| a.center }
    1544 polygon(circle) -> polygon [immutable strict] { |a: Circle| a.polygon(12) }
    2587 circle_overbelow(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::at_most(a.top()?, b.top()?)) }
    2588 circle_overabove(circle, circle) -> bool [immutable strict] { |a: Circle, b: Circle| Ok::<_, base::SqlError>(near::at_least(a.bottom()?, b.bottom()?)) }
    3290 dist_cpoint(circle, point) -> float8 [immutable strict] { |a: Circle, b: Point| a.distance_to(b) }
}
