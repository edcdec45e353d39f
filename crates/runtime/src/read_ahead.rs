//! How far a fiber reads ahead.
//!
//! The settings are a session's, and who reads is far below it; so the fiber knows them, as it knows whether reads are timed.

use crate::fiber::with_state;

/// Settings of reading ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAhead {
    /// Reads of a query that may be under way at once (`effective_io_concurrency`); 0: none before its page is wanted.
    pub effective: u16,
    /// The same of maintenance (`maintenance_io_concurrency`).
    pub maintenance: u16,
    /// Pages of a read at most (`io_combine_limit`), at least 1.
    pub combine: u16,
}

impl ReadAhead {
    /// Of who has no session.
    pub const DEFAULT: ReadAhead = ReadAhead { effective: 16, maintenance: 16, combine: 16 };

    /// That of the running fiber.
    pub fn current() -> ReadAhead {
        with_state(|state| state.read_ahead.get())
    }

    /// The running fiber reads ahead like this from now on.
    pub fn enter(self) {
        with_state(|state| state.read_ahead.set(self));
    }
}
