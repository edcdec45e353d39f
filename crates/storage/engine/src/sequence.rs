//! # What
//! The storage of a sequence: a relation of one page with one row, `(last_value, log_cnt, is_called)`. A query reads the row like any
//! other; here it is made, read and changed in place.
//!
//! # Layout
//! An ordinary heap page. The row is frozen: every snapshot sees it, and nothing ever prunes or updates it. Its data is
//! `last_value` i64, `log_cnt` i64, `is_called` u8.
//!
//! # Invariants
//! 1. A value that was handed out is never handed out again after a crash: before a change that has no record of its own, a record
//!    behind the redo point has said that the sequence is at least that far.
//! 2. Changes are not undone by a rollback.
//!
//! # Locks
//! The page exclusively. It is held for one change, never over a flush of the log.
//!
//! # WAL and crash
//! [`Rmgr::Sequence`] info `0x00`: the page is initialised, the block's data is the row. The record may be *ahead* of the page
//! (`log_cnt` values): those are handed out without records, and skipped after a crash. A value that is left in the page after a
//! checkpoint's redo point gets a record first, as redo starts there.
//!
//! # PostgreSQL counterpart and differences
//! `commands/sequence.c`. The page is marked dirty before the redo point is looked at, so that a checkpoint that begins in between
//! writes the page.

use base::{BlockNo, Fork, RelFile, Tid, Xid};
use buffer::{ExclusivePage, PageChange, Persistence, Tag, WalAction};
use heap::header::form_tuple;
use page::PageBytes;
use tuple::{Attr, Datum, Physical, RowLayout};
use wal::{RecordRef, ResourceManager, Rmgr};

use crate::{Engine, EngineError, xlog};

/// Bytes of a row's data.
const ROW_LEN: usize = 17;
/// `info` of the only kind of record.
pub(crate) const LOG: u8 = 0x00;

/// The row of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRow {
    /// The value last handed out, or the next one.
    pub last_value: i64,
    /// Values behind it that need no record.
    pub log_count: i64,
    /// Whether `last_value` was handed out.
    pub is_called: bool,
}

/// A change of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceChange {
    /// What the page says afterwards.
    pub row: SequenceRow,
    /// What the log says, if a record is to be written.
    pub logged: Option<SequenceRow>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It is done.
    Done,
    /// It wants a record, and the transaction has no xid yet. Nothing was changed.
    NeedsXid,
    /// It was refused. Nothing was changed.
    Refused,
}

impl SequenceRow {
    fn encode(self) -> [u8; ROW_LEN] {
        let mut out = [0; ROW_LEN];
        out[..8].copy_from_slice(&self.last_value.to_le_bytes());
        out[8..16].copy_from_slice(&self.log_count.to_le_bytes());
        out[16] = u8::from(self.is_called);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<SequenceRow> {
        let int = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(SequenceRow { last_value: int(0)?, log_count: int(8)?, is_called: *bytes.get(16)? != 0 })
    }

    /// Makes a zero page the sequence's.
    fn init(self, page: &mut PageBytes) {
        let int8 = Attr { physical: Physical::Int8, align: 8, storage: b'p', compression: None };
        let layout = RowLayout::new(vec![
            int8,
            int8,
            Attr { physical: Physical::Bool, align: 1, storage: b'p', compression: None },
        ]);
        let values = [Datum::Int8(self.last_value), Datum::Int8(self.log_count), Datum::Bool(self.is_called)];
        let mut bytes = Vec::new();
        form_tuple(&layout, &values, &mut bytes);
        heap::ops::init_page(page, Xid::FIRST_NORMAL);
        let placed = heap::ops::insert(page, BlockNo(0), Some(1), &mut bytes, Xid::FROZEN, 0);
        debug_assert_eq!(placed, Ok(1), "an empty page takes a row");
    }

    fn store(self, page: &mut PageBytes) -> Option<()> {
        row_bytes(page)?;
        let item = page::item_mut(page, 1)?;
        let at = item.len() - ROW_LEN;
        item[at..].copy_from_slice(&self.encode());
        Some(())
    }
}

/// The data of the row, which ends the item.
fn row_bytes(page: &PageBytes) -> Option<&[u8]> {
    let item = page::item(page, 1)?;
    let header = heap::header::Header::read(item, heap::header::Bases::of(page))?;
    let data = item.get(header.hoff as usize..)?;
    (data.len() == ROW_LEN && header.ctid == Tid::new(BlockNo(0), 1)).then_some(data)
}

fn tag(file: RelFile) -> Tag {
    Tag { rel: file, fork: Fork::Main, block: BlockNo(0) }
}

fn damaged(file: RelFile) -> EngineError {
    EngineError::Buffer(buffer::BufferError::Corrupt { rel: file, fork: Fork::Main, block: BlockNo(0) })
}

impl Engine {
    /// Gives a sequence's new, empty file its page; the initial fork of an unlogged one has the same.
    pub fn create_sequence(
        &self,
        file: RelFile,
        persistence: Persistence,
        xid: Xid,
        row: SequenceRow,
    ) -> Result<(), EngineError> {
        let initial = (persistence == Persistence::Unlogged).then_some((Fork::Init, Persistence::Permanent));
        for (fork, persistence) in std::iter::once((Fork::Main, persistence)).chain(initial) {
            self.pool().admit(persistence)?;
            let mut page = self.pool().extend(file, fork, persistence)?;
            row.init(&mut page);
            self.log_row(page, persistence, xid, row);
        }
        Ok(())
    }

