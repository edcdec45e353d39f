//! # What
//! Rows of a statement's changes as tables, which REFERENCING names for its triggers; and what a statement has done to a table as a whole.
//!
//! # Invariants
//! 1. Once a trigger has seen the rows no more are added: later changes of the same kind, by actions of foreign keys, come into new ones.
//! 2. The names mean something in the body of the trigger's own function, not in functions that this calls.
//!
//! # PostgreSQL counterpart
//! `AfterTriggersTableData` of `commands/trigger.c`, `utils/misc/queryenvironment.c`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::view::Transition;
use catalog::{Table, Trigger};
use tuple::Datum;

use super::list::Memory;
use super::{Event, TriggerCall};
use crate::row_store::{Place, RowStore};

/// What a statement has done to one table in one way.
pub struct Changed {
    table: Oid,
    event: Event,
    /// BEFORE STATEMENT triggers have fired.
    begun: Cell<bool>,
    /// Some trigger has seen the rows.
    closed: Cell<bool>,
    /// The rows before and after.
    rows: [RefCell<RowStore>; 2],
}

impl std::fmt::Debug for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.event.name(), self.table)
    }
}

impl Changed {
    pub(super) fn new(table: Oid, event: Event) -> Changed {
        Changed { table, event, begun: Cell::default(), closed: Cell::default(), rows: Default::default() }
    }

    /// Whether it is of changes like these, and there may be more of them.
    pub(super) fn takes(&self, table: Oid, event: Event) -> bool {
        (self.table, self.event) == (table, event) && !self.closed.get()
    }

    /// Whether no more rows may come.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Notes that BEFORE STATEMENT triggers fire; true if they have fired.
    pub(super) fn begin(&self) -> bool {
        self.begun.replace(true)
    }

    /// Adds a row's version before (0) or after (1) the change.
    pub fn push(&self, side: usize, row: Vec<Datum>, (limit, dir): Memory<'_>) -> SqlResult<()> {
        self.rows[side].borrow_mut().push(row, limit, dir)
    }
}

/// Rows that a query in a trigger reads.
pub struct ChangedRows(Rc<Changed>, usize);

impl ChangedRows {
    /// Row `number` into `row`; false if there is none.
    pub fn read(&self, place: &mut Place, number: u64, row: &mut Vec<Datum>) -> SqlResult<bool> {
        self.0.rows[self.1].borrow().read(place, number, row)
    }
}

/// What names stand for in the body of a trigger's function.
#[derive(Clone)]
pub struct Names {
    table: Arc<Table>,
    names: [Option<String>; 2],
    changed: Rc<Changed>,
}

impl Names {
    /// Of a call, unless its trigger names no rows.
    pub fn of(call: &TriggerCall<'_>) -> Option<Names> {
        let changed = call.changed.filter(|_| call.trigger.has_transitions())?;
        changed.closed.set(true);
        let names = [&call.trigger.old_table, &call.trigger.new_table].map(Clone::clone);
        Some(Names { table: call.table.clone(), names, changed: changed.clone() })
    }

    /// The rows with this name, for the analysis of a query.
    pub fn transition(&self, name: &str) -> Option<Transition> {
        let rows = self.changed.rows[self.side(name)?].borrow().len();
        Some(Transition { table: self.table.clone(), rows })
    }

    /// The rows with this name, for its run.
    pub fn rows(&self, name: &str) -> Option<ChangedRows> {
        Some(ChangedRows(self.changed.clone(), self.side(name)?))
    }

    fn side(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.as_deref() == Some(name))
    }
}

/// Which rows triggers of a table want of a change.
pub fn wanted<'t>(triggers: impl Iterator<Item = &'t Trigger>, event: Event) -> [bool; 2] {
    let mut wanted = [false; 2];
    for trigger in triggers.filter(|trigger| trigger.kind.has(event.bit())) {
        wanted[0] |= trigger.old_table.is_some();
        wanted[1] |= trigger.new_table.is_some();
    }
    wanted
}
