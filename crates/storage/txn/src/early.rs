//! What · Commits that others see before the disk has them.
//!
//! A transaction that waits for the disk, or for standbys too (`synchronous_commit`), lets go of its locks and can be seen as soon as its record is in the log; only its
//! own acknowledgement waits for the flush. So a row that everybody changes passes from hand to hand at the speed of memory, and one
//! flush covers all of them.
//!
//! Invariant · Nobody outside is told anything that a crash can take back. Whoever learns that such a transaction committed
//! ([`TxnSystem::did_commit`]) *rests on* its record: what it says to its client waits for the flush of that
//! ([`runtime::rest`]). Whoever comes to a decision without asking for the transaction's fate must not find its traces: so until the flush
//! no hint bit says that it committed, no page becomes all-visible for it, and no version that it deleted is removed.
//!
//! A commit that builds on an early one has its record behind, so its own flush, if it waits for one, covers both. A commit that waits for
//! none (`synchronous_commit = off`) is answered by a session that rests on the early one.
//!
//! The same holds of one that waits for standbys ([`synchronous`](crate::synchronous)), until they have its record: what a crash cannot take back, a failover could.
//!
//! Locks · `xids`, a short mutex.
//!
//! PostgreSQL counterpart · None: there a transaction is seen, and lets go of its locks, after its flush.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base::{Lsn, Xid};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

#[cfg(doc)]
use crate::TxnSystem;
use crate::synchronous::{Reach, Standbys};

/// Subtransactions up to which a transaction is seen early.
pub const MOST_CHILDREN: usize = 64;

/// The transactions that can be seen and are not known to be durable.
#[derive(Default)]
pub struct EarlyCommits {
    /// No record of theirs ends behind this.
    latest: AtomicU64,
    /// How many of them wait for standbys.
    awaiting: AtomicUsize,
    /// Their xids, those of subtransactions too.
    xids: Mutex<FxHashMap<Xid, Early>>,
}

/// What a transaction waits for.
#[derive(Clone, Copy)]
struct Early {
    /// Its record ends here.
    lsn: Lsn,
    /// How far that must come on standbys.
    reach: Option<Reach>,
}

impl EarlyCommits {
    /// Before a transaction can be seen whose record, which ends at `lsn`, is not durable, or not on standbys as it is to be.
    pub fn add(&self, xid: Xid, children: &[Xid], lsn: Lsn, reach: Option<Reach>) {
        if reach.is_some() {
            self.awaiting.fetch_add(1, Ordering::AcqRel);
        }
        let mut xids = self.xids.lock();
        xids.extend(children.iter().chain([&xid]).map(|xid| (*xid, Early { lsn, reach })));
        drop(xids);
        // Release, partner of the load in `lsn_of`. Who can see the transaction came after it left the running set, which comes after this.
        self.latest.fetch_max(lsn.0, Ordering::AcqRel);
    }

    /// After the record was made durable, and is on standbys.
    pub fn remove(&self, xid: Xid, children: &[Xid]) {
        let mut xids = self.xids.lock();
        for child in children {
            xids.remove(child);
        }
        if xids.remove(&xid).is_some_and(|early| early.reach.is_some()) {
            self.awaiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Where the record of `xid` ends, if it is one of them. `flushed`: what is durable.
    #[inline]
    pub fn lsn_of(&self, xid: Xid, flushed: Lsn, standbys: &Standbys) -> Option<Lsn> {
        if self.latest.load(Ordering::Acquire) <= flushed.0 && self.awaiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        let early = *self.xids.lock().get(&xid)?;
        let waits = early.lsn > flushed || early.reach.is_some_and(|reach| !standbys.have(reach, early.lsn));
        waits.then_some(early.lsn)
    }
}
