//! An open index, how its pages are reached, and how a position is found in them.

use std::cmp::Ordering;

use base::{BlockNo, Fork, OffsetNo};
use buffer::{BufferPool, ExclusivePage, PageChange, Pin, SharedPage, Tag, WalAction};
use index::bytes::Check;
use index::{Access, IndexDesc, IndexError, IndexResult};
use page::PageBytes;
use tuple::parts::PartsClass;
use tuple::{Attr, Physical, RowLayout};
use wal::Rmgr;

use crate::format::{DELETED, FREE, KEY, META_BLOCK, NONE, Node, Position};
use crate::ops;
use crate::redo::Kind;

/// A page latched exclusively; the guard keeps the pin.
pub(crate) type Exclusive = ExclusivePage<'static>;
/// A page latched shared; the guard keeps the pin.
pub(crate) type Shared = SharedPage<'static>;

/// Of a page that the record builds from nothing.
pub(crate) const INIT: PageChange =
    PageChange { will_init: true, force_image: false, keep_data: false, no_image: false };

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
}

impl GinRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> GinRel {
        let number = Attr { physical: Physical::Int2, align: 2, storage: b'p', compression: None };
        let key = Attr { physical: Physical::Varlena, align: 1, storage: b'p', compression: None };
        let fast_update =
            desc.option("fastupdate").is_none_or(|value| !matches!(value, "off" | "false" | "no" | "0"));
        let own_limit = desc.option("gin_pending_list_limit").and_then(|value| value.parse().ok());
        let own_limit = own_limit.map(|kilobytes: usize| kilobytes << 10);
        GinRel { desc, entry: RowLayout::new(vec![number, number, key]), fast_update, own_limit }
    }

    /// Bytes that pending entries may have.
    pub(crate) fn pending_limit(&self, access: &Access<'_>) -> usize {
        self.own_limit.unwrap_or(access.limits.pending_list)
    }

    pub(crate) fn tag(&self, block: BlockNo) -> Tag {
        Tag { rel: self.desc.file, fork: Fork::Main, block }
    }

    pub(crate) fn corrupt(&self, block: BlockNo, what: &'static str) -> IndexError {
        IndexError::Corrupt { rel: self.desc.file, block, what }
    }

    pub(crate) fn pin(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Pin> {
        Ok(pool.read(self.tag(block))?)
    }

    pub(crate) fn shared(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Shared> {
        Ok(self.pin(pool, block)?.into_shared())
    }

    pub(crate) fn exclusive(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Exclusive> {
        Ok(self.pin(pool, block)?.into_exclusive())
    }

    /// Names the page in an error about its bytes.
    pub(crate) fn check<T>(&self, block: BlockNo, result: Check<T>) -> IndexResult<T> {
        result.map_err(|what| self.corrupt(block, what))
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
    pub(crate) fn compare_keys(&self, column: u8, category: u8, a: &[u8], b: &[u8]) -> Ordering {
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

    /// Order of two positions.
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

    /// A page to write on, latched exclusively. Its bytes are to be overwritten entirely. The caller does not have the meta page.
    pub(crate) fn allocate(&self, access: &Access<'_>) -> IndexResult<Exclusive> {
        // A glance first: splits do not queue for the meta page while there is nothing to be had.
        let meta = self.shared(access.pool, META_BLOCK)?;
        let any = self.node(META_BLOCK, &meta)?.op.next != NONE;
        drop(meta);
        if any && let Some(page) = self.take_free(access)? {
            return Ok(page);
        }
        Ok(access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?)
    }

    /// Takes the first page off the list of free pages. If a crash follows before it is used, the next VACUUM puts it back.
    fn take_free(&self, access: &Access<'_>) -> IndexResult<Option<Exclusive>> {
        let mut meta = self.exclusive(access.pool, META_BLOCK)?;
        let block = self.node(META_BLOCK, &meta)?.op.next;
        if block == NONE {
            return Ok(None);
        }
        let mut page = self.exclusive(access.pool, block)?;
        let node = self.node(block, &page)?;
        if !node.op.is(FREE) {
            return Err(self.corrupt(block, "page on the list of free pages is in use"));
        }
        let next = node.next_free();
        self.check(block, ops::unmark_free(&mut page))?;
        self.check(META_BLOCK, ops::set_next(&mut meta, next))?;
        let mut action = self.action(access, Kind::TakeFree);
        action.data(&next.0.to_le_bytes());
        action.page(&mut page, PageChange::default());
        action.page(&mut meta, PageChange::default());
        action.commit();
        Ok(Some(page))
    }

    /// Puts a deleted page that no scan can reach any more, or one that was never used, on the list of free pages. `false` if it is neither (any more).
    ///
    /// The page is latched before the meta page: it may be in the tree again, latched by somebody who wants a free page. `take_free` goes the other way, but to a page that
    /// is on the list, which nobody holds while he waits for the meta page.
    pub(crate) fn put_free(&self, access: &Access<'_>, block: BlockNo) -> IndexResult<bool> {
        let mut page = self.exclusive(access.pool, block)?;
        if !page::is_new(&page) {
            let node = self.node(block, &page)?;
            let removable = node.op.is(DELETED) && access.horizon.is_removable(node.safe_xid());
            if !removable || node.op.is(FREE) {
                return Ok(false);
            }
        }
        let mut meta = self.exclusive(access.pool, META_BLOCK)?;
        let next = self.node(META_BLOCK, &meta)?.op.next;
        self.check(block, ops::mark_free(&mut page, next))?;
        self.check(META_BLOCK, ops::set_next(&mut meta, block))?;
        let data = self.check(block, ops::blob(&page))?;
        let mut action = self.action(access, Kind::PutFree);
        let i = action.page(&mut page, INIT);
        action.page_data(i, &data);
        action.page(&mut meta, PageChange::default());
        action.commit();
        Ok(true)
    }
}

/// Between pages, no latch held.
pub(crate) fn interrupts() -> IndexResult<()> {
    runtime::check_interrupts().map_err(IndexError::Interrupted)
}
