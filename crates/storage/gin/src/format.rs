//! # What
//! The bytes of an index: special area and items. Everything that reads them is bounds-checked and answers damage with [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 16 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `next` u32 | right sibling, 0 if none; of the meta page: first page of the list of free pages; of a pending page: the older one behind it |
//! | 4 | `level` u16 | 0 for leaves |
//! | 6 | `flags` u16 | [`INCOMPLETE`], [`DELETED`], [`FREE`], [`META`], [`PENDING`] |
//! | 8 | `tag` u32 | [`PAGE_TAG`]: tells a page of this method from any other |
//! | 12 | `pages` u32 | of a lane's first page: how many pages hang on it |
//!
//! Every entry has a *position*: column (from 1), category, key, TID, in this order. A TID is one number of 43 bits here: `block * 2048 + offset`. Keys are bytes that the
//! column's operator class made.
//!
//! | category | | key |
//! |---|---|---|
//! | 0 | [`KEY`]: a part | its bytes |
//! | 1 | [`NULL_KEY`]: a NULL among the parts | none |
//! | 2 | [`EMPTY`]: the value has no parts | none |
//! | 3 | [`NULL_ROW`]: the value is NULL | none |
//!
//! A leaf's item, a multiple of 8 bytes: the rows that have one key, or some of them that follow each other.
//!
//! | at | |
//! |---|---|
//! | 0 u8 | column |
//! | 1 u8 | category |
//! | 2 u16 | bytes of the key |
//! | 4 u16 | number of TIDs |
//! | 6 u16 | bytes of the list |
//! | 8 u48 | first TID |
//! | 14 u48 | last TID |
//! | 20 | key, then the list: for every TID but the first its distance from the one before, 7 bits a byte, low ones first, the top bit set but in the last byte; then zeros |
//!
//! An internal page's item, a multiple of 8 bytes: the least position below it and the child. Also the first item of every page that has a right sibling: the least position that is
//! not on the page.
//!
//! | at | |
//! |---|---|
//! | 0 u8, 1 u8, 2 u16 | column, category, bytes of the key |
//! | 4 u32 | child |
//! | 8 u48 | TID |
//! | 14 | key, then zeros |
//!
//! The first item of the leftmost page of a level has column 0, which is before everything.
//!
//! A pending page's item, a multiple of 8 bytes: a row whose entries are not in the tree yet.
//!
//! | at | |
//! |---|---|
//! | 0 u48 | TID |
//! | 6 u16 | number of entries |
//! | 8 | the entries in order, each: column u8, category u8, bytes of the key u16, key; then zeros |
//!
//! A deleted page has one item: the xid that must be older than every snapshot before the page is used again (u64), the next free page (u32), 4 zero bytes.

use base::{BlockNo, OffsetNo, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, read_deleted, u16_at, u32_at, u64_at};
use index::{PageMeasure, PageUse};
use page::{PageBytes, align8};

use crate::posting;

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 16;
/// No page: the meta page is nobody's sibling or child.
pub(crate) const NONE: BlockNo = BlockNo(0);
/// Where the list of free pages begins.
pub(crate) const META_BLOCK: BlockNo = BlockNo(0);
/// Where the root is.
pub(crate) const ROOT: BlockNo = BlockNo(1);

/// The right sibling has no downlink yet.
pub(crate) const INCOMPLETE: u16 = 1;
/// Out of the tree.
pub(crate) const DELETED: u16 = 2;
/// Deleted and on the list of free pages.
pub(crate) const FREE: u16 = 4;
/// The meta page.
pub(crate) const META: u16 = 8;
/// Holds entries that are not in the tree yet.
pub(crate) const PENDING: u16 = 16;

/// "gin1".
pub(crate) const PAGE_TAG: u32 = 0x316e_6967;

