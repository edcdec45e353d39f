//! The unique check against other inserters of the key.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Mutex;

use base::{BlockNo, SqlError, Tid, Xid};
use index::{InsertOutcome, Liveness, Pages, TupleState, UniqueCheck, VerifyOptions};
use store::{AllLive, Random, Store};
use tuple::Datum;

use super::world::{Shape, World};
use crate::BtreeRel;
use crate::ascend::find_parent;
use crate::build::create_empty;
use crate::format::{INCOMPLETE_SPLIT, NONE, Opaque};
use crate::insert::insert;
use crate::insert::move_right_exclusive;
use crate::key::SearchKey;
use crate::search::{Stack, edge};
use crate::verify::verify;

/// Rows by TID, for several threads.
struct Rows(Mutex<HashMap<Tid, TupleState>>);

impl Liveness for Rows {
    fn check(&self, tid: Tid) -> Result<TupleState, SqlError> {
        Ok(self.0.lock().unwrap()[&tid])
    }
}

#[test]
fn one_of_several_inserters_of_a_key_wins() {
    let store = Store::new(2048);
    let snapshots = store::Snapshots::default();
    let rel = BtreeRel::new(Shape::Included.desc(true));
    let access = || index::Access {
        pool: &store.pool,
        horizon: &snapshots,
        xid: Xid::INVALID,
        limits: index::Limits::default(),
    };
    create_empty(&access(), &rel).unwrap();
    let rows = Rows(Mutex::default());
    let winners: Mutex<HashMap<i32, u32>> = Mutex::default();
    std::thread::scope(|threads| {
        for session in 0..4u32 {
            let (rel, rows, winners, access) = (&rel, &rows, &winners, &access);
            threads.spawn(move || {
                for i in 0..3000 {
                    // Ten tries a key, nine of them rows already deleted: duplicates on several pages.
                    let n = i / 10;
                    let tid = Tid::new(BlockNo(session * 100_000 + i as u32), 1);
                    let live = i % 10 == 9;
                    let state = if live { TupleState::Live { tid } } else { TupleState::Deleted };
                    rows.0.lock().unwrap().insert(tid, state);
                    let row = [Datum::Int4(n), Datum::text("a payload of some length, so that pages fill")];
                    let check = if live { UniqueCheck::Yes(rows) } else { UniqueCheck::No };
                    if insert(&access(), rel, &row, tid, check, &AllLive).unwrap() == InsertOutcome::Inserted
                        && live
                    {
                        *winners.lock().unwrap().entry(n).or_default() += 1;
                    }
                }
            });
        }
    });
    let winners = winners.into_inner().unwrap();
    assert_eq!(winners.len(), 300);
    assert!(winners.values().all(|&n| n == 1), "{winners:?}");
    verify(&access(), &rel, VerifyOptions::ALL, None).unwrap();
}

/// Entries of one key on several leaves: the leaves, left to right.
fn leaves_of_one_key(world: &mut World) -> Vec<BlockNo> {
    (0..50).for_each(|_| world.insert(0));
    let (mut leaves, mut next) = (Vec::new(), NONE);
    while leaves.is_empty() || next != NONE {
        let page = match next {
            NONE => edge(&world.access(), &world.rel, 0, false).unwrap().unwrap(),
            block => world.rel.shared(&world.store.pool, block).unwrap(),
        };
        leaves.push(page.tag().block);
        next = Opaque::read(&page).unwrap().next;
    }
    assert!(leaves.len() >= 4, "{leaves:?}");
    leaves
}

/// Whether nobody has the page latched.
fn free(world: &World, block: BlockNo) -> bool {
    world.rel.pin(&world.store.pool, block).unwrap().try_exclusive().is_some()
}

/// Starts on the left-most leaf and moves to the right end of the key; where it arrived.
fn move_to_the_end(world: &World, from: BlockNo) -> BlockNo {
    let values = [Datum::Int4(0)];
    let last = Tid::new(BlockNo(u32::MAX - 1), 1);
    let key = SearchKey { tid: Some(last), ..SearchKey::new(&world.rel.desc, &values, false) };
    let page = world.rel.exclusive(&world.store.pool, from).unwrap();
    let page = move_right_exclusive(&world.access(), &world.rel, &key, page, &Stack::new());
    page.unwrap().tag().block
}

fn others_run() {
    (0..100).for_each(|_| runtime::yield_now());
}

#[test]
fn moving_right_holds_the_left_page_until_the_right_one_is_accepted() {
    let moved = runtime::Simulation::new(1).run(|| {
        let mut world = World::new(Shape::Broad, 256);
        let leaves = leaves_of_one_key(&mut world);
        let world = Rc::new(world);
        for at in 1..leaves.len() {
            let held = world.rel.exclusive(&world.store.pool, leaves[at]).unwrap();
            let mover = {
                let (world, from) = (world.clone(), leaves[0]);
                runtime::spawn_fiber("mover", move || move_to_the_end(&world, from))
            };
            others_run();
            for (n, &leaf) in leaves.iter().enumerate() {
                // He waits for page `at`, and has the one before.
                assert_eq!(free(&world, leaf), n != at && n != at - 1, "page {n} while he waits for {at}");
            }
            drop(held);
            assert_eq!(mover.join().unwrap(), *leaves.last().unwrap());
            assert!(leaves.iter().all(|&leaf| free(&world, leaf)));
        }
    });
    moved.unwrap();
}

