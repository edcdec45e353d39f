//! Tables that may need a vacuum or analyze, judged by their counters.
//!
//! Each lane of a table has a limit. The transaction that takes its lane over the limit tells so when it ends, and sets it so high that nobody
//! else does. Whoever then looks at the table, at all of its lanes, sets new limits: how much more may come together before it can need
//! anything. So the end of a transaction compares two numbers, and the number of looks at a table grows with the logarithm of its size.
//!
//! Limits are no counters: who sets one while a lane passes it loses nothing, for the table is then among the suspects.

use std::sync::Arc;

use base::{BlockNo, Oid};
use parking_lot::Mutex;
use runtime::Event;

use super::{Counters, Key, Relation, key};

/// Steps at most, from one upkeep of a table to the next, in which a lane comes to its limit.
const STEPS: i64 = 64;

/// Ranges at most that wait to be summarized.
const MOST_RANGES: usize = 256;

/// The tables that are to be checked.
#[derive(Default)]
pub(super) struct Suspects {
    tables: Mutex<Vec<Key>>,
    /// Ranges of tables that are to be summarized: the index, and a block of the range.
    ranges: Mutex<Vec<(Key, BlockNo)>>,
    /// Set when there are some.
    found: Arc<Event>,
}

impl Counters {
    /// Marks a table as one to be checked.
    #[cold]
    pub(super) fn suspect(&self, database: Oid, relation: Oid) {
        self.suspects.tables.lock().push(key(database, relation));
        self.suspects.found.set();
    }

    /// The tables to look at since this was last asked. Each may be there several times.
    pub fn take_suspects(&self) -> Vec<Key> {
        std::mem::take(&mut self.suspects.tables.lock())
    }

    /// A range of a table is to be summarized in an index; `false` if there are too many already.
    pub fn ask_for_summary(&self, index: Key, block: BlockNo) -> bool {
        let mut ranges = self.suspects.ranges.lock();
        let is_new = !ranges.contains(&(index, block));
        if is_new && ranges.len() >= MOST_RANGES {
            return false;
        }
        if is_new {
            ranges.push((index, block));
        }
        drop(ranges);
        self.suspects.found.set();
        true
    }

    /// The ranges to summarize since this was last asked.
    pub fn take_ranges(&self) -> Vec<(Key, BlockNo)> {
        std::mem::take(&mut self.suspects.ranges.lock())
    }

    /// Set when there are tables to look at. Others may use it to wake whoever waits, who resets it.
    pub fn suspects_found(&self) -> Arc<Event> {
        self.suspects.found.clone()
    }

    /// A table was checked: it needs no vacuum or analyze before so many more rows are dead, changed or new.
    pub fn look_again_after(&self, key: Key, more: i64, of: i64) {
        let lanes: Vec<_> =
            self.lanes().filter_map(|lanes| lanes.lock().relations.get(&key).cloned()).collect();
        let share = more / (lanes.len().max(1) as i64);
        lanes.iter().for_each(|lane| lane.set_limit(share.max(of / STEPS)));
    }

    /// What is known of a relation, by its key.
    pub fn of_key(&self, (database, relation): Key) -> Option<Relation> {
        self.relation(database, relation)
    }

    /// The databases of which something is known.
    pub fn known_databases(&self) -> Vec<Oid> {
        let settled = self.settled.lock();
        self.databases(&settled).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Pending};

    const DATABASE: Oid = Oid(5);
    const TABLE: Oid = Oid(20000);
    const KEY: Key = (DATABASE, TABLE);

    #[test]
    fn a_table_is_suspected_once_for_each_limit() {
        let counters = Counters::default();
        let pending = Pending::new(counters.database_lane(DATABASE), true);
        let insert = |rows| {
            pending.changed(TABLE, 1, Change::Insert(rows));
            pending.report(&counters, DATABASE, true, || 7);
            counters.take_suspects()
        };
        assert_eq!(insert(1), [KEY], "nobody has looked at it yet");
        assert_eq!(insert(1000), []);
        counters.look_again_after(KEY, 100, 100);
        assert_eq!(insert(100), []);
        assert_eq!(insert(1), [KEY]);
        assert_eq!(insert(1), []);
        counters.look_again_after(KEY, 1, 6400);
        assert_eq!(insert(100), [], "not in steps that are too short");
        assert_eq!(insert(1), [KEY]);
    }

    #[test]
    fn ranges_are_asked_for_once_and_not_without_end() {
        let counters = Counters::default();
        assert!(counters.ask_for_summary(KEY, BlockNo(7)) && counters.ask_for_summary(KEY, BlockNo(7)));
        assert_eq!(counters.take_ranges(), [(KEY, BlockNo(7))]);
        assert!((0..MOST_RANGES as u32).all(|block| counters.ask_for_summary(KEY, BlockNo(block))));
        assert!(!counters.ask_for_summary(KEY, BlockNo(1000)));
        assert_eq!(counters.take_ranges().len(), MOST_RANGES);
    }

    #[test]
    fn who_only_reads_makes_nothing_suspect() {
        let counters = Counters::default();
        let pending = Pending::new(counters.database_lane(DATABASE), true);
        let mut node = crate::Counted::new(TABLE);
        node.scan.scans = 1;
        pending.scanned(&mut node);
        pending.report(&counters, DATABASE, true, || 7);
        assert_eq!(counters.take_suspects(), []);
    }
}