/// A part of a value.
pub(crate) const KEY: u8 = 0;
/// NULL among the parts of a value.
pub(crate) const NULL_KEY: u8 = 1;
/// A value without parts.
pub(crate) const EMPTY: u8 = 2;
/// NULL instead of a value.
pub(crate) const NULL_ROW: u8 = 3;

const LEAF_HEADER: usize = 20;
const LINK_HEADER: usize = 14;
const ROW_HEADER: usize = 8;
/// Bytes of an entry of a pending row before its key.
const ENTRY_HEADER: usize = 4;

/// Bytes of a page that items and line pointers share.
pub(crate) const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;
/// Largest item: three of them fit on a page.
pub(crate) const MAX_ITEM: usize = (ROOM / 3 - 4) & !7;
/// Longest list of an item.
const MAX_LIST: usize = 1000;
/// Longest list that any key leaves room for.
const LEAST_LIST: usize = 48;
/// Longest key.
pub(crate) const MAX_KEY: usize = MAX_ITEM - LEAF_HEADER - LEAST_LIST;

const SHORT_ROW: &str = "row of pending entries is too short";
const NO_ITEM: &str = "line pointer names no item";

/// A TID as a number.
pub(crate) fn pack(tid: Tid) -> u64 {
    u64::from(tid.block.0) << 11 | u64::from(tid.offset & 0x7ff)
}

/// The TID that a number stands for.
pub(crate) fn unpack(tid: u64) -> Tid {
    Tid::new(BlockNo((tid >> 11) as u32), (tid & 0x7ff) as u16)
}

/// Longest list of an item with a key of this length.
pub(crate) fn list_room(key: usize) -> usize {
    MAX_LIST.min(MAX_ITEM - LEAF_HEADER - key.min(MAX_KEY))
}

/// Place of an entry, or of a boundary between entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position<'a> {
    pub column: u8,
    pub category: u8,
    pub key: &'a [u8],
    pub tid: u64,
}

impl<'a> Position<'a> {
    /// Before everything.
    pub const LEAST: Position<'static> = Position { column: 0, category: 0, key: &[], tid: 0 };

    /// With another TID.
    pub fn at(self, tid: u64) -> Position<'a> {
        Position { tid, ..self }
    }
}

/// The special area, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub next: BlockNo,
    pub level: u16,
    pub flags: u16,
    pub pages: u32,
}

impl Opaque {
    /// Of a page of this level, or with these flags.
    pub fn new(level: u16, flags: u16) -> Opaque {
        Opaque { next: NONE, level, flags, pages: 0 }
    }

    pub fn read(page: &PageBytes) -> Check<Opaque> {
        if page::special_offset(page) != PAGE_SIZE - SPECIAL {
            return Err("special area has the wrong size");
        }
        let s = &page[PAGE_SIZE - SPECIAL..];
        if u32_at(s, 8) != PAGE_TAG {
            return Err("not a page of a GIN index");
        }
        Ok(Opaque {
            next: BlockNo(u32_at(s, 0)),
            level: u16_at(s, 4),
            flags: u16_at(s, 6),
            pages: u32_at(s, 12),
        })
    }

    pub fn write(&self, page: &mut PageBytes) {
        let s = &mut page[PAGE_SIZE - SPECIAL..];
        s[0..4].copy_from_slice(&self.next.0.to_le_bytes());
        s[4..6].copy_from_slice(&self.level.to_le_bytes());
        s[6..8].copy_from_slice(&self.flags.to_le_bytes());
        s[8..12].copy_from_slice(&PAGE_TAG.to_le_bytes());
        s[12..16].copy_from_slice(&self.pages.to_le_bytes());
    }

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub fn is_leaf(&self) -> bool {
        self.level == 0
    }

    /// Whether the page is one of the tree.
    pub fn is_in_tree(&self) -> bool {
        !self.is(DELETED | META | PENDING)
    }
}

/// A page, its special area checked.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub page: &'a PageBytes,
    pub op: Opaque,
}

