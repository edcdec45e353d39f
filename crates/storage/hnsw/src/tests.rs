//! Tests of whole graphs: searches against a list, redo of prefixes of the log.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{Lsn, Oid, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, IndexAccessMethod, IndexDesc, IndexScan, KeyColumn, Manner, Match, ScanKey, ScanKeys,
    ScanOp, TreeClass, TreeQuery, VacuumStats, VerifyOptions, Wants,
};
use store::replay::{damaged_pages_are_told, gives_the_same_pages, redo};
use store::{FILE, Random, Snapshots, Store, tid};
use tuple::{Attr, Datum, Physical, RowLayout};
use wal::Record;

use crate::HnswRel;
use crate::redo::redo_block;

/// Points of the plane, with `padding` bytes behind them.
#[derive(Debug)]
struct Points {
    padding: usize,
}

static SMALL: Points = Points { padding: 0 };
static LARGE: Points = Points { padding: 7900 };

fn place(value: &Datum) -> [f64; 2] {
    let bytes = index::as_bytes(value).unwrap();
    [0, 8].map(|at| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()))
}

impl Points {
    fn make(&self, x: f64, y: f64) -> Datum {
        let mut bytes = [x.to_le_bytes(), y.to_le_bytes()].concat();
        bytes.resize(16 + self.padding, 7);
        Datum::Bytes(bytes.into())
    }
}

fn distance(a: &Datum, b: &Datum) -> f64 {
    let ([x, y], [u, v]) = (place(a), place(b));
    (x - u).hypot(y - v)
}

impl TreeClass for Points {
    fn consistent(&self, _: &Datum, _: TreeQuery<'_>, _: bool) -> Match {
        Match::Maybe
    }
    fn union(&self, keys: &[&Datum]) -> Datum {
        keys[0].clone()
    }
    fn same(&self, a: &Datum, b: &Datum) -> bool {
        a == b
    }
    fn penalty(&self, _: &Datum, _: &Datum) -> f32 {
        0.0
    }
    fn split(&self, keys: &[&Datum]) -> Vec<bool> {
        vec![false; keys.len()]
    }
    fn distance(&self, key: &Datum, query: TreeQuery<'_>, _: bool) -> (f64, bool) {
        (distance(key, query.value), false)
    }
    fn order(&self, _: &Datum, _: &Datum) -> Ordering {
        Ordering::Equal
    }
}

/// One index, and what is in it.
struct World {
    class: &'static Points,
    store: Store,
    rel: Arc<HnswRel>,
    snapshots: Snapshots,
    random: Random,
    model: BTreeMap<Tid, Datum>,
    next: u32,
}

