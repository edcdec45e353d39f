//! What · What a serializable transaction shares with others: whether it is cancelled or safe, and its predicate locks.
//!
//! Invariants
//! 1. `fate` changes under the graph's mutex only, from `RUNNING` to one other value. Whoever reads it without may read an older one: a
//!    transaction that is cancelled notices at its commit at the latest, which looks under the mutex.
//! 2. Who has no more to lock (`Owned::closed`) locks nothing.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use runtime::{Event, Interrupt, WaitEvent, waiting};

use super::Reason;
use super::conflicts::Id;
use super::owned::Owned;
use crate::sync::Mutex;

const RUNNING: u8 = 0;
/// It is to be rolled back, so that others can commit.
const DOOMED: u8 = 1;
/// It is read-only, and nothing that it reads can be part of an anomaly: it takes no part any more.
const SAFE: u8 = 2;
/// It is read-only, and its snapshot may show one.
const UNSAFE: u8 = 3;

/// A serializable transaction as others see it.
#[derive(Debug)]
pub struct Member {
    pub(super) id: Id,
    fate: AtomicU8,
    wrote: AtomicBool,
    /// Set when it is known whether its snapshot is safe.
    settled: Event,
    pub(super) owned: Mutex<Owned>,
}

impl Member {
    pub(super) fn new(id: Id) -> Member {
        Member {
            id,
            fate: AtomicU8::new(RUNNING),
            wrote: AtomicBool::new(false),
            settled: Event::new(),
            owned: Mutex::new(Owned::default()),
        }
    }

    fn fate(&self) -> u8 {
        // Relaxed: invariant 1.
        self.fate.load(Ordering::Relaxed)
    }

    /// Whether it is to be rolled back.
    #[inline]
    pub fn is_doomed(&self) -> bool {
        self.fate() == DOOMED
    }

    /// Whether it needs no watching any more.
    #[inline]
    pub fn is_safe(&self) -> bool {
        self.fate() == SAFE
    }

    pub(super) fn is_unsafe(&self) -> bool {
        self.fate() == UNSAFE
    }

    pub(super) fn doom(&self) {
        self.fate.store(DOOMED, Ordering::Relaxed);
    }

    pub(super) fn set_safe(&self, safe: bool) {
        self.fate.store(if safe { SAFE } else { UNSAFE }, Ordering::Relaxed);
    }

    pub(super) fn check(&self, reason: Reason) -> Result<(), Reason> {
        if self.is_doomed() { Err(reason) } else { Ok(()) }
    }

    /// Whether it changed rows.
    pub(super) fn wrote(&self) -> bool {
        // Relaxed: set by its own session, which also asks; or read under the mutex after that one came by.
        self.wrote.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn note_write(&self) {
        self.wrote.store(true, Ordering::Relaxed);
    }

    pub(super) fn wake(&self) {
        self.settled.set();
    }

    /// Waits until it is known whether the snapshot is safe.
    pub(super) fn wait_until_settled(&self) -> Result<(), Interrupt> {
        waiting(WaitEvent::SafeSnapshot, || self.settled.wait_interruptible())
    }
}
