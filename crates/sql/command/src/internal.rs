//! # What
//! Statements that utility statements run for themselves: the query of COPY, the checks of ALTER TABLE.

use std::sync::Arc;

use analyze::{ParamTypes, Query, RteKind, walk};
use base::{Oid, SqlResult, sql_err};
use eval::cx::{Env, Load};
use eval::trigger::Events;
use executor::run::{Execution, Prepared, Progress, StoredRows};
use parse::Statement;
use session::{Session, Source};
use tuple::Datum;
use types::Call;

/// A planned statement of this session's own.
pub(crate) struct Internal {
    prepared: Arc<Prepared>,
    execution: Execution,
}

impl Internal {
    /// Analyses and plans a statement of `text`, for which rules do not count, with parameters of these types, and takes its locks.
    pub(crate) fn new(
        session: &Session,
        statement: &Statement,
        text: &str,
        params: &[Oid],
    ) -> SqlResult<Internal> {
        Internal::changed(session, statement, text, params, |_| ())
    }

    /// The same of a query that a user wrote, whose rows `what` takes: rules may put another query in its place, and no more.
    pub(crate) fn of_user(
        session: &Session,
        statement: &Statement,
        text: &str,
        what: &str,
    ) -> SqlResult<Internal> {
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let analyze = || {
            let analyzed = analyze::analyze_statement(statement, text, ParamTypes::None, session, &call)?;
            analyzed.as_one().map_err(|rules| match rules {
                analyze::rewrite::NOTIFY => {
                    sql_err!(FEATURE_NOT_SUPPORTED, "{what} query must not be a utility command")
                }
                rules => sql_err!(FEATURE_NOT_SUPPORTED, "{rules} are not supported for {what}"),
            })
        };
        Ok(Internal::analyzed(session, analyze)?.0)
    }

    /// The same of a statement that is not the user's but looks after tables: row security hides nothing from it.
    pub(crate) fn unsecured(
        session: &Session,
        statement: &Statement,
        text: &str,
        params: &[Oid],
    ) -> SqlResult<Internal> {
        Internal::changed(session, statement, text, params, unsecure)
    }

    /// The same of a statement whose query is changed before it is planned.
    fn changed(
        session: &Session,
        statement: &Statement,
        text: &str,
        params: &[Oid],
        change: impl Fn(&mut Query),
    ) -> SqlResult<Internal> {
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let types = if params.is_empty() { ParamTypes::None } else { ParamTypes::Fixed(params.to_vec()) };
        let analyze = || {
            let mut analyzed = analyze::analyze_beyond_rules(statement, text, types.clone(), session, &call)?;
            change(&mut analyzed.query);
            Ok(analyzed)
        };
        Ok(Internal::analyzed(session, analyze)?.0)
    }

    /// Analyses and plans a statement and takes its locks, once more if others have changed definitions before it had them.
    pub(crate) fn analyzed(
        session: &Session,
        analyze: impl Fn() -> SqlResult<analyze::Analyzed>,
    ) -> SqlResult<(Internal, analyze::Analyzed)> {
        session.settled(|| {
            let analyzed = analyze()?;
            let internal = Internal::planned(session, &analyzed)?;
            let locks = internal.prepared.statement.locks.clone();
            Ok(((internal, analyzed), locks))
        })
    }

    /// Plans an analysed statement, and takes its locks. What it names is locked already.
    pub(crate) fn planned(session: &Session, analyzed: &analyze::Analyzed) -> SqlResult<Internal> {
        let prepared = session.with_planner(session, |context| Prepared::plan(analyzed, context))?;
        Internal::of(session, prepared)
    }

    /// A statement that was planned before.
    pub(crate) fn of(session: &Session, prepared: Arc<Prepared>) -> SqlResult<Internal> {
        session.refuse_writes(&prepared.statement)?;
        session.lock_relations(&prepared.statement)?;
        let execution = Execution::new(&prepared)?;
        Ok(Internal { prepared, execution })
    }

    /// The plan.
    pub(crate) fn prepared(&self) -> &Arc<Prepared> {
        &self.prepared
    }

