//! Cancel requests, timeouts and time slices.
//!
//! # What
//! Each session has one [`Interrupts`]: a word of bits that any thread may set. Running code looks at it in
//! [`check_interrupts`]; code that sleeps in [`wait_interruptible`] is woken.
//!
//! # Invariants
//! 1. A bit is set before the waker is looked at, and a waker is stored before the bits are looked at again, all
//!    sequentially consistent: an interrupt is never slept through.
//! 2. `Terminate` stays set; the others are taken by whoever reports them, unless [`keep_interrupts`] is in force.
//!
//! # PostgreSQL counterpart and differences
//! `CHECK_FOR_INTERRUPTS`, `HOLD_INTERRUPTS` and the flags that its signal handlers set.

use base::{SqlError, SqlState, sql_err};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::env::{self, Kind};
use crate::fiber::{self, with_state};
use crate::memory::{self, Account, Held};
use crate::usage::used;
use crate::wait_event::{Shown, WaitEvent};

/// Time after which a running fiber lets others run.
const TIME_SLICE: Duration = Duration::from_millis(1);

/// Calls of [`check_interrupts`] between two looks at the clock.
const CHECKS_PER_CLOCK: u32 = 16;

/// Why running code should stop. In the order in which they are reported when several are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Interrupt {
    /// The session is to end (57P01). Stays set.
    Terminate = 1 << 0,
    /// `transaction_timeout` has passed (25P04).
    TransactionTimeout = 1 << 1,
    /// `idle_in_transaction_session_timeout` has passed (25P03).
    IdleInTransactionTimeout = 1 << 2,
    /// `idle_session_timeout` has passed (57P05).
    IdleSessionTimeout = 1 << 3,
    /// `lock_timeout` has passed (55P03).
    LockTimeout = 1 << 4,
    /// `statement_timeout` has passed (57014).
    StatementTimeout = 1 << 5,
    /// The client asked for it, or `pg_cancel_backend` (57014).
    Cancel = 1 << 6,
    /// The client has gone while a statement ran (08006).
    ConnectionLost = 1 << 7,
    /// It asked for memory when the server's limit was reached (53200).
    OutOfMemory = 1 << 8,
    /// On a standby: its snapshot needs what the log removes (40001).
    ConflictingSnapshot = 1 << 9,
    /// On a standby: it has locked what the log changes (40001).
    ConflictingLock = 1 << 10,
    /// On a standby: its database goes (57P04).
    ConflictingDatabase = 1 << 11,
}

impl Interrupt {
    /// What the client is told whose session does nothing, but is in a transaction.
    pub fn ends_idle(self) -> SqlError {
        match self {
            Interrupt::ConflictingSnapshot | Interrupt::ConflictingLock => {
                let mut error = SqlError::fatal(
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    "terminating connection due to conflict with recovery",
                );
                error.report_mut().detail = SqlError::from(self).report().detail.clone();
                error.hint(RECONNECT)
            }
            other => other.into(),
        }
    }
}

const RECONNECT: &str =
    "In a moment you should be able to reconnect to the database and repeat your command.";

