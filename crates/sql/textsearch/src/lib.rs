//! # What
//! Full text search without SQL around it: the stored forms of `tsvector` and `tsquery` and what is done with them.
//!
//! # Layout
//! * [`vector`]: lexemes and their positions; input, output, changes. `token`: how both types read words.
//! * [`query`]: trees of words and operators; input, output, combination, order. [`rewrite`]: replacing parts of them.
//! * [`parser`]: texts taken apart. [`dictionary`]: what their words stand for. [`configuration`]: both together, and what becomes of a text; `lookup`: how
//!   dictionaries are asked.
//!   [`builtin`]: those that every database has.
//! * [`headline`]: passages that show where a text matches.
//! * [`matching`]: whether a vector satisfies a query; `quick`: whether it may, by its words alone. [`rank`]: how well.
//!
//! # Invariants
//! 1. Stored bytes may be damaged: reading them gives errors or fewer words, never a panic.
//! 2. A value of many words is worked on in pieces ([`runtime::pace`]); comparisons never look for interrupts.
//! 3. Recursion asks for its stack, comparisons do not recurse.
//!
//! # PostgreSQL counterpart and differences
//! `src/backend/tsearch`, `utils/adt/ts*.c`. The stored form of a query is its binary form on the wire.

pub mod builtin;
pub mod configuration;
pub mod dictionary;
pub mod headline;
mod lookup;
pub mod matching;
pub mod parser;
pub mod query;
mod quick;
pub mod rank;
pub mod rewrite;
mod token;
pub mod vector;

pub use query::{Item, Query};
pub use vector::{Position, Vector};
