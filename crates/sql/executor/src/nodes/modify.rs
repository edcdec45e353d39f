//! INSERT, UPDATE, DELETE and MERGE (`merge`), where they set off triggers (`fire`), where triggers do it all (`instead`), where rows of an INSERT are stored together (`batch`) or those of a DELETE deleted together (`together`), and what policies and views demand of rows (`check`).
//!
//! A row that another transaction changed meanwhile is waited for; under READ COMMITTED the newest version is then locked and
//! the conditions are checked against it again, under REPEATABLE READ the statement fails (40001).
//!
//! The target of the statement may stand for an inheritance tree: then each row's `tableoid` says which table it is of. Expressions
//! of the statement are over the target's columns, those of a table (`modify_target`) over its own.

mod batch;
mod check;
mod fire;
mod instead;
mod merge;
mod together;

use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid, sql_err};
use catalog::TriggerKind;
use catalog::view::{RelationKind, Table};
use counters::Change;
use eval::code::{Code, Rows, passes};
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use eval::node::datum_tid;
use eval::trigger::{Event, TableTriggers};
use eval::turn::Turn;
use heap::{DeleteOutcome, HeapTuple, LockStrength};
use plan::explain::Detail;
use plan::{CheckKind, Command, Expr, Function, Modify, Node as PlanNode, ParamId, Plan, RelId};
use tuple::Datum;
use types::Volatility;

use super::modify_target::{SYSTEM, Step, Target, with_row};
use super::{BoxNode, Builder, Node, Projection};
use crate::index::IndexWriter;
use crate::partition::{PartitionChecker, Router};
use crate::recheck::{self, Given, Newest, Reference};
use batch::Batch;
pub use batch::has_effects;
use check::RowChecks;
use merge::Arms;
use together::Doomed;

/// A modification node.
pub fn build<'p>(builder: &mut Builder<'p>, plan: &'p Plan, modify: &'p Modify) -> SqlResult<BoxNode> {
    modify.check_published()?;
    let raw = raw_row(modify.rel, &modify.table, 0);
    let width = modify.table.columns.len() + SYSTEM.len();
    let versions: Vec<RawRow> = (modify.versions.iter().enumerate())
        .filter_map(|(i, rel)| rel.map(|rel| raw_row(rel, &modify.table, (i + 1) * width)))
        .collect();
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
    let returning_inputs =
        Inputs { raw: Some(&raw), inner: &foreign, versions: &versions, ..Inputs::default() };
    let has_returning = !modify.returning.is_empty();
    let returning = builder.projection(plan, returning_inputs)?;
    let conflict =
        modify.on_conflict.as_ref().map(|c| conflict(builder, c, &raw).map(Rc::new)).transpose()?;
    let compiler = builder.compiler();
    let arms = match &modify.merge {
        Some(merge) => Some(Rc::new(Arms::new(&compiler, modify, merge, returning_inputs)?)),
        None => None,
    };
    let row_checks = RowChecks::new(&compiler, &modify.row_checks, Inputs::scan(&raw))?;
    let over_row = Inputs::scan(&raw);
    let router = modify.routing.as_ref().map(|r| Router::new(&compiler, r, over_row)).transpose()?;
    let partition = modify.partition.iter().map(|p| PartitionChecker::new(&compiler, p, over_row));
    let partition = partition.collect::<SqlResult<Vec<_>>>()?;
    let targets = modify.targets.iter().map(|t| Ok(Rc::new(Target::new(builder, t)?)));
    let targets = targets.collect::<SqlResult<Vec<_>>>()?;
    let others = recheck::references(builder.statement, &modify.source.output, &[modify.rel]);
    builder.chooses =
        matches!(modify.source.node, PlanNode::SeqScan { .. }) && builder.reads_many(&modify.source);
    let source = builder.build(&modify.source)?;
    let statement_triggers = TableTriggers::new(&modify.table).map(Rc::new);
    let batch = Batch::of(builder, modify, (&targets, statement_triggers.as_deref()));
    Ok(Box::new(ModifyNode {
        begins_with_a_row: begins_with_a_row(builder, modify, statement_triggers.as_deref()),
        statement_triggers,
        begun: false,
        ended: false,
        assigned: modify.columns.clone(),
        command: modify.command,
        rel: modify.rel,
        columns: modify.columns.clone(),
        root: modify.table.clone(),
        is_instead: modify.table.kind == RelationKind::View,
        targets,
        at: 0,
        old_at: 0,
        router,
        partition,
        batch,
        doomed: Doomed::default(),
        source,
        others,
        source_row: Vec::new(),
        returning: has_returning.then_some(returning),
        conflict,
        row_checks,
        versions: !versions.is_empty(),
        arms,
        pending: None,
        did: modify.command,
        fetched: HeapTuple::new(),
        old: Vec::new(),
        row: Vec::new(),
        root_row: Vec::new(),
    }))
}

