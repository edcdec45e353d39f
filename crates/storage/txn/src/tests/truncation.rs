//! Removal of the old ends of the commit log and of multixacts, also in the middle of a crash.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::stop::{self, Action};
use base::{Lsn, MultiXactId, Oid, Xid};
use parking_lot::Mutex;
use runtime::{Simulation, spawn_fiber};

use super::{FIRST, MemoryLog, Server, simulate};
use crate::{
    End, LockStrength, Log, Member, MemberStatus, OldestIds, Resolver, SyncCommit, TxnStart, TxnSystem,
    XidStatus,
};

/// xids of a file.
const PER_FILE: u64 = 32 * crate::clog::XIDS_PER_PAGE;
/// Entries of a file of multixacts.
const SETS_PER_FILE: u64 = 32 * crate::multixact::PER_PAGE;

fn files(folder: &str) -> Vec<String> {
    let entries = runtime::fs::read_dir(&Path::new("/data").join(folder)).unwrap();
    let mut names: Vec<_> = entries.into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

/// A transaction that comes `ahead` xids after all so far, and how it ended.
fn run_one(server: &Server, ahead: u64, commit: bool) -> (Xid, XidStatus) {
    let to = Xid(server.system.next_xid().0 + ahead);
    while server.system.clog().limit() <= to {
        // One transaction a page makes all pages.
        server.system.observe_xid(Xid(server.system.clog().limit().0 - 1));
        let mut t = server.session(1);
        t.xid().unwrap();
        t.abort();
    }
    server.system.observe_xid(to);
    let mut t = server.session(1);
    let xid = t.xid().unwrap();
    match commit {
        true => assert_eq!(t.commit(SyncCommit::On, &[]).unwrap(), End::Commit),
        false => t.abort(),
    }
    (xid, if commit { XidStatus::Committed } else { XidStatus::Aborted })
}

/// A set of `size` lockers.
fn set_of(server: &Server, size: u64) -> MultiXactId {
    let status = MemberStatus::Locked(LockStrength::KeyShare);
    let members: Vec<_> = (3..3 + size).map(|xid| Member { xid: Xid(xid), status }).collect();
    server.system.copy_multi(&members).unwrap()
}

/// What survives a crash beside the disk: the log, and the checkpoint to start from.
#[derive(Clone)]
struct Survivor {
    log: Arc<MemoryLog>,
    start: TxnStart,
    redo_from: usize,
}

impl Survivor {
    fn new() -> Survivor {
        Survivor { log: Arc::default(), start: FIRST, redo_from: 0 }
    }
}

/// As the engine takes a checkpoint.
fn checkpoint(server: &Server) -> Survivor {
    let redo_from = server.log.records.lock().len();
    server.system.wait_for_commits_in_flight();
    server.system.checkpoint(Lsn(redo_from as u64)).unwrap();
    let (next_xid, next_multi) = (server.system.next_xid(), server.system.next_multi_with_page());
    let start = TxnStart { next_xid, next_multi, oldest: server.system.oldest_ids() };
    let end = server.log.records.lock().len() as u64;
    server.log.flush(Lsn(end)).unwrap();
    Survivor { log: server.log.clone(), start, redo_from }
}

/// Recovers from what survived.
fn restart(survivor: &Survivor) -> Server {
    let flushed = survivor.log.flushed().0 as usize;
    let records = survivor.log.records.lock()[..flushed].to_vec();
    let log = Arc::new(MemoryLog::default());
    log.records.lock().extend_from_slice(&records);
    *log.flushed.lock() = Lsn(flushed as u64);
    let server = Server::open(log, survivor.start);
    server.system.begin_recovery().unwrap();
    for record in &records[survivor.redo_from.min(flushed)..] {
        server.system.observe_xid(record.xid);
        let (rmgr, info, xid) = (record.rmgr, record.info, record.xid);
        assert!(server.system.redo_parts(rmgr, info, xid, &record.data, record.end).unwrap());
    }
    server.system.end_recovery().unwrap();
    server
}

/// Whatever is not older than what is kept can be asked for, and the answer is right. A crash may forget those that rolled back.
fn check(system: &TxnSystem, ended: &[(Xid, XidStatus)]) {
    let oldest = system.oldest_ids().xid;
    for xid in (oldest.0..system.next_xid().0).step_by(crate::clog::XIDS_PER_PAGE as usize) {
        system.status(Xid(xid)).unwrap();
    }
    let known = |&(xid, status): &(Xid, XidStatus)| status == XidStatus::Committed || xid < system.next_xid();
    for &(xid, status) in ended.iter().filter(|ended| ended.0 >= oldest && known(ended)) {
        assert_eq!(system.status(xid).unwrap(), status, "xid {xid}, oldest {oldest}");
    }
}

fn oldest(xid: Xid, multi: MultiXactId) -> OldestIds {
    OldestIds { xid, multi }
}

#[test]
fn whole_files_go_and_the_rest_stays() {
    simulate(1, || {
        let server = Server::new();
        let ended: Vec<_> = (0..4).map(|n| run_one(&server, PER_FILE - 10, n % 2 == 0)).collect();
        let (long, short) = (set_of(&server, SETS_PER_FILE + 10), set_of(&server, 2));
        checkpoint(&server);
        assert_eq!(files("pg_xact"), ["0000", "0001", "0002", "0003"]);
        assert_eq!(files("pg_multixact"), ["0000", "0001"]);
        // The file of the oldest that is kept stays whole.
        server.system.truncate(oldest(ended[2].0, MultiXactId(SETS_PER_FILE - 1))).unwrap();
        assert_eq!(files("pg_xact"), ["0002", "0003"]);
        assert_eq!(files("pg_multixact"), ["0000", "0001"]);
        assert_eq!(server.system.multixacts().members(long).unwrap().len() as u64, SETS_PER_FILE + 10);
        server.system.truncate(oldest(ended[2].0, short)).unwrap();
        assert_eq!(files("pg_multixact"), ["0001"]);
        assert_eq!(server.system.multixacts().members(short).unwrap().len(), 2);
        assert!(server.system.did_commit(ended[0].0).is_err(), "the page is not in memory either");
        check(&server.system, &ended);
        // It goes on, and never back.
        server.system.truncate(oldest(ended[0].0, MultiXactId(1))).unwrap();
        assert_eq!(server.system.oldest_ids(), oldest(ended[2].0, short));
        checkpoint(&server);
        assert_eq!(files("pg_xact"), ["0002", "0003"], "no file is made again");
        check(&server.system, &ended);
    });
}

#[test]
fn who_asks_for_what_is_gone_makes_no_file() {
    simulate(2, || {
        let server = Server::new();
        let (first, _) = run_one(&server, 0, true);
        let (last, _) = run_one(&server, PER_FILE, true);
        checkpoint(&server);
        server.system.truncate(oldest(last, MultiXactId(1))).unwrap();
        assert!(server.system.did_commit(first).is_err() && server.system.oldest_ids().xid > first);
        checkpoint(&server);
        assert_eq!(files("pg_xact"), ["0001"]);
    });
}

#[test]
fn snapshots_and_running_transactions_from_before_are_waited_for() {
    simulate(3, || {
        let server = Server::new();
        let system = server.system.clone();
        run_one(&server, 0, true);
        let snapshot = system.snapshot();
        let (young, _) = run_one(&server, PER_FILE, true);
        checkpoint(&server);
        let mut running = server.session(2);
        running.xid().unwrap();
        system.truncate(oldest(young, MultiXactId(1))).unwrap();
        assert_eq!(system.oldest_ids().xid, Xid::FIRST_NORMAL);
        drop(snapshot);
        system.truncate_pending().unwrap();
        assert_eq!(files("pg_xact"), ["0000", "0001"], "a transaction from before runs");
        // Later ones do not count.
        let later = system.snapshot();
        running.commit(SyncCommit::On, &[]).unwrap();
        drop(later);
        let _later = system.snapshot();
        system.truncate_pending().unwrap();
        assert_eq!(files("pg_xact"), ["0001"]);
    });
}

/// Work in three files, a part of it behind the checkpoint, then a removal in which the machine stops at `point`.
fn remove_and_crash(point: &'static str, skip: u64, survivor: &Mutex<(Survivor, Vec<(Xid, XidStatus)>)>) {
    let server = Server::new();
    let mut ended = vec![run_one(&server, 0, true), run_one(&server, 0, false)];
    set_of(&server, SETS_PER_FILE + 10);
    let before = checkpoint(&server);
    // Redo finds these commits, whose page is gone.
    ended.extend([run_one(&server, 0, true), run_one(&server, 0, false)]);
    ended.extend((0..3).map(|n| run_one(&server, PER_FILE, n % 2 == 0)));
    let short = set_of(&server, 2);
    // The files are there, but the next start does not know of this checkpoint.
    checkpoint(&server);
    let kept = oldest(ended[6].0, short);
    *survivor.lock() = (before, ended);
    let armed = stop::arm(point, Action::Crash, skip);
    let done = server.system.truncate(kept);
    drop(armed);
    panic!("it went on: {done:?}");
}

#[test]
fn a_crash_anywhere_in_a_removal_loses_nothing_that_is_kept() {
    let points = [
        ("truncate-before-record", 0),
        ("truncate-before-removal", 0),
        ("truncate-between-files", 0),
        ("truncate-between-files", 1),
        ("truncate-before-record", 1),
        ("truncate-before-removal", 1),
        ("truncate-between-files", 3),
    ];
    for (seed, (point, skip)) in (10..).zip(points) {
        let simulation = Simulation::new(seed);
        let survivor = Arc::new(Mutex::new((Survivor::new(), Vec::new())));
        let kept = survivor.clone();
        assert!(simulation.run(move || remove_and_crash(point, skip, &kept)).is_err(), "the machine crashes");
        // Redo may be repeated as often as it likes.
        for round in 0..3 {
            let kept = survivor.clone();
            let recover = move || {
                let (survivor, ended) = &*kept.lock();
                let server = restart(survivor);
                let logged = (point, skip) != ("truncate-before-record", 0);
                let [first, .., last] = ended.as_slice() else { panic!("transactions ran") };
                let expected = if logged { last.0 } else { FIRST.oldest.xid };
                assert_eq!(server.system.oldest_ids().xid, expected, "{point} {skip}");
                check(&server.system, ended);
                if logged {
                    checkpoint(&server);
                    assert_eq!(files("pg_xact"), ["0003"], "{point} {skip}");
                } else {
                    assert_eq!(server.system.status(first.0).unwrap(), first.1);
                }
                let set = server.system.multixacts().members(MultiXactId(SETS_PER_FILE + 10)).unwrap();
                assert_eq!(set.len(), 2, "{point} {skip}");
                run_one(&server, 0, true);
            };
            if round == 1 {
                simulation.crash_after(5 + seed % 4);
                let _ = simulation.run(recover);
            } else {
                simulation.run(recover).unwrap();
            }
        }
    }
}

#[test]
fn a_checkpoint_during_a_removal_knows_what_is_gone() {
    let simulation = Simulation::new(20);
    let survivor = Arc::new(Mutex::new(Survivor::new()));
    let kept = survivor.clone();
    let work = move || {
        let server = Server::new();
        let (young, _) = (run_one(&server, 0, true), run_one(&server, 2 * PER_FILE, true)).1;
        checkpoint(&server);
        let armed = stop::arm("truncate-before-removal", Action::Pause, 0);
        let system = server.system.clone();
        let removing = spawn_fiber("vacuum", move || {
            system.truncate(oldest(young, MultiXactId(1))).unwrap();
        });
        while armed.passed() == 0 {
            runtime::yield_now();
        }
        // Behind the record, which redo from here on does not read.
        *kept.lock() = checkpoint(&server);
        armed.release();
        removing.join().unwrap();
        assert_eq!(files("pg_xact"), ["0002"]);
    };
    simulation.run(work).unwrap();
    simulation.crash();
    simulation.run(move || check(&restart(&survivor.lock()).system, &[])).unwrap();
}

#[test]
fn the_state_file_of_a_transaction_that_ended_long_ago_is_no_obstacle() {
    simulate(21, || {
        let server = Server::new();
        let owner = Oid(10);
        let mut t = server.session(1);
        t.begin_block();
        let xid = t.xid().unwrap();
        t.prepare("g", (owner, Oid(5)), SyncCommit::On).unwrap();
        checkpoint(&server);
        let name = Path::new("/data/pg_twophase").join(&files("pg_twophase")[0]);
        let bytes = runtime::fs::read_to_vec(&name).unwrap();
        // While it waits for its end its status stays.
        let (young, _) = run_one(&server, PER_FILE, true);
        assert_eq!(server.system.oldest_running(), xid);
        server.system.truncate(oldest(xid, MultiXactId(1))).unwrap();
        let by = Resolver { user: owner, superuser: true, database: Oid(5) };
        server.system.end_prepared(&by, "g", (End::Commit, SyncCommit::On), |_| {}).unwrap();
        server.system.truncate_pending().unwrap();
        server.system.truncate(oldest(young, MultiXactId(1))).unwrap();
        let survivor = checkpoint(&server);
        assert_eq!(files("pg_xact"), ["0001"]);
        // The removal of a state file is not waited for: a crash may bring it back.
        runtime::fs::write_file_durably(&name, &bytes).unwrap();
        let server = restart(&survivor);
        assert!(server.system.prepared().list().is_empty());
        assert!(files("pg_twophase").is_empty());
    });
}

/// Transactions, removals and checkpoints side by side until the plug is pulled.
fn work(ended: &Arc<Mutex<Vec<(Xid, XidStatus)>>>, survivor: &Mutex<Survivor>) {
    let server = Arc::new(Server::new());
    let (writer, ended) = (server.clone(), ended.clone());
    spawn_fiber("writer", move || {
        loop {
            let ahead = runtime::random_u64() % (PER_FILE / 2);
            let done = run_one(&writer, ahead, runtime::random_u64().is_multiple_of(2));
            ended.lock().push(done);
        }
    });
    let vacuum = server.clone();
    spawn_fiber("vacuum", move || {
        loop {
            let known = oldest(vacuum.system.oldest_running(), vacuum.system.oldest_usable_multi());
            runtime::wait(runtime::sleep(Duration::from_micros(runtime::random_u64() % 300)));
            vacuum.system.truncate(known).unwrap();
        }
    });
    loop {
        *survivor.lock() = checkpoint(&server);
        runtime::wait(runtime::sleep(Duration::from_micros(runtime::random_u64() % 500)));
    }
}

#[test]
fn what_is_kept_survives_crashes_at_random() {
    let mut removed = 0;
    for seed in 0..60 {
        let simulation = Simulation::new(seed);
        let (ended, survivor) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Survivor::new())));
        simulation.crash_after(20 + seed * 7);
        let (e, s) = (ended.clone(), survivor.clone());
        assert!(simulation.run(move || work(&e, &s)).is_err(), "the machine crashes");
        removed += simulation
            .run(move || {
                let server = restart(&survivor.lock());
                check(&server.system, &ended.lock());
                server.system.oldest_ids().xid.0 / PER_FILE
            })
            .unwrap();
    }
    assert!(removed > 100, "only {removed} files went");
}
