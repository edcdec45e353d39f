//! What · The fast path for weak locks on relations: no memory that other workers write.
//!
//! Layout · Each worker thread has a table of slots, one for each weak lock that its sessions took. A counter for each group of
//! relations says how many strong locks (those that can conflict) are held or asked for.
//!
//! Invariants
//! 1. A weak lock enters a table only while the table's mutex is held and the counter, looked at under it, is 0.
//! 2. A strong locker raises the counter, then takes each table's mutex in turn and moves matching slots to the main table;
//!    only then does it look there for conflicts.
//!
//! So either the weak locker sees the counter and goes to the main table, or its slot was there when the strong locker
//! looked: no conflict is missed. Counter accesses are SeqCst; the mutex orders slot and look.
//!
//! Locks · `slots`, a short mutex for each worker, uncontended but for strong lockers and views. `tables`, a short mutex,
//! taken before `slots`; the main table's partitions are taken inside `slots` while weak locks move.
//!
//! PostgreSQL counterpart · `FastPathGrantRelationLock` and friends, for each backend. Differences: for each worker, so a
//! strong locker visits a few tables however many sessions there are; no limit of slots.

use std::sync::Arc;

use base::Oid;

use super::SessionId;
use super::lock::{LockMode, LockTag, spread};
use super::sync::{AtomicU32, Mutex, Ordering};

/// Groups of relations that share a counter.
const GROUPS: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    relation: (Oid, Oid),
    session: SessionId,
    /// None: free.
    mode: Option<LockMode>,
}

#[derive(Default)]
struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// A worker's weak locks.
#[derive(Default)]
pub struct FastTable {
    slots: Mutex<Slots>,
}

/// The workers' tables and the counters of strong locks.
pub struct FastLocks {
    strong: Box<[AtomicU32]>,
    tables: Mutex<Vec<Arc<FastTable>>>,
}

impl Default for FastLocks {
    fn default() -> FastLocks {
        FastLocks {
            strong: std::iter::repeat_with(|| AtomicU32::new(0)).take(GROUPS).collect(),
            tables: Mutex::default(),
        }
    }
}

impl FastTable {
    /// Frees a slot after `enter`, called under the table's mutex, entered its lock elsewhere. False if a strong locker moved the
    /// lock to the main table before.
    pub fn give_up(
        &self,
        at: u32,
        relation: (Oid, Oid),
        session: SessionId,
        mode: LockMode,
        enter: impl FnOnce(),
    ) -> bool {
        let mut slots = self.slots.lock();
        let found = slots.slots[at as usize] == Slot { relation, session, mode: Some(mode) };
        if found {
            enter();
            slots.slots[at as usize].mode = None;
            slots.free.push(at);
        }
        found
    }
}

impl FastLocks {
    /// A table for one more worker.
    pub fn register(&self) -> Arc<FastTable> {
        let table = Arc::new(FastTable::default());
        self.tables.lock().push(table.clone());
        table
    }

    /// The worker's thread ends. Its table stays while sessions that went to another worker have locks in it.
    pub fn unregister(&self, table: &Arc<FastTable>) {
        let empty = |table: &FastTable| {
            let slots = table.slots.lock();
            slots.free.len() == slots.slots.len()
        };
        self.tables.lock().retain(|other| !Arc::ptr_eq(other, table) || !empty(other));
    }

    fn group(&self, relation: (Oid, Oid)) -> &AtomicU32 {
        &self.strong[spread(&relation, GROUPS)]
    }

    /// Takes a weak lock in this worker's table, unless a strong one is about. Returns the slot.
    #[inline]
    pub fn acquire(
        &self,
        table: &FastTable,
        session: SessionId,
        relation: (Oid, Oid),
        mode: LockMode,
    ) -> Option<u32> {
        debug_assert!(mode.is_weak());
        let group = self.group(relation);
        let mut slots = table.slots.lock();
        if group.load(Ordering::SeqCst) != 0 {
            return None;
        }
        let slot = Slot { relation, session, mode: Some(mode) };
        match slots.free.pop() {
            Some(at) => {
                slots.slots[at as usize] = slot;
                Some(at)
            }
            None => {
                slots.slots.push(slot);
                Some(slots.slots.len() as u32 - 1)
            }
        }
    }

    /// Lets go of locks by slot, all under one acquisition of the mutex. `moved` gets those that a strong locker moved to
    /// the main table.
    #[inline]
    pub fn release(
        &self,
        table: &FastTable,
        session: SessionId,
        locks: impl Iterator<Item = (u32, (Oid, Oid), LockMode)>,
        mut moved: impl FnMut((Oid, Oid), LockMode),
    ) {
        let mut slots = table.slots.lock();
        for (at, relation, mode) in locks {
            let slot = &mut slots.slots[at as usize];
            if *slot == (Slot { relation, session, mode: Some(mode) }) {
                slot.mode = None;
                slots.free.push(at);
            } else {
                moved(relation, mode);
            }
        }
    }

    /// A strong lock on the relation is about to be asked for. Gives the weak locks to move to `move_to` under the
    /// table's mutex, so that their owners find them in one place or the other.
    pub fn begin_strong(&self, relation: (Oid, Oid), mut move_to: impl FnMut(&[(SessionId, LockMode)])) {
        self.group(relation).fetch_add(1, Ordering::SeqCst);
        let tables = self.tables.lock().clone();
        for table in tables {
            let mut slots = table.slots.lock();
            let mut moved = Vec::new();
            for at in 0..slots.slots.len() {
                let slot = slots.slots[at];
                if slot.relation != relation {
                    continue;
                }
                if let Some(mode) = slot.mode {
                    moved.push((slot.session, mode));
                    slots.slots[at].mode = None;
                    slots.free.push(at as u32);
                }
            }
            move_to(&moved);
        }
    }

    /// The strong lock is gone, or was not granted.
    pub fn end_strong(&self, relation: (Oid, Oid)) {
        self.group(relation).fetch_sub(1, Ordering::SeqCst);
    }

    /// All locks in the tables.
    pub fn list(&self) -> Vec<(SessionId, LockTag, LockMode)> {
        let tables = self.tables.lock().clone();
        let mut list = Vec::new();
        for table in tables {
            for slot in &table.slots.lock().slots {
                let (database, relation) = slot.relation;
                let tag = LockTag::Relation { database, relation };
                list.extend(slot.mode.map(|mode| (slot.session, tag, mode)));
            }
        }
        list
    }
}