    /// Makes it a bulk load, which [takes](Internal::load) row after row: triggers for statements do not fire, and what is to fire after rows is given by
    /// [`Internal::take_events`].
    pub(crate) fn begin_load(&mut self) -> SqlResult<()> {
        self.execution = Execution::loading(&self.prepared)?;
        Ok(())
    }

    /// Takes the row that these parameters are, from this line of the input. Returns how many rows were stored meanwhile.
    pub(crate) fn load(&mut self, session: &Session, params: &[Datum], line: u64) -> SqlResult<u64> {
        let done = self.with_env(session, |execution, env| execution.load(env, params, line))?;
        Ok(done.processed)
    }

    /// Stores the rows that were taken and not stored yet. Returns their number.
    pub(crate) fn end_load(&mut self, session: &Session) -> SqlResult<u64> {
        Ok(self.with_env(session, |execution, env| execution.end_load(env))?.processed)
    }

    /// How the load stands.
    pub(crate) fn load_state(&self) -> Load {
        self.execution.load_state()
    }

    /// What is to fire after the rows of the runs until now.
    pub(crate) fn take_events(&mut self) -> Events {
        self.execution.take_events()
    }

    /// Columns of the result.
    pub(crate) fn columns(&self) -> &[plan::ResultColumn] {
        &self.prepared.statement.result
    }

    /// Whether it changes rows.
    pub(crate) fn modifies(&self) -> bool {
        self.prepared.statement.modifies
    }

    /// Runs it under a snapshot of now.
    pub(crate) fn run(
        &mut self,
        session: &Session,
        params: &[Datum],
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        self.with_env(session, |execution, env| execution.run(env, params, each))
    }

    /// The same where its rows go to a table.
    pub(crate) fn run_into(
        &mut self,
        session: &Session,
        params: &[Datum],
        table: &mut dyn StoredRows,
    ) -> SqlResult<Progress> {
        self.with_env(session, |execution, env| execution.run_into(env, params, table))
    }

    fn with_env(
        &mut self,
        session: &Session,
        f: impl FnOnce(&mut Execution, &Env<'_>) -> SqlResult<Progress>,
    ) -> SqlResult<Progress> {
        let (snapshot, command) = {
            let mut txn = session.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        session.with_env(&snapshot, command, |env| f(&mut self.execution, env))
    }

    /// The same, of a query that a user wrote: it counts as a statement within the one that runs it.
    pub(crate) fn run_written(
        &mut self,
        session: &Session,
        (source, params): (&Source, &[Datum]),
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        self.watched(session, (source, params), |execution, env| execution.run(env, params, each))
    }

    /// The same where its rows go to a table.
    pub(crate) fn run_written_into(
        &mut self,
        session: &Session,
        (source, params): (&Source, &[Datum]),
        table: &mut dyn StoredRows,
    ) -> SqlResult<Progress> {
        self.watched(session, (source, params), |execution, env| execution.run_into(env, params, table))
    }

    fn watched(
        &mut self,
        session: &Session,
        written: (&Source, &[Datum]),
        f: impl FnOnce(&mut Execution, &Env<'_>) -> SqlResult<Progress>,
    ) -> SqlResult<Progress> {
        let (snapshot, command) = {
            let mut txn = session.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        session.watch_within(written, &mut self.execution, |execution| {
            session.with_env(&snapshot, command, |env| f(execution, env))
        })
    }
}

/// Takes row security from the tables in FROM of a query, and of what stands there.
pub(crate) fn unsecure(query: &mut Query) {
    for entry in &mut query.range_table {
        match &mut entry.kind {
            RteKind::Relation(relation) if relation.table.row_security.is_some() => {
                Arc::make_mut(&mut relation.table).row_security = None;
            }
            RteKind::Subquery(sub) => unsecure(&mut sub.query),
            _ => {}
        }
    }
    let Ok(()) = walk::subqueries_mut::<std::convert::Infallible>(query, &mut |query| {
        unsecure(query);
        Ok(())
    });
}

/// Runs SQL text of our own making; true if it returned a row.
pub(crate) fn finds_row(session: &Session, statement: &Statement, text: &str) -> SqlResult<bool> {
    let mut found = false;
    Internal::unsecured(session, statement, text, &[])?.run(session, &[], &mut |_| {
        found = true;
        Ok(())
    })?;
    Ok(found)
}
