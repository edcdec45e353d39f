//! The WAL records: what they hold, their replay, their description.
//!
//! | record | main data | block 0 | further blocks |
//! |---|---|---|---|
//! | `INSERT` | range, place | data page: whether it is new, number and bytes of the summary | map |
//! | `UPDATE` | range, place | data page: bytes of the summary | |
//! | `MOVE` | range, new place, old place | data page: as of `INSERT` | map, old data page |
//! | `REMOVE` | range, place | data page | map |
//! | `NEW_PAGE` | kind and number of the page, its block | page | meta page or directory |
//! | `BUILD` | | full image | |
//!
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use index::Records;
use index::bytes::{Check, Reader};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::format::{Kind as PageKind, Opaque, Place};
use crate::ops;

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Insert = 0,
    Update = 1,
    Move = 2,
    Remove = 3,
    NewPage = 4,
    Build = 5,
}

impl Kind {
    pub(crate) const ALL: [(Kind, &'static str); 6] = [
        (Kind::Insert, "INSERT"),
        (Kind::Update, "UPDATE"),
        (Kind::Move, "MOVE"),
        (Kind::Remove, "REMOVE"),
        (Kind::NewPage, "NEW_PAGE"),
        (Kind::Build, "BUILD"),
    ];

    fn from_info(info: u8) -> Option<(Kind, &'static str)> {
        Kind::ALL.get(info as usize).copied()
    }
}

/// Main data of a record about a range's summary.
pub(crate) fn range_bytes(range: u32, places: &[Place]) -> Vec<u8> {
    let mut out = range.to_le_bytes().to_vec();
    for place in places {
        out.extend_from_slice(&place.block.0.to_le_bytes());
        out.extend_from_slice(&place.offset.to_le_bytes());
    }
    out
}

fn read_place(r: &mut Reader<'_>) -> Check<Place> {
    Ok(Place { block: r.block()?, offset: r.u16()? })
}

/// Main data of a record about a new page.
pub(crate) fn page_bytes(op: Opaque, block: base::BlockNo) -> Vec<u8> {
    let mut out = (op.kind as u16).to_le_bytes().to_vec();
    out.extend_from_slice(&op.number.to_le_bytes());
    out.extend_from_slice(&block.0.to_le_bytes());
    out
}

fn read_page(r: &mut Reader<'_>) -> Check<(Opaque, base::BlockNo)> {
    Ok((Opaque::new(PageKind::from_u16(r.u16()?)?, r.u32()?), r.block()?))
}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let mut main = Reader(record.data());
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    match (kind, index) {
        (Kind::NewPage, which) => {
            let (op, block) = read_page(&mut main)?;
            match which {
                0 => {
                    ops::init(page, op);
                    Ok(())
                }
                _ => ops::link(page, op.number, block),
            }
        }
        (Kind::Build, _) => Err("page image is missing"),
        (kind, which) => {
            let range = main.u32()?;
            let place = read_place(&mut main)?;
            match (kind, which) {
                (Kind::Insert | Kind::Move, 0) => {
                    let mut r = Reader(data);
                    if r.u16()? != 0 {
                        ops::init(page, Opaque::new(PageKind::Data, 0));
                    }
                    ops::add(page, r.0, Some(place.offset)).map(|_| ())
                }
                (Kind::Update, 0) => ops::replace(page, place.offset, data),
                (Kind::Insert | Kind::Move, 1) => ops::point(page, range, place),
                (Kind::Move, 2) => ops::remove(page, read_place(&mut main)?.offset),
                (Kind::Remove, 0) => ops::remove(page, place.offset),
                (Kind::Remove, 1) => ops::point(page, range, Place::default()),
                _ => Err("the record has too many blocks"),
            }
        }
    }
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Brin,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(|(_, name)| name), details },
};

fn details(record: &Record) -> Check<String> {
    let (kind, _) = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    let mut main = Reader(record.data());
    Ok(match kind {
        Kind::Build => String::new(),
        Kind::NewPage => {
            let (op, block) = read_page(&mut main)?;
            format!("kind: {:?}, number: {}, block: {block}", op.kind, op.number)
        }
        _ => {
            let range = main.u32()?;
            let place = read_place(&mut main)?;
            format!("range: {range}, block: {}, off: {}", place.block, place.offset)
        }
    })
}
