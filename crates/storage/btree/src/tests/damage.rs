//! Pages that are not what was written: errors, never panics.

use std::sync::Arc;

use base::{BlockNo, Fork, PAGE_SIZE};
use index::{
    IndexError, Pages, ScanKey, ScanKeys, ScanOp, UniqueCheck, VacuumStats, VerifyOptions, strategy,
};
use page::PageBytes;
use store::{AllLive, FILE, Random};
use tuple::Datum;

use super::world::{Shape, World, manner};
use crate::format::Node;
use crate::insert::insert;
use crate::vacuum::bulk_delete;
use crate::verify::{CROSS_PAGE_ORDER, DOWNLINK, HIGH_KEY, ITEM_ORDER, verify};
use crate::{BtreeRel, Scan};

/// A tree, and what its pages were before any damage.
struct Sound {
    world: World,
    pages: Vec<Box<PageBytes>>,
}

impl Sound {
    fn new(shape: Shape) -> Sound {
        let mut world = World::new(shape, 1024);
        (0..2500).for_each(|n| world.insert(n % 900));
        let count = world.store.pool.nblocks(FILE, Fork::Main).unwrap();
        let copy = |block| Box::new(*world.rel.shared(&world.store.pool, BlockNo(block)).unwrap());
        Sound { pages: (0..count).map(copy).collect(), world }
    }

    /// Makes it what it was. Pages added since are as new.
    fn restore(&mut self) -> &World {
        let world = &mut self.world;
        world.rel = Arc::new(BtreeRel::new(world.rel.desc.clone()));
        for block in 0..world.store.pool.nblocks(FILE, Fork::Main).unwrap() {
            let mut page = world.rel.exclusive(&world.store.pool, BlockNo(block)).unwrap();
            match self.pages.get(block as usize) {
                Some(sound) => page.copy_from_slice(&sound[..]),
                None => page.fill(0),
            }
            page.mark_dirty();
        }
        world
    }
}

/// Overwrites bytes of a page as no code of ours would.
fn scribble(world: &World, block: u32, bytes: &[(usize, u8)]) {
    let mut page = world.rel.exclusive(&world.store.pool, BlockNo(block)).unwrap();
    for &(at, byte) in bytes {
        page[at] = byte;
    }
    page.mark_dirty_hint();
}

#[test]
fn readers_survive_any_damage() {
    let mut errors = 0;
    let mut sound = [Sound::new(Shape::Mixed), Sound::new(Shape::Int)];
    for seed in 1..60u64 {
        let sound = &mut sound[seed as usize % 2];
        let pages = sound.pages.len();
        let world = sound.restore();
        let mut random = Random(seed * 7919);
        for _ in 0..3 {
            let block = random.below(pages as u64) as u32;
            let bytes: Vec<(usize, u8)> =
                (0..20).map(|_| (random.below(PAGE_SIZE as u64) as usize, random.below(256) as u8)).collect();
            scribble(world, block, &bytes);
        }
        let access = world.access();
        errors += usize::from(verify(&access, &world.rel, VerifyOptions::ALL, None).is_err());
        for n in 0..20 {
            let op = ScanOp::Strategy(strategy::GREATER_EQUAL, world.shape.row(n * 40)[0].clone());
            let keys = ScanKeys { keys: vec![ScanKey { column: 0, op }], ..ScanKeys::default() };
            let mut scan = Scan::new(world.rel.clone(), keys, true, false);
            let mut out = Vec::new();
            // A ring of pages would go on for ever.
            for _ in 0..5000 {
                match scan.next(&access) {
                    Ok(Some(_)) => {
                        let _ = scan.values(&mut out);
                        scan.kill_current();
                    }
                    _ => break,
                }
            }
            scan.finish(&access);
        }
    }
    assert!(errors > 30, "{errors}");
}

