//! What the tests of whole trees stand on: one index in a [`store`], and a model of its contents.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{SqlError, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, Direction, IndexDesc, InsertOutcome, KeyColumn, Manner, OrderBy, ScanKey, ScanKeys,
    UniqueCheck, VacuumStats, VerifyOptions, compare_values,
};
use store::{AllLive, FILE, Snapshots, Store, tid};
use tuple::{Attr, Datum, Physical, RowLayout};

use crate::build::create_empty;
use crate::insert::insert;
use crate::vacuum::{bulk_delete, cleanup};
use crate::verify::{VerifyReport, verify};
use crate::{BtreeRel, Scan};

/// How the tests go through an index.
pub fn manner() -> Manner<'static> {
    Manner { ring: None, pause: Box::leak(Box::new(runtime::check_interrupts)) }
}

/// Shape of the index under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One int4, with deduplication.
    Int,
    /// The same, descending and with NULLs first.
    Down,
    /// text, then int4 descending with NULLs first; no deduplication.
    Mixed,
    /// Long text: few entries a page, so that the tree gets high.
    Long,
    /// int4, and an INCLUDE column.
    Included,
    /// int4 with five rows a key, and a long INCLUDE column: ten entries a page, and pivots with TIDs.
    Broad,
    /// As `Broad`, in an order that code tells which lets others run.
    Asked,
}

/// The order of numbers, told by code that lets others run.
#[derive(Debug)]
struct Slow(#[allow(dead_code)] u8);

static SLOW: Slow = Slow(1);

impl OrderBy for Slow {
    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        compare_values(Compare::Int4, a, b)
    }

    fn leading(&self, _value: &Datum) -> u64 {
        0
    }

    fn asks(&self) -> bool {
        true
    }

    fn ask(&self, a: &Datum, b: &Datum) -> Result<Ordering, SqlError> {
        runtime::yield_now();
        Ok(self.compare(a, b))
    }
}

impl Shape {
    pub const ALL: [Shape; 4] = [Shape::Int, Shape::Mixed, Shape::Long, Shape::Included];

    pub fn desc(self, unique: bool) -> IndexDesc {
        let int = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        let text = Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None };
        let up = KeyColumn::ascending;
        let down = KeyColumn { compare: Compare::Int4, descending: true, nulls_first: true };
        let (attrs, keys) = match self {
            Shape::Int => (vec![int], vec![up(Compare::Int4)]),
            Shape::Down => (vec![int], vec![down]),
            Shape::Mixed => (vec![text, int], vec![up(Compare::Bytes), down]),
            Shape::Long => (vec![text], vec![up(Compare::Bytes)]),
            Shape::Included | Shape::Broad => (vec![int, text], vec![up(Compare::Int4)]),
            Shape::Asked => (vec![int, text], vec![up(Compare::By(&SLOW))]),
        };
        IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(attrs)),
            keys: keys.into(),
            trees: Vec::new(),
            hashes: Vec::new(),
            parts: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence: Persistence::Permanent,
            unique,
            nulls_not_distinct: false,
            equal_image: matches!(self, Shape::Int | Shape::Down | Shape::Long),
            options: Vec::new(),
        }
    }

    /// The `n`-th key; NULL in the last column now and then.
    pub fn row(self, n: i32) -> Vec<Datum> {
        let second = if n % 7 == 3 { Datum::Null } else { Datum::Int4(n % 50) };
        match self {
            Shape::Int | Shape::Down => vec![if n % 97 == 96 { Datum::Null } else { Datum::Int4(n) }],
            Shape::Mixed => vec![Datum::text(&format!("k{:05}", n / 50)), second],
            Shape::Long => {
                vec![Datum::text(&format!("{}{n:06}", "x".repeat(1000 + n.rem_euclid(3) as usize * 500)))]
            }
            Shape::Included => vec![Datum::Int4(n), Datum::text(&format!("payload {n}"))],
            Shape::Broad | Shape::Asked => vec![Datum::Int4(n / 5), Datum::text(&format!("{n:0700}"))],
        }
    }
}

