//! Reader-writer lock for page contents and other short-lived structures, in which nobody starves.
//!
//! # What
//! One word holds the state; taking a free latch, or sharing one that readers hold, is one compare-and-swap, and so is
//! giving it back. Who finds it taken looks again for a moment, for most holds are short, and then joins a queue. The last
//! holder does not hand the latch over: it wakes the front of the queue, and until that one runs again, which takes long beside
//! what the latch is held for, newcomers may take the free latch. A front that lost it `PATIENCE` times gets it handed over, newcomers waiting
//! behind it; so nobody starves. Consecutive readers enter together.
//!
//! # Invariants
//! 1. `WRITER` and a non-zero reader count exclude each other.
//! 2. `QUEUED` is set exactly while the queue is not empty, but for the moments in which its mutex is held. While it is set, newcomers take a
//!    latch that nobody holds, and join no readers.
//! 3. `WOKEN` is set exactly while the front of the queue was woken and has not looked yet. Who releases the last hold while `QUEUED` is set and
//!    `WOKEN` is not calls `serve`. The front clears `WOKEN` only in a step that finds the latch held. So a free latch with a queue has
//!    somebody on the way to it.
//! 4. While `FAIR` is set, newcomers do not take the latch, and `WOKEN` is not set.
//! 5. A waiter that is not in the queue any more has been granted the latch.
//!
//! # Locks
//! The queue's mutex is held for a few instructions; wakers are called after it is released.
//!
//! # PostgreSQL counterpart and differences
//! LWLock, which never hands over: there a stream of readers can starve a writer.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::shim::{AtomicU32, Ordering, PATIENCE, Short, before_latch, looks, spin_loop, wait};
use crate::wait_event::{WaitEvent, waiting};

const WRITER: u32 = 1;
const QUEUED: u32 = 2;
const WOKEN: u32 = 4;
const FAIR: u32 = 8;
const READER: u32 = 16;
/// Everything that says that somebody holds it.
const HELD: u32 = !(QUEUED | WOKEN | FAIR);

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
            Mode::Write => state & HELD == 0,
        }
    }

    /// Whether a newcomer may take it.
    #[inline]
    fn open(self, state: u32) -> bool {
        match self {
            Mode::Read => state & (WRITER | QUEUED) == 0 || state & (HELD | FAIR) == 0,
            Mode::Write => state & (HELD | FAIR) == 0,
        }
    }
}

