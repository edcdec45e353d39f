//! Workers, fibers, waits, latches, timers and file I/O; real and simulated.
//!
//! # What
//! SQL and storage code is plain synchronous Rust. Whatever must wait calls [`wait`]: inside a *fiber* (a stackful
//! coroutine on a pooled stack) that suspends the fiber and lets the worker thread serve others; on any other thread
//! (tests, tools, recovery before the workers run) it parks the thread.
//!
//! # Layout
//! * [`fiber`]: fibers, [`wait`], stack checks. `stack`: pools of stacks.
//! * [`interrupt`]: cancel requests and timeouts, time slices. [`watch`]: debug builds notice who looks for neither.
//! * [`pace`]: long work in pieces. [`read_ahead`]: how far a fiber reads ahead.
//! * [`memory`]: what sessions and the process have of it, and who is refused more.
//! * [`sync`]: [`Latch`], [`Mutex`], [`WaitQueue`], [`Event`].
//! * [`time`]: clocks and sleeping. [`usage`]: what a fiber used of pages, log and temporary files. [`wait_event`]: what a session is seen
//!   waiting for.
//! * [`fs`]: files and directories. [`program`]: programs that are run for a session.
//! * [`spawn`]: workers, tasks, threads. `pool`: the threads behind [`blocking`], [`alongside`] and `fs`; `solitude`: when they
//!   are not needed.
//! * [`sim`]: the seeded scheduler, virtual clock and simulated disk.
//!
//! # Invariants
//! 1. Nothing outside this crate reads a clock, spawns a thread, draws a random number or opens a file.
//! 2. A fiber never moves to another thread once it has started.
//! 3. A destructor never waits while its fiber is being dropped: there is nobody to wait for it.
//! 4. In a simulation everything runs on one thread, and the seed alone decides what happens.
//!
//! # Locks
//! The short mutexes in here are held for a few instructions and never across a wait or a wake.
//!
//! # PostgreSQL counterpart and differences
//! Stands where PostgreSQL has processes, latches (`WaitLatch`), LWLocks, `CHECK_FOR_INTERRUPTS` and `fd.c`.

pub mod fiber;
pub mod fs;
pub mod interrupt;
pub mod memory;
pub mod pace;
pub mod program;
pub mod read_ahead;
pub mod rest;
pub mod sim;
pub mod spawn;
pub mod sync;
pub mod time;
pub mod usage;
pub mod wait_event;
pub mod watch;

mod env;
mod pool;
mod solitude;
mod stack;

#[cfg(test)]
mod fiber_tests;

pub use fiber::{
    Fiber, StackTooDeep, check_stack, in_fiber, mark, run_fiber, set_stack_depth, set_word, stack_too_deep,
    wait, with_mark, word, yield_now,
};
pub use interrupt::{
    HoldGuard, Interrupt, Interrupts, check_interrupts, check_piece, current_interrupts, hold_interrupts,
    keep_interrupts, pause, wait_interruptible, with_interrupts,
};
pub use pool::{alongside, blocking};
pub use program::Program;
pub use read_ahead::ReadAhead;
pub use sim::{Crashed, Simulation, interleaving_point};
pub use solitude::is_alone;
pub use spawn::{
    JoinError, JoinHandle, ThreadHandle, Wakeup, Workers, random_u64, run, run_async, set_wakeup,
    spawn_fiber, spawn_local, spawn_thread, worker_index,
};
pub use sync::{Event, Latch, Mutex, MutexGuard, ReadGuard, Short, WaitQueue, WriteGuard};
pub use time::{Instant, now, sleep, wall_clock_micros};
pub use wait_event::{WaitEvent, waiting};
