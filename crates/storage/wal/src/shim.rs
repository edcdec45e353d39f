//! The atomics of the insertion protocol; the models exchange them for shuttle's.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A mutex that is never held over a wait.
pub(crate) use runtime::Short;
