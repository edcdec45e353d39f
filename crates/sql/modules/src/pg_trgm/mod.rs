//! # What
//! `pg_trgm`: how similar two texts are, by the trigrams (runs of three characters) that they share.
//!
//! # Layout
//! `trigram`: from text to trigrams. `window`: the part of a text that is most similar to a word. Here: the functions and the three thresholds.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_trgm` without its indexes: GiST and GIN are missing, and so are the operator classes, `gtrgm` and their functions. A threshold
//! out of range is refused when it is used, not when it is set.

mod trigram;
mod window;

use base::{SqlResult, sql_err};
use session::Session;
use session::module::{Module, ModuleFunction};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use ModuleFunction::{Session as WithSession, Value};
use trigram::{shown, trigrams};
use window::{Extent, best_similarity};

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_trgm",
    version: "1.6",
    comment: "text similarity measurement and index searching based on trigrams",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[
        ("set_limit", WithSession(set_limit)),
        ("show_limit", WithSession(|session, _| real(threshold(session, LIMIT)? as f32))),
        ("show_trgm", Value(|_, args| show_trgm(text(args, 0)))),
        ("similarity", Value(|_, args| Ok(Datum::Float4(similarity(args)?)))),
        ("similarity_dist", Value(|_, args| distance(similarity(args)?))),
        ("similarity_op", WithSession(|session, call| is_above(session, LIMIT, similarity(call.args)?))),
        ("word_similarity", Value(|_, args| Ok(Datum::Float4(of_word(args, Extent::Any)?)))),
        ("word_similarity_dist_op", Value(|_, args| distance(of_word(args, Extent::Any)?))),
        ("word_similarity_dist_commutator_op", Value(|_, args| distance(in_word(args, Extent::Any)?))),
        (
            "word_similarity_op",
            WithSession(|session, call| is_above(session, WORD_LIMIT, of_word(call.args, Extent::Any)?)),
        ),
        (
            "word_similarity_commutator_op",
            WithSession(|session, call| is_above(session, WORD_LIMIT, in_word(call.args, Extent::Any)?)),
        ),
        ("strict_word_similarity", Value(|_, args| Ok(Datum::Float4(of_word(args, Extent::Words)?)))),
        ("strict_word_similarity_dist_op", Value(|_, args| distance(of_word(args, Extent::Words)?))),
        (
            "strict_word_similarity_dist_commutator_op",
            Value(|_, args| distance(in_word(args, Extent::Words)?)),
        ),
        (
            "strict_word_similarity_op",
            WithSession(|session, call| is_above(session, STRICT_LIMIT, of_word(call.args, Extent::Words)?)),
        ),
        (
            "strict_word_similarity_commutator_op",
            WithSession(|session, call| is_above(session, STRICT_LIMIT, in_word(call.args, Extent::Words)?)),
        ),
    ],
    ..Module::LIBRARY
};

/// A setting that says from which similarity on an operator is true, and its default.
type Threshold = (&'static str, f64);

const LIMIT: Threshold = ("pg_trgm.similarity_threshold", 0.3);
const WORD_LIMIT: Threshold = ("pg_trgm.word_similarity_threshold", 0.6);
const STRICT_LIMIT: Threshold = ("pg_trgm.strict_word_similarity_threshold", 0.5);

fn text(args: &[Datum], i: usize) -> &str {
    <&str>::from_datum(&args[i])
}

fn real(value: f32) -> SqlResult<Returned> {
    Ok(Returned::Value(Datum::Float4(value)))
}

/// The value in force, which must lie between 0 and 1.
fn threshold(session: &Session, (name, default): Threshold) -> SqlResult<f64> {
    match session.setting(name) {
        None => Ok(default),
        Some(written) => read_threshold(name, &written),
    }
}

fn read_threshold(name: &str, written: &str) -> SqlResult<f64> {
    let value: f64 = written.trim().parse().map_err(|_| {
        sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{name}\": \"{written}\"")
    })?;
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(sql_err!(
        INVALID_PARAMETER_VALUE,
        "{value} is outside the valid range for parameter \"{name}\" (0 .. 1)"
    ))
}

fn set_limit(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let limit = f32::from_datum(&call.args[0]);
    let written = limit.to_string();
    read_threshold(LIMIT.0, &written)?;
    session.change_setting(LIMIT.0, Some(&written), false)?;
    real(limit)
}

fn is_above(session: &Session, limit: Threshold, similarity: f32) -> SqlResult<Returned> {
    Ok(Returned::Value(Datum::Bool(f64::from(similarity) >= threshold(session, limit)?)))
}

fn distance(similarity: f32) -> SqlResult<Datum> {
    Ok(Datum::Float4((1.0 - f64::from(similarity)) as f32))
}

fn show_trgm(text: &str) -> SqlResult<Datum> {
    let mut all = trigrams(text)?.list;
    all.sort_unstable();
    all.dedup();
    let shown: Vec<String> = all.into_iter().map(shown).collect();
    Ok(types::array::from_texts(shown.iter().map(|trigram| Some(trigram.as_str()))))
}

/// The share of all trigrams of two texts that both have.
fn share(common: usize, one: usize, other: usize) -> f32 {
    common as f32 / (one + other - common) as f32
}

fn similarity(args: &[Datum]) -> SqlResult<f32> {
    let sets = [trigrams(text(args, 0))?, trigrams(text(args, 1))?].map(|trigrams| {
        let mut list = trigrams.list;
        list.sort_unstable();
        list.dedup();
        list
    });
    let [one, other] = &sets;
    if one.is_empty() || other.is_empty() {
        return Ok(0.0);
    }
    let common = one.iter().filter(|trigram| other.binary_search(trigram).is_ok()).count();
    Ok(share(common, one.len(), other.len()))
}

/// How similar the first text is to the part of the second that resembles it most.
fn of_word(args: &[Datum], extent: Extent) -> SqlResult<f32> {
    best_similarity(&trigrams(text(args, 0))?, &trigrams(text(args, 1))?, extent)
}

/// The same with the texts exchanged.
fn in_word(args: &[Datum], extent: Extent) -> SqlResult<f32> {
    best_similarity(&trigrams(text(args, 1))?, &trigrams(text(args, 0))?, extent)
}
