//! What the tests stand on: a class of lists of numbers, one index in a [`store`], and a list of its contents.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Oid, SqlError, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, BitmapSink, Compare, IndexAccessMethod, IndexDesc, IndexResult, IndexScan, InsertOutcome,
    KeyColumn, Limits, Manner, Match, ScanKey, ScanKeys, ScanOp, TreeQuery, UniqueCheck, VacuumStats,
    VerifyOptions, Wants,
};
use store::{AllLive, FILE, Snapshots, Store, tid};
use tuple::parts::{InRange, Part, PartsClass, PartsQuery, SearchMode, Sought};
use tuple::{Attr, Bytes, Datum, Physical, RowLayout};

use crate::GinRel;
use crate::verify::{VerifyReport, verify};

/// Strategy: the list has all numbers of the value.
pub const ALL: u16 = 1;
/// Strategy: the list has one at least of the numbers of the value.
pub const ANY: u16 = 2;
/// Strategy: the list has no other numbers than the value.
pub const WITHIN: u16 = 3;
/// Strategy: the list has none of the numbers of the value.
pub const NONE: u16 = 4;
/// Strategy: the list has a number between the two of the value.
pub const BETWEEN: u16 = 5;

/// Lists of numbers; `padding` bytes more make keys long. 255 stands for a NULL.
#[derive(Debug)]
pub struct Lists {
    padding: usize,
}

pub static SHORT: Lists = Lists { padding: 0 };
pub static LONG: Lists = Lists { padding: 700 };

pub fn list(numbers: &[u16]) -> Datum {
    Datum::Bytes(Bytes::from(numbers.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>()))
}

pub fn numbers(value: &Datum) -> Vec<u16> {
    let Datum::Bytes(bytes) = value else { panic!("{value:?}") };
    bytes.chunks(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect()
}

impl Lists {
    fn part(&self, n: u16) -> Part {
        if n == 255 {
            return None;
        }
        let mut key = n.to_be_bytes().to_vec();
        key.resize(2 + self.padding, 7);
        Some(key.into())
    }
}

impl PartsClass for Lists {
    fn parts(&self, value: &Datum, out: &mut Vec<Part>) {
        out.extend(numbers(value).into_iter().map(|n| self.part(n)));
    }

    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError> {
        let wanted = numbers(query.value);
        let mut sought: Vec<Sought> = wanted.iter().map(|n| Sought::exactly(self.part(*n))).collect();
        if query.strategy == BETWEEN {
            sought.truncate(1);
            sought[0].range = true;
        }
        Ok(Box::new(Query { strategy: query.strategy, sought, end: wanted.last().copied().unwrap_or(0) }))
    }
}

#[derive(Debug)]
struct Query {
    strategy: u16,
    sought: Vec<Sought>,
    end: u16,
}

impl PartsQuery for Query {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn mode(&self) -> SearchMode {
        match self.strategy {
            WITHIN => SearchMode::SomeOrEmpty,
            NONE => SearchMode::All,
            ALL if self.sought.is_empty() => SearchMode::All,
            _ => SearchMode::Some,
        }
    }

    fn satisfied(&self, present: &[Match]) -> Match {
        let (yes, no) = (present.contains(&Match::Yes), present.contains(&Match::No));
        let maybe = present.contains(&Match::Maybe);
        match self.strategy {
            ALL if no => Match::No,
            ALL if maybe => Match::Maybe,
            ALL => Match::Yes,
            ANY | BETWEEN if yes => Match::Yes,
            ANY | BETWEEN if maybe => Match::Maybe,
            NONE if yes => Match::No,
            NONE if maybe => Match::Maybe,
            NONE => Match::Yes,
            WITHIN => Match::Maybe,
            _ => Match::No,
        }
    }

    fn in_range(&self, _n: usize, part: &[u8]) -> InRange {
        match u16::from_be_bytes([part[0], part[1]]) {
            n if n > self.end => InRange::Beyond,
            n if n % 10 == 9 => InRange::No,
            _ => InRange::Yes,
        }
    }
}

/// Whether a list satisfies a condition.
pub fn satisfies(strategy: u16, of: &[u16], value: &[u16]) -> bool {
    let has = |n: &u16| of.contains(n);
    match strategy {
        ALL => value.iter().all(has),
        ANY => value.iter().any(has),
        WITHIN => of.iter().all(|n| value.contains(n)),
        NONE => !value.iter().any(has),
        _ => of.iter().any(|n| (value[0]..=value[1]).contains(n) && n % 10 != 9 && *n != 255),
    }
}

/// One list with short keys, one with long ones, or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Short,
    Long,
    Two,
}

