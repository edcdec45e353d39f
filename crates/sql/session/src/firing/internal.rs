//! Trigger functions of the system.

use base::{Oid, SqlResult, Tid, sql_err};
use catalog::Trigger;
use eval::trigger::function::UNIQUE_KEY_RECHECK;
use eval::trigger::{Change, Events, TriggerCall};
use tuple::Datum;

use super::{foreign_key, text_search};
use crate::Session;
use crate::index_entries;

/// Carries an event out; the places are those of the row before and after. Events of statements that it runs without firing them join
/// the last argument: they fire behind those that are there.
pub(crate) type Fire = fn(&Session, &TriggerCall<'_>, [Option<Tid>; 2], &mut Events) -> SqlResult<()>;

/// A function that fires after rows have changed, for a constraint.
pub(crate) struct Internal {
    /// Whether an event needs it at all: asked when the row changes. It must not wait.
    pub(crate) wanted: fn(&Session, &Trigger, &Change<'_>) -> SqlResult<bool>,
    /// Carries an event out.
    pub(crate) fire: Fire,
}

/// The function of a constraint with this OID.
pub(crate) fn find(function: Oid) -> Option<&'static Internal> {
    match function {
        UNIQUE_KEY_RECHECK => Some(&UNIQUE_KEY),
        _ => foreign_key::find(function),
    }
}

/// Deferrable unique keys: only rows that may have a duplicate are looked at again.
static UNIQUE_KEY: Internal = Internal {
    wanted: |_, trigger, change| Ok(change.rechecks.contains(&trigger.constraint_index)),
    fire: |session, call, [_, new], _| match (call.new, new) {
        (Some(row), Some(tid)) => {
            index_entries::recheck(session, call.table, call.trigger.constraint_index, (row, tid))
        }
        _ => Ok(()),
    },
};

/// `suppress_redundant_updates_trigger`.
const SUPPRESS_REDUNDANT_UPDATES: Oid = Oid(1291);

/// Calls a function of the system that users may name in CREATE TRIGGER; none if there is none with this OID.
pub(super) fn call(session: &Session, call: &TriggerCall<'_>) -> Option<SqlResult<Option<Vec<Datum>>>> {
    match call.trigger.function {
        SUPPRESS_REDUNDANT_UPDATES => Some(suppress_redundant_updates(call)),
        text_search::BY_NAME | text_search::BY_COLUMN => Some(text_search::update(session, call)),
        _ => None,
    }
}

fn suppress_redundant_updates(call: &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>> {
    let must = |what: &str| {
        Err(sql_err!(
            E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            "suppress_redundant_updates_trigger: must be called {what}"
        ))
    };
    let (Some(old), Some(new)) = (call.old, call.new) else { return must("on update") };
    if !call.trigger.kind.before() {
        return must("before update");
    }
    let width = call.table.columns.len();
    Ok((old[..width] != new[..width]).then(|| new[..width].to_vec()))
}
