//! Counters of a pool.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use runtime::usage::{used, used_often};

const STRIPES: usize = 32;

/// Counters since start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStats {
    /// Pages found.
    pub hits: u64,
    /// Pages read.
    pub reads: u64,
    /// Pages written by whoever needed the buffer.
    pub backend_writes: u64,
    /// Pages written by the background writer.
    pub bgwriter_writes: u64,
    /// Pages written by checkpoints.
    pub checkpoint_writes: u64,
    /// Buffers given a new page.
    pub allocations: u64,
    /// Pages thrown out for another.
    pub evictions: u64,
    /// Pages added to relations.
    pub extends: u64,
    /// Rounds that the background writer ended because it had written enough.
    pub bgwriter_maxwritten: u64,
}

#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Stripe {
    pub hits: AtomicU64,
    pub reads: AtomicU64,
    pub backend_writes: AtomicU64,
    pub bgwriter_writes: AtomicU64,
    pub checkpoint_writes: AtomicU64,
    pub evictions: AtomicU64,
    pub extends: AtomicU64,
    pub bgwriter_maxwritten: AtomicU64,
}

/// Counters in stripes, so that threads do not share a cache line for counting.
#[derive(Default)]
pub(crate) struct Stats {
    stripes: [Stripe; STRIPES],
}

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Stats {
    /// The calling thread's counters.
    pub fn here(&self) -> &Stripe {
        let mut stripe = STRIPE.get();
        if stripe == usize::MAX {
            stripe = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
            STRIPE.set(stripe);
        }
        &self.stripes[stripe]
    }

    /// A page was found.
    pub fn hit(&self) {
        count(&self.here().hits);
        used_often(|c| &c.shared_hit);
    }

    /// A page is read.
    pub fn read(&self) {
        count(&self.here().reads);
        used(|c| &c.shared_read, 1);
    }

    /// All stripes together.
    pub fn sum(&self) -> BufferStats {
        let sum = |field: fn(&Stripe) -> &AtomicU64| -> u64 {
            self.stripes.iter().map(|stripe| field(stripe).load(Ordering::Relaxed)).sum()
        };
        BufferStats {
            hits: sum(|s| &s.hits),
            reads: sum(|s| &s.reads),
            backend_writes: sum(|s| &s.backend_writes),
            bgwriter_writes: sum(|s| &s.bgwriter_writes),
            checkpoint_writes: sum(|s| &s.checkpoint_writes),
            allocations: 0,
            evictions: sum(|s| &s.evictions),
            extends: sum(|s| &s.extends),
            bgwriter_maxwritten: sum(|s| &s.bgwriter_maxwritten),
        }
    }
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
