//! Payloads of dense vectors, their text and binary forms; what the numbers and the dimensions of all vectors must be.
//!
//! A payload is the number of dimensions in 4 bytes, then the numbers, all little-endian.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use tuple::{Datum, Physical};
use types::registry::{TypeImp, TypeInfo};
use types::value::{FromDatum, Reader};

use super::dense::Precision;

/// Most dimensions of a dense vector, and most numbers of a sparse one.
pub(super) const MOST: usize = 16_000;

fn data(message: String) -> SqlError {
    SqlError::new(SqlState::DATA_EXCEPTION, message)
}

/// The error of two vectors that do not fit together.
pub(super) fn different(name: &str, a: usize, b: usize) -> SqlError {
    data(format!("different {name} dimensions {a} and {b}"))
}

/// Refuses a number of dimensions that no vector has.
pub(super) fn check_dimensions(name: &str, dimensions: usize, most: usize) -> SqlResult<()> {
    if dimensions == 0 {
        return Err(data(format!("{name} must have at least 1 dimension")));
    }
    if dimensions > most {
        return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "{name} cannot have more than {most} dimensions"));
    }
    Ok(())
}

/// Refuses a vector that has not as many dimensions as its column.
pub(super) fn check_modifier(typmod: i32, dimensions: usize) -> SqlResult<()> {
    match usize::try_from(typmod) {
        Ok(expected) if expected != dimensions => {
            Err(data(format!("expected {expected} dimensions, not {dimensions}")))
        }
        _ => Ok(()),
    }
}

/// Refuses what is no number.
pub(super) fn check_number(name: &str, number: f32) -> SqlResult<()> {
    if number.is_nan() {
        return Err(data(format!("NaN not allowed in {name}")));
    }
    match number.is_infinite() {
        true => Err(data(format!("infinite value not allowed in {name}"))),
        false => Ok(()),
    }
}

/// The error of a result that is too great or too small.
pub(super) fn out_of_range(how: &str) -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: {how}")
}

/// `vector(3)`: the number of dimensions.
pub(super) fn modifier(name: &str, words: &[&str], most: i32) -> SqlResult<i32> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let [word] = words else { return Err(invalid("invalid type modifier".into())) };
    let number: i32 = word.parse().map_err(|_| {
        sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type integer: \"{word}\"")
    })?;
    match number {
        ..=0 => Err(invalid(format!("dimensions for type {name} must be at least 1"))),
        _ if number > most => Err(invalid(format!("dimensions for type {name} cannot exceed {most}"))),
        _ => Ok(number),
    }
}

/// Reads text forms.
pub(super) struct Scanner<'a> {
    pub(super) name: &'static str,
    whole: &'a str,
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(name: &'static str, text: &'a str) -> Scanner<'a> {
        let mut scanner = Scanner { name, whole: text, rest: text };
        scanner.skip();
        scanner
    }

    pub(super) fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    }

    /// Whether the next character is this one, which it then takes.
    pub(super) fn take(&mut self, expected: char) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(expected);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    pub(super) fn wrong(&self) -> SqlError {
        sql_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type {}: \"{}\"",
            self.name,
            self.whole
        )
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let end = self.rest.find([',', ']', '}', ':', '/', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The next number.
    pub(super) fn number(&mut self) -> SqlResult<f32> {
        let word = self.word();
        let number: f32 = word.parse().map_err(|_| self.wrong())?;
        let written = word.bytes().any(|byte| byte.is_ascii_digit());
        if number.is_infinite() && written {
            let name = self.name;
            return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"{word}\" is out of range for type {name}"));
        }
        check_number(self.name, number)?;
        Ok(number)
    }

    /// The next whole number.
    pub(super) fn integer(&mut self) -> SqlResult<i64> {
        self.word().parse().map_err(|_| self.wrong())
    }
}

