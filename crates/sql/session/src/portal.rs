//! Running statements: a prepared statement with parameter values, and where its execution stands.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{CommandId, Oid, SqlError, SqlResult, SubxactId};
use eval::cx::Env;
use eval::node::Origin;
use eval::row_store::{Place, RowStore};
use eval::turn::{Queued, Turn};
use executor::nodes::OriginSink;
use executor::run::{Execution, Progress};
use smallvec::SmallVec;
use tuple::Datum;
use tuple::varlena::Compression;
use txn::{BlockState, LockMode, Snapshot};
use types::FormatContext;

use super::choice::Wanted;
use super::cursor::Cursor;
use super::statement::{Planned, Source, Work, lock_mode};
use super::{BackendState, Ran, Session, Watched};
use crate::output::{Column, Format, Formatted, Output, RowEncoder};

/// The values of a portal's parameters.
pub(crate) type Params = SmallVec<[Datum; 2]>;
/// The formats of a portal's columns, by the rule of the protocol.
pub(crate) type Formats = SmallVec<[Format; 16]>;

/// A statement ready to run, running, suspended at its row limit, or done.
pub(crate) struct Portal {
    pub(crate) source: Rc<Source>,
    params: Params,
    pub(crate) formats: Formats,
    state: State,
    /// The plan once it was asked for, with its relations locked until the portal ends.
    plan: RefCell<Option<Rc<Planned>>>,
    /// In which subtransaction, and when, it was made.
    pub(super) made: (SubxactId, i64),
    /// The client is shown rows that it could not know of: that of a Query message.
    pub(super) shows_all: bool,
    /// What the client sent, where that is not the text of the source.
    shown: Option<Arc<str>>,
    /// Made by DECLARE.
    pub(super) cursor: Option<Box<Cursor>>,
}

enum State {
    Ready,
    Suspended(Running),
    /// Carried out, with rows that are still to be sent.
    Stored(Box<Stored>),
    Done,
}

/// An execution that can go on.
struct Running {
    planned: Rc<Planned>,
    execution: Box<Execution>,
    snapshot: Snapshot,
    command: CommandId,
    watched: Option<Box<Watched>>,
}

/// The rows that a statement that writes has returned. A row limit is one of sending: the statement is carried out whole whatever the client fetches.
struct Stored {
    planned: Rc<Planned>,
    rows: RowStore,
    sent: u64,
    processed: u64,
}

impl Portal {
    pub(crate) fn new(source: Rc<Source>, params: Params, formats: Formats) -> Box<Portal> {
        let (plan, made) = (RefCell::default(), (SubxactId(0), 0));
        let state = State::Ready;
        let shows_all = false;
        Box::new(Portal { source, params, formats, state, plan, made, shows_all, shown: None, cursor: None })
    }

    /// One that the client sees as this text, with a plan whose relations are locked.
    pub(super) fn of_text(
        text: &str,
        source: Rc<Source>,
        params: Params,
        planned: Rc<Planned>,
    ) -> Box<Portal> {
        let mut portal = Portal::new(source, params, Formats::new());
        portal.plan = RefCell::new(Some(planned));
        portal.shown = Some(text.into());
        portal
    }

    /// The values of its parameters.
    pub(super) fn params(&self) -> &[Datum] {
        &self.params
    }

    /// Whether the row limit was reached before the last row.
    pub(crate) fn is_suspended(&self) -> bool {
        matches!(self.state, State::Suspended(_) | State::Stored(_))
    }

    /// Whether it is a cursor that outlived its transaction.
    pub(super) fn is_held(&self) -> bool {
        self.cursor.as_ref().is_some_and(|cursor| cursor.is_held())
    }

    /// Its plan, and the tables that its current row is of with the places of their rows; `None` if it does not run.
    pub(super) fn current(&self) -> Option<(Arc<plan::Statement>, Vec<Origin>)> {
        let State::Suspended(running) = &self.state else { return None };
        let statement = running.planned.shared.prepared.statement.clone();
        Some((statement, running.execution.origins()))
    }

    /// A run has ended.
    fn end_watch(&self, session: &Session, running: &mut Running) {
        let ran = Ran { source: &self.source, shown: self.shown.as_deref(), params: &self.params };
        session.end_watch(running.watched.take(), &running.execution, &ran);
    }

