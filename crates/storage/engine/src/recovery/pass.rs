//! The pass over the log.

use std::sync::Arc;
use std::time::Duration;

use base::{BlockNo, Fork, Lsn, RelFile, Xid};
use buffer::Tag;
use runtime::time::{Instant, now};
use smgr::SmgrError;
use txn::standby::Conflict;
use txn::system::ReplayLocks;
use wal::{Chunk, RecordAt, RecordRef, Replayed, WalReader};

use super::Recovery;
use super::ahead::Ahead;
use super::course::Drainer;
use super::lists::{KnownFiles, Step};
use super::pages::{CUT, cut_page};
use super::supply::Ending;
use super::target::{Reached, Stopper};
use super::upstream::{Inflow, Phase};
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
    /// It has read what it may.
    Full,
    /// It was told to stop.
    Stopped,
    /// The data have become consistent, which it was to tell.
    Consistent,
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
    pub fn note_in(&self, control: &mut ControlFile, reached: &super::reached::Reached) {
        reached.raise_floor(control, self.least);
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
    /// It ends when the data have become consistent.
    pub until_consistent: bool,
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
        Bounds {
            until_consistent: false,
            bytes: u64::MAX,
            stopper: None,
            consistency,
            delay: Duration::ZERO,
            end: None,
            inflow: None,
        }
    }

    fn is_stopped(&self) -> bool {
        self.end.is_some_and(Ending::is_stopped)
    }
}

/// How a pass over a log that goes on does its work: pages are in the pool meanwhile, and sessions may read them.
pub(super) struct Live<'a> {
    /// Brings pages up to date beside it.
    pub drainer: &'a mut Drainer,
    /// When the chunk was read that is replayed.
    pub since: Instant,
    /// The stream, if the log comes from another server.
    pub inflow: Option<&'a Inflow>,
    /// Until the file is cut whose relation is locked.
    pub cutting: Option<(RelFile, ReplayLocks<'a>)>,
}

