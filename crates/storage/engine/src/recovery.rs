//! # What
//! Crash recovery: from the latest checkpoint's redo point to the end of valid log, each record is handed to the resource
//! manager that wrote it.
//!
//! # Invariants
//! 1. A page is changed by a record only if its LSN is older than the record's end; so redo may be interrupted and repeated.
//! 2. The log ends at the first record that is not valid. Nothing acknowledged lies behind it, for a commit is acknowledged
//!    after the flush of everything before it.
//!
//! # PostgreSQL counterpart
//! `xlogrecovery.c`. The end of the log is found before redo starts, so that the log is open for flushes while pages are
//! replayed and written.

use std::path::Path;
use std::time::Duration;

use base::Lsn;
use runtime::time::now;
use wal::{Record, Rmgr, WalReader};

use crate::control::{Checkpoint, ClusterState, ControlFile};
use crate::xlog::{self, FileChange};
use crate::{Engine, EngineError};

/// Interval of "redo in progress" lines.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// What the log holds.
pub(crate) struct Survey {
    /// The checkpoint to start from.
    pub(crate) checkpoint: Checkpoint,
    /// End of valid log.
    pub(crate) end: Lsn,
    /// Whether anything has to be replayed.
    pub(crate) needs_redo: bool,
}

/// Finds the checkpoint that the control file names and the end of the log.
pub(crate) fn survey(dir: &Path, control: &ControlFile) -> Result<Survey, EngineError> {
    let reader = |from| {
        WalReader::open(
            &dir.join("pg_wal"),
            u64::from(control.wal_segment_size),
            Some(control.system_identifier),
            from,
        )
    };
    let at = control.checkpoint_lsn;
    let record = reader(at).next().transpose()?.ok_or(EngineError::NoCheckpoint(at))?;
    let checkpoint = xlog::as_checkpoint(&record).ok_or(EngineError::NoCheckpoint(at))?;
    let mut rest = reader(record.end);
    for record in rest.by_ref() {
        record?;
    }
    let end = rest.position();
    let clean = control.state == ClusterState::ShutDown && checkpoint.shutdown && end == record.end;
    Ok(Survey { checkpoint, end, needs_redo: !clean })
}

impl Engine {
    /// Replays `from..end`.
    pub(crate) fn redo(&self, from: Lsn, end: Lsn) -> Result<(), EngineError> {
        tracing::info!("database system was not properly shut down; automatic recovery in progress");
        tracing::info!("redo starts at {from}");
        let (start, usage) = (now(), CpuTimes::now());
        let mut reported = start;
        let mut last = from;
        for record in self.wal.reader(from) {
            let record = record?;
            if record.lsn >= end {
                break;
            }
            self.redo_record(&record)?;
            last = record.lsn;
            if now().since(reported) >= REPORT_EVERY {
                reported = now();
                tracing::info!(
                    "redo in progress, elapsed time: {:.2} s, current LSN: {last}",
                    reported.since(start).as_secs_f64()
                );
            }
        }
        let (user, system) = usage.elapsed();
        tracing::info!(
            "redo done at {last} system usage: CPU: user: {user:.2} s, system: {system:.2} s, elapsed: {:.2} s",
            now().since(start).as_secs_f64()
        );
        Ok(())
    }

    fn redo_record(&self, record: &Record) -> Result<(), EngineError> {
        let failed = |reason: String| EngineError::Redo { lsn: record.lsn, reason };
        match record.rmgr {
            Rmgr::Xlog => self.redo_xlog(record)?,
            Rmgr::Smgr => self.redo_smgr(record)?,
            Rmgr::Xact | Rmgr::Clog => self.txns.redo(record)?,
            Rmgr::Heap => heap::redo(&self.pool, record).map_err(|e| failed(e.to_string()))?,
            Rmgr::Btree => btree::redo(&self.pool, record).map_err(|e| failed(e.to_string()))?,
            Rmgr::Multixact | Rmgr::Sequence | Rmgr::Standby => {
                return Err(failed(format!("resource manager {:?} has no redo", record.rmgr)));
            }
        }
        if record.xid.is_normal() {
            self.txns.saw_xid(record.xid);
        }
        Ok(())
    }

    /// Counters of checkpoints and OID batches; page images of hints and of the log itself.
    fn redo_xlog(&self, record: &Record) -> Result<(), EngineError> {
        if let Some(oid) = xlog::as_next_oid(record) {
            self.oids.advance_to(oid);
        }
        if let Some(checkpoint) = xlog::as_checkpoint(record) {
            self.oids.advance_to(checkpoint.next_oid);
        }
        for index in 0..record.block_count() {
            buffer::redo_page(&self.pool, record, index)?;
        }
        Ok(())
    }

    fn redo_smgr(&self, record: &Record) -> Result<(), EngineError> {
        match xlog::as_file_change(record) {
            Some(FileChange::Create(rel, fork)) => Ok(self.smgr.create(rel, fork, true)?),
            Some(FileChange::Truncate(rel, pages)) => {
                if self.smgr.exists(rel, base::Fork::Main)? {
                    self.truncate_files(rel, pages)?;
                }
                Ok(())
            }
            None => Err(EngineError::Redo { lsn: record.lsn, reason: "malformed file record".into() }),
        }
    }
}

/// Processor time of this process.
struct CpuTimes {
    user: f64,
    system: f64,
}

impl CpuTimes {
    fn now() -> CpuTimes {
        let (user, system) = runtime::time::cpu_times();
        CpuTimes { user: user.as_secs_f64(), system: system.as_secs_f64() }
    }

    /// Seconds of user and system time since.
    fn elapsed(&self) -> (f64, f64) {
        let now = CpuTimes::now();
        (now.user - self.user, now.system - self.system)
    }
}
