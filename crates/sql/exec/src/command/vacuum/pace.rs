//! # What
//! Pauses of VACUUM and ANALYZE: pages that were found, read or made dirty cost something, and who has used up the limit sleeps.
//!
//! # PostgreSQL counterpart
//! `vacuum_delay_point`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use base::settings::{SessionSettings, Setting};
use runtime::usage::Usage;
use runtime::{Interrupt, WaitEvent};

use crate::session::progress::Progress;

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

/// The pauses of one VACUUM or ANALYZE of a table. Used by the fiber that made it.
pub(crate) struct Pace<'a> {
    budget: &'a Budget,
    prices: Prices,
    /// Whether sleeps are measured (`track_cost_delay_timing`).
    timed: bool,
    last: Cell<Usage>,
    balance: Cell<u64>,
    slept: Cell<Duration>,
}

impl<'a> Pace<'a> {
    pub fn new(budget: &'a Budget, settings: &SessionSettings) -> Pace<'a> {
        let price = |setting: Setting| settings.get(setting).as_int().max(0) as u64;
        Pace {
            budget,
            prices: Prices {
                hit: price(Setting::vacuum_cost_page_hit),
                miss: price(Setting::vacuum_cost_page_miss),
                dirty: price(Setting::vacuum_cost_page_dirty),
            },
            timed: settings.get(Setting::track_cost_delay_timing).as_bool(),
            last: Cell::new(Usage::so_far()),
            balance: Cell::new(0),
            slept: Cell::new(Duration::ZERO),
        }
    }

    /// Time slept so far, if that is measured.
    pub fn slept(&self) -> Option<Duration> {
        self.timed.then(|| self.slept.get())
    }

    /// Looks for interrupts, and sleeps if the limit is used up. `figure` of `progress` tells the nanoseconds slept. No latch may be held.
    pub fn pause(&self, progress: &Progress, figure: usize) -> Result<(), Interrupt> {
        runtime::check_interrupts()?;
        let delay = u64::from(self.budget.delay.load(Relaxed));
        if delay == 0 {
            return Ok(());
        }
        let now = Usage::so_far();
        let used = now - self.last.replace(now);
        let cost = used.shared_hit * self.prices.hit
            + used.shared_read * self.prices.miss
            + used.shared_dirtied * self.prices.dirty;
        let balance = self.balance.get() + cost;
        let limit = u64::from(self.budget.limit.load(Relaxed));
        if balance < limit {
            self.balance.set(balance);
            return Ok(());
        }
        self.balance.set(0);
        let pause = Duration::from_micros((delay * balance / limit).min(delay * 4));
        let began = runtime::now();
        let sleep = || runtime::wait_interruptible(runtime::sleep(pause));
        let done = runtime::waiting(WaitEvent::VacuumDelay, sleep);
        if self.timed {
            self.slept.set(self.slept.get() + began.elapsed());
            progress.set(figure, self.slept.get().as_nanos() as i64);
        }
        done
    }
}
