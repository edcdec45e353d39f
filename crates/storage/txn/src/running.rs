//! What · The running set: dense arrays of the xids in progress (thread 1).
//!
//! Layout · `xids[i]` and `entries[i]` describe one top-level transaction; ascending by xid, no gaps. Sessions without an
//! xid never appear, so the length is the number of writers, not of connections. Subtransactions never appear either:
//! [`SubxactMap`] leads from them to their top level.
//!
//! Invariants
//! 1. Giving out an xid and entering the set are one critical section: whoever holds the mutex sees every top-level xid
//!    below `next_xid` either in the set or ended.
//! 2. Every xid in the set, and every xid given out later, is greater than each xid that the set's present `xmin`
//!    excludes: `xmin` never falls.
//! 3. Leaving the set, `latest_completed` and the completion counter change in one critical section, after the commit log
//!    has the outcome and before the client hears of it.
//! 4. Transactions that commit leave in the order of their commit records ([`order`](super::order)).
//! 5. The counter advances for the end of a top-level transaction with an xid, and for the abort of a subtransaction
//!    with one (thread 4: `xmax` moves, and rows of the aborted become surely dead); never for readers.
//!
//! What a reader of the counter may see · A reader that loads the value `c` may use any snapshot built at `c`.
//! *It sees what was acknowledged:* the committer stores `c + 1` before it acknowledges. Whatever brought the
//! acknowledgement to the reader (a socket, a latch, another transaction's snapshot) orders that store before the reader's
//! load, and coherence then forbids the load to return less than `c + 1`. *It may miss what was not:* a load may return
//! `c` although the store of `c + 1` is under way on another core; that transaction ended at the same time as the
//! snapshot was taken, and either order is right. The first load after a snapshot was built under the mutex never sees
//! less than it was built at, for the same reason. The horizon's half of the argument is in [`horizon`](super::horizon).
//!
//! While a log is replayed the set says what ran on the server that wrote it, at the place where replay is:
//! 1. *An xid that was given out and has not ended is in the set.* Xids are given out ascending, and one that is seen in the log brings all below it that
//!    were not seen yet ([`Running::observe`]). At the beginning of replay the set has those of the checkpoint's running range that the commit log does not
//!    know as ended ([`Running::begin_replay`]): it may be newer than that moment, but not than the one when the data are consistent, before which
//!    nobody looks.
//! 2. *One that has ended leaves* when the record of its end is read, with its subtransactions in one step, behind the commit log ([`Running::replay_end`]).
//!    Who ended without a record (a crash, a full disk) leaves at the next checkpoint, which says below which xid all have ended
//!    ([`Running::replay_oldest`]).
//! 3. So snapshots see transactions in the order of their records. That is the order in which the server that wrote them let them be seen (invariant 4):
//!    what a snapshot here sees, one there saw at some moment. There is no long fork, among servers either.
//! 4. A subtransaction stands for itself until the record of its top level, or of its rollback, says what became of it: [`SubxactMap`] knows none of
//!    them, so that a snapshot looks for its own xid.
//!
//! Locks · `state` and `arrivals` are short mutexes; `arrivals` and the list of old snapshots may be taken inside `state`; none is held
//! over a wait.
//!
//! PostgreSQL counterpart · `ProcArray` and `ProcGlobal->xids`. Differences: no per-connection entries, no subxid cache
//! and hence no overflow, one mutex for assignment and removal.

use std::sync::Arc;

use base::{Xid, stop_result};

use super::SessionId;
use super::horizon::{Oldest, XidHolds};
use super::old_snapshot::{Lost, OldSnapshots};
use super::snapshot::SnapshotData;
use super::subxact::SubxactMap;
use super::sync::{Alone, AtomicU64, LOOKS, Mutex, Ordering, spin_loop};

/// What is known of a running transaction beside its xid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningEntry {
    /// Session that runs it; for a prepared transaction, the number of its stand-in.
    pub session: SessionId,
    /// What its xid holds back.
    pub holds: XidHolds,
}

