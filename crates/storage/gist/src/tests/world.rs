//! What the tests stand on: a class of intervals, one index in a [`store`], and a list of its contents.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{Oid, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, IndexAccessMethod, IndexDesc, IndexScan, InsertOutcome, KeyColumn, Manner, Match,
    ScanKey, ScanKeys, ScanOp, TreeClass, TreeQuery, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use store::{AllLive, FILE, Snapshots, Store, tid};
use tuple::{Attr, Bytes, Datum, Physical, RowLayout};

use crate::verify::{VerifyReport, verify};
use crate::{GistRel, Scan};

/// Strategy: the interval overlaps the value.
pub const OVERLAPS: u16 = 3;
/// Strategy: the interval has the same ends.
pub const EQUALS: u16 = 18;
/// Ordering strategy: distance of the intervals.
pub const DISTANCE: u16 = 15;

/// Intervals of integers; `padding` bytes more make the keys long.
#[derive(Debug)]
pub struct Intervals {
    padding: usize,
}

pub static SHORT: Intervals = Intervals { padding: 0 };
pub static LONG: Intervals = Intervals { padding: 600 };

pub fn ends(value: &Datum) -> (i32, i32) {
    let Datum::Bytes(bytes) = value else { panic!("{value:?}") };
    let word = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    (word(0), word(4))
}

impl Intervals {
    pub fn make(&self, low: i32, high: i32) -> Datum {
        let mut bytes = low.to_le_bytes().to_vec();
        bytes.extend_from_slice(&high.to_le_bytes());
        bytes.resize(8 + self.padding, 7);
        Datum::Bytes(Bytes::from(bytes))
    }
}

pub fn overlap(a: (i32, i32), b: (i32, i32)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

pub fn distance(a: (i32, i32), b: (i32, i32)) -> f64 {
    f64::from((a.0 - b.1).max(b.0 - a.1).max(0))
}

impl TreeClass for Intervals {
    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match {
        let (key, value) = (ends(key), ends(query.value));
        let satisfied = if query.strategy == EQUALS && leaf { key == value } else { overlap(key, value) };
        Match::of(satisfied, true)
    }
    fn union(&self, keys: &[&Datum]) -> Datum {
        let low = keys.iter().map(|key| ends(key).0).min().unwrap();
        self.make(low, keys.iter().map(|key| ends(key).1).max().unwrap())
    }
    fn same(&self, a: &Datum, b: &Datum) -> bool {
        ends(a) == ends(b)
    }
    fn penalty(&self, key: &Datum, new: &Datum) -> f32 {
        let (key, new) = (ends(key), ends(new));
        ((key.0 - new.0).max(0) + (new.1 - key.1).max(0)) as f32
    }
    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        let mut lows: Vec<i32> = keys.iter().map(|key| ends(key).0).collect();
        lows.sort_unstable();
        let middle = lows[lows.len() / 2];
        keys.iter().map(|key| ends(key).0 >= middle).collect()
    }
    fn distance(&self, key: &Datum, query: TreeQuery<'_>, _leaf: bool) -> (f64, bool) {
        (distance(ends(key), ends(query.value)), false)
    }
    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        ends(a).cmp(&ends(b))
    }
}

/// One interval, or two and an INCLUDE column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Short,
    Long,
    Two,
}

impl Shape {
    pub const ALL: [Shape; 3] = [Shape::Short, Shape::Long, Shape::Two];

    pub fn class(self) -> &'static Intervals {
        if self == Shape::Long { &LONG } else { &SHORT }
    }

    fn desc(self) -> IndexDesc {
        let varlena = Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None };
        let int = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        let class: &'static dyn TreeClass = self.class();
        let key = KeyColumn::ascending(Compare::Bytes);
        let (attrs, keys) = match self {
            Shape::Two => (vec![varlena, varlena, int], 2),
            _ => (vec![varlena], 1),
        };
        IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(attrs)),
            keys: vec![key; keys].into(),
            trees: vec![class; keys],
            hashes: Vec::new(),
            parts: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence: Persistence::Permanent,
            unique: false,
            nulls_not_distinct: false,
            equal_image: false,
            options: Vec::new(),
        }
    }

    /// The `n`-th row; NULL in a column now and then.
    pub fn row(self, n: i32) -> Vec<Datum> {
        let class = self.class();
        let first = if n % 97 == 96 { Datum::Null } else { class.make(n, n + n % 13) };
        match self {
            Shape::Two => {
                let second = if n % 7 == 3 { Datum::Null } else { class.make(n % 50, n % 50 + 2) };
                let first = if n % 97 == 96 { Datum::Null } else { class.make(n / 60, n / 60) };
                vec![first, second, Datum::Int4(n)]
            }
            _ => vec![first],
        }
    }
}

