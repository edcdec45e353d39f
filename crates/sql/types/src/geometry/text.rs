//! Text and binary forms.

use super::*;
use crate::{call::Call, value::Reader};
use base::SqlError;

/// Reads pieces of a text form from the front.
struct Scanner<'a> {
    whole: &'a str,
    at: usize,
    type_name: &'static str,
}

impl<'a> Scanner<'a> {
    fn new(whole: &'a str, type_name: &'static str) -> Scanner<'a> {
        Scanner { whole, at: 0, type_name }
    }

    fn error(&self) -> SqlError {
        sql_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type {}: \"{}\"",
            self.type_name,
            self.whole
        )
    }

    fn rest(&self) -> &'a [u8] {
        &self.whole.as_bytes()[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> SqlResult<()> {
        if self.skip(byte) { Ok(()) } else { Err(self.error()) }
    }

    fn end(&self) -> SqlResult<()> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error()) }
    }

    /// A number and the blanks around it.
    fn number(&mut self) -> SqlResult<f64> {
        self.blanks();
        let length = number_length(self.rest());
        let text = &self.whole[self.at..self.at + length];
        if length == 0 {
            return Err(self.error());
        }
        self.at += length;
        self.blanks();
        crate::float::parse8(text).map_err(|error| {
            if error.code() == base::SqlState::NUMERIC_VALUE_OUT_OF_RANGE { error } else { self.error() }
        })
    }

    /// `x,y`, in parentheses or not.
    fn pair(&mut self) -> SqlResult<Point> {
        self.blanks();
        let enclosed = self.skip(b'(');
        let x = self.number()?;
        self.expect(b',')?;
        let y = self.number()?;
        if enclosed {
            self.expect(b')')?;
            self.blanks();
        }
        Ok(Point { x, y })
    }

    /// Whether the parenthesis at the front is the only one that opens.
    fn only_parenthesis(&self) -> bool {
        !self.rest()[1..].contains(&b'(')
    }

    /// `count` points within brackets (where the path may be open), within parentheses, or bare. The second result: whether
    /// they were within brackets.
    fn points(&mut self, count: usize, may_be_open: bool) -> SqlResult<(Vec<Point>, bool)> {
        self.blanks();
        let mut depth = 0;
        let open = self.peek() == Some(b'[');
        if open {
            if !may_be_open {
                return Err(self.error());
            }
            depth += 1;
            self.at += 1;
        } else if self.peek() == Some(b'(') {
            let inner = self.rest()[1..]
                .iter()
                .position(|b| !is_blank(*b))
                .map_or(self.whole.len(), |n| self.at + 1 + n);
            if self.whole.as_bytes().get(inner) == Some(&b'(') || self.only_parenthesis() {
                depth += 1;
                self.at = inner;
            }
        }
        let mut points = Vec::with_capacity(count);
        for _ in 0..count {
            points.push(self.pair()?);
            self.skip(b',');
        }
        while depth > 0 {
            if !(self.skip(b')') || open && depth == 1 && self.skip(b']')) {
                return Err(self.error());
            }
            depth -= 1;
            self.blanks();
        }
        Ok((points, open))
    }

    /// Number of points that the commas of the text mean.
    fn point_count(&self) -> SqlResult<usize> {
        let commas = self.whole.bytes().filter(|b| *b == b',').count();
        if commas % 2 == 1 { Ok(commas.div_ceil(2)) } else { Err(self.error()) }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Bytes of the number at the front, as C's `strtod` takes them.
fn number_length(text: &[u8]) -> usize {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let body = &text[sign..];
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if body.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)) {
            return sign + word.len();
        }
    }
    let digits = |from: usize| body[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    let mut fraction = 0;
    if body.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(body.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(body.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(body.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    sign + end
}

pub(super) fn segment_in(text: &str) -> SqlResult<Segment> {
    let (points, _) = whole(text, "lseg", 2, true)?;
    Ok(Segment(points[0], points[1]))
}

pub(super) fn box_in(text: &str) -> SqlResult<Box2> {
    let (points, _) = whole(text, "box", 2, false)?;
    Ok(Box2::around(points[0], points[1]))
}

pub(super) fn polygon_in(text: &str) -> SqlResult<Polygon> {
    let count = Scanner::new(text, "polygon").point_count()?;
    Ok(Polygon { points: whole(text, "polygon", count, false)?.0 })
}

/// A text that is `count` points and nothing more.
fn whole(
    text: &str,
    type_name: &'static str,
    count: usize,
    may_be_open: bool,
) -> SqlResult<(Vec<Point>, bool)> {
    let mut scanner = Scanner::new(text, type_name);
    let found = scanner.points(count, may_be_open)?;
    scanner.end()?;
    Ok(found)
}

pub(super) fn point_in(text: &str) -> SqlResult<Point> {
    let mut scanner = Scanner::new(text, "point");
    let point = scanner.pair()?;
    scanner.end()?;
    Ok(point)
}

pub(super) fn line_in(text: &str) -> SqlResult<Line> {
    let invalid = |what: &str| sql_err!(INVALID_TEXT_REPRESENTATION, "invalid line specification: {what}");
    let mut scanner = Scanner::new(text, "line");
    scanner.blanks();
    if !scanner.skip(b'{') {
        let (points, _) = whole(text, "line", 2, true)?;
        let [a, b] = [points[0], points[1]];
        if a.same(b) {
            return Err(invalid("must be two distinct points"));
        }
        return Line::at(a, a.slope(b)?);
    }
    let a = scanner.number()?;
    scanner.expect(b',')?;
    let b = scanner.number()?;
    scanner.expect(b',')?;
    let c = scanner.number()?;
    scanner.expect(b'}')?;
    scanner.blanks();
    scanner.end()?;
    if near::zero(a) && near::zero(b) {
        return Err(invalid("A and B cannot both be zero"));
    }
    Ok(Line { a, b, c })
}

pub(super) fn path_in(text: &str) -> SqlResult<Path> {
    let mut scanner = Scanner::new(text, "path");
    let count = scanner.point_count()?;
    scanner.blanks();
    let enclosed = scanner.peek() == Some(b'(') && scanner.only_parenthesis();
    scanner.at += usize::from(enclosed);
    let (points, open) = scanner.points(count, true)?;
    if enclosed {
        scanner.expect(b')')?;
        scanner.blanks();
    }
    scanner.end()?;
    Ok(Path { closed: !open, points })
}

pub(super) fn circle_in(text: &str) -> SqlResult<Circle> {
    let mut scanner = Scanner::new(text, "circle");
    scanner.blanks();
    let mut depth = 0;
    if scanner.skip(b'<') {
        depth += 1;
    } else if scanner.peek() == Some(b'(') {
        let start = scanner.at;
        scanner.at += 1;
        scanner.blanks();
        if scanner.peek() == Some(b'(') {
            depth += 1;
        } else {
            scanner.at = start;
        }
    }
    let center = scanner.pair()?;
    scanner.skip(b',');
    let radius = scanner.number()?;
    if radius < 0.0 {
        return Err(scanner.error());
    }
    while depth > 0 {
        if !(scanner.skip(b')') || depth == 1 && scanner.skip(b'>')) {
            return Err(scanner.error());
        }
        depth -= 1;
        scanner.blanks();
    }
    scanner.end()?;
    Ok(Circle { center, radius })
}

fn number(v: f64, cx: &Call) -> String {
    crate::float::text8(v, cx.format.extra_float_digits)
}

fn pair(p: Point, cx: &Call) -> String {
    format!("({},{})", number(p.x, cx), number(p.y, cx))
}

fn pairs(points: &[Point], cx: &Call) -> String {
    points.iter().map(|p| pair(*p, cx)).collect::<Vec<_>>().join(",")
}

pub(super) fn point_out(value: &Datum, cx: &Call) -> String {
    pair(Point::from_datum(value), cx)
}

pub(super) fn segment_out(value: &Datum, cx: &Call) -> String {
    let Segment(a, b) = Segment::from_datum(value);
    format!("[{}]", pairs(&[a, b], cx))
}

pub(super) fn box_out(value: &Datum, cx: &Call) -> String {
    let area = Box2::from_datum(value);
    pairs(&[area.high, area.low], cx)
}

pub(super) fn line_out(value: &Datum, cx: &Call) -> String {
    let line = Line::from_datum(value);
    format!("{{{},{},{}}}", number(line.a, cx), number(line.b, cx), number(line.c, cx))
}

pub(super) fn path_out(value: &Datum, cx: &Call) -> String {
    let path = Path::from_datum(value);
    let inner = pairs(&path.points, cx);
    if path.closed { format!("({inner})") } else { format!("[{inner}]") }
}

pub(super) fn polygon_out(value: &Datum, cx: &Call) -> String {
    format!("({})", pairs(&Polygon::from_datum(value).points, cx))
}

pub(super) fn circle_out(value: &Datum, cx: &Call) -> String {
    let circle = Circle::from_datum(value);
    format!("<{},{}>", pair(circle.center, cx), number(circle.radius, cx))
}

fn double(reader: &mut Reader) -> SqlResult<f64> {
    Ok(f64::from_bits(reader.i64()? as u64))
}

pub(super) fn point_received(reader: &mut Reader) -> SqlResult<Point> {
    Ok(Point { x: double(reader)?, y: double(reader)? })
}

/// As many points as the bytes say, none or more than there are bytes for being an error.
fn received_points(reader: &mut Reader, type_name: &str) -> SqlResult<Vec<Point>> {
    let count = reader.i32()?;
    if count <= 0 || count as usize > i32::MAX as usize / 16 {
        return Err(sql_err!(
            INVALID_BINARY_REPRESENTATION,
            "invalid number of points in external \"{type_name}\" value"
        ));
    }
    let mut points = Vec::new();
    for _ in 0..count {
        points.push(point_received(reader)?);
    }
    Ok(points)
}

fn invalid(what: &str) -> SqlError {
    sql_err!(INVALID_BINARY_REPRESENTATION, "{what}")
}

pub(super) fn segment_received(reader: &mut Reader) -> SqlResult<Segment> {
    Ok(Segment(point_received(reader)?, point_received(reader)?))
}

pub(super) fn box_received(reader: &mut Reader) -> SqlResult<Box2> {
    Ok(Box2::around(point_received(reader)?, point_received(reader)?))
}

pub(super) fn line_received(reader: &mut Reader) -> SqlResult<Line> {
    let line = Line { a: double(reader)?, b: double(reader)?, c: double(reader)? };
    if near::zero(line.a) && near::zero(line.b) {
        return Err(invalid("invalid line specification: A and B cannot both be zero"));
    }
    Ok(line)
}

pub(super) fn path_received(reader: &mut Reader) -> SqlResult<Path> {
    let closed = reader.take(1)?[0] != 0;
    Ok(Path { closed, points: received_points(reader, "path")? })
}

pub(super) fn polygon_received(reader: &mut Reader) -> SqlResult<Polygon> {
    Ok(Polygon { points: received_points(reader, "polygon")? })
}

pub(super) fn circle_received(reader: &mut Reader) -> SqlResult<Circle> {
    let circle = Circle { center: point_received(reader)?, radius: double(reader)? };
    if circle.radius < 0.0 {
        return Err(invalid("invalid radius in external \"circle\" value"));
    }
    Ok(circle)
}

/// Appends stored numbers in the order of the network.
pub(super) fn send_doubles(bytes: &[u8], out: &mut Vec<u8>) {
    for value in doubles(bytes) {
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends the number of points, and the points.
fn send_points(points: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&((points.len() / 16) as i32).to_be_bytes());
    send_doubles(points, out);
}

pub(super) fn send_path(value: &Datum, out: &mut Vec<u8>) {
    let bytes = <&[u8]>::from_datum(value);
    let (closed, points) = bytes.split_at(bytes.len().min(1));
    out.extend_from_slice(closed);
    send_points(points, out);
}

pub(super) fn send_polygon(value: &Datum, out: &mut Vec<u8>) {
    send_points(<&[u8]>::from_datum(value), out);
}
