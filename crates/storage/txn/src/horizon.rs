//! What · Removal horizons: which deleted row versions some snapshot may still see (thread 1).
//!
//! Classes · Who can need an old version depends on the relation ([`RelKind`]). *Shared* and *catalog* relations: every
//! snapshot, and every running transaction but a VACUUM. *Plain* ones: the same, but for transactions that only build an index:
//! they write catalog rows and no row of a table ([`XidHolds`]). *Temporary* ones: their own session alone, which runs one
//! transaction at a time: nothing that has ended is needed any more, and no shared word is read.
//!
//! Layout · A snapshot needs the versions from an xid on, for each class ([`Oldest`]); nearly always the same for all. Each worker
//! thread publishes the oldest need among the snapshots its sessions hold, in a few words ([`Published`]). The accurate horizon is the
//! least of the running set's and those words: its cost grows with workers, not with sessions. Beside it each worker remembers two
//! bounds for each class ([`Bounds`]): below `maybe_needed` an xid is surely removable, from `definitely_needed` on surely not, and
//! only for an xid between them the accurate horizon is computed. `definitely_needed` comes from the worker's last snapshot, so it
//! moves for free.
//!
//! Invariants
//! 1. A horizon is never above what a snapshot needs that exists, nor one taken later.
//! 2. `maybe_needed` only grows.
//! 3. *How often:* for tests of [`Bounds`] a worker computes the accurate horizon at most once for each new `definitely_needed`, and
//!    under one that stays (a long transaction) once for every [`REFRESH_AFTER`] transactions that ended; however many rows are tested.
//! 4. What a running xid holds back ([`XidHolds`]) is settled before it is given out and never widens: snapshots taken
//!    meanwhile rely on it.
//!
//! Why invariant 1 holds · The oldest need of the running set never falls, in any class: xids are given out ascending, and none changes
//! its class. Let a worker use a snapshot built at count `c` that needs `x`, and a horizon be computed at count `h`. If `h <= c`, the
//! running set itself keeps it at or below `x`. If `h > c`: the worker stored `x` in its word, then loaded the counter and found `c`;
//! the store of `c + 1` came before the horizon's reader left the running set's mutex, and that reader loads the words only then. All
//! four are SeqCst, so in their one order: store of `x`, load of `c`, store of `c + 1`, load of the word. The reader sees `x`, or a
//! later value, which the worker stored when it dropped the snapshot. A snapshot taken under the mutex publishes inside it. An adopted
//! snapshot is covered by the original, which is held until the copy is published.
//!
//! Why a build's xid may be left out for plain relations · Let it be `b`, and `s` a snapshot that has `b` in progress and needs plain
//! rows from `x > b` on. A version of a plain relation that a transaction below `x` ended was not ended by `b`; all other xids below `x`
//! had ended before `s`, which therefore sees the end and does not need the version.
//!
//! Standbys · What their queries need (`hot_standby_feedback`) comes late, and may be less than what is gone already: it holds back from then on. That
//! is all it is for; a query there that needs more is cancelled.
//!
//! Locks · `Publishers::slots`, a short mutex, taken after the running set's was released.
//!
//! PostgreSQL counterpart · `ComputeXidHorizons`, `GlobalVisState`. Differences: publication for each worker instead of each
//! backend; a CREATE INDEX that is a transaction of its own holds no rows of tables back; sessions of other databases hold back
//! plain relations and catalogs too, as snapshots are not bound to a database here.

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
    /// Ordinary relations, and their TOAST tables.
    Plain,
    /// Temporary relations: of use to one session only, whose own running transaction is the bound.
    Temp,
}

/// Two bounds on the xids whose deletions may still have to be visible to some snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizons {
    /// From here on, surely needed: not removable.
    pub definitely_needed: Xid,
    /// Below this, surely not needed: removable. Equal to `definitely_needed` if accurate.
    pub maybe_needed: Xid,
}

/// What a running transaction's xid holds back, beside the parents of subtransactions. Settled before the xid is given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum XidHolds {
    /// Everything: it may write any row.
    #[default]
    Everything,
    /// Rows of catalogs: it builds an index, and writes no row of a table.
    Catalogs,
    /// Nothing: a VACUUM, which writes no rows at all.
    Nothing,
}

const NONE: Xid = Xid(u64::MAX);

/// The oldest xids that are needed, inclusive, for each class: those that one snapshot needs, or the accurate horizons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oldest {
    /// Parents of subtransactions.
    pub parents: Xid,
    /// Row versions of catalogs, shared ones included.
    pub catalogs: Xid,
    /// Row versions of plain relations.
    pub plain: Xid,
}

