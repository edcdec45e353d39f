//! Plans by text, which all sessions of a server share.

use std::sync::Arc;

use base::Oid;
use parking_lot::Mutex;

use super::statement::{Place, SharedPlan};
use crate::clock_map::ClockMap;

/// Plans that are kept.
const MOST_PLANS: usize = 4096;

/// Plans by text, for all sessions of a server.
pub(super) struct PlanCache(Mutex<ClockMap<Arc<PlanKey>, Arc<SharedPlan>>>);

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
        PlanCache(Mutex::new(ClockMap::new(MOST_PLANS)))
    }
}

impl PlanCache {
    /// The plan of a statement, if it is current and its names mean the same.
    pub(super) fn get(&self, key: &PlanKey) -> Option<Arc<SharedPlan>> {
        let mut plans = self.0.lock();
        let found = plans.get(key)?.clone();
        if found.is_current() && found.names_hold() {
            return Some(found);
        }
        let stale = plans.remove(key);
        drop(plans);
        drop(stale);
        None
    }

    /// Forgets the plans of a database that nobody is in.
    pub(super) fn forget_database(&self, database: Oid) {
        let gone = self.0.lock().remove_where(|key| key.database == database);
        drop(gone);
    }

    /// Keeps a plan.
    pub(super) fn put(&self, key: PlanKey, plan: Arc<SharedPlan>) {
        // What goes for it is freed without the lock.
        let _gone = self.0.lock().insert(Arc::new(key), plan);
    }
}
