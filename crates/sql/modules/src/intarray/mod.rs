//! # What
//! `intarray`: sets of integers in arrays, and queries of them.
//!
//! # Layout
//! `query`: `query_int`, integers under `&`, `|` and `!`. `ranges`, `tree`: GiST. `parts`: GIN. Here: what is done with arrays.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/intarray`. Sets of any size fit `gist__int_ops`, where PostgreSQL refuses those with more than twice `numranges` numbers.

mod parts;
mod query;
mod ranges;
mod tree;

use base::{SqlError, SqlResult, sql_err};
use session::module::{Module, ModuleFunction};
use tuple::{Datum, Physical};
use types::array::Array;
use types::registry::libraries::{LibraryType, Parts, Tree, TypeSymbols};
use types::registry::{TypeImp, TypeInfo};
use types::value::FromDatum;
use types::{Call, Selectivity, oids};

use ModuleFunction::Value;

/// The extension.
pub static MODULE: Module = Module {
    name: "intarray",
    version: "1.5",
    comment: "functions, operators, and index support for 1-D arrays of integers",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    types: &[query::QUERY_INT, INTBIG_GKEY],
    trees: &[("g_int", Tree::Plain(&ranges::RANGES)), ("g_intbig", Tree::Plain(&tree::BIG))],
    estimators: &[
        ("_int_matchsel", Selectivity::ArrayContain),
        ("_int_overlap_sel", Selectivity::ArrayContain),
        ("_int_contains_sel", Selectivity::ArrayContain),
        ("_int_contained_sel", Selectivity::ArrayContain),
    ],
    parts: &[("ginint4_queryextract", Parts::Plain(&parts::Numbers))],
    support: &[
        "_int_overlap_joinsel",
        "_int_contains_joinsel",
        "_int_contained_joinsel",
        "ginint4_consistent",
    ],
    functions: &[
        ("querytree", Value(query::indexable)),
        ("boolop", Value(|_, args| query::matches(&args[0], &args[1]))),
        ("rboolop", Value(|_, args| query::matches(&args[1], &args[0]))),
        ("_int_contains", Value(|_, args| Ok(Datum::Bool(contains(&set(args, 0)?, &set(args, 1)?))))),
        ("_int_contained", Value(|_, args| Ok(Datum::Bool(contains(&set(args, 1)?, &set(args, 0)?))))),
        (
            "_int_overlap",
            Value(|_, args| {
                let (a, b) = (set(args, 0)?, set(args, 1)?);
                Ok(Datum::Bool(a.iter().any(|number| b.binary_search(number).is_ok())))
            }),
        ),
        ("_int_same", Value(|_, args| Ok(Datum::Bool(sorted(args, 0)? == sorted(args, 1)?)))),
        ("_int_different", Value(|_, args| Ok(Datum::Bool(sorted(args, 0)? != sorted(args, 1)?)))),
        (
            "_int_union",
            Value(|_, args| {
                let mut all = set(args, 0)?;
                all.extend(set(args, 1)?);
                Ok(stored(&unique(all)))
            }),
        ),
        (
            "_int_inter",
            Value(|_, args| {
                let (mut a, b) = (set(args, 0)?, set(args, 1)?);
                a.retain(|number| b.binary_search(number).is_ok());
                Ok(stored(&a))
            }),
        ),
        ("intset", Value(|_, args| Ok(stored(&[i32::from_datum(&args[0])])))),
        ("icount", Value(|_, args| Ok(Datum::Int4(array(args, 0).elements().len() as i32)))),
        ("sort", Value(sort)),
        ("sort_asc", Value(|cx, args| in_order(cx, args, false))),
        ("sort_desc", Value(|cx, args| in_order(cx, args, true))),
        (
            "uniq",
            Value(|_, args| {
                let mut all = numbers(args, 0)?;
                all.dedup();
                Ok(stored(&all))
            }),
        ),
        (
            "idx",
            Value(|_, args| {
                let wanted = i32::from_datum(&args[1]);
                let found = numbers(args, 0)?.iter().position(|number| *number == wanted);
                Ok(Datum::Int4(found.map_or(0, |at| at as i32 + 1)))
            }),
        ),
        ("subarray", Value(part)),
        (
            "intarray_push_elem",
            Value(|_, args| {
                let mut all = numbers(args, 0)?;
                all.push(i32::from_datum(&args[1]));
                Ok(stored(&all))
            }),
        ),
        (
            "intarray_push_array",
            Value(|_, args| {
                let mut all = numbers(args, 0)?;
                all.extend(numbers(args, 1)?);
                Ok(stored(&all))
            }),
        ),
        (
            "intarray_del_elem",
            Value(|_, args| {
                let mut all = numbers(args, 0)?;
                all.retain(|number| *number != i32::from_datum(&args[1]));
                Ok(stored(&all))
            }),
        ),
        (
            "intset_union_elem",
            Value(|_, args| {
                let mut all = numbers(args, 0)?;
                all.push(i32::from_datum(&args[1]));
                Ok(stored(&unique(all)))
            }),
        ),
        (
            "intset_subtract",
            Value(|_, args| {
                let (mut a, b) = (set(args, 0)?, set(args, 1)?);
                a.retain(|number| b.binary_search(number).is_err());
                Ok(stored(&a))
            }),
        ),
    ],
    ..Module::LIBRARY
};

