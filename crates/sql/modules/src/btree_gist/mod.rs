//! # What
//! `btree_gist`: operator classes of GiST for what has an order, for constraints and indexes over such columns and others together.
//!
//! # Layout
//! `tree`: the classes. Here: which types have one, and the distances between values.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/btree_gist`. All keys are exact, so that all classes give the values back; enums, addresses and times with a zone are stored in keys of another
//! length for that.

mod tree;

use base::{Oid, SqlError, SqlResult, sql_err};
use session::module::{Module, ModuleFunction};
use tuple::{Datum, Physical};
use types::registry::libraries::{LibraryType, Tree, TypeSymbols};
use types::registry::{TypeImp, TypeInfo, functions_of_symbol};
use types::value::FromDatum;
use types::{Call, Imp};

use ModuleFunction::Value;
use tree::Between;

/// The extension.
pub static MODULE: Module = Module {
    name: "btree_gist",
    version: "1.8",
    comment: "support for indexing common datatypes in GiST",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    types: &[KEY2, KEY4, KEY8, KEY16, KEY32, KEY_VAR],
    trees: &[
        ("gbt_oid", Tree::Plain(&Between::OID)),
        ("gbt_int2", Tree::Plain(&Between::INT2)),
        ("gbt_int4", Tree::Plain(&Between::INT4)),
        ("gbt_int8", Tree::Plain(&Between::INT8)),
        ("gbt_float4", Tree::Plain(&Between::FLOAT4)),
        ("gbt_float8", Tree::Plain(&Between::FLOAT8)),
        ("gbt_ts", Tree::Plain(&Between::TIMESTAMP)),
        ("gbt_tstz", Tree::Plain(&Between::TIMESTAMP)),
        ("gbt_time", Tree::Plain(&Between::TIMESTAMP)),
        ("gbt_timetz", Tree::Plain(&Between::TIMETZ)),
        ("gbt_date", Tree::Plain(&Between::DATE)),
        ("gbt_intv", Tree::Plain(&Between::INTERVAL)),
        ("gbt_cash", Tree::Plain(&Between::MONEY)),
        ("gbt_macad", Tree::Plain(&Between::MACADDR)),
        ("gbt_macad8", Tree::Plain(&Between::MACADDR8)),
        ("gbt_text", Tree::Collated(Between::texts)),
        ("gbt_bpchar", Tree::Collated(Between::padded_texts)),
        ("gbt_bytea", Tree::Plain(&Between::BYTEA)),
        ("gbt_numeric", Tree::Plain(&Between::NUMERIC)),
        ("gbt_bit", Tree::Plain(&Between::BITS)),
        ("gbt_inet", Tree::Plain(&Between::INET)),
        ("gbt_uuid", Tree::Plain(&Between::UUID)),
        ("gbt_enum", Tree::Plain(&Between::ENUM)),
        ("gbt_bool", Tree::Plain(&Between::BOOL)),
    ],
    support: &[
        "gbt_decompress",
        "gbt_var_decompress",
        "gbt_var_fetch",
        "gbt_varbit_sortsupport",
        "gbt_macaddr_sortsupport",
    ],
    functions: &[
        (
            "gist_translate_cmptype_btree",
            Value(|_, args| Ok(Datum::Int2(strategy_of(i32::from_datum(&args[0]))))),
        ),
        (
            "int2_dist",
            Value(|_, args| {
                let distance = integers(args).try_into().map_err(|_| out_of_range("smallint"))?;
                Ok(Datum::Int2(distance))
            }),
        ),
        (
            "int4_dist",
            Value(|_, args| {
                let distance = integers(args).try_into().map_err(|_| out_of_range("integer"))?;
                Ok(Datum::Int4(distance))
            }),
        ),
        (
            "int8_dist",
            Value(|_, args| {
                let distance = integers(args).try_into().map_err(|_| out_of_range("bigint"))?;
                Ok(Datum::Int8(distance))
            }),
        ),
        (
            "cash_dist",
            Value(|_, args| {
                let distance = integers(args).try_into().map_err(|_| out_of_range("money"))?;
                Ok(Datum::Int8(distance))
            }),
        ),
        (
            "oid_dist",
            Value(|_, args| Ok(Datum::Oid(u32::from_datum(&args[0]).abs_diff(u32::from_datum(&args[1]))))),
        ),
        (
            "date_dist",
            Value(|cx, args| {
                let Datum::Int4(days) = built_in("date_mi", cx, args)? else { return Ok(Datum::Null) };
                Ok(Datum::Int4(days.wrapping_abs()))
            }),
        ),
        (
            "float4_dist",
            Value(|_, args| {
                let (a, b) = (f32::from_datum(&args[0]), f32::from_datum(&args[1]));
                let distance = (a - b).abs();
                if distance.is_infinite() && a.is_finite() && b.is_finite() {
                    return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
                }
                Ok(Datum::Float4(distance))
            }),
        ),
        (
            "float8_dist",
            Value(|_, args| {
                let (a, b) = (f64::from_datum(&args[0]), f64::from_datum(&args[1]));
                let distance = (a - b).abs();
                if distance.is_infinite() && a.is_finite() && b.is_finite() {
                    return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
                }
                Ok(Datum::Float8(distance))
            }),
        ),
        ("interval_dist", Value(|cx, args| between("interval_mi", cx, args))),
        ("time_dist", Value(|cx, args| between("time_mi_time", cx, args))),
        ("ts_dist", Value(|cx, args| between("timestamp_mi", cx, args))),
        ("tstz_dist", Value(|cx, args| between("timestamp_mi", cx, args))),
    ],
    ..Module::LIBRARY
};

