//! # What
//! The archiver: gives complete files of the log to `archive_command`, one after the other, and marks what the archive has. The log knows which files wait
//! ([`wal::ArchiveStatus`]). What begins a new file early is here too: `pg_switch_wal()` and `archive_timeout`; and named places in the log.
//!
//! # Invariants
//! 1. A file is marked as done after the command said so, and only then may a checkpoint remove it.
//! 2. A crash between the two archives the file once more: the command has to take a file that is there already for success, if it is the same.
//!
//! # Locks
//! `stats`, short.
//!
//! # PostgreSQL counterpart
//! `pgarch.c`, `shell_archive.c`; `CheckArchiveTimeout`.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use base::{Lsn, Xid};
use parking_lot::Mutex;
use runtime::WaitEvent;
use wal::{RecordBuilder, Rmgr, xlog_info};

use crate::{Engine, EngineError, shell};

/// Attempts at a file before others have their turn again.
const ATTEMPTS: usize = 3;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// When files of the log are archived (`archive_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArchiveMode {
    /// Never.
    #[default]
    Off,
    /// While the server is no standby.
    On,
    /// Also what a standby gets.
    Always,
}

impl ArchiveMode {
    /// The word of the setting.
    pub fn named(word: &str) -> ArchiveMode {
        match word {
            "on" => ArchiveMode::On,
            "always" => ArchiveMode::Always,
            _ => ArchiveMode::Off,
        }
    }
}

/// How files of the log are archived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveOptions {
    /// `archive_mode`.
    pub mode: ArchiveMode,
    /// `archive_command`.
    pub command: String,
    /// `archive_timeout`; zero: never.
    pub timeout: Duration,
}

/// Files that were archived, or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// How many.
    pub count: u64,
    /// The last one, and when, in microseconds since 2000-01-01 UTC.
    pub last: Option<(String, i64)>,
}

/// What the archiver has done since the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiverStats {
    /// Files that the archive has.
    pub done: Archived,
    /// Attempts that failed.
    pub failed: Archived,
}

/// What is remembered of archiving, and of the ends of segments.
#[derive(Default)]
pub(crate) struct Archiver {
    stats: Mutex<ArchiverStats>,
    /// When the last segment was left early or found to be full, microseconds since 2000-01-01 UTC, and the segment's start.
    switched_at: AtomicI64,
    segment: AtomicU64,
    /// End of the log when nothing but a checkpoint was behind the last switch: there is nothing worth another one.
    quiet: AtomicU64,
    /// Files wait for the next server.
    left: AtomicBool,
}

impl Archiver {
    /// Nothing worth archiving was logged before this end of the log, since the last switch.
    pub(crate) fn set_quiet(&self, end: Lsn) {
        self.quiet.store(end.0, Ordering::Relaxed);
    }

    pub(crate) fn is_quiet(&self, end: Lsn) -> bool {
        self.quiet.load(Ordering::Relaxed) == end.0
    }
}

impl Engine {
    /// What the archiver has done since the server started.
    pub fn archiver_stats(&self) -> ArchiverStats {
        self.archiver.stats.lock().clone()
    }

    /// Whether files of the log are archived.
    pub fn is_archiving(&self) -> bool {
        self.wal.archive().is_active()
    }

    /// Leaves what is complete to the next server: this one is for repairs.
    pub fn leave_archiving(&self) {
        // Relaxed: set before there are sessions.
        self.archiver.left.store(true, Ordering::Relaxed);
    }

    /// Archives the files that wait, until none does or one fails several times. `stop`: it is not worth waiting for more attempts.
    pub(crate) fn archive_waiting(&self, stop: &dyn Fn() -> bool) -> Result<(), EngineError> {
        if !self.is_archiving() || self.archiver.left.load(Ordering::Relaxed) {
            return Ok(());
        }
        loop {
            let waiting = self.wal.archive().waiting()?;
            let Some(name) = waiting.first() else { return Ok(()) };
            if self.options().archive.command.is_empty() {
                tracing::warn!(
                    detail = %"\"archive_command\" is not set.",
                    "\"archive_mode\" enabled, yet archiving is not configured"
                );
                return Ok(());
            }
            if !self.archive_file(name, stop)? {
                return Ok(());
            }
        }
    }

