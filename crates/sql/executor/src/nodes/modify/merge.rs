//! MERGE: what is done with each row of source and target joined.
//!
//! A row of the target that another transaction changed meanwhile is locked and joined again with the same row of the source; whatever
//! it is then, matched or not, decides which arms are looked at from the first on. If it is gone, the row of the source has no match.

use base::{SqlError, SqlResult, Tid, sql_err};
use eval::code::{Code, Rows, passes};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use eval::node::datum_tid;
use plan::explain::Detail;
use plan::{CheckKind, Command, Expr, MergeMatch, Modify, ParamId};
use tuple::Datum;

use super::fire::check_triggered;
use super::{ModifyNode, SYSTEM, Step, Target};
use crate::recheck::{self, Newest};

/// The arms of a MERGE.
pub(super) struct Arms {
    list: Vec<Arm>,
    source_there: Option<usize>,
    cell: Option<ParamId>,
    /// Positions in the source's rows of columns that are not the target's.
    foreign: Vec<usize>,
}

pub(super) struct Arm {
    matched: MergeMatch,
    command: Option<Command>,
    condition: Box<[Code]>,
    multi: Box<[Code]>,
    set: Vec<(i16, Code)>,
}

impl Arms {
    /// Compiles them over the target's row and what the source's rows carry.
    pub(super) fn new(
        compiler: &Compiler<'_>,
        modify: &Modify,
        merge: &plan::Merge,
        inputs: Inputs<'_>,
    ) -> SqlResult<Arms> {
        let arm = |action: &plan::MergeAction| {
            Ok(Arm {
                matched: action.matched,
                command: action.command,
                condition: compiler.list(&action.condition, inputs)?,
                multi: compiler.list(&action.multi, inputs)?,
                set: action
                    .set
                    .iter()
                    .map(|(n, e)| Ok((*n, compiler.expr(e, inputs)?)))
                    .collect::<SqlResult<_>>()?,
            })
        };
        let list = merge.actions.iter().map(arm).collect::<SqlResult<_>>()?;
        let output = modify.source.output.iter().enumerate();
        let is_foreign = |e: &Expr| matches!(e, Expr::Var(v) if v.rel != modify.rel);
        let foreign = output.filter(|(_, e)| is_foreign(e)).map(|(place, _)| place).collect();
        Ok(Arms { list, source_there: merge.source_there, cell: merge.action_cell, foreign })
    }

    /// Columns that some arm for rows of the target sets.
    pub(super) fn updated(&self) -> impl Iterator<Item = i16> {
        let updates = self.list.iter().filter(|arm| arm.command == Some(Command::Update));
        updates.flat_map(|arm| arm.set.iter().map(|(number, _)| *number))
    }

    /// The first arm for such a row whose condition holds.
    pub(super) fn choose(
        &self,
        matched: MergeMatch,
        rows: Rows<'_>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<&Arm>> {
        for arm in self.list.iter().filter(|arm| arm.matched == matched) {
            if passes(&arm.condition, rows, cx)? {
                return Ok(Some(arm));
            }
        }
        Ok(None)
    }

    /// Whether any of them does this.
    pub(super) fn does(&self, command: Command) -> bool {
        self.list.iter().any(|arm| arm.command == Some(command))
    }

    /// Tells `merge_action()` what was done.
    pub(super) fn done(&self, command: Command, cx: &mut Cx<'_>) {
        cx.tell(|before| merged(before, Some(command)));
        if let Some(cell) = self.cell {
            let name = match command {
                Command::Insert => "INSERT",
                Command::Delete => "DELETE",
                _ => "UPDATE",
            };
            cx.set(cell, Datum::text(name));
        }
    }
}

impl Arm {
    /// What it does, if anything.
    pub(super) fn command(&self) -> Option<Command> {
        self.command
    }

