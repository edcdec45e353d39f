//! `crosstab`: rows of a name, a category and a value become one row for each name, with the values in columns.

use std::collections::HashMap;

use base::{SqlResult, sql_err};
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use super::query::{Column, Query, mismatch, returned, value, wrong_return};

const NAME: &str = "crosstab";

/// Values fill the columns in the order in which they come.
pub(super) fn in_order(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let query = Query::new(session, call, <&str>::from_datum(&call.args[0]))?;
    let columns = session.row_columns(call)?.ok_or_else(|| {
        sql_err!(
            FEATURE_NOT_SUPPORTED,
            "function returning record called in context that cannot accept type record"
        )
    })?;
    let [name, _, of_value] = query.columns[..] else {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid crosstab source data query")
            .detail("The query must return 3 columns: row_name, category, and value."));
    };
    if columns.len() < 2 {
        return Err(wrong_return(NAME, "Return row must have at least two columns.".to_owned()));
    }
    if columns[0].0 != name.0 {
        return Err(wrong_return(NAME, mismatch(session, "row_name", name.0, columns[0].0)));
    }
    if let Some(other) = columns[1..].iter().find(|column| column.0 != of_value.0) {
        return Err(wrong_return(NAME, mismatch(session, "value", of_value.0, other.0)));
    }
    let mut out: Vec<Vec<Datum>> = Vec::new();
    let mut current: Option<(Option<String>, Vec<Option<String>>)> = None;
    let finish = |row: Vec<Option<String>>| made(call, &columns, row);
    query.rows(call, &mut |row| {
        if current.as_ref().is_none_or(|(name, _)| *name != row[0]) {
            if let Some((_, done)) = current.take() {
                out.push(finish(done)?);
            }
            current = Some((row[0].clone(), vec![row[0].clone()]));
        }
        if let Some((_, values)) = &mut current
            && values.len() < columns.len()
        {
            values.push(row[2].clone());
        }
        Ok(())
    })?;
    if let Some((_, last)) = current {
        out.push(finish(last)?);
    }
    rows(session, call, out)
}

/// A row of texts, which may be too few.
fn made(call: &Invocation<'_>, columns: &[Column], row: Vec<Option<String>>) -> SqlResult<Vec<Datum>> {
    let texts = row.iter().map(Option::as_deref).chain(std::iter::repeat(None));
    columns.iter().zip(texts).map(|(column, text)| value(call.call, *column, text)).collect()
}

/// The categories that a query gives, with their numbers.
fn categories(session: &Session, call: &Invocation<'_>) -> SqlResult<HashMap<String, usize>> {
    let query = Query::new(session, call, <&str>::from_datum(&call.args[1]))?;
    let mut found = HashMap::new();
    if !query.columns.is_empty() && query.columns.len() != 1 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid crosstab categories query")
            .detail("The query must return one column."));
    }
    query.rows(call, &mut |row| {
        let Some(Some(name)) = row.first() else {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "crosstab category value must not be null"));
        };
        let number = found.len();
        if found.insert(name.clone(), number).is_some() {
            return Err(sql_err!(DUPLICATE_OBJECT, "duplicate category name"));
        }
        Ok(())
    })?;
    if found.is_empty() {
        return Err(sql_err!(
            CARDINALITY_VIOLATION,
            "crosstab categories query must return at least one row"
        ));
    }
    Ok(found)
}

/// Values stand in the columns of their categories, which a second query gives.
pub(super) fn by_category(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let columns = returned(session, call)?;
    let categories = categories(session, call)?;
    let query = Query::new(session, call, <&str>::from_datum(&call.args[0]))?;
    let given = query.columns.len();
    if given < 3 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid crosstab source data query")
            .detail("The query must return at least three columns: row_name, category, and value."));
    }
    let wanted = given - 2 + categories.len();
    if columns.len() != wanted {
        let detail = format!("Return row must have {wanted} columns, not {}.", columns.len());
        return Err(wrong_return(NAME, detail));
    }
    let mut out: Vec<Vec<Datum>> = Vec::new();
    let mut current: Option<Vec<Option<String>>> = None;
    let finish = |row: Vec<Option<String>>| made(call, &columns, row);
    query.rows(call, &mut |row| {
        if current.as_ref().is_none_or(|known| known[0] != row[0]) {
            if let Some(done) = current.take() {
                out.push(finish(done)?);
            }
            let mut begun = row[..given - 2].to_vec();
            begun.resize(wanted, None);
            current = Some(begun);
        }
        let at = row[given - 2].as_ref().and_then(|name| categories.get(name));
        if let (Some(values), Some(at)) = (&mut current, at) {
            values[given - 2 + at].clone_from(&row[given - 1]);
        }
        Ok(())
    })?;
    if let Some(last) = current {
        out.push(finish(last)?);
    }
    rows(session, call, out)
}
