//! # What
//! `ltree`: paths of labels in a hierarchy, patterns of paths, queries over labels.
//!
//! # Layout
//! `path`: `ltree`. `pattern`: `lquery`. `words`: `ltxtquery`. `tree`: GiST. Here: the functions.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/ltree`. Signatures of GiST have as many bytes as `siglen` says.

mod path;
mod pattern;
mod tree;
mod words;

use std::cmp::Ordering;

use base::{Oid, SqlResult, sql_err};
use session::module::{Module, ModuleFunction};
use tuple::{Datum, Physical};
use types::array::Array;
use types::registry::libraries::{LibraryType, Tree, TypeSymbols};
use types::registry::{TypeImp, TypeInfo};
use types::value::{FromDatum, Reader};
use types::{Call, Selectivity, compare, hashing, oids};

use ModuleFunction::Value;
use pattern::Pattern;
use words::Query;

/// Whether a path satisfies something.
type Test = fn(&str, &Datum) -> SqlResult<bool>;

const IS_ABOVE: Test = |path, other| Ok(path::is_within(operand(other), path));
const IS_BELOW: Test = |path, other| Ok(path::is_within(path, operand(other)));
const MATCHES: Test = |path, pattern| Pattern::read(operand(pattern))?.matches(path);
const MATCHES_ANY: Test = matches_any;
const HAS_WORDS: Test = |path, query| Ok(Query::read(operand(query))?.matches(path));

/// The extension.
pub static MODULE: Module = Module {
    name: "ltree",
    version: "1.3",
    comment: "data type for hierarchical tree-like structures",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    types: &[LTREE, LQUERY, LTXTQUERY, LTREE_GIST],
    trees: &[("ltree", Tree::Plain(&tree::PATHS)), ("_ltree", Tree::Plain(&tree::ARRAYS))],
    estimators: &[("ltreeparentsel", Selectivity::Matching)],
    support: &["ltree_gist_options", "_ltree_gist_options"],
    functions: &[
        ("ltree_cmp", Value(|_, args| Ok(Datum::Int4(path::three_way(text(args, 0), text(args, 1)))))),
        ("ltree_lt", Value(|_, args| Ok(Datum::Bool(order(args).is_lt())))),
        ("ltree_le", Value(|_, args| Ok(Datum::Bool(order(args).is_le())))),
        ("ltree_eq", Value(|_, args| Ok(Datum::Bool(order(args).is_eq())))),
        ("ltree_ge", Value(|_, args| Ok(Datum::Bool(order(args).is_ge())))),
        ("ltree_gt", Value(|_, args| Ok(Datum::Bool(order(args).is_gt())))),
        ("ltree_ne", Value(|_, args| Ok(Datum::Bool(order(args).is_ne())))),
        ("subltree", Value(|_, args| path::part(text(args, 0), number(args, 1), number(args, 2)))),
        ("subpath", Value(subpath)),
        (
            "ltree_index",
            Value(|_, args| {
                let from = if args.len() > 2 { number(args, 2) } else { 0 };
                Ok(Datum::Int4(path::index(text(args, 0), text(args, 1), from)))
            }),
        ),
        ("nlevel", Value(|_, args| Ok(Datum::Int4(path::levels(text(args, 0)) as i32)))),
        ("ltree2text", Value(|_, args| Ok(Datum::text(text(args, 0))))),
        ("text2ltree", Value(|_, args| path::read(text(args, 0)))),
        ("_lca", Value(common_ancestor_of_array)),
        ("lca", Value(|_, args| Ok(common_ancestor(args)))),
        ("ltree_isparent", Value(|_, args| tested(args, IS_ABOVE))),
        ("ltree_risparent", Value(|_, args| tested(args, IS_BELOW))),
        ("ltree_addltree", Value(|_, args| path::join(text(args, 0), text(args, 1)))),
        ("ltree_addtext", Value(|_, args| path::join(text(args, 0), operand(&path::read(text(args, 1))?)))),
        ("ltree_textadd", Value(|_, args| path::join(operand(&path::read(text(args, 0))?), text(args, 1)))),
        ("ltq_regex", Value(|_, args| tested(args, MATCHES))),
        ("ltq_rregex", Value(|_, args| commuted(args, tested, MATCHES))),
        ("lt_q_regex", Value(|_, args| tested(args, MATCHES_ANY))),
        ("lt_q_rregex", Value(|_, args| commuted(args, tested, MATCHES_ANY))),
        ("ltxtq_exec", Value(|_, args| tested(args, HAS_WORDS))),
        ("ltxtq_rexec", Value(|_, args| commuted(args, tested, HAS_WORDS))),
        ("_ltree_isparent", Value(|_, args| any_tested(args, IS_ABOVE))),
        ("_ltree_r_isparent", Value(|_, args| commuted(args, any_tested, IS_ABOVE))),
        ("_ltree_risparent", Value(|_, args| any_tested(args, IS_BELOW))),
        ("_ltree_r_risparent", Value(|_, args| commuted(args, any_tested, IS_BELOW))),
        ("_ltq_regex", Value(|_, args| any_tested(args, MATCHES))),
        ("_ltq_rregex", Value(|_, args| commuted(args, any_tested, MATCHES))),
        ("_lt_q_regex", Value(|_, args| any_tested(args, MATCHES_ANY))),
        ("_lt_q_rregex", Value(|_, args| commuted(args, any_tested, MATCHES_ANY))),
        ("_ltxtq_exec", Value(|_, args| any_tested(args, HAS_WORDS))),
        ("_ltxtq_rexec", Value(|_, args| commuted(args, any_tested, HAS_WORDS))),
        ("_ltree_extract_isparent", Value(|_, args| first_tested(args, IS_ABOVE))),
        ("_ltree_extract_risparent", Value(|_, args| first_tested(args, IS_BELOW))),
        ("_ltq_extract_regex", Value(|_, args| first_tested(args, MATCHES))),
        ("_ltxtq_extract_exec", Value(|_, args| first_tested(args, HAS_WORDS))),
        ("hash_ltree", Value(|_, args| Ok(Datum::Int4(hash(text(args, 0)) as i32)))),
        (
            "hash_ltree_extended",
            Value(|_, args| {
                Ok(Datum::Int8(hash_seeded(text(args, 0), i64::from_datum(&args[1]) as u64) as i64))
            }),
        ),
    ],
    ..Module::LIBRARY
};

