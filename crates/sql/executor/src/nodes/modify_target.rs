//! A table that rows are written to: its own target of a statement, or a member of the target's inheritance tree.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid};
use catalog::view::{Column, Generated, Index, Table};
use counters::Change;
use eval::code::{Code, Rows};
use eval::compile::{Compiler, Inputs, RawRow};
use eval::cx::Cx;
use eval::node::tid_datum;
use eval::trigger::TableTriggers;
use heap::{FormedRows, HeapRel, HeapTuple, InsertOptions, LockStrength, Refusal, TupleRef, UpdateOutcome};
use plan::published::Hindrances;
use plan::{Command, RelId};
use tuple::{Datum, RowLayout};
use txn::{LockMode, LockTag, LockWait};

use super::Builder;
use crate::index::IndexWriter;
use crate::{recheck, violation};

/// System columns that RETURNING and checks may name, behind the table's columns.
pub const SYSTEM: [i16; 6] = [-1, -2, -3, -4, -5, -6];

/// Rows of a table one behind the other, without system columns.
#[derive(Clone, Copy)]
pub struct KeptRows<'a> {
    /// Their values.
    pub values: &'a [Datum],
    /// How many rows.
    pub count: usize,
    /// Columns of each.
    pub width: usize,
}

impl<'a> KeptRows<'a> {
    /// Row after row.
    pub fn iter(self) -> impl Iterator<Item = &'a [Datum]> {
        (0..self.count).map(move |i| &self.values[i * self.width..(i + 1) * self.width])
    }
}

/// What became of one attempt to change a row.
pub enum Step {
    /// It is changed.
    Done,
    /// Somebody else was there first.
    Refused(Refusal),
    /// A trigger is against it.
    Skipped,
}

/// A table that rows are written to.
pub struct Target {
    /// The relation.
    pub rel: RelId,
    /// Its descriptor.
    pub table: Arc<Table>,
    /// Its rows.
    pub heap: Arc<HeapRel>,
    /// Its indexes.
    pub indexes: Vec<IndexWriter>,
    /// What publications have against changes of its rows.
    hindrances: Option<Hindrances>,
    /// Its triggers.
    pub triggers: Option<TableTriggers>,
    /// Position here of each column of the statement's target, none for dropped ones; absent if all have the same.
    places: Option<Box<[Option<usize>]>>,
    generated: Vec<(i16, Code)>,
    /// Positions of stored columns that must not be null.
    not_null: Box<[usize]>,
    /// Virtual columns that must not be null.
    required: Vec<(i16, Code)>,
    checks: Vec<(String, Code)>,
    /// Columns that some index contains; none if an expression may use any.
    indexed: Option<Vec<usize>>,
    /// Columns of unique indexes that foreign keys could refer to: a lock on a row's key protects these.
    keys: Vec<usize>,
}

