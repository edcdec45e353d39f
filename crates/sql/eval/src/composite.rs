//! Arrays in expressions.

use base::{Oid, SqlError, SqlResult, sql_err};
use smallvec::SmallVec;
use tuple::Datum;
use types::array::{self, Array, Bound};

use crate::code::{ArrayCode, Code, Rows, SubscriptCode};
use crate::cx::Cx;

/// The elements of an array value, in storage order.
pub fn elements(value: &Datum) -> Vec<Datum> {
    match value {
        Datum::Bytes(bytes) => Array::from_payload(bytes).into_elements(),
        _ => Vec::new(),
    }
}

/// A one-dimensional array.
pub fn make_array(list: Vec<Datum>, element: Oid, cx: &Cx<'_>) -> SqlResult<Datum> {
    let call = cx.call(&[], element, Oid::INVALID, false);
    Ok(Array::from_values(element, list, &call)?.to_datum())
}

/// The value of an array expression.
pub fn eval(code: &Code, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    match code {
        Code::Array(codes, shape) => {
            let mut list = Vec::with_capacity(codes.len());
            for code in codes {
                list.push(code.eval(rows, cx)?);
            }
            if shape.nested {
                return array::nested(
                    shape.element,
                    &list,
                    &cx.call(&[], shape.element, Oid::INVALID, false),
                );
            }
            make_array(list, shape.element, cx)
        }
        Code::ArrayOp(op) => array_op(op, rows, cx),
        Code::ArrayCast { arg, element, cell, target } => {
            let value = arg.eval(rows, cx)?;
            if value.is_null() {
                return Ok(value);
            }
            let Datum::Bytes(bytes) = &value else { return Ok(Datum::Null) };
            let array = Array::from_payload(bytes);
            let dimensions = array.dimensions.clone();
            let mut list = array.into_elements();
            for item in &mut list {
                cx.set(*cell, std::mem::take(item));
                *item = element.eval(rows, cx)?;
            }
            let call = cx.call(&[], *target, Oid::INVALID, false);
            Ok(Array::with_dimensions(*target, dimensions, list, &call)?.to_datum())
        }
        Code::Subscript(subscript) => element_at(subscript, rows, cx),
        _ => Err(SqlError::internal("not an array expression")),
    }
}

/// `left op ANY (array)`, `left op ALL (array)`.
fn array_op(op: &ArrayCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let array = op.array.eval(rows, cx)?;
    if array.is_null() {
        return Ok(Datum::Null);
    }
    let left = op.left.eval(rows, cx)?;
    let list = elements(&array);
    if list.is_empty() {
        return Ok(Datum::Bool(!op.any));
    }
    if op.strict && left.is_null() {
        return Ok(Datum::Null);
    }
    let mut result = Datum::Bool(!op.any);
    let mut args = [left, Datum::Null];
    for item in list {
        if op.strict && item.is_null() {
            result = Datum::Null;
            continue;
        }
        args[1] = item;
        let call = cx.call(&op.types, Oid(16), op.collation, false);
        let value = match &op.routine {
            None => (op.eval)(&call, &args)?,
            Some(routine) => {
                cx.env.session.call_routine(routine, &call, &args, (cx.env.snapshot, cx.env.command))?
            }
        };
        match value {
            Datum::Bool(v) if v == op.any => return Ok(Datum::Bool(op.any)),
            Datum::Null => result = Datum::Null,
            _ => {}
        }
    }
    Ok(result)
}

