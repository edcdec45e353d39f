//! # What
//! `tablefunc`: functions that give tables: cross tables, hierarchies, random numbers.
//!
//! # Layout
//! `query`: queries that are given as texts. `crosstab`, `connectby`: the functions of these names.
//!
//! # PostgreSQL counterpart
//! `contrib/tablefunc`.

mod connectby;
mod crosstab;
mod query;

use base::{SqlResult, sql_err};
use session::Session;
use session::module::{Module, ModuleFunction, one_column};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use ModuleFunction::Session as WithSession;

/// The extension.
pub static MODULE: Module = Module {
    name: "tablefunc",
    version: "1.0",
    comment: "functions that manipulate whole tables, including crosstab",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    functions: &[
        ("normal_rand", WithSession(normal_numbers)),
        ("crosstab", WithSession(crosstab::in_order)),
        ("crosstab_hash", WithSession(crosstab::by_category)),
        ("connectby_text", WithSession(|session, call| connectby::search(session, call, false))),
        ("connectby_text_serial", WithSession(|session, call| connectby::search(session, call, true))),
    ],
    ..Module::LIBRARY
};

/// A number between 0 and 1, neither of them.
fn uniform() -> f64 {
    ((runtime::random_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// So many numbers that are distributed normally, with this mean and standard deviation.
fn normal_numbers(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let count = i32::from_datum(&call.args[0]);
    if count < 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "number of rows cannot be negative"));
    }
    let (mean, deviation) = (f64::from_datum(&call.args[1]), f64::from_datum(&call.args[2]));
    let number = |_| {
        let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), std::f64::consts::TAU * uniform());
        Datum::Float8(mean + deviation * radius * angle.cos())
    };
    one_column(session, (0..count).map(number))
}
