//! Tests of whole graphs: searches against a list, redo of prefixes of the log.

use store::points::{LARGE, Points, SMALL, World};
use store::replay::damaged_pages_are_told;

use crate::HnswRel;

mod concurrent;

const OPTIONS: &[(&str, &str)] = &[("m", "4"), ("ef_construction", "16")];

/// Searches find nine of ten rows that are nearest.
fn check(world: &mut World<HnswRel>) {
    world.check(|world, sought, all| {
        let found = world.nearest(sought, 8);
        assert_eq!(found.len(), all.len().min(8));
        found
    });
}

/// Rows come, go, and come to the places of others.
fn history(class: &'static Points) -> World<HnswRel> {
    let mut world = World::new(class, OPTIONS);
    world.insert(class.crowd());
    world.grow_and_shrink(check);
    world
}

#[test]
fn searches_find_what_is_near() {
    history(&SMALL);
    history(&LARGE);
}

#[test]
fn builds_find_what_is_near() {
    for class in [&SMALL, &LARGE] {
        // All in memory, a part, and row by row.
        for memory in [64 << 20, 20_000, 0] {
            let mut world: World<HnswRel> = World::built_within(class, OPTIONS, class.crowd(), memory);
            world.grow_and_shrink(check);
            world.log_gives_the_same_pages();
        }
    }
    let none: World<HnswRel> = World::built(&SMALL, OPTIONS, 0);
    assert!(none.nearest(&SMALL.make(1.0, 1.0), 3).is_empty());
    assert!(none.verify().is_empty());
}

#[test]
fn an_index_may_become_empty() {
    let mut world = World::new(&SMALL, OPTIONS);
    assert!(world.nearest(&SMALL.make(1.0, 1.0), 3).is_empty());
    world.insert(50);
    world.vacuum(|_| true);
    check(&mut world);
    world.insert(50);
    check(&mut world);
}

#[test]
fn the_whole_log_gives_the_same_pages() {
    for class in [&SMALL, &LARGE] {
        history(class).log_gives_the_same_pages();
    }
}

#[test]
fn every_prefix_is_sound_and_goes_on() {
    World::<HnswRel>::each_prefix_is_sound(&history(&SMALL).records(), OPTIONS, 101);
}

#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&history(&SMALL).records(), index::changes::redo_block);
}
