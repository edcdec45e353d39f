//! What the lock-free parts stand on; the models exchange it for shuttle's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A mutex that is never held over a wait.
pub(crate) use parking_lot::Mutex as Short;
pub(crate) use runtime::Latch;

pub(crate) use crate::memory::Table;