impl RunningEntry {
    /// A transaction of the server whose log is replayed, or a subtransaction, as long as its parent is not known.
    pub const REPLAYED: RunningEntry =
        RunningEntry { session: SessionId::REPLAY, holds: XidHolds::Everything };
}

/// The xids in progress, the next xid, and the completion counter.
pub struct Running {
    /// How often a snapshot became outdated. Stored inside `state`, loaded anywhere.
    pub(super) completions: Alone<AtomicU64>,
    /// Copy of `State::next_xid` for readers that can do with a value that just was right.
    next_xid: AtomicU64,
    pub(super) state: Alone<Mutex<State>>,
    /// Ended transactions whose committers found `state` locked: the next committer that gets the lock removes all of them.
    arrivals: Alone<Mutex<Arrivals>>,
    /// How many of the arrivals have been removed. Stored inside `state`.
    admitted: Alone<AtomicU64>,
    parents: Arc<SubxactMap>,
    /// With `old_snapshot_threshold`.
    old_snapshots: Option<OldSnapshots>,
}

/// What the mutex guards.
pub(super) struct State {
    xids: Vec<Xid>,
    entries: Vec<RunningEntry>,
    next_xid: Xid,
    /// Greatest xid known to have ended, subtransactions included.
    latest_completed: Xid,
    /// The set is that of a server whose log is replayed.
    replays: bool,
    /// Snapshot of the present counter, if one was asked for.
    current: Option<Arc<SnapshotData>>,
}

#[derive(Default)]
struct Arrivals {
    waiting: Vec<Completion>,
    /// How many there were ever.
    count: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Completion {
    /// Top-level xid that leaves.
    pub(super) xid: Xid,
    /// Greatest xid of it and its subtransactions.
    pub(super) latest: Xid,
}

impl Running {
    /// Nothing running; `next_xid` is the first to be given out.
    pub fn new(next_xid: Xid, parents: Arc<SubxactMap>) -> Running {
        Running {
            completions: Alone(AtomicU64::new(1)),
            next_xid: AtomicU64::new(next_xid.0),
            state: Alone(Mutex::new(State {
                xids: Vec::new(),
                entries: Vec::new(),
                next_xid,
                latest_completed: Xid(next_xid.0 - 1),
                replays: false,
                current: None,
            })),
            arrivals: Alone::default(),
            admitted: Alone::default(),
            parents,
            old_snapshots: None,
        }
    }

    /// With `old_snapshot_threshold`, before the first snapshot.
    pub fn set_old_snapshots(&mut self, old_snapshots: Option<OldSnapshots>) {
        self.old_snapshots = old_snapshots;
    }

    /// The snapshots there are, with `old_snapshot_threshold`.
    pub fn old_snapshots(&self) -> Option<&OldSnapshots> {
        self.old_snapshots.as_ref()
    }

    /// Gives out an xid for a top-level transaction and enters it into the set; `None` if that would be `limit`.
    pub fn assign(&self, entry: RunningEntry, limit: Xid) -> Option<Xid> {
        let mut state = self.state.lock();
        let xid = self.advance(&mut state, limit)?;
        debug_assert!(state.xids.last().is_none_or(|&last| last < xid));
        state.xids.push(xid);
        state.entries.push(entry);
        Some(xid)
    }

    /// Gives out an xid for a subtransaction. The caller enters it into the parents' map before using it.
    pub fn assign_child(&self, limit: Xid) -> Option<Xid> {
        self.advance(&mut self.state.lock(), limit)
    }

    fn advance(&self, state: &mut State, limit: Xid) -> Option<Xid> {
        let xid = state.next_xid;
        if xid >= limit {
            return None;
        }
        state.next_xid = xid.next();
        self.next_xid.store(state.next_xid.0, Ordering::Release);
        Some(xid)
    }

