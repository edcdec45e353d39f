//! Text and binary forms of every type, by OID.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::{
    array,
    call::{Call, RegKind},
    compare::{is_oid_alias, widen},
    date, float, ids, int, interval, macaddr, network,
    numeric::{self, Numeric},
    oids, piece, range, record, snapshot, text, time, timestamp,
    value::{FromDatum, IntoDatum, Reader},
};

use super::{TypeInfo, builtin_type};

/// Value of a text form, brought to `typmod` (-1: none).
pub fn input(type_oid: Oid, value: &str, typmod: i32, cx: &Call) -> SqlResult<Datum> {
    Ok(match type_oid {
        oids::int4 => Datum::Int4(int::parse(value, "integer")?),
        oids::text | oids::unknown | oids::cstring | oids::refcursor => piece::datum(value.as_bytes())?,
        oids::varchar => piece::datum(text::varchar_fit(value, typmod, false)?.as_bytes())?,
        oids::bpchar => text::bpchar_fit(value, typmod, false)?,
        oids::int8 => Datum::Int8(int::parse(value, "bigint")?),
        oids::int2 => Datum::Int2(int::parse(value, "smallint")?),
        oids::bool => Datum::Bool(crate::bool::parse(value)?),
        oids::char => Datum::Char(ids::char_in(value.as_bytes())),
        oids::name => text::name_datum(value),
        oids::float4 => Datum::Float4(float::parse4(value)?),
        oids::float8 => Datum::Float8(float::parse8(value)?),
        oids::numeric => Numeric::parse(value)?.apply_typmod(typmod)?.into_datum()?,
        oids::bytea => Datum::Bytes(text::bytea_in(value)?.into()),
        oids::oid => Datum::Oid(ids::parse_oid(value, "oid")?),
        oids::xid => Datum::Oid(ids::parse_oid(value, "xid")?),
        oids::cid => Datum::Oid(ids::parse_oid(value, "cid")?),
        oids::xid8 => Datum::Int8(ids::parse_xid8(value)?),
        oids::pg_lsn => Datum::Int8(ids::parse_lsn(value)?),
        oids::tid => ids::parse_tid(value)?,
        oids::uuid => ids::parse_uuid(value)?,
        oids::inet | oids::cidr => network::parse(value, type_oid == oids::cidr)?,
        oids::macaddr => macaddr::parse(value)?,
        oids::macaddr8 => macaddr::parse8(value)?,
        oids::pg_snapshot | oids::txid_snapshot => snapshot::parse(value)?,
        oids::date => Datum::Int4(date::parse(value, cx)?),
        oids::time => Datum::Int8(time::parse(value, typmod, cx)?),
        oids::timetz => time::parse_timetz(value, typmod, cx)?,
        oids::timestamp => Datum::Int8(timestamp::parse(value, typmod, cx)?),
        oids::timestamptz => Datum::Int8(timestamp::parse_tz(value, typmod, cx)?),
        oids::interval => interval::parse(value, typmod, cx)?,
        oids::oidvector => array::vector_input(value, true)?,
        oids::int2vector => array::vector_input(value, false)?,
        oids::json => crate::json::json_from_text(value)?,
        oids::jsonb => crate::json::from_text(value)?,
        oids::jsonpath => crate::json::path::from_text(value)?,
        oids::money => Datum::Int8(crate::money::parse(value)?),
        oids::bit | oids::varbit => crate::bits::parse(type_oid, value, typmod)?,
        _ if is_geometric(type_oid) => crate::geometry::input(type_oid, value)?,
        oids::void => Datum::text(""),
        // Its text form has names of roles.
        oids::aclitem => return cx.session.type_input(type_oid, value, typmod),
        _ if is_oid_alias(type_oid) => reg_input(type_oid, value, cx)?,
        _ => match builtin_type(type_oid) {
            Some(info) if info.is_array() => return array::input(info.element, value, typmod, cx),
            Some(info) if info.kind == b'r' => {
                return range::input(&range::range_info(type_oid, cx)?, value, cx);
            }
            Some(info) if info.kind == b'm' => {
                return range::multirange_input(&range::range_info(type_oid, cx)?, value, cx);
            }
            Some(_) if type_oid == oids::record => return Err(anonymous_input()),
            Some(info) => return Err(no_input(info)),
            None => return cx.session.type_input(type_oid, value, typmod),
        },
    })
}

