//! What · `old_snapshot_threshold`: rows may be removed although a snapshot older than that needs them, and the snapshot is told
//! what it lost (thread 1).
//!
//! Two parts · *How far removal may go*: [`OldSnapshots::limit`], from a map of times to what snapshots taken then needed at the
//! least. *Who lost what*: when versions are really removed that an accurate horizon would have kept, [`OldSnapshots::lose`] goes through the
//! old snapshots there are, asks each whether it sees the version, and notes the page in those that do ([`Lost`]). Readers ask their own
//! snapshot, which costs one load while it has lost nothing, and fail with "snapshot too old" only where something is really missing.
//!
//! Layout · Samples `(time, xid)`, one for each minute, taken when a snapshot is built or a limit asked for, as a background loop does; of
//! those that are old enough the last is kept.
//! Weak references to all snapshots built, in the order of building.
//!
//! Invariants
//! 1. A snapshot that needs an xid below the sample of time `t` was built before `t`: the oldest need of the running set never falls.
//!    The limit is the sample of a time at least the threshold ago, so no younger snapshot loses anything.
//! 2. Every snapshot is registered within the critical section that built it.
//! 3. A page is noted in a snapshot before the page changes, under its exclusive latch: whoever reads the changed page, or an index
//!    that lost entries since, finds the note.
//!
//! Locks · `inner` and `Lost::pages`, short mutexes, the second taken inside the first; `inner` within the running set's.
//!
//! WAL and crash · Nothing here is durable: no snapshot survives the server.
//!
//! PostgreSQL counterpart · `snapmgr.c` up to version 16. Differences: there a page that changed since, for whatever reason, made an old
//! snapshot fail; here only one that lost a version which this snapshot sees. The time map is always used, also with a threshold of 0.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{BlockNo, RelFile, Xid};
use runtime::Instant;
use rustc_hash::FxHashMap;

use super::snapshot::SnapshotData;
use super::sync::{AtomicU32, Mutex, Ordering};

/// Time between samples.
const SAMPLE_EVERY: Duration = Duration::from_secs(60);

/// Pages from which versions were removed that a snapshot sees.
#[derive(Default)]
pub struct Lost {
    any: AtomicU32,
    pages: Mutex<FxHashMap<RelFile, BTreeSet<u32>>>,
}

impl Lost {
    pub(crate) fn note(&self, file: RelFile, block: BlockNo) {
        self.pages.lock().entry(file).or_default().insert(block.0);
        // Release: partner of the Acquire below; the latch of the page orders both.
        self.any.store(1, Ordering::Release);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.any.load(Ordering::Acquire) == 0
    }

    /// Whether a page of the relation from `block` on lost something.
    #[inline]
    pub fn any_from(&self, file: RelFile, block: BlockNo) -> bool {
        !self.is_empty() && self.look(file, |blocks| blocks.range(block.0..).next().is_some())
    }

    /// Whether this page lost something.
    #[inline]
    pub fn page(&self, file: RelFile, block: BlockNo) -> bool {
        !self.is_empty() && self.look(file, |blocks| blocks.contains(&block.0))
    }

    #[cold]
    fn look(&self, file: RelFile, found: impl FnOnce(&BTreeSet<u32>) -> bool) -> bool {
        self.pages.lock().get(&file).is_some_and(found)
    }
}

/// A version being removed: who inserted it, and who deleted it.
pub type Removed = (Xid, Xid);

/// The snapshots there are, and the times at which they were taken.
pub struct OldSnapshots {
    threshold: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Ascending in both.
    samples: VecDeque<(Instant, Xid)>,
    snapshots: Vec<Weak<SnapshotData>>,
    /// Length of `snapshots` at which those that are gone are taken out.
    sweep_at: usize,
}

impl Inner {
    fn sample(&mut self, now: Instant, oldest: Xid) {
        if self.wants_sample(now) {
            self.samples.push_back((now, oldest));
        }
    }

    fn wants_sample(&self, now: Instant) -> bool {
        self.samples.back().is_none_or(|&(last, _)| now.since(last) >= SAMPLE_EVERY)
    }
}

impl OldSnapshots {
    /// With this threshold.
    pub fn new(threshold: Duration) -> OldSnapshots {
        OldSnapshots { threshold, inner: Mutex::new(Inner::default()) }
    }

    /// A snapshot was built just now (invariant 2).
    pub(super) fn register(&self, snapshot: &Arc<SnapshotData>, now: Instant) {
        let mut inner = self.inner.lock();
        inner.sample(now, snapshot.oldest.plain);
        if inner.snapshots.len() >= inner.sweep_at {
            inner.snapshots.retain(|snapshot| snapshot.strong_count() > 0);
            inner.sweep_at = inner.snapshots.len() * 2 + 64;
        }
        inner.snapshots.push(Arc::downgrade(snapshot));
    }

    /// Below this, versions that only old snapshots need may go; invalid if there is no such limit yet. `oldest`: what a snapshot
    /// taken now would need.
    pub fn limit(&self, now: Instant, oldest: impl FnOnce() -> Xid) -> Xid {
        let wants_sample = self.inner.lock().wants_sample(now);
        let oldest = wants_sample.then(oldest);
        let mut inner = self.inner.lock();
        if let Some(oldest) = oldest {
            inner.sample(now, oldest);
        }
        let is_old = |time: Instant| now.since(time) >= self.threshold;
        while inner.samples.get(1).is_some_and(|&(time, _)| is_old(time)) {
            inner.samples.pop_front();
        }
        inner.samples.front().filter(|&&(time, _)| is_old(time)).map_or(Xid::INVALID, |&(_, xid)| xid)
    }

    /// These committed versions are about to be removed from a page: tells the snapshots that see one of them.
    pub fn lose(&self, file: RelFile, block: BlockNo, removed: &[Removed]) {
        let inner = self.inner.lock();
        for snapshot in inner.snapshots.iter().filter_map(Weak::upgrade) {
            if removed.iter().any(|&(xmin, xmax)| snapshot.sees(xmin) && !snapshot.sees(xmax)) {
                snapshot.lost.note(file, block);
            }
        }
    }
}
