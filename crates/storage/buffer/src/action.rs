//! The one recipe for a logged change, and its redo side.

use base::{Lsn, Xid};
use page::PageBytes;
use smallvec::SmallVec;
use smgr::SmgrError;
use wal::{BlockOptions, BlockRef, Record, RecordBuilder, Rmgr};

use crate::pin::ExclusivePage;
use crate::pool::{BufferError, BufferPool, Persistence};
use crate::tag::Tag;

/// How a page takes part in an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageChange {
    /// Redo initialises the page.
    pub will_init: bool,
    /// Always log an image.
    pub force_image: bool,
    /// Keep the page's data beside an image.
    pub keep_data: bool,
    /// Never log an image (a fork that repairs itself).
    pub no_image: bool,
}

/// One logged change of one or more pages.
///
/// Recipe: latch all pages, check everything that can fail, change the bytes, then build the action and
/// [`commit`](Self::commit). Nothing may fail or return between the first change and `commit`.
///
/// Pages with the standard header lose what they keep between `lower` and `upper` when their image is logged (main forks
/// only, see the `wal` crate).
pub struct WalAction<'a> {
    pool: &'a BufferPool,
    logged: bool,
    record: RecordBuilder<'a>,
    pages: SmallVec<[u32; 4]>,
}

impl<'a> WalAction<'a> {
    /// A logged action.
    pub fn new(pool: &'a BufferPool, rmgr: Rmgr, info: u8, xid: Xid) -> WalAction<'a> {
        WalAction::for_relation(pool, Persistence::Permanent, rmgr, info, xid)
    }

    /// The action of a relation with this persistence: anything but permanent only marks pages dirty.
    pub fn for_relation(
        pool: &'a BufferPool,
        persistence: Persistence,
        rmgr: Rmgr,
        info: u8,
        xid: Xid,
    ) -> WalAction<'a> {
        WalAction {
            pool,
            logged: persistence == Persistence::Permanent,
            record: RecordBuilder::new(rmgr, info, xid),
            pages: SmallVec::new(),
        }
    }

    /// Adds a changed page; returns its index in the record. The page is borrowed until the action is over.
    pub fn page(&mut self, page: &'a mut ExclusivePage<'_>, change: PageChange) -> usize {
        let index = page.index();
        self.pages.push(index);
        if !self.logged {
            return self.pages.len() - 1;
        }
        let Tag { rel, fork, block } = page.tag();
        let options = BlockOptions {
            will_init: change.will_init,
            keep_data_with_image: change.keep_data,
            force_image: change.force_image,
            no_image: change.no_image,
        };
        // SAFETY: the guard is borrowed mutably for 'a, so that nobody changes the page before `commit`.
        let bytes: &'a PageBytes = unsafe { &*self.pool.inner().page_ptr(index) };
        self.record.block(rel, fork, block, options, bytes)
    }

    /// Appends to page `i`'s data.
    pub fn page_data(&mut self, i: usize, bytes: &[u8]) -> &mut Self {
        if self.logged {
            self.record.block_data(i, bytes);
        }
        self
    }

    /// Appends to the main data.
    pub fn data(&mut self, bytes: &[u8]) -> &mut Self {
        if self.logged {
            self.record.data(bytes);
        }
        self
    }

    /// Inserts the record, stamps and dirties the pages. Returns the record's end (0 if not logged).
    pub fn commit(self) -> Lsn {
        let WalAction { pool, logged, record, pages } = self;
        // Dirty first: a checkpoint whose redo pointer is behind this record must find the pages dirty. It cannot write them
        // before they have their LSN, as we hold the latches.
        for &index in &pages {
            pool.inner().set_dirty(index);
        }
        if !logged {
            pages.iter().for_each(|&index| pool.inner().frame(index).set_unlogged());
            return Lsn::INVALID;
        }
        let end = pool.wal().insert(&record);
        drop(record);
        for &index in &pages {
            // SAFETY: the guard is borrowed mutably until now, and the record with its references is gone.
            page::set_lsn(unsafe { &mut *pool.inner().page_ptr(index) }, end);
        }
        end
    }
}

/// What redo has to do with a page.
pub enum RedoPage {
    /// Apply the change, then [`ExclusivePage::set_redone`].
    Apply(ExclusivePage<'static>),
    /// The page has the change already.
    Done,
    /// The image was restored; the page is complete and marked dirty.
    Restored(ExclusivePage<'static>),
    /// The page is not there: its relation was cut or dropped later in the log.
    Missing,
}

/// The page that block reference `index` of `record` names, latched, and what to do with it. A reference that the record does
/// not have gives [`RedoPage::Missing`].
pub fn redo_page(pool: &BufferPool, record: &Record, index: usize) -> Result<RedoPage, BufferError> {
    let Some(block) = record.block(index) else { return Ok(RedoPage::Missing) };
    if block.image.is_some() {
        return restore(pool, record, block);
    }
    if block.will_init {
        return redo_init_page(pool, record, index);
    }
    let pin = match pool.read(tag_of(&block)) {
        Err(BufferError::File(SmgrError::MissingFile { .. } | SmgrError::PastEnd { .. })) => {
            return Ok(RedoPage::Missing);
        }
        pin => pin?,
    };
    let page = pin.into_exclusive();
    if page::is_new(&page) {
        // The file was cut and grew again, or the page never got to the disk because the relation is dropped later.
        return Ok(RedoPage::Missing);
    }
    Ok(if page::lsn(&page) >= record.end { RedoPage::Done } else { RedoPage::Apply(page) })
}

/// The page of a reference with `will_init`: always to be built from zero, as bytes that are there may be torn.
pub fn redo_init_page(pool: &BufferPool, record: &Record, index: usize) -> Result<RedoPage, BufferError> {
    let Some(block) = record.block(index) else { return Ok(RedoPage::Missing) };
    if block.image.is_some() {
        return restore(pool, record, block);
    }
    let mut page = pool.read_or_zero(tag_of(&block))?.into_exclusive();
    page.fill(0);
    Ok(RedoPage::Apply(page))
}

fn restore(pool: &BufferPool, record: &Record, block: BlockRef<'_>) -> Result<RedoPage, BufferError> {
    let mut page = pool.read_or_zero(tag_of(&block))?.into_exclusive();
    if let Some(image) = block.image {
        let BlockRef { rel, fork, block, .. } = block;
        image.restore(&mut page).map_err(|_| BufferError::Corrupt { rel, fork, block })?;
    }
    if page::is_new(&page) {
        page.mark_dirty();
    } else {
        page.set_redone(record.end);
    }
    Ok(RedoPage::Restored(page))
}

fn tag_of(block: &BlockRef<'_>) -> Tag {
    Tag { rel: block.rel, fork: block.fork, block: block.block }
}
