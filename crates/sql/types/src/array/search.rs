//! Functions that look for elements: `@>`, `&&`, `array_position`, `array_remove` and the like.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::comparator::{Equality, equality_in, order_in};
use crate::{call::Call, value::FromDatum};

use super::{Array, Dimension, Dimensions};

functions! {
    2748 arraycontains(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| contains(cx, a, b) }
    2749 arraycontained(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| contains(cx, b, a) }
    2747 arrayoverlap(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| overlap(cx, a, b) }
    3277 array_position(anycompatiblearray, anycompatible) -> int4 [immutable] { fn position }
    3278 array_position(anycompatiblearray, anycompatible, int4) -> int4 [immutable] { fn position }
    3279 array_positions(anycompatiblearray, anycompatible) -> _int4 [immutable] { fn positions }
    3167 array_remove(anycompatiblearray, anycompatible) -> anycompatiblearray [immutable] { fn remove }
    3168 array_replace(anycompatiblearray, anycompatible, anycompatible) -> anycompatiblearray [immutable] { fn replace }
    3218 width_bucket(anycompatible, anycompatiblearray) -> int4 [immutable strict] { fn width_bucket }
}

/// The equality of an array's elements in the collation of a call.
fn equality(cx: &Call, array: &Array) -> SqlResult<Equality> {
    Ok(equality_in(cx, array.comparable)?.unwrap_or(Equality::Plain(|a, b| a == b)))
}

/// Whether the two are one value, NULL being one.
fn same(equal: Equality, a: &Datum, b: &Datum) -> bool {
    match (a.is_null(), b.is_null()) {
        (false, false) => equal.equal(a, b),
        (a, b) => a && b,
    }
}

fn contains(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<bool> {
    let (a, b) = (Array::from_payload(a), Array::from_payload(b));
    let equal = equality(cx, &a)?;
    // NULL equals nothing here.
    Ok(b.elements()
        .iter()
        .all(|y| !y.is_null() && a.elements().iter().any(|x| !x.is_null() && equal.equal(x, y))))
}

fn overlap(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<bool> {
    let (a, b) = (Array::from_payload(a), Array::from_payload(b));
    let equal = equality(cx, &a)?;
    Ok(b.elements()
        .iter()
        .any(|y| !y.is_null() && a.elements().iter().any(|x| !x.is_null() && equal.equal(x, y))))
}

fn one_dimension(array: &Array, what: &str) -> SqlResult<()> {
    if array.dimensions.len() > 1 {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{what} multidimensional arrays is not supported"));
    }
    Ok(())
}

fn position(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    one_dimension(&array, "searching for elements in")?;
    let lower = array.dimensions.first().map_or(1, |d| d.lower);
    let start = match args.get(2) {
        None => lower,
        Some(Datum::Null) => {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "initial position must not be null"));
        }
        Some(start) => i32::from_datum(start),
    };
    let equal = equality(cx, &array)?;
    let skip = (i64::from(start) - i64::from(lower)).max(0) as usize;
    let found = array.elements().iter().enumerate().skip(skip).find(|(_, v)| same(equal, v, &args[1]));
    Ok(found.map_or(Datum::Null, |(i, _)| Datum::Int4(lower + i as i32)))
}

fn positions(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    one_dimension(&array, "searching for elements in")?;
    let lower = array.dimensions.first().map_or(1, |d| d.lower);
    let equal = equality(cx, &array)?;
    let found = array.elements().iter().enumerate().filter(|(_, v)| same(equal, v, &args[1]));
    let values = found.map(|(i, _)| Datum::Int4(lower + i as i32)).collect();
    Ok(Array::from_values(crate::oids::int4, values, cx)?.to_datum())
}

fn remove(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    one_dimension(&array, "removing elements from")?;
    let equal = equality(cx, &array)?;
    let lower = array.dimensions.first().map_or(1, |d| d.lower);
    let element = array.element;
    let values: Vec<Datum> =
        array.into_elements().into_iter().filter(|v| !same(equal, v, &args[1])).collect();
    let mut dimensions = Dimensions::new();
    if !values.is_empty() {
        dimensions.push(Dimension { length: values.len() as i32, lower });
    }
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

fn replace(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    let equal = equality(cx, &array)?;
    let (element, dimensions) = (array.element, array.dimensions.clone());
    let replaced = |v: Datum| if same(equal, &v, &args[1]) { args[2].clone() } else { v };
    let values = array.into_elements().into_iter().map(replaced).collect();
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

/// Number of thresholds that are not above the value.
fn width_bucket(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let array = Array::from_payload(<&[u8]>::from_datum(&args[1]));
    if array.dimensions.len() > 1 {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "thresholds must be one-dimensional array"));
    }
    if array.has_nulls() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs"));
    }
    let missing = || {
        sql_err!(UNDEFINED_FUNCTION, "could not identify a comparison function for type {}", array.element)
    };
    let order = order_in(cx, array.comparable)?.ok_or_else(missing)?;
    Ok(Datum::Int4(array.elements().partition_point(|t| order.compare(t, &args[0]).is_le()) as i32))
}
