//! Decoded records.

use std::fmt;

use base::{BlockNo, Fork, Lsn, RelFile, Xid};
use page::PageBytes;

/// Resource manager: who wrote the record and replays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rmgr {
    /// Checkpoints, full-page images, switches of the log itself.
    Xlog = 0,
    /// Commit and abort.
    Xact = 1,
    /// Creation and truncation of relation files.
    Smgr = 2,
    /// Commit-log pages.
    Clog = 3,
    /// Heap, visibility map.
    Heap = 4,
    /// B-tree.
    Btree = 5,
    /// Sets of row lockers.
    Multixact = 6,
    /// Sequences.
    Sequence = 7,
    /// Running transactions and locks, for standbys.
    Standby = 8,
}

/// A decoded record; owns its bytes.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins: the LSN stamped on the pages it changed.
    pub end: Lsn,
    /// The transaction that wrote it, or 0.
    pub xid: Xid,
    /// Who replays it.
    pub rmgr: Rmgr,
    /// Kind of record, in `rmgr`'s own terms.
    pub info: u8,
    bytes: Box<[u8]>,
}

impl Record {
    /// The main data.
    pub fn data(&self) -> &[u8] {
        todo!()
    }
    /// Number of block references.
    pub fn block_count(&self) -> usize {
        todo!()
    }
    /// The `i`-th block reference.
    pub fn block(&self, _i: usize) -> Option<BlockRef<'_>> {
        todo!()
    }
    /// All block references, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockRef<'_>> {
        (0..self.block_count()).filter_map(|i| self.block(i))
    }
}

/// A page that a record changes.
#[derive(Clone, Copy, Debug)]
pub struct BlockRef<'a> {
    /// Relation.
    pub rel: RelFile,
    /// Fork.
    pub fork: Fork,
    /// Page.
    pub block: BlockNo,
    /// The whole page, if the record carries it.
    pub image: Option<Image<'a>>,
    /// What to change on the page; empty if an image makes it superfluous.
    pub data: &'a [u8],
    /// Redo builds the page from nothing.
    pub will_init: bool,
}

/// A page image without the hole between `lower` and `upper`.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    hole_start: u16,
    hole_length: u16,
}

impl Image<'_> {
    /// Writes the page as it was when the record was inserted (its LSN is older than the record).
    pub fn restore(&self, _page: &mut PageBytes) {
        todo!()
    }
}

/// Text for `waldump`: each resource manager's owner describes its records.
pub trait WalDescribe {
    /// PostgreSQL's name of the record's kind (`INSERT`, `COMMIT`).
    fn name(&self, record: &Record) -> &'static str;
    /// What it says, in one line.
    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result;
}
