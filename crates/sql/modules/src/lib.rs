//! # What
//! Extension modules: what CREATE EXTENSION installs besides PL/pgSQL. Each is a folder and one line in [`all`].
//!
//! # Layout
//! * `pgcrypto`: hashes, ciphers, passwords, OpenPGP messages. `uuid_ossp`: UUIDs. `fuzzystrmatch`: similar words.
//! * Each has its `script.sql`, the statements that make its functions, and a table that leads from symbols to them.
//!
//! # Invariants
//! 1. What may take long looks for interrupts: hashes and ciphers of big values go in pieces, rounds are counted.
//!
//! # PostgreSQL counterpart
//! `contrib/`.

mod fuzzystrmatch;
mod pgcrypto;
mod uuid_ossp;

use exec::module::Module;

/// All modules.
pub fn all() -> [&'static Module; 3] {
    [&fuzzystrmatch::MODULE, &pgcrypto::MODULE, &uuid_ossp::MODULE]
}
