//! Tests of whole indexes: searches against a table in memory, redo of every prefix of the log, sessions that switch at latches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::{BlockNo, Oid, Tid, Xid};
use buffer::Persistence;
use index::{
    Access, BitmapSink, Compare, IndexAccessMethod, IndexDesc, IndexResult, IndexScan, KeyColumn, MinMax,
    Pages as _, Ranges, ScanKey, ScanKeys, ScanOp, TableRows, UniqueCheck, VerifyOptions, Wants, strategy,
};
use store::crowd::seeds;
use store::replay::{damaged_pages_are_told, gives_the_same_pages, redo};
use store::{AllLive, FILE, Random, Snapshots, Store};
use tuple::{Attr, Bytes, Datum, Physical, RowLayout};

use crate::BrinRel;
use crate::redo::{Kind, redo_block};
use crate::verify::{VerifyReport, verify};

/// Rows of a page of the table.
const ROWS: u16 = 4;
const INT: Oid = Oid(23);

type Table = BTreeMap<Tid, Vec<Datum>>;

struct World {
    store: Store,
    rel: Arc<BrinRel>,
    snapshots: Snapshots,
    table: Mutex<Table>,
}

fn desc(pages_per_range: u32) -> IndexDesc {
    let attr = |physical, align, storage| Attr { physical, align, storage, compression: None };
    let (int, text) = (attr(Physical::Int4, 4, b'p'), attr(Physical::Varlena, 4, b'x'));
    let class = |compare, attr, column| {
        Arc::new(MinMax { compare, attr, compares_with: |a, b| a == b, column })
            as Arc<dyn index::SummaryClass>
    };
    IndexDesc {
        file: FILE,
        layout: Arc::new(RowLayout::new(vec![int, text])),
        keys: vec![KeyColumn::ascending(Compare::Bytes); 2].into(),
        trees: Vec::new(),
        parts: Vec::new(),
        hashes: Vec::new(),
        spaces: Vec::new(),
        summaries: vec![class(Compare::Int4, int, INT), class(Compare::Bytes, text, Oid(25))],
        persistence: Persistence::Permanent,
        unique: false,
        nulls_not_distinct: false,
        equal_image: false,
        options: vec![("pages_per_range".into(), pages_per_range.to_string())],
    }
}

/// A row: values that grow with its place, now and then NULL or a long text.
fn row(n: u32, random: &mut Random) -> Vec<Datum> {
    let text = match random.below(20) {
        0 => Datum::Null,
        1 => Datum::Bytes(Bytes::from(vec![b'a' + random.below(26) as u8; 100 + random.below(400) as usize])),
        _ => Datum::Bytes(Bytes::from(format!("{:06}", n + random.below(30) as u32).into_bytes())),
    };
    let number =
        if random.below(9) == 0 { Datum::Null } else { Datum::Int4((n + random.below(50) as u32) as i32) };
    vec![number, text]
}

fn place(n: u32) -> Tid {
    Tid::new(BlockNo(n / u32::from(ROWS)), (n % u32::from(ROWS)) as u16 + 1)
}

struct Rows<'a>(&'a Mutex<Table>);

impl TableRows for Rows<'_> {
    fn pages(&mut self) -> IndexResult<u32> {
        Ok(self.0.lock().unwrap().last_key_value().map_or(0, |(tid, _)| tid.block.0 + 1))
    }

    fn rows(
        &mut self,
        first: BlockNo,
        count: u32,
        each: &mut dyn FnMut(Tid, &[Datum]) -> IndexResult<()>,
    ) -> IndexResult<()> {
        let range = Tid::new(first, 0)..Tid::new(BlockNo(first.0 + count), 0);
        let rows: Vec<_> =
            self.0.lock().unwrap().range(range).map(|(tid, row)| (*tid, row.clone())).collect();
        for (tid, values) in rows {
            runtime::yield_now();
            each(tid, &values)?;
        }
        Ok(())
    }
}

struct Pages(Vec<u32>, u32);

impl BitmapSink for Pages {
    fn tid(&mut self, tid: Tid, _recheck: bool) -> IndexResult<()> {
        panic!("{tid}")
    }

    fn pages(&mut self, first: BlockNo, count: u32) -> IndexResult<()> {
        self.0.extend(first.0..first.0 + count);
        Ok(())
    }

    fn table_pages(&mut self) -> IndexResult<u32> {
        Ok(self.1)
    }
}

impl World {
    fn new(pages_per_range: u32) -> World {
        let world = World::with_store(pages_per_range, Store::new(1024));
        world.rel.create_empty(&world.access()).unwrap();
        world
    }

    fn with_store(pages_per_range: u32, store: Store) -> World {
        let rel = Arc::new(BrinRel::new(desc(pages_per_range)));
        World { store, rel, snapshots: Snapshots::default(), table: Mutex::default() }
    }

