//! # What
//! Counters of what a fiber has used since it began: pages, the log, temporary files. The layers that use something count it
//! with [`used`]; whoever wants to know takes [`Usage::so_far`] before and after.
//!
//! # Invariants
//! 1. Counting is an addition to a cell of the running fiber: nothing is shared, nothing is locked.
//! 2. Counters only grow. They are a fiber's own, so what other fibers do while it waits is not among them.
//!
//! # PostgreSQL counterpart and differences
//! `pgBufferUsage` and `pgWalUsage` of a process.

use std::cell::Cell;
use std::ops::{AddAssign, Sub};

use crate::fiber::with_state;

/// On whose account a fiber works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Account {
    /// A session's, or nobody's in particular.
    Session,
    /// The background writer's.
    BackgroundWriter,
    /// The checkpointer's.
    Checkpointer,
    /// The WAL writer's.
    WalWriter,
    /// That of the launcher of automatic vacuums.
    AutovacuumLauncher,
    /// That of its workers.
    AutovacuumWorker,
}

impl Account {
    /// Number of accounts.
    pub const COUNT: usize = Account::AutovacuumWorker as usize + 1;

    /// That of the running fiber.
    pub fn current() -> Account {
        with_state(|state| state.usage.account.get())
    }

    /// The running fiber works on this account from now on.
    pub fn enter(self) {
        with_state(|state| state.usage.account.set(self));
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one fiber.
        pub struct Counters {
            $($(#[$doc])* pub $name: Cell<u64>,)*
            /// Whether reads and writes are timed (`track_io_timing`).
            pub timed: Cell<bool>,
            /// Whether writes of the log are timed (`track_wal_io_timing`).
            pub wal_timed: Cell<bool>,
            /// See [`Account`].
            account: Cell<Account>,
            /// What [`Usage::take`] has given out.
            taken: Cell<Usage>,
            /// Of these, pages found in the pool; [`take_hits`] gives them out too.
            hits_taken: Cell<u64>,
            /// Whether anything was counted by [`used`] since the last [`take_hits`].
            rare: Cell<bool>,
        }

        impl Counters {
            pub(crate) const fn new() -> Counters {
                Counters {
                    $($name: Cell::new(0),)*
                    timed: Cell::new(false),
                    wal_timed: Cell::new(false),
                    account: Cell::new(Account::Session),
                    taken: Cell::new(Usage { $($name: 0,)* }),
                    hits_taken: Cell::new(0),
                    rare: Cell::new(false),
                }
            }
        }

        /// What was used from one moment to another.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Usage {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Usage {
            /// What the running fiber has used since it began.
            pub fn so_far() -> Usage {
                with_state(|state| Usage { $($name: state.usage.$name.get(),)* })
            }
        }

        impl Usage {
            /// Counts as used by the running fiber what another one has used for it.
            pub fn add_to_running(self) {
                with_state(|state| {
                    $(state.usage.$name.set(state.usage.$name.get().wrapping_add(self.$name));)*
                    state.usage.rare.set(true);
                });
            }

            /// What the running fiber has used since the last call, or since it began.
            #[cold]
            pub fn take() -> Usage {
                let now = Usage::so_far();
                with_state(|state| {
                    let mut used = now - state.usage.taken.replace(now);
                    used.shared_hit = now.shared_hit.wrapping_sub(state.usage.hits_taken.replace(now.shared_hit));
                    used
                })
            }
        }

        impl Sub for Usage {
            type Output = Usage;
            fn sub(self, earlier: Usage) -> Usage {
                Usage { $($name: self.$name.wrapping_sub(earlier.$name),)* }
            }
        }

        impl AddAssign for Usage {
            fn add_assign(&mut self, more: Usage) {
                $(self.$name = self.$name.wrapping_add(more.$name);)*
            }
        }
    };
}

counters! {
    /// Pages found in the pool.
    shared_hit,
    /// Pages read into the pool.
    shared_read,
    /// Clean pages that were changed.
    shared_dirtied,
    /// Pages written, to make room for others.
    shared_written,
    /// Blocks of temporary files read.
    temp_read,
    /// Blocks of temporary files written.
    temp_written,
    /// Temporary files made.
    temp_files,
    /// Bytes written to temporary files.
    temp_bytes,
    /// Nanoseconds spent reading pages, where they are measured.
    shared_read_time,
    /// Nanoseconds spent writing pages, where they are measured.
    shared_write_time,
    /// Nanoseconds spent reading temporary files, where they are measured.
    temp_read_time,
    /// Nanoseconds spent writing temporary files, where they are measured.
    temp_write_time,
    /// Log records.
    wal_records,
    /// Images of pages in them.
    wal_images,
    /// Bytes of log.
    wal_bytes,
    /// Times that the log's buffers were full.
    wal_buffers_full,
    /// Descents of an index.
    index_searches,
    /// Pages of the commit log found in memory.
    xact_hits,
    /// Pages of multixacts found in memory.
    multixact_hits,
    /// Deadlocks that it was the victim of.
    deadlocks,
    /// Cancelled for a lock, on a standby.
    conflicts_lock,
    /// Cancelled for a snapshot, on a standby.
    conflicts_snapshot,
    /// Pages read whose checksum was wrong.
    checksum_failures,
    /// Helpers that plans asked for.
    helpers_asked,
    /// Those that they got.
    helpers_started,
}

/// Adds to one counter of the running fiber.
#[inline]
pub fn used(counter: impl FnOnce(&Counters) -> &Cell<u64>, amount: u64) {
    with_state(|state| {
        let cell = counter(&state.usage);
        cell.set(cell.get().wrapping_add(amount));
        state.usage.rare.set(true);
    });
}

/// As [`used`], once, for what the shortest statement does: pages found in the pool and descents of an index. [`take_hits`] does not say
/// that there was something else.
#[inline]
pub fn used_often(counter: impl FnOnce(&Counters) -> &Cell<u64>) {
    with_state(|state| {
        let cell = counter(&state.usage);
        cell.set(cell.get().wrapping_add(1));
    });
}

/// Carries out a read or write. If the fiber measures I/O times, adds and returns the nanoseconds that it took.
pub fn timed<T>(counter: impl FnOnce(&Counters) -> &Cell<u64>, work: impl FnOnce() -> T) -> (T, u64) {
    let (result, time) = measured(with_state(|state| state.usage.timed.get()), work);
    if time > 0 {
        used(counter, time);
    }
    (result, time)
}

fn measured<T>(timed: bool, work: impl FnOnce() -> T) -> (T, u64) {
    if !timed {
        return (work(), 0);
    }
    let start = crate::now();
    let result = work();
    (result, crate::now().0.saturating_sub(start.0))
}

/// Pages that the running fiber found in the pool, and those that it read.
#[inline]
pub fn pages() -> [u64; 2] {
    with_state(|state| [state.usage.shared_hit.get(), state.usage.shared_read.get()])
}

/// What [`Usage::take`] would give, where that is nothing but pages that the pool had: the usual case, and cheap. Otherwise `None`.
#[inline]
pub fn take_hits() -> Option<u64> {
    with_state(|state| {
        if state.usage.rare.get() {
            state.usage.rare.set(false);
            return None;
        }
        let hits = state.usage.shared_hit.get();
        Some(hits.wrapping_sub(state.usage.hits_taken.replace(hits)))
    })
}

/// Whether the running fiber times reads and writes from now on.
pub fn time_io(on: bool) {
    with_state(|state| state.usage.timed.set(on));
}

/// Whether the running fiber times its reads and writes.
pub fn times_io() -> bool {
    with_state(|state| state.usage.timed.get())
}

/// Whether the running fiber times its writes of the log from now on.
pub fn time_wal(on: bool) {
    with_state(|state| state.usage.wal_timed.set(on));
}

/// Carries out a write of the log. Gives the nanoseconds that it took, too, if the fiber times those.
pub fn timed_wal<T>(work: impl FnOnce() -> T) -> (T, u64) {
    measured(with_state(|state| state.usage.wal_timed.get()), work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fibers_count_for_themselves() {
        let used_by_one = std::rc::Rc::new(Cell::new(Usage::default()));
        let seen = used_by_one.clone();
        crate::run(move || {
            let one = crate::spawn_fiber("one", move || {
                let before = Usage::so_far();
                used(|c| &c.shared_hit, 2);
                crate::yield_now();
                used(|c| &c.shared_hit, 1);
                seen.set(Usage::so_far() - before);
            });
            let other = crate::spawn_fiber("other", || used(|c| &c.shared_hit, 100));
            one.join().unwrap();
            other.join().unwrap();
        });
        assert_eq!(used_by_one.get(), Usage { shared_hit: 3, ..Usage::default() });
    }

    #[test]
    fn what_is_taken_is_taken_once() {
        crate::run(|| {
            let fiber = crate::spawn_fiber("one", || {
                used_often(|c| &c.shared_hit);
                used_often(|c| &c.shared_hit);
                assert_eq!(take_hits(), Some(2));
                used_often(|c| &c.shared_hit);
                used(|c| &c.shared_read, 1);
                assert_eq!(take_hits(), None);
                assert_eq!(Usage::take(), Usage { shared_hit: 1, shared_read: 1, ..Usage::default() });
                assert_eq!((take_hits(), Usage::take()), (Some(0), Usage::default()));
            });
            fiber.join().unwrap();
        });
    }

    #[test]
    fn io_is_timed_only_when_asked() {
        let before = Usage::so_far();
        let pause = || crate::wait(crate::sleep(std::time::Duration::from_millis(2)));
        timed(|c| &c.shared_read_time, pause);
        assert_eq!((Usage::so_far() - before).shared_read_time, 0);
        time_io(true);
        timed(|c| &c.shared_read_time, pause);
        time_io(false);
        let spent = (Usage::so_far() - before).shared_read_time;
        assert!(spent >= 2_000_000, "{spent}");
    }
}
