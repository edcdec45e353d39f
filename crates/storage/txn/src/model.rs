//! The founding structures once more, over shuttle's primitives: their ordering arguments, model-checked.
//!
//! shuttle explores interleavings under sequential consistency. That is the memory model the arguments use: each step
//! they order is SeqCst or under a mutex. Two variants are broken on purpose, and the checks must find them.

#![allow(clippy::duplicate_mod, dead_code)]

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use base::Xid;
use shuttle::thread;

pub use super::{SessionId, lock};

#[path = "horizon.rs"]
mod horizon;
#[path = "lock_fast.rs"]
mod lock_fast;
#[path = "old_snapshot.rs"]
mod old_snapshot;
#[path = "order.rs"]
mod order;
#[path = "running.rs"]
mod running;
#[path = "snapshot.rs"]
mod snapshot;
#[path = "subxact.rs"]
mod subxact;

mod sync {
    pub use crate::sync::Alone;
    pub use shuttle::hint::spin_loop;
    pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    pub const LOOKS: u32 = 1;

    /// shuttle's mutex with the production one's methods.
    #[derive(Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        pub fn try_lock(&self) -> Option<shuttle::sync::MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }
}

use horizon::{Held, Publishers, XidHolds};
use order::CommitOrder;
use running::{Completion, Running, RunningEntry};
use snapshot::{Snapshot, SnapshotCache};
use subxact::SubxactMap;
use sync::{AtomicU64, Ordering};

const ENTRY: RunningEntry = RunningEntry { session: SessionId(1), holds: XidHolds::Everything };
const NO_LIMIT: Xid = Xid(u64::MAX);