impl Oldest {
    /// The same for all classes.
    pub fn all(xid: Xid) -> Oldest {
        Oldest { parents: xid, catalogs: xid, plain: xid }
    }

    /// Of a VACUUM's snapshot: it sees to it itself that it needs no old rows.
    pub fn only_parents(xid: Xid) -> Oldest {
        Oldest { parents: xid, catalogs: NONE, plain: NONE }
    }

    /// Of xids in progress, ascending, with what each holds back; `end` where there is none.
    pub(super) fn of(running: impl Iterator<Item = (Xid, XidHolds)>, end: Xid) -> Oldest {
        let mut oldest = Oldest::all(end);
        for (xid, holds) in running {
            oldest.parents = oldest.parents.min(xid);
            if holds != XidHolds::Nothing {
                oldest.catalogs = oldest.catalogs.min(xid);
            }
            if holds == XidHolds::Everything {
                oldest.plain = oldest.plain.min(xid);
                break;
            }
        }
        oldest
    }

    fn is_uniform(self) -> bool {
        self == Oldest::all(self.parents)
    }

    fn min(self, other: Oldest) -> Oldest {
        Oldest {
            parents: self.parents.min(other.parents),
            catalogs: self.catalogs.min(other.catalogs),
            plain: self.plain.min(other.plain),
        }
    }
}

/// A worker's oldest needs.
#[derive(Debug)]
pub struct Published {
    /// Of snapshots that need the same in all classes: nearly all.
    uniform: Alone<AtomicU64>,
    /// Of the others: parents, catalogs, plain.
    classes: [AtomicU64; 3],
}

impl Published {
    fn new() -> Published {
        let none = || AtomicU64::new(NONE.0);
        Published { uniform: Alone(none()), classes: [none(), none(), none()] }
    }

    fn load(&self) -> Oldest {
        let load = |word: &AtomicU64| Xid(word.load(Ordering::SeqCst));
        let [parents, catalogs, plain] = &self.classes;
        let split = Oldest { parents: load(parents), catalogs: load(catalogs), plain: load(plain) };
        Oldest::all(load(&self.uniform)).min(split)
    }
}

/// The workers' words.
pub struct Publishers {
    slots: Mutex<Vec<Arc<Published>>>,
    /// What snapshots of standbys need, which hold back rows of all relations.
    standbys: AtomicU64,
}

impl Default for Publishers {
    fn default() -> Publishers {
        Publishers { slots: Mutex::default(), standbys: AtomicU64::new(NONE.0) }
    }
}

impl Publishers {
    /// Snapshots of standbys need rows from this xid on; none: they need no more than others.
    pub fn set_standbys(&self, xmin: Option<Xid>) {
        self.standbys.store(xmin.unwrap_or(NONE).0, Ordering::SeqCst);
    }

    fn register(&self) -> Arc<Published> {
        let slot = Arc::new(Published::new());
        self.slots.lock().push(slot.clone());
        slot
    }

    fn unregister(&self, slot: &Arc<Published>) {
        self.slots.lock().retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// The oldest snapshot that looks at rows of plain tables: its `xmin`, none without one.
    pub fn oldest_snapshot(&self) -> Option<Xid> {
        let oldest = self.slots.lock().iter().map(|slot| slot.load().plain).min();
        oldest.filter(|&xmin| xmin != NONE)
    }

    /// The oldest xid that a held snapshot needs of any class.
    pub fn oldest_held(&self) -> Option<Xid> {
        let of = |slot: &Arc<Published>| {
            let Oldest { parents, catalogs, plain } = slot.load();
            parents.min(catalogs).min(plain)
        };
        self.slots.lock().iter().map(of).min().filter(|&xmin| xmin != NONE)
    }

    /// The accurate horizons, all exclusive: xids below may go.
    pub fn compute(&self, running: &Running) -> Oldest {
        // Before the words: see the module's proof.
        let oldest = running.oldest();
        let standbys = Xid(self.standbys.load(Ordering::SeqCst));
        let oldest = oldest.min(Oldest { parents: NONE, catalogs: standbys, plain: standbys });
        self.slots.lock().iter().fold(oldest, |oldest, slot| oldest.min(slot.load()))
    }
}

/// Xids that a worker's snapshots need, oldest first, with the number of their holders.
#[derive(Default)]
struct Holders(RefCell<VecDeque<(Xid, u32)>>);

impl Holders {
    #[inline]
    fn add(&self, xid: Xid, published: &AtomicU64) {
        let mut list = self.0.borrow_mut();
        let oldest = list.front().map_or(NONE, |&(oldest, _)| oldest);
        match list.back_mut() {
            Some((newest, holders)) if *newest == xid => *holders += 1,
            Some((newest, _)) if *newest > xid => match list.binary_search_by_key(&xid, |&(xid, _)| xid) {
                Ok(at) => list[at].1 += 1,
                Err(at) => list.insert(at, (xid, 1)),
            },
            _ => list.push_back((xid, 1)),
        }
        if xid < oldest {
            // SeqCst: partner of the load in `Published::load`.
            published.store(xid.0, Ordering::SeqCst);
        }
    }

