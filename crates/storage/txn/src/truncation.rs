//! What · The old end of the commit log and of the multixacts: from which ids on rows may still ask for them, and the removal of
//! what lies before.
//!
//! VACUUM takes old ids out of rows and notes for each relation the oldest that it left ([`OldestIds`]). What is older than all of those
//! goes, by whole segment files ([`TxnSystem::truncate`]).
//!
//! Invariants
//! 1. A set that a running transaction stores on a page was on that page before, grew from one that was ([`TxnSystem::join_multi`]), or was made
//!    by a transaction that has not ended since. Hence, if a VACUUM finds no set older than `m` on the pages of a relation, and no running
//!    transaction made one before `m`, then there is none and there will be none: [`TxnSystem::oldest_usable_multi`] gives such
//!    an `m`, to be asked before the first page is read.
//! 2. A set is kept with all entries that its members are read from ([`MultiXacts::root`](crate::multixact::MultiXacts::root)).
//! 3. Nothing is removed while a snapshot is held, or a transaction runs, that began before the oldest ids were found: who has one may hold an id
//!    that was read from a page before VACUUM cleaned it. All others look at pages as VACUUM left them, under their latch.
//! 4. What is kept becomes known first ([`TxnSystem::oldest_ids`]), then it is durable in the log, behind all that took the ids out of rows,
//!    and only then the first file goes.
//!
//! Why `oldest_usable_multi` is right · A `Mark` says: when xid `x` was the next, `m` was the next set (`m` was read first). A transaction
//! that runs and made a set before `m` had an xid below `x`. If the oldest running xid is `x` or above, there is none.
//!
//! Who asks for the status of an xid · Those who judge a row, for an id on its page; VACUUM's notes are of all pages of all relations with rows, in
//! all databases. Redo never, but that it marks ends again: pages that are gone come back, as zeros, and go again with the record of the
//! removal, which comes later. Recovery of prepared transactions: one that waits for its end is in the running set, so its xid is kept;
//! a state file with an older xid is a leftover. `pg_xact_status` and `pg_get_multixact_members` ask out of curiosity: they find that the id is too
//! old ([`TxnSystem::oldest_ids`]) when the status is gone.
//!
//! Locks · `marks` and `pending`, short mutexes; `removing`, fiber-aware, held over the log and the files.
//!
//! WAL and crash · A record for each of both logs, with the first id that is kept. Repeated by redo. The checkpoint has the ids too: one whose
//! redo begins behind the record reads them after the removal made them known (invariant 4). A checkpoint may know them although the crash came before
//! the record: then files are left over, as after a removal that was not finished, and go with the next one.
//!
//! PostgreSQL counterpart · `vac_truncate_clog`, `TruncateMultiXact`, `GetOldestMultiXactId`. Differences: running transactions note nothing
//! for it; removal waits for snapshots, not for page locks.

use std::collections::VecDeque;

use base::{MultiXactId, Xid};
use parking_lot::Mutex;

use crate::clog::XIDS_PER_PAGE;
use crate::error::TxnError;
use crate::multixact::{self, PER_PAGE};
use crate::system::TxnSystem;

/// Oldest ids that rows may hold: no older one is asked for. By default those of no row: larger than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldestIds {
    /// Of transactions, also as members of sets.
    pub xid: Xid,
    /// Of the entries of sets.
    pub multi: MultiXactId,
}

impl Default for OldestIds {
    fn default() -> OldestIds {
        OldestIds { xid: Xid(u64::MAX), multi: MultiXactId(u64::MAX) }
    }
}

impl OldestIds {
    /// The older of both.
    pub fn min(self, other: OldestIds) -> OldestIds {
        OldestIds { xid: self.xid.min(other.xid), multi: self.multi.min(other.multi) }
    }
}

/// Next ids at some time, the set's read first.
#[derive(Clone, Copy, Debug)]
struct Mark {
    xid: Xid,
    multi: MultiXactId,
}

/// Most marks that are remembered: while a transaction lasts, later ones are of no use.
const MARKS: usize = 64;

/// What is known about the old end.
pub(crate) struct Truncation {
    /// Ascending; all but the first are younger than some transaction that ran when they were looked at.
    marks: Mutex<VecDeque<Mark>>,
    /// To be cut, once no snapshot needs an xid up to this one.
    pending: Mutex<Option<(Xid, OldestIds)>>,
    removing: runtime::Mutex<()>,
}

impl Truncation {
    /// At start no transaction but prepared ones runs, and they store nothing.
    pub fn new(oldest: MultiXactId) -> Truncation {
        Truncation {
            marks: Mutex::new(VecDeque::from([Mark { xid: Xid::INVALID, multi: oldest }])),
            pending: Mutex::default(),
            removing: runtime::Mutex::new(runtime::WaitEvent::WrapLimits, ()),
        }
    }

