//! # What
//! Entering new rows into all indexes of their table, for loads.

use std::sync::Arc;

use base::{SqlError, SqlResult, Tid};
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
        let xid = session.txn.borrow_mut().xid()?;
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
