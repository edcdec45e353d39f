//! # What
//! Recovery, of a crash or of an archive, also while sessions read (`course`, `standby`, `conflicts`). One *pass* reads the log from the latest checkpoint's redo point to its end, does at once what is not a page's, and sorts the
//! rest into *lists by page* (`lists`). A page is brought up to date when it is brought into the pool (`pages`), whoever wants it: a
//! worker that goes through all lists in the order of files (`drain`), or a session, if connections are let in behind the pass. The
//! checkpoint behind the last list ends recovery.
//!
//! # Layout
//! `archive`: recovery of an archive, by several passes, to a `target`; `supply`: where its log comes from: `restore`, files of an archive, and `upstream`, another
//! server; `label`: where a backup begins.
//! `course`: pass after pass over a log that goes on, beside which pages are in the pool; `restart`: where redo would begin again, `reached`: how far it must come then. `standby`: a server
//! that is open meanwhile; `conflicts`: what sessions are in the way of.
//! `ahead`: a thread reads and checks the log ahead. `pass`: the pass. `lists`, `pages`, `drain`: as above. Records that the lists refer to
//! are looked at where the page cache has them ([`Replayed`]).
//!
//! # Invariants
//! 1. A page is changed by a record only if its LSN is older than the record's end, or if the record brings all of it; so redo may be interrupted
//!    and repeated.
//! 2. The log ends at the first record that is not valid. Nothing acknowledged lies behind it, for a commit is acknowledged
//!    after the flush of everything before it. Where something shows that more was flushed, the log has a hole and is refused: it ends before the
//!    checkpoint's own record, which was flushed before the control file named it; a valid record is in a later segment
//!    ([`WalReader::record_behind`]); a page that was written has an LSN behind the end.
//! 3. Behind a crash, the pool is empty while the pass runs. From then on every page that has a list is read by the hook in the pool, which applies the whole list
//!    before anybody else sees the page. So nobody sees a page in a state other than that of the log's end, and what holds between pages (links
//!    of a tree, bits of a map and flags of a table's page) holds for whoever reads them, as if redo had been done before. An error leaves
//!    the list, and nobody sees the page.
//! 4. What is not a page's is done when the pass is over, so nobody who comes in finds it otherwise: the commit log and multixacts (who
//!    committed), files, lengths of files, the catalogs' maps, prepared transactions with their locks, OIDs, unlogged relations.
//! 5. A page that is behind the end of its file has no list once the pass is over: files were extended for those that bring their own beginning, and
//!    for others there is nothing to be done ([`buffer::redo_block`]). Who cuts or drops a file forgets the lists of what goes, before the
//!    file changes and behind the record that says so.
//! 6. Until no list is left there is no checkpoint: the control file names the old redo point, and the log from there on stays. A crash meanwhile
//!    starts over from there, with the records of the time between behind those of before. That is safe:
//!    * *LSNs*: a page on disk has the changes up to its LSN, whether they came by a list or from a session. The next pass
//!      makes longer lists, and invariant 1 skips what is there.
//!    * *Torn pages*: the redo point has not moved, so a page that was changed since (its LSN is behind it) has its image, or the record that
//!      initialises it, in the log, and its list begins with that, whatever its file has. A page that was not changed since has an older LSN, and who
//!      changes it while the server is open logs its image, as after any checkpoint. Without `full_page_writes` neither holds, as ever.
//!    * *Hints* have no LSN. Who sets one on a page with an old LSN logs its image first; one on a page behind the redo point can be torn only with
//!      a page whose list begins with an image.
//!    * *Records of new transactions* lie behind the log's old end, which was wiped behind ([`wal::Wal::start`]) before the first of them. Their
//!      xids and OIDs are behind all that the pass has seen.
//!
//! # Why the order between pages does not matter
//! A record says for each of its pages what becomes of it, and redo of one page reads no other page, no commit log and no catalog: rows of a
//! heap come with their bytes or from the same page, halves of a split B-tree page with theirs, bits of a map with their values, a sequence with its row.
//! Pages of one record may therefore be brought up to date at different times and by different threads. What is left is the order of the records of
//! *one* page, which its list keeps. A new access method must keep to that: whatever redo needs for a page, its record says.
//!
//! # Locks
//! Parts of a file's lists (short). `Workers::busy` (fiber-aware), held by a worker for one page; who forgets lists takes it once, so that no worker
//! is at a page that goes. Lists are applied by who has the page's `READING`, and waits for nothing but the disk.
//!
//! # PostgreSQL counterpart and differences
//! `xlogrecovery.c`. There one process replays record by record.

mod ahead;
mod archive;
mod conflicts;
mod course;
mod drain;
mod label;
mod lists;
mod pages;
mod pass;
mod reached;
mod restart;
mod restore;
mod standby;
mod supply;
mod target;
mod time;
mod upstream;

