//! Tests of whole indexes: searches against a list, builds, redo of prefixes of the log.

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

use crate::IvfflatRel;
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
        let sum = keys.iter().map(|key| place(key)).fold([0.0, 0.0], |[x, y], [u, v]| [x + u, y + v]);
        self.make(sum[0] / keys.len() as f64, sum[1] / keys.len() as f64)
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
    rel: Arc<IvfflatRel>,
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
            options: vec![("lists".into(), "7".into())],
        };
        let rel = Arc::new(IvfflatRel::new(desc));
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
            crate::insert::insert(&self.access(), &self.rel, std::slice::from_ref(&value), tid).unwrap();
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

    /// What a search finds that looks through so many lists.
    fn nearest(&self, to: &Datum, probes: u32) -> Vec<Tid> {
        runtime::set_word(index::settings::PROBES, probes);
        let keys = ScanKeys { keys: Vec::new(), direction: index::Direction::Forward };
        let mut scan = self.rel.scan(keys, Wants::TIDS);
        let op = ScanOp::Operator { strategy: 1, operand: Oid(0), value: to.clone() };
        scan.order_by(vec![ScanKey { column: 0, op }]).unwrap();
        let mut out = Vec::new();
        while let Some(tid) = scan.next(&self.access()).unwrap() {
            out.push(tid);
        }
        out
    }

    /// All that should be there is; who looks through all lists finds all in order, and who looks through three of seven most of those that are nearest.
    fn check(&mut self) {
        assert_eq!(self.verify(), self.model);
        let (mut wanted, mut hit) = (0, 0);
        for _ in 0..20 {
            let (x, y) = (self.random.below(1000) as f64, self.random.below(1000) as f64);
            let sought = self.class.make(x, y);
            let mut all: Vec<(f64, Tid)> =
                self.model.iter().map(|(tid, value)| (distance(value, &sought), *tid)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let all: Vec<Tid> = all.into_iter().map(|(_, tid)| tid).collect();
            assert_eq!(self.nearest(&sought, 7), all);
            let truth: BTreeSet<Tid> = all.iter().take(8).copied().collect();
            let found = self.nearest(&sought, 3);
            wanted += truth.len();
            hit += found.iter().take(8).filter(|tid| truth.contains(tid)).count();
        }
        assert!(hit * 10 >= wanted * 9, "{hit} of {wanted}");
    }

    /// An index that is built of as many rows.
    fn built(class: &'static Points, count: u32) -> World {
        let mut world = World::empty(class, Store::new(4096));
        let mut rows: Vec<(Tid, Datum)> = (0..count)
            .map(|n| (tid(n), class.make(world.random.below(1000) as f64, world.random.below(1000) as f64)))
            .collect();
        rows.sort_by(|a, b| {
            world.rel.compare_entries((std::slice::from_ref(&a.1), a.0), (std::slice::from_ref(&b.1), b.0))
        });
        world.model = rows.iter().cloned().collect();
        world.next = count;
        let mut rows = rows.into_iter();
        let made = world.rel.build(&world.access(), &mut |values| {
            let Some((tid, value)) = rows.next() else { return Ok(None) };
            values.clear();
            values.push(value);
            Ok(Some(tid))
        });
        assert_eq!(made.unwrap(), u64::from(count));
        world
    }
}

/// Rows come, go, and come to the places of others.
fn history(class: &'static Points) -> World {
    let count = if class.padding > 0 { 60 } else { 300 };
    let mut world = World::built(class, count);
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
    store.records(wal::Rmgr::Ivfflat)
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
    assert_eq!(world.verify(), world.model);
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
        if i % 53 == 0 {
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
fn builds_make_as_many_lists_as_there_are_different_rows() {
    let world = World::built(&SMALL, 300);
    assert_eq!(world.rel.meta(&world.access()).unwrap().lists, 7);
    let sizes = crate::lists::all(&world.access(), &world.rel, |list| Ok(list.head.first)).unwrap();
    assert!(sizes.iter().all(|first| *first != crate::format::META), "no list is empty");
    let mut few = World::built(&SMALL, 3);
    assert!(few.rel.meta(&few.access()).unwrap().lists <= 3);
    few.check();
    let mut none = World::built(&SMALL, 0);
    assert_eq!(none.rel.meta(&none.access()).unwrap().lists, 0);
    none.insert(20);
    none.check();
}

#[test]
fn scans_go_on_if_they_are_to() {
    let world = World::built(&SMALL, 300);
    let sought = SMALL.make(500.0, 500.0);
    let one = world.nearest(&sought, 1).len();
    runtime::set_word(index::settings::ITERATIVE_PROBES, 1);
    let all = world.nearest(&sought, 1);
    runtime::set_word(index::settings::MAX_PROBES, 2);
    let two = world.nearest(&sought, 1).len();
    runtime::set_word(index::settings::MAX_PROBES, 0);
    runtime::set_word(index::settings::ITERATIVE_PROBES, 0);
    assert!(one < two && two < all.len(), "{one} {two} {}", all.len());
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 300);
    assert_eq!(world.nearest(&sought, 2).len(), two);
}

#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&records(&history(&SMALL).store), redo_block);
}
