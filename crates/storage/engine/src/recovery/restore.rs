//! Files of the log from an archive (`restore_command`), for who reads the log.
//!
//! What was restored lies in the log's folder under its own name, like a segment that the server has written, until a restart point does not need it any
//! more. It is marked as archived, or, where a standby archives too, as to be archived.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Lsn, TimelineId};
use runtime::WaitEvent;
use runtime::fs::{self, File, OpenOptions};
use wal::{History, Wal, WalError};

use crate::archiver::ArchiveMode;
use crate::shell;

/// The name under which a command puts the file.
const TEMPORARY: &str = "RECOVERYXLOG";

/// An archive.
#[derive(Clone)]
pub(super) struct Archive {
    pub dir: PathBuf,
    pub wal: Arc<Wal>,
    /// `restore_command`; empty: there is only what lies in the log's folder.
    pub command: String,
    pub mode: ArchiveMode,
    /// More may come to the archive: what is not whole yet is waited for.
    pub waits: bool,
    /// Redo point and time line of the latest restart point.
    pub restart: Arc<RestartPoint>,
    /// The last segment that was brought.
    pub brought: Option<String>,
}

/// Where recovery would begin again.
#[derive(Default)]
pub(super) struct RestartPoint {
    redo: AtomicU64,
    timeline: AtomicU64,
}

impl RestartPoint {
    pub fn set(&self, redo: Lsn, timeline: TimelineId) {
        self.redo.store(redo.0, Ordering::Relaxed);
        self.timeline.store(u64::from(timeline.0), Ordering::Relaxed);
    }

    /// Name of the segment that recovery would begin with.
    pub fn file_name(&self, segment_size: u64) -> String {
        let timeline = TimelineId(self.timeline.load(Ordering::Relaxed) as u32);
        wal::segment_file_name(timeline, Lsn(self.redo.load(Ordering::Relaxed)), segment_size)
    }
}

fn failed(what: String, error: &io::Error) -> WalError {
    WalError {
        kind: error.kind(),
        message: format!("{what}: {}", base::os_error(error)),
        transient: base::os::is_transient(error),
    }
}

/// What a file of the archive has to be.
#[derive(Clone, Copy)]
enum Wanted {
    /// A segment of so many bytes.
    Segment(u64),
    History(TimelineId),
}

impl Archive {
    /// Brings a file into the log's folder; false if the archive has none.
    fn fetch(&self, name: &str, wanted: Wanted) -> Result<bool, WalError> {
        if self.command.is_empty() {
            return Ok(false);
        }
        let temporary = self.wal.dir().join(TEMPORARY);
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(format!("could not remove file \"pg_wal/{TEMPORARY}\""), &error));
            }
            _ => {}
        }
        if !self.run(name)? {
            return Ok(false);
        }
        let there = |e| failed(format!("could not open file \"pg_wal/{TEMPORARY}\""), &e);
        let file = match File::open(&temporary, OpenOptions::READ_WRITE) {
            // The command has said that all is well.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file.map_err(there)?,
        };
        let size = file.len().map_err(there)?;
        let is_whole = match wanted {
            Wanted::Segment(length) => size >= length,
            Wanted::History(timeline) => {
                let text = fs::read_to_string(&temporary).map_err(there)?;
                History::parse(timeline, &text).is_ok()
            }
        };
        if self.waits && !is_whole {
            tracing::debug!("archive file \"{name}\" is not whole yet: {size} bytes");
            return Ok(false);
        }
        if let Wanted::Segment(length) = wanted
            && size != length
        {
            return Err(WalError {
                kind: io::ErrorKind::InvalidData,
                message: format!("archive file \"{name}\" has wrong size: {size} instead of {length}"),
                transient: false,
            });
        }
        let put = || -> io::Result<()> {
            file.sync_all()?;
            fs::rename(&temporary, &self.wal.dir().join(name))?;
            fs::sync_dir(self.wal.dir())
        };
        put().map_err(|e| {
            failed(format!("could not rename file \"pg_wal/{TEMPORARY}\" to \"pg_wal/{name}\""), &e)
        })?;
        tracing::info!("restored log file \"{name}\" from archive");
        match self.mode {
            ArchiveMode::Always => self.wal.archive().notify(name)?,
            _ => self.wal.archive().set_done(name)?,
        }
        Ok(true)
    }

    /// Whether the command brought the file, as it says.
    fn run(&self, name: &str) -> Result<bool, WalError> {
        let restart = self.restart.file_name(self.wal.options().segment_size);
        let path = format!("pg_wal/{TEMPORARY}");
        let values = [('f', name), ('p', &path), ('r', &restart)];
        let filled = shell::fill(&self.command, &values);
        let result = filled.and_then(|command| shell::run(&command, &self.dir, WaitEvent::RestoreCommand));
        let Err(failure) = result else { return Ok(true) };
        let fatal = |message: String| Err(WalError { kind: io::ErrorKind::Other, message, transient: false });
        match &failure {
            shell::Failure::Placeholder(detail) => {
                let message = failure.message("restore command", "restore_command");
                fatal(format!("{message}: \"{}\": {detail}", self.command))
            }
            failure if failure.is_signal() => {
                let message = failure.message("restore command", "restore_command");
                fatal(format!("could not restore file \"{name}\" from archive: {message}"))
            }
            _ => Ok(false),
        }
    }

    /// The history of a time line, from the archive or the log's folder; none if there is no such time line.
    pub fn history(&self, timeline: TimelineId) -> Result<Option<History>, crate::EngineError> {
        if timeline > TimelineId::FIRST {
            self.fetch(&History::file_name(timeline), Wanted::History(timeline))?;
        }
        match History::read(self.wal.dir(), timeline)? {
            Some(history) => Ok(Some(history?)),
            None => Ok(None),
        }
    }

    /// The newest time line from this one on, as far as numbers go on.
    pub fn newest(&self, from: TimelineId) -> Result<TimelineId, crate::EngineError> {
        let mut newest = from;
        while self.history(newest.next())?.is_some() {
            newest = newest.next();
        }
        Ok(newest)
    }
}

impl Archive {
    /// Brings a segment into the log's folder; false if the archive has none of this name.
    pub fn bring(&mut self, name: &str) -> Result<bool, WalError> {
        let path = self.wal.dir().join(name);
        let there =
            || fs::exists(&path).map_err(|e| failed(format!("could not stat file \"pg_wal/{name}\""), &e));
        if self.brought.as_deref() == Some(name) && there()? {
            return Ok(true);
        }
        let brought = self.fetch(name, Wanted::Segment(self.wal.options().segment_size))?;
        if brought {
            self.brought = Some(name.to_owned());
        }
        Ok(brought)
    }
}
