//! Fibers: synchronous code that suspends instead of blocking its thread.
//!
//! # What
//! [`run_fiber`] makes a coroutine on a pooled stack and wraps it in a future; whoever polls that future (a task of a
//! worker's event loop) resumes the coroutine until it returns or [`wait`]s for something that is not ready.
//!
//! # Invariants
//! 1. `CURRENT` names the innermost fiber that runs on this thread, or nothing.
//! 2. `FiberState::context` is valid exactly while the fiber runs: it is the context of the poll that resumed it.
//! 3. Interrupts, hold count, time slice and usage counters belong to the fiber, so they survive suspension without being copied.
//!
//! # PostgreSQL counterpart and differences
//! A statement's fiber stands where PostgreSQL has the backend process; `check_stack` is its `check_stack_depth`.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use base::{SqlError, sql_err};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::env::{self, Kind};
use crate::interrupt::InterruptState;
use crate::memory;
use crate::read_ahead::ReadAhead;
use crate::rest::Rest;
use crate::solitude;
use crate::stack::{DEFAULT_STACK_DEPTH, PooledStack, Stretch};
use crate::usage::Counters;
use crate::watch;

/// Stack of a plain thread kept free below the point where [`check_stack`] reports an error, for code that does not check.
const STACK_RESERVE: usize = if cfg!(debug_assertions) { 384 << 10 } else { 96 << 10 };

/// Number of [words](word) of a fiber.
const WORDS: usize = 10;
/// Number of [marks](mark) of a fiber.
const MARKS: usize = 2;

/// What belongs to one fiber, or to a thread outside any fiber.
pub(crate) struct FiberState {
    yielder: Cell<*const Yielder<(), ()>>,
    context: Cell<*mut Context<'static>>,
    /// Lowest address that `check_stack` accepts without a closer look; 0 when not yet known.
    stack_limit: Cell<usize>,
    /// The fiber's stack; none of a thread.
    stretch: Cell<Option<Stretch>>,
    /// `max_stack_depth`, in kilobytes.
    stack_depth: Cell<u32>,
    /// See [`word`].
    words: [Cell<u32>; WORDS],
    /// See [`mark`].
    marks: [Cell<*const ()>; MARKS],
    unwinding: Cell<bool>,
    pub(crate) interrupts: InterruptState,
    pub(crate) usage: Counters,
    pub(crate) rest: Rest,
    pub(crate) read_ahead: Cell<ReadAhead>,
}

impl FiberState {
    pub(crate) const fn new() -> FiberState {
        FiberState {
            yielder: Cell::new(ptr::null()),
            context: Cell::new(ptr::null_mut()),
            stack_limit: Cell::new(0),
            stretch: Cell::new(None),
            stack_depth: Cell::new(DEFAULT_STACK_DEPTH),
            words: [const { Cell::new(0) }; WORDS],
            marks: [const { Cell::new(ptr::null()) }; MARKS],
            unwinding: Cell::new(false),
            interrupts: InterruptState::new(),
            usage: Counters::new(),
            rest: Rest::new(None),
            read_ahead: Cell::new(ReadAhead::DEFAULT),
        }
    }

    /// Makes it that of a fiber that begins to run on this stack.
    pub(crate) fn begin_on(&mut self, stretch: Stretch) {
        *self = const { FiberState::new() };
        self.stack_limit.set(stretch.first_limit());
        self.stretch.set(Some(stretch));
    }

    /// The fiber's stack; none of a thread.
    pub(crate) fn stretch(&self) -> Option<Stretch> {
        self.stretch.get()
    }

    /// A closer look at the stack of who is at `here`.
    #[cold]
    fn look_at_stack(&self, here: usize) -> Result<(), StackTooDeep> {
        let depth = self.stack_depth.get();
        let Some(mut stretch) = self.stretch.get() else { return Err(StackTooDeep(depth)) };
        let limit = stretch.deepen(here, depth);
        self.stretch.set(Some(stretch));
        self.stack_limit.set(limit.ok_or(StackTooDeep(depth))?);
        Ok(())
    }

    /// Suspends the fiber: control returns to the code that polls it, until it is polled again.
    fn suspend(&self) {
        if self.unwinding.get() {
            // Invariant 3 of the crate. A second unwinding out of a destructor would abort without a word.
            eprintln!("a destructor waited while its fiber was dropped");
            std::process::abort();
        }
        // SAFETY: set by the fiber's own first frame, which is alive while any of its frames runs.
        unsafe { (*self.yielder.get()).suspend(()) }
    }
}

thread_local! {
    static CURRENT: Cell<*const FiberState> = const { Cell::new(ptr::null()) };
    static OUTSIDE: FiberState = const { FiberState::new() };
}