    /// Lets go of pins, files and memory; keeps the state tree for the plan's next run.
    pub(crate) fn close(&mut self, session: &Session) {
        if let State::Suspended(mut running) = std::mem::replace(&mut self.state, State::Done) {
            session.close_execution(&mut running.execution, (&running.snapshot, running.command));
            if session.txn.borrow().state() != BlockState::Failed {
                self.end_watch(session, &mut running);
            }
            running.give_back();
        }
    }
}

impl Session {
    /// Runs a portal to its end or to `max_rows` rows (0: all). Returns the command tag at the end.
    pub(super) fn run_portal(
        &self,
        portal: &mut Portal,
        max_rows: u32,
        out: &mut dyn Output,
    ) -> SqlResult<Option<Tag>> {
        let source = portal.source.clone();
        self.show_command(portal.shown.as_ref().unwrap_or(&source.text));
        match &source.work {
            Work::Empty => Ok(None),
            Work::Utility(raw) => {
                let out = &mut Formatted { formats: &portal.formats, out };
                let arguments = self.arguments_of(&source, &portal.params);
                let tag = self.watch_utility(&source, raw, || {
                    self.with_orders(|| self.commands().run(self, &raw.stmt, &source.text, &arguments, out))
                })?;
                portal.state = State::Done;
                Ok(Some(Tag::Text(tag)))
            }
            Work::Query(_) | Work::Stored if portal.cursor.is_some() => {
                Ok(self.execute_cursor(portal, max_rows, out)?.map(Tag::Text))
            }
            Work::Query(_) | Work::Stored => self.run_query(portal, max_rows, out),
        }
    }

    /// Tells `pg_stat_activity` that a command runs.
    fn show_command(&self, text: &Arc<str>) {
        let (now, transaction) = {
            let format = self.format.borrow();
            (format.statement_time, format.transaction_time)
        };
        match self.backend.begin_command(text, now, transaction) {
            (BackendState::Idle, _) => {}
            (BackendState::Active, time) => self.pending.was_active(time),
            (_, time) => self.pending.was_idle_in_transaction(time),
        }
    }

    /// The same for what comes before the run and may take long, as planning does when it computes what is constant. A text
    /// within a command that is shown already changes nothing.
    pub(super) fn show_before_run(&self, text: &Arc<str>) {
        if !self.backend.is_active() {
            self.show_command(text);
        }
    }

    fn run_query(&self, portal: &mut Portal, max_rows: u32, out: &mut dyn Output) -> SqlResult<Option<Tag>> {
        let mut running = match std::mem::replace(&mut portal.state, State::Done) {
            State::Suspended(running) => running,
            State::Stored(stored) => return self.send_stored(portal, stored, max_rows, out),
            State::Ready => {
                let planned = self.portal_plan(portal)?;
                if planned.shared.beside.is_some() {
                    let stored = self.carry_out_all(portal, planned, out)?;
                    return self.send_stored(portal, stored, max_rows, out);
                }
                self.start(portal, planned)?
            }
            State::Done => return Ok(Some(Tag::Rows("SELECT", 0))),
        };
        // A client sees no row of a change that fails, be it in a later row or in an AFTER trigger.
        if running.writes_and_returns() {
            let stored = self.carry_out(portal, running, out)?;
            return self.send_stored(portal, stored, max_rows, out);
        }
        let mut pull = |running: &mut Running| self.pull(running, &portal.formats, max_rows.into(), out);
        let mut progress = pull(&mut running);
        if running.execution.turn().is_taken() {
            (running, progress) = self.in_turn(portal, (running, progress), pull)?;
        }
        match progress {
            Ok(progress) if !progress.finished => {
                portal.state = State::Suspended(running);
                Ok(None)
            }
            Ok(progress) => {
                let tag = running.planned.tag(progress.rows, progress.processed);
                portal.end_watch(self, &mut running);
                running.give_back();
                Ok(Some(tag))
            }
            Err(error) => {
                running.give_back();
                Err(error)
            }
        }
    }

