//! Several threads on one table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::world::*;
use crate::*;

/// Adds one to a row's value, waiting for whoever is before.
fn increment(session: &mut Session<'_>, rel: &Arc<HeapRel>, wanted: i32) {
    loop {
        // Held until the update is done, as a statement does: else the place found may be another row's by then.
        let _snapshot = session.txn.statement_snapshot().unwrap();
        // By a scan and not by the first version's place: an update that finds its page full goes to another.
        let mut found = session.scan(rel).into_iter().filter(|(_, row)| row.0 == wanted);
        let (tid, (key, value)) = found.next().expect("the row never disappears");
        assert!(found.next().is_none(), "a row has one visible version");
        let next = (value.trim_start_matches('.').parse::<u32>().unwrap() + 1).to_string();
        match session.try_update(rel, tid, key, &format!("{next:.>120}"), true) {
            UpdateOutcome::Updated { .. } => return,
            UpdateOutcome::Refused(Refusal::WouldBlock { xid, .. }) => session.txn.wait_for(xid).unwrap(),
            UpdateOutcome::Refused(Refusal::Concurrent { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Counts a thread down, also when it panics.
struct Done<'a>(&'a AtomicU32);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn no_increment_is_lost_while_pages_are_pruned_and_vacuumed() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 150;
    const ROWS: i32 = 6;
    let world = World::with_buffers(128);
    let rel = world.pairs();
    let mut setup = world.session();
    for key in 0..ROWS {
        setup.insert(&rel, key, "0");
    }
    setup.commit();
    let left = AtomicU32::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, rel, left) = (&world, &rel, &left);
            scope.spawn(move || {
                let _done = Done(left);
                for round in 0..ROUNDS {
                    let mut session = world.session();
                    increment(&mut session, rel, (round * 7 + thread) as i32 % ROWS);
                    if round % 10 == 9 {
                        session.abort();
                    } else {
                        session.commit();
                    }
                }
            });
        }
        let (world, rel, left) = (&world, &rel, &left);
        scope.spawn(move || {
            while left.load(Ordering::Relaxed) > 0 {
                world.vacuum(rel, &mut TestIndex::default());
                let rows = world.rows(rel);
                assert_eq!(rows.len(), ROWS as usize, "a scan sees each row once");
            }
        });
    });
    let sum: u32 =
        world.rows(&rel).iter().map(|row| row.1.trim_start_matches('.').parse::<u32>().unwrap()).sum();
    assert_eq!(sum, THREADS * ROUNDS * 9 / 10);
    assert_eq!(world.pool.pins(), 0);
    world.check_redo(&[&rel]);
}

#[test]
fn many_inserters_extend_a_table() {
    let world = World::with_buffers(256);
    let rel = world.pairs();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (world, rel) = (&world, &rel);
            scope.spawn(move || {
                let mut session = world.session();
                for key in 0..400 {
                    session.insert(rel, thread * 1000 + key, &"v".repeat(200));
                }
                session.commit();
            });
        }
    });
    let rows = world.rows(&rel);
    assert_eq!(rows.len(), 1600);
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0), "no row twice");
    world.check_redo(&[&rel]);
}
