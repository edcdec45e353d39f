//! Queues that move, room for locks, and many deadlocks at once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::{BlockNo, Oid, SqlError, Tid};
use parking_lot::Mutex;
use runtime::spawn_fiber;

use super::{Server, simulate, small_options};
use crate::{
    LockError, LockMode, LockTag, LockTimeouts, LockWait, SessionId, SyncCommit, Transaction, TxnOptions,
};

fn version(number: u16) -> LockTag {
    LockTag::Tuple { database: Oid(5), relation: Oid(16384), tid: Tid { block: BlockNo(0), offset: number } }
}

fn advisory(key2: u32) -> LockTag {
    LockTag::Advisory { database: Oid(5), key1: 0, key2, kind: 1 }
}

/// Lets others run until they wait.
fn settle() {
    runtime::wait(runtime::sleep(Duration::from_millis(10)));
}

#[test]
fn a_queue_follows_the_row_and_each_waiter_is_woken_once() {
    simulate(1, || {
        const WAITERS: u16 = 100;
        let server = Server::new();
        let turns = Rc::new(RefCell::new(Vec::new()));
        let mut holder = server.session(1);
        assert_eq!(holder.lock_in_queue(version(1), LockMode::Exclusive), Ok(version(1)));
        let waiters: Vec<_> = (0..WAITERS)
            .map(|n| {
                let (mut t, turns) = (server.session(100 + u32::from(n)), turns.clone());
                let waiter = spawn_fiber("waiter", move || {
                    let got = t.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
                    // Whoever comes to the head finds the queue at the newest version, and takes it on to the next.
                    assert_eq!(got, version(n + 2));
                    assert!(t.carry_queue(got, version(n + 3), LockMode::Exclusive));
                    turns.borrow_mut().push(n);
                    settle();
                    t.commit(SyncCommit::On, &[]).unwrap();
                });
                settle();
                waiter
            })
            .collect();
        assert!(holder.carry_queue(version(1), version(2), LockMode::Exclusive));
        let blocked = server.system.locks().blocking(SessionId(100));
        assert_eq!(blocked, [SessionId(1)], "who waits is found where the queue is");
        holder.commit(SyncCommit::On, &[]).unwrap();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        assert!(turns.borrow().iter().copied().eq(0..WAITERS), "{turns:?}");
        assert_eq!(server.system.locks().list(), []);
    });
}

/// Of those who wait together, all go on at once whose modes conflict neither with the holders' nor with those of who still waits ahead.
#[test]
fn weak_modes_go_past_strong_ones_that_they_do_not_conflict_with() {
    use LockMode::{AccessExclusive, AccessShare, Exclusive, RowShare};
    simulate(1, || {
        let cases: [(&[LockMode], &[u32]); 4] = [
            (&[Exclusive, Exclusive, AccessShare, Exclusive, AccessShare], &[0, 2, 4]),
            (&[Exclusive, Exclusive, RowShare, AccessShare], &[0, 3]),
            (&[Exclusive, AccessExclusive, AccessShare], &[0]),
            (&[RowShare, AccessShare, RowShare, Exclusive, RowShare], &[0, 1, 2]),
        ];
        for (modes, first) in cases {
            let server = Server::new();
            let gone_on = Rc::new(RefCell::new(Vec::new()));
            let mut holder = server.session(99);
            holder.lock_in_queue(version(1), AccessExclusive).unwrap();
            let waiters = (0..).zip(modes.iter().copied()).map(|(n, mode)| {
                let (mut t, gone_on) = (server.session(100 + n), gone_on.clone());
                let waiter = spawn_fiber("waiter", move || {
                    t.lock_in_queue(version(1), mode).unwrap();
                    gone_on.borrow_mut().push(n);
                    settle();
                    settle();
                    t.commit(SyncCommit::On, &[]).unwrap();
                });
                settle();
                waiter
            });
            let waiters: Vec<_> = waiters.collect();
            assert!(gone_on.borrow().is_empty());
            holder.commit(SyncCommit::On, &[]).unwrap();
            settle();
            gone_on.borrow_mut().sort_unstable();
            assert_eq!(*gone_on.borrow(), first, "{modes:?}");
            waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
            assert_eq!(gone_on.borrow().len(), modes.len());
            assert_eq!(server.system.locks().list(), []);
        }
    });
}

