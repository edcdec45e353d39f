//! # What
//! Automatic VACUUM and ANALYZE.
//!
//! # Layout
//! `need`: when a table needs something. `look`: what the catalogs say of tables. `launcher`: the loop that finds tables and starts workers.
//! `worker`: a session that keeps up tables of one database. `expense`: what workers may cost. `state`: what these share. When to look at a table is told by its counters
//! (`counters/suspects.rs`).
//!
//! # Invariants
//! 1. A table is checked when the end of a transaction takes one of its counters over a limit, when its last vacuum or analyze has ended, and once in
//!    `autovacuum_naptime` together with all others, for what no counter shows: storage parameters, ages of ids, databases.
//! 2. At most one worker processes a table. A table that is being processed, or waits for a worker, is not checked.
//! 3. After it was processed, a table is left alone for at least as long as that took, and for longer each time it was found locked. After a failure or a
//!    cancellation it waits for the next check of all tables. A table whose dead rows some snapshot needs is not vacuumed again until a snapshot ends.
//! 4. A temporary table whose session ended without dropping it, as in a crash, is dropped. A session announces its temporary schema before it makes a table in it.
//!
//! 5. Summarizing ranges of BRIN indexes with `autosummarize` is a job of its own kind. It belongs to an index, which checks of tables do not find, so its outcome is not recorded.
//!
//! # Locks
//! One short mutex (`state`), taken while no other is held. Tables are locked as by VACUUM and ANALYZE; a worker never waits for such a lock.
//!
//! # PostgreSQL counterpart and differences
//! `autovacuum.c`. There a launcher starts a worker for each database in turn, once in `autovacuum_naptime`, and the worker reads the counters of
//! all tables. Here the counters of a table report when it needs a vacuum. No VACUUM has to prevent wraparound, as ids have 64 bits: one that freezes old ids is
//! like any other, and yields to sessions that need the table.

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