/// The pass over the log.
pub(super) struct Pass<'a> {
    engine: &'a Engine,
    recovery: &'a Recovery,
    log: Replayed,
    files: KnownFiles,
    live: Option<Live<'a>>,
    /// Greatest xid that the transaction system was told of.
    xid: Xid,
    /// When the last transaction whose end was read ended.
    last_end: Option<i64>,
    last: Lsn,
    end: Lsn,
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
            files: KnownFiles::default(),
            live: None,
            xid: Xid::INVALID,
            last_end: None,
            last: Lsn::INVALID,
            end: Lsn::INVALID,
            consistency,
            reported: now(),
        }
    }

    /// A pass over a log that goes on.
    pub fn live(engine: &'a Engine, recovery: &'a Recovery, log: Replayed, live: Live<'a>) -> Pass<'a> {
        Pass { log, live: Some(live), ..Pass::new(engine, recovery) }
    }

    /// Reads all there is, or as far as it may.
    pub fn run(mut self, reader: WalReader, bounds: &Bounds<'_>) -> Result<(Read, Replayed), EngineError> {
        let from = reader.position();
        (self.last, self.end) = (from, from);
        self.consistency = bounds.consistency;
        let ahead = Ahead::start(reader)?;
        let why = loop {
            if bounds.is_stopped() {
                break Why::Stopped;
            }
            if self.end.0 - from.0 >= bounds.bytes {
                break Why::Full;
            }
            self.engine.rest_if_paused(&|| bounds.is_stopped());
            if !ahead.is_next_there(self.engine.pause_wanted()) {
                self.engine.pause_wanted().reset();
                continue;
            }
            let chunk = match ahead.next()? {
                Ok(chunk) => chunk,
                Err(ended) => {
                    self.end = ended.end;
                    break Why::Ended(ended.reason);
                }
            };
            self.log.keep(&chunk)?;
            self.begin_chunk()?;
            if let Some(why) = self.take(&chunk, bounds)? {
                break why;
            }
            if let Some(inflow) = bounds.inflow {
                inflow.note_applied(self.end);
            }
            self.engine.wal.note_received(None, self.end);
            self.report(self.last);
        };
        ahead.end();
        if self.live.is_none() {
            self.settle(|_| true)?;
            *self.recovery.log.write() = Arc::new(self.log.clone());
        }
        let Pass { log, last, end, last_end, consistency, .. } = self;
        Ok((Read { last, end, why, last_end, consistency }, log))
    }

    /// What is added from a chunk can be looked at before it is published.
    fn begin_chunk(&mut self) -> Result<(), EngineError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.since = now();
        live.drainer.look(self.engine, &mut self.log, self.end)?;
        *self.recovery.log.write() = Arc::new(self.log.clone());
        Ok(())
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
            self.engine.rest_if_paused(&|| bounds.is_stopped());
            let consistent = self.consistency.is_reached(self.end);
            let reached = bounds.stopper.and_then(|stopper| stopper.before(&record, consistent));
            if let Some(reached) = reached {
                return Ok(Some(Why::Target(reached)));
            }
            if !bounds.delay.is_zero() && consistent {
                self.delay(&record, bounds);
                if bounds.is_stopped() {
                    return Ok(Some(Why::Stopped));
                }
            }
            self.redo(at, &record)?;
            (self.last, self.end) = (lsn, record.end);
            self.recovery.reached.set(record.end);
            self.consistency.note(&record);
            let consistent = self.consistency.is_reached(self.end);
            let reached = bounds.stopper.and_then(|stopper| stopper.after(&record, consistent));
            if let Some(reached) = reached {
                return Ok(Some(Why::Target(reached)));
            }
            if consistent && bounds.until_consistent {
                return Ok(Some(Why::Consistent));
            }
        }
        Ok(None)
    }

    fn redo(&mut self, at: RecordAt, record: &RecordRef<'_>) -> Result<(), EngineError> {
        if record.xid > self.xid {
            self.xid = record.xid;
            self.engine.txns.observe_xid(record.xid);
        }
        let _locks = self.resolve(record);
        for (index, block) in record.blocks().enumerate() {
            let tag = Tag { rel: block.rel, fork: block.fork, block: block.block };
            let fresh = block.image.is_some() || block.will_init;
            self.add(tag, Step { at, index: index as u8 }, fresh)?;
        }
        self.redo_beside(at, record)?;
        if self.live.is_some() {
            self.recovery.lists.publish(at.position);
        }
        Ok(())
    }

    /// Sees to it that no session is in the way of a record. Locks are kept as long as it needs them.
    fn resolve(&mut self, record: &RecordRef<'_>) -> Option<ReplayLocks<'a>> {
        let live = self.live.as_mut()?;
        let conflict = txn::standby::conflict_of(record)?;
        let cut = match &conflict {
            Conflict::Cut(_, file) => Some(*file),
            _ => None,
        };
        let streams = live.inflow.is_some_and(|inflow| inflow.durable().1 == Phase::Streaming);
        let locks = self.engine.resolve(conflict, live.since, streams)?;
        match cut {
            Some(file) => {
                live.cutting = Some((file, locks));
                None
            }
            None => Some(locks),
        }
    }

    /// Adds a step to a page's list.
    fn add(&mut self, tag: Tag, step: Step, fresh: bool) -> Result<(), EngineError> {
        let lists = &self.recovery.lists;
        if self.live.is_none() {
            lists.add(tag, step, fresh, &mut self.files);
        } else if self.has_room(tag, fresh)? {
            lists.add(tag, step, fresh, &mut self.files);
            self.engine.pool.mark_stale(tag);
        }
        Ok(())
    }

    /// Whether a page is in its file, which is made longer for one that brings its own beginning ([invariant 5](super)).
    fn has_room(&mut self, tag: Tag, fresh: bool) -> Result<bool, EngineError> {
        let known = self.files.pages(tag, &self.recovery.lists);
        if known.is_some_and(|pages| tag.block.0 < pages) {
            return Ok(true);
        }
        let (smgr, Tag { rel, fork, block }) = (&self.engine.smgr, tag);
        let mut pages = match smgr.nblocks(rel, fork) {
            Err(SmgrError::MissingFile { .. }) if !fresh => return Ok(false),
            Err(SmgrError::MissingFile { .. }) => {
                smgr.create(rel, fork, true)?;
                smgr.nblocks(rel, fork)?
            }
            pages => pages?,
        };
        if block.0 >= pages && fresh {
            let file = smgr.fork(rel, fork);
            let _extension = file.lock_extension();
            smgr.extend(rel, fork, BlockNo(pages), block.0 + 1 - pages)?;
            pages = block.0 + 1;
        }
        *known = Some(pages);
        Ok(block.0 < pages)
    }

    /// What a record says of other things than pages.
    fn redo_beside(&mut self, at: RecordAt, record: &RecordRef<'_>) -> Result<(), EngineError> {
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
                    if self.live.is_some() {
                        self.recovery.reached.set_last_end(end.time);
                    }
                }
            }
            Beside::Databases => self.redo_database(record)?,
            Beside::Tablespaces => self.engine.redo_tablespace(record)?,
        }
        Ok(())
    }

    /// Counters of checkpoints and OID batches, and what the log itself is like.
    fn redo_xlog(&mut self, record: &RecordRef<'_>) {
        if xlog::as_images(record) == Some(false) {
            self.recovery.reached.set_bare(record.lsn);
        }
        if let Some(oid) = xlog::as_next_oid(record) {
            self.engine.oids.advance_to(oid);
        }
        if let Some(checkpoint) = xlog::as_checkpoint(record) {
            self.engine.txns.running().replay_oldest(checkpoint.oldest_running);
            self.engine.oids.advance_to(checkpoint.next_oid);
            if !checkpoint.full_page_writes {
                self.recovery.reached.set_bare(record.lsn);
            }
            let seen = SeenCheckpoint { lsn: record.lsn, checkpoint };
            self.recovery.checkpoints.note(seen);
        }
    }

    fn redo_smgr(&mut self, at: RecordAt, record: &RecordRef<'_>) -> Result<(), EngineError> {
        let Engine { smgr, pool, .. } = self.engine;
        match xlog::as_file_change(record) {
            Some(FileChange::Create(rel, fork)) => Ok(smgr.create(rel, fork, true)?),
            Some(FileChange::Truncate(rel, pages)) => {
                if !smgr.exists(rel, Fork::Main)? {
                    self.end_cut(rel);
                    return Ok(());
                }
                pool.truncate(rel, Fork::Main, pages)?;
                if smgr.exists(rel, Fork::Vm)? {
                    pool.truncate(rel, Fork::Vm, heap::vm::pages_of(pages).1)?;
                }
                let step = Step { at, index: CUT };
                self.add(cut_page(rel, pages), step, false)?;
                self.end_cut(rel);
                Ok(())
            }
            None => Err(EngineError::Redo { lsn: record.lsn, reason: "malformed file record".into() }),
        }
    }

    /// A file is cut: whoever uses its relation finds it so.
    fn end_cut(&mut self, rel: RelFile) {
        if let Some(live) = &mut self.live
            && live.cutting.as_ref().is_some_and(|(file, _)| *file == rel)
        {
            live.cutting = None;
        }
    }

    /// A database that is a copy of another's files needs all its pages there first. They do not stay in the pool.
    fn redo_database(&mut self, record: &RecordRef<'_>) -> Result<(), EngineError> {
        if let Some(DatabaseChange::CreateCopied { from, .. }) = xlog::as_database_change(record) {
            let wanted = |rel: RelFile| rel.database == from;
            if self.live.is_none() {
                self.settle(wanted)?;
            }
            *self.recovery.log.write() = Arc::new(self.log.clone());
            self.recovery.bring_all(&self.engine.pool, wanted)?;
            self.engine.pool.flush_database(from)?;
            if self.live.is_none() {
                for tablespace in self.engine.tablespaces_of_database(from)? {
                    self.engine.pool.drop_database(tablespace, from);
                }
            }
        }
        self.engine.redo_database(record)
    }

    /// Makes files as long as their lists need them, and drops lists of pages that are not there ([invariant 5](super)).
    fn settle(&self, wanted: impl Fn(RelFile) -> bool) -> Result<(), EngineError> {
        let smgr = &self.engine.smgr;
        for (rel, fork, least) in self.recovery.lists.files(wanted) {
            let mut pages = match smgr.nblocks(rel, fork) {
                Err(SmgrError::MissingFile { .. }) if least == 0 => {
                    self.engine.check_tablespace(rel.tablespace)?;
                    0
                }
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