#[test]
fn writers_survive_damaged_leaves() {
    let mut sound = [Sound::new(Shape::Mixed), Sound::new(Shape::Int)];
    for seed in 1..60u64 {
        let sound = &mut sound[seed as usize % 2];
        let pages = sound.pages.len();
        let world = sound.restore();
        let mut random = Random(seed * 104_729);
        for block in 1..pages as u32 {
            let leaf = {
                let page = world.rel.shared(&world.store.pool, BlockNo(block)).unwrap();
                Node::new(&page).unwrap().op.is_leaf()
            };
            if leaf && random.below(2) == 0 {
                // Header, line pointers and items; links stay, since a ring of them would make a writer wait for himself.
                let bytes: Vec<(usize, u8)> = (0..8)
                    .map(|_| (12 + random.below(PAGE_SIZE as u64 - 36) as usize, random.below(256) as u8))
                    .collect();
                scribble(world, block, &bytes);
            }
        }
        let access = world.access();
        for n in 0..300 {
            let tid = base::Tid::new(BlockNo(5_000_000 + n as u32), 1);
            let _ = insert(&access, &world.rel, &world.shape.row(n * 3), tid, UniqueCheck::No, &AllLive);
        }
        let mut stats = VacuumStats::default();
        let _ = bulk_delete(&access, &world.rel, |tid| tid.block.0 % 2 == 0, &mut manner(), &mut stats);
    }
}

#[test]
fn errors_name_relation_and_block() {
    let mut world = World::new(Shape::Int, 256);
    (0..1000).for_each(|n| world.insert(n));
    // The tag of the special area of the first leaf.
    scribble(&world, 1, &[(PAGE_SIZE - 12, 0)]);
    let error = insert(
        &world.access(),
        &world.rel,
        &[Datum::Int4(1)],
        base::Tid::new(BlockNo(9), 9),
        UniqueCheck::No,
        &AllLive,
    );
    let error = error.unwrap_err();
    assert!(matches!(error, IndexError::Corrupt { rel: FILE, block: BlockNo(1), .. }), "{error}");
    let error = error.into_sql("t_pkey", "t");
    assert_eq!(error.code().as_str(), "XX002");
    assert!(error.message().contains("\"t_pkey\"") && error.message().contains("block 1"), "{error}");
}

/// The first leaf of a tree of integers with its high key, changed as if by damage that no check sum tells of.
fn of_changed_leaf(change: impl FnOnce(&mut PageBytes)) -> (Option<&'static str>, Option<&'static str>) {
    let mut world = World::new(Shape::Int, 256);
    (0..2000).for_each(|n| world.insert(n));
    {
        let mut page = world.rel.exclusive(&world.store.pool, BlockNo(1)).unwrap();
        change(&mut page);
        page.mark_dirty();
    }
    let told = |options| match verify(&world.access(), &world.rel, options, None) {
        Ok(_) => None,
        Err(IndexError::Corrupt { what, .. }) => Some(what),
        Err(other) => panic!("{other}"),
    };
    (told(VerifyOptions::ALL), told(VerifyOptions::default()))
}

#[test]
fn each_kind_of_damage_is_named_whether_the_tree_is_still_or_not() {
    let both = |what| (Some(what), Some(what));
    assert_eq!(of_changed_leaf(|_| ()), (None, None));
    let swapped = of_changed_leaf(|page| {
        let two = [5, 6].map(|n| page::line_pointer(page, n).unwrap());
        page::set_line_pointer(page, 5, two[1]);
        page::set_line_pointer(page, 6, two[0]);
    });
    assert_eq!(swapped, both(ITEM_ORDER));
    let last_is_high = of_changed_leaf(|page| {
        let last = page::max_offset(page);
        let bytes = page::item_mut(page, last).unwrap();
        bytes[8..12].copy_from_slice(&1_000_000i32.to_le_bytes());
    });
    assert_eq!(last_is_high, both(HIGH_KEY));
    // The high key is above what the page on the right begins with, and what its separator in the parent says.
    let high_is_higher = of_changed_leaf(|page| {
        let bytes = page::item_mut(page, 1).unwrap();
        bytes[8..12].copy_from_slice(&1_000_000i32.to_le_bytes());
    });
    assert_eq!(high_is_higher, (Some(DOWNLINK), Some(CROSS_PAGE_ORDER)));
    let no_item = of_changed_leaf(|page| page::set_line_pointer(page, 7, page::LinePointer::UNUSED));
    assert_eq!(no_item, both("line pointer names no item"));
    let other_level = of_changed_leaf(|page| page[PAGE_SIZE - 16] = 3);
    assert_eq!(other_level, both("level is wrong"));
    let left_link = of_changed_leaf(|page| page[PAGE_SIZE - 24] = 2);
    assert!(left_link.0.is_some());
}
