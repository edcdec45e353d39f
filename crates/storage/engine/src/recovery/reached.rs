//! How far a recovery of an archive has come, for whoever asks; and how far it must come before the data on disk are consistent again.
//!
//! # Invariant
//! Before a page, or one of the commit log, is written that has a change of the log, the control file says that the log must be replayed that far
//! before the data are consistent. Who writes asks the log to be on disk up to the page's LSN, as ever; while the log is replayed, that question comes here
//! ([`wal::Wal::on_flush_in_recovery`]). What is written down is where replay is, so that few questions need a write.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use base::{Lsn, TimelineId};
use parking_lot::RwLock;
use wal::{History, Wal, WalError};

use crate::EngineError;
use crate::control::ControlFile;

/// Where replay is.
pub(crate) struct Reached {
    end: AtomicU64,
    /// Of the log that is replayed.
    history: RwLock<History>,
    /// 0: none.
    last_end: AtomicI64,
    /// 0: none.
    bare: AtomicU64,
}

impl Default for Reached {
    fn default() -> Reached {
        let history = RwLock::new(History::of(TimelineId::FIRST));
        Reached { end: 0.into(), history, last_end: 0.into(), bare: 0.into() }
    }
}

impl Reached {
    /// Everything before `end` is replayed: what pages need of it is known to who reads them.
    pub fn set(&self, end: Lsn) {
        // Release: who learns of it finds it so.
        self.end.store(end.0, Ordering::Release);
    }

    pub fn end(&self) -> Lsn {
        Lsn(self.end.load(Ordering::Acquire))
    }

    /// When the last transaction ended whose end was read, microseconds since 2000-01-01 UTC.
    pub fn last_end(&self) -> Option<i64> {
        Some(self.last_end.load(Ordering::Acquire)).filter(|time| *time != 0)
    }

    pub fn set_last_end(&self, time: i64) {
        self.last_end.store(time, Ordering::Release);
    }

    /// The log tells here that pages are not logged whole (`full_page_writes`).
    pub fn set_bare(&self, at: Lsn) {
        self.bare.fetch_max(at.0, Ordering::AcqRel);
    }

    /// Where the log told so last.
    pub fn bare(&self) -> Lsn {
        Lsn(self.bare.load(Ordering::Acquire))
    }

    /// What is replayed from now on is of this history.
    pub fn follow(&self, history: &History) {
        *self.history.write() = history.clone();
    }

    /// The data on disk are consistent again at `end` at the earliest. The control file says so with the time line that `end` lies on, which need
    /// not be the one that is followed: files of a time line begin with what its parent had.
    pub fn raise_floor(&self, control: &mut ControlFile, end: Lsn) {
        if end > control.min_recovery_point {
            (control.min_recovery_point, control.min_recovery_timeline) =
                (end, self.history.read().before(end));
        }
    }
}

/// Keeps the control file's least point of recovery ahead of what is written.
pub(super) fn keep_floor(
    wal: &Wal,
    dir: PathBuf,
    control: Arc<runtime::Mutex<ControlFile>>,
    reached: Arc<Reached>,
) {
    let known = AtomicU64::new(control.lock().min_recovery_point.0);
    wal.on_flush_in_recovery(Box::new(move |upto| {
        // Relaxed: who finds an old value asks the control file.
        if upto.0 <= known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut control = control.lock();
        reached.raise_floor(&mut control, upto.max(reached.end()));
        control.write(&dir).map_err(as_log_error)?;
        known.store(control.min_recovery_point.0, Ordering::Relaxed);
        Ok(())
    }));
}

fn as_log_error(error: EngineError) -> WalError {
    let transient = error.is_transient();
    WalError { kind: std::io::ErrorKind::Other, message: error.to_string(), transient }
}
