//! What · Logical decoding: the log of a database as transactions of changed rows, in the order in which they committed.
//!
//! Layout · [`description`]: what the log says of a table. `buffer`: changes that wait for their transaction's end, with those of subtransactions. This file: [`Decoder`] reads records and says what became of
//! transactions; [`Transaction`] gives the changes of one, with tables and values.
//!
//! How · Under `wal_level = logical` records of rows say which table they are of, have the new row whole and what identifies the old one ([`heap::logical`]), and each transaction describes the
//! tables that it changes in the log ([`txn::logical`]). So decoding needs the log alone: it can begin at any position, and what transactions did of which it saw the first record
//! it can tell.
//!
//! Invariants
//! 1. A transaction is told if its commit record stands at `start` or behind it. By then everything that it did was seen, for a slot's restart position lies before the first record of every transaction that
//!    was running at the slot's consistent point, and later of every one of which the receiver does not have the end.
//! 2. Only what is on disk is told: what a receiver has was not taken back by a crash.
//! 3. Who reads holds no transaction, no snapshot, no row back: the log is all that a slot keeps.
//! 4. A transaction that ended without a word (its session or its server is gone) is found by asking who runs ([`Decoder::forget_lost`]), and holds the restart position back no longer.
//!
//! Differences from PostgreSQL · `logical.c`, `decode.c`, `reorderbuffer.c`, `snapbuild.c`: there are no historic snapshots, so `catalog_xmin` is always null. What is asked of publications and of types
//! that users made is asked of the catalogs as they are now. A transaction that changed nothing but shared catalogs is not told at all.

mod buffer;
pub mod description;

use std::collections::VecDeque;
use std::sync::Arc;

use base::{Lsn, Oid, Xid};
use heap::logical::{Change as LoggedChange, ChangeKind, OldRow};
use rustc_hash::FxHashMap;
use tuple::varlena::{self, External};
use tuple::{Attr, Datum, Physical, RowLayout};
use txn::commit::{self, info};
use txn::logical as log;
use wal::{Gap, Record, Rmgr, SegmentSource, WalError, WalReader};

pub use description::{DescribedColumn, Description};

use crate::slots::FOLDER;
use crate::{Engine, EngineError};
use buffer::{Buffer, Changes, Entry, Waiting};

/// What decoding has cost, as `pg_stat_replication_slots` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Transactions of which something was written to disk.
    pub spilled_transactions: u64,
    /// How often that was done.
    pub spills: u64,
    /// Bytes of that.
    pub spilled_bytes: u64,
    /// Transactions told.
    pub transactions: u64,
    /// Bytes of their changes.
    pub bytes: u64,
    /// When this was set to zero last, microseconds since 2000-01-01 UTC.
    pub since: Option<i64>,
}

impl Figures {
    /// Adds what it has cost meanwhile.
    pub(crate) fn add(&mut self, more: &Figures) {
        self.spilled_transactions += more.spilled_transactions;
        self.spills += more.spills;
        self.spilled_bytes += more.spilled_bytes;
        self.transactions += more.transactions;
        self.bytes += more.bytes;
    }
}

/// Positions that are remembered of which the receiver may confirm one.
const RESTARTS: usize = 4096;

/// Lets a reader look no further than what is on disk.
struct Flushed(Arc<Engine>);

impl SegmentSource for Flushed {
    fn bring(&mut self, _timeline: base::TimelineId, _start: Lsn, _name: &str) -> Result<bool, WalError> {
        Ok(false)
    }

    fn end_of_written(&self) -> Option<Lsn> {
        Some(self.0.wal().flushed())
    }

    fn wait_for_more(&mut self, _gap: &Gap<'_>, _given_up: &runtime::Event) -> Result<bool, WalError> {
        Ok(false)
    }
}

/// What a record brought.
pub enum Event {
    /// A transaction committed.
    Committed(Box<Transaction>),
    /// A message that goes with no transaction.
    Message(Message),
}

/// What there was to read.
pub enum Step {
    /// Nothing more is on disk.
    CaughtUp,
    /// A record.
    Record(Option<Event>),
}

/// A message of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its record's position.
    pub lsn: Lsn,
    /// Prefix.
    pub prefix: String,
    /// Contents.
    pub contents: Vec<u8>,
}

/// Reads the log of a database.
pub struct Decoder {
    engine: Arc<Engine>,
    reader: WalReader,
    database: Oid,
    /// Transactions whose commit stands before this were told already.
    start: Lsn,
    buffer: Buffer,
    figures: Figures,
    /// Everything before this was read.
    position: Lsn,
    /// From where on to read again once the receiver has all before the first position: (that, this).
    restarts: VecDeque<(Lsn, Lsn)>,
}