/// A type whose payload is its text form.
const fn of_text(number: u32, name: &'static str) -> TypeImp {
    TypeImp {
        row: Some(TypeInfo { storage: b'x', ..TypeInfo::new(Oid(number), name, b'U', Physical::Varlena) }),
        output: |_, value, _, out| {
            out.extend_from_slice(operand(value).as_bytes());
            Ok(())
        },
        send: |_, value, cx, out| {
            out.push(VERSION);
            types::send(oids::text, value, cx, out)
        },
        ..TypeImp::NONE
    }
}

/// First byte of binary forms.
const VERSION: u8 = 1;

/// The text of a binary form.
fn receive(name: &str, reader: &mut Reader<'_>, cx: &Call<'_>) -> SqlResult<Datum> {
    let version = reader.take(1)?[0];
    if version != VERSION {
        return Err(sql_err!(INTERNAL_ERROR, "unsupported {name} version number {version}"));
    }
    let rest = reader.rest();
    types::receive(oids::text, rest, -1, cx)
}

const LTREE: LibraryType = LibraryType {
    imp: TypeImp {
        input: |_, text, _, _| path::read(text),
        receive: |_, reader, _, cx| path::read(operand(&receive("ltree", reader, cx)?)),
        compare: Some(|a, b| path::compare(operand(a), operand(b))),
        equal: Some(|a, b| operand(a) == operand(b)),
        hash: Some(|value| compare::hash_bytes(operand(value).as_bytes())),
        seeded_hash: Some(|value, seed| hash_seeded(operand(value), seed)),
        ..of_text(9824, "ltree")
    },
    symbols: TypeSymbols {
        input: "ltree_in",
        output: "ltree_out",
        receive: "ltree_recv",
        send: "ltree_send",
        compare: "ltree_cmp",
        ..TypeSymbols::NONE
    },
};

fn read_pattern(text: &str) -> SqlResult<Datum> {
    Ok(Datum::text(&Pattern::read(text)?.show()))
}

fn read_words(text: &str) -> SqlResult<Datum> {
    Ok(Datum::text(&Query::read(text)?.show()))
}

const LQUERY: LibraryType = LibraryType {
    imp: TypeImp {
        input: |_, text, _, _| read_pattern(text),
        receive: |_, reader, _, cx| read_pattern(operand(&receive("lquery", reader, cx)?)),
        ..of_text(9825, "lquery")
    },
    symbols: TypeSymbols {
        input: "lquery_in",
        output: "lquery_out",
        receive: "lquery_recv",
        send: "lquery_send",
        ..TypeSymbols::NONE
    },
};

