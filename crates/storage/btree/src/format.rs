//! # What
//! The bytes of the tree: special area, meta page, items. Everything that reads them is bounds-checked and answers damage with
//! [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 24 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `prev` u32 | left sibling, 0 if none (block 0 is the meta page) |
//! | 4 | `next` u32 | right sibling, 0 if none; a deleted page keeps its links |
//! | 8 | `level` u16 | 0 for leaves |
//! | 10 | `flags` u16 | [`LEAF`], [`ROOT`], … |
//! | 12 | `tag` u32 | [`PAGE_TAG`]: tells an index page from any other |
//! | 16 | `split` u64 | WAL insert position when the page was last split or made by a split; VACUUM compares it with its own start |
//!
//! An item is a multiple of 8 bytes: a header of 8, a null bitmap of 8 if a column is null (32 bits used), the columns as [`RowLayout`] lays
//! them out, zeros up to a multiple of 8, then a TID list or a pivot's TID.
//!
//! | at | leaf, plain | leaf, posting list | pivot (internal item, high key) |
//! |---|---|---|---|
//! | 0 u32 | heap block | byte offset of the list | child block (internal item), or top of the branch to delete (half-dead leaf's high key) |
//! | 4 u16 | heap offset | number of TIDs, ≥ 2 | 0 |
//! | 6 u16 | [`NULLS`] | [`NULLS`], [`POSTING`] | [`NULLS`], [`PIVOT`], [`PIVOT_TID`], low 6 bits: columns kept |
//!
//! The meta page has one item of ten u32: magic, version, the fields of [`Meta`], zero. A deleted page has one item too, see [`DELETED`].
//!
//! A TID in a list takes 6 bytes (block u32, offset u16), ascending. A pivot with [`PIVOT_TID`] ends in 8 bytes: a TID and 2 zero bytes.
//! Columns that a pivot does not keep stand for minus infinity, and so does a TID that it does not have.

use base::{BlockNo, Lsn, OffsetNo, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, read_deleted, u16_at, u32_at};
use index::{PageMeasure, PageUse};
use page::{PageBytes, align8};
use tuple::{Datum, RowBytes, RowLayout, varlena};

const NO_ITEM: &str = "line pointer names no item";

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 24;
/// No page: the meta page is nobody's sibling or child.
pub(crate) const NONE: BlockNo = BlockNo(0);
/// Where the meta page is.
pub(crate) const META: BlockNo = BlockNo(0);

pub(crate) const LEAF: u16 = 1;
pub(crate) const ROOT: u16 = 2;
/// Unlinked from the tree; its one item: [`Xid`] u64, next free page u32, 4 zero bytes.
pub(crate) const DELETED: u16 = 4;
pub(crate) const META_PAGE: u16 = 8;
/// A leaf whose downlink is gone already; holds nothing but a special high key.
pub(crate) const HALF_DEAD: u16 = 16;
/// The right sibling has no downlink yet.
pub(crate) const INCOMPLETE_SPLIT: u16 = 32;
/// Deleted and on the list of free pages.
pub(crate) const FREE: u16 = 64;

/// "btre".
pub(crate) const PAGE_TAG: u32 = 0x6572_7462;

pub(crate) const NULLS: u16 = 0x8000;
pub(crate) const PIVOT: u16 = 0x4000;
pub(crate) const POSTING: u16 = 0x2000;
pub(crate) const PIVOT_TID: u16 = 0x1000;
const COLUMNS: u16 = 0x3f;

const HEADER: usize = 8;
const TID_LEN: usize = 6;

/// Largest leaf item, PostgreSQL's figure: two of them and a high key of 8 bytes more fit on a page.
pub(crate) const MAX_ENTRY: usize = 2704;
/// Largest posting list item.
pub(crate) const MAX_POSTING: usize = 1352;
/// Bytes of a page that items and line pointers share.
pub(crate) const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;

/// The special area, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    pub prev: BlockNo,
    pub next: BlockNo,
    pub level: u16,
    pub flags: u16,
    pub split: Lsn,
}