    /// Runs a statement to its end and keeps the rows that it returns. Notices go to the client at once: the statement may wait.
    fn carry_out(
        &self,
        portal: &Portal,
        mut running: Running,
        out: &mut dyn Output,
    ) -> SqlResult<Box<Stored>> {
        let mut rows = RowStore::default();
        let mut run = |running: &mut Running| {
            let Running { execution, snapshot, command, watched, .. } = running;
            self.notices.lend(out, |_| {
                self.watch_part(watched, || {
                    self.with_env(snapshot, *command, |env| {
                        execution.fetch(env, 0, &mut |row| self.keep_row(&mut rows, row.to_vec()))
                    })
                })
            })
        };
        let mut done = run(&mut running);
        if running.execution.turn().is_taken() {
            (running, done) = self.in_turn(portal, (running, done), run)?;
        }
        let planned = running.planned.clone();
        if done.is_ok() {
            portal.end_watch(self, &mut running);
        }
        running.give_back();
        Ok(Box::new(Stored { planned, rows, sent: 0, processed: done?.processed }))
    }

    /// Carries out a statement and what is done beside it.
    #[cold]
    fn carry_out_all(
        &self,
        portal: &Portal,
        planned: Rc<Planned>,
        out: &mut dyn Output,
    ) -> SqlResult<Box<Stored>> {
        let shared = planned.shared.clone();
        self.check_permitted(&shared)?;
        self.refuse_plan(&shared)?;
        let nothing = Stored { planned: planned.clone(), rows: RowStore::default(), sent: 0, processed: 0 };
        let Some(beside) = &shared.beside else { return Ok(Box::new(nothing)) };
        let shown = portal.shows_all && shared.columns.is_none();
        let snapshot = self.txn.borrow_mut().statement_snapshot()?;
        self.run_tasks(&beside.before, &portal.params, &snapshot, shown.then_some(&mut *out))?;
        if beside.replaced {
            return Ok(Box::new(nothing));
        }
        self.see_changes()?;
        let running = Running { snapshot: snapshot.clone(), ..self.start(portal, planned)? };
        let stored = self.carry_out(portal, running, out)?;
        self.run_tasks(&beside.after, &portal.params, &snapshot, shown.then_some(out))?;
        Ok(stored)
    }

    /// Sends the next rows of a statement that was carried out; the command tag behind the last.
    fn send_stored(
        &self,
        portal: &mut Portal,
        mut stored: Box<Stored>,
        max_rows: u32,
        out: &mut dyn Output,
    ) -> SqlResult<Option<Tag>> {
        let rows = self.fetch_stored(&mut stored, &portal.formats, max_rows.into(), Some(out))?;
        if max_rows != 0 && rows == u64::from(max_rows) {
            portal.state = State::Stored(stored);
            return Ok(None);
        }
        Ok(Some(stored.planned.tag(rows, stored.processed)))
    }

    /// Up to `limit` more rows of a statement that was carried out (0: all), sent or skipped. Returns their number.
    fn fetch_stored(
        &self,
        stored: &mut Stored,
        formats: &[Format],
        limit: u64,
        mut out: Option<&mut dyn Output>,
    ) -> SqlResult<u64> {
        let limit = if limit == 0 { u64::MAX } else { limit };
        let (context, mut place, from) = (self.format(), Place::default(), stored.sent);
        let columns = stored.planned.shared.columns.as_deref().unwrap_or_default();
        let encoder = RowEncoder { columns, formats, context: &context, session: self };
        while stored.sent - from < limit
            && let Some(row) = stored.rows.get(&mut place, stored.sent)?
        {
            if let Some(out) = &mut out {
                out.data_row(&encoder, row)?;
            }
            stored.sent += 1;
        }
        Ok(stored.sent - from)
    }

    /// Starts a cursor's query without fetching, so that its snapshot is fixed now.
    pub(super) fn open_portal(&self, portal: &mut Portal) -> SqlResult<()> {
        let planned = self.portal_plan(portal)?;
        portal.state = State::Suspended(self.start(portal, planned)?);
        Ok(())
    }

    /// Starts a portal that Bind made and that has not run, so that rows can be fetched from it.
    pub(super) fn open_bound_portal(&self, portal: &mut Portal, out: &mut dyn Output) -> SqlResult<()> {
        match (&portal.state, &portal.source.work) {
            (State::Ready, Work::Query(_) | Work::Stored) => {}
            (State::Ready, _) => return Err(SqlError::not_supported("FETCH from a utility statement")),
            _ => return Ok(()),
        }
        let planned = self.portal_plan(portal)?;
        if planned.shared.columns.is_none() {
            return Err(SqlError::internal("unsupported portal strategy"));
        }
        if planned.shared.beside.is_some() {
            portal.state = State::Stored(self.carry_out_all(portal, planned, out)?);
            return Ok(());
        }
        let running = self.start(portal, planned)?;
        portal.state = match running.writes_and_returns() {
            true => State::Stored(self.carry_out(portal, running, out)?),
            false => State::Suspended(running),
        };
        Ok(())
    }

