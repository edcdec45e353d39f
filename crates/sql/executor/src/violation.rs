//! What is said of a row that a constraint refuses.

use base::{SqlError, SqlResult, sql_err};
use catalog::view::{Column, Generated, Table};
use tuple::Datum;
use types::Call;

/// Most characters of a value that are shown.
const MOST: usize = 64;

/// 23502 of a row about to be stored.
pub fn null_in(table: &Table, column: &Column) -> SqlError {
    let error = sql_err!(
        NOT_NULL_VIOLATION,
        "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
        column.name,
        table.name
    );
    error.table(table.schema_name.as_str(), table.name.as_str()).column(column.name.as_str())
}

/// 23514 of a row about to be stored.
pub fn check(table: &Table, constraint: &str) -> SqlError {
    let error = sql_err!(
        CHECK_VIOLATION,
        "new row for relation \"{}\" violates check constraint \"{constraint}\"",
        table.name
    );
    error.table(table.schema_name.as_str(), table.name.as_str()).constraint(constraint)
}

/// The error with `Failing row contains (1, null, …).`, or `(a, b) = (1, null)` if the user may know only the columns of these numbers; with
/// nothing if he may know none.
pub fn with_row(
    error: SqlError,
    table: &Table,
    row: &[Datum],
    readable: Option<&[i16]>,
    call: &Call<'_>,
) -> SqlResult<SqlError> {
    let (mut names, mut parts) = (Vec::new(), Vec::new());
    for (number, (column, value)) in (1..).zip(table.columns.iter().zip(row)) {
        if column.dropped || readable.is_some_and(|readable| !readable.contains(&number)) {
            continue;
        }
        names.push(column.name.as_str());
        parts.push(shown(column, value, call)?);
    }
    let (names, parts) = (names.join(", "), parts.join(", "));
    Ok(match readable {
        Some(_) if names.is_empty() => error,
        Some(_) => error.detail(format!("Failing row contains ({names}) = ({parts}).")),
        None => error.detail(format!("Failing row contains ({parts}).")),
    })
}

fn shown(column: &Column, value: &Datum, call: &Call<'_>) -> SqlResult<String> {
    if column.generated == Generated::Virtual {
        return Ok("virtual".into());
    }
    if value.is_null() {
        return Ok("null".into());
    }
    let mut text = Vec::new();
    types::output(column.type_oid, value, call, &mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    })
}
