//! Building an index. Rows come as they lie in the table, so that each key's list of TIDs grows at its end; when all have come, or memory is used up, the keys are sorted. The
//! first ones fill pages bottom-up, each of which goes out as an image in the log; later ones are entered as a batch.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

use base::{BlockNo, Fork, Tid};
use foldhash::fast::RandomState;
use index::{Access, Exclusive, IndexResult, Pages, SortedEntries, create_pages, interrupts, log_page};
use smallvec::SmallVec;
use tuple::Bytes;
use tuple::parts::Part;

use crate::format::{
    Leaf, Link, META, META_BLOCK, NONE, Opaque, PENDING, Position, ROOM, ROOT, leaf_items, link, pack,
};
use crate::insert::{Entry, enter, row_keys};
use crate::ops;
use crate::pending;
use crate::posting;
use crate::redo::Kind;
use crate::rel::GinRel;

/// Makes the index's main fork, which must be empty, an empty tree. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &GinRel) -> IndexResult<()> {
    // The first pages of the lanes come last, in this order.
    let lanes = pending::lanes().count() as u32;
    debug_assert!(pending::lanes().eq((2..2 + lanes).map(BlockNo)));
    create_pages(access, rel, Kind::Build as u8, 2 + lanes, |block, page| {
        let opaque = match block {
            META_BLOCK => Opaque::new(0, META),
            ROOT => Opaque::new(0, 0),
            _ => Opaque::new(0, PENDING),
        };
        ops::fill::<&[u8]>(page, opaque, &[])
    })
}

/// Builds the index in the empty main fork. Returns the number of entries: keys of rows.
pub(crate) fn build(access: &Access<'_>, rel: &GinRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    create_empty(access, rel)?;
    let mut gathered = Gathered::default();
    let (mut values, mut count, mut is_empty) = (Vec::new(), 0, true);
    while let Some(tid) = next(&mut values)? {
        count += gathered.add(rel, &values, tid)?;
        if gathered.bytes > access.limits.memory {
            gathered.flush(access, rel, &mut is_empty)?;
        }
    }
    gathered.flush(access, rel, &mut is_empty)?;
    Ok(count)
}

/// TIDs of one key, ascending.
struct List {
    first: u64,
    last: u64,
    count: usize,
    bytes: Vec<u8>,
}

type Key = (u8, u8, Bytes);

/// What has come and is not in the index yet.
#[derive(Default)]
struct Gathered {
    lists: HashMap<Key, List, RandomState>,
    bytes: usize,
    /// To work with.
    parts: Vec<Part>,
}

fn position(key: &Key, tid: u64) -> Position<'_> {
    Position { column: key.0, category: key.1, key: &key.2, tid }
}

/// TIDs that are entered at once.
const MOST_ENTERED: usize = 100_000;

/// What a list takes beside its bytes, as far as can be told.
const LIST_COST: usize = 160;

impl Gathered {
    /// Adds a row. Returns the number of its keys.
    fn add(&mut self, rel: &GinRel, values: &[tuple::Datum], tid: Tid) -> IndexResult<u64> {
        let (mut parts, packed, mut count) = (std::mem::take(&mut self.parts), pack(tid), 0);
        row_keys(rel, (values, tid), &mut parts, |column, category, key| {
            count += u64::from(self.add_key((column, category, key), rel, packed)?);
            Ok(())
        })?;
        self.parts = parts;
        Ok(count)
    }

    /// Adds a row to a key's list. False if it came just before: a value may have a part twice.
    fn add_key(&mut self, key: Key, rel: &GinRel, tid: u64) -> IndexResult<bool> {
        let size = key.2.len();
        match self.lists.entry(key) {
            MapEntry::Vacant(place) => {
                place.insert(List { first: tid, last: tid, count: 1, bytes: Vec::new() });
                self.bytes += LIST_COST + size;
            }
            MapEntry::Occupied(mut place) => {
                let list = place.get_mut();
                if tid == list.last {
                    return Ok(false);
                }
                if tid < list.last {
                    // A row of a chain that began before the one that came last.
                    let all = list.with(tid).map_err(|what| rel.corrupt(META_BLOCK, what))?;
                    *list = all;
                    return Ok(true);
                }
                let before = list.bytes.capacity();
                posting::put(tid - list.last, &mut list.bytes);
                (list.last, list.count) = (tid, list.count + 1);
                self.bytes += list.bytes.capacity() - before;
            }
        }
        Ok(true)
    }

