//! Sets of transactions that share a row.

use std::path::Path;
use std::sync::Arc;

use base::{Lsn, MultiXactId, Xid};
use runtime::Simulation;
use wal::Rmgr;

use super::{FIRST, MemoryLog, Server, simulate};
use crate::SyncCommit;
use crate::multixact::{CREATE, Holder, LockStrength, Member, MemberStatus, entries};
use crate::{Log, Transaction, TxnStart, TxnSystem};

const KEY_SHARE: MemberStatus = MemberStatus::Locked(LockStrength::KeyShare);

fn member(xid: Xid, status: MemberStatus) -> Member {
    Member { xid, status }
}

fn running(server: &Server, count: u32) -> (Vec<Transaction>, Vec<Member>) {
    let mut sessions: Vec<_> = (1..=count).map(|n| server.session(n)).collect();
    let members = sessions.iter_mut().map(|t| member(t.xid().unwrap(), KEY_SHARE)).collect();
    (sessions, members)
}

fn members_of(holders: &[Holder]) -> Vec<Member> {
    holders.iter().map(|holder| holder.member).collect()
}

/// A set that grows as the lockers of a row make it grow.
fn grow(system: &TxnSystem, multi: MultiXactId, new: Member) -> MultiXactId {
    if let Some(joined) = system.join_multi(multi, new).unwrap() {
        return joined;
    }
    let mut members = members_of(&system.multi_holders(multi).unwrap());
    members.push(new);
    system.make_multi(&members).unwrap()
}

#[test]
fn a_member_more_costs_one_entry_however_many_there_are() {
    simulate(1, || {
        let server = Server::new();
        let system = &server.system;
        let (_sessions, members) = running(&server, 1000);
        let mut multi = system.make_multi(&members[..2]).unwrap();
        for &new in &members[2..] {
            let before = system.next_multi();
            multi = grow(system, multi, new);
            assert_eq!(system.next_multi().0, before.0 + 1);
        }
        assert_eq!(system.multixacts().members(multi).unwrap(), members);
        assert_eq!(system.multi_holders(multi).unwrap().len(), 1000);
        assert_eq!(system.multixacts().root(multi).unwrap(), MultiXactId(1));
        assert_eq!(system.multi_updater(multi).unwrap(), Xid::INVALID);
    });
}

#[test]
fn those_that_have_ended_are_left_out_in_time() {
    simulate(2, || {
        let server = Server::new();
        let system = &server.system;
        let (mut sessions, members) = running(&server, 2);
        let mut multi = system.make_multi(&members).unwrap();
        let first = multi;
        for n in 3..500 {
            let mut next = server.session(n);
            multi = grow(system, multi, member(next.xid().unwrap(), KEY_SHARE));
            sessions.remove(0).commit(SyncCommit::Off, &[]).unwrap();
            sessions.push(next);
        }
        assert!(system.multixacts().members(multi).unwrap().len() <= 16);
        assert_eq!(system.multi_holders(multi).unwrap().len(), 2);
        assert!(system.multixacts().root(multi).unwrap() > first, "old entries are not needed any more");
        let ids = system.next_multi().0;
        assert!(ids < 2000, "{ids} entries for 500 members");
    });
}

#[test]
fn a_set_tells_who_updated_and_who_still_matters() {
    simulate(3, || {
        let server = Server::new();
        let system = &server.system;
        let (mut sessions, mut members) = running(&server, 3);
        members[1].status = MemberStatus::UpdatedNoKey;
        let multi = system.make_multi(&members).unwrap();
        assert_eq!(system.multi_updater(multi).unwrap(), members[1].xid);
        let mut last = sessions.remove(2);
        last.abort();
        let holders = system.multi_holders(multi).unwrap();
        assert_eq!(members_of(&holders), members[..2]);
        assert!(holders.iter().all(|holder| !holder.committed), "both run");
        for t in &mut sessions {
            t.commit(SyncCommit::Off, &[]).unwrap();
        }
        let update = Holder { member: members[1], committed: true };
        assert_eq!(system.multi_holders(multi).unwrap(), [update], "a committed update stays");
    });
}

#[test]
fn a_member_that_came_twice_counts_with_the_most_it_did() {
    simulate(4, || {
        let server = Server::new();
        let system = &server.system;
        let (_sessions, members) = running(&server, 2);
        let status = MemberStatus::Locked(LockStrength::Share);
        let multi = system.make_multi(&members).unwrap();
        let multi = grow(system, multi, member(members[0].xid, status));
        assert_eq!(system.multixacts().members(multi).unwrap(), [member(members[0].xid, status), members[1]]);
        let again = system.make_multi(&members).unwrap();
        assert_eq!(again, MultiXactId(1), "what a worker made just now is not made again");
    });
}

