//! Scans fill bitmaps. Each condition is a query that its class has taken apart; each part sought is a stream of rows in the order of their TIDs. Conditions are asked for the
//! next row that satisfies them, and rows that satisfy all of them are found.
//!
//! Entries that are pending are read first and given to the streams that they belong to.
//!
//! A stream reads one item of a leaf at a time, under the page's latch, and goes to another place by a search from the root, or by the next item of the page that it keeps pinned, if
//! that was not changed. Whoever was entered before the scan's snapshot was taken stands where the search looks: entries move to the right only, with their upper bound.

use std::sync::Arc;

use base::{Lsn, OffsetNo};
use buffer::{Persistence, Pin};
use index::{
    Access, BitmapSink, Facts, IndexError, IndexResult, IndexScan, Match, Pages, ScanKey, ScanKeys, ScanOp,
    Shared, TreeQuery, gallop, interrupts,
};
use runtime::usage::used_often;
use tuple::Bytes;
use tuple::parts::{InRange, PartsQuery, SearchMode, Sought};
use txn::KeyRange;

use crate::format::{EMPTY, KEY, NONE, NULL_KEY, NULL_ROW, Node, Position, unpack};
use crate::insert::leaf_to_read;
use crate::pending;
use crate::rel::GinRel;

/// A condition, taken apart.
#[derive(Debug)]
pub(crate) struct Query {
    /// From 1.
    pub column: u8,
    pub parts: Box<dyn PartsQuery>,
}

/// Takes conditions apart; none if they cannot all be satisfied.
pub(crate) fn queries(rel: &GinRel, keys: &[ScanKey]) -> IndexResult<Option<Vec<Query>>> {
    let mut out = Vec::new();
    for key in keys {
        let ScanOp::Operator { strategy, operand, value } = &key.op else {
            return Err(IndexError::Unsupported { method: "gin", what: "this condition" });
        };
        let column = key.column as u8 + 1;
        let Some(class) = rel.class(column) else { return Ok(None) };
        if value.is_null() {
            return Ok(None);
        }
        let query = TreeQuery { strategy: *strategy, operand: *operand, value };
        let parts = class.query(query).map_err(IndexError::Callback)?;
        if parts.sought().is_empty() && parts.mode() == SearchMode::Some {
            return Ok(None);
        }
        out.push(Query { column, parts });
    }
    Ok(Some(out))
}

/// Category and key of a part sought.
pub(crate) fn sought_key(sought: &Sought) -> (u8, &[u8]) {
    sought.part.as_ref().map_or((NULL_KEY, &[]), |key| (KEY, key))
}

/// Rows under one key, in order, or of a set.
struct Stream {
    of: Source,
    /// Rows that are not in the tree yet, in order, and how many of them were passed.
    pending: (Vec<u64>, usize),
    /// Rows that were read and not passed.
    rows: Vec<u64>,
    at: usize,
    /// There are no rows behind these.
    done: bool,
    /// About how many rows it has.
    estimate: u64,
    /// The last row that was read.
    read: u64,
    /// Of how many rows one is to stay.
    thin: Option<f64>,
}

enum Source {
    /// Rows that have been gathered.
    Set,
    /// Rows of a key.
    List(List),
}

struct List {
    column: u8,
    category: u8,
    key: Bytes,
    /// Where the last item was read.
    place: Option<(Pin, Lsn, OffsetNo)>,
}

impl List {
    fn at(&self, tid: u64) -> Position<'_> {
        Position { column: self.column, category: self.category, key: &self.key, tid }
    }
}

impl Stream {
    fn set(mut rows: Vec<u64>) -> Stream {
        rows.sort_unstable();
        rows.dedup();
        let estimate = rows.len() as u64;
        let pending = Default::default();
        Stream { of: Source::Set, pending, estimate, rows, at: 0, done: true, read: 0, thin: None }
    }

    fn list(
        access: &Access<'_>,
        rel: &GinRel,
        (column, category, key): (u8, u8, &[u8]),
        mut pending: Vec<u64>,
    ) -> IndexResult<Stream> {
        pending.sort_unstable();
        let list = List { column, category, key: key.into(), place: None };
        let mut stream = Stream {
            of: Source::List(list),
            pending: (pending, 0),
            rows: Vec::new(),
            at: 0,
            done: false,
            estimate: 0,
            read: 0,
            thin: None,
        };
        stream.load(access, rel, 0)?;
        stream.estimate += stream.pending.0.len() as u64;
        Ok(stream)
    }