impl Shape {
    pub const EACH: [Shape; 3] = [Shape::Short, Shape::Long, Shape::Two];

    fn desc(self, fast: bool) -> IndexDesc {
        let varlena = Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None };
        let class: &'static dyn PartsClass = if self == Shape::Long { &LONG } else { &SHORT };
        let keys = if self == Shape::Two { 2 } else { 1 };
        IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(vec![varlena; keys])),
            keys: vec![KeyColumn::ascending(Compare::Bytes); keys].into(),
            trees: Vec::new(),
            hashes: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            parts: vec![class; keys],
            persistence: Persistence::Permanent,
            unique: false,
            nulls_not_distinct: false,
            equal_image: false,
            options: vec![("fastupdate".into(), if fast { "on" } else { "off" }.into())],
        }
    }

    /// The `n`-th row: some numbers that many have, some that few have, none, or NULL.
    pub fn row(self, n: u32) -> Vec<Datum> {
        let n = n as u16;
        let first = match n % 97 {
            96 => Datum::Null,
            95 => list(&[]),
            94 => list(&[255, n % 5]),
            _ if self == Shape::Long => list(&[n % 3, 300 + n % 11]),
            _ => list(&[n % 3, 10 + n % 7, 300 + n % 500, n % 3]),
        };
        match self {
            Shape::Two => vec![first, if n % 7 == 3 { Datum::Null } else { list(&[n % 50, 7]) }],
            _ => vec![first],
        }
    }
}

pub type Row = (Vec<Datum>, Tid);

/// An index beside what must be in it.
pub struct World {
    pub store: Store,
    pub rel: Arc<GinRel>,
    pub shape: Shape,
    pub snapshots: Snapshots,
    pub model: Vec<Row>,
    pub next_tid: u32,
    pub limits: Limits,
}

struct Found(Vec<Tid>);

impl BitmapSink for Found {
    fn tid(&mut self, tid: Tid, _recheck: bool) -> IndexResult<()> {
        self.0.push(tid);
        Ok(())
    }

    fn pages(&mut self, first: base::BlockNo, _count: u32) -> IndexResult<()> {
        panic!("{first}")
    }

    fn table_pages(&mut self) -> IndexResult<u32> {
        Ok(0)
    }
}

