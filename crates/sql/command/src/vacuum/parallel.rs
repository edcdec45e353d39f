//! # What
//! Passes over the indexes of a table: by the session that vacuums it, helped by threads if there are several large indexes.
//!
//! # Invariants
//! 1. A pass has ended on all threads before the session goes on: line pointers are freed behind it.
//! 2. Resources that helpers use are counted for the session.
//! 3. No more helpers work in the server than [`Helpers::plan`] was allowed by `max_parallel_workers`.
//!
//! # PostgreSQL counterpart and differences
//! `commands/vacuumparallel.c`. Helpers are threads of the process: they have no row in `pg_stat_activity`, and `max_worker_processes` does not count them.

use std::sync::atomic::{AtomicBool, Ordering};

use base::settings::Setting;
use base::{SqlResult, SqlState, Xid};
use buffer::{Ring, RingKind};
use catalog::Table;
use engine::{Engine, OpenIndex};
use heap::vacuum::IndexCleanup;
use heap::{HeapError, HeapResult, TidSet};
use index::{IndexError, IndexResult, Manner, VacuumStats};
use parking_lot::Mutex;
use runtime::Interrupt;
use runtime::usage::{self, Usage};
use session::Session;
use session::progress::Progress;

use super::maintenance::{Maintenance, warn};
use super::pace::{Pace, Terms};
use super::table::{DELAY_TIME, INDEXES_DONE, Vacuumed};
use crate::rewrite;

/// What a pass does with each index.
#[derive(Clone, Copy)]
pub(super) enum Task<'a> {
    /// Removes the entries of these rows.
    BulkDelete(&'a TidSet),
    /// Ends the work. `first`: no entries were removed before, so this may be a pass over all pages.
    Cleanup { first: bool },
}

/// Which indexes of a table helpers may take, and how many helpers there may be.
pub(super) struct Helpers {
    /// For each index.
    eligible: Vec<bool>,
    most: usize,
    verbose: bool,
    /// Bytes of each helper's ring of buffers.
    ring: usize,
}

impl Helpers {
    /// As was asked for, and as large as the indexes are now. All access methods do both kinds of passes in parallel, but for a cleanup after a pass
    /// that removed entries, which has little to do.
    pub fn plan(
        session: &Session,
        (table, how): (&Table, &Maintenance),
        indexes: &[Vacuumed],
        cleanup: IndexCleanup,
    ) -> SqlResult<Helpers> {
        let (verbose, ring) = (how.verbose, how.ring);
        let none = Helpers { eligible: vec![false; indexes.len()], most: 0, verbose, ring };
        let Some(asked) = how.workers else { return Ok(none) };
        if indexes.len() < 2 || cleanup == IndexCleanup::Off {
            return Ok(none);
        }
        if table.persistence == 't' {
            if asked > 0 {
                let message = format!(
                    "disabling parallel option of vacuum on \"{}\" --- cannot vacuum temporary tables in parallel",
                    table.name
                );
                warn(session, SqlState::WARNING, message);
            }
            return Ok(none);
        }
        let number = |setting| session.settings.borrow().get(setting).as_int().max(0) as usize;
        let least = number(Setting::min_parallel_index_scan_size);
        let mut eligible = Vec::with_capacity(indexes.len());
        for open in indexes {
            eligible.push(session.blocks(open.rel.desc().file)? as usize >= least);
        }
        // The session takes one itself.
        let fit = eligible.iter().filter(|eligible| **eligible).count().saturating_sub(1);
        let most = if asked > 0 { fit.min(asked as usize) } else { fit };
        let most = most.min(number(Setting::max_parallel_maintenance_workers));
        Ok(Helpers { eligible, most, verbose, ring })
    }

    /// Helpers for a pass.
    fn wanted(&self, task: Task<'_>) -> usize {
        match task {
            Task::Cleanup { first: false } => 0,
            _ => self.most,
        }
    }
}

/// One index in a pass.
struct Job {
    rel: OpenIndex,
    before: Option<VacuumStats>,
    /// A helper may take it.
    eligible: bool,
    taken: AtomicBool,
    result: Mutex<Option<IndexResult<VacuumStats>>>,
}

/// One pass over all indexes of a table.
pub(super) struct Pass<'a> {
    session: &'a Session,
    table: &'a str,
    task: Task<'a>,
    progress: &'a Progress,
    pace: &'a Pace<'a>,
}

/// What threads share in a pass.
struct Shared<'a> {
    engine: &'a Engine,
    limits: index::Limits,
    task: Task<'a>,
    progress: &'a Progress,
    terms: &'a Terms<'a>,
    jobs: Vec<Job>,
    stop: AtomicBool,
}