    /// Columns and their new values.
    pub(super) fn values(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Vec<(i16, Datum)>> {
        for code in &self.multi {
            code.eval(rows, cx)?;
        }
        let value = |(n, code): &(i16, Code)| Ok((*n, code.eval(rows, cx)?));
        self.set.iter().map(value).collect()
    }
}

/// EXPLAIN's counts of what was done to rows, or not done.
fn merged(before: Detail, command: Option<Command>) -> Detail {
    let (mut inserted, mut updated, mut deleted, mut skipped) = match before {
        Detail::Merge { inserted, updated, deleted, skipped } => (inserted, updated, deleted, skipped),
        _ => (0, 0, 0, 0),
    };
    match command {
        Some(Command::Insert) => inserted += 1,
        Some(Command::Delete) => deleted += 1,
        Some(_) => updated += 1,
        None => skipped += 1,
    }
    Detail::Merge { inserted, updated, deleted, skipped }
}

fn twice() -> SqlError {
    sql_err!(CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
        .hint("Ensure that not more than one source row matches any one target row.")
}

impl ModifyNode {
    /// The present row of the source; whether a row of the target was written.
    fn merge(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(arms) = self.arms.clone() else { return Err(SqlError::internal("MERGE without arms")) };
        if let Some(tid) = datum_tid(&self.source_row[0]) {
            self.choose_target()?;
            self.old_at = self.at;
            let target = self.targets[self.at].clone();
            if let Some(written) = self.merge_matched(&arms, &target, tid, cx)? {
                return Ok(written);
            }
        }
        if !self.has_source(&arms) {
            return Ok(false);
        }
        self.merge_unmatched(&arms, cx)
    }

    /// As [`merge`](Self::merge); rows without an action are counted too.
    pub(super) fn merge_counted(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let written = if self.is_instead { self.instead(cx)? } else { self.merge(cx)? };
        if !written {
            cx.tell(|before| merged(before, None));
        }
        Ok(written)
    }

    pub(super) fn has_source(&self, arms: &Arms) -> bool {
        arms.source_there.is_none_or(|place| self.source_row[place] == Datum::Bool(true))
    }

    /// For a matching row of the target: whether it was written; `None` if it was deleted meanwhile.
    fn merge_matched(
        &mut self,
        arms: &Arms,
        target: &Target,
        tid: Tid,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<bool>> {
        let mut tid = tid;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !target.fetch(tid, true, &mut self.fetched, &mut self.row, cx)? {
                return Ok(None);
            }
            let matched = match self.has_source(arms) {
                true => MergeMatch::Matched,
                false => MergeMatch::NotMatchedBySource,
            };
            let old = self.row.clone();
            let rows = Rows { outer: target.to_root(&old, &mut self.root_row), inner: &self.source_row };
            let Some(arm) = arms.choose(matched, rows, cx)? else { return Ok(Some(false)) };
            let step = match arm.command {
                None => return Ok(Some(false)),
                Some(Command::Delete) => {
                    self.row_checks.check(&self.root.name, rows.outer, CheckKind::MergeDelete, cx)?;
                    self.delete(target, tid, cx)?
                }
                Some(_) => {
                    self.row_checks.check(&self.root.name, rows.outer, CheckKind::MergeUpdate, cx)?;
                    for (number, value) in arm.values(rows, cx)? {
                        self.row[target.place(number)?] = value;
                    }
                    self.assigned = arm.set.iter().map(|(number, _)| *number).collect();
                    self.update(target, tid, old, cx)?
                }
            };
            let refusal = match step {
                Step::Done => {
                    arms.done(self.did, cx);
                    return Ok(Some(true));
                }
                Step::Skipped => return Ok(Some(false)),
                Step::Refused(refusal) => refusal,
            };
            check_triggered(refusal, self.command, cx)?;
            let strength = target.update_strength(arms.updated())?;
            match recheck::after_refusal(target.rows(), tid, refusal, strength, plan::RowLockWait::Block, cx)?
            {
                Newest::SelfModified => return Err(twice()),
                Newest::Gone | Newest::Skipped => return Ok(None),
                Newest::Locked(newest) if newest == tid => {}
                Newest::Locked(newest) => match self.join_again(arms, target, newest, cx)? {
                    true => tid = newest,
                    false => return Ok(None),
                },
            }
        }
    }

    /// Joins the target's version at `tid` with the present row of the source; whether it is in the result. What else is in it is looked at
    /// next, or now if the version is not.
    fn join_again(&mut self, arms: &Arms, target: &Target, tid: Tid, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let (mut with, mut without) = (None, None);
        let mut sort = |row: &[Datum]| {
            let source_gone = arms.source_there.is_some_and(|place| row[place] != Datum::Bool(true));
            // Unless the source consists of tables alone, it also gives rows other than the current one.
            if source_gone || arms.foreign.iter().all(|&place| row[place] == self.source_row[place]) {
                let slot = if row[0].is_null() { &mut without } else { &mut with };
                slot.get_or_insert_with(|| row.to_vec());
            }
            with.is_none() || without.is_none()
        };
        recheck::run_again_each(self.rel, &self.given(target, tid), &mut sort, cx)?;
        match (with, without) {
            (Some(row), rest) => {
                self.source_row = row;
                self.pending = rest;
                Ok(true)
            }
            (None, Some(row)) => {
                self.source_row = row;
                Ok(false)
            }
            (None, None) => Ok(false),
        }
    }

    /// A row of the source without match.
    fn merge_unmatched(&mut self, arms: &Arms, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let none = vec![Datum::Null; self.root.columns.len() + SYSTEM.len()];
        let rows = Rows { outer: &none, inner: &self.source_row };
        let Some(arm) = arms.choose(MergeMatch::NotMatchedByTarget, rows, cx)? else { return Ok(false) };
        if arm.command.is_none() {
            return Ok(false);
        }
        let mut row = none.clone();
        for (number, value) in arm.values(rows, cx)? {
            row[number as usize - 1] = value;
        }
        self.at = match &self.router {
            Some(router) => router.route(&row, cx)?,
            None => {
                let root = self.targets.iter().position(|target| target.table.oid == self.root.oid);
                root.ok_or_else(|| SqlError::internal("the table that MERGE names is no target"))?
            }
        };
        self.old_at = self.at;
        let target = self.targets[self.at].clone();
        target.take_root(&row, &mut self.row);
        if !self.before_insert(&target, cx)? {
            return Ok(false);
        }
        self.check_row(&target, CheckKind::Insert, cx)?;
        self.check_partition(&target, cx)?;
        self.insert_row(&target, None, cx)?;
        arms.done(Command::Insert, cx);
        Ok(true)
    }
}