fn read<P: Precision>(text: &str, typmod: i32) -> SqlResult<Datum> {
    let mut scanner = Scanner::new(P::NAME, text);
    if !scanner.take('[') {
        return Err(scanner.wrong().detail("Vector contents must start with \"[\"."));
    }
    let mut numbers = Vec::new();
    if scanner.take(']') {
        return Err(data(format!("{} must have at least 1 dimension", P::NAME)));
    }
    loop {
        if numbers.len() == MOST {
            check_dimensions(P::NAME, MOST + 1, MOST)?;
        }
        numbers.push(P::checked(scanner.number()?)?);
        if scanner.take(']') {
            break;
        }
        if !scanner.take(',') {
            return Err(scanner.wrong());
        }
    }
    if !scanner.at_end() {
        return Err(scanner.wrong().detail("Junk after closing right brace."));
    }
    check_modifier(typmod, numbers.len())?;
    Ok(store::<P>(&numbers))
}

/// A number as text, the shortest that reads as it.
pub(super) fn show_number(number: f32, cx: &types::Call<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    types::output(types::oids::float4, &Datum::Float4(number), cx, out)
}

fn write<P: Precision>(value: &Datum, cx: &types::Call<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    for (i, number) in numbers::<P>(value).into_iter().enumerate() {
        out.push(if i == 0 { b'[' } else { b',' });
        show_number(number, cx, out)?;
    }
    out.push(b']');
    Ok(())
}

fn receive<P: Precision>(reader: &mut Reader<'_>, typmod: i32) -> SqlResult<Datum> {
    let (dimensions, unused) = (reader.i16()?, reader.i16()?);
    let dimensions = usize::try_from(dimensions).unwrap_or(0);
    check_dimensions(P::NAME, dimensions, MOST)?;
    check_modifier(typmod, dimensions)?;
    if unused != 0 {
        return Err(data(format!("expected unused to be 0, not {unused}")));
    }
    let mut numbers = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        let number = P::receive(reader)?;
        check_number(P::NAME, number)?;
        numbers.push(number);
    }
    Ok(store::<P>(&numbers))
}

fn send<P: Precision>(value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
    let numbers = numbers::<P>(value);
    out.extend_from_slice(&(numbers.len() as i16).to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    numbers.iter().for_each(|number| P::send(*number, out));
    Ok(())
}

/// A vector of these numbers.
pub(super) fn store<P: Precision>(numbers: &[f32]) -> Datum {
    let mut out = Vec::with_capacity(4 + numbers.len() * P::BYTES);
    out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
    numbers.iter().for_each(|number| P::put(*number, &mut out));
    Datum::Bytes(out.into())
}

/// The numbers of a vector.
pub(super) fn numbers<P: Precision>(value: &Datum) -> Vec<f32> {
    let bytes = <&[u8]>::from_datum(value);
    bytes.get(4..).unwrap_or_default().chunks_exact(P::BYTES).map(P::get).collect()
}

/// The descriptor of a type of dense vectors.
pub(super) const fn dense_type<P: Precision>(number: u32) -> TypeImp {
    let row = TypeInfo::new(Oid(number), P::NAME, b'U', Physical::Varlena);
    TypeImp {
        row: Some(TypeInfo { storage: b'e', ..row }),
        input: |_, text, typmod, _| read::<P>(text, typmod),
        output: |_, value, cx, out| write::<P>(value, cx, out),
        receive: |_, reader, typmod, _| receive::<P>(reader, typmod),
        send: |_, value, _, out| send::<P>(value, out),
        typmod_in: |_, words| modifier(P::NAME, words, MOST as i32),
        typmod_out: show_modifier,
        compare: Some(super::dense::compare::<P>),
        equal: Some(|a, b| super::dense::compare::<P>(a, b).is_eq()),
        ..TypeImp::NONE
    }
}

/// `(3)`
pub(super) fn show_modifier(typmod: i32) -> String {
    if typmod < 0 { String::new() } else { format!("({typmod})") }
}
