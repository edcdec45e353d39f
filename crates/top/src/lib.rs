//! `stampede top`: who does what on a server, who waits for whom, and an end to what runs away.
//!
//! # What
//! A client like any other. Over one ordinary connection it reads PostgreSQL's views (`pg_stat_activity`, `pg_locks`,
//! `pg_stat_database`, `pg_stat_statements` where it is installed), so it serves Stampede and PostgreSQL alike, near or far.
//!
//! # Layout
//! * [`target`]: which server, from flags, a connection string, the environment and `~/.pgpass`; `tls` encrypts.
//! * [`model`]: what was read at one moment; [`queries`]: the statements that read it; `link`: the connection, kept up.
//! * [`view`]: tables made of a [`model::Snapshot`], one module for each; [`table`]: sorting, filtering and fitting of any.
//! * [`app`]: what is on the screen, and what a key changes; [`screen`]: how it is drawn; [`plain`]: the same as text.
//! * `shell`: terminal, keys and clock around them.
//!
//! # Invariants
//! 1. Only `link`, `shell` and `target` do I/O. All else is a function of a snapshot and of the keys that were pressed.
//! 2. The terminal is as it was before, however the program ends.
//! 3. What comes from the server is data: control characters in it never reach the terminal ([`text::one_line`]).
//! 4. No session is ended without a question that names it; and none that took over the number of one that has gone.

pub mod app;
mod link;
pub mod model;
pub mod plain;
pub mod queries;
pub mod screen;
mod shell;
pub mod table;
pub mod target;
pub mod text;
mod tls;
pub mod view;

pub use shell::{Options, run};
