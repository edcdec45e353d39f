//! Arrays of one shape as the items of a new outermost dimension.

use base::{Oid, SqlResult, sql_err};
use tuple::Datum;

use super::{Array, Dimension};
use crate::{call::Call, piece::Pace, value::FromDatum};

fn same_shape(a: &Array, b: &Array) -> bool {
    a.dimensions.len() == b.dimensions.len()
        && a.dimensions.iter().zip(&b.dimensions).all(|(x, y)| x.length == y.length)
}

/// Takes a further array, for `array_agg` and `ARRAY(SELECT …)`.
pub fn accumulate(arrays: &mut Vec<Array>, value: &Datum) -> SqlResult<()> {
    if value.is_null() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
    }
    let array = Array::from_payload(<&[u8]>::from_datum(value));
    if array.dimensions.is_empty() {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "cannot accumulate empty arrays"));
    }
    if arrays.first().is_some_and(|first| !same_shape(first, &array)) {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "cannot accumulate arrays of different dimensionality"));
    }
    arrays.push(array);
    Ok(())
}

/// The arrays, all of the first one's shape, one below the other.
pub fn stacked(arrays: &[Array], cx: &Call) -> SqlResult<Datum> {
    let Some(first) = arrays.first() else { return Ok(Datum::Null) };
    let mut dimensions = first.dimensions.clone();
    dimensions.insert(0, Dimension { length: arrays.len() as i32, lower: 1 });
    super::access::check_count(dimensions.len())?;
    let (mut values, mut pace) = (Vec::new(), Pace::new());
    for array in arrays {
        values.extend_from_slice(array.elements());
        pace.did(16 * array.elements().len())?;
    }
    Ok(Array::with_dimensions(first.element, dimensions, values, cx)?.to_datum())
}

/// `ARRAY[…]` of arrays: NULLs count as empty arrays, and only empty ones give an empty one.
pub fn nested(element: Oid, items: &[Datum], cx: &Call) -> SqlResult<Datum> {
    let mut arrays = Vec::with_capacity(items.len());
    for item in items {
        arrays.push(match item {
            Datum::Null => Array::empty(element, cx)?,
            item => Array::from_payload(<&[u8]>::from_datum(item)),
        });
    }
    if arrays.iter().all(|a| a.dimensions.is_empty()) {
        return Ok(Array::empty(element, cx)?.to_datum());
    }
    if arrays.iter().any(|a| a.dimensions.is_empty() || !same_shape(a, &arrays[0])) {
        return Err(sql_err!(
            ARRAY_SUBSCRIPT_ERROR,
            "multidimensional arrays must have array expressions with matching dimensions"
        ));
    }
    stacked(&arrays, cx)
}