    /// The first row from `from` on.
    fn seek(&mut self, access: &Access<'_>, rel: &GinRel, from: u64) -> IndexResult<Option<u64>> {
        let entered = self.seek_entered(access, rel, from)?;
        let (pending, passed) = &mut self.pending;
        if pending.is_empty() {
            return Ok(entered);
        }
        *passed += pending[*passed..].partition_point(|row| *row < from);
        Ok([entered, pending.get(*passed).copied()].into_iter().flatten().min())
    }

    /// The first one in the tree, or of the set.
    fn seek_entered(&mut self, access: &Access<'_>, rel: &GinRel, from: u64) -> IndexResult<Option<u64>> {
        loop {
            match self.rows.get(self.at) {
                Some(row) if *row >= from => return Ok(Some(*row)),
                Some(_) if self.rows.last().is_some_and(|last| *last >= from) => {
                    self.at += gallop(&self.rows[self.at..], |row| *row < from);
                }
                _ if self.done => return Ok(None),
                _ => {
                    self.load(access, rel, from.max(self.read + 1))?;
                    self.drop_some();
                }
            }
        }
    }

    /// Leaves rows out by chance, if it is to be thinned.
    fn drop_some(&mut self) {
        if let Some(times) = self.thin {
            self.rows.retain(|_| (runtime::random_u64() as f64) * times < u64::MAX as f64);
        }
    }

    /// From now on about `limit` of its rows are left.
    fn thin(&mut self, limit: f64) {
        self.thin = Some((self.estimate as f64 / limit).max(1.0));
        self.drop_some();
    }

    /// Reads the item that has the first row from `from` on.
    fn load(&mut self, access: &Access<'_>, rel: &GinRel, from: u64) -> IndexResult<()> {
        let Stream { of: Source::List(list), rows, done, read, .. } = self else {
            self.done = true;
            return Ok(());
        };
        interrupts()?;
        rows.clear();
        self.at = 0;
        if rel.desc.persistence == Persistence::Permanent
            && let Some((pin, lsn, n)) = list.place.take()
            && let Some(n) = next_of_page(rel, list, (&pin, lsn, n + 1), from, rows)?
        {
            *read = rows.last().copied().unwrap_or(from);
            list.place = Some((pin, lsn, n));
            return Ok(());
        }
        let mut page = leaf_to_read(access, rel, list.at(from))?;
        loop {
            let block = page.tag().block;
            let node = rel.node(block, &page)?;
            if !node.op.is_in_tree() && node.op.next != NONE {
                // It was deleted since its left sibling was read.
                let next = node.op.next;
                drop(page);
                page = rel.shared(access.pool, next)?;
                continue;
            }
            match rel.check(block, item_with(rel, &node, list, from))? {
                Some(n) => {
                    rel.check(block, node.leaf(n).and_then(|leaf| leaf.tids(rows)))?;
                    let lsn = page::lsn(&page);
                    *read = rows.last().copied().unwrap_or(from);
                    self.estimate = self.estimate.max(estimate(rel, &node, list, n).unwrap_or(1));
                    list.place = Some((page.into_pin(), lsn, n));
                    return Ok(());
                }
                None => {
                    let high = rel.check(block, node.high())?;
                    let goes_on = high.is_some_and(|high| rel.compare(high, list.at(u64::MAX)).is_le());
                    let next = node.op.next;
                    drop(page);
                    if !goes_on || next == NONE {
                        *done = true;
                        return Ok(());
                    }
                    interrupts()?;
                    page = rel.shared(access.pool, next)?;
                }
            }
        }
    }
}

/// About how many rows a key has of which item `n` of a page was read first.
fn estimate(rel: &GinRel, node: &Node<'_>, list: &List, n: OffsetNo) -> Option<u64> {
    let mut rows = 0;
    for n in n..=node.max() {
        let leaf = node.leaf(n).ok()?;
        if !rel.same_key(leaf.position(), list.at(0)) {
            return Some(rows);
        }
        rows += leaf.count() as u64;
    }
    // It goes on, nobody knows how far.
    let high = node.high().ok()??;
    Some(if rel.same_key(high, list.at(0)) { rows.max(1) * 100 } else { rows })
}

