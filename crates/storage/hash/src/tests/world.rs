//! What the tests stand on: hash functions of several kinds, one index in a [`store`], and a list of its contents.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, HashBy, IndexAccessMethod, IndexDesc, IndexScan, InsertOutcome, KeyColumn, Manner,
    ScanKey, ScanKeys, ScanOp, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use store::{AllLive, FILE, Snapshots, Store, tid};
use tuple::{Attr, Datum, Physical, RowLayout};

use crate::verify::{VerifyReport, verify};
use crate::{HashRel, Scan};

/// How values hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All codes are different and spread evenly.
    Even,
    /// Codes are few, so that each fills several buckets.
    Few,
    /// All codes are near each other.
    Narrow,
}

fn number(value: &Datum) -> u64 {
    let Datum::Int8(n) = value else { panic!("{value:?}") };
    *n as u64
}

impl Shape {
    pub const ALL: [Shape; 3] = [Shape::Even, Shape::Few, Shape::Narrow];

    fn hash(self) -> fn(&Datum, u64) -> u64 {
        match self {
            Shape::Even => |value, _| (number(value).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32,
            Shape::Few => |value, _| (number(value) % 3) * 0x4000_0000,
            Shape::Narrow => |value, _| 0x7000_0000 + number(value) % 1000,
        }
    }

    pub fn desc(self, persistence: Persistence) -> IndexDesc {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(vec![attr])),
            keys: vec![KeyColumn::ascending(Compare::Bytes)].into(),
            trees: Vec::new(),
            parts: Vec::new(),
            hashes: vec![HashBy::With(self.hash(), 0)],
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence,
            unique: false,
            nulls_not_distinct: false,
            equal_image: false,
            options: Vec::new(),
        }
    }
}

pub struct World {
    pub store: Store,
    pub rel: Arc<HashRel>,
    pub snapshots: Snapshots,
    /// What is in the index.
    pub model: BTreeMap<Tid, i64>,
    pub next_tid: u32,
}

impl World {
    pub fn new(shape: Shape, buffers: usize) -> World {
        let world = World::with_store(shape, Store::new(buffers));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    pub fn with_store(shape: Shape, store: Store) -> World {
        let rel = Arc::new(HashRel::new(shape.desc(Persistence::Permanent)));
        let (snapshots, model) = (Snapshots::default(), BTreeMap::new());
        World { store, rel, snapshots, model, next_tid: 0 }
    }

    pub fn access(&self) -> Access<'_> {
        Access {
            pool: &self.store.pool,
            horizon: &self.snapshots,
            xid: Xid(3),
            limits: index::Limits::default(),
        }
    }

    pub fn insert_row(&self, value: i64, at: Tid) {
        let _snapshot = self.snapshots.take();
        let values = [Datum::Int8(value)];
        let done = self.rel.insert(&self.access(), &values, at, UniqueCheck::No, &AllLive).unwrap();
        assert_eq!(done, InsertOutcome::Inserted);
    }

    pub fn insert(&mut self, value: i64) {
        self.next_tid += 1;
        let at = tid(self.next_tid);
        self.insert_row(value, at);
        self.model.insert(at, value);
    }

    pub fn scan(&self, keys: Vec<ScanKey>, wants: Wants) -> Scan {
        self.rel.scan(ScanKeys { keys, ..ScanKeys::default() }, wants)
    }

    /// All TIDs that a scan finds, each of which it may find once.
    pub fn collect(&self, op: ScanOp) -> Vec<Tid> {
        let mut scan = self.scan(vec![ScanKey { column: 0, op }], Wants::TIDS);
        let mut out = Vec::new();
        while let Some(tid) = scan.next(&self.access()).unwrap() {
            out.push(tid);
        }
        assert!(!scan.has_more());
        scan.finish(&self.access());
        out.sort_unstable();
        let count = out.len();
        out.dedup();
        assert_eq!(out.len(), count, "an entry came twice");
        out
    }

    pub fn find(&self, value: i64) -> Vec<Tid> {
        self.collect(ScanOp::Strategy(1, Datum::Int8(value)))
    }

    pub fn bulk_delete(&self, mut is_dead: impl FnMut(Tid) -> bool) -> VacuumStats {
        let mut stats = VacuumStats::default();
        let mut pause = || Ok(());
        let mut manner = Manner { ring: None, pause: &mut pause };
        self.rel.bulk_delete(&self.access(), &mut is_dead, &mut manner, &mut stats).unwrap();
        stats
    }

    pub fn vacuum(&mut self, mut is_dead: impl FnMut(Tid) -> bool) -> VacuumStats {
        let stats = self.bulk_delete(&mut is_dead);
        self.model.retain(|tid, _| !is_dead(*tid));
        drop(self.snapshots.take());
        stats
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL, None).unwrap()
    }

    /// Every entry, as a check of the index gives them.
    pub fn entries(&self) -> Vec<Tid> {
        let mut out = Vec::new();
        let mut each = |tid: Tid, _: &[Datum]| {
            out.push(tid);
            Ok(())
        };
        verify(&self.access(), &self.rel, VerifyOptions::ALL, Some(&mut each)).unwrap();
        out.sort_unstable();
        out
    }

    /// The index is sound and has what the model holds; searches find what they are to find.
    pub fn check(&self) -> VerifyReport {
        let report = self.verify();
        assert_eq!(report.entries, self.model.len() as u64);
        assert!(self.entries().iter().eq(self.model.keys()));
        let code = |value: i64| self.rel.code(&Datum::Int8(value));
        for value in (0..3000).step_by(171).chain(self.model.values().copied().step_by(997)) {
            let same = |(_, other): &(&Tid, &i64)| code(**other) == code(value);
            let expected: Vec<Tid> = self.model.iter().filter(same).map(|(tid, _)| *tid).collect();
            assert!(self.find(value) == expected, "{value}");
        }
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}
