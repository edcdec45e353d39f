//! Pages of the index as people look at them, one by one.

use base::Tid;
use index::bytes::Check;
use page::PageBytes;

use crate::format::{DELETED, INCOMPLETE, META, NONE, Node, Opaque, PENDING, unpack};

/// What the special area says.
#[derive(Clone, Debug)]
pub struct About {
    /// The page to the right, or behind a pending one, if there is one.
    pub next: Option<u32>,
    /// Number of items.
    pub items: u16,
    /// What the page is, in PostgreSQL's words.
    pub flags: Vec<&'static str>,
}

/// Rows of a leaf's item.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Bytes of the item.
    pub bytes: usize,
    /// All of them.
    pub tids: Vec<Tid>,
}

/// What the special area of a page says.
///
/// # Errors
/// It is not a page of such an index.
pub fn about(page: &PageBytes) -> Check<About> {
    let op = Opaque::read(page)?;
    let all = [
        (op.is_leaf() && op.is_in_tree(), "leaf"),
        (op.is(DELETED), "deleted"),
        (op.is(META), "meta"),
        (op.is(PENDING), "list"),
        (op.is(INCOMPLETE), "incomplete_split"),
    ];
    Ok(About {
        next: (op.next != NONE).then_some(op.next.0),
        items: page::max_offset(page),
        flags: all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect(),
    })
}

/// The rows of each item of a leaf.
///
/// # Errors
/// It is not a leaf of such an index, or is damaged.
pub fn leaf(page: &PageBytes) -> Check<Vec<Rows>> {
    let node = Node::new(page)?;
    if !node.op.is_leaf() || !node.op.is_in_tree() {
        return Err("not a leaf page");
    }
    let rows = |number| {
        let item = node.leaf(number)?;
        let mut tids = Vec::new();
        item.tids(&mut tids)?;
        let bytes = page::item(page, number).map_or(0, <[u8]>::len);
        Ok(Rows { bytes, tids: tids.into_iter().map(unpack).collect() })
    };
    (node.first()..=node.max()).map(rows).collect()
}
