//! # What
//! Generation expressions: GENERATED ALWAYS AS (...) STORED of CREATE TABLE and ADD COLUMN, SET EXPRESSION, DROP EXPRESSION.
//!
//! # Invariants
//! 1. A generation expression is immutable and uses no generated column.
//! 2. It needs the columns that it uses: with CASCADE the generated column goes with them.
//!
//! # PostgreSQL counterpart and differences
//! `cookDefault` of `catalog/heap.c`, `ATExecSetExpression` of `commands/tablecmds.c`. There are no virtual generated columns.

use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewDefault, ObjectAddress};
use catalog::system::pg_attribute;
use catalog::{Generated, Table};
use parse::ast::{Expr, Location};
use tuple::Datum;

use super::names::at;
use super::{alter, alter_rows, expression, names};
use crate::session::Session;

/// Stored expression of a generated column of a table that is there.
fn cook(
    session: &Session,
    table: &Arc<Table>,
    number: i16,
    expr: &Expr,
    text: &str,
) -> SqlResult<NewDefault> {
    let column = &table.columns[number as usize - 1];
    let of = (column.name.as_str(), column.type_oid, column.typmod);
    let (stored, volatility) = expression::generated(session, table, expr, of, text)?;
    for &(used, location) in &stored.places {
        check_use(table, used, location, text)?;
    }
    if volatility != types::Volatility::Immutable {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "generation expression is not immutable"));
    }
    let columns = stored.used.iter().filter(|&&n| n > 0).map(|&n| ObjectAddress::column(table.oid, n));
    let needs = columns.chain(stored.needs.iter().copied()).collect();
    Ok(NewDefault { expr: stored.text, needs })
}

fn check_use(table: &Table, number: i16, location: Location, text: &str) -> SqlResult<()> {
    if number == 0 {
        let error = sql_err!(
            INVALID_OBJECT_DEFINITION,
            "cannot use whole-row variable in column generation expression"
        );
        let error = error.detail("This would cause the generated column to depend on its own value.");
        return Err(at(error, text, location));
    }
    let used = usize::try_from(number - 1).ok().and_then(|i| table.columns.get(i));
    match used.filter(|column| column.generated != Generated::None) {
        None => Ok(()),
        Some(column) => {
            let error = sql_err!(
                INVALID_OBJECT_DEFINITION,
                "cannot use generated column \"{}\" in column generation expression",
                column.name
            );
            let error = error.detail("A generated column cannot reference another generated column.");
            Err(at(error, text, location))
        }
    }
}

/// Gives a new generated column its expression.
pub(super) fn enter(
    session: &Session,
    table: &Arc<Table>,
    number: i16,
    expr: &Expr,
    text: &str,
) -> SqlResult<()> {
    let default = cook(session, table, number, expr, text)?;
    session.with_changer(|changer| changer.set_default(table.oid, number, Some(&default), Generated::Stored))
}

/// SET EXPRESSION: every row is computed anew.
pub(super) fn set(
    session: &Session,
    table: &Arc<Table>,
    name: &str,
    expr: &Expr,
    text: &str,
) -> SqlResult<()> {
    let i = alter::find(table, name)?;
    if table.columns[i].generated == Generated::None {
        return Err(not_generated(table, name));
    }
    enter(session, table, i as i16 + 1, expr, text)?;
    alter_rows::fill(session, table, name, true)
}

fn not_generated(table: &Table, name: &str) -> SqlError {
    sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "column \"{name}\" of relation \"{}\" is not a generated column",
        table.name
    )
}

/// DROP EXPRESSION: the values stay.
pub(super) fn drop(session: &Session, table: &Table, name: &str, missing_ok: bool) -> SqlResult<()> {
    let i = alter::find(table, name)?;
    if table.columns[i].generated == Generated::None {
        let error = not_generated(table, name);
        if !missing_ok {
            return Err(error);
        }
        let message = format!("{}, skipping", error.message());
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    }
    let number = i as i16 + 1;
    session.with_changer(|changer| {
        changer.set_default(table.oid, number, None, Generated::None)?;
        changer.edit_column(table.oid, number, |row| row[pg_attribute::ATTGENERATED] = Datum::Char(0))
    })
}
