//! Two-phase commit: hand-over, ends, crashes at every step.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::stop::{self, Action};
use base::{BlockNo, Lsn, Oid, SqlError, Tid, Xid};
use runtime::{Simulation, spawn_fiber};

use super::{MemoryLog, Server, file, simulate};
use crate::virtual_xid::{Locker, VirtualXid};
use crate::{
    Characteristics, End, IsolationLevel, LockError, LockMode, LockTag, LockTimeouts, LockWait, Obstacle,
    PrepareError, Resolver, SyncCommit, Transaction, TxnStart, TxnSystem, XidStatus,
};

const OWNER: Oid = Oid(10);
const DATABASE: Oid = Oid(5);
const SUPERUSER: Resolver = Resolver { user: OWNER, superuser: true, database: DATABASE };

const TABLE: LockTag = LockTag::Relation { database: DATABASE, relation: Oid(16384) };
const OTHER: LockTag = LockTag::Relation { database: DATABASE, relation: Oid(16385) };

fn prepare(t: &mut Transaction, gid: &str) -> Result<(), String> {
    t.prepare(gid, (OWNER, DATABASE), SyncCommit::On).map_err(shown)
}

fn end(system: &TxnSystem, gid: &str, end: End) -> Result<(), String> {
    system.end_prepared(&SUPERUSER, gid, (end, SyncCommit::On), |_| {}).map(drop).map_err(shown)
}

fn shown(error: PrepareError) -> String {
    let error = SqlError::from(error);
    format!("{} {}", error.code().as_str(), error.message())
}

