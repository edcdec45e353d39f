//! What is done with dense vectors. Sums of single numbers are single, as pgvector's are; what is made of them is double.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, SqlState, sql_err};
use tuple::Datum;
use types::array::Array;
use types::compare::compare_floats;
use types::value::{FromDatum, Reader};
use types::{Call, oids};

use super::form::{
    MOST, check_dimensions, check_modifier, check_number, different, numbers, out_of_range, store,
};
use super::half;

/// How the numbers of a type lie in its payload.
pub(super) trait Precision {
    const NAME: &'static str;
    /// Bytes of a number.
    const BYTES: usize;
    fn get(bytes: &[u8]) -> f32;
    fn put(number: f32, out: &mut Vec<u8>);
    fn receive(reader: &mut Reader<'_>) -> SqlResult<f32>;
    fn send(number: f32, out: &mut Vec<u8>);
    /// The number as the type can have it; an error if that is infinite.
    fn checked(number: f32) -> SqlResult<f32>;
}

/// `vector`
pub(super) struct Single;
/// `halfvec`
pub(super) struct Half;

impl Precision for Single {
    const NAME: &'static str = "vector";
    const BYTES: usize = 4;

    fn get(bytes: &[u8]) -> f32 {
        f32::from_le_bytes(bytes.try_into().unwrap_or_default())
    }

    fn put(number: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(&number.to_le_bytes());
    }

    fn receive(reader: &mut Reader<'_>) -> SqlResult<f32> {
        Ok(f32::from_be_bytes(reader.array()?))
    }

    fn send(number: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(&number.to_be_bytes());
    }

    fn checked(number: f32) -> SqlResult<f32> {
        Ok(number)
    }
}

impl Precision for Half {
    const NAME: &'static str = "halfvec";
    const BYTES: usize = 2;

    fn get(bytes: &[u8]) -> f32 {
        half::to_single(u16::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn put(number: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(&half::of_single(number).to_le_bytes());
    }

    fn receive(reader: &mut Reader<'_>) -> SqlResult<f32> {
        Ok(half::to_single(u16::from_be_bytes(reader.array()?)))
    }

    fn send(number: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(&half::of_single(number).to_be_bytes());
    }

    fn checked(number: f32) -> SqlResult<f32> {
        let near = half::to_single(half::of_single(number));
        if near.is_infinite() && number.is_finite() {
            return Err(sql_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "\"{number}\" is out of range for type halfvec"
            ));
        }
        Ok(near)
    }
}

/// The numbers of two vectors of as many dimensions, as they lie in their payloads.
fn both<P: Precision>(args: &[Datum]) -> SqlResult<[&[u8]; 2]> {
    let [a, b] = [0, 1].map(|at| <&[u8]>::from_datum(&args[at]));
    pair(a, b).ok_or_else(|| {
        let dimensions = |payload: &[u8]| payload.len().saturating_sub(HEAD) / P::BYTES;
        different(P::NAME, dimensions(a), dimensions(b))
    })
}

/// Bytes before the numbers of a payload.
const HEAD: usize = 4;

/// What lies behind the heads of two payloads, if that is as long.
fn pair<'a>(a: &'a [u8], b: &'a [u8]) -> Option<[&'a [u8]; 2]> {
    (a.len() == b.len()).then(|| [a, b].map(|payload| payload.get(HEAD..).unwrap_or_default()))
}

fn unpack<P: Precision>(numbers: &[u8]) -> Vec<f32> {
    numbers.chunks_exact(P::BYTES).map(P::get).collect()
}

/// How many sums are made at once, so that one addition need not wait for the other.
const SUMS: usize = 8;

fn sum<P: Precision>([a, b]: [&[u8]; 2], of: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0f32; SUMS];
    let at = a.len() / (SUMS * P::BYTES) * (SUMS * P::BYTES);
    let heads = a[..at].chunks_exact(SUMS * P::BYTES).zip(b[..at].chunks_exact(SUMS * P::BYTES));
    let tails = a[at..].chunks_exact(P::BYTES).zip(b[at..].chunks_exact(P::BYTES));
    for (a, b) in heads {
        let pairs = a.chunks_exact(P::BYTES).zip(b.chunks_exact(P::BYTES));
        for (sum, (a, b)) in sums.iter_mut().zip(pairs) {
            *sum += of(P::get(a), P::get(b));
        }
    }
    let tail: f32 = tails.map(|(a, b)| of(P::get(a), P::get(b))).sum();
    sums.iter().sum::<f32>() + tail
}

