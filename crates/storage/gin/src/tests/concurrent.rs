//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::BTreeSet;

use base::Tid;
use store::crowd::{Crowd, Load, on_threads, seeds, simulate};

use super::world::{Shape, World};

struct Sessions {
    load: Load,
    world: World,
}

impl Sessions {
    fn new(shape: Shape, buffers: usize, inserters: u32, fast: bool) -> Sessions {
        let mut world = if fast { World::fast(shape, buffers) } else { World::new(shape, buffers) };
        world.limits.pending_list = 20 << 10;
        Sessions { load: Load::new(inserters), world }
    }
}

impl Crowd for Sessions {
    const NUMBERS: u64 = 3000;

    fn load(&self) -> &Load {
        &self.load
    }

    fn enter(&self, number: u64, at: Tid) {
        self.world.insert_row(&self.world.shape.row(number as u32), at);
    }

    fn remove(&self, dead: &BTreeSet<Tid>) {
        self.world.bulk_delete(|tid| dead.contains(&tid));
    }

    fn scan(&self, _round: u64) {
        let snapshot = self.world.snapshots.take();
        let stable = self.load.stable.lock().unwrap().clone();
        let found: BTreeSet<Tid> = self.world.collect(vec![]).into_iter().collect();
        drop(snapshot);
        let lost: Vec<&Tid> = stable.keys().filter(|tid| !found.contains(tid)).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
    }

    fn check(&self) {
        let found: BTreeSet<Tid> = self.world.collect(vec![]).into_iter().collect();
        assert!(found.iter().eq(self.load.stable.lock().unwrap().keys()));
        self.world.verify();
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

/// `GIN_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("GIN_SEEDS", "0..16") {
        let shape = if seed % 3 == 0 { Shape::Two } else { Shape::Long };
        simulate(seed, 120, move || Sessions::new(shape, 256, 3, seed.is_multiple_of(2)));
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    for fast in [false, true] {
        on_threads(&Sessions::new(Shape::Short, 2048, 2, fast), 3000);
    }
}
