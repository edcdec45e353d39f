//! # What
//! The bytes of the tree: special area and items. Everything that reads them is bounds-checked and answers damage with [`Check`], never with a panic.
//!
//! # Layout
//! Special area of every page, 16 bytes, little-endian:
//!
//! | at | field | |
//! |---|---|---|
//! | 0 | `tag` u32 | [`PAGE_TAG`]: tells a page of this method from any other |
//! | 4 | `flags` u16 | [`FREE`] |
//! | 6 | | 0 |
//! | 8 | `next` u32 | of the head: first page of the list of free pages; of a page on it: the next; 0 ends it |
//! | 12 | | 0 |
//!
//! A [`Place`] is a block and the number of a line pointer; numbers stay while the page is in use, so line pointers may be unused. Items begin with 16 bytes:
//!
//! | at | bucket | inner tuple | redirect |
//! |---|---|---|---|
//! | 0 u8 | [`BUCKET`] | [`INNER`] | [`REDIRECT`] |
//! | 2 u16 | number of entries | number of nodes | 0 |
//! | 4 u16 | 0 | bytes of the prefix | 0 |
//! | 6 u16 | item of `rest` | item of `rest` | item where it is now |
//! | 8 u32 | block of `rest`, 0 if none | block of `rest`, 0 if none | its block, 0 if it is gone |
//! | 12 u32 | 0 | 0 | 0 |
//! | 16 | entries | nodes, then the prefix, zeros up to a multiple of 8 | xid that must be older than every snapshot before the number is used again, u64 |
//!
//! A node has 8 bytes: label i16, item u16, block u32 of what is below, 0 if nothing is.
//!
//! An entry is a multiple of 8 bytes: heap block u32, heap offset u16, u16 with its length and in the top bit whether a column is null, then a null bitmap of 8 (32 bits used), the
//! columns as [`RowLayout`] lays them out: the leaf, then INCLUDE columns; zeros up to a multiple of 8.

use base::{BlockNo, OffsetNo, PAGE_SIZE, Tid, Xid};
use index::bytes::{Check, u16_at, u32_at, u64_at};
use page::{PageBytes, align8};
use tuple::space::{Branch, NODE};
use tuple::{Datum, RowBytes, RowLayout, varlena};

/// Bytes of the special area.
pub(crate) const SPECIAL: usize = 16;
/// "spgi".
pub(crate) const PAGE_TAG: u32 = 0x6967_7073;
/// On the list of free pages.
pub(crate) const FREE: u16 = 1;

/// Where the list of free pages begins; it has no items.
pub(crate) const HEAD: BlockNo = BlockNo(0);
/// Root of the tree; alone on its page, so that it never moves.
pub(crate) const ROOT: Place = Place { block: BlockNo(1), item: 1 };
/// Entries whose key is NULL: a bucket, alone on its page.
pub(crate) const NULLS: Place = Place { block: BlockNo(2), item: 1 };
/// The first block that anything may be put on.
pub(crate) const FIRST: u32 = 3;

/// Kinds of items.
pub(crate) const BUCKET: u8 = 1;
/// See [`BUCKET`].
pub(crate) const INNER: u8 = 2;
/// See [`BUCKET`].
pub(crate) const REDIRECT: u8 = 3;

/// Bytes before entries, nodes, and the xid of a redirect.
pub(crate) const HEADER: usize = 16;
const ENTRY_HEADER: usize = 8;
const HAS_NULLS: u16 = 0x8000;

/// Bytes of a page that items and line pointers share.
pub(crate) const ROOM: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL;
/// Largest entry: a page has it with its bucket.
pub(crate) const MAX_ENTRY: usize = (ROOM - 4 - HEADER) & !7;

/// Where an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub block: BlockNo,
    pub item: OffsetNo,
}

impl Place {
    /// Nowhere.
    pub const NONE: Place = Place { block: BlockNo(0), item: 0 };