impl<'a> Pass<'a> {
    pub fn new(
        session: &'a Session,
        table: &'a str,
        (task, progress, pace): (Task<'a>, &'a Progress, &'a Pace<'a>),
    ) -> Pass<'a> {
        Pass { session, table, task, progress, pace }
    }

    /// Goes over the indexes and leaves what was found with each of them.
    pub fn run(&self, indexes: &mut [Vacuumed], helpers: &Helpers, ring: Option<&Ring>) -> HeapResult<()> {
        let jobs = indexes.iter().zip(&helpers.eligible).map(|(open, &eligible)| Job {
            rel: open.rel.clone(),
            before: open.stats,
            eligible,
            taken: AtomicBool::new(false),
            result: Mutex::new(None),
        });
        let shared = Shared {
            limits: self.session.index_limits(),
            engine: self.session.engine(),
            task: self.task,
            progress: self.progress,
            terms: self.pace.terms(),
            jobs: jobs.collect(),
            stop: AtomicBool::new(false),
        };
        let wanted = helpers.wanted(self.task);
        let claim = self.session.claim_helpers(wanted);
        let timed = self.session.settings.borrow().fast().track_io_timing;
        let read_ahead = runtime::ReadAhead::current();
        let (own, helped) = runtime::alongside(
            claim.count(),
            || {
                read_ahead.enter();
                shared.help(helpers.ring, timed)
            },
            || shared.stop(),
            |launched| {
                if helpers.verbose && wanted > 0 {
                    self.tell(launched, wanted);
                }
                self.lead(&shared, ring)
            },
        );
        let used = helped.map_err(HeapError::Interrupted)?;
        used.into_iter().for_each(Usage::add_to_running);
        self.pace.forget();
        self.collect(indexes, shared, own)
    }

    fn tell(&self, launched: usize, planned: usize) {
        let what = match self.task {
            Task::BulkDelete(_) => "vacuuming",
            Task::Cleanup { .. } => "cleanup",
        };
        let end = if launched == 1 { "" } else { "s" };
        let message =
            format!("launched {launched} parallel vacuum worker{end} for index {what} (planned: {planned})");
        rewrite::info(self.session, message, None);
    }

    /// The session's own share: first the indexes that helpers must not take. Returns the interrupt, if one came.
    fn lead(&self, shared: &Shared<'_>, ring: Option<&Ring>) -> Result<(), Interrupt> {
        let mut interrupted = Ok(());
        let mut pause = || {
            let paused = self.pace.pause(self.progress, DELAY_TIME);
            if paused.is_err() {
                interrupted = paused;
            }
            paused.and_then(|()| shared.look())
        };
        for eligible in [false, true] {
            shared.take(eligible, &mut Manner { ring, pause: &mut pause });
        }
        interrupted
    }

    /// What the indexes' passes gave, or the first error that is none of being stopped.
    fn collect(
        &self,
        indexes: &mut [Vacuumed],
        shared: Shared<'_>,
        own: Result<(), Interrupt>,
    ) -> HeapResult<()> {
        let mut stopped = None;
        for (open, job) in indexes.iter_mut().zip(shared.jobs) {
            match job.result.into_inner() {
                Some(Ok(stats)) => open.stats = Some(stats),
                Some(Err(error)) => {
                    let interrupted = matches!(error, IndexError::Interrupted(_));
                    let error = HeapError::Callback(error.into_sql(&open.index.name, self.table));
                    if !interrupted {
                        return Err(error);
                    }
                    stopped.get_or_insert(error);
                }
                None => {}
            }
        }
        own.map_err(HeapError::Interrupted)?;
        stopped.map_or(Ok(()), Err)
    }
}

impl Shared<'_> {
    fn stop(&self) {
        // Relaxed: a helper that reads the flag late only stops later.
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Fails once a pass of another thread has failed.
    fn look(&self) -> Result<(), Interrupt> {
        if self.stop.load(Ordering::Relaxed) { Err(Interrupt::Cancel) } else { Ok(()) }
    }

    /// A helper's part; gives what it used.
    fn help(&self, ring: usize, timed: bool) -> Usage {
        let before = Usage::so_far();
        usage::time_io(timed);
        let ring = (ring > 0).then(|| self.engine.pool().ring_of(RingKind::Vacuum, ring));
        let pace = Pace::beside(self.terms);
        let mut pause = || {
            self.look()?;
            pace.pause(self.progress, DELAY_TIME)
        };
        self.take(true, &mut Manner { ring: ring.as_ref(), pause: &mut pause });
        Usage::so_far() - before
    }

    /// Goes over indexes, eligible ones or the others, until there are none left.
    fn take(&self, eligible: bool, manner: &mut Manner<'_>) {
        for job in self.jobs.iter().filter(|job| job.eligible == eligible) {
            if self.look().is_err() || job.taken.swap(true, Ordering::Relaxed) {
                continue;
            }
            let result = self.one(job, manner);
            if result.is_err() {
                self.stop();
            }
            *job.result.lock() = Some(result);
            self.progress.add(INDEXES_DONE, 1);
        }
    }

    fn one(&self, job: &Job, manner: &mut Manner<'_>) -> IndexResult<VacuumStats> {
        let access = index::Access { limits: self.limits, ..self.engine.index_access(Xid::INVALID) };
        match self.task {
            Task::BulkDelete(dead) => {
                let mut stats = job.before.unwrap_or_default();
                job.rel.bulk_delete(&access, &mut |tid| dead.contains(tid), manner, &mut stats)?;
                Ok(stats)
            }
            Task::Cleanup { .. } => job.rel.cleanup(&access, manner, job.before),
        }
    }
}
