//! Automatic vacuums, and the workers of subscriptions: where they and their launchers run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::SqlError;
use command::apply;
use command::autovacuum::{Autovacuum, Host, Launcher, Place};
use runtime::Workers;
use session::{Instance, LogSink};

use crate::log::{self, Subject};
use crate::loops::Loops;
use crate::sessions::Sessions;

/// The workers of the runtime, for those of automatic vacuums, or of subscriptions.
struct Upkeep {
    workers: Workers,
    sessions: Arc<Sessions>,
    loops: Arc<Loops>,
    /// How many were started.
    started: AtomicUsize,
}

/// Starts the launcher.
pub fn start(
    (instance, autovacuum): (Arc<Instance>, Arc<Autovacuum>),
    workers: &Workers,
    sessions: &Arc<Sessions>,
    loops: &Arc<Loops>,
) {
    let running = loops.enter();
    let host = Upkeep::new(workers, sessions, loops);
    workers.spawn_fiber_on(0, move || {
        let _running = running;
        Launcher::new(instance, autovacuum, host).run();
    });
}

/// Starts the launcher of subscriptions' workers.
pub fn start_appliers(
    instance: Arc<Instance>,
    workers: &Workers,
    sessions: &Arc<Sessions>,
    loops: &Arc<Loops>,
) {
    let running = loops.enter();
    let host = Upkeep::new(workers, sessions, loops);
    workers.spawn_fiber_on(0, move || {
        let _running = running;
        apply::Launcher::new(instance, host).run();
    });
}

impl apply::Host for Upkeep {
    fn start_worker(&self, work: Box<dyn FnOnce(Place) + Send>) {
        self.run(work);
    }

    fn log(&self, line: &SqlError) {
        log::report(line, None, None);
    }
}

impl Host for Upkeep {
    fn start_worker(&self, work: Box<dyn FnOnce(Place) + Send>) {
        self.run(work);
    }

    fn log(&self, line: &SqlError) {
        log::report(line, None, None);
    }
}

impl Upkeep {
    fn new(workers: &Workers, sessions: &Arc<Sessions>, loops: &Arc<Loops>) -> Arc<Upkeep> {
        Arc::new(Upkeep {
            workers: workers.clone(),
            sessions: sessions.clone(),
            loops: loops.clone(),
            started: AtomicUsize::new(0),
        })
    }

    /// Runs a worker in a fiber of its own.
    fn run(&self, work: Box<dyn FnOnce(Place) + Send>) {
        let (running, number) = (self.loops.enter(), self.sessions.reserve());
        // Relaxed: they are only spread.
        let at = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        self.workers.spawn_fiber_on(at % self.workers.count(), move || {
            let (pid, _running) = (number.pid(), running);
            work(Place { pid, log: Box::new(move |database| sink(pid, database)) });
            drop(number);
        });
    }
}

/// Takes the lines of a worker.
fn sink(pid: i32, database: &str) -> LogSink {
    let subject = Subject {
        pid,
        database: database.to_owned(),
        since: runtime::wall_clock_micros(),
        ..Subject::default()
    };
    Box::new(move |line, statement, situation| log::report_in(line, Some(&subject), statement, situation))
}