impl Target {
    /// The table's OID, for messages and for waits on its rows.
    pub fn rows(&self) -> recheck::Table<'_> {
        (self.table.oid, &self.heap)
    }

    /// Compiles what it takes to write the table's rows.
    pub fn new(builder: &Builder<'_>, target: &plan::TargetTable) -> SqlResult<Target> {
        Target::compiled(&builder.compiler(), target)
    }

    fn compiled(compiler: &Compiler<'_>, target: &plan::TargetTable) -> SqlResult<Target> {
        let table = target.table.clone();
        let heap = table.heap.clone();
        let heap =
            heap.ok_or_else(|| SqlError::internal(format!("relation \"{}\" has no storage", table.name)))?;
        let raw = RawRow { rel: target.rel, upto: table.columns.len(), system: SYSTEM.to_vec(), start: 0 };
        let over_row = Inputs::scan(&raw);
        let generated = target.generated.iter().map(|(n, e)| Ok((*n, compiler.expr(e, over_row)?)));
        let required = target.required.iter().map(|(n, e)| Ok((*n, compiler.expr(e, over_row)?)));
        let checks = target.checks.iter().map(|(n, e)| Ok((n.to_string(), compiler.expr(e, over_row)?)));
        let indexes = target.indexes.iter().zip(&target.index_ancestors);
        let ready = indexes.filter(|(i, _)| i.index.ready && i.index.rel.is_some());
        let place = |number: &i16| usize::try_from(*number - 1).ok();
        Ok(Target {
            rel: target.rel,
            heap,
            indexes: ready
                .map(|(i, ancestors)| IndexWriter::new(compiler, i, ancestors, over_row))
                .collect::<SqlResult<_>>()?,
            hindrances: target.hindrances,
            triggers: TableTriggers::new(&table),
            places: target.columns.as_ref().map(|columns| columns.iter().map(place).collect()),
            generated: generated.collect::<SqlResult<_>>()?,
            required: required.collect::<SqlResult<_>>()?,
            checks: checks.collect::<SqlResult<_>>()?,
            not_null: not_null_columns(&table),
            indexed: indexed_columns(&table),
            keys: key_columns(&table),
            table,
        })
    }

    /// Fails if publications have something against updates of its rows.
    pub fn check_published(&self) -> SqlResult<()> {
        self.hindrances.map_or(Ok(()), |found| found.check(&self.table, Command::Update))
    }

    /// Number of columns of its rows, without system columns.
    pub fn width(&self) -> usize {
        self.table.columns.len()
    }

    /// Position in this table of column `number` of the statement's target.
    pub fn place(&self, number: i16) -> SqlResult<usize> {
        let at = number as usize - 1;
        match &self.places {
            None => Ok(at),
            Some(places) => places.get(at).copied().flatten().ok_or_else(|| {
                SqlError::internal(format!("column {number} has no place in {}", self.table.name))
            }),
        }
    }

    /// A row of this table, system columns behind, as one of the statement's target.
    pub fn to_root<'r>(&self, row: &'r [Datum], buffer: &'r mut Vec<Datum>) -> &'r [Datum] {
        let Some(places) = &self.places else { return row };
        buffer.clear();
        buffer.extend(places.iter().map(|place| place.map_or(Datum::Null, |i| row[i].clone())));
        buffer.extend_from_slice(&row[self.width()..]);
        buffer
    }

    /// Replaces `row` by one of this table, system columns behind, made of a row of the statement's target.
    pub fn take_root(&self, root: &[Datum], row: &mut Vec<Datum>) {
        row.clear();
        match &self.places {
            None => row.extend_from_slice(&root[..self.width()]),
            Some(places) => {
                row.resize(self.width(), Datum::Null);
                for (place, value) in places.iter().zip(root) {
                    if let Some(place) = place {
                        row[*place] = value.clone();
                    }
                }
            }
        }
        row.resize(self.width() + SYSTEM.len(), Datum::Null);
    }

    /// Generated columns, NOT NULL and CHECK of a new row. Errors show it as `root`, the statement's target, has it.
    pub fn check_row(&self, root: &Table, row: &mut [Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        self.complete_row(row, cx)?;
        if let Some(missing) = self.not_null.iter().find(|column| row[**column].is_null()) {
            return Err(self.missing(&self.table.columns[*missing], root, row, cx)?);
        }
        for (number, code) in &self.required {
            if code.eval(Rows::one(row), cx)?.is_null() {
                return Err(self.missing(&self.table.columns[*number as usize - 1], root, row, cx)?);
            }
        }
        for (name, code) in &self.checks {
            if matches!(code.eval(Rows::one(row), cx)?, Datum::Bool(false)) {
                return Err(self.failing(violation::check(&self.table, name), root, row, cx)?);
            }
        }
        Ok(())
    }

    /// Generated columns of a new row.
    #[inline]
    pub fn complete_row(&self, row: &mut [Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        // Of the system columns, a row that is not stored yet knows its table.
        if let Some(tableoid) = row.get_mut(self.width() + SYSTEM.len() - 1) {
            *tableoid = Datum::Oid(self.table.oid.0);
        }
        for (number, code) in &self.generated {
            let value = code.eval(Rows::one(row), cx)?;
            row[*number as usize - 1] = value;
        }
        Ok(())
    }

    /// The error that a column has no value.
    fn missing(&self, column: &Column, root: &Table, row: &[Datum], cx: &Cx<'_>) -> SqlResult<SqlError> {
        self.failing(violation::null_in(&self.table, column), root, row, cx)
    }

    fn failing(&self, error: SqlError, root: &Table, row: &[Datum], cx: &Cx<'_>) -> SqlResult<SqlError> {
        match self.places {
            None => with_row(error, &self.table, row, cx),
            Some(_) => with_row(error, root, self.to_root(row, &mut Vec::new()), cx),
        }
    }

    /// Stores a checked row; its system columns are set. False if another row has its key in an index that arbitrates: then it was
    /// taken back.
    pub fn insert(
        &self,
        row: &mut Vec<Datum>,
        arbitrates: impl Fn(&IndexWriter) -> bool,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        let heap = &self.heap;
        // Who meets a row that may be taken back waits until that is settled.
        let token = match self.indexes.iter().any(&arbitrates) {
            true => Some(LockTag::Speculative(cx.xid_for(heap)?)),
            false => None,
        };
        if let Some(tag) = token {
            cx.env.txn.borrow_mut().lock(tag, LockMode::Exclusive, LockWait::Block)?;
        }
        let stored = self.store(row, arbitrates, cx)?;
        if let Some(tag) = token {
            cx.env.txn.borrow_mut().unlock(tag, LockMode::Exclusive);
        }
        let Some(tid) = stored else { return Ok(false) };
        cx.count_change(self.table.oid, Change::Insert(1));
        self.finish_row(row, tid, cx);
        Ok(true)
    }

    /// Stores many checked rows and gives their places to `tids`. The first row that a unique index or an exclusion constraint refuses is the one that the error is about.
    pub fn insert_batch(&self, rows: KeptRows<'_>, tids: &mut Vec<Tid>, cx: &mut Cx<'_>) -> SqlResult<()> {
        let heap = &self.heap;
        tids.clear();
        cx.with_writer(heap, |access, writer| {
            heap::multi_insert(access, heap, writer, rows.iter(), InsertOptions::default(), tids)
        })?
        .map_err(eval::error::heap)?;
        let (refusing, others): (Vec<_>, Vec<_>) = self.indexes.iter().partition(|index| index.may_refuse());
        if !refusing.is_empty() {
            cx.rechecks.clear();
            for (number, (row, tid)) in rows.iter().zip(&*tids).enumerate() {
                cx.state.load.entering = number;
                refusing.iter().try_for_each(|index| index.insert(&self.table, heap, row, *tid, cx))?;
            }
        }
        others.iter().try_for_each(|index| index.insert_batch((&self.table, heap), rows, tids, cx))?;
        cx.count_change(self.table.oid, Change::Insert(rows.count as i64));
        cx.state.processed += rows.count as u64;
        Ok(())
    }

    /// Whether a row of the statement's target is one of this table as it is, and is to be checked for missing values only.
    pub fn takes_rows_as_they_are(&self) -> bool {
        self.places.is_none() && !self.computes()
    }

    /// Whether rows that are stored as `layout` says have the same bytes here.
    pub fn stores_alike(&self, layout: &RowLayout) -> bool {
        heap::stores_alike(layout, &self.heap.desc.layout)
    }

    /// Checks a row of a table that stores rows alike, as [`Target::check_row`] does for a target that computes nothing.
    pub fn check_stored(
        &self,
        row: &TupleRef<'_>,
        buffer: &mut Vec<Datum>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        if !row.has_nulls() || !self.not_null.iter().any(|column| row.row().is_null(*column)) {
            return Ok(());
        }
        buffer.clear();
        let decoded = row.decode(&self.heap.desc.layout, self.width(), buffer);
        decoded.map_err(|_| recheck::corrupted(self.table.oid, row.tid))?;
        buffer.resize(self.width() + SYSTEM.len(), Datum::Null);
        self.check_row(&self.table, buffer, cx)
    }

    /// Whether a column that must have a value has none in `row`.
    pub fn misses_value(&self, row: &[Datum]) -> bool {
        self.not_null.iter().any(|column| row[*column].is_null())
    }

    /// Forms a checked row of a table without indexes, to be stored by [`Target::insert_formed`].
    pub fn form(&self, row: &[Datum], formed: &mut FormedRows, cx: &mut Cx<'_>) -> SqlResult<()> {
        let (heap, options) = (&self.heap, InsertOptions::default());
        if formed.add_small(heap, row, options) {
            return Ok(());
        }
        cx.with_writer(heap, |access, writer| formed.add(access, heap, writer, row, options))?
            .map_err(eval::error::heap)
    }

    /// Stores rows that were formed.
    pub fn insert_formed(
        &self,
        formed: &mut FormedRows,
        tids: &mut Vec<Tid>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let (heap, count) = (&self.heap, formed.count());
        tids.clear();
        cx.with_writer(heap, |access, writer| {
            formed.insert(access, heap, writer, InsertOptions::default(), tids)
        })?
        .map_err(eval::error::heap)?;
        cx.count_change(self.table.oid, Change::Insert(count as i64));
        cx.state.processed += count as u64;
        Ok(())
    }

    /// Puts in a row with its entries; `None`: it was taken back.
    fn store(
        &self,
        row: &[Datum],
        arbitrates: impl Fn(&IndexWriter) -> bool,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Tid>> {
        let (heap, values) = (&self.heap, &row[..self.width()]);
        let tid = cx
            .with_writer(heap, |access, writer| {
                heap::insert(access, heap, writer, values, InsertOptions::default())
            })?
            .map_err(eval::error::heap)?;
        cx.rechecks.clear();
        for index in &self.indexes {
            if !arbitrates(index) {
                index.insert(&self.table, heap, row, tid, cx)?;
            } else if !index.try_insert(&self.table, heap, row, tid, cx)? {
                cx.with_writer(heap, |access, writer| heap::take_back(access, heap, writer, tid))?
                    .map_err(eval::error::heap)?;
                return Ok(None);
            }
        }
        Ok(Some(tid))
    }

    /// A live row that has a key of `row` in an index that arbitrates.
    pub fn find_conflict(
        &self,
        arbitrates: impl Fn(&IndexWriter) -> bool,
        row: &[Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Tid>> {
        for index in self.indexes.iter().filter(|index| arbitrates(index)) {
            let found = index.find_conflict(&self.table, &self.heap, row, cx)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The version at `tid` into `row`, system columns behind; false if there is none. `whole`: large values too, even if nothing
    /// of the table asks for them.
    pub fn fetch(
        &self,
        tid: Tid,
        whole: bool,
        buffer: &mut HeapTuple,
        row: &mut Vec<Datum>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        if !recheck::read_version(&self.heap, self.table.oid, tid, buffer, row, cx)? {
            return Ok(false);
        }
        // Expressions see whole values; without any, large unchanged ones stay where they are.
        if whole || self.computes() || self.indexed.is_none() {
            self.detoast(row, cx)?;
        }
        Ok(true)
    }

    /// Whether expressions look at new rows.
    fn computes(&self) -> bool {
        !self.checks.is_empty() || !self.generated.is_empty() || !self.required.is_empty()
    }

    /// Fetches large values that a row holds as pointers.
    pub fn detoast(&self, row: &mut [Datum], cx: &Cx<'_>) -> SqlResult<()> {
        for value in row {
            if let Datum::Toasted(_) = value {
                *value = heap::detoast(&cx.env.access, self.heap.desc.toast.as_ref(), value)
                    .map_err(eval::error::heap)?;
            }
        }
        Ok(())
    }

    /// Replaces the version at `tid`, which was `old`, by a checked row.
    pub fn update(&self, tid: Tid, old: &[Datum], row: &mut Vec<Datum>, cx: &mut Cx<'_>) -> SqlResult<Step> {
        let unchanged = match &self.indexed {
            Some(columns) => columns.iter().all(|c| old[*c] == row[*c]),
            None => self.indexes.is_empty(),
        };
        let keys_changed = !unchanged && self.keys.iter().any(|c| old[*c] != row[*c]);
        let (heap, values) = (&self.heap, &row[..self.width()]);
        let outcome = cx
            .with_writer(heap, |access, writer| {
                heap::update(access, heap, writer, tid, values, unchanged, keys_changed)
            })?
            .map_err(eval::error::heap)?;
        match outcome {
            UpdateOutcome::Refused(refusal) => Ok(Step::Refused(refusal)),
            UpdateOutcome::Updated { tid: new, hot } => {
                cx.rechecks.clear();
                let newpage = new.block != tid.block;
                cx.count_change(self.table.oid, Change::Update { hot, newpage });
                let pruned = self.heap.take_pruned();
                if pruned > 0 {
                    cx.count_change(self.table.oid, Change::Pruned(pruned.into()));
                }
                recheck::row_moved(self.rows(), tid, new, cx);
                let tid = new;
                if !hot {
                    for index in &self.indexes {
                        index.insert(&self.table, &self.heap, row, tid, cx)?;
                    }
                }
                self.finish_row(row, tid, cx);
                Ok(Step::Done)
            }
        }
    }

    /// The lock that a row needs before these columns of the statement's target are updated.
    pub fn update_strength(&self, columns: impl IntoIterator<Item = i16>) -> SqlResult<LockStrength> {
        for number in columns {
            if self.keys.contains(&self.place(number)?) {
                return Ok(LockStrength::Update);
            }
        }
        Ok(LockStrength::NoKeyUpdate)
    }

    fn finish_row(&self, row: &mut Vec<Datum>, tid: Tid, cx: &mut Cx<'_>) {
        self.set_system(row, tid, cx);
        cx.state.processed += 1;
    }

    /// The system columns of a row that was stored.
    pub fn set_system(&self, row: &mut Vec<Datum>, tid: Tid, cx: &Cx<'_>) {
        row.truncate(self.width());
        row.push(tid_datum(tid));
        row.push(Datum::Oid(cx.xid.get().0 as u32));
        row.extend([
            Datum::Oid(cx.env.command.0),
            Datum::Oid(0),
            Datum::Oid(cx.env.command.0),
            Datum::Oid(self.table.oid.0),
        ]);
    }
}

/// Positions of stored columns that must not be null.
fn not_null_columns(table: &Table) -> Box<[usize]> {
    let must = |column: &Column| column.not_null && !column.dropped && column.generated != Generated::Virtual;
    table.columns.iter().enumerate().filter(|(_, column)| must(column)).map(|(i, _)| i).collect()
}

/// Positions of columns that some index contains; none if an expression may use any.
fn indexed_columns(table: &Table) -> Option<Vec<usize>> {
    let mut out = Vec::new();
    for index in &table.indexes {
        if !index.expressions.is_empty() || index.predicate.is_some() {
            return None;
        }
        out.extend(index.keys.iter().chain(&index.including).map(|c| *c as usize - 1));
    }
    out.sort_unstable();
    out.dedup();
    Some(out)
}

/// Positions of the key columns of unique indexes on plain columns of all rows.
fn key_columns(table: &Table) -> Vec<usize> {
    let whole =
        |index: &&Arc<Index>| index.unique && index.expressions.is_empty() && index.predicate.is_none();
    let mut out: Vec<usize> =
        table.indexes.iter().filter(whole).flat_map(|index| &index.keys).map(|c| *c as usize - 1).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The error with what the user may know of the row.
pub fn with_row(error: SqlError, table: &Table, row: &[Datum], cx: &Cx<'_>) -> SqlResult<SqlError> {
    let readable = cx.env.session.shown_columns(table, &cx.needs.written(table.oid));
    let call = cx.call(&[], Oid::INVALID, Oid::INVALID, false);
    violation::with_row(error, table, row, readable.as_deref(), &call)
}
