//! The WAL records: what they hold, their replay, their description.
//!
//! | record | main data | block 0 | further blocks |
//! |---|---|---|---|
//! | `INSERT` | | leaf: what is entered where | |
//! | `INSERT_DOWNLINK` | | page: number and bytes of the item | the child whose split is finished by this |
//! | `SPLIT` | | page: links and items | pages made: links and items |
//! | `CHANGE` | | leaf: numbers of items, what they become | |
//! | `DELETE_PAGE` | safe xid, number of the downlink | leaf | left sibling: links and items; parent |
//! | `PUT_FREE` | | page: links and items | meta page |
//! | `TAKE_FREE` | first free page behind it | page | meta page |
//! | `BUILD` | | full image | |
//! | `PENDING_ADD` | | first page of a lane: items | |
//! | `PENDING_MOVE` | | first page of a lane: links | new page: links and items |
//! | `PENDING_CUT` | number of pages left, whether the lane's first page is alone, number of pages cut off, first free page | first page of the lane | the page that is the last now, if it is another; pages cut off: links and items; meta page |
//!
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use base::{BlockNo, OffsetNo, Xid};
use index::bytes::{Check, Reader, put_sized};
use index::{FreeList, Records};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::format::NONE;
use crate::rel::GinRel;
use crate::{ops, posting};

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Insert = 0,
    Downlink = 1,
    Split = 2,
    Change = 3,
    DeletePage = 4,
    PutFree = 5,
    TakeFree = 6,
    Build = 7,
    PendingAdd = 8,
    PendingMove = 9,
    PendingCut = 10,
}

impl Kind {
    const ALL: [(Kind, &'static str); 11] = [
        (Kind::Insert, "INSERT"),
        (Kind::Downlink, "INSERT_DOWNLINK"),
        (Kind::Split, "SPLIT"),
        (Kind::Change, "CHANGE"),
        (Kind::DeletePage, "DELETE_PAGE"),
        (Kind::PutFree, "PUT_FREE"),
        (Kind::TakeFree, "TAKE_FREE"),
        (Kind::Build, "BUILD"),
        (Kind::PendingAdd, "PENDING_ADD"),
        (Kind::PendingMove, "PENDING_MOVE"),
        (Kind::PendingCut, "PENDING_CUT"),
    ];

    fn from_info(info: u8) -> Option<(Kind, &'static str)> {
        Kind::ALL.get(info as usize).copied()
    }
}

/// What happens to a leaf, in the bytes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// Item `n` gets TIDs.
    Tids(OffsetNo, &'a [u64]),
    /// A new item comes before number `n`.
    Item(OffsetNo, &'a [u8]),
}

impl Step<'_> {
    /// Does it. `false` if there is no room.
    pub(crate) fn apply(&self, page: &mut PageBytes) -> Check<bool> {
        match *self {
            Step::Tids(n, tids) => ops::add_tids(page, n, tids),
            Step::Item(n, item) => ops::add_item(page, n, item),
        }
    }

    /// Appends it to a record's bytes.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Step::Item(n, item) => {
                out.extend_from_slice(&n.to_le_bytes());
                out.extend_from_slice(&0u16.to_le_bytes());
                put_sized(item, out);
            }
            Step::Tids(n, tids) => {
                out.extend_from_slice(&n.to_le_bytes());
                out.extend_from_slice(&(tids.len() as u16).to_le_bytes());
                posting::encode_behind(0, tids, out);
            }
        }
    }
}

/// Does to a leaf what a record's bytes say.
fn redo_steps(page: &mut PageBytes, bytes: &[u8]) -> Check<()> {
    let mut r = Reader(bytes);
    while !r.0.is_empty() {
        let (n, count) = (r.u16()?, r.u16()?);
        let fits = if count == 0 {
            Step::Item(n, r.sized()?).apply(page)?
        } else {
            Step::Tids(n, &read_tids(&mut r.0, count)?).apply(page)?
        };
        if !fits {
            return Err("what is entered does not fit on the page");
        }
    }
    Ok(())
}

fn read_tids(bytes: &mut &[u8], count: u16) -> Check<Vec<u64>> {
    let (mut tids, mut last) = (Vec::with_capacity(count as usize), 0u64);
    for _ in 0..count {
        last = last.checked_add(posting::take(bytes)?).ok_or("row is too far away")?;
        tids.push(last);
    }
    if tids.is_sorted_by(|a, b| a < b) { Ok(tids) } else { Err("rows are not in order") }
}