impl From<Interrupt> for SqlError {
    /// What the client of an interrupted statement is told.
    fn from(interrupt: Interrupt) -> SqlError {
        use Interrupt::*;
        match interrupt {
            Terminate => SqlError::fatal(
                SqlState::ADMIN_SHUTDOWN,
                "terminating connection due to administrator command",
            ),
            ConnectionLost => SqlError::fatal(SqlState::CONNECTION_FAILURE, "connection to client lost"),
            TransactionTimeout => SqlError::fatal(
                SqlState::TRANSACTION_TIMEOUT,
                "terminating connection due to transaction timeout",
            ),
            IdleInTransactionTimeout => SqlError::fatal(
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                "terminating connection due to idle-in-transaction timeout",
            ),
            IdleSessionTimeout => SqlError::fatal(
                SqlState::IDLE_SESSION_TIMEOUT,
                "terminating connection due to idle-session timeout",
            ),
            LockTimeout => sql_err!(LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
            StatementTimeout => sql_err!(QUERY_CANCELED, "canceling statement due to statement timeout"),
            Cancel => sql_err!(QUERY_CANCELED, "canceling statement due to user request"),
            ConflictingSnapshot => {
                conflict("User query might have needed to see row versions that must be removed.")
            }
            ConflictingLock => conflict("User was holding a relation lock for too long."),
            ConflictingDatabase => SqlError::fatal(
                SqlState::DATABASE_DROPPED,
                "terminating connection due to conflict with recovery",
            )
            .detail("User was connected to a database that must be dropped.")
            .hint(RECONNECT),
            OutOfMemory => out_of_memory(memory::refused()),
        }
    }
}

fn conflict(detail: &str) -> SqlError {
    sql_err!(T_R_SERIALIZATION_FAILURE, "canceling statement due to conflict with recovery").detail(detail)
}

/// The error of a session that asked for too much memory.
fn out_of_memory(size: Option<usize>) -> SqlError {
    let error = sql_err!(OUT_OF_MEMORY, "out of memory");
    match size {
        Some(size) => error.detail(format!("Failed on request of size {size}.")),
        None => error,
    }
}

const ORDER: [Interrupt; 12] = [
    Interrupt::Terminate,
    Interrupt::ConflictingDatabase,
    Interrupt::ConnectionLost,
    Interrupt::TransactionTimeout,
    Interrupt::IdleInTransactionTimeout,
    Interrupt::IdleSessionTimeout,
    Interrupt::LockTimeout,
    Interrupt::StatementTimeout,
    Interrupt::Cancel,
    Interrupt::OutOfMemory,
    Interrupt::ConflictingSnapshot,
    Interrupt::ConflictingLock,
];

const PENDING: u32 = (1 << 12) - 1;
/// There is news for the session; no running code stops for that.
const NEWS: u32 = 1 << 12;
/// Somebody sleeps in `wait_interruptible` and has left a waker.
const WAITING: u32 = 1 << 31;

#[derive(Debug)]
struct Shared {
    bits: AtomicU32,
    spared: AtomicBool,
    waker: parking_lot::Mutex<Option<Waker>>,
    wait: Shown,
    account: Account,
}

/// The interrupts of one session. Clones share the same bits.
#[derive(Clone, Debug)]
pub struct Interrupts(Arc<Shared>);

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts::new()
    }
}

impl Interrupts {
    /// None pending.
    pub fn new() -> Interrupts {
        Interrupts(Arc::new(Shared {
            bits: AtomicU32::new(0),
            spared: AtomicBool::new(false),
            waker: parking_lot::Mutex::new(None),
            wait: Shown::default(),
            account: Account::new(),
        }))
    }

    /// Notes what every statement looks at.
    pub fn note_lines(&self, lines: &mut base::Lines) {
        lines.add(Arc::as_ptr(&self.0));
    }

    /// What the session waits for, if it says so.
    pub fn waits_for(&self) -> Option<WaitEvent> {
        self.0.wait.event()
    }

    /// What the session has of memory.
    pub fn memory(&self) -> Held {
        self.0.account.held()
    }

    /// From now on memory counts as the next statement's, and a refusal of it that came too late is forgotten.
    #[inline]
    pub fn begin_statement(&self) {
        self.0.account.begin();
        self.clear(Interrupt::OutOfMemory);
    }

    /// As [`memory::ask`], outside the session's fiber, for one who has `extra` bytes there already.
    pub fn ask_memory(&self, size: usize, extra: usize) -> Result<(), Interrupt> {
        self.0.account.ask(size, extra)
    }

    /// Empties the account, which nobody works on. What it had.
    pub(crate) fn give_memory(&self) -> isize {
        self.0.account.empty()
    }

    /// Sets one, from any thread, and wakes the session if it waits interruptibly.
    pub fn set(&self, interrupt: Interrupt) {
        self.raise(interrupt as u32);
    }

    /// Tells the session, from any thread, that something waits for it, which it looks at when it is idle.
    pub fn set_news(&self) {
        self.raise(NEWS);
    }

