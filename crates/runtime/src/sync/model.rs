//! Model checks: latch and wait queue compiled a second time with shuttle's atomics, and their interleavings explored.
//!
//! Shuttle explores sequentially consistent interleavings; the orderings are argued for where they stand.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use shuttle::sync::atomic::{AtomicU32, Ordering};
use shuttle::{check_pct, check_random, thread};

#[allow(dead_code)]
mod shim {
    pub(super) use crate::interrupt::Interrupt;
    pub(super) use shuttle::future::block_on as wait;
    pub(super) use shuttle::hint::spin_loop;
    pub(super) use shuttle::sync::atomic::{AtomicU32, Ordering, fence};

    pub(super) const PATIENCE: u8 = 2;

    pub(super) fn before_latch() {}

    pub(super) fn looks() -> u32 {
        1
    }

    pub(super) fn wait_interruptible<F: Future>(future: F) -> Result<F::Output, Interrupt> {
        Ok(wait(future))
    }

    pub(super) struct Short<T>(shuttle::sync::Mutex<T>);

    impl<T> Short<T> {
        pub(super) const fn new(value: T) -> Short<T> {
            Short(shuttle::sync::Mutex::new(value))
        }

        pub(super) fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
            self.0.lock().expect("no panic while it is held")
        }
    }
}

// A module loaded twice is the point here: the second time with the other `shim`.
#[allow(dead_code, missing_docs, clippy::duplicate_mod)]
#[path = "latch.rs"]
mod latch;
#[allow(dead_code, missing_docs, clippy::duplicate_mod)]
#[path = "wait_queue.rs"]
mod wait_queue;

use latch::Latch;
use wait_queue::WaitQueue;

/// Random and probabilistic scheduling, many times.
fn explore(f: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(f.clone(), 2_000);
    check_pct(f, 1_000, 3);
}

/// A latch with witnesses of who is inside.
#[derive(Default)]
struct Watched {
    latch: Latch,
    readers: AtomicU32,
    writers: AtomicU32,
}

impl Watched {
    fn read(&self) {
        let guard = self.latch.read();
        self.readers.fetch_add(1, Ordering::SeqCst);
        assert_eq!(self.writers.load(Ordering::SeqCst), 0, "a reader beside a writer");
        self.readers.fetch_sub(1, Ordering::SeqCst);
        drop(guard);
    }

    fn write(&self) {
        let guard = self.latch.write();
        assert_eq!(self.writers.fetch_add(1, Ordering::SeqCst), 0, "two writers");
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a writer beside readers");
        self.writers.fetch_sub(1, Ordering::SeqCst);
        drop(guard);
    }

    /// Begins to wait and gives up, whether or not the latch was granted meanwhile.
    fn give_up(&self) {
        let mut wait = pin!(self.latch.acquire_write());
        if wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            // SAFETY: the hold is ours, and no guard stands for it.
            unsafe { self.latch.unlock_exclusive() };
        }
        thread::yield_now();
    }
}

fn join(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn latch_excludes_and_nobody_is_forgotten() {
    explore(|| {
        let watched = Arc::new(Watched::default());
        let threads = (0..4)
            .map(|i| {
                let watched = watched.clone();
                thread::spawn(move || {
                    for step in 0..2 {
                        if (i + step) % 2 == 0 { watched.read() } else { watched.write() }
                    }
                })
            })
            .collect();
        join(threads);
        assert!(!watched.latch.is_locked());
        assert!(watched.latch.try_write().is_some(), "nobody is left in the queue");
    });
}

#[test]
fn latch_is_handed_to_those_who_lost_it_often() {
    explore(|| {
        let watched = Arc::new(Watched::default());
        let threads = (0..3)
            .map(|i| {
                let watched = watched.clone();
                thread::spawn(move || {
                    for _ in 0..6 {
                        if i == 0 { watched.read() } else { watched.write() }
                    }
                })
            })
            .collect();
        join(threads);
        assert!(watched.latch.try_write().is_some());
    });
}

#[test]
fn latch_survives_waiters_that_give_up() {
    explore(|| {
        let watched = Arc::new(Watched::default());
        let threads = (0..4)
            .map(|i| {
                let watched = watched.clone();
                thread::spawn(move || match i {
                    0 | 1 => (0..2).for_each(|_| watched.write()),
                    2 => watched.read(),
                    _ => watched.give_up(),
                })
            })
            .collect();
        join(threads);
        assert!(watched.latch.try_write().is_some());
    });
}

#[test]
fn wait_queue_loses_no_wake_up() {
    explore(|| {
        let shared = Arc::new((WaitQueue::new(), AtomicU32::new(0)));
        let mut threads: Vec<_> = (1..=2u32)
            .map(|wanted| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let seen = shared.0.wait_until(|| {
                        let value = shared.1.load(Ordering::SeqCst);
                        (value >= wanted).then_some(value)
                    });
                    assert!(seen >= wanted);
                })
            })
            .collect();
        threads.extend((0..2).map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1.fetch_add(1, Ordering::SeqCst);
                shared.0.wake_all();
            })
        }));
        join(threads);
    });
}

#[test]
fn wake_one_is_passed_on_by_a_waiter_that_gives_up() {
    explore(|| {
        let shared = Arc::new((WaitQueue::new(), AtomicU32::new(0)));
        let take = |value: &AtomicU32| {
            let taken = value.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |v| v.checked_sub(1));
            taken.ok().map(|_| ())
        };
        let patient = shared.clone();
        let giver = shared.clone();
        let hasty = shared.clone();
        join(vec![
            thread::spawn(move || patient.0.wait_until(|| take(&patient.1))),
            thread::spawn(move || {
                let mut wait = pin!(hasty.0.until(|| None::<()>));
                let polled = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert_eq!(polled, Poll::Pending);
                thread::yield_now();
            }),
            thread::spawn(move || {
                giver.1.fetch_add(1, Ordering::SeqCst);
                giver.0.wake_one();
            }),
        ]);
    });
}
