//! What the methods for vectors share. Their operator classes are [`TreeClass`]es that are asked for keys and distances only.

use base::{Oid, SqlError, SqlState};
use tuple::Datum;
use tuple::tree::{TreeClass, TreeQuery};

use crate::{IndexError, IndexResult, ScanKey, ScanOp};

/// Distance of two keys.
///
/// # Errors
/// They have different numbers of dimensions.
pub fn distance(class: &dyn TreeClass, a: &Datum, b: &Datum) -> IndexResult<f64> {
    let query = TreeQuery { strategy: 1, operand: Oid::INVALID, value: b };
    known(class.distance(a, query, true).0)
}

/// Distance of two keys, by their bytes.
///
/// # Errors
/// They have different numbers of dimensions.
pub fn between(class: &dyn TreeClass, a: &[u8], b: &[u8]) -> IndexResult<f64> {
    known(class.between(a, b))
}

fn known(distance: f64) -> IndexResult<f64> {
    if distance.is_nan() {
        let error = SqlError::new(SqlState::DATA_EXCEPTION, "different vector dimensions");
        return Err(IndexError::Callback(error));
    }
    Ok(distance)
}

/// The key of a row's value, if it has one. `most`: the bytes that there is room for in an index of the `method`.
///
/// # Errors
/// It is longer.
pub fn key_of(
    class: &dyn TreeClass,
    values: &[Datum],
    method: &str,
    most: usize,
) -> IndexResult<Option<Datum>> {
    let Some(value) = values.first().filter(|value| !value.is_null()) else { return Ok(None) };
    let key = class.compress(value);
    let Datum::Bytes(bytes) = &key else { return Ok(None) };
    if bytes.len() > most {
        let what = format!("column cannot have more than 2000 dimensions for {method} index");
        return Err(IndexError::Callback(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, what)));
    }
    Ok(Some(key))
}

/// The key that a scan in this order seeks; none: all rows are as near.
///
/// # Errors
/// The scan has no order.
pub fn sought(
    class: &dyn TreeClass,
    order: Option<&ScanKey>,
    method: &'static str,
) -> IndexResult<Option<Datum>> {
    let Some(order) = order else {
        return Err(IndexError::Unsupported { method, what: "scans without an order" });
    };
    let ScanOp::Operator { value, .. } = &order.op else { return Ok(None) };
    if value.is_null() {
        return Ok(None);
    }
    let key = class.compress(value);
    Ok((!key.is_null()).then_some(key))
}

/// A [setting](crate::settings) of searches; 0 means the default.
pub fn setting(word: usize, default: u32) -> u32 {
    match runtime::word(word) {
        0 => default,
        word => word,
    }
}
