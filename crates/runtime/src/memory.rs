//! Who has how much memory, and who is refused more.
//!
//! # What
//! The allocator of the process tells of every block ([`allocated`], [`freed`]). That is an addition to a number of the thread; now and then it is
//! *settled*: put to the total of the process, and to the account of the session that runs. A session that asks for more while all
//! together have more than the limit ([`set_limit`]) gets [`Interrupt::OutOfMemory`], which ends its statement at its next look for
//! interrupts. An allocation itself never fails: the limit leaves room for what is taken until that look.
//!
//! # Invariants
//! 1. What the process has and the total differ by `CREDIT` for each thread at most.
//! 2. An account is changed by the thread that runs its session only, and whenever another one goes on there: it is exact but for what one session
//!    allocates and another frees. It never goes below zero.
//! 3. Settling neither allocates nor waits.
//! 4. Sessions that have little, together a fraction of the limit, are not refused because of others; unless the reserve is used up as well.
//!
//! # PostgreSQL counterpart and differences
//! Memory contexts of a backend. There the system's refusal is reported by whoever asked (`MemoryContextAllocationFailure`), and each process
//! has its own luck with the kernel's killer; here all sessions are one process, so it must not come to that.

use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use crate::fiber::with_state;
use crate::{Interrupt, Interrupts};

/// What a thread may have taken or given back without telling.
const CREDIT: isize = 256 << 10;

/// A session's share of the limit lies between these.
const SHARE: std::ops::RangeInclusive<usize> = 1 << 20..=16 << 20;

/// All sessions that have no more than their share have this part of the limit together.
const SHARED_PART: usize = 16;

/// Beyond the limit by this part of it, those who have little are refused too.
const RESERVE_PART: usize = 8;

/// Blocks of the allocator, and mappings. Below zero at most for a moment.
static TOTAL: AtomicIsize = AtomicIsize::new(0);
/// Of these, mapped besides the allocator.
static MAPPED: AtomicIsize = AtomicIsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static ACCOUNTS: AtomicUsize = AtomicUsize::new(0);

/// A thread's numbers. They need no destructor and no first use, so that an allocator may come here at any time.
struct Purse {
    /// Not yet put to the total.
    unsettled: Cell<isize>,
    /// Of these, what has been put to an account.
    charged: Cell<isize>,
}

thread_local! {
    static PURSE: Purse = const { Purse { unsettled: Cell::new(0), charged: Cell::new(0) } };
}

/// What one session has.
#[derive(Debug)]
pub(crate) struct Account {
    used: AtomicIsize,
    /// `used` when the statement began.
    before: AtomicIsize,
    /// The request that was refused last.
    refused: AtomicUsize,
}

impl Account {
    pub(crate) fn new() -> Account {
        ACCOUNTS.fetch_add(1, Ordering::Relaxed);
        Account { used: AtomicIsize::new(0), before: AtomicIsize::new(0), refused: AtomicUsize::new(0) }
    }

    /// Relaxed, as everything here: numbers that nothing else depends on. No addition in one go, for only one thread writes.
    fn add(&self, bytes: isize) {
        self.used.store(self.used.load(Ordering::Relaxed).saturating_add(bytes).max(0), Ordering::Relaxed);
    }