    /// Takes everything out, in order of the keys.
    fn take(&mut self, rel: &GinRel) -> Vec<(Key, List)> {
        self.bytes = 0;
        let mut out: Vec<(Key, List)> = std::mem::take(&mut self.lists).into_iter().collect();
        out.sort_unstable_by(|a, b| rel.compare(position(&a.0, 0), position(&b.0, 0)));
        out
    }

    /// Brings everything into the index.
    fn flush(&mut self, access: &Access<'_>, rel: &GinRel, is_empty: &mut bool) -> IndexResult<()> {
        let mut lists = self.take(rel).into_iter().peekable();
        let first = std::mem::replace(is_empty, false);
        let mut builder = first.then(|| Builder { access, rel, levels: vec![Level::default()] });
        let (mut batch, mut size) = (Vec::new(), 0);
        while let Some((key, list)) = lists.next() {
            let mut tids = rel.check(META_BLOCK, list.tids())?;
            // Keys of different bytes may be equal.
            while let Some((_, more)) =
                lists.next_if(|(other, _)| rel.compare(position(other, 0), position(&key, 0)).is_eq())
            {
                let more = rel.check(META_BLOCK, more.tids())?;
                tids = posting::merge(&tids, &more).unwrap_or(tids);
            }
            match &mut builder {
                Some(builder) => builder.add_key(position(&key, 0), &tids)?,
                None => {
                    size += tids.len();
                    let (column, category, key) = key;
                    batch.push(Entry { column, category, key, tids: SmallVec::from_vec(tids) });
                    if size > MOST_ENTERED {
                        enter(access, rel, &std::mem::take(&mut batch))?;
                        size = 0;
                    }
                }
            }
        }
        enter(access, rel, &batch)?;
        builder.map_or(Ok(()), Builder::finish)
    }
}

impl List {
    fn tids(&self) -> Result<Vec<u64>, &'static str> {
        let mut out = Vec::with_capacity(self.count);
        posting::decode(self.first, &self.bytes, self.count, &mut out)?;
        Ok(out)
    }

    /// The list with a TID that does not come at its end.
    fn with(&self, tid: u64) -> Result<List, &'static str> {
        let old = self.tids()?;
        let all = posting::merge(&old, &[tid]).unwrap_or(old);
        let mut bytes = Vec::with_capacity(self.bytes.len() + posting::LONGEST);
        posting::encode_behind(all[0], &all[1..], &mut bytes);
        Ok(List { first: all[0], last: all[all.len() - 1], count: all.len(), bytes })
    }
}

/// The page being filled on one level.
#[derive(Default)]
struct Level {
    /// Its least position; none of the leftmost page.
    low: Option<Vec<u8>>,
    items: Vec<Vec<u8>>,
    used: usize,
    /// Its number, if its left sibling names it.
    block: Option<BlockNo>,
}

struct Builder<'a> {
    access: &'a Access<'a>,
    rel: &'a GinRel,
    levels: Vec<Level>,
}

