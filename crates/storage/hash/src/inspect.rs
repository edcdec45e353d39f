//! Pages of the index as people look at them, one by one.

use base::Tid;
use index::bytes::Check;
use page::PageBytes;

use crate::format::{DELETED, NONE, Node, PAGE_TAG, ROOM};

/// What a page is and holds.
#[derive(Clone, Debug)]
pub struct About {
    /// `bucket`, `directory` or `unused`.
    pub kind: &'static str,
    /// Entries that are not marked as dead, and those that are.
    pub live: usize,
    /// Entries that are marked as dead.
    pub dead: usize,
    /// Bytes without entries.
    pub free: usize,
    /// Right sibling, if there is one.
    pub next: Option<u32>,
    /// Flags as stored.
    pub flags: u16,
    /// What tells a page of this method from any other.
    pub tag: u32,
}

/// What a page is and holds.
///
/// # Errors
/// It is not a page of such an index, or is damaged.
pub fn about(page: &PageBytes) -> Check<About> {
    let node = Node::new(page)?;
    let op = node.op;
    let dead = if op.is_bucket() { node.dead().len() } else { 0 };
    Ok(About {
        kind: match op {
            _ if op.is(DELETED) => "unused",
            _ if op.is_bucket() => "bucket",
            _ => "directory",
        },
        live: node.count() - dead,
        dead,
        free: ROOM - node.entries.len(),
        next: (op.next != NONE).then_some(op.next.0),
        flags: op.flags,
        tag: PAGE_TAG,
    })
}

/// Row and code of each entry of a bucket.
///
/// # Errors
/// It is not a bucket of such an index, or is damaged.
pub fn items(page: &PageBytes) -> Check<Vec<(Tid, u32)>> {
    let node = Node::new(page)?;
    if !node.op.is_bucket() || node.op.is(DELETED) {
        return Err("page is not a hash bucket page");
    }
    let entry = |at| {
        let key = node.key(at);
        (key.tid, key.code)
    };
    Ok((0..node.count()).map(entry).collect())
}