    /// Enters a prepared transaction that replay has found, with its subtransactions: those stand in no entry of their own any more.
    pub fn insert(&self, xid: Xid, subxids: &[Xid], entry: RunningEntry) {
        let mut state = self.state.lock();
        state.remove_known(subxids);
        match state.xids.binary_search(&xid) {
            Ok(at) => state.entries[at] = entry,
            Err(at) => {
                state.xids.insert(at, xid);
                state.entries.insert(at, entry);
            }
        }
        self.publish(&mut state, Xid::INVALID);
    }

    /// The xid's transaction now belongs to another owner (PREPARE TRANSACTION).
    pub fn set_entry(&self, xid: Xid, entry: RunningEntry) {
        let mut state = self.state.lock();
        if let Ok(at) = state.xids.binary_search(&xid) {
            state.entries[at] = entry;
        }
    }

    /// A top-level transaction ends: it leaves the set and snapshots from now on see its outcome. `latest` is the greatest
    /// xid among it and its subtransactions.
    ///
    /// Group completion: who finds the mutex taken leaves its xid at the door, and the next committer who comes in takes out all that
    /// wait there in one pass; the others need not come in. When this returns, the xid has left.
    pub fn complete(&self, xid: Xid, latest: Xid) {
        let completion = Completion { xid, latest };
        if let Some(mut state) = self.state.try_lock() {
            state.remove(&[completion]);
            let outdated = self.publish(&mut state, latest);
            self.admit_arrivals(&mut state);
            drop(state);
            // Another worker's cache line, perhaps memory to be freed.
            drop(outdated);
            return;
        }
        let mut arrivals = self.arrivals.lock();
        arrivals.waiting.push(completion);
        arrivals.count += 1;
        let number = arrivals.count;
        drop(arrivals);
        for _ in 0..LOOKS {
            // Acquire: pairs with the Release of the thread that removed us, so that what it published happened before we return.
            if self.admitted.load(Ordering::Acquire) >= number {
                return;
            }
            if let Some(mut state) = self.state.try_lock() {
                return self.admit_arrivals(&mut state);
            }
            spin_loop();
        }
        self.admit_arrivals(&mut self.state.lock());
    }

    /// Several top-level transactions end in one step; see [`complete`](Self::complete).
    pub(super) fn complete_all(&self, group: &mut [Completion]) {
        match group {
            [] => {}
            [one] => self.complete(one.xid, one.latest),
            group => {
                group.sort_unstable_by_key(|completion| completion.xid);
                let latest = group.iter().map(|completion| completion.latest).max();
                let mut state = self.state.lock();
                state.remove(group);
                let outdated = self.publish(&mut state, latest.unwrap_or(Xid::INVALID));
                drop(state);
                drop(outdated);
            }
        }
    }

    fn admit_arrivals(&self, state: &mut State) {
        let mut arrivals = self.arrivals.lock();
        let mut group = std::mem::take(&mut arrivals.waiting);
        let count = arrivals.count;
        drop(arrivals);
        if group.is_empty() {
            return;
        }
        group.sort_unstable_by_key(|completion| completion.xid);
        state.remove(&group);
        let latest = group.iter().map(|completion| completion.latest).max();
        self.publish(state, latest.unwrap_or(Xid::INVALID));
        self.admitted.store(count, Ordering::Release);
    }

    /// Subtransactions up to `latest` were rolled back: they count as ended although their top level runs on.
    pub fn children_aborted(&self, latest: Xid) {
        self.publish(&mut self.state.lock(), latest);
    }

    /// Makes what changed known: no snapshot from before is reused. Returns the last of them.
    pub(super) fn publish(&self, state: &mut State, latest: Xid) -> Option<Arc<SnapshotData>> {
        state.latest_completed = state.latest_completed.max(latest);
        let outdated = state.current.take();
        if stop_result!("test-uncounted-completion").is_err() {
            // What checks of histories must notice.
            return outdated;
        }
        // SeqCst: partner of the load in `SnapshotCache::take`, which follows a SeqCst store of the worker's horizon. Only
        // the mutex's holder stores, so load and store need not be one step.
        let completions = self.completions.load(Ordering::Relaxed);
        self.completions.store(completions + 1, Ordering::SeqCst);
        outdated
    }

