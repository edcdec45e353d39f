//! Rows of one INSERT that are stored together.
//!
//! Where nothing can tell whether a row of the statement is stored before the next one is computed, rows are kept until there are some hundreds. Then they go to the table, all that fit on a page
//! under one latch and with one log record, and after that into its indexes. What a row is refused for comes after all that rows before it are refused for, as if each had been stored at once:
//! before an error in computing a row is reported, those before it are stored.
//!
//! Functions with effects may look at the table, so that none may be called, whether for a row or by a BEFORE trigger; but those that only draw a value ([`DRAWS`]) may. What RETURNING gives
//! and what ON CONFLICT decides is settled row by row. So are rows of several partitions where one of them could refuse a row, or triggers want to know of rows in their order.
//!
//! A bulk load (COPY FROM) gives its rows one in a run ([`eval::cx::Load`]), and they stay from one run to the next. As in PostgreSQL functions of constraints, indexes and generated columns do not see the
//! rows before then, rows of one partition go together, and what is wrong with a row itself is told before those that wait are stored.

use std::rc::Rc;

use base::{SqlResult, Tid};
use catalog::TriggerKind;
use catalog::view::RelationKind;
use eval::cx::Cx;
use eval::node::Stored;
use eval::spill::row_bytes;
use eval::trigger::{Event, TableTriggers};
use heap::{FormedRows, InsertOptions, TupleRef};
use plan::{Command, Expr, Function, Modify, Node as PlanNode, TargetTable};
use tuple::Datum;

use super::super::lock_rows::calls;
use super::super::modify_target::{KeptRows, Target};
use super::{Builder, ModifyNode};
use crate::index::IndexWriter;

/// Most rows that are stored together.
const MOST_ROWS: usize = 1000;
/// Bytes of rows from which on no more are kept.
const MOST_BYTES: usize = 128 * 1024;

/// Built-in functions that have an effect, or give another value each time, but know nothing of tables.
const DRAWS: [&str; 7] =
    ["nextval", "random", "random_normal", "gen_random_uuid", "uuidv4", "uuidv7", "clock_timestamp"];

/// Rows that are to be stored.
#[derive(Default)]
pub(super) struct Batch {
    /// Of a bulk load.
    loading: bool,
    /// The rows, by target.
    kept: Vec<Kept>,
    /// Targets that have or had rows, in the order in which they got the first.
    order: Vec<usize>,
    /// Rows of which there are values.
    count: usize,
    bytes: usize,
    /// Where the rows of a target are, once they are stored.
    tids: Vec<Tid>,
}

/// Rows of one target.
#[derive(Default)]
struct Kept {
    /// It is among those that have or had rows.
    listed: bool,
    /// Values of rows that indexes or triggers want to know of, one row behind the other.
    values: Vec<Datum>,
    /// How many of these.
    count: usize,
    /// Rows of which nobody wants to know the values: they are formed as they come.
    formed: FormedRows,
    /// The line of each row, of a load.
    lines: Vec<u64>,
}

impl Batch {
    /// A batch for a statement whose rows may be stored together.
    pub fn of(
        builder: &Builder<'_>,
        modify: &Modify,
        (targets, triggers): (&[Rc<Target>], Option<&TableTriggers>),
    ) -> Option<Batch> {
        if !may_batch(builder, modify, targets, triggers) {
            return None;
        }
        let kept = targets.iter().map(|_| Kept::default()).collect();
        Some(Batch { loading: builder.loading, kept, ..Batch::default() })
    }

    /// The place for a row of this target.
    fn of_target(&mut self, at: usize, line: u64) -> &mut Kept {
        let kept = &mut self.kept[at];
        if !std::mem::replace(&mut kept.listed, true) {
            self.order.push(at);
        }
        if self.loading {
            kept.lines.push(line);
        }
        kept
    }

    /// Keeps the values of a row.
    fn keep(&mut self, at: usize, line: u64, row: &mut Vec<Datum>) {
        self.bytes += row_bytes(row);
        self.count += 1;
        let kept = self.of_target(at, line);
        kept.count += 1;
        kept.values.append(row);
    }

