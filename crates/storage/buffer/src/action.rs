//! The one recipe for a logged change, and its redo side.

use base::{Lsn, Xid};
use wal::{Record, Rmgr};

use crate::pin::ExclusivePage;
use crate::pool::{BufferError, BufferPool, Persistence};

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
/// Recipe: latch all pages, check everything that can fail, change the bytes, then build and [`commit`](Self::commit).
/// Nothing may fail or return between the first change and `commit`.
pub struct WalAction<'a> {
    _pool: &'a BufferPool,
}

impl<'a> WalAction<'a> {
    /// A logged action.
    pub fn new(_pool: &'a BufferPool, _rmgr: Rmgr, _info: u8, _xid: Xid) -> WalAction<'a> {
        todo!()
    }
    /// The action of a relation with this persistence: anything but permanent only marks pages dirty.
    pub fn for_relation(
        _pool: &'a BufferPool,
        _persistence: Persistence,
        _rmgr: Rmgr,
        _info: u8,
        _xid: Xid,
    ) -> WalAction<'a> {
        todo!()
    }
    /// Adds a changed page; returns its index in the record.
    pub fn page<'p: 'a>(&mut self, _page: &'a mut ExclusivePage<'p>, _change: PageChange) -> usize {
        todo!()
    }
    /// Appends to page `i`'s data.
    pub fn page_data(&mut self, _i: usize, _bytes: &[u8]) -> &mut Self {
        todo!()
    }
    /// Appends to the main data.
    pub fn data(&mut self, _bytes: &[u8]) -> &mut Self {
        todo!()
    }
    /// Inserts the record, stamps and dirties the pages. Returns the record's end (0 if not logged).
    pub fn commit(self) -> Lsn {
        todo!()
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

/// The page that block reference `index` of `record` names, latched, and what to do with it.
pub fn redo_page(_pool: &BufferPool, _record: &Record, _index: usize) -> Result<RedoPage, BufferError> {
    todo!()
}

/// The page of a reference with `will_init`: always to be built from zero.
pub fn redo_init_page(_pool: &BufferPool, _record: &Record, _index: usize) -> Result<RedoPage, BufferError> {
    todo!()
}
