//! Threads for system calls that may block.
//!
//! # What
//! [`blocking`] runs a closure on one of these threads while the fiber waits. The hand-off is lean, because a commit
//! waits for it: one small allocation, one mutex, one futex wake-up there and the waker's own on the way back. A call that is
//! short as a rule ([`short`]) is spared it while nobody else wants the worker.
//!
//! [`alongside`] runs closures that take long, which may wait for latches and for I/O, on threads of their own: they would keep
//! those of the pool from calls that they wait for themselves. Where the system can tell threads apart, these come behind all others.
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
use crate::{Interrupt, fiber, memory, solitude, wait_interruptible};

/// Threads at most. Started when a job finds no idle one.
const MAX_THREADS: usize = 64;

/// A closure somewhere on a waiting fiber's stack.
struct Job {
    run: unsafe fn(*const ()),
    data: *const (),
}

// SAFETY: made only by `Blocking::hand_over`, whose closure and result are `Send`.
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

    fn new(closure: F) -> Blocking<F, T> {
        Blocking {
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            completion: None,
            _pinned: PhantomPinned,
        }
    }

    /// The job that runs the closure; whoever is given it runs it, once.
    fn hand_over(self: Pin<&mut Self>, waker: Option<Waker>) -> Job {
        // SAFETY: nothing is moved out of the pinned value.
        let this = unsafe { self.get_unchecked_mut() };
        this.completion = Some(Arc::new(Completion {
            done: AtomicBool::new(false),
            waker: parking_lot::Mutex::new(waker),
        }));
        Job { run: Self::run, data: std::ptr::from_ref(this).cast() }
    }

    /// Runs the closure on a thread of its own; false if there is none to be had.
    fn start_thread(mut self: Pin<&mut Self>, name: &str) -> bool {
        let job = self.as_mut().hand_over(None);
        let body = move || {
            let job = job;
            give_way();
            // SAFETY: invariant 1: the closure is alive until it has run, and it runs once.
            unsafe { (job.run)(job.data) };
            memory::settle();
        };
        let started = std::thread::Builder::new().name(name.into()).spawn(body).is_ok();
        if !started {
            // SAFETY: as in `hand_over`.
            unsafe { self.get_unchecked_mut() }.completion = None;
        }
        started
    }
}

impl<F: FnOnce() -> T + Send, T: Send> Future for Blocking<F, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(completion) = self.completion.clone() else {
            POOL.submit(self.hand_over(Some(cx.waker().clone())));
            return Poll::Pending;
        };
        // SAFETY: nothing is moved out of the pinned value but the result, which is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
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
        Kind::Worker(_) => fiber::wait(Blocking::new(f)),
        Kind::Plain | Kind::Sim => f(),
    }
}

/// Runs `own` here, told how many threads run `help` meanwhile: `count`, or fewer if no more are to be had. Returns what `own` gave and what each of the
/// helpers gave, once all have ended. `stop` is to make the helpers end soon: it is called when an interrupt comes while only they are waited for,
/// which is then returned for what they gave, and when the frame goes away. Helpers have the fiber's [words](crate::word). A simulation has no threads:
/// there `help` runs once in place, after `own`.
pub fn alongside<T: Send, R>(
    count: usize,
    help: impl Fn() -> T + Sync,
    stop: impl Fn(),
    own: impl FnOnce(usize) -> R,
) -> (R, Result<Vec<T>, Interrupt>) {
    if env::kind() == Kind::Sim {
        let result = own(count);
        return (result, Ok((0..count.min(1)).map(|_| help()).collect()));
    }
    let words = fiber::words();
    let help = || {
        fiber::set_words(words);
        help()
    };
    let mut helpers = Vec::with_capacity(count);
    for _ in 0..count {
        let mut helper = Box::pin(Blocking::new(&help));
        if !helper.as_mut().start_thread("helper") {
            break;
        }
        helpers.push(helper);
    }
    // Dropped before the helpers are.
    let stopping = AtDrop(&stop);
    let result = own(helpers.len());
    let (mut given, mut interrupted) = (Vec::with_capacity(helpers.len()), None);
    for helper in &mut helpers {
        given.push(wait_interruptible(helper.as_mut()).unwrap_or_else(|interrupt| {
            (stopping.0)();
            interrupted.get_or_insert(interrupt);
            fiber::wait(helper.as_mut())
        }));
    }
    drop(stopping);
    (result, interrupted.map_or(Ok(given), Err))
}

/// Has the running thread give way to those that serve sessions: it gets what they leave, and a part of theirs that keeps them from waiting for
/// long for what it holds.
fn give_way() {
    /// A third of another's share, about.
    #[cfg(target_os = "linux")]
    const NICER: libc::c_int = 5;
    // SAFETY: no memory is concerned. On Linux it is the thread's own, and going down is allowed to everybody; elsewhere it would be the whole process's.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::nice(NICER);
    }
}

/// Calls a closure when it goes away, by a panic too.
struct AtDrop<'a, F: Fn()>(&'a F);

impl<F: Fn()> Drop for AtDrop<'_, F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The same for a call that is usually short: made on the worker itself while that serves a single task.
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
