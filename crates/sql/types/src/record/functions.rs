//! Comparison of rows as functions: `record_eq` and the like, and the `record_image` family, which compares bits.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use super::{FieldType, Row, aligned, compare_rows, image_order};
use crate::call::{Call, RegKind};
use crate::hashing::{hash32, hash64};
use crate::registry::types::prelude::*;
use crate::value::FromDatum;

/// One of the two forms of a row.
type RowForm = fn(&[u8], Option<&[super::Column]>, &Call, &mut Vec<u8>) -> SqlResult<()>;

/// A row shown by one of the two forms. A row of a composite type may travel as `record`.
fn shown(value: &Datum, cx: &Call, out: &mut Vec<u8>, form: RowForm) -> SqlResult<()> {
    let bytes = <&[u8]>::from_datum(value);
    let row_type = super::type_of(bytes);
    let columns = if row_type == oids::record { None } else { cx.session.row_columns(row_type)? };
    form(bytes, columns.as_deref(), cx, out)
}

fn anonymous_input() -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "input of anonymous composite types is not implemented")
}

fn seeded_hash(value: &Datum, seed: u64) -> u64 {
    let row = Row::from_payload(<&[u8]>::from_datum(value));
    let parts = row.live().map(|(field, value)| {
        (!value.is_null()).then(|| crate::hashing::hash_value(field.comparable, value, seed))
    });
    crate::hashing::hash_list(0, parts)
}

/// Arrays of rows of any columns: the one array type that is a pseudo-type.
pub(crate) static RECORDS: TypeImp = {
    let of = crate::array::kinds::array_of(&RECORD, oids::_record, "_record");
    let Some(row) = of.row else { panic!("an array has a row") };
    TypeImp { row: Some(TypeInfo { kind: b'p', category: b'P', ..row }), ..of }
};

/// A row of any columns. One of a composite type may travel under this name.
pub(crate) static RECORD: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_record,
        io: [Oid(2290), Oid(2291), Oid(2402), Oid(2403)],
        align: 8,
        ..TypeInfo::pseudo(oids::record, "record", Physical::Varlena)
    }),
    input: |_, _, _, _| Err(anonymous_input()),
    output: |_, value, cx, out| shown(value, cx, out, super::output),
    receive: |_, _, _, _| Err(anonymous_input()),
    send: |_, value, cx, out| shown(value, cx, out, super::send),
    compare: Some(|a, b| super::compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b))),
    equal: Some(|a, b| super::compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b)).is_eq()),
    hash: Some(|value| super::hash(<&[u8]>::from_datum(value))),
    seeded_hash: Some(seeded_hash),
    ..TypeImp::NONE
};

functions! {
    2290 record_in(cstring, oid, int4) -> record [stable strict] { input record }
    2291 record_out(record) -> cstring [stable strict] { output record }
    2402 record_recv(internal, oid, int4) -> record [stable strict] { receive record }
    2403 record_send(record) -> bytea [stable strict] { send record }
    2981 record_eq(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| equal(cx, a, b) }
    2982 record_ne(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| equal(cx, a, b).map(|same| !same) }
    2983 record_lt(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(Ordering::is_lt) }
    2984 record_gt(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(Ordering::is_gt) }
    2985 record_le(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(Ordering::is_le) }
    2986 record_ge(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(Ordering::is_ge) }
    2987 btrecordcmp(record, record) -> int4 [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|o| o as i32) }
    6375 record_larger(record, record) -> record [immutable strict] { |cx; a: &Datum, b: &Datum| larger(cx, a, b, true) }
    6376 record_smaller(record, record) -> record [immutable strict] { |cx; a: &Datum, b: &Datum| larger(cx, a, b, false) }
    6192 hash_record(record) -> int4 [immutable strict] { |cx; a: &Datum| hashable(cx, a).map(|()| hash32(crate::oids::record, a)) }
    6193 hash_record_extended(record, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| hashable(cx, a).map(|()| hash64(crate::oids::record, a, seed)) }
    3181 record_image_eq(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_eq) }
    3182 record_image_ne(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_ne) }
    3183 record_image_lt(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_lt) }
    3184 record_image_gt(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_gt) }
    3185 record_image_le(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_le) }
    3186 record_image_ge(record, record) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(Ordering::is_ge) }
    3187 btrecordimagecmp(record, record) -> int4 [immutable strict] { |cx; a: &[u8], b: &[u8]| image(cx, a, b).map(|o| o as i32) }
}

