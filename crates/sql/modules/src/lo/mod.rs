//! # What
//! `lo`: a type for columns that refer to large objects, and a trigger that removes these with the last reference.
//!
//! # PostgreSQL counterpart
//! `contrib/lo`.

use base::{SqlError, SqlResult};
use eval::trigger::{Event, TriggerCall};
use session::Session;
use session::module::{Module, ModuleFunction};

use crate::trigger::{Row, column, row_of_event, run};

/// The extension.
pub static MODULE: Module = Module {
    name: "lo",
    version: "1.2",
    comment: "Large Object maintenance",
    relocatable: true,
    trusted: true,
    script: include_str!("script.sql"),
    functions: &[("lo_manage", ModuleFunction::Trigger(manage))],
    ..Module::LIBRARY
};

/// Removes the large object that a column referred to, if it refers to it no more.
fn manage(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    let name = &call.trigger.name;
    let failed = |what: String| Err(SqlError::internal(format!("{name}: {what}")));
    if !call.trigger.kind.row() {
        return failed("must be fired for row".into());
    }
    let Some(wanted) = call.trigger.args.first() else {
        return failed("no column name provided in the trigger definition".into());
    };
    let Some(at) = column(call, wanted) else {
        return failed(format!("column \"{wanted}\" does not exist"));
    };
    if matches!(call.event, Event::Update | Event::Delete)
        && let Some(old) = call.old.filter(|old| !old[at].is_null())
        && call.new.is_none_or(|new| new[at] != old[at])
    {
        let oid = session.value_text(call.table.columns[at].type_oid, &old[at])?;
        let oid: u32 = oid.parse().unwrap_or(0);
        run(session, &format!("SELECT pg_catalog.lo_unlink({oid})"))?;
    }
    Ok(row_of_event(call))
}
