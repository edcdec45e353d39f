//! # What
//! Subscriptions at work: changes of another server are applied here, and tables copied from there.
//!
//! # Layout
//! `launcher`: the loop that starts workers. `worker`: a session that follows a stream of changes. `copier`: one that copies a table first. `target`: the tables that changes go to. `conflict`: what was
//! in the way. `protocol`: the messages of a publisher. `subscription`: what all know of one, and what is asked of its publisher. What these share, and others see, is
//! [`session::subscription`].
//!
//! # Invariants
//! 1. A transaction of the publisher is applied in one of ours, whose commit record says where it ends there ([`txn::origin`]). After a crash the stream begins behind the last one that is
//!    durable: nothing is lost, nothing is applied twice.
//! 2. The publisher is told of a transaction as applied only once it is durable here, whatever `synchronous_commit` is.
//! 3. A table is copied in the snapshot of a slot that is made for it. The copier applies what was committed there since, up to a position between two transactions at which the subscription's own
//!    worker waits for it; from there on that one applies the table's changes.
//!
//! # Locks
//! Those of statements, in the order of the publisher's changes. While a worker waits for its publisher it holds none.
//!
//! # PostgreSQL counterpart and differences
//! `replication/logical/worker.c`, `tablesync.c`, `relation.c`, `launcher.c`. Workers are fibers, and not counted by `max_worker_processes`. Changes run through plans that are kept for each table; one
//! worker applies all, so transactions are not asked for before they have committed.

mod conflict;
mod copier;
mod launcher;
mod protocol;
pub(crate) mod subscription;
pub(crate) mod target;
mod worker;

pub use launcher::Launcher;

pub use crate::autovacuum::Place;

/// Number of the launcher, as `pg_stat_activity` shows it.
pub const LAUNCHER_PID: i32 = 8;

/// What the server around the database does for subscriptions.
pub trait Host: Send + Sync {
    /// Runs a worker in a fiber of its own.
    fn start_worker(&self, work: Box<dyn FnOnce(Place) + Send>);
    /// A line for the log that is about no session.
    fn log(&self, line: &base::SqlError);
}
