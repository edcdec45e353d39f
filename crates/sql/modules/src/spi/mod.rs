//! # What
//! The extensions of `contrib/spi`, each a trigger function or two: `autoinc`, `insert_username`, `moddatetime`, `refint`.
//!
//! # Layout
//! Here: the functions that fill a column. `refint`: those that keep references.
//!
//! # PostgreSQL counterpart
//! `contrib/spi`.

mod refint;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use eval::trigger::{Event, TriggerCall};
use session::Session;
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::oids;

use crate::trigger::{Row, column, row_after, run_for_number};

use ModuleFunction::Trigger;

/// `autoinc`
pub static AUTOINC: Module = Module {
    name: "autoinc",
    version: "1.0",
    comment: "functions for autoincrementing fields",
    relocatable: true,
    script: "CREATE FUNCTION autoinc() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;",
    functions: &[("autoinc", Trigger(autoinc))],
    ..Module::LIBRARY
};

/// `insert_username`
pub static INSERT_USERNAME: Module = Module {
    name: "insert_username",
    version: "1.0",
    comment: "functions for tracking who changed a table",
    relocatable: true,
    script: "CREATE FUNCTION insert_username() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;",
    functions: &[("insert_username", Trigger(insert_username))],
    ..Module::LIBRARY
};

/// `moddatetime`
pub static MODDATETIME: Module = Module {
    name: "moddatetime",
    version: "1.0",
    comment: "functions for tracking last modification time",
    relocatable: true,
    script: "CREATE FUNCTION moddatetime() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;",
    functions: &[("moddatetime", Trigger(moddatetime))],
    ..Module::LIBRARY
};

/// `refint`
pub static REFINT: Module = Module {
    name: "refint",
    version: "1.0",
    comment: "functions for implementing referential integrity (obsolete)",
    relocatable: true,
    script: "CREATE FUNCTION check_primary_key() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;\n\
        CREATE FUNCTION check_foreign_key() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;",
    functions: &[
        ("check_primary_key", Trigger(refint::check_primary_key)),
        ("check_foreign_key", Trigger(refint::check_foreign_key)),
    ],
    ..Module::LIBRARY
};

fn internal<T>(message: String) -> SqlResult<T> {
    Err(SqlError::internal(message))
}

fn triggered(message: String) -> SqlError {
    SqlError::new(SqlState::TRIGGERED_ACTION_EXCEPTION, message)
}

/// The place of a column that a trigger names; its type is one of some, which `wanted` lists.
fn typed_column(call: &TriggerCall<'_>, name: &str, of: &[Oid], wanted: &str) -> SqlResult<usize> {
    let table = &call.table.name;
    let Some(at) = column(call, name) else {
        return Err(triggered(format!("\"{table}\" has no attribute \"{name}\"")));
    };
    if of.contains(&call.table.columns[at].type_oid) {
        return Ok(at);
    }
    Err(triggered(format!("attribute \"{name}\" of \"{table}\" must be type {wanted}")))
}

/// Fills columns that are NULL or 0 from sequences.
fn autoinc(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    if !call.trigger.kind.row() {
        return internal("must be fired for row".into());
    }
    if !call.trigger.kind.before() {
        return internal("must be fired before event".into());
    }
    let Some(mut row) = row_after(call) else { return internal("cannot process DELETE events".into()) };
    let (pairs, rest) = call.trigger.args.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        let table = &call.table.name;
        return internal(format!("autoinc ({table}): even number gt 0 of arguments was expected"));
    }
    for [name, sequence] in pairs {
        let at = typed_column(call, name, &[oids::int4], "INT4")?;
        if !matches!(row[at], Datum::Null | Datum::Int4(0)) {
            continue;
        }
        let next = || {
            let text = format!("SELECT pg_catalog.nextval({})", analyze::names::quote_literal(sequence));
            run_for_number(session, &text)
        };
        let value = match next()? {
            0 => next()?,
            value => value,
        };
        row[at] = Datum::Int4(value as i32);
    }
    Ok(Some(row))
}

/// What `insert_username` and `moddatetime` ask of the trigger: the new row, and the name of the column.
fn one_column<'a>(
    call: &TriggerCall<'a>,
    function: &str,
    expected: &str,
) -> SqlResult<(Vec<Datum>, &'a str)> {
    if !call.trigger.kind.row() {
        return internal(format!("{function}: must be fired for row"));
    }
    if !call.trigger.kind.before() {
        return internal(format!("{function}: must be fired before event"));
    }
    let Some(row) = row_after(call) else {
        return internal(format!("{function}: cannot process DELETE events"));
    };
    match call.trigger.args.as_slice() {
        [name] => Ok((row, name)),
        _ => internal(format!("{function} ({}): {expected}", call.table.name)),
    }
}

/// Stores who changes the row.
fn insert_username(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    let (mut row, name) = one_column(call, "insert_username", "one argument was expected")?;
    let at = typed_column(call, name, &[oids::text], "TEXT")?;
    let user = session.user();
    let name = session.with_reader(|reader| reader.role_name(user))?;
    let name = name.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "invalid role OID: {user}"))?;
    row[at] = Datum::text(&name);
    Ok(Some(row))
}

/// Stores when the row was changed.
fn moddatetime(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    if call.trigger.kind.row() && call.trigger.kind.before() && call.event == Event::Insert {
        return internal("moddatetime: cannot process INSERT events".into());
    }
    let (mut row, name) = one_column(call, "moddatetime", "A single argument was expected")?;
    let at = typed_column(call, name, &[oids::timestamp, oids::timestamptz], "TIMESTAMP or TIMESTAMPTZ")?;
    let format = session.format();
    let now = format.transaction_time;
    row[at] = Datum::Int8(match call.table.columns[at].type_oid {
        oids::timestamptz => now,
        _ => types::timestamp::to_local(now, &types::Call::new(&format)),
    });
    Ok(Some(row))
}
