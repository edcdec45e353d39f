//! How far a recovery of an archive has come, for whoever asks; and how far it must come before the data on disk are consistent again.
//!
//! # Invariant
//! Before a page, or one of the commit log, is written that has a change of the log, the control file says that the log must be replayed that far
//! before the data are consistent. Who writes asks the log to be on disk up to the page's LSN, as ever; while the log is replayed, that question comes here
//! ([`wal::Wal::on_flush_in_recovery`]). What is written down is where replay is, so that few questions need a write.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use base::{Lsn, TimelineId};
use wal::{Wal, WalError};

use crate::EngineError;
use crate::control::ControlFile;

/// Where replay is.
#[derive(Default)]
pub(crate) struct Reached {
    end: AtomicU64,
    timeline: AtomicU32,
    /// 0: none.
    last_end: AtomicI64,
    /// 0: none.
    bare: AtomicU64,
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

    pub fn set_timeline(&self, timeline: TimelineId) {
        self.timeline.store(timeline.0, Ordering::Release);
    }

    pub fn timeline(&self) -> TimelineId {
        TimelineId(self.timeline.load(Ordering::Acquire))
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
        raise_floor(&mut control, upto.max(reached.end()), reached.timeline());
        control.write(&dir).map_err(as_log_error)?;
        known.store(control.min_recovery_point.0, Ordering::Relaxed);
        Ok(())
    }));
}

/// The data on disk are consistent again at `end` at the earliest.
pub(super) fn raise_floor(control: &mut ControlFile, end: Lsn, timeline: TimelineId) {
    if end > control.min_recovery_point {
        (control.min_recovery_point, control.min_recovery_timeline) = (end, timeline);
    }
}

fn as_log_error(error: EngineError) -> WalError {
    let transient = error.is_transient();
    WalError { kind: std::io::ErrorKind::Other, message: error.to_string(), transient }
}
