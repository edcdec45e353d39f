//! States of two parts of the rows, joined, give the result of one state of all rows: every aggregate that says so.

use base::Oid;
use tuple::Datum;

use super::aggregates::AGGREGATES;
use super::{Aggregate, builtin_type, function, io};
use crate::aggregate::AggState;
use crate::call::{Call, FormatContext};

/// Values of a type; numbers are such that binary fractions are exact.
fn samples(type_oid: Oid) -> Option<&'static [&'static str]> {
    let name = builtin_type(type_oid)?.name;
    Some(match name {
        "bool" => &["t", "f", "t", "t"],
        "int2" | "int4" | "int8" | "oid" | "money" => &["7", "3", "12000", "3", "0", "255", "1", "64"],
        "float4" | "float8" => &["1.5", "-2.25", "8", "0", "1024.5", "-2.25", "3", "64"],
        "numeric" => &["1.50", "-2.25", "123456789012345678901234567890.5", "0", "7", "-0.001"],
        "interval" => &["1 day", "-2 hours", "3 mons", "00:00:01.5", "1 day"],
        "date" => &["2020-01-01", "1999-12-31", "2024-02-29"],
        "time" | "timetz" => &["12:00", "00:00:01", "23:59:59.5"],
        "timestamp" | "timestamptz" => &["2020-01-01 12:00", "1999-12-31 00:00:01", "2024-02-29 23:59"],
        "text" | "bpchar" | "varchar" | "bytea" => &["b", "abc", "", "zz", "b"],
        "bit" | "varbit" => &["1010", "0111", "1111", "0001"],
        "inet" | "cidr" => &["10.0.0.0/8", "192.168.1.0/24", "10.0.0.0/16"],
        "tid" => &["(0,1)", "(7,3)", "(0,9)"],
        "pg_lsn" => &["0/10", "1/0", "0/FF"],
        "xid8" => &["7", "12", "3"],
        _ => return None,
    })
}

/// Rows of arguments of an aggregate, NULLs among them; none if there are no samples of its types.
fn rows(types: &[Oid], call: &Call<'_>) -> Option<Vec<Vec<Datum>>> {
    let mut columns = Vec::new();
    for type_oid in types {
        let value = |text: &&str| io::input(*type_oid, text, -1, call).expect("a sample");
        let mut values: Vec<Datum> = samples(*type_oid)?.iter().map(value).collect();
        values.insert(columns.len() + 1, Datum::Null);
        columns.push(values);
    }
    let row = |row: usize| columns.iter().map(|column| column[row % column.len()].clone()).collect();
    Some((0..9).map(row).collect())
}

fn state(row: &Aggregate, strict: bool, rows: &[&Vec<Datum>], call: &Call<'_>) -> AggState {
    let mut state = row.imp.start();
    for args in rows.iter().filter(|args| !strict || !args.iter().any(Datum::is_null)) {
        row.imp.add(call, &mut state, args).expect("a row");
    }
    state
}

fn same(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Float8(a), Datum::Float8(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    }
}

#[test]
fn joined_states_give_the_result_of_all_rows() {
    let format = FormatContext::default();
    let mut tried = 0;
    for aggregate in AGGREGATES.iter().filter(|row| row.combines()) {
        let of = function(aggregate.function).expect("its pg_proc row");
        let mut call = Call::new(&format);
        (call.arg_types, call.result_type, call.collation) = (of.args, of.result, Oid(950));
        let Some(rows) = rows(of.args, &call) else { continue };
        tried += 1;
        for cut in 0..1 << rows.len() {
            // Each way to deal the rows out.
            let part = |one: bool| rows.iter().enumerate().filter(move |(i, _)| (cut >> i & 1 == 1) == one);
            let of_part = |one| {
                let rows: Vec<_> = part(one).map(|(_, row)| row).collect();
                state(aggregate, of.strict, &rows, &call)
            };
            let (mut joined, other) = (of_part(true), of_part(false));
            aggregate.imp.combine(&call, &mut joined, other).expect("states of one aggregate");
            let whole = state(aggregate, of.strict, &rows.iter().collect::<Vec<_>>(), &call);
            let [joined, whole] =
                [joined, whole].map(|state| aggregate.imp.finish(&call, &state).expect("a result"));
            assert!(same(&joined, &whole), "{}: {joined:?}, not {whole:?} ({cut:b})", of.name);
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn the_order_of_rows_and_all_rows_at_once_are_for_one_state() {
    let combines = |name: &str| {
        let of = |row: &&Aggregate| function(row.function).is_some_and(|of| of.name == name);
        AGGREGATES.iter().filter(of).any(Aggregate::combines)
    };
    for name in
        ["array_agg", "string_agg", "json_agg", "any_value", "percentile_cont", "rank", "mode", "range_agg"]
    {
        assert!(!combines(name), "{name}");
    }
    assert!(["sum", "count", "max", "stddev_pop", "bool_or", "corr"].into_iter().all(combines));
}
