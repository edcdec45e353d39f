//! The commit log's pages, crashes and replay.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::{Lsn, Oid, SqlError, Xid};
use runtime::Simulation;

use super::{FIRST, MemoryLog, Server, file, simulate};
use crate::clog::{Clog, Outcome, XIDS_PER_PAGE};
use crate::{End, MappedFile, SyncCommit, Transaction, TxnStart, TxnSystem, XidStatus};

#[test]
fn pages_are_evicted_and_come_back() {
    simulate(1, || {
        let log = Arc::new(MemoryLog::default());
        TxnSystem::create(Path::new("/data")).unwrap();
        let clog = Clog::open(Path::new("/data/pg_xact"), 16, log.clone(), Xid::FIRST_NORMAL..Xid(3), true);
        let pages = 50;
        for page in 0..pages {
            clog.redo_zero_page(page, Lsn(page + 1)).unwrap();
        }
        clog.end_recovery(Xid(pages * XIDS_PER_PAGE)).unwrap();
        let outcome = |xid: u64| match xid % 3 {
            0 => Outcome::Open,
            1 => Outcome::Committed,
            _ => Outcome::Aborted,
        };
        let xids = || (0..pages).flat_map(|page| (100..200).map(move |n| page * XIDS_PER_PAGE + n * 77));
        for xid in xids().filter(|xid| xid % 3 != 0) {
            clog.mark(Some(Xid(xid)), &[], outcome(xid), Lsn(1000), false).unwrap();
        }
        for xid in xids() {
            assert_eq!(clog.get(Xid(xid)).unwrap(), outcome(xid), "xid {xid}");
        }
        assert_eq!(*log.flushed.lock(), Lsn(1000), "pages were written after their WAL");
    });
}

#[test]
fn a_tree_over_several_pages_is_marked_whole() {
    simulate(2, || {
        let clog = Clog::open(
            Path::new("/data/pg_xact"),
            16,
            Arc::new(MemoryLog::default()),
            Xid::FIRST_NORMAL..Xid(3),
            true,
        );
        let children: Vec<_> = (30..3 * XIDS_PER_PAGE).filter(|xid| xid % 5 != 0).map(Xid).collect();
        TxnSystem::create(Path::new("/data")).unwrap();
        for page in 0..3 {
            clog.redo_zero_page(page, Lsn(1)).unwrap();
        }
        clog.mark(Some(Xid(10)), &children, Outcome::Committed, Lsn(1), false).unwrap();
        for xid in 3..3 * XIDS_PER_PAGE {
            let expected = xid == 10 || xid >= 30 && xid % 5 != 0;
            assert_eq!(clog.get(Xid(xid)).unwrap() == Outcome::Committed, expected, "xid {xid}");
        }
    });
}

#[test]
fn a_missing_page_is_an_error_that_names_the_transaction() {
    simulate(3, || {
        let server = Server::new();
        let error = SqlError::from(server.system.did_commit(Xid(10_000_000)).unwrap_err());
        assert_eq!(error.code().as_str(), "58P01");
        assert_eq!(error.message(), "could not access status of transaction 10000000");
        let detail = error.report().detail.clone().unwrap();
        assert_eq!(detail, "Could not open file \"pg_xact/0009\": No such file or directory.");
    });
}

#[test]
fn hints_wait_for_asynchronous_commits() {
    simulate(4, || {
        let server = Server::new();
        let mut t = server.session(1);
        let xid = t.xid().unwrap();
        t.commit(SyncCommit::Off, &[]).unwrap();
        assert_eq!(server.system.status(xid).unwrap(), XidStatus::Committed, "visible at once");
        assert!(!server.system.may_hint_committed(xid), "but the record is not durable");
        let end = server.log.records.lock().len() as u64;
        crate::Log::flush(&*server.log, Lsn(end)).unwrap();
        assert!(server.system.may_hint_committed(xid));
        assert!(server.system.may_hint_committed(Xid::FROZEN));
    });
}

#[test]
fn a_commit_waits_for_the_log_if_something_was_logged() {
    simulate(5, || {
        let server = Server::new();
        let flushed = || *server.log.flushed.lock();
        let records = || Lsn(server.log.records.lock().len() as u64);
        let mut t = server.session(1);
        for round in 0..2 {
            let before = flushed();
            let xid = t.xid_for(false).unwrap();
            t.commit(SyncCommit::On, &[]).unwrap();
            assert_eq!(flushed(), before, "nothing was logged in round {round}");
            assert_eq!(server.system.status(xid).unwrap(), XidStatus::Committed);
            t.start(Default::default());
            let named = t.xid_for(false).unwrap();
            assert_eq!(t.xid().unwrap(), named);
            t.commit(SyncCommit::On, &[]).unwrap();
            assert_eq!(flushed(), records(), "it was named first, and logged then");
            t.start(Default::default());
        }
        t.xid_for(false).unwrap();
        t.drop_at_commit(file(7));
        t.commit(SyncCommit::On, &[]).unwrap();
        assert_eq!(flushed(), records(), "files went");
        t.start(Default::default());
        t.xid_for(false).unwrap();
        t.map_at_commit(MappedFile { database: Oid(5), relation: Oid(2608), number: 8 });
        t.commit(SyncCommit::On, &[]).unwrap();
        assert_eq!(flushed(), records(), "a file took another's place");
    });
}

/// What survived the crash: the disk of the simulation, and the flushed records.
struct Survivor {
    log: Arc<MemoryLog>,
    start: TxnStart,
    redo_from: usize,
}

