//! # What
//! What records of rows say to who decodes the log (`wal_level = logical`), and how they are read back as changes of rows.
//!
//! # Layout
//! Of a table that is logged for decoders ([`HeapDesc::logged`](crate::HeapDesc::logged)) the records of INSERT, UPDATE and DELETE have a *part* at the end of their main data, and keep the data of block 0 beside
//! an image, with the new row whole:
//!
//! | bytes | part |
//! |---|---|
//! | 1 | 1 a chunk of a TOAST table, 2 an old row follows, 4 which has all columns, 8 the inserted version is taken back |
//! | 4 | OID of the table; of the TOAST table for a chunk |
//! | 1 to 10 | distance of the record's xid from its transaction's top level, in LEB128 |
//! | | the old row: the columns of its identity, others NULL, or all; never compressed or out of line |
//!
//! Rows are as records have them: `infomask2`, `infomask`, `hoff`, then what follows the header of a tuple.
//!
//! # Invariants
//! 1. Before the first change of a table in a transaction stands its description ([`txn::logical`]).
//! 2. A chunk of a large value stands before the row that it is of. A row that keeps a large value of the version before has a pointer without chunks: *unchanged*.
//! 3. Who writes rows of such a table to the log in other records hides them from decoders: rewrites do, on purpose.
//! 4. Of a table that is not logged for decoders, records are as without this file.
//!
//! # Locks
//! None. The old row is read before the page is latched: a version's columns do not change, and who may not change it is told so later.
//!
//! # PostgreSQL counterpart and differences
//! `ExtractReplicaIdentity`, `XLH_*` flags of `heapam_xlog.h`, `decode.c`. The table's OID is in the record: nobody needs to find it by its file.

use std::sync::Arc;

use base::{Oid, RelFile, Tid, Xid};
use tuple::{Datum, Position, RowLayout};
use txn::Transaction;
use txn::logical as log;
use wal::{Record, Rmgr};

use crate::error::HeapResult;
use crate::fetch::fetch_version;
use crate::header::{Bases, append_tuple};
use crate::records::{Get, get_tuple, info, logged_tail, whole_tuple};
use crate::rel::{Access, HeapRel, Writer};
use crate::row::{HeapTuple, TupleRef};
use crate::toast;

const CHUNK: u8 = 1;
const OLD: u8 = 2;
const OLD_FULL: u8 = 4;
const TAKEN_BACK: u8 = 8;

/// What of an old row is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Nothing.
    Nothing,
    /// These columns, counted from 0; of an UPDATE only if one of them changes.
    Columns(Box<[usize]>),
    /// All columns.
    Full,
}

/// That a relation is logged for decoders, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// A table of users.
    Table {
        /// Its OID.
        oid: Oid,
        /// Its description, which this crate does not read.
        description: Arc<[u8]>,
        /// What of old rows is logged.
        identity: Identity,
    },
    /// The TOAST table of one.
    Chunks(Oid),
}

impl Logged {
    /// Sees to it that the transaction has described the table.
    pub(crate) fn describe(&self, rel: &HeapRel, writer: &Writer<'_>) {
        self.describe_in(writer.me, writer.xid, rel.desc.file.database);
    }

    /// The same, where no row is written.
    pub fn describe_in(&self, transaction: &Transaction, xid: Xid, database: Oid) {
        if let Logged::Table { oid, description, .. } = self {
            transaction.describe(xid, (database, *oid), description);
        }
    }

    fn part(&self, writer: &Writer<'_>, flags: u8) -> Vec<u8> {
        let (flags, oid) = match self {
            Logged::Table { oid, .. } => (flags, oid),
            Logged::Chunks(oid) => (flags | CHUNK, oid),
        };
        let mut out = Vec::with_capacity(8);
        out.push(flags);
        out.extend_from_slice(&oid.0.to_le_bytes());
        log::put_distance(&mut out, log::distance(writer.me, writer.xid));
        out
    }

    /// The part of an INSERT.
    pub(crate) fn of_insert(&self, writer: &Writer<'_>) -> Vec<u8> {
        self.part(writer, 0)
    }

