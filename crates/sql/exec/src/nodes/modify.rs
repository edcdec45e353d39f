//! INSERT, UPDATE and DELETE.
//!
//! A row that another transaction changed meanwhile is waited for; under READ COMMITTED the newest version is then locked and
//! the conditions are checked against it again, under REPEATABLE READ the statement fails (40001).

use std::rc::Rc;
use std::sync::Arc;

use base::{SqlError, SqlResult, Tid, sql_err};
use catalog::view::Table;
use heap::{DeleteOutcome, HeapRel, HeapTuple, InsertOptions, Refusal, UpdateOutcome};
use plan::{Command, Expr, Modify, ParamId, Plan, RelId};
use tuple::Datum;

use super::table_scan::{datum_tid, tid_datum};
use super::{BoxNode, Builder, Node, Projection};
use crate::compile::{Inputs, RawRow};
use crate::cx::Cx;
use crate::eval::{Code, Rows, passes};
use crate::index::IndexWriter;
use crate::recheck::{self, Newest};

/// System columns that RETURNING and checks may name, behind the table's columns.
const SYSTEM: [i16; 6] = [-1, -2, -3, -4, -5, -6];

/// A modification node.
pub fn build<'p>(builder: &mut Builder<'p>, plan: &'p Plan, modify: &'p Modify) -> SqlResult<BoxNode> {
    let table = modify.table.clone();
    let heap = table.heap.clone();
    let heap =
        heap.ok_or_else(|| SqlError::internal(format!("relation \"{}\" has no storage", table.name)))?;
    let raw = raw_row(modify.rel, &table, 0);
    let compiler = builder.compiler();
    let over_row = Inputs::scan(&raw);
    let generated = modify
        .generated
        .iter()
        .map(|(n, e)| Ok((*n, compiler.expr(e, over_row)?)))
        .collect::<SqlResult<Vec<_>>>()?;
    let checks = modify
        .checks
        .iter()
        .map(|(n, e)| Ok((n.to_string(), compiler.expr(e, over_row)?)))
        .collect::<SqlResult<_>>()?;
    let mut indexes = Vec::new();
    for index in modify.indexes.iter().filter(|i| i.index.ready) {
        indexes.push(IndexWriter::new(&compiler, index, over_row)?);
    }
    // Only columns of other relations come from the source's row: what it computed from the old row is not the new one.
    let foreign: Vec<Expr> = modify
        .source
        .output
        .iter()
        .map(|e| match e {
            Expr::Var(v) if v.rel != modify.rel => e.clone(),
            _ => Expr::boolean(true),
        })
        .collect();
    let width = table.columns.len() + SYSTEM.len();
    let versions: Vec<RawRow> = (modify.versions.iter().enumerate())
        .filter_map(|(i, rel)| rel.map(|rel| raw_row(rel, &table, (i + 1) * width)))
        .collect();
    let returning_inputs =
        Inputs { raw: Some(&raw), inner: &foreign, versions: &versions, ..Inputs::default() };
    let has_returning = !modify.returning.is_empty();
    let returning = builder.projection(plan, returning_inputs)?;
    let conflict = match &modify.on_conflict {
        None => None,
        Some(conflict) => {
            let excluded = raw_row(conflict.excluded, &table, 0);
            let inputs = Inputs { raw: Some(&raw), inner_raw: Some(&excluded), ..Inputs::default() };
            let set = match &conflict.set {
                Some(set) => Some(
                    set.iter()
                        .map(|(n, e)| Ok((*n, compiler.expr(e, inputs)?)))
                        .collect::<SqlResult<Vec<_>>>()?,
                ),
                None => None,
            };
            let filter = compiler.list(&conflict.filter, inputs)?;
            Some(Rc::new(Conflict { arbiters: conflict.arbiters.clone(), set, filter }))
        }
    };
    let view_checks = modify
        .view_checks
        .iter()
        .map(|check| Ok((check.view.to_string(), compiler.list(&check.quals, over_row)?)))
        .collect::<SqlResult<_>>()?;
    let indexed = indexed_columns(&table);
    let source = builder.build(&modify.source)?;
    Ok(Box::new(ModifyNode {
        command: modify.command,
        rel: modify.rel,
        columns: modify.columns.clone(),
        table,
        heap,
        source,
        source_row: Vec::new(),
        generated,
        checks,
        indexes,
        indexed,
        returning: has_returning.then_some(returning),
        conflict,
        view_checks,
        versions: !versions.is_empty(),
        fetched: HeapTuple::new(),
        old: Vec::new(),
        row: Vec::new(),
    }))
}