    /// Keeps a row whose values nobody asks for any more.
    fn form(
        &mut self,
        at: usize,
        (target, line): (&Target, u64),
        row: &[Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        let kept = self.of_target(at, line);
        let before = kept.formed.bytes();
        target.form(row, &mut kept.formed, cx)?;
        self.bytes += self.kept[at].formed.bytes() - before;
        Ok(())
    }

    /// Keeps a row as it is stored elsewhere.
    fn copy(&mut self, at: usize, row: &TupleRef<'_>) {
        self.bytes += row.bytes().len();
        self.of_target(at, 0).formed.add_stored(row, InsertOptions::default());
    }

    fn is_full(&self) -> bool {
        self.count >= MOST_ROWS || self.bytes >= MOST_BYTES
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Another run begins.
    pub fn restart(&mut self) {
        if !self.loading {
            self.clear();
        }
    }

    /// Forgets all rows.
    fn clear(&mut self) {
        for at in &self.order {
            let kept = &mut self.kept[*at];
            kept.values.clear();
            kept.count = 0;
            kept.formed.clear();
            kept.lines.clear();
        }
        (self.count, self.bytes) = (0, 0);
    }
}

fn may_batch(
    builder: &Builder<'_>,
    modify: &Modify,
    targets: &[Rc<Target>],
    triggers: Option<&TableTriggers>,
) -> bool {
    let loading = builder.loading;
    let one_row = matches!(modify.source.node, PlanNode::Result { child: None, .. });
    let transitions = triggers.is_some_and(|triggers| triggers.transitions(Event::Insert) != [false; 2]);
    let fires = |target: &Rc<Target>, asked: &dyn Fn(&TableTriggers) -> bool| {
        target.triggers.as_ref().is_some_and(asked)
    };
    let before = TriggerKind::ROW | TriggerKind::BEFORE;
    let fires_before = |target: &Rc<Target>| fires(target, &|all| all.has(before, Event::Insert));
    let fires_after = |target: &Rc<Target>| fires(target, &|all| all.after_rows(Event::Insert));
    let refuses = |target: &Rc<Target>| target.indexes.iter().any(IndexWriter::may_refuse);
    let in_any_order =
        || !transitions && (loading || !targets.iter().any(|target| refuses(target) || fires_after(target)));
    modify.command == Command::Insert
        && (loading || !one_row)
        && modify.table.kind != RelationKind::View
        && modify.on_conflict.is_none()
        && (modify.routing.is_none() || in_any_order())
        && modify.returning.is_empty()
        && modify.row_checks.is_empty()
        && !targets.iter().any(fires_before)
        && !targets.iter().flat_map(|target| &target.indexes).any(IndexWriter::is_deferrable)
        && !may_look(builder, modify)
}

/// Whether computing it may call a function that could look at the table between two rows.
pub fn has_effects(expr: &Expr) -> bool {
    expr.calls_volatile(&does_more)
}

/// Of volatile functions: whether it may do more than draw a value.
fn does_more(function: &Function) -> bool {
    function.user().is_some() || !DRAWS.contains(&function.name())
}

/// Whether a function may be called that could look at the table between two rows.
fn may_look(builder: &Builder<'_>, modify: &Modify) -> bool {
    let has = has_effects;
    let for_stored = |table: &TargetTable| {
        table.checks.iter().any(|(_, expr)| has(expr))
            || table.generated.iter().chain(&table.required).any(|(_, expr)| has(expr))
            || table.indexes.iter().any(|index| index.columns.iter().chain(&index.predicate).any(has))
    };
    builder.statement.subplans.iter().any(|sub| calls(&sub.plan, &does_more))
        || calls(&modify.source, &does_more)
        || !builder.loading && modify.targets.iter().any(for_stored)
}

impl ModifyNode {
    /// INSERT whose rows are stored together: reads and stores all of them. Those of a load's run are read, and stored if they are many by now.
    pub(super) fn insert_batches(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(Batch { loading, .. }) = self.batch else { return Ok(()) };
        let copies = self.copies_rows();
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            match if copies { self.copy_next(cx) } else { self.keep_next(cx) } {
                Ok(more) => {
                    if !more && !loading || self.batch.as_ref().is_some_and(Batch::is_full) {
                        self.store_batch(cx)?;
                    }
                    if !more {
                        return Ok(());
                    }
                }
                Err(error) if loading => return Err(error),
                Err(error) => {
                    // What rows before this one are refused for comes first.
                    self.store_batch(cx)?;
                    return Err(error);
                }
            }
        }
    }

    /// Whether rows of the source can go to the table as they are stored elsewhere.
    fn copies_rows(&self) -> bool {
        let [target] = self.targets.as_slice() else { return false };
        self.router.is_none()
            && self.partition.is_empty()
            && target.takes_rows_as_they_are()
            && !self.wants_values(target)
            && self.source.stored_layout().is_some_and(|layout| target.stores_alike(layout))
    }

    /// Keeps the next row of a source whose rows can be taken as they are stored; false if there is none.
    fn copy_next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let target = self.targets[self.at].clone();
        let Some(mut batch) = self.batch.take() else { return Ok(false) };
        let taken = match self.source.next_stored(cx) {
            Ok(Stored::Row(row)) => target
                .check_stored(&row, &mut self.row, cx)
                .map(|()| batch.copy(self.at, &row))
                .map(|()| true),
            Ok(Stored::Values) => self.check_and_keep(&mut batch, cx).map(|()| true),
            Ok(Stored::End) => Ok(false),
            Err(error) => Err(error),
        };
        self.batch = Some(batch);
        taken
    }