    fn access(&self) -> Access<'_> {
        Access {
            pool: &self.store.pool,
            horizon: &self.snapshots,
            xid: Xid(3),
            limits: index::Limits::default(),
        }
    }

    /// The row is in the table before it is in the index.
    fn insert(&self, n: u32, values: Vec<Datum>) {
        self.table.lock().unwrap().insert(place(n), values.clone());
        self.rel.insert(&self.access(), &values, place(n), UniqueCheck::No, &AllLive).unwrap();
    }

    /// The same of many rows at once.
    fn insert_together(&self, rows: std::ops::Range<u32>, random: &mut Random) {
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for n in rows {
            let values = row(n, random);
            self.table.lock().unwrap().insert(place(n), values.clone());
            all.extend(values);
            places.push(place(n));
        }
        self.rel.insert_batch(&self.access(), &all, &places, &AllLive).unwrap();
    }

    fn fill(&self, rows: std::ops::Range<u32>, random: &mut Random) {
        rows.for_each(|n| self.insert(n, row(n, random)));
    }

    fn summarize(&self, which: Ranges) -> u64 {
        self.rel.summarize(&self.access(), &mut Rows(&self.table), which).unwrap()
    }

    fn pages_of(&self, keys: Vec<ScanKey>) -> Vec<u32> {
        let mut sink = Pages(Vec::new(), Rows(&self.table).pages().unwrap());
        let mut scan = self.rel.scan(ScanKeys { keys, ..ScanKeys::default() }, Wants::TIDS);
        scan.bitmap(&self.access(), &mut sink).unwrap();
        assert!(sink.0.is_sorted());
        sink.0
    }

    fn verify(&self) -> VerifyReport {
        verify(&self.access(), &self.rel, VerifyOptions::ALL).unwrap()
    }

    /// Every row is told of, and found by a search.
    fn check(&self) -> VerifyReport {
        let report = self.verify();
        for (tid, values) in &*self.table.lock().unwrap() {
            assert!(self.rel.covers(&self.access(), values, *tid).unwrap(), "{tid}");
        }
        for low in [0, 100, 555, 4000] {
            let pages = self.pages_of(vec![key(0, strategy::EQUAL, Datum::Int4(low))]);
            for (tid, values) in &*self.table.lock().unwrap() {
                assert!(values[0] != Datum::Int4(low) || pages.binary_search(&tid.block.0).is_ok(), "{tid}");
            }
        }
        assert_eq!(self.store.pool.pins(), 0);
        report
    }
}

fn key(column: usize, strategy: u16, value: Datum) -> ScanKey {
    let operand = if column == 0 { INT } else { Oid(25) };
    ScanKey { column, op: ScanOp::Operator { strategy, operand, value } }
}

#[test]
fn ranges_are_summarized_and_rows_widen_them() {
    let world = World::new(2);
    let mut random = Random(3);
    world.fill(0..803, &mut random);
    assert_eq!(world.check().summaries, 0, "nothing is summarized by itself");
    assert_eq!(world.pages_of(vec![key(0, strategy::LESS, Datum::Int4(20))]).len(), 201);
    assert_eq!(world.summarize(Ranges::Full), 100);
    assert_eq!(world.summarize(Ranges::Full), 0);
    assert_eq!(world.summarize(Ranges::All), 1);
    assert_eq!(world.check().summaries, 101);
    let pages = world.pages_of(vec![key(0, strategy::LESS, Datum::Int4(20))]);
    assert!(pages.len() < 20 && pages[0] == 0, "{pages:?}");
    // Rows with other values.
    world.insert(400, vec![Datum::Int4(-5), Datum::Null]);
    let pages = world.pages_of(vec![key(0, strategy::LESS, Datum::Int4(0))]);
    assert_eq!(pages, [100, 101]);
    world.fill(803..1500, &mut random);
    world.check();
    assert_eq!(world.summarize(Ranges::Of(BlockNo(300))), 1);
    assert_eq!(world.summarize(Ranges::Of(BlockNo(301))), 0);
    assert_eq!(world.summarize(Ranges::Of(BlockNo(9999))), 0);
    world.rel.desummarize(&world.access(), BlockNo(300)).unwrap();
    world.rel.desummarize(&world.access(), BlockNo(300)).unwrap();
    assert_eq!(world.check().summaries, 101);
    assert_eq!(world.summarize(Ranges::All), 188 - 101);
    world.check();
}

#[test]
fn rows_that_come_together_widen_all_their_ranges() {
    let world = World::new(2);
    let mut random = Random(5);
    world.fill(0..403, &mut random);
    world.summarize(Ranges::Full);
    world.insert_together(100..700, &mut random);
    world.check();
    world.summarize(Ranges::All);
    world.insert_together(0..1, &mut random);
    world.insert_together(600..900, &mut random);
    world.check();
    world.rel.insert_batch(&world.access(), &[], &[], &AllLive).unwrap();
}

