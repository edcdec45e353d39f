//! Tests of latches and their kin on fibers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::*;
use crate::{Interrupt, Interrupts, Simulation, spawn_fiber, wait, with_interrupts, yield_now};

#[test]
fn first_come_first_served_but_for_newcomers_and_readers_together() {
    crate::run(|| {
        let latch = Rc::new(Latch::new());
        let log = Rc::new(RefCell::new(Vec::new()));
        let guard = latch.write();
        let handles: Vec<_> = ["r1", "r2", "w1", "r3"]
            .into_iter()
            .map(|name| {
                let (latch, log) = (latch.clone(), log.clone());
                let handle = spawn_fiber("waiter", move || {
                    let enter = |what| log.borrow_mut().push(format!("{name} {what}"));
                    if name.starts_with('r') {
                        let _guard = latch.read();
                        enter("in");
                        yield_now();
                        enter("out");
                    } else {
                        let _guard = latch.write();
                        enter("in");
                        yield_now();
                        enter("out");
                    }
                });
                yield_now();
                handle
            })
            .collect();
        drop(guard);
        let newcomer = latch.try_read().expect("who was woken has not run yet");
        assert!(latch.try_read().is_none(), "newcomers do not join readers past the queue");
        drop(newcomer);
        for handle in handles {
            handle.join().unwrap();
        }
        // Readers may leave in any order.
        let order = log.borrow().join(", ");
        let order = order.replace("r2 out, r1 out", "r1 out, r2 out");
        assert_eq!(order, "r1 in, r2 in, r1 out, r2 out, w1 in, w1 out, r3 in, r3 out");
    });
}

#[test]
fn newcomers_do_not_starve_a_waiter() {
    crate::run(|| {
        let latch = Rc::new(Latch::new());
        let mut guard = latch.write();
        let waiter = {
            let latch = latch.clone();
            spawn_fiber("waiter", move || drop(latch.write()))
        };
        let mut overtaken = 0;
        loop {
            yield_now();
            drop(guard);
            match latch.try_write() {
                Some(again) => guard = again,
                None => break,
            }
            overtaken += 1;
            assert!(overtaken < 100, "the waiter starves");
        }
        assert!(overtaken > 1, "the latch was idle until the waiter ran");
        waiter.join().unwrap();
        assert!(latch.try_write().is_some());
    });
}

#[test]
fn a_waiter_that_is_dropped_leaves_the_queue() {
    crate::run(|| {
        let latch = Rc::new(Latch::new());
        let guard = latch.read();
        let writer = {
            let latch = latch.clone();
            spawn_fiber("writer", move || drop(latch.write()))
        };
        yield_now();
        assert!(latch.try_read().is_none(), "a writer waits");
        writer.abort();
        yield_now();
        assert!(latch.try_read().is_some(), "it has left");
        drop(guard);
        assert!(latch.try_write().is_some());
    });
}

#[test]
fn readers_behind_a_writer_that_gives_up_enter_at_once() {
    crate::run(|| {
        let latch = Rc::new(Latch::new());
        let guard = latch.read();
        let spawn = |write: bool| {
            let latch = latch.clone();
            let handle =
                spawn_fiber("waiter", move || if write { drop(latch.write()) } else { drop(latch.read()) });
            yield_now();
            handle
        };
        let writer = spawn(true);
        let reader = spawn(false);
        writer.abort();
        reader.join().unwrap();
        drop(guard);
    });
}

#[test]
fn threads_and_fibers_share_a_mutex() {
    let total = Arc::new(Mutex::new(crate::WaitEvent::BufferContent, 0u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let total = total.clone();
            std::thread::spawn(move || {
                for _ in 0..1000 {
                    *total.lock() += 1;
                }
            })
        })
        .collect();
    let shared = total.clone();
    crate::run(move || {
        let fibers: Vec<_> = (0..4)
            .map(|_| {
                let total = shared.clone();
                spawn_fiber("adder", move || {
                    for _ in 0..250 {
                        let mut guard = total.lock();
                        let value = *guard;
                        yield_now();
                        *guard = value + 1;
                    }
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*total.lock(), 5000);
}

#[test]
fn an_event_wakes_all_and_stays_set() {
    Simulation::new(1)
        .run(|| {
            let event = Rc::new(Event::new());
            let woken = Rc::new(Cell::new(0));
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    let (event, woken) = (event.clone(), woken.clone());
                    spawn_fiber("waiter", move || {
                        event.wait();
                        woken.set(woken.get() + 1);
                    })
                })
                .collect();
            event.set();
            for handle in handles {
                handle.join().unwrap();
            }
            assert_eq!(woken.get(), 3);
            event.wait();
            assert!(event.reset());
            assert!(!event.is_set());
        })
        .unwrap();
}

#[test]
fn an_interrupted_waiter_does_not_swallow_a_wake_up() {
    for seed in 0..50 {
        Simulation::new(seed)
            .run(|| {
                let queue = Rc::new(WaitQueue::new());
                let tokens = Rc::new(Cell::new(0));
                let take = |tokens: &Cell<u32>| tokens.get().checked_sub(1).map(|left| tokens.set(left));
                let interrupts = Interrupts::new();
                let hasty = {
                    let (queue, tokens, interrupts) = (queue.clone(), tokens.clone(), interrupts.clone());
                    spawn_fiber("hasty", move || {
                        with_interrupts(&interrupts, || queue.wait_until_interruptible(|| take(&tokens)))
                    })
                };
                let patient = {
                    let (queue, tokens) = (queue.clone(), tokens.clone());
                    spawn_fiber("patient", move || queue.wait_until(|| take(&tokens)))
                };
                yield_now();
                tokens.set(1);
                queue.wake_one();
                interrupts.set(Interrupt::Cancel);
                if wait(hasty).unwrap().is_ok() {
                    tokens.set(1);
                    queue.wake_one();
                }
                patient.join().unwrap();
            })
            .unwrap();
    }
}
