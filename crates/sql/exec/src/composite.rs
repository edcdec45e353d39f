//! Arrays and rows in expressions.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::array::Array;

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

/// The value of an array or row expression.
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
        _ => Err(SqlError::not_supported("a composite value")),
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

fn element_at(subscript: &SubscriptCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    if subscript.slice || subscript.assign.is_some() || subscript.upper.len() != 1 {
        return Err(SqlError::not_supported("this kind of array subscript"));
    }
    let value = subscript.array.eval(rows, cx)?;
    let Some(Some(index)) = subscript.upper.first() else {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array subscript must not be empty"));
    };
    let index = match index.eval(rows, cx)? {
        Datum::Int4(n) => n,
        _ => return Ok(Datum::Null),
    };
    if value.is_null() {
        return Ok(Datum::Null);
    }
    let list = elements(&value, subscript.element, cx)?;
    Ok(usize::try_from(index - 1).ok().and_then(|i| list.into_iter().nth(i)).unwrap_or_default())
}
