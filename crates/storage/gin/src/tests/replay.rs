//! Redo: any prefix of the log gives a sound tree, which goes on working; the whole log gives the same pages.

use base::Lsn;
use store::replay::{damaged_pages_are_told, gives_the_same_pages, redo, stops};
use store::{Random, Store};
use wal::Record;

use super::world::{Shape, World};
use crate::format::Node;
use crate::redo::{Kind, redo_block};

/// A history with splits on all levels, vacuums and pending entries.
fn history(shape: Shape) -> World {
    let mut world = match shape {
        Shape::Two => World::fast(shape, 4096),
        _ => World::new(shape, 4096),
    };
    let mut random = Random(shape as u64 + 11);
    for _ in 0..2 {
        (0..2500).for_each(|_| world.insert(random.below(3000) as u32));
        world.vacuum(|tid| !tid.block.0.is_multiple_of(4) && tid.block.0 > 2);
        world.vacuum(|tid| tid.block.0 > 0 || tid.offset > 20);
        world.vacuum(|_| true);
    }
    (0..1500).for_each(|n| world.insert(n * 3));
    world.insert_together((1500..2500).map(|n| n * 3));
    world.check();
    world
}

fn records(store: &Store) -> Vec<Record> {
    store.records(wal::Rmgr::Gin)
}

fn pages(store: &Store) -> Vec<(Lsn, String, Vec<Vec<u8>>)> {
    store.pages(|page| Node::new(page).map(|node| format!("{:?}", node.op)).unwrap_or_default())
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for shape in Shape::EACH {
        let world = history(shape);
        let log = records(&world.store);
        let lanes = [Kind::PendingAdd, Kind::PendingMove, Kind::PendingCut, Kind::TakeFree];
        let lanes = if shape == Shape::Two { &lanes[..] } else { &[] };
        for kind in
            [Kind::Insert, Kind::Split, Kind::Downlink, Kind::Change, Kind::DeletePage].iter().chain(lanes)
        {
            let kind = *kind;
            assert!(log.iter().any(|record| record.info == kind as u8), "{shape:?}: no {kind:?}");
        }
        println!("{shape:?}");
        gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, pages);
    }
}

#[test]
fn every_prefix_is_a_sound_tree() {
    for shape in Shape::EACH {
        let log = records(&history(shape).store);
        let copy = World::with_store(shape, Store::new(4096));
        let mut incomplete = 0;
        for (i, record) in log.iter().enumerate() {
            redo(&copy.store.pool, record, redo_block);
            if i > 5 && (!matches!(record.info, 0 | 8) || i % 200 == 0) {
                incomplete += copy.verify().incomplete_splits;
            }
        }
        assert!(incomplete >= 3, "{shape:?} {incomplete}");
    }
}

#[test]
fn a_crash_between_two_halves_is_mended() {
    for shape in Shape::EACH {
        let log = records(&history(shape).store);
        for kind in
            [Kind::Split, Kind::Downlink, Kind::Change, Kind::DeletePage, Kind::PendingMove, Kind::PendingCut]
        {
            for stop in stops(&log, kind as u8) {
                let mut world = World::with_store(shape, Store::new(4096));
                log[..=stop].iter().for_each(|record| redo(&world.store.pool, record, redo_block));
                world.bulk_delete(|_| true);
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
