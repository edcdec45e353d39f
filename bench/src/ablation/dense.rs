//! PostgreSQL from version 14 on: the xids of all connected sessions lie in one array, and a snapshot reads nothing else; and a session uses its
//! last one again until a transaction with an xid has ended.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Way;

/// What the lock protects beside the arrays.
struct Shared {
    next_xid: u32,
    latest_completed: u32,
    completions: u64,
}

/// Arrays over all sessions.
pub struct Dense {
    xids: Box<[AtomicU32]>,
    xmins: Box<[AtomicU32]>,
    shared: RwLock<Shared>,
}

impl Dense {
    /// The xids in progress, and xmin.
    fn build(&self, shared: &Shared, session: usize, xip: &mut Vec<u32>) -> u32 {
        xip.clear();
        let xmax = shared.latest_completed + 1;
        let mut xmin = xmax;
        for (n, xid) in self.xids.iter().enumerate() {
            let xid = xid.load(Relaxed);
            if xid == 0 || xid >= xmax || n == session {
                continue;
            }
            xmin = xmin.min(xid);
            xip.push(xid);
        }
        xmin
    }
}

impl Way for Dense {
    /// The snapshot's xids.
    type Thread = Vec<u32>;

    fn new(sessions: usize, writers: usize) -> Dense {
        let xid = |n| AtomicU32::new(if n < writers { 100 + n as u32 } else { 0 });
        let next_xid = 100 + writers as u32;
        let shared = Shared { next_xid: next_xid + 1, latest_completed: next_xid, completions: 1 };
        Dense {
            xids: (0..sessions).map(xid).collect(),
            xmins: (0..sessions).map(|_| AtomicU32::new(0)).collect(),
            shared: RwLock::new(shared),
        }
    }

    fn thread(&self) -> Vec<u32> {
        Vec::with_capacity(self.xids.len())
    }

    fn snapshot(&self, xip: &mut Vec<u32>, session: usize) -> bool {
        let shared = self.shared.read().expect("nobody panics");
        let xmin = self.build(&shared, session, xip);
        self.xmins[session].store(xmin, Relaxed);
        drop(shared);
        let seen = xip.contains(&100);
        self.xmins[session].store(0, Relaxed);
        seen
    }

    fn write(&self, session: usize) {
        let xid = {
            let mut shared = self.shared.write().expect("nobody panics");
            let xid = shared.next_xid;
            shared.next_xid += 1;
            self.xids[session].store(xid, Relaxed);
            xid
        };
        let mut shared = self.shared.write().expect("nobody panics");
        self.xids[session].store(0, Relaxed);
        shared.latest_completed = shared.latest_completed.max(xid);
        shared.completions += 1;
    }
}

/// A session's last snapshot.
#[derive(Default)]
pub struct Last {
    completions: u64,
    xmin: u32,
    xip: Vec<u32>,
}

/// The same, with reuse: each session keeps its last snapshot.
pub struct Reused(Dense);

impl Way for Reused {
    /// The last snapshots of the sessions.
    type Thread = Box<[Last]>;

    fn new(sessions: usize, writers: usize) -> Reused {
        Reused(Dense::new(sessions, writers))
    }

    fn thread(&self) -> Self::Thread {
        (0..self.0.xids.len()).map(|_| Last::default()).collect()
    }

    fn snapshot(&self, thread: &mut Self::Thread, session: usize) -> bool {
        let last = &mut thread[session];
        let shared = self.0.shared.read().expect("nobody panics");
        if last.completions != shared.completions {
            last.xmin = self.0.build(&shared, session, &mut last.xip);
            last.completions = shared.completions;
        }
        self.0.xmins[session].store(last.xmin, Relaxed);
        drop(shared);
        let seen = last.xip.contains(&100);
        self.0.xmins[session].store(0, Relaxed);
        seen
    }

    fn write(&self, session: usize) {
        self.0.write(session);
    }
}
