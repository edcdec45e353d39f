//! COMPRESSION of columns: in CREATE TABLE, ALTER TABLE ... SET COMPRESSION, where tables inherit, and which one a stored value has.
//!
//! PostgreSQL counterpart: `GetAttributeCompression` in `tablecmds.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::Table;
use session::Session;
use tuple::varlena::Compression;

/// The method that a clause names for a column of this type; none for DEFAULT.
pub(super) fn method(word: Option<&str>, ty: Oid) -> SqlResult<Option<Compression>> {
    let Some(word) = word.filter(|word| *word != "default") else { return Ok(None) };
    if types::builtin_type(ty).is_some_and(|info| info.storage == b'p') {
        let shown = types::format_type(ty, None).unwrap_or_default();
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "column data type {shown} does not support compression"));
    }
    let method = Compression::of_word(word);
    method.map(Some).ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid compression method \"{word}\""))
}

/// What a column has that two definitions give it, each of them perhaps without a method.
pub(super) fn merged(
    name: &str,
    first: Option<Compression>,
    second: Option<Compression>,
) -> SqlResult<Option<Compression>> {
    match (first, second) {
        (Some(first), Some(second)) if first != second => {
            let message = format!("column \"{name}\" has a compression method conflict");
            let detail = format!("{} versus {}", first.as_str(), second.as_str());
            Err(SqlError::new(base::SqlState::DATATYPE_MISMATCH, message).detail(detail))
        }
        _ => Ok(first.or(second)),
    }
}

/// ALTER COLUMN ... SET COMPRESSION: for values that are stored from now on.
pub(super) fn set(session: &Session, table: &Table, name: &str, word: &str) -> SqlResult<()> {
    let at = super::alter::find(table, name)?;
    let method = method(Some(word), table.columns[at].type_oid)?;
    session.with_changer(|changer| changer.set_compression(table.oid, at as i16 + 1, method))
}