fn is_geometric(type_oid: Oid) -> bool {
    matches!(
        type_oid,
        oids::point | oids::lseg | oids::path | oids::r#box | oids::polygon | oids::line | oids::circle
    )
}

fn anonymous_input() -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "input of anonymous composite types is not implemented")
}

fn no_input(info: &TypeInfo) -> SqlError {
    sql_err!(
        FEATURE_NOT_SUPPORTED,
        "cannot accept a value of type {}",
        format_type(info.oid, None).unwrap_or_default()
    )
}

/// The kind of object that an alias type names.
pub fn reg_kind(type_oid: Oid) -> Option<RegKind> {
    Some(match type_oid {
        oids::regclass => RegKind::Class,
        oids::regtype => RegKind::Type,
        oids::regproc => RegKind::Proc,
        oids::regprocedure => RegKind::Procedure,
        oids::regoper => RegKind::Oper,
        oids::regoperator => RegKind::Operator,
        oids::regnamespace => RegKind::Namespace,
        oids::regrole => RegKind::Role,
        oids::regcollation => RegKind::Collation,
        oids::regconfig => RegKind::Config,
        oids::regdictionary => RegKind::Dictionary,
        _ => return None,
    })
}

/// `-` is 0, digits are the number itself, all else is looked up.
fn reg_input(type_oid: Oid, value: &str, cx: &Call) -> SqlResult<Datum> {
    if value == "-" {
        return Ok(Datum::Oid(0));
    }
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(Datum::Oid(ids::parse_oid(value, "oid")?));
    }
    let kind = reg_kind(type_oid).unwrap_or(RegKind::Class);
    Ok(Datum::Oid(cx.session.reg_lookup(kind, value)?.0))
}

/// Appends a value's text form. The value is not NULL.
pub fn output(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    match type_oid {
        oids::int2 | oids::int4 | oids::int8 => push_int(widen(value), out),
        oids::oid | oids::xid | oids::cid => push_int(widen(value), out),
        oids::text
        | oids::varchar
        | oids::bpchar
        | oids::name
        | oids::unknown
        | oids::cstring
        | oids::refcursor
        | oids::json
        | oids::jsonpath
        | oids::pg_node_tree => {
            piece::append(out, <&[u8]>::from_datum(value))?;
        }
        oids::bool => out.push(if bool::from_datum(value) { b't' } else { b'f' }),
        oids::char => out.extend_from_slice(ids::char_out(u8::from_datum(value)).as_bytes()),
        oids::float4 => push(float::text4(f32::from_datum(value), cx.format.extra_float_digits), out),
        oids::float8 => push(float::text8(f64::from_datum(value), cx.format.extra_float_digits), out),
        oids::numeric => push(Numeric::from_datum(value), out),
        oids::bytea => text::bytea_out(<&[u8]>::from_datum(value), cx.format.bytea_output, out)?,
        oids::xid8 => push(i64::from_datum(value) as u64, out),
        oids::pg_lsn => push(base::Lsn(i64::from_datum(value) as u64), out),
        oids::tid => {
            let (block, offset) = crate::compare::tid_parts(<&[u8]>::from_datum(value));
            push(format_args!("({block},{offset})"), out);
        }
        oids::uuid => push(ids::uuid_text(<&[u8]>::from_datum(value)), out),
        oids::inet | oids::cidr => push(network::text(value, type_oid == oids::cidr), out),
        oids::macaddr | oids::macaddr8 => push(macaddr::text(<&[u8]>::from_datum(value)), out),
        oids::pg_snapshot | oids::txid_snapshot => push(snapshot::text(<&[u8]>::from_datum(value)), out),
        oids::date => push(date::text(i32::from_datum(value), cx), out),
        oids::time => push(time::text(i64::from_datum(value)), out),
        oids::timetz => push(time::timetz_text(<&[u8]>::from_datum(value)), out),
        oids::timestamp => push(timestamp::text(i64::from_datum(value), cx), out),
        oids::timestamptz => push(timestamp::text_tz(i64::from_datum(value), cx), out),
        oids::interval => push(interval::text(<&[u8]>::from_datum(value), cx), out),
        oids::oidvector | oids::int2vector => push(array::vector_output(<&[u8]>::from_datum(value)), out),
        oids::jsonb => return crate::json::output(<&[u8]>::from_datum(value), out),
        oids::money => push(crate::money::text(i64::from_datum(value)), out),
        oids::bit | oids::varbit => push(crate::bits::text(value), out),
        _ if is_geometric(type_oid) => crate::geometry::output(type_oid, value, cx, out),
        oids::void => {}
        oids::aclitem => return cx.session.type_output(type_oid, value, out),
        _ if is_oid_alias(type_oid) => reg_output(type_oid, u32::from_datum(value), cx, out),
        _ => match builtin_type(type_oid) {
            Some(info) if info.is_array() || type_oid == oids::anyarray => {
                return array::output(<&[u8]>::from_datum(value), cx, out);
            }
            Some(info) if info.kind == b'r' || type_oid == oids::anyrange => {
                return range::output(value, cx, out);
            }
            Some(info) if info.kind == b'm' || type_oid == oids::anymultirange => {
                return range::multirange_output(value, cx, out);
            }
            Some(_) if type_oid == oids::record => return record_output(value, cx, out, record::output),
            Some(info) => {
                let name = format_type(info.oid, None).unwrap_or_default();
                return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot display a value of type {name}"));
            }
            None => return cx.session.type_output(type_oid, value, out),
        },
    }
    Ok(())
}

