//! Rings: big scans and loads reuse a few buffers and leave the rest of the pool alone.

use std::cell::{Cell, RefCell};

use base::PAGE_SIZE;
use runtime::ReadAhead;

use crate::frame::{Frame, NIL};

/// How a big scan or load keeps to few buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingKind {
    /// Sequential scans: 256 KiB, and what a query has read ahead.
    BulkRead,
    /// COPY and CREATE TABLE AS: 16 MiB.
    BulkWrite,
    /// VACUUM: 2 MiB by default.
    Vacuum,
}

/// Bytes that a query reads ahead at most.
fn room_ahead() -> usize {
    let ReadAhead { effective, combine, .. } = ReadAhead::current();
    usize::from(effective) * usize::from(combine) * PAGE_SIZE
}

/// The few buffers that one big scan or load goes round in. Belongs to one fiber.
pub struct Ring {
    kind: RingKind,
    /// Frames used so far, [`NIL`] where there is none yet.
    slots: RefCell<Vec<u32>>,
    current: Cell<usize>,
}

impl Ring {
    pub(crate) fn new(kind: RingKind, pool: usize) -> Ring {
        let bytes = match kind {
            RingKind::BulkRead => (256 << 10) + room_ahead(),
            RingKind::BulkWrite => 16 << 20,
            RingKind::Vacuum => 2 << 20,
        };
        Ring::with_bytes(kind, bytes, pool)
    }

    pub(crate) fn with_bytes(kind: RingKind, bytes: usize, pool: usize) -> Ring {
        // Never more than an eighth of the pool.
        let size = (bytes / PAGE_SIZE).min(pool / 8).max(1);
        Ring { kind, slots: RefCell::new(vec![NIL; size]), current: Cell::new(size - 1) }
    }

    /// Buffers that it has at most.
    pub(crate) fn len(&self) -> usize {
        self.slots.borrow().len()
    }

    /// What it is for.
    pub fn kind(&self) -> RingKind {
        self.kind
    }

    /// Moves on, and claims the buffer there unless others have begun to use it.
    pub(crate) fn claim(&self, frames: &[Frame]) -> Option<u32> {
        let slots = self.slots.borrow();
        let current = (self.current.get() + 1) % slots.len();
        self.current.set(current);
        let index = slots[current];
        frames.get(index as usize)?.try_claim_from_ring().then_some(index)
    }

    /// Whether a reader would rather take another buffer than write this one: when that means waiting for the log.
    pub(crate) fn declines(&self, needs_wal_flush: bool) -> bool {
        if self.kind == RingKind::BulkRead && needs_wal_flush {
            self.slots.borrow_mut()[self.current.get()] = NIL;
            return true;
        }
        false
    }

    /// The buffer that was taken in the end.
    pub(crate) fn keep(&self, index: u32) {
        self.slots.borrow_mut()[self.current.get()] = index;
    }
}
