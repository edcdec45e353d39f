//! What automatic vacuums may cost: those of tables that say nothing of it share one limit.

use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use session::Session;

use super::need::Facts;

/// How much may be spent between two pauses, and how long these are, as far as that is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    limit: Option<u32>,
    delay: Option<Duration>,
}

impl Rate {
    fn new(limit: Option<i32>, delay: Option<f64>) -> Rate {
        Rate {
            limit: limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0),
            delay: delay.filter(|delay| *delay >= 0.0).map(|delay| Duration::from_secs_f64(delay / 1000.0)),
        }
    }

    /// For all automatic vacuums.
    pub(super) fn of_server(settings: &ServerSettings) -> Rate {
        Rate::new(
            Some(settings.int(Setting::autovacuum_vacuum_cost_limit)),
            Some(settings.real(Setting::autovacuum_vacuum_cost_delay)),
        )
    }
}

/// How much a worker may spend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Expense {
    /// By the table's parameters.
    own: Rate,
    /// As other sessions of the database.
    usual: Rate,
}

impl Expense {
    /// For a table.
    pub(super) fn new(session: &Session, facts: &Facts) -> Expense {
        let usual = session.settings.borrow();
        Expense {
            own: Rate::new(
                facts.parameters.int(Setting::autovacuum_vacuum_cost_limit.name()),
                facts.parameters.real(Setting::autovacuum_vacuum_cost_delay.name()),
            ),
            usual: Rate::new(
                Some(usual.get(Setting::vacuum_cost_limit).as_int()),
                Some(usual.get(Setting::vacuum_cost_delay).as_real()),
            ),
        }
    }

    /// Whether the table says nothing: workers of such tables spend the limit together.
    pub(super) fn is_shared(&self) -> bool {
        self.own == Rate::default()
    }

    /// What there is to spend between two pauses, and how long these are, where so many spend it together.
    pub(super) fn share(&self, server: Rate, sharers: usize) -> (u32, Duration) {
        let limit = self.own.limit.or(server.limit).or(self.usual.limit).unwrap_or(1);
        let delay = self.own.delay.or(server.delay).or(self.usual.delay).unwrap_or_default();
        match self.is_shared() {
            true => ((limit / sharers.max(1) as u32).max(1), delay),
            false => (limit, delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shared_by_those_whose_tables_say_nothing() {
        let millis = Duration::from_millis;
        let usual = Rate::new(Some(200), Some(0.0));
        let server = Rate::new(Some(-1), Some(2.0));
        let shared = Expense { own: Rate::default(), usual };
        assert_eq!([0, 1, 3, 500].map(|sharers| shared.share(server, sharers).0), [200, 200, 66, 1]);
        assert_eq!(shared.share(server, 1).1, millis(2));
        assert_eq!(shared.share(Rate::new(Some(50), Some(-1.0)), 2), (25, millis(0)));
        let own = Expense { own: Rate::new(Some(10), None), usual };
        assert_eq!(own.share(server, 3), (10, millis(2)));
    }
}
