//! # What
//! The bytes of pages: special area and entries. Everything that reads them is bounds-checked and answers damage with [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 40 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `next` u32 | right sibling, 0 if none; of the root, which has none: first page of the list of free pages |
//! | 4 | `level` u16 | 0 for buckets |
//! | 6 | `flags` u16 | [`INCOMPLETE`], [`DELETED`], [`FREE`] |
//! | 8 | `tag` u32 | [`PAGE_TAG`]: tells a page of this method from any other |
//! | 12 | `high` key | all keys here are smaller; no bound if there is no right sibling |
//! | 22 | `low` key | all keys here are at least this |
//! | 32 | `split` u64 | WAL insert position when the page was last split or made by a split; VACUUM compares it with its own start |
//!
//! A key is 10 bytes: hash code u32, heap block u32, heap offset u16. Entries have one size on each page and lie side by side from the page's header to `lower`, in the order of
//! their keys; there are no line pointers.
//!
//! | at | bucket, 10 bytes | directory, 14 bytes |
//! |---|---|---|
//! | 0 | key; the highest bit of the offset marks an entry that is dead | least key of the child |
//! | 10 | | child block u32 |
//!
//! A deleted page has one item with a line pointer: the xid that must be older than every snapshot before the page is used again (u64), the next free page (u32), 4 zero bytes.

use base::{BlockNo, Lsn, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, read_deleted, u16_at, u32_at, u64_at};
use index::{ItemSum, PageMeasure, PageUse};
use page::PageBytes;

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 40;
/// No page: the root is nobody's sibling or child.
pub(crate) const NONE: BlockNo = BlockNo(0);
/// Where the root is.
pub(crate) const ROOT: BlockNo = BlockNo(0);

/// The right sibling has no entry in the directory yet.
pub(crate) const INCOMPLETE: u16 = 1;
/// Out of use.
pub(crate) const DELETED: u16 = 2;
/// Deleted and on the list of free pages.
pub(crate) const FREE: u16 = 4;

/// "hash".
pub(crate) const PAGE_TAG: u32 = 0x6873_6168;

/// Where entries begin.
pub(crate) const FIRST: usize = page::HEADER_SIZE;
/// Bytes of a page that entries share.
pub(crate) const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;
/// Bytes of a key, and of a bucket's entry.
pub(crate) const KEY: usize = 10;
/// Bytes of a directory's entry.
pub(crate) const DOWNLINK: usize = KEY + 4;
/// Of an offset: the entry is dead to everybody.
pub(crate) const DEAD: u16 = 0x8000;

/// What entries are in order by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub code: u32,
    pub tid: Tid,
}

impl Key {
    /// The least key with this code.
    pub fn first(code: u32) -> Key {
        Key { code, tid: Tid::new(BlockNo(0), 0) }
    }

    /// The key in the first [`KEY`] bytes.
    #[inline]
    pub fn read(bytes: &[u8]) -> Key {
        let tid = Tid::new(BlockNo(u32_at(bytes, 4)), u16_at(bytes, 8) & !DEAD);
        Key { code: u32_at(bytes, 0), tid }
    }

    pub fn bytes(&self) -> [u8; KEY] {
        let mut out = [0; KEY];
        out[..4].copy_from_slice(&self.code.to_le_bytes());
        out[4..8].copy_from_slice(&self.tid.block.0.to_le_bytes());
        out[8..].copy_from_slice(&self.tid.offset.to_le_bytes());
        out
    }

    /// An entry of a directory.
    pub fn downlink(&self, child: BlockNo) -> [u8; DOWNLINK] {
        let mut out = [0; DOWNLINK];
        out[..KEY].copy_from_slice(&self.bytes());
        out[KEY..].copy_from_slice(&child.0.to_le_bytes());
        out
    }
}

/// The special area, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub next: BlockNo,
    pub level: u16,
    pub flags: u16,
    pub high: Key,
    pub low: Key,
    pub split: Lsn,
}

impl Opaque {
    /// Of a page of this level without siblings that nobody has split.
    pub fn new(level: u16) -> Opaque {
        let (high, low) = (Key::default(), Key::default());
        Opaque { next: NONE, level, flags: 0, high, low, split: Lsn::INVALID }
    }

    pub fn read(page: &PageBytes) -> Check<Opaque> {
        if page::special_offset(page) != PAGE_SIZE - SPECIAL {
            return Err("special area has the wrong size");
        }
        Opaque::decode(&page[PAGE_SIZE - SPECIAL..])
    }

    /// From the bytes of a special area.
    pub fn decode(s: &[u8]) -> Check<Opaque> {
        if s.len() < SPECIAL || u32_at(s, 8) != PAGE_TAG {
            return Err("not a page of a hash index");
        }
        Ok(Opaque {
            next: BlockNo(u32_at(s, 0)),
            level: u16_at(s, 4),
            flags: u16_at(s, 6),
            high: Key::read(&s[12..]),
            low: Key::read(&s[22..]),
            split: Lsn(u64_at(s, 32)),
        })
    }

