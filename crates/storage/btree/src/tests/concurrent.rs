//! Several sessions: inserting, scanning both ways and vacuuming at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use base::{BlockNo, SqlError, Tid, Xid};
use tuple::Datum;

use super::world::{Random, Shape, Store, World, same};
use crate::{
    BtreeRel, Direction, InsertOutcome, Liveness, Scan, ScanKeys, TupleState, UniqueCheck, VacuumStats,
    bulk_delete, cleanup, create_empty, insert, verify,
};

const STABLE_STEP: i32 = 700;
const KEYS: i32 = 7000;

/// What the sessions share beside the tree.
struct Shared {
    world: World,
    /// Entries put in by sessions, and not yet given to VACUUM.
    live: Mutex<HashMap<Tid, i32>>,
    /// Rows dead to everybody.
    dead: Mutex<HashSet<Tid>>,
    stable: Vec<Tid>,
    inserting: AtomicUsize,
}

impl Shared {
    fn new(shape: Shape, store: Store, sessions: usize) -> Shared {
        let mut world = World::with_store(shape, store);
        create_empty(&world.access(), &world.rel).unwrap();
        let mut stable = Vec::new();
        for n in (0..KEYS).step_by(STABLE_STEP as usize) {
            let tid = Tid::new(BlockNo(9_000_000 + n as u32), 1);
            world.insert_at(n, tid);
            stable.push(tid);
        }
        Shared {
            world,
            live: Mutex::default(),
            dead: Mutex::default(),
            stable,
            inserting: AtomicUsize::new(sessions),
        }
    }

    /// Ends a session, by a panic too: the others stop when all inserters have.
    fn leave(&self) -> impl Drop + '_ {
        struct Leave<'a>(&'a AtomicUsize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        Leave(&self.inserting)
    }

    /// Inserts in waves around moving places and lets old entries die.
    fn inserter(&self, session: u32, count: u32) {
        let _leave = self.leave();
        let mut random = Random(u64::from(session) * 77 + 5);
        let mut own = std::collections::VecDeque::new();
        let mut next = 0;
        while next < count {
            let place = random.below(KEYS as u64) as i32;
            let snapshot = self.world.snapshots.take();
            for i in 0..50 {
                next += 1;
                let tid = Tid::new(BlockNo(session * 1_000_000 + next), 1 + (next % 9) as u16);
                let n = (place + if next % 3 == 0 { 0 } else { i }) % KEYS;
                self.live.lock().unwrap().insert(tid, n);
                let row = self.world.shape.row(n);
                let outcome =
                    insert(&self.world.access(), &self.world.rel, &row, tid, UniqueCheck::No).unwrap();
                assert_eq!(outcome, InsertOutcome::Inserted);
                own.push_back(tid);
            }
            drop(snapshot);
            while own.len() > 700 {
                let tid = own.pop_front().unwrap();
                self.live.lock().unwrap().remove(&tid);
                self.dead.lock().unwrap().insert(tid);
            }
            let _ = runtime::check_interrupts();
        }
    }

    fn vacuum(&self) {
        let dead: HashSet<Tid> = self.dead.lock().unwrap().clone();
        drop(self.world.snapshots.take());
        let mut stats = VacuumStats::default();
        let access = self.world.access();
        bulk_delete(&access, &self.world.rel, &mut |tid| dead.contains(&tid), &mut stats).unwrap();
        cleanup(&access, &self.world.rel, Some(stats)).unwrap();
        self.dead.lock().unwrap().retain(|tid| !dead.contains(tid));
    }

    /// One scan: in order, nothing twice, every stable entry there.
    fn scan(&self, direction: Direction, keep_pin: bool) {
        let _snapshot = self.world.snapshots.take();
        let access = self.world.access();
        let keys = ScanKeys { keys: vec![], direction };
        let mut scan = Scan::new(self.world.rel.clone(), keys, true, keep_pin);
        let mut seen = HashSet::new();
        let (mut before, mut row): (Vec<Datum>, Vec<Datum>) = (Vec::new(), Vec::new());
        while let Some(tid) = scan.next(&access).unwrap() {
            row.clear();
            scan.values(&mut row).unwrap();
            if !before.is_empty() {
                let order = self.world.rel.compare_keys(&before, &row);
                let order = if direction == Direction::Forward { order } else { order.reverse() };
                assert!(order.is_le(), "out of order: {before:?} {row:?}");
            }
            assert!(seen.insert(tid), "{tid} twice, going {direction:?}");
            std::mem::swap(&mut before, &mut row);
        }
        scan.finish(&access);
        for tid in &self.stable {
            assert!(seen.contains(tid), "{tid} missing, going {direction:?}");
        }
    }

    fn finish(&self) {
        let found = self.world.collect(vec![], Direction::Forward);
        self.vacuum();
        verify(&self.world.access(), &self.world.rel, None).unwrap();
        let mut expected = World::with_store(self.world.shape, Store::new(16)).model;
        expected.extend(self.live.lock().unwrap().iter().map(|(tid, n)| (self.world.shape.row(*n), *tid)));
        expected.extend(self.world.model.iter().cloned());
        let rel = &self.world.rel;
        expected.sort_by(|a, b| rel.compare_entries((&a.0, a.1), (&b.0, b.1)));
        assert!(found.len() >= expected.len());
        same(&self.world.collect(vec![], Direction::Forward), &expected);
        assert_eq!(self.world.store.pool.pins(), 0);
    }
}

