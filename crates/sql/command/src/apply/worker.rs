//! A session that applies the changes of a subscription.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::settings::{Setting, Value as SettingValue};
use base::{Lsn, Oid, Severity, SqlError, SqlResult, SqlState};
use catalog::CatalogView;
use catalog::system::pg_subscription as s;
use parse::ast::{DropBehavior, RangeVar};
use runtime::{Instant, Interrupts};
use rustc_hash::FxHashMap;
use session::subscription::{Arrived, Conflict, Entered, Position, Publisher, Step};
use session::{Instance, Session};
use tuple::Datum;
use txn::origin::Mark;
use txn::{BlockState, LockMode, LockWait};

use super::Place;
use super::conflict::{self, Change};
use super::protocol::{self, Message, RemoteTable};
use super::subscription::Subscription;
use super::target::Target;
use crate::truncate;

/// How long a worker waits for its publisher before it looks around.
const NAP: Duration = Duration::from_secs(1);

/// The life of the worker of a subscription.
pub(super) fn work(instance: &Arc<Instance>, place: Place, database: Oid, subscription: Oid) {
    live(instance, place, database, (subscription, None), |worker| {
        let start = worker.progress();
        let name = worker.known.name.clone();
        let mut publisher = worker.connect(&name)?;
        let slot = worker.known.slot.clone().ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("subscription has no replication slot set: \"{name}\""),
            )
        })?;
        let command = worker.known.stream_command(&slot, start, publisher.version());
        publisher.begin_stream(&command).map_err(|failure| failure.error("could not start WAL streaming"))?;
        worker.received = start;
        worker.follow(&mut *publisher, None)
    });
}

/// Runs a worker, and tells what ended it.
pub(super) fn live(
    instance: &Arc<Instance>,
    place: Place,
    database: Oid,
    (subscription, table): (Oid, Option<Oid>),
    body: impl FnOnce(&mut Worker<'_>) -> SqlResult<()>,
) {
    let interrupts = Interrupts::default();
    let subscribers = instance.subscribers();
    let key = (subscription, table.unwrap_or(Oid::INVALID));
    let Some(entered) = subscribers.enter(key, place.pid, &interrupts) else { return };
    runtime::with_interrupts(&interrupts, || {
        // Whoever removes the database is in the way, or the server stops: there is nothing to be said.
        let session = Session::for_subscription(instance.clone(), place.pid, database, table.is_some());
        let Ok(session) = session else { return };
        session.log_to((place.log)(session.catalog.database_name()));
        let known = Worker::read(&session, subscription);
        if let Some(known) = known.unwrap_or_default().filter(|known| known.enabled) {
            let mut worker = Worker::new(&session, &entered, known, table);
            let done = worker.begin().and_then(|()| body(&mut worker));
            if let Err(error) = done {
                worker.fail(error);
            }
        }
        session.close();
    });
}

/// A transaction of the publisher that is being applied.
#[derive(Clone, Copy)]
struct Remote {
    commit: Lsn,
    xid: u32,
    /// Nothing of it is applied.
    skipped: bool,
}

/// A table of the publisher.
struct Known {
    remote: RemoteTable,
    target: Option<Target>,
}

/// A worker of a subscription.
pub(super) struct Worker<'a> {
    pub(super) session: &'a Session,
    pub(super) entered: &'a Entered,
    pub(super) known: Subscription,
    /// The table that it copies, whose changes alone it applies.
    table: Option<Oid>,
    origin: u16,
    tables: FxHashMap<u32, Known>,
    /// How far the copies of tables are.
    states: FxHashMap<Oid, (u8, Lsn)>,
    /// All of them are ready.
    all_ready: bool,
    /// When the copy of a table was asked for.
    asked: FxHashMap<Oid, Instant>,
    remote: Option<Remote>,
    /// All before this was received.
    pub(super) received: Lsn,
    /// Ends of transactions there, and of their commit records here, that may not be durable yet.
    unflushed: VecDeque<(Lsn, Lsn)>,
    told: Position,
    told_at: Instant,
    /// What it does, for errors.
    task: RefCell<Option<Task>>,
}

/// What a worker does, for errors.
struct Task {
    kind: u8,
    table: Option<(String, String)>,
}

