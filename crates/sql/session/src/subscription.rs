//! # What
//! Subscriptions while they run: who works for which, how far each is, what went wrong; and what a publisher is to whoever asks one. The statements and the
//! workers are `command`'s, the connections the server's.
//!
//! # Invariants
//! 1. One worker at a time applies the changes of a subscription, and one at a time copies a table for it ([`Subscribers::enter`]).
//! 2. Who changes a subscription tells so once that is committed ([`Subscribers::changed`]); its workers look at it again before their next transaction.
//!
//! # Locks
//! `table` (short), a leaf.
//!
//! # PostgreSQL counterpart
//! `replication/logical/launcher.c`; `pgstat_subscription.c`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Lsn, Oid, SqlError, SqlState};
use parking_lot::Mutex;
use runtime::{Event, Interrupt, Interrupts, WaitQueue};

/// Why a publisher does not do what it is asked.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It says so: SQLSTATE and all that it says.
    Refused(String, String),
    /// There is no connection, or no more.
    Broken(String),
    /// The session is to stop what it does.
    Interrupted(Interrupt),
}

impl Failure {
    /// As an error: what was tried stands before what went wrong.
    pub fn error(self, tried: &str) -> SqlError {
        match self {
            Failure::Refused(_, message) | Failure::Broken(message) => {
                SqlError::new(SqlState::CONNECTION_FAILURE, format!("{tried}: {message}"))
            }
            Failure::Interrupted(interrupt) => interrupt.into(),
        }
    }
}

/// What a stream brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A change, in [`Publisher::message`]; it and all before `end` of the log was sent.
    Change {
        /// Where the log of the publisher ends.
        end: Lsn,
        /// When it was sent.
        time: i64,
    },
    /// A sign of life: nothing is to come from before `end`.
    Alive {
        /// Where the log of the publisher ends.
        end: Lsn,
        /// When it was sent.
        time: i64,
        /// It wants an answer.
        asks: bool,
    },
    /// Nothing more is to come.
    Ended,
}

/// How far a subscription is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// It has all before this.
    pub written: Lsn,
    /// What that changes is durable.
    pub flushed: Lsn,
    /// And is applied.
    pub applied: Lsn,
}

/// A connection to a publisher. Waits suspend the fiber, and heed interrupts.
pub trait Publisher {
    /// Version as a number, as in 180003; 0 if it does not say.
    fn version(&self) -> u32;
    /// Runs a command: the rows of its answer.
    fn query(&mut self, command: &str) -> Result<Vec<Vec<Option<String>>>, Failure>;
    /// Begins a COPY to here.
    fn begin_copy(&mut self, command: &str) -> Result<(), Failure>;
    /// More of it; none behind its end.
    fn copied(&mut self) -> Result<Option<Vec<u8>>, Failure>;
    /// Begins a stream of changes.
    fn begin_stream(&mut self, command: &str) -> Result<(), Failure>;
    /// What the stream has brought, if anything is there.
    fn arrived(&mut self) -> Result<Option<Arrived>, Failure>;
    /// The change that has arrived last.
    fn message(&self) -> &[u8];
    /// Waits until more has come, `woken` is set, or so much time has passed.
    fn wait(&mut self, woken: &Event, most: Duration) -> Result<(), Failure>;
    /// Tells how far the subscription is.
    fn tell(&mut self, position: Position, asks: bool) -> Result<(), Failure>;
    /// Ends the stream; commands may be run again.
    fn end_stream(&mut self) -> Result<(), Failure>;
    /// Says good-bye.
    fn close(self: Box<Self>);
}

/// How a table's copy stands, of which the subscription's own worker is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// It is under way.
    #[default]
    Copying,
    /// It waits to be told how far it is to catch up.
    Waiting,
    /// It applies what was committed before this.
    CatchingUp(Lsn),
}

/// What others see of a worker. Times are microseconds since 2000-01-01 UTC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// All before this was received.
    pub received: Lsn,
    /// When the last message was sent, and when it came.
    pub last_message: Option<(i64, i64)>,
    /// What the publisher was told last, and when it asked.
    pub reported: Option<(Lsn, i64)>,
    /// Of a table's copy.
    pub step: Step,
}