impl Builder<'_> {
    /// Adds all rows of a key.
    fn add_key(&mut self, of: Position<'_>, tids: &[u64]) -> IndexResult<()> {
        leaf_items(of, tids, false).into_iter().try_for_each(|item| self.add(0, item))
    }

    fn position<'i>(&self, depth: usize, item: &'i [u8]) -> IndexResult<Position<'i>> {
        let found = match depth {
            0 => Leaf::new(item).map(|leaf| leaf.position()),
            _ => Link::new(item).map(|link| link.position()),
        };
        self.rel.check(META_BLOCK, found)
    }

    fn add(&mut self, depth: usize, item: Vec<u8>) -> IndexResult<()> {
        if depth == self.levels.len() {
            self.levels.push(Level::default());
        }
        let room = item.len() + 4;
        // The upper bound is the next page's first position.
        let bound = link(self.position(depth, &item)?, NONE).len() + 4;
        let level = &self.levels[depth];
        if level.used + room + bound > ROOM && !level.items.is_empty() {
            self.turn_page(depth, &item)?;
        }
        let level = &mut self.levels[depth];
        level.used += room;
        level.items.push(item);
        Ok(())
    }

    /// Writes the page of a level before `next` begins the next one.
    fn turn_page(&mut self, depth: usize, next: &[u8]) -> IndexResult<()> {
        interrupts()?;
        let mut carried: Vec<Vec<u8>> = Vec::new();
        let bound = loop {
            let level = &self.levels[depth];
            let first = carried.last().map_or(next, Vec::as_slice);
            let mut of = self.position(depth, first)?;
            if depth == 0
                && let Some(last) = level.items.last()
            {
                let last = self.position(0, last)?;
                // Rows of a new key belong to where its first row is.
                of = if self.rel.same_key(last, of) { of } else { of.at(0) };
            }
            let bound = link(of, NONE);
            if level.used + bound.len() + 4 <= ROOM || level.items.len() < 2 {
                break bound;
            }
            let level = &mut self.levels[depth];
            if let Some(item) = level.items.pop() {
                level.used -= item.len() + 4;
                carried.push(item);
            }
        };
        self.write(depth, Some(bound))?;
        carried.into_iter().rev().try_for_each(|item| self.add(depth, item))
    }

    /// Writes the page that a level has filled, and makes its downlink. `bound`: the least position of the next page, if there is to be one.
    fn write(&mut self, depth: usize, bound: Option<Vec<u8>>) -> IndexResult<()> {
        let desc = &self.rel.desc;
        self.access.pool.admit(desc.persistence)?;
        let level = std::mem::take(&mut self.levels[depth]);
        let next = match bound {
            Some(_) => Some(new_page(self.access, self.rel)?.tag().block),
            None => None,
        };
        let mut page = match level.block {
            Some(block) => self.rel.exclusive(self.access.pool, block)?,
            None => new_page(self.access, self.rel)?,
        };
        let block = page.tag().block;
        let all: Vec<&[u8]> = bound.iter().chain(&level.items).map(Vec::as_slice).collect();
        let opaque = Opaque { next: next.unwrap_or(NONE), ..Opaque::new(depth as u16, 0) };
        self.rel.check(block, ops::fill(&mut page, opaque, &all))?;
        log_page::<GinRel>(self.access, desc.persistence, Kind::Build as u8, &mut page);
        drop(page);
        (self.levels[depth].block, self.levels[depth].low) = (next, bound);
        let low = match &level.low {
            Some(low) => self.rel.check(block, Link::new(low))?.position(),
            None => Position::LEAST,
        };
        self.add(depth + 1, link(low, block))
    }

    /// Writes the last page of every level; the highest is the root.
    fn finish(mut self) -> IndexResult<()> {
        let mut depth = 0;
        while depth + 1 < self.levels.len() {
            self.write(depth, None)?;
            depth += 1;
        }
        let Some(top) = self.levels.pop() else { return Ok(()) };
        let mut root = self.rel.exclusive(self.access.pool, ROOT)?;
        self.rel.check(ROOT, ops::fill(&mut root, Opaque::new(depth as u16, 0), &top.items))?;
        log_page::<GinRel>(self.access, self.rel.desc.persistence, Kind::Build as u8, &mut root);
        Ok(())
    }
}

fn new_page(access: &Access<'_>, rel: &GinRel) -> IndexResult<Exclusive> {
    Ok(access.pool.extend(rel.desc.file, Fork::Main, rel.desc.persistence)?)
}
