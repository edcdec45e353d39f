//! Sessions of a standby that are in the way of the replay ([`engine::Conflicts`]).

use std::sync::{Arc, Weak};

use base::{Oid, Xid};
use catalog::Cluster;
use engine::Engine;
use runtime::Interrupt;
use txn::SessionId;

use crate::registry::Sessions;

struct Resolver {
    sessions: Arc<Sessions>,
    cluster: Weak<Cluster>,
}

/// Has the replay cancel these sessions.
pub(crate) fn listen(engine: &Arc<Engine>, sessions: &Arc<Sessions>, cluster: &Arc<Cluster>) {
    engine.on_conflicts(Arc::new(Resolver { sessions: sessions.clone(), cluster: Arc::downgrade(cluster) }));
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
            cluster.forget(database);
        }
        is_empty
    }
}