    fn read(item: u16, block: u32) -> Place {
        if block == 0 { Place::NONE } else { Place { block: BlockNo(block), item } }
    }

    pub fn known(self) -> Option<Place> {
        (self != Place::NONE).then_some(self)
    }
}

/// Fails unless a page is of this method; its flags and link.
pub(crate) fn special(page: &PageBytes) -> Check<(u16, BlockNo)> {
    if page::special_offset(page) != PAGE_SIZE - SPECIAL {
        return Err("special area has the wrong size");
    }
    let s = &page[PAGE_SIZE - SPECIAL..];
    if u32_at(s, 0) != PAGE_TAG {
        return Err("not a page of an SP-GiST index");
    }
    Ok((u16_at(s, 4), BlockNo(u32_at(s, 8))))
}

/// Writes the special area.
pub(crate) fn set_special(page: &mut PageBytes, flags: u16, next: BlockNo) {
    let s = &mut page[PAGE_SIZE - SPECIAL..];
    s.fill(0);
    s[0..4].copy_from_slice(&PAGE_TAG.to_le_bytes());
    s[4..6].copy_from_slice(&flags.to_le_bytes());
    s[8..12].copy_from_slice(&next.0.to_le_bytes());
}

/// Numbers of the line pointers with items.
pub(crate) fn items(page: &PageBytes) -> impl Iterator<Item = OffsetNo> + '_ {
    (1..=page::max_offset(page)).filter(|&n| page::line_pointer(page, n).is_some_and(|lp| lp.has_item()))
}

/// One item, its bytes checked as far as its kind needs.
#[derive(Clone, Copy)]
pub(crate) enum Item<'a> {
    Bucket(Bucket<'a>),
    Inner(Inner<'a>),
    /// Where it is now, if it is; and the xid that no snapshot may need.
    Redirect(Place, Xid),
}

/// What is at a number; none if nothing is.
pub(crate) fn item(page: &PageBytes, n: OffsetNo) -> Check<Option<Item<'_>>> {
    page::item(page, n).map(parse).transpose()
}

/// What bytes of an item mean.
pub(crate) fn parse(bytes: &[u8]) -> Check<Item<'_>> {
    if bytes.len() < HEADER || !bytes.len().is_multiple_of(8) {
        return Err("item has a wrong length");
    }
    match bytes[0] {
        BUCKET => Ok(Item::Bucket(Bucket(bytes))),
        INNER => Inner::new(bytes).map(Item::Inner),
        REDIRECT if bytes.len() == HEADER + 8 => {
            Ok(Item::Redirect(rest_of(bytes), Xid(u64_at(bytes, HEADER))))
        }
        _ => Err("item is of no known kind"),
    }
}

fn rest_of(bytes: &[u8]) -> Place {
    Place::read(u16_at(bytes, 6), u32_at(bytes, 8))
}

fn header(kind: u8, count: usize, prefix: usize, rest: Place) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    out.extend_from_slice(&[kind, 0]);
    for half in [count as u16, prefix as u16, rest.item] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    out.extend_from_slice(&rest.block.0.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out
}

/// Entries of one part of the space.
#[derive(Clone, Copy)]
pub(crate) struct Bucket<'a>(&'a [u8]);

impl<'a> Bucket<'a> {
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    pub fn count(&self) -> usize {
        u16_at(self.0, 2) as usize
    }

    /// Where more entries of the same part are, or what divides them.
    pub fn rest(&self) -> Place {
        rest_of(self.0)
    }

    pub fn entries(&self) -> Entries<'a> {
        Entries { bytes: &self.0[HEADER..], left: self.count() }
    }
}