impl<'a> Node<'a> {
    pub fn new(page: &'a PageBytes) -> Check<Node<'a>> {
        Ok(Node { page, op: Opaque::read(page)? })
    }

    /// Number of the last item.
    pub fn max(&self) -> OffsetNo {
        page::max_offset(self.page)
    }

    /// Number of the first item behind the page's upper bound.
    pub fn first(&self) -> OffsetNo {
        if self.op.next != NONE && self.op.is_in_tree() { 2 } else { 1 }
    }

    fn bytes(&self, n: OffsetNo) -> Check<&'a [u8]> {
        page::item(self.page, n).ok_or(NO_ITEM)
    }

    pub fn leaf(&self, n: OffsetNo) -> Check<Leaf<'a>> {
        Leaf::new(self.bytes(n)?)
    }

    pub fn link(&self, n: OffsetNo) -> Check<Link<'a>> {
        Link::new(self.bytes(n)?)
    }

    pub fn pending_row(&self, n: OffsetNo) -> Check<PendingRow<'a>> {
        PendingRow::new(self.bytes(n)?)
    }

    /// The least position that is not on the page, if there is one.
    pub fn high(&self) -> Check<Option<Position<'a>>> {
        if self.first() == 1 { Ok(None) } else { Ok(Some(self.link(1)?.position())) }
    }

    /// Position of an item of the tree.
    pub fn position(&self, n: OffsetNo) -> Check<Position<'a>> {
        if self.op.is_leaf() { Ok(self.leaf(n)?.position()) } else { Ok(self.link(n)?.position()) }
    }

    /// On a deleted page: the xid that must be older than every snapshot before the page is used again.
    pub fn safe_xid(&self) -> Xid {
        read_deleted(self.page).0
    }

    /// On a free page: the next one.
    pub fn next_free(&self) -> BlockNo {
        read_deleted(self.page).1
    }
}

fn u48_at(bytes: &[u8], at: usize) -> u64 {
    u64_at(bytes, at) & 0xffff_ffff_ffff
}

fn put_u48(value: u64, out: &mut [u8]) {
    out[..6].copy_from_slice(&value.to_le_bytes()[..6]);
}

/// An item of a leaf; its lengths are checked.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'a>(&'a [u8]);

impl<'a> Leaf<'a> {
    pub fn new(bytes: &'a [u8]) -> Check<Leaf<'a>> {
        let item = Leaf(bytes);
        if bytes.len() < LEAF_HEADER || bytes.len() < item.used() {
            return Err("item is too short");
        }
        Ok(item)
    }

    fn key_len(&self) -> usize {
        u16_at(self.0, 2) as usize
    }

    fn list_len(&self) -> usize {
        u16_at(self.0, 6) as usize
    }

    fn used(&self) -> usize {
        LEAF_HEADER + self.key_len() + self.list_len()
    }

    pub fn key(&self) -> &'a [u8] {
        &self.0[LEAF_HEADER..LEAF_HEADER + self.key_len()]
    }

    fn list(&self) -> &'a [u8] {
        &self.0[LEAF_HEADER + self.key_len()..self.used()]
    }

    pub fn count(&self) -> usize {
        u16_at(self.0, 4) as usize
    }

    /// The first TID.
    pub fn first(&self) -> u64 {
        u48_at(self.0, 8)
    }

    /// The last TID.
    pub fn last(&self) -> u64 {
        u48_at(self.0, 14)
    }

    pub fn position(&self) -> Position<'a> {
        Position { column: self.0[0], category: self.0[1], key: self.key(), tid: self.first() }
    }

    /// Appends all TIDs.
    pub fn tids(&self, out: &mut Vec<u64>) -> Check<()> {
        let last = posting::decode(self.first(), self.list(), self.count(), out)?;
        if last == self.last() { Ok(()) } else { Err("list of rows does not end where its item says") }
    }

    /// The item with more TIDs, all behind its last, if the list has room; with it whether the bytes are as many as before.
    pub fn with_tail(&self, tids: &[u64]) -> Option<Vec<u8>> {
        let mut out = self.0[..self.used()].to_vec();
        posting::encode_behind(self.last(), tids, &mut out);
        let list = out.len() - LEAF_HEADER - self.key_len();
        let count = self.count() + tids.len();
        if list > list_room(self.key_len()) {
            return None;
        }
        finish_leaf(&mut out, count, list, self.first(), *tids.last()?);
        Some(out)
    }
}

