//! The `pg_proc` entries of `json` and `jsonb`.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    array::Array,
    call::Call,
    value::{FromDatum, IntoDatum},
};

use super::{
    binary::{Json, Kind},
    build,
    contains::{contains, exists},
    edit::{self, Change},
    encode, extract,
    walk::{self, compare},
};
use crate::registry::types::prelude::*;

/// A JSON document, as its text.
pub(crate) static JSON: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_json,
        io: [Oid(321), Oid(322), Oid(323), Oid(324)],
        ..TypeInfo::new(oids::json, "json", b'U', Physical::Varlena)
    }),
    input: |_, text, _, _| super::json_from_text(text),
    receive: |_, reader, _, _| super::json_receive(reader.rest()),
    ..crate::text::AS_IS
};

/// A JSON document, taken apart.
pub(crate) static JSONB: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_jsonb,
        io: [Oid(3806), Oid(3804), Oid(3805), Oid(3803)],
        subscript: Oid(6098),
        ..TypeInfo::new(oids::jsonb, "jsonb", b'U', Physical::Varlena)
    }),
    input: |_, text, _, _| super::from_text(text),
    output: |_, value, _, out| super::output(<&[u8]>::from_datum(value), out),
    receive: |_, reader, _, _| super::receive(reader.rest()),
    send: |_, value, _, out| super::send(<&[u8]>::from_datum(value), out),
    compare: Some(super::compare_datums),
    equal: Some(|a, b| super::compare_datums(a, b).is_eq()),
    hash: Some(super::hash_datum),
    seeded_hash: Some(crate::hashing::hash_json),
    ..TypeImp::NONE
};

