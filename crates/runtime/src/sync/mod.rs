//! Latches, mutexes and wait queues that suspend the fiber instead of blocking the thread.
//!
//! # Layout
//! [`Latch`]: fair reader-writer lock. [`Mutex`]: a value behind a latch. [`WaitQueue`]: waiting for a condition.
//! [`Event`]: a flag to wait for. `shim`: the atomics they are made of; `model` puts shuttle's there instead and explores
//! their interleavings.

mod event;
mod latch;
mod mutex;
mod shim;
mod wait_queue;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use latch::{Latch, ReadGuard, WriteGuard};
pub use mutex::{Mutex, MutexGuard};
pub use wait_queue::WaitQueue;

/// One value from one task or thread to another.
pub use tokio::sync::oneshot;
