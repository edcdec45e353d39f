//! Arrays in expressions.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;
use types::array::{Array, Bound};

use crate::cx::Cx;
use crate::eval::{ArrayCode, Code, Rows, SubscriptCode};

/// The elements of an array value, in storage order.
pub fn elements(value: &Datum, _element: Oid, _cx: &Cx<'_>) -> SqlResult<Vec<Datum>> {
    match value {
        Datum::Bytes(bytes) => Ok(Array::from_payload(bytes).into_elements()),
        _ => Ok(Vec::new()),
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
            if shape.nested {
                return Err(SqlError::not_supported("a multidimensional ARRAY[] constructor"));
            }
            let mut list = Vec::with_capacity(codes.len());
            for code in codes {
                list.push(code.eval(rows, cx)?);
            }
            make_array(list, shape.element, cx)
        }
        Code::ArrayOp(op) => array_op(op, rows, cx),
        Code::ArrayCast { arg, element, cell, source, target } => {
            let value = arg.eval(rows, cx)?;
            if value.is_null() {
                return Ok(value);
            }
            let mut list = elements(&value, *source, cx)?;
            for item in &mut list {
                cx.set(*cell, std::mem::take(item));
                *item = element.eval(rows, cx)?;
            }
            make_array(list, *target, cx)
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
    let list = elements(&array, op.element, cx)?;
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
        match (op.eval)(&call, &args)? {
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

/// `array[i]`, `array[l:u]`; a NULL subscript gives NULL.
fn element_at(code: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    if code.assign.is_some() {
        return Err(SqlError::not_supported("assignment to an array element"));
    }
    let Datum::Bytes(bytes) = code.array.eval(rows, cx)? else { return Ok(Datum::Null) };
    let array = Array::from_payload(&bytes);
    let mut bounds = Vec::with_capacity(code.upper.len());
    for (i, upper) in code.upper.iter().enumerate() {
        let Some(upper) = subscript(upper, rows, cx)? else { return Ok(Datum::Null) };
        let lower = match code.lower.get(i) {
            Some(lower) => subscript(lower, rows, cx)?,
            None => Some(Some(1)),
        };
        let Some(lower) = lower else { return Ok(Datum::Null) };
        bounds.push(Bound { lower, upper });
    }
    if code.slice {
        return Ok(array.slice(&bounds).to_datum());
    }
    let subscripts: Vec<i32> = bounds.iter().filter_map(|b| b.upper).collect();
    Ok(array.get(&subscripts))
}