impl Decoder {
    /// Decodes for the slot of this name from `restart` on, and tells what committed at `start` or behind it. `memory`: bytes of changes that may wait in memory.
    pub fn new(
        engine: Arc<Engine>,
        slot: &str,
        database: Oid,
        (restart, start): (Lsn, Lsn),
        memory: usize,
    ) -> Result<Decoder, EngineError> {
        let buffer = Buffer::new(engine.dir().join(FOLDER).join(slot), memory)?;
        let reader = reader(&engine, restart);
        Ok(Decoder {
            reader,
            engine,
            database,
            start,
            buffer,
            figures: Figures::default(),
            position: restart,
            restarts: VecDeque::new(),
        })
    }

    /// Everything before this was read.
    pub fn position(&self) -> Lsn {
        self.position
    }

    /// Takes what decoding has cost since this was last asked.
    pub fn take_figures(&mut self) -> Figures {
        std::mem::take(&mut self.figures)
    }

    /// Reads a record, if one is on disk.
    pub fn step(&mut self) -> Result<Step, EngineError> {
        let flushed = self.engine.wal().flushed();
        if self.reader.position() >= flushed {
            return Ok(Step::CaughtUp);
        }
        match self.reader.next() {
            Some(record) => {
                let record = record.map_err(EngineError::Wal)?;
                let event = self.record(&record)?;
                self.position = record.end;
                Ok(Step::Record(event))
            }
            None => {
                let at = self.reader.position();
                let reason = self.reader.end_reason().unwrap_or_default().to_owned();
                self.reader = reader(&self.engine, at);
                // The end of what is on disk may lie within a record; anything else is no end of the log.
                if reason.starts_with("end of segment file") {
                    return Ok(Step::CaughtUp);
                }
                match self.engine.wal().has_segment(at).map_err(EngineError::Wal)? {
                    true => Err(EngineError::Decoding(at, reason)),
                    false => Err(EngineError::LogRemoved(self.engine.wal().file_name(at))),
                }
            }
        }
    }

    fn record(&mut self, record: &Record) -> Result<Option<Event>, EngineError> {
        let damaged = || EngineError::Decoding(record.lsn, "a record cannot be decoded".into());
        match record.rmgr {
            Rmgr::Heap
                if heap::logical::touches_rows(record)
                    && record.block(0).is_some_and(|block| block.rel.database == self.database) =>
            {
                self.rows(record)?;
            }
            Rmgr::Logical => return self.logical(record).ok_or_else(damaged)?,
            Rmgr::Xact => return self.end(record).ok_or_else(damaged),
            _ => {}
        }
        Ok(None)
    }

    fn rows(&mut self, record: &Record) -> Result<(), EngineError> {
        let Some(change) = heap::logical::change_of(record) else {
            self.buffer.touch(record.xid, record.lsn);
            return Ok(());
        };
        let top = top_of(record, change.distance);
        if let ChangeKind::TakeBack(tid) = change.kind {
            self.buffer.take_back(top, change.file, tid);
            return Ok(());
        }
        self.add(record, top, Waiting::Rows(change))
    }

    fn add(&mut self, record: &Record, top: Xid, what: Waiting) -> Result<(), EngineError> {
        self.figures.bytes += (record.end.0 - record.lsn.0).min(what.size() as u64);
        let entry = Entry { lsn: record.lsn, xid: record.xid, what };
        self.buffer.add(top, entry, &mut self.figures)
    }

    /// A record beside the rows; `None` if it is damaged.
    #[allow(clippy::type_complexity)]
    fn logical(&mut self, record: &Record) -> Option<Result<Option<Event>, EngineError>> {
        let (distance, data) = log::take_distance(record.data())?;
        let top = top_of(record, distance);
        if record.info == log::POINT {
            return Some(Ok(None));
        }
        let (database, data) = data.split_first_chunk()?;
        if Oid(u32::from_le_bytes(*database)) != self.database {
            return Some(Ok(None));
        }
        let added = match record.info {
            log::DESCRIBE => self.add(record, top, Waiting::Description(data.into())),
            log::TRUNCATE => {
                let (&flags, tables) = data.split_first()?;
                let oid = |bytes: &[u8; 4]| Oid(u32::from_le_bytes(*bytes));
                let tables = tables.as_chunks().0.iter().map(oid).collect();
                self.add(record, top, Waiting::Truncate(flags, tables))
            }
            log::MESSAGE => {
                let (&with_transaction, data) = data.split_first()?;
                let (length, data) = data.split_first_chunk()?;
                let (prefix, contents) = data.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                let prefix = String::from_utf8(prefix.to_vec()).ok()?;
                let contents = contents.to_vec();
                if with_transaction != 0 {
                    return Some(self.add(record, top, Waiting::Message(prefix, contents)).map(|()| None));
                }
                let message = Message { lsn: record.lsn, prefix, contents };
                return Some(Ok((record.lsn >= self.start).then_some(Event::Message(message))));
            }
            _ => return None,
        };
        Some(added.map(|()| None))
    }

