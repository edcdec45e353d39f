//! Redo: any prefix of the log gives a sound index, which goes on working; the whole log gives the same pages.

use base::Lsn;
use store::replay::{damaged_pages_are_told, gives_the_same_pages, redo, stops};
use store::{Random, Store};
use wal::Record;

use super::world::{Shape, World};
use crate::format::{KEY, Key, Node, Opaque};
use crate::redo::{Kind, redo_block};

/// A history with splits on all levels, vacuums, page deletions and recycled pages.
fn history(shape: Shape) -> World {
    let mut world = World::new(shape, 4096);
    let mut random = Random(shape as u64 + 11);
    for _ in 0..2 {
        (0..8000).for_each(|_| world.insert(random.below(100_000) as i64));
        world.vacuum(|tid| !tid.block.0.is_multiple_of(4) && tid.block.0 > 2);
        world.vacuum(|tid| tid.block.0 > 0 || tid.offset > 20);
        world.vacuum(|tid| tid.offset > 20);
    }
    (0..6000).for_each(|n| world.insert(n * 3));
    world.check();
    world
}

fn records(store: &Store) -> Vec<Record> {
    store.records(wal::Rmgr::Hash)
}

/// Pages by what they hold, without marks of dead entries and without bytes that mean nothing.
fn pages(store: &Store) -> Vec<(Lsn, String)> {
    let of = |page: &page::PageBytes| {
        let Ok(op) = Opaque::read(page) else { return String::new() };
        let Ok(node) = Node::new(page) else { return "damaged".into() };
        let keys: Vec<Key> = (0..node.count()).map(|at| node.key(at)).collect();
        let children: Vec<u32> = match node.op.width() {
            KEY => Vec::new(),
            _ => (0..node.count()).map(|at| node.child(at).0).collect(),
        };
        format!("{op:?} {keys:?} {children:?}")
    };
    let page = |block| {
        let tag = buffer::Tag { rel: store::FILE, fork: base::Fork::Main, block: base::BlockNo(block) };
        let pin = store.pool.read(tag).unwrap();
        let page = pin.shared();
        (page::lsn(&page), of(&page))
    };
    (0..store.pool.nblocks(store::FILE, base::Fork::Main).unwrap()).map(page).collect()
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for shape in Shape::ALL {
        let world = history(shape);
        let log = records(&world.store);
        for (kind, name) in Kind::ALL {
            assert!(log.iter().any(|record| record.info == kind as u8), "{shape:?}: no {name}");
        }
        println!("{shape:?}");
        gives_the_same_pages(&world.store, &log, redo_block, crate::redo::MANAGER.describe, pages);
    }
}

#[test]
fn every_prefix_is_a_sound_index() {
    for shape in Shape::ALL {
        let log = records(&history(shape).store);
        let copy = World::with_store(shape, Store::new(4096));
        let mut incomplete = 0;
        for (i, record) in log.iter().enumerate() {
            redo(&copy.store.pool, record, redo_block);
            if record.info != Kind::Insert as u8 || i % 200 == 0 {
                incomplete += copy.verify().incomplete_splits;
            }
        }
        assert!(incomplete >= 3, "{shape:?} {incomplete}");
    }
}

#[test]
fn a_crash_between_two_steps_is_mended() {
    for shape in Shape::ALL {
        let history = history(shape);
        let log = records(&history.store);
        for kind in [Kind::Split, Kind::SplitRoot, Kind::PageDelete, Kind::TakeFree] {
            for stop in stops(&log, kind as u8) {
                let mut world = World::with_store(shape, Store::new(4096));
                log[..=stop].iter().for_each(|record| redo(&world.store.pool, record, redo_block));
                let before = world.verify().entries;
                world.next_tid = 1_000_000;
                (0..3000).for_each(|n| world.insert(n * 5));
                assert_eq!(world.verify().entries, before + 3000);
                world.vacuum(|tid| tid.block.0 < 10_000);
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
    damaged_pages_are_told(&records(&history(Shape::Even).store), redo_block);
}
