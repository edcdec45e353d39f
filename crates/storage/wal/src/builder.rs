//! A record being put together.

use base::{BlockNo, Fork, RelFile, Xid};
use page::PageBytes;

use crate::record::Rmgr;

/// Most block references of a record.
pub const MAX_BLOCKS: usize = 32;

/// How a block reference is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// Redo initialises the page, so no image is needed.
    pub will_init: bool,
    /// Keep the block's data beside an image (logical readers, redo that needs it).
    pub keep_data_with_image: bool,
    /// Log an image whatever the redo pointer.
    pub force_image: bool,
    /// Never log an image (the fork repairs itself, as the free-space map).
    pub no_image: bool,
}

/// A record being put together: main data, block references with their pages and data.
pub struct RecordBuilder<'a> {
    _pages: Vec<&'a PageBytes>,
}

impl<'a> RecordBuilder<'a> {
    /// An empty record. `xid` is 0 outside transactions.
    pub fn new(_rmgr: Rmgr, _info: u8, _xid: Xid) -> RecordBuilder<'a> {
        todo!()
    }
    /// Appends to the main data.
    pub fn data(&mut self, _bytes: &[u8]) -> &mut Self {
        todo!()
    }
    /// Adds a block reference; returns its index. `page` is the page as it is after the change.
    pub fn block(
        &mut self,
        _rel: RelFile,
        _fork: Fork,
        _block: BlockNo,
        _options: BlockOptions,
        _page: &'a PageBytes,
    ) -> usize {
        todo!()
    }
    /// Appends to the data of block reference `i`.
    pub fn block_data(&mut self, _i: usize, _bytes: &[u8]) -> &mut Self {
        todo!()
    }
}
