//! The pass over the log.

use std::sync::Arc;

use base::{BlockNo, Fork, Lsn, RelFile, Xid};
use buffer::Tag;
use runtime::time::{Instant, now};
use smgr::SmgrError;
use wal::{Chunk, RecordAt, RecordRef, Replayed, WalReader};

use super::Recovery;
use super::ahead::Ahead;
use super::lists::{LastFile, Step};
use super::pages::{CUT, cut_page};
use crate::managers::{Beside, beside};
use crate::xlog::{self, DatabaseChange, FileChange};
use crate::{Engine, EngineError};

/// What the pass has found.
pub(super) struct Read {
    /// Start of the last record.
    pub last: Lsn,
    /// End of the log.
    pub end: Lsn,
    /// Why it ends there.
    pub reason: String,
    /// When the last transaction whose end was read ended.
    pub last_end: Option<i64>,
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
    reported: Instant,
}

impl<'a> Pass<'a> {
    pub fn new(engine: &'a Engine, recovery: &'a Recovery) -> Pass<'a> {
        let log = Replayed::clone(&recovery.log.read());
        Pass {
            engine,
            recovery,
            log,
            file: LastFile::default(),
            xid: Xid::INVALID,
            last_end: None,
            reported: now(),
        }
    }

    /// Reads all there is.
    pub fn run(mut self, reader: WalReader) -> Result<Read, EngineError> {
        let mut last = reader.position();
        let ahead = Ahead::start(reader)?;
        let ended = loop {
            let chunk = match ahead.next()? {
                Ok(chunk) => chunk,
                Err(ended) => break ended,
            };
            self.log.keep(&chunk)?;
            last = self.take(&chunk)?.unwrap_or(last);
            self.report(last);
        };
        self.settle(|_| true)?;
        *self.recovery.log.write() = Arc::new(self.log);
        Ok(Read { last, end: ended.end, reason: ended.reason, last_end: self.last_end })
    }

    fn report(&mut self, at: Lsn) {
        let interval = self.recovery.report;
        if !interval.is_zero() && self.reported.elapsed() >= interval {
            self.reported = now();
            let elapsed = self.recovery.started.elapsed().as_secs_f64();
            tracing::info!("redo in progress, elapsed time: {elapsed:.2} s, current LSN: {at}");
        }
    }

    /// Returns where the last record begins.
    fn take(&mut self, chunk: &Chunk) -> Result<Option<Lsn>, EngineError> {
        let mut last = None;
        for (at, lsn, record) in chunk.records() {
            let record = record.map_err(|invalid| EngineError::Redo { lsn, reason: invalid.to_string() })?;
            self.redo(at, &record)?;
            last = Some(lsn);
        }
        Ok(last)
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
    fn redo_xlog(&self, record: &RecordRef<'_>) {
        if let Some(oid) = xlog::as_next_oid(record) {
            self.engine.oids.advance_to(oid);
        }
        if let Some(checkpoint) = xlog::as_checkpoint(record) {
            self.engine.oids.advance_to(checkpoint.next_oid);
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
