//! Aggregates over small columns; the results are PostgreSQL 18's. Every one is also computed in two halves that are
//! combined, as parallel and spilled aggregation does.

use base::Oid;
use tuple::Datum;
use types::{Call, FormatContext, oids, registry};

/// The aggregate of this name over a column of one type, as text; `None` for NULL.
fn over(name: &str, type_oid: Oid, column: &[&str]) -> Option<String> {
    let format = FormatContext::default();
    let types = [type_oid];
    let function = registry::functions_named(name)
        .iter()
        .find(|f| {
            f.kind == b'a' && (f.args == [type_oid] || f.args == [oids::any] || f.args == [oids::anynonarray])
        })
        .unwrap_or_else(|| panic!("no aggregate {name}({type_oid})"));
    let result = if function.result == oids::anyarray {
        registry::builtin_type(type_oid).unwrap().array
    } else {
        function.result
    };
    let cx = Call::new(&format).with_types(&types, result);
    let imp = registry::aggregate(function.oid).unwrap().imp;
    let values: Vec<Datum> =
        column
            .iter()
            .map(|text| {
                if *text == "NULL" { Datum::Null } else { registry::input(type_oid, text, -1, &cx).unwrap() }
            })
            .collect();
    let run = |values: &[Datum]| {
        let mut state = imp.start();
        for value in values {
            imp.add(&cx, &mut state, std::slice::from_ref(value)).unwrap();
        }
        state
    };
    let text = |state| {
        let value = imp.finish(&cx, &state).unwrap();
        let mut out = Vec::new();
        if value.is_null() {
            return None;
        }
        registry::output(result, &value, &cx, &mut out).unwrap();
        Some(String::from_utf8(out).unwrap())
    };
    let whole = text(run(&values));
    let (left, right) = values.split_at(values.len() / 2);
    let mut state = run(left);
    imp.combine(&cx, &mut state, run(right)).unwrap();
    assert_eq!(text(state), whole, "{name} in two halves");
    whole
}

