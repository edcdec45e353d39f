//! The pass over the log.

use std::sync::Arc;
use std::time::Duration;

use base::{BlockNo, Fork, Lsn, RelFile, Xid};
use buffer::Tag;
use runtime::time::{Instant, now};
use smgr::SmgrError;
use wal::{Chunk, RecordAt, RecordRef, Replayed, WalReader};

use super::Recovery;
use super::ahead::Ahead;
use super::lists::{LastFile, Step};
use super::pages::{CUT, cut_page};
use super::supply::Ending;
use super::target::{Reached, Stopper};
use super::upstream::Inflow;
use crate::control::{Checkpoint, ControlFile};
use crate::managers::{Beside, beside};
use crate::xlog::{self, DatabaseChange, FileChange};
use crate::{Engine, EngineError};

/// How long a pass that is told to lag waits before it looks at the time again.
const LOOK: Duration = Duration::from_millis(100);

/// Why a pass ended.
#[derive(Debug)]
pub(super) enum Why {
    /// The log has no more, for this reason.
    Ended(String),
    /// It has read what it may, or was told to stop.
    Full,
    /// Recovery is where it is to come to.
    Target(Reached),
}

/// A checkpoint whose record was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenCheckpoint {
    pub lsn: Lsn,
    pub checkpoint: Checkpoint,
}

/// What the pass has found.
pub(super) struct Read {
    /// Start of the last record.
    pub last: Lsn,
    /// End of what was replayed.
    pub end: Lsn,
    /// Why it ends there.
    pub why: Why,
    /// When the last transaction whose end was read ended.
    pub last_end: Option<i64>,
    /// The last checkpoint.
    pub checkpoint: Option<SeenCheckpoint>,
    /// What is still wanted for consistency.
    pub consistency: Consistency,
}

/// What has to come before the data are consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Consistency {
    least: Lsn,
    backup_start: Lsn,
    backup_end: Lsn,
}

impl Consistency {
    /// As the control file has it.
    pub fn of(control: &ControlFile) -> Consistency {
        let ControlFile { min_recovery_point, backup_start, backup_end, .. } = *control;
        Consistency { least: min_recovery_point, backup_start, backup_end }
    }

    /// Lets the control file know of a backup's end that was met.
    pub fn note_in(&self, control: &mut ControlFile) {
        control.min_recovery_point = control.min_recovery_point.max(self.least);
        control.backup_start = self.backup_start;
        if !self.backup_start.is_valid() {
            (control.backup_end, control.backup_end_required) = (Lsn::INVALID, false);
        }
    }

    /// Whether the data are consistent when everything before `end` is replayed.
    pub fn is_reached(&self, end: Lsn) -> bool {
        !self.backup_start.is_valid() && end >= self.least
    }

    /// Whether a backup's end is yet to come.
    pub fn awaits_backup_end(&self) -> bool {
        self.backup_start.is_valid()
    }

    /// A record was replayed.
    fn note(&mut self, record: &RecordRef<'_>) {
        if !self.backup_start.is_valid() {
            return;
        }
        let ended = match xlog::as_backup_end(record) {
            Some(start) => start == self.backup_start,
            None => self.backup_end.is_valid() && record.end >= self.backup_end,
        };
        if ended {
            let (start, end) = (self.backup_start, record.end);
            tracing::info!("completed backup recovery with redo LSN {start} and end LSN {end}");
            self.least = self.least.max(end);
            (self.backup_start, self.backup_end) = (Lsn::INVALID, Lsn::INVALID);
        }
    }
}

/// Where a pass may end before the log does.
pub(super) struct Bounds<'a> {
    /// Bytes of log.
    pub bytes: u64,
    pub stopper: Option<&'a Stopper>,
    /// What is wanted at its beginning.
    pub consistency: Consistency,
    /// Ends of transactions are replayed so much later.
    pub delay: Duration,
    /// It may be to end soon.
    pub end: Option<&'a Ending>,
    /// Who is told how far it is.
    pub inflow: Option<&'a Inflow>,
}

impl Bounds<'_> {
    /// Behind a crash all there is is read.
    pub fn of_crash(consistency: Consistency) -> Bounds<'static> {
        Bounds { bytes: u64::MAX, stopper: None, consistency, delay: Duration::ZERO, end: None, inflow: None }
    }

    fn is_stopped(&self) -> bool {
        self.end.is_some_and(Ending::is_stopped)
    }
}