    fn log_row(&self, mut page: ExclusivePage<'_>, persistence: Persistence, xid: Xid, row: SequenceRow) {
        let mut action = WalAction::for_relation(self.pool(), persistence, Rmgr::Sequence, LOG, xid);
        let i = action.page(&mut page, PageChange { will_init: true, ..PageChange::default() });
        action.page_data(i, &row.encode());
        action.commit();
    }

    /// The row of a sequence.
    pub fn read_sequence(&self, file: RelFile) -> Result<SequenceRow, EngineError> {
        let pin = self.pool().read(tag(file))?;
        let page = pin.shared();
        row_bytes(&page).and_then(SequenceRow::decode).ok_or_else(|| damaged(file))
    }

    /// Changes the row under its latch. `decide` is told the row, and whether the record that `log_count` relies on lies before
    /// the redo point; it may be asked again, and may refuse.
    pub fn change_sequence(
        &self,
        file: RelFile,
        persistence: Persistence,
        xid: Option<Xid>,
        decide: &mut dyn FnMut(SequenceRow, bool) -> Option<SequenceChange>,
    ) -> Result<Changed, EngineError> {
        self.pool().admit(persistence)?;
        let pin = self.pool().read(tag(file))?;
        let mut page = pin.exclusive();
        let row = row_bytes(&page).and_then(SequenceRow::decode).ok_or_else(|| damaged(file))?;
        // Before the redo point is looked at: see "differences".
        page.mark_dirty();
        let permanent = persistence == Persistence::Permanent;
        let stale = permanent && page::lsn(&page) <= self.wal().redo();
        let Some(change) = decide(row, stale) else { return Ok(Changed::Refused) };
        let logged = change.logged.filter(|_| permanent);
        if logged.is_some() && xid.is_none() {
            return Ok(Changed::NeedsXid);
        }
        change.row.store(&mut page).ok_or_else(|| damaged(file))?;
        if let (Some(logged), Some(xid)) = (logged, xid) {
            self.log_row(page, persistence, xid, logged);
        }
        Ok(Changed::Done)
    }
}

/// How records of sequences are replayed and shown.
pub(crate) const MANAGER: ResourceManager =
    ResourceManager { id: Rmgr::Sequence, redo_block: Some(redo_block), describe: &xlog::Describe };

/// Redo: makes a page of zeros the sequence's.
fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Result<(), String> {
    let data = record.block(index).map_or(&[][..], |block| block.data);
    let row = SequenceRow::decode(data).ok_or("malformed sequence record")?;
    row.init(page);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_changed_in_place() {
        let mut page = [0; base::PAGE_SIZE];
        let row = SequenceRow { last_value: -7, log_count: 32, is_called: true };
        row.init(&mut page);
        assert_eq!(row_bytes(&page).and_then(SequenceRow::decode), Some(row));
        let next = SequenceRow { last_value: i64::MAX, log_count: 0, is_called: false };
        next.store(&mut page).unwrap();
        assert_eq!(row_bytes(&page).and_then(SequenceRow::decode), Some(next));
        let header =
            heap::header::Header::read(page::item(&page, 1).unwrap(), heap::header::Bases::of(&page));
        let header = header.unwrap();
        assert!(header.xmin_frozen() && header.xmax_invalid(), "every snapshot sees the row");
    }

    #[test]
    fn other_pages_are_no_sequences() {
        assert_eq!(row_bytes(&[0; base::PAGE_SIZE]), None);
    }
}