/// Reads an item of a page that nobody has changed, with the key and rows from `from` on: number `n`, or one behind it. Returns its number.
fn next_of_page(
    rel: &GinRel,
    list: &List,
    (pin, lsn, n): (&Pin, Lsn, OffsetNo),
    from: u64,
    rows: &mut Vec<u64>,
) -> IndexResult<Option<OffsetNo>> {
    let page = pin.shared();
    if page::lsn(&page) != lsn {
        return Ok(None);
    }
    let block = pin.tag().block;
    let node = rel.node(block, &page)?;
    if n > node.max() {
        return Ok(None);
    }
    let leaf = rel.check(block, node.leaf(n))?;
    if !rel.same_key(leaf.position(), list.at(0)) {
        return Ok(None);
    }
    let n = match leaf.last() < from {
        true => rel.check(block, item_with(rel, &node, list, from))?,
        false => Some(n),
    };
    if let Some(n) = n {
        rel.check(block, node.leaf(n).and_then(|leaf| leaf.tids(rows)))?;
    }
    Ok(n)
}

/// Number of the first item of a leaf that has the key and rows from `from` on.
fn item_with(
    rel: &GinRel,
    node: &Node<'_>,
    list: &List,
    from: u64,
) -> Result<Option<OffsetNo>, &'static str> {
    let behind = rel.behind(node, list.at(from))?;
    for n in [behind - 1, behind] {
        if n >= node.first() && n <= node.max() {
            let leaf = node.leaf(n)?;
            if leaf.last() >= from && rel.same_key(leaf.position(), list.at(0)) {
                return Ok(Some(n));
            }
        }
    }
    Ok(None)
}

