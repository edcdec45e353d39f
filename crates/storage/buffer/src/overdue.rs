//! Pages that are behind the log, after a crash or on a standby: they are brought up to date when somebody wants them.
//!
//! A page that is not in the pool is brought up to date when it is read from its file ([`Overdue::fill`]). One that is there when the log brings more
//! for it is marked ([`BufferPool::mark_stale`](crate::BufferPool::mark_stale)) and brought up to date, under its exclusive latch, by who pins it
//! next ([`Overdue::catch_up`]).
//!
//! # Invariant
//! Who pins a page sees all that its list had when he asked for the page. Proof: who adds to a list marks the page behind that; both look for the page,
//! and for its list, under mutexes.
//! * The page is not in the pool when it is to be marked: who brings it in looks at the list behind that, for he enters the page before.
//! * It is being read: the mark stays, whatever the reader finds in the list, and the page is not valid when he is done.
//! * It is there: who brings it up to date makes it valid *before* he looks at the list. What comes behind his look marks it again.
//!
//! Who has pinned it before sees at least what was there then. That is all that a pin ever promised: the page could have changed a moment later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Oid, RelFile};
use page::PageBytes;
use parking_lot::RwLock;

use crate::pool::BufferError;
use crate::tag::Tag;

/// How a page was brought up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpToDate {
    /// It differs from what was there.
    pub changed: bool,
    /// Its list has more, which nobody is to see yet.
    pub more: bool,
}

/// What the log still has for pages. The engine's recovery implements it.
pub trait Overdue: Send + Sync {
    /// Fills a page; `read` brings what its file has. Nobody else fills or sees the page meanwhile, nor at all if this fails.
    fn fill(
        &self,
        tag: Tag,
        page: &mut PageBytes,
        read: &mut dyn FnMut(&mut PageBytes) -> Result<(), BufferError>,
    ) -> Result<UpToDate, BufferError>;

    /// Brings a page up to date that is in the pool. The caller has its exclusive latch; if this fails, the page is as it was.
    fn catch_up(&self, tag: Tag, page: &mut PageBytes) -> Result<UpToDate, BufferError>;

    /// Pages are about to be discarded for good. When this returns none of them is being filled on recovery's own account.
    fn forget(&self, gone: Gone<'_>);
}

/// Pages that are discarded.
#[derive(Clone, Copy, Debug)]
pub enum Gone<'a> {
    /// Those of a fork from a block on; of the relation nobody else takes notice.
    From(Tag),
    /// All pages of these relations.
    Relations(&'a [RelFile]),
    /// All pages that a database (the second) has in a tablespace.
    Database(Oid, Oid),
}

/// Where a pool keeps it; looked at when a page is read, not when it is found.
#[derive(Default)]
pub(crate) struct OverdueSlot {
    any: AtomicBool,
    overdue: RwLock<Option<Arc<dyn Overdue>>>,
}

impl OverdueSlot {
    pub fn get(&self) -> Option<Arc<dyn Overdue>> {
        // Acquire: pairs with the Release below. Who still sees one that is done finds nothing in it.
        if self.any.load(Ordering::Acquire) { self.overdue.read().clone() } else { None }
    }

    pub fn set(&self, overdue: Option<Arc<dyn Overdue>>) {
        let any = overdue.is_some();
        *self.overdue.write() = overdue;
        self.any.store(any, Ordering::Release);
    }

    pub fn forget(&self, gone: Gone<'_>) {
        if let Some(overdue) = self.get() {
            overdue.forget(gone);
        }
    }
}
