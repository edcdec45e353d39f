//! Insertion, searches, VACUUM and builds in one session.

use buffer::Persistence;
use index::{IndexAccessMethod, IndexScan, ScanKey, ScanOp, Wants};
use store::{Random, Store, tid};
use tuple::Datum;

use super::world::{Shape, World};

#[test]
fn what_was_entered_is_found() {
    for shape in Shape::ALL {
        let mut world = World::new(shape, 1024);
        let mut random = Random(5);
        for round in 0..5 {
            (0..1500).for_each(|_| world.insert(random.below(3000) as i64));
            let report = world.check();
            assert!(round == 0 || report.directory > 0, "{shape:?} {report:?}");
        }
    }
}

#[test]
fn vacuum_gives_pages_back() {
    for shape in Shape::ALL {
        let mut world = World::new(shape, 1024);
        let mut random = Random(6);
        (0..20_000).for_each(|_| world.insert(random.below(1 << 40) as i64));
        let pages = world.check().buckets;
        let stats = world.vacuum(|_| true);
        assert_eq!((stats.tuples_removed, stats.tuples), (20_000, 0));
        assert!(stats.pages_newly_deleted + 3 >= pages, "{shape:?} {stats:?} {pages}");
        assert_eq!(world.check().free, 0);
        world.vacuum(|_| true);
        assert_eq!(world.check().free, stats.pages_newly_deleted, "{shape:?}");
        let blocks = |world: &World| world.store.pool.nblocks(store::FILE, base::Fork::Main).unwrap();
        let before = blocks(&world);
        (0..20_000).for_each(|_| world.insert(random.below(1 << 40) as i64));
        assert!(blocks(&world) < before + before / 3, "pages are used again");
        world.check();
    }
}

#[test]
fn values_that_are_null_have_no_entries() {
    let mut world = World::new(Shape::Even, 64);
    world.insert(1);
    let row = [Datum::Null];
    world.rel.insert(&world.access(), &row, tid(900), index::UniqueCheck::No, &store::AllLive).unwrap();
    assert_eq!(world.check().entries, 1);
    assert!(world.collect(ScanOp::Strategy(1, Datum::Null)).is_empty());
    let mut scan = world.scan(Vec::new(), Wants::TIDS);
    assert!(!scan.rescan_equal(&world.access(), 1, |_| Ok::<_, ()>(Datum::Null)).unwrap());
    assert_eq!(scan.next(&world.access()).unwrap(), None);
}

#[test]
fn arrays_are_searched_once_for_each_code() {
    let mut world = World::new(Shape::Even, 256);
    (0..2000).for_each(|n| world.insert(n % 500));
    let any = |values: &[i64]| ScanOp::Any(values.iter().map(|v| Datum::Int8(*v)).collect());
    assert_eq!(world.collect(any(&[7, 7, 300, 900])).len(), 8);
    assert!(world.collect(any(&[])).is_empty());
    // Several conditions are all to be satisfied.
    let key = |op| ScanKey { column: 0, op };
    let keys = vec![key(any(&[7, 8])), key(ScanOp::Strategy(1, Datum::Int8(8)))];
    let mut scan = world.scan(keys, Wants::TIDS);
    let found = std::iter::from_fn(|| scan.next(&world.access()).unwrap()).count();
    assert_eq!((found, scan.take_searches()), (4, 1));
}

#[test]
fn a_build_is_as_good_as_insertions() {
    for shape in Shape::ALL {
        for count in [0u32, 1, 700, 30_000] {
            let mut world = World::with_store(shape, Store::new(1024));
            let mut rows: Vec<(Vec<Datum>, base::Tid)> = Vec::new();
            for n in 0..count {
                let value = i64::from(n * 7 % 3001);
                let mut values = vec![if n == 5 { Datum::Null } else { Datum::Int8(value) }];
                world.rel.prepare(&mut values);
                rows.push((values, tid(n)));
                if n != 5 {
                    world.model.insert(tid(n), value);
                }
            }
            rows.sort_by(|a, b| world.rel.compare_entries((&a.0, a.1), (&b.0, b.1)));
            let mut rows = rows.into_iter();
            let mut next = |out: &mut Vec<Datum>| {
                Ok(rows.next().map(|(values, tid)| {
                    *out = values;
                    tid
                }))
            };
            let built = world.rel.build(&world.access(), &mut next).unwrap();
            assert_eq!(built, world.model.len() as u64);
            let report = world.check();
            let full = 812 * 75 / 100;
            assert_eq!(u64::from(report.buckets), built.div_ceil(full).max(1), "{shape:?} {report:?}");
            world.next_tid = count;
            (0..3000).for_each(|n| world.insert(n));
            world.check();
        }
    }
}

#[test]
fn entries_of_dead_rows_are_passed_over_and_their_room_is_used() {
    let mut world = World::new(Shape::Few, 256);
    (0..600).for_each(|n| world.insert(n * 3));
    let all = vec![ScanKey { column: 0, op: ScanOp::Strategy(1, Datum::Int8(0)) }];
    let mut scan = world.scan(all, Wants::TIDS);
    let mut killed = 0;
    while let Some(found) = scan.next(&world.access()).unwrap() {
        if found.offset % 2 == 0 {
            scan.kill_current();
            world.model.remove(&found);
            killed += 1;
        }
    }
    scan.finish(&world.access());
    assert!(killed > 200);
    world.check();
    // 812 entries fill the page: those that are dead make room.
    (0..400).for_each(|n| world.insert(n * 3));
    assert_eq!(world.check().buckets, 1);
}

#[test]
fn an_unlogged_index_has_an_initial_fork() {
    let store = Store::new(64);
    let rel = crate::HashRel::new(Shape::Even.desc(Persistence::Unlogged));
    store.pool.smgr().create(store::FILE, base::Fork::Init, false).unwrap();
    let snapshots = store::Snapshots::default();
    let access = index::Access {
        pool: &store.pool,
        horizon: &snapshots,
        xid: base::Xid(3),
        limits: index::Limits::default(),
    };
    rel.create_empty(&access).unwrap();
    assert_eq!(store.pool.nblocks(store::FILE, base::Fork::Init).unwrap(), 1);
}
