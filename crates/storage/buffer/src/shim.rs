//! What the lock-free parts stand on; the models exchange it for shuttle's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

pub(crate) use runtime::Latch;
/// A mutex that is never held over a wait.
pub(crate) use runtime::Short;

pub(crate) use crate::memory::Table;
