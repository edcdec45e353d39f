//! Scans: places still to be visited on a stack, or in the order of their distances.
//!
//! A scan holds one latch at a time. With each place goes the part of the space that it stands for. All places of a page that are known together are visited together; what their entries give is
//! handed out afterwards, without the latch, from a copy of their bytes if columns are wanted. `rest` stands for the same part as what it is behind, so it is visited too.
//!
//! Who wants no TID to be given away meanwhile keeps pages pinned until all of their entries are passed: VACUUM waits for that.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, Tid};
use buffer::Pin;
use index::bytes::Check;
use index::{
    Access, BitmapSink, Distances, Facts, Finds, IndexResult, IndexScan, Match, NULL_DISTANCE, Nearest,
    NearestQueue, Pages, ScanKey, ScanKeys, ScanOp, TreeQuery, Wants, distance, interrupts,
};
use page::PageBytes;
use runtime::usage::used_often;
use smallvec::SmallVec;
use tuple::Datum;
use tuple::space::{LeafMatcher, Space};
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

/// What a scan keeps of an entry for who wants its columns.
#[derive(Debug)]
enum Kept {
    Nothing,
    /// Where its bytes are in [`Scan::bytes`].
    Here(Range<usize>),
    /// Its bytes.
    Own(Box<[u8]>),
}