    /// Archives a file; false if that failed several times.
    fn archive_file(&self, name: &str, stop: &dyn Fn() -> bool) -> Result<bool, EngineError> {
        let path = self.wal.dir().join(name);
        if !runtime::fs::exists(&path)
            .map_err(|e| EngineError::Io(format!("could not stat \"{name}\""), e))?
        {
            tracing::warn!("removed orphan archive status file \"pg_wal/archive_status/{name}.ready\"");
            self.wal.archive().forget(name)?;
            return Ok(true);
        }
        for attempt in 1..=ATTEMPTS {
            let worked = self.run_archive_command(name);
            self.note_archived(name, worked);
            if worked {
                self.wal.archive().set_done(name)?;
                return Ok(true);
            }
            if attempt == ATTEMPTS || stop() {
                break;
            }
            runtime::wait(runtime::sleep(PAUSE));
        }
        tracing::warn!(
            "archiving write-ahead log file \"{name}\" failed too many times, will try again later"
        );
        Ok(false)
    }

    fn note_archived(&self, name: &str, worked: bool) {
        let mut stats = self.archiver.stats.lock();
        let of = if worked { &mut stats.done } else { &mut stats.failed };
        of.count += 1;
        of.last = Some((name.to_owned(), runtime::wall_clock_micros()));
    }

    /// Whether the archive has the file.
    fn run_archive_command(&self, name: &str) -> bool {
        let options = self.options();
        let command = &options.archive.command;
        let path = format!("pg_wal/{name}");
        let filled = shell::fill(command, &[('p', &path), ('f', name)]);
        let result = filled.as_deref().map_err(Clone::clone);
        let result = result.and_then(|command| shell::run(command, &self.dir, WaitEvent::ArchiveCommand));
        let Err(failure) = result else { return true };
        let message = failure.message("archive command", "archive_command");
        let detail = match (&failure, &filled) {
            (shell::Failure::Placeholder(detail), _) => detail.clone(),
            (_, Ok(command)) => format!("The failed archive command was: {command}"),
            _ => String::new(),
        };
        match failure {
            shell::Failure::Placeholder(_) => tracing::error!(detail = %detail, "{message}: \"{command}\""),
            _ => tracing::info!(detail = %detail, "{message}"),
        }
        false
    }

    /// Leaves the rest of the log's segment empty, durably, so that it can be archived. Returns the end of the record that says so, or the end of the log if a
    /// segment has just begun.
    pub fn switch_wal(&self) -> Result<Lsn, EngineError> {
        self.wal.admit()?;
        let end = self.wal.switch_segment();
        let next = self.wal.insert_end();
        self.wal.flush(next)?;
        self.archiver.set_quiet(next);
        Ok(end)
    }

    /// Begins a new segment if the present one has had something to archive for longer than `archive_timeout`.
    pub(crate) fn switch_if_due(&self) -> Result<(), EngineError> {
        let timeout = self.options().archive.timeout;
        if timeout.is_zero() || !self.is_archiving() {
            return Ok(());
        }
        let (now, end) = (runtime::wall_clock_micros(), self.wal.insert_end());
        let segment = self.wal.segment_start(end).0;
        // Relaxed: only the checkpointer comes here.
        if self.archiver.segment.swap(segment, Ordering::Relaxed) != segment {
            self.archiver.switched_at.store(now, Ordering::Relaxed);
        }
        let since = now.saturating_sub(self.archiver.switched_at.load(Ordering::Relaxed));
        if self.archiver.is_quiet(end) || since < timeout.as_micros() as i64 {
            return Ok(());
        }
        self.switch_wal()?;
        Ok(())
    }

    /// Gives the log's end a name that recovery can go to; durable on return. Returns the end of its record.
    pub fn create_restore_point(&self, name: &str) -> Result<Lsn, EngineError> {
        self.wal.admit()?;
        let mut record = RecordBuilder::new(Rmgr::Xlog, xlog_info::RESTORE_POINT, Xid::INVALID);
        record.data(&runtime::wall_clock_micros().to_le_bytes()).data(name.as_bytes());
        let end = self.wal.insert(&record);
        self.wal.flush(end)?;
        tracing::info!("restore point \"{name}\" created at {end}");
        Ok(end)
    }
}