    /// The completion counter.
    #[inline]
    pub fn completions(&self) -> u64 {
        self.completions.load(Ordering::SeqCst)
    }

    /// The snapshot of the present state, shared by all. `inside` sees it before any later completion can happen. `spare`: one that the
    /// caller has no use for any more; if nobody has, the new one may take its place.
    pub(super) fn current(
        &self,
        mut spare: Option<Arc<SnapshotData>>,
        inside: impl FnOnce(&SnapshotData),
    ) -> Arc<SnapshotData> {
        let mut state = self.state.lock();
        let current = match &state.current {
            Some(current) => current.clone(),
            None => {
                let built = self.build(&state, spare.take());
                if let Some(old) = &self.old_snapshots {
                    old.register(&built, runtime::now());
                }
                state.current = Some(built.clone());
                built
            }
        };
        inside(&current);
        current
    }

    fn build(&self, state: &State, spare: Option<Arc<SnapshotData>>) -> Arc<SnapshotData> {
        let completions = self.completions.load(Ordering::Relaxed);
        if let Some(mut spare) = spare
            && let Some(data) = Arc::get_mut(&mut spare)
        {
            state.fill(data, completions);
            return spare;
        }
        let (nothing, oldest) = (Xid::INVALID, Oldest::all(Xid::INVALID));
        let (parents, lost) = (self.parents.clone(), Lost::default());
        let mut data = SnapshotData {
            xmin: nothing,
            xmax: nothing,
            xip: Vec::new(),
            oldest,
            completions,
            parents,
            lost,
        };
        state.fill(&mut data, completions);
        Arc::new(data)
    }

    /// What a snapshot taken now would need.
    pub fn oldest(&self) -> Oldest {
        self.state.lock().oldest()
    }

    /// First xid not yet given out.
    pub fn next_xid(&self) -> Xid {
        Xid(self.next_xid.load(Ordering::Acquire))
    }

    /// Greatest xid known to have ended.
    pub fn latest_completed(&self) -> Xid {
        self.state.lock().latest_completed
    }

    /// Oldest xid in the set, or the next to be given out: where a checkpoint says that running transactions begin.
    pub fn oldest_running(&self) -> Xid {
        let state = self.state.lock();
        state.xids.first().copied().unwrap_or(state.next_xid)
    }

    /// Who runs this top-level xid.
    pub fn entry(&self, xid: Xid) -> Option<RunningEntry> {
        let state = self.state.lock();
        state.xids.binary_search(&xid).ok().map(|at| state.entries[at])
    }

    /// All running transactions, for views and the checkpoint.
    pub fn list(&self) -> Vec<(Xid, RunningEntry)> {
        let state = self.state.lock();
        state.xids.iter().copied().zip(state.entries.iter().copied()).collect()
    }

    /// Replay saw this xid in the log: it and all before it were given out. Those that were not known run, until their end is read.
    pub fn observe(&self, xid: Xid) {
        if xid < self.next_xid() {
            return;
        }
        let mut state = self.state.lock();
        if !state.replays {
            // Behind a crash nobody runs: whatever was given out has ended, one way or the other.
            state.next_xid = state.next_xid.max(xid.next());
            self.next_xid.store(state.next_xid.0, Ordering::Release);
            self.publish(&mut state, xid);
            return;
        }
        // No snapshot becomes outdated: what was not given out counts as in progress in all of them.
        while state.next_xid <= xid {
            let next = state.next_xid;
            state.xids.push(next);
            state.entries.push(RunningEntry::REPLAYED);
            state.next_xid = next.next();
        }
        self.next_xid.store(state.next_xid.0, Ordering::Release);
    }