fn name_of(cx: &Call, type_oid: Oid) -> String {
    crate::format_type(type_oid, None)
        .or_else(|| cx.session.reg_name(RegKind::Type, type_oid))
        .unwrap_or_else(|| "???".into())
}

/// Checks two rows before they are compared: the same number of fields, the same types, and a way to compare each pair that the
/// comparison comes to.
fn check(
    cx: &Call,
    a: &Row,
    b: &Row,
    missing: impl Fn(&FieldType) -> Option<SqlError>,
    differs: impl Fn(&FieldType, &Datum, &Datum) -> bool,
) -> SqlResult<()> {
    for (i, ((x_type, x), (y_type, y))) in a.live().zip(b.live()).enumerate() {
        if x_type.type_oid != y_type.type_oid {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "cannot compare dissimilar column types {} and {} at record column {}",
                name_of(cx, x_type.type_oid),
                name_of(cx, y_type.type_oid),
                i + 1
            ));
        }
        if let Some(error) = missing(x_type) {
            return Err(error);
        }
        if differs(x_type, x, y) {
            return Ok(());
        }
    }
    if a.live().count() != b.live().count() {
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "cannot compare record types with different numbers of columns"
        ));
    }
    Ok(())
}

fn same(field: &FieldType, a: &Datum, b: &Datum) -> bool {
    match (a.is_null(), b.is_null()) {
        (false, false) => crate::compare::equal(field.comparable).is_some_and(|equal| equal(a, b)),
        (a, b) => a == b,
    }
}

fn equal(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<bool> {
    let (a, b) = aligned(a, b);
    let missing = |field: &FieldType| {
        crate::compare::equal(field.comparable).is_none().then(|| {
            let name = name_of(cx, field.type_oid);
            sql_err!(UNDEFINED_FUNCTION, "could not identify an equality operator for type {name}")
        })
    };
    check(cx, &a, &b, missing, |field, x, y| !same(field, x, y))?;
    Ok(a.live().zip(b.live()).all(|((field, x), (_, y))| same(field, x, y)))
}

fn order(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<Ordering> {
    let (a, b) = aligned(a, b);
    let missing = |field: &FieldType| {
        crate::compare::compare(field.comparable).is_none().then(|| {
            let name = name_of(cx, field.type_oid);
            sql_err!(UNDEFINED_FUNCTION, "could not identify a comparison function for type {name}")
        })
    };
    check(cx, &a, &b, missing, |field, x, y| !same(field, x, y))?;
    Ok(compare_rows(&a, &b))
}

fn larger(cx: &Call, a: &Datum, b: &Datum, wanted: bool) -> SqlResult<Datum> {
    let (Datum::Bytes(x), Datum::Bytes(y)) = (a, b) else { return Ok(Datum::Null) };
    let found = order(cx, x, y)?;
    Ok(if found.is_gt() == wanted && found.is_ne() { a.clone() } else { b.clone() })
}

fn hashable(cx: &Call, a: &Datum) -> SqlResult<()> {
    let row = Row::from_payload(<&[u8]>::from_datum(a));
    let found = row.live().find(|(field, _)| crate::compare::hash(field.comparable).is_none());
    found.map_or(Ok(()), |(field, _)| Err(crate::hashing::no_hash(cx, field.type_oid)))
}

fn image(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<Ordering> {
    let (a, b) = aligned(a, b);
    let differs = |x: &Datum, y: &Datum| match (x.is_null(), y.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => image_order(x, y),
    };
    check(cx, &a, &b, |_| None, |_, x, y| differs(x, y).is_ne())?;
    let found = a.live().zip(b.live()).map(|((_, x), (_, y))| differs(x, y)).find(|o| o.is_ne());
    Ok(found.unwrap_or(Ordering::Equal))
}
