//! One session: insertion, searches, builds, VACUUM, damage.

use base::{BlockNo, Tid};
use index::{IndexAccessMethod, IndexError, IndexScan, Pages, Wants};
use store::Random;
use tuple::Datum;

use super::world::{DISTANCE, Shape, World, bytes, distance, key, word};

fn filled(shape: Shape, count: i32) -> World {
    let mut world = World::new(shape, 2048);
    let mut random = Random(shape as u64 + 5);
    (0..count).for_each(|_| world.insert(random.below(3000) as i32));
    world
}

#[test]
fn what_was_inserted_is_found() {
    for shape in Shape::ALL {
        let report = filled(shape, 3000).check();
        assert!(report.inner >= 1 && report.buckets > 3, "{shape:?} {report:?}");
    }
}

/// Equal values fill pages one behind the other, and what comes later is divided nevertheless.
#[test]
fn equal_values_do_not_keep_others_together() {
    let mut world = World::new(Shape::Short, 2048);
    for n in 0..3000 {
        let (row, tid) = (vec![word(b"same")], world.new_tid());
        world.insert_row(&row, tid);
        world.model.push((row, tid));
        if n > 2000 {
            world.insert(n);
        }
    }
    let report = world.check();
    assert!(report.depth >= 2, "{report:?}");
}

/// What a scan has at hand is what comes, whether one goes on entry by entry or passes several.
#[test]
fn what_is_upcoming_comes() {
    for shape in Shape::ALL {
        let world = filled(shape, 2000);
        let all = || world.scan(Vec::new(), Wants { values: true, pin: true });
        let (mut one_by_one, mut expected) = (all(), Vec::new());
        while let Some(tid) = one_by_one.next(&world.access()).unwrap() {
            expected.push(tid);
        }
        let (mut scan, mut passed) = (all(), 0);
        let mut found = Vec::new();
        while let Some(tid) = scan.next(&world.access()).unwrap() {
            found.push(tid);
            let upcoming: Vec<Tid> = (0..).map_while(|n| scan.upcoming(n)).take(found.len() % 5).collect();
            scan.pass(upcoming.len());
            passed += upcoming.len();
            found.extend(&upcoming);
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            let last = found[found.len() - 1];
            assert!(world.model.contains(&(row, last)), "{shape:?} {last:?}");
        }
        scan.finish(&world.access());
        one_by_one.finish(&world.access());
        assert!(found == expected, "{shape:?}");
        assert!(passed > 500, "{shape:?} {passed}");
        assert_eq!(world.store.pool.pins(), 0);
    }
}

#[test]
fn the_nearest_come_first() {
    for shape in Shape::ALL {
        let world = filled(shape, 1000);
        let from = b"abcde";
        let mut scan = world.scan(Vec::new(), Wants { values: true, pin: false });
        scan.order_by(vec![key(DISTANCE, word(from))]).unwrap();
        let mut found = Vec::new();
        while let Some(tid) = scan.next(&world.access()).unwrap() {
            let mut row = Vec::new();
            scan.values(&mut row).unwrap();
            let expected =
                if row[0].is_null() { index::NULL_DISTANCE } else { distance(bytes(&row[0]), from) };
            let told = scan.distances().unwrap();
            assert_eq!(told.len(), 1);
            assert!(index::compare_distances(told, &[expected]).is_eq(), "{told:?} {expected}");
            found.push((expected, tid));
        }
        scan.finish(&world.access());
        assert!(found.is_sorted_by(|a, b| a.0.total_cmp(&b.0).is_le()), "{shape:?}");
        assert_eq!(found.len(), world.model.len());
        assert_eq!(world.store.pool.pins(), 0);
    }
}

#[test]
fn a_build_finds_what_insertions_would() {
    for shape in Shape::ALL {
        for count in [0, 1, 40, 3000] {
            let mut world = World::with_store(shape, store::Store::new(2048));
            let mut random = Random(count as u64 + 3);
            for _ in 0..count {
                let (row, tid) = (shape.row(random.below(3000) as i32), world.new_tid());
                world.model.push((row, tid));
            }
            let mut rows = world.model.clone().into_iter();
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
        world.vacuum(|tid| tid.offset % 3 != 0);
        world.check();
        world.vacuum(|_| true);
        // What was empty is unlinked level by level, and its redirects go one VACUUM later.
        for _ in 0..20 {
            world.vacuum(|_| true);
        }
        let empty = world.check();
        assert_eq!((empty.inner, empty.redirects), (0, 0), "{shape:?} {empty:?}");
        assert!(empty.free > 5, "{shape:?} {empty:?}");
        (0..1000).for_each(|n| world.insert(n));
        let after = world.check();
        assert!(after.free < empty.free, "free pages are used: {after:?}");
    }
}

/// Redirects stay as long as a snapshot may lead somebody to them.
#[test]
fn a_place_is_not_used_again_under_a_snapshot() {
    let mut world = filled(Shape::Short, 3000);
    let snapshots = std::mem::take(&mut world.snapshots);
    let snap = snapshots.take();
    let access = index::Access { horizon: &snapshots, ..world.access() };
    let mut manner = index::Manner { ring: None, pause: &mut runtime::check_interrupts };
    let mut stats = index::VacuumStats::default();
    world.rel.bulk_delete(&access, &mut |_| true, &mut manner, &mut stats).unwrap();
    let redirects = world.verify().redirects;
    assert!(redirects > 5);
    let again = world.rel.cleanup(&access, &mut manner, None).unwrap();
    assert!(world.verify().redirects >= redirects, "{again:?}");
    drop(snap);
    world.rel.cleanup(&access, &mut manner, None).unwrap();
    assert!(world.verify().redirects < redirects);
}

#[test]
fn a_scan_under_way_finds_what_moves() {
    for shape in Shape::ALL {
        let mut world = filled(shape, 300);
        let before: Vec<Tid> = world.model.iter().map(|entry| entry.1).collect();
        let mut scan = world.scan(Vec::new(), Wants::TIDS);
        let mut found = Vec::new();
        let mut n = 0;
        while let Some(tid) = scan.next(&world.access()).unwrap() {
            found.push(tid);
            if found.len() % 20 == 1 && n < 60 {
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

/// A class that cannot shorten a leaf says so by not winning anything; INCLUDE columns are never shortened.
#[test]
fn what_is_too_large_is_refused() {
    let world = World::new(Shape::Equal, 64);
    let row = [word(b"x"), Datum::Bytes(tuple::Bytes::from(vec![1; 9000]))];
    let layout = tuple::RowLayout::new(vec![world.rel.desc.layout.attrs()[0]; 2]);
    let mut desc = world.rel.desc.clone();
    desc.layout = std::sync::Arc::new(layout);
    let rel = crate::SpgistRel::new(desc);
    let refused = crate::insert::insert(&world.access(), &rel, &row, Tid::default());
    assert!(matches!(refused, Err(IndexError::TooLarge { .. })), "{refused:?}");
    let null = [Datum::Null, row[1].clone()];
    let refused = crate::insert::insert(&world.access(), &rel, &null, Tid::default());
    assert!(matches!(refused, Err(IndexError::TooLarge { .. })), "{refused:?}");
}

/// Bytes changed at random on a page never crash anybody.
#[test]
fn damage_is_told() {
    let mut random = Random(77);
    for round in 0..60 {
        let world = filled(Shape::Short, 1200);
        for block in [1, 3] {
            let mut page = world.rel.exclusive(&world.store.pool, BlockNo(block)).unwrap();
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
        let _ = crate::insert::insert(&world.access(), &world.rel, &Shape::Short.row(5), Tid::default());
    }
}
