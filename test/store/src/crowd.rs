//! Sessions that insert, a VACUUM and a scan at the same time: on threads, and in a simulation where any latch may be the place at which another one goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use base::Tid;

use crate::{Random, tid};

/// What sessions share besides the index.
pub struct Load {
    /// Rows that are in for good, and which.
    pub stable: Mutex<BTreeMap<Tid, u64>>,
    /// Rows that VACUUM may remove.
    dead: Mutex<BTreeSet<Tid>>,
    next: AtomicU32,
    inserters: AtomicU32,
}

impl Load {
    /// Of so many who insert.
    pub fn new(inserters: u32) -> Load {
        Load {
            stable: Mutex::default(),
            dead: Mutex::default(),
            next: AtomicU32::new(1),
            inserters: inserters.into(),
        }
    }
}

/// Sessions of one index.
pub trait Crowd: Send + Sync + Sized + 'static {
    /// Rows are numbers below this.
    const NUMBERS: u64;

    /// What they share.
    fn load(&self) -> &Load;
    /// Enters a row.
    fn enter(&self, number: u64, at: Tid);
    /// Removes the entries of these rows.
    fn remove(&self, dead: &BTreeSet<Tid>);
    /// A scan finds what was in before it began and stays, and nothing twice. `round`: how many there were before.
    fn scan(&self, round: u64);
    /// Nothing but the stable rows is left, in a sound index.
    fn check(&self);

    /// Whether somebody inserts.
    fn busy(&self) -> bool {
        self.load().inserters.load(SeqCst) > 0
    }

    /// One who inserts.
    fn insert(&self, seed: u64, rows: u32) {
        let (load, mut random) = (self.load(), Random(seed * 7919 + 1));
        for _ in 0..rows {
            let at = tid(load.next.fetch_add(1, SeqCst));
            let number = random.below(Self::NUMBERS);
            self.enter(number, at);
            if random.below(3) == 0 {
                load.stable.lock().unwrap().insert(at, number);
            } else {
                load.dead.lock().unwrap().insert(at);
            }
        }
        load.inserters.fetch_sub(1, SeqCst);
    }

    /// Removes the rows that are dead now.
    fn vacuum(&self) {
        let dead = self.load().dead.lock().unwrap().clone();
        self.remove(&dead);
        self.load().dead.lock().unwrap().retain(|tid| !dead.contains(tid));
    }
}

/// The seeds that an environment variable names, as `from..to`, or these.
pub fn seeds(variable: &str, or: &str) -> std::ops::Range<u64> {
    let range = std::env::var(variable).unwrap_or_else(|_| or.into());
    let (from, to) = range.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

/// One seed, with three who insert `rows` each, in one thread that goes from one to another where latches are taken.
pub fn simulate<C: Crowd>(seed: u64, rows: u32, crowd: impl FnOnce() -> C + Send + 'static) {
    println!("seed {seed}");
    let simulation = runtime::Simulation::new(seed);
    simulation.interleave(2 + seed % 4);
    let ended = simulation.run(move || {
        let crowd = Arc::new(crowd());
        let mut sessions = Vec::new();
        for session in 1..=3 {
            let crowd = crowd.clone();
            sessions.push(runtime::spawn_fiber("inserter", move || crowd.insert(seed * 10 + session, rows)));
        }
        let vacuum = crowd.clone();
        sessions.push(runtime::spawn_fiber("vacuum", move || {
            while vacuum.busy() {
                vacuum.vacuum();
                (0..50).for_each(|_| runtime::yield_now());
            }
        }));
        let scans = crowd.clone();
        sessions.push(runtime::spawn_fiber("scan", move || {
            let mut round = 0;
            while scans.busy() {
                scans.scan(round);
                round += 1;
                (0..20).for_each(|_| runtime::yield_now());
            }
        }));
        sessions.into_iter().for_each(|session| session.join().unwrap());
        finish(&*crowd);
    });
    ended.unwrap();
}

/// On threads, with two who insert `rows` each.
pub fn on_threads<C: Crowd>(crowd: &C, rows: u32) {
    std::thread::scope(|threads| {
        for session in 1..=2 {
            threads.spawn(move || crowd.insert(session, rows));
        }
        threads.spawn(|| {
            while crowd.busy() {
                crowd.vacuum();
            }
        });
        threads.spawn(|| {
            let mut round = 0;
            while crowd.busy() {
                crowd.scan(round);
                round += 1;
            }
        });
    });
    finish(crowd);
}

fn finish<C: Crowd>(crowd: &C) {
    crowd.vacuum();
    crowd.check();
}
