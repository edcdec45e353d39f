//! # What
//! Pauses of VACUUM and ANALYZE: pages that were found, read or made dirty have a cost, and when the sum reaches the limit the session sleeps.
//!
//! Where several threads work for one VACUUM, their costs together are held against the limit, and those sleep that caused them.
//!
//! # PostgreSQL counterpart
//! `vacuum_delay_point`, `compute_parallel_delay`.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use base::settings::{SessionSettings, Setting};
use runtime::usage::Usage;
use runtime::{Interrupt, WaitEvent};
use session::progress::Progress;

/// What a VACUUM may cost between two pauses, and how long these are. Others may change it meanwhile.
#[derive(Debug, Default)]
pub struct Budget {
    limit: AtomicU32,
    /// Microseconds; 0: no pauses.
    delay: AtomicU32,
}

impl Budget {
    /// So much between two pauses of so long.
    pub fn new(limit: u32, delay: Duration) -> Budget {
        let budget = Budget::default();
        budget.set(limit, delay);
        budget
    }

    /// From now on so much, and so long.
    pub fn set(&self, limit: u32, delay: Duration) {
        self.limit.store(limit.max(1), Relaxed);
        self.delay.store(u32::try_from(delay.as_micros()).unwrap_or(u32::MAX), Relaxed);
    }
}

/// What a page costs.
#[derive(Clone, Copy, Debug)]
struct Prices {
    hit: u64,
    miss: u64,
    dirty: u64,
}

/// What the threads of one VACUUM or ANALYZE have in common.
#[derive(Debug)]
struct Shared {
    /// How many work now.
    workers: AtomicU64,
    /// What they have cost and not slept for.
    balance: AtomicU64,
    /// Nanoseconds slept, where that is measured.
    slept: AtomicU64,
}

/// How pauses of one VACUUM or ANALYZE are made, by whichever thread.
#[derive(Clone, Debug)]
pub(crate) struct Terms<'a> {
    budget: &'a Budget,
    prices: Prices,
    /// Whether sleeps are measured (`track_cost_delay_timing`).
    timed: bool,
    shared: Arc<Shared>,
}

/// The pauses of one VACUUM or ANALYZE of a table. Used by the fiber or thread that made it.
pub(crate) struct Pace<'a> {
    terms: Terms<'a>,
    last: Cell<Usage>,
    /// Its own part of what is not slept for.
    balance: Cell<u64>,
}

impl<'a> Pace<'a> {
    pub fn new(budget: &'a Budget, settings: &SessionSettings) -> Pace<'a> {
        let price = |setting: Setting| settings.get(setting).as_int().max(0) as u64;
        Pace::beside(&Terms {
            budget,
            prices: Prices {
                hit: price(Setting::vacuum_cost_page_hit),
                miss: price(Setting::vacuum_cost_page_miss),
                dirty: price(Setting::vacuum_cost_page_dirty),
            },
            timed: settings.get(Setting::track_cost_delay_timing).as_bool(),
            shared: Arc::new(Shared {
                workers: AtomicU64::new(0),
                balance: AtomicU64::new(0),
                slept: AtomicU64::new(0),
            }),
        })
    }

    /// That of one more thread, from now on until it is dropped.
    pub fn beside(terms: &Terms<'a>) -> Pace<'a> {
        terms.shared.workers.fetch_add(1, Relaxed);
        Pace { terms: terms.clone(), last: Cell::new(Usage::so_far()), balance: Cell::new(0) }
    }

    /// What another thread needs to keep pace with this one.
    pub fn terms(&self) -> &Terms<'a> {
        &self.terms
    }

    /// What was used so far costs nothing more.
    pub fn forget(&self) {
        self.last.set(Usage::so_far());
    }

    /// Time slept so far, if that is measured.
    pub fn slept(&self) -> Option<Duration> {
        self.terms.timed.then(|| Duration::from_nanos(self.terms.shared.slept.load(Relaxed)))
    }

    /// Looks for interrupts, and sleeps if the limit is used up. `figure` of `progress` tells the nanoseconds slept. No latch may be held.
    pub fn pause(&self, progress: &Progress, figure: usize) -> Result<(), Interrupt> {
        runtime::check_interrupts()?;
        let Terms { budget, prices, timed, shared } = &self.terms;
        let delay = u64::from(budget.delay.load(Relaxed));
        if delay == 0 {
            return Ok(());
        }
        let now = Usage::so_far();
        let used = now - self.last.replace(now);
        let cost = used.shared_hit * prices.hit
            + used.shared_read * prices.miss
            + used.shared_dirtied * prices.dirty;
        let own = self.balance.get() + cost;
        self.balance.set(own);
        let all = shared.balance.fetch_add(cost, Relaxed) + cost;
        let limit = u64::from(budget.limit.load(Relaxed));
        // Who has done less than half of what is his share goes on while the others sleep.
        if all < limit || 2 * own * shared.workers.load(Relaxed) <= limit {
            return Ok(());
        }
        shared.balance.fetch_sub(own, Relaxed);
        self.balance.set(0);
        let pause = Duration::from_micros((delay * own / limit).min(delay * 4));
        let began = runtime::now();
        let sleep = || runtime::wait_interruptible(runtime::sleep(pause));
        let done = runtime::waiting(WaitEvent::VacuumDelay, sleep);
        if *timed {
            let slept = began.elapsed().as_nanos() as u64;
            progress.set(figure, (shared.slept.fetch_add(slept, Relaxed) + slept) as i64);
        }
        done
    }
}

impl Drop for Pace<'_> {
    fn drop(&mut self) {
        self.terms.shared.workers.fetch_sub(1, Relaxed);
        self.terms.shared.balance.fetch_sub(self.balance.get(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::progress::Lengthy;

    #[test]
    fn all_threads_together_cost_and_who_caused_it_sleeps() {
        let budget = Budget::new(100, Duration::from_micros(1));
        let prices = Prices { hit: 1, miss: 0, dirty: 0 };
        let shared = Shared { workers: 0.into(), balance: 0.into(), slept: 0.into() };
        let leader = Pace::beside(&Terms { budget: &budget, prices, timed: true, shared: Arc::new(shared) });
        let progress = Progress::new(Lengthy::Vacuum, base::Oid(1));
        let helper = Pace::beside(leader.terms());
        let slept = || leader.slept().unwrap();
        let hit = |count| Usage { shared_hit: count, ..Usage::default() }.add_to_running();
        hit(80);
        helper.pause(&progress, 1).unwrap();
        leader.forget();
        assert_eq!(slept(), Duration::ZERO);
        hit(20);
        helper.forget();
        leader.pause(&progress, 1).unwrap();
        assert_eq!(slept(), Duration::ZERO, "the limit is used up, but it has done less than its share");
        helper.pause(&progress, 1).unwrap();
        assert!(slept() > Duration::ZERO);
    }
}