/// The state of the running fiber, or of the thread when none runs.
#[inline]
pub(crate) fn with_state<T>(f: impl FnOnce(&FiberState) -> T) -> T {
    let current = CURRENT.get();
    if current.is_null() {
        outside(f)
    } else {
        // SAFETY: invariant 1; the running fiber's state outlives every frame on its stack.
        f(unsafe { &*current })
    }
}

/// A thread that ends may drop values after its fiber state is gone: a new state serves these.
#[cold]
fn outside<T>(f: impl FnOnce(&FiberState) -> T) -> T {
    let mut f = Some(f);
    let mut once = |state: &FiberState| f.take().map(|f| f(state));
    let done = OUTSIDE.try_with(&mut once).ok().flatten();
    done.or_else(|| once(&FiberState::new())).expect("called once, with one of the two")
}

/// Sets `CURRENT` and restores it, also when the fiber panics. Who ran until then is charged with the memory that it took.
struct CurrentGuard(*const FiberState);

impl CurrentGuard {
    fn set(state: &FiberState) -> CurrentGuard {
        memory::charge();
        CurrentGuard(CURRENT.replace(state))
    }
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        memory::charge();
        CURRENT.set(self.0);
    }
}

/// A closure that runs on a stack of its own, as a future. Polling resumes it. Stays on the thread that first polls it.
///
/// Dropping it before it is finished unwinds its stack, which runs the destructors there. A panic inside comes out of
/// `poll`.
pub struct Fiber<T: 'static> {
    coroutine: Option<Coroutine<(), (), T, PooledStack>>,
    /// Of the coroutine's stack: valid as long as there is the coroutine.
    state: *const FiberState,
}

impl<T> Unpin for Fiber<T> {}

/// Makes a fiber of `f`; nothing runs until it is polled.
pub fn run_fiber<T: 'static>(f: impl FnOnce() -> T + 'static) -> Fiber<T> {
    let stack = PooledStack::take();
    let state = stack.state();
    let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
        // SAFETY: this frame is on the stack that the state is of.
        unsafe { (*state).yielder.set(yielder) };
        f()
    });
    Fiber { coroutine: Some(coroutine), state }
}

impl<T> Future for Fiber<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Fiber { coroutine: slot, state } = self.get_mut();
        let coroutine = slot.as_mut().expect("a fiber is not polled after it has finished");
        // SAFETY: the coroutine is there; only shared references to its state are ever made.
        let state = unsafe { &**state };
        let context: *mut Context<'_> = cx;
        state.context.set(context.cast());
        state.interrupts.begin_slice();
        solitude::turn(cx.waker().data());
        let guard = CurrentGuard::set(state);
        watch::begin();
        let result = coroutine.resume(());
        watch::end();
        drop(guard);
        match result {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(value) => {
                *slot = None;
                Poll::Ready(value)
            }
        }
    }
}

impl<T> Drop for Fiber<T> {
    fn drop(&mut self) {
        if let Some(coroutine) = self.coroutine.take() {
            // SAFETY: as in `poll`.
            let state = unsafe { &*self.state };
            state.unwinding.set(true);
            let guard = CurrentGuard::set(state);
            drop(coroutine);
            drop(guard);
        }
    }
}

/// Whether the caller runs inside a fiber.
pub fn in_fiber() -> bool {
    !CURRENT.get().is_null()
}

/// Whether the caller is a destructor that runs because its fiber is being dropped: such code must not wait.
pub fn is_unwinding() -> bool {
    with_state(|state| state.unwinding.get())
}

/// Waits for `future`. In a fiber: suspends it until the future is ready. On any other thread: parks the thread.
///
/// Not to be called from async code outside a fiber (it would block the worker): debug builds panic there.
pub fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let current = CURRENT.get();
    if current.is_null() {
        return park_until(future);
    }
    // SAFETY: invariant 1 of this module.
    let state = unsafe { &*current };
    loop {
        // SAFETY: invariant 2: this fiber runs, so the poll that resumed it is on the stack below.
        let context = unsafe { &mut *state.context.get() };
        match future.as_mut().poll(context) {
            Poll::Ready(value) => return value,
            Poll::Pending => state.suspend(),
        }
    }
}

/// Lets other tasks of this worker run, and its event loop poll sockets and timers. Does nothing outside a fiber.
pub fn yield_now() {
    if in_fiber() {
        with_state(|state| state.interrupts.begin_slice());
        match env::kind() {
            // tokio's own yield lets the event loop poll the sockets first.
            Kind::Worker(_) => wait(tokio::task::yield_now()),
            Kind::Plain | Kind::Sim => wait(YieldOnce(false)),
        }
    }
}

