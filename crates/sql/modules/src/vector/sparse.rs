//! Sparse vectors: numbers that are not 0, and where they are. Text form: `{1:1.5,3:2}/5`, counted from 1.
//!
//! A payload is the number of dimensions and that of the numbers, in 4 bytes each; then where the numbers are, counted from 0, ascending; then the numbers.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use tuple::{Datum, Physical};
use types::Call;
use types::compare::compare_floats;
use types::registry::{TypeImp, TypeInfo};
use types::value::{FromDatum, Reader};

use super::dense::{Precision, array_numbers, cosine_of};
use super::form::{
    MOST, Scanner, check_dimensions, check_modifier, check_number, different, modifier, numbers,
    out_of_range, show_modifier, show_number, store as store_dense,
};

const NAME: &str = "sparsevec";

/// Most dimensions.
const MOST_DIMENSIONS: usize = 1_000_000_000;

/// `sparsevec`
pub(super) const TYPE: TypeImp = TypeImp {
    row: Some(TypeInfo { storage: b'e', ..TypeInfo::new(Oid(9812), NAME, b'U', Physical::Varlena) }),
    input: |_, text, typmod, _| read(text, typmod),
    output: |_, value, cx, out| write(&Sparse::from_datum(value), cx, out),
    receive: |_, reader, typmod, _| receive(reader, typmod),
    send: |_, value, _, out| {
        send(&Sparse::from_datum(value), out);
        Ok(())
    },
    typmod_in: |_, words| modifier(NAME, words, MOST_DIMENSIONS as i32),
    typmod_out: show_modifier,
    compare: Some(compare),
    equal: Some(|a, b| compare(a, b).is_eq()),
    ..TypeImp::NONE
};

struct Sparse {
    dimensions: usize,
    /// Where, and which number.
    entries: Vec<(i32, f32)>,
}

impl FromDatum<'_> for Sparse {
    fn from_datum(value: &Datum) -> Sparse {
        let bytes = <&[u8]>::from_datum(value);
        let word = |at: usize| {
            let word = bytes.get(4 * at..4 * at + 4).and_then(|word| word.try_into().ok());
            i32::from_le_bytes(word.unwrap_or_default())
        };
        let count = (word(1).max(0) as usize).min(bytes.len() / 8);
        let entry = |at: usize| (word(2 + at), f32::from_bits(word(2 + count + at) as u32));
        Sparse { dimensions: word(0).max(0) as usize, entries: (0..count).map(entry).collect() }
    }
}

impl Sparse {
    fn datum(&self) -> Datum {
        let mut out = Vec::with_capacity(8 + 8 * self.entries.len());
        out.extend_from_slice(&(self.dimensions as u32).to_le_bytes());
        out.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
        self.entries.iter().for_each(|(at, _)| out.extend_from_slice(&at.to_le_bytes()));
        self.entries.iter().for_each(|(_, number)| out.extend_from_slice(&number.to_le_bytes()));
        Datum::Bytes(out.into())
    }

    fn check_count(&self) -> SqlResult<()> {
        if self.entries.len() <= MOST {
            return Ok(());
        }
        Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "sparsevec cannot have more than {MOST} non-zero elements"))
    }

    /// Numbers of both vectors where either has one.
    fn along<'a>(&'a self, other: &'a Sparse) -> impl Iterator<Item = (f32, f32)> + 'a {
        let (mut a, mut b) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        std::iter::from_fn(move || {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let next = |of: &mut std::iter::Peekable<std::slice::Iter<'_, (i32, f32)>>, takes: bool| {
                if takes { of.next().map_or(0.0, |(_, number)| *number) } else { 0.0 }
            };
            Some((next(&mut a, order.is_le()), next(&mut b, order.is_ge())))
        })
    }
}

fn data(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::DATA_EXCEPTION, message.into())
}

fn read(text: &str, typmod: i32) -> SqlResult<Datum> {
    let mut scanner = Scanner::new(NAME, text);
    if !scanner.take('{') {
        return Err(scanner.wrong().detail("Vector contents must start with \"{\"."));
    }
    let mut entries = Vec::new();
    if !scanner.take('}') {
        loop {
            let at = scanner.integer()?.clamp(i64::from(i32::MIN) + 1, i64::from(i32::MAX)) as i32;
            if !scanner.take(':') {
                return Err(scanner.wrong());
            }
            let number = scanner.number()?;
            if entries.len() > MOST {
                break;
            }
            // What is 0 need not be said.
            if number != 0.0 {
                entries.push((at - 1, number));
            }
            if scanner.take('}') {
                break;
            }
            if !scanner.take(',') {
                return Err(scanner.wrong());
            }
        }
    }
    if !scanner.take('/') {
        return Err(scanner.wrong());
    }
    let dimensions = usize::try_from(scanner.integer()?).unwrap_or(0);
    if !scanner.at_end() {
        return Err(scanner.wrong().detail("Junk after closing."));
    }
    check_dimensions(NAME, dimensions, MOST_DIMENSIONS)?;
    check_modifier(typmod, dimensions)?;
    entries.sort_by_key(|(at, _)| *at);
    let vector = Sparse { dimensions, entries };
    vector.check_count()?;
    if vector.entries.iter().any(|(at, _)| *at < 0 || *at as usize >= dimensions) {
        return Err(data("sparsevec index out of bounds"));
    }
    if vector.entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(data("sparsevec indices must not contain duplicates"));
    }
    Ok(vector.datum())
}

fn write(of: &Sparse, cx: &Call<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    out.push(b'{');
    for (i, (at, number)) in of.entries.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(format!("{}:", i64::from(*at) + 1).as_bytes());
        show_number(*number, cx, out)?;
    }
    out.extend_from_slice(format!("}}/{}", of.dimensions).as_bytes());
    Ok(())
}

