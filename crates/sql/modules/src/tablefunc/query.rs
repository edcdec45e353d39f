//! Queries that functions are given as texts, and the columns that they are to return.

use base::{Oid, SqlError, SqlResult, sql_err};
use session::Session;
use session::routine::{BodyStatement, Invocation};
use tuple::Datum;
use types::Call;

/// A column: its type and modifier.
pub(super) type Column = (Oid, i32);

/// A query of a text.
pub(super) struct Query<'a> {
    session: &'a Session,
    statement: BodyStatement,
    /// Its columns; none if it gives no rows.
    pub(super) columns: Vec<Column>,
}

impl<'a> Query<'a> {
    /// Of the text of a statement, which is carried out if it gives no rows.
    pub(super) fn new(session: &'a Session, call: &Invocation<'_>, text: &str) -> SqlResult<Query<'a>> {
        let statement = BodyStatement::of_text(text)?;
        let columns = session.columns_in_body(&statement)?;
        let columns: Vec<Column> = columns.iter().map(|column| (column.type_oid, column.typmod)).collect();
        let query = Query { session, statement, columns };
        if query.columns.is_empty() {
            query.rows(call, &mut |_| Ok(()))?;
        }
        Ok(query)
    }

    /// Runs it with what the call sees, and gives its rows as texts.
    pub(super) fn rows(
        &self,
        call: &Invocation<'_>,
        each: &mut dyn FnMut(&[Option<String>]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut texts = Vec::new();
        let mut row = |row: &[Datum]| {
            texts.clear();
            for (value, (ty, _)) in row.iter().zip(&self.columns) {
                texts.push(self.text(*ty, value)?);
            }
            each(&texts)
        };
        self.session.run_in_body(&self.statement, &[], call.sees(), 0, &mut row).map(drop)
    }

    fn text(&self, ty: Oid, value: &Datum) -> SqlResult<Option<String>> {
        if value.is_null() { Ok(None) } else { self.session.value_text(ty, value).map(Some) }
    }
}

/// The columns that a call is to return.
pub(super) fn returned(session: &Session, call: &Invocation<'_>) -> SqlResult<Vec<Column>> {
    session.row_columns(call)?.ok_or_else(|| {
        sql_err!(FEATURE_NOT_SUPPORTED, "materialize mode required, but it is not allowed in this context")
    })
}

/// A value of a column from its text.
pub(super) fn value(cx: &Call<'_>, (ty, typmod): Column, text: Option<&str>) -> SqlResult<Datum> {
    text.map_or(Ok(Datum::Null), |text| types::input(ty, text, typmod, cx))
}

pub(super) fn wrong_return(function: &str, detail: String) -> SqlError {
    sql_err!(DATATYPE_MISMATCH, "invalid {function} return type").detail(detail)
}

/// The detail of an error about a column of the wrong type.
pub(super) fn mismatch(session: &Session, what: &str, source: Oid, returned: Oid) -> String {
    let (source, returned) = (session.type_text(source), session.type_text(returned));
    format!("Source {what} type {source} does not match return {what} type {returned}.")
}
