//! Bitmaps: the places that indexes name, of one scan, in the order of the table.
//!
//! A bitmap that outgrows `work_mem` names whole pages where it would name several rows of a page.

use std::cell::{Cell, RefCell};

use base::{SqlResult, Tid, Xid};
use counters::{Counted, Scan};
use engine::OpenIndex;
use eval::cx::Cx;
use eval::team::FoundPlaces;
use heap::HeapRel;
use index::{Access as IndexAccess, BitmapSink, IndexError, IndexResult, ScanKeys, Wants};
use plan::Bitmap;

use super::Builder;
use super::counting::measure;
use super::table_scan::{Keys, Names, TableHorizon, check_not_lost};
use super::watching::WatchedKeys;

/// However little memory there is, a bitmap has so many places.
const LEAST_PLACES: usize = 256;

/// A part of a bitmap, and its number among the nodes.
pub(super) struct BitmapNode {
    number: usize,
    kind: BitmapKind,
}

enum BitmapKind {
    Index {
        counted: RefCell<Counted>,
        index: OpenIndex,
        names: Names,
        keys: Keys,
        /// How many places the index has named the last time.
        named: Cell<usize>,
    },
    And(Vec<BitmapNode>),
    Or(Vec<BitmapNode>),
}

impl BitmapNode {
    /// The parts of a bitmap.
    pub(super) fn new(builder: &mut Builder<'_>, bitmap: &Bitmap) -> SqlResult<BitmapNode> {
        let number = builder.count();
        let kind = match bitmap {
            Bitmap::Index { index, conditions, .. } => {
                let open = index.storage()?.clone();
                let names = Names { index: index.name.clone(), table: index.table.name.clone() };
                let keys = Keys::new(builder, index, conditions, false)?;
                let counted = RefCell::new(Counted::new(index.oid));
                BitmapKind::Index { counted, index: open, names, keys, named: Cell::new(0) }
            }
            Bitmap::And(list, _) => {
                BitmapKind::And(list.iter().map(|b| BitmapNode::new(builder, b)).collect::<SqlResult<_>>()?)
            }
            Bitmap::Or(list, _) => {
                BitmapKind::Or(list.iter().map(|b| BitmapNode::new(builder, b)).collect::<SqlResult<_>>()?)
            }
        };
        Ok(BitmapNode { number, kind })
    }

    /// Places in ascending order, each once.
    pub(super) fn collect(&self, heap: &HeapRel, cx: &mut Cx<'_>) -> SqlResult<FoundPlaces> {
        if cx.state.counters.is_none() {
            return self.collect_plain(heap, cx);
        }
        let (found, counters) = measure(cx, self.number, |cx| self.collect_plain(heap, cx));
        if let (Ok(_), Some(counters)) = (&found, counters) {
            counters.loops += 1.0;
            counters.startup = counters.total;
            // As in PostgreSQL, unions and intersections do not count their rows.
            if let BitmapKind::Index { named, .. } = &self.kind {
                counters.rows += named.get() as f64;
            }
        }
        found
    }

    fn collect_plain(&self, heap: &HeapRel, cx: &mut Cx<'_>) -> SqlResult<FoundPlaces> {
        match &self.kind {
            BitmapKind::Index { counted, index, names, keys, named } => {
                let horizon = TableHorizon::new(cx.env.access.txns, heap.desc.kind);
                let access = IndexAccess {
                    pool: cx.env.access.pool,
                    horizon: &horizon,
                    xid: Xid::INVALID,
                    limits: cx.env.session.index_limits(),
                };
                let mut places = FoundPlaces::default();
                let mut scan = index.scan(ScanKeys::default(), Wants::TIDS);
                let found = keys.start(cx, &access, &mut scan)?;
                // What the conditions' values have read is not the index's.
                let before = runtime::usage::pages();
                if found {
                    WatchedKeys::default().begin(heap, index, &mut scan, cx);
                }
                let (pool, table, most) = (access.pool, heap.desc.file, most_places(cx));
                let mut sink = TidSink { places: &mut places, found: 0, most, pool, table };
                if found {
                    let done = scan.bitmap(&access, &mut sink);
                    done.map_err(|e| e.into_sql(&names.index, &names.table))?;
                }
                named.set(sink.found);
                scan.finish(&access);
                let (scans, returned) = (scan.take_searches() as i64, named.get() as i64);
                let mut done = Scan { scans, returned, ..Scan::default() };
                done.pages_since(before);
                let mut counted = counted.borrow_mut();
                counted.scan = done;
                cx.count_scan(&mut counted);
                check_not_lost(heap, cx)?;
                tidy(&mut places.tids);
                Ok(places)
            }
            BitmapKind::And(list) => {
                let mut result: Option<FoundPlaces> = None;
                for part in list {
                    let found = part.collect(heap, cx)?;
                    result = Some(match result {
                        None => found,
                        Some(old) => FoundPlaces {
                            tids: intersect(&old.tids, &found.tids),
                            recheck: old.recheck || found.recheck,
                        },
                    });
                }
                Ok(result.unwrap_or_default())
            }
            BitmapKind::Or(list) => {
                // An index may know only some of the conditions between two ORs.
                let mut places = FoundPlaces { tids: Vec::new(), recheck: true };
                for part in list {
                    places.tids.append(&mut part.collect(heap, cx)?.tids);
                    if places.tids.len() > most_places(cx) {
                        coarsen(&mut places);
                    }
                }
                tidy(&mut places.tids);
                Ok(places)
            }
        }
    }
}