functions! {
    321 json_in(cstring) -> json [immutable strict] { input json }
    322 json_out(json) -> cstring [immutable strict] { output json }
    323 json_recv(internal) -> json [immutable strict] { receive json }
    324 json_send(json) -> bytea [immutable strict] { send json }
    3803 jsonb_send(jsonb) -> bytea [immutable strict] { send jsonb }
    3804 jsonb_out(jsonb) -> cstring [immutable strict] { output jsonb }
    3805 jsonb_recv(internal) -> jsonb [immutable strict] { receive jsonb }
    3806 jsonb_in(cstring) -> jsonb [immutable strict] { input jsonb }
    2580 float8(jsonb) -> float8 [immutable strict] { |j: Json| number(j, "double precision")?.map(|n| crate::float::parse8(&n.to_string())).transpose() }
    3153 array_to_json(anyarray) -> json [stable strict] { fn encode::to_json }
    3154 array_to_json(anyarray, bool) -> json [stable strict] { fn encode::to_json }
    3155 row_to_json(record) -> json [stable strict] { fn encode::to_json }
    3156 row_to_json(record, bool) -> json [stable strict] { fn encode::to_json }
    3176 to_json(anyelement) -> json [stable strict] { fn encode::to_json }
    3198 json_build_array(any) -> json [stable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn build::json_build_array }
    3199 json_build_array() -> json [stable] { fn build::json_build_array }
    3200 json_build_object(any) -> json [stable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn build::json_build_object }
    3201 json_build_object() -> json [stable] { fn build::json_build_object }
    3202 json_object(_text) -> json [immutable strict] { fn build::json_object }
    3203 json_object(_text, _text) -> json [immutable strict] { fn build::json_object }
    3207 jsonb_array_length(jsonb) -> int4 [immutable strict] { |j: Json| extract::jsonb_array_length(j) }
    3208 jsonb_each(jsonb) -> record [immutable strict returns_set rows(100.0) names(&["from_json", "key", "value"]) outs(b"ioo", &[crate::oids::jsonb, crate::oids::text, crate::oids::jsonb])] { set extract::jsonb_each }
    3210 jsonb_typeof(jsonb) -> text [immutable strict] { |j: Json| extract::jsonb_type_of(j) }
    3214 jsonb_object_field_text(jsonb, text) -> text [immutable strict names(&["from_json", "field_name"])] { |j: Json, key: &str| extract::jsonb_field(j, key, true) }
    3215 jsonb_array_element(jsonb, int4) -> jsonb [immutable strict names(&["from_json", "element_index"])] { |j: Json, n: i32| extract::jsonb_element(j, n, false) }
    3216 jsonb_array_element_text(jsonb, int4) -> text [immutable strict names(&["from_json", "element_index"])] { |j: Json, n: i32| extract::jsonb_element(j, n, true) }
    3217 jsonb_extract_path(jsonb, _text) -> jsonb [immutable strict variadic(crate::oids::text) names(&["from_json", "path_elems"]) outs(b"iv", &[crate::oids::jsonb, crate::oids::_text])] { |j: Json, path: &[u8]| extract::jsonb_path(j, path, false) }
    3219 jsonb_array_elements(jsonb) -> jsonb [immutable strict returns_set rows(100.0) names(&["from_json", "value"]) outs(b"io", &[crate::oids::jsonb, crate::oids::jsonb])] { set extract::jsonb_array_elements }
    3261 json_strip_nulls(json, bool) -> json [stable strict names(&["target", "strip_in_arrays"]) defaults(&["false"])] { |j: &str, arrays: bool| extract::strip_nulls(j, arrays) }
    3262 jsonb_strip_nulls(jsonb, bool) -> jsonb [stable strict names(&["target", "strip_in_arrays"]) defaults(&["false"])] { |j: Json, arrays: bool| walk::strip_nulls(j, arrays) }
    3263 jsonb_object(_text) -> jsonb [immutable strict] { fn build::jsonb_object }
    3264 jsonb_object(_text, _text) -> jsonb [immutable strict] { fn build::jsonb_object }
    3271 jsonb_build_array(any) -> jsonb [stable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn build::jsonb_build_array }
    3272 jsonb_build_array() -> jsonb [stable] { fn build::jsonb_build_array }
    3273 jsonb_build_object(any) -> jsonb [stable variadic(crate::oids::any) outs(b"v", &[crate::oids::any])] { fn build::jsonb_build_object }
    3274 jsonb_build_object() -> jsonb [stable] { fn build::jsonb_build_object }
    3301 jsonb_concat(jsonb, jsonb) -> jsonb [immutable strict] { |a: Json, b: Json| edit::concat(a, b) }
    3302 jsonb_delete(jsonb, text) -> jsonb [immutable strict] { |j: Json, key: &str| edit::delete_keys(j, &[key]) }
    3303 jsonb_delete(jsonb, int4) -> jsonb [immutable strict] { |j: Json, n: i32| edit::delete_element(j, n) }
    3304 jsonb_delete_path(jsonb, _text) -> jsonb [immutable strict] { |j: Json, path: &[u8]| edit::change_path(j, path, None, Change::Delete) }
    3305 jsonb_set(jsonb, _text, jsonb, bool) -> jsonb [immutable strict names(&["jsonb_in", "path", "replacement", "create_if_missing"]) defaults(&["true"])] { |j: Json, path: &[u8], new: Json, create: bool| edit::change_path(j, path, Some(new), Change::Set { create }) }
    3306 jsonb_pretty(jsonb) -> text [immutable strict] { |j: &[u8]| encode::pretty(j) }
    3343 jsonb_delete(jsonb, _text) -> jsonb [immutable strict variadic(crate::oids::text) names(&["from_json", "path_elems"]) outs(b"iv", &[crate::oids::jsonb, crate::oids::_text])] { |j: Json, keys: &[u8]| delete_array(j, keys) }
    3416 jsonb_hash_extended(jsonb, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::jsonb, a, seed) }
    3449 numeric(jsonb) -> numeric [immutable strict] { |j: Json| number(j, "numeric") }
    3450 int2(jsonb) -> int2 [immutable strict] { |j: Json| number(j, "smallint")?.map(|n| n.to_int::<i16>("smallint")).transpose() }
    3451 int4(jsonb) -> int4 [immutable strict] { |j: Json| number(j, "integer")?.map(|n| n.to_int::<i32>("integer")).transpose() }
    3452 int8(jsonb) -> int8 [immutable strict] { |j: Json| number(j, "bigint")?.map(|n| n.to_int::<i64>("bigint")).transpose() }
    3453 float4(jsonb) -> float4 [immutable strict] { |j: Json| number(j, "real")?.map(|n| crate::float::parse4(&n.to_string())).transpose() }
    3465 jsonb_array_elements_text(jsonb) -> text [immutable strict returns_set rows(100.0) names(&["from_json", "value"]) outs(b"io", &[crate::oids::jsonb, crate::oids::text])] { set extract::jsonb_array_elements_text }
    3478 jsonb_object_field(jsonb, text) -> jsonb [immutable strict names(&["from_json", "field_name"])] { |j: Json, key: &str| extract::jsonb_field(j, key, false) }
    3556 bool(jsonb) -> bool [immutable strict] { |j: Json| boolean(j) }
    3579 jsonb_insert(jsonb, _text, jsonb, bool) -> jsonb [immutable strict names(&["jsonb_in", "path", "replacement", "insert_after"]) defaults(&["false"])] { |j: Json, path: &[u8], new: Json, after: bool| edit::change_path(j, path, Some(new), Change::Insert { after }) }
    3787 to_jsonb(anyelement) -> jsonb [stable strict] { fn encode::to_jsonb }
    3931 jsonb_object_keys(jsonb) -> text [immutable strict returns_set rows(100.0)] { set extract::jsonb_object_keys }
    3932 jsonb_each_text(jsonb) -> record [immutable strict returns_set rows(100.0) names(&["from_json", "key", "value"]) outs(b"ioo", &[crate::oids::jsonb, crate::oids::text, crate::oids::text])] { set extract::jsonb_each_text }
    3940 jsonb_extract_path_text(jsonb, _text) -> text [immutable strict variadic(crate::oids::text) names(&["from_json", "path_elems"]) outs(b"iv", &[crate::oids::jsonb, crate::oids::_text])] { |j: Json, path: &[u8]| extract::jsonb_path(j, path, true) }
    3947 json_object_field(json, text) -> json [immutable strict names(&["from_json", "field_name"])] { |j: &str, key: &str| extract::field(j, key, false) }
    3948 json_object_field_text(json, text) -> text [immutable strict names(&["from_json", "field_name"])] { |j: &str, key: &str| extract::field(j, key, true) }
    3949 json_array_element(json, int4) -> json [immutable strict names(&["from_json", "element_index"])] { |j: &str, n: i32| extract::element(j, n, false) }
    3950 json_array_element_text(json, int4) -> text [immutable strict names(&["from_json", "element_index"])] { |j: &str, n: i32| extract::element(j, n, true) }
    3951 json_extract_path(json, _text) -> json [immutable strict variadic(crate::oids::text) names(&["from_json", "path_elems"]) outs(b"iv", &[crate::oids::json, crate::oids::_text])] { |j: &str, path: &[u8]| extract::path(j, path, false) }
    3953 json_extract_path_text(json, _text) -> text [immutable strict variadic(crate::oids::text) names(&["from_json", "path_elems"]) outs(b"iv", &[crate::oids::json, crate::oids::_text])] { |j: &str, path: &[u8]| extract::path(j, path, true) }
    3955 json_array_elements(json) -> json [immutable strict returns_set rows(100.0) names(&["from_json", "value"]) outs(b"io", &[crate::oids::json, crate::oids::json])] { set extract::array_elements }
    3956 json_array_length(json) -> int4 [immutable strict] { |j: &str| extract::array_length(j) }
    3957 json_object_keys(json) -> text [immutable strict returns_set rows(100.0)] { set extract::object_keys }
    3958 json_each(json) -> record [immutable strict returns_set rows(100.0) names(&["from_json", "key", "value"]) outs(b"ioo", &[crate::oids::json, crate::oids::text, crate::oids::json])] { set extract::each }
    3959 json_each_text(json) -> record [immutable strict returns_set rows(100.0) names(&["from_json", "key", "value"]) outs(b"ioo", &[crate::oids::json, crate::oids::text, crate::oids::text])] { set extract::each_text }
    3968 json_typeof(json) -> text [immutable strict] { |j: &str| extract::type_of(j) }
    3969 json_array_elements_text(json) -> text [immutable strict returns_set rows(100.0) names(&["from_json", "value"]) outs(b"io", &[crate::oids::json, crate::oids::text])] { set extract::array_elements_text }
    4038 jsonb_ne(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_ne() }
    4039 jsonb_lt(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_lt() }
    4040 jsonb_gt(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_gt() }
    4041 jsonb_le(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_le() }
    4042 jsonb_ge(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_ge() }
    4043 jsonb_eq(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| compare(a, b).is_eq() }
    4044 jsonb_cmp(jsonb, jsonb) -> int4 [immutable strict] { |a: Json, b: Json| compare(a, b) as i32 }
    4045 jsonb_hash(jsonb) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::jsonb, a) }
    4046 jsonb_contains(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| contains(a, b) }
    4047 jsonb_exists(jsonb, text) -> bool [immutable strict] { |j: Json, key: &str| exists(j, key) }
    4048 jsonb_exists_any(jsonb, _text) -> bool [immutable strict] { |j: Json, keys: &[u8]| texts(&Array::from_payload(keys)).iter().any(|key| exists(j, key)) }
    4049 jsonb_exists_all(jsonb, _text) -> bool [immutable strict] { |j: Json, keys: &[u8]| texts(&Array::from_payload(keys)).iter().all(|key| exists(j, key)) }
    4050 jsonb_contained(jsonb, jsonb) -> bool [immutable strict] { |a: Json, b: Json| contains(b, a) }
    5054 jsonb_set_lax(jsonb, _text, jsonb, bool, text) -> jsonb [immutable names(&["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"]) defaults(&["true", "use_json_null"])] { fn set_lax }
}