#[test]
fn nulls_are_told_of() {
    let world = World::new(1);
    world.insert(0, vec![Datum::Null, Datum::Null]);
    world.insert(4, vec![Datum::Int4(1), Datum::Null]);
    world.insert(12, vec![Datum::Int4(2), Datum::Null]);
    world.summarize(Ranges::All);
    let pages = |op| world.pages_of(vec![ScanKey { column: 0, op }]);
    assert_eq!(pages(ScanOp::IsNull), [0]);
    // Page 2 has no rows.
    assert_eq!(pages(ScanOp::IsNotNull), [1, 3]);
    let nothing = ScanOp::Operator { strategy: strategy::EQUAL, operand: INT, value: Datum::Null };
    assert!(pages(nothing).is_empty());
}

#[test]
fn a_build_summarizes_all() {
    for rows in [0, 1, 5, 3000] {
        let world = World::with_store(3, Store::new(256));
        let mut random = Random(8);
        for n in (0..rows).filter(|n| n % 100 < 60) {
            world.table.lock().unwrap().insert(place(n), row(n, &mut random));
        }
        let count = world.table.lock().unwrap().len() as u64;
        assert_eq!(world.rel.build_of_rows(&world.access(), &mut Rows(&world.table)).unwrap(), count);
        let pages = Rows(&world.table).pages().unwrap();
        assert_eq!(world.check().summaries, u64::from(pages.div_ceil(3)));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let world = World::new(1);
    let mut random = Random(4);
    world.insert(0, vec![Datum::Null, Datum::Null]);
    world.summarize(Ranges::All);
    let bytes: Vec<u8> = (0..9000).map(|_| random.below(256) as u8).collect();
    let values = [Datum::Int4(1), Datum::Bytes(Bytes::from(bytes))];
    let done = world.rel.insert(&world.access(), &values, place(0), UniqueCheck::No, &AllLive);
    assert!(matches!(done, Err(index::IndexError::SummaryTooLarge { .. })));
    world.check();
}

/// A history with summaries that move, maps, and summaries taken away.
fn history() -> World {
    let world = World::new(1);
    let mut random = Random(21);
    for round in 0..4 {
        world.fill(round * 1300..(round + 1) * 1300, &mut random);
        world.summarize(Ranges::All);
        // Longer texts than there were.
        for n in (round * 1300..(round + 1) * 1300).step_by(37) {
            let text = vec![b'!' + random.below(90) as u8; 200 + random.below(250) as usize];
            world.insert(n, vec![Datum::Int4(-1), Datum::Bytes(Bytes::from(text))]);
        }
        (0..40).for_each(|n| world.rel.desummarize(&world.access(), BlockNo(n * 7)).unwrap());
    }
    world.check();
    world
}

#[test]
fn redo_gives_the_same_pages_and_every_prefix_is_sound() {
    let world = history();
    let log = world.store.records(wal::Rmgr::Brin);
    for (kind, name) in Kind::ALL {
        assert!(log.iter().any(|record| record.info == kind as u8), "no {name}");
    }
    let copy = World::with_store(1, Store::new(1024));
    for (i, record) in log.iter().enumerate() {
        redo(&copy.store.pool, record, redo_block);
        if i % 50 == 0 || record.info == Kind::Move as u8 {
            copy.verify();
        }
    }
    let bytes = |store: &Store| {
        let blocks = store.pool.nblocks(FILE, base::Fork::Main).unwrap();
        let page = |n| store.pool.read(world.rel.tag(BlockNo(n))).unwrap().shared()[32..].to_vec();
        (0..blocks).map(page).collect::<Vec<_>>()
    };
    gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, bytes);
}

#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&history().store.records(wal::Rmgr::Brin), redo_block);
}

/// `BRIN_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("BRIN_SEEDS", "0..12") {
        let simulation = runtime::Simulation::new(seed);
        simulation.interleave(2 + seed % 4);
        let ended = simulation.run(move || {
            let world = Arc::new(World::new(1 + seed as u32 % 3));
            let next = Arc::new(std::sync::atomic::AtomicU32::new(0));
            let mut sessions = Vec::new();
            for session in 0..3 {
                let (world, next) = (world.clone(), next.clone());
                sessions.push(runtime::spawn_fiber("inserter", move || {
                    let mut random = Random(seed * 10 + session + 1);
                    for _ in 0..150 {
                        let n = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        world.insert(n, row(n, &mut random));
                    }
                }));
            }
            let summarizer = world.clone();
            sessions.push(runtime::spawn_fiber("summarizer", move || {
                for round in 0..30 {
                    summarizer.summarize(if round % 2 == 0 { Ranges::All } else { Ranges::Full });
                    summarizer.rel.desummarize(&summarizer.access(), BlockNo(round)).unwrap();
                    (0..10).for_each(|_| runtime::yield_now());
                }
            }));
            sessions.into_iter().for_each(|session| session.join().unwrap());
            world.check();
        });
        ended.unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
    }
}
