//! What · The locks that one session holds: counts, order of acquisition, release at the end of (sub)transactions.
//!
//! Layout · In order of acquisition, each with a growing serial number. A savepoint remembers the next serial; rolling back to it
//! releases what came after, releasing it does nothing. Session-level locks have entries of their own and outlive
//! transactions. Beyond a few entries a map finds them.
//!
//! Invariants
//! 1. For each tag, mode and level there is one entry, held from its first acquisition to its last release: an inner
//!    subtransaction that takes again what an outer one has adds a count, and its rollback releases nothing.
//! 2. All fast-path locks are in one worker's table, `home`, which changes only while there are none.
//!
//! PostgreSQL counterpart · `LOCALLOCK` and resource owners.

use std::sync::Arc;

use base::Oid;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::SessionId;
use crate::lock::{LockError, LockManager, LockMode, LockTag, LockWait, strong_relation};
use crate::lock_fast::FastTable;
use crate::long_wait::LockTimeouts;

/// Entries up to which a search goes through all of them.
const FEW: usize = 16;

/// Entries that need no memory of their own: those of a statement with one table and its index.
const INLINE: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Slot of the home table.
    Fast(u32),
    Main,
}

type Key = (LockTag, LockMode, bool);

struct Held {
    tag: LockTag,
    mode: LockMode,
    session_level: bool,
    count: u64,
    serial: u64,
    place: Place,
}

impl Held {
    fn key(&self) -> Key {
        (self.tag, self.mode, self.session_level)
    }
}

/// What one session holds. In the order of its fields in memory: what every statement looks at comes first.
#[repr(C)]
pub struct HeldLocks {
    session: SessionId,
    /// Entries on the fast path.
    fast: usize,
    next_serial: u64,
    home: Option<Arc<FastTable>>,
    entries: SmallVec<[Held; INLINE]>,
    /// Serial of each entry, kept while there are more than [`FEW`].
    index: FxHashMap<Key, u64>,
}

fn relation(tag: LockTag) -> Option<(Oid, Oid)> {
    match tag {
        LockTag::Relation { database, relation } => Some((database, relation)),
        _ => None,
    }
}

impl HeldLocks {
    /// Nothing held.
    pub fn new(session: SessionId) -> HeldLocks {
        HeldLocks {
            session,
            fast: 0,
            next_serial: 0,
            home: None,
            entries: SmallVec::new(),
            index: FxHashMap::default(),
        }
    }

    fn find(&self, key: Key) -> Option<usize> {
        if self.entries.len() <= FEW {
            return self.entries.iter().rposition(|held| held.key() == key);
        }
        let serial = self.index.get(&key)?;
        self.entries.binary_search_by_key(serial, |held| held.serial).ok()
    }

