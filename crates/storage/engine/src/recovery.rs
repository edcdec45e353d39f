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
//! `xlogrecovery.c`.

use std::path::Path;

use base::{Lsn, Xid};
use runtime::time::{Stopwatch, now};
use wal::{Record, Rmgr, WalReader};

use crate::control::{Checkpoint, ControlFile};
use crate::xlog::{self, FileChange};
use crate::{Engine, EngineError};

/// The checkpoint record that the control file names.
pub(crate) struct CheckpointRecord {
    /// What it says.
    pub(crate) checkpoint: Checkpoint,
    /// Transactions that were prepared then and older than its redo point.
    pub(crate) prepared: Vec<Xid>,
    /// Where it ends.
    pub(crate) end: Lsn,
    /// It is a shutdown checkpoint and the last record: nothing is to be replayed.
    pub(crate) is_end_of_log: bool,
}

/// Reads the checkpoint record that the control file names.
pub(crate) fn checkpoint_record(dir: &Path, control: &ControlFile) -> Result<CheckpointRecord, EngineError> {
    let at = control.checkpoint_lsn;
    let wal_dir = dir.join("pg_wal");
    let mut reader =
        WalReader::open(&wal_dir, u64::from(control.wal_segment_size), Some(control.system_identifier), at);
    let record = reader.next().transpose()?.ok_or(EngineError::NoCheckpoint(at))?;
    let checkpoint = xlog::as_checkpoint(&record).ok_or(EngineError::NoCheckpoint(at))?;
    let is_end_of_log = checkpoint.shutdown && reader.next().transpose()?.is_none();
    let prepared = xlog::prepared_at(&record);
    Ok(CheckpointRecord { checkpoint, prepared, end: record.end, is_end_of_log })
}

impl Engine {
    /// Replays the log from `from` to its end, which is returned.
    pub(crate) fn redo(&self, from: Lsn) -> Result<Lsn, EngineError> {
        tracing::info!("database system was not properly shut down; automatic recovery in progress");
        tracing::info!("redo starts at {from}");
        let (start, usage) = (now(), Stopwatch::start());
        let interval = self.options().startup_progress;
        let mut reported = start;
        let mut last = from;
        let mut reader = self.wal.reader(from);
        for record in reader.by_ref() {
            let record = record?;
            self.redo_record(&record)?;
            last = record.lsn;
            if !interval.is_zero() && now().since(reported) >= interval {
                reported = now();
                tracing::info!(
                    "redo in progress, elapsed time: {:.2} s, current LSN: {last}",
                    reported.since(start).as_secs_f64()
                );
            }
        }
        if let Some(reason) = reader.end_reason() {
            tracing::info!("{reason}");
        }
        tracing::info!("redo done at {last} system usage: {usage}");
        Ok(reader.position())
    }

    fn redo_record(&self, record: &Record) -> Result<(), EngineError> {
        let failed = |reason: String| EngineError::Redo { lsn: record.lsn, reason };
        match record.rmgr {
            Rmgr::Xlog => self.redo_xlog(record)?,
            Rmgr::Smgr => self.redo_smgr(record)?,
            Rmgr::Xact | Rmgr::Clog | Rmgr::Multixact => {
                if !self.txns.redo(record)? {
                    return Err(failed(format!(
                        "unknown record {:#04x} of {}",
                        record.info,
                        record.rmgr.name()
                    )));
                }
            }
            Rmgr::Heap => heap::redo::redo(&self.pool, record).map_err(|e| failed(e.to_string()))?,
            Rmgr::Btree => btree::redo(&self.pool, record).map_err(|e| failed(e.to_string()))?,
            Rmgr::Sequence => self.redo_sequence(record)?,
            Rmgr::Database => self.redo_database(record)?,
            Rmgr::Standby => {
                return Err(failed(format!("resource manager {:?} has no redo", record.rmgr)));
            }
        }
        self.txns.observe_xid(record.xid);
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