impl World {
    fn empty(class: &'static Points, store: Store) -> World {
        let attr = Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None };
        let tree: &'static dyn TreeClass = class;
        let desc = IndexDesc {
            file: FILE,
            layout: Arc::new(RowLayout::new(vec![attr])),
            keys: vec![KeyColumn::ascending(Compare::Bytes)].into(),
            trees: vec![tree],
            hashes: Vec::new(),
            parts: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence: Persistence::Permanent,
            unique: false,
            nulls_not_distinct: false,
            equal_image: false,
            options: vec![("m".into(), "4".into()), ("ef_construction".into(), "16".into())],
        };
        let rel = Arc::new(HnswRel::new(desc));
        World {
            class,
            store,
            rel,
            snapshots: Snapshots::default(),
            random: Random(7),
            model: BTreeMap::new(),
            next: 0,
        }
    }

    fn new(class: &'static Points) -> World {
        let world = World::empty(class, Store::new(4096));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    fn access(&self) -> Access<'_> {
        Access {
            pool: &self.store.pool,
            horizon: &self.snapshots,
            xid: Xid(3),
            limits: index::Limits::default(),
        }
    }

    fn insert(&mut self, count: u32) {
        for _ in 0..count {
            let (x, y) = (self.random.below(1000) as f64, self.random.below(1000) as f64);
            let value = self.class.make(x, y);
            let tid = tid(self.next);
            self.next += 1;
            crate::insert::insert(&self.access(), &self.rel, std::slice::from_ref(&value), tid, None)
                .unwrap();
            self.model.insert(tid, value);
        }
    }

    fn vacuum(&mut self, is_dead: impl Fn(Tid) -> bool) {
        let mut stats = VacuumStats::default();
        let mut manner = Manner { ring: None, pause: &mut || Ok(()) };
        self.rel.bulk_delete(&self.access(), &mut |tid| is_dead(tid), &mut manner, &mut stats).unwrap();
        let before = self.model.len();
        self.model.retain(|tid, _| !is_dead(*tid));
        assert_eq!(stats.tuples_removed as usize, before - self.model.len());
        assert_eq!(stats.tuples as usize, self.model.len());
    }

    fn verify(&self) -> BTreeMap<Tid, Datum> {
        let mut found = BTreeMap::new();
        let mut each = |tid: Tid, values: &[Datum]| {
            assert!(found.insert(tid, values[0].clone()).is_none(), "twice");
            Ok(())
        };
        self.rel.verify(&self.access(), VerifyOptions::ALL, Some(&mut each)).unwrap();
        found
    }

    fn nearest(&self, to: &Datum, count: usize) -> Vec<Tid> {
        let keys = ScanKeys { keys: Vec::new(), direction: index::Direction::Forward };
        let mut scan = self.rel.scan(keys, Wants::TIDS);
        let op = ScanOp::Operator { strategy: 1, operand: Oid(0), value: to.clone() };
        scan.order_by(vec![ScanKey { column: 0, op }]).unwrap();
        let mut out = Vec::new();
        while out.len() < count
            && let Some(tid) = scan.next(&self.access()).unwrap()
        {
            out.push(tid);
        }
        out
    }

    /// All that should be there is, and searches find nine of ten that are nearest.
    fn check(&mut self) {
        assert_eq!(self.verify(), self.model);
        let (mut wanted, mut hit) = (0, 0);
        for _ in 0..20 {
            let (x, y) = (self.random.below(1000) as f64, self.random.below(1000) as f64);
            let sought = self.class.make(x, y);
            let mut all: Vec<(f64, Tid)> =
                self.model.iter().map(|(tid, value)| (distance(value, &sought), *tid)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let truth: BTreeSet<Tid> = all.iter().take(8).map(|(_, tid)| *tid).collect();
            let found = self.nearest(&sought, truth.len());
            assert_eq!(found.len(), truth.len());
            wanted += truth.len();
            hit += found.iter().filter(|tid| truth.contains(tid)).count();
        }
        assert!(hit * 10 >= wanted * 9, "{hit} of {wanted}");
    }
}

/// Rows come, go, and come to the places of others.
fn history(class: &'static Points) -> World {
    let mut world = World::new(class);
    let count = if class.padding > 0 { 60 } else { 300 };
    world.insert(count);
    world.check();
    world.vacuum(|tid| tid.offset % 3 == 0);
    world.check();
    world.insert(count / 2);
    world.check();
    world.vacuum(|tid| tid.offset % 2 == 0);
    world.insert(count / 3);
    world.check();
    world
}

fn records(store: &Store) -> Vec<Record> {
    store.records(wal::Rmgr::Hnsw)
}

fn pages(store: &Store) -> Vec<(Lsn, (), Vec<Vec<u8>>)> {
    store.pages(|_| ())
}

#[test]
fn searches_find_what_is_near() {
    history(&SMALL);
    history(&LARGE);
}

#[test]
fn an_index_may_become_empty() {
    let mut world = World::new(&SMALL);
    assert!(world.nearest(&SMALL.make(1.0, 1.0), 3).is_empty());
    world.insert(50);
    world.vacuum(|_| true);
    world.check();
    world.insert(50);
    world.check();
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for class in [&SMALL, &LARGE] {
        let world = history(class);
        let log = records(&world.store);
        gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, pages);
    }
}

#[test]
fn every_prefix_is_sound_and_goes_on() {
    let log = records(&history(&SMALL).store);
    let copy = World::empty(&SMALL, Store::new(4096));
    for (i, record) in log.iter().enumerate() {
        redo(&copy.store.pool, record, redo_block);
        if i % 101 == 0 {
            copy.verify();
        }
    }
    for stop in [200, log.len() / 2, log.len() - 100] {
        let mut world = World::empty(&SMALL, Store::new(4096));
        log[..stop].iter().for_each(|record| redo(&world.store.pool, record, redo_block));
        world.model = world.verify();
        world.next = 1_000_000;
        world.insert(40);
        world.vacuum(|tid| tid.offset % 5 == 0);
        assert_eq!(world.verify(), world.model);
    }
}

#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&records(&history(&SMALL).store), redo_block);
}
