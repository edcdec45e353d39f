//! Threads that help sessions with long commands: how many work in the whole server.

use std::sync::atomic::{AtomicUsize, Ordering};

use base::settings::Setting;

use crate::Session;

/// How many work.
#[derive(Debug, Default)]
pub struct Helpers(AtomicUsize);

impl Helpers {
    /// As many as are wanted, as long as there are no more than `limit` altogether.
    pub fn claim(&self, wanted: usize, limit: usize) -> Claim<'_> {
        let mut claimed = 0;
        let more = |working: usize| {
            claimed = wanted.min(limit.saturating_sub(working));
            Some(working + claimed)
        };
        // Relaxed: a number that nothing else depends on.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        Claim { helpers: self, count: claimed }
    }
}

/// Places among the server's helpers, until it is dropped.
#[derive(Debug)]
pub struct Claim<'a> {
    helpers: &'a Helpers,
    count: usize,
}

impl Claim<'_> {
    /// How many.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.helpers.0.fetch_sub(self.count, Ordering::Relaxed);
    }
}

impl Session {
    /// As many helpers as are wanted, within `max_parallel_workers`.
    pub fn claim_helpers(&self, wanted: usize) -> Claim<'_> {
        let limit = self.settings.borrow().get(Setting::max_parallel_workers).as_int().max(0);
        self.instance.helpers().claim(wanted, limit as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_of_all_sessions_stay_within_the_limit() {
        let helpers = Helpers::default();
        let first = helpers.claim(2, 3);
        let second = helpers.claim(2, 3);
        assert_eq!((first.count(), second.count(), helpers.claim(1, 3).count()), (2, 1, 0));
        drop(first);
        assert_eq!(helpers.claim(5, 3).count(), 2);
        drop(second);
        assert_eq!(helpers.0.into_inner(), 0);
    }
}
