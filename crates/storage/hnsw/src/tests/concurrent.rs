//! Several sessions in one thread that goes from one to another where latches are taken, and on threads.

use std::collections::BTreeSet;

use base::Tid;
use index::{IndexAccessMethod, Manner, VacuumStats};
use store::crowd::{Crowd, Load, on_threads, seeds, simulate};
use store::points::{LARGE, Points, SMALL, World};
use tuple::Datum;

use super::OPTIONS;
use crate::HnswRel;

struct Sessions {
    load: Load,
    world: World<HnswRel>,
}

impl Sessions {
    fn new(class: &'static Points, inserters: u32) -> Sessions {
        Sessions { load: Load::new(inserters), world: World::new(class, OPTIONS) }
    }

    fn value(&self, number: u64) -> Datum {
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.world.class.make((number >> 54) as f64, (number >> 44 & 1023) as f64)
    }
}

impl Crowd for Sessions {
    const NUMBERS: u64 = 3000;

    fn load(&self) -> &Load {
        &self.load
    }

    fn enter(&self, number: u64, at: Tid) {
        let values = [self.value(number)];
        crate::insert::insert(&self.world.access(), &self.world.rel, &values, at).unwrap();
    }

    fn remove(&self, dead: &BTreeSet<Tid>) {
        let mut stats = VacuumStats::default();
        let mut manner = Manner { ring: None, pause: &mut || Ok(()) };
        let mut is_dead = |tid| dead.contains(&tid);
        self.world.rel.bulk_delete(&self.world.access(), &mut is_dead, &mut manner, &mut stats).unwrap();
    }

    fn scan(&self, round: u64) {
        let stable = self.load.stable.lock().unwrap().clone();
        let found = self.world.nearest(&Datum::Null, usize::MAX);
        let found: BTreeSet<Tid> = found.into_iter().collect();
        let lost: Vec<&Tid> = stable.keys().filter(|tid| !found.contains(tid)).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
        self.world.nearest(&self.value(round), 10);
    }

    fn check(&self) {
        let found = self.world.verify();
        let stable = self.load.stable.lock().unwrap();
        assert!(found.keys().eq(stable.keys()));
        let (mut hit, wanted) = (0, stable.len());
        for (tid, number) in stable.iter() {
            hit += usize::from(self.world.nearest(&self.value(*number), 10).contains(tid));
        }
        assert!(hit * 10 >= wanted * 9, "{hit} of {wanted} are found");
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

/// `HNSW_SEEDS=from..to` explores others.
#[test]
fn simulated_sessions_that_switch_at_latches() {
    for seed in seeds("HNSW_SEEDS", "0..12") {
        let class = if seed.is_multiple_of(3) { &LARGE } else { &SMALL };
        simulate(seed, 90, move || Sessions::new(class, 3));
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    on_threads(&Sessions::new(&SMALL, 2), 2000);
}
