//! # What
//! `auto_explain`: plans of slow statements in the log. The library brings the settings; what they ask for is done where statements run
//! (`session/src/auto_explain.rs`).
//!
//! # PostgreSQL counterpart
//! `contrib/auto_explain`.

use session::module::Module;

/// The library; there is no extension of this name.
pub static MODULE: Module = Module { name: "auto_explain", ..Module::LIBRARY };
