//! The lock manager.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::{Oid, SqlError, Xid};
use runtime::{Interrupt, Interrupts, JoinHandle, Simulation, spawn_fiber};

use super::{Server, simulate};
use crate::{
    LockError, LockMode, LockTag, LockTimeouts, LockWait, Locker, SyncCommit, Transaction, TxnError,
    VirtualXid,
};
use LockMode::*;

fn table(relation: u32) -> LockTag {
    LockTag::Relation { database: Oid(5), relation: Oid(relation) }
}

fn advisory(key2: u32) -> LockTag {
    LockTag::Advisory { database: Oid(5), key1: 0, key2, kind: 1 }
}

fn take(t: &mut Transaction, tag: LockTag, mode: LockMode) {
    t.lock(tag, mode, LockWait::Block).unwrap();
}

fn free(t: &mut Transaction, tag: LockTag, mode: LockMode) -> bool {
    let free = t.lock(tag, mode, LockWait::NoWait);
    assert!(matches!(free, Ok(()) | Err(LockError::NotAvailable)));
    free.is_ok()
}

/// Lets others run until they wait.
fn settle() {
    runtime::wait(runtime::sleep(Duration::from_millis(10)));
}

/// A fiber that takes a lock and notes its name when it has it; it commits `hold` later.
fn later(mut t: Transaction, tag: LockTag, mode: LockMode, log: &Log, name: &'static str) -> JoinHandle<()> {
    let log = log.clone();
    spawn_fiber(name, move || {
        take(&mut t, tag, mode);
        log.borrow_mut().push(name);
        settle();
        t.commit(SyncCommit::On, &[]).unwrap();
    })
}

type Log = Rc<RefCell<Vec<&'static str>>>;

#[test]
fn modes_conflict_as_in_the_manual() {
    let table = [
        (AccessShare, vec![AccessExclusive]),
        (RowShare, vec![Exclusive, AccessExclusive]),
        (RowExclusive, vec![Share, ShareRowExclusive, Exclusive, AccessExclusive]),
        (
            ShareUpdateExclusive,
            vec![ShareUpdateExclusive, Share, ShareRowExclusive, Exclusive, AccessExclusive],
        ),
        (Share, vec![RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive, AccessExclusive]),
        (
            ShareRowExclusive,
            vec![RowExclusive, ShareUpdateExclusive, Share, ShareRowExclusive, Exclusive, AccessExclusive],
        ),
        (Exclusive, LockMode::ALL[1..].to_vec()),
        (AccessExclusive, LockMode::ALL.to_vec()),
    ];
    for (mode, conflicts) in table {
        let found: Vec<_> =
            LockMode::ALL.into_iter().filter(|other| mode.conflicts() & other.bit() != 0).collect();
        assert_eq!(found, conflicts, "{mode:?}");
        assert!(found.iter().all(|other| other.conflicts() & mode.bit() != 0), "symmetric");
    }
}

#[test]
fn every_pair_of_modes_is_granted_or_refused_on_either_path() {
    simulate(1, || {
        let server = Server::new();
        for held in LockMode::ALL {
            for asked in LockMode::ALL {
                for tag in [table(1), advisory(1)] {
                    let (mut a, mut b) = (server.session(1), server.session(2));
                    take(&mut a, tag, held);
                    let fast = server.system.locks().list().iter().any(|lock| lock.fastpath);
                    assert_eq!(fast, held.is_weak() && tag == table(1));
                    assert_eq!(
                        free(&mut b, tag, asked),
                        held.conflicts() & asked.bit() == 0,
                        "{held:?} {asked:?}"
                    );
                    a.abort();
                    assert!(free(&mut b, tag, asked), "released");
                    b.abort();
                    assert_eq!(server.system.locks().list(), []);
                }
            }
        }
    });
}

#[test]
fn a_strong_lock_moves_weak_ones_and_lets_them_back() {
    simulate(2, || {
        let server = Server::new();
        let (mut weak, mut strong) = (server.session(1), server.session(2));
        take(&mut weak, table(1), RowExclusive);
        take(&mut weak, table(1), AccessShare);
        take(&mut strong, table(1), ShareUpdateExclusive);
        assert!(server.system.locks().list().iter().all(|lock| !lock.fastpath), "all in the main table");
        assert_eq!(server.system.locks().list().len(), 3);
        weak.commit(SyncCommit::On, &[]).unwrap();
        assert!(free(&mut strong, table(1), AccessExclusive), "the moved locks were released");
        strong.abort();
        weak.start(Default::default());
        take(&mut weak, table(1), AccessShare);
        assert!(server.system.locks().list()[0].fastpath, "no strong lock is about");
    });
}

