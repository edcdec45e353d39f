//! Latches, mutexes and wait queues that suspend the fiber instead of blocking the thread.
//!
//! # Layout
//! [`Latch`]: reader-writer lock. [`Mutex`]: a value behind a latch. [`WaitQueue`]: waiting for a condition.
//! [`Event`]: a flag to wait for. [`Short`]: a mutex that blocks the thread, for a few instructions. `shim`: what they are made
//! of; `model` puts shuttle's there instead and explores their interleavings.

mod event;
mod latch;
mod mutex;
mod shim;
mod short;
mod wait_queue;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use latch::{Latch, ReadGuard, WriteGuard};
pub use mutex::{Mutex, MutexGuard};
pub use short::Short;
pub use wait_queue::WaitQueue;

/// One value from one task or thread to another.
pub use tokio::sync::oneshot;