pub type Entry = (Vec<Datum>, Tid);

/// An index beside a sorted list of what must be in it.
pub struct World {
    pub store: Store,
    pub rel: Arc<BtreeRel>,
    pub shape: Shape,
    pub snapshots: Snapshots,
    pub model: Vec<Entry>,
    pub next_tid: u32,
}

impl World {
    pub fn new(shape: Shape, buffers: usize) -> World {
        let world = World::with_store(shape, Store::new(buffers));
        create_empty(&world.access(), &world.rel).unwrap();
        world
    }

    pub fn with_store(shape: Shape, store: Store) -> World {
        let rel = Arc::new(BtreeRel::new(shape.desc(false)));
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

    pub fn new_tid(&mut self) -> Tid {
        self.next_tid += 1;
        tid(self.next_tid)
    }

    pub fn insert(&mut self, n: i32) {
        let tid = self.new_tid();
        self.insert_at(n, tid);
    }

    pub fn insert_at(&mut self, n: i32, tid: Tid) {
        let row = self.shape.row(n);
        let outcome = insert(&self.access(), &self.rel, &row, tid, UniqueCheck::No, &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
        self.remember(row, tid);
    }

    pub fn remember(&mut self, row: Vec<Datum>, tid: Tid) {
        let rel = self.rel.clone();
        let at = self
            .model
            .partition_point(|(other, t)| rel.desc.compare_entries((other, *t), (&row, tid)).is_lt());
        self.model.insert(at, (row, tid));
    }

    /// VACUUM that removes the entries `dead` names, from the model too.
    pub fn vacuum(&mut self, dead: impl Fn(Tid) -> bool) -> VacuumStats {
        // An xid passes, so that pages deleted before can become free.
        drop(self.snapshots.take());
        let mut stats = VacuumStats::default();
        let access = self.access();
        bulk_delete(&access, &self.rel, &dead, &mut manner(), &mut stats).unwrap();
        let stats = cleanup(&access, &self.rel, &mut manner(), Some(stats)).unwrap();
        self.model.retain(|(_, tid)| !dead(*tid));
        stats
    }

    /// A scan that finds the rows of the first `count` entries dead.
    pub fn kill_first(&mut self, count: usize) {
        let access = self.access();
        let mut scan = Scan::new(self.rel.clone(), ScanKeys::default(), false, false);
        for _ in 0..count {
            scan.next(&access).unwrap().unwrap();
            scan.kill_current();
        }
        scan.finish(&access);
        self.model.drain(..count);
    }

    pub fn collect(&self, keys: Vec<ScanKey>, direction: Direction) -> Vec<Entry> {
        let mut scan = Scan::new(self.rel.clone(), ScanKeys { keys, direction }, true, false);
        let mut out = Vec::new();
        while let Some(tid) = scan.next(&self.access()).unwrap() {
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            out.push((row, tid));
        }
        scan.finish(&self.access());
        out
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL, None).unwrap()
    }

    /// The tree is sound and holds what the model holds, seen from both ends.
    pub fn check(&self) -> VerifyReport {
        let report = self.verify();
        assert_eq!(report.entries, self.model.len() as u64);
        same(&self.collect(vec![], Direction::Forward), &self.model);
        let mut backward = self.collect(vec![], Direction::Backward);
        backward.reverse();
        same(&backward, &self.model);
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}

/// Compares with a message that can be read.
pub fn same(found: &[Entry], expected: &[Entry]) {
    if let Some(at) = (0..found.len().max(expected.len())).find(|&i| found.get(i) != expected.get(i)) {
        let around = |list: &[Entry]| {
            let short = |(row, tid): &Entry| format!("{:.60} {tid}", format!("{row:?}"));
            list.iter().skip(at.saturating_sub(1)).take(3).map(short).collect::<Vec<_>>()
        };
        panic!(
            "{} entries instead of {}; at {at}: {:?} instead of {:?}",
            found.len(),
            expected.len(),
            around(found),
            around(expected)
        );
    }
}
