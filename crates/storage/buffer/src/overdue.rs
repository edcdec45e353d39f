//! Pages that a crash left behind the log: they are brought up to date when they are brought in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Oid, RelFile};
use page::PageBytes;
use parking_lot::RwLock;

use crate::pool::BufferError;
use crate::tag::Tag;

/// What the log still has for pages that are not in the pool. The engine's recovery implements it.
pub trait Overdue: Send + Sync {
    /// Fills a page; `read` brings what its file has. Tells whether it differs from that. Nobody else fills or sees the page meanwhile, nor at
    /// all if this fails.
    fn fill(
        &self,
        tag: Tag,
        page: &mut PageBytes,
        read: &mut dyn FnMut(&mut PageBytes) -> Result<(), BufferError>,
    ) -> Result<bool, BufferError>;

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
    /// All pages of a database.
    Database(Oid),
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