fn state_files() -> Vec<String> {
    let entries = runtime::fs::read_dir(Path::new("/data/pg_twophase")).unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

fn free(server: &Server, tag: LockTag, mode: LockMode) -> bool {
    let mut t = server.session(99);
    let taken = t.lock(tag, mode, LockWait::NoWait);
    t.abort();
    assert!(matches!(taken, Ok(()) | Err(LockError::NotAvailable)));
    taken.is_ok()
}

/// A transaction with a live and a dead subtransaction, locks of both paths, and files.
fn write(server: &Server, session: u32) -> (Transaction, Vec<Xid>) {
    let mut t = server.session(session);
    t.begin_block();
    t.lock(TABLE, LockMode::RowExclusive, LockWait::Block).unwrap();
    t.lock(OTHER, LockMode::ShareUpdateExclusive, LockWait::Block).unwrap();
    let top = t.xid().unwrap();
    t.push_subxact(Some("dead"));
    t.xid().unwrap();
    t.invalidate_at_commit_prepared(b"dead");
    t.drop_at_commit(file(66));
    t.rollback_to("dead").unwrap();
    t.push_subxact(Some("live"));
    let sub = t.xid().unwrap();
    t.invalidate_at_commit_prepared(b"live");
    t.drop_at_commit(file(1));
    t.drop_at_abort(file(2));
    (t, vec![top, sub])
}

#[test]
fn a_prepared_transaction_is_nobodys_and_runs_until_it_is_ended() {
    for outcome in [End::Commit, End::Abort] {
        simulate(1, move || {
            let server = Server::new();
            let system = server.system.clone();
            let (mut t, xids) = write(&server, 1);
            let old = system.snapshot();
            prepare(&mut t, "g").unwrap();
            assert!(!t.is_mine(xids[0]) && t.state() == crate::BlockState::Idle);
            drop(t);
            let between = system.snapshot();
            for &xid in &xids {
                assert_eq!(system.status(xid).unwrap(), XidStatus::InProgress);
                assert!(!old.sees(xid) && !between.sees(xid));
            }
            assert_eq!(system.oldest_running(), xids[0]);
            assert!(system.running().entry(xids[0]).unwrap().session.is_stand_in());
            assert!(!free(&server, TABLE, LockMode::Share), "the fast lock moved");
            assert!(!free(&server, OTHER, LockMode::Exclusive), "the strong lock moved");
            assert!(server.dropped.0.lock().is_empty());
            let mut invalidations = None;
            system
                .end_prepared(&SUPERUSER, "g", (outcome, SyncCommit::On), |bytes| {
                    assert!(!free(&server, OTHER, LockMode::Exclusive), "caches first, then locks");
                    invalidations = Some(bytes.to_vec());
                })
                .unwrap();
            let committed = outcome == End::Commit;
            let expected = if committed { XidStatus::Committed } else { XidStatus::Aborted };
            for &xid in &xids {
                assert_eq!(system.status(xid).unwrap(), expected);
                assert!(!between.sees(xid) && system.snapshot().sees(xid));
            }
            assert_eq!(invalidations, committed.then(|| b"live".to_vec()));
            assert_eq!(*server.dropped.0.lock(), [66, if committed { 1 } else { 2 }][1..]);
            assert!(free(&server, TABLE, LockMode::AccessExclusive));
            assert!(free(&server, OTHER, LockMode::AccessExclusive));
            assert!(server.system.list_locks().is_empty() && system.prepared().list().is_empty());
            // The counters of strong locks are down: a weak lock takes the fast path again.
            let mut t = server.session(1);
            t.lock(OTHER, LockMode::AccessShare, LockWait::Block).unwrap();
            assert!(system.list_locks()[0].fastpath);
        });
    }
}

#[test]
fn identifiers_owners_and_limits() {
    simulate(2, || {
        let server = Server::new();
        let system = &server.system;
        let refused = |gid: &str| {
            let mut t = server.session(1);
            let error = prepare(&mut t, gid).unwrap_err();
            t.abort();
            error
        };
        prepare(&mut server.session(1), "a").unwrap();
        assert_eq!(refused("a"), "42710 transaction identifier \"a\" is already in use");
        let long = "x".repeat(200);
        assert_eq!(refused(&long), format!("22023 transaction identifier \"{long}\" is too long"));
        for n in 0..7 {
            prepare(&mut server.session(1), &format!("{}{n}", &long[1..199])).unwrap();
        }
        assert_eq!(refused("more"), "53200 maximum number of prepared transactions reached");
        let by = |by: Resolver, gid| {
            system.end_prepared(&by, gid, (End::Abort, SyncCommit::On), |_| {}).map(drop).map_err(shown)
        };
        let joe = Resolver { user: Oid(11), superuser: false, database: DATABASE };
        assert_eq!(by(joe, "a").unwrap_err(), "42501 permission denied to finish prepared transaction");
        let elsewhere = Resolver { database: Oid(4), ..SUPERUSER };
        assert_eq!(by(elsewhere, "a").unwrap_err(), "0A000 prepared transaction belongs to another database");
        by(Resolver { user: OWNER, ..joe }, "a").unwrap();
        let missing = "42704 prepared transaction with identifier \"a\" does not exist";
        assert_eq!(end(system, "a", End::Commit).unwrap_err(), missing);
        prepare(&mut server.session(1), "a").unwrap();
        assert_eq!(system.prepared().list().len(), 8, "its slot was free again");
    });
}

#[test]
fn what_cannot_be_handed_over_is_refused_and_costs_no_slot() {
    simulate(3, || {
        let server = Server::new();
        let mut t = server.session(1);
        t.begin_block();
        t.push_subxact(Some("s"));
        t.obstruct_prepare(Obstacle::TemporaryObjects);
        t.rollback_to("s").unwrap();
        let text = "0A000 cannot PREPARE a transaction that has operated on temporary objects";
        assert_eq!(prepare(&mut t, "g").unwrap_err(), text);
        t.abort();
        let advisory = |key2| LockTag::Advisory { database: DATABASE, key1: 0, key2, kind: 1 };
        t.start(Default::default());
        t.lock_for_session(advisory(1), LockMode::Share, LockWait::Block).unwrap();
        t.lock(advisory(1), LockMode::Exclusive, LockWait::Block).unwrap();
        let text = "0A000 cannot PREPARE while holding both session-level and transaction-level locks on the same object";
        assert_eq!(prepare(&mut t, "g").unwrap_err(), text);
        t.abort();
        t.start(Default::default());
        t.lock(advisory(2), LockMode::Exclusive, LockWait::Block).unwrap();
        prepare(&mut t, "g").unwrap();
        assert!(t.holds_lock(advisory(1), LockMode::Share), "the session's own lock stays");
        assert!(!t.holds_lock(advisory(2), LockMode::Exclusive));
        t.start(Default::default());
        let taken = t.lock(advisory(2), LockMode::Share, LockWait::NoWait);
        assert_eq!(taken, Err(LockError::NotAvailable), "also against the session that prepared it");
    });
}

#[test]
fn one_session_ends_it_and_others_hear_that_it_is_busy() {
    simulate(4, || {
        let server = Server::new();
        prepare(&mut write(&server, 1).0, "g").unwrap();
        let system = server.system.clone();
        let mut second = Ok(());
        system
            .end_prepared(&SUPERUSER, "g", (End::Commit, SyncCommit::On), |_| {
                second = end(&server.system, "g", End::Abort);
            })
            .unwrap();
        let missing = "42704 prepared transaction with identifier \"g\" does not exist";
        assert_eq!(second.unwrap_err(), missing, "it has ended already");
        prepare(&mut write(&server, 1).0, "h").unwrap();
        let armed = stop::arm("end-prepared-before-flush", Action::Pause, 0);
        let first = spawn_fiber("first", move || end(&system, "h", End::Commit));
        runtime::wait(runtime::sleep(Duration::from_millis(10)));
        let busy = "55000 prepared transaction with identifier \"h\" is busy";
        assert_eq!(end(&server.system, "h", End::Abort).unwrap_err(), busy);
        assert_eq!(server.system.prepared().list().len(), 1, "it has not ended yet");
        armed.release();
        first.join().unwrap().unwrap();
    });
}

#[test]
fn who_waits_for_its_xid_waits_on_without_a_false_deadlock() {
    simulate(5, || {
        let server = Server::new();
        let system = server.system.clone();
        let (mut t, xids) = write(&server, 1);
        let held = LockTag::Relation { database: DATABASE, relation: Oid(20000) };
        let mut waiter = server.session(2);
        waiter.lock(held, LockMode::Exclusive, LockWait::Block).unwrap();
        let sub = xids[1];
        let waiting = spawn_fiber("waiter", move || {
            waiter.set_timeouts(LockTimeouts { deadlock: Duration::from_millis(50), ..Default::default() });
            waiter.wait_for(sub).unwrap();
            waiter.commit(SyncCommit::On, &[]).unwrap();
        });
        runtime::wait(runtime::sleep(Duration::from_millis(10)));
        prepare(&mut t, "g").unwrap();
        let blockers = system.locks().blocking(crate::SessionId(2));
        assert!(blockers.len() == 1 && blockers[0].is_stand_in(), "{blockers:?}");
        // The session goes on, and waits for what the waiter has: no cycle, as the prepared transaction is not its own.
        t.start(Default::default());
        t.set_timeouts(LockTimeouts { deadlock: Duration::from_millis(20), ..Default::default() });
        let next = spawn_fiber("next", move || t.lock(held, LockMode::Share, LockWait::Block));
        runtime::wait(runtime::sleep(Duration::from_millis(200)));
        end(&system, "g", End::Commit).unwrap();
        waiting.join().unwrap();
        assert_eq!(next.join().unwrap(), Ok(()));
    });
}

#[test]
fn its_locks_are_found_while_they_are_handed_over() {
    for point in ["prepare-before-hand-over", "prepare-before-publish"] {
        simulate(6, move || {
            let server = Server::new();
            let system = server.system.clone();
            let (mut t, xids) = write(&server, 1);
            let held = LockTag::Relation { database: DATABASE, relation: Oid(20000) };
            t.lock(held, LockMode::RowExclusive, LockWait::Block).unwrap();
            let session = Locker::Session(VirtualXid { session: crate::SessionId(1), local: t.local_id() });
            let armed = stop::arm(point, Action::Pause, 0);
            let preparing = spawn_fiber("prepares", move || prepare(&mut t, "g").unwrap());
            runtime::wait(runtime::sleep(Duration::from_millis(10)));
            assert!(armed.passed() > 0, "{point} was not reached");
            let asked = system.clone();
            let asks = spawn_fiber("asks", move || {
                asked.lockers(held, LockMode::AccessExclusive, crate::SessionId(9))
            });
            runtime::wait(runtime::sleep(Duration::from_millis(10)));
            armed.release();
            preparing.join().unwrap();
            let lockers = asks.join().unwrap();
            assert!(lockers == [session] || lockers == [Locker::Prepared(xids[0])], "{point}: {lockers:?}");
            end(&system, "g", End::Commit).unwrap();
        });
    }
}

/// What is left of a server after a crash.
struct Survivor {
    log: Arc<MemoryLog>,
    start: TxnStart,
    redo: usize,
}

/// Recovers from the flushed part of the log and the disk.
fn recover(survivor: &Survivor) -> Server {
    let flushed = survivor.log.flushed.lock().0 as usize;
    let log = Arc::new(MemoryLog::default());
    log.records.lock().extend_from_slice(&survivor.log.records.lock()[..flushed]);
    *log.flushed.lock() = Lsn(flushed as u64);
    let server = Server::open(log.clone(), survivor.start);
    server.system.begin_recovery().unwrap();
    let records = log.records.lock().clone();
    for record in &records[survivor.redo.min(flushed)..] {
        server.system.observe_xid(record.xid);
        assert!(
            server.system.redo_parts(record.rmgr, record.info, record.xid, &record.data, record.end).unwrap()
        );
    }
    server.system.end_recovery().unwrap();
    server
}

fn survivor(server: &Server, start: TxnStart, redo: usize) -> Survivor {
    Survivor { log: server.log.clone(), start, redo }
}

fn checkpoint(server: &Server) -> (TxnStart, usize) {
    let redo = server.log.records.lock().len();
    server.system.wait_for_commits_in_flight();
    server.system.checkpoint(Lsn(redo as u64)).unwrap();
    (TxnStart { next_xid: server.system.next_xid(), ..super::FIRST }, redo)
}

#[test]
fn after_a_crash_it_runs_again_with_its_locks_from_the_log_or_from_its_file() {
    for with_checkpoint in [false, true] {
        simulate(6, move || {
            let server = Server::new();
            let (mut t, xids) = write(&server, 1);
            prepare(&mut t, "g").unwrap();
            let listed = server.system.prepared().list();
            let (start, redo) = if with_checkpoint { checkpoint(&server) } else { (super::FIRST, 0) };
            assert_eq!(state_files().len(), usize::from(with_checkpoint));
            let again = recover(&survivor(&server, start, redo));
            assert_eq!(again.system.prepared().list(), listed);
            for &xid in &xids {
                assert_eq!(again.system.status(xid).unwrap(), XidStatus::InProgress);
            }
            assert_eq!(again.system.top_level(xids[1]), xids[0]);
            assert!(!free(&again, TABLE, LockMode::Share) && !free(&again, OTHER, LockMode::Exclusive));
            assert!(free(&again, TABLE, LockMode::RowExclusive));
            assert!(again.session(3).xid().unwrap() > xids[1]);
            // A second crash, behind a checkpoint: the file alone has it.
            let (start, redo) = checkpoint(&again);
            assert_eq!(state_files().len(), 1);
            let third = recover(&survivor(&again, start, redo));
            let mut invalidations = Vec::new();
            third
                .system
                .end_prepared(&SUPERUSER, "g", (End::Commit, SyncCommit::On), |bytes| {
                    invalidations = bytes.to_vec()
                })
                .unwrap();
            assert_eq!(invalidations, b"live");
            assert_eq!(*third.dropped.0.lock(), [1]);
            assert!(state_files().is_empty() && free(&third, TABLE, LockMode::AccessExclusive));
            // And a crash after its end: redo ends it again.
            let last = recover(&survivor(&third, start, redo));
            assert!(last.system.prepared().list().is_empty());
            assert_eq!(last.system.status(xids[1]).unwrap(), XidStatus::Committed);
            assert_eq!(*last.dropped.0.lock(), [1]);
        });
    }
}

fn serializable(server: &Server, session: u32) -> Transaction {
    let mut t = Transaction::new(server.system.clone(), crate::SessionId(session));
    t.start(Characteristics { isolation: IsolationLevel::Serializable, ..Default::default() });
    t.begin_block();
    t.statement_snapshot().unwrap();
    t
}

#[test]
fn a_serializable_one_is_watched_on_after_a_crash() {
    simulate(12, || {
        let server = Server::new();
        let (table, index) = (file(1), file(2));
        let [read, written] = [1, 2].map(|n| Tid::new(BlockNo(0), n));
        let mut t = serializable(&server, 1);
        let xid = t.xid().unwrap();
        let serial = t.serializable().unwrap();
        serial.read_row(table, read);
        serial.read_relation(index);
        serial.write_row(table, written).unwrap();
        t.prepare_serializable().unwrap();
        prepare(&mut t, "g").unwrap();
        assert!(t.serializable().is_none());
        let locks = |server: &Server| {
            let mut all: Vec<String> =
                server.system.serializable().list().iter().map(|l| format!("{:?}", l.target)).collect();
            all.sort();
            all
        };
        let before = locks(&server);
        assert_eq!(before.len(), 2);
        for with_checkpoint in [false, true] {
            let (start, redo) = if with_checkpoint { checkpoint(&server) } else { (super::FIRST, 0) };
            let again = recover(&survivor(&server, start, redo));
            assert_eq!(locks(&again), before);
            // It may be in conflict with others that nobody knows of any more, on both sides.
            let reader = serializable(&again, 2);
            let error = SqlError::from(reader.serializable().unwrap().conflict_out(xid).unwrap_err());
            assert_eq!(
                error.report().detail.as_deref(),
                Some("Reason code: Canceled on conflict out to old pivot.")
            );
            drop(reader);
            let mut writer = serializable(&again, 3);
            writer.xid().unwrap();
            writer.serializable().unwrap().write_row(table, read).unwrap();
            writer.prepare_serializable().unwrap();
            writer.commit(SyncCommit::On, &[]).unwrap();
            end(&again.system, "g", End::Commit).unwrap();
            assert_eq!(locks(&again), Vec::<String>::new());
        }
    });
}

#[test]
fn a_file_that_outlived_its_transaction_is_removed_and_a_damaged_one_stops_the_start() {
    simulate(7, || {
        let server = Server::new();
        prepare(&mut write(&server, 1).0, "g").unwrap();
        checkpoint(&server);
        let path = Path::new("/data/pg_twophase").join(state_files().remove(0));
        let bytes = runtime::fs::read_to_vec(&path).unwrap();
        end(&server.system, "g", End::Commit).unwrap();
        let (start, redo) = checkpoint(&server);
        runtime::fs::write_file_durably(&path, &bytes).unwrap();
        let again = recover(&survivor(&server, start, redo));
        assert!(again.system.prepared().list().is_empty() && state_files().is_empty());
        runtime::fs::write_file_durably(&path, &bytes[..bytes.len() - 1]).unwrap();
        let damaged = Server::open(Arc::default(), start).system.begin_recovery().unwrap_err();
        assert_eq!(SqlError::from(damaged).code().as_str(), "XX001");
    });
}

#[test]
fn more_than_the_setting_allows_stop_the_start() {
    simulate(8, || {
        let server = Server::new();
        for n in 0..8 {
            prepare(&mut server.session(1), &n.to_string()).unwrap();
        }
        let records = server.log.records.lock().clone();
        let smaller = Server::open_with(
            Arc::default(),
            super::FIRST,
            crate::TxnOptions { max_prepared: 7, ..super::small_options() },
        );
        for record in records {
            smaller
                .system
                .redo_parts(record.rmgr, record.info, record.xid, &record.data, record.end)
                .unwrap();
        }
        let error = SqlError::from(smaller.system.end_recovery().unwrap_err());
        assert_eq!(error.message(), "maximum number of prepared transactions reached");
        assert_eq!(
            error.report().hint.as_deref(),
            Some("Increase \"max_prepared_transactions\" (currently 7).")
        );
    });
}

/// What a client was told before the machine crashed.
#[derive(Default)]
struct Told {
    prepared: bool,
    committed: bool,
}

/// Prepares, takes a checkpoint, commits; notes what was acknowledged. The survivor is what recovery would start from.
fn prepare_and_commit(told: &parking_lot::Mutex<Told>, survived: &parking_lot::Mutex<Option<Survivor>>) {
    let server = Server::new();
    *survived.lock() = Some(survivor(&server, super::FIRST, 0));
    prepare(&mut write(&server, 1).0, "g").unwrap();
    told.lock().prepared = true;
    let (start, redo) = checkpoint(&server);
    *survived.lock() = Some(survivor(&server, start, redo));
    end(&server.system, "g", End::Commit).unwrap();
    told.lock().committed = true;
}

#[test]
fn a_crash_at_any_step_leaves_it_whole() {
    let points = stop::POINTS.iter().map(|point| point.0).filter(|name| name.contains("prepare"));
    for point in points {
        let simulation = Simulation::new(9);
        let told = Arc::new(parking_lot::Mutex::new(Told::default()));
        let survived = Arc::new(parking_lot::Mutex::new(None));
        let armed = stop::arm(point, Action::Crash, 0);
        let (t, s) = (told.clone(), survived.clone());
        simulation.run(move || prepare_and_commit(&t, &s)).expect_err(point);
        drop(armed);
        let check = move || {
            let told = told.lock();
            let server = recover(survived.lock().as_ref().unwrap());
            let listed = server.system.prepared().list().len();
            // An xid without a trace is given out again.
            let status = |xid| match xid < server.system.next_xid() {
                true => server.system.status(xid).unwrap(),
                false => XidStatus::Aborted,
            };
            let sub = status(Xid(Xid::FIRST_NORMAL.0 + 2));
            let status = status(Xid::FIRST_NORMAL);
            assert_eq!(sub, status, "{point}: half of it");
            match (told.prepared, status) {
                (_, XidStatus::InProgress) => assert_eq!(listed, 1, "{point}"),
                (_, XidStatus::Committed) => assert_eq!(listed, 0, "{point}"),
                (false, XidStatus::Aborted) => assert_eq!(listed, 0, "{point}"),
                (true, XidStatus::Aborted) => panic!("{point}: a prepared transaction was lost"),
            }
            assert!(!told.committed || status == XidStatus::Committed, "{point}");
            assert_eq!(free(&server, OTHER, LockMode::Exclusive), listed == 0, "{point}");
            if listed == 1 {
                end(&server.system, "g", End::Abort).unwrap();
            }
            assert!(state_files().iter().all(|name| name.ends_with(".tmp")), "{point}: {:?}", state_files());
        };
        simulation.run(check).unwrap();
    }
}

/// What a new snapshot shows of a transaction's tree: nothing, or all committed.
fn look(system: &TxnSystem, xids: &[Xid]) -> bool {
    let snapshot = system.snapshot();
    // In this order, as visibility asks.
    let one = |&xid: &Xid| snapshot.sees(xid).then(|| system.did_commit(xid).unwrap());
    let states: Vec<_> = xids.iter().map(one).collect();
    assert!(states == [None, None] || states == [Some(true); 2], "{states:?}");
    states[0].is_some()
}

#[test]
fn at_every_step_a_reader_sees_nothing_or_all() {
    let points = stop::POINTS.iter().map(|point| point.0);
    for point in points.filter(|name| name.contains("prepare-") || name.contains("end-prepared")) {
        simulate(10, move || {
            let server = Server::new();
            let (mut t, xids) = write(&server, 1);
            let system = server.system.clone();
            assert!(!look(&system, &xids));
            let armed = stop::arm(point, Action::Pause, 0);
            let ender = system.clone();
            let work = spawn_fiber("work", move || {
                prepare(&mut t, "g").unwrap();
                end(&ender, "g", End::Commit).unwrap();
            });
            runtime::wait(runtime::sleep(Duration::from_millis(10)));
            assert!(armed.passed() > 0, "{point} was not reached");
            let seen = look(&system, &xids);
            assert_eq!(seen, point == "end-prepared-before-unlink", "{point}");
            let running = system.running().list().len();
            assert_eq!(running, usize::from(!seen), "{point}: one entry, session's or stand-in's");
            armed.release();
            work.join().unwrap();
            assert!(look(&system, &xids));
        });
    }
}