/// The entries of a bucket, one after the other.
pub(crate) struct Entries<'a> {
    bytes: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Check<Entry<'a>>;

    fn next(&mut self) -> Option<Check<Entry<'a>>> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let length = (u16_at(self.bytes, 6) & !HAS_NULLS) as usize;
        if length < ENTRY_HEADER || length > self.bytes.len() || !length.is_multiple_of(8) {
            self.left = 0;
            return Some(Err("entry has a wrong length"));
        }
        let (head, tail) = self.bytes.split_at(length);
        self.bytes = tail;
        Some(Ok(Entry(head)))
    }
}

const BAD_ROW: &str = "columns of an entry do not match their layout";

/// One entry.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a>(&'a [u8]);

impl<'a> Entry<'a> {
    /// Of the bytes that one has.
    pub fn of(bytes: &'a [u8]) -> Entry<'a> {
        Entry(bytes)
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    pub fn tid(&self) -> Tid {
        Tid::new(BlockNo(u32_at(self.0, 0)), u16_at(self.0, 4))
    }

    /// The first `columns` columns, resolved.
    pub fn decode(&self, layout: &RowLayout, columns: usize) -> Check<Vec<Datum>> {
        let row = self.row(columns)?;
        let mut out = Vec::with_capacity(columns);
        layout.decode(columns, row.nulls, row.data, columns, &mut out).map_err(|_| BAD_ROW)?;
        out.iter_mut().try_for_each(resolve)?;
        Ok(out)
    }

    /// The first column, resolved.
    fn first(&self, layout: &RowLayout) -> Check<Datum> {
        let mut value = layout.decode_column(&self.row(1)?, 0).map_err(|_| BAD_ROW)?;
        resolve(&mut value)?;
        Ok(value)
    }

    fn row(&self, columns: usize) -> Check<RowBytes<'a>> {
        let has_nulls = u16_at(self.0, 6) & HAS_NULLS != 0;
        let start = if has_nulls { ENTRY_HEADER + 8 } else { ENTRY_HEADER };
        let data = self.0.get(start..).ok_or("entry is too short for its null bitmap")?;
        Ok(RowBytes { columns, nulls: has_nulls.then(|| &self.0[ENTRY_HEADER..ENTRY_HEADER + 4]), data })
    }

    /// The bytes of the leaf, if it is a byte string that needs no decoding.
    #[inline]
    pub fn leaf_bytes(&self, layout: &RowLayout) -> Option<&'a [u8]> {
        layout.first_bytes(&self.row(1).ok()?)
    }

    /// The leaf, which is not NULL.
    pub fn leaf(&self, layout: &RowLayout) -> Check<Datum> {
        match self.first(layout)? {
            Datum::Null => Err("entry has no key"),
            leaf => Ok(leaf),
        }
    }
}

/// Undoes the compression of a value.
fn resolve(value: &mut Datum) -> Check<()> {
    if let Datum::Toasted(stored) = value {
        *value = varlena::resolve_inline(stored).ok().flatten().ok_or(BAD_ROW)?;
    }
    Ok(())
}

/// Bytes of an entry: the leaf, then INCLUDE columns. It may be larger than an entry may be.
pub(crate) fn entry(layout: &RowLayout, leaf: &Datum, include: &[Datum], tid: Tid) -> Vec<u8> {
    let mut values = Vec::with_capacity(1 + include.len());
    values.push(leaf.clone());
    values.extend_from_slice(include);
    let mut out = Vec::with_capacity(64);
    out.extend_from_slice(&tid.block.0.to_le_bytes());
    out.extend_from_slice(&tid.offset.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    let has_nulls = values.iter().any(Datum::is_null);
    if has_nulls {
        let bits = values.iter().enumerate().fold(0u64, |b, (i, v)| b | u64::from(!v.is_null()) << i);
        out.extend_from_slice(&bits.to_le_bytes());
    }
    layout.encode(&values, &mut out);
    out.resize(align8(out.len()), 0);
    let length = out.len().min(0x7ff8) as u16 | if has_nulls { HAS_NULLS } else { 0 };
    out[6..8].copy_from_slice(&length.to_le_bytes());
    out
}

/// Bytes of a bucket.
pub(crate) fn bucket<T: AsRef<[u8]>>(entries: &[T], rest: Place) -> Vec<u8> {
    let mut out = header(BUCKET, entries.len(), 0, rest);
    entries.iter().for_each(|entry| out.extend_from_slice(entry.as_ref()));
    out
}

/// How a part of the space is divided.
#[derive(Clone, Copy)]
pub(crate) struct Inner<'a> {
    nodes: &'a [[u8; NODE]],
    prefix: &'a [u8],
    rest: Place,
}