fn squares<P: Precision>(both: [&[u8]; 2]) -> f64 {
    f64::from(sum::<P>(both, |a, b| (a - b) * (a - b)))
}

fn product<P: Precision>(both: [&[u8]; 2]) -> f64 {
    f64::from(sum::<P>(both, |a, b| a * b))
}

fn differences<P: Precision>(both: [&[u8]; 2]) -> f64 {
    f64::from(sum::<P>(both, |a, b| (a - b).abs()))
}

/// One less the cosine of the angle between two vectors.
fn away<P: Precision>([a, b]: [&[u8]; 2]) -> f64 {
    cosine_of(product::<P>([a, b]), [product::<P>([a, a]), product::<P>([b, b])])
}

/// Distances of payloads: none if they have not as many dimensions.
pub(super) mod between {
    use super::{Precision, away, differences, pair, product, squares};

    pub(in crate::vector) fn l2<P: Precision>(a: &[u8], b: &[u8]) -> Option<f64> {
        Some(squares::<P>(pair(a, b)?).sqrt())
    }

    pub(in crate::vector) fn negative_inner<P: Precision>(a: &[u8], b: &[u8]) -> Option<f64> {
        Some(-product::<P>(pair(a, b)?))
    }

    pub(in crate::vector) fn cosine<P: Precision>(a: &[u8], b: &[u8]) -> Option<f64> {
        pair(a, b).map(away::<P>)
    }

    pub(in crate::vector) fn l1<P: Precision>(a: &[u8], b: &[u8]) -> Option<f64> {
        pair(a, b).map(differences::<P>)
    }
}

fn double(value: f64) -> SqlResult<Datum> {
    Ok(Datum::Float8(value))
}

pub(super) fn l2<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(squares::<P>(both::<P>(args)?).sqrt())
}

pub(super) fn l2_squared<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(squares::<P>(both::<P>(args)?))
}

pub(super) fn inner<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(product::<P>(both::<P>(args)?))
}

pub(super) fn negative_inner<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(-product::<P>(both::<P>(args)?))
}

/// One less the cosine of the angle between two vectors whose product and whose products with themselves these are.
pub(super) fn cosine_of(product: f64, [a, b]: [f64; 2]) -> f64 {
    let similarity = product / (a * b).sqrt();
    // Rounding may go beyond; NaN stays.
    1.0 - similarity.clamp(-1.0, 1.0)
}

pub(super) fn cosine<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(away::<P>(both::<P>(args)?))
}

pub(super) fn l1<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(differences::<P>(both::<P>(args)?))
}

/// The angle between vectors of length 1, as a share of the half circle.
pub(super) fn spherical<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(product::<P>(both::<P>(args)?).clamp(-1.0, 1.0).acos() / std::f64::consts::PI)
}

pub(super) fn dims<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Int4(numbers::<P>(&args[0]).len() as i32))
}

fn length(of: &[f32]) -> f64 {
    of.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt()
}

pub(super) fn norm<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    double(length(&numbers::<P>(&args[0])))
}

pub(super) fn normalize<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = numbers::<P>(&args[0]);
    let length = length(&of);
    let one = |number: f32| if length > 0.0 { (f64::from(number) / length) as f32 } else { 0.0 };
    stored::<P>(of.into_iter().map(one).collect())
}

/// The mean of vectors, one at least, of as many dimensions.
pub(super) fn middle<P: Precision>(of: &[&Datum]) -> Datum {
    store::<P>(&mean(of.iter().map(|vector| numbers::<P>(vector))))
}

/// The direction in which vectors point together, as a vector of length 1; nothing in particular if they point away from each other.
pub(super) fn direction<P: Precision>(of: &[&Datum]) -> Datum {
    store::<P>(&unit(mean(of.iter().map(|vector| unit(numbers::<P>(vector))))))
}