impl Opaque {
    #[inline]
    pub fn read(page: &PageBytes) -> Check<Opaque> {
        if page::special_offset(page) != PAGE_SIZE - SPECIAL {
            return Err("special area has the wrong size");
        }
        let s: &[u8; SPECIAL] = page.last_chunk().expect("a page is longer than its special area");
        let word = |at: usize| u32::from_le_bytes([s[at], s[at + 1], s[at + 2], s[at + 3]]);
        if word(12) != PAGE_TAG {
            return Err("not a page of a B-tree");
        }
        Ok(Opaque {
            prev: BlockNo(word(0)),
            next: BlockNo(word(4)),
            level: u16::from_le_bytes([s[8], s[9]]),
            flags: u16::from_le_bytes([s[10], s[11]]),
            split: Lsn(u64::from(word(16)) | u64::from(word(20)) << 32),
        })
    }

    pub fn write(&self, page: &mut PageBytes) {
        let s = &mut page[PAGE_SIZE - SPECIAL..];
        s[0..4].copy_from_slice(&self.prev.0.to_le_bytes());
        s[4..8].copy_from_slice(&self.next.0.to_le_bytes());
        s[8..10].copy_from_slice(&self.level.to_le_bytes());
        s[10..12].copy_from_slice(&self.flags.to_le_bytes());
        s[12..16].copy_from_slice(&PAGE_TAG.to_le_bytes());
        s[16..24].copy_from_slice(&self.split.0.to_le_bytes());
    }

    #[inline]
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
    #[inline]
    pub fn is_leaf(&self) -> bool {
        self.is(LEAF)
    }
    #[inline]
    pub fn rightmost(&self) -> bool {
        self.next == NONE
    }
    #[inline]
    pub fn leftmost(&self) -> bool {
        self.prev == NONE
    }
    /// Deleted or about to be: a search goes on to the right.
    #[inline]
    pub fn ignored(&self) -> bool {
        self.is(DELETED | HALF_DEAD)
    }
    /// Number of the first item that is no high key.
    #[inline]
    pub fn first(&self) -> OffsetNo {
        if self.rightmost() { 1 } else { 2 }
    }
}

/// A page of the tree, its special area checked.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub page: &'a PageBytes,
    pub op: Opaque,
}

