//! `path`: points joined by segments, open or closed.

use super::{
    point::{Side, side},
    *,
};
use crate::call::Call;
use crate::registry::types::prelude::*;

/// A path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub closed: bool,
    pub points: Vec<Point>,
}

impl FromDatum<'_> for Path {
    fn from_datum(datum: &Datum) -> Path {
        match <&[u8]>::from_datum(datum).split_first() {
            Some((closed, points)) => Path { closed: *closed != 0, points: points_of(points) },
            None => Path { closed: false, points: Vec::new() },
        }
    }
}

impl IntoDatum for Path {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = Vec::with_capacity(1 + self.points.len() * 16);
        out.push(u8::from(self.closed));
        push_points(&self.points, &mut out);
        out.into_datum()
    }
}

impl Path {
    fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        outline(&self.points, self.closed)
    }

    fn area(&self) -> SqlResult<Option<f64>> {
        if !self.closed {
            return Ok(None);
        }
        let mut area = 0.0;
        for (i, a) in self.points.iter().enumerate() {
            let b = self.points[(i + 1) % self.points.len()];
            area = add(area, mul(a.x, b.y)?)?;
            area = sub(area, mul(a.y, b.x)?)?;
        }
        div(area.abs(), 2.0).map(Some)
    }

    fn length(&self) -> SqlResult<f64> {
        // The closing segment last, for the rounding.
        let mut segments: Vec<Segment> = self.segments().collect();
        if self.closed {
            segments.rotate_left(1);
        }
        segments.iter().try_fold(0.0, |sum, segment| add(sum, segment.length()?))
    }

    fn meets(&self, cx: &Call, other: &Path) -> SqlResult<bool> {
        if !Box2::bounding(&self.points).overlaps(Box2::bounding(&other.points)) {
            return Ok(false);
        }
        for a in self.segments() {
            for b in other.segments() {
                cx.session.check_interrupts()?;
                if a.meet(b)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn distance(&self, cx: &Call, other: &Path) -> SqlResult<Option<f64>> {
        let mut best = None;
        for a in self.segments() {
            for b in other.segments() {
                cx.session.check_interrupts()?;
                best = nearer(best, a.nearest_to(b)?.1);
            }
        }
        Ok(best)
    }

    fn distance_to(&self, point: Point) -> SqlResult<f64> {
        if let [only] = self.points[..] {
            return only.distance(point);
        }
        let mut best = None;
        for segment in self.segments() {
            best = nearer(best, segment.nearest(point)?.1);
        }
        Ok(best.unwrap_or_default())
    }

    /// Whether the point is on an open path, or within a closed one.
    fn contains(&self, point: Point) -> SqlResult<bool> {
        if self.closed {
            return Ok(side(point, &self.points)? != Side::Outside);
        }
        for segment in self.segments() {
            if segment.contains(point)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn joined(mut self, other: Path) -> Option<Path> {
        if self.closed || other.closed {
            return None;
        }
        self.points.extend(other.points);
        Some(self)
    }

    fn map(mut self, f: impl Fn(Point) -> SqlResult<Point>) -> SqlResult<Path> {
        for point in &mut self.points {
            *point = f(*point)?;
        }
        Ok(self)
    }

    fn polygon(self) -> SqlResult<Polygon> {
        if !self.closed {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "open path cannot be converted to polygon"));
        }
        Ok(Polygon { points: self.points })
    }
}

/// Points in a row, open or closed.
pub(crate) static PATH: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_path,
        io: [Oid(121), Oid(122), Oid(2482), Oid(2483)],
        align: 8,
        ..TypeInfo::new(oids::path, "path", b'G', Physical::Varlena)
    }),
    input: |_, text, _, _| text::path_in(text)?.into_datum(),
    output: |_, value, cx, out| show(text::path_out(value, cx), out),
    receive: |_, reader, _, _| text::path_received(reader)?.into_datum(),
    send: |_, value, _, out| {
        text::send_path(value, out);
        Ok(())
    },
    ..GEOMETRY
};

functions! {
    121 path_in(cstring) -> path [immutable strict] { input path }
    122 path_out(path) -> cstring [immutable strict] { output path }
    2482 path_recv(internal) -> path [immutable strict] { receive path }
    2483 path_send(path) -> bytea [immutable strict] { send path }
    137 on_ppath(point, path) -> bool [immutable strict] { |a: Point, b: Path| b.contains(a) }
    370 path_distance(path, path) -> float8 [immutable strict] { |cx; a: Path, b: Path| a.distance(cx, &b) }
    371 dist_ppath(point, path) -> float8 [immutable strict] { |a: Point, b: Path| b.distance_to(a) }
    421 dist_pathp(path, point) -> float8 [immutable strict] { |a: Path, b: Point| a.distance_to(b) }
    973 path_inter(path, path) -> bool [immutable strict] { |cx; a: Path, b: Path| a.meets(cx, &b) }
    979 area(path) -> float8 [immutable strict] { |a: Path| a.area() }
    982 path_n_lt(path, path) -> bool [immutable strict] { |a: Path, b: Path| a.points.len() < b.points.len() }
    983 path_n_gt(path, path) -> bool [immutable strict] { |a: Path, b: Path| a.points.len() > b.points.len() }
    984 path_n_eq(path, path) -> bool [immutable strict] { |a: Path, b: Path| a.points.len() == b.points.len() }
    985 path_n_le(path, path) -> bool [immutable strict] { |a: Path, b: Path| a.points.len() <= b.points.len() }
    986 path_n_ge(path, path) -> bool [immutable strict] { |a: Path, b: Path| a.points.len() >= b.points.len() }
    987 path_length(path) -> float8 [immutable strict] { |a: Path| a.length() }
    1426 path_contain_pt(path, point) -> bool [immutable strict] { |a: Path, b: Point| a.contains(b) }
    1430 isclosed(path) -> bool [immutable strict] { |a: Path| a.closed }
    1431 isopen(path) -> bool [immutable strict] { |a: Path| !a.closed }
    1432 path_npoints(path) -> int4 [immutable strict] { |a: Path| a.points.len() as i32 }
    1433 pclose(path) -> path [immutable strict] { |a: Path| Path { closed: true, ..a } }
    1434 popen(path) -> path [immutable strict] { |a: Path| Path { closed: false, ..a } }
    1435 path_add(path, path) -> path [immutable strict] { |a: Path, b: Path| a.joined(b) }
    1436 path_add_pt(path, point) -> path [immutable strict] { |a: Path, b: Point| a.map(|p| p.add(b)) }
    1437 path_sub_pt(path, point) -> path [immutable strict] { |a: Path, b: Point| a.map(|p| p.sub(b)) }
    1438 path_mul_pt(path, point) -> path [immutable strict] { |a: Path, b: Point| a.map(|p| p.mul(b)) }
    1439 path_div_pt(path, point) -> path [immutable strict] { |a: Path, b: Point| a.map(|p| p.div(b)) }
    1447 path(polygon) -> path [immutable strict] { |a: Polygon| Path { closed: true, points: a.points } }
    1449 polygon(path) -> polygon [immutable strict] { |a: Path| a.polygon() }
    1531 length(path) -> float8 [immutable strict] { |a: Path| a.length() }
    1545 npoints(path) -> int4 [immutable strict] { |a: Path| a.points.len() as i32 }
}
