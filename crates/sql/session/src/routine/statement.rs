//! Statements in the body of a function, for all languages.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use analyze::routine::{ReturnForm, ReturnType};
use analyze::variables::{Precedence, Variable, Variables};
use base::{CommandId, Oid, SqlError, SqlResult, SqlState};
use eval::row_store::{Place, RowStore};
use eval::trigger::Events;
use executor::run::{Execution, Progress};
use parse::RawStatement;
use tuple::Datum;
use txn::{LockMode, Snapshot};

use super::Invocation;
use crate::output::{Format, Output, RowEncoder};
use crate::{Body, Planned, Ran, Session, Source, Wanted, Watched};

/// A statement of a body. Its plan is kept between runs and shared by sessions where it can be.
#[derive(Clone)]
pub struct BodyStatement(Rc<Source>);

/// Names stand for columns only.
#[derive(Debug)]
struct NoVariables;

impl Variables for NoVariables {
    fn parameter(&self, _: i32) -> Option<(i32, Oid)> {
        None
    }
    fn find(&self, _: &[&str]) -> SqlResult<Option<Variable>> {
        Ok(None)
    }
    fn precedence(&self) -> Precedence {
        Precedence::Columns
    }
    fn types(&self) -> Vec<Oid> {
        Vec::new()
    }
    fn key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// What a statement does not return can tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Rows returned or changed.
    pub processed: u64,
    /// Command tag without counts.
    pub tag: Cow<'static, str>,
}

/// What a statement sees.
#[derive(Clone, Copy)]
pub enum Sees<'a> {
    /// Everything until now, the transaction's own changes included.
    Now,
    /// Everything that has committed until now, also where the transaction keeps its snapshot.
    Latest,
    /// What its caller sees; it may change nothing.
    Caller(&'a Snapshot, CommandId),
}

impl<'a> Invocation<'a> {
    /// What statements of the body see.
    pub fn sees(&self) -> Sees<'a> {
        match self.read_only() {
            true => Sees::Caller(self.snapshot, self.command),
            false => Sees::Now,
        }
    }
}

impl BodyStatement {
    /// A statement of a text; the last one says what the function returns, and whether it is a procedure.
    pub fn new(
        text: Arc<str>,
        raw: RawStatement,
        variables: Rc<dyn Variables>,
        returns: Option<(ReturnType, bool)>,
    ) -> BodyStatement {
        BodyStatement(Source::in_body(text, raw, Body { variables, returns }))
    }

    /// The one statement of a text, without parameters.
    ///
    /// # Errors
    /// The text is not one statement.
    pub fn of_text(text: &str) -> SqlResult<BodyStatement> {
        let read = crate::escapes_read(text).and_then(|read| parse::parse(&read));
        let mut raw = read.map_err(|error| super::within_body(error, text))?;
        let (Some(only), true) = (raw.pop(), raw.is_empty()) else {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "one statement was expected"));
        };
        Ok(BodyStatement::new(text.into(), only, Rc::new(NoVariables), None))
    }

    /// A statement that is stored analysed.
    pub fn stored(
        text: Arc<str>,
        variables: Rc<dyn Variables>,
        returns: Option<(ReturnType, bool)>,
    ) -> BodyStatement {
        BodyStatement(Source::stored(text, Body { variables, returns }))
    }

    /// Whether it is planned, and not a utility statement.
    pub fn is_query(&self) -> bool {
        self.0.work.is_query()
    }

    pub(crate) fn source(&self) -> &Rc<Source> {
        &self.0
    }
}

/// A query in a body that runs; its state tree goes back to the plan at the end.
pub(crate) struct Run {
    pub(crate) planned: Rc<Planned>,
    execution: Box<Execution>,
    snapshot: Snapshot,
    command: CommandId,
    watched: Option<Box<Watched>>,
    /// What it is of, if it is watched.
    of: Option<(Rc<Source>, Vec<Datum>)>,
    /// Where something is done beside it: what becomes of that.
    with: Option<Box<With>>,
}

