//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use base::Tid;
use index::{IndexScan, ScanKey, ScanOp, Wants};
use store::{Random, tid};
use tuple::Datum;

use super::world::{Shape, World};

/// What sessions share.
struct Shared {
    world: World,
    /// Rows that are in for good.
    stable: Mutex<BTreeMap<Tid, i64>>,
    /// Rows that VACUUM may remove.
    dead: Mutex<BTreeSet<Tid>>,
    next: AtomicU32,
    inserters: AtomicU32,
}

impl Shared {
    fn new(shape: Shape, buffers: usize, inserters: u32) -> Shared {
        let world = World::new(shape, buffers);
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
            let value = random.below(60) as i64;
            self.world.insert_row(value, at);
            if random.below(3) == 0 {
                self.stable.lock().unwrap().insert(at, value);
            } else {
                self.dead.lock().unwrap().insert(at);
            }
        }
        self.inserters.fetch_sub(1, SeqCst);
    }

    fn vacuum(&self) {
        let dead = self.dead.lock().unwrap().clone();
        self.world.bulk_delete(|tid| dead.contains(&tid));
        self.dead.lock().unwrap().retain(|tid| !dead.contains(tid));
    }

    /// A scan finds what was in before it began and stays, and nothing twice.
    fn scan(&self, value: i64) {
        let snapshot = self.world.snapshots.take();
        let stable = self.stable.lock().unwrap().clone();
        let op = ScanOp::Strategy(1, Datum::Int8(value));
        let mut scan = self.world.scan(vec![ScanKey { column: 0, op }], Wants::TIDS);
        let mut found = BTreeSet::new();
        while let Some(tid) = scan.next(&self.world.access()).unwrap() {
            assert!(found.insert(tid), "{tid} came twice");
        }
        scan.finish(&self.world.access());
        drop(snapshot);
        for (tid, other) in stable {
            assert!(other != value || found.contains(&tid), "lost {tid}");
        }
    }

    fn finish(&self) {
        self.vacuum();
        assert!(self.world.entries().iter().eq(self.stable.lock().unwrap().keys()));
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

fn simulate(seed: u64, shape: Shape) {
    let simulation = runtime::Simulation::new(seed);
    simulation.interleave(2 + seed % 4);
    let ended = simulation.run(move || {
        let shared = Arc::new(Shared::new(shape, 256, 3));
        let mut sessions = Vec::new();
        for session in 1..=3 {
            let shared = shared.clone();
            sessions
                .push(runtime::spawn_fiber("inserter", move || shared.inserter(seed * 10 + session, 900)));
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
            let mut value = 0;
            while scans.busy() {
                value += 1;
                scans.scan(value % 60);
                (0..20).for_each(|_| runtime::yield_now());
            }
        }));
        sessions.into_iter().for_each(|session| session.join().unwrap());
        shared.finish();
    });
    ended.unwrap();
}

/// `HASH_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    let range = std::env::var("HASH_SEEDS").unwrap_or_else(|_| "0..12".into());
    let (from, to) = range.split_once("..").unwrap();
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        println!("seed {seed}");
        simulate(seed, Shape::ALL[seed as usize % 3]);
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    let shared = Shared::new(Shape::Even, 2048, 2);
    std::thread::scope(|threads| {
        let shared = &shared;
        for session in 1..=2 {
            threads.spawn(move || shared.inserter(session, 12_000));
        }
        threads.spawn(|| {
            while shared.busy() {
                shared.vacuum();
            }
        });
        threads.spawn(|| {
            let mut value = 0;
            while shared.busy() {
                value += 1;
                shared.scan(value % 60);
            }
        });
    });
    shared.finish();
}
