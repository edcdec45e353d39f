//! # What
//! How rows and keys are shown in errors about constraints.

use base::{SqlError, SqlResult, sql_err};
use catalog::{Index, Table};
use tuple::Datum;
use types::Call;

use crate::Session;

fn show(session: &Session, ty: base::Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
    if value.is_null() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    let format = session.format.borrow();
    types::output(ty, value, &Call::new(&format), out)
}

/// `(a, b)=(1, x)`: the key of an index entry; none if the user may not read all of it.
pub fn key_text(session: &Session, table: &Table, index: &Index, key: &[Datum]) -> SqlResult<Option<String>> {
    if let Some(readable) = session.readable_columns(table, &[])
        && !index.keys.iter().all(|number| readable.contains(number))
    {
        return Ok(None);
    }
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
    Ok(Some(format!("({})=({})", names.join(", "), String::from_utf8_lossy(&values))))
}

/// The error with what the user may know of a row of which he gives these columns.
pub fn with_row(
    session: &Session,
    error: SqlError,
    table: &Table,
    (row, written): (&[Datum], &[i16]),
) -> SqlResult<SqlError> {
    let readable = session.readable_columns(table, written);
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    executor::violation::with_row(error, table, row, readable.as_deref(), &call)
}

/// 23505 of a row about to be stored.
pub fn duplicate(session: &Session, table: &Table, index: &Index, key: &[Datum]) -> SqlResult<SqlError> {
    let error =
        sql_err!(UNIQUE_VIOLATION, "duplicate key value violates unique constraint \"{}\"", index.name);
    let error = match key_text(session, table, index, &key[..index.keys.len()])? {
        Some(key) => error.detail(format!("Key {key} already exists.")),
        None => error,
    };
    Ok(error.table(&table.schema_name, &table.name).constraint(&index.name))
}

/// Type of an index's expression.
fn expression_type(session: &Session, text: &str) -> SqlResult<base::Oid> {
    let expr = analyze::stored::load_expr(text, session)?;
    Ok(analyze::facts::expr_type(&expr, &|_| base::Oid::INVALID))
}
