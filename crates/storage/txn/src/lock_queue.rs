//! What · Queues that move: a transaction that waits for a row goes on to wait for the row's newest version, without being woken for that.
//!
//! A row's queue is the one of the version that its waiters found. Whoever comes to the head of it finds that the row has been updated,
//! and goes to the next version. Were the others left where they are, each of them would be woken, one after the other, only to queue again
//! at the next version, and so on for every update: work that grows with the square of the waiters. So the head takes the queue along. A head that
//! updates the row does so when it commits, before anybody sees the new version; if it is rolled back, the queue is where it was, as the row is.
//!
//! Invariants
//! 1. Only the one holder of a lock moves it, with everybody who waits, to a tag that nobody holds or waits for. What was a conflict stays
//!    one, so no waiter need be woken, and deadlocks are found as before: the waits are in the table.
//! 2. All who wait in a queue share the [`Place`](crate::lock::Place) that says where it is. It changes with both parts locked, so who locks the
//!    part of the tag that a waiter's place says and finds it still saying so knows where the waiter is. Who was granted the lock and has not looked yet is its
//!    holder, and has not moved it.
//!
//! Locks · The two partitions, ascending.
//!
//! PostgreSQL counterpart · None: its `heap_acquire_tuplock` lets all waiters come to each version in turn.

use crate::SessionId;
use crate::lock::{Lock, LockManager, LockTag, Partition};

impl LockManager {
    /// Moves a lock that `session` alone holds to a tag that is free, and the queue behind it; false, and nothing is done, if another one holds
    /// it too, or the tag is not free.
    pub(crate) fn carry(&self, session: SessionId, from: LockTag, to: LockTag) -> bool {
        let (old, new) = (Self::part_of(&from), Self::part_of(&to));
        let mut lower = self.part(old.min(new)).lock();
        if old == new {
            let Some(lock) = take(&mut lower, session, from, to) else { return false };
            settle(&mut lower, lock, to);
            return true;
        }
        let mut upper = self.part(old.max(new)).lock();
        let (source, target) = if old < new { (&mut lower, &mut upper) } else { (&mut upper, &mut lower) };
        if target.locks.contains_key(&to) {
            return false;
        }
        let Some(lock) = take(source, session, from, to) else { return false };
        settle(target, lock, to);
        true
    }
}

/// Takes the lock out of its place, if it can be moved.
fn take(partition: &mut Partition, session: SessionId, from: LockTag, to: LockTag) -> Option<Lock> {
    let lock = partition.locks.get(&from)?;
    let alone = matches!(lock.holders.as_slice(), [(holder, _)] if *holder == session);
    if !alone || partition.locks.contains_key(&to) {
        return None;
    }
    partition.locks.remove(&from)
}

/// Puts it into its new place.
fn settle(partition: &mut Partition, lock: Lock, to: LockTag) {
    if let Some(place) = &lock.place {
        place.set_tag(to);
    }
    partition.locks.insert(to, lock);
}
