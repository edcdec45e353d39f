//! # What
//! Utility statements: everything that is neither a query nor a change of rows. One file per family.

use base::{SqlError, SqlResult};
use parse::Statement;

use crate::output::Output;
use crate::session::Session;

/// Carries out a utility statement. Returns the command tag (`CREATE TABLE`).
///
/// `text` is the whole query string, for positions and for EXPLAIN and PREPARE.
pub(crate) fn run(
    session: &Session,
    statement: &Statement,
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<String> {
    let _ = (session, text, out);
    match statement {
        other => Err(SqlError::not_supported(format!("{other:?}"))),
    }
}

/// Columns of a utility statement's result, if it returns rows (SHOW, EXPLAIN, EXECUTE, FETCH).
pub(crate) fn columns(
    session: &Session,
    statement: &Statement,
) -> SqlResult<Option<std::sync::Arc<[crate::Column]>>> {
    let _ = (session, statement);
    Ok(None)
}
