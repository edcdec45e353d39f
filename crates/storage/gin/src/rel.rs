//! An open index, how its pages are reached, and how a position is found in them.

use std::cmp::Ordering;

use base::{BlockNo, OffsetNo};
use buffer::WalAction;
use index::bytes::Check;
use index::{Access, FreeList, IndexDesc, IndexResult, Pages, Unused};
use page::PageBytes;
use tuple::parts::PartsClass;
use tuple::{Attr, Physical, RowLayout};
use wal::Rmgr;

use crate::format::{DELETED, FREE, KEY, META_BLOCK, NONE, Node, Position};
use crate::ops;
use crate::redo::Kind;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct GinRel {
    /// The description.
    pub desc: IndexDesc,
    /// Column, category and key, as entries are shown.
    pub(crate) entry: RowLayout,
    /// Rows go to the pending entries first.
    pub(crate) fast_update: bool,
    /// Bytes that pending entries may have, if the index has a limit of its own.
    own_limit: Option<usize>,
    /// Keys of all columns are in the order of their bytes.
    by_bytes: bool,
}

impl GinRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> GinRel {
        let number = Attr { physical: Physical::Int2, align: 2, storage: b'p', compression: None };
        let key = Attr { physical: Physical::Varlena, align: 1, storage: b'p', compression: None };
        let fast_update = desc.is_on("fastupdate");
        let own_limit = desc.option("gin_pending_list_limit").and_then(|value| value.parse().ok());
        let own_limit = own_limit.map(|kilobytes: usize| kilobytes << 10);
        let by_bytes = desc.parts.iter().all(|class| class.orders_bytes());
        let entry = RowLayout::new(vec![number, number, key]);
        GinRel { desc, entry, fast_update, own_limit, by_bytes }
    }

    /// Bytes that pending entries may have.
    pub(crate) fn pending_limit(&self, access: &Access<'_>) -> usize {
        self.own_limit.unwrap_or(access.limits.pending_list)
    }

    pub(crate) fn node<'p>(&self, block: BlockNo, page: &'p PageBytes) -> IndexResult<Node<'p>> {
        let node = self.check(block, Node::new(page))?;
        // Who follows a link holding this page would wait for himself.
        if node.op.next == block && block != NONE {
            return Err(self.corrupt(block, "page is its own sibling"));
        }
        Ok(node)
    }

    /// The class of a column, from 1.
    pub(crate) fn class(&self, column: u8) -> Option<&'static dyn PartsClass> {
        self.desc.parts.get(usize::from(column).checked_sub(1)?).copied()
    }

    /// Order of two keys of one column and category.
    #[inline]
    pub(crate) fn compare_keys(&self, column: u8, category: u8, a: &[u8], b: &[u8]) -> Ordering {
        if self.by_bytes {
            return a.cmp(b);
        }
        match self.class(column) {
            Some(class) if category == KEY => class.compare(a, b),
            _ => Ordering::Equal,
        }
    }

    /// Whether two positions have the same key, whatever their TIDs.
    pub(crate) fn same_key(&self, a: Position<'_>, b: Position<'_>) -> bool {
        (a.column, a.category) == (b.column, b.category)
            && self.compare_keys(a.column, a.category, a.key, b.key).is_eq()
    }

    /// Whether keys of this length with the same [number](GinRel::number) are the same.
    pub(crate) fn is_whole(&self, len: u16) -> bool {
        self.by_bytes && len < 8
    }

    /// A number by which keys of one column and category sort.
    pub(crate) fn number(&self, key: &[u8]) -> u64 {
        if !self.by_bytes {
            return 0;
        }
        // The first bytes, and behind them how many there are: 8 if these are not all.
        let mut number = [0; 8];
        let count = key.len().min(7);
        number[..count].copy_from_slice(&key[..count]);
        number[7] = key.len().min(8) as u8;
        u64::from_be_bytes(number)
    }

    /// Order of two positions.
    #[inline]
    pub(crate) fn compare(&self, a: Position<'_>, b: Position<'_>) -> Ordering {
        (a.column, a.category)
            .cmp(&(b.column, b.category))
            .then_with(|| self.compare_keys(a.column, a.category, a.key, b.key))
            .then_with(|| a.tid.cmp(&b.tid))
    }

    /// Whether a position lies beyond a page's upper bound.
    pub(crate) fn is_beyond(&self, node: &Node<'_>, of: Position<'_>) -> Check<bool> {
        Ok(node.high()?.is_some_and(|high| self.compare(of, high).is_ge()))
    }

    /// Number of the first item that lies behind a position: one more than the last item's, if none does.
    pub(crate) fn behind(&self, node: &Node<'_>, of: Position<'_>) -> Check<OffsetNo> {
        let (mut low, mut high) = (node.first(), node.max() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.compare(node.position(middle)?, of) {
                Ordering::Greater => high = middle,
                _ => low = middle + 1,
            }
        }
        Ok(low)
    }

    /// The child of an internal page that a position lies below.
    pub(crate) fn child(&self, node: &Node<'_>, of: Position<'_>) -> Check<BlockNo> {
        let n = self.behind(node, of)?;
        if n <= node.first() {
            return Err("position lies before the first child");
        }
        match node.link(n - 1)?.child() {
            NONE => Err("downlink leads to the meta page"),
            child => Ok(child),
        }
    }

    /// A record about this index.
    pub(crate) fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Gin, kind as u8, access.xid)
    }
}

impl FreeList for GinRel {
    const HEAD: BlockNo = META_BLOCK;
    const TAKE: u8 = Kind::TakeFree as u8;
    const PUT: u8 = Kind::PutFree as u8;

    fn first_free(&self, head: &PageBytes) -> IndexResult<BlockNo> {
        Ok(self.node(META_BLOCK, head)?.op.next)
    }

    fn set_first_free(head: &mut PageBytes, first: BlockNo) -> Check<()> {
        ops::set_next(head, first)
    }

    fn unused(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Unused> {
        let node = self.node(block, page)?;
        let (deleted, free) = (node.op.is(DELETED), node.op.is(FREE));
        Ok(Unused { deleted, free, safe: node.safe_xid(), next: node.next_free() })
    }

    fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()> {
        ops::mark_free(page, next)
    }

    fn unmark_free(page: &mut PageBytes) -> Check<()> {
        ops::unmark_free(page)
    }

    fn blob(page: &PageBytes) -> Check<Vec<u8>> {
        ops::blob(page)
    }

    fn restore(page: &mut PageBytes, blob: &[u8]) -> Check<()> {
        ops::from_blob(page, blob)
    }
}
