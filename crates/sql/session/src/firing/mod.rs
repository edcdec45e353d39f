//! # What
//! Carries out what triggers do: at the end of a statement, at SET CONSTRAINTS, at the end of the transaction.
//!
//! # Layout
//! `internal`: functions of the system, which implement constraints; [`foreign_key`]: those of foreign keys, `referenced`: how they find the row that one refers to; `text_search`: those that keep documents up to date.
//!
//! # Invariants
//! 1. Nothing of the session is borrowed while a trigger's function or condition runs.
//!
//! # PostgreSQL counterpart
//! `commands/trigger.c`.

pub mod foreign_key;
mod internal;
mod referenced;
mod text_search;

use std::rc::Rc;
use std::sync::Arc;

use analyze::{Expr, stored, walk};
use base::{CommandId, Oid, SqlError, SqlResult, SubxactId, Tid, sql_err};
use catalog::view::Transition;
use catalog::{CatalogView, Table, Trigger};
use eval::trigger::{
    Change, ChangedRows, Condition, Events, Firing, Kind, Memory, Names, Queued, TriggerCall,
};
use executor::run::Execution;
use heap::HeapTuple;
use parse::ast::Location;
use tuple::Datum;
use txn::Snapshot;
use types::oids;

use crate::Session;
use crate::expression::column_parameter;

/// A row of a partition as one of the partitioned table.
fn as_row_of(table: &Table, partition: &Table, row: &[Datum]) -> Vec<Datum> {
    let value = |column: &catalog::Column| match partition.column(&column.name) {
        Some((number, _)) if !column.dropped => row[number as usize - 1].clone(),
        _ => Datum::Null,
    };
    table.columns.iter().map(value).collect()
}

impl Session {
    /// Fires what waits for the end of the transaction: all of it, or (`due`) what does not have to wait any more.
    pub fn fire_deferred(&self, due: bool) -> SqlResult<()> {
        if self.deferred.borrow().as_ref().is_none_or(|deferred| deferred.is_empty()) {
            return Ok(());
        }
        let mut from = 0;
        loop {
            let now = self.txn.borrow().subxact();
            let next = self.take_deferred(from, now, due)?;
            let Some((number, kind, event)) = next else { return Ok(()) };
            from = number + 1;
            if !self.is_there_still(&kind)? {
                continue;
            }
            let mut more = Events::default();
            self.fire(&kind, event, &mut more)?;
            if !more.is_empty() {
                self.fire_after(more)?;
            }
        }
    }

    /// The rows of a change under this name, for the analysis of a query.
    pub(crate) fn transition_named(&self, name: &str) -> Option<Transition> {
        self.transitions.borrow().as_ref()?.transition(name)
    }

    /// Runs the body of a function, in which names of rows mean these.
    pub(crate) fn with_transitions<T>(&self, names: Option<Names>, body: impl FnOnce() -> T) -> T {
        if names.is_none() && self.transitions.borrow().is_none() {
            return body();
        }
        let outer = self.transitions.replace(names);
        let done = body();
        self.transitions.replace(outer);
        done
    }

    /// Whether the trigger, and its table, have not been dropped since.
    fn is_there_still(&self, kind: &Kind) -> SqlResult<bool> {
        let table = self.relation_by_oid(kind.table.oid)?;
        Ok(table.is_some_and(|table| table.triggers.iter().any(|trigger| trigger.oid == kind.trigger.oid)))
    }

    fn take_deferred(
        &self,
        from: usize,
        now: SubxactId,
        due: bool,
    ) -> SqlResult<Option<(usize, Rc<Kind>, Queued)>> {
        match &mut *self.deferred.borrow_mut() {
            Some(deferred) => deferred.take(from, now, |all, kind| !due || !all.defers(&kind.trigger)),
            None => Ok(None),
        }
    }

