//! What latches and wait queues are made of in a real build. `model` has the same names made by shuttle.

pub(super) use super::short::Short;
pub(super) use crate::fiber::wait;
pub(super) use crate::interrupt::{Interrupt, wait_interruptible};
pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicU32, Ordering, fence};

use std::sync::OnceLock;

use crate::env::Kind;

/// Looks at a latch that is taken before queueing up: 63 pauses together, some microseconds, as long as a wake-up takes or less.
const LOOKS: u32 = 6;
/// How often a waiter that was woken may find the latch taken by a newcomer.
pub(super) const PATIENCE: u8 = 8;

/// A latch is about to be taken. Whoever takes one may have to wait, so here a simulation may let others run.
#[inline]
pub(super) fn before_latch() {
    crate::sim::interleaving_point();
}

/// How often to look at a latch that is taken before queueing up. Not at all where its holder cannot run meanwhile.
pub(super) fn looks() -> u32 {
    static HERE: OnceLock<u32> = OnceLock::new();
    if crate::env::kind() == Kind::Sim {
        return 0;
    }
    *HERE.get_or_init(
        || if std::thread::available_parallelism().is_ok_and(|n| n.get() > 1) { LOOKS } else { 0 },
    )
}