    /// The part of an UPDATE of the version at `tid`; `new`: its columns to be.
    pub(crate) fn of_update(
        &self,
        access: &Access<'_>,
        rel: &HeapRel,
        writer: &Writer<'_>,
        tid: Tid,
        new: &[Datum],
    ) -> HeapResult<Vec<u8>> {
        self.describe(rel, writer);
        let Logged::Table { identity, .. } = self else { return Ok(self.part(writer, 0)) };
        let old = match identity {
            Identity::Nothing => None,
            Identity::Full => old_row(access, rel, tid, None)?,
            Identity::Columns(key) => {
                // What is out of line is not beside the new row in the log: it is told as if it had changed.
                old_row(access, rel, tid, Some(key))?
                    .filter(|old| key.iter().any(|&i| old[i] != new[i] || is_external(&new[i])))
            }
        };
        Ok(self.with_old(rel, writer, old, *identity == Identity::Full))
    }

    /// The part of a DELETE of the version at `tid`.
    pub(crate) fn of_delete(
        &self,
        access: &Access<'_>,
        rel: &HeapRel,
        writer: &Writer<'_>,
        tid: Tid,
    ) -> HeapResult<Vec<u8>> {
        let Logged::Table { identity, .. } = self else { return Ok(Vec::new()) };
        self.describe(rel, writer);
        let old = match identity {
            Identity::Nothing => None,
            Identity::Full => old_row(access, rel, tid, None)?,
            Identity::Columns(key) => old_row(access, rel, tid, Some(key))?,
        };
        Ok(self.with_old(rel, writer, old, *identity == Identity::Full))
    }

    /// The part of the removal of a version that its inserter takes back.
    pub(crate) fn of_take_back(&self, writer: &Writer<'_>) -> Vec<u8> {
        match self {
            Logged::Table { .. } => self.part(writer, TAKEN_BACK),
            Logged::Chunks(_) => Vec::new(),
        }
    }

    fn with_old(&self, rel: &HeapRel, writer: &Writer<'_>, old: Option<Vec<Datum>>, full: bool) -> Vec<u8> {
        let Some(old) = old else { return self.part(writer, 0) };
        let mut out = self.part(writer, if full { OLD | OLD_FULL } else { OLD });
        let mut row = Vec::with_capacity(128);
        append_tuple(&rel.desc.layout, &old, &mut row);
        out.extend_from_slice(logged_tail(&row));
        out
    }
}

fn is_external(value: &Datum) -> bool {
    toast::as_external(value).is_some()
}

/// The columns of the version at `tid`, as they are without compression: all, or those of the key and NULL in place of others. None if there is no such version.
fn old_row(
    access: &Access<'_>,
    rel: &HeapRel,
    tid: Tid,
    key: Option<&[usize]>,
) -> HeapResult<Option<Vec<Datum>>> {
    let mut tuple = HeapTuple::new();
    if !fetch_version(access, rel, tid, &mut tuple)? {
        return Ok(None);
    }
    let layout = &rel.desc.layout;
    let mut values = Vec::with_capacity(layout.len());
    let row = tuple.get().and_then(|row| row.decode(layout, layout.len(), &mut values).ok());
    if row.is_none() {
        return Err(crate::update::corrupt(rel, tid, "row does not fit its columns"));
    }
    for (i, value) in values.iter_mut().enumerate() {
        *value = match key {
            Some(key) if !key.contains(&i) => Datum::Null,
            _ => toast::detoast(access, rel.desc.toast.as_ref(), value)?,
        };
    }
    Ok(Some(values))
}

/// A row as a record has it.
pub type LoggedRow = Vec<u8>;

/// What a record says of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The table.
    pub relation: Oid,
    /// Its file.
    pub file: RelFile,
    /// Distance of the record's xid from that of the top level.
    pub distance: u64,
    /// What was done.
    pub kind: ChangeKind,
}

/// What was done to rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Rows came, at these places.
    Insert(Vec<(Tid, LoggedRow)>),
    /// A row changed.
    Update {
        /// What is logged of it as it was.
        old: Option<OldRow>,
        /// As it is.
        new: LoggedRow,
    },
    /// A row went.
    Delete(Option<OldRow>),
    /// The row that was inserted last at this place never was.
    TakeBack(Tid),
    /// Chunks of large values came.
    Chunks(Vec<LoggedRow>),
}

