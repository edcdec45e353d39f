//! Models of insertion and group commit: `reserve` and `flush_queue` themselves, on shuttle's atomics and scheduler.

mod shim {
    pub(crate) use shuttle::hint::spin_loop;
    pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    pub(crate) struct Short<T>(shuttle::sync::Mutex<T>);

    impl<T> Short<T> {
        pub fn new(value: T) -> Short<T> {
            Short(shuttle::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}

mod log {
    /// Only that there is one matters here.
    #[derive(Clone, Debug)]
    pub struct WalError;
}

#[allow(dead_code, reason = "the models use a part of the real module")]
#[path = "flush_queue.rs"]
mod flush_queue;

#[allow(dead_code, reason = "the models use a part of the real module")]
#[path = "reserve.rs"]
mod reserve;

use shim::{AtomicU64, Ordering};
use shuttle::sync::Arc;

use flush_queue::{FlushQueue, Turn};
use log::WalError;
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

/// The steps of `Wal::flush`: every caller returns, and then finds its record on disk.
fn commit(log: &Log, queue: &FlushQueue, disk: &AtomicU64, breaks: bool) {
    let start = insert(log, 1, 1).0;
    loop {
        match shuttle::future::block_on(queue.wait(start + 1)) {
            Turn::Flushed => {
                assert!(disk.load(Ordering::SeqCst) > start, "acknowledged, but not on disk");
                return;
            }
            Turn::Failed(WalError) => {
                assert!(breaks);
                return;
            }
            Turn::Lead => {
                let end = log.reservations.completed();
                if breaks && start == 1 {
                    queue.finish(Err(WalError));
                } else {
                    disk.fetch_max(end, Ordering::SeqCst);
                    queue.finish(Ok(end.max(queue.flushed())));
                }
                // The real one sleeps until copies in progress are done.
                shuttle::thread::yield_now();
            }
        }
    }
}

fn run_commits(breaks: bool) {
    let log = new_log();
    let queue = Arc::new(FlushQueue::new(0));
    let disk = Arc::new(AtomicU64::new(0));
    let committers: Vec<_> = (0..4)
        .map(|_| {
            let (log, queue, disk) = (log.clone(), queue.clone(), disk.clone());
            shuttle::thread::spawn(move || commit(&log, &queue, &disk, breaks))
        })
        .collect();
    committers.into_iter().for_each(|committer| committer.join().unwrap());
    if !breaks {
        assert_eq!((queue.flushed(), disk.load(Ordering::SeqCst)), (4, 4));
    }
}

#[test]
fn group_commit_in_any_order() {
    shuttle::check_random(|| run_commits(false), 2_000);
    shuttle::check_pct(|| run_commits(false), 1_000, 3);
}

#[test]
fn failing_group_commit_in_any_order() {
    shuttle::check_random(|| run_commits(true), 2_000);
    shuttle::check_pct(|| run_commits(true), 1_000, 3);
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
