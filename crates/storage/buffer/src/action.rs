//! The one recipe for a logged change, and its redo side.

use base::{Lsn, Xid};
use page::PageBytes;
use smallvec::SmallVec;
use smgr::SmgrError;
use wal::{BlockOptions, Record, RecordBuilder, RecordRef, Rmgr};

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

    /// Makes `bytes` page `i`'s data, which has none yet.
    pub fn take_page_data(&mut self, i: usize, bytes: Vec<u8>) -> &mut Self {
        if self.logged {
            self.record.take_block_data(i, bytes);
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

/// Brings a page to the end of `record`, whose block reference `index` it is, unless it has the change already; tells whether it was changed.
/// `change` does what the record says; an error says why that cannot be, and leaves the page useless.
///
/// An image replaces whatever is there, and a page that the record initialises begins with zeros: bytes that are there may be torn. A page that
/// is new although the record did not expect that stays so: its file was cut and grew again, or it never got to the disk because its
/// relation is dropped later.
pub fn redo_block(
    page: &mut PageBytes,
    record: &RecordRef<'_>,
    index: usize,
    change: impl FnOnce(&mut PageBytes) -> Result<(), String>,
) -> Result<bool, String> {
    let Some(block) = record.block(index) else { return Ok(false) };
    if let Some(image) = block.image {
        image.restore(page).map_err(|invalid| invalid.to_string())?;
        if !page::is_new(page) {
            page::set_lsn(page, record.end);
        }
        return Ok(true);
    }
    if block.will_init {
        page.fill(0);
    } else if !needs(page, record) {
        return Ok(false);
    }
    change(page)?;
    page::set_lsn(page, record.end);
    Ok(true)
}

/// Whether a page has something of a record yet to come.
pub fn needs(page: &PageBytes, record: &RecordRef<'_>) -> bool {
    !page::is_new(page) && page::lsn(page) < record.end
}

/// Replays one record on pages of the pool, at once: for tests of those who write records. Recovery goes by the page.
pub fn replay(
    pool: &BufferPool,
    record: &Record,
    change: impl Fn(&mut PageBytes, &RecordRef<'_>, usize) -> Result<(), String>,
) -> Result<(), BufferError> {
    let record = record.borrowed();
    for (index, block) in record.blocks().enumerate() {
        let tag = Tag { rel: block.rel, fork: block.fork, block: block.block };
        let read = match block.image.is_some() || block.will_init {
            true => pool.read_or_zero(tag),
            false => pool.read(tag),
        };
        let pin = match read {
            Err(BufferError::File(SmgrError::MissingFile { .. } | SmgrError::PastEnd { .. })) => continue,
            pin => pin?,
        };
        let mut page = pin.into_exclusive();
        let changed = redo_block(&mut page, &record, index, |page| change(page, &record, index));
        if changed.map_err(|reason| BufferError::Redo { lsn: record.lsn, reason })? {
            page.mark_dirty();
        }
    }
    Ok(())
}
