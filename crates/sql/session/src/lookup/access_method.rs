//! Access methods by name.

use base::settings::Setting;
use base::{SqlError, SqlResult, sql_err};
use catalog::system::pg_am;
use catalog::{Row, RowExt};

use crate::Session;

/// What an access method is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Indexes.
    Index,
    /// Tables.
    Table,
}

/// The row of the access method with this name.
pub fn row(session: &Session, name: &str) -> SqlResult<Option<Row>> {
    let found =
        session.with_reader(|r| r.find_one(&pg_am::TABLE, pg_am::PG_AM_NAME_INDEX, &[name.into()]))?;
    Ok(found.map(|(_, row)| row))
}

/// That there is none with this name.
pub fn missing(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "access method \"{name}\" does not exist")
}

/// The row of the access method with this name, which must be of this kind.
pub fn of_kind(session: &Session, name: &str, kind: Kind) -> SqlResult<Row> {
    let row = row(session, name)?.ok_or_else(|| missing(name))?;
    let (letter, word) = match kind {
        Kind::Index => (b'i', "INDEX"),
        Kind::Table => (b't', "TABLE"),
    };
    match row.char(pg_am::AMTYPE) == letter {
        true => Ok(row),
        false => Err(sql_err!(WRONG_OBJECT_TYPE, "access method \"{name}\" is not of type {word}")),
    }
}

/// Checks a value that a session gives `default_table_access_method`.
pub(crate) fn check_default(session: &Session, name: &str) -> SqlResult<()> {
    if name.is_empty() || row(session, name)?.is_some() {
        return if name.is_empty() { Ok(()) } else { of_kind(session, name, Kind::Table).map(drop) };
    }
    let setting = Setting::default_table_access_method.name();
    let error = sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{setting}\": \"{name}\"");
    Err(error.detail(format!("Table access method \"{name}\" does not exist.")))
}
