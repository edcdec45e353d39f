//! Scans: places still to be visited on a stack, or in the order of their distances.
//!
//! A scan holds one latch at a time. With each place goes the part of the space that it stands for. All places of a page that are known together are visited together; what their entries give is
//! handed out afterwards, without the latch. `rest` stands for the same part as what it is behind, so it is visited too.
//!
//! Who wants no TID to be given away meanwhile keeps pages pinned until all of their entries are passed: VACUUM waits for that.

use std::rc::Rc;
use std::sync::Arc;

use base::Tid;
use buffer::Pin;
use index::{
    Access, BitmapSink, Distances, Facts, Finds, IndexResult, IndexScan, Match, NULL_DISTANCE, Nearest,
    NearestQueue, Pages, ScanKey, ScanKeys, ScanOp, TreeQuery, Wants, distance, interrupts,
};
use page::PageBytes;
use runtime::usage::used_often;
use tuple::space::Space;
use tuple::{Datum, RowLayout};
use txn::KeyRange;

use crate::format::{Bucket, Entry, Item, NULLS, Place, ROOT};
use crate::rel::SpgistRel;

/// A place to visit.
#[derive(Clone, Debug)]
struct Visit {
    place: Place,
    /// What it stands for; none: of entries whose key is NULL.
    space: Option<Rc<Space>>,
}

/// An entry that satisfies the conditions as far as the index can tell.
#[derive(Debug)]
struct Found {
    tid: Tid,
    recheck: bool,
    /// Columns, if they are wanted.
    values: Option<Vec<Datum>>,
    /// Keeps VACUUM away.
    _pin: Option<Rc<Pin>>,
}

/// A scan of an index.
#[derive(Debug)]
pub struct Scan {
    rel: Arc<SpgistRel>,
    wants: Wants,
    keys: Vec<ScanKey>,
    orders: Vec<ScanKey>,
    started: bool,
    /// Places to visit of a scan without order, and the entries of the last page, from the last to the first.
    stack: Vec<Visit>,
    found: Vec<Found>,
    queue: NearestQueue<Visit, Found>,
    current: Option<Found>,
    distances: Vec<f64>,
    searches: u64,
}

impl Scan {
    pub(crate) fn new(rel: Arc<SpgistRel>, keys: ScanKeys, wants: Wants) -> Scan {
        Scan {
            rel,
            wants,
            keys: keys.keys,
            orders: Vec::new(),
            started: false,
            stack: Vec::new(),
            found: Vec::new(),
            queue: NearestQueue::default(),
            current: None,
            distances: Vec::new(),
            searches: 0,
        }
    }

    fn restart(&mut self) {
        self.started = false;
        self.stack.clear();
        self.found.clear();
        self.queue.clear();
        self.current = None;
    }

    fn push(&mut self, visit: Visit, distances: Distances) {
        if self.orders.is_empty() {
            self.stack.push(visit);
        } else {
            self.queue.push(distances, Nearest::Place(visit));
        }
    }

    fn start(&mut self) {
        self.started = true;
        self.searches += 1;
        used_often(|c| &c.index_searches);
        let never = |key: &ScanKey| matches!(&key.op, ScanOp::Operator { value, .. } if value.is_null());
        if self.keys.iter().any(never) {
            return;
        }
        if self.keys.iter().all(|key| matches!(key.op, ScanOp::IsNull)) {
            let nulls = Visit { place: NULLS, space: None };
            self.push(nulls, self.no_distances());
        }
        if !self.keys.iter().any(|key| matches!(key.op, ScanOp::IsNull)) {
            let root = Visit { place: ROOT, space: Some(Rc::new(self.rel.class().whole())) };
            let least = Distances::of(&self.orders, |_| f64::NEG_INFINITY);
            self.push(root, least);
        }
    }

    /// Visits a place, and those on its page that it leads to.
    fn visit(&mut self, access: &Access<'_>, first: Visit, distances: &Distances) -> IndexResult<()> {
        interrupts()?;
        let rel = self.rel.clone();
        let block = first.place.block;
        let page = rel.shared(access.pool, block)?;
        let pin = self.wants.pin.then(|| Rc::new(page.pin()));
        if !self.orders.is_empty() {
            return self.read(&page, first, distances, &pin);
        }
        // A page has fewer items than this; damaged links may go round.
        let mut left = 4 * page::max_offset(&page) as u32 + 4;
        let mut here = vec![first];
        while let Some(visit) = here.pop() {
            left -= 1;
            rel.ensure(block, left > 0, "links go round")?;
            let mut at = self.stack.len();
            self.read(&page, visit, distances, &pin)?;
            while at < self.stack.len() {
                match self.stack[at].place.block == block {
                    true => here.push(self.stack.swap_remove(at)),
                    false => at += 1,
                }
            }
        }
        self.found.reverse();
        Ok(())
    }

