//! A mutex for some dozens of instructions that every worker passes many thousand times a second.
//!
//! # What
//! A worker that slept for it would leave all its sessions waiting, for much longer than the mutex is held. So who finds it taken looks again
//! for as long as a few holders may take, pausing between looks, and goes to sleep only after that: the holder has lost its processor.

use parking_lot::{Mutex, MutexGuard};

use super::shim::spin_loop;

/// Looks at a mutex that is taken before sleeping, and the pauses between them at most; together some microseconds.
const LOOKS: u32 = 24;
const LONGEST_PAUSE: u32 = 8;

/// A mutex that is held for some dozens of instructions, and never over a wait.
#[derive(Debug, Default)]
pub struct Short<T>(Mutex<T>);

impl<T> Short<T> {
    /// A mutex around `value`.
    pub const fn new(value: T) -> Short<T> {
        Short(Mutex::new(value))
    }

    /// Waits for the value.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.try_lock() {
            Some(guard) => guard,
            None => self.lock_contended(),
        }
    }

    /// The value if nobody has it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    #[cold]
    fn lock_contended(&self) -> MutexGuard<'_, T> {
        for look in 0..LOOKS {
            for _ in 0..(1 << look.min(31)).min(LONGEST_PAUSE) {
                spin_loop();
            }
            // Asked first: an attempt takes the cache line from its holder.
            if !self.0.is_locked()
                && let Some(guard) = self.0.try_lock()
            {
                return guard;
            }
        }
        self.0.lock()
    }
}