/// One of the two forms of a row.
type RowForm = fn(&[u8], Option<&[record::Column]>, &Call, &mut Vec<u8>) -> SqlResult<()>;

/// A row shown by one of the two forms. A row of a composite type may travel as `record`.
fn record_output(value: &Datum, cx: &Call, out: &mut Vec<u8>, form: RowForm) -> SqlResult<()> {
    let bytes = <&[u8]>::from_datum(value);
    let row_type = record::type_of(bytes);
    let columns = if row_type == oids::record { None } else { cx.session.row_columns(row_type)? };
    form(bytes, columns.as_deref(), cx, out)
}

fn push(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to memory does not fail.
    let _ = write!(out, "{value}");
}

/// Appends a decimal number.
#[inline]
fn push_int(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    base::push_decimal(out, value.unsigned_abs());
}

fn reg_output(type_oid: Oid, value: u32, cx: &Call, out: &mut Vec<u8>) {
    if value == 0 {
        let zero: &[u8] = if matches!(type_oid, oids::regoper | oids::regoperator) { b"0" } else { b"-" };
        out.extend_from_slice(zero);
        return;
    }
    match reg_kind(type_oid).and_then(|kind| cx.session.reg_name(kind, Oid(value))) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => push_int(value.into(), out),
    }
}

