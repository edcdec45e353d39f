//! The log records of this crate: checkpoints, OIDs ([`Rmgr::Xlog`]), relation files ([`Rmgr::Smgr`]), databases ([`Rmgr::Database`]) and tablespaces ([`Rmgr::Tablespace`]).
//!
//! | rmgr | info | main data |
//! |---|---|---|
//! | Xlog | `0x00` CHECKPOINT_SHUTDOWN, `0x10` CHECKPOINT_ONLINE | [`Checkpoint`], 96 bytes, then the xids of prepared transactions that are older |
//! | Xlog | `0x30` NEXTOID | u32: OIDs below it may have been handed out |
//! | Xlog | CHECKPOINT_REDO, full-page images | written by `wal` and `buffer`; only the images matter to redo |
//! | Smgr | `0x10` CREATE | relation file, u8 fork |
//! | Smgr | `0x20` TRUNCATE | relation file, u32 pages that stay |
//! | Database | `0x00` CREATE_FILE_COPY | u32 new database, u32 its tablespace, u32 the copied one |
//! | Database | `0x10` CREATE_WAL_LOG | u32 new database, u32 its tablespace, its map of files as `map.rs` writes it |
//! | Tablespace | `0x00` CREATE | u32 tablespace, its location, empty if it is in place |
//! | Sequence | `0x00` LOG | none; the block's data is the row of [`crate::sequence`] |
//!
//! A relation file is 12 bytes: tablespace, database, number, each u32 little-endian.

use std::fmt;
use std::ops::Deref;

use base::{Fork, Lsn, Oid, RelFile, Xid};
use wal::{Record, RecordBuilder, Rmgr, WalDescribe, XlogDescribe};

use crate::control::Checkpoint;
use crate::sequence::SequenceRow;

use wal::xlog_info::{BACKUP_END, CHECKPOINT_ONLINE, CHECKPOINT_SHUTDOWN, FPW_CHANGE, NEXT_OID as NEXTOID};

/// A fork's first file was made.
pub const CREATE: u8 = 0x10;
/// A relation was cut.
pub const TRUNCATE: u8 = 0x20;

/// The files of a database were copied.
pub const CREATE_FILE_COPY: u8 = 0x00;
/// A database was made; its pages follow.
pub const CREATE_WAL_LOG: u8 = 0x10;
/// A tablespace was made.
pub const CREATE_TABLESPACE: u8 = 0x00;

/// The record of a checkpoint.
///
/// `prepared`: transactions that wait for their ends in state files.
pub fn checkpoint_record(checkpoint: &Checkpoint, prepared: &[Xid]) -> RecordBuilder<'static> {
    let info = if checkpoint.shutdown { CHECKPOINT_SHUTDOWN } else { CHECKPOINT_ONLINE };
    let mut record = RecordBuilder::new(Rmgr::Xlog, info, Xid::INVALID);
    record.data(&checkpoint.encode());
    for xid in prepared {
        record.data(&xid.0.to_le_bytes());
    }
    record
}

/// The checkpoint that a record holds, if it is one.
pub fn as_checkpoint<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<Checkpoint> {
    let is_one = record.rmgr == Rmgr::Xlog && matches!(record.info, CHECKPOINT_SHUTDOWN | CHECKPOINT_ONLINE);
    if is_one { Checkpoint::decode(record.data()) } else { None }
}

/// The prepared transactions that a checkpoint record names.
pub(crate) fn prepared_at(record: &Record) -> Vec<Xid> {
    let xids = record.data().get(Checkpoint::SIZE..).unwrap_or_default();
    xids.as_chunks().0.iter().map(|xid| Xid(u64::from_le_bytes(*xid))).collect()
}

/// The redo point of the base backup whose end a record tells of, if it does.
pub fn as_backup_end<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<Lsn> {
    let start =
        record.data().first_chunk().filter(|_| record.rmgr == Rmgr::Xlog && record.info == BACKUP_END)?;
    Some(Lsn(u64::from_le_bytes(*start)))
}

/// The record that tells whether pages are logged whole from here on.
pub fn images_record(whole: bool) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Xlog, FPW_CHANGE, Xid::INVALID);
    record.data(if whole { &[1] } else { &[0] });
    record
}

/// What such a record tells.
pub fn as_images<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<bool> {
    (record.rmgr == Rmgr::Xlog && record.info == FPW_CHANGE).then(|| record.data() == [1])
}

/// The record of reserved OIDs.
pub fn next_oid_record(limit: Oid) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Xlog, NEXTOID, Xid::INVALID);
    record.data(&limit.0.to_le_bytes());
    record
}

/// The limit of a NEXTOID record.
pub fn as_next_oid<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<Oid> {
    (record.rmgr == Rmgr::Xlog && record.info == NEXTOID).then(|| u32_at(record.data(), 0).map(Oid))?
}

/// The record of a new file.
pub fn create_record(xid: Xid, rel: RelFile, fork: Fork) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Smgr, CREATE, xid);
    record.data(&encode_rel(rel)).data(&[fork as u8]);
    record
}

/// The record of a cut.
pub fn truncate_record(rel: RelFile, pages: u32) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Smgr, TRUNCATE, Xid::INVALID);
    record.data(&encode_rel(rel)).data(&pages.to_le_bytes());
    record
}

/// What an [`Rmgr::Smgr`] record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A fork's first file was made.
    Create(RelFile, Fork),
    /// The main fork was cut to so many pages, the maps accordingly.
    Truncate(RelFile, u32),
}

