//! Models of the insertion protocol: `reserve` itself, on shuttle's atomics and scheduler.

mod shim {
    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}

#[allow(dead_code, reason = "the models use a part of the real module")]
#[path = "reserve.rs"]
mod reserve;

use shim::{AtomicU64, Ordering};
use shuttle::sync::Arc;

use reserve::Reservations;

struct Log {
    reservations: Reservations,
    /// One cell a unit of position: 0 until copied.
    bytes: Vec<AtomicU64>,
}

fn insert(log: &Log, thread: u64, length: u64) -> (u64, u64) {
    let (start, redo, announced) = loop {
        let position = log.reservations.next();
        let redo = log.reservations.redo();
        let announced = log.reservations.announce(position, thread as usize);
        if log.reservations.reserve(&announced, position, length) {
            break (position, redo, announced);
        }
    };
    for cell in &log.bytes[start as usize..(start + length) as usize] {
        assert_eq!(cell.swap(thread, Ordering::SeqCst), 0, "two inserters got the same room");
    }
    drop(announced);
    (start, redo)
}

fn new_log() -> Arc<Log> {
    Arc::new(Log {
        reservations: Reservations::new(0, 0, 2),
        bytes: (0..16).map(|_| AtomicU64::new(0)).collect(),
    })
}

/// Invariant 1: what is said to be completed is copied.
fn completed_bytes_are_copied() {
    let log = new_log();
    let inserters: Vec<_> = [1, 2, 3]
        .map(|thread| {
            let log = log.clone();
            shuttle::thread::spawn(move || {
                insert(&log, thread, thread);
                insert(&log, thread, 1);
            })
        })
        .into();
    for _ in 0..3 {
        let end = log.reservations.completed();
        for cell in &log.bytes[..end as usize] {
            assert_ne!(cell.load(Ordering::SeqCst), 0, "completed, but not copied");
        }
    }
    for inserter in inserters {
        inserter.join().unwrap();
    }
    assert_eq!(log.reservations.completed(), 9);
}

/// Invariant 2: a record behind the checkpoint's was decided under its redo pointer.
fn redo_pointer_is_seen_behind_it() {
    let log = new_log();
    let inserters: Vec<_> = [1, 2]
        .map(|thread| {
            let log = log.clone();
            shuttle::thread::spawn(move || [insert(&log, thread, 1), insert(&log, thread, 2)])
        })
        .into();
    let checkpoint = loop {
        let position = log.reservations.next();
        let announced = log.reservations.announce(position, 0);
        log.reservations.set_redo(position);
        if log.reservations.reserve(&announced, position, 1) {
            break position;
        }
    };
    for inserter in inserters {
        for (start, redo) in inserter.join().unwrap() {
            assert!(start < checkpoint || redo == checkpoint, "record at {start} under redo {redo}");
        }
    }
}

#[test]
fn completed_bytes_are_copied_in_any_order() {
    shuttle::check_random(completed_bytes_are_copied, 3_000);
    shuttle::check_pct(completed_bytes_are_copied, 1_000, 3);
}

#[test]
fn redo_pointer_is_seen_in_any_order() {
    shuttle::check_random(redo_pointer_is_seen_behind_it, 3_000);
    shuttle::check_pct(redo_pointer_is_seen_behind_it, 1_000, 3);
}
