//! Fair reader-writer lock for page contents and other short-lived structures.
//!
//! # What
//! One word holds the state; taking a free latch, or sharing one that readers hold, is one compare-and-swap, and so is
//! giving it back. Whoever must wait joins a queue; the last holder hands the latch to the front of the queue, so that
//! it is first come, first served, and consecutive readers enter together.
//!
//! # Invariants
//! 1. `WRITER` and a non-zero reader count exclude each other.
//! 2. `QUEUED` is set exactly while the queue is not empty, but for the moments in which its mutex is held. While it is
//!    set, nobody takes the latch but through [`Latch::grant`].
//! 3. Whoever releases the last hold while `QUEUED` is set calls `grant`; whoever leaves the queue too. So the front of
//!    the queue never waits for a free latch.
//! 4. A waiter that is not in the queue any more has been granted the latch.
//!
//! # Locks
//! The queue's mutex is held for a few instructions; wakers are called after it is released.
//!
//! # PostgreSQL counterpart and differences
//! LWLock, which is not fair: there a stream of readers can starve a writer.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::shim::{AtomicU32, Ordering, Short, before_latch, wait};
use crate::wait_event::{WaitEvent, waiting};

const WRITER: u32 = 1;
const QUEUED: u32 = 2;
const READER: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Read,
    Write,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Mode::Read => READER,
            Mode::Write => WRITER,
        }
    }

    /// Whether this mode can be taken beside the holds in `state`.
    fn fits(self, state: u32) -> bool {
        match self {
            Mode::Read => state & WRITER == 0,
            Mode::Write => state & !QUEUED == 0,
        }
    }
}

struct Waiter {
    id: u64,
    mode: Mode,
    waker: Waker,
}

#[derive(Default)]
struct Queue {
    next_id: u64,
    /// Ordered by id.
    waiters: VecDeque<Waiter>,
}

impl Queue {
    fn find(&self, id: u64) -> Option<usize> {
        self.waiters.binary_search_by_key(&id, |w| w.id).ok()
    }
}

/// Fair reader-writer lock for the contents of a page; it suspends the fiber (or parks the thread). Guards may be held over waits, and may be
/// dropped on any thread.
pub struct Latch {
    state: AtomicU32,
    /// Allocated when somebody first waits.
    queue: Short<Option<Box<Queue>>>,
}

impl Default for Latch {
    fn default() -> Self {
        Latch::new()
    }
}

impl std::fmt::Debug for Latch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Relaxed: for people only.
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Latch")
            .field("writer", &(state & WRITER != 0))
            .field("readers", &(state / READER))
            .field("queued", &(state & QUEUED != 0))
            .finish()
    }
}

impl Latch {
    /// Held by nobody.
    pub const fn new() -> Latch {
        Latch { state: AtomicU32::new(0), queue: Short::new(None) }
    }