#[test]
fn threads_insert_scan_and_vacuum() {
    for (shape, count) in [(Shape::Int, 12_000), (Shape::Long, 6000), (Shape::Mixed, 8000)] {
        let shared = Shared::new(shape, Store::new(2048), 2);
        std::thread::scope(|threads| {
            for session in 1..3 {
                let shared = &shared;
                threads.spawn(move || shared.inserter(session, count));
            }
            threads.spawn(|| {
                while shared.inserting.load(SeqCst) > 0 {
                    shared.vacuum();
                }
            });
            for direction in [Direction::Forward, Direction::Backward] {
                let shared = &shared;
                threads.spawn(move || {
                    let mut turn = false;
                    while shared.inserting.load(SeqCst) > 0 {
                        shared.scan(direction, turn);
                        turn = !turn;
                    }
                });
            }
        });
        shared.finish();
    }
}

#[test]
fn simulated_sessions_with_few_buffers() {
    for seed in 0..3 {
        let simulation = runtime::Simulation::new(seed);
        let shape = [Shape::Int, Shape::Long][seed as usize % 2];
        simulation
            .run(move || {
                let shared = Arc::new(Shared::new(shape, Store::new(64), 3));
                let mut sessions = Vec::new();
                for session in 1..4 {
                    let shared = shared.clone();
                    sessions.push(runtime::spawn_fiber("inserter", move || shared.inserter(session, 2000)));
                }
                let vacuum = shared.clone();
                sessions.push(runtime::spawn_fiber("vacuum", move || {
                    while vacuum.inserting.load(SeqCst) > 0 {
                        vacuum.vacuum();
                        runtime::yield_now();
                    }
                }));
                for direction in [Direction::Forward, Direction::Backward] {
                    let shared = shared.clone();
                    sessions.push(runtime::spawn_fiber("scan", move || {
                        while shared.inserting.load(SeqCst) > 0 {
                            shared.scan(direction, false);
                            runtime::yield_now();
                        }
                    }));
                }
                for session in sessions {
                    session.join().unwrap();
                }
                shared.finish();
            })
            .unwrap();
    }
}

/// Rows by TID, for several threads.
struct Rows(Mutex<HashMap<Tid, TupleState>>);

impl Liveness for Rows {
    fn check(&self, tid: Tid) -> Result<TupleState, SqlError> {
        Ok(self.0.lock().unwrap()[&tid])
    }
}

#[test]
fn one_of_several_inserters_of_a_key_wins() {
    let store = Store::new(2048);
    let snapshots = super::world::Snapshots::default();
    let rel = BtreeRel::new(Shape::Included.desc(true));
    let access = || crate::Access { pool: &store.pool, horizon: &snapshots, xid: Xid::INVALID };
    create_empty(&access(), &rel).unwrap();
    let rows = Rows(Mutex::default());
    let winners: Mutex<HashMap<i32, u32>> = Mutex::default();
    std::thread::scope(|threads| {
        for session in 0..4u32 {
            let (rel, rows, winners, access) = (&rel, &rows, &winners, &access);
            threads.spawn(move || {
                for i in 0..3000 {
                    // Ten tries a key, nine of them rows already deleted: duplicates on several pages.
                    let n = i / 10;
                    let tid = Tid::new(BlockNo(session * 100_000 + i as u32), 1);
                    let live = i % 10 == 9;
                    let state = if live { TupleState::Live { tid } } else { TupleState::Deleted };
                    rows.0.lock().unwrap().insert(tid, state);
                    let row = [Datum::Int4(n), Datum::text("a payload of some length, so that pages fill")];
                    let check = if live { UniqueCheck::Yes(rows) } else { UniqueCheck::No };
                    if insert(&access(), rel, &row, tid, check).unwrap() == InsertOutcome::Inserted && live {
                        *winners.lock().unwrap().entry(n).or_default() += 1;
                    }
                }
            });
        }
    });
    let winners = winners.into_inner().unwrap();
    assert_eq!(winners.len(), 300);
    assert!(winners.values().all(|&n| n == 1), "{winners:?}");
    verify(&access(), &rel, None).unwrap();
}
