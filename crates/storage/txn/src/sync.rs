//! The primitives that the founding structures stand on, named once so that the model checker can put its own in place.
//!
//! [`running`](crate::running), [`snapshot`](crate::snapshot), [`horizon`](crate::horizon) and the fast path of the lock
//! manager use `super::sync`. In the tests' `model` module the same files are compiled a second time over shuttle's
//! primitives, which try many interleavings.

pub use runtime::Short as Mutex;
pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Looks of a committer whether another one has removed its xid, before it waits for its turn.
pub const LOOKS: u32 = 64;

/// A value on cache lines of its own, so that writers of its neighbours do not disturb its readers.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Alone<T>(pub T);

impl<T> std::ops::Deref for Alone<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