/// Decodes an [`Rmgr::Smgr`] record; `None` if it is malformed.
pub fn as_file_change<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<FileChange> {
    let data = record.data();
    let rel = RelFile {
        tablespace: Oid(u32_at(data, 0)?),
        database: Oid(u32_at(data, 4)?),
        number: u32_at(data, 8)?,
    };
    match record.info {
        CREATE => Some(FileChange::Create(rel, Fork::from_u8(*data.get(12)?)?)),
        TRUNCATE => Some(FileChange::Truncate(rel, u32_at(data, 12)?)),
        _ => None,
    }
}

/// The record of a database whose pages are logged.
pub fn create_logged_database_record(
    xid: Xid,
    (database, home): (Oid, Oid),
    map: &[u8],
) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Database, CREATE_WAL_LOG, xid);
    record.data(&database.0.to_le_bytes()).data(&home.0.to_le_bytes()).data(map);
    record
}

/// The record of a database that is a copy of another's files.
pub fn copy_database_record(xid: Xid, (database, home): (Oid, Oid), from: Oid) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Database, CREATE_FILE_COPY, xid);
    record.data(&database.0.to_le_bytes()).data(&home.0.to_le_bytes()).data(&from.0.to_le_bytes());
    record
}

/// The record of a new tablespace.
pub fn create_tablespace_record(xid: Xid, tablespace: Oid, location: &str) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Tablespace, CREATE_TABLESPACE, xid);
    record.data(&tablespace.0.to_le_bytes()).data(location.as_bytes());
    record
}

/// The tablespace that a record of one says was made, and where.
pub fn as_new_tablespace<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<(Oid, &str)> {
    let is_one = record.rmgr == Rmgr::Tablespace && record.info == CREATE_TABLESPACE;
    let (oid, location) = record.data().split_first_chunk().filter(|_| is_one)?;
    Some((Oid(u32::from_le_bytes(*oid)), std::str::from_utf8(location).ok()?))
}

/// What an [`Rmgr::Database`] record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseChange<'a> {
    /// A database was made, with this map of its catalogs' files.
    CreateLogged {
        /// The new one.
        database: Oid,
        /// Its own tablespace.
        home: Oid,
        /// The file.
        map: &'a [u8],
    },
    /// The files of a database were copied.
    CreateCopied {
        /// The new one.
        database: Oid,
        /// Its own tablespace.
        home: Oid,
        /// The one that was copied.
        from: Oid,
    },
}

/// Decodes an [`Rmgr::Database`] record; `None` if it is malformed.
pub fn as_database_change<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<DatabaseChange<'_>> {
    let data = record.data();
    let (database, home) = (Oid(u32_at(data, 0)?), Oid(u32_at(data, 4)?));
    match record.info {
        CREATE_FILE_COPY => {
            Some(DatabaseChange::CreateCopied { database, home, from: Oid(u32_at(data, 8)?) })
        }
        CREATE_WAL_LOG => Some(DatabaseChange::CreateLogged { database, home, map: data.get(8..)? }),
        _ => None,
    }
}

fn encode_rel(rel: RelFile) -> [u8; 12] {
    let mut out = [0; 12];
    for (slot, n) in out.chunks_exact_mut(4).zip([rel.tablespace.0, rel.database.0, rel.number]) {
        slot.copy_from_slice(&n.to_le_bytes());
    }
    out
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

/// Describes this crate's records for `waldump`.
pub struct Describe;

impl WalDescribe for Describe {
    fn name(&self, record: &Record) -> &'static str {
        match (record.rmgr, record.info) {
            (Rmgr::Sequence, crate::sequence::LOG) => "LOG",
            (Rmgr::Smgr, CREATE) => "CREATE",
            (Rmgr::Smgr, TRUNCATE) => "TRUNCATE",
            (Rmgr::Database, CREATE_FILE_COPY) => "CREATE_FILE_COPY",
            (Rmgr::Database, CREATE_WAL_LOG) => "CREATE_WAL_LOG",
            (Rmgr::Tablespace, CREATE_TABLESPACE) => "CREATE",
            (Rmgr::Xlog, _) => XlogDescribe.name(record),
            _ => "UNKNOWN",
        }
    }

    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result {
        if let Some(c) = as_checkpoint(record) {
            return write!(
                out,
                "redo {}; xid {}; oid {}; multi {}; oldest xid {}; oldest multi {}; oldest running xid {}; {}",
                c.redo,
                c.next_xid,
                c.next_oid,
                c.next_multixact,
                c.oldest_xid,
                c.oldest_multixact,
                c.oldest_running,
                if c.shutdown { "shutdown" } else { "online" }
            );
        }
        if record.rmgr == Rmgr::Xlog {
            return XlogDescribe.describe(record, out);
        }
        if record.rmgr == Rmgr::Sequence {
            let row = record.block(0).and_then(|block| SequenceRow::decode(block.data));
            return row.map_or(Ok(()), |row| write!(out, "last_value {}", row.last_value));
        }
        if record.rmgr == Rmgr::Database {
            return match as_database_change(record) {
                Some(DatabaseChange::CreateLogged { database, home, .. }) => {
                    write!(out, "create dir {}", RelFile::whole_database(home, database))
                }
                Some(DatabaseChange::CreateCopied { database, home, from }) => {
                    write!(out, "copy database {from} to {}", RelFile::whole_database(home, database))
                }
                None => Ok(()),
            };
        }
        if let Some((tablespace, location)) = as_new_tablespace(record) {
            return write!(out, "{tablespace} \"{location}\"");
        }
        match (record.rmgr == Rmgr::Smgr).then(|| as_file_change(record)).flatten() {
            Some(FileChange::Create(rel, fork)) => write!(out, "{rel}{}", fork.suffix()),
            Some(FileChange::Truncate(rel, pages)) => write!(out, "{rel} to {pages} blocks"),
            None => Ok(()),
        }
    }
}
