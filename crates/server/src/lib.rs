//! The server around the database: command line, configuration, log, listener and sessions' loops.
//!
//! # Layout
//! * [`cli`]: `initdb`, `pg_ctl`, `postgres`, `stampede …`. [`config`]: `postgresql.conf`, `pg_hba.conf`, `pg_ident.conf`.
//! * [`server`]: from start to shutdown, signals. `service_manager`: whom it tells. [`single`]: a server without sessions. [`pidfile`]: `postmaster.pid`, socket lock files. [`listener`]: sockets.
//! * [`session`]: one connection, from its first packet to its end. [`sessions`]: all of them: cancel keys, limits.
//! * [`receiver`]: the log from another server, for a standby.
//! * [`allocator`]: where memory comes from; `memory_limit`: how much of it. [`backend`]: what the server needs from the database behind it; [`database`]: the one that counts. [`log`]: PostgreSQL's log lines. [`tls`]: certificates, keys, what is agreed on.
//!
//! # Invariants
//! 1. A session that waits for its client holds no fiber, no stack and no buffer.
//! 2. The server knows nothing of SQL: it moves messages between the socket and [`backend::Client`].
//!
//! # PostgreSQL counterpart and differences
//! `postmaster.c`, `backend_startup.c`, `tcop/postgres.c` (the message loop), `pg_ctl.c`, `initdb.c`. Sessions are tasks on a
//! few workers, not processes; their "pids" are numbers drawn by the server.

pub mod allocator;
pub mod backend;
pub mod cli;
pub mod config;
mod control;
pub mod database;
mod descriptors;
mod directory;
pub mod listener;
pub mod log;
mod loops;
mod memory_limit;
pub mod pidfile;
mod publisher;
pub mod receiver;
mod recovery_settings;
pub mod server;
mod service_manager;
pub mod session;
pub mod sessions;
pub mod single;
pub mod tls;
mod upkeep;

/// Version of PostgreSQL whose behaviour is the specification.
pub const PG_VERSION: &str = "18.1";
/// Version of Stampede.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
