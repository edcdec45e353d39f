//! Rows of one INSERT that are stored together.
//!
//! Where nothing can tell whether a row of the statement is stored before the next one is computed, rows are kept until there are some hundreds. Then they go to the table, all that fit on a page
//! under one latch and with one log record, and after that into its indexes. What a row is refused for comes after all that rows before it are refused for, as if each had been stored at once:
//! before an error in computing a row is reported, those before it are stored.
//!
//! Functions with effects may look at the table, so that none may be called, whether for a row or by a BEFORE trigger; but those that only draw a value ([`DRAWS`]) may. What RETURNING gives,
//! what ON CONFLICT decides and where partitions change is settled row by row.

use base::{SqlResult, Tid};
use catalog::TriggerKind;
use catalog::view::RelationKind;
use eval::cx::Cx;
use eval::spill::row_bytes;
use eval::trigger::Event;
use heap::FormedRows;
use plan::{Command, Expr, Function, Modify, Node as PlanNode, TargetTable};
use tuple::Datum;

use super::super::lock_rows::calls;
use super::super::modify_target::{KeptRows, Target};
use super::{Builder, ModifyNode};

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
    /// Values of rows that indexes or triggers want to know of, one row behind the other.
    values: Vec<Datum>,
    count: usize,
    bytes: usize,
    /// Rows of which nobody wants to know the values: they are formed as they come.
    formed: FormedRows,
    /// Where they are, once they are stored.
    tids: Vec<Tid>,
}

impl Batch {
    /// A batch for a statement whose rows may be stored together.
    pub fn of(builder: &Builder<'_>, modify: &Modify, target: &Target) -> Option<Batch> {
        may_batch(builder, modify, target).then(Batch::default)
    }

    fn keep(&mut self, row: &mut Vec<Datum>, width: usize) {
        row.truncate(width);
        self.bytes += row_bytes(row);
        self.count += 1;
        self.values.append(row);
    }

    fn is_full(&self) -> bool {
        self.count >= MOST_ROWS || self.bytes + self.formed.bytes() >= MOST_BYTES
    }

    fn is_empty(&self) -> bool {
        self.count + self.formed.count() == 0
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.values.clear();
        (self.count, self.bytes) = (0, 0);
        self.formed.clear();
    }
}

fn may_batch(builder: &Builder<'_>, modify: &Modify, target: &Target) -> bool {
    let [table] = modify.targets.as_slice() else { return false };
    let one_row = matches!(modify.source.node, PlanNode::Result { child: None, .. });
    let before = TriggerKind::ROW | TriggerKind::BEFORE;
    modify.command == Command::Insert
        && !one_row
        && modify.table.kind != RelationKind::View
        && modify.on_conflict.is_none()
        && modify.routing.is_none()
        && modify.returning.is_empty()
        && modify.view_checks.is_empty()
        && !target.triggers.as_ref().is_some_and(|triggers| triggers.has(before, Event::Insert))
        && !target.indexes.iter().any(|index| index.is_deferrable())
        && !may_look(builder, modify, table)
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
fn may_look(builder: &Builder<'_>, modify: &Modify, table: &TargetTable) -> bool {
    let has = has_effects;
    table.checks.iter().any(|(_, expr)| has(expr))
        || table.generated.iter().chain(&table.required).any(|(_, expr)| has(expr))
        || table.indexes.iter().any(|index| index.columns.iter().chain(&index.predicate).any(has))
        || builder.statement.subplans.iter().any(|sub| calls(&sub.plan, &does_more))
        || calls(&modify.source, &does_more)
}

impl ModifyNode {
    /// INSERT whose rows are stored together: reads and stores all of them.
    pub(super) fn insert_batches(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            match self.keep_next(cx) {
                Ok(true) if self.batch.as_ref().is_some_and(|batch| !batch.is_full()) => {}
                Ok(more) => {
                    self.store_batch(cx)?;
                    if !more {
                        return Ok(());
                    }
                }
                Err(error) => {
                    // What rows before this one are refused for comes first.
                    self.store_batch(cx)?;
                    return Err(error);
                }
            }
        }
    }

    /// Checks and keeps the next row; false if there is none.
    fn keep_next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.source.next(cx)? {
            return Ok(false);
        }
        let Some(mut batch) = self.batch.take() else { return Ok(false) };
        let kept = self.check_and_keep(&mut batch, cx);
        self.batch = Some(batch);
        kept.map(|()| true)
    }

    fn check_and_keep(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) -> SqlResult<()> {
        let target = self.targets[self.at].clone();
        let (width, values_wanted) = (target.width(), self.wants_values(&target));
        if !values_wanted && self.partition.is_empty() && target.takes_rows_as_they_are() {
            let row = &self.source.row()[..width];
            if !target.misses_value(row) {
                return target.form(row, &mut batch.formed, cx);
            }
        }
        target.take_root(self.source.row(), &mut self.row);
        target.check_row(&self.root, &mut self.row, cx)?;
        self.check_partition(&target, cx)?;
        if values_wanted {
            batch.keep(&mut self.row, width);
            return Ok(());
        }
        target.form(&self.row[..width], &mut batch.formed, cx)
    }

    /// Whether the values of a row are asked for once it is stored.
    fn wants_values(&self, target: &Target) -> bool {
        !target.indexes.is_empty() || self.tells_of_rows(target, Event::Insert)
    }

    /// Stores the rows that are kept.
    fn store_batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(mut batch) = self.batch.take() else { return Ok(()) };
        let done = if batch.is_empty() { Ok(()) } else { self.store(&mut batch, cx) };
        batch.clear();
        self.batch = Some(batch);
        done
    }

    fn store(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) -> SqlResult<()> {
        let target = self.targets[self.at].clone();
        if batch.formed.count() > 0 {
            return target.insert_formed(&mut batch.formed, &mut batch.tids, cx);
        }
        let rows = KeptRows { values: &batch.values, count: batch.count, width: target.width() };
        target.insert_batch(rows, &mut batch.tids, cx)?;
        if !self.tells_of_rows(&target, Event::Insert) {
            return Ok(());
        }
        for (row, tid) in rows.iter().zip(&batch.tids) {
            self.row.clear();
            self.row.extend_from_slice(row);
            target.set_system(&mut self.row, *tid, cx);
            self.after_row(&target, Event::Insert, None, cx)?;
        }
        Ok(())
    }
}
