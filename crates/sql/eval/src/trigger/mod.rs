//! # What
//! Triggers: which of them fire, when, and what their functions get.
//!
//! # Layout
//! * [`TableTriggers`]: those of one table for a statement that runs, with their conditions. [`TriggerCall`]: one call of a function.
//! * `queue`: what is to fire after rows have changed, [`Events`] of a statement and [`Deferred`] ones of the transaction, which lie in
//!   memory or in a file (`list`). `fire`: carries them out. `transition`: the rows of a change as tables. `internal`: functions of the system, which implement constraints; `foreign_key`: those of foreign keys.
//!
//! # Invariants
//! 1. An event names versions of rows by their places. Nobody prunes a version that a running transaction wrote or replaced, so they can be read
//!    until the transaction ends.
//! 2. Nothing of the session is borrowed while a trigger's function or condition runs.
//! 3. A statement's events fire when all its rows are written; those of a subtransaction that is rolled back never fire.
//!
//! # PostgreSQL counterpart and differences
//! `commands/trigger.c`. Each execution has its own events, instead of a stack of them by depth of query.

pub mod function;
mod list;
mod queue;
mod transition;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{CommandId, Oid, SqlError, SqlResult, Tid};
use catalog::{Table, Trigger, TriggerKind};
use tuple::Datum;
use txn::{Snapshot, Transaction};

pub use list::Memory;
use queue::Of;
pub use queue::{Deferred, Events, Kind, Queued};
pub use transition::{Changed, ChangedRows, Names};

use crate::cx::{Cx, Env};

/// What happens to rows or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Event {
    Insert,
    Update,
    Delete,
    Truncate,
}

impl Event {
    /// Its bit in `pg_trigger.tgtype`.
    pub fn bit(self) -> i16 {
        match self {
            Event::Insert => TriggerKind::INSERT,
            Event::Update => TriggerKind::UPDATE,
            Event::Delete => TriggerKind::DELETE,
            Event::Truncate => TriggerKind::TRUNCATE,
        }
    }

    /// Its name, as `TG_OP` has it.
    pub fn name(self) -> &'static str {
        match self {
            Event::Insert => "INSERT",
            Event::Update => "UPDATE",
            Event::Delete => "DELETE",
            Event::Truncate => "TRUNCATE",
        }
    }
}

/// A call of a trigger's function. Rows have the table's columns; system columns may stand behind them.
pub struct TriggerCall<'a> {
    /// The trigger.
    pub trigger: &'a Trigger,
    /// The table that it fires for.
    pub table: &'a Arc<Table>,
    /// What happens.
    pub event: Event,
    /// The row before.
    pub old: Option<&'a [Datum]>,
    /// The row after.
    pub new: Option<&'a [Datum]>,
    /// All rows of the change, if it is over.
    pub changed: Option<&'a Rc<Changed>>,
}

