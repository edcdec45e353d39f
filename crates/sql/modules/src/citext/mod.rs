//! # What
//! `citext`: texts that compare without regard to case. The script makes the type of `text`'s input and output functions, and its operators of
//! those that `types` has for it; there is nothing to load.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/citext`. `citext_pattern_ops` is there, but no index can have it: in the C collation the default class serves patterns as well.

use session::module::Module;

/// The extension.
pub static MODULE: Module = Module {
    name: "citext",
    version: "1.8",
    comment: "data type for case-insensitive character strings",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[],
    ..Module::LIBRARY
};