    /// Whether something waits for the session. Takes it.
    #[inline]
    pub fn take_news(&self) -> bool {
        self.0.bits.load(Ordering::SeqCst) & NEWS != 0
            && self.0.bits.fetch_and(!NEWS, Ordering::SeqCst) & NEWS != 0
    }

    fn raise(&self, bits: u32) {
        let before = self.0.bits.fetch_or(bits, Ordering::SeqCst);
        if before & WAITING != 0 {
            let waker = self.0.waker.lock().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Forgets one that came too late, as a cancel request between two statements.
    #[inline]
    pub fn clear(&self, interrupt: Interrupt) {
        if self.is_set(interrupt) {
            self.0.bits.fetch_and(!(interrupt as u32), Ordering::SeqCst);
        }
    }

    /// A statement has ended: forgets what came too late for it. Who is in conflict with replay still, for his transaction goes on, is told again.
    #[inline]
    pub fn end_statement(&self) {
        const LATE: u32 = Interrupt::Cancel as u32
            | Interrupt::ConflictingSnapshot as u32
            | Interrupt::ConflictingLock as u32;
        if self.0.bits.load(Ordering::SeqCst) & LATE != 0 {
            self.0.bits.fetch_and(!LATE, Ordering::SeqCst);
        }
    }

    /// From now on the session is not ended with all others when the server stops: it ends by itself, once it has sent what is to be sent. Or it is.
    pub fn spare(&self, spared: bool) {
        self.0.spared.store(spared, Ordering::SeqCst);
    }

    /// Whether the session ends by itself when the server stops.
    pub fn is_spared(&self) -> bool {
        self.0.spared.load(Ordering::SeqCst)
    }

    /// Whether this one is set. Does not take it.
    pub fn is_set(&self, interrupt: Interrupt) -> bool {
        self.0.bits.load(Ordering::SeqCst) & interrupt as u32 != 0
    }

    /// Takes the most urgent one that is set.
    pub fn take(&self) -> Option<Interrupt> {
        self.0.take()
    }

    /// Completes when any interrupt is set; takes none. For the session loop while it waits for the client.
    pub async fn wait_any(&self) {
        self.wait_for_bits(PENDING).await
    }

    /// As [`wait_any`](Self::wait_any), or when there is news.
    pub async fn wait_any_or_news(&self) {
        self.wait_for_bits(PENDING | NEWS).await
    }

    async fn wait_for_bits(&self, bits: u32) {
        poll_fn(|cx| {
            self.0.listen(cx.waker());
            if self.0.bits.load(Ordering::SeqCst) & bits != 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await
    }
}

impl Shared {
    fn look(&self) -> Option<Interrupt> {
        let bits = self.bits.load(Ordering::SeqCst);
        ORDER.into_iter().find(|&i| bits & i as u32 != 0)
    }

    fn take(&self) -> Option<Interrupt> {
        let found = self.look()?;
        if found != Interrupt::Terminate {
            self.bits.fetch_and(!(found as u32), Ordering::SeqCst);
        }
        match found {
            Interrupt::ConflictingSnapshot => used(|c| &c.conflicts_snapshot, 1),
            Interrupt::ConflictingLock => used(|c| &c.conflicts_lock, 1),
            _ => {}
        }
        Some(found)
    }

    fn listen(&self, waker: &Waker) {
        let mut slot = self.waker.lock();
        match &mut *slot {
            Some(old) if old.will_wake(waker) => {}
            other => *other = Some(waker.clone()),
        }
        drop(slot);
        self.bits.fetch_or(WAITING, Ordering::SeqCst);
    }

    fn stop_listening(&self) {
        self.bits.fetch_and(!WAITING, Ordering::SeqCst);
        let old = self.waker.lock().take();
        drop(old);
    }
}

/// The part of a fiber's state that belongs to this module.
pub(crate) struct InterruptState {
    installed: Cell<*const Shared>,
    hold: Cell<u32>,
    /// How many wish that reported interrupts stay set.
    keep: Cell<u32>,
    checks: Cell<u32>,
    /// When the slice began, as far as the clock was read since; 0: not yet.
    slice_start: Cell<u64>,
}

impl InterruptState {
    pub(crate) const fn new() -> InterruptState {
        InterruptState {
            installed: Cell::new(ptr::null()),
            hold: Cell::new(0),
            keep: Cell::new(0),
            checks: Cell::new(0),
            slice_start: Cell::new(0),
        }
    }

    /// Called when the fiber is resumed: the clock is read only when it has run for some checks.
    pub(crate) fn begin_slice(&self) {
        self.checks.set(0);
        self.slice_start.set(0);
    }

    fn shared(&self) -> Option<&Shared> {
        // SAFETY: `with_interrupts` keeps what it points to alive until it puts the old pointer back.
        unsafe { self.installed.get().as_ref() }
    }

    #[inline]
    pub(crate) fn account(&self) -> Option<&Account> {
        self.shared().map(|shared| &shared.account)
    }

    /// The running session is out of memory. It runs, so there is nobody to wake.
    pub(crate) fn refuse_memory(&self) {
        if let Some(shared) = self.shared() {
            shared.bits.fetch_or(Interrupt::OutOfMemory as u32, Ordering::SeqCst);
        }
    }

    pub(crate) fn ask_memory(&self, size: usize) -> Result<(), Interrupt> {
        match self.account() {
            Some(account) if self.hold.get() == 0 => account.ask(size, 0),
            _ => Ok(()),
        }
    }

    /// Where the session shows what it waits for.
    pub(crate) fn shown(&self) -> Option<&Shown> {
        self.shared().map(|shared| &shared.wait)
    }

    /// The interrupt to report now.
    fn due(&self) -> Option<Interrupt> {
        let shared = self.shared()?;
        // Relaxed: only a hint that is looked at again and again; `take` reads it properly.
        if shared.bits.load(Ordering::Relaxed) & PENDING == 0 || self.hold.get() != 0 {
            return None;
        }
        self.report(shared)
    }

    /// Takes the most urgent one, unless it is to stay set.
    fn report(&self, shared: &Shared) -> Option<Interrupt> {
        if self.keep.get() == 0 { shared.take() } else { shared.look() }
    }

    /// Counts a check; true when the time slice is used up.
    fn slice_used(&self) -> bool {
        let checks = self.checks.get() + 1;
        self.checks.set(checks);
        checks.is_multiple_of(CHECKS_PER_CLOCK) && self.time_used()
    }

    /// Reads the clock; true when the time slice is used up.
    fn time_used(&self) -> bool {
        let now = crate::time::now().0;
        match self.slice_start.get() {
            0 => {
                self.slice_start.set(now);
                false
            }
            start => now.saturating_sub(start) >= TIME_SLICE.as_nanos() as u64,
        }
    }
}

/// Runs `f` with these interrupts installed for the current fiber (or thread). They stay installed while the fiber is
/// suspended.
pub fn with_interrupts<T>(interrupts: &Interrupts, f: impl FnOnce() -> T) -> T {
    struct Restore(*const Shared);
    impl Drop for Restore {
        fn drop(&mut self) {
            memory::charge();
            with_state(|state| state.interrupts.installed.set(self.0));
        }
    }
    let installed = Arc::as_ptr(&interrupts.0);
    memory::charge();
    let _restore = Restore(with_state(|state| state.interrupts.installed.replace(installed)));
    f()
}

/// The interrupts installed for the current fiber (or thread).
pub fn current_interrupts() -> Option<Interrupts> {
    let installed = with_state(|state| state.interrupts.installed.get());
    if installed.is_null() {
        return None;
    }
    // SAFETY: it came from `Arc::as_ptr`, and `with_interrupts` keeps that `Arc` alive until it puts the old pointer back.
    let shared = unsafe {
        Arc::increment_strong_count(installed);
        Arc::from_raw(installed)
    };
    Some(Interrupts(shared))
}

/// Long loops call this at every step: reports a pending interrupt, and lets other fibers run when the time slice is used up.
#[inline]
#[cfg_attr(debug_assertions, track_caller)]
pub fn check_interrupts() -> Result<(), Interrupt> {
    let (due, slice_used) =
        with_state(|state| (state.interrupts.due(), fiber::in_fiber() && state.interrupts.slice_used()));
    if let Some(interrupt) = due {
        return Err(interrupt);
    }
    // Nothing new where nobody else ran.
    if pause_if(slice_used)
        && let Some(interrupt) = with_state(|state| state.interrupts.due())
    {
        return Err(interrupt);
    }
    Ok(())
}

/// As [`check_interrupts`], for steps that take long themselves (a piece of some 64 KiB): the clock is looked at each time.
#[cfg_attr(debug_assertions, track_caller)]
pub fn check_piece() -> Result<(), Interrupt> {
    pause();
    match with_state(|state| state.interrupts.due()) {
        Some(interrupt) => Err(interrupt),
        None => Ok(()),
    }
}

/// The half of [`check_piece`] for code that cannot fail: lets others run, and leaves interrupts to whoever looks next. Destructors may call it:
/// nothing happens where a fiber is dropped, or where a panic unwinds.
#[cfg_attr(debug_assertions, track_caller)]
pub fn pause() {
    if fiber::is_unwinding() || std::thread::panicking() {
        return;
    }
    pause_if(fiber::in_fiber() && with_state(|state| state.interrupts.time_used()));
}

#[inline]
#[cfg_attr(debug_assertions, track_caller)]
fn pause_if(slice_used: bool) -> bool {
    crate::watch::look();
    let pauses = slice_used || (env::kind() == Kind::Sim && fiber::in_fiber() && crate::sim::wants_yield());
    if pauses {
        fiber::yield_now();
    }
    pauses
}

/// Waits as [`crate::wait`] does, but ends when an interrupt is set (unless they are held).
pub fn wait_interruptible<F: Future>(future: F) -> Result<F::Output, Interrupt> {
    let installed = with_state(|state| {
        if state.interrupts.hold.get() == 0 { state.interrupts.installed.get() } else { ptr::null() }
    });
    // SAFETY: installed for as long as this frame runs, see `with_interrupts`.
    let Some(shared) = (unsafe { installed.as_ref() }) else {
        return Ok(fiber::wait(future));
    };
    let mut future = pin!(future);
    let mut listening = false;
    let result = fiber::wait(poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(value));
        }
        shared.listen(cx.waker());
        listening = true;
        match with_state(|state| state.interrupts.report(shared)) {
            Some(interrupt) => Poll::Ready(Err(interrupt)),
            None => Poll::Pending,
        }
    }));
    if listening {
        shared.stop_listening();
    }
    result
}