fn subscript(code: &Option<Code>, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<Option<i32>>> {
    match code {
        None => Ok(Some(None)),
        Some(code) => match code.eval(rows, cx)? {
            Datum::Int4(n) => Ok(Some(Some(n))),
            _ => Ok(None),
        },
    }
}

/// The subscripts of a reference; none if one of them is NULL.
fn bounds_of(code: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<Vec<Bound>>> {
    let mut bounds = Vec::with_capacity(code.upper.len());
    for (i, upper) in code.upper.iter().enumerate() {
        let Some(upper) = subscript(upper, rows, cx)? else { return Ok(None) };
        let lower = match code.lower.get(i) {
            Some(lower) => subscript(lower, rows, cx)?,
            None => Some(Some(1)),
        };
        let Some(lower) = lower else { return Ok(None) };
        bounds.push(Bound { lower, upper });
    }
    Ok(Some(bounds))
}

/// `array[i]`, `array[l:u]`; a NULL subscript gives NULL.
fn element_at(code: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    if code.json {
        return json_at(code, rows, cx);
    }
    if let Some(of) = code.entries {
        return entry_at(code, of, rows, cx);
    }
    if let Some(shape) = code.fixed {
        return fixed_at(code, shape, rows, cx);
    }
    if let Some(value) = &code.assign {
        return assigned(code, value, rows, cx);
    }
    if let Code::Param(number) = code.array
        && !code.slice
        && let Some(Some(array)) = cx.arrays.get(number)
    {
        return Ok(subscripts_of(code, rows, cx)?.map_or(Datum::Null, |at| array.get(&at)));
    }
    let Datum::Bytes(bytes) = code.array.eval(rows, cx)? else { return Ok(Datum::Null) };
    let Some(bounds) = bounds_of(code, rows, cx)? else { return Ok(Datum::Null) };
    let array = Array::from_payload(&bytes);
    if code.slice {
        return Ok(array.slice(&bounds).to_datum());
    }
    let subscripts: Vec<i32> = bounds.iter().filter_map(|b| b.upper).collect();
    Ok(array.get(&subscripts))
}

/// Subscripts of one element.
pub type Subscripts = SmallVec<[i32; 2]>;

/// The subscripts of a reference to one element; none if one of them is NULL.
fn subscripts_of(code: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Option<Subscripts>> {
    let mut at = Subscripts::new();
    for upper in &code.upper {
        let Some(Some(n)) = subscript(upper, rows, cx)? else { return Ok(None) };
        at.push(n);
    }
    Ok(Some(at))
}

impl SubscriptCode {
    /// The parameter that is an array of which this is a copy with another element, if it is no more than that.
    pub fn changes_parameter(&self) -> Option<usize> {
        let plain = !self.json && self.entries.is_none() && self.fixed.is_none() && !self.slice;
        match (&self.array, &self.assign) {
            (Code::Param(number), Some(_)) if plain && self.upper.iter().all(Option::is_some) => {
                Some(*number)
            }
            _ => None,
        }
    }

    /// Where the element is and what it is to be.
    pub fn change(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<(Subscripts, Datum)> {
        let Some(at) = subscripts_of(self, rows, cx)? else { return Err(null_subscript("array")) };
        let value = self.assign.as_ref().map_or(Ok(Datum::Null), |value| value.eval(rows, cx))?;
        Ok((at, value))
    }
}

fn null_subscript(container: &str) -> SqlError {
    sql_err!(NULL_VALUE_NOT_ALLOWED, "{container} subscript in assignment must not be null")
}

/// The array with an element or a slice replaced; a NULL array counts as empty, a NULL slice changes nothing.
fn assigned(code: &SubscriptCode, value: &Code, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let old = code.array.eval(rows, cx)?;
    let Some(bounds) = bounds_of(code, rows, cx)? else {
        return Err(null_subscript("array"));
    };
    let value = value.eval(rows, cx)?;
    if code.slice && value.is_null() {
        return Ok(old);
    }
    let mut array = match &old {
        Datum::Bytes(bytes) => Array::from_payload(bytes),
        _ => Array::empty(code.element, &cx.call(&[], code.element, Oid::INVALID, false))?,
    };
    match (&value, code.slice) {
        (Datum::Bytes(bytes), true) => array.set_slice(&bounds, &Array::from_payload(bytes))?,
        _ => {
            let subscripts: Vec<i32> = bounds.iter().filter_map(|b| b.upper).collect();
            array.set(&subscripts, value)?;
        }
    }
    Ok(array.to_datum())
}

/// An element of a value of fixed length, or the value with a new element there (unless either is NULL).
fn fixed_at(
    code: &SubscriptCode,
    shape: types::array::FixedArray,
    rows: Rows<'_>,
    cx: &mut Cx<'_>,
) -> SqlResult<Datum> {
    let container = code.array.eval(rows, cx)?;
    let bounds = bounds_of(code, rows, cx)?;
    if code.slice {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "slices of fixed-length arrays not implemented"));
    }
    let upper = |bounds: &[Bound]| bounds.iter().filter_map(|b| b.upper).collect::<Vec<i32>>();
    let Some(value) = &code.assign else {
        return Ok(match (container.is_null(), bounds) {
            (false, Some(bounds)) => shape.get(&container, &upper(&bounds)),
            _ => Datum::Null,
        });
    };
    let Some(bounds) = bounds else { return Err(null_subscript("array")) };
    let value = value.eval(rows, cx)?;
    if container.is_null() || value.is_null() {
        return Ok(container);
    }
    shape.set(&container, &upper(&bounds), &value)
}

/// The text at a key, or the value with another text there.
fn entry_at(
    code: &SubscriptCode,
    of: &types::registry::Entries,
    rows: Rows<'_>,
    cx: &mut Cx<'_>,
) -> SqlResult<Datum> {
    let container = code.array.eval(rows, cx)?;
    let key = match code.upper.first() {
        Some(Some(key)) => key.eval(rows, cx)?,
        _ => Datum::Null,
    };
    match (&code.assign, &key) {
        (None, Datum::Bytes(key)) if !container.is_null() => {
            Ok((of.get)(&container, types::value::str_of(key)))
        }
        (None, _) => Ok(Datum::Null),
        (Some(value), Datum::Bytes(key)) => {
            let value = value.eval(rows, cx)?;
            (of.set)(&container, types::value::str_of(key), &value)
        }
        (Some(_), _) => Err(null_subscript(of.name)),
    }
}

/// `jsonb[…]`, or the document with a new value there.
fn json_at(code: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let document = code.array.eval(rows, cx)?;
    if document.is_null() && code.assign.is_none() {
        return Ok(Datum::Null);
    }
    let mut path = Vec::with_capacity(code.upper.len());
    for step in code.upper.iter().flatten() {
        path.push(match step.eval(rows, cx)? {
            Datum::Int4(n) => types::json::Subscript::Index(n),
            Datum::Bytes(text) => types::json::Subscript::Key(types::value::str_of(&text).to_owned()),
            _ if code.assign.is_none() => return Ok(Datum::Null),
            _ => {
                return Err(null_subscript("jsonb"));
            }
        });
    }
    match &code.assign {
        None => types::json::subscript(&document, &path),
        Some(value) => {
            let value = value.eval(rows, cx)?;
            types::json::assign(&document, &path, &value)
        }
    }
}