pub(crate) use archive::Asked;
pub use archive::{ArchiveRecovery, is_archive_recovery, is_standby};
pub use conflicts::Conflicts;
pub(crate) use reached::Reached;
pub use standby::ReplayPause;
pub(crate) use standby::Standby;
pub use target::{Target, TargetAction, TargetTimeline};
pub use upstream::{Begin, Inflow, Phase, Progress, Sender, Upstream};

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base::{Lsn, TimelineId, Xid};
use parking_lot::RwLock;
use runtime::WaitEvent;
use runtime::time::{Instant, Stopwatch, now};
use wal::{History, Replayed, WalReader};

use crate::checkpoint::CheckpointCause;
use crate::control::{Checkpoint, ClusterState, ControlFile};
use crate::xlog;
use crate::{Engine, EngineError};

use drain::Workers;
use lists::Lists;

/// How a crash is recovered from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryOptions {
    /// Connections may be let in before all pages are up to date (`stampede.open_during_recovery`).
    pub open_early: bool,
    /// Threads that bring pages up to date; 0: one for each processor (`stampede.workers`).
    pub workers: usize,
}

/// What a recovery has replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayedTo {
    /// End of the last record.
    pub end: Lsn,
    /// When the last transaction that it saw the end of ended, microseconds since 2000-01-01 UTC.
    pub last_end: Option<i64>,
}

/// The checkpoint record that the control file names.
pub(crate) struct CheckpointRecord {
    /// What it says.
    pub(crate) checkpoint: Checkpoint,
    /// Transactions that were prepared then and older than its redo point.
    pub(crate) prepared: Vec<Xid>,
    /// Where it ends.
    pub(crate) end: Lsn,
}

/// The history of a time line, from its file in the log's folder.
pub fn history(dir: &Path, timeline: TimelineId) -> Result<History, EngineError> {
    match History::read(&dir.join("pg_wal"), timeline)? {
        Some(history) => Ok(history?),
        // Whose file was removed has no segment of an ancestor any more.
        None => Ok(History::of(timeline)),
    }
}

/// Reads the checkpoint record that the control file names; and whether it is a shutdown checkpoint and the last record: nothing is to be replayed.
pub(crate) fn checkpoint_record(
    dir: &Path,
    control: &ControlFile,
    history: &History,
) -> Result<(CheckpointRecord, bool), EngineError> {
    let at = control.checkpoint_lsn;
    let (wal_dir, size) = (dir.join("pg_wal"), u64::from(control.wal_segment_size));
    let reader = WalReader::open(&wal_dir, size, Some(control.system_identifier), at);
    let mut reader = reader.along(history.clone());
    let record = read_checkpoint(&mut reader, at)?;
    let is_last = record.checkpoint.shutdown && reader.next().transpose()?.is_none();
    Ok((record, is_last))
}

/// Reads the checkpoint record that a reader is at.
fn read_checkpoint(reader: &mut WalReader, at: Lsn) -> Result<CheckpointRecord, EngineError> {
    let record = reader.next().transpose()?.ok_or(EngineError::NoCheckpoint(at))?;
    let checkpoint = xlog::as_checkpoint(&record).ok_or(EngineError::NoCheckpoint(at))?;
    let prepared = xlog::prepared_at(&record);
    Ok(CheckpointRecord { checkpoint, prepared, end: record.end })
}

/// A recovery, from its first record to the checkpoint that ends it.
pub(crate) struct Recovery {
    lists: Lists,
    /// What the lists refer to; changed by the pass only.
    log: RwLock<Arc<Replayed>>,
    workers: Workers,
    /// No worker is to go on: the engine is gone.
    stop: AtomicBool,
    started: Instant,
    usage: Stopwatch,
    /// Start of the last record.
    last: RwLock<Lsn>,
    /// End of the log, once it is known.
    end: RwLock<Option<Lsn>>,
    /// Pages that were to be brought up to date when the pass was over.
    total: AtomicUsize,
    /// How far a recovery of an archive has come.
    reached: Arc<Reached>,
    /// Checkpoints whose records were read, and how far pages are up to date.
    checkpoints: restart::Checkpoints,
    /// Held by who ends it.
    ending: runtime::Mutex<()>,
    /// How often progress is told; zero: never.
    report: Duration,
}

/// How far a recovery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// Pages that are still to be brought up to date; with none left the checkpoint is under way that ends recovery.
    pub pages: usize,
    /// Pages that were to be when the log was read.
    pub total: usize,
    /// Bytes of the log that was read.
    pub log: u64,
    /// Time since it began.
    pub elapsed: Duration,
}

impl Recovery {
    /// `published`: what is added to lists is seen up to this position of the log.
    fn new(log: Replayed, published: u64, report: Duration) -> Recovery {
        Recovery {
            lists: Lists::published(published),
            log: RwLock::new(Arc::new(log)),
            workers: Workers::default(),
            stop: AtomicBool::new(false),
            started: now(),
            usage: Stopwatch::start(),
            last: RwLock::default(),
            end: RwLock::default(),
            total: AtomicUsize::new(0),
            reached: Arc::default(),
            checkpoints: Default::default(),
            ending: runtime::Mutex::new(WaitEvent::Checkpoint, ()),
            report,
        }
    }

