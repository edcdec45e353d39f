//! What only one may do to an index at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::RelFile;
use runtime::{MutexGuard, WaitEvent};

use crate::Access;

/// The right to change an index in a way in which one only may change it. Kept by file, since an index may have several descriptions at a time, and by pool, since there may be
/// several servers in a process. Taken with no page latched.
pub struct Turn {
    key: TurnKey,
    lock: Arc<runtime::Mutex<()>>,
}

static TURNS: Mutex<BTreeMap<TurnKey, Arc<runtime::Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// Address of the pool, and file.
type TurnKey = (usize, RelFile);

impl Turn {
    /// That of the index with this file.
    pub fn of(access: &Access<'_>, file: RelFile) -> Turn {
        let key = (std::ptr::from_ref(access.pool).addr(), file);
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let lock =
            turns.entry(key).or_insert_with(|| Arc::new(runtime::Mutex::new(WaitEvent::Page, ()))).clone();
        Turn { key, lock }
    }

    /// Waits until nobody has it.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock()
    }

    /// Takes it if nobody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, ()>> {
        self.lock.try_lock()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else has it, and nobody gets it meanwhile.
        if Arc::strong_count(&self.lock) == 2 {
            turns.remove(&self.key);
        }
    }
}
