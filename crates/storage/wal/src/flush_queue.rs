//! Group flush: one session, the leader, writes the log for all followers.
//!
//! A waiter first tries to become the leader. The leader writes everything that is complete, records how far the disk is,
//! and wakes the followers whose records are on disk, plus one of the others, which leads next. No session polls or sleeps for a fixed time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::log::WalError;
use super::shim::{AtomicU64, Ordering, Short};

/// What to do after waiting.
pub(crate) enum Turn {
    /// The disk has the position.
    Flushed,
    /// Write for all, then call [`FlushQueue::finish`].
    Lead,
    /// The log is broken.
    Failed(WalError),
}

#[derive(Default)]
struct State {
    leading: bool,
    failed: Option<WalError>,
    waiters: Vec<Waiter>,
    next_id: u64,
}

struct Waiter {
    id: u64,
    target: u64,
    waker: Waker,
}

/// The queue. The short mutex protects leadership, waiters and the sticky error.
pub(crate) struct FlushQueue {
    flushed: AtomicU64,
    state: Short<State>,
}

impl FlushQueue {
    pub fn new(flushed: u64) -> FlushQueue {
        FlushQueue { flushed: AtomicU64::new(flushed), state: Short::new(State::default()) }
    }

    /// Begins at another position, before the first waiter.
    pub fn restart(&self, flushed: u64) {
        self.flushed.store(flushed, Ordering::Release);
    }

    /// The disk has everything before this position.
    pub fn flushed(&self) -> u64 {
        // Pairs with the Release store in `finish`: a thread that sees the position may reuse the ring's bytes before it.
        self.flushed.load(Ordering::Acquire)
    }

    /// The sticky error.
    pub fn failure(&self) -> Option<WalError> {
        self.state.lock().failed.clone()
    }

    /// Waits until `target` is on disk, or until it is the caller's turn to write.
    pub fn wait(&self, target: u64) -> FlushWait<'_> {
        FlushWait { queue: self, target, id: None }
    }

    /// The leader is done: the disk has everything before the position, or the log is broken for good.
    pub fn finish(&self, result: Result<u64, WalError>) {
        let mut state = self.state.lock();
        state.leading = false;
        match result {
            Ok(flushed) => self.flushed.store(flushed, Ordering::Release),
            Err(error) => state.failed = Some(error),
        }
        let flushed = self.flushed.load(Ordering::Relaxed);
        let all = state.failed.is_some();
        let mut woken = Vec::new();
        let mut rest = Vec::with_capacity(state.waiters.len());
        for waiter in state.waiters.drain(..) {
            if all || waiter.target <= flushed {
                woken.push(waiter.waker);
            } else {
                rest.push(waiter);
            }
        }
        if !rest.is_empty() {
            // The next leader comes first, so that its write starts before the others go on.
            woken.insert(0, rest.remove(0).waker);
        }
        state.waiters = rest;
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// See [`FlushQueue::wait`].
pub(crate) struct FlushWait<'a> {
    queue: &'a FlushQueue,
    target: u64,
    id: Option<u64>,
}

impl Future for FlushWait<'_> {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let mut state = self.queue.state.lock();
        // `finish` takes every entry out that these two cases concern.
        if let Some(error) = &state.failed {
            let turn = Turn::Failed(error.clone());
            drop(state);
            self.id = None;
            return Poll::Ready(turn);
        }
        if self.queue.flushed() >= self.target {
            drop(state);
            self.id = None;
            return Poll::Ready(Turn::Flushed);
        }
        if !state.leading {
            state.leading = true;
            return Poll::Ready(Turn::Lead);
        }
        let registered = self.id.and_then(|id| state.waiters.iter_mut().find(|waiter| waiter.id == id));
        if let Some(waiter) = registered {
            waiter.waker.clone_from(context.waker());
        } else {
            let id = state.next_id;
            state.next_id += 1;
            state.waiters.push(Waiter { id, target: self.target, waker: context.waker().clone() });
            drop(state);
            self.id = Some(id);
        }
        Poll::Pending
    }
}

impl Drop for FlushWait<'_> {
    /// A waiter that gives up, or took leadership after it was woken for it, leaves no entry behind.
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.queue.state.lock().waiters.retain(|waiter| waiter.id != id);
        }
    }
}