fn mean(of: impl ExactSizeIterator<Item = Vec<f32>>) -> Vec<f32> {
    let count = of.len() as f64;
    let mut sums: Vec<f64> = Vec::new();
    for vector in of {
        sums.resize(sums.len().max(vector.len()), 0.0);
        sums.iter_mut().zip(&vector).for_each(|(sum, number)| *sum += f64::from(*number));
    }
    sums.into_iter().map(|sum| (sum / count) as f32).collect()
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = length(&vector);
    let one = |number: f32| if length > 0.0 { (f64::from(number) / length) as f32 } else { number };
    vector.into_iter().map(one).collect()
}

/// A result, none of whose numbers may be infinite.
fn stored<P: Precision>(result: Vec<f32>) -> SqlResult<Datum> {
    let infinite = |number: &f32| !number.is_finite() || P::checked(*number).is_err();
    match result.iter().any(infinite) {
        true => Err(out_of_range("overflow")),
        false => Ok(store::<P>(&result)),
    }
}

fn each<P: Precision>(args: &[Datum], of: fn(f32, f32) -> f32) -> SqlResult<Datum> {
    let [a, b] = both::<P>(args)?.map(unpack::<P>);
    stored::<P>(a.into_iter().zip(b).map(|(a, b)| of(a, b)).collect())
}

pub(super) fn add<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    each::<P>(args, |a, b| a + b)
}

pub(super) fn subtract<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    each::<P>(args, |a, b| a - b)
}

pub(super) fn multiply<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let [a, b] = both::<P>(args)?.map(unpack::<P>);
    let result: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    let vanished = |((a, b), of): ((&f32, &f32), &f32)| {
        let kept = P::checked(*of).unwrap_or(*of);
        kept == 0.0 && *a != 0.0 && *b != 0.0
    };
    if a.iter().zip(&b).zip(&result).any(vanished) {
        return Err(out_of_range("underflow"));
    }
    stored::<P>(result)
}

pub(super) fn concat<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let mut all = numbers::<P>(&args[0]);
    all.extend(numbers::<P>(&args[1]));
    check_dimensions(P::NAME, all.len(), MOST)?;
    Ok(store::<P>(&all))
}

/// A bit for each number: whether it is above 0.
pub(super) fn quantize<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = numbers::<P>(&args[0]);
    let mut out = (of.len() as u32).to_le_bytes().to_vec();
    for eight in of.chunks(8) {
        let bit = |(i, number): (usize, &f32)| if *number > 0.0 { 0x80u8 >> i } else { 0 };
        out.push(eight.iter().enumerate().map(bit).sum());
    }
    Ok(Datum::Bytes(out.into()))
}

/// So many numbers from one on, counted from 1.
pub(super) fn part<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = numbers::<P>(&args[0]);
    let (start, count) = (i64::from(i32::from_datum(&args[1])), i64::from(i32::from_datum(&args[2])));
    let end = start.saturating_add(count.max(0)).clamp(1, of.len() as i64 + 1);
    let part = of.get(start.max(1) as usize - 1..end as usize - 1).unwrap_or_default();
    check_dimensions(P::NAME, part.len(), MOST)?;
    Ok(store::<P>(part))
}

/// Order by numbers, then by how many there are.
pub(super) fn compare<P: Precision>(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (numbers::<P>(a), numbers::<P>(b));
    let mut orders = a.iter().zip(&b).map(|(a, b)| compare_floats(f64::from(*a), f64::from(*b)));
    orders.find(|order| order.is_ne()).unwrap_or(a.len().cmp(&b.len()))
}

macro_rules! relations {
    ($($name:ident $is:ident;)*) => {
        $(
            pub(super) fn $name<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
                Ok(Datum::Bool(compare::<P>(&args[0], &args[1]).$is()))
            }
        )*
    };
}

relations! { less is_lt; at_most is_le; equal is_eq; not_equal is_ne; at_least is_ge; greater is_gt; }

pub(super) fn three_way<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(Datum::Int4(compare::<P>(&args[0], &args[1]) as i32))
}

/// The count and the sums of an average's state.
fn state(value: &Datum) -> SqlResult<Vec<f64>> {
    let array = Array::from_payload(<&[u8]>::from_datum(value));
    let numbers: Vec<f64> = array.elements().iter().map(f64::from_datum).collect();
    match array.dimensions.len() == 1 && !array.has_nulls() {
        true => Ok(numbers),
        false => Err(SqlError::new(SqlState::DATA_EXCEPTION, "vector_accum: expected state array")),
    }
}