/// A worker: the table that it copies, or none.
type Key = (Oid, Oid);

struct Worker {
    pid: i32,
    interrupts: Interrupts,
    wake: Arc<Event>,
    stale: Arc<AtomicBool>,
    seen: Seen,
}

/// What can be in the way of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// There is a row with a unique key of a new row.
    InsertExists,
    /// The changed row was changed last by somebody else.
    UpdateOriginDiffers,
    /// There is a row with a unique key that a changed row gets.
    UpdateExists,
    /// There is no row to change.
    UpdateMissing,
    /// The deleted row was changed last by somebody else.
    DeleteOriginDiffers,
    /// There is no row to delete.
    DeleteMissing,
    /// Several unique keys are others'.
    MultipleUniqueConflicts,
}

impl Conflict {
    /// Its word in messages.
    pub fn word(self) -> &'static str {
        match self {
            Conflict::InsertExists => "insert_exists",
            Conflict::UpdateOriginDiffers => "update_origin_differs",
            Conflict::UpdateExists => "update_exists",
            Conflict::UpdateMissing => "update_missing",
            Conflict::DeleteOriginDiffers => "delete_origin_differs",
            Conflict::DeleteMissing => "delete_missing",
            Conflict::MultipleUniqueConflicts => "multiple_unique_conflicts",
        }
    }
}

/// What went wrong, as `pg_stat_subscription_stats` counts it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Errors of applying and of copying; then conflicts, in the order of [`Conflict`].
    pub counts: [i64; 9],
    /// When they were set to zero.
    pub since: Option<i64>,
}

#[derive(Default)]
struct Table {
    workers: BTreeMap<Key, Worker>,
    /// Tables that are to be copied, by those who apply.
    asked: Vec<Key>,
    counted: BTreeMap<Oid, Counted>,
    stopped: bool,
}

/// What runs for the subscriptions of a server.
#[derive(Default)]
pub struct Subscribers {
    table: Mutex<Table>,
    /// There is something for the launcher to do.
    wake: Event,
    /// A worker has ended, or came a step on.
    moved: WaitQueue,
}

/// A worker's place, until this is dropped.
pub struct Entered {
    subscribers: Arc<Subscribers>,
    key: Key,
    wake: Arc<Event>,
    stale: Arc<AtomicBool>,
}

impl Entered {
    /// Set when there is something to look at.
    pub fn wake(&self) -> &Event {
        &self.wake
    }

    /// Whether the subscription may have changed since this was last asked.
    pub fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::AcqRel)
    }

    /// Shows others how it is doing.
    pub fn show(&self, change: impl FnOnce(&mut Seen)) {
        if let Some(worker) = self.subscribers.table.lock().workers.get_mut(&self.key) {
            change(&mut worker.seen);
        }
    }

    /// Goes to a step of a table's copy; the subscription's own worker is told.
    pub fn go_to(&self, step: Step) {
        self.show(|seen| seen.step = step);
        self.subscribers.wake_worker((self.key.0, Oid::INVALID));
        self.subscribers.moved.wake_all();
    }

    /// The step of this table's copy.
    pub fn step(&self) -> Step {
        self.subscribers.step(self.key).unwrap_or_default()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.subscribers.table.lock().workers.remove(&self.key);
        self.subscribers.wake_worker((self.key.0, Oid::INVALID));
        self.subscribers.moved.wake_all();
        self.subscribers.wake.set();
    }
}

impl Subscribers {
    /// Set when there is something for the launcher to do.
    pub fn wake(&self) -> &Event {
        &self.wake
    }

    /// A subscription was made, changed or dropped, or the states of its tables; this is committed.
    pub fn changed(&self, subscription: Oid) {
        let table = self.table.lock();
        for (_, worker) in table.workers.iter().filter(|(key, _)| key.0 == subscription) {
            worker.stale.store(true, Ordering::Release);
            worker.wake.set();
        }
        drop(table);
        self.wake.set();
    }

    fn wake_worker(&self, key: Key) {
        if let Some(worker) = self.table.lock().workers.get(&key) {
            worker.wake.set();
        }
    }

