//! Several sessions on threads, and in a simulation where any latch may be the place at which another one goes on.

use index::{Direction, Pages};
use store::Random;

use std::rc::Rc;
use std::sync::Arc;

use super::sessions::{Load, Look, Shared};
use super::world::{Shape, World};
use crate::format::META;
use crate::search::put_free;

#[test]
fn threads_insert_scan_and_vacuum() {
    for (shape, rows) in [(Shape::Int, 4000), (Shape::Long, 2500), (Shape::Mixed, 3000)] {
        let shared = Shared::new(Load {
            seed: 0,
            shape,
            buffers: 2048,
            inserters: 2,
            rows,
            wave: 50,
            living: 500,
            keys: 5000,
            pause: 0,
            stable_step: 500,
        });
        std::thread::scope(|threads| {
            for session in 1..3 {
                let shared = &shared;
                threads.spawn(move || shared.inserter(session));
            }
            threads.spawn(|| {
                while shared.busy() {
                    shared.vacuum();
                }
            });
            for direction in [Direction::Forward, Direction::Backward] {
                let shared = &shared;
                threads.spawn(move || {
                    let mut keep_pin = false;
                    while shared.busy() {
                        shared.scan(Look { keep_pin, ..Look::all(direction) });
                        keep_pin = !keep_pin;
                    }
                });
            }
        });
        shared.finish();
    }
}

/// One seed: sessions as above, in one thread that goes from one to another where latches are taken.
fn simulate(seed: u64, load: Load, odds: u64) {
    let simulation = runtime::Simulation::new(seed);
    simulation.interleave(odds);
    let ended = simulation.run(move || {
        let shared = Arc::new(Shared::new(load));
        let mut sessions = Vec::new();
        for session in 1..=load.inserters {
            let shared = shared.clone();
            sessions.push(runtime::spawn_fiber("inserter", move || shared.inserter(session)));
        }
        let vacuum = shared.clone();
        sessions.push(runtime::spawn_fiber("vacuum", move || {
            while vacuum.busy() {
                vacuum.vacuum();
                runtime::yield_now();
            }
        }));
        for _ in 0..2 {
            let shared = shared.clone();
            let mut random = Random(runtime::random_u64() | 1);
            sessions.push(runtime::spawn_fiber("scan", move || {
                while shared.busy() {
                    shared.scan(Look::random(&mut random, load.keys));
                    (0..random.below(300)).for_each(|_| runtime::yield_now());
                }
            }));
        }
        for session in sessions {
            session.join().unwrap();
        }
        shared.finish();
    });
    ended.unwrap();
}

#[test]
fn simulated_sessions_with_few_buffers() {
    for (seed, shape) in [(0, Shape::Broad), (1, Shape::Long)] {
        let load = Load {
            seed,
            shape,
            buffers: 40,
            inserters: 3,
            rows: 500,
            wave: 30,
            living: 200,
            keys: 1500,
            pause: 0,
            stable_step: 100,
        };
        simulate(seed, load, 0);
    }
}

/// A small tree, full and empty by turns. `BTREE_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    let range = std::env::var("BTREE_SEEDS").unwrap_or_else(|_| "0..24".into());
    let (from, to) = range.split_once("..").unwrap();
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        let shape = if seed % 2 == 0 { Shape::Long } else { Shape::Broad };
        let load = Load {
            seed,
            shape,
            buffers: 512,
            inserters: 2,
            rows: 150,
            wave: 8,
            living: 20 + (seed % 3) as usize * 30,
            keys: 150,
            pause: 60,
            stable_step: 50,
        };
        println!("seed {seed}");
        simulate(seed, load, 2 + seed % 4);
    }
}

#[test]
fn sessions_meet_while_they_ask_for_the_order() {
    for seed in 0..4 {
        let load = Load {
            seed,
            shape: Shape::Asked,
            buffers: 512,
            inserters: 2,
            rows: 120,
            wave: 8,
            living: 30,
            keys: 150,
            pause: 0,
            stable_step: 50,
        };
        simulate(seed, load, 3);
    }
}

/// A page that VACUUM remembers as deleted may be in use again and latched by somebody who wants the meta page next.
#[test]
fn putting_a_page_on_the_free_list_waits_for_its_user_before_the_meta_page() {
    let put = runtime::Simulation::new(1).run(|| {
        let mut world = World::new(Shape::Int, 64);
        world.insert(1);
        let world = Rc::new(world);
        let root = world.rel.meta(&world.store.pool).unwrap().root;
        let used = world.rel.exclusive(&world.store.pool, root).unwrap();
        let vacuum = {
            let world = world.clone();
            runtime::spawn_fiber("vacuum", move || put_free(&world.access(), &world.rel, root).unwrap())
        };
        (0..50).for_each(|_| runtime::yield_now());
        drop(world.rel.exclusive(&world.store.pool, META).unwrap());
        drop(used);
        assert!(!vacuum.join().unwrap(), "it is in use");
        world.check();
    });
    put.unwrap();
}
