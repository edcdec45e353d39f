//! A page and its list.

use std::sync::Arc;

use base::{Fork, Lsn};
use buffer::{BufferError, Gone, Overdue, Tag, UpToDate};
use page::PageBytes;
use wal::RecordRef;

use super::Recovery;
use super::lists::{List, Step};
use crate::managers::manager;
use crate::xlog::{self, FileChange};

/// The index of a step that is no block reference: the heap was cut, and this is the last page of its visibility map.
pub(super) const CUT: u8 = u8::MAX;

/// How many steps ahead a record is fetched into the processor's cache.
const AHEAD: usize = 3;

impl Overdue for Recovery {
    fn fill(
        &self,
        tag: Tag,
        page: &mut PageBytes,
        read: &mut dyn FnMut(&mut PageBytes) -> Result<(), BufferError>,
    ) -> Result<UpToDate, BufferError> {
        let Some(list) = self.lists.get(tag) else {
            read(page)?;
            // Not published yet, perhaps.
            return Ok(UpToDate { changed: false, more: self.lists.has(tag) });
        };
        if list.fresh {
            page.fill(0);
        } else {
            read(page)?;
            self.check_lsn(tag, page)?;
        }
        let changed = self.apply(tag, page, &list)?;
        base::stop_point!("recovery-page");
        Ok(UpToDate { changed, more: self.lists.done(tag, list.end()) })
    }

    fn catch_up(&self, tag: Tag, page: &mut PageBytes) -> Result<UpToDate, BufferError> {
        let Some(list) = self.lists.get(tag) else {
            return Ok(UpToDate { changed: false, more: self.lists.has(tag) });
        };
        let changed = self.apply(tag, page, &list)?;
        Ok(UpToDate { changed, more: self.lists.done(tag, list.end()) })
    }

    fn forget(&self, gone: Gone<'_>) {
        self.lists.forget(gone);
        self.workers.pass_by();
    }
}

impl Recovery {
    /// A page is written when the log is on disk up to its LSN, and nobody has changed one that has a list since the crash: one that is ahead of
    /// the log shows that it has a hole.
    fn check_lsn(&self, tag: Tag, page: &PageBytes) -> Result<(), BufferError> {
        let (lsn, end) = (page::lsn(page), *self.end.read());
        let Some(end) = end.filter(|end| lsn > *end) else { return Ok(()) };
        let Tag { rel, fork, block } = tag;
        let reason = format!(
            "WAL ends at {end}, before the LSN {lsn} of block {block} of relation \"{rel}{}\": it has a hole there",
            fork.suffix()
        );
        Err(BufferError::Redo { lsn: end, reason })
    }

    /// Does all steps of a list; whether any was wanting.
    fn apply(&self, tag: Tag, page: &mut PageBytes, list: &List) -> Result<bool, BufferError> {
        let log = Arc::clone(&self.log.read());
        let failed = |lsn, why: String| {
            let Tag { rel, fork, block } = tag;
            let reason = format!("{why}, in block {block} of relation \"{rel}{}\"", fork.suffix());
            BufferError::Redo { lsn, reason }
        };
        let mut scratch = Vec::new();
        let (mut changed, mut gaps, mut last) = (list.fresh, false, Lsn::INVALID);
        for (i, Step { at, index }) in list.steps.iter().enumerate() {
            // Records of a page lie far apart.
            if let Some(later) = list.steps.get(i + AHEAD) {
                log.prefetch(later.at);
            }
            let record = log.record(*at, &mut scratch);
            let record = record.map_err(|error| failed(Lsn::INVALID, error.to_string()))?;
            last = record.lsn;
            if redo(page, &record, *index).map_err(|why| failed(last, why))? {
                changed = true;
                gaps |= tag.fork == Fork::Main && heap::redo::leaves_gaps(&record);
            }
        }
        if gaps {
            heap::redo::close_gaps(page).map_err(|error| failed(last, error.to_string()))?;
        }
        Ok(changed)
    }
}

/// What a record says about one page; whether the page lacked it.
fn redo(page: &mut PageBytes, record: &RecordRef<'_>, index: u8) -> Result<bool, String> {
    if index == CUT {
        return cut(page, record);
    }
    let index = usize::from(index);
    buffer::redo_block(page, record, index, |page| match manager(record.rmgr).redo_block {
        Some(redo) => redo(page, record, index),
        None => Err(format!("record of {} has no image of its page", record.rmgr.name())),
    })
}

/// The last page of a map loses the bits of heap pages that went.
fn cut(page: &mut PageBytes, record: &RecordRef<'_>) -> Result<bool, String> {
    let Some(FileChange::Truncate(_, pages)) = xlog::as_file_change(record) else {
        return Err("malformed file record".into());
    };
    if !buffer::needs(page, record) {
        return Ok(false);
    }
    heap::vm::clear_from(page, pages);
    page::set_lsn(page, record.end);
    Ok(true)
}

/// The map page that [`CUT`] is about, when a heap was cut to so many pages.
pub(super) fn cut_page(rel: base::RelFile, pages: u32) -> Tag {
    Tag { rel, fork: Fork::Vm, block: heap::vm::pages_of(pages).0 }
}
