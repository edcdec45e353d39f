//! Sessions of a standby that are in the way of the replay ([`engine::Conflicts`]).

use std::sync::{Arc, Weak};

use base::{Oid, Xid};
use catalog::Cluster;
use engine::Engine;
use runtime::Interrupt;
use txn::SessionId;

use crate::plan_cache::PlanCache;
use crate::registry::Sessions;

struct Resolver {
    sessions: Arc<Sessions>,
    cluster: Weak<Cluster>,
    // Weak, both: what they hold holds the engine, which holds this.
    plans: Weak<PlanCache>,
}

/// Has the replay cancel these sessions.
pub(crate) fn listen(
    engine: &Arc<Engine>,
    sessions: &Arc<Sessions>,
    cluster: &Arc<Cluster>,
    plans: &Arc<PlanCache>,
) {
    let (sessions, cluster, plans) = (sessions.clone(), Arc::downgrade(cluster), Arc::downgrade(plans));
    engine.on_conflicts(Arc::new(Resolver { sessions, cluster, plans }));
}

impl engine::Conflicts for Resolver {
    fn cancel_snapshots(&self, limit: Xid) {
        for backend in self.sessions.list() {
            if backend.xmin().is_some_and(|xmin| xmin <= limit) {
                backend.interrupts.set(Interrupt::ConflictingSnapshot);
            }
        }
    }

    fn cancel_holders(&self, sessions: &[SessionId]) {
        for backend in sessions.iter().filter_map(|session| self.sessions.get(session.0 as i32)) {
            backend.interrupts.set(Interrupt::ConflictingLock);
        }
    }

    fn leave_database(&self, database: Oid) -> bool {
        let all = self.sessions.list();
        let mut is_empty = true;
        for backend in all.iter().filter(|backend| backend.database == database) {
            is_empty = false;
            backend.interrupts.set(Interrupt::ConflictingDatabase);
        }
        if is_empty && let Some(cluster) = self.cluster.upgrade() {
            // The database goes, or moves elsewhere. Nothing would ever invalidate plans of catalogs that are gone.
            cluster.forget(database);
            self.plans.upgrade().into_iter().for_each(|plans| plans.forget_database(database));
        }
        is_empty
    }
}
