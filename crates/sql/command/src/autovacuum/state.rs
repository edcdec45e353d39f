//! What the launcher and its workers share.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use base::{BlockNo, Oid, Xid};
use counters::Key;
use parking_lot::Mutex;
use runtime::{Event, Interrupt, Interrupts};
use rustc_hash::FxHashMap;
use session::Instance;

use super::expense::{Expense, Rate};
use super::need::Need;
use crate::vacuum::Budget;

/// A table that is to be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// By which its counters know it.
    pub(crate) key: Key,
    /// The database to work in.
    pub(crate) database: Oid,
    /// What may be done.
    pub(crate) allowed: Need,
    /// Of an index, which the key then names: the range with this block is to be summarized, and nothing else.
    pub(crate) summarize: Option<BlockNo>,
}

/// How the work on a table has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// This was done.
    Done(Need),
    /// Somebody has the table.
    Refused,
    /// It failed or was cancelled.
    Failed,
    /// It needs nothing any more, or is gone.
    Unneeded,
}

/// Work on a table that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) job: Job,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
    /// Rows that died from this transaction on, some snapshot needed when the work began.
    pub(crate) horizon: Xid,
}

/// What a worker does.
struct Worker {
    job: Option<Job>,
    interrupts: Interrupts,
    /// Its share of the cost limit, which the worker reads here.
    spends: Option<(Expense, Arc<Budget>)>,
}

#[derive(Default)]
struct State {
    due: VecDeque<Job>,
    /// Workers that were started, by a number of their own.
    workers: FxHashMap<u64, Worker>,
    started: u64,
    ended: Vec<Ended>,
    /// What all may spend.
    rate: Rate,
    /// When ids of a database were last noted, microseconds since 2000-01-01 UTC.
    settled: FxHashMap<Oid, i64>,
}

/// Automatic vacuums of a server.
pub struct Autovacuum {
    state: Mutex<State>,
    stopped: AtomicBool,
    /// There is something for the launcher to do.
    wake: Arc<Event>,
}

/// Whether the settings want automatic vacuums, and can have them.
pub(crate) fn is_wanted(settings: &ServerSettings) -> bool {
    settings.bool(Setting::autovacuum) && settings.bool(Setting::track_counts)
}

impl Autovacuum {
    /// Of a server.
    pub fn new(instance: &Instance) -> Arc<Autovacuum> {
        Arc::new(Autovacuum::waking(instance.counters().suspects_found(), &instance.settings()))
    }

    /// `wake` is set by others too, who have something for the launcher.
    fn waking(wake: Arc<Event>, settings: &ServerSettings) -> Autovacuum {
        let autovacuum = Autovacuum { state: Mutex::default(), stopped: AtomicBool::new(false), wake };
        autovacuum.take_settings(settings);
        autovacuum
    }

    /// Set when there is something for the launcher to do.
    pub(super) fn wake(&self) -> &Event {
        &self.wake
    }

    /// Ends the launcher and all workers, soon.
    pub fn stop(&self) {
        // Release: pairs with the acquire in `is_stopped`.
        self.stopped.store(true, Ordering::Release);
        self.state.lock().workers.values().for_each(|worker| worker.interrupts.set(Interrupt::Terminate));
        self.wake.set();
    }

    /// Whether the server is being shut down.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// These are the settings from now on.
    pub fn take_settings(&self, settings: &ServerSettings) {
        let mut state = self.state.lock();
        state.rate = Rate::of_server(settings);
        state.share();
        drop(state);
        self.wake.set();
    }

    /// A table is to be worked on; false if it is already.
    pub(super) fn add(&self, job: Job) -> bool {
        let mut state = self.state.lock();
        let is_new = !state.knows(job.key);
        if is_new {
            state.due.push_back(job);
        }
        is_new
    }

    /// A range is to be summarized.
    pub(super) fn add_range(&self, (database, index): Key, block: BlockNo) {
        let (key, allowed, summarize) = ((database, index), Need::default(), Some(block));
        self.state.lock().due.push_back(Job { key, database, allowed, summarize });
    }

    /// Whether a table is worked on, or is to be.
    pub(super) fn knows(&self, key: Key) -> bool {
        self.state.lock().knows(key)
    }

    /// Nothing is to be done any more, but what is being done.
    pub(super) fn clear(&self) {
        self.state.lock().due.clear();
    }

    /// A place for one more worker, with its first work, if there is work and are fewer than so many.
    pub(super) fn hire(self: &Arc<Self>, most: usize) -> Option<(Hired, Job)> {
        let mut state = self.state.lock();
        if state.workers.len() >= most {
            return None;
        }
        let job = state.due.pop_front()?;
        state.started += 1;
        let number = state.started;
        let worker = Worker { job: Some(job), interrupts: Interrupts::new(), spends: None };
        state.workers.insert(number, worker);
        drop(state);
        Some((Hired { autovacuum: self.clone(), number }, job))
    }

    /// The work that has ended since this was last asked.
    pub(super) fn take_ended(&self) -> Vec<Ended> {
        std::mem::take(&mut self.state.lock().ended)
    }
}

