//! Scans: pages still to be visited on a stack, or in the order of their distances.
//!
//! A scan holds one latch at a time. With each page to visit goes the version that its parent had when its downlink was read: if the page was split later, its new siblings
//! are visited too, for their downlinks were not there. A page is read under its latch as a whole; what it holds is given afterwards, without.
//!
//! Who wants no TID to be given away meanwhile keeps the leaf pinned until all of its entries are passed: VACUUM waits for that.

use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, Lsn, OffsetNo, Tid};
use buffer::{Persistence, Pin};
use index::bytes::Check;
use index::{
    Access, BitmapSink, Distances, Facts, Finds, IndexDesc, IndexResult, IndexScan, Match, NULL_DISTANCE,
    Nearest, NearestQueue, Pages, ScanKey, ScanKeys, ScanOp, TreeQuery, Wants, distance, interrupts,
};
use runtime::usage::used_often;
use smallvec::SmallVec;
use tuple::Datum;
use tuple::tree::Matcher;
use txn::KeyRange;

use crate::format::{DELETED, FOLLOW_RIGHT, Item, NONE, Node, ROOT};
use crate::rel::GistRel;

/// A page to visit.
#[derive(Clone, Copy, Debug)]
struct Visit {
    block: BlockNo,
    /// Version of its parent when its downlink was read.
    seen: u64,
}

/// An entry that satisfies the conditions as far as the index can tell.
#[derive(Debug)]
struct Found {
    tid: Tid,
    at: OffsetNo,
    block: BlockNo,
    lsn: Lsn,
    recheck: bool,
    /// The row's own distances may be greater.
    inexact: bool,
    /// Bytes of its item, if values are wanted: its own, or where they are in `Scan::bytes`.
    item: Kept,
    /// Keeps VACUUM away.
    _pin: Option<Rc<Pin>>,
}

#[derive(Debug)]
enum Kept {
    None,
    Here(std::ops::Range<usize>),
    Own(Box<[u8]>),
}

/// A scan of an index.
#[derive(Debug)]
pub struct Scan {
    rel: Arc<GistRel>,
    wants: Wants,
    keys: Vec<ScanKey>,
    orders: Vec<ScanKey>,
    started: bool,
    /// Pages to visit of a scan without order, and the entries of the last leaf, from the last to the first.
    stack: Vec<Visit>,
    leaf: Vec<Found>,
    /// How many of these, from the end on, are not to be checked again.
    exact: usize,
    /// Items of the last leaf.
    bytes: Vec<u8>,
    queue: NearestQueue<Visit, Found>,
    current: Option<Found>,
    distances: Vec<f64>,
    killed: Vec<(BlockNo, Lsn, OffsetNo, Tid)>,
    searches: u64,
}

/// Marks that are gathered before they are made.
const MOST_KILLED: usize = 128;

impl Scan {
    pub(crate) fn new(rel: Arc<GistRel>, keys: ScanKeys, wants: Wants) -> Scan {
        Scan {
            rel,
            wants,
            keys: keys.keys,
            orders: Vec::new(),
            started: false,
            stack: Vec::new(),
            leaf: Vec::new(),
            exact: 0,
            bytes: Vec::new(),
            queue: NearestQueue::default(),
            current: None,
            distances: Vec::new(),
            killed: Vec::new(),
            searches: 0,
        }
    }

    fn restart(&mut self) {
        self.started = false;
        self.stack.clear();
        self.leaf.clear();
        self.exact = 0;
        self.queue.clear();
        self.current = None;
    }

    fn push_page(&mut self, visit: Visit, distances: Distances) {
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
        let least = Distances::of(&self.orders, |_| f64::NEG_INFINITY);
        self.push_page(Visit { block: ROOT, seen: u64::MAX }, least);
    }

