//! Redo: any prefix of the log gives a sound tree, which goes on working; the whole log gives the same pages.

use base::Lsn;
use store::replay::{damaged_pages_are_told, gives_the_same_pages, redo, stops};
use store::{Random, Store};
use wal::Record;

use super::world::{Shape, World};
use crate::format::special;
use crate::redo::{Kind, redo_block};

/// A history with all kinds of changes, vacuums, and pages that are used again.
fn history(shape: Shape) -> World {
    let mut world = World::new(shape, 4096);
    let mut random = Random(shape as u64 + 11);
    for _ in 0..2 {
        let count = if shape == Shape::Long { 1500 } else { 5000 };
        (0..count).for_each(|_| world.insert(random.below(3000) as i32));
        world.vacuum(|tid| !tid.block.0.is_multiple_of(4) && tid.block.0 > 2);
        world.vacuum(|tid| tid.block.0 > 0 || tid.offset > 20);
        world.vacuum(|_| false);
    }
    let last = if shape == Shape::Long { 400 } else { 3000 };
    (0..last).for_each(|n| world.insert(n * 3));
    world.check();
    world
}

fn records(store: &Store) -> Vec<Record> {
    store.records(wal::Rmgr::Spgist)
}

fn pages(store: &Store) -> Vec<(Lsn, String, Vec<Vec<u8>>)> {
    store.pages(|page| format!("{:?}", special(page)))
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for shape in Shape::ALL {
        let world = history(shape);
        let log = records(&world.store);
        let mut kinds =
            vec![Kind::AddLeaf, Kind::PickSplit, Kind::Vacuum, Kind::Unlink, Kind::PutFree, Kind::TakeFree];
        match shape {
            Shape::Short => kinds.extend([Kind::Move, Kind::AddNode]),
            Shape::Long => kinds.extend([Kind::SplitTuple, Kind::AddNode]),
            Shape::Equal => kinds.push(Kind::Push),
        }
        for kind in kinds {
            assert!(log.iter().any(|record| record.info == kind as u8), "{shape:?}: no {kind:?}");
        }
        gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, pages);
    }
}

#[test]
fn every_prefix_is_a_sound_tree() {
    for shape in Shape::ALL {
        let log = records(&history(shape).store);
        let copy = World::with_store(shape, Store::new(4096));
        for (i, record) in log.iter().enumerate() {
            redo(&copy.store.pool, record, redo_block);
            // The first records make the pages that every index has.
            if i > 3 && (record.info != Kind::AddLeaf as u8 && i % 7 == 0 || i % 200 == 0) {
                copy.verify();
            }
        }
    }
}

#[test]
fn what_a_crash_leaves_goes_on_working() {
    for shape in Shape::ALL {
        let log = records(&history(shape).store);
        for kind in [Kind::PickSplit, Kind::Unlink, Kind::TakeFree] {
            for stop in stops(&log, kind as u8) {
                let mut world = World::with_store(shape, Store::new(4096));
                log[..=stop].iter().for_each(|record| redo(&world.store.pool, record, redo_block));
                world.model = world.collect(vec![]);
                world.next_tid = 1_000_000;
                (0..600).for_each(|n| world.insert(n * 5));
                world.check();
                world.vacuum(|tid| tid.block.0.is_multiple_of(3));
                world.check();
                world.vacuum(|_| true);
                world.check();
            }
        }
    }
}

/// A page that is not what a record expects is told, never a crash.
#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&records(&history(Shape::Short).store), redo_block);
}
