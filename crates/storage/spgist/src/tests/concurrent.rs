//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::BTreeSet;

use base::Tid;
use index::{IndexScan, Wants};
use store::crowd::{Crowd, Load, on_threads, seeds, simulate};

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
    const NUMBERS: u64 = 3000;

    fn load(&self) -> &Load {
        &self.load
    }

    fn enter(&self, number: u64, at: Tid) {
        let snapshot = self.world.snapshots.take();
        self.world.insert_row(&self.world.shape.row(number as i32), at);
        drop(snapshot);
    }

    fn remove(&self, dead: &BTreeSet<Tid>) {
        self.world.bulk_delete(|tid| dead.contains(&tid));
    }

    fn scan(&self, round: u64) {
        let snapshot = self.world.snapshots.take();
        let stable = self.load.stable.lock().unwrap().clone();
        let keeps = round.is_multiple_of(2);
        let wants = Wants { values: keeps, pin: keeps };
        let mut scan = self.world.scan(Vec::new(), wants);
        let mut found = BTreeSet::new();
        while let Some(tid) = scan.next(&self.world.access()).unwrap() {
            assert!(found.insert(tid), "{tid} came twice");
        }
        scan.finish(&self.world.access());
        drop(snapshot);
        let lost: Vec<&Tid> = stable.keys().filter(|tid| !found.contains(tid)).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
    }

    fn check(&self) {
        let found: BTreeSet<Tid> = self.world.collect(vec![]).into_iter().map(|entry| entry.1).collect();
        assert!(found.iter().eq(self.load.stable.lock().unwrap().keys()));
        self.world.verify();
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

/// `SPGIST_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("SPGIST_SEEDS", "0..18") {
        let shape = Shape::ALL[seed as usize % 3];
        simulate(seed, 120, move || Sessions::new(shape, 512, 3));
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    on_threads(&Sessions::new(Shape::Short, 2048, 2), 3000);
}