impl<'a> Node<'a> {
    #[inline]
    pub fn new(page: &'a PageBytes) -> Check<Node<'a>> {
        let op = Opaque::read(page)?;
        if op.is(META_PAGE) {
            return Err("a link leads to the meta page");
        }
        Ok(Node { page, op })
    }
    #[inline]
    pub fn max(&self) -> OffsetNo {
        page::max_offset(self.page)
    }
    /// Number of the first data item.
    #[inline]
    pub fn first(&self) -> OffsetNo {
        self.op.first()
    }
    /// Number of data items.
    pub fn count(&self) -> usize {
        (self.max() + 1).saturating_sub(self.first()) as usize
    }
    #[inline]
    pub fn item(&self, n: OffsetNo) -> Check<Item<'a>> {
        Item::new(page::item(self.page, n).ok_or(NO_ITEM)?)
    }
    /// [`item`](Self::item), unless it is marked as dead.
    #[inline]
    pub fn live_item(&self, n: OffsetNo) -> Check<Option<Item<'a>>> {
        let pointer = page::line_pointer(self.page, n).ok_or(NO_ITEM)?;
        if pointer.flags == page::LpFlags::Dead {
            return Ok(None);
        }
        Item::new(page::item_at(self.page, pointer).ok_or(NO_ITEM)?).map(Some)
    }
    /// The row of item `n`, which is there, if it has one only and is not marked as dead.
    #[inline]
    pub fn lone_tid(&self, n: OffsetNo) -> Option<Tid> {
        let head = page::live_head::<HEADER>(self.page, n)?;
        let info = u16::from_le_bytes([head[6], head[7]]);
        (info & POSTING == 0).then(|| read_tid(head))
    }
    /// The first 8 bytes of the columns of item `n`, which is there, if it has columns and none of them is NULL.
    #[inline]
    pub fn plain_head(&self, n: OffsetNo) -> Option<&'a [u8; 8]> {
        let head = page::item_head::<16>(self.page, n)?;
        let info = u16::from_le_bytes([head[6], head[7]]);
        let has_columns = info & PIVOT == 0 || info & COLUMNS != 0;
        (info & NULLS == 0 && has_columns).then_some(head.last_chunk()?)
    }
    /// The high key; `None` on the right-most page of a level.
    #[inline]
    pub fn high_key(&self) -> Check<Option<Item<'a>>> {
        if self.op.rightmost() {
            return Ok(None);
        }
        let item = self.item(1)?;
        if item.is_pivot() { Ok(Some(item)) } else { Err("high key is no pivot") }
    }
    /// All data items.
    pub fn items(&self) -> impl Iterator<Item = Check<(OffsetNo, Item<'a>)>> + use<'a> {
        let node = *self;
        (node.first()..=node.max()).map(move |n| Ok((n, node.item(n)?)))
    }
    pub fn is_dead(&self, n: OffsetNo) -> bool {
        page::line_pointer(self.page, n).is_some_and(|lp| lp.flags == page::LpFlags::Dead)
    }
    /// Whether it has items, and all of them are marked as dead.
    pub fn is_all_dead(&self) -> bool {
        self.count() > 0 && page::past_dead(self.page, self.first(), self.max() + 1) > self.max()
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

/// One item, its header present.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a>(&'a [u8]);

impl<'a> Item<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Check<Item<'a>> {
        if bytes.len() < HEADER { Err("item is too short") } else { Ok(Item(bytes)) }
    }
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }
    #[inline]
    fn info(&self) -> u16 {
        u16::from_le_bytes([self.0[6], self.0[7]])
    }
    #[inline]
    fn word(&self) -> u32 {
        u32::from_le_bytes([self.0[0], self.0[1], self.0[2], self.0[3]])
    }
    /// Word and half of the header, as a TID.
    pub fn words(&self) -> Tid {
        Tid::new(BlockNo(self.word()), self.half())
    }
    #[inline]
    fn half(&self) -> u16 {
        u16::from_le_bytes([self.0[4], self.0[5]])
    }
    #[inline]
    pub fn is_pivot(&self) -> bool {
        self.info() & PIVOT != 0
    }
    #[inline]
    pub fn is_posting(&self) -> bool {
        self.info() & POSTING != 0
    }
    #[inline]
    pub fn has_nulls(&self) -> bool {
        self.info() & NULLS != 0
    }
    /// Columns that the item has.
    #[inline]
    pub fn columns(&self, layout: &RowLayout) -> usize {
        if self.is_pivot() { (self.info() & COLUMNS) as usize } else { layout.len() }
    }
    /// The page that an internal item leads to.
    pub fn child(&self) -> BlockNo {
        BlockNo(self.word())
    }
    pub fn pivot_tid(&self) -> Check<Option<Tid>> {
        if self.info() & PIVOT_TID == 0 {
            return Ok(None);
        }
        let at =
            self.0.len().checked_sub(8).filter(|&at| at >= HEADER).ok_or("pivot is too short for its TID")?;
        Ok(Some(read_tid(&self.0[at..])))
    }
    /// Number of TIDs of a leaf item.
    #[inline]
    pub fn tid_count(&self) -> usize {
        if self.is_posting() { self.half() as usize } else { 1 }
    }
    fn list(&self) -> Check<&'a [u8]> {
        let (at, n) = (self.word() as usize, self.half() as usize);
        if at < HEADER || n < 2 {
            return Err("posting list has no place or no TIDs");
        }
        self.0.get(at..at + n * TID_LEN).ok_or("posting list is longer than its item")
    }
    pub fn tid(&self, i: usize) -> Check<Tid> {
        if self.is_posting() {
            let list = self.list()?;
            list.get(i * TID_LEN..(i + 1) * TID_LEN).map(read_tid).ok_or("no such TID in the posting list")
        } else {
            Ok(Tid::new(BlockNo(self.word()), self.half()))
        }
    }
    #[inline]
    pub fn first_tid(&self) -> Check<Tid> {
        self.tid(0)
    }
    #[inline]
    pub fn last_tid(&self) -> Check<Tid> {
        self.tid(self.tid_count().saturating_sub(1))
    }
    pub fn tids(&self) -> Check<Vec<Tid>> {
        (0..self.tid_count()).map(|i| self.tid(i)).collect()
    }
    /// Header, bitmap and columns of a leaf item with their padding: what duplicates share.
    pub fn key_part(&self) -> Check<&'a [u8]> {
        if !self.is_posting() {
            return Ok(self.0);
        }
        self.list()?;
        Ok(&self.0[..self.word() as usize])
    }
    /// Start of the column data.
    #[inline]
    pub fn data_start(&self) -> usize {
        if self.has_nulls() { HEADER + 8 } else { HEADER }
    }
    /// The columns, undecoded.
    #[inline]
    pub fn row(&self, layout: &RowLayout) -> Check<RowBytes<'a>> {
        let data = self.0.get(self.data_start()..).ok_or("item is too short for its null bitmap")?;
        let nulls = if self.has_nulls() { Some(&self.0[HEADER..HEADER + 4]) } else { None };
        Ok(RowBytes { columns: self.columns(layout), nulls, data })
    }
    /// Appends the first `upto` columns, resolved; columns that a pivot lacks are left out.
    pub fn decode(&self, layout: &RowLayout, upto: usize, out: &mut Vec<Datum>) -> Check<()> {
        let row = self.row(layout)?;
        let upto = upto.min(row.columns);
        let from = out.len();
        layout.decode(row.columns, row.nulls, row.data, upto, out).map_err(|_| BAD_ROW)?;
        for value in &mut out[from..] {
            if let Datum::Toasted(stored) = value {
                *value = varlena::resolve_inline(stored).ok().flatten().ok_or(BAD_ROW)?;
            }
        }
        Ok(())
    }
}