    /// Reads what is at a place.
    fn read(
        &mut self,
        page: &PageBytes,
        visit: Visit,
        distances: &Distances,
        pin: &Option<Rc<Pin>>,
    ) -> IndexResult<()> {
        let rel = self.rel.clone();
        let block = visit.place.block;
        let rest = match rel.item(visit.place, page)? {
            Item::Redirect(to, _) => to,
            Item::Bucket(bucket) => {
                self.read_bucket(&rel, &visit, &bucket, pin)?;
                bucket.rest()
            }
            Item::Inner(inner) => {
                let space = visit.space.as_deref();
                let Some(space) = space else {
                    return Err(rel.corrupt(block, "entries without key are divided"));
                };
                for (node, link) in inner.links().enumerate() {
                    let Some(place) = link.known() else { continue };
                    let part = rel.class().part(inner.branch(), node, space);
                    if may_meet(&rel, &self.keys, &part) {
                        let distances = self.least_distances(&rel, &part);
                        self.push(Visit { place, space: Some(Rc::new(part)) }, distances);
                    }
                }
                inner.rest()
            }
        };
        if let Some(place) = rest.known() {
            self.push(Visit { place, ..visit }, distances.clone());
        }
        Ok(())
    }

    fn read_bucket(
        &mut self,
        rel: &SpgistRel,
        visit: &Visit,
        bucket: &Bucket<'_>,
        pin: &Option<Rc<Pin>>,
    ) -> IndexResult<()> {
        let (block, layout) = (visit.place.block, &rel.desc.layout);
        for entry in bucket.entries() {
            let entry = rel.check(block, entry)?;
            let Some(space) = visit.space.as_deref() else {
                let row = rel.check(block, self.row(&entry, layout, || Datum::Null))?;
                self.give(&entry, row, Match::Yes, self.no_distances(), pin);
                continue;
            };
            let leaf = rel.check(block, entry.leaf(layout))?;
            let matched = satisfies(rel, &self.keys, space, &leaf);
            if matched == Match::No {
                continue;
            }
            let (distances, inexact) = self.distances_of(rel, space, &leaf);
            let class = rel.class();
            let value = || if class.returns() { class.value(space, &leaf) } else { Datum::Null };
            let row = rel.check(block, self.row(&entry, layout, value))?;
            let matched = if inexact { Match::Maybe } else { matched };
            self.give(&entry, row, matched, distances, pin);
        }
        Ok(())
    }

    /// The row's columns as far as the index has them, if they are wanted: its key, and what is included.
    fn row(
        &self,
        entry: &Entry<'_>,
        layout: &RowLayout,
        key: impl FnOnce() -> Datum,
    ) -> index::bytes::Check<Option<Vec<Datum>>> {
        if !self.wants.values {
            return Ok(None);
        }
        if layout.len() == 1 {
            return Ok(Some(vec![key()]));
        }
        let mut row = entry.decode(layout, layout.len())?;
        row[0] = key();
        Ok(Some(row))
    }

    fn give(
        &mut self,
        entry: &Entry<'_>,
        values: Option<Vec<Datum>>,
        matched: Match,
        distances: Distances,
        pin: &Option<Rc<Pin>>,
    ) {
        let recheck = matched == Match::Maybe;
        let found = Found { tid: entry.tid(), recheck, values, _pin: pin.clone() };
        if self.orders.is_empty() {
            self.found.push(found);
        } else {
            self.queue.push(distances, Nearest::Entry(found));
        }
    }

    /// Those of a key that is NULL.
    fn no_distances(&self) -> Distances {
        Distances::of(&self.orders, |_| NULL_DISTANCE)
    }

    fn least_distances(&self, rel: &SpgistRel, space: &Space) -> Distances {
        Distances::of(&self.orders, |order| match query_of(order) {
            Some(query) => distance(rel.class().least_distance(space, query)),
            None => NULL_DISTANCE,
        })
    }

