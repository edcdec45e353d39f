//! A value that one fiber at a time may use, over waits if need be.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use super::latch::{Latch, WriteGuard};
use crate::wait_event::WaitEvent;

/// Fiber-aware mutex: may be held across waits. As fair as the [`Latch`] under it.
pub struct Mutex<T: ?Sized> {
    latch: Latch,
    /// What is seen of those who wait for it.
    event: WaitEvent,
    value: UnsafeCell<T>,
}

// SAFETY: the latch lets one holder at a time reach the value, so sharing the mutex only ever moves `T` between threads.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: owns the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

impl<T> Mutex<T> {
    /// A mutex around `value`. Who waits for it is seen waiting for `event`.
    pub const fn new(event: WaitEvent, value: T) -> Mutex<T> {
        Mutex { latch: Latch::new(), event, value: UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the value.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { value: &self.value, _guard: self.latch.write_for(self.event) }
    }

    /// The value if nobody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        Some(MutexGuard { _guard: self.latch.try_write()?, value: &self.value })
    }

    /// The value: nobody else has the mutex.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mutex").field("latch", &self.latch).finish_non_exhaustive()
    }
}

/// The value of a locked [`Mutex`].
#[must_use = "the mutex is unlocked when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    value: &'a UnsafeCell<T>,
    _guard: WriteGuard<'a>,
}

// SAFETY: sharing the guard shares `&T`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the latch is held exclusively.
        unsafe { &*self.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the latch is held exclusively, and the guard borrowed mutably.
        unsafe { &mut *self.value.get() }
    }
}

impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
