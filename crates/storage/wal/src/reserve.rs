//! Reservation of room in the log: parallel, without a lock.
//!
//! # Protocol
//! `next` is the position of the next record. An inserter loads `next`, then the redo pointer, decides about images under
//! that pointer, announces the position in a slot, and advances `next` by compare-and-swap; when that fails it begins
//! again. After the bytes are copied it clears the slot.
//!
//! # Invariants
//! 1. A slot holds a position not behind the record that its owner reserves, from before the reservation until its bytes
//!    are copied. So every byte before `min(next, slots)`, `next` loaded first, is copied: [`Reservations::completed`].
//! 2. A checkpoint stores the redo pointer *before* it advances `next` over its own record at that pointer. An inserter
//!    that reserves behind the record has loaded a `next` behind it, so it sees the new pointer: no page changes behind a
//!    redo pointer without the image that redo needs. A pointer that turns out too new costs an image, nothing else.
//!
//! All accesses that the two invariants rest on are SeqCst: both are store-then-load on two words (slot and `next`; redo
//! and `next`).

use super::shim::{AtomicU64, AtomicUsize, Ordering, spin_loop};

/// Value of an unused slot.
const IDLE: u64 = u64::MAX;

#[repr(align(128))]
struct Slot(AtomicU64);

/// Next position, redo pointer, and where each inserter copies.
pub(crate) struct Reservations {
    next: Slot,
    redo: AtomicU64,
    slots: Box<[Slot]>,
    /// Hands out the slot that a thread tries first.
    arrivals: AtomicUsize,
}

/// An announced insertion; dropping it says that all bytes are copied.
pub(crate) struct Announced<'a> {
    slot: &'a AtomicU64,
}

impl Reservations {
    /// Room from `next` on, with `slots` concurrent copies.
    pub fn new(next: u64, redo: u64, slots: usize) -> Reservations {
        Reservations {
            next: Slot(AtomicU64::new(next)),
            redo: AtomicU64::new(redo),
            slots: (0..slots).map(|_| Slot(AtomicU64::new(IDLE))).collect(),
            arrivals: AtomicUsize::new(0),
        }
    }

    /// Begins at another position, before the first insertion.
    pub fn restart(&self, next: u64, redo: u64) {
        self.redo.store(redo, Ordering::SeqCst);
        self.next.0.store(next, Ordering::SeqCst);
    }

    /// Position of the next record.
    pub fn next(&self) -> u64 {
        self.next.0.load(Ordering::SeqCst)
    }

    /// The redo pointer, as [`set_redo`](Self::set_redo) got it.
    pub fn redo(&self) -> u64 {
        self.redo.load(Ordering::SeqCst)
    }

    /// First half of a checkpoint's beginning: see invariant 2.
    pub fn set_redo(&self, redo: u64) {
        self.redo.store(redo, Ordering::SeqCst);
    }

    /// A number to spread threads over the slots.
    pub fn arrival(&self) -> usize {
        self.arrivals.fetch_add(1, Ordering::Relaxed)
    }

    /// Announces that the caller may reserve at `position` or behind. Slots outnumber the threads by far, so that one
    /// is free within a round.
    pub fn announce(&self, position: u64, preferred: usize) -> Announced<'_> {
        let mut i = preferred;
        loop {
            let slot = &self.slots[i % self.slots.len()].0;
            if slot.compare_exchange(IDLE, position, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return Announced { slot };
            }
            i += 1;
            if i.is_multiple_of(self.slots.len()) {
                spin_loop();
            }
        }
    }

    /// Reserves `length` bytes at `position`, unless another inserter was quicker.
    pub fn reserve(&self, _announced: &Announced<'_>, position: u64, length: u64) -> bool {
        self.next.0.compare_exchange(position, position + length, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// Every byte before this position is copied.
    pub fn completed(&self) -> u64 {
        let next = self.next();
        self.slots.iter().map(|slot| slot.0.load(Ordering::SeqCst)).fold(next, u64::min)
    }
}

impl Announced<'_> {
    /// Everything before `position` is copied: a long record lets go of what is done.
    pub fn advance(&self, position: u64) {
        self.slot.store(position, Ordering::SeqCst);
    }
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        // SeqCst and not Release: the owner then looks for waiters, who store first and then look at the slots.
        self.slot.store(IDLE, Ordering::SeqCst);
    }
}