    /// Distances of a leaf, and whether those of a row may be greater.
    fn distances_of(&self, rel: &SpgistRel, space: &Space, leaf: &Datum) -> (Distances, bool) {
        let mut inexact = false;
        let distances = Distances::of(&self.orders, |order| {
            let Some(query) = query_of(order) else { return NULL_DISTANCE };
            let (value, more) = rel.class().distance(space, leaf, query);
            inexact |= more;
            distance(value)
        });
        (distances, inexact)
    }

    fn next_in_order(&mut self, access: &Access<'_>) -> IndexResult<Option<Found>> {
        while let Some((distances, next)) = self.queue.pop() {
            match next {
                Nearest::Place(visit) => self.visit(access, visit, &distances)?,
                Nearest::Entry(found) => {
                    distances.copy_to(&mut self.distances);
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    fn next_found(&mut self, access: &Access<'_>) -> IndexResult<Option<Found>> {
        loop {
            if let Some(found) = self.found.pop() {
                return Ok(Some(found));
            }
            let Some(visit) = self.stack.pop() else { return Ok(None) };
            self.visit(access, visit, &Distances::default())?;
        }
    }
}

/// What a condition asks a class; nothing of one that compares with NULL.
fn query_of(key: &ScanKey) -> Option<TreeQuery<'_>> {
    match &key.op {
        ScanOp::Operator { strategy, operand, value } if !value.is_null() => {
            Some(TreeQuery { strategy: *strategy, operand: *operand, value })
        }
        _ => None,
    }
}

/// Whether anything in a space may satisfy all conditions.
fn may_meet(rel: &SpgistRel, keys: &[ScanKey], space: &Space) -> bool {
    keys.iter().filter_map(query_of).all(|query| rel.class().may_meet(space, query))
}

/// Whether a leaf satisfies all conditions.
fn satisfies(rel: &SpgistRel, keys: &[ScanKey], space: &Space, leaf: &Datum) -> Match {
    let mut all = Match::Yes;
    for key in keys {
        let one = match (&key.op, query_of(key)) {
            (ScanOp::IsNotNull, _) => Match::Yes,
            (_, Some(query)) => rel.class().meets(space, leaf, query),
            _ => Match::No,
        };
        match one {
            Match::No => return Match::No,
            Match::Maybe => all = Match::Maybe,
            Match::Yes => {}
        }
    }
    all
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &crate::method::FACTS
    }

    fn rescan(&mut self, _access: &Access<'_>, keys: ScanKeys) {
        self.restart();
        self.keys = keys.keys;
        self.orders.clear();
    }

    fn order_by(&mut self, distances: Vec<ScanKey>) -> IndexResult<()> {
        self.restart();
        self.orders = distances;
        Ok(())
    }

    fn distances(&self) -> Option<&[f64]> {
        (!self.orders.is_empty()).then_some(&self.distances)
    }

    fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        if !self.started {
            self.start();
        }
        self.current = None;
        self.current =
            if self.orders.is_empty() { self.next_found(access)? } else { self.next_in_order(access)? };
        Ok(self.current.as_ref().map(|found| found.tid))
    }

    fn recheck(&self) -> bool {
        self.current.as_ref().is_some_and(|found| found.recheck)
    }

    fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        while let Some(tid) = self.next(access)? {
            sink.tid(tid, self.recheck())?;
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        !self.started || !self.found.is_empty() || !self.stack.is_empty() || !self.queue.is_empty()
    }

    fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        if let Some(values) = self.current.as_ref().and_then(|found| found.values.as_ref()) {
            out.extend_from_slice(values);
        }
        Ok(())
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        index::conditions(&self.rel, self.keys.clone())
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }

    fn finish(&mut self, _access: &Access<'_>) {
        self.restart();
    }
}

impl Finds for SpgistRel {
    fn might_find(&self, keys: &[ScanKey], values: &[Datum]) -> bool {
        match values.first() {
            None => true,
            Some(Datum::Null) => keys.iter().all(|key| matches!(key.op, ScanOp::IsNull)),
            Some(value) => {
                let class = self.class();
                satisfies(self, keys, &class.whole(), &class.leaf(value)) != Match::No
            }
        }
    }
}