    /// Reads a page: what it has goes to where it is taken from.
    fn visit(&mut self, access: &Access<'_>, visit: Visit, distances: &Distances) -> IndexResult<()> {
        interrupts()?;
        let rel = self.rel.clone();
        let block = visit.block;
        let page = rel.shared(access.pool, block)?;
        let node = rel.node(block, &page)?;
        let split_since = visit.block != ROOT && (node.op.is(FOLLOW_RIGHT) || node.op.nsn > visit.seen);
        if split_since && node.op.next != NONE {
            self.push_page(Visit { block: node.op.next, seen: visit.seen }, distances.clone());
        }
        if node.op.is(DELETED) {
            return Ok(());
        }
        let read = if node.op.is_leaf() {
            let lsn = page::lsn(&page);
            let pin = self.wants.pin.then(|| Rc::new(page.pin()));
            self.read_leaf(block, &node, lsn, pin)
        } else {
            self.read_internal(&node)
        };
        rel.check(block, read)
    }

    fn read_internal(&mut self, node: &Node<'_>) -> Check<()> {
        let (rel, keys) = (self.rel.clone(), std::mem::take(&mut self.keys));
        let read = self.push_children(&rel, Conditions::new(&rel.desc, &keys), node);
        self.keys = keys;
        read
    }

    fn push_children(&mut self, rel: &GistRel, mut conditions: Conditions<'_>, node: &Node<'_>) -> Check<()> {
        for item in node.items() {
            let (_, item) = item?;
            if conditions.of(item, false)? != Match::No {
                let (distances, _) = self.distances_of(rel, &mut conditions, item, false)?;
                self.push_page(Visit { block: item.child(), seen: node.op.version }, distances);
            }
        }
        Ok(())
    }

    fn read_leaf(&mut self, block: BlockNo, node: &Node<'_>, lsn: Lsn, pin: Option<Rc<Pin>>) -> Check<()> {
        let (rel, keys) = (self.rel.clone(), std::mem::take(&mut self.keys));
        let read = self.take_entries(&rel, Conditions::new(&rel.desc, &keys), (block, node, lsn, pin));
        self.keys = keys;
        read
    }