    /// Up to `limit` more rows of a cursor (0: all), sent or skipped. Returns their number.
    pub(super) fn fetch_rows(
        &self,
        portal: &mut Portal,
        limit: u64,
        out: Option<&mut dyn Output>,
    ) -> SqlResult<u64> {
        if let State::Stored(stored) = &mut portal.state {
            return self.fetch_stored(stored, &portal.formats, limit, out);
        }
        let Some(out) = out else { return self.pull_rows(portal, limit, &mut |_| Ok(())) };
        let State::Suspended(running) = &mut portal.state else { return Ok(0) };
        Ok(self.pull(running, &portal.formats, limit, out)?.rows)
    }

    /// Up to `limit` more rows of a cursor (0: all). Returns their number.
    pub(super) fn pull_rows(
        &self,
        portal: &mut Portal,
        limit: u64,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<u64> {
        let State::Suspended(running) = &mut portal.state else { return Ok(0) };
        let Running { execution, snapshot, command, watched, .. } = running;
        let fetch = || self.with_env(snapshot, *command, |env| execution.fetch(env, limit, each));
        Ok(self.watch_part(watched, fetch)?.rows)
    }

    /// As [`pull_rows`](Self::pull_rows), with the tables that each row is of and the places of their rows.
    pub(super) fn pull_with_origins(
        &self,
        portal: &mut Portal,
        limit: u64,
        each: &mut OriginSink<'_>,
    ) -> SqlResult<u64> {
        let State::Suspended(running) = &mut portal.state else { return Ok(0) };
        let Running { execution, snapshot, command, watched, .. } = running;
        let fetch =
            || self.with_env(snapshot, *command, |env| execution.fetch_with_origins(env, limit, each));
        Ok(self.watch_part(watched, fetch)?.rows)
    }

    /// Lets a cursor's query give its rows again from the first, as they were.
    pub(super) fn restart(&self, portal: &mut Portal) {
        if let State::Suspended(Running { execution, snapshot, command, .. }) = &mut portal.state {
            self.close_execution(execution, (snapshot, *command));
            execution.start(&portal.params);
        }
    }

    fn start(&self, portal: &Portal, planned: Rc<Planned>) -> SqlResult<Running> {
        let statement = &planned.shared.prepared.statement;
        self.check_permitted(&planned.shared)?;
        self.refuse_writes(statement)?;
        let watched = self.watch_run(&planned.shared.prepared);
        let mut execution = self.execution_for(&watched, &planned.shared.prepared)?;
        execution.start(&portal.params);
        let mut txn = self.txn.borrow_mut();
        let may_wait = watched.is_none() && planned.shared.beside.is_none();
        if may_wait && txn.system().locks().may_be_crowded() {
            execution.take_turn(Turn::first());
        }
        let (snapshot, command) = (txn.statement_snapshot()?, txn.current_command());
        Ok(Running { planned, execution, snapshot, command, watched })
    }

    /// Runs a statement that has ended to begin again ([`eval::turn`]) in its turn.
    #[cold]
    fn in_turn(
        &self,
        portal: &Portal,
        (mut running, mut done): (Running, SqlResult<Progress>),
        mut run: impl FnMut(&mut Running) -> SqlResult<Progress>,
    ) -> SqlResult<(Running, SqlResult<Progress>)> {
        while let (Err(_), Some(queued)) = (&done, running.execution.turn().wanted()) {
            running = self.begin_again(portal, running, queued)?;
            done = run(&mut running);
        }
        // It has not come to a row.
        if let Some((tag, mode)) = running.execution.turn().come() {
            self.txn.borrow_mut().unlock(tag, mode);
        }
        Ok((running, done))
    }

    /// Begins a statement again that has ended for that, at the head of the queue that it was to wait in. It waits with no snapshot.
    #[cold]
    fn begin_again(&self, portal: &Portal, ended: Running, queued: Option<Queued>) -> SqlResult<Running> {
        let Running { planned, mut execution, snapshot, watched, .. } = ended;
        drop(snapshot);
        self.show_snapshots();
        let mut txn = self.txn.borrow_mut();
        let mut come = None;
        if let Some((tag, mode)) = queued {
            come = Some((txn.lock_in_queue(tag, mode).map_err(eval::error::lock)?, mode));
        }
        let (snapshot, command) = (txn.statement_snapshot()?, txn.current_command());
        let turn = execution.turn().next(come);
        execution.start(&portal.params);
        execution.take_turn(turn);
        Ok(Running { planned, execution, snapshot, command, watched })
    }

    /// The portal's plan, looked for once.
    fn portal_plan(&self, portal: &Portal) -> SqlResult<Rc<Planned>> {
        let known = portal.plan.borrow().clone();
        if let Some(planned) = known.filter(|planned| self.still_holds(planned)) {
            return Ok(planned);
        }
        let planned = self.plan_for(&portal.source, &portal.params, Wanted::Equivalent)?;
        planned.shared.check_constants()?;
        // Rolling back to a savepoint that came after the portal gives the locks up, but not the portal.
        if portal.made.0 == self.txn.borrow().subxact() {
            *portal.plan.borrow_mut() = Some(planned.clone());
        }
        Ok(planned)
    }

    /// Columns of a portal's result, if it returns rows.
    pub(super) fn portal_columns(&self, portal: &Portal) -> SqlResult<Option<Arc<[Column]>>> {
        match portal.source.work {
            Work::Query(_) | Work::Stored => Ok(self.portal_plan(portal)?.shared.columns.clone()),
            _ => self.columns_of(&portal.source),
        }
    }

    fn pull(
        &self,
        running: &mut Running,
        formats: &[Format],
        max_rows: u64,
        out: &mut dyn Output,
    ) -> SqlResult<Progress> {
        let Running { planned, execution, snapshot, command, watched } = running;
        let context = self.format();
        let columns = planned.shared.columns.as_deref();
        self.notices.lend(out, |out| {
            let fetch = || {
                self.with_env(snapshot, *command, |env| {
                    execution.fetch(env, max_rows, &mut |row| match columns {
                        Some(columns) => {
                            let encoder = RowEncoder { columns, formats, context: &context, session: self };
                            out.borrow_mut().data_row(&encoder, row)
                        }
                        None => Ok(()),
                    })
                })
            };
            self.watch_part(watched, fetch)
        })
    }

    /// What a run needs of this session.
    pub fn with_env<T>(
        &self,
        snapshot: &Snapshot,
        command: CommandId,
        f: impl FnOnce(&Env<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.backend.uses_snapshot(snapshot.xmin());
        let format = self.format();
        runtime::usage::time_io(self.settings.borrow().fast().track_io_timing);
        self.with_orders(|| f(&self.env(snapshot, command, &format)))
    }

    /// Closes an execution. Nobody is told an error that comes of it.
    pub(crate) fn close_execution(
        &self,
        execution: &mut executor::run::Execution,
        (snapshot, command): (&Snapshot, CommandId),
    ) {
        let _ = self.with_env(snapshot, command, |env| {
            execution.close(env);
            Ok(())
        });
    }

    /// What expressions and nodes work with.
    #[inline]
    pub(crate) fn env<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        command: CommandId,
        format: &'a FormatContext,
    ) -> Env<'a> {
        let (work_mem, hash_mem) = {
            let settings = self.settings.borrow();
            let fast = settings.fast();
            (fast.work_mem as usize, fast.hash_mem as usize)
        };
        Env {
            access: self.engine().heap_access(),
            fixed_snapshot: self.txn.borrow().characteristics().isolation.keeps_snapshot(),
            txn: &self.txn,
            combo: &self.combo,
            holders: &self.holders,
            snapshot,
            command,
            format,
            session: self,
            work_mem,
            hash_mem,
            temp: self.temp_dir(),
            compression: self.compression(),
        }
    }