#[test]
fn a_queue_moves_with_its_one_holder_to_a_free_place_only() {
    simulate(2, || {
        let server = Server::new();
        let (mut one, mut two) = (server.session(1), server.session(2));
        let mode = LockMode::RowShare;
        assert!(!one.carry_queue(version(1), version(2), mode), "nobody holds it");
        one.lock_in_queue(version(1), mode).unwrap();
        two.lock_in_queue(version(1), mode).unwrap();
        assert!(!one.carry_queue(version(1), version(2), mode), "another holds it too");
        assert!(two.unlock(version(1), mode));
        two.lock_in_queue(version(2), mode).unwrap();
        assert!(!one.carry_queue(version(1), version(2), mode), "the place is taken");
        assert!(one.carry_queue(version(1), version(3), mode));
        assert!(!one.unlock(version(1), mode) && one.unlock(version(3), mode));
    });
}

#[test]
fn who_gives_up_in_a_queue_that_moved_leaves_nothing_behind() {
    simulate(3, || {
        let server = Server::new();
        let (mut holder, mut waiter) = (server.session(1), server.session(2));
        holder.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
        waiter.set_timeouts(crate::LockTimeouts {
            lock: Some(Duration::from_millis(100)),
            ..Default::default()
        });
        let gives_up = spawn_fiber("waiter", move || {
            let error = waiter.lock_in_queue(version(1), LockMode::Exclusive);
            assert_eq!(error, Err(LockError::Timeout));
        });
        settle();
        assert!(holder.carry_queue(version(1), version(2), LockMode::Exclusive));
        gives_up.join().unwrap();
        holder.commit(SyncCommit::On, &[]).unwrap();
        assert_eq!(server.system.locks().list(), []);
    });
}

#[test]
fn a_deadlock_through_a_queue_that_moved_is_found() {
    simulate(4, || {
        let server = Server::new();
        let (mut one, mut two) = (server.session(1), server.session(2));
        one.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
        two.lock(advisory(1), LockMode::Exclusive, LockWait::Block).unwrap();
        let waits = spawn_fiber("two", move || {
            let result = two.lock_in_queue(version(1), LockMode::Exclusive);
            two.abort();
            result.map(drop)
        });
        settle();
        assert!(one.carry_queue(version(1), version(2), LockMode::Exclusive));
        let other = one.lock(advisory(1), LockMode::Exclusive, LockWait::Block);
        one.abort();
        let results = [waits.join().unwrap(), other];
        let victims = results.iter().filter(|r| matches!(r, Err(LockError::Deadlock(_)))).count();
        assert_eq!(victims, 1, "{results:?}");
    });
}

#[test]
fn more_locks_than_there_is_room_for_are_an_error_and_leave_room_again() {
    simulate(5, || {
        let server = Server::with(TxnOptions { max_locks: 100, ..small_options() });
        let mut t = server.session(1);
        let all = |t: &mut Transaction| {
            (0..200)
                .find_map(|n| t.lock(advisory(n), LockMode::Exclusive, LockWait::Block).err().map(|e| (n, e)))
        };
        let (number, error) = all(&mut t).expect("an error");
        assert_eq!((number, &error), (100, &LockError::OutOfMemory));
        let error = SqlError::from(error);
        assert_eq!((error.code().as_str(), error.message()), ("53200", "out of shared memory"));
        t.abort();
        t.start(Default::default());
        assert_eq!(all(&mut t).map(|failed| failed.0), Some(100), "what was let go is free");
    });
}