    /// A worker begins; none if there is one, or the server is shut down.
    pub fn enter(self: &Arc<Self>, key: Key, pid: i32, interrupts: &Interrupts) -> Option<Entered> {
        let mut table = self.table.lock();
        if table.stopped || table.workers.contains_key(&key) {
            return None;
        }
        let (wake, stale) = (Arc::<Event>::default(), Arc::<AtomicBool>::default());
        let worker = Worker {
            pid,
            interrupts: interrupts.clone(),
            wake: wake.clone(),
            stale: stale.clone(),
            seen: Seen::default(),
        };
        table.workers.insert(key, worker);
        Some(Entered { subscribers: self.clone(), key, wake, stale })
    }

    /// Numbers of workers, the table that each copies, and how each is doing.
    pub fn list(&self) -> Vec<(Oid, Oid, i32, Seen)> {
        let table = self.table.lock();
        table.workers.iter().map(|(key, worker)| (key.0, key.1, worker.pid, worker.seen)).collect()
    }

    /// The step of a table's copy, if somebody works on it.
    pub fn step(&self, key: Key) -> Option<Step> {
        self.table.lock().workers.get(&key).map(|worker| worker.seen.step)
    }

    /// Tells a table's copy how far it is to catch up.
    pub fn catch_up(&self, key: Key, upto: Lsn) {
        if let Some(worker) = self.table.lock().workers.get_mut(&key) {
            worker.seen.step = Step::CatchingUp(upto);
            worker.wake.set();
        }
    }

    /// Waits until nobody works on this any more.
    pub fn wait_for_end(&self, which: impl Fn(Oid, Oid) -> bool) -> Result<(), Interrupt> {
        let none = || !self.table.lock().workers.keys().any(|key| which(key.0, key.1));
        self.moved.wait_until_interruptible(|| none().then_some(()))
    }

    /// Ends workers, and waits until they have ended.
    pub fn stop(&self, which: impl Fn(Oid, Oid) -> bool) -> Result<(), Interrupt> {
        let table = self.table.lock();
        for (_, worker) in table.workers.iter().filter(|(key, _)| which(key.0, key.1)) {
            worker.interrupts.set(Interrupt::Terminate);
        }
        drop(table);
        self.wait_for_end(which)
    }

    /// The server is shut down: ends all, soon.
    pub fn shut_down(&self) {
        let mut table = self.table.lock();
        table.stopped = true;
        table.workers.values().for_each(|worker| worker.interrupts.set(Interrupt::Terminate));
        drop(table);
        self.wake.set();
    }

    /// Whether the server is shut down.
    pub fn is_shut_down(&self) -> bool {
        self.table.lock().stopped
    }

    /// A table is to be copied.
    pub fn ask(&self, key: Key) {
        let mut table = self.table.lock();
        if !table.asked.contains(&key) {
            table.asked.push(key);
        }
        drop(table);
        self.wake.set();
    }

    /// Tables that are to be copied.
    pub fn take_asked(&self) -> Vec<Key> {
        std::mem::take(&mut self.table.lock().asked)
    }

    /// Something went wrong: with the copy of a table, or as changes were applied.
    pub fn count_error(&self, subscription: Oid, copy: bool) {
        self.table.lock().counted.entry(subscription).or_default().counts[usize::from(copy)] += 1;
    }

    /// Something was in the way of a change.
    pub fn count_conflict(&self, subscription: Oid, conflict: Conflict) {
        self.table.lock().counted.entry(subscription).or_default().counts[2 + conflict as usize] += 1;
    }

    /// What went wrong.
    pub fn counted(&self, subscription: Oid) -> Counted {
        self.table.lock().counted.get(&subscription).copied().unwrap_or_default()
    }

    /// Forgets what went wrong with a subscription.
    pub fn reset(&self, subscription: Oid) {
        let since = Some(runtime::wall_clock_micros());
        self.table.lock().counted.insert(subscription, Counted { since, ..Counted::default() });
    }

    /// A subscription is no more.
    pub fn forget(&self, subscription: Oid) {
        self.table.lock().counted.remove(&subscription);
    }
}
