//! # What
//! Entering new rows into all indexes of their table, for loads; looking again for duplicates of deferrable keys.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid};
use btree::{BtreeRel, InsertOutcome, UniqueCheck};
use catalog::{Index, Table};
use engine::RowLiveness;
use heap::HeapRel;
use tuple::Datum;

use super::expression::IndexKeys;
use super::violation;
use crate::session::Session;

/// The indexes of a table.
pub(crate) struct TableIndexes {
    indexes: Vec<(Arc<Index>, Arc<BtreeRel>, IndexKeys)>,
    entry: Vec<Datum>,
}

impl TableIndexes {
    /// Those that inserts maintain.
    pub(crate) fn new(session: &Session, table: &Table) -> SqlResult<TableIndexes> {
        let mut indexes = Vec::with_capacity(table.indexes.len());
        for index in table.indexes.iter().filter(|index| index.ready) {
            let tree = index.btree.clone().ok_or_else(|| SqlError::internal("an index has no tree"))?;
            indexes.push((index.clone(), tree, IndexKeys::new(session, table, index)?));
        }
        Ok(TableIndexes { indexes, entry: Vec::new() })
    }

    /// Enters a row that was just stored.
    pub(crate) fn enter(
        &mut self,
        session: &Session,
        table: &Table,
        heap: &HeapRel,
        (row, tid): (&[Datum], Tid),
    ) -> SqlResult<()> {
        let xid = session.txn.borrow_mut().xid_for(heap.is_logged())?;
        let access = session.engine().index_access(xid);
        for (index, tree, keys) in &mut self.indexes {
            if !keys.entry(session, row, &mut self.entry)? {
                continue;
            }
            loop {
                let outcome = {
                    let me = session.txn.borrow();
                    let liveness = RowLiveness { engine: session.engine(), heap, me: &me };
                    let unique = if index.unique { UniqueCheck::Yes(&liveness) } else { UniqueCheck::No };
                    btree::insert(&access, tree, &self.entry, tid, unique)
                        .map_err(|e| e.into_sql(&index.name, &table.name))?
                };
                match outcome {
                    InsertOutcome::Inserted | InsertOutcome::InsertedMaybeConflict => break,
                    InsertOutcome::WaitFor { xid, .. } => session.txn.borrow().wait_for(xid)?,
                    InsertOutcome::Conflict { .. } => {
                        return Err(violation::duplicate(session, table, index, &self.entry)?);
                    }
                }
            }
        }
        Ok(())
    }
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
    let (Some(heap), Some(tree)) = (&table.heap, &index.btree) else { return Ok(()) };
    let state = {
        let me = session.txn.borrow();
        heap::unique_liveness(&session.engine().heap_access(), heap, &me, tid).map_err(crate::error::heap)?
    };
    if let heap::Liveness::Dead { .. } = state {
        return Ok(());
    }
    let mut entry = Vec::new();
    if !IndexKeys::new(session, table, index)?.entry(session, row, &mut entry)? {
        return Ok(());
    }
    let access = session.engine().index_access(session.txn.borrow_mut().xid_for(heap.is_logged())?);
    loop {
        runtime::check_interrupts().map_err(crate::error::interrupted)?;
        let outcome = {
            let me = session.txn.borrow();
            let liveness = RowLiveness { engine: session.engine(), heap, me: &me };
            btree::insert(&access, tree, &entry, tid, UniqueCheck::Existing(&liveness))
                .map_err(|e| e.into_sql(&index.name, &table.name))?
        };
        match outcome {
            InsertOutcome::Inserted | InsertOutcome::InsertedMaybeConflict => return Ok(()),
            InsertOutcome::WaitFor { xid, .. } => session.txn.borrow().wait_for(xid)?,
            InsertOutcome::Conflict { .. } => {
                return Err(violation::duplicate(session, table, index, &entry)?);
            }
        }
    }
}