/// A query with something beside it is carried out whole when its first rows are wanted.
struct With {
    params: Vec<Datum>,
    done: bool,
    rows: RowStore,
    place: Place,
    given: u64,
    processed: u64,
}

impl Run {
    /// Starts a query.
    pub(crate) fn start(
        session: &Session,
        statement: &BodyStatement,
        params: &[Datum],
        sees: Sees<'_>,
    ) -> SqlResult<Run> {
        Run::of_source(session, &statement.0, params, sees)
    }

    /// As [`Run::start`], of a statement that is in no body.
    pub(crate) fn of_source(
        session: &Session,
        source: &Rc<Source>,
        params: &[Datum],
        sees: Sees<'_>,
    ) -> SqlResult<Run> {
        if let Sees::Now | Sees::Latest = sees {
            session.see_changes()?;
        }
        let latest = matches!(sees, Sees::Latest);
        let planned =
            session.planning_for(latest, || session.plan_for(source, params, Wanted::Equivalent))?;
        let plan = &planned.shared.prepared.statement;
        if let Sees::Caller(..) = sees
            && (plan.modifies || planned.shared.plans().any(|prepared| prepared.statement.modifies))
        {
            let name = command_name(plan.command);
            return Err(not_in_read_only(name));
        }
        planned.shared.check_constants()?;
        session.check_permitted(&planned.shared)?;
        session.refuse_plan(&planned.shared)?;
        let watched = session.watch_run(&planned.shared.prepared);
        let mut execution = session.execution_for(&watched, &planned.shared.prepared)?;
        execution.start(params);
        let (snapshot, command) = match sees {
            Sees::Caller(snapshot, command) => (snapshot.clone(), command),
            Sees::Now => {
                let mut txn = session.txn.borrow_mut();
                (txn.statement_snapshot()?, txn.current_command())
            }
            Sees::Latest => {
                let txn = session.txn.borrow();
                (txn.system().snapshot(), txn.current_command())
            }
        };
        let of = watched.is_some().then(|| (source.clone(), params.to_vec()));
        let with = planned.shared.beside.as_ref().map(|_| Box::new(With::new(params)));
        Ok(Run { planned, execution, snapshot, command, watched, of, with })
    }

    /// Up to `limit` more rows (0: all). Gives how many rows there were, how many were changed, and whether that was the end.
    pub(crate) fn fetch(
        &mut self,
        session: &Session,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        if self.with.is_some() {
            return self.fetch_kept(session, limit, each);
        }
        self.fetch_plan(session, limit, each)
    }

    fn fetch_plan(
        &mut self,
        session: &Session,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        let Run { execution, snapshot, command, watched, .. } = self;
        session.watch_part(watched, || {
            session.with_env(snapshot, *command, |env| execution.fetch(env, limit, each))
        })
    }

