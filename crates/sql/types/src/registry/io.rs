//! Text and binary forms of every type, by OID.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{builtin_type, type_imp};
use crate::{call::Call, value::Reader};

/// Value of a text form, brought to `typmod` (-1: none).
#[inline]
pub fn input(type_oid: Oid, value: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    (type_imp(type_oid).input)(type_oid, value, typmod, cx)
}

/// Appends a value's text form. The value is not NULL.
#[inline]
pub fn output(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    (type_imp(type_oid).output)(type_oid, value, cx, out)
}

/// Value of a binary form, brought to `typmod` (-1: none).
pub fn receive(type_oid: Oid, bytes: &[u8], typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let mut reader = Reader::new(bytes);
    let value = (type_imp(type_oid).receive)(type_oid, &mut reader, typmod, cx)?;
    reader.end()?;
    Ok(value)
}

/// Appends a value's binary form, without its length. The value is not NULL.
#[inline]
pub fn send(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    (type_imp(type_oid).send)(type_oid, value, cx, out)
}

/// The type modifier that `numeric(10,2)` and the like mean: the modifiers as text to the stored number.
pub fn typmod_in(type_oid: Oid, modifiers: &[&str]) -> SqlResult<i32> {
    (type_imp(type_oid).typmod_in)(type_oid, modifiers)
}

/// A type modifier as `format_type` prints it behind the name: `(10,2)`, or nothing.
pub fn typmod_out(type_oid: Oid, typmod: i32) -> String {
    (type_imp(type_oid).typmod_out)(typmod)
}

/// SQL name of a built-in type with its modifier: `character varying(20)`, `integer[]`. `None` for a type that is not
/// built in. A modifier of `Some(-1)` tells `char` without length from `bpchar`, as PostgreSQL does.
pub fn format_type(type_oid: Oid, typmod: Option<i32>) -> Option<String> {
    let info = builtin_type(type_oid)?;
    if info.is_array() && info.storage == b'x' {
        return Some(format_type(info.element, typmod)? + "[]");
    }
    let imp = type_imp(type_oid);
    let name = match imp.unsized_name {
        Some(name) if typmod == Some(-1) => name,
        _ if imp.sql_name.is_empty() => info.name,
        _ => imp.sql_name,
    };
    Some(format!("{name}{}", (imp.typmod_out)(typmod.unwrap_or(-1))))
}