    /// Before replay: these ran when the log was at its beginning, or may have. Ascending, and given out before all that are observed.
    pub fn begin_replay(&self, xids: &[Xid]) {
        let mut state = self.state.lock();
        debug_assert!(state.xids.is_empty());
        state.replays = true;
        state.xids.extend_from_slice(xids);
        state.entries.resize(xids.len(), RunningEntry::REPLAYED);
        self.publish(&mut state, Xid::INVALID);
    }

    /// Replay read that these ended, in one moment: a transaction with its subtransactions, or a subtransaction that was rolled back. Ascending.
    pub fn replay_end(&self, xids: &[Xid]) {
        let Some(&latest) = xids.last() else { return };
        let mut state = self.state.lock();
        state.remove_known(xids);
        let outdated = self.publish(&mut state, latest);
        drop(state);
        drop(outdated);
    }

    /// Replay knows that everything below `oldest` has ended.
    pub fn replay_oldest(&self, oldest: Xid) {
        let mut state = self.state.lock();
        let ended = state.xids.partition_point(|&xid| xid < oldest);
        if ended == 0 {
            return;
        }
        let latest = state.xids[ended - 1];
        state.xids.drain(..ended);
        state.entries.drain(..ended);
        self.publish(&mut state, latest);
    }

    /// Replay is over. What it left without an end has ended; those who are prepared have been entered anew.
    pub fn end_replay(&self) {
        let mut state = self.state.lock();
        let State { xids, entries, .. } = &mut *state;
        let mut kept = entries.iter().map(|entry| *entry != RunningEntry::REPLAYED);
        xids.retain(|_| kept.next().unwrap_or(false));
        entries.retain(|entry| *entry != RunningEntry::REPLAYED);
        state.replays = false;
        let latest = Xid(state.next_xid.0 - 1);
        self.publish(&mut state, latest);
    }
}

impl State {
    /// Makes a snapshot's data those of the present.
    fn fill(&self, data: &mut SnapshotData, completions: u64) {
        let xmax = self.latest_completed.next();
        let below = self.xids.partition_point(|&xid| xid < xmax);
        data.xip.clear();
        data.xip.extend_from_slice(&self.xids[..below]);
        data.xmin = data.xip.first().copied().unwrap_or(xmax);
        data.xmax = xmax;
        data.oldest = self.oldest();
        data.completions = completions;
        data.lost = Lost::default();
    }

    fn oldest(&self) -> Oldest {
        let running = self.xids.iter().zip(&self.entries).map(|(&xid, entry)| (xid, entry.holds));
        Oldest::of(running, self.latest_completed.next())
    }

    /// Takes out those of these xids, ascending, that are there.
    fn remove_known(&mut self, gone: &[Xid]) {
        let Some((&first, &last)) = gone.first().zip(gone.last()) else { return };
        let from = self.xids.partition_point(|&xid| xid < first);
        let to = from + self.xids[from..].partition_point(|&xid| xid <= last);
        let mut kept = from;
        for at in from..to {
            if gone.binary_search(&self.xids[at]).is_err() {
                self.xids[kept] = self.xids[at];
                self.entries[kept] = self.entries[at];
                kept += 1;
            }
        }
        self.xids.drain(kept..to);
        self.entries.drain(kept..to);
    }

    /// Takes out a group, ascending by xid, in one pass over the arrays from its first member on.
    pub(super) fn remove(&mut self, group: &[Completion]) {
        let Ok(first) = self.xids.binary_search(&group[0].xid) else {
            debug_assert!(false, "xid {} is not running", group[0].xid);
            return;
        };
        if group.len() == 1 {
            self.xids.remove(first);
            self.entries.remove(first);
            return;
        }
        let mut leaving = group.iter().peekable();
        let mut kept = first;
        for at in first..self.xids.len() {
            if leaving.next_if(|completion| completion.xid == self.xids[at]).is_some() {
                continue;
            }
            self.xids[kept] = self.xids[at];
            self.entries[kept] = self.entries[at];
            kept += 1;
        }
        debug_assert!(leaving.next().is_none(), "a group member is not running");
        self.xids.truncate(kept);
        self.entries.truncate(kept);
    }
}
