//! One session: insertion, searches, builds, VACUUM, damage.

use base::Tid;
use index::{IndexAccessMethod, IndexError, IndexScan, Pages, ScanKey, ScanOp, Wants};
use store::Random;
use tuple::Datum;

use super::world::{DISTANCE, EQUALS, OVERLAPS, Shape, World, distance, ends, key};
use crate::format::ROOT;

fn filled(shape: Shape, count: i32) -> World {
    let mut world = World::new(shape, 2048);
    let mut random = Random(shape as u64 + 5);
    (0..count).for_each(|_| world.insert(random.below(3000) as i32));
    world
}

#[test]
fn what_was_inserted_is_found() {
    for shape in Shape::ALL {
        let world = filled(shape, 3000);
        let report = world.check();
        assert!(report.internal >= 1 && report.leaves > 10, "{shape:?} {report:?}");
        assert_eq!(report.incomplete_splits, 0);
    }
}

#[test]
fn conditions_on_several_columns_are_anded() {
    let world = filled(Shape::Two, 3000);
    let class = Shape::Two.class();
    let keys = vec![key(0, EQUALS, class.make(20, 20)), key(1, OVERLAPS, class.make(10, 11))];
    let expected = world.model.iter().filter(|(row, _)| {
        let (first, second) = (&row[0], &row[1]);
        !first.is_null()
            && ends(first) == (20, 20)
            && !second.is_null()
            && super::world::overlap(ends(second), (10, 11))
    });
    assert_eq!(world.collect(keys).len(), expected.count());
    let both = vec![key(0, EQUALS, class.make(20, 20)), ScanKey { column: 1, op: ScanOp::IsNull }];
    let expected = world
        .model
        .iter()
        .filter(|(row, _)| !row[0].is_null() && ends(&row[0]) == (20, 20) && row[1].is_null());
    assert_eq!(world.collect(both).len(), expected.count());
    let none = vec![key(0, EQUALS, Datum::Null)];
    assert!(world.collect(none).is_empty(), "nothing equals NULL");
}

#[test]
fn the_nearest_come_first() {
    for shape in [Shape::Short, Shape::Long] {
        let world = filled(shape, 2000);
        let from = (1500, 1501);
        let mut scan = world.scan(Vec::new(), Wants::ONLY);
        scan.order_by(vec![key(0, DISTANCE, shape.class().make(from.0, from.1))]).unwrap();
        let mut found = Vec::new();
        while let Some(tid) = scan.next(&world.access()).unwrap() {
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            let expected =
                if row[0].is_null() { index::NULL_DISTANCE } else { distance(ends(&row[0]), from) };
            let told = scan.distances().unwrap();
            assert!(index::compare_distances(told, &[expected]).is_eq(), "{told:?} {expected}");
            found.push((expected, tid));
        }
        scan.finish(&world.access());
        assert!(found.is_sorted_by(|a, b| a.0.total_cmp(&b.0).is_le()));
        assert_eq!(found.len(), world.model.len());
        assert_eq!(world.store.pool.pins(), 0);
    }
}

#[test]
fn a_build_finds_what_insertions_would() {
    for shape in Shape::ALL {
        for count in [0, 1, 40, 4000] {
            let mut world = World::with_store(shape, store::Store::new(2048));
            let mut random = Random(count as u64 + 3);
            for _ in 0..count {
                let (row, tid) = (shape.row(random.below(3000) as i32), world.new_tid());
                world.model.push((row, tid));
            }
            let mut rows = world.model.clone();
            rows.iter_mut().for_each(|row| world.rel.prepare(&mut row.0));
            rows.sort_by(|a, b| world.rel.compare_entries((&a.0, a.1), (&b.0, b.1)));
            let mut rows = rows.into_iter();
            let mut next = |out: &mut Vec<Datum>| {
                out.clear();
                Ok(rows.next().map(|(row, tid): (Vec<Datum>, Tid)| {
                    out.extend(row);
                    tid
                }))
            };
            assert_eq!(world.rel.build(&world.access(), &mut next).unwrap(), count as u64);
            world.check();
            (0..500).for_each(|n| world.insert(n));
            world.check();
        }
    }
}