/// While it lives, `check_interrupts` and `wait_interruptible` report nothing: for critical sections.
#[derive(Debug)]
pub struct HoldGuard(std::marker::PhantomData<*mut ()>);

/// Holds interrupts off, until the guard is dropped. Nests.
pub fn hold_interrupts() -> HoldGuard {
    with_state(|state| state.interrupts.hold.set(state.interrupts.hold.get() + 1));
    HoldGuard(std::marker::PhantomData)
}

/// While it lives, interrupts that `check_interrupts` and the like report stay set: for code that passes over the errors of what it calls.
#[derive(Debug)]
pub struct KeepGuard(std::marker::PhantomData<*mut ()>);

/// Keeps interrupts that are reported set, until the guard is dropped. Nests.
pub fn keep_interrupts() -> KeepGuard {
    with_state(|state| state.interrupts.keep.set(state.interrupts.keep.get() + 1));
    KeepGuard(std::marker::PhantomData)
}

impl Drop for KeepGuard {
    fn drop(&mut self) {
        with_state(|state| state.interrupts.keep.set(state.interrupts.keep.get() - 1));
    }
}

impl Drop for HoldGuard {
    fn drop(&mut self) {
        with_state(|state| state.interrupts.hold.set(state.interrupts.hold.get() - 1));
    }
}