    /// Fires one event. Its rows are read again.
    fn fire(&self, kind: &Kind, event: Queued, more: &mut Events) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let Kind { table, trigger, event: what, user, partitions, changed, cancelled } = kind;
        if cancelled.get() {
            return Ok(());
        }
        let [old, new] = event.tids();
        let row = |tid: Option<Tid>, side: usize| -> SqlResult<Option<Vec<Datum>>> {
            let Some(tid) = tid else { return Ok(None) };
            match partitions {
                None => self.version(table, tid).map(Some),
                Some(partitions) => {
                    let own = &partitions[side];
                    Ok(Some(as_row_of(table, own, &self.version(own, tid)?)))
                }
            }
        };
        let (old, new) = (row(old, 0)?, row(new, 1)?);
        let (changed, old, new) = (changed.as_ref(), old.as_deref(), new.as_deref());
        let call = TriggerCall { trigger, table, event: *what, old, new, changed };
        if let Some(function) = internal::find(trigger.function) {
            return (function.fire)(self, &call, event.tids(), more);
        }
        match *user == self.names.user() {
            true => Firing::call(self, &call).map(drop),
            false => self.as_role(*user, || Firing::call(self, &call).map(drop)),
        }
    }

    /// A version of a row, with its large values; no snapshot is asked whether it is visible.
    fn version(&self, table: &Table, tid: Tid) -> SqlResult<Vec<Datum>> {
        let access = self.engine().heap_access();
        let missing = || SqlError::internal("failed to fetch a tuple for an AFTER trigger");
        let heap = table.heap.as_ref().ok_or_else(missing)?;
        let mut buffer = HeapTuple::new();
        if !heap::fetch_version(&access, heap, tid, &mut buffer).map_err(eval::error::heap)? {
            return Err(missing());
        }
        let tuple = buffer.get().ok_or_else(missing)?;
        let mut row = Vec::new();
        let layout = &heap.desc.layout;
        tuple
            .decode(layout, layout.len(), &mut row)
            .map_err(|_| sql_err!(DATA_CORRUPTED, "corrupted tuple {tid} of relation {}", table.oid))?;
        for value in &mut row {
            if let Datum::Toasted(_) = value {
                *value =
                    heap::detoast(&access, heap.desc.toast.as_ref(), value).map_err(eval::error::heap)?;
            }
        }
        Ok(row)
    }
}

impl Firing for Session {
    fn user(&self) -> Oid {
        self.names.user()
    }

    fn event_memory(&self) -> Memory<'_> {
        (self.settings.borrow().fast().work_mem as usize, self.temp_dir())
    }

    fn is_enabled(&self, trigger: &Trigger) -> bool {
        let replica = self.replicates();
        match trigger.enabled {
            b'A' => true,
            b'R' => replica,
            b'D' => false,
            _ => !replica,
        }
    }

    fn condition(&self, table: &Table, text: &str) -> SqlResult<Box<dyn Condition>> {
        let mut expr = stored::load_expr(text, self)?;
        analyze::computed::replace(&mut expr, &[table, table], self)?;
        let width = table.columns.len() as i16;
        let tableoid = analyze::Param {
            kind: analyze::ParamKind::Extern,
            id: 2 * i32::from(width) + 1,
            type_oid: oids::oid,
            typmod: -1,
            collation: Oid::INVALID,
            location: Location::NONE,
        };
        walk::visit_mut(&mut expr, 0, &mut |e, _| {
            if let Expr::Var(var) = e {
                let start = if var.rte == 0 { 0 } else { width };
                match var.attno {
                    // `tableoid`: the others have no value in rows that are not stored.
                    -6 => *e = Expr::Param(tableoid.clone()),
                    ..0 => {
                        return Err(SqlError::not_supported("a system column in a trigger's WHEN condition"));
                    }
                    _ => *e = column_parameter(var, table, start),
                }
            }
            Ok(true)
        })?;
        let planned = self.with_planner(self, |context| plan::convert_expression(&expr, context))?;
        Ok(Box::new(Execution::of_expressions(vec![planned])?))
    }

    fn holds(
        &self,
        condition: &mut dyn Condition,
        params: &[Datum],
        (snapshot, command): (&Snapshot, CommandId),
    ) -> SqlResult<bool> {
        self.with_env(snapshot, command, |env| condition.holds(env, params))
    }

    fn is_needed(&self, trigger: &Trigger, change: &Change<'_>) -> SqlResult<bool> {
        match internal::find(trigger.function) {
            Some(function) => (function.wanted)(self, trigger, change),
            None => Ok(true),
        }
    }

    fn call(&self, call: &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>> {
        let depth = self.trigger_depth.get();
        self.trigger_depth.set(depth + 1);
        let result = match internal::call(self, call) {
            Some(result) => result,
            None => self.invoke_trigger(call),
        };
        self.trigger_depth.set(depth);
        result
    }

    fn fire_after(&self, mut events: Events) -> SqlResult<()> {
        let mut number = 0;
        while let Some((kind, event)) = events.get(number)? {
            number += 1;
            let mut deferred = self.deferred.borrow_mut();
            if kind.trigger.deferrable && deferred.get_or_insert_default().defers(&kind.trigger) {
                self.refuse_restricted("fire deferred trigger")?;
                let now = self.txn.borrow().subxact();
                deferred.get_or_insert_default().push(kind, event, now, self.event_memory())?;
            } else {
                drop(deferred);
                self.fire(&kind, event, &mut events)?;
            }
        }
        Ok(())
    }

    fn changed_rows(&self, name: &str) -> Option<ChangedRows> {
        self.transitions.borrow().as_ref()?.rows(name)
    }

    fn table(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        self.relation_by_oid(oid)
    }
}