    /// The end of a transaction, or of a subtransaction that was rolled back; `None` if the record is damaged.
    fn end(&mut self, record: &Record) -> Option<Option<Event>> {
        match record.info {
            info::COMMIT | info::COMMIT_PREPARED => {
                let end = commit::decode(record.xid, record.data())?;
                let Some((first, changes)) = self.buffer.take(record.xid, &end.subxids) else {
                    return Some(None);
                };
                if record.lsn < self.start {
                    return Some(None);
                }
                self.figures.transactions += 1;
                Some(Some(Event::Committed(Box::new(Transaction {
                    xid: record.xid,
                    first,
                    commit: record.lsn,
                    end: record.end,
                    time: end.time,
                    origin: end.origin,
                    changes,
                    tables: FxHashMap::default(),
                    chunks: FxHashMap::default(),
                    ready: VecDeque::new(),
                }))))
            }
            info::ABORT | info::ABORT_PREPARED => {
                let end = commit::decode(record.xid, record.data())?;
                self.buffer.undo(record.xid);
                end.subxids.iter().for_each(|xid| self.buffer.undo(*xid));
                Some(None)
            }
            _ => Some(None),
        }
    }

    /// Where decoding must begin again to tell everything that ends from here on.
    pub fn restart(&self) -> Lsn {
        self.buffer.oldest().unwrap_or(self.position)
    }

    /// Remembers the present position as one that the receiver may confirm.
    pub fn note_restart(&mut self) {
        let (position, restart) = (self.position, self.restart());
        let full = self.restarts.len() >= RESTARTS;
        match self.restarts.back_mut() {
            // Nothing is gained by another one.
            Some((_, last)) if *last == restart => {}
            Some(last) if full => *last = (position, restart),
            _ => self.restarts.push_back((position, restart)),
        }
    }

    /// The receiver has everything that ended before `confirmed`: where decoding must begin again, if that has changed.
    pub fn restart_for(&mut self, confirmed: Lsn) -> Option<Lsn> {
        let mut found = None;
        while let Some(&(position, restart)) = self.restarts.front()
            && position <= confirmed
        {
            found = Some(restart);
            self.restarts.pop_front();
        }
        found
    }

    /// Forgets transactions that ended without a word. Call it now and then.
    pub fn forget_lost(&mut self) -> Result<(), EngineError> {
        let txns = self.engine.txns();
        let ended: Vec<Xid> = self.buffer.xids().filter(|xid| !txns.is_in_progress(*xid)).collect();
        for xid in ended {
            // Of one that committed the record comes, if it did not yet.
            if !txns.did_commit(xid)? {
                self.buffer.undo(xid);
            }
        }
        Ok(())
    }
}

/// The transaction that a record is of, whose xid is so far from that of the record.
fn top_of(record: &Record, distance: u64) -> Xid {
    Xid(record.xid.0.saturating_sub(distance))
}

fn reader(engine: &Arc<Engine>, from: Lsn) -> WalReader {
    engine.wal().reader(from).bringing(Box::new(Flushed(engine.clone())))
}

/// A row before it changed or went.
#[derive(Clone, Debug, PartialEq)]
pub struct Old {
    /// All its columns; else those of the key, and NULL in place of others.
    pub full: bool,
    /// The columns.
    pub values: Vec<Datum>,
}

/// A change, with the table that it is of. A value that is still [`Datum::Toasted`] is a large one that did not change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A row came.
    Insert(Arc<Description>, Vec<Datum>),
    /// A row changed.
    Update(Arc<Description>, Option<Old>, Vec<Datum>),
    /// A row went; nothing may be known of it.
    Delete(Arc<Description>, Option<Old>),
    /// Tables were emptied.
    Truncate {
        /// Which.
        tables: Vec<Arc<Description>>,
        /// CASCADE
        cascade: bool,
        /// RESTART IDENTITY
        restart: bool,
    },
    /// A message.
    Message(Message),
}

/// A transaction that committed.
pub struct Transaction {
    /// Its xid.
    pub xid: Xid,
    /// Position of its first record.
    pub first: Lsn,
    /// That of its commit record.
    pub commit: Lsn,
    /// The end of that.
    pub end: Lsn,
    /// When it committed, microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Where it comes from, if it was replicated itself.
    pub origin: Option<txn::origin::Mark>,
    changes: Changes,
    /// Tables by their last descriptions.
    tables: FxHashMap<Oid, Arc<Description>>,
    /// Bytes of large values whose row has not come yet: by TOAST table and value.
    chunks: FxHashMap<(Oid, u32), Vec<u8>>,
    /// Changes of one record.
    ready: VecDeque<(Lsn, Change)>,
}

