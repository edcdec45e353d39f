//! What is made once of each key, and stays for good: operator classes as options have them, orders.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// Values by the keys that they were made of.
pub struct Made<K, V: 'static>(Mutex<BTreeMap<K, &'static V>>);

impl<K: Ord, V> Default for Made<K, V> {
    fn default() -> Made<K, V> {
        Made::new()
    }
}

impl<K: Ord, V> Made<K, V> {
    /// None yet.
    pub const fn new() -> Made<K, V> {
        Made(Mutex::new(BTreeMap::new()))
    }

    /// The one of a key.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> &'static V {
        self.0.lock().entry(key).or_insert_with(|| Box::leak(Box::new(make())))
    }
}