/// What GiST stores: no values of SQL.
const INTBIG_GKEY: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo::new(base::Oid(9821), "intbig_gkey", b'U', Physical::Varlena)),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols { input: "_intbig_in", output: "_intbig_out", ..TypeSymbols::NONE },
};

fn nulls() -> SqlError {
    sql_err!(NULL_VALUE_NOT_ALLOWED, "array must not contain nulls")
}

fn array(args: &[Datum], at: usize) -> Array {
    Array::from_payload(<&[u8]>::from_datum(&args[at]))
}

fn of_array(array: &Array) -> SqlResult<Vec<i32>> {
    array
        .elements()
        .iter()
        .map(|value| if let Datum::Int4(n) = value { Ok(*n) } else { Err(nulls()) })
        .collect()
}

fn numbers(args: &[Datum], at: usize) -> SqlResult<Vec<i32>> {
    of_array(&array(args, at))
}

fn sorted(args: &[Datum], at: usize) -> SqlResult<Vec<i32>> {
    let mut all = numbers(args, at)?;
    all.sort_unstable();
    Ok(all)
}

fn unique(mut all: Vec<i32>) -> Vec<i32> {
    all.sort_unstable();
    all.dedup();
    all
}

/// The numbers, each once, ascending.
fn set(args: &[Datum], at: usize) -> SqlResult<Vec<i32>> {
    Ok(unique(numbers(args, at)?))
}

fn contains(all: &[i32], some: &[i32]) -> bool {
    some.iter().all(|number| all.binary_search(number).is_ok())
}

fn stored(numbers: &[i32]) -> Datum {
    types::array::from_int4s(numbers)
}

/// The array with its numbers in order, in the shape that it has.
fn in_order(cx: &Call<'_>, args: &[Datum], descending: bool) -> SqlResult<Datum> {
    let of = array(args, 0);
    let mut all = of_array(&of)?;
    all.sort_unstable_by(|a, b| if descending { b.cmp(a) } else { a.cmp(b) });
    let values = all.into_iter().map(Datum::Int4).collect();
    Ok(Array::with_dimensions(oids::int4, of.dimensions, values, cx)?.to_datum())
}

fn sort(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let direction = args.get(1).map_or("asc", <&str>::from_datum);
    match direction.to_ascii_lowercase().as_str() {
        "asc" => in_order(cx, args, false),
        "desc" => in_order(cx, args, true),
        _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "second parameter must be \"ASC\" or \"DESC\"")),
    }
}

/// So many numbers from one on, counted from 1. A negative start counts from the end, and so does a negative length; none means all.
fn part(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let all = numbers(args, 0)?;
    let (start, length) = (i64::from(i32::from_datum(&args[1])), args.get(2).map_or(0, i32::from_datum));
    let (count, length) = (all.len() as i64, i64::from(length));
    let from = if start > 0 { start - 1 } else { start };
    let from = if from < 0 { count + from } else { from };
    let end = match length {
        ..0 => count + length,
        0 => count,
        _ => from + length,
    };
    let range = from.clamp(0, count) as usize..end.clamp(0, count) as usize;
    Ok(stored(all.get(range).unwrap_or_default()))
}
