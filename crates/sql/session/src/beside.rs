//! # What
//! Statements of which rules made several queries ([`analyze::ByRules`]).
//!
//! One of the queries is the statement's plan, as that of any other statement: it tells what the statement did, and returns its rows. The others
//! are [`Beside`] it, with the plan wherever that is kept. Whoever runs such a plan does what stands before it, runs it to its end, keeps its rows,
//! and does what stands after it: portals, and statements in functions. EXPLAIN shows all.
//!
//! # Invariants
//! 1. All queries have one snapshot, and each sees what those before it did.
//! 2. A statement whose tables have no rules has nothing beside it, and looks at that once a run.
//!
//! # PostgreSQL counterpart
//! `PortalRunMulti` of `tcop/pquery.c`.

use std::sync::Arc;

use analyze::{Analyzed, Notify, RuleAction};
use base::SqlResult;
use executor::run::{Execution, Prepared};
use parse::fingerprint::Fingerprint;
use tuple::Datum;
use txn::Snapshot;

use super::Session;
use super::statement::SharedPlan;
use crate::output::{Output, RowEncoder};

/// What is done beside a statement's plan.
pub(crate) struct Beside {
    /// The plan is a stand-in, which does nothing.
    pub(crate) replaced: bool,
    pub(crate) before: Box<[Task]>,
    pub(crate) after: Box<[Task]>,
}

/// A statement's plan, and what is done beside it.
pub(crate) type Plans = (Arc<Prepared>, Option<Box<Beside>>);

/// One thing of these.
pub(crate) enum Task {
    Plan(Arc<Prepared>),
    Notify(Notify),
}

impl Beside {
    /// Everything, in order.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.before.iter().chain(&self.after)
    }

    /// All plans.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &Arc<Prepared>> {
        self.tasks().filter_map(|task| match task {
            Task::Plan(prepared) => Some(prepared),
            Task::Notify(_) => None,
        })
    }
}

/// Plans a statement, and what is done beside it.
pub(super) fn plan(
    analyzed: &Analyzed,
    fingerprint: Arc<Fingerprint>,
    context: &plan::Context<'_>,
) -> SqlResult<Plans> {
    let prepared = Prepared::with_fingerprint(analyzed, fingerprint, context)?;
    let Some(rules) = &analyzed.rules else { return Ok((prepared, None)) };
    let task = |action: &RuleAction| match action {
        RuleAction::Notify(notify) => Ok(Task::Notify(notify.clone())),
        RuleAction::Query(query) => {
            let (query, params) = ((**query).clone(), analyzed.params.clone());
            Prepared::plan(&Analyzed { query, params, rules: None }, context).map(Task::Plan)
        }
    };
    let tasks = |actions: &[RuleAction]| actions.iter().map(task).collect::<SqlResult<Box<[Task]>>>();
    let (before, after) = (tasks(&rules.before)?, tasks(&rules.after)?);
    Ok((prepared, Some(Box::new(Beside { replaced: rules.replaced, before, after }))))
}

impl SharedPlan {
    /// The statement's plan, and those beside it.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &Arc<Prepared>> {
        std::iter::once(&self.prepared).chain(self.beside.iter().flat_map(|beside| beside.plans()))
    }
}

impl Session {
    /// Does what stands before or after a statement's plan. `told`: a client that looks at rows which it has not asked for.
    pub(crate) fn run_tasks(
        &self,
        tasks: &[Task],
        params: &[Datum],
        snapshot: &Snapshot,
        mut told: Option<&mut dyn Output>,
    ) -> SqlResult<()> {
        for task in tasks {
            self.see_changes()?;
            match (task, &mut told) {
                (Task::Notify(notify), _) => {
                    self.notify(&notify.channel, notify.payload.as_deref().unwrap_or_default())?;
                }
                (Task::Plan(prepared), Some(out)) if !prepared.statement.result.is_empty() => {
                    self.show_rows(prepared, params, snapshot, *out)?;
                }
                (Task::Plan(prepared), _) => self.run_task(prepared, params, snapshot, &mut |_| Ok(()))?,
            }
        }
        Ok(())
    }

    fn run_task(
        &self,
        prepared: &Arc<Prepared>,
        params: &[Datum],
        snapshot: &Snapshot,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut execution = Execution::obtain(prepared)?;
        execution.start(params);
        let command = self.txn.borrow().current_command();
        let done = self.with_env(snapshot, command, |env| execution.fetch(env, 0, each));
        execution.keep();
        done.map(drop)
    }

    fn show_rows(
        &self,
        prepared: &Arc<Prepared>,
        params: &[Datum],
        snapshot: &Snapshot,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let columns = self.result_columns(&prepared.statement.result)?;
        out.row_description(&columns, &[])?;
        let context = self.format();
        self.notices.lend(out, |out| {
            let encoder = RowEncoder { columns: &columns, formats: &[], context: &context, session: self };
            self.run_task(prepared, params, snapshot, &mut |row| out.borrow_mut().data_row(&encoder, row))
        })
    }
}
