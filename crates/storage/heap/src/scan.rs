//! Sequential scans.

use std::ops::Range;
use std::sync::Arc;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel, View};
use crate::row::TupleRef;

/// A scan of a table's pages in order.
pub struct HeapScan {
    #[allow(dead_code)]
    rel: Arc<HeapRel>,
}

impl HeapScan {
    /// A scan that has not started, over all pages there are now or those of `blocks`.
    pub fn new(access: &Access<'_>, rel: Arc<HeapRel>, blocks: Option<Range<u32>>) -> HeapResult<HeapScan> {
        let _ = (access, blocks);
        Ok(HeapScan { rel })
    }

    /// Starts again from the first page; pages added meanwhile are included if the scan is of all pages.
    pub fn rescan(&mut self, access: &Access<'_>) -> HeapResult<()> {
        let _ = access;
        todo!()
    }

    /// The next visible row. All rows of a page are judged at once: a scan sees a page as it was when it came there.
    pub fn next(&mut self, access: &Access<'_>, view: &View<'_>) -> HeapResult<Option<TupleRef<'_>>> {
        let _ = (access, view);
        todo!()
    }
}
