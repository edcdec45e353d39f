//! What · Removal horizons: which deleted row versions somebody may still see (thread 1).
//!
//! Layout · Each worker thread publishes the oldest `xmin` among the snapshots its sessions hold in one word ([`Published`]).
//! The accurate horizon is the least of the oldest running xid and those words: its cost grows with workers, not
//! with sessions. Beside it each worker remembers two bounds ([`Bounds`]): below `maybe_needed` an xid is surely
//! removable, from `definitely_needed` on surely not, and only for an xid between them the accurate horizon is computed.
//! `definitely_needed` is the `xmin` of the worker's last snapshot, so it moves for free.
//!
//! Invariants
//! 1. A horizon is never above the `xmin` of a snapshot that exists, nor of one taken later.
//! 2. `maybe_needed` only grows.
//! 3. Once an accurate horizon was computed it is not computed again for a test of [`Bounds`] until the worker's last
//!    snapshot has a new `xmin`: at most once for each, however many rows are tested.
//!
//! Why invariant 1 holds · The xmin of the running set never falls. Let a worker use a snapshot built at count `c` with
//! `xmin = x`, and a horizon be computed at count `h`. If `h <= c`, the running set itself keeps it at or below `x`. If
//! `h > c`: the worker stored `x` in its word, then loaded the counter and found `c`; the store of `c + 1` came before
//! the horizon's reader left the running set's mutex, and that reader loads the words only then. All four are SeqCst, so
//! in their one order: store of `x`, load of `c`, store of `c + 1`, load of the word. The reader sees `x`, or a later
//! value, which the worker stored when it dropped the snapshot. A snapshot taken under the mutex publishes inside it.
//! An adopted snapshot is covered by the original, which is held until the copy is published.
//!
//! Locks · `Publishers::slots`, a short mutex, taken after the running set's was released.
//!
//! PostgreSQL counterpart · `ComputeXidHorizons`, `GlobalVisState`. Differences: publication for each worker instead of each
//! backend; shared, catalog and plain relations have the same horizon, as snapshots are not bound to a database here.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use base::Xid;

use super::running::Running;
use super::sync::{Alone, AtomicU64, Mutex, Ordering};

/// Classes of relations, by which snapshots can need their old rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelKind {
    /// Shared catalogs: sessions of any database read them.
    Shared,
    /// Catalogs of one database.
    Catalog,
    /// Ordinary relations.
    Plain,
    /// Temporary relations: of use to one session only, whose own xid is the bound.
    Temp,
}

/// Two bounds on which xids' deletions somebody may still have to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizons {
    /// From here on, surely needed: not removable.
    pub definitely_needed: Xid,
    /// Below this, surely not needed: removable. Equal to `definitely_needed` if accurate.
    pub maybe_needed: Xid,
}

/// What a snapshot holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldsBack {
    /// Removal of rows, and of the parents of subtransactions.
    Everything,
    /// Only the parents of subtransactions: a VACUUM sees to it itself that it needs no old rows.
    OnlyParents,
}

const NONE: u64 = u64::MAX;

/// A worker's oldest `xmin` for each [`HoldsBack`].
#[derive(Debug)]
pub struct Published {
    everything: Alone<AtomicU64>,
    only_parents: AtomicU64,
}

impl Published {
    fn word(&self, holds_back: HoldsBack) -> &AtomicU64 {
        match holds_back {
            HoldsBack::Everything => &self.everything,
            HoldsBack::OnlyParents => &self.only_parents,
        }
    }
}

/// The workers' words.
#[derive(Default)]
pub struct Publishers {
    slots: Mutex<Vec<Arc<Published>>>,
}

impl Publishers {
    fn register(&self) -> Arc<Published> {
        let slot = Arc::new(Published {
            everything: Alone(AtomicU64::new(NONE)),
            only_parents: AtomicU64::new(NONE),
        });
        self.slots.lock().push(slot.clone());
        slot
    }

    fn unregister(&self, slot: &Arc<Published>) {
        self.slots.lock().retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// The accurate horizons.
    pub fn compute(&self, running: &Running) -> Accurate {
        // Before the words: see the module's proof.
        let (oldest_any, oldest) = running.oldest();
        let mut accurate = Accurate { rows: oldest, parents: oldest_any };
        for slot in self.slots.lock().iter() {
            let everything = Xid(slot.everything.load(Ordering::SeqCst));
            let only_parents = Xid(slot.only_parents.load(Ordering::SeqCst));
            accurate.rows = accurate.rows.min(everything);
            accurate.parents = accurate.parents.min(everything).min(only_parents);
        }
        accurate
    }
}

/// Horizons as they are, all exclusive: xids below may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accurate {
    /// For row versions.
    pub rows: Xid,
    /// For the parents of subtransactions and the commit log.
    pub parents: Xid,
}

