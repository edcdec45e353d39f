//! Redo: any prefix of the log gives a sound tree, which goes on working; the whole log gives the same pages.

use base::{Lsn, Tid};
use index::Direction;
use store::replay::{gives_the_same_pages, redo};
use store::{Random, Store};
use wal::Record;

use super::world::{Shape, World};
use crate::format::{Meta, Node};
use crate::redo::{Kind, redo_block};

/// A history with splits on all levels, duplicates, vacuums, page deletions and recycled pages.
fn history(shape: Shape) -> World {
    let mut world = World::new(shape, 4096);
    let mut random = Random(shape as u64 + 11);
    let count = match shape {
        Shape::Int => 3000,
        Shape::Long => 150,
        _ => 1200,
    };
    for _ in 0..2 {
        for _ in 0..count {
            world.insert(random.below(1000) as i32);
        }
        (0..count / 2).for_each(|_| world.insert(500));
        let keep = random.below(4) as u32;
        world.vacuum(|tid| tid.block.0 % 4 != keep && tid.block.0 > 2);
        world.vacuum(|tid| tid.block.0 > 1);
    }
    (0..count).for_each(|n| world.insert(n));
    world.kill_first(count as usize / 2);
    (0..count / 4).for_each(|n| world.insert(n * 3));
    world.check();
    world
}

fn records(store: &Store) -> Vec<Record> {
    store.records(wal::Rmgr::Btree)
}

/// LSN, links and flags, and items of a page.
type PageState = (Lsn, (Option<Meta>, String), Vec<Vec<u8>>);

fn pages(store: &Store) -> Vec<PageState> {
    store.pages(|page| {
        let links = Node::new(page).map(|node| format!("{:?}", node.op)).unwrap_or_default();
        (Meta::read(page).ok(), links)
    })
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for shape in Shape::ALL {
        let world = history(shape);
        let log = records(&world.store);
        for kind in [
            Kind::Split,
            Kind::NewRoot,
            Kind::HalfDead,
            Kind::Unlink,
            Kind::PutFree,
            Kind::TakeFree,
            Kind::Vacuum,
        ] {
            assert!(
                log.iter().any(|record| record.info == kind as u8),
                "{shape:?}: no {kind:?} in the history"
            );
        }
        check_redo(&world);
    }
}

/// The whole log makes the same pages out of nothing, once and once more.
pub fn check_redo(world: &World) {
    let (shape, log) = (world.shape, records(&world.store));
    println!("{shape:?}");
    gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, pages);
}

#[test]
fn every_prefix_is_a_sound_tree() {
    for shape in Shape::ALL {
        let log = records(&history(shape).store);
        let copy = World::with_store(shape, Store::new(4096));
        let (mut incomplete, mut half_dead) = (0, 0);
        for (i, record) in log.iter().enumerate() {
            redo(&copy.store.pool, record, redo_block);
            let leaf_insert =
                record.info == Kind::InsertLeaf as u8 || record.info == Kind::InsertPosting as u8;
            if !leaf_insert || i % 200 == 0 {
                let report = copy.verify();
                incomplete += report.incomplete_splits;
                half_dead += report.half_dead;
            }
        }
        assert!(incomplete >= 3 && half_dead >= 1, "{shape:?} {incomplete} {half_dead}");
    }
}

/// Stops behind a record, "recovers", and goes on inserting and vacuuming. Returns the numbers of incomplete splits before and after.
fn stop_after(shape: Shape, log: &[Record], stop: usize) -> (u32, u32) {
    let mut world = World::with_store(shape, Store::new(4096));
    log[..=stop].iter().for_each(|record| redo(&world.store.pool, record, redo_block));
    let before = world.verify().incomplete_splits;
    world.model = world.collect(vec![], Direction::Forward);
    let mut backward = world.collect(vec![], Direction::Backward);
    backward.reverse();
    super::world::same(&backward, &world.model);
    world.next_tid = 1_000_000;
    let mut random = Random(stop as u64 + 1);
    // Whatever was left undone lies on the way of somebody.
    for n in 0..400 {
        world.insert(if n % 2 == 0 { n } else { random.below(1000) as i32 });
    }
    world.check();
    world.vacuum(|tid: Tid| tid.block.0.is_multiple_of(3));
    let report = world.check();
    assert_eq!(report.half_dead, 0, "VACUUM finishes deletions");
    world.vacuum(|_| true);
    (before, world.check().incomplete_splits)
}

#[test]
fn a_crash_between_two_halves_is_mended() {
    let (mut before, mut after) = (0, 0);
    for shape in Shape::ALL {
        let log = records(&history(shape).store);
        for kind in [Kind::Split, Kind::HalfDead, Kind::Unlink, Kind::TakeFree] {
            let stops: Vec<usize> = (0..log.len()).filter(|&i| log[i].info == kind as u8).collect();
            // A handful of each kind, spread over the history, its first and last among them.
            let step = (stops.len() / 3).max(1);
            for &stop in stops.iter().step_by(step).chain(stops.last()) {
                let (b, a) = stop_after(shape, &log, stop);
                before += b;
                after += a;
            }
        }
    }
    // That of an internal page waits until one of its children splits or goes.
    assert!(before >= 10 && after * 3 <= before, "{before} {after}");
}