thread_local! {
    static FIRST_VIOLATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What a check must find holds. The first violation is noted: the other tasks, which shuttle then unwinds, may panic in its
/// own locks and hide the message.
fn must(holds: bool, message: impl FnOnce() -> String) {
    if !holds {
        let message = message();
        FIRST_VIOLATION.with_borrow_mut(|first| first.get_or_insert_with(|| message.clone()).len());
        panic!("{message}");
    }
}

/// Explores a variant that is broken on purpose; the message of the violation that was found.
fn violation_of(body: impl Fn() + Send + Sync + 'static) -> String {
    let explore = AssertUnwindSafe(|| shuttle::check_random(body, 100_000));
    assert!(catch_unwind(explore).is_err(), "the broken variant was not caught");
    FIRST_VIOLATION.take().unwrap_or_default()
}

struct System {
    running: Running,
    publishers: Arc<Publishers>,
    /// Bit n: xid 100 + n was acknowledged.
    acknowledged: AtomicU64,
    /// Greatest horizons anybody computed: of catalogs, of plain relations.
    removed_below: [AtomicU64; 2],
}

impl System {
    fn new() -> Arc<System> {
        let parents = Arc::new(SubxactMap::default());
        Arc::new(System {
            running: Running::new(Xid(100), parents),
            publishers: Arc::new(Publishers::default()),
            acknowledged: AtomicU64::new(0),
            removed_below: Default::default(),
        })
    }

    /// Never dropped: a check that fails unwinds, and shuttle's mutexes cannot be locked then.
    fn worker(&self) -> ManuallyDrop<SnapshotCache> {
        ManuallyDrop::new(SnapshotCache::new(&self.running, Rc::new(Held::new(&self.publishers))))
    }

    fn write(&self, holds: XidHolds, complete: impl Fn(&Running, Xid)) {
        let xid = self.running.assign(RunningEntry { holds, ..ENTRY }, NO_LIMIT).unwrap();
        complete(&self.running, xid);
        self.acknowledged.fetch_or(1 << (xid.0 - 100), Ordering::SeqCst);
    }

    fn remove_rows(&self) {
        let horizon = self.publishers.compute(&self.running);
        for (removed, horizon) in self.removed_below.iter().zip([horizon.catalogs, horizon.plain]) {
            removed.fetch_max(horizon.0, Ordering::SeqCst);
        }
    }

    fn check_horizons(&self, snapshot: &Snapshot) {
        let oldest = snapshot.data().oldest;
        for (removed, needed) in self.removed_below.iter().zip([oldest.catalogs, oldest.plain]) {
            let removed = removed.load(Ordering::SeqCst);
            must(removed <= needed.0, || format!("rows below {removed} removed under {snapshot:?}"));
        }
    }

    /// Takes a snapshot and checks all that must hold of it.
    fn read(&self, worker: &SnapshotCache, take: impl Fn(&SnapshotCache, &Running) -> Snapshot) {
        let acknowledged = self.acknowledged.load(Ordering::SeqCst);
        let snapshot = take(worker, &self.running);
        for n in 0..8 {
            if acknowledged & (1 << n) != 0 {
                must(snapshot.sees(Xid(100 + n)), || {
                    format!("acknowledged xid {} is not seen: {snapshot:?}", 100 + n)
                });
            }
        }
        thread::yield_now();
        self.check_horizons(&snapshot);
    }
}

fn readers_writers_and_vacuum(
    take: impl Fn(&SnapshotCache, &Running) -> Snapshot + Send + Sync + Copy + 'static,
    complete: impl Fn(&Running, Xid) + Send + Sync + Copy + 'static,
) {
    let system = System::new();
    let mut threads = Vec::new();
    // One of them builds indexes, so that some snapshots need more of catalogs than of tables.
    for holds in [XidHolds::Everything, XidHolds::Catalogs] {
        let system = system.clone();
        threads.push(thread::spawn(move || {
            for _ in 0..2 {
                system.write(holds, complete);
            }
        }));
    }
    let reader = system.clone();
    threads.push(thread::spawn(move || {
        let worker = reader.worker();
        for _ in 0..4 {
            reader.read(&worker, take);
        }
    }));
    let vacuum = system.clone();
    threads.push(thread::spawn(move || {
        for _ in 0..3 {
            vacuum.remove_rows();
        }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(system.running.list(), []);
}

fn take(worker: &SnapshotCache, running: &Running) -> Snapshot {
    worker.take(running)
}

fn complete(running: &Running, xid: Xid) {
    running.complete(xid, xid);
}

#[test]
fn snapshots_see_the_acknowledged_and_hold_the_horizon() {
    shuttle::check_random(|| readers_writers_and_vacuum(take, complete), 4_000);
    shuttle::check_pct(|| readers_writers_and_vacuum(take, complete), 4_000, 3);
}

/// The counter moves before the arrays change: a snapshot built in between is reused although it is old.
#[test]
fn a_counter_that_advances_too_early_is_caught() {
    let broken = |running: &Running, xid: Xid| {
        running.publish(&mut running.state.lock(), Xid::INVALID);
        let mut state = running.state.lock();
        state.remove(&[Completion { xid, latest: xid }]);
    };
    let found = violation_of(move || readers_writers_and_vacuum(take, broken));
    assert!(found.contains("is not seen"), "{found}");
}

/// The counter is read before the horizon is published, and not again after: rows go that the snapshot needs.
#[test]
fn a_snapshot_published_without_a_second_look_is_caught() {
    let broken = |worker: &SnapshotCache, running: &Running| {
        let data = worker.present(running);
        // Others are to have the time to end transactions and to compute a horizon.
        (0..8).for_each(|_| thread::yield_now());
        worker.adopt(data)
    };
    let found = violation_of(move || readers_writers_and_vacuum(broken, complete));
    assert!(found.contains("removed under"), "{found}");
}

#[test]
fn a_group_leaves_together_and_nobody_returns_early() {
    let check = || {
        let system = System::new();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let system = system.clone();
                thread::spawn(move || {
                    let xid = system.running.assign(ENTRY, NO_LIMIT).unwrap();
                    system.running.complete(xid, xid);
                    assert_eq!(
                        system.running.entry(xid),
                        None,
                        "{xid} returned from completion but still runs"
                    );
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(system.running.latest_completed(), Xid(102));
    };
    shuttle::check_random(check, 4_000);
}

/// An adopted snapshot is covered by the original until its own publication.
#[test]
fn an_adopted_snapshot_holds_the_horizon_too() {
    let check = || {
        let system = System::new();
        let worker = system.worker();
        let xid = system.running.assign(ENTRY, NO_LIMIT).unwrap();
        let original = worker.take(&system.running);
        let data = original.data().clone();
        let other = system.clone();
        let adopter = thread::spawn(move || {
            let worker = other.worker();
            let copy = worker.adopt(data);
            other.acknowledged.store(1, Ordering::SeqCst);
            thread::yield_now();
            other.check_horizons(&copy);
        });
        system.running.complete(xid, xid);
        system.remove_rows();
        if system.acknowledged.load(Ordering::SeqCst) == 1 {
            drop(original);
            system.remove_rows();
            adopter.join().unwrap();
        } else {
            adopter.join().unwrap();
            drop(original);
        }
        system.remove_rows();
        assert_eq!(
            system.removed_below[1].load(Ordering::SeqCst),
            101,
            "the horizon moves on when all are dropped"
        );
    };
    shuttle::check_random(check, 4_000);
}

mod order_of_commits {
    //! Three transactions commit, one of them after a flush, and a reader takes snapshots.

    use super::*;
    use base::Lsn;

    struct Commits {
        system: Arc<System>,
        order: CommitOrder,
        /// Where the log ends, and where each transaction's record does.
        end: AtomicU64,
        records: [AtomicU64; 3],
    }

    impl Commits {
        /// Inserts a record as the log does: its place is certain before anybody knows it.
        fn insert(&self, xid: Xid) -> Lsn {
            let end = self.end.fetch_add(1, Ordering::SeqCst) + 1;
            self.records[(xid.0 - 100) as usize].store(end, Ordering::SeqCst);
            thread::yield_now();
            Lsn(end)
        }

        fn in_order(&self, flushes_first: bool) {
            let running = &self.system.running;
            let xid = running.assign(ENTRY, NO_LIMIT).unwrap();
            let number = self.order.enter(Lsn(self.end.load(Ordering::SeqCst)));
            thread::yield_now();
            let lsn = self.insert(xid);
            if flushes_first {
                self.order.inserted(number, lsn, running);
                while !self.order.is_first(number) {
                    thread::yield_now();
                }
            }
            let completion = Completion { xid, latest: xid };
            if !self.order.complete(number, lsn, completion, running) {
                while !self.order.has_left(number) {
                    thread::yield_now();
                }
            }
            must(running.entry(xid).is_none(), || format!("{xid} has left and still runs"));
        }

        /// Each when it comes to it, whatever the order of the records.
        fn at_will(&self) {
            let xid = self.system.running.assign(ENTRY, NO_LIMIT).unwrap();
            self.insert(xid);
            complete(&self.system.running, xid);
        }
    }

    fn crowd(commit: impl Fn(&Commits, u32) + Send + Sync + Copy + 'static) {
        let commits = Arc::new(Commits {
            system: System::new(),
            order: CommitOrder::default(),
            end: AtomicU64::new(0),
            records: Default::default(),
        });
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let commits = commits.clone();
                thread::spawn(move || commit(&commits, n))
            })
            .collect();
        let worker = commits.system.worker();
        let mut seen = Vec::new();
        for _ in 0..4 {
            let snapshot = worker.take(&commits.system.running);
            seen.push([100, 101, 102].map(|xid| snapshot.sees(Xid(xid))));
            thread::yield_now();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        let records = commits.records.each_ref().map(|record| record.load(Ordering::SeqCst));
        for seen in seen {
            let last = (0..3).filter(|&n| seen[n]).map(|n| records[n]).max().unwrap_or(0);
            must((0..3).all(|n| seen[n] || records[n] > last), || {
                format!("out of order: {seen:?} of records {records:?}")
            });
        }
    }

    #[test]
    fn snapshots_see_commits_in_the_order_of_their_records() {
        shuttle::check_random(|| crowd(|commits, n| commits.in_order(n == 0)), 10_000);
    }

    #[test]
    fn commits_that_are_seen_at_will_are_caught() {
        let found = violation_of(|| crowd(|commits, _| commits.at_will()));
        assert!(found.contains("out of order"), "{found}");
    }
}

mod fast_path {
    //! Weak and strong lockers of one relation, with a main table that is a list.

    use super::*;
    use crate::lock::LockMode;
    use base::Oid;
    use lock_fast::FastLocks;

    const RELATION: (Oid, Oid) = (Oid(5), Oid(16384));
    const WEAK: LockMode = LockMode::RowExclusive;

    #[derive(Default)]
    struct Table {
        fast: FastLocks,
        /// Weak holders, and whether a strong one holds.
        main: sync::Mutex<(Vec<SessionId>, bool)>,
        inside: AtomicU64,
    }

    const STRONG: u64 = 1 << 32;

    impl Table {
        fn weak(&self, session: SessionId) {
            let table = self.fast.register();
            let slot = self.fast.acquire(&table, session, RELATION, WEAK);
            if slot.is_none() {
                let mut main = self.main.lock();
                if main.1 {
                    return;
                }
                main.0.push(session);
            }
            let inside = self.inside.fetch_add(1, Ordering::SeqCst);
            must(inside < STRONG, || "a weak lock beside a strong one".to_owned());
            self.inside.fetch_sub(1, Ordering::SeqCst);
            let leave_main = || self.main.lock().0.retain(|holder| *holder != session);
            match slot {
                Some(slot) => {
                    let locks = std::iter::once((slot, RELATION, WEAK));
                    self.fast.release(&table, session, locks, |_, _| leave_main());
                }
                None => leave_main(),
            }
        }

        fn strong(&self, moves: bool) {
            self.fast.begin_strong(RELATION, |moved| {
                if moves {
                    self.main.lock().0.extend(moved.iter().map(|holder| holder.0));
                }
            });
            let mut main = self.main.lock();
            let granted = main.0.is_empty() && !main.1;
            main.1 |= granted;
            drop(main);
            if granted {
                let inside = self.inside.fetch_add(STRONG, Ordering::SeqCst);
                must(inside == 0, || "a strong lock beside another".to_owned());
                self.inside.fetch_sub(STRONG, Ordering::SeqCst);
                self.main.lock().1 = false;
            }
            self.fast.end_strong(RELATION);
        }
    }

    fn crowd(moves: bool) {
        let table = Arc::new(Table::default());
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let table = table.clone();
                thread::spawn(move || if n < 2 { table.weak(SessionId(n)) } else { table.strong(moves) })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(table.fast.list().is_empty() && table.main.lock().0.is_empty(), "nothing is left behind");
    }

    #[test]
    fn weak_and_strong_locks_exclude_each_other() {
        shuttle::check_random(|| crowd(true), 6_000);
        shuttle::check_pct(|| crowd(true), 6_000, 3);
    }

    /// A strong locker that forgets to move the weak locks finds no conflict.
    #[test]
    fn a_strong_locker_that_moves_nothing_is_caught() {
        let found = violation_of(|| crowd(false));
        assert!(found.contains("beside"), "{found}");
    }
}
