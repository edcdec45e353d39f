//! Index entries: making them for new rows, and checking uniqueness.

use base::{Oid, SqlError, SqlResult, Tid, sql_err};
use catalog::view::Table;
use engine::DeadRows;
use eval::code::{Code, Rows, passes, project};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use heap::HeapRel;
use index::{Access as IndexAccess, InsertOutcome, Liveness, TupleState, UniqueCheck};
use plan::{IndexExprs, IndexRef};
use tuple::Datum;
use txn::{LockMode, LockTag, LockWait};
use types::Call;

use crate::exclusion::{self, Patience, Rival, Search};
use crate::nodes::{KeptRows, TableHorizon, key_entered};

/// Writes one index of a table.
pub struct IndexWriter {
    index: IndexRef,
    columns: Box<[Code]>,
    predicate: Box<[Code]>,
    /// Partitioned indexes that it is a part of.
    ancestors: Box<[Oid]>,
    /// Pages of a range of the table, of an index whose ranges are summarized when rows come to the next one.
    asks_for_summaries: Option<u32>,
}

/// What is to happen with a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// It is entered once no other row has the key.
    Row,
    /// It is entered unless another row has the key or may get it.
    Attempt,
    /// It is not entered: the caller only learns which row has the key, once that is settled.
    Check,
}

/// Asks the heap about rows with equal keys.
struct HeapLiveness<'a, 'c> {
    cx: &'a Cx<'c>,
    heap: &'a HeapRel,
}

impl Liveness for HeapLiveness<'_, '_> {
    fn check(&self, tid: Tid) -> Result<TupleState, SqlError> {
        let me = self.cx.env.txn.borrow();
        let state =
            heap::unique_liveness(&self.cx.env.access, self.heap, &me, tid).map_err(eval::error::heap)?;
        Ok(match state {
            heap::Liveness::Live { tid } => TupleState::Live { tid },
            heap::Liveness::InProgress { xid, .. } => TupleState::InProgress(xid),
            heap::Liveness::Dead { all_dead: false } => TupleState::Deleted,
            heap::Liveness::Dead { all_dead: true } => TupleState::Dead,
        })
    }
}

/// What an operation needs that writes to an index on behalf of a table.
fn writing<'a>(heap: &HeapRel, horizon: &'a TableHorizon<'_>, cx: &Cx<'a>) -> SqlResult<IndexAccess<'a>> {
    let pool = cx.env.access.pool;
    Ok(IndexAccess { pool, horizon, xid: cx.xid_for(heap)?, limits: cx.env.session.index_limits() })
}

impl IndexWriter {
    /// Compiles an index's expressions over the table's row.
    pub fn new(
        compiler: &Compiler<'_>,
        exprs: &IndexExprs,
        ancestors: &[Oid],
        inputs: Inputs<'_>,
    ) -> SqlResult<IndexWriter> {
        let parameters = exprs.index.rel.as_ref().map_or(&[][..], |rel| &rel.desc().options);
        let asks = exprs.index.method.summarizes && index::autosummarize(parameters);
        Ok(IndexWriter {
            asks_for_summaries: asks.then(|| index::pages_per_range(parameters)),
            ancestors: ancestors.into(),
            index: exprs.index.clone(),
            columns: compiler.list(&exprs.columns, inputs)?,
            predicate: compiler.list(&exprs.predicate, inputs)?,
        })
    }

    /// Whether it is one of these indexes, or part of one.
    pub fn is_part_of(&self, indexes: &[Oid]) -> bool {
        indexes.contains(&self.index.oid) || self.ancestors.iter().any(|oid| indexes.contains(oid))
    }

    /// Whether it may be against a row: it is unique, or rows exclude each other by it.
    pub fn may_refuse(&self) -> bool {
        self.index.unique || !self.index.excluders.is_empty()
    }

    /// Whether what it has against a row is known at the end of the transaction only.
    pub fn is_deferrable(&self) -> bool {
        self.may_refuse() && !self.index.immediate
    }