#[test]
fn a_session_s_transaction_is_waited_for_with_or_without_an_xid() {
    simulate(11, || {
        let server = Server::new();
        let system = server.system.clone();
        let me = crate::SessionId(9);
        let (mut reader, mut writer, mut other) = (server.session(1), server.session(2), server.session(3));
        take(&mut reader, table(1), AccessShare);
        take(&mut writer, table(1), RowExclusive);
        take(&mut other, table(2), RowExclusive);
        let own = |number: u32, t: &Transaction| {
            Locker::Session(VirtualXid { session: crate::SessionId(number), local: t.local_id() })
        };
        let all = [own(1, &reader), own(2, &writer)];
        assert_eq!(system.lockers(table(1), AccessExclusive, me), all);
        assert_eq!(system.lockers(table(1), Share, me), all[1..]);
        assert_eq!(system.lockers(table(1), AccessExclusive, crate::SessionId(2)), all[..1]);

        let log = Log::default();
        let wait = |locker, timeouts, name| {
            let (system, log) = (system.clone(), log.clone());
            runtime::spawn_fiber(name, move || {
                let outcome = system.wait_for_locker(me, locker, timeouts);
                log.borrow_mut().push(if outcome.is_ok() { name } else { "timeout" });
            })
        };
        let impatient = LockTimeouts { lock: Some(Duration::from_millis(5)), ..LockTimeouts::default() };
        wait(all[0], impatient, "impatient").join().unwrap();
        assert_eq!(*log.borrow(), ["timeout"]);
        let waits = wait(all[0], LockTimeouts::default(), "reader ended");
        settle();
        assert_eq!(system.locks().blocking(me), [crate::SessionId(1)]);
        let virtual_locks = || system.list_locks().into_iter().filter(|lock| lock.tag.is_implicit()).count();
        assert_eq!(virtual_locks(), 4, "three on themselves, and who waits");
        reader.commit(SyncCommit::On, &[]).unwrap();
        waits.join().unwrap();
        // Its next transaction is another.
        reader.start(Default::default());
        wait(all[0], LockTimeouts::default(), "at once").join().unwrap();
        assert_eq!(*log.borrow(), ["timeout", "reader ended", "at once"]);
        assert_eq!(virtual_locks(), 3, "nothing is left of those who waited");
        let waits = wait(all[1], LockTimeouts::default(), "dropped");
        settle();
        drop(writer);
        waits.join().unwrap();
        assert_eq!(system.lockers(table(1), AccessExclusive, me), []);
    });
}

#[test]
fn waiters_are_served_in_order_and_nobody_overtakes() {
    simulate(3, || {
        let server = Server::new();
        let log = Log::default();
        let mut holder = server.session(1);
        take(&mut holder, table(1), AccessShare);
        let writer = later(server.session(2), table(1), AccessExclusive, &log, "writer");
        settle();
        let reader = later(server.session(3), table(1), AccessShare, &log, "reader");
        settle();
        assert!(log.borrow().is_empty(), "the reader queues behind the writer");
        assert_eq!(server.system.locks().blocking(crate::SessionId(3)), [crate::SessionId(2)]);
        assert_eq!(server.system.locks().blocking(crate::SessionId(2)), [crate::SessionId(1)]);
        holder.abort();
        for fiber in [writer, reader] {
            fiber.join().unwrap();
        }
        assert_eq!(*log.borrow(), ["writer", "reader"]);
        assert_eq!(server.system.locks().list(), []);
    });
}

#[test]
fn a_holder_goes_ahead_of_those_who_wait_for_it() {
    simulate(4, || {
        let server = Server::new();
        let log = Log::default();
        let mut holder = server.session(1);
        take(&mut holder, table(1), AccessShare);
        let writer = later(server.session(2), table(1), AccessExclusive, &log, "writer");
        settle();
        take(&mut holder, table(1), RowExclusive);
        assert!(log.borrow().is_empty(), "the holder did not queue behind the writer");
        holder.abort();
        writer.join().unwrap();
    });
}

#[test]
fn two_upgrades_of_one_lock_are_a_deadlock_at_once() {
    simulate(5, || {
        let server = Server::new();
        let (mut a, mut b) = (server.session(1), server.session(2));
        take(&mut a, table(1), Share);
        take(&mut b, table(1), Share);
        let log = Log::default();
        let upgrade = later(a, table(1), RowExclusive, &log, "upgrade");
        settle();
        let start = runtime::now();
        let error = b.lock(table(1), RowExclusive, LockWait::Block).unwrap_err();
        assert!(matches!(&error, LockError::Deadlock(cycle) if cycle.len() == 2), "{error:?}");
        assert_eq!(start.elapsed(), Duration::ZERO, "without waiting for deadlock_timeout");
        b.abort();
        upgrade.join().unwrap();
    });
}

