//! The WAL records: what they hold, their replay, their description.
//!
//! | record | what it does | data of each page |
//! |---|---|---|
//! | `ADD_LEAF` | enters a row | changes |
//! | `MOVE` | a bucket or an inner tuple moves to another page | changes |
//! | `PICKSPLIT` | a bucket becomes an inner tuple with buckets below | changes |
//! | `ADD_NODE` | an inner tuple gets a node | changes |
//! | `SPLIT_TUPLE` | an inner tuple becomes two, one above the other | changes |
//! | `PUSH` | a full bucket's entries go behind it | changes |
//! | `VACUUM` | entries and redirects are removed | changes |
//! | `UNLINK` | an empty bucket or inner tuple goes | changes |
//! | `PUT_FREE` | a page goes on the list of free pages | page: flags and link; head |
//! | `TAKE_FREE` | a page is taken off the list; main data: first free page behind it | |
//! | `BUILD` | | full image |
//!
//! Changes are those of `ops`. Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use index::bytes::{Check, Reader};
use index::{FreeList, Records};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::ops;
use crate::rel::SpgistRel;

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    AddLeaf = 0,
    Move = 1,
    PickSplit = 2,
    AddNode = 3,
    SplitTuple = 4,
    Push = 5,
    Vacuum = 6,
    Unlink = 7,
    PutFree = 8,
    TakeFree = 9,
    Build = 10,
}

impl Kind {
    const ALL: [(Kind, &'static str); 11] = [
        (Kind::AddLeaf, "ADD_LEAF"),
        (Kind::Move, "MOVE"),
        (Kind::PickSplit, "PICKSPLIT"),
        (Kind::AddNode, "ADD_NODE"),
        (Kind::SplitTuple, "SPLIT_TUPLE"),
        (Kind::Push, "PUSH"),
        (Kind::Vacuum, "VACUUM"),
        (Kind::Unlink, "UNLINK"),
        (Kind::PutFree, "PUT_FREE"),
        (Kind::TakeFree, "TAKE_FREE"),
        (Kind::Build, "BUILD"),
    ];

    fn from_info(info: u8) -> Option<(Kind, &'static str)> {
        Kind::ALL.get(info as usize).copied()
    }
}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    match Kind::from_info(record.info).ok_or("unknown kind of record")?.0 {
        Kind::PutFree | Kind::TakeFree => SpgistRel::redo_free(page, record, index),
        Kind::Build => Err("page image is missing"),
        _ => ops::redo(page, data),
    }
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Spgist,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(|(_, name)| name), details },
};

fn details(record: &Record) -> Check<String> {
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    Ok(match kind {
        Kind::TakeFree => format!("next free: {}", Reader(record.data()).block()?),
        Kind::PutFree | Kind::Build => String::new(),
        _ => format!("pages: {}", record.blocks().count()),
    })
}
