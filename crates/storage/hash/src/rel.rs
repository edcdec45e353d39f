//! An open index, and how its pages are reached.

use std::ops::Deref;

use base::BlockNo;
use buffer::{BufferError, Pin, WalAction};
use index::bytes::Check;
use index::{Access, Exclusive, FreeList, IndexDesc, IndexResult, Pages, Shared, Unused};
use page::PageBytes;
use smgr::SmgrError;
use tuple::Datum;
use wal::Rmgr;

use crate::format::{DELETED, FREE, Key, NONE, Node, Opaque, ROOT, next_free, safe_xid};
use crate::hints::Hints;
use crate::ops;
use crate::redo::Kind;

/// A page under one of the two latches.
pub(crate) trait Latched: Deref<Target = PageBytes> {
    /// Waits for the latch.
    fn latch(pin: Pin) -> Self;
    /// Which page.
    fn block(&self) -> BlockNo;
}

impl Latched for Shared {
    #[inline]
    fn latch(pin: Pin) -> Shared {
        pin.into_shared()
    }

    #[inline]
    fn block(&self) -> BlockNo {
        self.tag().block
    }
}

impl Latched for Exclusive {
    #[inline]
    fn latch(pin: Pin) -> Exclusive {
        pin.into_exclusive()
    }

    #[inline]
    fn block(&self) -> BlockNo {
        self.tag().block
    }
}

const DEFAULT_FILLFACTOR: usize = 75;
/// More steps to the right than any search makes: the links form a ring.
const MOST_STEPS: u32 = 1 << 22;
/// Steps to the right after which a search that began at a hint goes through the directory instead.
const MOST_STEPS_FROM_HINT: u32 = 4;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct HashRel {
    /// The description.
    pub desc: IndexDesc,
    /// Percentage of a page that the build fills.
    pub(crate) fillfactor: usize,
    /// Where buckets are, or were.
    pub(crate) hints: Hints,
}

