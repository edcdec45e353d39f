//! The WAL records: what they hold, their replay, their description.
//!
//! | record | main data | block 0 | further blocks |
//! |---|---|---|---|
//! | `PAGE_UPDATE` | version of the page, 0 if it stays | page: numbers of items to remove, new items | children whose splits are finished by this |
//! | `PAGE_SPLIT` | number of pages made, version of their parent's new downlinks | page: links and items | other pages made; children |
//! | `DELETE` | | leaf: numbers of items to remove | |
//! | `PAGE_DELETE` | number of the downlink, safe xid | leaf | parent |
//! | `PUT_FREE` | | page: links and items | root |
//! | `TAKE_FREE` | first free page behind it | page | root |
//! | `BUILD` | | full image | |
//!
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use base::Xid;
use index::bytes::{Check, Reader, put_sized};
use index::{FreeList, Records};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::ops;
use crate::rel::GistRel;

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Update = 0,
    Split = 1,
    Delete = 2,
    PageDelete = 3,
    PutFree = 4,
    TakeFree = 5,
    Build = 6,
}

impl Kind {
    const ALL: [(Kind, &'static str); 7] = [
        (Kind::Update, "PAGE_UPDATE"),
        (Kind::Split, "PAGE_SPLIT"),
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

/// Data of a page that loses and gets items.
pub(crate) fn update_bytes<T: AsRef<[u8]>>(doomed: &[u16], new: &[T]) -> Vec<u8> {
    let mut out = (doomed.len() as u16).to_le_bytes().to_vec();
    doomed.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
    new.iter().for_each(|item| put_sized(item.as_ref(), &mut out));
    out
}

fn read_update(bytes: &[u8]) -> Check<(Vec<u16>, Vec<&[u8]>)> {
    let mut r = Reader(bytes);
    let count = r.u16()?;
    let doomed = (0..count).map(|_| r.u16()).collect::<Check<_>>()?;
    let mut new = Vec::new();
    while !r.0.is_empty() {
        new.push(r.sized()?);
    }
    Ok((doomed, new))
}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let mut main = Reader(record.data());
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    match (kind, index) {
        (Kind::Update, 0) => {
            let version = main.u64()?;
            let (doomed, new) = read_update(data)?;
            ops::update(page, &doomed, &new, (version != 0).then_some(version))
        }
        (Kind::Update, _) => ops::finish_split(page, main.u64()?),
        (Kind::Split, index) => match index < main.u16()? as usize {
            true => ops::from_blob(page, data),
            false => ops::finish_split(page, main.u64()?),
        },
        (Kind::Delete, 0) => ops::update::<&[u8]>(page, &read_update(data)?.0, &[], None),
        (Kind::PageDelete, at) => {
            let (downlink, safe) = (main.u16()?, Xid(main.u64()?));
            match at {
                0 => ops::mark_deleted(page, safe),
                _ => ops::update::<&[u8]>(page, &[downlink], &[], None),
            }
        }
        (Kind::PutFree | Kind::TakeFree, index) => GistRel::redo_free(page, record, index),
        (Kind::Build, _) => Err("page image is missing"),
        _ => Err("the record has too many blocks"),
    }
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Gist,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(|(_, name)| name), details },
};

fn details(record: &Record) -> Check<String> {
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    let mut main = Reader(record.data());
    let block_data = record.block(0).map_or(&[][..], |block| block.data);
    Ok(match kind {
        Kind::Update if !block_data.is_empty() => {
            let (doomed, new) = read_update(block_data)?;
            format!("ndeleted: {}, ninserted: {}, version: {}", doomed.len(), new.len(), main.u64()?)
        }
        Kind::Split => format!("pages: {}, version: {}", main.u16()?, main.u64()?),
        Kind::Delete if !block_data.is_empty() => {
            let doomed = read_update(block_data)?.0;
            format!("ndeleted: {}, deleted: {doomed:?}", doomed.len())
        }
        Kind::PageDelete => format!("downlink: {}, safexid: {}", main.u16()?, Xid(main.u64()?)),
        Kind::TakeFree => format!("next free: {}", main.block()?),
        Kind::Update | Kind::Delete | Kind::PutFree | Kind::Build => String::new(),
    })
}
