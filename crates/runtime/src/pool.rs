//! Threads for system calls that may block.
//!
//! # What
//! [`blocking`] runs a closure on one of these threads while the fiber waits. The hand-off is lean, because a commit
//! waits for it: one small allocation, one mutex, one futex wake-up there and the waker's own on the way back. A call that is
//! short as a rule ([`short`]) is spared it while nobody else wants the worker.
//!
//! # Invariants
//! 1. A closure that was handed over is finished before the frame that owns it goes away, even if the fiber is dropped:
//!    [`Blocking`]'s destructor waits for it, blocking its thread.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use crate::env::{self, Kind};
use crate::{fiber, solitude};

/// Threads at most. Started when a job finds no idle one.
const MAX_THREADS: usize = 64;

/// A closure somewhere on a waiting fiber's stack.
struct Job {
    run: unsafe fn(*const ()),
    data: *const (),
}

// SAFETY: made only by `Blocking::poll`, whose closure and result are `Send`.
unsafe impl Send for Job {}

struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
}

struct Pool {
    state: Mutex<State>,
    ready: Condvar,
}

static POOL: Pool =
    Pool { state: Mutex::new(State { jobs: VecDeque::new(), idle: 0, threads: 0 }), ready: Condvar::new() };

impl Pool {
    fn submit(&'static self, job: Job) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.push_back(job);
        let start = state.jobs.len() > state.idle && state.threads < MAX_THREADS;
        if start {
            state.threads += 1;
        }
        drop(state);
        if !start {
            self.ready.notify_one();
        } else if std::thread::Builder::new().name("stampede-io".into()).spawn(|| self.work()).is_err() {
            // No thread to be had: whoever is there must do. With none at all, do it here.
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.threads -= 1;
            let job = if state.threads == 0 { state.jobs.pop_back() } else { None };
            drop(state);
            if let Some(job) = job {
                // SAFETY: as in `work`.
                unsafe { (job.run)(job.data) }
            }
        }
    }

    fn work(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            while let Some(job) = state.jobs.pop_front() {
                drop(state);
                // SAFETY: invariant 1: the closure is alive until it has run, and it runs once.
                unsafe { (job.run)(job.data) };
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            }
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// Tells the waiting side that the closure has run. Shared, because the waiting frame may go away as soon as `done` is
/// set.
struct Completion {
    done: AtomicBool,
    waker: parking_lot::Mutex<Option<Waker>>,
}

impl Completion {
    fn finish(&self) {
        let mut slot = self.waker.lock();
        // Release: pairs with the Acquire in `is_done`; the result was written before.
        self.done.store(true, Ordering::Release);
        let waker = slot.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the Release in `finish`.
        self.done.load(Ordering::Acquire)
    }

    /// Leaves a waker; false when it is done already.
    fn listen(&self, waker: &Waker) -> bool {
        let mut slot = self.waker.lock();
        if self.is_done() {
            return false;
        }
        *slot = Some(waker.clone());
        true
    }
}

/// A closure that runs on the pool, as a future. Must not be forgotten once it was polled.
struct Blocking<F, T> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<std::thread::Result<T>>>,
    completion: Option<Arc<Completion>>,
    _pinned: PhantomPinned,
}

impl<F: FnOnce() -> T + Send, T: Send> Blocking<F, T> {
    /// # Safety
    /// `data` is a pinned `Blocking` that was submitted and has not run yet.
    unsafe fn run(data: *const ()) {
        // SAFETY: by contract; the waiting side touches neither cell before `done` is set.
        let (closure, result, completion) = unsafe {
            let this = &*data.cast::<Self>();
            let closure = (*this.closure.get()).take();
            (closure, this.result.get(), this.completion.clone())
        };
        let outcome = closure.map(|f| catch_unwind(AssertUnwindSafe(f)));
        // SAFETY: as above.
        unsafe { *result = outcome };
        if let Some(completion) = completion {
            completion.finish();
        }
    }
}

impl<F: FnOnce() -> T + Send, T: Send> Future for Blocking<F, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: nothing is moved out of the pinned value but the result, which is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(completion) = this.completion.clone() else {
            this.completion = Some(Arc::new(Completion {
                done: AtomicBool::new(false),
                waker: parking_lot::Mutex::new(Some(cx.waker().clone())),
            }));
            POOL.submit(Job { run: Self::run, data: std::ptr::from_ref(this).cast() });
            return Poll::Pending;
        };
        if completion.listen(cx.waker()) {
            return Poll::Pending;
        }
        match this.result.get_mut().take() {
            Some(Ok(value)) => Poll::Ready(value),
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("a blocking closure was polled after it had finished"),
        }
    }
}

impl<F, T> Drop for Blocking<F, T> {
    fn drop(&mut self) {
        if let Some(completion) = &self.completion {
            let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
            while completion.listen(&waker) {
                std::thread::park();
            }
        }
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `f` on the thread pool while the fiber waits. On a plain thread and in a simulation: here and now.
pub fn blocking<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    match env::kind() {
        Kind::Worker(_) => fiber::wait(Blocking {
            closure: UnsafeCell::new(Some(f)),
            result: UnsafeCell::new(None),
            completion: None,
            _pinned: PhantomPinned,
        }),
        Kind::Plain | Kind::Sim => f(),
    }
}

/// The same for a call that is short as a rule: made here and now while the worker serves one task alone.
pub(crate) fn short<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    if !matches!(env::kind(), Kind::Worker(_)) {
        return f();
    }
    let timed = || {
        let start = Instant::now();
        (f(), start.elapsed())
    };
    let (value, time) = if solitude::stays() { timed() } else { blocking(timed) };
    solitude::took(time);
    value
}