fn state_datum(numbers: Vec<f64>, cx: &Call<'_>) -> SqlResult<Datum> {
    let values = numbers.into_iter().map(Datum::Float8).collect();
    Ok(Array::from_values(oids::float8, values, cx)?.to_datum())
}

fn added(mut sums: Vec<f64>, more: impl ExactSizeIterator<Item = f64>) -> SqlResult<Vec<f64>> {
    if sums.len() == 1 {
        sums.resize(1 + more.len(), 0.0);
    } else if sums.len() != 1 + more.len() {
        return Err(SqlError::new(
            SqlState::DATA_EXCEPTION,
            format!("expected {} dimensions, not {}", sums.len() - 1, more.len()),
        ));
    }
    for (sum, more) in sums[1..].iter_mut().zip(more) {
        *sum += more;
        if sum.is_infinite() {
            return Err(out_of_range("overflow"));
        }
    }
    Ok(sums)
}

/// A step of `avg`.
pub(super) fn accumulate<P: Precision>(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let mut sums = added(state(&args[0])?, numbers::<P>(&args[1]).into_iter().map(f64::from))?;
    sums[0] += 1.0;
    state_datum(sums, cx)
}

/// Two states of `avg` as one.
pub(super) fn combine(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (a, b) = (state(&args[0])?, state(&args[1])?);
    let (Some(first), Some(second)) = (a.first().copied(), b.first().copied()) else {
        return Ok(args[0].clone());
    };
    let mut sums = match (first == 0.0, second == 0.0) {
        (true, _) => b,
        (_, true) => a,
        _ => added(a, b[1..].iter().copied())?,
    };
    sums[0] = first + second;
    state_datum(sums, cx)
}

/// The result of `avg`: NULL of no vectors.
pub(super) fn average<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let state = state(&args[0])?;
    let Some((count, sums)) = state.split_first().filter(|(count, _)| **count > 0.0) else {
        return Ok(Datum::Null);
    };
    check_dimensions(P::NAME, sums.len(), MOST)?;
    stored::<P>(sums.iter().map(|sum| (sum / count) as f32).collect())
}

fn typmod(args: &[Datum]) -> i32 {
    args.get(1).map_or(-1, i32::from_datum)
}

/// A vector on its way into a column of so many dimensions.
pub(super) fn sized<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    check_modifier(typmod(args), numbers::<P>(&args[0]).len())?;
    Ok(args[0].clone())
}

pub(super) fn convert<P: Precision, Q: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of = numbers::<P>(&args[0]);
    check_modifier(typmod(args), of.len())?;
    let of: SqlResult<Vec<f32>> = of.into_iter().map(Q::checked).collect();
    Ok(store::<Q>(&of?))
}

/// The numbers of an array of numbers of any type.
pub(super) fn array_numbers(name: &str, args: &[Datum], most: usize) -> SqlResult<Vec<f32>> {
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    if array.dimensions.len() > 1 {
        return Err(SqlError::new(SqlState::DATA_EXCEPTION, "array must be 1-D"));
    }
    if array.has_nulls() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "array must not contain nulls"));
    }
    check_dimensions(name, array.elements().len(), most)?;
    check_modifier(typmod(args), array.elements().len())?;
    let number = |value: &Datum| match value {
        Datum::Int4(n) => *n as f32,
        Datum::Float4(n) => *n,
        Datum::Float8(n) => *n as f32,
        value => types::numeric::Numeric::from_datum(value).to_f64() as f32,
    };
    let numbers: Vec<f32> = array.elements().iter().map(number).collect();
    numbers.iter().try_for_each(|number| check_number(name, *number))?;
    Ok(numbers)
}

pub(super) fn from_array<P: Precision>(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let of: SqlResult<Vec<f32>> = array_numbers(P::NAME, args, MOST)?.into_iter().map(P::checked).collect();
    Ok(store::<P>(&of?))
}

pub(super) fn to_array<P: Precision>(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let values = numbers::<P>(&args[0]).into_iter().map(Datum::Float4).collect();
    Ok(Array::from_values(oids::float4, values, cx)?.to_datum())
}
