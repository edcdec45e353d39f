//! From SQL text to our own syntax tree.
//!
//! What: [`parse`] splits a text into statements and gives each as an [`ast::Statement`]. The grammar is PostgreSQL's, run by
//! the `rupg-sql` crate; nothing outside this crate knows that.
//!
//! Layout: [`ast`] is the tree; `convert` makes it from the grammar's nodes; `depth` guards the stack. [`shape`]: texts that differ in
//! the values of literals only; `values`: which of those are mere values. [`fingerprint`]: what statements have in common that differ in constants. `bytes`: escapes in databases whose texts are bytes.
//!
//! Invariants:
//! 1. A text that PostgreSQL 18 rejects is rejected with its message, SQLSTATE and position.
//! 2. What the grammar accepts becomes a node or a `feature_not_supported` error that names it.
//! 3. No input makes the parser panic or overflow the stack.
//!
//! Pure: no locks, no I/O, no catalog.

pub mod ast;
mod bytes;
mod convert;
mod depth;
pub mod fingerprint;
mod lex;
pub mod shape;
mod values;

use base::{Severity, SqlError, SqlResult, SqlState};

pub use ast::{RawStatement, Statement};
pub use bytes::escapes_as_bytes;

/// What a text held.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Its statements, in order; empty ones are left out.
    pub statements: Vec<RawStatement>,
    /// Notices for the client, as for an identifier that is too long.
    pub notices: Vec<SqlError>,
}

/// Parses a text of any number of statements.
pub fn parse(text: &str) -> SqlResult<Vec<RawStatement>> {
    parse_with_notices(text).map(|p| p.statements)
}

/// Parses a text, and gives the notices too.
pub fn parse_with_notices(text: &str) -> SqlResult<Parsed> {
    depth::with_stack(text, || {
        let (list, notices) = rupg_sql::parse(text).map_err(|e| error(text, e))?;
        let notices = notices.into_iter().map(|n| notice(text, n)).collect();
        Ok(Parsed { statements: convert::statements(text, list)?, notices })
    })
}

/// Fails if a string has a quote behind a backslash, which `backslash_quote` may forbid.
pub fn refuse_backslash_quotes(text: &str) -> SqlResult<()> {
    let Some(place) = lex::find_backslash_quote(text) else { return Ok(()) };
    let message = "unsafe use of \\' in a string literal";
    Err(SqlError::new(SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER, message)
        .hint("Use '' to write quotes in strings. \\' is insecure in client-only encodings.")
        .at(position(text, place)))
}

/// Parses an expression with the clauses that may follow it in a SELECT, as PL/pgSQL writes them.
pub fn parse_expression(text: &str) -> SqlResult<ast::Select> {
    depth::with_stack(text, || {
        let node = rupg_sql::parse_plpgsql_expr(text).map_err(|e| error(text, e))?;
        convert::single_expression(text, node)
    })
}

/// Parses the name of a type, as `regtype` input and PL/pgSQL need it.
pub fn parse_type_name(text: &str) -> SqlResult<ast::TypeName> {
    depth::with_stack(text, || {
        let node = rupg_sql::parse_type_name(text).map_err(|e| error(text, e))?;
        convert::single_type(text, node)
    })
}

/// Where a keyword can be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeywordKind {
    /// Anywhere.
    Unreserved,
    /// As a column, and not as a function or type.
    ColumnName,
    /// As a function or type, and not as a column.
    FunctionOrType,
    /// Nowhere.
    Reserved,
}

/// A keyword.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// The word, in lower case.
    pub name: &'static str,
    /// Where it can be a name.
    pub kind: KeywordKind,
    /// Whether it can be a column's label without AS.
    pub bare_label: bool,
}

/// All keywords, by name.
pub fn keywords() -> impl Iterator<Item = Keyword> {
    rupg_sql::keywords().iter().map(|word| Keyword {
        name: word.name,
        kind: match word.category {
            rupg_sql::Category::Unreserved => KeywordKind::Unreserved,
            rupg_sql::Category::ColumnName => KeywordKind::ColumnName,
            rupg_sql::Category::TypeFuncName => KeywordKind::FunctionOrType,
            rupg_sql::Category::Reserved => KeywordKind::Reserved,
        },
        bare_label: word.bare_label,
    })
}

/// The 1-based character position of a byte offset, as error reports give it.
pub fn position(text: &str, byte: usize) -> u32 {
    let end = byte.min(text.len());
    let chars = text.as_bytes()[..end].iter().filter(|b| **b & 0xC0 != 0x80).count();
    chars as u32 + 1
}

fn state(code: &str) -> SqlState {
    SqlState::parse(code).unwrap_or(SqlState::SYNTAX_ERROR)
}

fn error(text: &str, e: rupg_sql::Error) -> SqlError {
    let mut error = SqlError::new(state(e.code.as_str()), e.message);
    if let Some(detail) = e.detail {
        error = error.detail(detail);
    }
    if let Some(hint) = e.hint {
        error = error.hint(hint);
    }
    match e.location {
        Some(location) => error.at(position(text, location)),
        None => error,
    }
}

fn notice(text: &str, n: rupg_sql::Notice) -> SqlError {
    let severity = match n.severity {
        rupg_sql::Severity::Notice => Severity::Notice,
        rupg_sql::Severity::Warning => Severity::Warning,
    };
    let notice = SqlError::with_severity(severity, state(n.code.as_str()), n.message);
    match n.location {
        Some(location) => notice.at(position(text, location)),
        None => notice,
    }
}

#[cfg(test)]
mod tests;