    /// Rows of a query with something beside it.
    #[cold]
    fn fetch_kept(
        &mut self,
        session: &Session,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Progress> {
        let Some(mut with) = self.with.take() else { return Err(SqlError::internal("nothing is kept")) };
        if !std::mem::replace(&mut with.done, true) {
            self.carry_out(session, &mut with)?;
        }
        let from = with.given;
        let limit = if limit == 0 { u64::MAX } else { limit };
        let mut finished = false;
        while with.given - from < limit && !finished {
            match with.rows.get(&mut with.place, with.given)? {
                Some(row) => {
                    each(row)?;
                    with.given += 1;
                }
                None => finished = true,
            }
        }
        let progress = Progress { rows: with.given - from, processed: with.processed, finished };
        self.with = Some(with);
        Ok(progress)
    }

    /// Does everything, and keeps the rows.
    fn carry_out(&mut self, session: &Session, with: &mut With) -> SqlResult<()> {
        let planned = self.planned.clone();
        let Some(beside) = &planned.shared.beside else { return Ok(()) };
        let snapshot = self.snapshot.clone();
        session.run_tasks(&beside.before, &with.params, &snapshot, None)?;
        if beside.replaced {
            return Ok(());
        }
        session.see_changes()?;
        self.command = session.txn.borrow().current_command();
        let rows = &mut with.rows;
        let progress = self.fetch_plan(session, 0, &mut |row| session.keep_row(rows, row.to_vec()))?;
        with.processed = progress.processed;
        session.run_tasks(&beside.after, &with.params, &snapshot, None)
    }

    /// Makes it a part of the statement with these events; what it adds to them is given by [`Run::take_events`].
    pub(crate) fn within(&mut self, events: Events) {
        self.execution.within(events);
    }

    /// What is to fire after the rows that were changed.
    pub(crate) fn take_events(&mut self) -> Events {
        self.execution.take_events()
    }

    /// Whether it is more than a SELECT: rows of tables are changed, be it in a WITH.
    fn changes_rows(&self) -> bool {
        let shared = &self.planned.shared;
        let mut locks = shared.plans().flat_map(|prepared| &prepared.statement.locks);
        locks.any(|&(_, mode)| mode > LockMode::RowShare as u8)
    }

    /// What its rows are to the function whose last statement it is.
    pub(crate) fn form(&self) -> ReturnForm {
        self.planned.shared.form
    }

    /// Lets go of everything.
    pub(crate) fn end(mut self, session: &Session) {
        session.close_execution(&mut self.execution, (&self.snapshot, self.command));
        if let Some((source, params)) = &self.of {
            session.end_watch(self.watched.take(), &self.execution, &Ran { source, shown: None, params });
        }
        self.planned.give_back(self.execution);
    }
}

impl With {
    fn new(params: &[Datum]) -> With {
        let (rows, place) = (RowStore::default(), Place::default());
        With { params: params.to_vec(), done: false, rows, place, given: 0, processed: 0 }
    }
}

/// A statement in a body whose rows are taken a few at a time.
///
/// Unless it is a SELECT, the transaction may not be ended before it is dropped ([`Session::end_in_procedure`]).
pub struct Fetching<'a> {
    session: &'a Session,
    rows: Rows,
    is_select: bool,
}

enum Rows {
    /// Of a query that runs; none once it has ended.
    Running(Option<Run>),
    /// Of a utility statement, which was done at once.
    Kept(std::vec::IntoIter<Vec<Datum>>),
}

impl<'a> Fetching<'a> {
    /// Starts a query.
    pub fn start(
        session: &'a Session,
        statement: &BodyStatement,
        params: &[Datum],
        sees: Sees<'_>,
    ) -> SqlResult<Fetching<'a>> {
        if statement.is_query() {
            let run = Run::start(session, statement, params, sees)?;
            let is_select = !run.changes_rows();
            return Ok(Fetching::new(session, Rows::Running(Some(run)), is_select));
        }
        if session.columns_in_body(statement)?.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_DEFINITION,
                "cannot open non-SELECT query as cursor",
            ));
        }
        let mut kept = Vec::new();
        session.run_utility(statement, params, sees, &mut |row| {
            kept.push(row.to_vec());
            Ok(())
        })?;
        Ok(Fetching::new(session, Rows::Kept(kept.into_iter()), false))
    }

    fn new(session: &'a Session, rows: Rows, is_select: bool) -> Fetching<'a> {
        session.unendable.set(session.unendable.get() + u32::from(!is_select));
        Fetching { session, rows, is_select }
    }

    /// Up to `limit` more rows; false at the end.
    pub fn fetch(&mut self, limit: u64, each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>) -> SqlResult<bool> {
        match &mut self.rows {
            Rows::Running(Some(run)) => Ok(!run.fetch(self.session, limit, each)?.finished),
            Rows::Running(None) => Ok(false),
            Rows::Kept(rows) => {
                rows.by_ref().take(limit as usize).try_for_each(|row| each(&row))?;
                Ok(rows.len() > 0)
            }
        }
    }
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        let unendable = &self.session.unendable;
        unendable.set(unendable.get() - u32::from(!self.is_select));
        if let Rows::Running(run) = &mut self.rows
            && let Some(run) = run.take()
        {
            run.end(self.session);
        }
    }
}

