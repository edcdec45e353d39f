//! Pages of the tree as people look at them, one by one.

use base::{BlockNo, OffsetNo, Tid};
use index::bytes::Check;
use page::{LpFlags, PageBytes};

use crate::format::{DELETED, HALF_DEAD, META_MAGIC, Meta, Node, Opaque};

/// What the meta page says.
#[derive(Clone, Copy, Debug)]
pub struct TreeMeta {
    /// What tells a meta page from others.
    pub magic: u32,
    /// Version of the format, as PostgreSQL counts them.
    pub version: u32,
    /// The root; block 0 of an empty tree.
    pub root: BlockNo,
    /// Levels below it.
    pub level: u32,
    /// The lowest page that is alone on its level.
    pub fast_root: BlockNo,
    /// Levels below that.
    pub fast_level: u32,
    /// Deleted pages that the last VACUUM could not free.
    pub left_deleted: u32,
}

/// Where a page stands in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// `l`: leaf, `r`: root, `i`: internal, `e`: on its way out, `d`: deleted.
    pub kind: u8,
    /// Left sibling; block 0: none.
    pub prev: BlockNo,
    /// Right sibling; block 0: none.
    pub next: BlockNo,
    /// Levels below.
    pub level: u32,
    /// Flags as stored.
    pub flags: u16,
    /// It has items of the tree.
    pub has_items: bool,
}

/// An item.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its number.
    pub number: OffsetNo,
    /// The first word and half of its header, as a TID: a row, a child, or place and length of a list.
    pub word: Tid,
    /// Its bytes.
    pub length: u16,
    /// One of its columns is NULL.
    pub has_nulls: bool,
    /// Its columns.
    pub data: Vec<u8>,
    /// Of an entry: whether it is known to be dead.
    pub dead: Option<bool>,
    /// The row of an entry, the first of several; of a pivot the one that it keeps.
    pub row: Option<Tid>,
    /// The rows of an entry with several.
    pub tids: Vec<Tid>,
}

/// The meta page.
///
/// # Errors
/// It is none.
pub fn meta(page: &PageBytes) -> Check<TreeMeta> {
    let meta = Meta::read(page)?;
    Ok(TreeMeta {
        magic: META_MAGIC,
        version: 4,
        root: meta.root,
        level: meta.level,
        fast_root: meta.fast_root,
        fast_level: meta.fast_level,
        left_deleted: meta.pending,
    })
}

/// Where a page stands.
///
/// # Errors
/// It is none of the tree.
pub fn links(page: &PageBytes) -> Check<Links> {
    let node = Node::new(page)?;
    let Opaque { prev, next, level, flags, .. } = node.op;
    let kind = match node.op {
        op if op.is(DELETED) => b'd',
        op if op.is(HALF_DEAD) => b'e',
        op if op.is_leaf() => b'l',
        op if op.is(crate::format::ROOT) => b'r',
        _ => b'i',
    };
    Ok(Links { kind, prev, next, level: u32::from(level), flags, has_items: !node.op.is(DELETED) })
}

/// All items of a page, the high key first if there is one.
///
/// # Errors
/// The page is none of the tree, or an item is damaged.
pub fn items(page: &PageBytes) -> Check<Vec<Item>> {
    let node = Node::new(page)?;
    if node.op.is(DELETED) {
        return Ok(Vec::new());
    }
    (1..=node.max()).map(|number| item(&node, number)).collect()
}

fn item(node: &Node<'_>, number: OffsetNo) -> Check<Item> {
    let item = node.item(number)?;
    let is_entry = node.op.is_leaf() && !item.is_pivot();
    let pointer = page::line_pointer(node.page, number).ok_or("line pointer names no item")?;
    let (row, tids) = match is_entry {
        true if item.is_posting() => (Some(item.first_tid()?), item.tids()?),
        true => (Some(item.first_tid()?), Vec::new()),
        false => (item.pivot_tid()?, Vec::new()),
    };
    let columns = match is_entry {
        true => item.key_part()?,
        false => item.bytes(),
    };
    Ok(Item {
        number,
        word: item.words(),
        length: pointer.len,
        has_nulls: item.has_nulls(),
        data: columns.get(item.data_start()..).unwrap_or_default().to_vec(),
        dead: is_entry.then_some(pointer.flags == LpFlags::Dead),
        row,
        tids,
    })
}