/// Value of a binary form, brought to `typmod` (-1: none).
pub fn receive(type_oid: Oid, bytes: &[u8], typmod: i32, cx: &Call) -> SqlResult<Datum> {
    let mut reader = Reader::new(bytes);
    let value = match type_oid {
        oids::bool => Datum::Bool(reader.take(1)?[0] != 0),
        oids::char => Datum::Char(reader.take(1)?[0]),
        oids::int2 => Datum::Int2(reader.i16()?),
        oids::int4 => Datum::Int4(reader.i32()?),
        oids::int8 | oids::xid8 | oids::pg_lsn | oids::money => Datum::Int8(reader.i64()?),
        oids::oid | oids::xid | oids::cid => Datum::Oid(reader.i32()? as u32),
        oids::float4 => Datum::Float4(f32::from_bits(reader.i32()? as u32)),
        oids::float8 => Datum::Float8(f64::from_bits(reader.i64()? as u64)),
        oids::text | oids::unknown | oids::cstring | oids::refcursor => {
            Datum::text(text::check_utf8(reader.rest())?)
        }
        oids::varchar => Datum::text(text::varchar_fit(text::check_utf8(reader.rest())?, typmod, false)?),
        oids::bpchar => text::bpchar_fit(text::check_utf8(reader.rest())?, typmod, false)?,
        oids::name => {
            let name = text::check_utf8(reader.rest())?;
            if name.len() > text::NAME_LENGTH {
                return Err(sql_err!(NAME_TOO_LONG, "identifier too long")
                    .detail("Identifier must be less than 64 characters."));
            }
            Datum::text(name)
        }
        oids::bytea => Datum::Bytes(Bytes::new(reader.rest())),
        oids::numeric => numeric::binary_receive(reader.rest())?.apply_typmod(typmod)?.into_datum()?,
        oids::tid => {
            let block = reader.i32()? as u32;
            ids::tid_datum(block, reader.i16()? as u16)
        }
        oids::uuid => Datum::Bytes(Bytes::new(reader.take(16)?)),
        oids::inet | oids::cidr => network::receive(&mut reader, type_oid == oids::cidr)?,
        oids::macaddr => Datum::Bytes(Bytes::new(reader.take(6)?)),
        oids::macaddr8 => macaddr::receive8(reader.rest())?,
        oids::pg_snapshot | oids::txid_snapshot => snapshot::receive(&mut reader)?,
        oids::date => Datum::Int4(date::check(reader.i32()?)?),
        oids::time => Datum::Int8(time::receive(reader.i64()?, typmod)?),
        oids::timetz => time::receive_timetz(reader.i64()?, reader.i32()?, typmod)?,
        oids::timestamp | oids::timestamptz => Datum::Int8(timestamp::receive(reader.i64()?, typmod)?),
        oids::interval => interval::receive(reader.i64()?, reader.i32()?, reader.i32()?, typmod)?,
        oids::oidvector => vector_receive(array::binary_receive(oids::oid, reader.rest(), -1, cx)?)?,
        oids::int2vector => vector_receive(array::binary_receive(oids::int2, reader.rest(), -1, cx)?)?,
        oids::json => crate::json::json_receive(reader.rest())?,
        oids::jsonb => crate::json::receive(reader.rest())?,
        oids::jsonpath => crate::json::path::receive(reader.rest())?,
        oids::bit | oids::varbit => crate::bits::receive(type_oid, &mut reader, typmod)?,
        _ if is_geometric(type_oid) => crate::geometry::receive(type_oid, &mut reader)?,
        oids::void => Datum::text(""),
        _ if is_oid_alias(type_oid) => Datum::Oid(reader.i32()? as u32),
        _ => match builtin_type(type_oid) {
            Some(info) if info.is_array() => return array::binary_receive(info.element, bytes, typmod, cx),
            Some(info) if info.kind == b'r' => {
                range::receive(&range::range_info(type_oid, cx)?, &mut reader, cx)?
            }
            Some(info) if info.kind == b'm' => {
                range::multirange_receive(&range::range_info(type_oid, cx)?, &mut reader, cx)?
            }
            Some(_) if type_oid == oids::record => return Err(anonymous_input()),
            Some(info) => return Err(no_input(info)),
            None => return cx.session.type_receive(type_oid, bytes, typmod),
        },
    };
    reader.end()?;
    Ok(value)
}

/// A vector must have one dimension without NULLs, counted from 0.
fn vector_receive(value: Datum) -> SqlResult<Datum> {
    let array = array::Array::from_payload(<&[u8]>::from_datum(&value));
    if array.dimensions.len() > 1
        || array.has_nulls()
        || array.dimensions.first().is_some_and(|d| d.lower != 0)
    {
        return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid vector data"));
    }
    if array.dimensions.is_empty() {
        return Ok(if array.element == oids::oid { array::from_oids(&[]) } else { array::from_int2s(&[]) });
    }
    Ok(value)
}

