//! `refint`: triggers that keep references between tables, as foreign keys do.

use base::{SqlResult, sql_err};
use eval::trigger::{Event, TriggerCall};
use session::Session;
use tuple::Datum;

use super::{internal, triggered};
use crate::trigger::{Row, column, row_of_event, run};

/// Columns of a row that a trigger names.
struct Key {
    places: Vec<usize>,
    /// Their values as literals; none if one is NULL.
    values: Option<Vec<String>>,
}

fn literal(session: &Session, call: &TriggerCall<'_>, row: &[Datum], at: usize) -> SqlResult<Option<String>> {
    if row[at].is_null() {
        return Ok(None);
    }
    let ty = call.table.columns[at].type_oid;
    let text = analyze::names::quote_literal(&session.value_text(ty, &row[at])?);
    Ok(Some(format!("{text}::{}", session.type_text(ty))))
}

fn key(session: &Session, call: &TriggerCall<'_>, row: &[Datum], names: &[String]) -> SqlResult<Key> {
    let place = |name: &String| {
        column(call, name).ok_or_else(|| {
            let table = &call.table.name;
            sql_err!(UNDEFINED_COLUMN, "there is no attribute \"{name}\" in relation \"{table}\"")
        })
    };
    let places = names.iter().map(place).collect::<SqlResult<Vec<usize>>>()?;
    let values = places.iter().map(|at| literal(session, call, row, *at)).collect::<SqlResult<_>>()?;
    Ok(Key { places, values })
}

/// `a = 1 AND b = 2`
fn condition(columns: &[String], values: &[String]) -> String {
    let pairs: Vec<String> =
        columns.iter().zip(values).map(|(column, value)| format!("{column} = {value}")).collect();
    pairs.join(" AND ")
}

/// The row that the new one refers to is there. Arguments: columns, the other table, its columns.
pub(super) fn check_primary_key(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    if !call.trigger.kind.row() {
        return internal("check_primary_key: must be fired for row".into());
    }
    if call.event == Event::Delete {
        return internal("check_primary_key: cannot process DELETE events".into());
    }
    let args = call.trigger.args.as_slice();
    if args.len() % 2 != 1 {
        return internal("check_primary_key: odd number of arguments should be specified".into());
    }
    let Some(row) = row_of_event(call) else { return Ok(None) };
    let (columns, others) = args.split_at(args.len() / 2);
    let Key { values: Some(values), .. } = key(session, call, &row, columns)? else { return Ok(Some(row)) };
    let table = &others[0];
    let text = format!("SELECT 1 FROM {table} WHERE {}", condition(&others[1..], &values));
    if run(session, &text)? == 0 {
        let name = &call.trigger.name;
        return Err(triggered("tuple references non-existent key".into())
            .detail(format!("Trigger \"{name}\" found tuple referencing non-existent key in \"{table}\".")));
    }
    Ok(Some(row))
}

/// Deals with rows that refer to one that goes or changes. Arguments: how many tables there are, what is done (cascade, restrict, setnull), the key's columns, then each table and its columns.
pub(super) fn check_foreign_key(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    if !call.trigger.kind.row() {
        return internal("check_foreign_key: must be fired for row".into());
    }
    if call.event == Event::Insert {
        return internal("check_foreign_key: cannot process INSERT events".into());
    }
    let args = call.trigger.args.as_slice();
    if args.len() < 5 {
        let count = args.len();
        return internal(format!("check_foreign_key: too short {count} (< 5) list of arguments"));
    }
    let references: usize = args[0].trim().parse().unwrap_or(0);
    if references < 1 {
        let asked = &args[0];
        return internal(format!("check_foreign_key: {asked} (< 1) number of references specified"));
    }
    let action = args[1].chars().next().map_or(' ', |c| c.to_ascii_lowercase());
    if !matches!(action, 'r' | 'c' | 's') {
        return internal(format!("check_foreign_key: invalid action {}", args[1]));
    }
    let rest = &args[2..];
    let width = rest.len().saturating_sub(references) / (references + 1);
    if width == 0 || rest.len() != width * (references + 1) + references {
        return internal(format!(
            "check_foreign_key: invalid number of arguments {} for {references} references",
            args.len()
        ));
    }
    let Some(old) = call.old else { return Ok(None) };
    let (columns, tables) = rest.split_at(width);
    let row = row_of_event(call);
    let before = key(session, call, old, columns)?;
    let Some(values) = before.values else { return Ok(row) };
    if call.new.is_some_and(|new| before.places.iter().all(|at| new[*at] == old[*at])) {
        return Ok(row);
    }
    for table in tables.chunks_exact(width + 1) {
        let (table, theirs) = (&table[0], &table[1..]);
        let found = condition(theirs, &values);
        let set = |value: &dyn Fn(usize) -> SqlResult<String>| -> SqlResult<String> {
            let set: SqlResult<Vec<String>> = (theirs.iter().enumerate())
                .map(|(n, column)| Ok(format!("{column} = {}", value(n)?)))
                .collect();
            Ok(format!("UPDATE {table} SET {} WHERE {found}", set?.join(", ")))
        };
        let text = match (action, call.new) {
            ('r', _) => format!("SELECT 1 FROM {table} WHERE {found}"),
            ('s', _) => set(&|_| Ok("NULL".into()))?,
            (_, None) => format!("DELETE FROM {table} WHERE {found}"),
            (_, Some(new)) => set(&|n| {
                let value = literal(session, call, new, before.places[n])?;
                Ok(value.unwrap_or_else(|| "NULL".into()))
            })?,
        };
        if run(session, &text)? > 0 && action == 'r' {
            let name = &call.trigger.name;
            return Err(triggered(format!("\"{name}\": tuple is referenced in \"{table}\"")));
        }
    }
    Ok(row)
}
