//! An open index, and how its pages are reached.

use base::{BlockNo, Xid};
use buffer::{PageChange, WalAction};
use index::bytes::Check;
use index::{Access, Exclusive, FreeList, IndexDesc, IndexResult, Pages, Unused};
use page::PageBytes;
use wal::Rmgr;

use crate::format::{DELETED, FREE, Node, ROOT};
use crate::ops;
use crate::redo::Kind;

const DEFAULT_FILLFACTOR: usize = 90;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct GistRel {
    /// The description.
    pub desc: IndexDesc,
    /// Percentage of a page that the build fills.
    pub(crate) fillfactor: usize,
    /// Whether a build loads sorted rows page by page, as it does unless `buffering` is off. Sorted rows need no buffers in the tree.
    pub(crate) bulk: bool,
}

impl GistRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> GistRel {
        let bulk = desc.option("buffering").is_none_or(|value| !value.eq_ignore_ascii_case("off"));
        GistRel { fillfactor: desc.fillfactor(DEFAULT_FILLFACTOR), bulk, desc }
    }

    pub(crate) fn nkeys(&self) -> usize {
        self.desc.nkeys()
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
}

impl FreeList for GistRel {
    const HEAD: BlockNo = ROOT;
    const TAKE: u8 = Kind::TakeFree as u8;
    const PUT: u8 = Kind::PutFree as u8;

    fn first_free(&self, head: &PageBytes) -> IndexResult<BlockNo> {
        Ok(self.node(ROOT, head)?.op.next)
    }

    fn set_first_free(head: &mut PageBytes, first: BlockNo) -> Check<()> {
        ops::set_free(head, first)
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