    pub fn encode(&self) -> [u8; SPECIAL] {
        let mut s = [0; SPECIAL];
        s[0..4].copy_from_slice(&self.next.0.to_le_bytes());
        s[4..6].copy_from_slice(&self.level.to_le_bytes());
        s[6..8].copy_from_slice(&self.flags.to_le_bytes());
        s[8..12].copy_from_slice(&PAGE_TAG.to_le_bytes());
        s[12..22].copy_from_slice(&self.high.bytes());
        s[22..32].copy_from_slice(&self.low.bytes());
        s[32..].copy_from_slice(&self.split.0.to_le_bytes());
        s
    }

    pub fn write(&self, page: &mut PageBytes) {
        page[PAGE_SIZE - SPECIAL..].copy_from_slice(&self.encode());
    }

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub fn is_bucket(&self) -> bool {
        self.level == 0
    }

    /// Bytes of an entry.
    pub fn width(&self) -> usize {
        if self.is_bucket() { KEY } else { DOWNLINK }
    }

    /// Entries that fit on the page.
    pub fn capacity(&self) -> usize {
        ROOM / self.width()
    }
}

/// A page that is not deleted, its bounds checked.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub op: Opaque,
    /// Its entries.
    pub entries: &'a [u8],
    width: usize,
}

impl<'a> Node<'a> {
    pub fn new(page: &'a PageBytes) -> Check<Node<'a>> {
        let op = Opaque::read(page)?;
        let (width, lower) = (op.width(), page::lower(page));
        if op.is(DELETED) {
            return Ok(Node { op, entries: &[], width });
        }
        if !(FIRST..=FIRST + ROOM).contains(&lower) || !(lower - FIRST).is_multiple_of(width) {
            return Err("entries do not fill the space that they have");
        }
        Ok(Node { op, entries: &page[FIRST..lower], width })
    }

    /// Number of entries.
    #[inline]
    pub fn count(&self) -> usize {
        self.entries.len() / self.width
    }

    /// Key of an entry, from 0.
    #[inline]
    pub fn key(&self, at: usize) -> Key {
        Key::read(&self.entries[at * self.width..])
    }

    /// The page that an entry of a directory leads to.
    pub fn child(&self, at: usize) -> BlockNo {
        BlockNo(u32_at(self.entries, at * self.width + KEY))
    }

    /// Whether a bucket's entry is marked as dead.
    #[inline]
    pub fn is_dead(&self, at: usize) -> bool {
        u16_at(self.entries, at * self.width + 8) & DEAD != 0
    }

    /// Numbers of the entries that are marked as dead.
    pub fn dead(&self) -> Vec<u16> {
        (0..self.count()).filter(|&at| self.is_dead(at)).map(|at| at as u16).collect()
    }

    /// Number of the first entry whose key is not smaller. Hash codes are spread evenly, so the search begins where the entry would be if they were so exactly.
    pub fn lower_bound(&self, key: Key) -> usize {
        const WINDOW: usize = 32;
        let (mut low, mut high) = (0, self.count());
        if high > 2 * WINDOW {
            let first = self.key(0).code;
            let span = u64::from(self.key(high - 1).code.saturating_sub(first)) + 1;
            let ahead = u64::from(key.code.saturating_sub(first)).min(span);
            let guess = (ahead * high as u64 / span) as usize;
            let (from, to) = (guess.saturating_sub(WINDOW), guess + WINDOW);
            if from < high && self.key(from) >= key {
                high = from;
            } else if from < high {
                low = from + 1;
            }
            if to < high && self.key(to) >= key {
                high = to;
            } else if to < high {
                low = to + 1;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The child of a directory that a key belongs to.
    pub fn child_of(&self, key: Key) -> Check<BlockNo> {
        let count = self.count();
        if count == 0 {
            return Err("directory has no entries");
        }
        let at = self.lower_bound(key);
        let exact = at < count && self.key(at) == key;
        match self.child(if exact { at } else { at.saturating_sub(1) }) {
            NONE => Err("directory leads to the root"),
            child => Ok(child),
        }
    }
}

/// On a deleted page: the xid that must be older than every snapshot before the page is used again.
pub(crate) fn safe_xid(page: &PageBytes) -> Xid {
    read_deleted(page).0
}

/// On a free page: the next one.
pub(crate) fn next_free(page: &PageBytes) -> BlockNo {
    read_deleted(page).1
}

/// What a page is used for; see [`index::IndexAccessMethod::measure`].
pub(crate) fn measure(page: &PageBytes) -> Check<PageMeasure> {
    let node = Node::new(page)?;
    let op = node.op;
    let used = match op {
        _ if op.is(DELETED) => PageUse::Deleted,
        _ if op.is_bucket() => PageUse::Leaf,
        _ => PageUse::Inner,
    };
    let sum = |count: usize| ItemSum { count: count as u64, bytes: (count * KEY) as u64 };
    let mut measure = PageMeasure::new(used, None, page);
    measure.free = ROOM - node.entries.len();
    if used == PageUse::Leaf {
        let dead = node.dead().len();
        (measure.live, measure.dead) = (sum(node.count() - dead), sum(dead));
    }
    Ok(measure)
}
