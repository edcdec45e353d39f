//! Bytes of items, little-endian.
//!
//! | item | bytes |
//! |---|---|
//! | of block 0 | `m` 2, `ef_construction` 2, entry 6, its level 1, unused 1, page for new nodes 4, first free node 6, unused 2 |
//! | node | kind 1, state 1, level 1, levels that its links have room for 1, TID 6, links 6, next free node 6, unused 2, key |
//! | links | kind 1, unused 7, then the lowest level's, and upwards |
//!
//! A pointer is a block in 4 bytes and the number of an item in 2.

use base::{BlockNo, OffsetNo, Tid};
use index::bytes::{Check, u16_at, u32_at};
use page::PageBytes;

/// The block that says where searches begin.
pub(crate) const META: BlockNo = BlockNo(0);

/// Kinds of items.
pub(crate) const NODE: u8 = 1;
pub(crate) const LINKS: u8 = 2;

/// States of nodes.
pub(crate) const LIVE: u8 = 0;
pub(crate) const DEAD: u8 = 1;
pub(crate) const FREE: u8 = 2;

/// Bytes before a node's key.
pub(crate) const NODE_HEAD: usize = 24;
/// Bytes before links.
pub(crate) const LINKS_HEAD: usize = 8;
/// Bytes of a pointer.
pub(crate) const POINTER: usize = 6;
/// Where a node's state is.
pub(crate) const STATE_AT: usize = 1;
/// Where a node names the next free one.
pub(crate) const NEXT_FREE_AT: usize = 16;

/// The name of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer {
    /// Its page.
    pub block: BlockNo,
    /// Its number on it.
    pub item: OffsetNo,
}

impl Pointer {
    /// No item.
    pub const NONE: Pointer = Pointer { block: BlockNo(u32::MAX), item: 0 };

    pub(crate) fn is_none(self) -> bool {
        self == Pointer::NONE
    }

    pub(crate) fn bytes(self) -> [u8; POINTER] {
        let mut out = [0; POINTER];
        out[..4].copy_from_slice(&self.block.0.to_le_bytes());
        out[4..].copy_from_slice(&self.item.to_le_bytes());
        out
    }

    pub(crate) fn read(bytes: &[u8], at: usize) -> Pointer {
        Pointer { block: BlockNo(u32_at(bytes, at)), item: u16_at(bytes, at + 4) }
    }
}

/// What block 0 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Links of a node on a level.
    pub m: u16,
    pub ef_construction: u16,
    /// The node where searches begin.
    pub entry: Pointer,
    pub level: u8,
    /// Page with room for items; 0: none.
    pub room: BlockNo,
    pub free: Pointer,
}

impl Meta {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        out.extend_from_slice(&self.m.to_le_bytes());
        out.extend_from_slice(&self.ef_construction.to_le_bytes());
        out.extend_from_slice(&self.entry.bytes());
        out.extend_from_slice(&[self.level, 0]);
        out.extend_from_slice(&self.room.0.to_le_bytes());
        out.extend_from_slice(&self.free.bytes());
        out.extend_from_slice(&[0; 2]);
        out
    }

    pub fn read(page: &PageBytes) -> Check<Meta> {
        let item =
            page::item(page, 1).filter(|item| item.len() == 24).ok_or("page says nothing of the index")?;
        let meta = Meta {
            m: u16_at(item, 0),
            ef_construction: u16_at(item, 2),
            entry: Pointer::read(item, 4),
            level: item[10],
            room: BlockNo(u32_at(item, 12)),
            free: Pointer::read(item, 16),
        };
        if (2..=100).contains(&meta.m) { Ok(meta) } else { Err("number of links is wrong") }
    }
}

/// A node without its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub state: u8,
    pub level: u8,
    pub room: u8,
    pub tid: Tid,
    pub links: Pointer,
    pub next_free: Pointer,
}

impl Head {
    pub fn bytes(&self) -> [u8; NODE_HEAD] {
        let mut out = [0; NODE_HEAD];
        out[..4].copy_from_slice(&[NODE, self.state, self.level, self.room]);
        let tid = Pointer { block: self.tid.block, item: self.tid.offset };
        out[4..10].copy_from_slice(&tid.bytes());
        out[10..16].copy_from_slice(&self.links.bytes());
        out[16..22].copy_from_slice(&self.next_free.bytes());
        out
    }

    /// The node that an item is, and its key; none if it is links.
    pub fn read(item: &[u8]) -> Check<Option<(Head, &[u8])>> {
        match item.first() {
            Some(&LINKS) => return Ok(None),
            Some(&NODE) if item.len() >= NODE_HEAD => {}
            _ => return Err("item is neither a node nor links"),
        }
        let tid = Pointer::read(item, 4);
        let head = Head {
            state: item[STATE_AT],
            level: item[2],
            room: item[3],
            tid: Tid::new(tid.block, tid.item),
            links: Pointer::read(item, 10),
            next_free: Pointer::read(item, NEXT_FREE_AT),
        };
        if head.state > FREE || head.level > head.room {
            return Err("node is damaged");
        }
        Ok(Some((head, &item[NODE_HEAD..])))
    }
}

/// How many links a node has on a level.
pub(crate) fn width(m: u16, level: u8) -> usize {
    usize::from(m) * if level == 0 { 2 } else { 1 }
}

/// Where the links of a level begin in their item.
pub(crate) fn links_at(m: u16, level: u8) -> usize {
    let before = if level == 0 { 0 } else { usize::from(m) * (1 + usize::from(level)) };
    LINKS_HEAD + POINTER * before
}

/// Bytes of the links of a node with so many levels above the lowest.
pub(crate) fn links_length(m: u16, room: u8) -> usize {
    links_at(m, room) + POINTER * width(m, room)
}

/// The highest level whose links fit on a page.
pub(crate) fn highest(m: u16) -> u8 {
    let mut level = 0;
    while level < 30 && links_length(m, level + 1) <= page::MAX_ITEM - 64 {
        level += 1;
    }
    level
}