pub(crate) const BAD_ROW: &str = "columns of an item do not match their layout";

fn read_tid(bytes: &[u8]) -> Tid {
    Tid::new(BlockNo(u32_at(bytes, 0)), u16_at(bytes, 4))
}

pub(crate) fn write_tid(tid: Tid, out: &mut Vec<u8>) {
    out.extend_from_slice(&tid.block.0.to_le_bytes());
    out.extend_from_slice(&tid.offset.to_le_bytes());
}

fn header(word: u32, half: u16, info: u16) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    out[0..4].copy_from_slice(&word.to_le_bytes());
    out[4..6].copy_from_slice(&half.to_le_bytes());
    out[6..8].copy_from_slice(&info.to_le_bytes());
    out
}

fn put_columns(layout: &RowLayout, values: &[Datum], out: &mut Vec<u8>) {
    if values.iter().any(Datum::is_null) {
        let bits = values.iter().enumerate().fold(0u64, |b, (i, v)| b | u64::from(!v.is_null()) << i);
        out.extend_from_slice(&bits.to_le_bytes());
        let info = u16_at(out, 6) | NULLS;
        out[6..8].copy_from_slice(&info.to_le_bytes());
    }
    layout.encode(values, out);
    out.resize(align8(out.len()), 0);
}

/// A plain leaf item.
pub(crate) fn leaf_item(layout: &RowLayout, values: &[Datum], tid: Tid) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    put_leaf_item(layout, values, tid, &mut out);
    out
}

/// Replaces `out` by a plain leaf item.
pub(crate) fn put_leaf_item(layout: &RowLayout, values: &[Datum], tid: Tid, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&header(tid.block.0, tid.offset, 0));
    put_columns(layout, values, out);
}

/// A pivot that keeps `values` and `tid`.
pub(crate) fn pivot_item(layout: &RowLayout, values: &[Datum], tid: Option<Tid>, child: BlockNo) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let info = PIVOT | values.len() as u16 | if tid.is_some() { PIVOT_TID } else { 0 };
    out.extend_from_slice(&header(child.0, 0, info));
    put_columns(layout, values, &mut out);
    if let Some(tid) = tid {
        write_tid(tid, &mut out);
        out.extend_from_slice(&[0, 0]);
    }
    out
}

/// The pivot `item` leading to `child`.
pub(crate) fn with_child(item: &[u8], child: BlockNo) -> Vec<u8> {
    let mut out = item.to_vec();
    out[0..4].copy_from_slice(&child.0.to_le_bytes());
    out
}

/// The plain leaf item `item` for another TID.
pub(crate) fn with_tid(item: &[u8], tid: Tid) -> Vec<u8> {
    let mut out = item.to_vec();
    out[0..4].copy_from_slice(&tid.block.0.to_le_bytes());
    out[4..6].copy_from_slice(&tid.offset.to_le_bytes());
    out
}