#[test]
fn a_cycle_over_rows_and_tables_is_found_and_told() {
    for seed in 0..20 {
        simulate(seed, || {
            let server = Server::new();
            let (mut a, mut b, mut c) = (server.session(11), server.session(12), server.session(13));
            take(&mut a, table(1), RowExclusive);
            let xid = b.xid().unwrap();
            take(&mut c, advisory(7), Exclusive);
            let first = spawn_fiber("a", move || a.wait_for(xid));
            settle();
            let second = spawn_fiber("b", move || {
                let result = b.lock(advisory(7), Share, LockWait::Block);
                b.abort();
                result
            });
            settle();
            let error = c.lock(table(1), AccessExclusive, LockWait::Block).map_err(TxnError::from);
            let results = [
                error,
                {
                    c.abort();
                    first.join().unwrap()
                },
                second.join().unwrap().map_err(TxnError::from),
            ];
            let mut victims = results.into_iter().filter_map(Result::err);
            let error = SqlError::from(victims.next().expect("a victim"));
            assert!(victims.next().is_none(), "one victim is enough");
            assert_eq!(error.code().as_str(), "40P01");
            let detail = error.report().detail.clone().unwrap();
            let line = format!("Process 11 waits for ShareLock on transaction {xid}; blocked by process 12.");
            assert!(detail.lines().any(|found| found == line), "{detail}");
            let line = "Process 12 waits for ShareLock on advisory lock [5,0,7,1]; blocked by process 13.";
            assert!(detail.lines().any(|found| found == line), "{detail}");
            assert_eq!(detail.lines().count(), 3, "{detail}");
        });
    }
}

/// A queue whose order alone makes a cycle: turning it helps, nobody dies.
#[test]
fn a_soft_cycle_is_resolved_by_turning_the_queue() {
    simulate(7, || {
        let server = Server::new();
        let log = Log::default();
        let mut a = server.session(1);
        let mut b = server.session(2);
        let mut c = server.session(3);
        take(&mut a, table(1), Share);
        take(&mut c, advisory(1), Exclusive);
        // b waits for a; c, which b's queue place blocks, holds what a wants next.
        let writer = spawn_fiber("b", move || {
            take(&mut b, table(1), AccessExclusive);
            b.abort();
        });
        settle();
        let sharer = later(c, table(1), Share, &log, "c");
        settle();
        take(&mut a, advisory(1), Exclusive);
        assert_eq!(*log.borrow(), ["c"], "c went ahead of b and let go");
        a.abort();
        writer.join().unwrap();
        sharer.join().unwrap();
    });
}

#[test]
fn waits_end_by_timeout_and_by_interrupt_and_leave_no_trace() {
    simulate(8, || {
        let server = Server::new();
        let log = Log::default();
        let mut holder = server.session(1);
        take(&mut holder, table(1), AccessExclusive);
        let mut waiter = server.session(2);
        waiter.set_timeouts(LockTimeouts { lock: Some(Duration::from_millis(300)), ..Default::default() });
        let start = runtime::now();
        assert_eq!(waiter.lock(table(1), AccessShare, LockWait::Block), Err(LockError::Timeout));
        assert!(start.elapsed() >= Duration::from_millis(300));
        let interrupts = Interrupts::new();
        let cancel = interrupts.clone();
        let mut other = server.session(3);
        let cancelled = spawn_fiber("cancelled", move || {
            runtime::with_interrupts(&interrupts, || other.lock(table(1), AccessExclusive, LockWait::Block))
        });
        settle();
        let behind = later(server.session(4), table(1), AccessShare, &log, "behind");
        let xid = holder.xid().unwrap();
        let abandoned = server.session(5);
        let abandoned = spawn_fiber("abandoned", move || abandoned.wait_for(xid));
        settle();
        cancel.set(Interrupt::Cancel);
        assert_eq!(cancelled.join().unwrap(), Err(LockError::Interrupted(Interrupt::Cancel)));
        abandoned.abort();
        settle();
        holder.commit(SyncCommit::On, &[]).unwrap();
        behind.join().unwrap();
        let left = server.system.list_locks();
        assert!(
            left.iter().all(|lock| matches!(lock.tag, LockTag::VirtualXid { .. }) && lock.granted),
            "{left:?}"
        );
    });
}