struct Waiter {
    id: u64,
    mode: Mode,
    waker: Waker,
    /// It was woken and has not looked yet. Only the front.
    woken: bool,
    /// How often it found the latch taken then.
    lost: u8,
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

/// Reader-writer lock for the contents of a page; it suspends the fiber (or parks the thread). Guards may be held over waits, and may be
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
            self.lock_contended(Mode::Read, WaitEvent::BufferContent);
        }
    }

    /// As [`Latch::write`], for callers that keep no guard: pair it with [`Latch::unlock_exclusive`].
    #[inline]
    pub fn lock_exclusive(&self) {
        before_latch();
        if !self.try_lock_exclusive() {
            self.lock_contended(Mode::Write, WaitEvent::BufferContent);
        }
    }

    /// As [`Latch::write`]; who waits is seen waiting for `event`.
    #[inline]
    pub(super) fn write_for(&self, event: WaitEvent) -> WriteGuard<'_> {
        before_latch();
        if !self.try_lock_exclusive() {
            self.lock_contended(Mode::Write, event);
        }
        WriteGuard(self)
    }

    /// The wait for a shared hold as a future. Once it is ready the caller has the hold, without a guard.
    pub fn acquire_read(&self) -> impl Future<Output = ()> {
        self.acquire(Mode::Read)
    }

    /// The wait for the exclusive hold as a future. Once it is ready the caller has the hold, without a guard.
    pub fn acquire_write(&self) -> impl Future<Output = ()> {
        self.acquire(Mode::Write)
    }

    fn acquire(&self, mode: Mode) -> Acquire<'_> {
        Acquire { latch: self, mode, id: None }
    }

    #[cold]
    fn lock_contended(&self, mode: Mode, event: WaitEvent) {
        if !self.look_again(mode) {
            waiting(event, || wait(self.acquire(mode)));
        }
    }

    /// Looks for a moment whether the holder leaves; the pauses between become longer.
    fn look_again(&self, mode: Mode) -> bool {
        for look in 0..looks() {
            for _ in 0..1u32 << look {
                spin_loop();
            }
            if self.try_lock(mode) {
                return true;
            }
        }
        false
    }

    /// As [`Latch::try_read`], without a guard.
    #[inline]
    pub fn try_lock_shared(&self) -> bool {
        self.try_lock(Mode::Read)
    }

    /// As [`Latch::try_write`], without a guard.
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        self.try_lock(Mode::Write)
    }

    #[inline]
    fn try_lock(&self, mode: Mode) -> bool {
        // Relaxed: the compare-and-swap checks the value again.
        let mut state = self.state.load(Ordering::Relaxed);
        while mode.open(state) {
            // Acquire: pairs with the Release of `unlock_exclusive`, whose writes we must see, and, for a writer, of `unlock_shared`.
            match self.state.compare_exchange_weak(
                state,
                state + mode.bits(),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
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
        if before & (QUEUED | WOKEN) == QUEUED && before < 2 * READER {
            self.pass_on();
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
        if before & (QUEUED | WOKEN) == QUEUED {
            self.pass_on();
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
        self.state.load(Ordering::Relaxed) & HELD != 0
    }

    #[cold]
    fn pass_on(&self) {
        let mut wakers = Vec::new();
        let mut slot = self.queue.lock();
        if let Some(queue) = &mut *slot {
            self.serve(queue, &mut wakers);
        }
        drop(slot);
        wake(wakers);
    }

    /// After the last hold was given back: wakes the front of the queue, or hands the latch to it. The queue's mutex is held.
    fn serve(&self, queue: &mut Queue, wakers: &mut Vec<Waker>) {
        // Relaxed: `FAIR` changes with the mutex held only.
        if self.state.load(Ordering::Relaxed) & FAIR != 0 {
            return self.grant(queue, wakers);
        }
        if let Some(front) = queue.waiters.front_mut()
            && !front.woken
        {
            front.woken = true;
            // Relaxed: invariant 3 is about the word alone.
            self.state.fetch_or(WOKEN, Ordering::Relaxed);
            wakers.push(front.waker.clone());
        }
    }

    /// Gives the latch to as many waiters from the front as fit. The queue's mutex is held.
    fn grant(&self, queue: &mut Queue, wakers: &mut Vec<Waker>) {
        while let Some(waiter) = self.grant_front(queue) {
            wakers.push(waiter.waker);
        }
    }

    /// Gives the latch to the front if that fits, and the queue another one.
    fn grant_front(&self, queue: &mut Queue) -> Option<Waiter> {
        let mode = queue.waiters.front()?.mode;
        let queued = if queue.waiters.len() == 1 { 0 } else { QUEUED };
        // Relaxed: the compare-and-swap checks the value again.
        let mut state = self.state.load(Ordering::Relaxed);
        while mode.fits(state) {
            let next = (state & HELD) + mode.bits() + queued;
            // Acquire: on behalf of the waiter; it pairs with the Release of the last holder, and the waiter
            // sees what we saw through the queue's mutex. Release: keeps the order for `try_lock`.
            match self.state.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return queue.waiters.pop_front(),
                Err(now) => state = now,
            }
        }
        None
    }

    /// Takes the latch if a newcomer may; otherwise queues up and returns the waiter's id.
    fn enqueue(&self, mode: Mode, waker: &Waker) -> Option<u64> {
        let mut slot = self.queue.lock();
        let queue = slot.get_or_insert_with(Box::default);
        // Relaxed: the compare-and-swap checks the value again.
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let open = mode.open(state);
            let next = if open { state + mode.bits() } else { state | QUEUED };
            // Acquire: as in `try_lock`. Setting QUEUED needs no order of its own: releases are
            // read-modify-writes of the same word, so the last holder sees it.
            match self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) if open => return None,
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let id = queue.next_id;
        queue.next_id += 1;
        queue.waiters.push_back(Waiter { id, mode, waker: waker.clone(), woken: false, lost: 0 });
        Some(id)
    }

    /// Whether this waiter has the latch now, granted or, after it was woken, taken; if not, renews its waker.
    fn has_got(&self, id: u64, waker: &Waker) -> bool {
        let mut slot = self.queue.lock();
        let Some(queue) = &mut *slot else { return true };
        let Some(at) = queue.find(id) else { return true };
        queue.waiters[at].waker.clone_from(waker);
        if !queue.waiters[at].woken {
            return false;
        }
        let taken = self.take_front(queue);
        let mut wakers = Vec::new();
        if taken {
            // Readers enter together.
            self.grant(queue, &mut wakers);
        }
        drop(slot);
        wake(wakers);
        taken
    }

    /// The front, which was woken, takes the latch, or goes on waiting for the one who has taken it meanwhile.
    fn take_front(&self, queue: &mut Queue) -> bool {
        loop {
            if self.grant_front(queue).is_some() {
                return true;
            }
            let front = &mut queue.waiters[0];
            // Relaxed: the compare-and-swap checks the value again.
            let state = self.state.load(Ordering::Relaxed);
            let fair = if front.lost + 1 >= PATIENCE { FAIR } else { 0 };
            // Relaxed: invariant 3 is about the word alone. It must be the word of a latch that is held: that holder serves the queue.
            let goes_on = |state: u32| {
                let next = (state & !WOKEN) | fair;
                self.state.compare_exchange(state, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            };
            if !front.mode.fits(state) && goes_on(state) {
                front.woken = false;
                front.lost = front.lost.saturating_add(1);
                return false;
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
                // Relaxed: invariants 2 to 4 are about the word alone.
                self.state.fetch_and(HELD, Ordering::Relaxed);
            } else if at == 0 {
                // Relaxed: as above.
                self.state.fetch_and(!(WOKEN | FAIR), Ordering::Relaxed);
                self.grant(queue, &mut wakers);
            }
        }
        drop(slot);
        wake(wakers);
        if granted {
            // SAFETY: the latch was granted to this waiter (invariant 5), and no guard was made of that.
            unsafe {
                match mode {
                    Mode::Read => self.unlock_shared(),
                    Mode::Write => self.unlock_exclusive(),
                }
            }
        }
    }
}

fn wake(wakers: Vec<Waker>) {
    for waker in wakers {
        waker.wake();
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
            Some(id) if !self.latch.has_got(id, cx.waker()) => {}
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
