//! # What
//! Exclusion constraints and keys WITHOUT OVERLAPS: looking for rows that conflict with one that is written.
//!
//! # Invariants
//! 1. Who writes a row enters it into the index *before* he looks for others. Of two transactions that write conflicting rows at the same time, the one that
//!    looks later meets the other's entry; if both do, each waits for the other, and the deadlock detector ends one of them.
//! 2. No transaction is waited for while a scan is open: a scan pins pages, and VACUUM waits for pins.
//!
//! # PostgreSQL counterpart
//! `check_exclusion_or_unique_constraint` of `executor/execIndexing.c`.

use std::cell::RefCell;

use base::{SqlError, SqlResult, Tid, Xid, sql_err};
use catalog::{Excluder, Index, Table};
use engine::OpenScan;
use heap::{HeapRel, HeapTuple, Liveness};
use index::{Direction, ScanKey, ScanKeys, ScanOp, Wants};
use tuple::Datum;
use txn::{LockMode, LockTag, LockWait, Transaction};
use types::Call;

/// Whom a search waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Every transaction that has yet to decide whether its row is there.
    All,
    /// Those younger than the own one, while they may take back the row of an INSERT with ON CONFLICT: of two such INSERTs that meet, only the younger
    /// gives way.
    Younger,
    /// Nobody: a row that may be there counts.
    Nobody,
}

/// A row that conflicts.
#[derive(Debug)]
pub struct Rival {
    /// Its version.
    pub(crate) tid: Tid,
    /// Its values in the index.
    pub key: Vec<Datum>,
}

/// Computes the entry of a row; none if the index has none for it.
pub(crate) type EntryOf<'a> = &'a mut dyn FnMut(&[Datum]) -> SqlResult<Option<Vec<Datum>>>;

/// What a search for conflicting rows works with.
pub struct Search<'a> {
    /// Pages of the table.
    pub rows: heap::Access<'a>,
    /// Pages of the index.
    pub entries: index::Access<'a>,
    /// The session's transaction.
    pub txn: &'a RefCell<Transaction>,
    /// The table.
    pub table: &'a Table,
    /// Its rows.
    pub heap: &'a HeapRel,
    /// The index, with excluders.
    pub index: &'a Index,
    /// For calls of functions.
    pub call: &'a Call<'a>,
}

/// A row that conflicts, and the transaction, if any, that has yet to decide whether the row stays.
struct Found {
    rival: Rival,
    undecided: Option<Xid>,
}

