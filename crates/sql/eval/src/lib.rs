//! # What
//! Evaluates expressions: compiles them for a running plan, and computes them over its rows.
//!
//! # Layout
//! * `compile`: from a plan's expressions to [`code::Code`], which `code` runs. Kinds of it: `truth` (conditions), `decimal` (arithmetic of `numeric`), `composite` (arrays), `json`, `row_value` (rows, domains), `subplan`.
//! * [`simple`]: expressions without rows, as procedural languages compute them; [`mere`]: those of them that need no more than parameters.
//! * `cx`: what expressions and nodes work with, and what they ask of their session ([`cx::Facilities`]). [`node`]: a source of rows, as subplans read it. `needs`: what a plan's user must be allowed to do.
//! * [`trigger`]: triggers of a table, and what is to fire when a statement or a transaction ends.
//! * [`team`]: what those share who run a part of a plan beside each other.
//! * [`turn`]: statements that begin again behind a crowd.
//! * `row_store`: rows in memory, and from some size on in a temporary file (`spill`, `temp_account`).
//! * `error`: errors of the layers below.
//!
//! # Invariants
//! 1. Nothing here knows sessions or how nodes work: a running statement's session is a [`cx::Facilities`] and a [`trigger::Firing`], its nodes are [`node::Node`]s.
//!
//! # PostgreSQL counterpart
//! `executor/execExpr.c`, `execExprInterp.c`, `nodeSubplan.c`; `commands/trigger.c`; `utils/sort/tuplestore.c`.

pub mod code;
pub mod compile;
pub mod composite;
pub mod cx;
mod decimal;
pub mod error;
pub mod json;
pub mod mere;
pub mod needs;
pub mod node;
pub mod row_store;
mod row_value;
pub mod simple;
pub mod spill;
pub mod subplan;
pub mod team;
mod temp_account;
pub mod trigger;
mod truth;
pub mod turn;
pub mod xml;