/// Whether nothing that an UPDATE or DELETE does before it changes its first row could be seen.
fn begins_with_a_row(builder: &Builder<'_>, modify: &Modify, triggers: Option<&TableTriggers>) -> bool {
    let event = match modify.command {
        Command::Update => Event::Update,
        Command::Delete => Event::Delete,
        _ => return false,
    };
    // Who waits for a row is told that it has gone to another partition.
    let in_partitions = modify.table.partitioning.is_some() || modify.table.partition_of.is_valid();
    builder.statement.subplans.is_empty()
        && !in_partitions
        && !triggers.is_some_and(|triggers| triggers.has(TriggerKind::BEFORE, event))
        && is_unnoticed(&modify.source)
}

/// Whether it does not matter to anybody that a plan runs.
fn is_unnoticed(plan: &Plan) -> bool {
    let may_act =
        |function: &Function| function.user().is_some() || function.volatility() == Volatility::Volatile;
    let mut unnoticed = !matches!(plan.node, PlanNode::LockRows { .. });
    plan.for_exprs(&mut |expr| unnoticed = unnoticed && !expr.calls(&may_act));
    plan.for_children(&mut |child| unnoticed = unnoticed && is_unnoticed(child));
    unnoticed
}

/// The layout of a row of the statement's target that begins at `start`.
fn raw_row(rel: RelId, table: &Table, start: usize) -> RawRow {
    RawRow { rel, upto: table.columns.len(), system: SYSTEM.to_vec(), start }
}

fn conflict(builder: &Builder<'_>, conflict: &plan::OnConflict, raw: &RawRow) -> SqlResult<Conflict> {
    if conflict.unsettled {
        return Err(plan::arbiter::no_arbiter());
    }
    let excluded = RawRow { rel: conflict.excluded, ..raw.clone() };
    let inputs = Inputs { raw: Some(raw), inner_raw: Some(&excluded), ..Inputs::default() };
    let compiler = builder.compiler();
    let set = match &conflict.set {
        Some(set) => {
            let codes = set.iter().map(|(n, e)| Ok((*n, compiler.expr(e, inputs)?)));
            Some(codes.collect::<SqlResult<Vec<_>>>()?)
        }
        None => None,
    };
    let filter = compiler.list(&conflict.filter, inputs)?;
    let multi = compiler.list(&conflict.multi, inputs)?;
    Ok(Conflict { arbiters: conflict.arbiters.clone(), set, multi, filter })
}

struct Conflict {
    arbiters: Vec<Oid>,
    set: Option<Vec<(i16, Code)>>,
    /// Subqueries that set cells for `set`.
    multi: Box<[Code]>,
    filter: Box<[Code]>,
}

impl Conflict {
    /// Whether equal keys in the index are a conflict and not an error.
    fn arbitrates(&self, index: &IndexWriter) -> bool {
        self.arbiters.is_empty() || index.is_part_of(&self.arbiters)
    }
}