/// Takes the downlink of `right`, the right sibling of `left`, away: what a crash leaves between the two steps of a split.
fn undo_second_half(world: &World, left: BlockNo, right: BlockNo) {
    let (access, rel) = (world.access(), &world.rel);
    let (mut parent, at) = find_parent(&access, rel, right, 0, &mut Stack::new()).unwrap().unwrap();
    page::delete_items(&mut parent, &[at]).unwrap();
    let mut page = rel.exclusive(&world.store.pool, left).unwrap();
    let op = Opaque::read(&page).unwrap();
    Opaque { flags: op.flags | INCOMPLETE_SPLIT, ..op }.write(&mut page);
}

#[test]
fn moving_right_holds_the_left_page_while_it_finishes_a_split() {
    let moved = runtime::Simulation::new(2).run(|| {
        let mut world = World::new(Shape::Broad, 256);
        let leaves = leaves_of_one_key(&mut world);
        undo_second_half(&world, leaves[1], leaves[2]);
        let world = Rc::new(world);
        let parent = edge(&world.access(), &world.rel, 1, false).unwrap().unwrap().tag().block;
        let held = world.rel.exclusive(&world.store.pool, parent).unwrap();
        let mover = {
            let (world, from) = (world.clone(), leaves[0]);
            runtime::spawn_fiber("mover", move || move_to_the_end(&world, from))
        };
        others_run();
        assert!(!free(&world, leaves[0]), "who checks the key must not get past while the split is finished");
        assert!(!free(&world, leaves[1]) && free(&world, leaves[3]));
        drop(held);
        assert_eq!(mover.join().unwrap(), *leaves.last().unwrap());
        world.check();
    });
    moved.unwrap();
}

/// Rows of one key on several leaves, dead to everybody or to new snapshots only, and three sessions that want to be the one that has the key.
fn race_for_keys(seed: u64) {
    let simulation = runtime::Simulation::new(seed);
    simulation.interleave(2);
    let raced = simulation.run(move || {
        let world = Rc::new(World::with_store(Shape::Broad, Store::new(256)));
        let rel = Rc::new(BtreeRel::new(Shape::Broad.desc(true)));
        create_empty(&world.access(), &rel).unwrap();
        let rows = Rc::new(Rows(Mutex::default()));
        let enter = {
            let (world, rel, rows) = (world.clone(), rel.clone(), rows.clone());
            move |key: i32, tid: Tid, state: TupleState| {
                rows.0.lock().unwrap().insert(tid, state);
                let live = matches!(state, TupleState::Live { .. });
                let check = if live { UniqueCheck::Yes(&*rows) } else { UniqueCheck::No };
                insert(&world.access(), &rel, &Shape::Broad.row(key * 5), tid, check, &AllLive).unwrap()
            }
        };
        let mut random = Random(seed + 1);
        for n in 0..60 {
            let tid = Tid::new(BlockNo(random.below(1 << 20) as u32 * 8), 1);
            let state = if random.below(3) == 0 { TupleState::Dead } else { TupleState::Deleted };
            enter(n % 3, tid, state);
        }
        let sessions: Vec<_> = (1..4u32)
            .map(|session| {
                let enter = enter.clone();
                let mut random = Random(seed * 4 + u64::from(session));
                runtime::spawn_fiber("session", move || {
                    let mut won = Vec::new();
                    for key in 0..3 {
                        let mut tid = || Tid::new(BlockNo(random.below(1 << 20) as u32 * 8 + session), 1);
                        // Pages split meanwhile.
                        for _ in 0..3 {
                            enter(key, tid(), TupleState::Deleted);
                        }
                        let tid = tid();
                        match enter(key, tid, TupleState::Live { tid }) {
                            InsertOutcome::Inserted => won.push(key),
                            outcome => {
                                assert!(matches!(outcome, InsertOutcome::Conflict { .. }), "{outcome:?}")
                            }
                        }
                    }
                    won
                })
            })
            .collect();
        let mut won: Vec<i32> = sessions.into_iter().flat_map(|session| session.join().unwrap()).collect();
        won.sort_unstable();
        assert_eq!(won, [0, 1, 2], "seed {seed}");
        verify(&world.access(), &rel, VerifyOptions::ALL, None).unwrap();
    });
    raced.unwrap();
}

#[test]
fn one_session_of_several_has_a_key_whatever_the_order_of_latches() {
    (0..40).for_each(race_for_keys);
}
