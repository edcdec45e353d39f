//! Payload, text form and binary form of cubes.
//!
//! A payload is a number of 4 bytes, whose lower bits count dimensions and whose highest bit says that the cube is a point; then the coordinates of one corner, and of the opposite
//! one unless it is a point, in 8 bytes each.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::value::{FromDatum, Reader};
use types::{Call, oids};

/// Dimensions at most.
pub(super) const MOST: usize = 100;

/// The bit of a point.
const POINT: u32 = 1 << 31;

/// A cube between two opposite corners, in no particular order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cube {
    pub(super) one: Vec<f64>,
    pub(super) other: Vec<f64>,
    /// It is stored as a point.
    pub(super) point: bool,
}

impl FromDatum<'_> for Cube {
    fn from_datum(value: &Datum) -> Cube {
        let bytes = <&[u8]>::from_datum(value);
        let (head, rest) = bytes.split_at(bytes.len().min(4));
        let head = u32::from_le_bytes(head.try_into().unwrap_or_default());
        let mut numbers: Vec<f64> =
            rest.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let (count, point) = ((head & !POINT) as usize, head & POINT != 0);
        let other = if point { numbers.clone() } else { numbers.split_off(count.min(numbers.len())) };
        Cube { one: numbers, other, point }
    }
}

impl Cube {
    pub(super) fn point(at: Vec<f64>) -> Cube {
        Cube { one: at.clone(), other: at, point: true }
    }

    /// Between two corners; a point if they are the same.
    pub(super) fn between(one: Vec<f64>, other: Vec<f64>) -> Cube {
        let point = one == other;
        Cube { one, other, point }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.one.len()
    }

    /// The lower coordinate; 0 of a dimension that it does not have.
    pub(super) fn low(&self, at: usize) -> f64 {
        self.one.get(at).map_or(0.0, |one| one.min(self.other[at]))
    }

    /// The upper coordinate.
    pub(super) fn high(&self, at: usize) -> f64 {
        self.one.get(at).map_or(0.0, |one| one.max(self.other[at]))
    }

    pub(super) fn datum(&self) -> Datum {
        let numbers = self.one.iter().chain(if self.point { &[][..] } else { &self.other[..] });
        let head = self.one.len() as u32 | if self.point { POINT } else { 0 };
        let bytes = head.to_le_bytes().into_iter().chain(numbers.flat_map(|number| number.to_le_bytes()));
        Datum::Bytes(bytes.collect::<Vec<u8>>().into())
    }
}

fn invalid(detail: String) -> SqlError {
    sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for cube").detail(detail)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Sign(char),
    Number(&'a str),
    /// Something else.
    Other(&'a str),
    End,
}

/// Bytes of the number that a text begins with; 0 if it begins with none.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let lower = |from: usize, word: &str| {
        bytes.get(from..from + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    };
    if lower(sign, "inf") {
        return sign + if lower(sign, "infinity") { 8 } else { 3 };
    }
    if lower(0, "nan") {
        return 3;
    }
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') {
        let part = digits(end + 1);
        if whole + part == 0 {
            return 0;
        }
        end += 1 + part;
    } else if whole == 0 {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

struct Scanner<'a> {
    rest: &'a str,
    next: Token<'a>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Scanner<'a> {
        let mut scanner = Scanner { rest: text, next: Token::End };
        scanner.step();
        scanner
    }

    fn step(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
        let length = number_length(self.rest);
        let first = self.rest.chars().next();
        let (taken, rest) =
            self.rest.split_at(if length > 0 { length } else { first.map_or(0, char::len_utf8) });
        self.rest = rest;
        self.next = match first {
            None => Token::End,
            Some(_) if length > 0 => Token::Number(taken),
            Some(sign @ ('(' | ')' | '[' | ']' | ',')) => Token::Sign(sign),
            Some(_) => Token::Other(taken),
        };
    }

    fn takes(&mut self, sign: char) -> bool {
        let found = self.next == Token::Sign(sign);
        if found {
            self.step();
        }
        found
    }

    fn wrong(&self) -> SqlError {
        invalid(match self.next {
            Token::End => "syntax error at end of input".to_owned(),
            Token::Number(text) | Token::Other(text) => format!("syntax error at or near \"{text}\""),
            Token::Sign(sign) => format!("syntax error at or near \"{sign}\""),
        })
    }

    fn expect(&mut self, sign: char) -> SqlResult<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong()) }
    }

    fn list(&mut self) -> SqlResult<Vec<&'a str>> {
        let mut found = Vec::new();
        loop {
            let Token::Number(text) = self.next else { return Err(self.wrong()) };
            found.push(text);
            self.step();
            if !self.takes(',') {
                return Ok(found);
            }
        }
    }

    /// What stands in parentheses.
    fn corner(&mut self) -> SqlResult<Vec<&'a str>> {
        self.expect('(')?;
        if self.takes(')') {
            return Ok(Vec::new());
        }
        let found = self.list()?;
        self.expect(')')?;
        Ok(found)
    }
}