    fn take_entries(
        &mut self,
        rel: &GistRel,
        mut conditions: Conditions<'_>,
        (block, node, lsn, pin): (BlockNo, &Node<'_>, Lsn, Option<Rc<Pin>>),
    ) -> Check<()> {
        let unordered = self.orders.is_empty();
        self.bytes.clear();
        for item in node.items() {
            let (at, item) = item?;
            if node.is_dead(at) {
                continue;
            }
            let matched = conditions.of(item, true)?;
            if matched == Match::No {
                continue;
            }
            let (distances, inexact) = self.distances_of(rel, &mut conditions, item, true)?;
            let bytes = item.bytes();
            let kept = match self.wants.values {
                false => Kept::None,
                true if unordered => {
                    self.bytes.extend_from_slice(bytes);
                    Kept::Here(self.bytes.len() - bytes.len()..self.bytes.len())
                }
                true => Kept::Own(bytes.into()),
            };
            let recheck = matched == Match::Maybe;
            let found =
                Found { tid: item.tid(), at, block, lsn, recheck, inexact, item: kept, _pin: pin.clone() };
            if unordered {
                self.leaf.push(found);
            } else {
                self.queue.push(distances, Nearest::Entry(found));
            }
        }
        self.leaf.reverse();
        self.exact = self.leaf.iter().rev().take_while(|found| !found.recheck).count();
        Ok(())
    }

    /// Distances of an item's key, and whether those of a row may be greater.
    fn distances_of(
        &self,
        rel: &GistRel,
        conditions: &mut Conditions<'_>,
        item: Item<'_>,
        leaf: bool,
    ) -> Check<(Distances, bool)> {
        if self.orders.is_empty() {
            return Ok((Distances::default(), false));
        }
        let (desc, key) = (&rel.desc, conditions.decoded(item)?);
        let mut inexact = false;
        let distances = Distances::of(&self.orders, |order| {
            let ScanOp::Operator { strategy, operand, value } = &order.op else { return NULL_DISTANCE };
            let of = &key[order.column];
            if of.is_null() || value.is_null() {
                return NULL_DISTANCE;
            }
            let query = TreeQuery { strategy: *strategy, operand: *operand, value };
            let (value, more) = desc.trees[order.column].distance(of, query, leaf);
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
            if let Some(found) = self.leaf.pop() {
                self.exact = match self.exact.checked_sub(1) {
                    Some(left) => left,
                    None => self.leaf.iter().rev().take_while(|found| !found.recheck).count(),
                };
                return Ok(Some(found));
            }
            let Some(visit) = self.stack.pop() else { return Ok(None) };
            self.visit(access, visit, &Distances::default())?;
        }
    }

    /// Marks the entries whose rows were found dead, where they surely still are.
    fn apply_kills(&mut self, access: &Access<'_>) {
        if self.killed.is_empty() || self.rel.desc.persistence != Persistence::Permanent {
            self.killed.clear();
            return;
        }
        if !access.horizon.may_remove() {
            self.killed.clear();
            return;
        }
        let mut killed = std::mem::take(&mut self.killed);
        killed.sort_unstable_by_key(|(block, _, at, _)| (*block, *at));
        for page_kills in killed.chunk_by(|a, b| a.0 == b.0) {
            let Ok(page) = self.rel.shared(access.pool, page_kills[0].0) else { continue };
            let Ok(node) = Node::new(&page) else { continue };
            for (_, lsn, at, tid) in page_kills {
                let same = page::lsn(&page) == *lsn && node.op.is_leaf() && !node.op.is(DELETED);
                if same && !node.is_dead(*at) && node.item(*at).is_ok_and(|item| item.tid() == *tid) {
                    // The upper of the two flag bits is bit 16 of the line pointer: normal (1) becomes dead (3).
                    page.set_hint(page::HEADER_SIZE + 4 * (*at as usize - 1) + 2, 1);
                }
            }
        }
    }
}

/// The conditions of a scan, as a page is read by them.
struct Conditions<'a> {
    desc: &'a IndexDesc,
    keys: &'a [ScanKey],
    /// The same, if all are about the first column and its class tells by the bytes of keys.
    quick: Option<SmallVec<[Matcher<'a>; 2]>>,
    /// Room for the keys of an item.
    key: Vec<Datum>,
}

impl<'a> Conditions<'a> {
    fn new(desc: &'a IndexDesc, keys: &'a [ScanKey]) -> Conditions<'a> {
        let matcher = |condition: &'a ScanKey| match &condition.op {
            ScanOp::Operator { strategy, operand, value } if condition.column == 0 && !value.is_null() => {
                desc.trees[0].matcher(TreeQuery { strategy: *strategy, operand: *operand, value })
            }
            _ => None,
        };
        Conditions { desc, keys, quick: keys.iter().map(matcher).collect(), key: Vec::new() }
    }

    /// What they say of an item.
    fn of(&mut self, item: Item<'_>, leaf: bool) -> Check<Match> {
        if let Some(quick) = &self.quick
            && let Some(key) = item.first_bytes(&self.desc.layout)
        {
            return Ok(all(quick.iter().map(|matches| matches(key, leaf))));
        }
        let keys = self.keys;
        let desc = self.desc;
        Ok(satisfies(desc, keys, self.decoded(item)?, leaf))
    }