    /// The set of the latest mark that no running transaction is older than; `now` becomes one too.
    fn settled(&self, now: Mark, oldest_running: Xid) -> MultiXactId {
        let mut marks = self.marks.lock();
        if marks.len() < MARKS
            && marks.back().is_none_or(|last| last.multi < now.multi && last.xid <= now.xid)
        {
            marks.push_back(now);
        }
        while marks.get(1).is_some_and(|next| next.xid <= oldest_running) {
            marks.pop_front();
        }
        marks.front().map_or(MultiXactId(0), |mark| mark.multi)
    }
}

impl TxnSystem {
    /// From here on lie all sets that a running transaction made, and those that any will make.
    pub fn oldest_usable_multi(&self) -> MultiXactId {
        let multi = self.next_multi();
        let now = Mark { multi, xid: self.next_xid() };
        self.truncation.settled(now, self.oldest_running())
    }

    /// No transaction writes ids older than these into a relation of its own making, or into a database that it is the first to enter.
    pub fn oldest_usable(&self) -> OldestIds {
        OldestIds { xid: self.oldest_running(), multi: self.oldest_usable_multi() }
    }

    /// The oldest ids that are kept.
    pub fn oldest_ids(&self) -> OldestIds {
        OldestIds { xid: self.clog().oldest(), multi: self.multixacts().oldest() }
    }

    /// Reads every page of the commit log and of sets that is kept; `damaged` is told of each that cannot be read.
    pub fn verify_status(&self, damaged: &mut dyn FnMut(TxnError)) {
        let OldestIds { xid, multi } = self.oldest_ids();
        let (next_xid, next_multi) = (self.next_xid(), self.next_multi());
        let mut xid = xid.max(Xid::FIRST_NORMAL);
        while xid < next_xid {
            if let Err(error) = self.clog().get(xid) {
                damaged(TxnError::Status { xid, error });
            }
            xid = Xid((xid.0 / XIDS_PER_PAGE + 1) * XIDS_PER_PAGE);
        }
        let mut multi = multi.max(multixact::FIRST);
        while multi < next_multi {
            if let Err(error) = self.multixacts().root(multi) {
                damaged(TxnError::Multi { multi, error });
            }
            multi = MultiXactId((multi.0 / PER_PAGE + 1) * PER_PAGE);
        }
    }

    /// All rows are known to need nothing before `oldest`. What is older goes as soon as invariant 3 allows it: at once, or when
    /// [`truncate_pending`](Self::truncate_pending) is called.
    pub fn truncate(&self, oldest: OldestIds) -> Result<(), TxnError> {
        let last = Xid(self.next_xid().0 - 1);
        {
            let mut pending = self.truncation.pending.lock();
            // One that waits is not put off again and again.
            pending.get_or_insert((last, oldest));
        }
        self.truncate_pending()
    }

    /// Removes what has waited for snapshots. Costs nothing if nothing waits.
    pub fn truncate_pending(&self) -> Result<(), TxnError> {
        let waiting = *self.truncation.pending.lock();
        let Some((last, oldest)) = waiting else { return Ok(()) };
        if self.oldest_needed().parents <= last {
            return Ok(());
        }
        let _removing = self.truncation.removing.lock();
        let removed = (self.clog().truncate(oldest.xid).map_err(TxnError::status(oldest.xid)))
            .and_then(|()| self.multixacts().truncate(oldest.multi).map_err(TxnError::multi(oldest.multi)));
        self.truncation.pending.lock().take_if(|pending| *pending == (last, oldest));
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_when_nobody_older_runs() {
        let known = Truncation::new(MultiXactId(1));
        let mark = |xid, multi| Mark { xid: Xid(xid), multi: MultiXactId(multi) };
        assert_eq!(known.settled(mark(10, 100), Xid(5)), MultiXactId(1));
        assert_eq!(known.settled(mark(20, 200), Xid(10)), MultiXactId(100));
        assert_eq!(known.settled(mark(30, 300), Xid(19)), MultiXactId(100));
        assert_eq!(known.settled(mark(40, 400), Xid(40)), MultiXactId(400));
    }

    #[test]
    fn a_long_transaction_makes_the_list_no_longer() {
        let known = Truncation::new(MultiXactId(1));
        for n in 1..1000 {
            let now = Mark { xid: Xid(10 * n), multi: MultiXactId(10 * n) };
            assert_eq!(known.settled(now, Xid(3)), MultiXactId(1));
        }
        assert_eq!(known.marks.lock().len(), MARKS);
        let now = Mark { xid: Xid(20_000), multi: MultiXactId(20_000) };
        assert!(known.settled(now, Xid(20_000)) >= MultiXactId(600));
        assert_eq!(known.settled(now, Xid(20_000)), MultiXactId(20_000));
    }
}
