//! Text and binary forms of every type, by OID.

use base::{Oid, SqlResult};
use tuple::Datum;

use crate::call::Call;

/// Value of a text form, brought to `typmod` (-1: none).
pub fn input(type_oid: Oid, text: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let _ = (type_oid, text, typmod, cx);
    todo!()
}

/// Appends a value's text form. The value is not NULL.
pub fn output(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let _ = (type_oid, value, cx, out);
    todo!()
}

/// Value of a binary form, brought to `typmod` (-1: none).
pub fn receive(type_oid: Oid, bytes: &[u8], typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let _ = (type_oid, bytes, typmod, cx);
    todo!()
}

/// Appends a value's binary form, without its length. The value is not NULL.
pub fn send(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let _ = (type_oid, value, cx, out);
    todo!()
}

/// The type modifier that `numeric(10,2)` and its like mean: the modifiers as text to the stored number.
pub fn typmod_in(type_oid: Oid, modifiers: &[&str]) -> SqlResult<i32> {
    let _ = (type_oid, modifiers);
    todo!()
}

/// A type modifier as `format_type` prints it behind the name: `(10,2)`, or nothing.
pub fn typmod_out(type_oid: Oid, typmod: i32) -> String {
    let _ = (type_oid, typmod);
    todo!()
}

/// SQL name of a built-in type with its modifier: `character varying(20)`, `integer[]`. `None` for a type that is not
/// built in.
pub fn format_type(type_oid: Oid, typmod: Option<i32>) -> Option<String> {
    let _ = (type_oid, typmod);
    todo!()
}
