//! # What
//! `amcheck`: whether tables, B-tree and GIN indexes are sound. The verifier itself is `verify`.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/amcheck` 1.5. With `heapallindexed`, `bt_index_parent_check` also looks at the row behind every entry.

use base::{Oid, SqlError, SqlResult, sql_err};
use session::Session;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;
use verify::{self, IndexChecks, Skip, TableChecks};

/// The extension.
pub static MODULE: Module = Module {
    name: "amcheck",
    version: "1.5",
    comment: "functions for verifying relation integrity",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("bt_index_check", ModuleFunction::Session(bt_index_check)),
        ("bt_index_parent_check", ModuleFunction::Session(bt_index_parent_check)),
        ("gin_index_check", ModuleFunction::Session(gin_index_check)),
        ("verify_heapam", ModuleFunction::Session(verify_heapam)),
    ],
    ..Module::LIBRARY
};

/// Argument `i` of a function with fewer of them where it is left out.
fn flag(args: &[Datum], i: usize) -> bool {
    args.get(i).is_some_and(bool::from_datum)
}

fn index(args: &[Datum]) -> Oid {
    Oid(args.first().map_or(0, u32::from_datum))
}

/// What a function that returns `void` does.
fn nothing() -> Returned {
    Returned::Value(Datum::text(""))
}

fn bt_index_check(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let args = invocation.args;
    let checks = IndexChecks {
        method: Some("btree"),
        heap_all_indexed: flag(args, 1),
        check_unique: flag(args, 2),
        ..IndexChecks::default()
    };
    verify::index(session, index(args), checks)?;
    Ok(nothing())
}

fn bt_index_parent_check(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let args = invocation.args;
    let checks = IndexChecks {
        method: Some("btree"),
        parent: true,
        heap_all_indexed: flag(args, 1),
        root_descend: flag(args, 2),
        check_unique: flag(args, 3),
    };
    verify::index(session, index(args), checks)?;
    Ok(nothing())
}

fn gin_index_check(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let checks = IndexChecks { method: Some("gin"), ..IndexChecks::default() };
    verify::index(session, index(invocation.args), checks)?;
    Ok(nothing())
}

fn verify_heapam(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let [relation, on_error_stop, check_toast, skip, first, last] = invocation.args else {
        return Err(SqlError::internal("six arguments were expected"));
    };
    for (value, name) in [
        (relation, "relation"),
        (on_error_stop, "on_error_stop"),
        (check_toast, "check_toast"),
        (skip, "skip"),
    ] {
        if value.is_null() {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "{name} cannot be null"));
        }
    }
    let skip = match <&str>::from_datum(skip).to_ascii_lowercase().as_str() {
        "none" => Skip::None,
        "all-frozen" => Skip::AllFrozen,
        "all-visible" => Skip::AllVisible,
        _ => {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid skip option")
                .hint("Valid skip options are \"all-visible\", \"all-frozen\", and \"none\"."));
        }
    };
    let block = |value: &Datum| (!value.is_null()).then(|| i64::from_datum(value));
    let checks =
        TableChecks { toast: bool::from_datum(check_toast), skip, first: block(first), last: block(last) };
    let stop = bool::from_datum(on_error_stop);
    let mut found = Vec::new();
    let mut note = |findings: Vec<verify::Finding>| {
        found.extend(findings.into_iter().map(|finding| {
            let number = |n: Option<usize>| n.map_or(Datum::Null, |n| Datum::Int4(n as i32));
            vec![
                Datum::Int8(i64::from(finding.block.0)),
                number(finding.offset.map(usize::from)),
                number(finding.column),
                Datum::text(&finding.message),
            ]
        }));
        Ok(!stop)
    };
    verify::table(session, Oid(u32::from_datum(relation)), &checks, &mut note, &mut Err)?;
    rows(session, invocation, found)
}
