//! Tests of whole indexes: searches against a list, builds, redo of prefixes of the log.

use std::collections::BTreeSet;

use base::Tid;
use store::points::{LARGE, Points, SMALL};
use store::replay::damaged_pages_are_told;
use tuple::Datum;

use crate::IvfflatRel;

type World = store::points::World<IvfflatRel>;

const OPTIONS: &[(&str, &str)] = &[("lists", "7")];

/// What a search finds that looks through so many lists.
fn nearest(world: &World, to: &Datum, probes: u32) -> Vec<Tid> {
    runtime::set_word(index::settings::PROBES, probes);
    world.nearest(to, usize::MAX)
}

/// Who looks through all lists finds all in order, and who looks through three of seven most of those that are nearest.
fn check(world: &mut World) {
    world.check(|world, sought, all| {
        assert_eq!(nearest(world, sought, 7), all);
        nearest(world, sought, 3)
    });
}

fn built(count: u32) -> World {
    World::built(&SMALL, OPTIONS, count)
}

/// Rows come, go, and come to the places of others.
fn history(class: &'static Points) -> World {
    let mut world = World::built(class, OPTIONS, class.crowd());
    world.grow_and_shrink(check);
    world
}

#[test]
fn searches_find_what_is_near() {
    history(&SMALL);
    history(&LARGE);
}

#[test]
fn an_index_may_become_empty() {
    let mut world = World::new(&SMALL, OPTIONS);
    assert!(nearest(&world, &SMALL.make(1.0, 1.0), 3).is_empty());
    assert_eq!(world.verify(), world.model);
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
    World::each_prefix_is_sound(&history(&SMALL).records(), OPTIONS, 53);
}

#[test]
fn builds_make_as_many_lists_as_there_are_different_rows() {
    let world = built(300);
    assert_eq!(world.rel.meta(&world.access()).unwrap().lists, 7);
    let sizes = crate::lists::all(&world.access(), &world.rel, |list| Ok(list.head.first)).unwrap();
    assert!(sizes.iter().all(|first| *first != crate::format::META), "no list is empty");
    let mut few = built(3);
    assert!(few.rel.meta(&few.access()).unwrap().lists <= 3);
    check(&mut few);
    let mut none = built(0);
    assert_eq!(none.rel.meta(&none.access()).unwrap().lists, 0);
    none.insert(20);
    check(&mut none);
}

#[test]
fn scans_go_on_if_they_are_to() {
    let world = built(300);
    let sought = SMALL.make(500.0, 500.0);
    let one = nearest(&world, &sought, 1).len();
    runtime::set_word(index::settings::ITERATIVE_PROBES, 1);
    let all = nearest(&world, &sought, 1);
    runtime::set_word(index::settings::MAX_PROBES, 2);
    let two = nearest(&world, &sought, 1).len();
    runtime::set_word(index::settings::MAX_PROBES, 0);
    runtime::set_word(index::settings::ITERATIVE_PROBES, 0);
    assert!(one < two && two < all.len(), "{one} {two} {}", all.len());
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 300);
    assert_eq!(nearest(&world, &sought, 2).len(), two);
}

#[test]
fn redo_on_damaged_pages_is_an_error() {
    damaged_pages_are_told(&history(&SMALL).records(), index::changes::redo_block);
}
