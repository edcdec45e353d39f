//! From SQL text to our own syntax tree.
//!
//! What: [`parse`] splits a text into statements and gives each as an [`ast::Statement`]. The grammar is PostgreSQL's, run by
//! the `rupg-sql` crate; nothing outside this crate knows that.
//!
//! Layout: [`ast`] is the tree; `convert` makes it from the grammar's nodes.
//!
//! Invariants:
//! 1. A text that PostgreSQL 18 rejects is rejected with its message, SQLSTATE and position.
//! 2. What the grammar accepts becomes a node or a `feature_not_supported` error that names it.
//! 3. No input makes the parser panic or overflow the stack.
//!
//! Pure: no locks, no I/O, no catalog.

pub mod ast;

use base::SqlResult;

pub use ast::{RawStatement, Statement};

/// Parses a text of any number of statements.
pub fn parse(text: &str) -> SqlResult<Vec<RawStatement>> {
    let _ = text;
    todo!()
}

/// The 1-based character position of a byte offset, as error reports give it.
pub fn position(text: &str, byte: usize) -> u32 {
    let end = byte.min(text.len());
    let chars = text.as_bytes()[..end].iter().filter(|b| **b & 0xC0 != 0x80).count();
    chars as u32 + 1
}