/// The texts of an array, without NULLs.
fn texts(array: &Array) -> Vec<&str> {
    array.elements().iter().filter_map(Option::<&str>::from_datum).collect()
}

fn delete_array(json: Json<'_>, keys: &[u8]) -> SqlResult<Datum> {
    let array = Array::from_payload(keys);
    if array.dimensions.len() > 1 {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
    }
    edit::delete_keys(json, &texts(&array))
}

fn cannot_cast(json: Json<'_>, type_name: &str) -> SqlError {
    let kind = match json.kind() {
        Kind::Null => "null",
        Kind::Bool(_) => "boolean",
        Kind::Number => "numeric",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
        Kind::Damaged => return super::binary::damaged(),
    };
    sql_err!(INVALID_PARAMETER_VALUE, "cannot cast jsonb {kind} to type {type_name}")
}

/// The number for a cast; `null` is NULL.
fn number(json: Json<'_>, type_name: &str) -> SqlResult<Option<crate::numeric::Numeric>> {
    match json.kind() {
        Kind::Number => Ok(Some(json.number())),
        Kind::Null => Ok(None),
        _ => Err(cannot_cast(json, type_name)),
    }
}

fn boolean(json: Json<'_>) -> SqlResult<Option<bool>> {
    match json.kind() {
        Kind::Bool(value) => Ok(Some(value)),
        Kind::Null => Ok(None),
        _ => Err(cannot_cast(json, "boolean")),
    }
}

/// `jsonb_set_lax`: its last argument says what to do if the new value is NULL.
fn set_lax(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let (Some(json), Some(path), Some(create)) = (
        Option::<Json>::from_datum(&args[0]),
        Option::<&[u8]>::from_datum(&args[1]),
        Option::<bool>::from_datum(&args[3]),
    ) else {
        return Ok(Datum::Null);
    };
    let treatment = Option::<&str>::from_datum(&args[4]);
    let treatment = treatment.ok_or_else(|| {
        sql_err!(INVALID_PARAMETER_VALUE, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
    })?;
    let set = Change::Set { create };
    if let Some(new) = Option::<Json>::from_datum(&args[2]) {
        return edit::change_path(json, path, Some(new), set);
    }
    match treatment {
        "raise_exception" => Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
            .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
            .hint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")),
        "use_json_null" => edit::change_path(json, path, Some(Json::of(&[0])), set),
        "delete_key" => edit::change_path(json, path, None, Change::Delete),
        "return_target" => json.into_datum(),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")),
    }
}
