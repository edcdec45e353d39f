//! # What
//! `tcn`: a trigger that notifies of the keys of rows that change.
//!
//! # PostgreSQL counterpart
//! `contrib/tcn`.

use base::{SqlError, SqlResult, SqlState};
use eval::trigger::{Event, TriggerCall};
use session::Session;
use session::module::{Module, ModuleFunction};

use crate::trigger::Row;

/// The extension.
pub static MODULE: Module = Module {
    name: "tcn",
    version: "1.0",
    comment: "Triggered change notifications",
    relocatable: true,
    trusted: true,
    script: "CREATE FUNCTION triggered_change_notification() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C;",
    functions: &[("triggered_change_notification", ModuleFunction::Trigger(notify))],
    ..Module::LIBRARY
};

fn wrong<T>(what: &str) -> SqlResult<T> {
    let message = format!("triggered_change_notification: must {what}");
    Err(SqlError::new(SqlState::E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message))
}

fn quoted(text: &str, mark: char) -> String {
    format!("{mark}{}{mark}", text.replace(mark, &format!("{mark}{mark}")))
}

/// The payload is the table, a letter for what happened, and the old row's primary key: `"t",U,"id"='1'`.
fn notify(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Row> {
    if !call.trigger.kind.after() {
        return wrong("be called after the change");
    }
    if !call.trigger.kind.row() {
        return wrong("be called on each row");
    }
    let channel = match call.trigger.args.as_slice() {
        [] => "tcn",
        [channel] => channel,
        _ => return wrong("not be called with more than one parameter"),
    };
    let letter = match call.event {
        Event::Insert => 'I',
        Event::Update => 'U',
        _ => 'D',
    };
    let key = call.table.indexes.iter().find(|index| index.primary && index.valid && !index.keys.is_empty());
    let Some(key) = key else { return wrong("be called on a table with a primary key") };
    let Some(row) = call.old.or(call.new) else { return Ok(None) };
    let mut payload = format!("{},{letter}", quoted(&call.table.name, '"'));
    for number in &key.keys {
        let at = *number as usize - 1;
        let column = &call.table.columns[at];
        let value = session.value_text(column.type_oid, &row[at])?;
        payload += &format!(",{}={}", quoted(&column.name, '"'), quoted(&value, '\''));
    }
    session.notify(channel, &payload)?;
    Ok(None)
}
