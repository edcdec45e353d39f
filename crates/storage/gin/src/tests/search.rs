//! Insertions, builds, vacuums and searches against a list.

use base::Tid;
use index::{IndexAccessMethod, IndexError, Pages, VerifyOptions};
use store::{Random, Store, tid};
use tuple::Datum;

use super::world::{Shape, World, list};
use crate::format::{Node, ROOT};

pub fn filled(shape: Shape, rows: u32) -> World {
    let mut world = World::new(shape, 4096);
    let mut random = Random(rows.into());
    (0..rows).for_each(|_| world.insert(random.below(3000) as u32));
    world
}

#[test]
fn searches_find_what_a_list_has() {
    for shape in Shape::EACH {
        for rows in [0, 1, 30, 700, 6000] {
            filled(shape, rows).check();
        }
    }
}

#[test]
fn rows_come_in_any_order() {
    for shape in Shape::EACH {
        let mut world = World::new(shape, 4096);
        for n in 0..6000u32 {
            let (row, tid) = (shape.row(n), tid(n * 2477 % 6000));
            world.insert_row(&row, tid);
            world.model.push((row, tid));
            if n % 1500 == 1 {
                world.check();
            }
        }
        let before = world.check();
        // Whoever enters a row twice changes nothing.
        let again: Vec<_> = world.model.iter().step_by(7).cloned().collect();
        again.iter().for_each(|(row, tid)| world.insert_row(row, *tid));
        assert_eq!(world.check(), before);
    }
}

fn build(world: &World, rows: &[(Vec<Datum>, Tid)]) -> u64 {
    let mut rows = rows.iter();
    let mut next = |out: &mut Vec<Datum>| {
        out.clear();
        Ok(rows.next().map(|(row, tid)| {
            out.extend(row.iter().cloned());
            *tid
        }))
    };
    world.rel.build(&world.access(), &mut next).unwrap()
}

#[test]
fn a_build_finds_what_insertions_would() {
    for shape in Shape::EACH {
        for (count, memory) in [(0, 1 << 30), (1, 1 << 30), (60, 1 << 30), (9000, 1 << 30), (9000, 100_000)] {
            let mut world = World::with_store(shape, Store::new(4096));
            world.limits.memory = memory;
            let mut random = Random(count as u64 + 3);
            for _ in 0..count {
                let (row, tid) = (shape.row(random.below(3000) as u32), world.new_tid());
                world.model.push((row, tid));
            }
            if count > 100 {
                // A chain's root may come behind that of a later one.
                world.model.swap(50, 53);
            }
            let built = build(&world, &world.model);
            assert_eq!(built, world.check().entries);
            (0..500).for_each(|n| world.insert(n));
            world.check();
        }
    }
}

#[test]
fn keys_of_all_lengths_are_built_into_pages() {
    let mut world = World::with_store(Shape::Short, Store::new(4096));
    let mut random = Random(5);
    for _ in 0..400 {
        // Short keys and long ones side by side.
        let value = list(&[random.below(3000) as u16, random.below(20) as u16]);
        let tid = world.new_tid();
        world.model.push((vec![value], tid));
    }
    build(&world, &world.model);
    world.check();
}

#[test]
fn vacuum_removes_rows() {
    for shape in Shape::EACH {
        let mut world = filled(shape, 4000);
        let before = world.check();
        let stats = world.vacuum(|tid| tid.offset % 3 != 0);
        let after = world.check();
        assert_eq!(stats.tuples, after.entries);
        assert_eq!(stats.tuples_removed, before.entries - after.entries);
        let emptied = world.vacuum(|_| true);
        assert!(emptied.pages_newly_deleted > 1, "{emptied:?}");
        let report = world.check();
        assert_eq!(report.entries, 0);
        let freed = world.vacuum(|_| true);
        assert!(freed.pages_free >= emptied.pages_newly_deleted, "{freed:?}");
        assert!(world.check().leaves < before.leaves);
        (0..1000).for_each(|n| world.insert(n));
        world.check();
    }
}

#[test]
fn a_build_packs_pages_and_insertions_in_order_nearly_do() {
    let mut world = World::with_store(Shape::Short, Store::new(4096));
    for n in 0..20_000 {
        let tid = world.new_tid();
        world.model.push((Shape::Short.row(n), tid));
    }
    build(&world, &world.model);
    let built = world.check();
    let mut inserted = World::new(Shape::Short, 4096);
    (0..20_000).for_each(|n| inserted.insert(n));
    let leaves = inserted.check().leaves;
    assert!(leaves < built.leaves * 2, "{leaves} instead of {}", built.leaves);
}