/// A type of keys: no values of SQL.
const fn key(number: u32, name: &'static str, physical: Physical, symbols: [&'static str; 2]) -> LibraryType {
    let row = TypeInfo { align: 4, ..TypeInfo::new(Oid(number), name, b'U', physical) };
    LibraryType {
        imp: TypeImp { row: Some(row), ..TypeImp::NONE },
        symbols: TypeSymbols { input: symbols[0], output: symbols[1], ..TypeSymbols::NONE },
    }
}

const KEY2: LibraryType = key(9802, "gbtreekey2", Physical::Fixed(2), ["gbtreekey2_in", "gbtreekey2_out"]);
const KEY4: LibraryType = key(9803, "gbtreekey4", Physical::Fixed(4), ["gbtreekey4_in", "gbtreekey4_out"]);
const KEY8: LibraryType = key(9804, "gbtreekey8", Physical::Fixed(8), ["gbtreekey8_in", "gbtreekey8_out"]);
const KEY16: LibraryType =
    key(9805, "gbtreekey16", Physical::Fixed(16), ["gbtreekey16_in", "gbtreekey16_out"]);
const KEY32: LibraryType =
    key(9806, "gbtreekey32", Physical::Fixed(32), ["gbtreekey32_in", "gbtreekey32_out"]);
const KEY_VAR: LibraryType =
    key(9807, "gbtreekey_var", Physical::Varlena, ["gbtreekey_var_in", "gbtreekey_var_out"]);

/// The strategy number of these classes for a comparison: they have those of B-trees, by which comparisons are numbered.
fn strategy_of(comparison: i32) -> i16 {
    if (1..=5).contains(&comparison) { comparison as i16 } else { 0 }
}

fn out_of_range(what: &str) -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{what} out of range")
}

fn integers(args: &[Datum]) -> i128 {
    let of = |at: usize| i128::from(types::compare::widen(&args[at]));
    (of(0) - of(1)).abs()
}

/// What a built-in function answers.
fn built_in(symbol: &str, cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let found = functions_of_symbol(symbol).iter().find(|function| function.args.len() == args.len());
    match found.map(|function| function.imp) {
        Some(Imp::Native(eval)) => eval(cx, args),
        _ => Err(SqlError::internal(format!("no function {symbol}"))),
    }
}

/// A difference that is an interval, without its sign.
fn between(difference: &str, cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let span = built_in(difference, cx, args)?;
    let nothing = types::input(types::oids::interval, "0", -1, cx)?;
    match types::compare(types::oids::interval).map(|compare| compare(&span, &nothing)) {
        Some(std::cmp::Ordering::Less) => built_in("interval_um", cx, &[span]),
        _ => Ok(span),
    }
}