#[test]
fn vacuum_removes_entries_and_gives_pages_back() {
    for shape in Shape::ALL {
        let mut world = filled(shape, 3000);
        let pages = world.verify();
        world.vacuum(|tid| tid.offset % 3 != 0);
        world.check();
        let stats = world.vacuum(|_| true);
        assert!(stats.pages_newly_deleted > 5, "{shape:?} {stats:?}");
        let freed = world.vacuum(|_| true);
        assert!(freed.pages_free >= stats.pages_newly_deleted, "{freed:?}");
        world.check();
        (0..1000).for_each(|n| world.insert(n));
        let after = world.check();
        assert!(after.free < freed.pages_free, "free pages are used: {after:?} {pages:?}");
    }
}

/// Deleted pages stay as long as a snapshot may lead somebody to them.
#[test]
fn a_page_is_not_used_again_under_a_snapshot() {
    let mut world = filled(Shape::Long, 600);
    let snapshots = std::mem::take(&mut world.snapshots);
    let snap = snapshots.take();
    let access = index::Access { horizon: &snapshots, ..world.access() };
    let mut manner = index::Manner { ring: None, pause: &mut runtime::check_interrupts };
    let mut stats = index::VacuumStats::default();
    world.rel.bulk_delete(&access, &mut |_| true, &mut manner, &mut stats).unwrap();
    assert!(stats.pages_newly_deleted > 0);
    let again = world.rel.cleanup(&access, &mut manner, None).unwrap();
    assert_eq!((again.pages_free, again.pages_deleted), (0, stats.pages_deleted));
    drop(snap);
    let last = world.rel.cleanup(&access, &mut manner, None).unwrap();
    assert_eq!(last.pages_free, stats.pages_deleted);
}

#[test]
fn dead_entries_are_marked_and_their_room_is_used() {
    let mut world = filled(Shape::Short, 200);
    let mut scan = world.scan(Vec::new(), Wants::TIDS);
    while scan.next(&world.access()).unwrap().is_some() {
        scan.kill_current();
    }
    scan.finish(&world.access());
    assert!(world.collect(vec![]).is_empty());
    world.model.clear();
    let pages = world.verify();
    (0..200).for_each(|n| world.insert(n));
    let report = world.check();
    assert_eq!(report.leaves, pages.leaves, "the marked ones made room");
}

#[test]
fn a_scan_under_way_finds_what_splits_carry_off() {
    for shape in Shape::ALL {
        let mut world = filled(shape, 300);
        let before: Vec<Tid> = world.model.iter().map(|entry| entry.1).collect();
        let mut scan = world.scan(Vec::new(), Wants::TIDS);
        let mut found = Vec::new();
        let mut n = 0;
        while let Some(tid) = scan.next(&world.access()).unwrap() {
            found.push(tid);
            if found.len() % 20 == 1 {
                (0..40).for_each(|i| world.insert((n * 7 + i * 70) % 3000));
                n += 1;
            }
        }
        scan.finish(&world.access());
        found.sort_unstable();
        assert!(found.windows(2).all(|two| two[0] != two[1]), "{shape:?}: an entry came twice");
        assert!(before.iter().all(|tid| found.binary_search(tid).is_ok()), "{shape:?}: an entry was lost");
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let world = World::new(Shape::Short, 64);
    let row = [Datum::Bytes(tuple::Bytes::from(vec![1; 3000]))];
    let refused = crate::insert::insert(&world.access(), &world.rel, &row, Tid::default());
    assert!(matches!(refused, Err(IndexError::TooLarge { .. })));
}

/// Bytes changed at random on a page never crash anybody.
#[test]
fn damage_is_told() {
    let mut random = Random(77);
    for round in 0..60 {
        let world = filled(Shape::Short, 400);
        {
            let mut page = world.rel.exclusive(&world.store.pool, ROOT).unwrap();
            for _ in 0..=round {
                let at = 24 + random.below(8192 - 24) as usize;
                page[at] = random.below(256) as u8;
            }
        }
        let _ = crate::verify::verify(&world.access(), &world.rel, index::VerifyOptions::ALL, None);
        let mut scan = world.scan(Vec::new(), Wants::TIDS);
        let mut count = 0;
        while count < 5000 && matches!(scan.next(&world.access()), Ok(Some(_))) {
            count += 1;
        }
    }
}
