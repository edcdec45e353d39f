//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use base::Tid;
use store::{Random, tid};

use super::world::{Shape, World};

/// What sessions share.
struct Shared {
    world: World,
    /// Rows that are in for good.
    stable: Mutex<BTreeSet<Tid>>,
    /// Rows that VACUUM may remove.
    dead: Mutex<BTreeSet<Tid>>,
    next: AtomicU32,
    inserters: AtomicU32,
}

impl Shared {
    fn new(shape: Shape, buffers: usize, inserters: u32, fast: bool) -> Shared {
        let mut world = if fast { World::fast(shape, buffers) } else { World::new(shape, buffers) };
        world.limits.pending_list = 20 << 10;
        let next = AtomicU32::new(1);
        Shared { world, stable: Mutex::default(), dead: Mutex::default(), next, inserters: inserters.into() }
    }

    fn busy(&self) -> bool {
        self.inserters.load(SeqCst) > 0
    }

    fn inserter(&self, seed: u64, rows: u32) {
        let mut random = Random(seed * 7919 + 1);
        for _ in 0..rows {
            let at = tid(self.next.fetch_add(1, SeqCst));
            self.world.insert_row(&self.world.shape.row(random.below(3000) as u32), at);
            let list = if random.below(3) == 0 { &self.stable } else { &self.dead };
            list.lock().unwrap().insert(at);
        }
        self.inserters.fetch_sub(1, SeqCst);
    }

    fn vacuum(&self) {
        let dead = self.dead.lock().unwrap().clone();
        self.world.bulk_delete(|tid| dead.contains(&tid));
        self.dead.lock().unwrap().retain(|tid| !dead.contains(tid));
    }

    /// A scan finds what was in before it began and stays, and nothing twice.
    fn scan(&self) {
        let snapshot = self.world.snapshots.take();
        let stable = self.stable.lock().unwrap().clone();
        let found: BTreeSet<Tid> = self.world.collect(vec![]).into_iter().collect();
        drop(snapshot);
        let lost: Vec<&Tid> = stable.difference(&found).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
    }

    fn finish(&self) {
        self.vacuum();
        let found: BTreeSet<Tid> = self.world.collect(vec![]).into_iter().collect();
        assert_eq!(found, *self.stable.lock().unwrap());
        self.world.verify();
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

fn simulate(seed: u64, shape: Shape) {
    let simulation = runtime::Simulation::new(seed);
    simulation.interleave(2 + seed % 4);
    let ended = simulation.run(move || {
        let shared = Arc::new(Shared::new(shape, 256, 3, seed.is_multiple_of(2)));
        let mut sessions = Vec::new();
        for session in 1..=3 {
            let shared = shared.clone();
            sessions
                .push(runtime::spawn_fiber("inserter", move || shared.inserter(seed * 10 + session, 120)));
        }
        let vacuum = shared.clone();
        sessions.push(runtime::spawn_fiber("vacuum", move || {
            while vacuum.busy() {
                vacuum.vacuum();
                (0..50).for_each(|_| runtime::yield_now());
            }
        }));
        let scans = shared.clone();
        sessions.push(runtime::spawn_fiber("scan", move || {
            while scans.busy() {
                scans.scan();
                (0..20).for_each(|_| runtime::yield_now());
            }
        }));
        sessions.into_iter().for_each(|session| session.join().unwrap());
        shared.finish();
    });
    ended.unwrap();
}

/// `GIN_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    let range = std::env::var("GIN_SEEDS").unwrap_or_else(|_| "0..16".into());
    let (from, to) = range.split_once("..").unwrap();
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        println!("seed {seed}");
        simulate(seed, if seed % 3 == 0 { Shape::Two } else { Shape::Long });
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    [false, true].into_iter().for_each(threads);
}

fn threads(fast: bool) {
    let shared = Shared::new(Shape::Short, 2048, 2, fast);
    std::thread::scope(|threads| {
        let shared = &shared;
        for session in 1..=2 {
            threads.spawn(move || shared.inserter(session, 3000));
        }
        threads.spawn(|| {
            while shared.busy() {
                shared.vacuum();
            }
        });
        threads.spawn(|| {
            while shared.busy() {
                shared.scan();
            }
        });
    });
    shared.finish();
}
