//! How the pages of an open index are reached, by every method in the same way.

use base::{BlockNo, Fork, PAGE_SIZE};
use buffer::{BufferPool, ExclusivePage, PageChange, Persistence, Pin, SharedPage, Tag, WalAction};
use page::PageBytes;

use crate::bytes::Check;
use crate::{Access, IndexAccessMethod, IndexError, IndexResult};

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

    /// Fails with `what` is wrong with a page unless something holds of it.
    ///
    /// # Errors
    /// That error.
    #[inline]
    fn ensure(&self, block: BlockNo, holds: bool, what: &'static str) -> IndexResult<()> {
        if holds { Ok(()) } else { Err(self.corrupt(block, what)) }
    }

    /// A copy of a page, for callers that read it for long. Checks for interrupts first.
    ///
    /// # Errors
    /// It cannot be read; the statement was interrupted.
    fn copy(&self, pool: &BufferPool, block: BlockNo) -> IndexResult<Box<PageBytes>> {
        interrupts()?;
        let mut copy: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
        copy.copy_from_slice(&self.shared(pool, block)?[..]);
        Ok(copy)
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

/// Makes an empty index of some `pages` in the main fork, which must be empty; `fill` writes each page. The initial fork of an unlogged index gets the same pages.
///
/// # Errors
/// The fork is not empty; there is no room.
pub fn create_pages<M: IndexAccessMethod>(
    access: &Access<'_>,
    rel: &M,
    kind: u8,
    pages: u32,
    fill: impl Fn(BlockNo, &mut PageBytes) -> Check<()>,
) -> IndexResult<()> {
    let persistence = rel.desc().persistence;
    let initial = (persistence == Persistence::Unlogged).then_some((Fork::Init, Persistence::Permanent));
    for (fork, persistence) in std::iter::once((Fork::Main, persistence)).chain(initial) {
        access.pool.admit(persistence)?;
        for block in (0..pages).map(BlockNo) {
            let mut page = access.pool.extend(rel.desc().file, fork, persistence)?;
            rel.ensure(page.tag().block, page.tag().block == block, "index to be made is not empty")?;
            rel.check(block, fill(block, &mut page))?;
            log_page::<M>(access, persistence, kind, &mut page);
        }
    }
    Ok(())
}

/// Logs a page that a build has filled, as a record of this `kind` with its image.
pub fn log_page<M: IndexAccessMethod>(
    access: &Access<'_>,
    persistence: Persistence,
    kind: u8,
    page: &mut Exclusive,
) {
    let mut action = WalAction::for_relation(access.pool, persistence, M::MANAGER.id, kind, access.xid);
    action.page(page, PageChange { force_image: true, ..PageChange::default() });
    action.commit();
}

/// Between pages, with no latch held: whether the statement is to end.
///
/// # Errors
/// It is.
pub fn interrupts() -> IndexResult<()> {
    runtime::check_interrupts().map_err(IndexError::Interrupted)
}
