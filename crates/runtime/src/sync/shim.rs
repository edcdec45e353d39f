//! What latches and wait queues are made of in a real build. `model` has the same names made by shuttle.

pub(super) use crate::fiber::wait;
pub(super) use crate::interrupt::{Interrupt, wait_interruptible};
pub(super) use std::sync::atomic::{AtomicU32, Ordering, fence};

/// A latch is about to be taken. Whoever takes one may have to wait, so here a simulation may let others run.
#[inline]
pub(super) fn before_latch() {
    crate::sim::interleaving_point();
}

/// A mutex for a few instructions.
pub(super) struct Short<T>(parking_lot::Mutex<T>);

impl<T> Short<T> {
    pub(super) const fn new(value: T) -> Short<T> {
        Short(parking_lot::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> parking_lot::MutexGuard<'_, T> {
        self.0.lock()
    }
}