pub type Entry = (Vec<Datum>, Tid);

/// An index beside what must be in it.
pub struct World {
    pub store: Store,
    pub rel: Arc<GistRel>,
    pub shape: Shape,
    pub snapshots: Snapshots,
    pub model: Vec<Entry>,
    pub next_tid: u32,
}

impl World {
    pub fn new(shape: Shape, buffers: usize) -> World {
        let world = World::with_store(shape, Store::new(buffers));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    pub fn with_store(shape: Shape, store: Store) -> World {
        let rel = Arc::new(GistRel::new(shape.desc()));
        World { store, rel, shape, snapshots: Snapshots::default(), model: Vec::new(), next_tid: 0 }
    }

    pub fn access(&self) -> Access<'_> {
        Access {
            pool: &self.store.pool,
            horizon: &self.snapshots,
            xid: Xid::INVALID,
            limits: index::Limits::default(),
        }
    }

    pub fn insert_row(&self, row: &[Datum], tid: Tid) {
        let outcome = self.rel.insert(&self.access(), row, tid, UniqueCheck::No, &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
    }

    pub fn new_tid(&mut self) -> Tid {
        self.next_tid += 1;
        tid(self.next_tid)
    }

    pub fn insert(&mut self, n: i32) {
        let (row, tid) = (self.shape.row(n), self.new_tid());
        self.insert_row(&row, tid);
        self.model.push((row, tid));
    }

    pub fn bulk_delete(&self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        // An xid passes, so that pages deleted before can become free.
        drop(self.snapshots.take());
        let mut manner = Manner { ring: None, pause: &mut runtime::check_interrupts };
        let (mut stats, access) = (VacuumStats::default(), self.access());
        self.rel.bulk_delete(&access, &mut |tid| dead(tid), &mut manner, &mut stats).unwrap();
        self.rel.cleanup(&access, &mut manner, Some(stats)).unwrap()
    }

    /// VACUUM that removes the entries `dead` names, from the model too.
    pub fn vacuum(&mut self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        let stats = self.bulk_delete(&dead);
        self.model.retain(|(_, tid)| !dead(*tid));
        stats
    }

    pub fn scan(&self, keys: Vec<ScanKey>, wants: Wants) -> Scan {
        self.rel.scan(ScanKeys { keys, ..ScanKeys::default() }, wants)
    }

    /// What a scan finds, by TID.
    pub fn collect(&self, keys: Vec<ScanKey>) -> Vec<Entry> {
        let mut scan = self.scan(keys, Wants::ONLY);
        let mut out = Vec::new();
        while let Some(tid) = scan.next(&self.access()).unwrap() {
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            out.push((row, tid));
        }
        scan.finish(&self.access());
        out.sort_by_key(|entry| entry.1);
        out
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL, None).unwrap()
    }

    /// The tree is sound and holds what the model holds; searches find what they are to find.
    pub fn check(&self) -> VerifyReport {
        let report = self.verify();
        assert_eq!(report.entries, self.model.len() as u64);
        let mut model = self.model.clone();
        model.sort_by_key(|entry| entry.1);
        assert!(self.collect(vec![]) == model, "a scan of all");
        for low in [0, 17, 400] {
            let value = (low, low + 30);
            let wanted = |entry: &&Entry| !entry.0[0].is_null() && overlap(ends(&entry.0[0]), value);
            let expected: Vec<Entry> = model.iter().filter(wanted).cloned().collect();
            let found = self.collect(vec![key(0, OVERLAPS, self.shape.class().make(value.0, value.1))]);
            assert!(found == expected, "{value:?}: {} instead of {}", found.len(), expected.len());
        }
        let nulls: Vec<Entry> = model.iter().filter(|entry| entry.0[0].is_null()).cloned().collect();
        assert!(self.collect(vec![ScanKey { column: 0, op: ScanOp::IsNull }]) == nulls);
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}

pub fn key(column: usize, strategy: u16, value: Datum) -> ScanKey {
    ScanKey { column, op: ScanOp::Operator { strategy, operand: Oid(1), value } }
}