/// Who looks while the victim has not yet left its queue, on another worker, finds no second victim.
#[test]
fn a_victim_is_in_no_other_cycle_from_when_it_is_found() {
    simulate(7, || {
        let server = Server::new();
        let wait = |session: u32| {
            let mut t = server.session(session);
            t.set_timeouts(LockTimeouts { lock: Some(Duration::from_millis(50)), ..Default::default() });
            t.lock(advisory(session), LockMode::Exclusive, LockWait::Block).unwrap();
            spawn_fiber("waits", move || {
                let result = t.lock(advisory(3 - session), LockMode::Exclusive, LockWait::Block);
                settle();
                t.abort();
                result
            })
        };
        let waits = [wait(1), wait(2)];
        settle();
        let look = |session| server.system.locks().check_deadlock(SessionId(session));
        assert!(look(1).is_err());
        assert!(matches!(look(2), Ok(false)));
        for one in waits {
            assert_eq!(one.join().unwrap(), Err(LockError::Timeout));
        }
    });
}

/// The first two wait for each other; the third only stands in the queue between them.
#[test]
fn who_stands_between_two_in_a_deadlock_is_not_its_victim() {
    simulate(8, || {
        let server = Server::new();
        let begin = |session: u32, has: Option<u32>| {
            let mut t = server.session(session);
            t.set_timeouts(LockTimeouts { lock: Some(Duration::from_millis(50)), ..Default::default() });
            if let Some(has) = has {
                t.lock(advisory(has), LockMode::Exclusive, LockWait::Block).unwrap();
            }
            t
        };
        let wait = |mut t: Transaction, wants: u32| {
            let waits = spawn_fiber("waits", move || {
                let result = t.lock(advisory(wants), LockMode::Exclusive, LockWait::Block);
                settle();
                t.abort();
                result
            });
            settle();
            waits
        };
        let (one, two, between) = (begin(1, Some(1)), begin(2, Some(2)), begin(3, None));
        let waits = [wait(one, 2), wait(between, 1), wait(two, 1)];
        let look = |session| server.system.locks().check_deadlock(SessionId(session));
        assert!(matches!(look(3), Ok(true)), "it lets the other go ahead");
        assert!(look(1).is_err());
        for one in waits {
            assert!(matches!(one.join().unwrap(), Ok(_) | Err(LockError::Timeout)));
        }
    });
}