fn numbers(texts: &[&str], cx: &Call<'_>) -> SqlResult<Vec<f64>> {
    if texts.len() > MOST {
        return Err(invalid(format!("A cube cannot have more than {MOST} dimensions.")));
    }
    let number = |text: &&str| types::input(oids::float8, text, -1, cx).map(|value| f64::from_datum(&value));
    texts.iter().map(number).collect()
}

/// The text form: a corner, two corners, two corners in brackets, or the coordinates of a point.
pub(super) fn read(text: &str, cx: &Call<'_>) -> SqlResult<Datum> {
    let mut scanner = Scanner::new(text);
    let bracketed = scanner.takes('[');
    let (one, other) = if bracketed || scanner.next == Token::Sign('(') {
        let one = scanner.corner()?;
        let two = if bracketed {
            scanner.expect(',')?;
            true
        } else {
            scanner.takes(',')
        };
        let other = if two { Some(scanner.corner()?) } else { None };
        if bracketed {
            scanner.expect(']')?;
        }
        (one, other)
    } else {
        (scanner.list()?, None)
    };
    if scanner.next != Token::End {
        return Err(scanner.wrong());
    }
    let Some(other) = other else { return Ok(Cube::point(numbers(&one, cx)?).datum()) };
    if one.len() != other.len() {
        let (one, other) = (one.join(","), other.join(","));
        return Err(invalid(format!("Different point dimensions in ({one}) and ({other}).")));
    }
    Ok(Cube::between(numbers(&one, cx)?, numbers(&other, cx)?).datum())
}

/// Writes the text form.
pub(super) fn write(cube: &Cube, cx: &Call<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    write_corner(&cube.one, cx, out)?;
    if !cube.point && cube.one != cube.other {
        out.push(b',');
        write_corner(&cube.other, cx, out)?;
    }
    Ok(())
}

fn write_corner(numbers: &[f64], cx: &Call<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    out.push(b'(');
    for (i, number) in numbers.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        types::output(oids::float8, &Datum::Float8(*number), cx, out)?;
    }
    out.push(b')');
    Ok(())
}

/// Reads the binary form.
pub(super) fn receive(reader: &mut Reader<'_>) -> SqlResult<Datum> {
    let head = reader.i32()? as u32;
    let (count, point) = ((head & !POINT) as usize, head & POINT != 0);
    if count > MOST {
        return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "cube dimension is too large")
            .detail(format!("A cube cannot have more than {MOST} dimensions.")));
    }
    let mut number = || {
        let number = f64::from_bits(reader.i64()? as u64);
        Ok(if number.is_nan() { f64::NAN } else { number })
    };
    let one = (0..count).map(|_| number()).collect::<SqlResult<Vec<f64>>>()?;
    if point {
        return Ok(Cube::point(one).datum());
    }
    let other = (0..count).map(|_| number()).collect::<SqlResult<Vec<f64>>>()?;
    Ok(Cube::between(one, other).datum())
}

/// Writes the binary form.
pub(super) fn send(cube: &Cube, out: &mut Vec<u8>) {
    let head = cube.one.len() as u32 | if cube.point { POINT } else { 0 };
    out.extend_from_slice(&head.to_be_bytes());
    let numbers = cube.one.iter().chain(if cube.point { &[][..] } else { &cube.other[..] });
    numbers.for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
}
