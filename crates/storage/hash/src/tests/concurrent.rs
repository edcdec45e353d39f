//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::BTreeSet;

use base::Tid;
use index::{IndexScan, ScanKey, ScanOp, Wants};
use store::crowd::{Crowd, Load, on_threads, seeds, simulate};
use tuple::Datum;

use super::world::{Shape, World};

struct Sessions {
    load: Load,
    world: World,
}

impl Sessions {
    fn new(shape: Shape, buffers: usize, inserters: u32) -> Sessions {
        Sessions { load: Load::new(inserters), world: World::new(shape, buffers) }
    }
}

impl Crowd for Sessions {
    const NUMBERS: u64 = 60;

    fn load(&self) -> &Load {
        &self.load
    }

    fn enter(&self, number: u64, at: Tid) {
        self.world.insert_row(number as i64, at);
    }

    fn remove(&self, dead: &BTreeSet<Tid>) {
        self.world.bulk_delete(|tid| dead.contains(&tid));
    }

    /// Each time for another number.
    fn scan(&self, round: u64) {
        let number = (round + 1) % Self::NUMBERS;
        let snapshot = self.world.snapshots.take();
        let stable = self.load.stable.lock().unwrap().clone();
        let op = ScanOp::Strategy(1, Datum::Int8(number as i64));
        let mut scan = self.world.scan(vec![ScanKey { column: 0, op }], Wants::TIDS);
        let mut found = BTreeSet::new();
        while let Some(tid) = scan.next(&self.world.access()).unwrap() {
            assert!(found.insert(tid), "{tid} came twice");
        }
        scan.finish(&self.world.access());
        drop(snapshot);
        for (tid, other) in stable {
            assert!(other != number || found.contains(&tid), "lost {tid}");
        }
    }

    fn check(&self) {
        assert!(self.world.entries().iter().eq(self.load.stable.lock().unwrap().keys()));
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

/// `HASH_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("HASH_SEEDS", "0..12") {
        let shape = Shape::ALL[seed as usize % 3];
        simulate(seed, 900, move || Sessions::new(shape, 256, 3));
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    on_threads(&Sessions::new(Shape::Even, 2048, 2), 12_000);
}
