//! Workers that bring all pages up to date, in the order of files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::RelFile;
use buffer::{BufferError, BufferPool, Tag};
use parking_lot::Mutex;
use runtime::time::now;
use runtime::{Event, WaitEvent};
use smgr::SmgrError;

use super::Recovery;
use crate::EngineError;

/// Pages that a worker takes at a time, side by side.
const BATCH: usize = 64;
/// How long a worker waits for a buffer or a descriptor.
const PATIENCE: Duration = Duration::from_millis(10);

/// Workers of a recovery.
#[derive(Default)]
pub(super) struct Workers {
    /// One for each that works, in whatever round, held while it is at a page.
    busy: Mutex<Vec<Arc<runtime::Mutex<()>>>>,
    told: std::sync::atomic::AtomicBool,
    /// The round behind which recovery ends.
    round: Mutex<Option<Arc<Round>>>,
}

/// Once through all lists that there are when it begins.
pub(super) struct Round {
    running: AtomicUsize,
    failed: Mutex<Option<BufferError>>,
    ended: Event,
}

impl Workers {
    /// Returns when no worker is at a page whose list was gone before this was called.
    pub fn pass_by(&self) {
        let busy = self.busy.lock().clone();
        busy.iter().for_each(|busy| drop(busy.lock()));
    }

    /// Recovery ends behind this round.
    pub fn end_behind(&self, round: Arc<Round>) {
        *self.round.lock() = Some(round);
    }

    /// Waits until that round is over.
    pub fn wait(&self) -> Result<(), BufferError> {
        let round = self.round.lock().clone();
        round.map_or(Ok(()), |round| round.wait())
    }

    /// Whether the end is yet to be told.
    pub fn tell_end(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

impl Round {
    /// Whether it is over.
    pub fn has_ended(&self) -> bool {
        self.ended.is_set()
    }

    /// Waits until there is nothing left to do, or not to be done.
    pub fn wait(&self) -> Result<(), BufferError> {
        self.ended.wait();
        self.failed.lock().clone().map_or(Ok(()), Err)
    }

    fn end(&self, result: Result<(), BufferError>) {
        if let Err(error) = result {
            self.failed.lock().get_or_insert(error);
        }
        // AcqRel: the last one has seen what the others did.
        if self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ended.set();
        }
    }
}

/// A worker that is gone, even by a panic.
struct Leaving {
    round: Arc<Round>,
    result: Option<Result<(), BufferError>>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let interrupted = || {
            let reason = "a worker of recovery was interrupted".into();
            Err(BufferError::Redo { lsn: base::Lsn::INVALID, reason })
        };
        self.round.end(self.result.take().unwrap_or_else(interrupted));
    }
}

/// Starts `count` workers, or one for each processor, on a round. Others may be under way.
pub(super) fn start(
    recovery: &Arc<Recovery>,
    pool: &Arc<BufferPool>,
    count: usize,
) -> Result<Arc<Round>, EngineError> {
    let tags: Arc<[Tag]> = recovery.lists.tags(|_| true).into();
    let next = Arc::new(AtomicUsize::new(0));
    let count = if count > 0 { count } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let count = count.min(tags.len().div_ceil(BATCH)).max(1);
    let round = Arc::new(Round {
        running: AtomicUsize::new(count),
        failed: Mutex::default(),
        ended: Event::default(),
    });
    // A worker that has ended holds its own no more.
    recovery.workers.busy.lock().retain(|busy| Arc::strong_count(busy) > 1);
    for number in 0..count {
        let busy = Arc::new(runtime::Mutex::new(WaitEvent::DataFileRead, ()));
        recovery.workers.busy.lock().push(busy.clone());
        let (recovery, pool, round) = (recovery.clone(), pool.clone(), round.clone());
        let (tags, next) = (tags.clone(), next.clone());
        let work = move || {
            let mut leaving = Leaving { round, result: None };
            leaving.result = Some(work(&recovery, &pool, (&tags, &next), &busy, number == 0));
        };
        runtime::spawn_thread("redo", work)
            .map_err(|e| EngineError::Io("could not start thread of recovery".into(), e))?;
    }
    Ok(round)
}

fn work(
    recovery: &Recovery,
    pool: &BufferPool,
    (tags, next): (&[Tag], &AtomicUsize),
    busy: &runtime::Mutex<()>,
    reports: bool,
) -> Result<(), BufferError> {
    let mut reported = now();
    loop {
        // Relaxed: each gets another stretch, whatever else is seen.
        let first = next.fetch_add(BATCH, Ordering::Relaxed);
        if first >= tags.len() {
            return Ok(());
        }
        for &tag in &tags[first..tags.len().min(first + BATCH)] {
            if recovery.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let _busy = busy.lock();
            if recovery.lists.has(tag) {
                bring(recovery, pool, tag)?;
            }
        }
        if reports {
            recovery.report_pages(&mut reported);
        }
    }
}

/// Brings a page up to date by reading it.
fn bring(recovery: &Recovery, pool: &BufferPool, tag: Tag) -> Result<(), BufferError> {
    loop {
        match pool.read(tag) {
            Ok(_) => return Ok(()),
            // Nobody can read it: the file lost pages, which whoever tries is told.
            Err(BufferError::File(
                SmgrError::MissingFile { .. } | SmgrError::PastEnd { .. } | SmgrError::Cut { .. },
            )) => {
                recovery.lists.done(tag, u64::MAX);
                return Ok(());
            }
            Err(error) if error.is_transient() || error == BufferError::NoUnpinnedBuffers => {
                runtime::wait(runtime::sleep(PATIENCE));
            }
            Err(error) => return Err(error),
        }
    }
}

impl Recovery {
    /// Brings the pages of some files up to date, alone.
    pub(super) fn bring_all(
        &self,
        pool: &BufferPool,
        wanted: impl Fn(RelFile) -> bool,
    ) -> Result<(), BufferError> {
        self.lists.tags(wanted).into_iter().try_for_each(|tag| bring(self, pool, tag))
    }

    fn report_pages(&self, reported: &mut runtime::time::Instant) {
        if !self.report.is_zero() && reported.elapsed() >= self.report {
            *reported = now();
            tracing::info!(
                "redo in progress, elapsed time: {:.2} s, pages to go: {} of {}",
                self.started.elapsed().as_secs_f64(),
                self.lists.pages(),
                self.total.load(Ordering::Relaxed)
            );
        }
    }
}