/// The layout of a row of the table that begins at `start`.
fn raw_row(rel: RelId, table: &Table, start: usize) -> RawRow {
    RawRow { rel, upto: table.columns.len(), system: SYSTEM.to_vec(), start }
}

/// Positions of columns that some index contains; `None` if an expression may use any.
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

struct Conflict {
    arbiters: Vec<base::Oid>,
    set: Option<Vec<(i16, Code)>>,
    filter: Box<[Code]>,
}

impl Conflict {
    /// Whether equal keys in the index are a conflict and not an error.
    fn arbitrates(&self, index: &IndexWriter) -> bool {
        self.arbiters.is_empty() || self.arbiters.contains(&index.oid())
    }
}

struct ModifyNode {
    command: Command,
    rel: RelId,
    columns: Vec<i16>,
    table: Arc<Table>,
    heap: Arc<HeapRel>,
    source: BoxNode,
    source_row: Vec<Datum>,
    generated: Vec<(i16, Code)>,
    checks: Vec<(String, Code)>,
    indexes: Vec<IndexWriter>,
    indexed: Option<Vec<usize>>,
    returning: Option<Projection>,
    conflict: Option<Rc<Conflict>>,
    /// Views with their conditions, for WITH CHECK OPTION.
    view_checks: Vec<(String, Box<[Code]>)>,
    /// RETURNING names OLD or NEW.
    versions: bool,
    fetched: HeapTuple,
    /// The row before the change, system columns behind; empty if there was none.
    old: Vec<Datum>,
    /// The row last written, or the one deleted, system columns behind.
    row: Vec<Datum>,
}