struct ModifyNode {
    command: Command,
    rel: RelId,
    columns: Vec<i16>,
    /// The statement's target.
    root: Arc<Table>,
    /// It is a view, whose triggers carry the changes out.
    is_instead: bool,
    targets: Vec<Rc<Target>>,
    /// Triggers of the statement's target, for the statement as a whole.
    statement_triggers: Option<Rc<TableTriggers>>,
    /// Nothing that the statement does before it changes its first row could be seen.
    begins_with_a_row: bool,
    /// BEFORE STATEMENT triggers have fired.
    begun: bool,
    /// AFTER STATEMENT triggers are queued.
    ended: bool,
    /// Columns that the present UPDATE of a row assigns to, as the statement's target numbers them.
    assigned: Vec<i16>,
    /// The target of the present row.
    at: usize,
    /// The target that the row was in before the change.
    old_at: usize,
    /// Finds the target of a new row.
    router: Option<Router>,
    /// Checks that rows may be in the statement's target, a partition.
    partition: Vec<PartitionChecker>,
    /// Rows to be stored together, where that is allowed.
    batch: Option<Batch>,
    /// Rows to be deleted together, where that is allowed.
    doomed: Doomed,
    source: BoxNode,
    /// Tables that the source joins to the target.
    others: Vec<Reference>,
    source_row: Vec<Datum>,
    returning: Option<Projection>,
    conflict: Option<Rc<Conflict>>,
    /// What policies and WITH CHECK OPTION demand of rows.
    row_checks: RowChecks,
    /// RETURNING names OLD or NEW.
    versions: bool,
    /// What MERGE does.
    arms: Option<Rc<Arms>>,
    /// A row that MERGE still has to process before the next one of the source.
    pending: Option<Vec<Datum>>,
    /// How the last row was written: INSERT, UPDATE or DELETE.
    did: Command,
    fetched: HeapTuple,
    /// The row before the change, system columns behind; empty if there was none.
    old: Vec<Datum>,
    /// The row last written, or the one deleted, system columns behind, as its table has it.
    row: Vec<Datum>,
    /// The same as the statement's target has it, where that differs.
    root_row: Vec<Datum>,
}

impl ModifyNode {
    /// Behind the last row.
    fn end(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.ended {
            self.ended = true;
            self.after_statement(cx)?;
        }
        Ok(false)
    }

    fn insert(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if let Some(router) = &self.router {
            self.at = router.route(&self.source_row, cx)?;
        }
        self.old_at = self.at;
        let target = self.targets[self.at].clone();
        target.take_root(&self.source_row, &mut self.row);
        if !self.before_insert(&target, cx)? {
            return Ok(false);
        }
        self.check_row(&target, CheckKind::Insert, cx)?;
        self.check_partition(&target, cx)?;
        match self.conflict.clone() {
            Some(conflict) => self.insert_or_resolve(&target, &conflict, cx),
            None => self.insert_row(&target, None, cx),
        }
    }

    /// Writes the row in `self.row`; false if there is an ON CONFLICT clause and another row has got one of its keys meanwhile.
    fn insert_row(
        &mut self,
        target: &Target,
        conflict: Option<&Conflict>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        let arbitrates = |index: &IndexWriter| conflict.is_some_and(|conflict| conflict.arbitrates(index));
        if !target.insert(&mut self.row, arbitrates, cx)? {
            return Ok(false);
        }
        self.old.clear();
        self.did = Command::Insert;
        self.after_row(target, Event::Insert, None, cx)?;
        self.check_views(target, cx)?;
        Ok(true)
    }

    /// Whether the new row may be in the statement's target.
    fn check_partition(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<()> {
        if self.partition.is_empty() {
            return Ok(());
        }
        let row = target.to_root(&self.row, &mut self.root_row);
        for check in &self.partition {
            if !check.holds(row, cx)? {
                let name = &self.root.name;
                let error = sql_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{name}\" violates partition constraint"
                );
                let error = error.table(self.root.schema_name.as_str(), name.as_str());
                return Err(with_row(error, &self.root, row, cx)?);
            }
        }
        Ok(())
    }