impl World {
    pub fn new(shape: Shape, buffers: usize) -> World {
        let world = World::with_store(shape, Store::new(buffers));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    pub fn with_store(shape: Shape, store: Store) -> World {
        World::with_options(shape, store, false)
    }

    /// An empty index with pending entries.
    pub fn fast(shape: Shape, buffers: usize) -> World {
        let mut world = World::with_options(shape, Store::new(buffers), true);
        world.limits.pending_list = 64 << 10;
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    fn with_options(shape: Shape, store: Store, fast: bool) -> World {
        let (rel, limits) = (Arc::new(GinRel::new(shape.desc(fast))), Limits::default());
        let (snapshots, model) = Default::default();
        World { store, rel, shape, snapshots, model, next_tid: 0, limits }
    }

    pub fn access(&self) -> Access<'_> {
        Access { pool: &self.store.pool, horizon: &self.snapshots, xid: Xid::INVALID, limits: self.limits }
    }

    pub fn insert_row(&self, row: &[Datum], tid: Tid) {
        let outcome = self.rel.insert(&self.access(), row, tid, UniqueCheck::No, &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
    }

    pub fn new_tid(&mut self) -> Tid {
        self.next_tid += 1;
        tid(self.next_tid)
    }

    pub fn insert(&mut self, n: u32) {
        let (row, tid) = (self.shape.row(n), self.new_tid());
        self.insert_row(&row, tid);
        self.model.push((row, tid));
    }

    /// As [`insert`](World::insert), of many rows at once.
    pub fn insert_together(&mut self, rows: impl Iterator<Item = u32>) {
        let rows: Vec<Row> = rows.map(|n| (self.shape.row(n), self.new_tid())).collect();
        let values: Vec<Datum> = rows.iter().flat_map(|row| row.0.clone()).collect();
        let tids: Vec<Tid> = rows.iter().map(|row| row.1).collect();
        self.rel.insert_batch(&self.access(), &values, &tids, &AllLive).unwrap();
        self.model.extend(rows);
    }

    pub fn bulk_delete(&self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        // An xid passes, so that pages deleted before can become free.
        drop(self.snapshots.take());
        let mut manner = Manner { ring: None, pause: &mut runtime::check_interrupts };
        let (mut stats, access) = (VacuumStats::default(), self.access());
        self.rel.bulk_delete(&access, &mut |tid| dead(tid), &mut manner, &mut stats).unwrap();
        self.rel.cleanup(&access, &mut manner, Some(stats)).unwrap()
    }

    /// VACUUM that removes the rows `dead` names, from the model too.
    pub fn vacuum(&mut self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        let stats = self.bulk_delete(&dead);
        self.model.retain(|(_, tid)| !dead(*tid));
        stats
    }

    /// What a search finds, in order.
    pub fn collect(&self, keys: Vec<ScanKey>) -> Vec<Tid> {
        let mut scan = self.rel.scan(ScanKeys { keys, ..ScanKeys::default() }, Wants::TIDS);
        let mut found = Found(Vec::new());
        scan.bitmap(&self.access(), &mut found).unwrap();
        scan.finish(&self.access());
        let distinct: BTreeSet<Tid> = found.0.iter().copied().collect();
        assert_eq!(distinct.len(), found.0.len(), "a row came twice");
        distinct.into_iter().collect()
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL, None).unwrap()
    }

    /// What the model finds.
    pub fn expected(&self, conditions: &[(usize, u16, Vec<u16>)]) -> Vec<Tid> {
        let meets = |row: &[Datum], (column, strategy, value): &(usize, u16, Vec<u16>)| {
            !row[*column].is_null() && satisfies(*strategy, &numbers(&row[*column]), value)
        };
        let found = self.model.iter().filter(|(row, _)| conditions.iter().all(|c| meets(row, c)));
        let tids: BTreeSet<Tid> = found.map(|(_, tid)| *tid).collect();
        tids.into_iter().collect()
    }

    /// The searches of [`check`](World::check).
    pub fn searches(&self) -> Vec<Vec<(usize, u16, Vec<u16>)>> {
        let mut all: Vec<Vec<(usize, u16, Vec<u16>)>> = vec![
            vec![(0, ALL, vec![1, 12])],
            vec![(0, ALL, vec![300])],
            vec![(0, ALL, vec![])],
            vec![(0, ALL, vec![2, 304, 5000])],
            vec![(0, ANY, vec![0, 305, 306])],
            vec![(0, ANY, vec![9000])],
            vec![(0, NONE, vec![0, 1])],
            vec![(0, BETWEEN, vec![305, 330])],
            vec![(0, ALL, vec![1]), (0, NONE, vec![12, 305])],
            vec![(0, ANY, vec![1, 2]), (0, ANY, vec![301, 302])],
            vec![(0, NONE, vec![1]), (0, NONE, vec![2])],
        ];
        if self.shape == Shape::Two {
            all.push(vec![(0, ALL, vec![1]), (1, ANY, vec![3, 4])]);
            all.push(vec![(1, ALL, vec![7])]);
            all.push(vec![(1, NONE, vec![7])]);
        }
        all
    }

    /// The index is sound and searches find what they are to find.
    pub fn check(&self) -> VerifyReport {
        let report = self.verify();
        for search in self.searches() {
            let keys = search.iter().map(|(c, s, v)| key(*c, *s, v)).collect();
            let (found, expected) = (self.collect(keys), self.expected(&search));
            let shape = self.shape;
            assert!(found == expected, "{shape:?} {search:?}: {} instead of {}", found.len(), expected.len());
        }
        // Without a word of the others' parts nothing is sure: more may be found, nothing less.
        for value in [vec![0, 10, 300], vec![]] {
            let found = self.collect(vec![key(0, WITHIN, &value)]);
            let expected = self.expected(&[(0, WITHIN, value)]);
            assert!(expected.iter().all(|tid| found.binary_search(tid).is_ok()));
        }
        let all: BTreeSet<Tid> = self.model.iter().map(|row| row.1).collect();
        assert!(self.collect(vec![]).into_iter().eq(all), "a search for all");
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}

pub fn key(column: usize, strategy: u16, value: &[u16]) -> ScanKey {
    ScanKey { column, op: ScanOp::Operator { strategy, operand: Oid(1), value: list(value) } }
}