/// What a crash leaves of a server: its durable log, and where redo begins.
struct Survivor {
    log: Arc<MemoryLog>,
    start: TxnStart,
    redo_from: usize,
}

fn work(survivor: &Arc<parking_lot::Mutex<Survivor>>) {
    TxnSystem::create(Path::new("/data")).unwrap();
    runtime::fs::sync_dir(Path::new("/")).unwrap();
    let server = Server::open(survivor.lock().log.clone(), FIRST);
    server.system.end_recovery().unwrap();
    for n in 0..4 {
        let system = server.system.clone();
        let mut sessions: Vec<_> = (1..10).map(|k| server.session(n * 10 + k)).collect();
        runtime::spawn_fiber("lockers", move || {
            loop {
                let mut members: Vec<_> =
                    sessions.iter_mut().map(|t| member(t.xid().unwrap(), KEY_SHARE)).collect();
                let rest = members.split_off(2);
                let mut multi = system.make_multi(&members).unwrap();
                for &new in &rest {
                    multi = grow(&system, multi, new);
                    runtime::yield_now();
                }
                for t in &mut sessions {
                    t.commit(SyncCommit::On, &[]).unwrap();
                    t.start(crate::Characteristics::default());
                }
            }
        });
    }
    loop {
        runtime::wait(runtime::sleep(std::time::Duration::from_micros(50)));
        let redo_from = server.log.records.lock().len();
        server.system.wait_for_commits_in_flight();
        server.system.checkpoint(Lsn(redo_from as u64)).unwrap();
        let start = TxnStart {
            next_xid: server.system.next_xid(),
            next_multi: server.system.next_multi_with_page(),
            ..FIRST
        };
        let end = server.log.records.lock().len() as u64;
        Log::flush(&*server.log, Lsn(end)).unwrap();
        *survivor.lock() = Survivor { log: server.log.clone(), start, redo_from };
    }
}

#[test]
fn every_set_that_was_logged_is_there_after_a_crash_and_no_id_comes_twice() {
    let mut checked = 0;
    for seed in 0..25 {
        let simulation = Simulation::new(seed);
        let survivor = Survivor { log: Arc::default(), start: FIRST, redo_from: 0 };
        let survivor = Arc::new(parking_lot::Mutex::new(survivor));
        simulation.crash_after(20 + seed * 5);
        let kept = survivor.clone();
        assert!(simulation.run(move || work(&kept)).is_err(), "the machine crashes");
        let flushed = survivor.lock().log.flushed.lock().0 as usize;
        let records = survivor.lock().log.records.lock()[..flushed].to_vec();
        checked += records.iter().filter(|r| r.rmgr == Rmgr::Multixact && r.info == CREATE).count();
        simulation
            .run(move || {
                let survivor = survivor.lock();
                let log = Arc::new(MemoryLog::default());
                log.records.lock().extend_from_slice(&records);
                *log.flushed.lock() = Lsn(flushed as u64);
                let server = Server::open(log, survivor.start);
                for record in &records[survivor.redo_from.min(flushed)..] {
                    server.system.observe_xid(record.xid);
                    let (rmgr, info, xid) = (record.rmgr, record.info, record.xid);
                    assert!(server.system.redo_parts(rmgr, info, xid, &record.data, record.end).unwrap());
                }
                server.system.end_recovery().unwrap();
                for record in records.iter().filter(|r| r.rmgr == Rmgr::Multixact && r.info == CREATE) {
                    let (first, count) = entries(&record.data).unwrap();
                    let last = MultiXactId(first + count - 1);
                    let members = server.system.multixacts().members(last).unwrap();
                    assert_eq!(members.last().unwrap().xid, record.xid, "seed {seed}, {last:?}");
                    assert!(last < server.system.next_multi());
                    assert!(server.system.multi_holders(last).unwrap().is_empty(), "all have ended");
                }
                let (_sessions, members) = super::multixact::running(&server, 2);
                let before = server.system.next_multi();
                assert_eq!(server.system.make_multi(&members).unwrap(), before);
            })
            .unwrap();
    }
    assert!(checked > 1000, "only {checked} sets were logged");
}

#[test]
fn damaged_records_are_refused() {
    simulate(5, || {
        let server = Server::new();
        let redo = |data: &[u8]| {
            server.system.redo_parts(Rmgr::Multixact, CREATE, Xid::INVALID, data, Lsn(1)).unwrap()
        };
        assert!(!redo(&[]) && !redo(&[1; 20]));
        assert!(!redo(&[0xff; 40]), "no such id was ever given out");
    });
}