fn finish_leaf(out: &mut Vec<u8>, count: usize, list: usize, first: u64, last: u64) {
    out[4..6].copy_from_slice(&(count as u16).to_le_bytes());
    out[6..8].copy_from_slice(&(list as u16).to_le_bytes());
    put_u48(first, &mut out[8..14]);
    put_u48(last, &mut out[14..20]);
    out.resize(align8(out.len()), 0);
}

/// A leaf's item for as many of `tids` as have room in `room` bytes of list, at least one; with it how many these are.
fn leaf_item(of: Position<'_>, tids: &[u64], room: usize) -> (Vec<u8>, usize) {
    let mut out = vec![0; LEAF_HEADER];
    (out[0], out[1]) = (of.column, of.category);
    out[2..4].copy_from_slice(&(of.key.len() as u16).to_le_bytes());
    out.extend_from_slice(of.key);
    let start = out.len();
    let (first, mut last, mut count) = (tids[0], tids[0], 1);
    for &tid in &tids[1..] {
        let before = out.len();
        posting::put(tid - last, &mut out);
        if out.len() - start > room {
            out.truncate(before);
            break;
        }
        (last, count) = (tid, count + 1);
    }
    let list = out.len() - start;
    finish_leaf(&mut out, count, list, first, last);
    (out, count)
}

/// Items of a leaf for all of `tids`. `evenly`: none is full if there are several.
pub(crate) fn leaf_items(of: Position<'_>, tids: &[u64], evenly: bool) -> Vec<Vec<u8>> {
    let mut room = list_room(of.key.len());
    if evenly {
        let all: usize = tids.windows(2).map(|two| posting::size(two[1] - two[0])).sum();
        let count = all / room + 1;
        room = room.min(all / count + posting::LONGEST);
    }
    let (mut out, mut rest) = (Vec::new(), tids);
    while !rest.is_empty() {
        let (item, count) = leaf_item(of, rest, room);
        out.push(item);
        rest = &rest[count..];
    }
    out
}

/// An item of an internal page, or a page's upper bound; its lengths are checked.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a>(&'a [u8]);

impl<'a> Link<'a> {
    pub fn new(bytes: &'a [u8]) -> Check<Link<'a>> {
        if bytes.len() < LINK_HEADER || bytes.len() < LINK_HEADER + u16_at(bytes, 2) as usize {
            return Err("item is too short");
        }
        Ok(Link(bytes))
    }

    /// The page that it leads to.
    pub fn child(&self) -> BlockNo {
        BlockNo(u32_at(self.0, 4))
    }

    pub fn position(&self) -> Position<'a> {
        Position {
            column: self.0[0],
            category: self.0[1],
            key: &self.0[LINK_HEADER..LINK_HEADER + u16_at(self.0, 2) as usize],
            tid: u48_at(self.0, 8),
        }
    }
}

/// Positions of the entries of a pending row, one after the other.
pub(crate) struct PendingRow<'a> {
    tid: u64,
    left: u16,
    bytes: &'a [u8],
}

impl<'a> PendingRow<'a> {
    pub fn new(bytes: &'a [u8]) -> Check<PendingRow<'a>> {
        let (header, bytes) = bytes.split_at_checked(ROW_HEADER).ok_or(SHORT_ROW)?;
        Ok(PendingRow { tid: u48_at(header, 0), left: u16_at(header, 6), bytes })
    }

    fn take(&mut self) -> Check<Position<'a>> {
        let (header, rest) = self.bytes.split_at_checked(ENTRY_HEADER).ok_or(SHORT_ROW)?;
        let (key, rest) = rest.split_at_checked(u16_at(header, 2) as usize).ok_or(SHORT_ROW)?;
        self.bytes = rest;
        Ok(Position { column: header[0], category: header[1], key, tid: self.tid })
    }
}