    /// The keys of an item.
    fn decoded(&mut self, item: Item<'_>) -> Check<&[Datum]> {
        item.decode_over(&self.desc.layout, self.desc.nkeys(), &mut self.key)?;
        Ok(&self.key)
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

/// What the conditions, all of them, say of a key.
pub(crate) fn satisfies(desc: &IndexDesc, keys: &[ScanKey], key: &[Datum], leaf: bool) -> Match {
    all(keys.iter().map(|condition| meets(desc, condition, &key[condition.column], leaf)))
}

fn meets(desc: &IndexDesc, condition: &ScanKey, of: &Datum, leaf: bool) -> Match {
    match &condition.op {
        // Below a key that is not NULL there may be NULLs.
        ScanOp::IsNull => Match::of(!leaf || of.is_null(), true),
        ScanOp::IsNotNull => Match::of(!of.is_null(), true),
        ScanOp::Operator { strategy, operand, value } if !of.is_null() && !value.is_null() => {
            let query = TreeQuery { strategy: *strategy, operand: *operand, value };
            desc.trees[condition.column].consistent(of, query, leaf)
        }
        _ => Match::No,
    }
}

/// The row's columns as far as the index has them: a key that does not hold its value gives NULL.
fn row_of(desc: &IndexDesc, item: &Item<'_>) -> Check<Vec<Datum>> {
    let mut values = item.decode(&desc.layout, desc.layout.len())?;
    for (value, class) in values.iter_mut().zip(&desc.trees) {
        *value = match &*value {
            Datum::Null => Datum::Null,
            key if class.returns() => class.fetch(key),
            _ => Datum::Null,
        };
    }
    Ok(values)
}

/// A leaf's entry as the row's columns: for who checks an index.
pub(crate) fn entry_values(desc: &IndexDesc, item: &Item<'_>) -> Check<Vec<Datum>> {
    item.decode(&desc.layout, desc.layout.len())
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &crate::method::FACTS
    }

    fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        self.apply_kills(access);
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
        if self.killed.len() >= MOST_KILLED {
            self.apply_kills(access);
        }
        self.current =
            if self.orders.is_empty() { self.next_found(access)? } else { self.next_in_order(access)? };
        Ok(self.current.as_ref().map(|found| found.tid))
    }

    fn recheck(&self) -> bool {
        self.current.as_ref().is_some_and(|found| found.recheck)
    }

    fn recheck_distances(&self) -> bool {
        self.current.as_ref().is_some_and(|found| found.inexact)
    }

    fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        while let Some(tid) = self.next(access)? {
            sink.tid(tid, self.recheck())?;
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        !self.started || !self.leaf.is_empty() || !self.stack.is_empty() || !self.queue.is_empty()
    }

    fn upcoming(&self, n: usize) -> Option<Tid> {
        let at = self.leaf.len().checked_sub(n + 1).filter(|_| n < self.exact)?;
        self.leaf.get(at).map(|found| found.tid)
    }

    fn pass(&mut self, count: usize) {
        let count = count.min(self.exact);
        if let Some(last) = self.leaf.drain(self.leaf.len() - count..).next() {
            self.current = Some(last);
            self.exact -= count;
        }
    }

    fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        let Some(found) = &self.current else { return Ok(()) };
        let bytes = match &found.item {
            Kept::None => return Ok(()),
            Kept::Here(range) => self.bytes.get(range.clone()).unwrap_or_default(),
            Kept::Own(bytes) => bytes,
        };
        let row = Item::new(bytes).and_then(|item| row_of(&self.rel.desc, &item));
        out.extend(self.rel.check(found.block, row)?);
        Ok(())
    }

    fn kill_current(&mut self) {
        if let Some(found) = &self.current {
            self.killed.push((found.block, found.lsn, found.at, found.tid));
        }
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        index::conditions(&self.rel, self.keys.clone())
    }

    fn read_part(&mut self, _want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        Ok(None)
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }

    fn finish(&mut self, access: &Access<'_>) {
        self.apply_kills(access);
        self.restart();
    }
}

impl Finds for GistRel {
    fn might_find(&self, keys: &[ScanKey], values: &[Datum]) -> bool {
        let key = crate::insert::compress(self, values);
        key.len() < self.nkeys() || satisfies(&self.desc, keys, &key, true) != Match::No
    }
}