    fn progress(&self) -> RecoveryProgress {
        let log = self.log.read().bytes();
        let (pages, elapsed) = (self.lists.pages(), self.started.elapsed());
        // Relaxed: set before there are sessions.
        RecoveryProgress { pages, total: self.total.load(Ordering::Relaxed), log, elapsed }
    }

    /// Nobody is interested any more.
    pub(crate) fn stop(&self) {
        // Relaxed: workers look for it before each page.
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// Reads the log from `from` to its end, which is returned: what is not a page's is redone, and every page gets its list. `known`: the log
    /// is known to go so far.
    pub(crate) fn read_log(&self, from: Lsn, known: Lsn, history: &History) -> Result<Lsn, EngineError> {
        tracing::info!("database system was not properly shut down; automatic recovery in progress");
        tracing::info!("redo starts at {from}");
        let options = self.options();
        let reader = self.wal.reader(from).along(history.clone());
        let log = Replayed::new(&reader);
        let recovery = Arc::new(Recovery::new(log, u64::MAX, options.startup_progress));
        self.pool.set_overdue(Some(recovery.clone()));
        *self.recovery.lock() = Some(recovery.clone());
        let consistency = pass::Consistency::of(&self.control.lock());
        let (read, _) = pass::Pass::new(self, &recovery).run(reader, &pass::Bounds::of_crash(consistency))?;
        let pass::Why::Ended(reason) = read.why else {
            unreachable!("nothing bounds the pass behind a crash")
        };
        if read.end < known {
            return Err(EngineError::LogEnds { at: read.end, known, reason });
        }
        if !read.consistency.is_reached(read.end) {
            let message = format!("WAL ends before consistent recovery point: {reason}");
            return Err(EngineError::NoRecovery { message, hint: String::new() });
        }
        if let Some(behind) = self.wal.reader(read.end).along(history.clone()).record_behind()? {
            return Err(EngineError::LogHole { at: read.end, behind, reason });
        }
        tracing::info!("{reason}");
        *recovery.last.write() = read.last;
        *recovery.end.write() = Some(read.end);
        recovery.reached.set(read.end);
        read.last_end.into_iter().for_each(|time| recovery.reached.set_last_end(time));
        *self.replayed.lock() = Some(recovery.reached.clone());
        Ok(read.end)
    }

    /// The log is read, and whatever it says of other things than pages is as it says: pages may be read from now on.
    pub(crate) fn start_redo(&self, early: bool) -> Result<(), EngineError> {
        let Some(recovery) = self.recovery.lock().clone() else { return Ok(()) };
        base::stop_point!("recovery-log-read");
        let pages = recovery.lists.pages();
        recovery.total.store(pages, Ordering::Relaxed);
        tracing::info!("consistent recovery state reached at {}", recovery.last.read());
        let kilobytes = recovery.log.read().bytes().div_ceil(1024);
        tracing::info!("{kilobytes} kB of WAL read, {pages} pages are to be redone");
        let started = recovery.started;
        self.txns.on_first_write(move || {
            let elapsed = started.elapsed().as_secs_f64();
            tracing::info!("first write after the crash {elapsed:.2} s after recovery began");
        });
        let round = drain::start(&recovery, &self.pool, self.options().recovery.workers)?;
        recovery.workers.end_behind(round);
        if !early {
            return self.finish_recovery();
        }
        let elapsed = recovery.started.elapsed().as_secs_f64();
        tracing::info!(
            "database system is open {elapsed:.2} s after its recovery began; {pages} pages are still to be redone"
        );
        Ok(())
    }

    /// Waits until all pages are up to date, and ends recovery with a checkpoint. At once if there is none, or no more.
    pub fn finish_recovery(&self) -> Result<(), EngineError> {
        if self.is_following() {
            return Ok(());
        }
        let Some(recovery) = self.recovery.lock().clone() else { return Ok(()) };
        recovery.workers.wait()?;
        let _ending = recovery.ending.lock();
        if self.recovery.lock().is_none() {
            return Ok(());
        }
        base::stop_point!("recovery-pages-done");
        self.pool.set_overdue(None);
        if recovery.workers.tell_end() {
            tracing::info!("redo done at {} system usage: {}", recovery.last.read(), recovery.usage);
        }
        self.checkpoint(CheckpointCause::EndOfRecovery)?;
        self.set_state(ClusterState::InProduction)?;
        *self.recovery.lock() = None;
        Ok(())
    }

    /// How far recovery has come; none if there is none, or no more.
    pub fn recovery_progress(&self) -> Option<RecoveryProgress> {
        let recovery = self.recovery.lock().clone()?;
        Some(recovery.progress())
    }

    /// Whether pages may still be behind the log.
    pub(crate) fn is_in_recovery(&self) -> bool {
        self.recovery.lock().is_some()
    }
}