    /// A statement begins.
    pub(crate) fn begin(&self) {
        self.before.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn held(&self) -> Held {
        let used = self.used.load(Ordering::Relaxed);
        let statement = (used - self.before.load(Ordering::Relaxed)).max(0);
        Held { session: used as usize, statement: statement as usize }
    }

    /// What it had.
    pub(crate) fn empty(&self) -> isize {
        self.used.swap(0, Ordering::Relaxed)
    }

    /// Whether it is refused `size` bytes, besides what it has and `more`, when all together have `total` with them.
    fn is_refused(&self, size: usize, more: usize, total: usize) -> bool {
        let limit = LIMIT.load(Ordering::Relaxed);
        if total <= limit {
            return false;
        }
        let share = limit / SHARED_PART / ACCOUNTS.load(Ordering::Relaxed).max(1);
        let share = share.clamp(*SHARE.start(), *SHARE.end());
        let has_little = self.held().session.saturating_add(more) <= share;
        let refused = !has_little || total > limit.saturating_add(limit / RESERVE_PART);
        if refused {
            self.refused.store(size, Ordering::Relaxed);
        }
        refused
    }

    /// Fails if the account may not grow by `size` bytes. `extra`: bytes that it holds but that are not settled yet.
    pub(crate) fn ask(&self, size: usize, extra: usize) -> Result<(), Interrupt> {
        match self.is_refused(size, size.saturating_add(extra), total().saturating_add(size)) {
            true => Err(Interrupt::OutOfMemory),
            false => Ok(()),
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        ACCOUNTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a session has, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Altogether.
    pub session: usize,
    /// Of these, since its statement began.
    pub statement: usize,
}

/// For the allocator of the process: a block of `size` bytes is given out.
#[inline]
pub fn allocated(size: usize) {
    PURSE.with(|purse| {
        let unsettled = purse.unsettled.get().wrapping_add(size as isize);
        purse.unsettled.set(unsettled);
        if unsettled > CREDIT {
            settle_growth(size);
        }
    });
}

/// For the allocator of the process: a block of `size` bytes has come back.
#[inline]
pub fn freed(size: usize) {
    PURSE.with(|purse| {
        let unsettled = purse.unsettled.get().wrapping_sub(size as isize);
        purse.unsettled.set(unsettled);
        if unsettled < -CREDIT {
            settle();
        }
    });
}

/// Before another fiber or session goes on here: puts to the account of the present one what it has taken or given back.
#[inline]
pub(crate) fn charge() {
    PURSE.with(|purse| {
        let unsettled = purse.unsettled.get();
        let bytes = unsettled.wrapping_sub(purse.charged.replace(unsettled));
        with_state(|state| {
            if let Some(account) = state.interrupts.account() {
                account.add(bytes);
            }
        });
    });
}

/// Puts all that the thread has not told to where it belongs. Returns the total.
#[cold]
#[inline(never)]
pub(crate) fn settle() -> usize {
    charge();
    PURSE.with(|purse| {
        purse.charged.set(0);
        let bytes = purse.unsettled.replace(0);
        TOTAL.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes).max(0) as usize
    })
}

#[cold]
#[inline(never)]
fn settle_growth(size: usize) {
    let total = settle();
    with_state(|state| {
        if let Some(account) = state.interrupts.account()
            && account.is_refused(size, 0, total)
        {
            state.interrupts.refuse_memory();
        }
    });
}

/// Asks for what is about to be allocated in one go, where that may be much: fails if it would be refused, before it is allocated.
pub fn ask(size: usize) -> Result<(), Interrupt> {
    with_state(|state| state.interrupts.ask_memory(size))
}

/// The size of the request for which the running session was refused memory last.
pub(crate) fn refused() -> Option<usize> {
    let size = |account: &Account| account.refused.load(Ordering::Relaxed);
    with_state(|state| state.interrupts.account().map(size)).filter(|size| *size != 0)
}

/// What the running session has, to the byte.
pub fn held() -> Held {
    charge();
    with_state(|state| state.interrupts.account().map(Account::held)).unwrap_or_default()
}

/// The running session has from now on what one has whose work for it is done.
pub fn take_over(from: &Interrupts) {
    let bytes = from.give_memory();
    PURSE.with(|purse| purse.charged.set(purse.charged.get().wrapping_sub(bytes)));
    charge();
}

/// How many bytes all sessions and the server may have together; `None`: no limit.
pub fn set_limit(bytes: Option<usize>) {
    LIMIT.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// What [`set_limit`] has set.
pub fn limit() -> Option<usize> {
    Some(LIMIT.load(Ordering::Relaxed)).filter(|limit| *limit != usize::MAX)
}

/// Counts memory that is mapped besides the allocator; below zero: no longer.
pub fn mapped(size: isize) {
    MAPPED.fetch_add(size, Ordering::Relaxed);
    TOTAL.fetch_add(size, Ordering::Relaxed);
}

/// Of the total, what was mapped besides the allocator.
pub fn total_mapped() -> usize {
    MAPPED.load(Ordering::Relaxed).max(0) as usize
}

/// What the process has, but for what threads have not told yet.
pub fn total() -> usize {
    TOTAL.load(Ordering::Relaxed).max(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_interrupts, hold_interrupts, run, with_interrupts, yield_now};

    const MIB: usize = 1 << 20;

    fn taken(bytes: usize) {
        (0..bytes / 1024).for_each(|_| allocated(1024));
    }

    fn given_back(bytes: usize) {
        (0..bytes / 1024).for_each(|_| freed(1024));
    }

    #[test]
    fn what_a_helper_has_kept_is_its_sessions() {
        let (session, helper) = (Interrupts::new(), Interrupts::new());
        with_interrupts(&session, || {
            taken(3 * MIB);
            with_interrupts(&helper, || taken(5 * MIB));
            assert_eq!((held().session, helper.memory().session), (3 * MIB, 5 * MIB));
            take_over(&helper);
            assert_eq!((held().session, helper.memory().session), (8 * MIB, 0));
            given_back(8 * MIB);
            assert_eq!(held().session, 0);
        });
    }

    /// One test, as there is one limit for the process.
    #[test]
    fn the_greedy_one_is_refused_and_no_other() {
        let (greedy, modest) = (Interrupts::new(), Interrupts::new());
        mapped(100 * MIB as isize);
        set_limit(Some(130 * MIB));
        run({
            let (greedy, modest) = (greedy.clone(), modest.clone());
            move || {
                let other = crate::spawn_fiber("modest", move || {
                    with_interrupts(&modest, || {
                        yield_now();
                        taken(100 << 10);
                        yield_now();
                        assert_eq!(check_interrupts(), Ok(()));
                        given_back(100 << 10);
                    });
                });
                with_interrupts(&greedy, || {
                    greedy.begin_statement();
                    taken(20 * MIB);
                    yield_now();
                    assert_eq!(greedy.memory(), Held { session: 20 * MIB, statement: 20 * MIB });
                    assert_eq!(check_interrupts(), Ok(()));
                    taken(11 * MIB);
                    yield_now();
                    let hold = hold_interrupts();
                    assert_eq!((check_interrupts(), ask(MIB)), (Ok(()), Ok(())), "not in a critical section");
                    drop(hold);
                    assert_eq!(check_interrupts(), Err(Interrupt::OutOfMemory));
                    let error = base::SqlError::from(Interrupt::OutOfMemory);
                    assert_eq!(error.report().detail.as_deref(), Some("Failed on request of size 1024."));
                    assert_eq!(check_interrupts(), Ok(()), "it is told once");
                    given_back(11 * MIB);
                    greedy.begin_statement();
                    assert_eq!(check_interrupts(), Ok(()));
                    assert_eq!(ask(9 * MIB), Ok(()));
                    assert_eq!(ask(11 * MIB), Err(Interrupt::OutOfMemory), "before it is allocated");
                    given_back(20 * MIB);
                });
                other.join().unwrap();
            }
        });
        assert_eq!((greedy.memory().session, modest.memory().session), (0, 0));
        // With the reserve used up nobody gets more.
        mapped(50 * MIB as isize);
        with_interrupts(&modest, || assert_eq!(ask(4096), Err(Interrupt::OutOfMemory)));
        set_limit(None);
        with_interrupts(&modest, || assert_eq!(ask(1 << 40), Ok(())));
        assert_eq!(limit(), None);
    }
}
