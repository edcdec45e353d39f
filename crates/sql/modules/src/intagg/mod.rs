//! # What
//! `intagg`: arrays of integers by functions of older names.
//!
//! # PostgreSQL counterpart
//! `contrib/intagg`.

use session::module::Module;

/// The extension.
pub static MODULE: Module = Module {
    name: "intagg",
    version: "1.1",
    comment: "integer aggregator and enumerator (obsolete)",
    relocatable: true,
    script: include_str!("script.sql"),
    ..Module::LIBRARY
};