impl ModifyNode {
    /// Generated columns, NOT NULL and CHECK of the new row in `self.row`.
    fn check_row(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        for (number, code) in &self.generated {
            let value = code.eval(Rows::one(&self.row), cx)?;
            self.row[*number as usize - 1] = value;
        }
        for (column, value) in self.table.columns.iter().zip(&self.row) {
            if column.not_null && value.is_null() && !column.dropped {
                return Err(sql_err!(
                    NOT_NULL_VIOLATION,
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name,
                    self.table.name
                )
                .detail(failing_row(&self.table, &self.row, cx)?)
                .table(self.table.schema_name.as_str(), self.table.name.as_str())
                .column(column.name.as_str()));
            }
        }
        for (name, code) in &self.checks {
            if matches!(code.eval(Rows::one(&self.row), cx)?, Datum::Bool(false)) {
                return Err(sql_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    self.table.name
                )
                .detail(failing_row(&self.table, &self.row, cx)?)
                .table(self.table.schema_name.as_str(), self.table.name.as_str())
                .constraint(name.as_str()));
            }
        }
        Ok(())
    }

    fn insert(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let width = self.table.columns.len();
        self.row.clear();
        self.row.extend_from_slice(&self.source_row[..width]);
        self.row.resize(width + SYSTEM.len(), Datum::Null);
        self.check_row(cx)?;
        match self.conflict.clone() {
            Some(conflict) => self.insert_or_resolve(&conflict, cx),
            None => self.insert_row(None, cx),
        }
    }

    /// Writes the row in `self.row`; false if there is an ON CONFLICT clause and somebody has one of its keys by now.
    fn insert_row(&mut self, conflict: Option<&Conflict>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let (table, heap) = (&self.table, &self.heap);
        let values = &self.row[..table.columns.len()];
        let tid = cx
            .with_writer(|access, writer| {
                heap::insert(access, heap, writer, values, InsertOptions::default())
            })?
            .map_err(crate::error::heap)?;
        for index in &self.indexes {
            if !conflict.is_some_and(|conflict| conflict.arbitrates(index)) {
                index.insert(table, heap, &self.row, tid, cx)?;
            } else if !index.try_insert(table, heap, &self.row, tid, cx)? {
                cx.with_writer(|access, writer| heap::take_back(access, heap, writer, tid))?
                    .map_err(crate::error::heap)?;
                return Ok(false);
            }
        }
        self.finish_row(tid, cx);
        self.old.clear();
        self.check_views(cx)?;
        Ok(true)
    }

    /// WITH CHECK OPTION: the row just written must be seen through the views.
    fn check_views(&self, cx: &mut Cx<'_>) -> SqlResult<()> {
        for (view, quals) in &self.view_checks {
            if !passes(quals, Rows::one(&self.row), cx)? {
                let error = sql_err!(
                    WITH_CHECK_OPTION_VIOLATION,
                    "new row violates check option for view \"{view}\""
                );
                return Err(error.detail(failing_row(&self.table, &self.row, cx)?));
            }
        }
        Ok(())
    }

    /// INSERT … ON CONFLICT: looks for a row with one of the keys, and does what is to be done with it, or inserts; until one of the two is
    /// done, whatever others do meanwhile. Whether a row was written.
    fn insert_or_resolve(&mut self, conflict: &Conflict, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let excluded = self.row.clone();
        loop {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            match (self.find_conflict(conflict, cx)?, &conflict.set) {
                (None, _) => {
                    if self.insert_row(Some(conflict), cx)? {
                        return Ok(true);
                    }
                }
                (Some(tid), None) => {
                    recheck::must_see(&self.heap, tid, cx)?;
                    return Ok(false);
                }
                (Some(tid), Some(set)) => {
                    if let Some(written) = self.update_instead(tid, &excluded, set, &conflict.filter, cx)? {
                        return Ok(written);
                    }
                }
            }
            self.row.clone_from(&excluded);
        }
    }

    /// A live row that has one of the keys.
    fn find_conflict(&self, conflict: &Conflict, cx: &mut Cx<'_>) -> SqlResult<Option<Tid>> {
        for index in self.indexes.iter().filter(|index| conflict.arbitrates(index)) {
            let found = index.find_conflict(&self.table, &self.heap, &self.row, cx)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// DO UPDATE of the row at `tid`: whether it was written, or the condition is against it; `None` if it has changed meanwhile.
    fn update_instead(
        &mut self,
        tid: Tid,
        excluded: &[Datum],
        set: &[(i16, Code)],
        filter: &[Code],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<bool>> {
        if !recheck::lock_conflicting(&self.heap, tid, cx)? {
            return Ok(None);
        }
        recheck::must_see(&self.heap, tid, cx)?;
        if !self.fetch_old(tid, cx)? {
            return Ok(None);
        }
        let old = self.row.clone();
        let rows = Rows { outer: &old, inner: excluded };
        if !passes(filter, rows, cx)? {
            return Ok(Some(false));
        }
        for (number, code) in set {
            let value = code.eval(rows, cx)?;
            self.row[*number as usize - 1] = value;
        }
        self.check_row(cx)?;
        match self.write_update(tid, &old, cx)? {
            Step::Done => {
                self.old = old;
                Ok(Some(true))
            }
            Step::Refused(_) => Ok(None),
        }
    }

    /// The version at `tid` into `self.row`, system columns behind; false if there is none.
    fn fetch_old(&mut self, tid: Tid, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !recheck::read_version(&self.heap, self.table.oid, tid, &mut self.fetched, &mut self.row, cx)? {
            return Ok(false);
        }
        // Expressions see whole values; without any, large unchanged ones stay where they are.
        if !self.checks.is_empty()
            || !self.generated.is_empty()
            || self.conflict.is_some()
            || !self.view_checks.is_empty()
            || self.indexed.is_none()
        {
            for value in &mut self.row {
                if let Datum::Toasted(_) = value {
                    *value = heap::detoast(&cx.access, self.heap.desc.toast.as_ref(), value)
                        .map_err(crate::error::heap)?;
                }
            }
        }
        Ok(true)
    }

    /// The values of UPDATE's row for the version in `self.row`, from the source's row.
    fn assign(&mut self) {
        for (i, number) in self.columns.iter().enumerate() {
            self.row[*number as usize - 1] = self.source_row[i].clone();
        }
    }

    fn write_update(&mut self, tid: Tid, old: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Step> {
        let width = self.table.columns.len();
        let unchanged = match &self.indexed {
            Some(columns) => columns.iter().all(|c| old[*c] == self.row[*c]),
            None => self.indexes.is_empty(),
        };
        let heap = &self.heap;
        let values = &self.row[..width];
        let outcome = cx
            .with_writer(|access, writer| {
                heap::update(access, heap, writer, tid, values, unchanged, !unchanged)
            })?
            .map_err(crate::error::heap)?;
        match outcome {
            UpdateOutcome::Refused(refusal) => Ok(Step::Refused(refusal)),
            UpdateOutcome::Updated { tid, hot } => {
                if !hot {
                    for index in &self.indexes {
                        index.insert(&self.table, &self.heap, &self.row, tid, cx)?;
                    }
                }
                self.finish_row(tid, cx);
                self.check_views(cx)?;
                Ok(Step::Done)
            }
        }
    }

    fn finish_row(&mut self, tid: Tid, cx: &mut Cx<'_>) {
        let width = self.table.columns.len();
        self.row.truncate(width);
        self.row.push(tid_datum(tid));
        self.row.push(Datum::Oid(cx.xid.get().0 as u32));
        self.row.extend([
            Datum::Oid(cx.command.0),
            Datum::Oid(0),
            Datum::Oid(cx.command.0),
            Datum::Oid(self.table.oid.0),
        ]);
        cx.processed += 1;
    }

    /// RETURNING: its own row of the row just changed.
    fn returned_row(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(returning) = &mut self.returning else { return Ok(()) };
        if self.versions {
            let width = self.table.columns.len() + SYSTEM.len();
            let missing = || std::iter::repeat_n(Datum::Null, width);
            let changed = self.row.clone();
            match self.command {
                // What was deleted is the row before.
                Command::Delete => {
                    self.row.extend(changed);
                    self.row.extend(missing());
                }
                _ if self.old.is_empty() => {
                    self.row.extend(missing());
                    self.row.extend(changed);
                }
                _ => {
                    self.row.append(&mut self.old);
                    self.row.extend(changed);
                }
            }
        }
        for value in &mut self.row {
            if let Datum::Toasted(_) = value {
                *value = heap::detoast(&cx.access, self.heap.desc.toast.as_ref(), value)
                    .map_err(crate::error::heap)?;
            }
        }
        returning.project(Rows { outer: &self.row, inner: &self.source_row }, cx)
    }

    fn source_tid(&self) -> SqlResult<Tid> {
        datum_tid(&self.source_row[self.columns.len()]).ok_or_else(|| SqlError::internal("ctid is NULL"))
    }

    /// UPDATE or DELETE of the row that the source names; false if it is not there any more.
    fn change(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let mut tid = self.source_tid()?;
        loop {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let step = if self.command == Command::Update {
                if !self.fetch_old(tid, cx)? {
                    return Ok(false);
                }
                let old = self.row.clone();
                self.assign();
                self.check_row(cx)?;
                let step = self.write_update(tid, &old, cx)?;
                self.old = old;
                step
            } else {
                if self.returning.is_some() && !self.fetch_old(tid, cx)? {
                    return Ok(false);
                }
                let heap = &self.heap;
                let outcome = cx
                    .with_writer(|access, writer| heap::delete(access, heap, writer, tid))?
                    .map_err(crate::error::heap)?;
                match outcome {
                    DeleteOutcome::Deleted => {
                        cx.processed += 1;
                        Step::Done
                    }
                    DeleteOutcome::Refused(refusal) => Step::Refused(refusal),
                }
            };
            let refusal = match step {
                Step::Done => return Ok(true),
                Step::Refused(refusal) => refusal,
            };
            match recheck::after_refusal(
                &self.heap,
                tid,
                refusal,
                heap::LockStrength::Update,
                plan::RowLockWait::Block,
                cx,
            )? {
                Newest::Gone | Newest::SelfModified | Newest::Skipped => return Ok(false),
                Newest::Locked(newest) if newest == tid => {}
                Newest::Locked(newest) => {
                    match recheck::run_again(self.rel, &self.heap, self.table.oid, newest, cx)? {
                        None => return Ok(false),
                        Some(row) => {
                            self.source_row = row;
                            tid = newest;
                        }
                    }
                }
            }
        }
    }
}

/// What became of one attempt.
enum Step {
    Done,
    Refused(Refusal),
}

impl Node for ModifyNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.source.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            self.source_row.clear();
            self.source_row.extend_from_slice(self.source.row());
            let written = if self.command == Command::Insert { self.insert(cx)? } else { self.change(cx)? };
            if !written {
                continue;
            }
            if self.returning.is_some() {
                self.returned_row(cx)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.returning.as_ref().map_or(&[], |r| r.row())
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.source.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.source.close(cx);
    }
}

/// `Failing row contains (1, null, …).`
pub fn failing_row(table: &Table, row: &[Datum], cx: &Cx<'_>) -> SqlResult<String> {
    const MOST: usize = 64;
    let mut parts = Vec::new();
    for (column, value) in table.columns.iter().zip(row).filter(|(c, _)| !c.dropped) {
        if value.is_null() {
            parts.push("null".to_string());
            continue;
        }
        let mut text = Vec::new();
        types::output(
            column.type_oid,
            value,
            &cx.call(&[], column.type_oid, column.collation, false),
            &mut text,
        )?;
        let text = String::from_utf8_lossy(&text).into_owned();
        match text.char_indices().nth(MOST) {
            Some((at, _)) => parts.push(format!("{}...", &text[..at])),
            None => parts.push(text),
        }
    }
    Ok(format!("Failing row contains ({}).", parts.join(", ")))
}