impl<'a> Iterator for PendingRow<'a> {
    type Item = Check<Position<'a>>;

    fn next(&mut self) -> Option<Check<Position<'a>>> {
        self.left = self.left.checked_sub(1)?;
        let next = self.take();
        if next.is_err() {
            self.left = 0;
        }
        Some(next)
    }
}

/// Bytes of a pending row with keys of these lengths.
pub(crate) fn pending_row_size(keys: impl Iterator<Item = usize>) -> usize {
    align8(ROW_HEADER + keys.map(|key| ENTRY_HEADER + key).sum::<usize>())
}

/// Appends a pending row of entries, which all have its TID.
pub(crate) fn put_pending_row<'k>(
    tid: u64,
    entries: impl ExactSizeIterator<Item = Position<'k>>,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let mut header = [0; ROW_HEADER];
    put_u48(tid, &mut header[..6]);
    header[6..].copy_from_slice(&(entries.len() as u16).to_le_bytes());
    out.extend_from_slice(&header);
    for Position { column, category, key, .. } in entries {
        let [low, high] = (key.len() as u16).to_le_bytes();
        out.extend_from_slice(&[column, category, low, high]);
        out.extend_from_slice(key);
    }
    out.resize(start + align8(out.len() - start), 0);
}

/// An item of an internal page; without child, an upper bound.
pub(crate) fn link(of: Position<'_>, child: BlockNo) -> Vec<u8> {
    let mut out = vec![0; align8(LINK_HEADER + of.key.len())];
    (out[0], out[1]) = (of.column, of.category);
    out[2..4].copy_from_slice(&(of.key.len() as u16).to_le_bytes());
    out[4..8].copy_from_slice(&child.0.to_le_bytes());
    put_u48(of.tid, &mut out[8..14]);
    out[LINK_HEADER..LINK_HEADER + of.key.len()].copy_from_slice(of.key);
    out
}

const _: () = assert!(3 * (MAX_ITEM + 4) <= ROOM);
const _: () = assert!(LINK_HEADER < LEAF_HEADER);

/// What a page is used for; see [`index::IndexAccessMethod::measure`].
pub(crate) fn measure(page: &PageBytes) -> Check<PageMeasure> {
    let node = Node::new(page)?;
    let op = node.op;
    let used = match op.level {
        _ if op.is(META) => PageUse::Meta { version: 2, root: ROOT, level: 0 },
        _ if op.is(DELETED) => PageUse::Deleted,
        _ if op.is(PENDING) => PageUse::Pending,
        0 => PageUse::Leaf,
        _ => PageUse::Inner,
    };
    let measure = PageMeasure::new(used, None, page);
    let has_items = matches!(used, PageUse::Leaf | PageUse::Pending);
    Ok(if has_items { measure.with_items(page, node.first()) } else { measure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_row_has_its_entries_and_tells_damage() {
        let keys: [&[u8]; 3] = [b"", b"a", b"three"];
        let entries = keys.map(|key| Position { column: 2, category: KEY, key, tid: 77 << 11 | 5 });
        let mut bytes = Vec::new();
        put_pending_row(entries[0].tid, entries.iter().copied(), &mut bytes);
        assert_eq!(bytes.len(), pending_row_size(keys.iter().map(|key| key.len())));
        let read: Check<Vec<_>> = PendingRow::new(&bytes).unwrap().collect();
        assert_eq!(read.unwrap(), entries);
        for cut in 0..bytes.len() - 8 {
            let found = PendingRow::new(&bytes[..cut]).and_then(Iterator::collect::<Check<Vec<_>>>);
            assert!(found.is_err(), "{cut} bytes");
        }
    }
}
