//! What the users of one index share, whatever descriptions of it they have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use base::RelFile;
use runtime::WaitEvent;

use crate::Access;

/// One lock for each index that somebody changes, with what belongs under it. Kept by file, since an index may have several descriptions at a time, and by pool, since there
/// may be several servers in a process. What is under a lock goes with the last who has it.
pub struct PerIndex<T> {
    all: Mutex<BTreeMap<Key, Weak<runtime::Mutex<T>>>>,
}

/// Address of the pool, and file.
type Key = (usize, RelFile);

impl<T: Default> PerIndex<T> {
    /// Of no index yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> PerIndex<T> {
        PerIndex { all: Mutex::new(BTreeMap::new()) }
    }

    /// That of the index with this file. Locked with no page latched.
    pub fn of(&self, access: &Access<'_>, file: RelFile) -> Arc<runtime::Mutex<T>> {
        let key = (std::ptr::from_ref(access.pool).addr(), file);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, one| one.strong_count() > 0);
        let new = Arc::new(runtime::Mutex::new(WaitEvent::Page, T::default()));
        all.insert(key, Arc::downgrade(&new));
        new
    }
}

/// The right to change an index in a way in which one only may change it.
pub static TURNS: PerIndex<()> = PerIndex::new();