impl<'a> Inner<'a> {
    fn new(bytes: &'a [u8]) -> Check<Inner<'a>> {
        let (nodes, prefix) = (u16_at(bytes, 2) as usize, u16_at(bytes, 4) as usize);
        let end = HEADER + nodes * NODE;
        let short = "inner tuple is too short";
        let nodes = bytes.get(HEADER..end).ok_or(short)?.as_chunks::<NODE>().0;
        Ok(Inner { nodes, prefix: bytes.get(end..end + prefix).ok_or(short)?, rest: rest_of(bytes) })
    }

    /// As its class sees it.
    pub fn branch(&self) -> Branch<'a> {
        Branch { prefix: self.prefix, nodes: self.nodes }
    }

    /// What is below a node.
    pub fn link(&self, node: usize) -> Check<Place> {
        let node = self.nodes.get(node).ok_or("inner tuple has no such node")?;
        Ok(Place::read(u16_at(node, 2), u32_at(node, 4)))
    }

    pub fn links(&self) -> impl Iterator<Item = Place> + use<'a> {
        self.nodes.iter().map(|node| Place::read(u16_at(node, 2), u32_at(node, 4)))
    }

    /// Where entries of the same part of the space are that it does not divide.
    pub fn rest(&self) -> Place {
        self.rest
    }

    /// Labels and links of all nodes.
    pub fn nodes(&self) -> Vec<(i16, Place)> {
        let branch = self.branch();
        self.links().enumerate().map(|(i, link)| (branch.label(i), link)).collect()
    }
}

/// Bytes of an inner tuple.
pub(crate) fn inner(prefix: &[u8], nodes: &[(i16, Place)], rest: Place) -> Vec<u8> {
    let mut out = header(INNER, nodes.len(), prefix.len(), rest);
    for (label, link) in nodes {
        out.extend_from_slice(&label.to_le_bytes());
        out.extend_from_slice(&link.item.to_le_bytes());
        out.extend_from_slice(&link.block.0.to_le_bytes());
    }
    out.extend_from_slice(prefix);
    out.resize(align8(out.len()), 0);
    out
}

/// Bytes of a redirect.
pub(crate) fn redirect(to: Place, safe: Xid) -> Vec<u8> {
    let mut out = header(REDIRECT, 0, 0, to);
    out.extend_from_slice(&safe.0.to_le_bytes());
    out
}

/// Which link of an item: that of a node, or `rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Node(usize),
    Rest,
}

/// Sets a link of a bucket or an inner tuple.
pub(crate) fn set_link(bytes: &mut [u8], link: Link, to: Place) -> Check<()> {
    let (item, block) = match (link, parse(bytes)?) {
        (_, Item::Redirect(..)) => return Err("a redirect has no links"),
        (Link::Rest, _) => (6, 8),
        (Link::Node(node), Item::Inner(inner)) => {
            inner.link(node)?;
            (HEADER + node * NODE + 2, HEADER + node * NODE + 4)
        }
        (Link::Node(_), Item::Bucket(_)) => return Err("a bucket has no nodes"),
    };
    bytes[item..item + 2].copy_from_slice(&to.item.to_le_bytes());
    bytes[block..block + 4].copy_from_slice(&to.block.0.to_le_bytes());
    Ok(())
}
