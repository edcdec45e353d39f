//! # What
//! From the analysed query to the plan that the executor runs: rewriting, estimates, paths, the choice among them.
//!
//! # Layout
//! * [`expr`], [`mod@plan`]: what comes out. `logical`: a query level in between; `convert` makes it, `prepare` rewrites it.
//! * `level`: where conditions apply, equivalence classes, limits of outer joins. `scan`, `joins`: paths. `create`: nodes.
//! * `inherit`: tables that stand for their children too. `united`: the parts of a UNION ALL likewise. `append`: paths over those. [`partition`], [`prune`], `route`: partitions that
//!   take rows and that conditions leave. [`proof`]: constraints that say what a bound does. `names`: what EXPLAIN calls relations.
//! * `group`, `grouping_sets`: grouping. `ordered_calls`: aggregates with an order of their own. `extremes`: `min` and `max` by index.
//! * [`extended`]: estimates by statistics of several columns together.
//! * `pattern`: ranges of indexes that patterns keep to, and what they match.
//! * `partwise`: joins of partitioned tables by their partitions. `matching`: which partitions can have rows that join.
//! * `unique`: joins of which one row at most can match.
//! * `pushdown`: conditions moved below grouping and into subqueries.
//! * `security`: policies and other conditions that hide rows from those of the user.
//! * `memoize`: inner sides of loops that keep their results.
//! * `parallel`: parts of a plan that several participants run.
//! * `sorting`: orders that rows are brought into, in full or from a part on.
//! * `sublinks`: subqueries in the expressions of a level: their plans, and what is handed down to them.
//! * `upper`: a whole level: grouping, windows, DISTINCT, ORDER BY, LIMIT, set operations, changes of tables.
//! * `window`: which windows of a level are computed, in which order. [`aggregate`]: what computes an aggregate. `sensitive`: whether the values of parameters could matter.
//! * [`arbiter`]: the indexes of ON CONFLICT. `implication`: conditions that follow from others.
//! * [`cost`], [`selectivity`], [`stats`]: estimates. [`explain`]: what EXPLAIN says of a plan, and its formats.
//!
//! # Invariants
//! 1. A plan is immutable and refers to no session: sessions share it.
//! 2. Relations are numbered across all levels of a statement, so merging a subquery renumbers nothing.
//! 3. An expression of a node is made of parameters, cells, constants and expressions in the outputs of its children.
//!
//! # PostgreSQL counterpart and differences
//! `optimizer/`. Joins are parameterised only at scans; no genetic search (greedy beyond the threshold).

pub mod aggregate;
mod append;
pub mod arbiter;
mod check;
mod constant_error;
mod convert;
pub mod cost;
mod create;
mod distinct;
pub mod explain;
pub mod expr;
pub mod extended;
mod extremes;
mod fold;
mod forced;
mod foreign;
mod function;
mod group;
mod grouping_sets;
mod implication;
mod inherit;
mod inline;
mod joins;
mod json;
mod level;
mod logical;
mod matching;
mod memoize;
mod merge;
mod names;
mod nearest;
mod order;
mod ordered_calls;
mod parallel;
pub mod partition;
mod partwise;
mod path;
mod pattern;
mod placeholder;
pub mod plan;
mod planner;
mod prepare;
pub mod proof;
pub mod prune;
pub mod published;
mod pushdown;
mod relset;
mod route;
mod scan;
mod security;
pub mod selectivity;
mod sensitive;
mod sorting;
pub mod stats;
mod stored;
mod sublinks;
mod unique;
mod united;
mod upper;
mod user_types;
mod walk;
mod window;
mod xml;

pub use aggregate::{Steps, UserAggregate, UserSteps};
pub use constant_error::has_value;
pub use cost::{ForcedParallel, Settings};
pub use expr::*;
pub use foreign::{ForeignDetail, ForeignRows, not_changeable};
pub use function::Function;
pub use inline::Bodies;
pub use json::JsonExpr;
pub use plan::*;
pub use planner::{Context, convert_expression, plan};
pub use stats::Statistics;
pub use user_types::UserTypes;
pub use xml::XmlExpr;

use base::SqlError;

/// What an interrupt says to the client.
pub fn interrupted(interrupt: runtime::Interrupt) -> SqlError {
    interrupt.into()
}
