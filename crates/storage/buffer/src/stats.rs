//! Counters of a pool.

use std::cell::Cell;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use runtime::usage::{Account, used, used_often};

use crate::ring::{Ring, RingKind};

const STRIPES: usize = 32;

/// On whose account pages are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum IoKind {
    /// A session's, without a ring.
    Normal,
    /// A session's, by a ring of this kind.
    BulkRead,
    /// As above.
    BulkWrite,
    /// As above.
    Vacuum,
    /// That of the launcher of automatic vacuums, without a ring.
    LauncherNormal,
    /// Its own, by a ring.
    LauncherBulkRead,
    /// That of an automatic vacuum, without a ring.
    WorkerNormal,
    /// Its own, by a ring for scans.
    WorkerBulkRead,
    /// Its own, by VACUUM's ring.
    WorkerVacuum,
    /// The background writer's.
    BackgroundWriter,
    /// A checkpoint's.
    Checkpointer,
}

impl IoKind {
    /// Of whoever runs now, with this ring, if it has one.
    #[inline]
    pub(crate) fn of(ring: Option<&Ring>) -> IoKind {
        match (Account::current(), ring.map(Ring::kind)) {
            (Account::AutovacuumLauncher, None) => IoKind::LauncherNormal,
            (Account::AutovacuumLauncher, Some(RingKind::BulkRead)) => IoKind::LauncherBulkRead,
            (Account::AutovacuumWorker, None) => IoKind::WorkerNormal,
            (Account::AutovacuumWorker, Some(RingKind::BulkRead)) => IoKind::WorkerBulkRead,
            (Account::AutovacuumWorker, Some(RingKind::Vacuum)) => IoKind::WorkerVacuum,
            (_, None) => IoKind::Normal,
            (_, Some(RingKind::BulkRead)) => IoKind::BulkRead,
            (_, Some(RingKind::BulkWrite)) => IoKind::BulkWrite,
            (_, Some(RingKind::Vacuum)) => IoKind::Vacuum,
        }
    }

    /// Those of sessions, automatic vacuums among them.
    pub const SESSIONS: [IoKind; 9] = [
        IoKind::Normal,
        IoKind::BulkRead,
        IoKind::BulkWrite,
        IoKind::Vacuum,
        IoKind::LauncherNormal,
        IoKind::LauncherBulkRead,
        IoKind::WorkerNormal,
        IoKind::WorkerBulkRead,
        IoKind::WorkerVacuum,
    ];
}

/// Number of [`IoKind`]s.
const KINDS: usize = IoKind::Checkpointer as usize + 1;

macro_rules! io_counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What was read and written on somebody's account. Times are nanoseconds, where they are measured.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct IoStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AddAssign for IoStats {
            fn add_assign(&mut self, more: IoStats) {
                $(self.$name += more.$name;)*
            }
        }

        #[derive(Default)]
        pub(crate) struct IoCounters {
            $(pub $name: AtomicU64,)*
        }

        impl IoCounters {
            fn load(&self) -> IoStats {
                IoStats { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

io_counters! {
    /// Pages found.
    hits,
    /// Reads, of one page or of several that are neighbours.
    reads,
    /// Pages read.
    read_pages,
    /// Time of that.
    read_time,
    /// Pages written.
    writes,
    /// Time of that.
    write_time,
    /// Pages added to relations.
    extends,
    /// Pages thrown out for another.
    evictions,
    /// Pages of a ring thrown out for its next one.
    reuses,
}

/// Counters since start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStats {
    io: [IoStats; KINDS],
    /// Buffers given a new page.
    pub allocations: u64,
    /// Rounds that the background writer ended because it had written enough.
    pub bgwriter_maxwritten: u64,
}

impl BufferStats {
    /// What was read and written on one account.
    pub fn of(&self, kind: IoKind) -> IoStats {
        self.io[kind as usize]
    }

    /// What sessions have read and written, by rings or without.
    pub fn sessions(&self) -> IoStats {
        let mut sum = IoStats::default();
        IoKind::SESSIONS.into_iter().for_each(|kind| sum += self.of(kind));
        sum
    }
}

#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Stripe {
    io: [IoCounters; KINDS],
    pub bgwriter_maxwritten: AtomicU64,
}

impl Stripe {
    /// The counters of one account.
    #[inline]
    pub fn of(&self, kind: IoKind) -> &IoCounters {
        &self.io[kind as usize]
    }
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
    #[inline]
    pub fn hit(&self, kind: IoKind) {
        count(&self.here().of(kind).hits);
        used_often(|c| &c.shared_hit);
    }

    /// So many pages are read at once.
    pub fn read(&self, kind: IoKind, pages: u64) {
        let io = self.here().of(kind);
        count(&io.reads);
        add(&io.read_pages, pages);
        used(|c| &c.shared_read, pages);
    }

    /// All stripes together.
    pub fn sum(&self) -> BufferStats {
        let mut sum = BufferStats::default();
        for stripe in &self.stripes {
            stripe.io.iter().zip(&mut sum.io).for_each(|(counters, io)| *io += counters.load());
            sum.bgwriter_maxwritten += stripe.bgwriter_maxwritten.load(Ordering::Relaxed);
        }
        sum
    }
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    add(counter, 1);
}

/// Adds to it.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}
