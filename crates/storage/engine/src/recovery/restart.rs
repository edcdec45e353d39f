//! Restart points: from where a recovery of an archive would begin again.
//!
//! A checkpoint of the server whose log is replayed says where redo may begin if all that is before it is on disk. A restart point brings it there, beside the
//! replay that goes on: sessions read, and pages are brought up to date meanwhile.
//!
//! # Invariants
//! 1. A restart point is made of a checkpoint whose redo point all pages have passed: a round of the workers that began behind it has ended
//!    ([`Checkpoints::drained`]). So every change before the redo point is in the pool, or on disk; and what is dirty in the pool when the restart
//!    point begins is written before the control file names the checkpoint. A page that is being brought up to date just then is waited for, as it is being
//!    read or is dirty already.
//! 2. The commit log, multixacts and maps are ahead of pages, never behind: they are changed when a record is read.
//! 3. One at a time, and none while the server goes over to writing ([`Engine::hold_checkpoints`]): who makes one holds what the checkpointer holds. So the
//!    control file never goes back to an older checkpoint, whose log is gone.
//! 4. Prepared transactions that are known are kept in files: those that a start from this checkpoint is to expect are among them, or have ended since, which
//!    their files' absence and the log tell.
//!
//! # PostgreSQL counterpart
//! `CreateRestartPoint`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::Lsn;
use parking_lot::Mutex;
use runtime::WaitEvent;

use super::Recovery;
use super::pass::SeenCheckpoint;
use super::restore::RestartPoint;
use super::time::shown;
use crate::{Engine, EngineError, lengths};

/// Checkpoints that a restart point can be made of.
#[derive(Default)]
pub(super) struct Checkpoints {
    seen: Mutex<VecDeque<SeenCheckpoint>>,
    drained: AtomicU64,
}

impl Checkpoints {
    /// Checkpoints remembered at most.
    const MOST: usize = 64;

    /// The record of one was read.
    pub fn note(&self, checkpoint: SeenCheckpoint) {
        let mut seen = self.seen.lock();
        if seen.len() == Self::MOST {
            seen.pop_front();
        }
        seen.push_back(checkpoint);
    }

    /// All pages have what the log has for them before `end`.
    pub fn set_drained(&self, end: Lsn) {
        self.drained.fetch_max(end.0, Ordering::AcqRel);
    }

    /// The last one behind that of the control file whose redo point all pages have passed.
    fn due(&self, behind: Lsn) -> Option<SeenCheckpoint> {
        let drained = Lsn(self.drained.load(Ordering::Acquire));
        let is_due = |seen: &&SeenCheckpoint| seen.lsn > behind && seen.checkpoint.redo <= drained;
        self.seen.lock().iter().rev().find(is_due).copied()
    }

    fn done(&self, checkpoint: &SeenCheckpoint) {
        self.seen.lock().retain(|seen| seen.lsn > checkpoint.lsn);
    }
}

impl Engine {
    /// Lets redo begin at the last checkpoint that can be had, if there is a new one; writes are spread as `progress` says, which is called behind each
    /// page. Tells whether it did. The caller sees to invariant 3.
    pub(super) fn restart_point_of(
        &self,
        recovery: &Arc<Recovery>,
        restart: &RestartPoint,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<bool, EngineError> {
        let known = self.control.lock().checkpoint_lsn;
        let Some(seen) = recovery.checkpoints.due(known) else { return Ok(false) };
        self.write_replayed(recovery, progress)?;
        base::stop_point!("archive-before-restart-point");
        {
            let mut control = self.control.lock();
            control.checkpoint = seen.checkpoint;
            control.checkpoint_lsn = seen.lsn;
            control.time = runtime::wall_clock_micros();
            control.write(&self.dir)?;
        }
        recovery.checkpoints.done(&seen);
        restart.set(seen.checkpoint.redo, seen.checkpoint.timeline);
        let last = self.replayed().and_then(|replayed| replayed.last_end).map_or("none".into(), shown);
        tracing::info!(
            detail = %format!("Last completed transaction was at log time {last}."),
            "recovery restart point at {}",
            seen.checkpoint.redo
        );
        self.summarizer.wake();
        self.archive_waiting(&|| false)?;
        self.wal.remove_restored_before(self.oldest_needed(seen.checkpoint.redo)?)?;
        let command = self.options().archive_recovery.cleanup_command.clone();
        let restart = restart.file_name(self.wal.options().segment_size);
        self.run_beside(&command, "archive_cleanup_command", &restart, WaitEvent::ArchiveCleanupCommand);
        Ok(true)
    }

    /// Brings all that is in memory to disk.
    pub(super) fn write_replayed(
        &self,
        recovery: &Recovery,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), EngineError> {
        {
            let mut control = self.control.lock();
            recovery.reached.raise_floor(&mut control, recovery.reached.end());
            control.time = runtime::wall_clock_micros();
            control.write(&self.dir)?;
        }
        self.pool.checkpoint_write(true, progress)?;
        self.txns.restart_point()?;
        self.maps.write(&self.dir)?;
        let lengths = self.smgr.lengths();
        self.smgr.sync_all_pending()?;
        lengths::write(&self.dir, &lengths)
    }
}
