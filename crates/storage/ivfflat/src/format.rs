//! Bytes of pages and items, little-endian.
//!
//! | item | bytes |
//! |---|---|
//! | of block 0 | number of lists 4, first page of lists 4 |
//! | list | first page of entries 4, page for new entries 4, centre (none: all rows are as near) |
//! | entry | TID 6, unused 2, key |
//!
//! The special area of a page of lists or entries: next page 4 (0: none), kind 2, number of the list 2 (of entries). Lists are numbered in the order of their items.

use base::{BlockNo, OffsetNo, Tid};
use index::bytes::{Check, u16_at, u32_at};
use page::PageBytes;

/// The block that says where lists are; as a link: none.
pub(crate) const META: BlockNo = BlockNo(0);

/// Kinds of pages.
pub(crate) const LISTS: u16 = 1;
pub(crate) const ENTRIES: u16 = 2;

/// Most lists.
pub(crate) const MOST_LISTS: u16 = 32_768;

/// Bytes before a list's centre.
pub(crate) const LIST_HEAD: usize = 8;
/// Where a list names the page for new entries.
pub(crate) const ROOM_AT: usize = 4;
/// Bytes before an entry's key.
pub(crate) const ENTRY_HEAD: usize = 8;
/// Bytes of a special area.
pub(crate) const SPECIAL: usize = 8;
/// Bytes that an item takes on a page beside its own, at most.
pub(crate) const AROUND: usize = 4 + 7;

/// What block 0 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub lists: u32,
    pub first: BlockNo,
}

impl Meta {
    pub fn bytes(&self) -> [u8; 8] {
        pair(self.lists, self.first.0)
    }

    pub fn read(page: &PageBytes) -> Check<Meta> {
        let item = page::item(page, 1).filter(|item| item.len() == 8);
        let item = item.ok_or("page says nothing of the index")?;
        Ok(Meta { lists: u32_at(item, 0), first: BlockNo(u32_at(item, 4)) })
    }
}

fn pair(a: u32, b: u32) -> [u8; 8] {
    let mut out = [0; 8];
    out[..4].copy_from_slice(&a.to_le_bytes());
    out[4..].copy_from_slice(&b.to_le_bytes());
    out
}

/// The special area of a page of lists or entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub next: BlockNo,
    pub kind: u16,
    pub list: u16,
}

impl Opaque {
    /// Of a page without one behind it.
    pub fn last(kind: u16, list: u16) -> Opaque {
        Opaque { next: META, kind, list }
    }

    pub fn bytes(&self) -> [u8; SPECIAL] {
        pair(self.next.0, u32::from(self.kind) | u32::from(self.list) << 16)
    }

    pub fn read(page: &PageBytes) -> Check<Opaque> {
        let special = page::special(page);
        if special.len() != SPECIAL {
            return Err("special area has the wrong size");
        }
        let opaque =
            Opaque { next: BlockNo(u32_at(special, 0)), kind: u16_at(special, 4), list: u16_at(special, 6) };
        match opaque.kind {
            LISTS | ENTRIES => Ok(opaque),
            _ => Err("page has neither lists nor entries"),
        }
    }

    /// Of a page that is of this kind, and of this list.
    pub fn read_of(page: &PageBytes, kind: u16, list: u16) -> Check<Opaque> {
        let opaque = Opaque::read(page)?;
        match (opaque.kind, opaque.list) == (kind, list) {
            true => Ok(opaque),
            false => Err("page is not one of its list"),
        }
    }
}

/// A list as an item says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListHead {
    /// Its first page; block 0: it has none yet.
    pub first: BlockNo,
    /// The page for new entries.
    pub room: BlockNo,
}

impl ListHead {
    /// Of a list without pages.
    pub const EMPTY: ListHead = ListHead { first: META, room: META };

    pub fn bytes(&self) -> [u8; LIST_HEAD] {
        pair(self.first.0, self.room.0)
    }

    /// With its centre.
    pub fn item(&self, centre: &[u8]) -> Vec<u8> {
        [&self.bytes()[..], centre].concat()
    }

    /// The list that an item is, and its centre, which may be empty.
    pub fn read(item: &[u8]) -> Check<(ListHead, &[u8])> {
        let (head, centre) = item.split_at_checked(LIST_HEAD).ok_or("list is too short")?;
        Ok((ListHead { first: BlockNo(u32_at(head, 0)), room: BlockNo(u32_at(head, ROOM_AT)) }, centre))
    }
}

/// The bytes of an entry.
pub(crate) fn entry(tid: Tid, key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ENTRY_HEAD + key.len());
    out.extend_from_slice(&tid.block.0.to_le_bytes());
    out.extend_from_slice(&tid.offset.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(key);
    out
}

/// The TID and the key of an entry.
pub(crate) fn read_entry(item: &[u8]) -> Check<(Tid, &[u8])> {
    let (head, key) = item.split_at_checked(ENTRY_HEAD).ok_or("entry is too short")?;
    Ok((Tid::new(BlockNo(u32_at(head, 0)), u16_at(head, 4)), key))
}

/// The items of a page with their numbers.
pub(crate) fn items(page: &PageBytes) -> impl Iterator<Item = Check<(OffsetNo, &[u8])>> {
    (1..=page::max_offset(page)).map(|n| Ok((n, page::item(page, n).ok_or("line pointer names no item")?)))
}