    #[inline]
    fn remove(&self, xid: Xid, published: &AtomicU64) {
        let mut list = self.0.borrow_mut();
        let oldest = list.front().map(|&(oldest, _)| oldest);
        let found = list.binary_search_by_key(&xid, |&(xid, _)| xid);
        let Ok(at) = found else {
            debug_assert!(false, "xid {xid} is not held");
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
            published.store(now.unwrap_or(NONE).0, Ordering::Release);
        }
    }
}

/// What the snapshots need that a worker's sessions hold.
pub struct Held {
    uniform: Holders,
    classes: [Holders; 3],
    published: Arc<Published>,
    publishers: Arc<Publishers>,
}

impl Held {
    /// One more worker, which holds nothing yet.
    pub fn new(publishers: &Arc<Publishers>) -> Held {
        Held {
            uniform: Holders::default(),
            classes: Default::default(),
            published: publishers.register(),
            publishers: publishers.clone(),
        }
    }

    /// One more snapshot that needs `oldest`; published before this returns.
    #[inline]
    pub fn add(&self, oldest: Oldest) {
        match oldest.is_uniform() {
            true => self.uniform.add(oldest.parents, &self.published.uniform),
            false => self.for_classes(oldest, Holders::add),
        }
    }

    /// One less.
    #[inline]
    pub fn remove(&self, oldest: Oldest) {
        match oldest.is_uniform() {
            true => self.uniform.remove(oldest.parents, &self.published.uniform),
            false => self.for_classes(oldest, Holders::remove),
        }
    }

    #[cold]
    fn for_classes(&self, oldest: Oldest, change: fn(&Holders, Xid, &AtomicU64)) {
        let xids = [oldest.parents, oldest.catalogs, oldest.plain];
        for (class, xid) in xids.into_iter().enumerate().filter(|&(_, xid)| xid != NONE) {
            change(&self.classes[class], xid, &self.published.classes[class]);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.publishers.unregister(&self.published);
    }
}

/// Transactions that end before an accurate horizon is computed again under an unchanged upper bound.
pub const REFRESH_AFTER: u64 = 64;

/// What a worker knows for free: of its last snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// What the class needs that a snapshot taken then needs.
    pub needed: Xid,
    /// Completion counter at which it was built.
    pub completions: u64,
}

/// A worker's two bounds for one class, remembered.
#[derive(Debug, Default)]
pub struct Bounds {
    maybe_needed: Cell<Xid>,
    /// What was known when the accurate horizon was computed; count 0: never.
    computed_at: Cell<(Xid, u64)>,
}

impl Bounds {
    /// Whether rows deleted by `xid`, which committed, may go. `compute`: the accurate horizon.
    #[inline]
    pub fn is_removable(&self, xid: Xid, known: Known, compute: impl FnOnce() -> Xid) -> bool {
        if xid < self.maybe_needed.get() {
            return true;
        }
        if xid >= known.needed || self.is_fresh(known) {
            return false;
        }
        self.refresh(known, compute());
        xid < self.maybe_needed.get()
    }

    /// Invariant 3.
    fn is_fresh(&self, known: Known) -> bool {
        let (needed, completions) = self.computed_at.get();
        needed == known.needed && completions > 0 && known.completions < completions + REFRESH_AFTER
    }

    /// An accurate horizon became known.
    pub fn refresh(&self, known: Known, accurate: Xid) {
        self.computed_at.set((known.needed, known.completions));
        self.maybe_needed.set(self.maybe_needed.get().max(accurate));
    }

    /// Below this, surely not needed.
    pub fn maybe_needed(&self) -> Xid {
        self.maybe_needed.get()
    }

    /// The bounds as they are.
    pub fn get(&self, known: Known) -> Horizons {
        let maybe_needed = self.maybe_needed.get();
        let (needed, completions) = self.computed_at.get();
        let accurate = needed == known.needed && completions == known.completions;
        let definitely_needed = if accurate { maybe_needed } else { known.needed.max(maybe_needed) };
        Horizons { definitely_needed, maybe_needed }
    }
}