const LTXTQUERY: LibraryType = LibraryType {
    imp: TypeImp {
        input: |_, text, _, _| read_words(text),
        receive: |_, reader, _, cx| read_words(operand(&receive("ltxtquery", reader, cx)?)),
        ..of_text(9826, "ltxtquery")
    },
    symbols: TypeSymbols {
        input: "ltxtq_in",
        output: "ltxtq_out",
        receive: "ltxtq_recv",
        send: "ltxtq_send",
        ..TypeSymbols::NONE
    },
};

/// What GiST stores: no values of SQL.
const LTREE_GIST: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo::new(Oid(9827), "ltree_gist", b'U', Physical::Varlena)),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols { input: "ltree_gist_in", output: "ltree_gist_out", ..TypeSymbols::NONE },
};

/// The text of a value.
fn operand(value: &Datum) -> &str {
    <&str>::from_datum(value)
}

fn text(args: &[Datum], at: usize) -> &str {
    operand(&args[at])
}

fn number(args: &[Datum], at: usize) -> i64 {
    i32::from_datum(&args[at]).into()
}

fn order(args: &[Datum]) -> Ordering {
    path::compare(text(args, 0), text(args, 1))
}

/// So many labels from one on; a negative start counts from the end, a negative length leaves so many out there.
fn subpath(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (of, count) = (text(args, 0), path::levels(text(args, 0)) as i64);
    let length = if args.len() > 2 { number(args, 2) } else { 0 };
    let mut start = number(args, 1);
    for _ in 0..2 {
        if start < 0 {
            start += count;
        }
    }
    let end = match length {
        ..0 => count + length,
        0 if args.len() == 2 => path::MOST_LABELS as i64,
        _ => start + length,
    };
    path::part(of, start, end)
}

/// The elements of an array of one dimension, without nulls.
fn elements(array: &Datum) -> SqlResult<Vec<Datum>> {
    let array = Array::from_payload(<&[u8]>::from_datum(array));
    if array.dimensions.len() > 1 {
        return Err(sql_err!(ARRAY_ELEMENT_ERROR, "array must be one-dimensional"));
    }
    if array.elements().iter().any(Datum::is_null) {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "array must not contain nulls"));
    }
    Ok(array.elements().to_vec())
}

fn common_ancestor(paths: &[Datum]) -> Datum {
    let paths: Vec<&str> = paths.iter().map(operand).collect();
    path::common_ancestor(&paths).unwrap_or(Datum::Null)
}

fn common_ancestor_of_array(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    Ok(common_ancestor(&elements(&args[0])?))
}

/// Whether a path matches one of several patterns.
fn matches_any(path: &str, patterns: &Datum) -> SqlResult<bool> {
    for pattern in elements(patterns)? {
        if MATCHES(path, &pattern)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn tested(args: &[Datum], test: Test) -> SqlResult<Datum> {
    test(text(args, 0), &args[1]).map(Datum::Bool)
}

/// The first path of an array that satisfies something.
fn first_tested(args: &[Datum], test: Test) -> SqlResult<Datum> {
    for path in elements(&args[0])? {
        if test(operand(&path), &args[1])? {
            return Ok(path);
        }
    }
    Ok(Datum::Null)
}

fn any_tested(args: &[Datum], test: Test) -> SqlResult<Datum> {
    Ok(Datum::Bool(!first_tested(args, test)?.is_null()))
}

/// The same with the arguments exchanged.
fn commuted(args: &[Datum], how: fn(&[Datum], Test) -> SqlResult<Datum>, test: Test) -> SqlResult<Datum> {
    how(&[args[1].clone(), args[0].clone()], test)
}

fn hash(path: &str) -> u32 {
    path::labels(path).fold(1u32, |all, label| {
        all.wrapping_mul(31).wrapping_add(hashing::hash_bytes(label.as_bytes(), 0) as u32)
    })
}

fn hash_seeded(path: &str, seed: u64) -> u64 {
    if path.is_empty() {
        return 1u64.wrapping_add(seed);
    }
    path::labels(path).fold(1u64, |all, label| {
        all.wrapping_mul(31).wrapping_add(hashing::hash_bytes(label.as_bytes(), seed))
    })
}