    /// Checks and keeps the next row; false if there is none.
    fn keep_next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.source.next(cx)? {
            return Ok(false);
        }
        if let Some(router) = &self.router {
            self.at = router.route(self.source.row(), cx)?;
        }
        let Some(mut batch) = self.batch.take() else { return Ok(false) };
        let kept = self.check_and_keep(&mut batch, cx);
        self.batch = Some(batch);
        cx.state.load.taken = true;
        kept.map(|()| true)
    }

    fn check_and_keep(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) -> SqlResult<()> {
        let target = self.targets[self.at].clone();
        let (width, values_wanted) = (target.width(), self.wants_values(&target));
        let line = cx.state.load.line;
        if !values_wanted && self.partition.is_empty() && target.takes_rows_as_they_are() {
            let row = &self.source.row()[..width];
            if !target.misses_value(row) {
                return batch.form(self.at, (&target, line), row, cx);
            }
        }
        target.take_root(self.source.row(), &mut self.row);
        target.check_row(&self.root, &mut self.row, cx)?;
        self.check_partition(&target, cx)?;
        if !values_wanted {
            return batch.form(self.at, (&target, line), &self.row[..width], cx);
        }
        self.row.truncate(width);
        batch.keep(self.at, line, &mut self.row);
        Ok(())
    }

    /// Whether the values of a row are asked for once it is stored.
    fn wants_values(&self, target: &Target) -> bool {
        !target.indexes.is_empty() || self.tells_of_rows(target, Event::Insert)
    }

    /// Stores the rows that are kept.
    pub(super) fn store_batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(mut batch) = self.batch.take() else { return Ok(()) };
        let mut done = Ok(());
        if !batch.is_empty() {
            for at in batch.order.clone() {
                done = self.store(at, &mut batch, cx);
                if done.is_err() {
                    break;
                }
            }
        }
        batch.clear();
        self.batch = Some(batch);
        done
    }

    /// Stores the rows of one target.
    fn store(&mut self, at: usize, batch: &mut Batch, cx: &mut Cx<'_>) -> SqlResult<()> {
        let target = self.targets[at].clone();
        let Batch { kept, tids, .. } = batch;
        let kept = &mut kept[at];
        cx.state.load.entering = 0;
        let rows = KeptRows { values: &kept.values, count: kept.count, width: target.width() };
        let stored = match (kept.count, kept.formed.count()) {
            (0, 0) => Ok(()),
            (0, _) => target.insert_formed(&mut kept.formed, tids, cx),
            _ => self.store_values(&target, rows, tids, cx),
        };
        if stored.is_err() {
            cx.state.load.refused = kept.lines.get(cx.state.load.entering).copied();
        }
        stored
    }

    fn store_values(
        &mut self,
        target: &Target,
        rows: KeptRows<'_>,
        tids: &mut Vec<Tid>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        target.insert_batch(rows, tids, cx)?;
        if !self.tells_of_rows(target, Event::Insert) {
            return Ok(());
        }
        for (number, (row, tid)) in rows.iter().zip(&*tids).enumerate() {
            cx.state.load.entering = number;
            self.row.clear();
            self.row.extend_from_slice(row);
            target.set_system(&mut self.row, *tid, cx);
            self.after_row(target, Event::Insert, None, cx)?;
        }
        Ok(())
    }
}
