//! Scans: the pages of the ranges whose summaries do not tell that nothing there satisfies the conditions, and of those that have none.
//!
//! A scan goes through the ranges in order. It copies a page of summaries as a whole and looks at the copy as long as the next ranges are there: rows that are entered meanwhile are none that the
//! statement sees.

use std::sync::Arc;

use base::{BlockNo, PAGE_SIZE};
use index::{
    Access, BitmapSink, Facts, Finds, IndexResult, IndexScan, Pages, ScanKey, ScanKeys, ScanOp, TreeQuery,
    interrupts,
};
use page::PageBytes;
use runtime::usage::used_often;
use tuple::Datum;
use txn::KeyRange;

use crate::format::{Place, RANGES, Summary, place_at, range_of};
use crate::method::FACTS;
use crate::rel::{BrinRel, Located};

/// A scan of an index.
#[derive(Debug)]
pub struct Scan {
    rel: Arc<BrinRel>,
    keys: Vec<ScanKey>,
    searches: u64,
}

/// Whether rows that a summary tells of may satisfy all conditions.
pub(crate) fn satisfies(rel: &BrinRel, keys: &[ScanKey], summary: &Summary) -> bool {
    keys.iter().all(|key| {
        let (Some(column), Some(class)) = (summary.columns.get(key.column), rel.classes().get(key.column))
        else {
            return true;
        };
        match &key.op {
            ScanOp::IsNull => column.has_null,
            ScanOp::IsNotNull => column.values.is_some(),
            ScanOp::Operator { strategy, operand, value } if !value.is_null() => {
                let query = TreeQuery { strategy: *strategy, operand: *operand, value };
                column.values.as_ref().is_some_and(|values| class.consistent(values, query))
            }
            _ => false,
        }
    })
}

/// The page of summaries that was copied last.
struct Copied {
    block: BlockNo,
    page: Box<PageBytes>,
}

impl Scan {
    pub(crate) fn new(rel: Arc<BrinRel>, keys: ScanKeys) -> Scan {
        Scan { rel, keys: keys.keys, searches: 0 }
    }

    /// The summary at a place, if it is there.
    fn summary_at(
        &self,
        access: &Access<'_>,
        range: u32,
        place: Place,
        copied: &mut Option<Copied>,
    ) -> IndexResult<Option<Summary>> {
        let rel = &self.rel;
        if copied.as_ref().is_none_or(|copied| copied.block != place.block) {
            let mut page: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
            page.copy_from_slice(&rel.shared(access.pool, place.block)?[..]);
            *copied = Some(Copied { block: place.block, page });
        }
        let item = copied.as_ref().and_then(|copied| page::item(&copied.page, place.offset));
        let located = match item.filter(|item| range_of(item) == range) {
            Some(item) => Some(Located { place, bytes: item.to_vec() }),
            // It was moved since.
            None => rel.read(access, range)?,
        };
        located.map(|located| rel.parse(&located)).transpose()
    }
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &FACTS
    }

    fn rescan(&mut self, _access: &Access<'_>, keys: ScanKeys) {
        self.keys = keys.keys;
    }

    /// The index has no TIDs.
    fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        self.searches += 1;
        used_often(|c| &c.index_searches);
        let per_range = self.rel.pages_of_range(access)?;
        let pages = sink.table_pages()?;
        let ranges = pages.div_ceil(per_range);
        let mut copied = None;
        let mut places: Vec<Place> = Vec::new();
        for range in 0..ranges {
            if range.is_multiple_of(RANGES) {
                let map = self.rel.map_shared(access, range / RANGES)?;
                places.clear();
                if let Some(map) = map {
                    places.extend((0..RANGES).map(|slot| place_at(&map, slot)));
                }
            }
            interrupts()?;
            let place = places.get((range % RANGES) as usize).copied().unwrap_or_default();
            let summary = match place.is_none() {
                true => None,
                false => self.summary_at(access, range, place, &mut copied)?,
            };
            let wanted = match &summary {
                Some(summary) if !summary.placeholder => satisfies(&self.rel, &self.keys, summary),
                _ => true,
            };
            if wanted {
                let first = range * per_range;
                sink.pages(BlockNo(first), per_range.min(pages - first))?;
            }
        }
        Ok(())
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        index::conditions(&self.rel, self.keys.clone())
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }
}

impl Finds for BrinRel {
    fn might_find(&self, keys: &[ScanKey], values: &[Datum]) -> bool {
        let mut summary = Summary::empty(0, self.classes().len());
        crate::summarize::add_row(self, &mut summary, values);
        satisfies(self, keys, &summary)
    }
}