    /// The other partition that the new row of an UPDATE belongs to, if it may not stay where it is.
    fn moves_to(&mut self, target: &Target, cx: &mut Cx<'_>) -> SqlResult<Option<usize>> {
        let Some(router) = &self.router else { return Ok(None) };
        let row = target.to_root(&self.row, &mut self.root_row);
        let at = router.route(row, cx)?;
        Ok((self.targets[at].table.oid != target.table.oid).then_some(at))
    }

    /// Puts the new row of an UPDATE into another partition. The old row is deleted here; no other transaction has locked it.
    fn move_row(
        &mut self,
        target: &Target,
        (tid, old): (Tid, &mut [Datum]),
        to: usize,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Step> {
        if let Some(step) = self.before_delete(target, tid, old, cx)? {
            return Ok(step);
        }
        let heap = &target.heap;
        let outcome = cx
            .with_writer(heap, |access, writer| heap::move_away(access, heap, writer, tid))?
            .map_err(eval::error::heap)?;
        if let DeleteOutcome::Refused(refusal) = outcome {
            return Ok(Step::Refused(refusal));
        }
        self.after_leaving(target, (tid, old), cx)?;
        target.detoast(&mut self.row, cx)?;
        let row = target.to_root(&self.row, &mut self.root_row).to_vec();
        let next = self.targets[to].clone();
        next.take_root(&row, &mut self.row);
        self.at = to;
        if !self.before_insert(&next, cx)? {
            return Ok(Step::Skipped);
        }
        self.check_row(&next, CheckKind::Update, cx)?;
        next.insert(&mut self.row, |_| false, cx)?;
        self.queue_row(&next, Event::Insert, None, cx)?;
        self.after_move((target, &next), (tid, old), cx)?;
        Ok(Step::Done)
    }

    /// RETURNING: its own row of the row just changed.
    fn returned_row(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(returning) = &mut self.returning else { return Ok(()) };
        if self.is_instead {
            let rows = match self.versions {
                true => versions(self.did, &self.old, &self.row),
                false => self.row.clone(),
            };
            return returning.project(Rows { outer: &rows, inner: &self.source_row }, cx);
        }
        let target = &self.targets[self.at];
        target.detoast(&mut self.row, cx)?;
        if !self.versions {
            let row = target.to_root(&self.row, &mut self.root_row);
            return returning.project(Rows { outer: row, inner: &self.source_row }, cx);
        }
        let before = &self.targets[self.old_at];
        before.detoast(&mut self.old, cx)?;
        let row = target.to_root(&self.row, &mut self.root_row).to_vec();
        let old = match self.old.is_empty() {
            true => &[],
            false => before.to_root(&self.old, &mut self.root_row),
        };
        let rows = versions(self.did, old, &row);
        returning.project(Rows { outer: &rows, inner: &self.source_row }, cx)
    }

    /// INSERT … ON CONFLICT: looks for a row with one of the keys, and does what is to be done with it, or inserts; until one of the two is
    /// done, whatever others do meanwhile. Whether a row was written.
    fn insert_or_resolve(
        &mut self,
        target: &Target,
        conflict: &Conflict,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        if conflict.set.is_some() {
            target.check_published()?;
        }
        let proposed = self.row.clone();
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let found = target.find_conflict(|index| conflict.arbitrates(index), &self.row, cx)?;
            match (found, &conflict.set) {
                (None, _) => {
                    if self.insert_row(target, Some(conflict), cx)? {
                        cx.tell(|before| conflicts(before, [1, 0, 0]));
                        return Ok(true);
                    }
                }
                (Some(tid), None) => {
                    recheck::must_see(&target.heap, tid, cx)?;
                    cx.tell(|before| conflicts(before, [0, 1, 0]));
                    return Ok(false);
                }
                (Some(tid), Some(set)) => {
                    let done = self.update_instead(target, tid, &proposed, (conflict, set), cx)?;
                    if let Some(written) = done {
                        cx.tell(|before| conflicts(before, [0, 1, u64::from(!written)]));
                        return Ok(written);
                    }
                }
            }
            self.row.clone_from(&proposed);
        }
    }