fn receive(reader: &mut Reader<'_>, typmod: i32) -> SqlResult<Datum> {
    let (dimensions, count, unused) = (reader.i32()?, reader.i32()?, reader.i32()?);
    let dimensions = usize::try_from(dimensions).unwrap_or(0);
    check_dimensions(NAME, dimensions, MOST_DIMENSIONS)?;
    check_modifier(typmod, dimensions)?;
    let count =
        usize::try_from(count).map_err(|_| data("sparsevec cannot have less than 0 non-zero elements"))?;
    if count > MOST || count > dimensions {
        return Err(data("sparsevec cannot have more non-zero elements than dimensions"));
    }
    if unused != 0 {
        return Err(data(format!("expected unused to be 0, not {unused}")));
    }
    let places = (0..count).map(|_| reader.i32()).collect::<SqlResult<Vec<i32>>>()?;
    let mut entries = Vec::with_capacity(count);
    for (i, at) in places.iter().enumerate() {
        if *at < 0 || *at as usize >= dimensions {
            return Err(data("sparsevec index out of bounds"));
        }
        if i > 0 && *at <= places[i - 1] {
            return Err(data("sparsevec indices must be in ascending order"));
        }
        let number = f32::from_be_bytes(reader.array()?);
        check_number(NAME, number)?;
        if number == 0.0 {
            return Err(data("binary representation of sparsevec cannot contain zero values"));
        }
        entries.push((*at, number));
    }
    Ok(Sparse { dimensions, entries }.datum())
}

fn send(of: &Sparse, out: &mut Vec<u8>) {
    for word in [of.dimensions as i32, of.entries.len() as i32, 0] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    of.entries.iter().for_each(|(at, _)| out.extend_from_slice(&at.to_be_bytes()));
    of.entries.iter().for_each(|(_, number)| out.extend_from_slice(&number.to_be_bytes()));
}

/// The sum of what is made of both numbers, over all dimensions.
fn sum(args: &[Datum], of: fn(f32, f32) -> f32) -> SqlResult<f64> {
    let (a, b) = (Sparse::from_datum(&args[0]), Sparse::from_datum(&args[1]));
    if a.dimensions != b.dimensions {
        return Err(different(NAME, a.dimensions, b.dimensions));
    }
    Ok(f64::from(a.along(&b).map(|(a, b)| of(a, b)).sum::<f32>()))
}

pub(super) fn l2(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(sum(args, |a, b| (a - b) * (a - b))?.sqrt()))
}

pub(super) fn l2_squared(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(sum(args, |a, b| (a - b) * (a - b))?))
}

pub(super) fn inner(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(sum(args, |a, b| a * b)?))
}

pub(super) fn negative_inner(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(-sum(args, |a, b| a * b)?))
}

pub(super) fn cosine(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let product = sum(args, |a, b| a * b)?;
    let [a, b] = [sum(args, |a, _| a * a)?, sum(args, |_, b| b * b)?];
    Ok(Datum::Float8(cosine_of(product, [a, b])))
}

pub(super) fn l1(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(sum(args, |a, b| (a - b).abs())?))
}

fn length(of: &Sparse) -> f64 {
    of.entries.iter().map(|(_, number)| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt()
}

pub(super) fn norm(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Float8(length(&Sparse::from_datum(&args[0]))))
}

pub(super) fn normalize(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let mut of = Sparse::from_datum(&args[0]);
    let length = length(&of);
    for (_, number) in &mut of.entries {
        *number = (f64::from(*number) / length) as f32;
        if number.is_infinite() {
            return Err(out_of_range("overflow"));
        }
    }
    of.entries.retain(|(_, number)| *number != 0.0);
    Ok(of.datum())
}

/// Order of numbers in the order of dimensions, then by how many dimensions there are.
fn compare(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (Sparse::from_datum(a), Sparse::from_datum(b));
    let mut orders = a.along(&b).map(|(a, b)| compare_floats(f64::from(a), f64::from(b)));
    orders.find(|order| order.is_ne()).unwrap_or(a.dimensions.cmp(&b.dimensions))
}

pub(super) fn related(args: &[Datum], is: fn(Ordering) -> bool) -> SqlResult<Datum> {
    Ok(Datum::Bool(is(compare(&args[0], &args[1]))))
}

pub(super) fn three_way(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Int4(compare(&args[0], &args[1]) as i32))
}

fn typmod(args: &[Datum]) -> i32 {
    args.get(1).map_or(-1, i32::from_datum)
}

/// A vector on its way into a column of so many dimensions.
pub(super) fn sized(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    check_modifier(typmod(args), Sparse::from_datum(&args[0]).dimensions)?;
    Ok(args[0].clone())
}

fn of_numbers(numbers: Vec<f32>) -> SqlResult<Datum> {
    let dimensions = numbers.len();
    let entries = (0..).zip(numbers).filter(|(_, number)| *number != 0.0).collect();
    let vector = Sparse { dimensions, entries };
    vector.check_count()?;
    Ok(vector.datum())
}

pub(super) fn from_dense<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = numbers::<P>(&args[0]);
    check_modifier(typmod(args), of.len())?;
    of_numbers(of)
}

pub(super) fn from_array(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    of_numbers(array_numbers(NAME, args, MOST_DIMENSIONS)?)
}

pub(super) fn to_dense<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = Sparse::from_datum(&args[0]);
    check_dimensions(P::NAME, of.dimensions, MOST)?;
    check_modifier(typmod(args), of.dimensions)?;
    let mut numbers = vec![0.0; of.dimensions];
    for (at, number) in &of.entries {
        if let Some(place) = numbers.get_mut(*at as usize) {
            *place = P::checked(*number)?;
        }
    }
    Ok(store_dense::<P>(&numbers))
}
