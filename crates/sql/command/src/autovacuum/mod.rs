//! # What
//! Automatic VACUUM and ANALYZE.
//!
//! # Layout
//! `need`: when a table needs something. `look`: what the catalogs say of tables. `launcher`: the loop that finds tables and starts workers.
//! `worker`: a session that keeps up tables of one database. `expense`: what workers may cost. `state`: what these share. When to look at a table is told by its counters
//! (`counters/suspects.rs`).
//!
//! # Invariants
//! 1. A table is looked at when a transaction's end takes one of its lanes over a limit, when its upkeep has ended, and once in
//!    `autovacuum_naptime` together with all others, for what no counter tells: storage parameters, ages of ids, databases.
//! 2. One worker at a time works on a table. A table that is worked on, or waits for a worker, is not looked at.
//! 3. A table rests after its upkeep, at least as long as that took, and when somebody has it, longer each time; one whose upkeep has failed, or
//!    was cancelled, until the next look at all tables. While no snapshot goes, one whose dead rows some snapshot needs is not vacuumed again.
//! 4. A temporary table is nobody's once its session has ended without a word, as in a crash: it is dropped. Whoever takes a temporary schema into use says so
//!    before a table is in it.
//!
//! 5. Ranges of BRIN indexes with `autosummarize` are jobs of their own: of an index, which no look at tables finds, so that nothing is noted of how they end.
//!
//! # Locks
//! One short mutex (`state`), under no other; tables are locked as VACUUM and ANALYZE do, and never waited for.
//!
//! # PostgreSQL counterpart and differences
//! `autovacuum.c`. There a launcher starts a worker for each database in turn, once in `autovacuum_naptime`, and the worker reads the counters of
//! all tables. Here tables tell when they need something. There is no VACUUM against wraparound: ids have 64 bits. One for a table's
//! old ids is as any other, and gives way to whoever needs the table.

mod expense;
mod launcher;
mod look;
mod need;
mod state;
mod worker;

pub use launcher::Launcher;
pub use state::Autovacuum;
pub use worker::Place;

/// Number of the launcher, as `pg_stat_activity` shows it.
pub const LAUNCHER_PID: i32 = 4;

/// What the server around the database does for automatic vacuums.
pub trait Host: Send + Sync {
    /// Runs a worker in a fiber of its own.
    fn start_worker(&self, work: Box<dyn FnOnce(Place) + Send>);
    /// A line for the log that is about no session.
    fn log(&self, line: &base::SqlError);
}
