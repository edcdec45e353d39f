//! # What
//! `pg_trgm`: how similar two texts are, by the trigrams (runs of three characters) that they share.
//!
//! # Layout
//! `trigram`: from text to trigrams. `window`: the part of a text that is most similar to a word. `pattern`: which trigrams a text has that matches a pattern. `query`: what
//! conditions say of trigrams; `parts`, `tree`: GIN and GiST over them. Here: the functions and the three thresholds.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_trgm`. What trigrams a regular expression needs is found over its tree and not over an automaton, and not for those with back references or look-around: these look at
//! all of an index. Entries of GiST whose texts have very many trigrams are signatures. Signatures have 12 bytes.

mod parts;
mod pattern;
mod query;
mod tree;
mod trigram;
mod window;

use base::SqlResult;
use session::Session;
use session::module::{Module, ModuleFunction};
use session::routine::{Invocation, Returned};
use tuple::{Datum, Physical};
use types::registry::libraries::{LibraryType, Parts, Tree, TypeSymbols};
use types::registry::{TypeImp, TypeInfo};
use types::value::FromDatum;

use ModuleFunction::{Session as WithSession, Value};
use trigram::{Trigram, kinds, shown, trigrams};
use types::text::{ALIKE, alike};
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
    types: &[GTRGM],
    trees: &[("gtrgm", Tree::Collated(tree::class))],
    parts: &[("gin_extract_query_trgm", Parts::Collated(parts::class))],
    support: &["gin_extract_value_trgm", "gin_trgm_consistent", "gin_trgm_triconsistent"],
    functions: &[
        ("set_limit", WithSession(set_limit)),
        ("show_limit", WithSession(show_limit)),
        ("show_trgm", Value(|_, args| show_trgm(text(args, 0)))),
        ("similarity", Value(|_, args| Ok(Datum::Float4(similarity(args)?)))),
        ("similarity_dist", Value(|_, args| distance(similarity(args)?))),
        ("similarity_op", Value(|_, args| Ok(Datum::Bool(similarity(args)? >= alike()[LIMIT])))),
        ("word_similarity", Value(|_, args| Ok(Datum::Float4(of_word(args, Extent::Any)?)))),
        ("word_similarity_dist_op", Value(|_, args| distance(of_word(args, Extent::Any)?))),
        ("word_similarity_dist_commutator_op", Value(|_, args| distance(in_word(args, Extent::Any)?))),
        (
            "word_similarity_op",
            Value(|_, args| Ok(Datum::Bool(of_word(args, Extent::Any)? >= alike()[WORD_LIMIT]))),
        ),
        (
            "word_similarity_commutator_op",
            Value(|_, args| Ok(Datum::Bool(in_word(args, Extent::Any)? >= alike()[WORD_LIMIT]))),
        ),
        ("strict_word_similarity", Value(|_, args| Ok(Datum::Float4(of_word(args, Extent::Words)?)))),
        ("strict_word_similarity_dist_op", Value(|_, args| distance(of_word(args, Extent::Words)?))),
        (
            "strict_word_similarity_dist_commutator_op",
            Value(|_, args| distance(in_word(args, Extent::Words)?)),
        ),
        (
            "strict_word_similarity_op",
            Value(|_, args| Ok(Datum::Bool(of_word(args, Extent::Words)? >= alike()[STRICT_LIMIT]))),
        ),
        (
            "strict_word_similarity_commutator_op",
            Value(|_, args| Ok(Datum::Bool(in_word(args, Extent::Words)? >= alike()[STRICT_LIMIT]))),
        ),
    ],
    ..Module::LIBRARY
};

/// What GiST stores: no values of SQL.
const GTRGM: LibraryType = LibraryType {
    imp: TypeImp {
        row: Some(TypeInfo::new(base::Oid(9822), "gtrgm", b'U', Physical::Varlena)),
        ..TypeImp::NONE
    },
    symbols: TypeSymbols { input: "gtrgm_in", output: "gtrgm_out", ..TypeSymbols::NONE },
};

/// Places of the three thresholds in [`alike`].
const LIMIT: usize = 0;
const WORD_LIMIT: usize = 1;
const STRICT_LIMIT: usize = 2;

/// The setting of the first.
const SETTING: &str = "pg_trgm.similarity_threshold";

fn text(args: &[Datum], i: usize) -> &str {
    <&str>::from_datum(&args[i])
}

fn real(value: f32) -> SqlResult<Returned> {
    Ok(Returned::Value(Datum::Float4(value)))
}

fn set_limit(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    session.load_library(MODULE.name)?;
    let limit = f32::from_datum(&call.args[0]);
    session.change_setting(SETTING, Some(&limit.to_string()), false)?;
    real(limit)
}

fn show_limit(session: &Session, _: &Invocation<'_>) -> SqlResult<Returned> {
    session.load_library(MODULE.name)?;
    let written = session.setting(SETTING).and_then(|written| written.parse().ok());
    real(written.unwrap_or(ALIKE[LIMIT]))
}

fn distance(similarity: f32) -> SqlResult<Datum> {
    Ok(Datum::Float4((1.0 - f64::from(similarity)) as f32))
}

fn show_trgm(text: &str) -> SqlResult<Datum> {
    let shown: Vec<String> = kinds(text)?.into_iter().map(shown).collect();
    Ok(types::array::from_texts(shown.iter().map(|trigram| Some(trigram.as_str()))))
}

/// The share of all trigrams of two texts that both have.
fn share(common: usize, one: usize, other: usize) -> f32 {
    common as f32 / (one + other - common) as f32
}

fn similarity(args: &[Datum]) -> SqlResult<f32> {
    Ok(similarity_of(&kinds(text(args, 0))?, &kinds(text(args, 1))?))
}

/// How similar two texts are that have these trigrams, in order.
fn similarity_of(one: &[Trigram], other: &[Trigram]) -> f32 {
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let common = one.iter().filter(|trigram| other.binary_search(trigram).is_ok()).count();
    share(common, one.len(), other.len())
}

/// How similar the first text is to the part of the second that resembles it most.
fn of_word(args: &[Datum], extent: Extent) -> SqlResult<f32> {
    best_similarity(&trigrams(text(args, 0))?, &trigrams(text(args, 1))?, extent)
}

/// The same with the texts exchanged.
fn in_word(args: &[Datum], extent: Extent) -> SqlResult<f32> {
    best_similarity(&trigrams(text(args, 1))?, &trigrams(text(args, 0))?, extent)
}
