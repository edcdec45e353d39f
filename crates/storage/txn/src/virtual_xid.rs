//! What · Virtual transactions: which transaction a session runs, with an xid or without one, and waiting for its end.
//!
//! Every session has a word with the number of its running transaction, 0 between two. A running transaction's lock on itself is in no
//! table until somebody waits for it, as with xids ([`lock`](crate::lock)).
//!
//! Order · Who waits announces itself ([`LockManager::wait_for_virtual`](crate::LockManager)), then looks at the word; who ends a
//! transaction lets go of its locks, clears the word, then looks for waiters. The announcement, the word and both looks are SeqCst: one of the
//! two sees the other. A transaction that has a lock stored its number before it took it, so who finds the lock finds the number, or
//! that of a later transaction.
//!
//! Locks · `slots`, a short mutex, is taken when sessions come and go and by those who want to wait.
//!
//! PostgreSQL counterpart · `VirtualXactLock` and `GetLockConflicts` of `lock.c`, `WaitForLockers` of `lmgr.c`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lock::{LockInfo, LockMode, LockTag};
use crate::long_wait::LockTimeouts;
use crate::sync::Mutex;
use crate::system::TxnSystem;
use crate::{SessionId, TxnError};

/// A session's transaction, whether it has an xid or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtualXid {
    /// Whose.
    pub session: SessionId,
    /// Its number within the session, from 1.
    pub local: u32,
}

impl VirtualXid {
    pub(crate) fn tag(self) -> LockTag {
        LockTag::VirtualXid { session: self.session, local: self.local }
    }
}

/// A session's word.
#[derive(Debug)]
pub(crate) struct VirtualSlot {
    session: SessionId,
    local: AtomicU32,
}

impl VirtualSlot {
    /// The transaction with this number begins.
    #[inline]
    pub(crate) fn begin(&self, local: u32) {
        // Relaxed: seen by who finds a lock of the transaction, through the mutex of that lock's table.
        self.local.store(local, Ordering::Relaxed);
    }

    /// It is over. Returns its number, 0 if there was none.
    #[inline]
    pub(crate) fn end(&self) -> u32 {
        self.local.swap(0, Ordering::SeqCst)
    }

    pub(crate) fn running(&self) -> Option<VirtualXid> {
        let local = self.local.load(Ordering::SeqCst);
        (local != 0).then_some(VirtualXid { session: self.session, local })
    }
}

/// The words of all sessions, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct VirtualXids {
    slots: Mutex<FxHashMap<usize, Arc<VirtualSlot>>>,
}

impl VirtualXids {
    pub(crate) fn register(&self, session: SessionId) -> Arc<VirtualSlot> {
        let slot = Arc::new(VirtualSlot { session, local: AtomicU32::new(0) });
        self.slots.lock().insert(Arc::as_ptr(&slot) as usize, slot.clone());
        slot
    }

    pub(crate) fn unregister(&self, slot: &Arc<VirtualSlot>) {
        self.slots.lock().remove(&(Arc::as_ptr(slot) as usize));
    }

    /// In the order of sessions: addresses differ from run to run, and what is done with the list must not.
    fn list(&self) -> Vec<VirtualXid> {
        let mut running: Vec<_> = self.slots.lock().values().filter_map(|slot| slot.running()).collect();
        running.sort_unstable();
        running
    }
}

/// A transaction that is in somebody's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locker {
    /// A session's.
    Session(VirtualXid),
    /// One that was prepared.
    Prepared(base::Xid),
}

impl TxnSystem {
    /// All running transactions of sessions.
    pub fn virtual_xids(&self) -> Vec<VirtualXid> {
        self.virtuals.list()
    }

    /// Running transactions, but for those of session `me`, that hold a lock on `tag` which conflicts with `mode`. One that takes such a
    /// lock later may be missing.
    pub fn lockers(&self, tag: LockTag, mode: LockMode, me: SessionId) -> Vec<Locker> {
        self.prepared().between_hand_overs(|| self.present_lockers(tag, mode, me))
    }

    fn present_lockers(&self, tag: LockTag, mode: LockMode, me: SessionId) -> Vec<Locker> {
        let in_the_way = |lock: &LockInfo| {
            lock.granted && lock.tag == tag && lock.session != me && lock.mode.bit() & mode.conflicts() != 0
        };
        let locks = self.locks().list();
        let holders: FxHashSet<SessionId> =
            locks.iter().filter(|lock| in_the_way(lock)).map(|lock| lock.session).collect();
        let mut running = self.virtual_xids();
        running.retain(|running| holders.contains(&running.session));
        let prepared = self.prepared().list().into_iter().filter(|one| holders.contains(&one.stand_in));
        let prepared = prepared.map(|one| Locker::Prepared(one.xid));
        running.into_iter().map(Locker::Session).chain(prepared).collect()
    }

    /// Sleeps until the transaction has ended; one that is prepared meanwhile has not.
    pub fn wait_for_locker(
        &self,
        me: SessionId,
        locker: Locker,
        timeouts: LockTimeouts,
    ) -> Result<(), TxnError> {
        let target = match locker {
            Locker::Prepared(xid) => return self.wait_for(me, xid, timeouts),
            Locker::Session(target) => target,
        };
        let running = || self.virtuals.list().contains(&target);
        self.locks().wait_for_virtual(me, target, timeouts, running)?;
        // It was prepared before its word was cleared.
        self.prepared().prepared_from(target).map_or(Ok(()), |xid| self.wait_for(me, xid, timeouts))
    }

    /// The locks that running transactions have on themselves, those apart that somebody waits for and that are in the table.
    pub(crate) fn implicit_virtual_locks(&self, listed: &[LockInfo]) -> Vec<LockInfo> {
        let info = |one: VirtualXid| LockInfo {
            session: one.session,
            tag: one.tag(),
            mode: LockMode::Exclusive,
            granted: true,
            fastpath: true,
            wait_start: None,
        };
        let in_table = |lock: &&LockInfo| lock.granted && matches!(lock.tag, LockTag::VirtualXid { .. });
        let waited_for: FxHashSet<LockTag> = listed.iter().filter(in_table).map(|lock| lock.tag).collect();
        let implicit = self.virtual_xids().into_iter().map(info);
        implicit.filter(|lock| !waited_for.contains(&lock.tag)).collect()
    }
}
