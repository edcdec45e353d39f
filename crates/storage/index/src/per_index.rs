//! What the users of one index share, whatever descriptions of it they have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use base::RelFile;
use runtime::{Latch, WaitEvent};

use crate::Access;

/// One lock for each index that somebody changes, with what belongs under it. Kept by file, since an index may have several descriptions at a time, and by pool, since there
/// may be several servers in a process. What is under a lock goes with the last who has it.
pub struct PerIndex<L> {
    all: Mutex<BTreeMap<Key, Weak<L>>>,
}

/// A lock that nobody holds.
pub trait Unlocked {
    /// A new one.
    fn unlocked() -> Self;
}

impl<T: Default> Unlocked for runtime::Mutex<T> {
    fn unlocked() -> Self {
        runtime::Mutex::new(WaitEvent::Page, T::default())
    }
}

impl Unlocked for Latch {
    fn unlocked() -> Self {
        Latch::new()
    }
}

/// Address of the pool, and file.
type Key = (usize, RelFile);

impl<L: Unlocked> PerIndex<L> {
    /// Of no index yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> PerIndex<L> {
        PerIndex { all: Mutex::new(BTreeMap::new()) }
    }

    /// That of the index with this file. Locked with no page latched.
    pub fn of(&self, access: &Access<'_>, file: RelFile) -> Arc<L> {
        let key = (std::ptr::from_ref(access.pool).addr(), file);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, one| one.strong_count() > 0);
        let new = Arc::new(L::unlocked());
        all.insert(key, Arc::downgrade(&new));
        new
    }
}

/// The right to change an index in a way in which one only may change it.
pub static TURNS: PerIndex<runtime::Mutex<()>> = PerIndex::new();