/// Data of a page whose items change.
pub(crate) fn change_bytes(changes: &[(OffsetNo, Option<Vec<u8>>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (n, new) in changes {
        out.extend_from_slice(&n.to_le_bytes());
        put_sized(new.as_deref().unwrap_or(&[]), &mut out);
    }
    out
}

/// Number of an item, and what it becomes.
type Changed<'a> = (OffsetNo, Option<&'a [u8]>);

fn read_changes(bytes: &[u8]) -> Check<Vec<Changed<'_>>> {
    let mut r = Reader(bytes);
    let mut out = Vec::new();
    while !r.0.is_empty() {
        let (n, new) = (r.u16()?, r.sized()?);
        out.push((n, Some(new).filter(|new| !new.is_empty())));
    }
    Ok(out)
}

/// Main data of a record that cuts pages off.
pub(crate) fn cut_bytes(pages: u32, own: bool, count: usize, free: BlockNo) -> Vec<u8> {
    let mut out = pages.to_le_bytes().to_vec();
    out.extend_from_slice(&u16::from(own).to_le_bytes());
    out.extend_from_slice(&(count as u16).to_le_bytes());
    out.extend_from_slice(&free.0.to_le_bytes());
    out
}

/// The items in a record's bytes.
pub(crate) fn read_items(bytes: &[u8]) -> Check<Vec<&[u8]>> {
    let mut r = Reader(bytes);
    let mut out = Vec::new();
    while !r.0.is_empty() {
        out.push(r.sized()?);
    }
    Ok(out)
}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let mut main = Reader(record.data());
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    match (kind, index) {
        (Kind::Insert, 0) => redo_steps(page, data),
        (Kind::Downlink, 0) => {
            let mut r = Reader(data);
            let (n, item) = (r.u16()?, r.sized()?);
            match ops::add_item(page, n, item)? {
                true => Ok(()),
                false => Err("downlink does not fit on the page"),
            }
        }
        (Kind::Downlink, 1) => ops::finish_split(page),
        (Kind::Split, _) => ops::from_blob(page, data),
        (Kind::Change, 0) => ops::change_items(page, &read_changes(data)?),
        (Kind::DeletePage, at) => {
            let (safe, downlink) = (Xid(main.u64()?), main.u16()?);
            match at {
                0 => ops::mark_deleted(page, safe),
                1 => ops::from_blob(page, data),
                _ => ops::change_items::<&[u8]>(page, &[(downlink, None)]),
            }
        }
        (Kind::PutFree | Kind::TakeFree, index) => GinRel::redo_free(page, record, index),
        (Kind::Build, _) => Err("page image is missing"),
        (Kind::PendingAdd, 0) => ops::append(page, &read_items(data)?),
        (Kind::PendingMove, 0 | 1) => ops::from_blob(page, data),
        (Kind::PendingCut, index) => {
            let (pages, own, count, free) =
                (main.u32()?, main.u16()? != 0, main.u16()? as usize, main.block()?);
            let freed = if own { 1 } else { 2 };
            match index {
                0 => ops::set_pages(page, pages, own),
                1 if !own => ops::set_next(page, NONE),
                index if index < freed + count => ops::from_blob(page, data),
                _ => ops::set_next(page, free),
            }
        }
        _ => Err("the record has too many blocks"),
    }
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Gin,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(|(_, name)| name), details },
};

fn details(record: &Record) -> Check<String> {
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    let mut main = Reader(record.data());
    let data = record.block(0).map_or(&[][..], |block| block.data);
    Ok(match kind {
        Kind::Change if !data.is_empty() => {
            let changes = read_changes(data)?;
            let removed = changes.iter().filter(|(_, new)| new.is_none()).count();
            format!("changed: {}, removed: {removed}", changes.len() - removed)
        }
        Kind::DeletePage => format!("safexid: {}, downlink: {}", Xid(main.u64()?), main.u16()?),
        Kind::TakeFree => format!("next free: {}", main.block()?),
        Kind::PendingAdd if !data.is_empty() => format!("rows: {}", read_items(data)?.len()),
        Kind::PendingCut => format!("left: {}", main.u32()?),
        _ => String::new(),
    })
}
