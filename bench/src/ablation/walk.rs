//! PostgreSQL until version 13, as the thread's "master": a snapshot walks over an index of all connected sessions to a small struct of each,
//! and reads xid and xmin; the oldest xmin is computed on the way.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Way;

/// What others read of a session.
#[derive(Default)]
struct Session {
    xid: AtomicU32,
    xmin: AtomicU32,
    /// Flags of vacuums, subtransactions and checkpoints; always zero here, but read.
    flags: AtomicU32,
}

/// What the lock protects beside the sessions.
struct Shared {
    next_xid: u32,
    latest_completed: u32,
}

pub struct Walk {
    sessions: Box<[Session]>,
    /// Connected sessions, by their numbers.
    index: Box<[u32]>,
    shared: RwLock<Shared>,
}

impl Way for Walk {
    /// The snapshot's xids.
    type Thread = Vec<u32>;

    fn new(sessions: usize, writers: usize) -> Walk {
        let all: Box<[Session]> = (0..sessions).map(|_| Session::default()).collect();
        for (n, session) in all.iter().take(writers).enumerate() {
            session.xid.store(100 + n as u32, Relaxed);
        }
        let next_xid = 100 + writers as u32;
        // As if an xid behind them had ended.
        let shared = RwLock::new(Shared { next_xid: next_xid + 1, latest_completed: next_xid });
        Walk { sessions: all, index: (0..sessions as u32).collect(), shared }
    }

    fn thread(&self) -> Vec<u32> {
        Vec::with_capacity(self.sessions.len())
    }

    fn snapshot(&self, xip: &mut Vec<u32>, session: usize) -> bool {
        xip.clear();
        let shared = self.shared.read().expect("nobody panics");
        let xmax = shared.latest_completed + 1;
        let (mut xmin, mut global_xmin) = (xmax, xmax);
        for &n in &self.index {
            let other = &self.sessions[n as usize];
            if other.flags.load(Relaxed) != 0 {
                continue;
            }
            let other_xmin = other.xmin.load(Relaxed);
            if other_xmin != 0 && other_xmin < global_xmin {
                global_xmin = other_xmin;
            }
            let xid = other.xid.load(Relaxed);
            if xid == 0 || xid >= xmax || n as usize == session {
                continue;
            }
            xmin = xmin.min(xid);
            xip.push(xid);
        }
        self.sessions[session].xmin.store(xmin, Relaxed);
        drop(shared);
        std::hint::black_box(global_xmin);
        let seen = xip.contains(&100);
        self.sessions[session].xmin.store(0, Relaxed);
        seen
    }

    fn write(&self, session: usize) {
        let xid = {
            let mut shared = self.shared.write().expect("nobody panics");
            let xid = shared.next_xid;
            shared.next_xid += 1;
            self.sessions[session].xid.store(xid, Relaxed);
            xid
        };
        let mut shared = self.shared.write().expect("nobody panics");
        self.sessions[session].xid.store(0, Relaxed);
        shared.latest_completed = shared.latest_completed.max(xid);
    }
}