    /// How large values of columns that name no method are compressed (`default_toast_compression`).
    pub fn compression(&self) -> Compression {
        match self.settings.borrow().fast().compresses_by_pglz {
            true => Compression::Pglz,
            false => Compression::Lz4,
        }
    }

    /// Tells `pg_stat_activity` which snapshots stay while no statement runs: the transaction's and those of cursors.
    pub(super) fn show_snapshots(&self) {
        let Ok(portals) = self.portals.try_borrow() else { return };
        let kept = self.txn.borrow().kept_xmin();
        if portals.is_empty() && kept.is_none() {
            return self.backend.holds_no_snapshot();
        }
        let cursors = portals.iter().filter_map(|(_, portal)| match &portal.state {
            State::Suspended(running) => Some(running.snapshot.xmin()),
            State::Ready | State::Stored(_) | State::Done => None,
        });
        self.backend.holds_snapshots(cursors.chain(kept));
    }

    /// Closes those portals of which `which` says so.
    pub(super) fn close_portals(&self, which: impl Fn(&Portal) -> bool) {
        let unnamed = self.portals.borrow_mut().take_unnamed_if(&which);
        if let Some(mut portal) = unnamed {
            portal.close(self);
        }
        if self.portals.borrow().has_named() {
            let named = self.portals.borrow_mut().take_named_if(which);
            named.into_iter().for_each(|(_, mut portal)| portal.close(self));
        }
    }

