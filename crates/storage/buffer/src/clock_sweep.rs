//! The clock sweep: which buffer is given up next (thread 2, "Lockless StrategyGetBuffer() clock sweep").
//!
//! # What
//! All who need a buffer go round the pool with one common hand. A tick of the hand is one atomic fetch-add. The frame it shows
//! is claimed if nobody has it pinned and its usage count is zero, and loses one use otherwise. There is no list of free
//! buffers and no lock: a free frame is one that the hand finds without pins and uses.
//!
//! # Invariants
//! 1. The hand counts ticks in 64 bits and never wraps: position is the count modulo the number of frames, the pass is the
//!    quotient. One load gives both, so the background writer never sees a position with another pass's number.
//! 2. Between two ticks at a frame every other frame is visited.
//! 3. A claimed frame belongs to the claimer alone (`Frame::try_claim`).
//! 4. An allocation is counted before the sleeping background writer's flag is looked at; the writer sets its flag before it
//!    looks at the count. One of the two sees the other, without a lock.
//!
//! # Locks
//! None.
//!
//! # PostgreSQL counterpart and differences
//! `freelist.c`. There the hand has 32 bits, so that wrapping round and counting passes takes a spinlock once a pass, and the
//! latch of the background writer is found through a process number; here both are one word.

use super::frame::{Claim, Frame};
use super::shim::{AtomicBool, AtomicU64, Ordering};

#[repr(align(128))]
struct Line<T>(T);

/// The hand, and what the background writer wants to know.
pub(crate) struct ClockSweep {
    hand: Line<AtomicU64>,
    allocations: Line<AtomicU64>,
    writer_sleeps: AtomicBool,
    frames: u64,
}

/// Where the hand is: ticks since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SweepPosition(pub u64);

impl ClockSweep {
    pub fn new(frames: usize) -> ClockSweep {
        ClockSweep {
            hand: Line(AtomicU64::new(0)),
            allocations: Line(AtomicU64::new(0)),
            writer_sleeps: AtomicBool::new(false),
            frames: frames as u64,
        }
    }

    /// Moves the hand on; the frame that it showed.
    fn tick(&self) -> usize {
        // Relaxed: the hand protects nothing; the claim orders access to the frame.
        (self.hand.0.fetch_add(1, Ordering::Relaxed) % self.frames) as usize
    }

    /// Claims a frame; `None` if every frame was pinned for a whole pass.
    pub fn claim(&self, frames: &[Frame]) -> Option<usize> {
        let mut pinned = 0;
        while pinned < frames.len() {
            let index = self.tick();
            match frames[index].try_claim() {
                Claim::Claimed => return Some(index),
                // Somebody comes closer to being free, so this goes on.
                Claim::Aged => pinned = 0,
                Claim::Pinned => pinned += 1,
            }
        }
        None
    }

    /// Counts an allocation; true if the caller should wake the background writer.
    pub fn count_allocation(&self) -> bool {
        // SeqCst: invariant 4.
        self.allocations.0.fetch_add(1, Ordering::SeqCst);
        self.writer_sleeps.load(Ordering::SeqCst) && self.writer_sleeps.swap(false, Ordering::SeqCst)
    }

    /// Allocations since the start.
    pub fn allocations(&self) -> u64 {
        self.allocations.0.load(Ordering::SeqCst)
    }

    /// The background writer is about to sleep: from now on an allocation reports it.
    pub fn writer_sleeps(&self) {
        self.writer_sleeps.store(true, Ordering::SeqCst);
    }

    /// Pass and position at once.
    pub fn position(&self) -> SweepPosition {
        SweepPosition(self.hand.0.load(Ordering::Relaxed))
    }

    /// The frame that the hand shows at a tick.
    pub fn frame_at(&self, position: SweepPosition) -> usize {
        (position.0 % self.frames) as usize
    }

    /// Complete passes before a tick.
    pub fn passes(&self, position: SweepPosition) -> u64 {
        position.0 / self.frames
    }
}
