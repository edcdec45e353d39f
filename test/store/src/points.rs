//! A world of points of the plane, in an index of a method that finds the nearest of them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{Lsn, Oid, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, Compare, Direction, IndexAccessMethod, IndexDesc, IndexScan, KeyColumn, Limits, Manner, Match,
    ScanKey, ScanKeys, ScanOp, TreeClass, TreeQuery, UniqueCheck, VacuumStats, VerifyOptions, Wants,
};
use tuple::{Attr, Datum, Physical, RowLayout};
use wal::Record;

use crate::{AllLive, FILE, Random, Snapshots, Store, tid};

/// Points, with `padding` bytes behind them.
#[derive(Debug)]
pub struct Points {
    padding: usize,
}

/// Points that lie close together on pages.
pub static SMALL: Points = Points { padding: 0 };
/// Points of which each fills a page.
pub static LARGE: Points = Points { padding: 7900 };

fn place(value: &Datum) -> [f64; 2] {
    let bytes = index::as_bytes(value).unwrap();
    [0, 8].map(|at| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()))
}

fn distance(a: &Datum, b: &Datum) -> f64 {
    let ([x, y], [u, v]) = (place(a), place(b));
    (x - u).hypot(y - v)
}

impl Points {
    /// A point.
    pub fn make(&self, x: f64, y: f64) -> Datum {
        let mut bytes = [x.to_le_bytes(), y.to_le_bytes()].concat();
        bytes.resize(16 + self.padding, 7);
        Datum::Bytes(bytes.into())
    }

    /// How many rows a history has to begin with.
    pub fn crowd(&self) -> u32 {
        if self.padding > 0 { 60 } else { 300 }
    }

    fn draw(&self, random: &mut Random) -> Datum {
        let (x, y) = (random.below(1000) as f64, random.below(1000) as f64);
        self.make(x, y)
    }
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
pub struct World<M> {
    /// What it is an index of.
    pub class: &'static Points,
    /// Its files.
    pub store: Store,
    /// It.
    pub rel: Arc<M>,
    snapshots: Snapshots,
    random: Random,
    /// Its rows.
    pub model: BTreeMap<Tid, Datum>,
    /// Number of the next row's TID.
    pub next: u32,
}

impl<M: IndexAccessMethod> World<M> {
    /// Its file is empty. `options`: those of the index.
    pub fn empty(class: &'static Points, options: &[(&str, &str)]) -> World<M> {
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
            options: options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        };
        World {
            class,
            store: Store::new(4096),
            rel: Arc::new(M::open(desc)),
            snapshots: Snapshots::default(),
            random: Random(7),
            model: BTreeMap::new(),
            next: 0,
        }
    }

    /// An empty index.
    pub fn new(class: &'static Points, options: &[(&str, &str)]) -> World<M> {
        let world: World<M> = World::empty(class, options);
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    /// An index that is built of as many rows.
    pub fn built(class: &'static Points, options: &[(&str, &str)], count: u32) -> World<M> {
        World::built_within(class, options, count, Limits::default().memory)
    }

    /// The same by who may use so many bytes of memory.
    pub fn built_within(
        class: &'static Points,
        options: &[(&str, &str)],
        count: u32,
        memory: usize,
    ) -> World<M> {
        let mut world: World<M> = World::empty(class, options);
        let mut rows: Vec<(Tid, Datum)> =
            (0..count).map(|n| (tid(n), class.draw(&mut world.random))).collect();
        rows.sort_by(|a, b| {
            let [x, y] = [&a.1, &b.1].map(std::slice::from_ref);
            M::compare_entries(&world.rel, (x, a.0), (y, b.0))
        });
        world.model = rows.iter().cloned().collect();
        world.next = count;
        let mut rows = rows.into_iter();
        let access = Access { limits: Limits { memory, ..Limits::default() }, ..world.access() };
        let made = world.rel.build(&access, &mut |values| {
            let Some((tid, value)) = rows.next() else { return Ok(None) };
            values.clear();
            values.push(value);
            Ok(Some(tid))
        });
        assert_eq!(made.unwrap(), u64::from(count));
        world
    }

    /// What operations need.
    pub fn access(&self) -> Access<'_> {
        Access { pool: &self.store.pool, horizon: &self.snapshots, xid: Xid(3), limits: Limits::default() }
    }

    /// What its method has logged.
    pub fn records(&self) -> Vec<Record> {
        self.store.records(M::MANAGER.id)
    }

