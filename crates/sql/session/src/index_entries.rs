//! # What
//! Entering new rows into all indexes of their table, for loads; looking again for duplicates and conflicts of deferrable constraints.

use std::sync::Arc;

use base::{Oid, SqlResult, Tid};
use catalog::{Index, Table};
use engine::{DeadRows, RowLiveness};
use executor::exclusion::{self, Patience, Rival, Search};
use executor::nodes::key_entered;
use heap::{HeapRel, Liveness};
use index::{InsertOutcome, UniqueCheck};
use tuple::Datum;
use types::Call;

use crate::Session;
use crate::expression::IndexKeys;
use crate::violation;

/// The indexes of a table.
pub struct TableIndexes {
    indexes: Vec<(Arc<Index>, IndexKeys)>,
    entry: Vec<Datum>,
}

impl TableIndexes {
    /// Those that inserts maintain.
    pub fn new(session: &Session, table: &Table) -> SqlResult<TableIndexes> {
        let mut indexes = Vec::with_capacity(table.indexes.len());
        for index in table.indexes.iter().filter(|index| index.ready) {
            indexes.push((index.clone(), IndexKeys::new(session, table, index)?));
        }
        Ok(TableIndexes { indexes, entry: Vec::new() })
    }

    /// Whether there is nothing to enter rows into.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// Enters a row that was just stored.
    pub fn enter(
        &mut self,
        session: &Session,
        table: &Table,
        heap: &HeapRel,
        (row, tid): (&[Datum], Tid),
    ) -> SqlResult<()> {
        for (index, keys) in &mut self.indexes {
            if !keys.entry(session, row, &mut self.entry)? {
                continue;
            }
            let check = if index.refuses_duplicates() { Check::Unique } else { Check::None };
            if !insert(session, (table, heap), index, (&self.entry, tid), check)? {
                return Err(violation::duplicate(session, table, index, &self.entry)?);
            }
            if !index.excluders.is_empty() {
                let found = rival(session, (table, heap), (index, keys), (&self.entry, tid))?;
                refuse(session, table, index, &self.entry, found)?;
            }
        }
        Ok(())
    }
}

/// What a new entry is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Nothing.
    None,
    /// Live rows with its key.
    Unique,
    /// The same; the entry is there already.
    Existing,
}

/// Enters a row into an index, and waits for transactions on whose outcome it depends whether it may; false if a live row has its key.
pub fn insert(
    session: &Session,
    (table, heap): (&Table, &HeapRel),
    index: &Index,
    (entry, tid): (&[Datum], Tid),
    check: Check,
) -> SqlResult<bool> {
    let open = index.storage()?;
    let xid = session.txn.borrow_mut().xid_for(heap.is_logged())?;
    let access = session.index_access(xid);
    loop {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let outcome = {
            let me = session.txn.borrow();
            let liveness = RowLiveness { engine: session.engine(), heap, me: &me };
            let unique = match check {
                Check::None => UniqueCheck::No,
                Check::Unique => UniqueCheck::Yes(&liveness),
                Check::Existing => UniqueCheck::Existing(&liveness),
            };
            let rows = DeadRows { access: session.engine().heap_access(), heap };
            open.insert(&access, entry, tid, unique, &rows)
                .map_err(|e| e.into_sql(&index.name, &table.name))?
        };
        if check != Check::Existing && !matches!(outcome, InsertOutcome::WaitFor { .. }) {
            key_entered(&session.txn.borrow(), heap, open, entry)?;
        }
        match outcome {
            InsertOutcome::Inserted | InsertOutcome::InsertedMaybeConflict => return Ok(true),
            InsertOutcome::WaitFor { xid, .. } => session.txn.borrow().wait_for(xid)?,
            InsertOutcome::Conflict { .. } => return Ok(false),
        }
    }
}

/// A row that conflicts with one that has been entered, by an index whose rows exclude each other.
pub fn rival(
    session: &Session,
    (table, heap): (&Table, &HeapRel),
    (index, keys): (&Index, &mut IndexKeys),
    (entry, tid): (&[Datum], Tid),
) -> SqlResult<Option<Rival>> {
    let (engine, format) = (session.engine(), session.format());
    let xid = session.txn.borrow_mut().xid_for(heap.is_logged())?;
    let entries = session.index_access(xid);
    let call = Call::new(&format).with_session(session);
    let (rows, txn) = (engine.heap_access(), &session.txn);
    let search = Search { rows, entries, txn, table, heap, index, call: &call };
    search.refuse_empty(entry)?;
    search.find(entry, Some(tid), Patience::All, &mut |row| {
        let mut theirs = Vec::new();
        Ok(keys.entry(session, row, &mut theirs)?.then_some(theirs))
    })
}

fn refuse(
    session: &Session,
    table: &Table,
    index: &Index,
    entry: &[Datum],
    found: Option<Rival>,
) -> SqlResult<()> {
    let Some(rival) = found else { return Ok(()) };
    let new = violation::key_text(session, table, index, entry)?;
    let keys = new.zip(violation::key_text(session, table, index, &rival.key)?);
    Err(exclusion::violation(table, index, keys))
}

/// Whether no version of the row is live.
pub fn is_dead(session: &Session, heap: &HeapRel, root: Tid) -> SqlResult<bool> {
    let me = session.txn.borrow();
    let state = heap::unique_liveness(&session.engine().heap_access(), heap, &me, root);
    Ok(matches!(state.map_err(eval::error::heap)?, Liveness::Dead { .. }))
}

/// Whether a row that was entered before has its key in a deferrable unique index alone; an error if not. A row that has gone since is nobody's
/// duplicate.
pub(crate) fn recheck(
    session: &Session,
    table: &Table,
    index: Oid,
    (row, tid): (&[Datum], Tid),
) -> SqlResult<()> {
    let Some(index) = table.indexes.iter().find(|i| i.oid == index) else { return Ok(()) };
    let Some(heap) = &table.heap else { return Ok(()) };
    if is_dead(session, heap, tid)? {
        return Ok(());
    }
    let mut entry = Vec::new();
    let mut keys = IndexKeys::new(session, table, index)?;
    if !keys.entry(session, row, &mut entry)? {
        return Ok(());
    }
    if !index.excluders.is_empty() {
        let found = rival(session, (table, heap), (index, &mut keys), (&entry, tid))?;
        return refuse(session, table, index, &entry, found);
    }
    match insert(session, (table, heap), index, (&entry, tid), Check::Existing)? {
        true => Ok(()),
        false => Err(violation::duplicate(session, table, index, &entry)?),
    }
}
