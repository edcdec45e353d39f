//! What · Snapshots: built once for each completion, shared by reference, reused until the next (thread 1).
//!
//! Layout · [`SnapshotData`] is the shared, immutable part, one for each value of the completion counter that anybody asked
//! at. Each worker thread keeps the last one it used in its [`SnapshotCache`]; while the global counter has not moved,
//! [`TxnSystem::snapshot`](crate::TxnSystem::snapshot) is a reference count of this worker's.
//!
//! Invariants
//! 1. `data.completions == running.completions()`, loaded after the worker's horizon was published, makes a cached snapshot
//!    as good as a new one (argument in [`running`](super::running)).
//! 2. While a [`Snapshot`] exists its worker publishes a horizon not above its `xmin` (argument in
//!    [`horizon`](super::horizon)). There is no unregistered snapshot, so no catalog scan can forget to register its own.
//! 3. A snapshot stays on the thread that took it (`!Send`): sessions move between workers only when they hold none.
//!    What leaves the thread is [`SnapshotData`]: adopted elsewhere while the original is held, or lent to a thread that ends before the
//!    original does ([`Snapshot::lent`]). A lent one holds nothing back itself.
//!
//! Locks · none on the fast path; the running set's mutex when the counter moved.
//!
//! PostgreSQL counterpart · `GetSnapshotData`, `XidInMVCCSnapshot`, registered snapshots. Differences: shared by all
//! sessions, holds top-level xids only, own xids are not left out (ask `Transaction::is_mine` first).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, RelFile, Xid};

use super::horizon::{Held, Known, Oldest};
use super::old_snapshot::Lost;
use super::running::Running;
use super::subxact::{Family, SubxactMap};

/// The transactions in progress at one moment. Immutable.
pub struct SnapshotData {
    /// Oldest xid in progress, inclusive: everything below has ended.
    pub xmin: Xid,
    /// One above the greatest ended xid: everything from here on is in progress or not given out.
    pub xmax: Xid,
    /// Top-level xids in progress within `xmin..xmax`, ascending.
    pub xip: Vec<Xid>,
    /// Completion counter at which it was built.
    pub completions: u64,
    /// Oldest xids whose changes it may have to see undone, for each class of relations.
    pub oldest: Oldest,
    pub(super) parents: Arc<SubxactMap>,
    /// What was removed although this snapshot needs it.
    pub lost: Lost,
}

impl SnapshotData {
    /// Whether `xid` had ended: its status in the commit log then decides. Rolled-back subtransactions always have ended,
    /// as nobody ever needs to see anything of them.
    #[inline]
    pub fn sees(&self, xid: Xid) -> bool {
        if xid < self.xmin {
            return true;
        }
        if xid >= self.xmax {
            return false;
        }
        self.xip.is_empty() || self.not_in_progress(xid)
    }

    fn not_in_progress(&self, xid: Xid) -> bool {
        let top = match self.parents.family(xid) {
            Family::Top => xid,
            Family::Child(top) => top,
            Family::AbortedChild(_) => return true,
        };
        self.xip.binary_search(&top).is_err()
    }
}

impl std::fmt::Debug for SnapshotData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{:?}@{}", self.xmin, self.xmax, self.xip, self.completions)
    }
}

/// Shared data with the number of this worker's holders.
struct Entry {
    data: Arc<SnapshotData>,
    holders: Cell<u32>,
    /// What its holders hold back, and where they say so; nowhere if it is lent.
    holds: Oldest,
    held: Option<Rc<Held>>,
}

/// Which transactions count as ended. Cheap to clone; holds the horizon back until its last clone is dropped; not `Send`.
pub struct Snapshot(Rc<Entry>);

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.data.fmt(f)
    }
}

impl Snapshot {
    /// Whether `xid` had ended when the snapshot was taken: its status in the commit log then decides. Takes xids of
    /// subtransactions too; the caller's own xids are its own business.
    #[inline]
    pub fn sees(&self, xid: Xid) -> bool {
        self.0.data.sees(xid)
    }

    /// Oldest xid in progress, inclusive.
    #[inline]
    pub fn xmin(&self) -> Xid {
        self.0.data.xmin
    }

    /// One above the greatest ended xid.
    #[inline]
    pub fn xmax(&self) -> Xid {
        self.0.data.xmax
    }

    /// Top-level xids in progress within `xmin..xmax`, ascending.
    pub fn in_progress(&self) -> &[Xid] {
        &self.0.data.xip
    }

    /// Whether a version that this snapshot sees was removed from a page. Asked after the page was read.
    #[inline]
    pub fn lost_page(&self, file: RelFile, block: BlockNo) -> bool {
        self.0.data.lost.page(file, block)
    }

    /// Whether a version that this snapshot sees was removed from any page from `block` on. With block 0, asked after an index
    /// of the relation was read, which may have lost the entry.
    #[inline]
    pub fn lost_from(&self, file: RelFile, block: BlockNo) -> bool {
        self.0.data.lost.any_from(file, block)
    }

