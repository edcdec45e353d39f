//! # What
//! `json` and `jsonb`: input and output, parts, changes, comparison, documents made of SQL values, aggregates.
//!
//! # Layout
//! `json` is its text, checked when it comes in (`lex`, `parse`) and taken apart on demand (`tape`). `jsonb` is a
//! tree in place whose bytes [`binary`] describes. Paths through it: `path`.
//!
//! # Invariants
//! 1. Depth of nesting costs no stack: walks keep their own (`walk`, `parse`) or count levels (`depth`); text that nests
//!    deeper than PostgreSQL's default would accept is refused.
//! 2. What is stored in a `jsonb` was checked: finite numbers, UTF-8 without NUL. Damaged bytes give errors or NULLs, never panics.
//!
//! # PostgreSQL counterpart and differences
//! `json.c`, `jsonb.c`, `jsonfuncs.c`, `jsonapi.c`.

pub mod binary;
mod build;
mod construct;
mod contains;
pub(crate) mod depth;
mod edit;
mod encode;
mod extract;
pub(crate) mod functions;
mod input;
pub(crate) mod lex;
pub(crate) mod parse;
pub(crate) mod parts;
pub mod path;
mod populate;
mod tape;
pub(crate) mod walk;

pub(crate) use build::JsonAgg;
pub use build::JsonState;
pub use construct::{Construction, DocumentKind, array, is_document, object, parse_unique, quoted, scalar};
pub use edit::{Subscript, assign, subscript};
pub use encode::is_immutable;
pub(crate) use encode::{Category, category, moment_text};
pub(crate) use functions::FUNCTIONS;
pub(crate) use input::{from_text, json_from_text, json_receive, output, receive, send};
pub(crate) use populate::FUNCTIONS as POPULATE_FUNCTIONS;
pub use populate::{null_of, typed};
pub(crate) use tape::{Shape, Tape};
pub use walk::{compare_datums, hash_datum};

#[cfg(test)]
mod tests;