#[test]
fn what_is_too_large_is_refused() {
    #[derive(Debug)]
    struct Whole;
    impl tuple::parts::PartsClass for Whole {
        fn parts(&self, value: &Datum, out: &mut Vec<tuple::parts::Part>) {
            let Datum::Bytes(bytes) = value else { return };
            out.push(Some(bytes[..].into()));
        }
        fn query(
            &self,
            _: index::TreeQuery<'_>,
        ) -> Result<Box<dyn tuple::parts::PartsQuery>, base::SqlError> {
            Err(base::SqlError::internal("no query"))
        }
    }
    let world = World::new(Shape::Short, 64);
    let mut desc = world.rel.desc.clone();
    desc.parts = vec![&Whole];
    let rel = crate::GinRel::open(desc);
    let enter = |size: usize, at: u32| {
        let row = [Datum::Bytes(tuple::Bytes::from(vec![at as u8; size]))];
        rel.insert(&world.access(), &row, tid(at), index::UniqueCheck::No, &store::AllLive)
    };
    for n in 1..40 {
        enter(crate::format::MAX_KEY, n).unwrap();
        enter(n as usize * 20, n).unwrap();
        // Long keys with many rows.
        for more in 1..30 {
            enter(crate::format::MAX_KEY - 1, n % 3 + 256 * more).unwrap();
        }
    }
    crate::verify::verify(&world.access(), &rel, VerifyOptions::ALL, None).unwrap();
    assert!(matches!(enter(crate::format::MAX_KEY + 1, 1), Err(IndexError::TooLarge { .. })));
}

/// Bytes changed at random on a page never crash anybody.
#[test]
fn damage_is_told() {
    let mut random = Random(77);
    for round in 0..60 {
        let world = filled(Shape::Short, 400);
        let block = if round % 2 == 0 { ROOT } else { base::BlockNo(6) };
        {
            let mut page = world.rel.exclusive(&world.store.pool, block).unwrap();
            assert!(Node::new(&page).is_ok());
            for _ in 0..=round {
                let at = 24 + random.below(8192 - 24) as usize;
                page[at] = random.below(256) as u8;
            }
        }
        let _ = crate::verify::verify(&world.access(), &world.rel, VerifyOptions::ALL, None);
        for (column, strategy, value) in world.searches().concat() {
            let scan_key = super::world::key(column, strategy, &value);
            let keys = index::ScanKeys { keys: vec![scan_key], ..Default::default() };
            let mut scan = world.rel.scan(keys, index::Wants::TIDS);
            struct Nothing;
            impl index::BitmapSink for Nothing {
                fn pages(&mut self, _: base::BlockNo, _: u32) -> index::IndexResult<()> {
                    Ok(())
                }
                fn table_pages(&mut self) -> index::IndexResult<u32> {
                    Ok(0)
                }
                fn tid(&mut self, _: Tid, _: bool) -> index::IndexResult<()> {
                    Ok(())
                }
            }
            let _ = index::IndexScan::bitmap(&mut scan, &world.access(), &mut Nothing);
        }
        let row = Shape::Short.row(5);
        let _ = world.rel.insert(&world.access(), &row, tid(9), index::UniqueCheck::No, &store::AllLive);
    }
}

#[test]
fn pending_entries_are_found_and_move_to_the_tree() {
    for shape in Shape::EACH {
        let mut world = World::fast(shape, 4096);
        let mut most = 0;
        for n in 0..5000 {
            world.insert(n * 7 % 3000);
            if n % 300 == 5 {
                let report = world.check();
                most = most.max(report.pending);
            }
        }
        assert!(most > 60, "{shape:?}: {most}");
        let before = world.check();
        assert!(before.pending > 0 && before.entries > before.pending, "the list was cleaned: {before:?}");
        let cut = world.rel.enter_pending(&world.access()).unwrap();
        assert!(cut.unwrap() > 0);
        let after = world.check();
        assert_eq!((after.pending, after.entries), (0, before.pending + before.entries));
        assert!(after.free > 0);
        (0..400).for_each(|n| world.insert(n));
        assert!(world.check().free < after.free, "pages are used again");
        let stats = world.vacuum(|tid| tid.offset % 2 == 0);
        assert_eq!(stats.tuples, world.check().entries);
    }
}

#[test]
fn a_row_with_more_keys_than_a_page_goes_to_the_tree() {
    let mut world = World::fast(Shape::Long, 4096);
    let many: Vec<u16> = (0..30).collect();
    let (row, tid) = (vec![list(&many)], world.new_tid());
    world.insert_row(&row, tid);
    world.model.push((row, tid));
    let report = world.check();
    assert_eq!((report.pending, report.entries), (0, 30));
}

/// `gin_fuzzy_search_limit` leaves rows out of searches that would find many, by chance, and finds nothing else.
#[test]
fn a_fuzzy_search_finds_some() {
    let mut world = filled(Shape::Short, 6000);
    let search = || vec![super::world::key(0, super::world::ALL, &[1])];
    let all = world.collect(search());
    world.limits.fuzzy = 100;
    let some = world.collect(search());
    assert!(some.len() > 20 && some.len() < 500, "{} of {}", some.len(), all.len());
    assert!(some.iter().all(|tid| all.binary_search(tid).is_ok()));
    // Few rows all come.
    let few = || vec![super::world::key(0, super::world::ALL, &[300])];
    let found = world.collect(few());
    world.limits.fuzzy = 0;
    assert_eq!(found, world.collect(few()));
}
