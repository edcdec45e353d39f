//! An open index, and how its pages are reached.

use base::{BlockNo, Fork, Xid};
use buffer::{BufferPool, ExclusivePage, PageChange, Pin, SharedPage, Tag, WalAction};
use index::bytes::Check;
use index::{Access, IndexDesc, IndexError, IndexResult};
use page::PageBytes;
use wal::Rmgr;

use crate::format::{DELETED, FREE, NONE, Node, Opaque, ROOT};
use crate::ops;
use crate::redo::Kind;

/// A page latched exclusively; the guard keeps the pin.
pub(crate) type Exclusive = ExclusivePage<'static>;
/// A page latched shared; the guard keeps the pin.
pub(crate) type Shared = SharedPage<'static>;

/// Of a page that the record builds from nothing.
pub(crate) const INIT: PageChange =
    PageChange { will_init: true, force_image: false, keep_data: false, no_image: false };

const DEFAULT_FILLFACTOR: usize = 90;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct GistRel {
    /// The description.
    pub desc: IndexDesc,
    /// Percentage of a page that the build fills.
    pub(crate) fillfactor: usize,
}

impl GistRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> GistRel {
        let fillfactor = desc.option("fillfactor").and_then(|value| value.parse().ok());
        GistRel { fillfactor: fillfactor.unwrap_or(DEFAULT_FILLFACTOR).clamp(10, 100), desc }
    }

    pub(crate) fn nkeys(&self) -> usize {
        self.desc.nkeys()
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
        if node.op.next == block && block != ROOT {
            return Err(self.corrupt(block, "page is its own sibling"));
        }
        Ok(node)
    }

    /// A record about this index.
    pub(crate) fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Gist, kind as u8, access.xid)
    }

    /// A page to write on, latched exclusively. Its bytes are to be overwritten entirely. `root_latched`: the caller has the root, where the list of free pages
    /// begins; the file grows then.
    pub(crate) fn allocate(&self, access: &Access<'_>, root_latched: bool) -> IndexResult<Exclusive> {
        if !root_latched {
            // A glance first: splits do not queue for the root while there is nothing to be had.
            let root = self.shared(access.pool, ROOT)?;
            let any = self.node(ROOT, &root)?.op.next != NONE;
            drop(root);
            if any && let Some(page) = self.take_free(access)? {
                return Ok(page);
            }
        }
        Ok(access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?)
    }

    /// Takes the first page off the list of free pages. If a crash follows before it is used, the next VACUUM puts it back.
    fn take_free(&self, access: &Access<'_>) -> IndexResult<Option<Exclusive>> {
        let mut root = self.exclusive(access.pool, ROOT)?;
        let block = self.node(ROOT, &root)?.op.next;
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
        self.check(ROOT, ops::set_free(&mut root, next))?;
        let mut action = self.action(access, Kind::TakeFree);
        action.data(&next.0.to_le_bytes());
        action.page(&mut page, PageChange::default());
        action.page(&mut root, PageChange::default());
        action.commit();
        Ok(Some(page))
    }

    /// Puts a deleted page that no scan can reach any more, or one that was never used, on the list of free pages. `false` if it is neither (any more).
    ///
    /// The page is latched before the root: it may be in the tree again, latched by somebody who goes up. `take_free` goes the other way, but to a page that is on the
    /// list, which nobody holds while he waits for the root.
    pub(crate) fn put_free(&self, access: &Access<'_>, block: BlockNo) -> IndexResult<bool> {
        let mut page = self.exclusive(access.pool, block)?;
        if !page::is_new(&page) {
            let node = self.node(block, &page)?;
            let removable = node.op.is(DELETED) && access.horizon.is_removable(node.safe_xid());
            if !removable || node.op.is(FREE) {
                return Ok(false);
            }
        }
        let mut root = self.exclusive(access.pool, ROOT)?;
        let next = self.node(ROOT, &root)?.op.next;
        self.check(block, ops::mark_free(&mut page, next))?;
        self.check(ROOT, ops::set_free(&mut root, block))?;
        let data = self.check(block, ops::blob(&page))?;
        let mut action = self.action(access, Kind::PutFree);
        let i = action.page(&mut page, INIT);
        action.page_data(i, &data);
        action.page(&mut root, PageChange::default());
        action.commit();
        Ok(true)
    }

    /// Takes an empty leaf out of the tree, whose parent has its downlink as item `at` of several.
    pub(crate) fn delete_leaf(
        &self,
        access: &Access<'_>,
        leaf: &mut Exclusive,
        parent: &mut Exclusive,
        at: u16,
    ) -> IndexResult<()> {
        let safe: Xid = access.horizon.next_xid();
        self.check(leaf.tag().block, ops::mark_deleted(leaf, safe))?;
        self.check(parent.tag().block, ops::update::<&[u8]>(parent, &[at], &[], None))?;
        let mut action = self.action(access, Kind::PageDelete);
        action.data(&at.to_le_bytes());
        action.data(&safe.0.to_le_bytes());
        action.page(leaf, PageChange::default());
        action.page(parent, PageChange::default());
        action.commit();
        Ok(())
    }

    /// The special area of an empty root.
    pub(crate) fn empty_root() -> Opaque {
        Opaque::new(0)
    }
}

/// Between pages, no latch held.
pub(crate) fn interrupts() -> IndexResult<()> {
    runtime::check_interrupts().map_err(IndexError::Interrupted)
}