/// Calls `visit` for the items of leaves from a position on, under the page's latch, until it is told that this is enough.
pub(crate) fn walk(
    access: &Access<'_>,
    rel: &GinRel,
    from: Position<'_>,
    visit: &mut dyn FnMut(&Node<'_>, OffsetNo) -> Result<bool, &'static str>,
) -> IndexResult<()> {
    let mut page: Shared = leaf_to_read(access, rel, from)?;
    let mut start = Some(from);
    loop {
        let block = page.tag().block;
        let node = rel.node(block, &page)?;
        if node.op.is_in_tree() {
            let first = match start.take() {
                // What has the position's key lies behind it, but for the rows before.
                Some(from) => rel.check(block, rel.behind(&node, from))?,
                None => node.first(),
            };
            for n in first..=node.max() {
                if !rel.check(block, visit(&node, n))? {
                    return Ok(());
                }
            }
        }
        let next = node.op.next;
        drop(page);
        if next == NONE {
            return Ok(());
        }
        interrupts()?;
        page = rel.shared(access.pool, next)?;
    }
}

/// Rows of the parts that belong to a range.
fn range(
    access: &Access<'_>,
    rel: &GinRel,
    query: &Query,
    n: usize,
    mut rows: Vec<u64>,
) -> IndexResult<Stream> {
    let sought = &query.parts.sought()[n];
    let (category, key) = sought_key(sought);
    let from = Position { column: query.column, category, key, tid: 0 };
    walk(access, rel, from, &mut |node, n_item| {
        let leaf = node.leaf(n_item)?;
        let of = leaf.position();
        if (of.column, of.category) != (query.column, KEY) {
            return Ok(false);
        }
        match query.parts.in_range(n, of.key) {
            InRange::Yes => leaf.tids(&mut rows)?,
            InRange::No => {}
            InRange::Beyond => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(Stream::set(rows))
}

/// Rows of a column that are not NULL, or all rows.
fn whole(
    access: &Access<'_>,
    rel: &GinRel,
    column: u8,
    nulls: bool,
    mut rows: Vec<u64>,
) -> IndexResult<Stream> {
    let from = Position { column, category: KEY, key: &[], tid: 0 };
    // No key is before the empty one; but a class may have an order of its own, so the walk begins behind the column before.
    let from = if column == 1 {
        Position::LEAST
    } else {
        Position { column: column - 1, category: u8::MAX, ..from }
    };
    walk(access, rel, from, &mut |node, n| {
        let leaf = node.leaf(n)?;
        let of = leaf.position();
        if of.column > column {
            return Ok(false);
        }
        if nulls || of.category != NULL_ROW {
            leaf.tids(&mut rows)?;
        }
        Ok(true)
    })?;
    Ok(Stream::set(rows))
}

/// A condition, and the rows that are not in the tree yet: under each part sought, and of the one more stream.
struct Pending {
    query: Query,
    parts: Vec<Vec<u64>>,
    more: Vec<u64>,
}

impl Pending {
    fn of(query: Query) -> Pending {
        Pending { parts: vec![Vec::new(); query.parts.sought().len()], more: Vec::new(), query }
    }

    /// Takes a row where it belongs.
    fn take(&mut self, rel: &GinRel, of: Position<'_>, filter: bool) {
        if of.column != self.query.column {
            return;
        }
        for (n, (sought, rows)) in self.query.parts.sought().iter().zip(&mut self.parts).enumerate() {
            let (category, key) = sought_key(sought);
            if category != of.category {
                continue;
            }
            let order = rel.compare_keys(of.column, category, of.key, key);
            let belongs = match sought.range {
                true => order.is_ge() && self.query.parts.in_range(n, of.key) == InRange::Yes,
                false => order.is_eq(),
            };
            if belongs {
                rows.push(of.tid);
            }
        }
        let more = match self.query.parts.mode() {
            SearchMode::Some => false,
            SearchMode::SomeOrEmpty => of.category == EMPTY,
            SearchMode::All => (of.category == NULL_ROW) == filter,
        };
        if more {
            self.more.push(of.tid);
        }
    }
}

/// A condition and its streams.
struct Condition {
    query: Query,
    /// One for each part sought, in their order, then perhaps one more.
    streams: Vec<Stream>,
    /// Streams each of which has every row that may satisfy the condition, the shortest first.
    necessary: Vec<usize>,
    /// If there are none: streams of which one at least has every such row.
    required: Vec<usize>,
    /// What rows are that have all parts, where all are necessary.
    complete: Option<Match>,
    present: Vec<Match>,
    /// The row that it stands at, and whether it is to be checked again.
    current: Option<(u64, bool)>,
    /// It is asked only of rows that another condition finds.
    filter: bool,
}

impl Condition {
    fn new(access: &Access<'_>, rel: &GinRel, of: Pending, filter: bool) -> IndexResult<Condition> {
        let Pending { query, parts, more } = of;
        let (mut streams, column) = (Vec::new(), query.column);
        for ((n, sought), rows) in query.parts.sought().iter().enumerate().zip(parts) {
            let (category, key) = sought_key(sought);
            streams.push(match sought.range {
                true => range(access, rel, &query, n, rows)?,
                false => Stream::list(access, rel, (column, category, key), rows)?,
            });
        }
        let count = streams.len();
        match query.parts.mode() {
            SearchMode::Some => {}
            SearchMode::SomeOrEmpty => streams.push(Stream::list(access, rel, (column, EMPTY, &[]), more)?),
            // Rows that are NULL satisfy nothing.
            SearchMode::All if filter => {
                streams.push(Stream::list(access, rel, (column, NULL_ROW, &[]), more)?);
            }
            SearchMode::All => streams.push(whole(access, rel, column, false, more)?),
        }
        let mut condition = Condition {
            present: vec![Match::Maybe; count],
            necessary: Vec::new(),
            required: Vec::new(),
            complete: None,
            current: None,
            query,
            streams,
            filter,
        };
        condition.choose(count);
        Ok(condition)
    }

    /// Chooses the streams that lead to rows; `count` of them have the rows of parts.
    fn choose(&mut self, count: usize) {
        let mode = self.query.parts.mode();
        if mode == SearchMode::All {
            self.required = vec![count];
            return;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|n| self.streams[*n].estimate);
        if mode != SearchMode::Some {
            order.push(count);
            self.required = order;
            return;
        }
        let without = |present: &mut [Match], parts: &[usize]| {
            present.fill(Match::Maybe);
            parts.iter().for_each(|n| present[*n] = Match::No);
            self.query.parts.satisfied(present)
        };
        self.necessary =
            order.iter().copied().filter(|n| without(&mut self.present, &[*n]) == Match::No).collect();
        if self.necessary.is_empty() {
            // Without all of these no row satisfies it.
            let enough = (1..count).find(|n| without(&mut self.present, &order[..*n]) == Match::No);
            order.truncate(enough.unwrap_or(count));
            self.required = order;
        } else if self.necessary.len() == count {
            self.present.fill(Match::Yes);
            self.complete = Some(self.query.parts.satisfied(&self.present));
        }
    }

    /// The first row from `from` on that the streams which lead to rows have.
    fn candidate(&mut self, access: &Access<'_>, rel: &GinRel, from: u64) -> IndexResult<Option<u64>> {
        let mut row = from;
        let (mut agreed, mut at) = (0, 0);
        while agreed < self.necessary.len() {
            let Some(found) = self.streams[self.necessary[at]].seek(access, rel, row)? else {
                return Ok(None);
            };
            agreed = if found == row { agreed + 1 } else { 1 };
            row = found;
            at = (at + 1) % self.necessary.len();
        }
        if !self.necessary.is_empty() {
            return Ok(Some(row));
        }
        let mut least: Option<u64> = None;
        for n in &self.required {
            let row = self.streams[*n].seek(access, rel, from)?;
            least = [least, row].into_iter().flatten().min();
        }
        Ok(least)
    }

    /// What is known of a row.
    fn ask(&mut self, access: &Access<'_>, rel: &GinRel, row: u64) -> IndexResult<Match> {
        for (n, stream) in self.streams.iter_mut().enumerate() {
            let found = stream.seek(access, rel, row)? == Some(row);
            match self.present.get_mut(n) {
                Some(present) => *present = Match::of(found, true),
                None if self.filter && found => return Ok(Match::No),
                None => {}
            }
        }
        Ok(self.query.parts.satisfied(&self.present))
    }

    /// The first row from `from` on that satisfies the condition, and whether it is to be checked again.
    fn next(&mut self, access: &Access<'_>, rel: &GinRel, from: u64) -> IndexResult<Option<(u64, bool)>> {
        if let Some(current) = self.current.filter(|current| current.0 >= from) {
            return Ok(Some(current));
        }
        let mut from = from;
        loop {
            let Some(row) = self.candidate(access, rel, from)? else { return Ok(None) };
            let found = match self.complete {
                Some(found) => found,
                None => self.ask(access, rel, row)?,
            };
            match found {
                Match::No => from = row + 1,
                found => {
                    self.current = Some((row, found == Match::Maybe));
                    return Ok(self.current);
                }
            }
        }
    }
}

/// A scan of an index.
#[derive(Debug)]
pub struct Scan {
    rel: Arc<GinRel>,
    keys: Vec<ScanKey>,
    searches: u64,
}

impl Scan {
    pub(crate) fn new(rel: Arc<GinRel>, keys: ScanKeys) -> Scan {
        Scan { rel, keys: keys.keys, searches: 0 }
    }

    /// All rows that satisfy the conditions.
    fn find(&self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        let rel = &*self.rel;
        let Some(queries) = queries(rel, &self.keys)? else { return Ok(()) };
        if queries.is_empty() {
            let mut rows = Vec::new();
            pending::each(access, rel, &mut |of| {
                rows.push(of.tid);
                Ok(())
            })?;
            let all = whole(access, rel, 1, true, rows)?;
            return all.rows.iter().try_for_each(|row| sink.tid(unpack(*row), false));
        }
        let narrows = queries.iter().any(|query| query.parts.mode() != SearchMode::All);
        let is_filter = |query: &Query| narrows && query.parts.mode() == SearchMode::All;
        // What leaves the lanes after they were read is in the tree when that is read.
        let mut found: Vec<Pending> = queries.into_iter().map(Pending::of).collect();
        pending::each(access, rel, &mut |of| {
            for one in &mut found {
                let filter = is_filter(&one.query);
                one.take(rel, of, filter);
            }
            Ok(())
        })?;
        let (mut drivers, mut filters) = (Vec::new(), Vec::new());
        for one in found {
            let filter = is_filter(&one.query);
            let condition = Condition::new(access, rel, one, filter)?;
            if filter { filters.push(condition) } else { drivers.push(condition) }
        }
        let all = || drivers.iter().chain(&filters).flat_map(|one| &one.streams);
        let share = f64::from(access.limits.fuzzy) / all().count().max(1) as f64;
        let over = f64::from(access.limits.fuzzy) * all().count() as f64;
        if share > 0.0 && all().all(|stream| stream.estimate as f64 > over) {
            drivers.iter_mut().flat_map(|one| &mut one.streams).for_each(|stream| stream.thin(share));
        }
        let mut from = 0;
        'rows: loop {
            let (mut row, mut recheck) = (from, false);
            for driver in &mut drivers {
                let Some((found, maybe)) = driver.next(access, rel, row)? else { return Ok(()) };
                recheck |= maybe;
                if found > row {
                    (row, recheck) = (found, maybe);
                }
            }
            for driver in &mut drivers {
                let Some((found, maybe)) = driver.next(access, rel, row)? else { return Ok(()) };
                recheck |= maybe;
                if found > row {
                    from = found;
                    continue 'rows;
                }
            }
            from = row + 1;
            for filter in &mut filters {
                match filter.ask(access, rel, row)? {
                    Match::No => continue 'rows,
                    found => recheck |= found == Match::Maybe,
                }
            }
            sink.tid(unpack(row), recheck)?;
        }
    }
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &crate::method::FACTS
    }

    fn rescan(&mut self, _access: &Access<'_>, keys: ScanKeys) {
        self.keys = keys.keys;
    }

    fn bitmap(&mut self, access: &Access<'_>, sink: &mut dyn BitmapSink) -> IndexResult<()> {
        self.searches += 1;
        used_often(|c| &c.index_searches);
        self.find(access, sink)
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        index::conditions(&self.rel, self.keys.clone())
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }
}
