//! # What
//! Whoever runs on a worker looks for interrupts every 10 ms at least, or nobody else is served there and no cancel request
//! is heard. Debug builds check it: a fiber that used more processor time than [`BOUND`] between two looks (a look is
//! [`check_interrupts`](crate::check_interrupts) or similar, a suspension, the fiber's end) is *late*. Each late look is
//! written to standard error with the place that looked at last, and kept for tests ([`take`]).
//!
//! The time is the thread's processor time, so that a busy machine makes nobody late. The environment's `STAMPEDE_LOOK_MS`
//! replaces the bound; 0 turns the check off. Release builds check nothing.
//!
//! # PostgreSQL counterpart and differences
//! None: a backend process that does not look for interrupts stalls nobody else.

use std::panic::Location;
use std::time::Duration;

/// The 10 ms of a release build, for code that is not optimised and machines that are slow.
pub const BOUND: Duration = Duration::from_millis(500);

/// A look that came late.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    /// Processor time since the look before.
    pub used: Duration,
    /// Who looked at last; `None`: a suspension or the fiber's end.
    pub place: Option<&'static Location<'static>>,
}

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a fiber ran {} ms without looking for interrupts, up to ", self.used.as_millis())?;
        match self.place {
            Some(place) => write!(f, "{place}"),
            None => f.write_str("its suspension or end"),
        }
    }
}

#[cfg(debug_assertions)]
mod on {
    use super::{BOUND, Late};
    use std::cell::{Cell, RefCell};
    use std::panic::Location;
    use std::sync::OnceLock;
    use std::time::Duration;

    thread_local! {
        /// Processor time at the last look of the fiber that runs; 0: none runs, or nothing is checked.
        static LOOKED: Cell<u64> = const { Cell::new(0) };
        static LATE: RefCell<Vec<Late>> = const { RefCell::new(Vec::new()) };
        /// This thread's own bound.
        static OWN: Cell<Option<u64>> = const { Cell::new(None) };
    }

    pub(super) fn set_bound(work: impl FnOnce()) {
        let before = thread_time();
        work();
        let now = thread_time();
        OWN.set(Some(now - before));
        if LOOKED.get() != 0 {
            LOOKED.set(now);
        }
    }

    fn bound() -> u64 {
        if let Some(own) = OWN.get() {
            return own;
        }
        static NANOS: OnceLock<u64> = OnceLock::new();
        *NANOS.get_or_init(|| {
            let told = std::env::var("STAMPEDE_LOOK_MS").ok().and_then(|text| text.parse().ok());
            told.map_or(BOUND, Duration::from_millis).as_nanos() as u64
        })
    }

    fn thread_time() -> u64 {
        crate::time::clock(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    pub(crate) fn begin() {
        LOOKED.set(if bound() == 0 { 0 } else { thread_time() });
    }

    pub(crate) fn end() {
        seen(None);
        LOOKED.set(0);
    }

    pub(super) fn seen(place: Option<&'static Location<'static>>) {
        let before = LOOKED.get();
        if before == 0 {
            return;
        }
        let now = thread_time();
        LOOKED.set(now);
        if now - before > bound() {
            let late = Late { used: Duration::from_nanos(now - before), place };
            eprintln!("{late}");
            LATE.with_borrow_mut(|all| all.push(late));
        }
    }

    pub(super) fn take() -> Vec<Late> {
        LATE.take()
    }
}

#[cfg(debug_assertions)]
pub(crate) use on::{begin, end};

/// The running fiber looks for interrupts.
#[cfg(debug_assertions)]
#[track_caller]
pub(crate) fn look() {
    on::seen(Some(Location::caller()));
}

/// Sets the bound of fibers on this thread to what some work takes here and now, for tests that know how much may be done between two looks: so
/// a slow machine makes nobody late.
pub fn set_bound(work: impl FnOnce()) {
    #[cfg(debug_assertions)]
    on::set_bound(work);
    #[cfg(not(debug_assertions))]
    let _ = work;
}

/// The late looks on this thread since the last call. Always none in release builds.
pub fn take() -> Vec<Late> {
    #[cfg(debug_assertions)]
    return on::take();
    #[cfg(not(debug_assertions))]
    Vec::new()
}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn look() {}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn begin() {}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn end() {}