impl State {
    fn knows(&self, key: Key) -> bool {
        let working = self.workers.values().filter_map(|worker| worker.job.as_ref());
        self.due.iter().chain(working).any(|job| job.key == key)
    }

    /// The common limit is divided again among the workers that run now.
    fn share(&self) {
        let spending = || self.workers.values().filter_map(|worker| worker.spends.as_ref());
        let sharers = spending().filter(|(expense, _)| expense.is_shared()).count();
        for (expense, budget) in spending() {
            let (limit, delay) = expense.share(self.rate, sharers);
            budget.set(limit, delay);
        }
    }
}

/// A worker's place; given back when this is dropped.
pub(super) struct Hired {
    autovacuum: Arc<Autovacuum>,
    number: u64,
}

impl Hired {
    /// Interrupts the worker.
    pub(super) fn interrupts(&self) -> Interrupts {
        let state = self.autovacuum.state.lock();
        state.workers.get(&self.number).map(|worker| worker.interrupts.clone()).unwrap_or_default()
    }

    /// Sets what the worker may spend; `budget` is told its share of the common limit from now on.
    pub(super) fn spend(&self, expense: Expense, budget: &Arc<Budget>) {
        let mut state = self.autovacuum.state.lock();
        if let Some(worker) = state.workers.get_mut(&self.number) {
            worker.spends = Some((expense, budget.clone()));
        }
        state.share();
    }

    /// The work has ended.
    pub(super) fn end(&self, ended: Ended) {
        let mut state = self.autovacuum.state.lock();
        if ended.job.summarize.is_none() {
            state.ended.push(ended);
        }
        if let Some(worker) = state.workers.get_mut(&self.number) {
            (worker.job, worker.spends) = (None, None);
        }
        state.share();
        drop(state);
        self.autovacuum.wake.set();
    }

    /// Whether a worker's ids of a database are to be noted: not sooner than `rest` microseconds after the last time.
    pub(super) fn may_settle(&self, database: Oid, now: i64, rest: i64) -> bool {
        let mut state = self.autovacuum.state.lock();
        let last = state.settled.entry(database).or_insert(i64::MIN / 2);
        let may = now - *last >= rest;
        if may {
            *last = now;
        }
        may
    }

    /// More work in the same database, if there is.
    pub(super) fn next(&self, database: Oid) -> Option<Job> {
        let mut state = self.autovacuum.state.lock();
        let at = state.due.iter().position(|job| job.database == database)?;
        let next = state.due.remove(at);
        if let Some(worker) = state.workers.get_mut(&self.number) {
            worker.job = next;
        }
        next
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        let mut state = self.autovacuum.state.lock();
        // A worker that was unwound has not told.
        let left = state.workers.remove(&self.number).and_then(|worker| worker.job);
        if let Some(job) = left.filter(|job| job.summarize.is_none()) {
            let (outcome, took) = (Outcome::Failed, Duration::ZERO);
            state.ended.push(Ended { job, outcome, took, horizon: Xid::INVALID });
        }
        state.share();
        drop(state);
        self.autovacuum.wake.set();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(table: u32, database: u32) -> Job {
        let allowed = Need { vacuum: true, ..Need::default() };
        Job { key: (Oid(database), Oid(table)), database: Oid(database), allowed, summarize: None }
    }

    fn ended(job: Job) -> Ended {
        Ended { job, outcome: Outcome::Unneeded, took: Duration::ZERO, horizon: Xid::INVALID }
    }

    #[test]
    fn a_table_has_one_worker_and_a_worker_one_database() {
        let autovacuum = Arc::new(Autovacuum::waking(Arc::default(), &ServerSettings::new()));
        let (one, two, other) = (job(1, 5), job(2, 5), job(1, 6));
        assert!([one, other, two].into_iter().all(|job| autovacuum.add(job)));
        assert!(!autovacuum.add(one));
        let (worker, first) = autovacuum.hire(1).unwrap();
        assert_eq!(first, one);
        assert!(!autovacuum.add(one), "it is being worked on");
        assert!(autovacuum.hire(1).is_none(), "there is a worker");
        worker.end(ended(one));
        assert_eq!(worker.next(Oid(5)), Some(two));
        assert!(autovacuum.add(one), "it may need something again");
        worker.end(ended(two));
        assert_eq!(worker.next(Oid(5)), Some(one));
        drop(worker);
        let outcomes: Vec<_> = autovacuum.take_ended().iter().map(|ended| ended.outcome).collect();
        assert_eq!(outcomes, [Outcome::Unneeded, Outcome::Unneeded, Outcome::Failed]);
        assert_eq!(autovacuum.hire(1).unwrap().1, other);
    }

    #[test]
    fn stopping_reaches_whoever_works() {
        let autovacuum = Arc::new(Autovacuum::waking(Arc::default(), &ServerSettings::new()));
        autovacuum.add(job(1, 5));
        let (worker, _) = autovacuum.hire(1).unwrap();
        let interrupts = worker.interrupts();
        autovacuum.stop();
        assert!(interrupts.is_set(Interrupt::Terminate) && autovacuum.is_stopped());
    }
}
