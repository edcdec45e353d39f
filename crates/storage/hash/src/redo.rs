//! The WAL records: what they hold, their replay, their description.
//!
//! | record | main data | block 0 | further blocks |
//! |---|---|---|---|
//! | `INSERT` | | bucket: number and bytes of the entry | |
//! | `INSERT_UPPER` | | directory: number and bytes of the entry | left page of the split |
//! | `SPLIT` | entries kept, right page, its least key, position in the log | left page | right page: all of it |
//! | `SPLIT_ROOT` | | left page: all of it | right page, root: all of them |
//! | `DELETE` | | bucket: numbers of the entries to remove | |
//! | `PAGE_DELETE` | number of the entry in the directory, safe xid, right page, least key | bucket | left sibling, right sibling, directory |
//! | `PUT_FREE` | | page: all of it | root |
//! | `TAKE_FREE` | first free page behind it | page | root |
//! | `BUILD` | | full image | |
//!
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use base::{BlockNo, Lsn, Xid};
use index::bytes::{Check, Reader};
use index::{FreeList, Records};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::format::{KEY, Key};
use crate::ops::{self, Split};
use crate::rel::HashRel;

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Insert = 0,
    InsertUpper = 1,
    Split = 2,
    SplitRoot = 3,
    Delete = 4,
    PageDelete = 5,
    PutFree = 6,
    TakeFree = 7,
    Build = 8,
}

impl Kind {
    pub(crate) const ALL: [(Kind, &'static str); 9] = [
        (Kind::Insert, "INSERT"),
        (Kind::InsertUpper, "INSERT_UPPER"),
        (Kind::Split, "SPLIT"),
        (Kind::SplitRoot, "SPLIT_ROOT"),
        (Kind::Delete, "DELETE"),
        (Kind::PageDelete, "PAGE_DELETE"),
        (Kind::PutFree, "PUT_FREE"),
        (Kind::TakeFree, "TAKE_FREE"),
        (Kind::Build, "BUILD"),
    ];

    fn from_info(info: u8) -> Option<(Kind, &'static str)> {
        Kind::ALL.get(info as usize).copied()
    }
}

/// Data of a page that gets an entry.
pub(crate) fn insert_bytes(at: u16, entry: &[u8]) -> Vec<u8> {
    [&at.to_le_bytes(), entry].concat()
}

/// Data of a page that loses entries.
pub(crate) fn delete_bytes(doomed: &[u16]) -> Vec<u8> {
    doomed.iter().flat_map(|at| at.to_le_bytes()).collect()
}

/// Main data of a split.
pub(crate) fn split_bytes(split: &Split) -> Vec<u8> {
    let mut out = split.keep.to_le_bytes().to_vec();
    out.extend_from_slice(&split.right.0.to_le_bytes());
    out.extend_from_slice(&split.key.bytes());
    out.extend_from_slice(&split.at.0.to_le_bytes());
    out
}

fn read_split(r: &mut Reader<'_>) -> Check<Split> {
    Ok(Split { keep: r.u16()?, right: r.block()?, key: Key::read(r.take(KEY)?), at: Lsn(r.u64()?) })
}

/// A bucket that is taken out of use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageDelete {
    /// Number of its entry in the directory.
    pub at: u16,
    /// Must be older than every snapshot before the page is used again.
    pub safe: Xid,
    /// Its right sibling, which takes over its keys.
    pub right: BlockNo,
    /// Its least key.
    pub low: Key,
}

impl PageDelete {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.at.to_le_bytes().to_vec();
        out.extend_from_slice(&self.safe.0.to_le_bytes());
        out.extend_from_slice(&self.right.0.to_le_bytes());
        out.extend_from_slice(&self.low.bytes());
        out
    }

    fn read(r: &mut Reader<'_>) -> Check<PageDelete> {
        Ok(PageDelete { at: r.u16()?, safe: Xid(r.u64()?), right: r.block()?, low: Key::read(r.take(KEY)?) })
    }
}

fn read_delete(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect()
}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let mut main = Reader(record.data());
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    match (kind, index) {
        (Kind::Insert | Kind::InsertUpper, 0) => {
            let mut r = Reader(data);
            ops::insert(page, r.u16()?, r.0)
        }
        (Kind::InsertUpper, 1) => ops::complete(page),
        (Kind::Split, 0) => ops::split(page, read_split(&mut main)?),
        (Kind::Split, 1) | (Kind::SplitRoot, 0..=2) => ops::from_blob(page, data),
        (Kind::Delete, 0) => ops::remove(page, &read_delete(data)),
        (Kind::PageDelete, which) => {
            let gone = PageDelete::read(&mut main)?;
            match which {
                0 => ops::mark_deleted(page, gone.safe),
                1 => ops::set_next(page, gone.right),
                2 => ops::set_low(page, gone.low),
                _ => ops::merge(page, gone.at),
            }
        }
        (Kind::PutFree | Kind::TakeFree, index) => HashRel::redo_free(page, record, index),
        (Kind::Build, _) => Err("page image is missing"),
        _ => Err("the record has too many blocks"),
    }
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Hash,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(|(_, name)| name), details },
};

fn details(record: &Record) -> Check<String> {
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    let mut main = Reader(record.data());
    let block_data = record.block(0).map_or(&[][..], |block| block.data);
    Ok(match kind {
        Kind::Insert | Kind::InsertUpper if !block_data.is_empty() => {
            format!("off: {}", Reader(block_data).u16()?)
        }
        Kind::Split => {
            let split = read_split(&mut main)?;
            format!("kept: {}, right: {}", split.keep, split.right)
        }
        Kind::Delete => {
            let doomed = read_delete(block_data);
            format!("ndeleted: {}, deleted: {doomed:?}", doomed.len())
        }
        Kind::PageDelete => {
            let gone = PageDelete::read(&mut main)?;
            format!("off: {}, safexid: {}, right: {}", gone.at, gone.safe, gone.right)
        }
        Kind::TakeFree => format!("next free: {}", main.block()?),
        _ => String::new(),
    })
}
