//! Connections to other servers, as libpq makes them.
//!
//! # Layout
//! [`conninfo`]: connection strings. [`passfile`]: the password file. [`options`]: what they say. [`tls`]: encryption. [`connection`]: a connection that is let in, for
//! commands and for a stream in both directions, as standbys need.
//!
//! # Invariants
//! 1. Whatever a server answers, there is an error in libpq's words, and no panic.
//! 2. It is the one crate beside `server` that opens sockets; who uses it runs an event loop.
//!
//! # PostgreSQL counterpart
//! `fe-connect.c`, `libpqwalreceiver.c`.

pub mod connection;
pub mod conninfo;
pub mod options;
pub mod passfile;
pub mod tls;

pub use connection::{Connection, Copied, Failure};
pub use options::Options;