    /// DO UPDATE of the row at `tid`: whether it was written, or the condition is against it; `None` if it has changed meanwhile.
    fn update_instead(
        &mut self,
        target: &Target,
        tid: Tid,
        proposed: &[Datum],
        (conflict, set): (&Conflict, &[(i16, Code)]),
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<bool>> {
        let strength = target.update_strength(set.iter().map(|(number, _)| *number))?;
        if !recheck::lock_conflicting(target.rows(), tid, strength, cx)? {
            return Ok(None);
        }
        recheck::must_see(&target.heap, tid, cx)?;
        if !target.fetch(tid, true, &mut self.fetched, &mut self.row, cx)? {
            return Ok(None);
        }
        let mut old = self.row.clone();
        let excluded = target.to_root(proposed, &mut self.root_row).to_vec();
        let rows = Rows { outer: target.to_root(&old, &mut self.root_row), inner: &excluded };
        if !passes(&conflict.filter, rows, cx)? {
            return Ok(Some(false));
        }
        self.row_checks.check(&self.root.name, rows.outer, CheckKind::Conflict, cx)?;
        for code in &conflict.multi {
            code.eval(rows, cx)?;
        }
        for (number, code) in set {
            let value = code.eval(rows, cx)?;
            self.row[target.place(*number)?] = value;
        }
        self.assigned = set.iter().map(|(number, _)| *number).collect();
        match self.before_update(target, tid, &mut old, cx)? {
            None => {}
            Some(Step::Refused(_)) => return Ok(None),
            Some(_) => return Ok(Some(false)),
        }
        self.check_row(target, CheckKind::Update, cx)?;
        self.check_partition(target, cx)?;
        if self.moves_to(target, cx)?.is_some() {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "invalid ON UPDATE specification")
                .detail("The result tuple would appear in a different partition than the original tuple."));
        }
        match target.update(tid, &old, &mut self.row, cx)? {
            Step::Done => {
                self.after_row(target, Event::Update, Some((tid, &old)), cx)?;
                self.old = old;
                self.did = Command::Update;
                self.check_views(target, cx)?;
                Ok(Some(true))
            }
            Step::Refused(_) | Step::Skipped => Ok(None),
        }
    }

    /// The values of UPDATE's row for the version in `self.row`, from the source's row.
    fn assign(&mut self, target: &Target) -> SqlResult<()> {
        for (i, number) in self.columns.iter().enumerate() {
            self.row[target.place(*number)?] = self.source_row[i].clone();
        }
        Ok(())
    }

    fn source_tid(&self) -> SqlResult<Tid> {
        datum_tid(&self.source_row[self.columns.len()]).ok_or_else(|| SqlError::internal("ctid is NULL"))
    }

    /// Finds the table of the source's row.
    fn choose_target(&mut self) -> SqlResult<()> {
        if let [only] = self.targets.as_slice()
            && only.rel == self.rel
        {
            return Ok(());
        }
        let Some(Datum::Oid(oid)) = self.source_row.get(self.columns.len() + 1) else {
            return Err(SqlError::internal("tableoid is NULL"));
        };
        let of = |target: &Rc<Target>| target.table.oid == Oid(*oid);
        if !self.targets.get(self.at).is_some_and(of) {
            let found = self.targets.iter().position(of);
            self.at = found.ok_or_else(|| SqlError::internal(format!("relation {oid} is no target")))?;
        }
        Ok(())
    }

    /// Replaces the version at `tid`, which was `old`, by the row in `self.row`, in another partition if it belongs there.
    fn update(&mut self, target: &Target, tid: Tid, mut old: Vec<Datum>, cx: &mut Cx<'_>) -> SqlResult<Step> {
        if let Some(step) = self.before_update(target, tid, &mut old, cx)? {
            return Ok(step);
        }
        let step = match self.moves_to(target, cx)? {
            Some(to) => self.move_row(target, (tid, &mut old), to, cx)?,
            None => {
                self.check_row(target, CheckKind::Update, cx)?;
                self.check_partition(target, cx)?;
                let step = target.update(tid, &old, &mut self.row, cx)?;
                if matches!(step, Step::Done) {
                    self.after_row(target, Event::Update, Some((tid, &old)), cx)?;
                }
                step
            }
        };
        self.old = old;
        if matches!(step, Step::Done) {
            self.did = Command::Update;
            let target = self.targets[self.at].clone();
            self.check_views(&target, cx)?;
        }
        Ok(step)
    }

    /// Deletes the version at `tid`, which is in `self.row` if anything asks for it.
    fn delete(&mut self, target: &Target, tid: Tid, cx: &mut Cx<'_>) -> SqlResult<Step> {
        let mut old = if self.keeps_old(target, Event::Delete) { self.row.clone() } else { Vec::new() };
        if let Some(step) = self.before_delete(target, tid, &mut old, cx)? {
            return Ok(step);
        }
        let heap = &target.heap;
        let outcome = cx
            .with_writer(heap, |access, writer| heap::delete(access, heap, writer, tid))?
            .map_err(eval::error::heap)?;
        Ok(match outcome {
            DeleteOutcome::Deleted => {
                cx.count_change(target.table.oid, Change::Delete(1));
                cx.state.processed += 1;
                self.did = Command::Delete;
                self.after_row(target, Event::Delete, Some((tid, &old)), cx)?;
                Step::Done
            }
            DeleteOutcome::Refused(refusal) => Step::Refused(refusal),
        })
    }

    /// The version at `tid` for the target, and for other tables the rows that the present row of the source names.
    fn given<'a>(&'a self, target: &'a Target, tid: Tid) -> Vec<Given<'a>> {
        let newest = Given { rel: target.rel, heap: &target.heap, table: target.table.oid, tid: Some(tid) };
        let others = self.others.iter().map(|reference| reference.of(&self.source_row));
        std::iter::once(newest).chain(others).collect()
    }

    /// The lock that the row needs before it is changed.
    fn strength(&self, target: &Target) -> SqlResult<LockStrength> {
        match self.command {
            Command::Update => target.update_strength(self.columns.iter().copied()),
            _ => Ok(LockStrength::Update),
        }
    }

    /// Whether many transactions wait for the version at `tid`, which is neither locked nor changed.
    #[cold]
    fn is_crowded(&mut self, target: &Target, tid: Tid, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !recheck::is_crowded(target.rows(), tid, self.strength(target)?, cx) {
            return Ok(false);
        }
        let is_there = heap::fetch_version(&cx.env.access, &target.heap, tid, &mut self.fetched);
        let free = |tuple: heap::TupleRef<'_>| !tuple.xmax().is_valid();
        Ok(is_there.map_err(eval::error::heap)? && self.fetched.get().is_some_and(free))
    }

    /// UPDATE or DELETE of the row that the source names; false if it is not there any more.
    fn change(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.choose_target()?;
        self.old_at = self.at;
        let target = self.targets[self.at].clone();
        let mut tid = self.source_tid()?;
        recheck::must_be_kept(&target.heap, tid, cx)?;
        let turn = cx.state.turn.begin();
        if turn != Turn::default() && self.begins_with_a_row {
            recheck::come_in_turn(target.rows(), tid, (turn, self.strength(&target)?), cx)?;
        }
        let may_be_crowded = cx.env.access.txns.locks().may_be_crowded();
        let mut crowded = may_be_crowded && self.is_crowded(&target, tid, cx)?;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if std::mem::take(&mut crowded) {
                let strength = self.strength(&target)?;
                let newest = recheck::after_crowd(target.rows(), tid, strength, cx)?;
                let Some(locked) = self.go_on(&target, tid, newest, cx)? else { return Ok(false) };
                tid = locked;
            }
            let step = if self.command == Command::Update {
                let whole = self.row_checks.any;
                if !target.fetch(tid, whole, &mut self.fetched, &mut self.row, cx)? {
                    return Ok(false);
                }
                let old = self.row.clone();
                self.assign(&target)?;
                self.update(&target, tid, old, cx)?
            } else {
                let wanted = self.returning.is_some() || self.keeps_old(&target, Event::Delete);
                if wanted && !target.fetch(tid, false, &mut self.fetched, &mut self.row, cx)? {
                    return Ok(false);
                }
                self.delete(&target, tid, cx)?
            };
            let refusal = match step {
                Step::Done => return Ok(true),
                Step::Skipped => return Ok(false),
                Step::Refused(refusal) => refusal,
            };
            fire::check_triggered(refusal, self.command, cx)?;
            let strength = self.strength(&target)?;
            let wait = plan::RowLockWait::Block;
            let newest = recheck::after_refusal(target.rows(), tid, refusal, strength, wait, cx)?;
            let Some(locked) = self.go_on(&target, tid, newest, cx)? else { return Ok(false) };
            tid = locked;
        }
    }

    /// The version to change, once what was waited for is known: if it is another one than that at `tid`, the source's row is made from it. `None` if there
    /// is none to change any more.
    fn go_on(
        &mut self,
        target: &Target,
        tid: Tid,
        newest: Newest,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<Tid>> {
        let newest = match newest {
            Newest::Gone | Newest::SelfModified | Newest::Skipped => return Ok(None),
            Newest::Locked(newest) => newest,
        };
        if newest != tid {
            let given = self.given(target, newest);
            let Some(row) = recheck::run_again(self.rel, &given, cx)? else { return Ok(None) };
            self.source_row = row;
        }
        Ok(Some(newest))
    }
}

