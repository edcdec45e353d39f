//! # What
//! Sessions that append to lists at random, the history of what they saw, and a check that one order of commits explains all of it.
//!
//! # Layout
//! * [`choices`]: random choices from a seed.
//! * [`session`]: the sessions: transactions at all isolation levels, with savepoints, cursors, exported snapshots, two phases.
//! * [`record`]: what they did and saw. Every element is appended once, so a list read tells in which order its writers committed.
//! * [`order`]: the check. [`fork`]: the long fork by itself. [`serial`]: that of SERIALIZABLE, which promises more.
//! * [`torn`]: a connection with an anomaly of its own, which the check must find.
//!
//! A test brings the server: simulated, with crashes from a seed, or the real one behind sockets. [`session::Database`] is all
//! that is needed of it.

pub mod choices;
pub mod fork;
pub mod order;
pub mod record;
pub mod serial;
pub mod session;
pub mod torn;

pub use choices::Choices;
pub use record::History;
pub use session::{Database, Failure, Lost, Session, World};

/// Lists, numbered from 0.
pub const LISTS: u32 = 8;

/// Lists whose row is there from the beginning; the others' are made by the first who appends.
pub const FIRST_LISTS: u32 = 4;

/// Makes the lists; no session has begun.
pub const SETUP: &[&str] = &[
    "create table lists (id int primary key, elements bigint[] not null) with (fillfactor = 60)",
    "insert into lists select n, '{}' from generate_series(0, 3) as n",
];