impl Transaction {
    /// The next change, and the position of its record.
    pub fn next_change(&mut self) -> Result<Option<(Lsn, Change)>, EngineError> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Ok(Some(change));
            }
            let Some(Entry { lsn, what, .. }) = self.changes.next()? else { return Ok(None) };
            self.take(lsn, what)
                .ok_or_else(|| EngineError::Decoding(lsn, "a change does not fit its table".into()))?;
        }
    }

    fn take(&mut self, lsn: Lsn, what: Waiting) -> Option<()> {
        match what {
            Waiting::Description(bytes) => {
                let table = Description::decode(&bytes)?;
                self.tables.insert(table.oid, Arc::new(table));
            }
            Waiting::Rows(change) => self.take_rows(lsn, change)?,
            Waiting::Truncate(flags, tables) => {
                let tables = tables.iter().map(|oid| self.tables.get(oid).cloned());
                let (cascade, restart) =
                    (flags & log::truncate_flags::CASCADE != 0, flags & log::truncate_flags::RESTART != 0);
                let tables = tables.collect::<Option<_>>()?;
                self.ready.push_back((lsn, Change::Truncate { tables, cascade, restart }));
            }
            Waiting::Message(prefix, contents) => {
                self.ready.push_back((lsn, Change::Message(Message { lsn, prefix, contents })));
            }
        }
        Some(())
    }

    fn take_rows(&mut self, lsn: Lsn, change: LoggedChange) -> Option<()> {
        if let ChangeKind::Chunks(rows) = &change.kind {
            let layout = chunk_layout();
            for row in rows {
                let (value, seq, bytes) = heap::logical::chunk_of(row, &layout)?;
                let all = self.chunks.entry((change.relation, value)).or_default();
                if seq == 0 {
                    all.clear();
                }
                all.extend_from_slice(&bytes);
            }
            return Some(());
        }
        let table = self.tables.get(&change.relation)?.clone();
        match change.kind {
            ChangeKind::Insert(rows) => {
                for (_, row) in rows {
                    let new = self.columns(&table, &row)?;
                    self.ready.push_back((lsn, Change::Insert(table.clone(), new)));
                }
            }
            ChangeKind::Update { old, new } => {
                let old = self.old(&table, old)?;
                let new = self.columns(&table, &new)?;
                self.ready.push_back((lsn, Change::Update(table, old, new)));
            }
            ChangeKind::Delete(old) => {
                let old = self.old(&table, old)?;
                self.ready.push_back((lsn, Change::Delete(table, old)));
            }
            ChangeKind::TakeBack(_) | ChangeKind::Chunks(_) => {}
        }
        // The values were those of this record's rows.
        self.chunks.clear();
        Some(())
    }

    #[allow(clippy::option_option)]
    fn old(&self, table: &Description, old: Option<OldRow>) -> Option<Option<Old>> {
        Some(match old {
            None => None,
            Some(old) => Some(Old { full: old.full, values: self.columns(table, &old.row)? }),
        })
    }

    /// A row's columns, with large values whose chunks came.
    fn columns(&self, table: &Description, row: &[u8]) -> Option<Vec<Datum>> {
        let mut values = heap::logical::columns_of(row, &table.layout)?;
        for value in &mut values {
            if let Datum::Toasted(stored) = value {
                match varlena::external(stored) {
                    Some(pointer) => {
                        if let Some(whole) = self.large(table, &pointer) {
                            *value = whole?;
                        }
                    }
                    None => *value = varlena::resolve_inline(stored).ok()??,
                }
            }
        }
        Some(values)
    }

    /// A large value; `None` if it did not change, `Some(None)` if its chunks are no such value.
    #[allow(clippy::option_option)]
    fn large(&self, table: &Description, pointer: &External) -> Option<Option<Datum>> {
        let bytes = self.chunks.get(&(table.toast, pointer.value_id))?;
        if bytes.len() != pointer.stored_size as usize {
            return Some(None);
        }
        let Some(method) = pointer.compression else {
            return Some(Some(Datum::Bytes(bytes.as_slice().into())));
        };
        let raw = varlena::decompress(bytes, pointer.raw_size as usize, method);
        Some(raw.ok().map(|raw| Datum::Bytes(raw.into())))
    }
}

/// How the columns of a TOAST table lie.
fn chunk_layout() -> RowLayout {
    let attr = |physical| Attr { physical, align: 4, storage: b'p', compression: None };
    RowLayout::new([Physical::Oid, Physical::Int4, Physical::Varlena].map(attr).to_vec())
}