#[test]
fn waiting_for_an_xid_ends_with_its_subtransaction_or_its_top() {
    for seed in 0..30 {
        simulate(seed, || {
            let server = Server::new();
            let log = Log::default();
            let mut writer = server.session(1);
            writer.begin_block();
            let top = writer.xid().unwrap();
            writer.push_subxact(Some("s"));
            let child = writer.xid().unwrap();
            let wait = |session, xid: Xid, name| {
                let t = server.session(session);
                let log = log.clone();
                spawn_fiber(name, move || {
                    t.wait_for(xid).unwrap();
                    log.borrow_mut().push(name);
                })
            };
            let fibers = [wait(2, child, "child"), wait(3, child, "child"), wait(4, top, "top")];
            settle();
            assert!(log.borrow().is_empty());
            let shown = server.system.list_locks();
            let on_xids = shown.iter().filter(|lock| lock.granted && matches!(lock.tag, LockTag::Xid(_)));
            assert_eq!(on_xids.count(), 1, "{shown:?}");
            writer.rollback_to("s").unwrap();
            settle();
            assert_eq!(*log.borrow(), ["child", "child"]);
            writer.abort();
            for fiber in fibers {
                fiber.join().unwrap();
            }
            assert_eq!(log.borrow().last(), Some(&"top"));
            assert_eq!(server.system.list_locks(), []);
        });
    }
}

#[test]
fn savepoints_release_what_was_taken_since() {
    simulate(9, || {
        let server = Server::new();
        let mut t = server.session(1);
        take(&mut t, table(1), AccessShare);
        t.push_subxact(Some("s"));
        take(&mut t, table(1), AccessShare);
        // Enough for the index to come and go.
        for n in 2..40 {
            take(&mut t, table(n), RowExclusive);
        }
        t.lock_for_session(advisory(1), Exclusive, LockWait::Block).unwrap();
        t.push_subxact(Some("inner"));
        take(&mut t, advisory(2), Exclusive);
        t.release("inner").unwrap();
        t.rollback_to("s").unwrap();
        assert!(t.holds_lock(table(1), AccessShare), "the outer level has it");
        assert!(!t.holds_lock(table(2), RowExclusive) && !t.holds_lock(advisory(2), Exclusive));
        assert_eq!(server.system.locks().list().len(), 2);
        t.commit(SyncCommit::On, &[]).unwrap();
        let left: Vec<_> = server.system.locks().list().into_iter().map(|lock| lock.tag).collect();
        assert_eq!(left, [advisory(1)], "session-level locks outlive the transaction");
        assert!(
            t.unlock_for_session(advisory(1), Exclusive) && !t.unlock_for_session(advisory(1), Exclusive)
        );
        assert_eq!(server.system.locks().list(), []);
    });
}

#[test]
fn both_levels_of_one_lock_count_apart() {
    simulate(10, || {
        let server = Server::new();
        let (mut a, mut b) = (server.session(1), server.session(2));
        a.lock_for_session(advisory(1), Exclusive, LockWait::Block).unwrap();
        a.lock_for_session(advisory(1), Exclusive, LockWait::Block).unwrap();
        take(&mut a, advisory(1), Exclusive);
        a.commit(SyncCommit::On, &[]).unwrap();
        assert!(!free(&mut b, advisory(1), Share), "the session still has it");
        assert!(a.unlock_for_session(advisory(1), Exclusive));
        assert!(!free(&mut b, advisory(1), Share), "twice taken");
        a.unlock_all_for_session(|tag| matches!(tag, LockTag::Advisory { .. }));
        assert!(free(&mut b, advisory(1), Share));
    });
}

/// Sessions take random locks in random order, and run into deadlocks: everybody gets on, and exclusion holds.
#[test]
fn a_crowd_gets_on() {
    for seed in 0..40 {
        let simulation = Simulation::new(seed);
        let crowd = || {
            let server = Server::new();
            let inside: Rc<RefCell<[i32; 3]>> = Rc::default();
            let fibers: Vec<_> = (1..9)
                .map(|n| {
                    let mut t = server.session(n);
                    t.set_timeouts(LockTimeouts { deadlock: Duration::from_millis(1), ..Default::default() });
                    let inside = inside.clone();
                    spawn_fiber("one of many", move || {
                        for _ in 0..30 {
                            t.start(Default::default());
                            let mut exclusive = Vec::new();
                            for _ in 0..3 {
                                let at = (runtime::random_u64() % 3) as usize;
                                let modes = [AccessShare, RowExclusive, AccessExclusive];
                                let mode = modes[(runtime::random_u64() % 3) as usize];
                                if t.lock(table(at as u32), mode, LockWait::Block).is_err() {
                                    break;
                                }
                                if mode == AccessExclusive && !exclusive.contains(&at) {
                                    exclusive.push(at);
                                    inside.borrow_mut()[at] += 1;
                                }
                                runtime::yield_now();
                            }
                            assert!(inside.borrow().iter().all(|&count| count <= 1), "two exclusive holders");
                            for &at in &exclusive {
                                inside.borrow_mut()[at] -= 1;
                            }
                            t.abort();
                        }
                    })
                })
                .collect();
            for fiber in fibers {
                fiber.join().unwrap();
            }
            assert_eq!(server.system.list_locks(), []);
        };
        simulation.run(crowd).unwrap();
    }
}
