//! Stampede: the very code of the server. Sessions without an xid are in no array, one snapshot serves all sessions, and each worker keeps
//! the last one.

use std::rc::Rc;
use std::sync::Arc;

use base::Xid;
use txn::horizon::{Held, Publishers};
use txn::running::{Running, RunningEntry};
use txn::snapshot::SnapshotCache;
use txn::subxact::SubxactMap;
use txn::{SessionId, XidHolds};

use super::Way;

const NO_LIMIT: Xid = Xid(u64::MAX);

pub struct Shared {
    running: Running,
    publishers: Arc<Publishers>,
}

fn entry(session: usize) -> RunningEntry {
    RunningEntry { session: SessionId(session as u32), holds: XidHolds::Everything }
}

impl Way for Shared {
    type Thread = SnapshotCache;

    fn new(_: usize, writers: usize) -> Shared {
        let running = Running::new(Xid(100), Arc::new(SubxactMap::default()));
        for session in 0..writers {
            running.assign(entry(session), NO_LIMIT);
        }
        let shared = Shared { running, publishers: Arc::default() };
        // As if an xid behind them had ended.
        shared.write(writers);
        shared
    }

    fn thread(&self) -> SnapshotCache {
        SnapshotCache::new(&self.running, Rc::new(Held::new(&self.publishers)))
    }

    fn snapshot(&self, cache: &mut SnapshotCache, _: usize) -> bool {
        !cache.take(&self.running).sees(Xid(100))
    }

    fn write(&self, session: usize) {
        if let Some(xid) = self.running.assign(entry(session), NO_LIMIT) {
            self.running.complete(xid, xid);
        }
    }
}
