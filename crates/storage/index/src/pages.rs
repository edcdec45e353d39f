//! How the pages of an open index are reached, by every method in the same way.

use base::{BlockNo, Fork};
use buffer::{BufferPool, ExclusivePage, PageChange, Pin, SharedPage, Tag};

use crate::bytes::Check;
use crate::{IndexAccessMethod, IndexError, IndexResult};

/// A page latched exclusively; the guard keeps the pin.
pub type Exclusive = ExclusivePage<'static>;
/// A page latched shared; the guard keeps the pin.
pub type Shared = SharedPage<'static>;

/// Of a page that the record builds from nothing.
pub const INIT: PageChange =
    PageChange { will_init: true, force_image: false, keep_data: false, no_image: false };

/// The pages of an open index, all of its main fork.
pub trait Pages {
    /// Which page that is.
    fn tag(&self, block: BlockNo) -> Tag;

    /// What a page that is damaged is answered with.
    fn corrupt(&self, block: BlockNo, what: &'static str) -> IndexError;

    /// Reads a page, and keeps it in memory.
    ///
    /// # Errors
    /// It cannot be read.
    #[inline]
    fn pin(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Pin> {
        Ok(pool.read(self.tag(block))?)
    }

    /// Reads a page and waits for its latch.
    ///
    /// # Errors
    /// It cannot be read.
    #[inline]
    fn shared(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Shared> {
        Ok(self.pin(pool, block)?.into_shared())
    }

    /// As [`shared`](Pages::shared), to change it.
    ///
    /// # Errors
    /// It cannot be read.
    #[inline]
    fn exclusive(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Exclusive> {
        Ok(self.pin(pool, block)?.into_exclusive())
    }

    /// Names the page in an error about its bytes.
    ///
    /// # Errors
    /// That error.
    #[inline]
    fn check<T>(&self, block: BlockNo, result: Check<T>) -> IndexResult<T> {
        result.map_err(|what| self.corrupt(block, what))
    }
}

impl<M: IndexAccessMethod> Pages for M {
    #[inline]
    fn tag(&self, block: BlockNo) -> Tag {
        Tag { rel: self.desc().file, fork: Fork::Main, block }
    }

    fn corrupt(&self, block: BlockNo, what: &'static str) -> IndexError {
        IndexError::Corrupt { rel: self.desc().file, block, what }
    }
}

/// Between pages, with no latch held: whether the statement is to end.
///
/// # Errors
/// It is.
pub fn interrupts() -> IndexResult<()> {
    runtime::check_interrupts().map_err(IndexError::Interrupted)
}