    /// Takes a lock, waiting for it if `wait` says so. Returns its tag: another one, if its queue has moved while the session waited.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub fn acquire(
        &mut self,
        manager: &LockManager,
        worker: impl FnOnce() -> Arc<FastTable>,
        tag: LockTag,
        mode: LockMode,
        session_level: bool,
        wait: LockWait,
        timeouts: &LockTimeouts,
    ) -> Result<LockTag, LockError> {
        if let Some(at) = self.find((tag, mode, session_level)) {
            self.entries[at].count += 1;
            return Ok(tag);
        }
        let fast = if mode.is_weak() && !session_level {
            relation(tag).and_then(|relation| {
                if self.fast == 0 {
                    self.home = Some(worker());
                }
                manager.fast.acquire(self.home.as_ref()?, self.session, relation, mode)
            })
        } else {
            None
        };
        let (tag, place) = match fast {
            Some(slot) => {
                self.fast += 1;
                (tag, Place::Fast(slot))
            }
            None => (self.acquire_main(manager, tag, mode, session_level, wait, timeouts)?, Place::Main),
        };
        self.push(Held { tag, mode, session_level, count: 1, serial: self.next_serial, place });
        Ok(tag)
    }

    /// Moves a lock in the main table, of a tag without strong modes, to another tag, and the queue behind it; false if that cannot be done now.
    pub fn carry(&mut self, manager: &LockManager, from: LockTag, to: LockTag, mode: LockMode) -> bool {
        debug_assert!(strong_relation(from, mode).is_none());
        let Some(at) = self.find((from, mode, false)) else { return false };
        // Another mode or level of it would have an entry of its own, which the move would leave behind.
        let alone = self.entries.iter().filter(|held| held.tag == from).count() == 1;
        let moved = alone && manager.carry(self.session, from, to);
        if moved {
            self.entries[at].tag = to;
            self.rebuild();
        }
        moved
    }

    fn acquire_main(
        &self,
        manager: &LockManager,
        tag: LockTag,
        mode: LockMode,
        session_level: bool,
        wait: LockWait,
        timeouts: &LockTimeouts,
    ) -> Result<LockTag, LockError> {
        if self.other_level_in_main(tag, mode, session_level) {
            return Ok(tag);
        }
        let strong = strong_relation(tag, mode);
        if let Some(relation) = strong {
            manager.fast.begin_strong(relation, |moved| manager.enter_granted(tag, moved));
        }
        let result = manager.acquire_main(self.session, tag, mode, wait, *timeouts);
        if let (Some(relation), Err(_)) = (strong, &result) {
            manager.fast.end_strong(relation);
        }
        result
    }

    fn other_level_in_main(&self, tag: LockTag, mode: LockMode, session_level: bool) -> bool {
        self.find((tag, mode, !session_level)).is_some_and(|at| self.entries[at].place == Place::Main)
    }

    fn push(&mut self, held: Held) {
        self.next_serial += 1;
        if self.entries.len() >= FEW {
            if self.entries.len() == FEW {
                self.index = self.entries.iter().map(|held| (held.key(), held.serial)).collect();
            }
            self.index.insert(held.key(), held.serial);
        }
        self.entries.push(held);
    }

    fn take(&mut self, at: usize) -> Held {
        let held = self.entries.remove(at);
        if self.entries.len() <= FEW {
            self.index = FxHashMap::default();
        } else {
            self.index.remove(&held.key());
        }
        held
    }

    /// Lets go of one acquisition; false if the session does not have the lock at this level.
    pub fn release(
        &mut self,
        manager: &LockManager,
        tag: LockTag,
        mode: LockMode,
        session_level: bool,
    ) -> bool {
        let Some(at) = self.find((tag, mode, session_level)) else { return false };
        self.entries[at].count -= 1;
        if self.entries[at].count == 0 {
            let held = self.take(at);
            self.let_go(manager, &[held]);
        }
        true
    }

    fn let_go(&mut self, manager: &LockManager, gone: &[Held]) {
        let number = gone.iter().filter(|held| held.place != Place::Main).count();
        if number > 0 {
            self.release_fast(manager, gone);
            self.fast -= number;
        }
        for held in gone.iter().filter(|held| held.place == Place::Main) {
            if self.other_level_in_main(held.tag, held.mode, held.session_level) {
                continue;
            }
            manager.release_main(self.session, held.tag, held.mode);
            if let Some(relation) = strong_relation(held.tag, held.mode) {
                manager.fast.end_strong(relation);
            }
        }
    }

    /// Takes those of the locks that are on the fast path out of the home table.
    fn release_fast(&self, manager: &LockManager, gone: &[Held]) {
        let Some(home) = &self.home else { return };
        let fast = gone.iter().filter_map(|held| match held.place {
            Place::Fast(slot) => relation(held.tag).map(|relation| (slot, relation, held.mode)),
            Place::Main => None,
        });
        manager.fast.release(home, self.session, fast, |(database, relation), mode| {
            manager.release_main(self.session, LockTag::Relation { database, relation }, mode);
        });
    }

    /// The serial that the next lock gets: where a subtransaction's locks begin.
    pub fn mark(&self) -> u64 {
        self.next_serial
    }

    /// Releases the transaction-level locks from serial `mark` on.
    pub fn release_since(&mut self, manager: &LockManager, mark: u64) {
        let from = self.entries.partition_point(|held| held.serial < mark);
        if from < self.entries.len() {
            let gone = self.take_out(from, |held| !held.session_level);
            self.let_go(manager, &gone);
        }
    }

    /// Releases the transaction-level locks on tags of which `which` says so.
    pub fn release_where(&mut self, manager: &LockManager, which: impl Fn(LockTag) -> bool) {
        let gone = self.take_out(0, |held| !held.session_level && which(held.tag));
        self.let_go(manager, &gone);
    }

    /// Releases all transaction-level locks.
    pub fn release_transaction(&mut self, manager: &LockManager) {
        if self.entries.is_empty() {
            return;
        }
        // The end of most transactions. No session-level lock is on the fast path.
        if self.fast == self.entries.len() && self.fast <= FEW {
            self.release_fast(manager, &self.entries);
            self.fast = 0;
            self.entries.clear();
            return;
        }
        self.release_since(manager, 0);
    }

    /// The transaction-level locks, in order of acquisition; `None` if one is on a tag that the session holds at its own
    /// level too.
    pub fn transaction_locks(&self) -> Option<Vec<(LockTag, LockMode)>> {
        let (session, transaction): (Vec<&Held>, Vec<&Held>) =
            self.entries.iter().partition(|held| held.session_level);
        let mixed = transaction.iter().any(|held| session.iter().any(|other| other.tag == held.tag));
        (!mixed).then(|| transaction.iter().map(|held| (held.tag, held.mode)).collect())
    }

    /// Lets `to` have all transaction-level locks: in the main table from now on, where anybody can release them.
    pub fn hand_over(&mut self, manager: &LockManager, to: SessionId) {
        let from = self.session;
        let gone = self.take_out(0, |held| !held.session_level);
        for held in gone {
            match (held.place, &self.home, relation(held.tag)) {
                (Place::Fast(slot), Some(home), Some(relation)) => {
                    self.fast -= 1;
                    let moved = home.give_up(slot, relation, from, held.mode, || {
                        manager.enter_granted(held.tag, &[(to, held.mode)]);
                    });
                    if !moved {
                        manager.hand_over_main(held.tag, held.mode, from, to);
                    }
                }
                _ => manager.hand_over_main(held.tag, held.mode, from, to),
            }
        }
    }

    /// Releases the session-level locks for whose tag `which` says so, whatever their counts.
    pub fn release_session_level(&mut self, manager: &LockManager, which: impl Fn(LockTag) -> bool) {
        let gone = self.take_out(0, |held| held.session_level && which(held.tag));
        self.let_go(manager, &gone);
    }

    /// Takes out those of the entries from `from` on of which `which` says so.
    fn take_out(&mut self, from: usize, which: impl Fn(&Held) -> bool) -> Vec<Held> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.entries.drain(from..).partition(which);
        self.entries.extend(kept);
        self.rebuild();
        gone
    }

    fn rebuild(&mut self) {
        self.index = if self.entries.len() > FEW {
            self.entries.iter().map(|held| (held.key(), held.serial)).collect()
        } else {
            FxHashMap::default()
        };
    }

    /// The relations that it has locked against all others: database and relation.
    pub fn exclusive_relations(&self) -> Vec<(Oid, Oid)> {
        let relation = |held: &Held| match held.tag {
            LockTag::Relation { database, relation } if held.mode == LockMode::AccessExclusive => {
                Some((database, relation))
            }
            _ => None,
        };
        self.entries.iter().filter_map(relation).collect()
    }

    /// Whether the session holds this mode, at either level.
    pub fn holds(&self, tag: LockTag, mode: LockMode) -> bool {
        self.find((tag, mode, false)).or_else(|| self.find((tag, mode, true))).is_some()
    }

    /// Whether locks are held that are in the main table.
    #[inline]
    pub fn any_in_main(&self) -> bool {
        self.entries.len() > self.fast
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