    /// The end of a transaction ends what runs in it; held cursors stay.
    pub(super) fn close_transaction_portals(&self) {
        self.close_portals(|portal| !portal.is_held());
    }

    /// A Bind parameter as a value.
    pub(super) fn decode_parameter(
        &self,
        index: usize,
        ty: base::Oid,
        format: Format,
        value: super::ParamValue<'_>,
    ) -> SqlResult<Datum> {
        let Some(bytes) = value else { return types::Session::type_null(self, ty) };
        let context = self.format();
        let call = types::Call::new(&context).with_session(self);
        let which = || format!("unnamed portal parameter ${}", index + 1);
        match format {
            Format::Binary => types::receive(ty, bytes, -1, &call).map_err(|e| e.context(which())),
            Format::Text => {
                let text = types::text::check_utf8(bytes)?;
                let shown = || format!("{} = {}", which(), self.shown_parameter(text));
                types::input(ty, text, -1, &call).map_err(|e| e.context(shown()))
            }
        }
    }

    /// The session's formats, as they are now.
    pub fn format(&self) -> Rc<FormatContext> {
        self.format.borrow().clone()
    }

    /// Whether these are the session's formats still.
    #[inline]
    pub(crate) fn has_format(&self, format: &Rc<FormatContext>) -> bool {
        Rc::ptr_eq(&self.format.borrow(), format)
    }
}

impl Running {
    /// Keeps the state tree for the plan's next run.
    fn give_back(self) {
        self.planned.give_back(self.execution);
    }

    fn returns_rows(&self) -> bool {
        self.planned.shared.columns.is_some()
    }

    /// Whether it changes rows and returns some.
    fn writes_and_returns(&self) -> bool {
        let shared = &self.planned.shared;
        let writes = |&(_, mode): &(Oid, u8)| lock_mode(mode) == LockMode::RowExclusive;
        self.returns_rows() && shared.prepared.statement.locks.iter().any(writes)
    }
}

impl Planned {
    /// The command tag of a run that has sent and changed so many rows.
    fn tag(&self, rows: u64, processed: u64) -> Tag {
        match self.shared.prepared.statement.command {
            plan::Command::Select => Tag::Rows("SELECT", rows),
            plan::Command::Insert => Tag::Rows("INSERT 0", processed),
            plan::Command::Update => Tag::Rows("UPDATE", processed),
            plan::Command::Delete => Tag::Rows("DELETE", processed),
            plan::Command::Merge => Tag::Rows("MERGE", processed),
        }
    }
}

/// A command tag.
pub(crate) enum Tag {
    /// Of a command that counts rows.
    Rows(&'static str, u64),
    /// Of any other.
    Text(String),
}

impl Tag {
    /// CommandComplete.
    pub(super) fn send(&self, out: &mut dyn Output) -> SqlResult<()> {
        match self {
            Tag::Text(text) => out.command_complete(text),
            Tag::Rows(command, rows) => out.command_complete_rows(command, *rows),
        }
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tag::Rows(command, rows) => write!(f, "{command} {rows}"),
            Tag::Text(text) => f.write_str(text),
        }
    }
}