/// The `xmin`s of the snapshots that a worker's sessions hold, oldest first, with their number.
pub struct Held {
    everything: RefCell<VecDeque<(Xid, u32)>>,
    only_parents: RefCell<VecDeque<(Xid, u32)>>,
    published: Arc<Published>,
    publishers: Arc<Publishers>,
}

impl Held {
    /// One more worker, which holds nothing yet.
    pub fn new(publishers: &Arc<Publishers>) -> Held {
        Held {
            everything: RefCell::default(),
            only_parents: RefCell::default(),
            published: publishers.register(),
            publishers: publishers.clone(),
        }
    }

    fn list(&self, holds_back: HoldsBack) -> &RefCell<VecDeque<(Xid, u32)>> {
        match holds_back {
            HoldsBack::Everything => &self.everything,
            HoldsBack::OnlyParents => &self.only_parents,
        }
    }

    /// One more holder of `xmin`; published if it is the oldest.
    #[inline]
    pub fn add(&self, holds_back: HoldsBack, xmin: Xid) {
        let mut list = self.list(holds_back).borrow_mut();
        let oldest = list.front().map_or(Xid(NONE), |&(oldest, _)| oldest);
        match list.back_mut() {
            Some((newest, holders)) if *newest == xmin => *holders += 1,
            Some((newest, _)) if *newest > xmin => {
                match list.binary_search_by_key(&xmin, |&(xmin, _)| xmin) {
                    Ok(at) => list[at].1 += 1,
                    Err(at) => list.insert(at, (xmin, 1)),
                }
            }
            _ => list.push_back((xmin, 1)),
        }
        if xmin < oldest {
            // SeqCst: partner of the load in `Publishers::compute`.
            self.published.word(holds_back).store(xmin.0, Ordering::SeqCst);
        }
    }

    /// One holder of `xmin` less.
    #[inline]
    pub fn remove(&self, holds_back: HoldsBack, xmin: Xid) {
        let mut list = self.list(holds_back).borrow_mut();
        let oldest = list.front().map(|&(oldest, _)| oldest);
        let found = list.binary_search_by_key(&xmin, |&(xmin, _)| xmin);
        let Ok(at) = found else {
            debug_assert!(false, "xmin {xmin} is not held");
            return;
        };
        list[at].1 -= 1;
        // Those in the middle stay as markers with no holder until the ends reach them.
        while list.front().is_some_and(|&(_, holders)| holders == 0) {
            list.pop_front();
        }
        while list.back().is_some_and(|&(_, holders)| holders == 0) {
            list.pop_back();
        }
        let now = list.front().map(|&(oldest, _)| oldest);
        if now != oldest {
            // Release: what was read under the old snapshot happened before its rows are removed.
            self.published.word(holds_back).store(now.map_or(NONE, |xmin| xmin.0), Ordering::Release);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.publishers.unregister(&self.published);
    }
}

/// A worker's two bounds, remembered.
#[derive(Debug, Default)]
pub struct Bounds {
    maybe_needed: Cell<Xid>,
    /// `xmin` of the worker's last snapshot when the accurate horizon was computed.
    computed_at: Cell<Xid>,
}

impl Bounds {
    /// Whether rows deleted by `xid`, which committed, may go. `last_xmin`: of the worker's last snapshot. `compute`: the
    /// accurate horizon.
    #[inline]
    pub fn is_removable(&self, xid: Xid, last_xmin: Xid, compute: impl FnOnce() -> Xid) -> bool {
        if xid < self.maybe_needed.get() {
            return true;
        }
        if xid >= last_xmin || self.computed_at.get() == last_xmin {
            return false;
        }
        self.refresh(last_xmin, compute());
        xid < self.maybe_needed.get()
    }

    /// An accurate horizon became known.
    pub fn refresh(&self, last_xmin: Xid, accurate: Xid) {
        self.computed_at.set(last_xmin);
        self.maybe_needed.set(self.maybe_needed.get().max(accurate));
    }

    /// The bounds as they are.
    pub fn get(&self, last_xmin: Xid) -> Horizons {
        let maybe_needed = self.maybe_needed.get();
        let accurate = self.computed_at.get() == last_xmin;
        let definitely_needed = if accurate { maybe_needed } else { last_xmin.max(maybe_needed) };
        Horizons { definitely_needed, maybe_needed }
    }
}
