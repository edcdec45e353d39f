//! Pages of the tree as people look at them, one by one.

use base::{Lsn, OffsetNo, Tid};
use index::IndexDesc;
use index::bytes::Check;
use page::PageBytes;
use tuple::Datum;

use crate::format::{DELETED, FOLLOW_RIGHT, NONE, Node, Opaque};

/// What the special area says.
#[derive(Clone, Debug)]
pub struct About {
    /// When the page was last split, as far as its parent does not know.
    pub nsn: Lsn,
    /// Right sibling, if there is one.
    pub next: Option<u32>,
    /// What the page is, in PostgreSQL's words.
    pub flags: Vec<&'static str>,
}

/// An item.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its number.
    pub number: OffsetNo,
    /// The row, or the child as a place without line.
    pub tid: Tid,
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Marked as dead.
    pub dead: bool,
}

/// What the special area of a page says.
///
/// # Errors
/// It is not a page of such an index.
pub fn about(page: &PageBytes) -> Check<About> {
    let op = Opaque::read(page)?;
    let all = [(op.is_leaf(), "leaf"), (op.is(DELETED), "deleted"), (op.is(FOLLOW_RIGHT), "follow_right")];
    Ok(About {
        nsn: op.split,
        next: (op.next != NONE).then_some(op.next.0),
        flags: all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect(),
    })
}

/// The items of a page; none of a deleted one.
///
/// # Errors
/// It is not a page of such an index, or is damaged.
pub fn items(page: &PageBytes) -> Check<Vec<Item>> {
    let node = Node::new(page)?;
    if node.op.is(DELETED) {
        return Ok(Vec::new());
    }
    let item = |found: Check<(OffsetNo, crate::format::Item<'_>)>| {
        let (number, item) = found?;
        let tid = if node.op.is_leaf() { item.tid() } else { Tid::new(item.child(), u16::MAX) };
        Ok(Item { number, tid, bytes: item.bytes().to_vec(), dead: node.is_dead(number) })
    };
    node.items().map(item).collect()
}

/// The columns of an item: the keys, in a leaf those of INCLUDE too.
///
/// # Errors
/// It is not one of an index like this.
pub fn values(item: &Item, desc: &IndexDesc, leaf: bool) -> Check<Vec<Datum>> {
    let columns = if leaf { desc.layout.len() } else { desc.nkeys() };
    crate::format::Item::new(&item.bytes)?.decode(&desc.layout, columns)
}
