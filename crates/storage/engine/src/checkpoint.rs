//! # What
//! Checkpoints: everything that was dirty at the redo point goes to disk, then the control file names that point and the log
//! before it is recycled.
//!
//! # Invariants
//! 1. One checkpoint at a time; requests that arrive meanwhile are served by the next. One that is spread hurries as long as somebody waits
//!    for the next, and when the server stops.
//! 2. Order: redo point, commits and cuts that are half done, pages, commit log and maps of files, fsync, lengths of files, checkpoint record, flush, control file,
//!    removal of segments. A crash anywhere recovers from the previous checkpoint or from this one.
//!
//! # PostgreSQL counterpart
//! `CreateCheckPoint`, `checkpointer.c`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use base::{Lsn, Xid};
use runtime::WaitEvent;
use runtime::time::{Instant, now};

use crate::control::Checkpoint;
use crate::{Engine, EngineError, lengths, xlog};

/// Why a checkpoint is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointCause {
    /// `checkpoint_timeout` passed: spread.
    Time,
    /// `max_wal_size` is about to be reached: spread.
    Wal,
    /// CHECKPOINT or another command: at once.
    Requested,
    /// A base backup that is in no hurry: spread.
    Backup,
    /// Recovery is done: at once.
    EndOfRecovery,
    /// The server stops: at once, unlogged relations too.
    Shutdown,
}

impl CheckpointCause {
    /// PostgreSQL's words in the log.
    fn as_str(self) -> &'static str {
        match self {
            CheckpointCause::Time => "time",
            CheckpointCause::Wal => "wal",
            CheckpointCause::Requested => "immediate force wait",
            CheckpointCause::Backup => "force wait",
            CheckpointCause::EndOfRecovery => "end-of-recovery immediate wait",
            CheckpointCause::Shutdown => "shutdown immediate",
        }
    }

    fn is_spread(self) -> bool {
        matches!(self, CheckpointCause::Time | CheckpointCause::Wal | CheckpointCause::Backup)
    }
}

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckpointStats {
    /// Where redo would start now.
    pub redo: Lsn,
    /// Its record in the log.
    pub record: Lsn,
    /// Pages written.
    pub buffers: usize,
    /// Pages of SLRUs written.
    pub slru_buffers: u64,
    /// What became of old files of the log.
    pub segments: wal::Recycled,
    /// Files synced.
    pub files: smgr::Synced,
    /// Time spent writing.
    pub write: Duration,
    /// Time spent syncing.
    pub sync: Duration,
    /// Time in all.
    pub total: Duration,
}

/// What all checkpoints since the start have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointTotals {
    /// Those due by time.
    pub timed: u64,
    /// Those that the log's volume or a command asked for.
    pub requested: u64,
    /// Those that are done.
    pub done: u64,
    /// Time spent writing.
    pub write: Duration,
    /// Time spent syncing.
    pub sync: Duration,
    /// Pages of SLRUs written.
    pub slru_written: u64,
    /// Files synced.
    pub files: u64,
}

/// What the checkpointer remembers.
pub(crate) struct Checkpointer {
    /// Held while a checkpoint runs.
    progress: runtime::Mutex<Progress>,
    /// Held for a copy.
    totals: runtime::Mutex<CheckpointTotals>,
    /// How many wait for a checkpoint that is not spread; a server that stops is one of them.
    waiting: AtomicUsize,
}

/// Of the latest checkpoint.
#[derive(Default)]
pub(crate) struct Progress {
    /// Redo point of the latest checkpoint.
    redo: Lsn,
    /// When it was taken.
    at: Instant,
    /// End of the log just behind its record: nothing to do if it is still there.
    end: Lsn,
    /// As the file has them.
    lengths: lengths::Lengths,
}

