//! # What
//! Runs plans.
//!
//! # Layout
//! * [`run`]: from an analysed statement to rows: plans that sessions share, and the state trees that run them. `kept`: trees that wait for another run.
//! * [`nodes`]: what the trees are made of. `partition`: which partitions are read, and where a row belongs. `row_key`: keys of hash tables.
//! * `batch`: many rows at once, as columns.
//! * `index`: entries of indexes. `exclusion`: rows that conflict by an exclusion constraint. `recheck`: rows that others changed meanwhile.
//! * [`violation`]: what is said of rows that constraints refuse. [`statistics`]: what the planner asks about tables.
//!
//! # Invariants
//! 1. Whoever waits for another transaction or a heavyweight lock holds no page latch: storage refuses, this crate waits and asks again.
//! 2. Nothing here knows sessions: what a run needs of its own comes in as an [`eval::cx::Env`].
//!
//! # PostgreSQL counterpart
//! `src/backend/executor`.

mod batch;
pub mod exclusion;
mod index;
pub mod kept;
pub mod nodes;
mod partition;
pub mod probe;
mod recheck;
mod row_key;
pub mod run;
pub mod statistics;
#[cfg(test)]
mod tests;
pub mod violation;
