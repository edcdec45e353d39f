//! Plans by text, which all sessions of a server share.
//!
//! # Invariants
//! 1. Some plans are kept because they were asked for lately. All others live as long as a session has them, and whoever prepares the same text
//!    meanwhile finds them: ten thousand statements that a thousand sessions prepare have ten thousand plans.
//! 2. A plan that is kept is known too.
//!
//! # Locks
//! Two short mutexes, one after the other: the plans that are kept, and one part of those that are known.

use std::hash::BuildHasher;
use std::sync::{Arc, Weak};

use base::Oid;
use parking_lot::Mutex;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::statement::{Place, SharedPlan};
use crate::clock_map::ClockMap;

/// Plans that are kept.
const MOST_PLANS: usize = 4096;

/// Parts of what is known: those that have no plan any more are looked for in one of them at a time.
const PARTS: usize = 256;

/// Plans by text, for all sessions of a server.
pub(super) struct PlanCache {
    kept: Mutex<ClockMap<Arc<PlanKey>, Arc<SharedPlan>>>,
    known: Box<[Mutex<Known>]>,
}

/// Plans that some session holds.
#[derive(Default)]
struct Known {
    plans: FxHashMap<Arc<PlanKey>, Weak<SharedPlan>>,
    /// Plans that were there when the others were taken out last.
    alive: usize,
}

/// What makes two statements the same.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct PlanKey {
    pub(super) database: Oid,
    pub(super) user: Oid,
    pub(super) text: Arc<str>,
    pub(super) place: Place,
    pub(super) given: Option<Vec<Oid>>,
    pub(super) search_path: Box<str>,
    /// The planner's settings, as [`base::settings::SessionSettings::planner_settings`] tells them.
    pub(super) planner: Box<str>,
    /// What texts of dates and times mean.
    pub(super) formats: Box<str>,
    /// Variables and result of a function.
    pub(super) body: Option<String>,
}

impl Default for PlanCache {
    fn default() -> PlanCache {
        PlanCache {
            kept: Mutex::new(ClockMap::new(MOST_PLANS)),
            known: (0..PARTS).map(|_| Mutex::default()).collect(),
        }
    }
}

impl PlanCache {
    /// The plan of a statement, if it is current and its names mean the same.
    pub(super) fn get(&self, key: &PlanKey) -> Option<Arc<SharedPlan>> {
        let kept = self.kept.lock().get(key).cloned();
        let found = kept.or_else(|| self.keep_again(key))?;
        if found.is_current() && found.names_hold() {
            return Some(found);
        }
        let stale = self.kept.lock().remove(key);
        drop(stale);
        None
    }

    /// Keeps a plan that some session holds.
    fn keep_again(&self, key: &PlanKey) -> Option<Arc<SharedPlan>> {
        let known = self.part(key).lock();
        let (key, plan) = known.plans.get_key_value(key)?;
        let (key, plan) = (key.clone(), plan.upgrade()?);
        drop(known);
        let _gone = self.kept.lock().insert(key, plan.clone());
        Some(plan)
    }

    /// Forgets the plans of a database without sessions.
    pub(super) fn forget_database(&self, database: Oid) {
        let gone = self.kept.lock().remove_where(|key| key.database == database);
        drop(gone);
    }

    /// Keeps a plan.
    pub(super) fn put(&self, key: PlanKey, plan: Arc<SharedPlan>) {
        let key = Arc::new(key);
        self.part(&key).lock().insert(&key, &plan);
        // What goes for it is freed without the lock.
        let _gone = self.kept.lock().insert(key, plan);
    }

    fn part(&self, key: &PlanKey) -> &Mutex<Known> {
        // The map takes the highest bits and the lowest.
        &self.known[(FxBuildHasher.hash_one(key) >> 32) as usize % PARTS]
    }
}

impl Known {
    /// Before room is asked for to hold twice as many, those go that have no plan: a constant number of steps a plan, on average.
    fn insert(&mut self, key: &Arc<PlanKey>, plan: &Arc<SharedPlan>) {
        if self.plans.len() >= 2 * self.alive.max(MOST_PLANS / PARTS) {
            self.plans.retain(|_, plan| plan.strong_count() > 0);
            self.alive = self.plans.len();
        }
        self.plans.insert(key.clone(), Arc::downgrade(plan));
    }
}
