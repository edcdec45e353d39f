//! # What
//! Generation expressions: GENERATED ALWAYS AS (...) of CREATE TABLE and ADD COLUMN, SET EXPRESSION, DROP EXPRESSION.
//!
//! # Invariants
//! 1. A generation expression is immutable and uses no generated column.
//! 2. Virtual columns use built-in functions only, so that reading them runs no user's code.
//! 3. It needs the columns that it uses: with CASCADE the generated column goes with them.
//!
//! # PostgreSQL counterpart and differences
//! `cookDefault` of `catalog/heap.c`, `ATExecSetExpression` of `commands/tablecmds.c`.

use std::sync::Arc;

use analyze::computed::is_virtual;
use base::{SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewDefault, ObjectAddress};
use catalog::system::{pg_attribute, pg_class, pg_operator, pg_proc, pg_type};
use catalog::{CatalogView, Generated, Table, TypeKind};
use parse::ast::{Expr, Location};
use session::Session;
use tuple::Datum;

use super::names::at;
use super::{alter, alter_rows, alter_tree, expression, names, publication};

/// Stored expression of a generated column of a table that is there.
fn cook(
    session: &Session,
    table: &Arc<Table>,
    number: i16,
    expr: &Expr,
    text: &str,
) -> SqlResult<NewDefault> {
    let column = &table.columns[number as usize - 1];
    if column.generated == Generated::Virtual {
        check_virtual_type(session, column)?;
    }
    let of = (column.name.as_str(), column.type_oid, column.typmod);
    let (stored, volatility) = expression::generated(session, table, expr, of, text)?;
    for &(used, location) in &stored.places {
        check_use(table, used, location, text)?;
    }
    if volatility != types::Volatility::Immutable {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "generation expression is not immutable"));
    }
    if column.generated == Generated::Virtual {
        stored.needs.iter().try_for_each(check_virtual_use)?;
    }
    let columns = stored.used.iter().filter(|&&n| n > 0).map(|&n| ObjectAddress::column(table.oid, n));
    let needs = columns.chain(stored.needs.iter().copied()).collect();
    Ok(NewDefault { expr: stored.text, needs })
}

/// Virtual columns are of types that are built in.
fn check_virtual_type(session: &Session, column: &catalog::Column) -> SqlResult<()> {
    let name = &column.name;
    let found = session.type_by_oid(column.type_oid)?;
    if found.is_some_and(|found| matches!(found.kind, TypeKind::Domain(..))) {
        let message = format!("virtual generated column \"{name}\" cannot have a domain type");
        return Err(sql_err!(INVALID_TABLE_DEFINITION, "{message}"));
    }
    match column.type_oid.is_pinned() {
        true => Ok(()),
        false => Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "virtual generated column \"{name}\" cannot have a user-defined type"
        )
        .detail(not_yet("types"))),
    }
}

/// What users made may not be used by virtual columns.
fn check_virtual_use(used: &ObjectAddress) -> SqlResult<()> {
    let (one, all) = match used.class {
        class if class == pg_type::TABLE.oid || class == pg_class::TABLE.oid => ("type", "types"),
        class if class == pg_proc::TABLE.oid || class == pg_operator::TABLE.oid => ("function", "functions"),
        _ => return Ok(()),
    };
    let error = sql_err!(FEATURE_NOT_SUPPORTED, "generation expression uses user-defined {one}");
    Err(error.detail(not_yet(all)))
}

fn not_yet(what: &str) -> String {
    format!("Virtual generated columns that make use of user-defined {what} are not yet supported.")
}

/// Refuses something on virtual columns: `all` of them, such as `primary keys`.
pub(super) fn refuse_virtual(table: &Table, numbers: &[i16], all: &str) -> SqlResult<()> {
    let column = |number: &i16| table.columns.get(usize::try_from(*number - 1).ok()?);
    if numbers.iter().filter_map(column).any(is_virtual) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{all} on virtual generated columns are not supported"));
    }
    Ok(())
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
    let kind = table.columns[number as usize - 1].generated;
    session.with_changer(|changer| changer.set_default(table.oid, number, Some(&default), kind))
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
    let is_virtual = is_virtual(&table.columns[i]);
    if is_virtual && !table.checks.is_empty() {
        return Err(not_for_virtual(table, name, "SET EXPRESSION", " in tables with check constraints"));
    }
    if is_virtual && publication::lists(session, table.oid)? {
        return Err(not_for_virtual(
            table,
            name,
            "SET EXPRESSION",
            " in tables that are part of a publication",
        ));
    }
    enter(session, table, i as i16 + 1, expr, text)?;
    match is_virtual {
        true if table.columns[i].not_null => {
            alter_tree::check_no_nulls(session, names::describe(session, table.oid)?.as_ref(), name, text)
        }
        true => Ok(()),
        false => alter_rows::fill(session, table, name, true),
    }
}

fn not_for_virtual(table: &Table, name: &str, action: &str, place: &str) -> SqlError {
    sql_err!(
        FEATURE_NOT_SUPPORTED,
        "ALTER TABLE / {action} is not supported for virtual generated columns{place}"
    )
    .detail(format!("Column \"{name}\" of relation \"{}\" is a virtual generated column.", table.name))
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
    if is_virtual(&table.columns[i]) {
        return Err(not_for_virtual(table, name, "DROP EXPRESSION", ""));
    }
    let number = i as i16 + 1;
    session.with_changer(|changer| {
        changer.set_default(table.oid, number, None, Generated::None)?;
        changer.edit_column(table.oid, number, |row| row[pg_attribute::ATTGENERATED] = Datum::Char(0))
    })
}