    /// Enters rows at random places.
    pub fn insert(&mut self, count: u32) {
        for _ in 0..count {
            let (value, tid) = (self.class.draw(&mut self.random), tid(self.next));
            self.next += 1;
            let values = std::slice::from_ref(&value);
            self.rel.insert(&self.access(), values, tid, UniqueCheck::No, &AllLive).unwrap();
            self.model.insert(tid, value);
        }
    }

    /// Removes rows.
    pub fn vacuum(&mut self, is_dead: impl Fn(Tid) -> bool) {
        let mut stats = VacuumStats::default();
        let mut manner = Manner { ring: None, pause: &mut || Ok(()) };
        self.rel.bulk_delete(&self.access(), &mut |tid| is_dead(tid), &mut manner, &mut stats).unwrap();
        let before = self.model.len();
        self.model.retain(|tid, _| !is_dead(*tid));
        assert_eq!(stats.tuples_removed as usize, before - self.model.len());
        assert_eq!(stats.tuples as usize, self.model.len());
    }

    /// The rows of the index, which is sound.
    pub fn verify(&self) -> BTreeMap<Tid, Datum> {
        let mut found = BTreeMap::new();
        let mut each = |tid: Tid, values: &[Datum]| {
            assert!(found.insert(tid, values[0].clone()).is_none(), "twice");
            Ok(())
        };
        self.rel.verify(&self.access(), VerifyOptions::ALL, Some(&mut each)).unwrap();
        found
    }

    /// What a search finds, up to so many rows.
    pub fn nearest(&self, to: &Datum, most: usize) -> Vec<Tid> {
        let keys = ScanKeys { keys: Vec::new(), direction: Direction::Forward };
        let mut scan = self.rel.scan(keys, Wants::TIDS);
        let op = ScanOp::Operator { strategy: 1, operand: Oid(0), value: to.clone() };
        scan.order_by(vec![ScanKey { column: 0, op }]).unwrap();
        std::iter::from_fn(|| scan.next(&self.access()).unwrap()).take(most).collect()
    }

    /// All that should be there is; of the eight nearest rows to some places, `find` finds nine of ten. It is given the place and all rows, the nearest first.
    pub fn check(&mut self, find: impl Fn(&World<M>, &Datum, &[Tid]) -> Vec<Tid>) {
        assert_eq!(self.verify(), self.model);
        let (mut wanted, mut hit) = (0, 0);
        for _ in 0..20 {
            let sought = self.class.draw(&mut self.random);
            let mut all: Vec<(f64, Tid)> =
                self.model.iter().map(|(tid, value)| (distance(value, &sought), *tid)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let all: Vec<Tid> = all.into_iter().map(|(_, tid)| tid).collect();
            let truth: BTreeSet<Tid> = all.iter().take(8).copied().collect();
            let found = find(self, &sought, &all);
            wanted += truth.len();
            hit += found.iter().take(8).filter(|tid| truth.contains(tid)).count();
        }
        assert!(hit * 10 >= wanted * 9, "{hit} of {wanted}");
    }

    /// Rows went, and came to the places of others.
    pub fn grow_and_shrink(&mut self, check: impl Fn(&mut World<M>)) {
        let count = self.class.crowd();
        check(self);
        self.vacuum(|tid| tid.offset % 3 == 0);
        check(self);
        self.insert(count / 2);
        check(self);
        self.vacuum(|tid| tid.offset % 2 == 0);
        self.insert(count / 3);
        check(self);
    }

    /// After any part of a log, of small points, an index is sound and goes on. `step`: how many records lie between two looks at it.
    pub fn each_prefix_is_sound(log: &[Record], options: &[(&str, &str)], step: usize) {
        let block = index::changes::redo_block;
        let copy = World::<M>::empty(&SMALL, options);
        for (i, record) in log.iter().enumerate() {
            crate::replay::redo(&copy.store.pool, record, block);
            if i.is_multiple_of(step) {
                copy.verify();
            }
        }
        for stop in [200, log.len() / 2, log.len() - 100] {
            let mut world = World::<M>::empty(&SMALL, options);
            log[..stop].iter().for_each(|record| crate::replay::redo(&world.store.pool, record, block));
            world.model = world.verify();
            world.next = 1_000_000;
            world.insert(40);
            world.vacuum(|tid| tid.offset % 5 == 0);
            assert_eq!(world.verify(), world.model);
        }
    }

    /// The whole log gives the same pages.
    pub fn log_gives_the_same_pages(&self) {
        let pages = |store: &Store| -> Vec<(Lsn, (), Vec<Vec<u8>>)> { store.pages(|_| ()) };
        let block = index::changes::redo_block;
        crate::replay::gives_the_same_pages(&self.store, &self.records(), block, M::MANAGER.describe, pages);
    }
}