/// Puts places in order, each once.
fn tidy(tids: &mut Vec<Tid>) {
    if !tids.is_sorted() {
        tids.sort_unstable();
    }
    tids.dedup();
    absorb(tids);
}

/// As many places as `work_mem` holds.
fn most_places(cx: &Cx<'_>) -> usize {
    (cx.env.work_mem / size_of::<Tid>()).max(LEAST_PLACES)
}

/// Makes one place of those on the same page: all of its rows.
fn coarsen(places: &mut FoundPlaces) {
    tidy(&mut places.tids);
    places.tids.dedup_by(|next, kept| {
        let same = next.block == kept.block;
        if same {
            *kept = whole_page(kept.block);
        }
        same
    });
    places.recheck = true;
}

/// Takes what an index finds. Where that is more than memory holds, pages are named instead of rows.
struct TidSink<'a> {
    places: &'a mut FoundPlaces,
    /// How many it has found.
    found: usize,
    /// How many places there may be.
    most: usize,
    pool: &'a buffer::BufferPool,
    table: base::RelFile,
}

/// Stands for all rows of a page.
fn whole_page(block: base::BlockNo) -> Tid {
    Tid::new(block, 0)
}

pub(super) fn is_whole_page(tid: Tid) -> bool {
    tid.offset == 0
}

/// Places that two lists, each in order, have in common.
fn intersect(a: &[Tid], b: &[Tid]) -> Vec<Tid> {
    let has = |list: &[Tid], tid: Tid| {
        list.binary_search(&tid).is_ok() || list.binary_search(&whole_page(tid.block)).is_ok()
    };
    let mut out: Vec<Tid> = a.iter().copied().filter(|tid| has(b, *tid)).collect();
    out.extend(b.iter().copied().filter(|tid| has(a, *tid)));
    out.sort_unstable();
    out.dedup();
    out
}

/// Drops the places on pages all of whose rows are in a list anyway.
fn absorb(tids: &mut Vec<Tid>) {
    let mut whole = None;
    tids.retain(|tid| {
        if is_whole_page(*tid) {
            whole = Some(tid.block);
            return true;
        }
        whole != Some(tid.block)
    });
}

impl BitmapSink for TidSink<'_> {
    fn tid(&mut self, tid: Tid, recheck: bool) -> IndexResult<()> {
        runtime::check_interrupts().map_err(IndexError::Interrupted)?;
        self.places.tids.push(tid);
        self.places.recheck |= recheck;
        self.found += 1;
        if self.places.tids.len() > self.most {
            coarsen(self.places);
            // Pages are as few places as can be: the next try waits until there are twice as many.
            self.most = self.most.max(2 * self.places.tids.len());
        }
        Ok(())
    }

    fn pages(&mut self, first: base::BlockNo, count: u32) -> IndexResult<()> {
        self.places.recheck = true;
        self.found += count as usize;
        self.places
            .tids
            .extend((first.0..first.0.saturating_add(count)).map(|block| whole_page(base::BlockNo(block))));
        Ok(())
    }

    fn table_pages(&mut self) -> IndexResult<u32> {
        Ok(self.pool.nblocks(self.table, base::Fork::Main)?)
    }
}