    /// The same snapshot for a thread that helps. The caller holds the original until that thread has dropped this one.
    pub fn lent(data: Arc<SnapshotData>) -> Snapshot {
        Snapshot(Rc::new(Entry { holds: data.oldest, data, holders: Cell::new(1), held: None }))
    }

    /// The part that may go to other threads (`pg_export_snapshot`).
    pub fn data(&self) -> &Arc<SnapshotData> {
        &self.0.data
    }
}

impl Clone for Snapshot {
    fn clone(&self) -> Snapshot {
        self.0.holders.set(self.0.holders.get() + 1);
        Snapshot(self.0.clone())
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let holders = self.0.holders.get() - 1;
        self.0.holders.set(holders);
        if holders == 0
            && let Some(held) = &self.0.held
        {
            held.remove(self.0.holds);
        }
    }
}

/// A worker's last snapshot, and the horizon it publishes.
pub struct SnapshotCache {
    last: RefCell<Rc<Entry>>,
    /// The snapshot before it, once it is no longer used: the next one reuses its memory, so that nothing is allocated under the running set's mutex.
    spare: RefCell<Option<Arc<SnapshotData>>>,
    pub(super) held: Rc<Held>,
}

impl SnapshotCache {
    /// Starts with the present snapshot.
    pub fn new(running: &Running, held: Rc<Held>) -> SnapshotCache {
        let data = running.current(None, |_| ());
        SnapshotCache { last: RefCell::new(Self::entry(data, 0, &held)), spare: RefCell::default(), held }
    }

    fn entry(data: Arc<SnapshotData>, holders: u32, held: &Rc<Held>) -> Rc<Entry> {
        Rc::new(Entry { holds: data.oldest, data, holders: Cell::new(holders), held: Some(held.clone()) })
    }

    /// The present snapshot.
    #[inline]
    pub fn take(&self, running: &Running) -> Snapshot {
        let last = self.last.borrow();
        if last.data.completions == running.completions() {
            if last.holders.get() > 0 {
                last.holders.set(last.holders.get() + 1);
                return Snapshot(last.clone());
            }
            self.held.add(last.holds);
            // Again: before the xmin was published, a horizon could have passed it.
            if last.data.completions == running.completions() {
                last.holders.set(1);
                return Snapshot(last.clone());
            }
            self.held.remove(last.holds);
        }
        drop(last);
        self.take_new(running)
    }

    #[cold]
    fn take_new(&self, running: &Running) -> Snapshot {
        let data = running.current(self.spare.take(), |data| self.held.add(data.oldest));
        let entry = Self::entry(data, 1, &self.held);
        self.remember(entry.clone());
        Snapshot(entry)
    }

    fn remember(&self, entry: Rc<Entry>) {
        if let Ok(before) = Rc::try_unwrap(self.last.replace(entry)) {
            *self.spare.borrow_mut() = Some(before.data);
        }
    }

    /// A snapshot that holds back only what it says, for VACUUM. Never reused.
    pub fn take_for_vacuum(&self, running: &Running) -> Snapshot {
        let only_parents = |data: &SnapshotData| Oldest::only_parents(data.oldest.parents);
        let data = running.current(None, |data| self.held.add(only_parents(data)));
        let (holds, holders) = (only_parents(&data), Cell::new(1));
        Snapshot(Rc::new(Entry { data, holders, holds, held: Some(self.held.clone()) }))
    }

    /// Another session's snapshot, here too. The caller makes sure that the original is held meanwhile.
    pub fn adopt(&self, data: Arc<SnapshotData>) -> Snapshot {
        self.held.add(data.oldest);
        Snapshot(Self::entry(data, 1, &self.held))
    }

    /// What runs now, for questions about the present ("is this xid in progress?"). Not held: its `xmin` protects nothing.
    /// A subtransaction freed from the map meanwhile has ended, and reads as ended.
    pub fn present(&self, running: &Running) -> Arc<SnapshotData> {
        let last = self.last.borrow();
        if last.data.completions == running.completions() {
            return last.data.clone();
        }
        drop(last);
        let data = running.current(self.spare.take(), |_| ());
        self.remember(Self::entry(data.clone(), 0, &self.held));
        data
    }

    /// What this worker knew last of a class, which `class` picks; costs nothing, may be old.
    #[inline]
    pub fn last_known(&self, class: fn(&Oldest) -> Xid) -> Known {
        let last = self.last.borrow();
        Known { needed: class(&last.data.oldest), completions: last.data.completions }
    }

    /// As [`SnapshotData::sees`] of the last known state: a yes is final, a no may be old.
    pub fn last_sees(&self, xid: Xid) -> bool {
        self.last.borrow().data.sees(xid)
    }
}
