//! Waiting for a condition that other tasks make true.
//!
//! # Invariants
//! 1. A waiter enters the queue, then looks at the condition; a waker makes the condition true, then looks at the queue.
//!    Sequentially consistent fences stand between the two steps on either side, so at least one of them sees the other:
//!    no wake-up is lost.
//! 2. `waiting` is the length of the queue, changed with its mutex held.
//! 3. A waiter that was woken by `wake_one` and then gives up wakes the next one.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::shim::{AtomicU32, Interrupt, Ordering, Short, fence, wait, wait_interruptible};

struct Waiter {
    id: u64,
    waker: Waker,
}

struct Queue {
    next_id: u64,
    /// Ordered by id.
    waiters: VecDeque<Waiter>,
}

/// Fibers and threads that wait for a condition. The condition itself lives elsewhere: atomics, or a value behind a
/// mutex.
pub struct WaitQueue {
    waiting: AtomicU32,
    queue: Short<Queue>,
}

impl Default for WaitQueue {
    fn default() -> Self {
        WaitQueue::new()
    }
}

impl std::fmt::Debug for WaitQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Relaxed: for people only.
        f.debug_struct("WaitQueue").field("waiting", &self.waiting.load(Ordering::Relaxed)).finish()
    }
}

impl WaitQueue {
    /// Nobody waits.
    pub const fn new() -> WaitQueue {
        WaitQueue {
            waiting: AtomicU32::new(0),
            queue: Short::new(Queue { next_id: 0, waiters: VecDeque::new() }),
        }
    }

    /// Waits until `condition` gives a value. It is asked at once, and again after each wake-up.
    pub fn wait_until<T>(&self, mut condition: impl FnMut() -> Option<T>) -> T {
        match condition() {
            Some(value) => value,
            None => wait(self.until(condition)),
        }
    }

    /// As [`WaitQueue::wait_until`], but ends when an interrupt is set.
    pub fn wait_until_interruptible<T>(
        &self,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, Interrupt> {
        match condition() {
            Some(value) => Ok(value),
            None => wait_interruptible(self.until(condition)),
        }
    }

    /// The wait as a future, to be combined with others.
    pub fn until<T, C: FnMut() -> Option<T>>(&self, condition: C) -> impl Future<Output = T> {
        Until { queue: self, condition, id: None }
    }

    /// Wakes everybody: call it after the condition was made true.
    pub fn wake_all(&self) {
        self.wake(usize::MAX);
    }

    /// Wakes the longest waiter: for conditions that a single waiter consumes.
    pub fn wake_one(&self) {
        self.wake(1);
    }

    fn wake(&self, most: usize) {
        // Pairs with the fence in `Until::poll` (invariant 1).
        fence(Ordering::SeqCst);
        // Relaxed: the fence gives the order.
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut queue = self.queue.lock();
        let count = most.min(queue.waiters.len());
        let woken: Vec<Waiter> = queue.waiters.drain(..count).collect();
        // Relaxed: invariant 2; readers of `waiting` are ordered by their fences.
        self.waiting.store(queue.waiters.len() as u32, Ordering::Relaxed);
        drop(queue);
        for waiter in woken {
            waiter.waker.wake();
        }
    }

    /// Puts a waiter into the queue, or renews its waker when it is still there.
    fn enter(&self, id: Option<u64>, waker: &Waker) -> u64 {
        let mut queue = self.queue.lock();
        if let Some(id) = id
            && let Ok(at) = queue.waiters.binary_search_by_key(&id, |w| w.id)
        {
            queue.waiters[at].waker.clone_from(waker);
            return id;
        }
        let id = queue.next_id;
        queue.next_id += 1;
        queue.waiters.push_back(Waiter { id, waker: waker.clone() });
        self.waiting.store(queue.waiters.len() as u32, Ordering::Relaxed);
        id
    }

    /// Takes a waiter out; false when it had been woken already.
    fn leave(&self, id: u64) -> bool {
        let mut queue = self.queue.lock();
        let Ok(at) = queue.waiters.binary_search_by_key(&id, |w| w.id) else { return false };
        queue.waiters.remove(at);
        self.waiting.store(queue.waiters.len() as u32, Ordering::Relaxed);
        true
    }
}

struct Until<'a, C> {
    queue: &'a WaitQueue,
    condition: C,
    id: Option<u64>,
}

impl<C> Unpin for Until<'_, C> {}

impl<T, C: FnMut() -> Option<T>> Future for Until<'_, C> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let id = self.queue.enter(self.id, cx.waker());
        self.id = Some(id);
        // Pairs with the fence in `wake` (invariant 1).
        fence(Ordering::SeqCst);
        match (self.condition)() {
            Some(value) => {
                self.queue.leave(id);
                self.id = None;
                Poll::Ready(value)
            }
            None => Poll::Pending,
        }
    }
}

impl<C> Drop for Until<'_, C> {
    fn drop(&mut self) {
        if let Some(id) = self.id
            && !self.queue.leave(id)
        {
            self.queue.wake_one();
        }
    }
}
