//! What trigger functions of modules share.

use base::{SqlError, SqlResult};
use eval::trigger::TriggerCall;
use session::Session;
use session::routine::{BodyStatement, Sees};
use tuple::Datum;

/// What a trigger function gives back: the row to go on with; none: nothing is done with this row.
pub(crate) type Row = Option<Vec<Datum>>;

/// The place of a column.
pub(crate) fn column(call: &TriggerCall<'_>, name: &str) -> Option<usize> {
    call.table.columns.iter().position(|column| !column.dropped && column.name == name)
}

/// The new row, if there is one.
pub(crate) fn row_after(call: &TriggerCall<'_>) -> Row {
    call.new.map(|row| row[..call.table.columns.len()].to_vec())
}

/// The new row, or the old one if it is deleted.
pub(crate) fn row_of_event(call: &TriggerCall<'_>) -> Row {
    row_after(call).or_else(|| call.old.map(|row| row[..call.table.columns.len()].to_vec()))
}

/// Runs a statement; how many rows it gave or changed.
pub(crate) fn run(session: &Session, text: &str) -> SqlResult<u64> {
    let statement = BodyStatement::of_text(text)?;
    Ok(session.run_in_body(&statement, &[], Sees::Now, 0, &mut |_| Ok(()))?.processed)
}

/// Runs a statement that gives a number.
pub(crate) fn run_for_number(session: &Session, text: &str) -> SqlResult<i64> {
    let statement = BodyStatement::of_text(text)?;
    let mut found = None;
    session.run_in_body(&statement, &[], Sees::Now, 0, &mut |row| {
        if let Some(Datum::Int8(number)) = row.first() {
            found = Some(*number);
        }
        Ok(())
    })?;
    found.ok_or_else(|| SqlError::internal("a statement gave no number"))
}