/// A row, and the rows before and after its change. What was deleted is the row before.
fn versions(did: Command, old: &[Datum], row: &[Datum]) -> Vec<Datum> {
    let missing = vec![Datum::Null; row.len()];
    let (before, after) = match did {
        Command::Delete => (row, missing.as_slice()),
        _ if old.is_empty() => (missing.as_slice(), row),
        _ => (old, row),
    };
    [row, before, after].concat()
}

/// EXPLAIN's counts of rows inserted, in conflict, and in conflict but not updated.
fn conflicts(before: Detail, more: [u64; 3]) -> Detail {
    let old = match before {
        Detail::Conflicts { inserted, conflicting, filtered } => [inserted, conflicting, filtered],
        _ => [0; 3],
    };
    let [inserted, conflicting, filtered] = std::array::from_fn(|i| old[i] + more[i]);
    Detail::Conflicts { inserted, conflicting, filtered }
}

impl Node for ModifyNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.begun {
            self.begun = true;
            self.before_statement(cx)?;
        }
        if cx.state.load.ends {
            self.store_batch(cx)?;
            return Ok(false);
        }
        if self.batch.is_some() {
            if !self.ended {
                self.insert_batches(cx)?;
            }
            return self.end(cx);
        }
        let deletes_together = self.deletes_together(cx);
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if deletes_together && self.doomed.begun {
                self.delete_together(cx)?;
                return self.end(cx);
            }
            if let Some(row) = self.pending.take() {
                self.source_row = row;
            } else {
                if !self.source.next(cx)? {
                    return self.end(cx);
                }
                self.source_row.clear();
                self.source_row.extend_from_slice(self.source.row());
            }
            self.doomed.begun = true;
            let written = match self.command {
                Command::Merge => self.merge_counted(cx)?,
                _ if self.is_instead => self.instead(cx)?,
                Command::Insert => self.insert(cx)?,
                _ => self.change(cx)?,
            };
            if !written {
                continue;
            }
            if self.returning.is_some() {
                self.returned_row(cx)?;
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.returning.as_ref().map_or(&[], |r| r.row())
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        (self.begun, self.ended) = (false, false);
        self.doomed = Doomed::default();
        if let Some(batch) = &mut self.batch {
            batch.restart();
        }
        self.source.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.source.close(cx);
    }
}