/// 0A000 of a statement that changes something in a function that may not.
pub(crate) fn not_in_read_only(name: &str) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("{name} is not allowed in a non-volatile function"),
    )
}

pub(crate) fn command_name(command: plan::Command) -> &'static str {
    match command {
        plan::Command::Select => "SELECT",
        plan::Command::Insert => "INSERT",
        plan::Command::Update => "UPDATE",
        plan::Command::Delete => "DELETE",
        plan::Command::Merge => "MERGE",
    }
}

impl Session {
    /// Runs a statement of a body to its end, or until it has given `limit` rows (0: no limit).
    pub fn run_in_body(
        &self,
        statement: &BodyStatement,
        params: &[Datum],
        sees: Sees<'_>,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Done> {
        if !statement.is_query() {
            return self.run_utility(statement, params, sees, each);
        }
        let mut run = Run::start(self, statement, params, sees)?;
        let command = run.planned.shared.prepared.statement.command;
        // Changes are made to the end, whatever becomes of their rows.
        let changes = command != plan::Command::Select;
        let limit = if changes { 0 } else { limit };
        let progress = run.fetch(self, limit, each);
        run.end(self);
        let progress = progress?;
        let processed = if changes { progress.processed } else { progress.rows };
        Ok(Done { processed, tag: command_name(command).into() })
    }

    fn run_utility(
        &self,
        statement: &BodyStatement,
        params: &[Datum],
        sees: Sees<'_>,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<Done> {
        let source = statement.source();
        let crate::Work::Utility(raw) = &source.work else { return Ok(Done::default()) };
        if let Sees::Caller(..) = sees {
            let described = self.commands().describe(&raw.stmt);
            if !described.read_only {
                return Err(not_in_read_only(described.tag));
            }
        }
        if let Sees::Now | Sees::Latest = sees {
            self.see_changes()?;
        }
        let mut sink = Sink::new(self, each);
        let outside = self.in_routine.replace(true);
        let arguments = self.arguments_of(source, params);
        let outcome = self.watch_utility(source, raw, || {
            self.with_orders(|| self.commands().run(self, &raw.stmt, &source.text, &arguments, &mut sink))
        });
        self.in_routine.set(outside);
        let tag = outcome?;
        let words = tag.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let processed = tag[words.len()..].rsplit(' ').next().and_then(|n| n.parse().ok());
        Ok(Done { processed: processed.unwrap_or(sink.rows), tag: words.to_owned().into() })
    }
}

/// Takes the rows of a utility statement in a body; there is no client to send them to.
pub(super) struct Sink<'a> {
    session: &'a Session,
    each: &'a mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    rows: u64,
}

impl<'a> Sink<'a> {
    pub(super) fn new(session: &'a Session, each: &'a mut dyn FnMut(&[Datum]) -> SqlResult<()>) -> Sink<'a> {
        Sink { session, each, rows: 0 }
    }

    fn no_client<T>(&self) -> SqlResult<T> {
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in an SQL function"))
    }
}

impl Output for Sink<'_> {
    fn data_row(&mut self, _: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        self.rows += 1;
        (self.each)(row)
    }
    fn notice(&mut self, notice: &SqlError) {
        self.session.notice(notice.clone());
    }
    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        self.no_client()
    }
    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        self.no_client()
    }
    fn copy_out(&mut self, _: Format, _: usize) -> SqlResult<()> {
        self.no_client()
    }
    fn copy_out_data(&mut self, _: &[u8]) -> SqlResult<()> {
        self.no_client()
    }
    fn copy_out_done(&mut self) -> SqlResult<()> {
        self.no_client()
    }
}