/// The pass over the log.
pub(super) struct Pass<'a> {
    engine: &'a Engine,
    recovery: &'a Recovery,
    log: Replayed,
    file: LastFile,
    /// Greatest xid that the transaction system was told of.
    xid: Xid,
    /// When the last transaction whose end was read ended.
    last_end: Option<i64>,
    last: Lsn,
    end: Lsn,
    checkpoint: Option<SeenCheckpoint>,
    consistency: Consistency,
    reported: Instant,
}

impl<'a> Pass<'a> {
    pub fn new(engine: &'a Engine, recovery: &'a Recovery) -> Pass<'a> {
        let log = Replayed::clone(&recovery.log.read());
        let consistency = Consistency::of(&engine.control.lock());
        Pass {
            engine,
            recovery,
            log,
            file: LastFile::default(),
            xid: Xid::INVALID,
            last_end: None,
            last: Lsn::INVALID,
            end: Lsn::INVALID,
            checkpoint: None,
            consistency,
            reported: now(),
        }
    }

    /// Reads all there is, or as far as it may.
    pub fn run(mut self, reader: WalReader, bounds: &Bounds<'_>) -> Result<Read, EngineError> {
        (self.last, self.end) = (reader.position(), reader.position());
        self.consistency = bounds.consistency;
        let ahead = Ahead::start(reader)?;
        let why = loop {
            if self.log.bytes() >= bounds.bytes || bounds.is_stopped() {
                break Why::Full;
            }
            let chunk = match ahead.next()? {
                Ok(chunk) => chunk,
                Err(ended) => {
                    self.end = ended.end;
                    break Why::Ended(ended.reason);
                }
            };
            self.log.keep(&chunk)?;
            if let Some(why) = self.take(&chunk, bounds)? {
                break why;
            }
            if let Some(inflow) = bounds.inflow {
                inflow.note_applied(self.end);
            }
            self.report(self.last);
        };
        ahead.end();
        self.settle(|_| true)?;
        *self.recovery.log.write() = Arc::new(self.log);
        let Pass { last, end, last_end, checkpoint, consistency, .. } = self;
        Ok(Read { last, end, why, last_end, checkpoint, consistency })
    }

    /// Waits until the end of a transaction is old enough to be replayed.
    fn delay(&self, record: &RecordRef<'_>, bounds: &Bounds<'_>) {
        let Some(end) = txn::commit::end_of(record) else { return };
        let due = end.time.saturating_add(bounds.delay.as_micros() as i64);
        let is_ended = || bounds.end.is_some_and(|end| end.is_stopped() || end.is_promoted());
        while runtime::wall_clock_micros() < due && !is_ended() {
            runtime::wait(runtime::sleep(LOOK));
        }
    }

    fn report(&mut self, at: Lsn) {
        let interval = self.recovery.report;
        if !interval.is_zero() && self.reported.elapsed() >= interval {
            self.reported = now();
            let elapsed = self.recovery.started.elapsed().as_secs_f64();
            tracing::info!("redo in progress, elapsed time: {elapsed:.2} s, current LSN: {at}");
        }
    }

    /// Replays a chunk, as far as it is to be.
    fn take(&mut self, chunk: &Chunk, bounds: &Bounds<'_>) -> Result<Option<Why>, EngineError> {
        for (at, lsn, record) in chunk.records() {
            let record = record.map_err(|invalid| EngineError::Redo { lsn, reason: invalid.to_string() })?;
            let consistent = self.consistency.is_reached(self.end);
            let reached = bounds.stopper.and_then(|stopper| stopper.before(&record, consistent));
            if let Some(reached) = reached {
                return Ok(Some(Why::Target(reached)));
            }
            if !bounds.delay.is_zero() && consistent {
                self.delay(&record, bounds);
                if bounds.is_stopped() {
                    return Ok(Some(Why::Full));
                }
            }
            self.redo(at, &record)?;
            (self.last, self.end) = (lsn, record.end);
            self.consistency.note(&record);
            let consistent = self.consistency.is_reached(self.end);
            let reached = bounds.stopper.and_then(|stopper| stopper.after(&record, consistent));
            if let Some(reached) = reached {
                return Ok(Some(Why::Target(reached)));
            }
        }
        Ok(None)
    }

    fn redo(&mut self, at: RecordAt, record: &RecordRef<'_>) -> Result<(), EngineError> {
        let failed = |reason: String| EngineError::Redo { lsn: record.lsn, reason };
        match beside(record.rmgr) {
            Beside::Nothing => {}
            Beside::Counters => self.redo_xlog(record),
            Beside::Files => self.redo_smgr(at, record)?,
            Beside::Transactions => {
                if !self.engine.txns.redo(record)? {
                    let (info, name) = (record.info, record.rmgr.name());
                    return Err(failed(format!("unknown record {info:#04x} of {name}")));
                }
                if let Some(end) = txn::commit::end_of(record) {
                    self.last_end = Some(end.time);
                }
            }
            Beside::Databases => self.redo_database(record)?,
            Beside::Unknown => return Err(failed(format!("resource manager {:?} has no redo", record.rmgr))),
        }
        for (index, block) in record.blocks().enumerate() {
            let tag = Tag { rel: block.rel, fork: block.fork, block: block.block };
            let fresh = block.image.is_some() || block.will_init;
            let step = Step { at, index: index as u8 };
            self.recovery.lists.add(tag, step, fresh, &mut self.file);
        }
        if record.xid > self.xid {
            self.xid = record.xid;
            self.engine.txns.observe_xid(record.xid);
        }
        Ok(())
    }

    /// Counters of checkpoints and OID batches.
    fn redo_xlog(&mut self, record: &RecordRef<'_>) {
        if let Some(oid) = xlog::as_next_oid(record) {
            self.engine.oids.advance_to(oid);
        }
        if let Some(checkpoint) = xlog::as_checkpoint(record) {
            self.engine.oids.advance_to(checkpoint.next_oid);
            self.checkpoint = Some(SeenCheckpoint { lsn: record.lsn, checkpoint });
        }
    }

    fn redo_smgr(&mut self, at: RecordAt, record: &RecordRef<'_>) -> Result<(), EngineError> {
        let Engine { smgr, pool, .. } = self.engine;
        match xlog::as_file_change(record) {
            Some(FileChange::Create(rel, fork)) => Ok(smgr.create(rel, fork, true)?),
            Some(FileChange::Truncate(rel, pages)) => {
                if !smgr.exists(rel, Fork::Main)? {
                    return Ok(());
                }
                pool.truncate(rel, Fork::Main, pages)?;
                if smgr.exists(rel, Fork::Vm)? {
                    pool.truncate(rel, Fork::Vm, heap::vm::pages_of(pages).1)?;
                }
                let step = Step { at, index: CUT };
                self.recovery.lists.add(cut_page(rel, pages), step, false, &mut self.file);
                Ok(())
            }
            None => Err(EngineError::Redo { lsn: record.lsn, reason: "malformed file record".into() }),
        }
    }

    /// A database that is a copy of another's files needs all its pages there first. They do not stay in the pool.
    fn redo_database(&mut self, record: &RecordRef<'_>) -> Result<(), EngineError> {
        if let Some(DatabaseChange::CreateCopied { from, .. }) = xlog::as_database_change(record) {
            let wanted = |rel: RelFile| rel.database == from;
            self.settle(wanted)?;
            *self.recovery.log.write() = Arc::new(self.log.clone());
            self.recovery.bring_all(&self.engine.pool, wanted)?;
            self.engine.pool.flush_database(from)?;
            self.engine.pool.drop_database(from);
        }
        self.engine.redo_database(record)
    }

    /// Makes files as long as their lists need them, and drops lists of pages that are not there ([invariant 5](super)).
    fn settle(&self, wanted: impl Fn(RelFile) -> bool) -> Result<(), EngineError> {
        let smgr = &self.engine.smgr;
        for (rel, fork, least) in self.recovery.lists.files(wanted) {
            let mut pages = match smgr.nblocks(rel, fork) {
                Err(SmgrError::MissingFile { .. }) if least == 0 => 0,
                Err(SmgrError::MissingFile { .. }) => {
                    smgr.create(rel, fork, true)?;
                    smgr.nblocks(rel, fork)?
                }
                pages => pages?,
            };
            if pages < least {
                let file = smgr.fork(rel, fork);
                let _extension = file.lock_extension();
                smgr.extend(rel, fork, BlockNo(pages), least - pages)?;
                pages = least;
            }
            self.recovery.lists.forget(buffer::Gone::From(Tag { rel, fork, block: BlockNo(pages) }));
        }
        Ok(())
    }
}