/// Pending once.
struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static THREAD_WAKER: Waker = Waker::from(Arc::new(ThreadWaker(std::thread::current())));
    /// Earliest deadline that a timer polled on this parked thread asked for, in nanoseconds of `now`.
    pub(crate) static PARK_DEADLINE: Cell<u64> = const { Cell::new(u64::MAX) };
}

fn park_until<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    debug_assert_eq!(env::kind(), Kind::Plain, "wait outside a fiber would block its worker");
    let waker = THREAD_WAKER.with(Waker::clone);
    let mut context = Context::from_waker(&waker);
    loop {
        PARK_DEADLINE.set(u64::MAX);
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        match PARK_DEADLINE.get() {
            u64::MAX => std::thread::park(),
            deadline => {
                let left = deadline.saturating_sub(crate::time::now().0);
                std::thread::park_timeout(std::time::Duration::from_nanos(left));
            }
        }
    }
}

/// The stack is used up as far as `max_stack_depth` allows, which is this many kilobytes: `stack depth limit exceeded` (54001).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackTooDeep(u32);

impl std::fmt::Display for StackTooDeep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stack depth limit exceeded")
    }
}

impl std::error::Error for StackTooDeep {}

impl From<StackTooDeep> for SqlError {
    fn from(error: StackTooDeep) -> SqlError {
        sql_err!(STATEMENT_TOO_COMPLEX, "{error}").hint(format!(
            "Increase the configuration parameter \"max_stack_depth\" (currently {}kB), after ensuring the platform's stack depth limit is adequate.",
            error.0
        ))
    }
}

/// The error of [`check_stack`], for recursions with a limit of their own.
pub fn stack_too_deep() -> StackTooDeep {
    with_state(|state| StackTooDeep(state.stack_depth.get()))
}

/// Sets the running fiber's `max_stack_depth`.
#[inline]
pub fn set_stack_depth(kilobytes: u32) {
    with_state(|state| {
        if state.stack_depth.replace(kilobytes) == kilobytes {
            return;
        }
        if let Some(stretch) = state.stretch() {
            state.stack_limit.set(stretch.first_limit());
        }
    });
}

/// The `n`th of the running fiber's words, for whoever runs in it: 0 until it is set. They reach places that nothing is handed down to.
#[inline]
pub fn word(n: usize) -> u32 {
    with_state(|state| state.words[n].get())
}

/// Sets a [`word`] of the running fiber.
#[inline]
pub fn set_word(n: usize, word: u32) {
    with_state(|state| state.words[n].set(word));
}

/// All words of the running fiber.
pub(crate) fn words() -> [u32; WORDS] {
    with_state(|state| std::array::from_fn(|n| state.words[n].get()))
}

/// The running fiber, or thread, has these words from now on.
pub(crate) fn set_words(words: [u32; WORDS]) {
    (0..).zip(words).for_each(|(n, word)| set_word(n, word));
}

/// The `n`th of the running fiber's marks: where something lies on the fiber's own stack that those below are to find though nothing is handed down to them. Null until
/// it is set. What a mark means is for who sets it to say.
pub fn mark(n: usize) -> *const () {
    with_state(|state| state.marks[n].get())
}

/// Runs `below` with the `n`th [`mark`] set to `at`; afterwards it is what it was before, over an unwinding too.
#[inline]
pub fn with_mark<T>(n: usize, at: *const (), below: impl FnOnce() -> T) -> T {
    struct Before(usize, *const ());
    impl Drop for Before {
        fn drop(&mut self) {
            with_state(|state| state.marks[self.0].set(self.1));
        }
    }
    let _before = Before(n, with_state(|state| state.marks[n].replace(at)));
    below()
}

/// Fails when the fiber is deeper than `max_stack_depth` allows, or the stack of a thread is used up but for a reserve. Recursive code calls it
/// at each level; it costs less than a nanosecond.
#[inline]
pub fn check_stack() -> Result<(), StackTooDeep> {
    let marker = 0u8;
    let here = ptr::from_ref(std::hint::black_box(&marker)) as usize;
    with_state(|state| {
        if state.stack_limit.get() == 0 {
            state.stack_limit.set(thread_stack_limit());
        }
        if here < state.stack_limit.get() { state.look_at_stack(here) } else { Ok(()) }
    })
}

/// Lowest address that may be used on a plain thread's stack, reserve included.
fn thread_stack_limit() -> usize {
    // SAFETY: `attr` is initialised by pthread_getattr_np before it is read, and destroyed once.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return 1;
        }
        let mut lowest = ptr::null_mut();
        let mut size = 0;
        let rc = libc::pthread_attr_getstack(&attr, &mut lowest, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        if rc != 0 { 1 } else { lowest as usize + STACK_RESERVE.min(size / 2) }
    }
}