/// A row before and after a change, each with its place if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// The row before.
    pub old: Option<(Tid, &'a [Datum])>,
    /// The row after.
    pub new: Option<(Tid, &'a [Datum])>,
    /// Deferrable unique indexes in which the new row may have a duplicate.
    pub rechecks: &'a [Oid],
    /// The row is deleted here because it moves to another partition.
    pub moves: bool,
}

/// WHEN of a trigger, ready to be asked again and again.
pub trait Condition {
    /// Whether it holds with these parameters.
    fn holds(&mut self, env: &Env<'_>, params: &[Datum]) -> SqlResult<bool>;
}

/// What fires triggers: the session. It knows which fire, and calls their functions.
pub trait Firing {
    /// Who changes rows.
    fn user(&self) -> Oid;
    /// How much memory events may take, and where the others go.
    fn event_memory(&self) -> Memory<'_>;
    /// Whether a trigger fires in this session, as `session_replication_role` and ENABLE say.
    fn is_enabled(&self, trigger: &Trigger) -> bool;
    /// WHEN of a trigger, ready to run: its parameters are the columns of the old row, those of the new row, and the table's OID.
    fn condition(&self, table: &Table, text: &str) -> SqlResult<Box<dyn Condition>>;
    /// Whether a condition holds, as of this snapshot and command.
    fn holds(
        &self,
        condition: &mut dyn Condition,
        params: &[Datum],
        sees: (&Snapshot, CommandId),
    ) -> SqlResult<bool>;
    /// Whether a trigger for a constraint is needed after this change at all: asked when the row changes. It must not wait.
    fn is_needed(&self, trigger: &Trigger, change: &Change<'_>) -> SqlResult<bool>;
    /// Calls a trigger's function. Gives the row that it returned.
    fn call(&self, call: &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>>;
    /// The end of a statement: fires its events, or keeps them for the end of the transaction.
    fn fire_after(&self, events: Events) -> SqlResult<()>;
    /// The rows of a change under this name, which a trigger's function that runs may read.
    fn changed_rows(&self, name: &str) -> Option<ChangedRows>;
    /// A table.
    fn table(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>>;
}

/// The statement that sets triggers off: who fires them, and what it sees.
pub struct At<'s> {
    /// Who fires them.
    pub firing: &'s dyn Firing,
    snapshot: Snapshot,
    command: CommandId,
}

impl<'s> At<'s> {
    /// A statement that runs.
    pub fn of(cx: &Cx<'s>) -> SqlResult<At<'s>> {
        let missing = || SqlError::internal("a trigger without a session");
        let firing = cx.env.session.triggers().ok_or_else(missing)?;
        Ok(At { firing, snapshot: cx.env.snapshot.clone(), command: cx.env.command })
    }

    /// A utility statement, which sees what the next statement would.
    pub fn now(firing: &'s dyn Firing, txn: &RefCell<Transaction>) -> At<'s> {
        let txn = txn.borrow();
        At { firing, snapshot: txn.next_snapshot(), command: txn.current_command() }
    }
}

/// Triggers of a table, for one statement.
pub struct TableTriggers {
    table: Arc<Table>,
    list: Vec<Ready>,
    /// The kinds that there are, put together for rows before, rows after, rows instead and statements.
    bits: [i16; 4],
}

/// A trigger with its condition, compiled when it is first asked for.
struct Ready {
    trigger: Arc<Trigger>,
    condition: RefCell<Option<Box<dyn Condition>>>,
}

impl Ready {
    /// Whether it is the trigger of a foreign key on the table that is referred to.
    fn carries_out_action(&self) -> bool {
        self.trigger.internal && function::is_action(self.trigger.function)
    }
}

impl TableTriggers {
    /// Those of a table that are not disabled; none if there are none.
    pub fn new(table: &Arc<Table>) -> Option<TableTriggers> {
        let on = table.triggers.iter().filter(|trigger| trigger.enabled != b'D');
        let ready =
            |trigger: &Arc<Trigger>| Ready { trigger: trigger.clone(), condition: RefCell::default() };
        let list: Vec<Ready> = on.map(ready).collect();
        if list.is_empty() {
            return None;
        }
        let mut bits = [0; 4];
        for kind in list.iter().map(|ready| ready.trigger.kind) {
            bits[class(kind.0)] |= kind.0;
        }
        Some(TableTriggers { table: table.clone(), list, bits })
    }

    /// Whether there is a trigger of this timing, level and event.
    pub fn has(&self, timing: i16, event: Event) -> bool {
        self.bits[class(timing)] & event.bit() != 0
            && self.list.iter().any(|ready| matches(ready.trigger.kind, timing, event))
    }

    /// Whether any trigger is to be asked after rows were changed like this.
    pub fn after_rows(&self, event: Event) -> bool {
        self.has(TriggerKind::ROW, event)
    }

    /// Which rows of a change, before and after, some trigger wants to read as tables.
    pub fn transitions(&self, event: Event) -> [bool; 2] {
        transition::wanted(self.list.iter().map(|ready| &*ready.trigger), event)
    }

    /// Fires those before or instead of a change of a row. The new row is what they make of it; false if one of them is against the
    /// change. `updated`: columns that UPDATE assigns to.
    pub fn fire_row(
        &self,
        timing: i16,
        event: Event,
        old: Option<&[Datum]>,
        mut new: Option<&mut Vec<Datum>>,
        updated: Option<&[i16]>,
        at: &At<'_>,
    ) -> SqlResult<bool> {
        let width = self.table.columns.len();
        for ready in &self.list {
            let now = new.as_ref().map(|row| row.as_slice());
            if !matches(ready.trigger.kind, timing | TriggerKind::ROW, event)
                || !self.applies(ready, event, (old, now), updated, at)?
            {
                continue;
            }
            let (trigger, table) = (&ready.trigger, &self.table);
            let call = TriggerCall { trigger, table, event, old, new: now, changed: None };
            let Some(row) = at.firing.call(&call)? else { return Ok(false) };
            if let Some(new) = &mut new {
                new.splice(..width, row);
            }
        }
        Ok(true)
    }

    /// Fires those before a statement.
    pub fn fire_before_statement(&self, event: Event, updated: Option<&[i16]>, at: &At<'_>) -> SqlResult<()> {
        for ready in &self.list {
            if matches(ready.trigger.kind, TriggerKind::BEFORE, event)
                && self.applies(ready, event, (None, None), updated, at)?
            {
                let (trigger, table) = (&ready.trigger, &self.table);
                let call = TriggerCall { trigger, table, event, old: None, new: None, changed: None };
                at.firing.call(&call)?;
            }
        }
        Ok(())
    }

    /// Notes what is to fire after a row was changed.
    pub fn queue_row(
        &self,
        event: Event,
        change: Change<'_>,
        updated: Option<&[i16]>,
        (at, events): (&At<'_>, &mut Events),
    ) -> SqlResult<()> {
        let user = at.firing.user();
        let rows = (change.old.map(|(_, row)| row), change.new.map(|(_, row)| row));
        for ready in &self.list {
            // What refers to the partitioned table learns of the move as an update of that.
            if change.moves && ready.trigger.is_clone() && ready.carries_out_action() {
                continue;
            }
            if !matches(ready.trigger.kind, TriggerKind::ROW, event)
                || !self.applies(ready, event, rows, updated, at)?
            {
                continue;
            }
            if !at.firing.is_needed(&ready.trigger, &change)? {
                continue;
            }
            let of = Of { table: &self.table, trigger: &ready.trigger, event, user, partitions: None };
            events.push(of, change, at.firing.event_memory())?;
        }
        Ok(())
    }

    /// Notes what foreign keys to a partitioned table are to do after a row has moved from one of its partitions to another.
    pub fn queue_move(
        &self,
        partitions: [&Arc<Table>; 2],
        change: Change<'_>,
        (at, events): (&At<'_>, &mut Events),
    ) -> SqlResult<()> {
        let user = at.firing.user();
        for ready in self.list.iter().filter(|ready| ready.carries_out_action()) {
            let trigger = &ready.trigger;
            let fits = matches(trigger.kind, TriggerKind::ROW, Event::Update);
            if fits && at.firing.is_enabled(trigger) && at.firing.is_needed(trigger, &change)? {
                let (event, partitions) = (Event::Update, Some(partitions));
                let of = Of { table: &self.table, trigger, event, user, partitions };
                events.push(of, change, at.firing.event_memory())?;
            }
        }
        Ok(())
    }

    /// Whether a foreign key refers to this table, and not only to one that it is a partition of.
    pub fn is_referenced(&self) -> bool {
        self.list.iter().any(|ready| ready.carries_out_action() && !ready.trigger.is_clone())
    }

    /// Notes what is to fire after a statement.
    pub fn queue_statement(
        &self,
        event: Event,
        updated: Option<&[i16]>,
        (at, events): (&At<'_>, &mut Events),
    ) -> SqlResult<()> {
        let user = at.firing.user();
        if self.has(0, event) {
            events.cancel_statement(self.table.oid, event);
        }
        for ready in &self.list {
            if matches(ready.trigger.kind, 0, event)
                && self.applies(ready, event, (None, None), updated, at)?
            {
                let of = Of { table: &self.table, trigger: &ready.trigger, event, user, partitions: None };
                events.push(of, Change::default(), at.firing.event_memory())?;
            }
        }
        Ok(())
    }

    /// Whether a trigger fires in this session, for these columns, on its condition.
    fn applies(
        &self,
        ready: &Ready,
        event: Event,
        (old, new): (Option<&[Datum]>, Option<&[Datum]>),
        updated: Option<&[i16]>,
        at: &At<'_>,
    ) -> SqlResult<bool> {
        let (trigger, firing) = (&ready.trigger, at.firing);
        let of_columns = event == Event::Update && !trigger.columns.is_empty();
        let untouched = |all: &[i16]| !trigger.columns.iter().any(|column| all.contains(column));
        if !firing.is_enabled(trigger) || (of_columns && updated.is_some_and(untouched)) {
            return Ok(false);
        }
        let Some(text) = &trigger.when else { return Ok(true) };
        let kept = ready.condition.take();
        let mut condition = match kept {
            Some(condition) => condition,
            None => firing.condition(&self.table, text)?,
        };
        let width = self.table.columns.len();
        let part = |row: Option<&[Datum]>| match row {
            Some(row) => row[..width].to_vec(),
            None => vec![Datum::Null; width],
        };
        let mut params = part(old);
        params.append(&mut part(new));
        params.push(Datum::Oid(self.table.oid.0));
        let holds = firing.holds(&mut *condition, &params, (&at.snapshot, at.command))?;
        ready.condition.replace(Some(condition));
        Ok(holds)
    }
}

/// Place in [`TableTriggers::bits`] of a kind.
fn class(kind: i16) -> usize {
    match TriggerKind(kind) {
        kind if kind.instead() => 2,
        kind if !kind.row() => 3,
        kind if kind.before() => 0,
        _ => 1,
    }
}

/// Whether a trigger of this kind is for this timing, level and event.
fn matches(kind: TriggerKind, timing: i16, event: Event) -> bool {
    let which = TriggerKind::ROW | TriggerKind::BEFORE | TriggerKind::INSTEAD;
    kind.0 & which == timing & which && kind.has(event.bit())
}
