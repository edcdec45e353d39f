//! Whether a shared description is still current.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag shared by all holders of a description; false for ever once a committed change made it stale.
#[derive(Clone, Debug)]
pub struct Validity(Arc<AtomicBool>);

impl Default for Validity {
    fn default() -> Validity {
        Validity(Arc::new(AtomicBool::new(true)))
    }
}

impl Validity {
    /// Whether no change was committed since the description was made. A caller that must not miss a change holds a lock that
    /// conflicts with it: the change is marked here before its transaction releases its locks.
    #[inline]
    pub fn is_current(&self) -> bool {
        // Acquire: pairs with the release in `revoke`; who sees the flag down sees the catalog rows that took it down.
        self.0.load(Ordering::Acquire)
    }

    /// Marks the description as stale.
    pub(crate) fn revoke(&self) {
        self.0.store(false, Ordering::Release);
    }
}