    /// Waits for a shared hold.
    #[inline]
    pub fn read(&self) -> ReadGuard<'_> {
        self.lock_shared();
        ReadGuard(self)
    }

    /// Waits for the exclusive hold.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_> {
        self.lock_exclusive();
        WriteGuard(self)
    }

    /// A shared hold if that needs no waiting.
    #[inline]
    pub fn try_read(&self) -> Option<ReadGuard<'_>> {
        self.try_lock_shared().then(|| ReadGuard(self))
    }

    /// The exclusive hold if that needs no waiting.
    #[inline]
    pub fn try_write(&self) -> Option<WriteGuard<'_>> {
        self.try_lock_exclusive().then(|| WriteGuard(self))
    }

    /// As [`Latch::read`], for callers that keep no guard: pair it with [`Latch::unlock_shared`].
    #[inline]
    pub fn lock_shared(&self) {
        before_latch();
        if !self.try_lock_shared() {
            waiting(WaitEvent::BufferContent, || wait(self.acquire_read()));
        }
    }

    /// As [`Latch::write`], for callers that keep no guard: pair it with [`Latch::unlock_exclusive`].
    #[inline]
    pub fn lock_exclusive(&self) {
        before_latch();
        if !self.try_lock_exclusive() {
            waiting(WaitEvent::BufferContent, || wait(self.acquire_write()));
        }
    }

    /// The wait for a shared hold as a future. Once it is ready the caller has the hold, without a guard.
    pub fn acquire_read(&self) -> impl Future<Output = ()> {
        Acquire { latch: self, mode: Mode::Read, id: None }
    }

    /// The wait for the exclusive hold as a future. Once it is ready the caller has the hold, without a guard.
    pub fn acquire_write(&self) -> impl Future<Output = ()> {
        Acquire { latch: self, mode: Mode::Write, id: None }
    }

    /// As [`Latch::try_read`], without a guard.
    #[inline]
    pub fn try_lock_shared(&self) -> bool {
        // Relaxed: the compare-and-swap checks the value again.
        let mut state = self.state.load(Ordering::Relaxed);
        while state & (WRITER | QUEUED) == 0 {
            // Acquire: pairs with the Release of `unlock_exclusive`, whose writes we must see.
            match self.state.compare_exchange_weak(
                state,
                state + READER,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// As [`Latch::try_write`], without a guard.
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        // Acquire: pairs with the Release of `unlock_exclusive` and of `unlock_shared`.
        self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives back a shared hold.
    ///
    /// # Safety
    /// The caller has a shared hold that no guard stands for, and gives it back once.
    #[inline]
    pub unsafe fn unlock_shared(&self) {
        // Release: pairs with the Acquire of the next writer, which must not overtake our reads.
        let before = self.state.fetch_sub(READER, Ordering::Release);
        debug_assert!(before >= READER, "invariant 1: the latch is not held shared");
        if before & QUEUED != 0 && before < 2 * READER {
            self.hand_over();
        }
    }

    /// Gives back the exclusive hold.
    ///
    /// # Safety
    /// The caller has the exclusive hold, no guard stands for it, and it is given back once.
    #[inline]
    pub unsafe fn unlock_exclusive(&self) {
        // Release: pairs with the Acquire of whoever takes the latch next.
        let before = self.state.fetch_and(!WRITER, Ordering::Release);
        debug_assert!(before & WRITER != 0, "invariant 1: the latch is not held exclusively");
        if before & QUEUED != 0 {
            self.hand_over();
        }
    }

    /// Whether somebody holds it exclusively just now. For assertions.
    pub fn is_write_locked(&self) -> bool {
        // Relaxed: an assertion about the caller's own hold needs no order.
        self.state.load(Ordering::Relaxed) & WRITER != 0
    }

    /// Whether somebody holds it in any mode just now. For assertions.
    pub fn is_locked(&self) -> bool {
        // Relaxed: as above.
        self.state.load(Ordering::Relaxed) & !QUEUED != 0
    }

    #[cold]
    fn hand_over(&self) {
        let mut wakers = Vec::new();
        let mut slot = self.queue.lock();
        if let Some(queue) = &mut *slot {
            self.grant(queue, &mut wakers);
        }
        drop(slot);
        for waker in wakers {
            waker.wake();
        }
    }

    /// Gives the latch to as many waiters from the front as fit. The queue's mutex is held.
    fn grant(&self, queue: &mut Queue, wakers: &mut Vec<Waker>) {
        while let Some(front) = queue.waiters.front() {
            let last = queue.waiters.len() == 1;
            // Relaxed: the compare-and-swap checks the value again.
            let mut state = self.state.load(Ordering::Relaxed);
            loop {
                if !front.mode.fits(state) {
                    return;
                }
                let next = (state & !QUEUED) + front.mode.bits() + if last { 0 } else { QUEUED };
                // Acquire: on behalf of the waiter; it pairs with the Release of the last holder, and the waiter
                // sees what we saw through the queue's mutex. Release: keeps the order for `try_lock_*`.
                match self.state.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => state = now,
                }
            }
            wakers.extend(queue.waiters.pop_front().map(|w| w.waker));
        }
    }

    /// Takes the latch if nobody is queued and the mode fits; otherwise queues up and returns the waiter's id.
    fn enqueue(&self, mode: Mode, waker: &Waker) -> Option<u64> {
        let mut slot = self.queue.lock();
        let queue = slot.get_or_insert_with(Box::default);
        // Relaxed: the compare-and-swap checks the value again.
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let free = queue.waiters.is_empty() && mode.fits(state);
            let next = if free { state + mode.bits() } else { state | QUEUED };
            // Acquire: as in `try_lock_*`. Setting QUEUED needs no order of its own: releases are
            // read-modify-writes of the same word, so the last holder sees it.
            match self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) if free => return None,
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let id = queue.next_id;
        queue.next_id += 1;
        queue.waiters.push_back(Waiter { id, mode, waker: waker.clone() });
        Some(id)
    }

    /// Whether this waiter has been granted the latch; if not, renews its waker.
    fn granted(&self, id: u64, waker: &Waker) -> bool {
        let mut slot = self.queue.lock();
        let Some(queue) = &mut *slot else { return true };
        match queue.find(id) {
            None => true,
            Some(at) => {
                queue.waiters[at].waker.clone_from(waker);
                false
            }
        }
    }

    /// A waiter gives up. If it had been granted the latch already, the latch is given back.
    fn leave(&self, id: u64, mode: Mode) {
        let mut wakers = Vec::new();
        let mut granted = true;
        let mut slot = self.queue.lock();
        if let Some(queue) = &mut *slot
            && let Some(at) = queue.find(id)
        {
            granted = false;
            queue.waiters.remove(at);
            if queue.waiters.is_empty() {
                // Relaxed: invariant 2 is about the word alone.
                self.state.fetch_and(!QUEUED, Ordering::Relaxed);
            } else {
                self.grant(queue, &mut wakers);
            }
        }
        drop(slot);
        for waker in wakers {
            waker.wake();
        }
        if granted {
            // SAFETY: the latch was granted to this waiter (invariant 4), and no guard was made of that.
            unsafe {
                match mode {
                    Mode::Read => self.unlock_shared(),
                    Mode::Write => self.unlock_exclusive(),
                }
            }
        }
    }
}

/// Waiting for a latch. Ready when the hold is ours; dropped before that, it leaves the queue.
struct Acquire<'a> {
    latch: &'a Latch,
    mode: Mode,
    id: Option<u64>,
}

impl Future for Acquire<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.id {
            None => self.id = self.latch.enqueue(self.mode, cx.waker()),
            Some(id) if !self.latch.granted(id, cx.waker()) => {}
            Some(_) => self.id = None,
        }
        let held = self.id.is_none();
        if held { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.latch.leave(id, self.mode);
        }
    }
}

/// A shared hold on a [`Latch`].
#[must_use = "the latch is given back when the guard is dropped"]
#[derive(Debug)]
pub struct ReadGuard<'a>(&'a Latch);

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard stands for one shared hold.
        unsafe { self.0.unlock_shared() }
    }
}

/// The exclusive hold on a [`Latch`].
#[must_use = "the latch is given back when the guard is dropped"]
#[derive(Debug)]
pub struct WriteGuard<'a>(&'a Latch);

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard stands for the exclusive hold.
        unsafe { self.0.unlock_exclusive() }
    }
}
