//! # What
//! What the answers of the running fiber rest on: something that is known, and would be forgotten in a crash, until it has been made durable.
//!
//! Whoever lets a session know such a thing calls [`rest_on`]; whoever is about to tell the session's client anything calls [`settle`]
//! before.
//!
//! # Invariants
//! 1. It is the running fiber's own: nothing is shared, nothing is locked.
//! 2. Of one ground, only the furthest position counts.

use std::cell::RefCell;
use std::sync::Arc;

use base::SqlResult;

use crate::fiber::with_state;

/// What answers can rest on.
pub trait Ground: Send + Sync {
    /// Waits until all before `position` is durable.
    fn settle(&self, position: u64) -> SqlResult<()>;
}

/// The furthest position, and of what.
pub(crate) type Rest = RefCell<Option<(u64, Arc<dyn Ground>)>>;

/// From now on the fiber's answers rest on what ends at `position`.
pub fn rest_on(position: u64, ground: &Arc<dyn Ground>) {
    with_state(|state| match &mut *state.rest.borrow_mut() {
        Some((known, _)) => *known = position.max(*known),
        none => *none = Some((position, ground.clone())),
    });
}

/// Waits until the fiber's answers rest on nothing that can be lost. After an error nothing may be answered.
#[inline]
pub fn settle() -> SqlResult<()> {
    match with_state(|state| state.rest.borrow_mut().take()) {
        Some((position, ground)) => ground.settle(position),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[derive(Default)]
    struct Log(AtomicU64);

    impl Ground for Log {
        fn settle(&self, position: u64) -> SqlResult<()> {
            self.0.fetch_max(position, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn the_furthest_position_is_settled_once() {
        let log = Arc::new(Log::default());
        let ground: Arc<dyn Ground> = log.clone();
        rest_on(7, &ground);
        rest_on(5, &ground);
        settle().unwrap();
        assert_eq!(log.0.swap(0, Ordering::Relaxed), 7);
        settle().unwrap();
        assert_eq!(log.0.load(Ordering::Relaxed), 0);
    }
}
