//! # What
//! Extension modules: what CREATE EXTENSION installs besides PL/pgSQL. Each is a folder and one line in [`all`].
//!
//! # Layout
//! * `pgcrypto`: hashes, ciphers, passwords, OpenPGP messages. `uuid_ossp`: UUIDs. `fuzzystrmatch`: similar words. `pg_trgm`: similar texts. `unaccent`:
//!   letters without accents. `dict_int`, `dict_xsyn`: dictionaries of numbers and synonyms. `citext`: texts without regard to case. `hstore`: sets of keys and values.
//!   `btree_gist`, `btree_gin`: GiST and GIN for what has an order. `intarray`: sets of integers. `vector`: vectors and distances between them.
//!   `ltree`: paths in a hierarchy. `cube`: boxes in many dimensions; `earthdistance`: distances on the earth. `tablefunc`: functions that give tables.
//!   `presence`: what several classes of GIN are made of; `ordered`: values with an order, also of GiST.
//!   `pg_stat_statements`, `auto_explain`: what statements take, and their plans. `amcheck`: whether tables and indexes are sound.
//!   `pgstattuple`, `pg_visibility`, `pg_freespacemap`, `pg_buffercache`, `pg_prewarm`, `pageinspect`: what pages and buffers hold; `pg_walinspect`: what the log holds; `relation`: relations as their functions are given them.
//!   `file_fdw`: foreign tables in files.
//!   `spi`, `tcn`, `lo`: functions that triggers fire, over `trigger`. `sslinfo`: how the session's connection is encrypted.
//! * Each has its `script.sql`, the statements that make its functions, and a table that leads from symbols to them.
//!
//! # Invariants
//! 1. What may take long looks for interrupts: hashes and ciphers of big values go in pieces, rounds are counted.
//!
//! # PostgreSQL counterpart
//! `contrib/`.

mod amcheck;
mod auto_explain;
mod btree_gin;
mod btree_gist;
mod citext;
mod cube;
mod dict_int;
mod dict_xsyn;
mod earthdistance;
mod file_fdw;
mod fuzzystrmatch;
#[cfg(test)]
mod hostile;
mod hstore;
mod intarray;
mod lo;
mod ltree;
mod ordered;
mod pageinspect;
mod pg_buffercache;
mod pg_freespacemap;
mod pg_prewarm;
mod pg_stat_statements;
mod pg_trgm;
mod pg_visibility;
mod pg_walinspect;
mod pgcrypto;
mod pgstattuple;
mod presence;
mod relation;
mod spi;
mod sslinfo;
mod tablefunc;
mod tcn;
mod trigger;
mod unaccent;
mod uuid_ossp;
mod vector;

use session::module::Module;

/// All modules.
pub fn all() -> Vec<&'static Module> {
    vec![
        &amcheck::MODULE,
        &auto_explain::MODULE,
        &btree_gin::MODULE,
        &btree_gist::MODULE,
        &citext::MODULE,
        &cube::MODULE,
        &dict_int::MODULE,
        &dict_xsyn::MODULE,
        &earthdistance::MODULE,
        &file_fdw::MODULE,
        &fuzzystrmatch::MODULE,
        &hstore::MODULE,
        &intarray::MODULE,
        &lo::MODULE,
        &ltree::MODULE,
        &pageinspect::MODULE,
        &pg_buffercache::MODULE,
        &pg_freespacemap::MODULE,
        &pg_prewarm::MODULE,
        &pg_stat_statements::MODULE,
        &pg_trgm::MODULE,
        &pg_visibility::MODULE,
        &pg_walinspect::MODULE,
        &pgcrypto::MODULE,
        &pgstattuple::MODULE,
        &spi::AUTOINC,
        &spi::INSERT_USERNAME,
        &spi::MODDATETIME,
        &spi::REFINT,
        &sslinfo::MODULE,
        &tablefunc::MODULE,
        &tcn::MODULE,
        &unaccent::MODULE,
        &uuid_ossp::MODULE,
        &vector::MODULE,
    ]
}