    fn values(&self, heap: &HeapRel, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Option<Vec<Datum>>> {
        let mut values = Vec::with_capacity(self.columns.len());
        Ok(self.entry(heap, row, &mut values, cx)?.then_some(values))
    }

    /// Replaces `out` by a row's key columns and included ones; false if the index leaves the row out.
    fn entry(&self, heap: &HeapRel, row: &[Datum], out: &mut Vec<Datum>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !passes(&self.predicate, Rows::one(row), cx)? {
            return Ok(false);
        }
        project(&self.columns, Rows::one(row), cx, out)?;
        for value in out {
            if let Datum::Toasted(_) = value {
                *value = heap::detoast(&cx.env.access, heap.desc.toast.as_ref(), value)
                    .map_err(eval::error::heap)?;
            }
        }
        Ok(true)
    }

    /// Enters many rows at these places; the index has nothing against any row.
    pub fn insert_batch(
        &self,
        (table, heap): (&Table, &HeapRel),
        rows: KeptRows<'_>,
        tids: &[Tid],
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        debug_assert!(!self.may_refuse());
        let open = self.index.storage()?;
        let (mut entry, mut values, mut places) =
            (Vec::new(), Vec::with_capacity(rows.count * self.columns.len()), Vec::with_capacity(rows.count));
        for (number, (row, tid)) in rows.iter().zip(tids).enumerate() {
            cx.state.load.entering = number;
            if self.entry(heap, row, &mut entry, cx)? {
                values.append(&mut entry);
                places.push(*tid);
            }
        }
        let horizon = TableHorizon::new(cx.env.access.txns, heap.desc.kind);
        let access = writing(heap, &horizon, cx)?;
        let dead_rows = DeadRows { access: cx.env.access, heap };
        open.insert_batch(&access, &values, &places, &dead_rows)
            .map_err(|e| e.into_sql(&self.index.name, &table.name))?;
        for (at, tid) in places.iter().enumerate() {
            let width = self.columns.len();
            key_entered(&cx.env.txn.borrow(), heap, open, &values[at * width..(at + 1) * width])?;
            self.ask_for_summary(*tid, cx);
        }
        Ok(())
    }

    /// Enters a row; a duplicate of a unique key, or a row that it excludes, is an error, or noted in [`Cx::rechecks`] if the constraint is deferrable.
    pub fn insert(
        &self,
        table: &Table,
        heap: &HeapRel,
        row: &[Datum],
        tid: Tid,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let Some(values) = self.values(heap, row, cx)? else { return Ok(()) };
        if !self.index.excluders.is_empty() {
            return match self.enter_excluding(table, heap, &values, tid, Entry::Row, cx)? {
                None => Ok(()),
                Some(rival) => {
                    let shown = |key: &[Datum]| self.shown_key(table, key, cx);
                    let keys = shown(&values).zip(shown(&rival.key));
                    Err(exclusion::violation(table, &self.index, keys))
                }
            };
        }
        match self.enter(table, heap, &values, tid, Entry::Row, cx)? {
            None => {
                self.ask_for_summary(tid, cx);
                Ok(())
            }
            Some(_) => Err(self.violation(table, &values, cx)),
        }
    }

    /// The first row of a range asks for a summary of the range before.
    #[inline]
    fn ask_for_summary(&self, tid: Tid, cx: &Cx<'_>) {
        if let Some(pages) = self.asks_for_summaries
            && tid.offset == 1
            && tid.block.0 > 0
            && tid.block.0.is_multiple_of(pages)
        {
            cx.env.session.ask_for_summary(self.index.oid, base::BlockNo(tid.block.0 - 1));
        }
    }

    /// Enters a row; false if another has its unique key, or may get it. A transaction with keys that it may still take back waits for no other.
    pub fn try_insert(
        &self,
        table: &Table,
        heap: &HeapRel,
        row: &[Datum],
        tid: Tid,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        let Some(values) = self.values(heap, row, cx)? else { return Ok(true) };
        Ok(self.enter(table, heap, &values, tid, Entry::Attempt, cx)?.is_none())
    }

    /// The live row that has the same key in this unique index, if any; waits for those in progress.
    pub fn find_conflict(
        &self,
        table: &Table,
        heap: &HeapRel,
        row: &[Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Tid>> {
        if !self.index.unique && self.index.excluders.is_empty() {
            return Ok(None);
        }
        if !self.index.immediate {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
            )
            .table(table.schema_name.as_str(), table.name.as_str())
            .constraint(self.index.name.as_str()));
        }
        let Some(values) = self.values(heap, row, cx)? else { return Ok(None) };
        self.enter(table, heap, &values, Tid::default(), Entry::Check, cx)
    }

    /// As [`IndexWriter::enter`], for an index by which rows exclude each other: the method enters the row, and others that conflict are looked for.
    fn enter_excluding(
        &self,
        table: &Table,
        heap: &HeapRel,
        values: &[Datum],
        tid: Tid,
        entry: Entry,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Rival>> {
        let env = cx.env;
        let open = self.index.storage()?;
        let horizon = TableHorizon::new(env.access.txns, heap.desc.kind);
        let entries = writing(heap, &horizon, cx)?;
        if entry != Entry::Check {
            let rows = DeadRows { access: env.access, heap };
            open.insert(&entries, values, tid, UniqueCheck::No, &rows)
                .map_err(|e| e.into_sql(&self.index.name, &table.name))?;
            key_entered(&env.txn.borrow(), heap, open, values)?;
        }
        let call = Call::new(env.format).with_session(env.session.types());
        let index = &*self.index;
        let search = Search { rows: env.access, entries, txn: env.txn, table, heap, index, call: &call };
        search.refuse_empty(values)?;
        let (own, patience) = match entry {
            Entry::Row if !self.index.immediate => (Some(tid), Patience::Nobody),
            Entry::Row => (Some(tid), Patience::All),
            Entry::Attempt => (Some(tid), Patience::Younger),
            Entry::Check => (None, Patience::All),
        };
        let found = search.find(values, own, patience, &mut |row| self.values(heap, row, cx))?;
        if entry == Entry::Row && !self.index.immediate {
            if found.is_some() {
                cx.rechecks.push(self.index.oid);
            }
            return Ok(None);
        }
        Ok(found)
    }

    fn enter(
        &self,
        table: &Table,
        heap: &HeapRel,
        values: &[Datum],
        tid: Tid,
        entry: Entry,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Tid>> {
        if !self.index.excluders.is_empty() {
            let found = self.enter_excluding(table, heap, values, tid, entry, cx)?;
            return Ok(found.map(|rival| rival.tid));
        }
        let open = self.index.storage()?;
        let mut settled = None;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let outcome = {
                let liveness = HeapLiveness { cx, heap };
                let unique = match (self.index.unique, entry) {
                    (false, _) => UniqueCheck::No,
                    (true, Entry::Check) => UniqueCheck::Existing(&liveness),
                    (true, _) if !self.index.immediate => UniqueCheck::Partial(&liveness),
                    (true, _) => UniqueCheck::Yes(&liveness),
                };
                let horizon = TableHorizon::new(cx.env.access.txns, heap.desc.kind);
                let access = writing(heap, &horizon, cx)?;
                let rows = DeadRows { access: cx.env.access, heap };
                open.insert(&access, values, tid, unique, &rows)
                    .map_err(|e| e.into_sql(&self.index.name, &table.name))?
            };
            let tells = match outcome {
                InsertOutcome::WaitFor { .. } => false,
                // Who read that the key is not there, and now finds it, is told so instead of a duplicate.
                _ => entry != Entry::Check,
            };
            if tells {
                key_entered(&cx.env.txn.borrow(), heap, open, values)?;
            }
            match outcome {
                InsertOutcome::Inserted => return Ok(None),
                InsertOutcome::InsertedMaybeConflict => {
                    cx.rechecks.push(self.index.oid);
                    return Ok(None);
                }
                InsertOutcome::Conflict { tid } => return Ok(Some(tid)),
                InsertOutcome::WaitFor { tid, .. } if entry == Entry::Attempt => return Ok(Some(tid)),
                // Its transaction may be about to take the row back. Once it has decided, a row that is there still stays until it ends.
                InsertOutcome::WaitFor { xid, tid } if settled != Some((xid, tid)) => {
                    let (mut txn, tag) = (cx.env.txn.borrow_mut(), LockTag::Speculative(xid));
                    txn.lock(tag, LockMode::Share, LockWait::Block)?;
                    txn.unlock(tag, LockMode::Share);
                    settled = Some((xid, tid));
                }
                InsertOutcome::WaitFor { xid, .. } => {
                    cx.env.txn.borrow_mut().wait_for(xid).map_err(eval::error::txn)?;
                }
            }
        }
    }

    fn violation(&self, table: &Table, values: &[Datum], cx: &Cx<'_>) -> SqlError {
        let error = sql_err!(
            UNIQUE_VIOLATION,
            "duplicate key value violates unique constraint \"{}\"",
            self.index.name
        )
        .table(table.schema_name.as_str(), table.name.as_str())
        .constraint(self.index.name.as_str());
        match self.shown_key(table, values, cx) {
            Some(key) => error.detail(format!("Key {key} already exists.")),
            None => error,
        }
    }

    /// A key for messages; none if the user may not read the key's columns.
    fn shown_key(&self, table: &Table, values: &[Datum], cx: &Cx<'_>) -> Option<String> {
        let shown = cx.env.session.shown_columns(table, &[]);
        if shown.is_some_and(|shown| self.index.keys.iter().any(|key| !shown.contains(key))) {
            return None;
        }
        match self.index.keys.contains(&0) {
            false => key_description(table, &self.index, values, cx),
            true => {
                let index = table.indexes.iter().find(|index| index.oid == self.index.oid);
                index.and_then(|index| cx.env.session.key_text(table, index, values))
            }
        }
    }
}

/// `(a, b)=(1, x)`.
pub fn key_description(table: &Table, index: &IndexRef, values: &[Datum], cx: &Cx<'_>) -> Option<String> {
    let mut names = Vec::new();
    let mut shown = Vec::new();
    for (number, value) in index.keys.iter().zip(values) {
        let column = table.columns.get(usize::try_from(*number).ok()?.checked_sub(1)?)?;
        names.push(column.name.clone());
        if value.is_null() {
            shown.push("null".to_string());
            continue;
        }
        let mut text = Vec::new();
        let call = cx.call(&[], column.type_oid, column.collation, false);
        types::output(column.type_oid, value, &call, &mut text).ok()?;
        shown.push(String::from_utf8_lossy(&text).into_owned());
    }
    Some(format!("({})=({})", names.join(", "), shown.join(", ")))
}