#[test]
fn results_are_postgresqls() {
    let cases: &[(&str, Oid, &[&str], Option<&str>)] = &[
        ("count", oids::int4, &["1", "2", "NULL", "4"], Some("3")),
        ("sum", oids::int4, &["1", "2", "NULL", "4"], Some("7")),
        ("avg", oids::int4, &["1", "2", "NULL", "4"], Some("2.3333333333333333")),
        ("min", oids::int4, &["1", "2", "NULL", "4"], Some("1")),
        ("max", oids::int4, &["1", "2", "NULL", "4"], Some("4")),
        ("variance", oids::int4, &["1", "2", "NULL", "4"], Some("2.3333333333333333")),
        ("stddev", oids::int4, &["1", "2", "NULL", "4"], Some("1.5275252316519467")),
        ("var_pop", oids::int4, &["1", "2", "NULL", "4"], Some("1.5555555555555556")),
        ("stddev_pop", oids::int4, &["1", "2", "NULL", "4"], Some("1.2472191289246471")),
        ("bit_and", oids::int4, &["1", "2", "NULL", "4"], Some("0")),
        ("bit_or", oids::int4, &["1", "2", "NULL", "4"], Some("7")),
        ("bit_xor", oids::int4, &["1", "2", "NULL", "4"], Some("7")),
        ("array_agg", oids::int4, &["1", "2", "NULL", "4"], Some("{1,2,NULL,4}")),
        ("count", oids::int4, &["2147483647", "2147483647"], Some("2")),
        ("sum", oids::int4, &["2147483647", "2147483647"], Some("4294967294")),
        ("avg", oids::int4, &["2147483647", "2147483647"], Some("2147483647.00000000")),
        ("min", oids::int4, &["2147483647", "2147483647"], Some("2147483647")),
        ("max", oids::int4, &["2147483647", "2147483647"], Some("2147483647")),
        ("variance", oids::int4, &["2147483647", "2147483647"], Some("0")),
        ("stddev", oids::int4, &["2147483647", "2147483647"], Some("0")),
        ("var_pop", oids::int4, &["2147483647", "2147483647"], Some("0")),
        ("stddev_pop", oids::int4, &["2147483647", "2147483647"], Some("0")),
        ("bit_and", oids::int4, &["2147483647", "2147483647"], Some("2147483647")),
        ("bit_or", oids::int4, &["2147483647", "2147483647"], Some("2147483647")),
        ("bit_xor", oids::int4, &["2147483647", "2147483647"], Some("0")),
        ("array_agg", oids::int4, &["2147483647", "2147483647"], Some("{2147483647,2147483647}")),
        ("count", oids::int4, &[], Some("0")),
        ("sum", oids::int4, &[], None),
        ("avg", oids::int4, &[], None),
        ("min", oids::int4, &[], None),
        ("max", oids::int4, &[], None),
        ("variance", oids::int4, &[], None),
        ("stddev", oids::int4, &[], None),
        ("var_pop", oids::int4, &[], None),
        ("stddev_pop", oids::int4, &[], None),
        ("bit_and", oids::int4, &[], None),
        ("bit_or", oids::int4, &[], None),
        ("bit_xor", oids::int4, &[], None),
        ("array_agg", oids::int4, &[], None),
        ("count", oids::int4, &["NULL", "NULL"], Some("0")),
        ("sum", oids::int4, &["NULL", "NULL"], None),
        ("avg", oids::int4, &["NULL", "NULL"], None),
        ("min", oids::int4, &["NULL", "NULL"], None),
        ("max", oids::int4, &["NULL", "NULL"], None),
        ("variance", oids::int4, &["NULL", "NULL"], None),
        ("stddev", oids::int4, &["NULL", "NULL"], None),
        ("var_pop", oids::int4, &["NULL", "NULL"], None),
        ("stddev_pop", oids::int4, &["NULL", "NULL"], None),
        ("bit_and", oids::int4, &["NULL", "NULL"], None),
        ("bit_or", oids::int4, &["NULL", "NULL"], None),
        ("bit_xor", oids::int4, &["NULL", "NULL"], None),
        ("array_agg", oids::int4, &["NULL", "NULL"], Some("{NULL,NULL}")),
        ("count", oids::int4, &["7"], Some("1")),
        ("sum", oids::int4, &["7"], Some("7")),
        ("avg", oids::int4, &["7"], Some("7.0000000000000000")),
        ("min", oids::int4, &["7"], Some("7")),
        ("max", oids::int4, &["7"], Some("7")),
        ("variance", oids::int4, &["7"], None),
        ("stddev", oids::int4, &["7"], None),
        ("var_pop", oids::int4, &["7"], Some("0")),
        ("stddev_pop", oids::int4, &["7"], Some("0")),
        ("bit_and", oids::int4, &["7"], Some("7")),
        ("bit_or", oids::int4, &["7"], Some("7")),
        ("bit_xor", oids::int4, &["7"], Some("7")),
        ("array_agg", oids::int4, &["7"], Some("{7}")),
        (
            "sum",
            oids::int8,
            &["9223372036854775807", "9223372036854775807", "-5"],
            Some("18446744073709551609"),
        ),
        (
            "avg",
            oids::int8,
            &["9223372036854775807", "9223372036854775807", "-5"],
            Some("6148914691236517203"),
        ),
        ("min", oids::int8, &["9223372036854775807", "9223372036854775807", "-5"], Some("-5")),
        (
            "max",
            oids::int8,
            &["9223372036854775807", "9223372036854775807", "-5"],
            Some("9223372036854775807"),
        ),
        (
            "stddev",
            oids::int8,
            &["9223372036854775807", "9223372036854775807", "-5"],
            Some("5325116328314171703"),
        ),
        ("sum", oids::int8, &["1", "2"], Some("3")),
        ("avg", oids::int8, &["1", "2"], Some("1.5000000000000000")),
        ("min", oids::int8, &["1", "2"], Some("1")),
        ("max", oids::int8, &["1", "2"], Some("2")),
        ("stddev", oids::int8, &["1", "2"], Some("0.70710678118654752440")),
        ("sum", oids::int2, &["1", "2", "3"], Some("6")),
        ("avg", oids::int2, &["1", "2", "3"], Some("2.0000000000000000")),
        ("max", oids::int2, &["1", "2", "3"], Some("3")),
        ("sum", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("0.75")),
        ("avg", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("0.25000000000000000000")),
        ("min", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("-3")),
        ("max", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("2.25")),
        ("variance", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("8.0625000000000000")),
        ("stddev_pop", oids::numeric, &["1.5", "2.25", "NULL", "-3"], Some("2.3184046238739259")),
        ("sum", oids::numeric, &["NaN", "1"], Some("NaN")),
        ("avg", oids::numeric, &["NaN", "1"], Some("NaN")),
        ("min", oids::numeric, &["NaN", "1"], Some("1")),
        ("max", oids::numeric, &["NaN", "1"], Some("NaN")),
        ("variance", oids::numeric, &["NaN", "1"], Some("NaN")),
        ("stddev_pop", oids::numeric, &["NaN", "1"], Some("NaN")),
        ("sum", oids::numeric, &["Infinity", "-Infinity"], Some("NaN")),
        ("avg", oids::numeric, &["Infinity", "-Infinity"], Some("NaN")),
        ("min", oids::numeric, &["Infinity", "-Infinity"], Some("-Infinity")),
        ("max", oids::numeric, &["Infinity", "-Infinity"], Some("Infinity")),
        ("variance", oids::numeric, &["Infinity", "-Infinity"], Some("NaN")),
        ("stddev_pop", oids::numeric, &["Infinity", "-Infinity"], Some("NaN")),
        ("sum", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.6")),
        ("avg", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.20000000000000000000")),
        ("min", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.1")),
        ("max", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.3")),
        ("variance", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.01000000000000000000")),
        ("stddev_pop", oids::numeric, &["0.1", "0.2", "0.3"], Some("0.08164965809277260329")),
        ("sum", oids::numeric, &["5"], Some("5")),
        ("avg", oids::numeric, &["5"], Some("5.0000000000000000")),
        ("min", oids::numeric, &["5"], Some("5")),
        ("max", oids::numeric, &["5"], Some("5")),
        ("variance", oids::numeric, &["5"], None),
        ("stddev_pop", oids::numeric, &["5"], Some("0")),
        ("sum", oids::float8, &["1", "2", "4", "8"], Some("15")),
        ("avg", oids::float8, &["1", "2", "4", "8"], Some("3.75")),
        ("min", oids::float8, &["1", "2", "4", "8"], Some("1")),
        ("max", oids::float8, &["1", "2", "4", "8"], Some("8")),
        ("var_samp", oids::float8, &["1", "2", "4", "8"], Some("9.583333333333334")),
        ("stddev", oids::float8, &["1", "2", "4", "8"], Some("3.095695936834452")),
        ("sum", oids::float8, &["0.5"], Some("0.5")),
        ("avg", oids::float8, &["0.5"], Some("0.5")),
        ("min", oids::float8, &["0.5"], Some("0.5")),
        ("max", oids::float8, &["0.5"], Some("0.5")),
        ("var_samp", oids::float8, &["0.5"], None),
        ("stddev", oids::float8, &["0.5"], None),
        ("sum", oids::float8, &["1", "Infinity"], Some("Infinity")),
        ("avg", oids::float8, &["1", "Infinity"], Some("Infinity")),
        ("min", oids::float8, &["1", "Infinity"], Some("1")),
        ("max", oids::float8, &["1", "Infinity"], Some("Infinity")),
        ("var_samp", oids::float8, &["1", "Infinity"], Some("NaN")),
        ("stddev", oids::float8, &["1", "Infinity"], Some("NaN")),
        ("sum", oids::float4, &["1.5", "2.5", "1.5", "2.5"], Some("8")),
        ("avg", oids::float4, &["1.5", "2.5", "1.5", "2.5"], Some("2")),
        ("stddev", oids::float4, &["1.5", "2.5", "1.5", "2.5"], Some("0.5773502691896257")),
        ("count", oids::text, &["b", "a", "NULL", "c"], Some("3")),
        ("min", oids::text, &["b", "a", "NULL", "c"], Some("a")),
        ("max", oids::text, &["b", "a", "NULL", "c"], Some("c")),
        ("array_agg", oids::text, &["b", "a", "NULL", "c"], Some("{b,a,NULL,c}")),
        ("bool_and", oids::bool, &["t", "f", "NULL"], Some("f")),
        ("bool_or", oids::bool, &["t", "f", "NULL"], Some("t")),
        ("every", oids::bool, &["t", "f", "NULL"], Some("f")),
        ("bool_and", oids::bool, &["t", "t"], Some("t")),
        ("bool_or", oids::bool, &["t", "t"], Some("t")),
        ("every", oids::bool, &["t", "t"], Some("t")),
        ("min", oids::timestamp, &["2020-01-01", "2021-01-01"], Some("2020-01-01 00:00:00")),
        ("max", oids::timestamp, &["2020-01-01", "2021-01-01"], Some("2021-01-01 00:00:00")),
        ("sum", oids::interval, &["1 day", "2 hours", "1 mon"], Some("1 mon 1 day 02:00:00")),
        ("avg", oids::interval, &["1 day", "2 hours", "1 mon"], Some("10 days 08:40:00")),
        ("max", oids::interval, &["1 day", "2 hours", "1 mon"], Some("1 mon")),
        ("sum", oids::interval, &["infinity"], Some("infinity")),
        ("avg", oids::interval, &["infinity"], Some("infinity")),
        ("max", oids::interval, &["infinity"], Some("infinity")),
        ("min", oids::date, &["2020-01-01", "1999-01-01"], Some("1999-01-01")),
        ("max", oids::date, &["2020-01-01", "1999-01-01"], Some("2020-01-01")),
    ];
    for (name, type_oid, column, expected) in cases {
        assert_eq!(over(name, *type_oid, column).as_deref(), *expected, "{name} over {column:?}");
    }
}