/// Each session of a ring has something that the one before it waits for. With `STAMPEDE_DEADLOCKED` so many sessions.
#[test]
fn every_ring_of_waits_is_broken_once() {
    const RING: u32 = 5;
    let sessions = std::env::var("STAMPEDE_DEADLOCKED").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let rings = sessions / RING;
    simulate(6, move || {
        let server = Server::new();
        let victims = Rc::new(RefCell::new(vec![0; rings as usize]));
        let waits: Vec<_> = (0..rings * RING)
            .map(|n| {
                let (ring, place) = (n / RING, n % RING);
                let (mut t, victims) = (server.session(n + 1), victims.clone());
                t.lock(advisory(n), LockMode::Exclusive, LockWait::Block).unwrap();
                spawn_fiber("ring", move || {
                    let next = advisory(ring * RING + (place + 1) % RING);
                    match t.lock(next, LockMode::Exclusive, LockWait::Block) {
                        Ok(()) => t.commit(SyncCommit::On, &[]).map(drop).unwrap(),
                        Err(LockError::Deadlock(cycle)) => {
                            assert_eq!(cycle.len(), RING as usize);
                            victims.borrow_mut()[ring as usize] += 1;
                            t.abort();
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                })
            })
            .collect();
        waits.into_iter().for_each(|one| one.join().unwrap());
        assert!(victims.borrow().iter().all(|victims| *victims == 1), "{victims:?}");
    });
}

#[test]
fn a_commit_takes_the_queue_to_the_version_that_it_wrote_and_a_rollback_leaves_it() {
    simulate(7, || {
        // How the one at the head ends, and where the next finds the queue.
        type Ends = fn(&mut Transaction);
        let commit = |t: &mut Transaction| assert!(t.commit(SyncCommit::On, &[]).is_ok());
        let cases: [(Ends, u16); 5] = [
            (
                |t| {
                    t.row_moved(version(1), version(2));
                    t.row_moved(version(2), version(3));
                    t.row_moved(version(8), version(9));
                },
                3,
            ),
            (
                |t| {
                    t.push_subxact(None);
                    t.row_moved(version(1), version(2));
                    t.rollback_current();
                },
                1,
            ),
            (
                |t| {
                    t.row_moved(version(1), version(2));
                    t.push_subxact(None);
                    t.row_moved(version(2), version(3));
                    t.rollback_current();
                },
                2,
            ),
            (
                |t| {
                    t.row_moved(version(1), version(2));
                    t.push_subxact(None);
                    t.row_moved(version(2), version(3));
                    t.row_moved(version(3), version(4));
                    t.rollback_current();
                    t.row_moved(version(2), version(5));
                },
                5,
            ),
            (
                |t| {
                    t.row_moved(version(1), version(2));
                    t.abort();
                },
                1,
            ),
        ];
        for (ends, at) in cases {
            let server = Server::new();
            let (mut head, mut next) = (server.session(1), server.session(2));
            head.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
            head.xid().unwrap();
            let waiter = spawn_fiber("waiter", move || {
                let got = next.lock_in_queue(version(1), LockMode::Exclusive);
                next.commit(SyncCommit::On, &[]).unwrap();
                got
            });
            settle();
            ends(&mut head);
            if !server.system.running().list().is_empty() {
                commit(&mut head);
            }
            assert_eq!(waiter.join().unwrap(), Ok(version(at)));
            assert_eq!(server.system.locks().list(), []);
        }
    });
}

#[test]
fn a_crowd_is_known_to_those_who_want_what_conflicts() {
    simulate(8, || {
        let server = Server::new();
        let locks = server.system.locks();
        let mut holder = server.session(1);
        holder.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
        let crowd = |least: u32| {
            (0..least).for_each(|n| {
                let mut t = server.session(100 + n);
                spawn_fiber("waiter", move || {
                    t.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
                    t.commit(SyncCommit::On, &[]).unwrap();
                });
            });
            settle();
        };
        crowd(3);
        assert!(!locks.is_crowded(version(1), LockMode::Exclusive), "three are no crowd");
        crowd(100);
        assert!(locks.is_crowded(version(1), LockMode::Exclusive));
        assert!(!locks.is_crowded(version(1), LockMode::AccessShare), "that does not conflict");
        assert!(!locks.is_crowded(version(2), LockMode::Exclusive), "that is another row");
        holder.commit(SyncCommit::On, &[]).unwrap();
        settle();
        assert!(!locks.may_be_crowded(), "all have gone on");
        assert_eq!(locks.list(), []);
    });
}

#[test]
fn a_worker_lets_its_own_go_first_but_passes_over_nobody_for_ever() {
    simulate(9, || {
        const OWN: u32 = 100;
        const OTHERS: u32 = 3;
        let server = Arc::new(Server::new());
        let workers = runtime::Workers::start(2).unwrap();
        let turns = Arc::new(Mutex::new(Vec::new()));
        let mut holder = server.session(1);
        holder.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
        // The others come first.
        for n in 0..OTHERS + OWN {
            let (server, turns) = (server.clone(), turns.clone());
            let worker = usize::from(n < OTHERS);
            workers.spawn_fiber_on(worker, move || {
                let mut t = server.session(100 + n);
                t.lock_in_queue(version(1), LockMode::Exclusive).unwrap();
                turns.lock().push(n);
                t.commit(SyncCommit::On, &[]).unwrap();
            });
            settle();
        }
        holder.commit(SyncCommit::On, &[]).unwrap();
        settle();
        let turns = std::mem::take(&mut *turns.lock());
        let first = turns.iter().position(|n| *n < OTHERS).unwrap();
        assert_eq!(first, 64, "{turns:?}");
        assert!(turns[..first].iter().copied().eq(OTHERS..OTHERS + 64), "{turns:?}");
        // The other worker goes on with its own.
        assert!(turns[first..].iter().copied().take(OTHERS as usize).eq(0..OTHERS), "{turns:?}");
        assert_eq!(turns.len(), (OTHERS + OWN) as usize);
        assert_eq!(server.system.locks().list(), []);
    });
}
