//! # What
//! Extension modules: what CREATE EXTENSION installs besides PL/pgSQL. Each is a folder and one line in [`all`].
//!
//! # Layout
//! * `pgcrypto`: hashes, ciphers, passwords, OpenPGP messages. `uuid_ossp`: UUIDs. `fuzzystrmatch`: similar words. `pg_trgm`: similar texts. `unaccent`:
//!   letters without accents. `citext`: texts without regard to case.
//!   `pg_stat_statements`, `auto_explain`: what statements take, and their plans. `amcheck`: whether tables and indexes are sound.
//! * Each has its `script.sql`, the statements that make its functions, and a table that leads from symbols to them.
//!
//! # Invariants
//! 1. What may take long looks for interrupts: hashes and ciphers of big values go in pieces, rounds are counted.
//!
//! # PostgreSQL counterpart
//! `contrib/`.

mod amcheck;
mod auto_explain;
mod citext;
mod fuzzystrmatch;
mod pg_stat_statements;
mod pg_trgm;
mod pgcrypto;
mod unaccent;
mod uuid_ossp;

use exec::module::Module;

/// All modules.
pub fn all() -> [&'static Module; 9] {
    [
        &amcheck::MODULE,
        &auto_explain::MODULE,
        &citext::MODULE,
        &fuzzystrmatch::MODULE,
        &pg_stat_statements::MODULE,
        &pg_trgm::MODULE,
        &pgcrypto::MODULE,
        &unaccent::MODULE,
        &uuid_ossp::MODULE,
    ]
}
