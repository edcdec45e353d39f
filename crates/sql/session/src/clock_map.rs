//! A map with room for so many entries: for a new one that has no place, one goes that was not asked for lately, found by a clock's hand.
//!
//! Every step of the hand but the last takes back what a [`ClockMap::get`] gave, so an insertion costs a constant number of steps on average.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The map.
pub(crate) struct ClockMap<K, V> {
    places: FxHashMap<K, usize>,
    slots: Vec<Slot<K, V>>,
    hand: usize,
    most: usize,
}

struct Slot<K, V> {
    key: K,
    value: V,
    /// Used since the hand was here. New entries begin without it, so that those that are never used go first.
    used: bool,
}

impl<K: Hash + Eq + Clone, V> ClockMap<K, V> {
    /// An empty one for at most this many entries.
    pub(crate) fn new(most: usize) -> ClockMap<K, V> {
        ClockMap { places: FxHashMap::default(), slots: Vec::new(), hand: 0, most }
    }

    /// The value of a key.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let slot = &mut self.slots[*self.places.get(key)?];
        slot.used = true;
        Some(&slot.value)
    }

    /// Inserts a value. Returns the value that it replaced: the key's old one, or that of an evicted key.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(&place) = self.places.get(&key) {
            return Some(std::mem::replace(&mut self.slots[place].value, value));
        }
        let slot = Slot { key: key.clone(), value, used: false };
        if self.slots.len() < self.most {
            self.places.insert(key, self.slots.len());
            self.slots.push(slot);
            return None;
        }
        let place = self.turn();
        let old = std::mem::replace(&mut self.slots[place], slot);
        self.places.remove(&old.key);
        self.places.insert(key, place);
        Some(old.value)
    }

    /// Takes a key out.
    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.places.remove(key)?;
        let old = self.slots.swap_remove(place);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key.clone(), place);
        }
        Some(old.value)
    }

    /// Takes out the keys that `which` picks, and gives their values.
    pub(crate) fn remove_where(&mut self, which: impl Fn(&K) -> bool) -> Vec<V> {
        let keys: Vec<K> = self.places.keys().filter(|key| which(key)).cloned().collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.slots.clear();
    }

    /// Moves the hand to the next entry that was not used, and one further.
    fn turn(&mut self) -> usize {
        loop {
            let place = self.hand % self.slots.len();
            self.hand = place + 1;
            if !std::mem::take(&mut self.slots[place].used) {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays() {
        let mut map = ClockMap::new(4);
        for i in 0..1000 {
            assert!(map.insert(i, i).is_none_or(|gone| gone != 0), "an entry in use went for {i}");
            assert_eq!(map.get(&0), Some(&0));
            assert!(map.slots.len() <= 4 && map.slots.len() == map.places.len());
        }
        assert_eq!(map.get(&998), Some(&998));
        assert_eq!(map.get(&500), None);
    }

    #[test]
    fn removal_keeps_the_others() {
        let mut map = ClockMap::new(3);
        for i in 0..3 {
            map.insert(i, i * 10);
        }
        assert_eq!(map.remove(&0), Some(0));
        assert_eq!(map.remove(&0), None);
        assert_eq!(map.get(&1), Some(&10));
        assert_eq!(map.get(&2), Some(&20));
        assert_eq!(map.insert(1, 11), Some(10));
        map.insert(3, 30);
        assert_eq!(map.get(&3), Some(&30));
        map.clear();
        assert_eq!(map.get(&1), None);
    }
}