impl HashRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> HashRel {
        HashRel { fillfactor: desc.fillfactor(DEFAULT_FILLFACTOR), hints: Hints::default(), desc }
    }

    /// Hash code of a value that is not NULL.
    #[inline]
    pub(crate) fn code(&self, value: &Datum) -> u32 {
        self.desc.hashes.first().map_or(0, |hash| hash.code(value))
    }

    #[inline]
    pub(crate) fn node<'p>(&self, block: BlockNo, page: &'p PageBytes) -> IndexResult<Node<'p>> {
        let mut node = self.check(block, Node::new(page))?;
        if block == ROOT {
            // The link is that of the list of free pages.
            node.op.next = NONE;
        } else if node.op.next == block {
            // Who follows a link holding this page would wait for himself.
            return Err(self.corrupt(block, "page is its own sibling"));
        }
        Ok(node)
    }

    /// A record about this index.
    pub(crate) fn action<'a>(&self, access: &Access<'a>, kind: Kind) -> WalAction<'a> {
        WalAction::for_relation(access.pool, self.desc.persistence, Rmgr::Hash, kind as u8, access.xid)
    }

    /// The bucket that a key belongs to.
    #[inline]
    pub(crate) fn bucket<L: Latched>(&self, access: &Access<'_>, key: Key) -> IndexResult<L> {
        let hint = self.hints.get(key.code);
        if hint != NONE
            && let Some(page) = self.bucket_at(access, key, hint)?
        {
            return Ok(page);
        }
        let page: L = self.descend(access, key, 0)?;
        if page.block() != ROOT {
            self.hints.set(access, self.desc.file, key.code, page.block());
        }
        Ok(page)
    }

    /// The bucket that a key belongs to, if it is at `hint` or not far to the right. Whatever is there may have become anything meanwhile.
    fn bucket_at<L: Latched>(&self, access: &Access<'_>, key: Key, hint: BlockNo) -> IndexResult<Option<L>> {
        let pin = match access.pool.read(self.tag(hint)) {
            Err(BufferError::File(SmgrError::PastEnd { .. })) => return Ok(None),
            pin => pin?,
        };
        let page = L::latch(pin);
        match Opaque::read(&page) {
            Ok(op) if op.is_bucket() && !op.is(DELETED) && op.low <= key => {}
            _ => return Ok(None),
        }
        let Some(page) = self.step_right(access, page, key, MOST_STEPS_FROM_HINT)? else { return Ok(None) };
        if page.block() != hint {
            let low = self.node(page.block(), &page)?.op.low;
            self.hints.improve(key.code, low.code, page.block());
        }
        Ok(Some(page))
    }

    /// The page on a level of the directory, or the bucket, that a key belongs to. Takes one latch at a time.
    pub(crate) fn descend<L: Latched>(&self, access: &Access<'_>, key: Key, level: u16) -> IndexResult<L> {
        loop {
            let root = self.shared(access.pool, ROOT)?;
            let node = self.node(ROOT, &root)?;
            let mut at = node.op.level;
            if at < level {
                return Err(self.corrupt(ROOT, "directory has too few levels"));
            }
            if at == level {
                drop(root);
                let page = L::latch(self.pin(access.pool, ROOT)?);
                if self.node(ROOT, &page)?.op.level == level {
                    return Ok(page);
                }
                // It was split meanwhile.
                continue;
            }
            let mut child = self.check(ROOT, node.child_of(key))?;
            drop(root);
            at -= 1;
            while at > level {
                let page = self.shared(access.pool, child)?;
                let page = self.move_right(access, page, key)?;
                let (block, node) = (page.tag().block, self.node(page.tag().block, &page)?);
                self.check_level(block, node.op, at)?;
                child = self.check(block, node.child_of(key))?;
                at -= 1;
            }
            let page = L::latch(self.pin(access.pool, child)?);
            let page = self.move_right(access, page, key)?;
            self.check_level(page.block(), self.node(page.block(), &page)?.op, level)?;
            return Ok(page);
        }
    }

    fn check_level(&self, block: BlockNo, op: Opaque, level: u16) -> IndexResult<()> {
        if op.level == level { Ok(()) } else { Err(self.corrupt(block, "level is wrong")) }
    }

    fn move_right<L: Latched>(&self, access: &Access<'_>, page: L, key: Key) -> IndexResult<L> {
        let first = page.block();
        let found = self.step_right(access, page, key, MOST_STEPS)?;
        found.ok_or_else(|| self.corrupt(first, "links to the right form a ring"))
    }

    /// From a page to the one on its right as long as the key lies behind it; none after too many `steps`.
    #[inline]
    fn step_right<L: Latched>(
        &self,
        access: &Access<'_>,
        mut page: L,
        key: Key,
        steps: u32,
    ) -> IndexResult<Option<L>> {
        for _ in 0..=steps {
            let block = page.block();
            let op = self.node(block, &page)?.op;
            if !op.is(DELETED) && (op.next == NONE || key < op.high) {
                return match op.low <= key {
                    true => Ok(Some(page)),
                    false => Err(self.corrupt(block, "page is behind the keys that lead to it")),
                };
            }
            if op.next == NONE {
                return Err(self.corrupt(block, "deleted page has no right sibling"));
            }
            drop(page);
            page = L::latch(self.pin(access.pool, op.next)?);
        }
        Ok(None)
    }
}

impl FreeList for HashRel {
    const HEAD: BlockNo = ROOT;
    const TAKE: u8 = Kind::TakeFree as u8;
    const PUT: u8 = Kind::PutFree as u8;

    fn first_free(&self, head: &PageBytes) -> IndexResult<BlockNo> {
        Ok(self.check(ROOT, Opaque::read(head))?.next)
    }

    fn set_first_free(head: &mut PageBytes, first: BlockNo) -> Check<()> {
        ops::set_next(head, first)
    }

    fn unused(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Unused> {
        let op = self.check(block, Opaque::read(page))?;
        Ok(Unused { deleted: op.is(DELETED), free: op.is(FREE), safe: safe_xid(page), next: next_free(page) })
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