/// What is logged of a row as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldRow {
    /// All columns, not those of a key alone.
    pub full: bool,
    /// The columns; those that are not logged are NULL.
    pub row: LoggedRow,
}

/// What a record says of rows that are logged for decoders; `None` if it says nothing, or is damaged.
pub fn change_of(record: &Record) -> Option<Change> {
    if !touches_rows(record) {
        return None;
    }
    let block = record.block(0)?;
    let mut main = Get(record.data());
    if record.info == info::UPDATE {
        crate::records::get_stamp(&mut main, record.xid).ok()?;
    }
    if main.is_empty() {
        return None;
    }
    let (flags, relation) = (main.u8().ok()?, Oid(main.u32().ok()?));
    let (distance, old) = log::take_distance(main.0)?;
    let old = (flags & OLD != 0).then(|| OldRow { full: flags & OLD_FULL != 0, row: whole_tuple(old) });
    let mut get = Get(block.data);
    let kind = match record.info {
        info::INSERT | info::MULTI_INSERT => {
            let mut rows = Vec::new();
            if record.info == info::INSERT {
                let tuple = get_tuple(&mut get, block.data.len().checked_sub(2)?, &[], &[]).ok()?;
                rows.push((Tid::new(block.block, tuple.offset), tuple.bytes));
            } else {
                for _ in 0..get.u16().ok()? {
                    let len = get.u16().ok()? as usize;
                    let tuple = get_tuple(&mut get, len, &[], &[]).ok()?;
                    rows.push((Tid::new(block.block, tuple.offset), tuple.bytes));
                }
            }
            match flags & CHUNK != 0 {
                true => ChangeKind::Chunks(rows.into_iter().map(|(_, row)| row).collect()),
                false => ChangeKind::Insert(rows),
            }
        }
        info::DELETE if flags & TAKEN_BACK != 0 => {
            let stamp = crate::records::get_stamp(&mut get, record.xid).ok()?;
            ChangeKind::TakeBack(Tid::new(block.block, stamp.offset))
        }
        info::DELETE => ChangeKind::Delete(old),
        info::UPDATE => {
            let tuple = get_tuple(&mut get, block.data.len().checked_sub(2)?, &[], &[]).ok()?;
            ChangeKind::Update { old, new: tuple.bytes }
        }
        _ => {
            crate::records::get_stamp(&mut get, record.xid).ok()?;
            let shared = (get.u16().ok()?, get.u16().ok()?);
            debug_assert_eq!(shared, (0, 0), "the new row is whole");
            let len = get.0.len().checked_sub(2)?;
            let tuple = get_tuple(&mut get, len, &[], &[]).ok()?;
            ChangeKind::Update { old, new: tuple.bytes }
        }
    };
    Some(Change { relation, file: block.rel, distance, kind })
}

/// Whether a record is of rows that come, change or go, of whatever table.
pub fn touches_rows(record: &Record) -> bool {
    use info::{DELETE, HOT_UPDATE, INSERT, MULTI_INSERT, UPDATE, UPDATE_HERE};
    record.rmgr == Rmgr::Heap
        && matches!(record.info, INSERT | DELETE | UPDATE | HOT_UPDATE | MULTI_INSERT | UPDATE_HERE)
}

/// The columns of a logged row; `None` if it does not fit them.
pub fn columns_of(row: &[u8], layout: &RowLayout) -> Option<Vec<Datum>> {
    let tuple = TupleRef::new(Tid::default(), row, Bases::default())?;
    let mut values = Vec::with_capacity(layout.len());
    layout.decode_more(&tuple.row(), &mut Position::default(), layout.len(), &mut values).ok()?;
    Some(values)
}

/// A chunk of a large value out of its row: the value, its number among the value's chunks, the bytes.
pub fn chunk_of(row: &[u8], layout: &RowLayout) -> Option<(u32, i32, tuple::Bytes)> {
    match columns_of(row, layout)?.as_slice() {
        [Datum::Oid(id), Datum::Int4(seq), Datum::Bytes(bytes)] => Some((*id, *seq, bytes.clone())),
        _ => None,
    }
}
