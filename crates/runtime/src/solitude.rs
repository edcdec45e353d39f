//! Whether a worker serves one task alone.
//!
//! # What
//! A call through the thread pool wakes two threads. While the worker has other work that does not matter; otherwise it is a fifth of a
//! commit. So a worker makes a call itself when its last [`CALLS`] such calls came from one task, no other task's fiber ran
//! in between, and calls were short of late. Who comes during such a call waits for its end, and has the next ones made by the pool.
//!
//! Likewise what is done for the sake of other tasks, as to answer together with them, or to have the processor fetch again what they have driven out of its
//! caches, is not worth its cost where there are none ([`is_alone`]).

use std::cell::Cell;
use std::time::Duration;

/// Calls of one task before the worker makes the next one itself.
const CALLS: u32 = 16;
/// Turns of one task's fibers in a row that say that it is alone.
const TURNS: u32 = 16;
/// Mean duration of recent calls above which the pool makes them.
const SHORT: Duration = Duration::from_millis(1);
/// A call's weight in that mean is one in this many.
const WEIGHT: u32 = 8;

/// What a worker knows of its recent past.
pub(crate) struct Solitude {
    /// Whose fiber ran last: its waker's data. Compared only.
    task: Cell<*const ()>,
    /// Turns of that task's fibers in a row.
    turns: Cell<u32>,
    /// Calls since another task's fiber ran.
    calls: Cell<u32>,
    mean: Cell<Duration>,
}

thread_local! {
    static HERE: Solitude = const { Solitude::new() };
}

impl Solitude {
    const fn new() -> Solitude {
        Solitude {
            task: Cell::new(std::ptr::null()),
            turns: Cell::new(0),
            calls: Cell::new(0),
            mean: Cell::new(Duration::ZERO),
        }
    }

    fn turn(&self, task: *const ()) {
        if self.task.replace(task) != task {
            self.calls.set(0);
            self.turns.set(0);
        }
        self.turns.set(self.turns.get().saturating_add(1));
    }

    fn is_alone(&self) -> bool {
        self.turns.get() >= TURNS
    }

    /// Before a call: whether to make it here.
    fn stays(&self) -> bool {
        let calls = self.calls.get();
        self.calls.set(calls.saturating_add(1));
        calls >= CALLS && self.mean.get() <= SHORT
    }

    /// After a call.
    fn took(&self, time: Duration) {
        let rest = self.mean.get() / WEIGHT * (WEIGHT - 1);
        self.mean.set(rest + time / WEIGHT);
    }
}

/// A fiber of this task has its turn on this thread.
#[inline]
pub(crate) fn turn(task: *const ()) {
    HERE.with(|here| here.turn(task));
}

/// Whether this thread has run the fibers of one task only for a while.
#[inline]
pub fn is_alone() -> bool {
    HERE.with(Solitude::is_alone)
}

/// Before a call: whether this thread is to make it itself.
pub(crate) fn stays() -> bool {
    HERE.with(Solitude::stays)
}

/// After a call, on the thread that asked.
pub(crate) fn took(time: Duration) {
    HERE.with(|here| here.took(time));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: [*const (); 2] = [std::ptr::dangling::<u8>().cast(), std::ptr::dangling::<u64>().cast()];

    fn call(here: &Solitude, time: Duration) -> bool {
        let stays = here.stays();
        here.took(time);
        stays
    }

    #[test]
    fn calls_stay_while_one_task_has_all_turns() {
        let here = Solitude::new();
        for task in [TASKS[0], TASKS[1], TASKS[0]] {
            here.turn(task);
            for n in 0..3 * CALLS {
                assert_eq!(call(&here, Duration::from_micros(100)), n >= CALLS, "call {n}");
                here.turn(task);
            }
        }
    }

    #[test]
    fn one_is_alone_until_another_comes() {
        let here = Solitude::new();
        (1..TURNS).for_each(|_| here.turn(TASKS[0]));
        assert!(!here.is_alone());
        here.turn(TASKS[0]);
        assert!(here.is_alone());
        here.turn(TASKS[1]);
        assert!(!here.is_alone());
    }

    #[test]
    fn long_calls_go_to_the_pool_until_they_are_short_again() {
        let here = Solitude::new();
        here.turn(TASKS[0]);
        for _ in 0..=CALLS {
            call(&here, Duration::from_micros(100));
        }
        assert!(call(&here, Duration::from_secs(1)), "nobody could know");
        let calls = (0..200).take_while(|_| !call(&here, Duration::from_micros(100))).count();
        assert!((30..60).contains(&calls), "{calls} calls went to the pool");
    }
}
