//! # What
//! How rows and keys are shown in errors about constraints.

use base::{SqlError, SqlResult, sql_err};
use catalog::{Index, Table};
use tuple::Datum;
use types::Call;

use crate::Session;

/// Longest value shown, in bytes.
const MAX_SHOWN: usize = 64;

fn show(session: &Session, ty: base::Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
    if value.is_null() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    let format = session.format.borrow();
    types::output(ty, value, &Call::new(&format), out)
}

/// `(a, b)=(1, x)`: the key of an index entry.
pub fn key_text(session: &Session, table: &Table, index: &Index, key: &[Datum]) -> SqlResult<String> {
    let mut names = Vec::with_capacity(key.len());
    let mut values = Vec::new();
    let mut expressions = index.expressions.iter();
    for (i, (&number, value)) in index.keys.iter().zip(key).enumerate() {
        let type_oid = match number {
            0 => expression_type(session, expressions.next().map_or("", |text| text))?,
            n => table.columns[n as usize - 1].type_oid,
        };
        names.push(session.key_text(table, index, i, true)?);
        if i > 0 {
            values.extend_from_slice(b", ");
        }
        show(session, type_oid, value, &mut values)?;
    }
    Ok(format!("({})=({})", names.join(", "), String::from_utf8_lossy(&values)))
}

/// `Failing row contains (1, null, …).`
pub(crate) fn failing_row(session: &Session, table: &Table, row: &[Datum]) -> SqlResult<String> {
    let mut shown = Vec::new();
    for (column, value) in table.columns.iter().zip(row).filter(|(column, _)| !column.dropped) {
        let mut text = Vec::new();
        show(session, column.type_oid, value, &mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        shown.push(if text.len() > MAX_SHOWN {
            format!("{}...", &text[..text.floor_char_boundary(MAX_SHOWN)])
        } else {
            text
        });
    }
    Ok(format!("Failing row contains ({}).", shown.join(", ")))
}

/// 23502 of a row about to be stored.
pub fn null_in(session: &Session, table: &Table, column: &str, row: &[Datum]) -> SqlResult<SqlError> {
    let error = sql_err!(
        NOT_NULL_VIOLATION,
        "null value in column \"{column}\" of relation \"{}\" violates not-null constraint",
        table.name
    );
    Ok(error.detail(failing_row(session, table, row)?).table(&table.schema_name, &table.name).column(column))
}

/// 23514 of a row about to be stored.
pub fn check(session: &Session, table: &Table, constraint: &str, row: &[Datum]) -> SqlResult<SqlError> {
    let error = sql_err!(
        CHECK_VIOLATION,
        "new row for relation \"{}\" violates check constraint \"{constraint}\"",
        table.name
    );
    let error = error.detail(failing_row(session, table, row)?);
    Ok(error.table(&table.schema_name, &table.name).constraint(constraint))
}

/// 23505 of a row about to be stored.
pub fn duplicate(session: &Session, table: &Table, index: &Index, key: &[Datum]) -> SqlResult<SqlError> {
    let error =
        sql_err!(UNIQUE_VIOLATION, "duplicate key value violates unique constraint \"{}\"", index.name);
    let key = key_text(session, table, index, &key[..index.keys.len()])?;
    Ok(error
        .detail(format!("Key {key} already exists."))
        .table(&table.schema_name, &table.name)
        .constraint(&index.name))
}

/// Type of an index's expression.
fn expression_type(session: &Session, text: &str) -> SqlResult<base::Oid> {
    let expr = analyze::stored::load_expr(text, session)?;
    Ok(analyze::facts::expr_type(&expr, &|_| base::Oid::INVALID))
}
