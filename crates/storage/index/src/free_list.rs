//! The list of free pages that begins at an index's root or meta page, for methods that keep one.
//!
//! # Locks
//! [`put_free`](FreeList::put_free) latches the page before the head: the page may be in use again, latched by somebody who wants the head. [`take_free`](FreeList::take_free) goes the other way, but to a page that
//! is on the list, which nobody holds while he waits for the head.

use base::{BlockNo, Fork, Xid};
use buffer::{PageChange, WalAction};
use page::PageBytes;

use crate::bytes::{Check, Reader};
use crate::pages::{Exclusive, INIT, Pages};
use crate::{Access, IndexAccessMethod, IndexResult};

/// What the list asks of a page.
#[derive(Clone, Copy, Debug)]
pub struct Unused {
    /// It was taken out of use.
    pub deleted: bool,
    /// It is on the list.
    pub free: bool,
    /// Of a deleted page: no scan that ran when this was the next xid may run when it is used again.
    pub safe: Xid,
    /// Of a page on the list: the next one.
    pub next: BlockNo,
}

/// A method with a list of free pages. What it does to a page's bytes is its own; redo calls the same functions.
pub trait FreeList: IndexAccessMethod {
    /// The page where the list begins, which is never on it: as a link it ends the list.
    const HEAD: BlockNo;
    /// Kinds of the records that take the first page off the list and put one on it.
    const TAKE: u8;
    /// See [`TAKE`](FreeList::TAKE).
    const PUT: u8;

    /// Of the head: the first page of the list.
    fn first_free(&self, head: &PageBytes) -> IndexResult<BlockNo>;
    /// On the head: the list begins with `first`.
    fn set_first_free(head: &mut PageBytes, first: BlockNo) -> Check<()>;
    /// What a page that is not new says of its use.
    fn unused(&self, block: BlockNo, page: &PageBytes) -> IndexResult<Unused>;
    /// Puts a deleted (or never used) page on the list, before `next`.
    fn mark_free(page: &mut PageBytes, next: BlockNo) -> Check<()>;
    /// Takes a page off the list.
    fn unmark_free(page: &mut PageBytes) -> Check<()>;
    /// A page for a record that builds it from nothing.
    fn blob(page: &PageBytes) -> Check<Vec<u8>>;
    /// Rewrites a page from what [`blob`](FreeList::blob) made.
    fn restore(page: &mut PageBytes, blob: &[u8]) -> Check<()>;

    /// A page to write on, latched exclusively. Its bytes are to be overwritten entirely. `head_latched`: the caller has the head; the file grows then.
    fn allocate(&self, access: &Access<'_>, head_latched: bool) -> IndexResult<Exclusive> {
        if !head_latched {
            // A glance first: splits do not queue for the head while there is nothing to be had.
            let head = self.shared(access.pool, Self::HEAD)?;
            let any = self.first_free(&head)? != Self::HEAD;
            drop(head);
            if any && let Some(page) = self.take_free(access)? {
                return Ok(page);
            }
        }
        Ok(access.pool.extend(self.desc().file, Fork::Main, self.desc().persistence)?)
    }

    /// Takes the first page off the list. If a crash follows before it is used, the next VACUUM puts it back.
    fn take_free(&self, access: &Access<'_>) -> IndexResult<Option<Exclusive>> {
        let mut head = self.exclusive(access.pool, Self::HEAD)?;
        let block = self.first_free(&head)?;
        if block == Self::HEAD {
            return Ok(None);
        }
        let mut page = self.exclusive(access.pool, block)?;
        let Unused { free, next, .. } = self.unused(block, &page)?;
        if !free {
            return Err(self.corrupt(block, "page on the list of free pages is in use"));
        }
        self.check(block, Self::unmark_free(&mut page))?;
        self.check(Self::HEAD, Self::set_first_free(&mut head, next))?;
        let mut action = action(self, access, Self::TAKE);
        action.data(&next.0.to_le_bytes());
        action.page(&mut page, PageChange::default());
        action.page(&mut head, PageChange::default());
        action.commit();
        Ok(Some(page))
    }

    /// Puts a deleted page that no scan can reach any more, or one that was never used, on the list. `false` if it is neither (any more).
    fn put_free(&self, access: &Access<'_>, block: BlockNo) -> IndexResult<bool> {
        let mut page = self.exclusive(access.pool, block)?;
        if !page::is_new(&page) {
            let unused = self.unused(block, &page)?;
            if !unused.deleted || unused.free || !access.horizon.is_removable(unused.safe) {
                return Ok(false);
            }
        }
        let mut head = self.exclusive(access.pool, Self::HEAD)?;
        let next = self.first_free(&head)?;
        self.check(block, Self::mark_free(&mut page, next))?;
        self.check(Self::HEAD, Self::set_first_free(&mut head, block))?;
        let data = self.check(block, Self::blob(&page))?;
        let mut action = action(self, access, Self::PUT);
        let i = action.page(&mut page, INIT);
        action.page_data(i, &data);
        action.page(&mut head, PageChange::default());
        action.commit();
        Ok(true)
    }

    /// Redo of the two records, for the page that is block reference `index` of `record`.
    fn redo_free(page: &mut PageBytes, record: &wal::RecordRef<'_>, index: usize) -> Check<()> {
        const LACKS: &str = "the record lacks a block";
        match (record.info == Self::TAKE, index) {
            (true, 0) => Self::unmark_free(page),
            (true, 1) => Self::set_first_free(page, Reader(record.data()).block()?),
            (false, 0) => Self::restore(page, record.block(0).ok_or(LACKS)?.data),
            (false, 1) => Self::set_first_free(page, record.block(0).ok_or(LACKS)?.block),
            _ => Err("the record has too many blocks"),
        }
    }
}

fn action<'a, M: IndexAccessMethod>(rel: &M, access: &Access<'a>, kind: u8) -> WalAction<'a> {
    WalAction::for_relation(access.pool, rel.desc().persistence, M::MANAGER.id, kind, access.xid)
}