/// An entry that satisfies the conditions as far as the index can tell.
#[derive(Debug)]
struct Found {
    tid: Tid,
    block: BlockNo,
    recheck: bool,
    /// Where it lies, if its columns are wanted.
    space: Option<Rc<Space>>,
    entry: Kept,
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
    /// So many of these, from the last one on, need no check against the conditions.
    exact: usize,
    /// Bytes of the entries of the last page.
    bytes: Vec<u8>,
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
            exact: 0,
            bytes: Vec::new(),
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
        self.exact = 0;
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
        let (rel, keys) = (self.rel.clone(), std::mem::take(&mut self.keys));
        let visited = self.visit_page(access, &Conditions::new(&rel, &keys), first, distances);
        self.keys = keys;
        visited
    }

    fn visit_page(
        &mut self,
        access: &Access<'_>,
        conditions: &Conditions<'_>,
        first: Visit,
        distances: &Distances,
    ) -> IndexResult<()> {
        let (rel, block) = (conditions.rel, first.place.block);
        let page = rel.shared(access.pool, block)?;
        let pin = self.wants.pin.then(|| Rc::new(page.pin()));
        if !self.orders.is_empty() {
            return self.read(conditions, &page, first, distances, &pin);
        }
        self.bytes.clear();
        // A page has fewer items than this; damaged links may go round.
        let mut left = 4 * page::max_offset(&page) as u32 + 4;
        let mut here: SmallVec<[Visit; 16]> = SmallVec::from_iter([first]);
        while let Some(visit) = here.pop() {
            left -= 1;
            rel.ensure(block, left > 0, "links go round")?;
            let mut at = self.stack.len();
            self.read(conditions, &page, visit, distances, &pin)?;
            while at < self.stack.len() {
                match self.stack[at].place.block == block {
                    true => here.push(self.stack.swap_remove(at)),
                    false => at += 1,
                }
            }
        }
        self.found.reverse();
        self.count_exact();
        Ok(())
    }

    fn count_exact(&mut self) {
        self.exact = self.found.iter().rev().take_while(|found| !found.recheck).count();
    }

    /// Reads what is at a place.
    fn read(
        &mut self,
        conditions: &Conditions<'_>,
        page: &PageBytes,
        visit: Visit,
        distances: &Distances,
        pin: &Option<Rc<Pin>>,
    ) -> IndexResult<()> {
        let (rel, block) = (conditions.rel, visit.place.block);
        let rest = match rel.item(visit.place, page)? {
            Item::Redirect(to, _) => to,
            Item::Bucket(bucket) => {
                self.read_bucket(conditions, &visit, &bucket, pin)?;
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
                    if conditions.may_be_met_in(&part) {
                        let distances = self.least_distances(rel, &part);
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
        conditions: &Conditions<'_>,
        visit: &Visit,
        bucket: &Bucket<'_>,
        pin: &Option<Rc<Pin>>,
    ) -> IndexResult<()> {
        let (rel, block) = (conditions.rel, visit.place.block);
        for entry in bucket.entries() {
            let entry = rel.check(block, entry)?;
            let Some(space) = visit.space.as_deref() else {
                self.give(visit, &entry, Match::Yes, self.no_distances(), pin);
                continue;
            };
            let matched = rel.check(block, conditions.of(space, &entry))?;
            if matched == Match::No {
                continue;
            }
            let (distances, inexact) = rel.check(block, self.distances_of(rel, space, &entry))?;
            let matched = if inexact { Match::Maybe } else { matched };
            self.give(visit, &entry, matched, distances, pin);
        }
        Ok(())
    }

    fn give(
        &mut self,
        visit: &Visit,
        entry: &Entry<'_>,
        matched: Match,
        distances: Distances,
        pin: &Option<Rc<Pin>>,
    ) {
        let unordered = self.orders.is_empty();
        let kept = match self.wants.values {
            false => Kept::Nothing,
            true if unordered => {
                self.bytes.extend_from_slice(entry.bytes());
                Kept::Here(self.bytes.len() - entry.bytes().len()..self.bytes.len())
            }
            true => Kept::Own(entry.bytes().into()),
        };
        let found = Found {
            tid: entry.tid(),
            block: visit.place.block,
            recheck: matched == Match::Maybe,
            space: visit.space.clone().filter(|_| self.wants.values),
            entry: kept,
            _pin: pin.clone(),
        };
        if unordered {
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

    /// Distances of an entry's leaf, and whether those of a row may be greater.
    fn distances_of(&self, rel: &SpgistRel, space: &Space, entry: &Entry<'_>) -> Check<(Distances, bool)> {
        if self.orders.is_empty() {
            return Ok((Distances::default(), false));
        }
        let leaf = entry.leaf(&rel.desc.layout)?;
        let mut inexact = false;
        let distances = Distances::of(&self.orders, |order| {
            let Some(query) = query_of(order) else { return NULL_DISTANCE };
            let (value, more) = rel.class().distance(space, &leaf, query);
            inexact |= more;
            distance(value)
        });
        Ok((distances, inexact))
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
                match self.exact.checked_sub(1) {
                    Some(left) => self.exact = left,
                    None => self.count_exact(),
                }
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

/// The conditions of a scan, as a page is read by them.
struct Conditions<'a> {
    rel: &'a SpgistRel,
    keys: &'a [ScanKey],
    queries: SmallVec<[TreeQuery<'a>; 2]>,
    /// The same, if the class tells by the bytes of leaves.
    quick: Option<SmallVec<[LeafMatcher<'a>; 2]>>,
}

impl<'a> Conditions<'a> {
    fn new(rel: &'a SpgistRel, keys: &'a [ScanKey]) -> Conditions<'a> {
        let class = rel.class();
        // No leaf is NULL.
        let asked = keys.iter().filter(|key| !matches!(key.op, ScanOp::IsNotNull));
        let quick = asked.map(|key| class.matcher(query_of(key)?)).collect();
        Conditions { rel, keys, queries: keys.iter().filter_map(query_of).collect(), quick }
    }

    /// Whether anything in a space may satisfy all of them.
    fn may_be_met_in(&self, space: &Space) -> bool {
        self.queries.iter().all(|query| self.rel.class().may_meet(space, *query))
    }

    /// What they say of an entry in a space.
    fn of(&self, space: &Space, entry: &Entry<'_>) -> Check<Match> {
        let layout = &self.rel.desc.layout;
        if let Some(quick) = &self.quick
            && let Some(leaf) = entry.leaf_bytes(layout)
        {
            return Ok(all(quick.iter().map(|matches| matches(space, leaf))));
        }
        Ok(satisfies(self.rel, self.keys, space, &entry.leaf(layout)?))
    }
}

/// What several conditions say together.
fn all(each: impl Iterator<Item = Match>) -> Match {
    let mut all = Match::Yes;
    for one in each {
        match one {
            Match::No => return Match::No,
            Match::Maybe => all = Match::Maybe,
            Match::Yes => {}
        }
    }
    all
}

/// Whether a leaf satisfies all conditions.
fn satisfies(rel: &SpgistRel, keys: &[ScanKey], space: &Space, leaf: &Datum) -> Match {
    all(keys.iter().map(|key| match (&key.op, query_of(key)) {
        (ScanOp::IsNotNull, _) => Match::Yes,
        (_, Some(query)) => rel.class().meets(space, leaf, query),
        _ => Match::No,
    }))
}

/// The row's columns as far as the index has them: its key, and what is included.
fn row_of(rel: &SpgistRel, space: Option<&Space>, entry: &Entry<'_>) -> Check<Vec<Datum>> {
    let layout = &rel.desc.layout;
    let mut row = entry.decode(layout, layout.len())?;
    let class = rel.class();
    if let Some(leaf) = row.first_mut() {
        *leaf = match space {
            Some(space) if class.returns() => class.value(space, leaf),
            _ => Datum::Null,
        };
    }
    Ok(row)
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

    fn upcoming(&self, n: usize) -> Option<Tid> {
        let at = self.found.len().checked_sub(n + 1).filter(|_| n < self.exact)?;
        self.found.get(at).map(|found| found.tid)
    }

    fn pass(&mut self, count: usize) {
        let count = count.min(self.exact);
        if let Some(last) = self.found.drain(self.found.len() - count..).next() {
            self.current = Some(last);
            self.exact -= count;
        }
    }

    fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        let Some(found) = &self.current else { return Ok(()) };
        let bytes = match &found.entry {
            Kept::Nothing => return Ok(()),
            Kept::Here(range) => self.bytes.get(range.clone()).unwrap_or_default(),
            Kept::Own(bytes) => bytes,
        };
        let row = row_of(&self.rel, found.space.as_deref(), &Entry::of(bytes));
        out.extend(self.rel.check(found.block, row)?);
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