/// Appends a value's binary form, without its length. The value is not NULL.
pub fn send(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    match type_oid {
        oids::numeric => {
            numeric::binary_send(&Numeric::from_datum(value), out);
            return Ok(());
        }
        oids::tid => {
            let (block, offset) = crate::compare::tid_parts(<&[u8]>::from_datum(value));
            out.extend_from_slice(&block.to_be_bytes());
            out.extend_from_slice(&offset.to_be_bytes());
            return Ok(());
        }
        oids::pg_snapshot | oids::txid_snapshot => {
            snapshot::send(<&[u8]>::from_datum(value), out);
            return Ok(());
        }
        oids::timetz => {
            time::send_timetz(<&[u8]>::from_datum(value), out);
            return Ok(());
        }
        oids::interval => {
            interval::send(<&[u8]>::from_datum(value), out);
            return Ok(());
        }
        oids::inet | oids::cidr => {
            network::send(value, type_oid == oids::cidr, out);
            return Ok(());
        }
        oids::jsonb => return crate::json::send(<&[u8]>::from_datum(value), out),
        oids::jsonpath => {
            crate::json::path::send(<&[u8]>::from_datum(value), out);
            return Ok(());
        }
        oids::bit | oids::varbit => {
            crate::bits::send(value, out);
            return Ok(());
        }
        _ if is_geometric(type_oid) => {
            crate::geometry::send(type_oid, value, out);
            return Ok(());
        }
        oids::void => return Ok(()),
        _ => {}
    }
    match builtin_type(type_oid) {
        Some(info) if info.is_array() => return array::binary_send(<&[u8]>::from_datum(value), cx, out),
        Some(info) if info.kind == b'r' => return range::send(value, cx, out),
        Some(info) if info.kind == b'm' => return range::multirange_send(value, cx, out),
        Some(_) if type_oid == oids::record => return record_output(value, cx, out, record::send),
        None => return cx.session.type_send(type_oid, value, out),
        Some(_) => {}
    }
    match value {
        Datum::Bool(v) => out.push(u8::from(*v)),
        Datum::Char(v) => out.push(*v),
        Datum::Int2(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Int4(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Int8(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Oid(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Float4(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Float8(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        Datum::Toasted(_) | Datum::Null => return Err(SqlError::internal("a value without binary form")),
    }
    Ok(())
}

/// The type modifier that `numeric(10,2)` and its like mean: the modifiers as text to the stored number.
pub fn typmod_in(type_oid: Oid, modifiers: &[&str]) -> SqlResult<i32> {
    match type_oid {
        oids::numeric => numeric::numeric_typmod(modifiers),
        oids::varchar => text::length_typmod(modifiers, "varchar"),
        oids::bpchar => text::length_typmod(modifiers, "char"),
        oids::time | oids::timetz | oids::timestamp | oids::timestamptz => {
            time::precision_typmod(type_oid, modifiers)
        }
        oids::interval => interval::typmod_in(modifiers),
        oids::bit | oids::varbit => crate::bits::typmod_in(type_oid, modifiers),
        _ => match builtin_type(type_oid) {
            Some(info) if info.is_array() => typmod_in(info.element, modifiers),
            _ => Err(sql_err!(
                SYNTAX_ERROR,
                "type modifier is not allowed for type \"{}\"",
                format_type(type_oid, None).unwrap_or_default()
            )),
        },
    }
}

/// A type modifier as `format_type` prints it behind the name: `(10,2)`, or nothing.
pub fn typmod_out(type_oid: Oid, typmod: i32) -> String {
    match type_oid {
        oids::numeric => numeric::format_typmod(typmod),
        oids::varchar | oids::bpchar if typmod > 4 => format!("({})", typmod - 4),
        oids::bit | oids::varbit if typmod >= 0 => format!("({typmod})"),
        oids::time | oids::timestamp if typmod >= 0 => format!("({typmod}) without time zone"),
        oids::timetz | oids::timestamptz if typmod >= 0 => format!("({typmod}) with time zone"),
        oids::time | oids::timestamp => " without time zone".into(),
        oids::timetz | oids::timestamptz => " with time zone".into(),
        oids::interval => interval::typmod_out(typmod),
        _ => String::new(),
    }
}

/// SQL name of a built-in type with its modifier: `character varying(20)`, `integer[]`. `None` for a type that is not
/// built in. A modifier of `Some(-1)` tells `char` without length from `bpchar`, as PostgreSQL does.
pub fn format_type(type_oid: Oid, typmod: Option<i32>) -> Option<String> {
    let info = builtin_type(type_oid)?;
    if info.is_array() && info.storage == b'x' {
        return Some(format_type(info.element, typmod)? + "[]");
    }
    let modifier = typmod.unwrap_or(-1);
    let name = match type_oid {
        oids::int2 => "smallint",
        oids::int4 => "integer",
        oids::int8 => "bigint",
        oids::float4 => "real",
        oids::float8 => "double precision",
        oids::bool => "boolean",
        oids::varchar => "character varying",
        oids::bpchar if modifier == -1 && typmod.is_some() => "bpchar",
        oids::bpchar => "character",
        oids::bit if modifier == -1 && typmod.is_some() => "\"bit\"",
        oids::varbit => "bit varying",
        oids::char => "\"char\"",
        oids::time | oids::timetz => "time",
        oids::timestamp | oids::timestamptz => "timestamp",
        oids::any => "\"any\"",
        _ => info.name,
    };
    Some(format!("{name}{}", typmod_out(type_oid, modifier)))
}