impl<'a> Worker<'a> {
    fn new(
        session: &'a Session,
        entered: &'a Entered,
        known: Subscription,
        table: Option<Oid>,
    ) -> Worker<'a> {
        Worker {
            session,
            entered,
            known,
            table,
            origin: 0,
            tables: FxHashMap::default(),
            states: FxHashMap::default(),
            all_ready: false,
            asked: FxHashMap::default(),
            remote: None,
            received: Lsn::INVALID,
            unflushed: VecDeque::new(),
            told: Position::default(),
            told_at: runtime::now(),
            task: RefCell::default(),
        }
    }

    /// The subscription as it is now.
    fn read(session: &Session, oid: Oid) -> SqlResult<Option<Subscription>> {
        session.begin_statement();
        let tag = crate::subscription::lock_tag(oid);
        session.txn.borrow_mut().lock(tag, LockMode::AccessShare, LockWait::Block)?;
        let row = session.with_reader(|reader| reader.subscription_by_oid(oid))?;
        session.commit_transaction()?;
        Ok(row.as_ref().map(Subscription::of))
    }

    /// Says that it begins, takes over what the subscription says, and finds its origin.
    fn begin(&mut self) -> SqlResult<()> {
        let name = &self.known.name;
        self.log(match self.table {
            None => {
                format!("logical replication apply worker for subscription \"{name}\" has started")
            }
            Some(table) => {
                let table = self.name_of(table)?;
                format!(
                    "logical replication table synchronization worker for subscription \"{name}\", table \"{table}\" has started"
                )
            }
        });
        self.take_settings()?;
        self.entered.take_stale();
        self.session.begin_statement();
        self.origin = self.session.origin(&self.known.origin_name(self.table))?;
        self.session.commit_transaction()?;
        self.session.follow_origin(self.origin)
    }

    /// The state of a table's copy.
    pub(super) fn state(&self, table: Oid) -> Option<u8> {
        self.states.get(&table).map(|(state, _)| *state)
    }

    /// The name of a table.
    pub(super) fn name_of(&self, table: Oid) -> SqlResult<String> {
        self.session.begin_statement();
        let found = self.session.with_reader(|reader| reader.relation_by_oid(table))?;
        self.session.commit_transaction()?;
        Ok(found.map_or_else(|| table.to_string(), |table| table.name.clone()))
    }

    fn take_settings(&self) -> SqlResult<()> {
        let setting = Setting::synchronous_commit;
        let value: SettingValue = setting.parse(&self.known.synchronous_commit)?;
        self.session.settings.borrow_mut().set_internal(setting, value);
        self.session.apply_settings();
        Ok(())
    }

    /// How far the origin has come.
    pub(super) fn progress(&self) -> Lsn {
        let origins = self.session.instance.engine().txns().origins();
        origins.progress(self.origin).unwrap_or_default().remote
    }

    /// The origin begins here: nothing of it was applied.
    pub(super) fn begin_at(&self, point: Lsn) -> SqlResult<()> {
        Ok(self.session.instance.engine().txns().set_origin(self.origin, point, true)?)
    }

    pub(super) fn connect(&self, name: &str) -> SqlResult<Box<dyn Publisher>> {
        self.session.begin_statement();
        let done = self.known.connect(self.session, name);
        self.session.commit_transaction()?;
        let tried = match self.table {
            None => format!(
                "apply worker for subscription \"{}\" could not connect to the publisher",
                self.known.name
            ),
            Some(_) => format!(
                "table synchronization worker for subscription \"{}\" could not connect to the publisher",
                self.known.name
            ),
        };
        done.map_err(|failure| failure.error(&tried))
    }

    pub(super) fn log(&self, message: String) {
        self.session.log_report(&SqlError::with_severity(
            Severity::Log,
            SqlState::SUCCESSFUL_COMPLETION,
            message,
        ));
    }

    /// Applies what the stream brings, until nobody wants it any more; of a table's copy, until it has come to `upto`.
    pub(super) fn follow(&mut self, publisher: &mut dyn Publisher, upto: Option<Lsn>) -> SqlResult<()> {
        let broken =
            |failure: session::subscription::Failure| failure.error("could not receive data from WAL stream");
        let (mut heard, mut asked) = (runtime::now(), false);
        self.load_states()?;
        loop {
            self.entered.wake().reset();
            while let Some(arrived) = publisher.arrived().map_err(broken)? {
                (heard, asked) = (runtime::now(), false);
                let came = runtime::wall_clock_micros();
                match arrived {
                    Arrived::Change { end, time } => {
                        self.received = self.received.max(end);
                        self.entered.show(|seen| {
                            seen.received = end;
                            seen.last_message = Some((time, came));
                        });
                        self.apply(publisher.message())?;
                    }
                    Arrived::Alive { end, time, asks } => {
                        self.received = self.received.max(end);
                        self.entered.show(|seen| {
                            seen.received = end;
                            seen.last_message = Some((time, came));
                        });
                        if asks {
                            self.tell(publisher, true, false)?;
                        }
                    }
                    Arrived::Ended => {
                        self.log("data stream from publisher has ended".into());
                        return Ok(());
                    }
                }
                if self.remote.is_none() {
                    if upto.is_some_and(|upto| self.received >= upto) || !self.goes_on()? {
                        return Ok(());
                    }
                    self.see_to_tables()?;
                    if self.told_at.elapsed() >= NAP {
                        self.tell(publisher, false, false)?;
                    }
                }
                runtime::check_interrupts().map_err(plan::interrupted)?;
            }
            if self.remote.is_none() {
                if upto.is_some_and(|upto| self.received >= upto) || !self.goes_on()? {
                    return Ok(());
                }
                self.see_to_tables()?;
            }
            self.tell(publisher, false, false)?;
            let settings = self.session.instance.settings();
            let nap = match self.unflushed.is_empty() {
                true => NAP,
                false => settings.duration(Setting::wal_writer_delay),
            };
            publisher.wait(self.entered.wake(), nap).map_err(broken)?;
            let (silent, most) = (heard.elapsed(), settings.duration(Setting::wal_receiver_timeout));
            if !most.is_zero() && silent >= most {
                return Err(SqlError::new(
                    SqlState::CONNECTION_FAILURE,
                    "terminating logical replication worker due to timeout",
                ));
            }
            if !most.is_zero() && silent >= most / 2 && !std::mem::replace(&mut asked, true) {
                self.tell(publisher, true, true)?;
            }
        }
    }

    /// Between two transactions: takes over what has changed of the subscription; false if the worker is to end.
    pub(super) fn goes_on(&mut self) -> SqlResult<bool> {
        if !self.entered.take_stale() {
            return Ok(true);
        }
        self.load_states()?;
        let what = match self.table {
            None => format!("logical replication worker for subscription \"{}\"", self.known.name),
            Some(_) => format!(
                "logical replication table synchronization worker for subscription \"{}\"",
                self.known.name
            ),
        };
        let Some(now) = Worker::read(self.session, self.known.oid)? else {
            self.log(format!("{what} will stop because the subscription was removed"));
            return Ok(false);
        };
        if !now.enabled {
            self.log(format!("{what} will stop because the subscription was disabled"));
            return Ok(false);
        }
        let calm = |subscription: &Subscription| Subscription {
            skip: Lsn::INVALID,
            disable_on_error: false,
            synchronous_commit: String::new(),
            run_as_owner: false,
            ..subscription.clone()
        };
        let restarts = calm(&now) != calm(&self.known);
        if now.run_as_owner != self.known.run_as_owner {
            self.tables.values_mut().for_each(|known| known.target = None);
        }
        self.known = now;
        self.take_settings()?;
        if restarts {
            self.log(format!("{what} will restart because of a parameter change"));
        }
        Ok(!restarts)
    }

    pub(super) fn load_states(&mut self) -> SqlResult<()> {
        self.session.begin_statement();
        let all = self.session.with_reader(|reader| reader.subscribed(self.known.oid))?;
        self.session.commit_transaction()?;
        self.states = all.iter().map(|one| (one.table, (one.state, one.position))).collect();
        self.note_ready();
        Ok(())
    }

    /// Between two transactions: sees to the copies of tables.
    fn see_to_tables(&mut self) -> SqlResult<()> {
        if self.table.is_some() || self.all_ready {
            return Ok(());
        }
        let (instance, oid) = (self.session.instance.clone(), self.known.oid);
        let subscribers = instance.subscribers();
        let settings = instance.settings();
        let mut tables: Vec<_> = self.states.iter().map(|(table, state)| (*table, *state)).collect();
        tables.retain(|(_, (state, _))| *state != b'r');
        tables.sort_unstable();
        for (table, (state, position)) in tables {
            if state == b's' {
                if self.received >= position {
                    self.set_state(table, b'r', Some(position))?;
                }
                continue;
            }
            match subscribers.step((oid, table)) {
                Some(Step::Waiting) => {
                    subscribers.catch_up((oid, table), self.received);
                    subscribers.wait_for_end(|of, which| (of, which) == (oid, table))?;
                    self.load_states()?;
                }
                Some(_) => {}
                None => {
                    let most = settings.int(Setting::max_sync_workers_per_subscription).max(0) as usize;
                    let copying = subscribers.list().iter().filter(|w| w.0 == oid && w.1.is_valid()).count();
                    let rest = settings.duration(Setting::wal_retrieve_retry_interval);
                    let rests = self.asked.get(&table).is_some_and(|at| at.elapsed() < rest);
                    if copying < most && !rests {
                        self.asked.insert(table, runtime::now());
                        subscribers.ask((oid, table));
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes how far the copy of a table is, in a transaction of its own.
    pub(super) fn set_state(&mut self, table: Oid, state: u8, position: Option<Lsn>) -> SqlResult<()> {
        self.session.begin_statement();
        self.enter_state(table, state, position)?;
        self.session.commit_transaction()?;
        self.states.insert(table, (state, position.unwrap_or_default()));
        self.note_ready();
        Ok(())
    }

    fn note_ready(&mut self) {
        self.all_ready = self.states.values().all(|(state, _)| *state == b'r');
    }

    /// The same in the running transaction.
    pub(super) fn enter_state(&self, table: Oid, state: u8, position: Option<Lsn>) -> SqlResult<()> {
        let oid = self.known.oid;
        self.session.with_changer(|changer| changer.set_subscribed(oid, table, (state, position)))
    }

    /// Tells the publisher how far we are, if that is new, or it is time, or it must be told.
    fn tell(&mut self, publisher: &mut dyn Publisher, must: bool, asks: bool) -> SqlResult<()> {
        let durable = self.session.instance.engine().wal().flushed();
        let mut position =
            Position { written: self.received, flushed: self.told.flushed, applied: self.received };
        while let Some(&(remote, local)) = self.unflushed.front()
            && local <= durable
        {
            position.flushed = position.flushed.max(remote);
            self.unflushed.pop_front();
        }
        match self.unflushed.back() {
            None => position.flushed = self.received,
            Some((last, _)) => (position.written, position.applied) = (*last, *last),
        }
        let interval = self.session.instance.settings().duration(Setting::wal_receiver_status_interval);
        let due = !interval.is_zero() && self.told_at.elapsed() >= interval;
        if !must && !due && position == self.told {
            return Ok(());
        }
        (self.told, self.told_at) = (position, runtime::now());
        let now = runtime::wall_clock_micros();
        self.entered.show(|seen| seen.reported = Some((position.flushed, now)));
        publisher.tell(position, asks).map_err(|failure| failure.error("could not send data to WAL stream"))
    }

    /// Carries out a message.
    fn apply(&mut self, bytes: &[u8]) -> SqlResult<()> {
        let kind = bytes.first().copied().unwrap_or_default();
        *self.task.borrow_mut() = Some(Task { kind, table: None });
        self.carry_out(protocol::read(bytes)?)?;
        self.task.take();
        Ok(())
    }

    fn carry_out(&mut self, message: Message<'_>) -> SqlResult<()> {
        match message {
            Message::Begin { commit, xid, .. } => {
                let skipped = self.known.skip == commit && commit != Lsn::INVALID && self.table.is_none();
                if skipped {
                    self.log(format!("logical replication starts skipping transaction at LSN {commit}"));
                }
                self.remote = Some(Remote { commit, xid, skipped });
                Ok(())
            }
            Message::Commit { end, time, .. } => self.commit(end, time),
            Message::Table(remote) => {
                self.tables.insert(remote.number, Known { remote, target: None });
                Ok(())
            }
            Message::Insert { table, new } => self.change(table, Change::Insert(&new), |target, session| {
                target.insert(session, &new).map(|()| true)
            }),
            Message::Update { table, old, new } => {
                self.change(table, Change::Update(old.as_deref(), &new), |target, session| {
                    target.update(session, old.as_deref(), &new)
                })
            }
            Message::Delete { table, old } => {
                self.change(table, Change::Delete(&old), |target, session| target.delete(session, &old))
            }
            Message::Truncate { tables, restart } => self.truncate(&tables, restart),
            Message::Other => Ok(()),
        }
    }

    /// Whether what happens to a table is applied by this worker.
    fn is_mine(&self, table: Oid, commit: Lsn) -> bool {
        match self.table {
            Some(own) => own == table,
            None => match self.states.get(&table) {
                Some((b'r', _)) => true,
                Some((b's', position)) => *position <= commit,
                _ => false,
            },
        }
    }

    /// The transaction that changes are applied in.
    fn begin_local(&self) {
        if self.session.txn.borrow().state() == BlockState::Idle {
            self.session.begin_statement();
        }
    }

    fn missing(number: u32) -> SqlError {
        SqlError::new(
            SqlState::PROTOCOL_VIOLATION,
            format!("no relation map entry for remote relation ID {number}"),
        )
    }

    /// The table of ours for one of the publisher's; it is locked. None if what happens to it is not applied here.
    fn open(&mut self, number: u32, commit: Lsn) -> SqlResult<Option<Oid>> {
        let user = self.known.run_as_owner.then_some(self.known.owner);
        let session = self.session;
        let known = self.tables.get_mut(&number).ok_or_else(|| Worker::missing(number))?;
        if let Some(task) = self.task.borrow_mut().as_mut() {
            task.table = Some((known.remote.schema.clone(), known.remote.name.clone()));
        }
        let current = match &known.target {
            Some(target) => target.is_current(session)?,
            None => false,
        };
        if !current {
            known.target = Some(Target::open(session, &known.remote, user)?);
        }
        let oid = known.target.as_ref().map_or(Oid::INVALID, |target| target.table.oid);
        Ok(self.is_mine(oid, commit).then_some(oid))
    }

    fn change(
        &mut self,
        number: u32,
        change: Change<'_>,
        run: impl FnOnce(&mut Target, &Session) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let Some(remote) = self.remote.filter(|remote| !remote.skipped) else { return Ok(()) };
        self.begin_local();
        if self.open(number, remote.commit)?.is_none() {
            return Ok(());
        }
        let session = self.session;
        let known = self.tables.get_mut(&number).ok_or_else(|| Worker::missing(number))?;
        let Some(target) = &mut known.target else { return Ok(()) };
        let found = run(target, session);
        let (subscription, remote) = (self.known.oid, &known.remote);
        match found {
            Ok(true) => Ok(()),
            Ok(false) => {
                let report = conflict::missing(target, remote, &change);
                let which = match change {
                    Change::Delete(_) => Conflict::DeleteMissing,
                    _ => Conflict::UpdateMissing,
                };
                session.instance.subscribers().count_conflict(subscription, which);
                let report = match self.context() {
                    Some(context) => report.context(context),
                    None => report,
                };
                session.log_report(&report);
                Ok(())
            }
            Err(error) if error.code() == SqlState::UNIQUE_VIOLATION => {
                session.abort_transaction();
                let (which, error) = conflict::explain(session, target, remote, &change, error);
                if let Some(which) = which {
                    session.instance.subscribers().count_conflict(subscription, which);
                }
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    fn truncate(&mut self, numbers: &[u32], restart: bool) -> SqlResult<()> {
        let Some(remote) = self.remote.filter(|remote| !remote.skipped) else { return Ok(()) };
        self.begin_local();
        let mut names = Vec::new();
        for number in numbers {
            if self.open(*number, remote.commit)?.is_some() {
                let table = &self.tables[number].remote;
                names.push(RangeVar {
                    schema: Some(table.schema.clone()),
                    name: table.name.clone(),
                    ..RangeVar::default()
                });
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        truncate::run(self.session, &names, restart, DropBehavior::Restrict)?;
        self.session.next_command()
    }

    /// A transaction of the publisher is over.
    fn commit(&mut self, end: Lsn, time: i64) -> SqlResult<()> {
        let Some(remote) = self.remote.take() else {
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "COMMIT without BEGIN"));
        };
        let session = self.session;
        if self.known.skip != Lsn::INVALID && self.table.is_none() {
            self.end_skip(&remote)?;
        }
        if session.txn.borrow().state() != BlockState::Idle {
            let mark = Mark { origin: self.origin, remote: end, time };
            session.txn.borrow_mut().set_origin(Some(mark));
            let origins = session.instance.engine().txns().origins();
            let local = || origins.progress(self.origin).unwrap_or_default().local;
            let before = local();
            session.commit_transaction()?;
            session.txn.borrow_mut().set_origin(Some(Mark { origin: self.origin, ..Mark::default() }));
            let local = local();
            if local != before {
                self.unflushed.push_back((end, local));
            }
        }
        self.received = self.received.max(end);
        Ok(())
    }

    /// The transaction that was to be skipped is over, or another one is: no more is to be skipped.
    fn end_skip(&mut self, remote: &Remote) -> SqlResult<()> {
        self.begin_local();
        let (session, skip) = (self.session, self.known.skip);
        let edit = |row: &mut catalog::Row| row[s::SUBSKIPLSN] = Datum::Int8(0);
        session.with_changer(|changer| changer.edit_subscription(self.known.oid, edit))?;
        self.known.skip = Lsn::INVALID;
        if remote.skipped {
            self.log(format!("logical replication completed skipping transaction at LSN {skip}"));
            return Ok(());
        }
        let warning = SqlError::with_severity(
            Severity::Warning,
            SqlState::WARNING,
            format!("skip-LSN of subscription \"{}\" cleared", self.known.name),
        );
        session.log_report(&warning.detail(format!(
            "Remote transaction's finish WAL location (LSN) {} did not match skip-LSN {skip}.",
            remote.commit
        )));
        Ok(())
    }

    /// What it was doing.
    fn context(&self) -> Option<String> {
        let task = self.task.borrow();
        let task = task.as_ref()?;
        let origin = self.known.origin_name(self.table);
        let kind = Message::kind(task.kind);
        let mut text = format!(
            "processing remote data for replication origin \"{origin}\" during message type \"{kind}\""
        );
        if let Some((schema, name)) = &task.table {
            text += &format!(" for replication target relation \"{schema}.{name}\"");
        }
        if let Some(remote) = &self.remote {
            text += &format!(" in transaction {}, finished at {}", remote.xid, remote.commit);
        }
        Some(text)
    }

    /// Tells what ended it, and has the subscription rest if that is wanted.
    fn fail(&self, error: SqlError) {
        let session = self.session;
        if session.txn.borrow().state() != BlockState::Idle {
            session.abort_transaction();
        }
        session.txn.borrow_mut().unlock_all_for_session(|_| true);
        if error.code() == SqlState::ADMIN_SHUTDOWN {
            let (code, message) = (
                SqlState::ADMIN_SHUTDOWN,
                "terminating logical replication worker due to administrator command",
            );
            session.log_report(&SqlError::fatal(code, message));
            return;
        }
        let error = match self.context() {
            Some(context) => error.context(context),
            None => error,
        };
        session.log_report(&error);
        session.instance.subscribers().count_error(self.known.oid, self.table.is_some());
        if self.known.disable_on_error
            && error.code() != SqlState::CONNECTION_FAILURE
            && let Err(error) = self.disable()
        {
            session.log_report(&error);
        }
    }

    fn disable(&self) -> SqlResult<()> {
        let (session, oid) = (self.session, self.known.oid);
        session.txn.borrow_mut().set_origin(None);
        session.begin_statement();
        let edit = |row: &mut catalog::Row| row[s::SUBENABLED] = false.into();
        session.with_changer(|changer| changer.edit_subscription(oid, edit))?;
        session.commit_transaction()?;
        session.instance.subscribers().changed(oid);
        self.log(format!("subscription \"{}\" has been disabled because of an error", self.known.name));
        Ok(())
    }
}
