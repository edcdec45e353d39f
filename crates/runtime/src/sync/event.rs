//! A flag to wait for.

use std::sync::atomic::{AtomicBool, Ordering};

use super::wait_queue::WaitQueue;
use crate::interrupt::Interrupt;

/// A flag that is set by one and waited for by many. Stays set until it is reset.
#[derive(Debug, Default)]
pub struct Event {
    set: AtomicBool,
    queue: WaitQueue,
}

impl Event {
    /// Not set.
    pub const fn new() -> Event {
        Event { set: AtomicBool::new(false), queue: WaitQueue::new() }
    }

    /// Sets it and wakes all who wait.
    pub fn set(&self) {
        // Release: pairs with the Acquire in `is_set`.
        self.set.store(true, Ordering::Release);
        self.queue.wake_all();
    }

    /// Clears it; returns whether it was set.
    pub fn reset(&self) -> bool {
        // Acquire: pairs with the Release in `set`.
        self.set.swap(false, Ordering::Acquire)
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        // Acquire: pairs with the Release in `set`.
        self.set.load(Ordering::Acquire)
    }

    /// Waits until it is set.
    pub fn wait(&self) {
        self.queue.wait_until(|| self.is_set().then_some(()))
    }

    /// Waits until it is set, or an interrupt comes.
    pub fn wait_interruptible(&self) -> Result<(), Interrupt> {
        self.queue.wait_until_interruptible(|| self.is_set().then_some(()))
    }

    /// Waits until it is set, as a future.
    pub fn until_set(&self) -> impl Future<Output = ()> {
        self.queue.until(|| self.is_set().then_some(()))
    }
}