impl Search<'_> {
    /// Fails if a key WITHOUT OVERLAPS ends with an empty range.
    pub fn refuse_empty(&self, entry: &[Datum]) -> SqlResult<()> {
        if !self.index.without_overlaps {
            return Ok(());
        }
        let last = self.index.keys.len() - 1;
        let (Some(value), Some(&number)) = (entry.get(last), self.index.keys.get(last)) else {
            return Ok(());
        };
        let column = &self.table.columns[number as usize - 1];
        if value.is_null() || !types::range::is_empty(value, column.type_oid, self.call)? {
            return Ok(());
        }
        Err(sql_err!(
            CHECK_VIOLATION,
            "empty WITHOUT OVERLAPS value found in column \"{}\" in relation \"{}\"",
            column.name,
            self.table.name
        ))
    }

    /// A row, other than the one at `own`, that conflicts with an entry.
    pub fn find(
        &self,
        entry: &[Datum],
        own: Option<Tid>,
        patience: Patience,
        entry_of: EntryOf<'_>,
    ) -> SqlResult<Option<Rival>> {
        if entry[..self.index.excluders.len()].iter().any(Datum::is_null) {
            return Ok(None);
        }
        // Whose row it was that was met last, once it is settled that he does not take it back by himself.
        let mut settled = None;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let Some(Found { rival, undecided }) = self.look(entry, own, entry_of)? else { return Ok(None) };
            let Some(xid) = undecided else { return Ok(Some(rival)) };
            let met = Some((xid, rival.tid));
            let may_wait = match patience {
                Patience::All => true,
                Patience::Younger => settled != met && xid > self.entries.xid,
                Patience::Nobody => false,
            };
            if !may_wait {
                return Ok(Some(rival));
            }
            if settled == met {
                self.txn.borrow_mut().wait_for(xid).map_err(eval::error::txn)?;
                continue;
            }
            let (mut txn, tag) = (self.txn.borrow_mut(), LockTag::Speculative(xid));
            txn.lock(tag, LockMode::Share, LockWait::Block)?;
            txn.unlock(tag, LockMode::Share);
            settled = met;
        }
    }

    fn look(&self, entry: &[Datum], own: Option<Tid>, entry_of: EntryOf<'_>) -> SqlResult<Option<Found>> {
        let open = self.index.storage()?;
        let by_class = !open.desc().trees.is_empty();
        let condition = |(column, (excluder, value)): (usize, (&Excluder, &Datum))| {
            let (strategy, operand, value) = (excluder.strategy, excluder.operand, value.clone());
            let op = match by_class {
                true => ScanOp::Operator { strategy, operand, value },
                false => ScanOp::Strategy(strategy, value),
            };
            ScanKey { column, op }
        };
        let keys = self.index.excluders.iter().zip(entry).enumerate().map(condition).collect();
        let keys = ScanKeys { keys, direction: Direction::Forward };
        let mut scan = open.scan(keys, Wants { values: false, pin: true });
        let found = self.next_rival(&mut scan, entry, own, entry_of);
        scan.finish(&self.entries);
        found
    }

    fn next_rival(
        &self,
        scan: &mut OpenScan,
        entry: &[Datum],
        own: Option<Tid>,
        entry_of: EntryOf<'_>,
    ) -> SqlResult<Option<Found>> {
        let (mut version, mut row) = (HeapTuple::new(), Vec::new());
        loop {
            let next = scan.next(&self.entries);
            let next = next.map_err(|e| e.into_sql(&self.index.name, &self.table.name))?;
            let Some(root) = next else { return Ok(None) };
            if Some(root) == own {
                continue;
            }
            let state = heap::unique_liveness(&self.rows, self.heap, &self.txn.borrow(), root);
            let (tid, undecided) = match state.map_err(eval::error::heap)? {
                Liveness::Live { tid } => (tid, None),
                Liveness::InProgress { xid, tid } => (tid, Some(xid)),
                Liveness::Dead { .. } => continue,
            };
            if !self.read(tid, &mut version, &mut row)? {
                continue;
            }
            let Some(key) = entry_of(&row)? else { continue };
            if !scan.recheck() || self.excludes(&key, entry)? {
                return Ok(Some(Found { rival: Rival { tid, key }, undecided }));
            }
        }
    }

    /// The columns of a version; false if it has gone.
    fn read(&self, tid: Tid, version: &mut HeapTuple, row: &mut Vec<Datum>) -> SqlResult<bool> {
        if !heap::fetch_version(&self.rows, self.heap, tid, version).map_err(eval::error::heap)? {
            return Ok(false);
        }
        let Some(tuple) = version.get() else { return Ok(false) };
        row.clear();
        let layout = &self.heap.desc.layout;
        let corrupted = |_| sql_err!(DATA_CORRUPTED, "corrupted tuple {tid} of relation {}", self.table.oid);
        tuple.decode(layout, layout.len(), row).map_err(corrupted)?;
        for value in row.iter_mut().filter(|value| matches!(value, Datum::Toasted(_))) {
            *value =
                heap::detoast(&self.rows, self.heap.desc.toast.as_ref(), value).map_err(eval::error::heap)?;
        }
        Ok(true)
    }

    /// Whether two entries exclude each other.
    fn excludes(&self, key: &[Datum], entry: &[Datum]) -> SqlResult<bool> {
        for (excluder, (theirs, own)) in self.index.excluders.iter().zip(key.iter().zip(entry)) {
            let Some(eval) = excluder.eval else {
                return Err(SqlError::internal(format!(
                    "operator {} of an exclusion constraint is not built in",
                    excluder.operator
                )));
            };
            if theirs.is_null() || eval(self.call, &[theirs.clone(), own.clone()])? != Datum::Bool(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// 23P01: a row conflicts with another. The message has their keys, unless the user may not read them.
pub fn violation(table: &Table, index: &Index, keys: Option<(String, String)>) -> SqlError {
    let error = sql_err!(
        EXCLUSION_VIOLATION,
        "conflicting key value violates exclusion constraint \"{}\"",
        index.name
    );
    let detail = match keys {
        Some((new, old)) => format!("Key {new} conflicts with existing key {old}."),
        None => "Key conflicts with existing key.".to_owned(),
    };
    error
        .detail(detail)
        .table(table.schema_name.as_str(), table.name.as_str())
        .constraint(index.name.as_str())
}
