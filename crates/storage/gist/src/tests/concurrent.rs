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
        self.world.insert_row(&self.world.shape.row(number as i32), at);
    }

    fn remove(&self, dead: &BTreeSet<Tid>) {
        self.world.bulk_delete(|tid| dead.contains(&tid));
    }

    fn scan(&self, _round: u64) {
        let snapshot = self.world.snapshots.take();
        let stable = self.load.stable.lock().unwrap().clone();
        let mut scan = self.world.scan(Vec::new(), Wants::TIDS);
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

/// `GIST_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("GIST_SEEDS", "0..16") {
        let shape = if seed % 3 == 0 { Shape::Two } else { Shape::Long };
        simulate(seed, 120, move || Sessions::new(shape, 256, 3));
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    on_threads(&Sessions::new(Shape::Short, 2048, 2), 3000);
}