/// A transaction with a subtransaction that is rolled back and one that is not.
fn write_and_end(t: &mut Transaction, acknowledged: &parking_lot::Mutex<Vec<Xid>>) {
    t.start(Default::default());
    t.xid().unwrap();
    t.push_subxact(Some("s"));
    let lost = t.xid().unwrap();
    t.rollback_to("s").unwrap();
    t.push_subxact(None);
    t.xid().unwrap();
    let mut tree = t.subxids().to_vec();
    assert!(!tree.contains(&lost));
    tree.extend(t.top_xid_if_assigned());
    match runtime::random_u64() % 4 {
        0 => t.abort(),
        1 => assert_eq!(t.commit(SyncCommit::Off, &[]).unwrap(), End::Commit),
        _ => {
            assert_eq!(t.commit(SyncCommit::On, &[]).unwrap(), End::Commit);
            acknowledged.lock().extend(tree);
        }
    }
}

/// Writes until the plug is pulled. `acknowledged` gets the xids of commits that returned, with their children.
fn work(acknowledged: &Arc<parking_lot::Mutex<Vec<Xid>>>, survivor: &Arc<parking_lot::Mutex<Survivor>>) {
    let log = survivor.lock().log.clone();
    TxnSystem::create(Path::new("/data")).unwrap();
    runtime::fs::sync_dir(Path::new("/")).unwrap();
    let server = Server::open(log, survivor.lock().start);
    server.system.end_recovery().unwrap();
    for n in 1..5 {
        let mut t = server.session(n);
        let acknowledged = acknowledged.clone();
        runtime::spawn_fiber("session", move || {
            loop {
                write_and_end(&mut t, &acknowledged);
                runtime::yield_now();
            }
        });
    }
    loop {
        runtime::wait(runtime::sleep(std::time::Duration::from_micros(50)));
        let redo_from = server.log.records.lock().len();
        server.system.wait_for_commits_in_flight();
        server.system.checkpoint(Lsn(redo_from as u64)).unwrap();
        let start = TxnStart { next_xid: server.system.next_xid(), ..FIRST };
        // The checkpoint is durable once its own record is.
        let end = server.log.records.lock().len() as u64;
        crate::Log::flush(&*server.log, Lsn(end)).unwrap();
        *survivor.lock() = Survivor { log: server.log.clone(), start, redo_from };
    }
}

#[test]
fn acknowledged_commits_survive_crashes_whole() {
    let mut total = 0;
    for seed in 0..40 {
        let simulation = Simulation::new(seed);
        let acknowledged = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let start = super::FIRST;
        let survivor = Survivor { log: Arc::default(), start, redo_from: 0 };
        let survivor = Arc::new(parking_lot::Mutex::new(survivor));
        simulation.crash_after(15 + seed * 3);
        let (a, s) = (acknowledged.clone(), survivor.clone());
        assert!(simulation.run(move || work(&a, &s)).is_err(), "the machine crashes");
        total += acknowledged.lock().len();
        let checked = acknowledged.clone();
        let recover = move || {
            let survivor = survivor.lock();
            let flushed = survivor.log.flushed.lock().0 as usize;
            let log = Arc::new(MemoryLog::default());
            log.records.lock().extend_from_slice(&survivor.log.records.lock()[..flushed]);
            *log.flushed.lock() = Lsn(flushed as u64);
            let server = Server::open(log.clone(), survivor.start);
            let records = log.records.lock().clone();
            for record in &records[survivor.redo_from.min(flushed)..] {
                server.system.observe_xid(record.xid);
                let known =
                    server.system.redo_parts(record.rmgr, record.info, record.xid, &record.data, record.end);
                assert!(known.unwrap());
            }
            server.system.end_recovery().unwrap();
            // The truth: durable commit records.
            let mut committed = BTreeSet::new();
            for record in records.iter().filter(|r| r.rmgr == wal::Rmgr::Xact && r.info == 0) {
                committed.insert(record.xid);
                committed.extend(crate::commit::decode(record.xid, &record.data).unwrap().subxids);
            }
            assert!(
                checked.lock().iter().all(|xid| committed.contains(xid)),
                "an acknowledged commit was lost"
            );
            for xid in (3..server.system.next_xid().0).map(Xid) {
                let expected =
                    if committed.contains(&xid) { XidStatus::Committed } else { XidStatus::Aborted };
                assert_eq!(server.system.status(xid).unwrap(), expected, "seed {seed}, xid {xid}");
            }
            let mut t = server.session(1);
            assert!(committed.iter().all(|&xid| xid < t.xid().unwrap()), "no xid is given out twice");
        };
        simulation.run(recover).unwrap();
    }
    assert!(total > 1000, "only {total} xids were acknowledged");
}

#[test]
fn redo_drops_files_again_and_refuses_what_it_does_not_know() {
    simulate(6, || {
        let server = Server::new();
        let mut t = server.session(1);
        t.xid().unwrap();
        t.drop_at_commit(file(7));
        t.commit(SyncCommit::Off, b"caches").unwrap();
        assert_eq!(
            *server.log.flushed.lock(),
            Lsn(1),
            "a commit that drops files is flushed whatever the setting"
        );
        let record = server.log.records.lock()[0].clone();
        let copy = Server::open(Arc::default(), super::FIRST);
        let system: &TxnSystem = &copy.system;
        assert!(system.redo_parts(record.rmgr, record.info, record.xid, &record.data, record.end).unwrap());
        assert_eq!(*copy.dropped.0.lock(), [7]);
        assert_eq!(system.next_xid(), Xid(4));
        assert!(!system.redo_parts(record.rmgr, 99, record.xid, &record.data, record.end).unwrap());
        assert!(!system.redo_parts(record.rmgr, 0, record.xid, &record.data[..9], record.end).unwrap());
    });
}
