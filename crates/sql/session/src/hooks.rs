//! # What
//! Reports to a module about statements that ran: [`Statements`], which `pg_stat_statements` implements.
//!
//! # Invariants
//! 1. Nobody waits in [`Statements::count`]: it is called by every session after every statement.
//!
//! # PostgreSQL counterpart
//! The hooks of planner and executor.

use std::any::Any;
use std::path::Path;

use base::Oid;
use runtime::usage::Usage;

/// Counts statements.
pub trait Statements: Send + Sync {
    /// A statement has ended, or its plan was made.
    fn count(&self, counted: &Counted<'_>);
    /// The server stops: what is to be kept is written to the data directory.
    fn save(&self, data: &Path) -> std::io::Result<()>;
    /// The counter itself, for its module's functions.
    fn as_any(&self) -> &dyn Any;
}

/// What is counted.
pub struct Counted<'a> {
    /// Who ran it.
    pub user: Oid,
    /// Where.
    pub database: Oid,
    /// The statement's id.
    pub id: i64,
    /// A client sent it; else a function ran it.
    pub top_level: bool,
    /// The making of its plan, not a run.
    pub planning: bool,
    /// How long it took.
    pub nanos: u64,
    /// Rows returned or changed.
    pub rows: u64,
    /// What it used.
    pub usage: Usage,
    /// Its text without constants.
    pub text: &'a dyn Fn() -> String,
}