impl Default for Checkpointer {
    fn default() -> Checkpointer {
        let event = WaitEvent::Checkpoint;
        Checkpointer {
            progress: runtime::Mutex::new(event, Progress::default()),
            totals: runtime::Mutex::new(event, CheckpointTotals::default()),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl Checkpointer {
    /// The server starts from the checkpoint with this redo point.
    pub(crate) fn start(&self, redo: Lsn) {
        self.progress.lock().start(redo);
    }
}

impl Progress {
    /// The server starts from the checkpoint with this redo point.
    pub(crate) fn start(&mut self, redo: Lsn) {
        *self = Progress { redo, at: now(), ..Progress::default() };
    }
}

impl Engine {
    /// Takes a checkpoint and waits for it.
    pub fn checkpoint(&self, cause: CheckpointCause) -> Result<CheckpointStats, EngineError> {
        if self.is_following() {
            let _progress = self.next_checkpoint(cause);
            self.newest_restart_point()?;
            return Ok(CheckpointStats::default());
        }
        if cause != CheckpointCause::EndOfRecovery {
            // Redo would have to begin behind what pages still need.
            self.finish_recovery()?;
        }
        let mut progress = self.next_checkpoint(cause);
        let begin = now();
        self.note_checkpoint(|totals| match cause {
            CheckpointCause::Time => totals.timed += 1,
            CheckpointCause::Shutdown => {}
            _ => totals.requested += 1,
        });
        self.warn_of_frequency(cause, begin.since(progress.at));
        if self.options().log_checkpoints {
            tracing::info!("checkpoint starting: {}", cause.as_str());
        }
        let shutdown = cause == CheckpointCause::Shutdown;
        let quiet = self.archiver.is_quiet(self.wal.insert_end());
        let redo = if shutdown { self.wal.begin_shutdown_checkpoint() } else { self.wal.begin_checkpoint() };
        base::stop_point!("checkpoint-begin");
        self.txns.wait_for_commits_in_flight();
        let buffers = self.write_pages(cause, begin, redo)?;
        let slru_before = self.slru_written();
        let prepared = self.txns.checkpoint(redo)?;
        self.maps.write(&self.dir)?;
        self.slots.save_all()?;
        let slru_written = self.slru_written() - slru_before;
        if shutdown {
            self.smgr.trim()?;
        }
        let written = now();
        let lengths = self.smgr.lengths();
        let files = self.smgr.sync_all_pending()?;
        if progress.lengths != lengths {
            lengths::write(&self.dir, &lengths)?;
            progress.lengths = lengths;
        }
        let synced = now();
        base::stop_point!("checkpoint-before-record");
        let record;
        (record, progress.end) = self.record_checkpoint(cause, redo, &prepared)?;
        if quiet && record == self.wal.behind_bare_record(redo) {
            self.archiver.set_quiet(progress.end);
        }
        base::stop_point!("checkpoint-end");
        self.summarizer.wake();
        let segments = self.remove_old_segments(redo)?;
        let stats = CheckpointStats {
            redo,
            record,
            buffers,
            slru_buffers: slru_written,
            segments,
            files,
            write: written.since(begin),
            sync: synced.since(written),
            total: now().since(begin),
        };
        self.note_checkpoint(|totals| {
            totals.done += u64::from(!shutdown);
            totals.write += stats.write;
            totals.sync += stats.sync;
            totals.files += stats.files.count as u64;
            totals.slru_written += slru_written;
        });
        if self.options().log_checkpoints {
            self.log_checkpoint(&stats, redo.0.saturating_sub(progress.redo.0));
        }
        progress.redo = redo;
        progress.at = begin;
        Ok(stats)
    }

    /// Waits for the checkpoint under way.
    fn next_checkpoint(&self, cause: CheckpointCause) -> runtime::MutexGuard<'_, Progress> {
        let Checkpointer { progress, waiting, .. } = &self.checkpointer;
        if cause.is_spread() {
            return progress.lock();
        }
        // Relaxed, here and below: a hint to hurry.
        waiting.fetch_add(1, Relaxed);
        let progress = progress.lock();
        waiting.fetch_sub(1, Relaxed);
        progress
    }

    /// Waits for the checkpoint or restart point under way, which hurries. None begins as long as what is returned is held.
    pub(crate) fn hold_checkpoints(&self) -> runtime::MutexGuard<'_, Progress> {
        self.next_checkpoint(CheckpointCause::Requested)
    }

    /// The server stops, and will ask for the last checkpoint: from now on none is spread.
    pub(crate) fn hurry_checkpoints(&self) {
        self.checkpointer.waiting.fetch_add(1, Relaxed);
    }

    /// What all checkpoints since the start have done.
    pub fn checkpoint_totals(&self) -> CheckpointTotals {
        *self.checkpointer.totals.lock()
    }

    fn note_checkpoint(&self, note: impl FnOnce(&mut CheckpointTotals)) {
        note(&mut self.checkpointer.totals.lock());
    }

    fn slru_written(&self) -> u64 {
        self.txns.slru_stats().iter().map(|slru| slru.written).sum()
    }

    /// Writes dirty pages, spread over the time to the next checkpoint if nobody waits for it.
    fn write_pages(&self, cause: CheckpointCause, begin: Instant, redo: Lsn) -> Result<usize, EngineError> {
        let mut spread = |done: usize, total: usize| {
            if !cause.is_spread() || self.checkpointer.waiting.load(Relaxed) > 0 {
                return;
            }
            let early = self.ahead_of_schedule(begin, redo, done as f64 / total.max(1) as f64);
            if early > Duration::from_millis(10) {
                let pause = runtime::time::sleep(early.min(Duration::from_millis(100)));
                runtime::waiting(WaitEvent::CheckpointDelay, || runtime::wait(pause));
            }
        };
        Ok(self.pool.checkpoint_write(cause == CheckpointCause::Shutdown, &mut spread)?)
    }

    /// How early it is for a checkpoint to have written `share` of its pages. It keeps up with the clock and with the log, whichever
    /// brings the next checkpoint sooner.
    fn ahead_of_schedule(&self, begin: Instant, redo: Lsn, share: f64) -> Duration {
        let options = self.options();
        let share = share * options.checkpoint_completion_target;
        let log = self.wal.insert_end().0.saturating_sub(redo.0);
        if log as f64 > self.log_between_checkpoints() as f64 * share {
            return Duration::ZERO;
        }
        options.checkpoint_timeout.mul_f64(share).saturating_sub(now().since(begin))
    }

    /// How much log behind the redo point makes a checkpoint due. That log is kept until the checkpoint is done, and while it is spread
    /// `checkpoint_completion_target` of as much joins it: together `max_wal_size`.
    fn log_between_checkpoints(&self) -> u64 {
        let options = self.options();
        let wal = &options.wal;
        match options.checkpoint_segments {
            0 => (wal.max_size as f64 / (1.0 + options.checkpoint_completion_target)) as u64,
            segments => segments.saturating_mul(wal.segment_size),
        }
    }

    /// Logs the checkpoint, then lets the control file name it. Returns its place in the log, and the end of the log behind it.
    fn record_checkpoint(
        &self,
        cause: CheckpointCause,
        redo: Lsn,
        prepared: &[Xid],
    ) -> Result<(Lsn, Lsn), EngineError> {
        let oldest = self.txns.oldest_ids();
        let checkpoint = Checkpoint {
            redo,
            next_xid: self.txns.next_xid(),
            next_oid: self.oids.bound(),
            next_multixact: self.txns.next_multi_with_page().0,
            oldest_running: self.txns.oldest_running(),
            time: runtime::wall_clock_micros(),
            shutdown: cause == CheckpointCause::Shutdown,
            oldest_xid: oldest.xid,
            oldest_multixact: oldest.multi.0,
            timeline: self.wal.timeline(),
            previous_timeline: self.wal.timeline(),
            full_page_writes: self.options().wal.full_page_writes,
            wal_level: self.options().recorded.wal_level,
        };
        let inserted = self.wal.insert_range(&xlog::checkpoint_record(&checkpoint, prepared));
        self.wal.flush(inserted.end)?;
        base::stop_point!("checkpoint-before-control");
        let mut control = self.control.lock();
        control.checkpoint = checkpoint;
        control.checkpoint_lsn = inserted.start;
        control.time = checkpoint.time;
        control.write(&self.dir)?;
        Ok((inserted.start, inserted.end))
    }

    fn log_checkpoint(&self, stats: &CheckpointStats, distance: u64) {
        let share = 100.0 * stats.buffers as f64 / self.options().shared_buffers.max(1) as f64;
        let seconds = |time: Duration| format!("{:.3} s", time.as_secs_f64());
        let files = stats.files;
        // New files of the log are made as they are needed, not here.
        tracing::info!(
            "checkpoint complete: wrote {} buffers ({share:.1}%), wrote {} SLRU buffers; \
             0 WAL file(s) added, {} removed, {} recycled; write={}, sync={}, total={}; \
             sync files={}, longest={}, average={}; distance={} kB, estimate={} kB; lsn={}, redo lsn={}",
            stats.buffers,
            stats.slru_buffers,
            stats.segments.removed,
            stats.segments.recycled,
            seconds(stats.write),
            seconds(stats.sync),
            seconds(stats.total),
            files.count,
            seconds(files.longest),
            seconds(files.total / (files.count as u32).max(1)),
            distance / 1024,
            self.wal.expected_distance() / 1024,
            stats.record,
            stats.redo
        );
    }

    /// Log that grows so fast that it causes a checkpoint soon after the last one had better have more room (`checkpoint_warning`).
    fn warn_of_frequency(&self, cause: CheckpointCause, since_last: Duration) {
        if cause == CheckpointCause::Wal && since_last < self.options().checkpoint_warning {
            let seconds = since_last.as_secs();
            let plural = if seconds == 1 { "second" } else { "seconds" };
            tracing::info!(
                hint = %"Consider increasing the configuration parameter \"max_wal_size\".",
                "checkpoints are occurring too frequently ({seconds} {plural} apart)"
            );
        }
    }

    /// While the log is replayed: a restart point, if it is time for one; spread as a checkpoint is.
    pub(crate) fn restart_point_if_due(&self) -> Result<(), EngineError> {
        let Some(mut progress) = self.checkpointer.progress.try_lock() else { return Ok(()) };
        let reached = self.replayed().map_or(Lsn::INVALID, |replayed| replayed.end);
        let by_log = reached.0.saturating_sub(progress.end.0) >= self.log_between_checkpoints();
        if !by_log && now().since(progress.at) < self.options().checkpoint_timeout {
            return Ok(());
        }
        let begin = now();
        let mut spread = |done: usize, total: usize| {
            let share = done as f64 / total.max(1) as f64 * self.options().checkpoint_completion_target;
            let early = self.options().checkpoint_timeout.mul_f64(share).saturating_sub(now().since(begin));
            let hurries = by_log || self.checkpointer.waiting.load(Relaxed) > 0 || !self.is_following();
            if !hurries && early > Duration::from_millis(10) {
                let pause = runtime::time::sleep(early.min(Duration::from_millis(100)));
                runtime::waiting(WaitEvent::CheckpointDelay, || runtime::wait(pause));
            }
        };
        self.restart_point(&mut spread)?;
        (progress.at, progress.end) = (begin, reached);
        Ok(())
    }

    /// The checkpoint that is due now by time or by log volume, if any. None while one is being taken: whoever asks asks again.
    pub(crate) fn checkpoint_due(&self) -> Option<CheckpointCause> {
        if self.is_in_recovery() {
            return None;
        }
        let progress = self.checkpointer.progress.try_lock()?;
        let written = self.wal.insert_end().0.saturating_sub(progress.redo.0);
        // Segments before this one, if there are any, will do for the one that there is no room for.
        let frees =
            || self.wal.is_short() && self.wal.segments_between(progress.redo, self.wal.insert_end()) > 0;
        if written >= self.log_between_checkpoints() || frees() {
            return Some(CheckpointCause::Wal);
        }
        let end = self.wal.insert_end();
        let idle = end == progress.end || self.archiver.is_quiet(end);
        (!idle && now().since(progress.at) >= self.options().checkpoint_timeout)
            .then_some(CheckpointCause::Time)
    }
}