/// The leaf item with the columns of `key_part` for `tids` (not empty, ascending): a plain one if there is only one.
pub(crate) fn leaf_item_of(key_part: &[u8], tids: &[Tid]) -> Vec<u8> {
    let info = u16_at(key_part, 6) & !POSTING;
    let mut out = key_part.to_vec();
    if let [tid] = tids {
        out[..HEADER].copy_from_slice(&header(tid.block.0, tid.offset, info));
        return out;
    }
    out[..HEADER].copy_from_slice(&header(key_part.len() as u32, tids.len() as u16, info | POSTING));
    for &tid in tids {
        write_tid(tid, &mut out);
    }
    out.resize(align8(out.len()), 0);
    out
}

/// Bytes that [`leaf_item_of`] makes for `n` TIDs.
pub(crate) fn posting_size(key_part: usize, n: usize) -> usize {
    if n == 1 { key_part } else { align8(key_part + n * TID_LEN) }
}

/// The meta page, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Meta {
    /// The root, or none in an empty tree.
    pub root: BlockNo,
    pub level: u32,
    /// The lowest page that is alone on its level: searches start there.
    pub fast_root: BlockNo,
    pub fast_level: u32,
    /// First free page.
    pub free_head: BlockNo,
    /// Number of free pages.
    pub free_count: u32,
    /// Deleted pages that the last VACUUM had to leave unfree.
    pub pending: u32,
}

pub(crate) const META_MAGIC: u32 = 0x5350_4254;
const META_VERSION: u32 = 1;
const META_LEN: usize = 40;

impl Meta {
    pub fn read(page: &PageBytes) -> Check<Meta> {
        let op = Opaque::read(page)?;
        let m = page::item(page, 1).unwrap_or(&[]);
        if !op.is(META_PAGE) || m.len() != META_LEN || u32_at(m, 0) != META_MAGIC {
            return Err("not the meta page of a B-tree");
        }
        if u32_at(m, 4) != META_VERSION {
            return Err("unknown version of the B-tree format");
        }
        Ok(Meta {
            root: BlockNo(u32_at(m, 8)),
            level: u32_at(m, 12),
            fast_root: BlockNo(u32_at(m, 16)),
            fast_level: u32_at(m, 20),
            free_head: BlockNo(u32_at(m, 24)),
            free_count: u32_at(m, 28),
            pending: u32_at(m, 32),
        })
    }

    /// Makes `page` a meta page with these contents.
    pub fn write(&self, page: &mut PageBytes) {
        init(page, Opaque { prev: NONE, next: NONE, level: 0, flags: META_PAGE, split: Lsn::INVALID });
        let words = [
            META_MAGIC,
            META_VERSION,
            self.root.0,
            self.level,
            self.fast_root.0,
            self.fast_level,
            self.free_head.0,
            self.free_count,
            self.pending,
        ];
        let mut bytes = [0; META_LEN];
        for (at, word) in bytes.chunks_exact_mut(4).zip(words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        page::insert_at(page, 1, &bytes);
    }
}

/// Makes an empty page of the tree, keeping its LSN.
pub(crate) fn init(page: &mut PageBytes, opaque: Opaque) {
    let lsn = page::lsn(page);
    page::init(page, SPECIAL);
    page::set_lsn(page, lsn);
    opaque.write(page);
}

/// What a page is used for; see [`index::IndexAccessMethod::measure`].
pub(crate) fn measure(page: &PageBytes) -> Check<PageMeasure> {
    let op = Opaque::read(page)?;
    let used = match op {
        _ if op.is(META_PAGE) => {
            let meta = Meta::read(page)?;
            PageUse::Meta { version: 4, root: meta.root, level: meta.level }
        }
        _ if op.is(DELETED) => PageUse::Deleted,
        _ if op.is(HALF_DEAD) => PageUse::Leaving,
        _ if op.is_leaf() => PageUse::Leaf,
        _ => PageUse::Inner,
    };
    let measure = PageMeasure::new(used, Some(op.next).filter(|next| *next != NONE), page);
    Ok(if used == PageUse::Leaf { measure.with_items(page, op.first()) } else { measure })
}
