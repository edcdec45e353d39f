//! What · What is predicate-locked, and by whom: where writers look.
//!
//! Layout · [`PARTS`] parts, each with a mutex: rows and pages by their page, relations and ranges of keys by their relation. Of transactions of which only a
//! summary is left a relation has one mark, the number of the last of them.
//!
//! Locks · The parts' short mutexes, one at a time, inside everything else.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base::{BlockNo, OffsetNo, RelFile, Tid};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::KeyRange;
use super::conflicts::{Id, Seq};
use super::owned::Step;
use crate::sync::{Alone, Mutex};

/// Parts of the table.
const PARTS: usize = 64;

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// All of a table, or of an index.
    Relation(RelFile),
    /// All rows on a page.
    Page(RelFile, BlockNo),
    /// A row version.
    Row(RelFile, Tid),
    /// A range of keys of an index.
    Keys(RelFile),
}

#[derive(Default)]
struct PageLocks {
    whole: SmallVec<[Id; 2]>,
    rows: SmallVec<[(OffsetNo, Id); 4]>,
}

#[derive(Default)]
struct RelationLocks {
    whole: SmallVec<[Id; 2]>,
    ranges: Vec<(Arc<dyn KeyRange>, Id)>,
    old: Seq,
}

#[derive(Default)]
struct Part {
    pages: FxHashMap<(RelFile, BlockNo), PageLocks>,
    relations: FxHashMap<RelFile, RelationLocks>,
}

/// Who has locks on what a writer changed.
#[derive(Debug, Default)]
pub(super) struct Holders {
    pub ids: SmallVec<[Id; 8]>,
    /// Of those of which only a summary is left, the last number; 0 for none.
    pub old: Seq,
}

impl Holders {
    pub fn clear(&mut self) {
        self.ids.clear();
        self.old = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.old == 0
    }
}

/// All predicate locks.
pub(super) struct Targets {
    parts: Box<[Alone<Mutex<Part>>]>,
    /// How many there are.
    count: AtomicUsize,
    /// How often transactions were summarised.
    summaries: AtomicU64,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets {
            parts: std::iter::repeat_with(Alone::default).take(PARTS).collect(),
            count: AtomicUsize::new(0),
            summaries: AtomicU64::new(0),
        }
    }
}

impl Targets {
    fn part(&self, hash: u64) -> &Mutex<Part> {
        &self.parts[hash as usize >> 32 & (PARTS - 1)]
    }

    fn page_part(&self, key: &(RelFile, BlockNo)) -> &Mutex<Part> {
        self.part(FxBuildHasher.hash_one(key))
    }

    fn relation_part(&self, relation: &RelFile) -> &Mutex<Part> {
        self.part(FxBuildHasher.hash_one(relation))
    }

    pub fn count(&self) -> usize {
        // Relaxed: a transaction that exceeds the limit by a few is caught at its next lock.
        self.count.load(Ordering::Relaxed)
    }

    /// Changes after each summary, under the graph's mutex.
    pub fn summaries(&self) -> u64 {
        // Relaxed: compared under that mutex.
        self.summaries.load(Ordering::Relaxed)
    }

    pub fn count_summary(&self) {
        self.summaries.fetch_add(1, Ordering::Relaxed);
    }

    pub fn make(&self, step: Step, id: Id) {
        match step {
            Step::Add(target) => self.add(target, id),
            Step::Remove(target) => self.remove(target, id),
            Step::AddRange(index, range) => self.add_range(index, range, id),
            Step::RemoveRange(index, range) => self.remove_range(index, &range, id),
        }
    }

    pub fn add(&self, target: Target, id: Id) {
        self.count.fetch_add(1, Ordering::Relaxed);
        match target {
            Target::Relation(relation) | Target::Keys(relation) => {
                self.relation_part(&relation).lock().relations.entry(relation).or_default().whole.push(id);
            }
            Target::Page(relation, block) => {
                let key = (relation, block);
                self.page_part(&key).lock().pages.entry(key).or_default().whole.push(id);
            }
            Target::Row(relation, tid) => {
                let key = (relation, tid.block);
                self.page_part(&key).lock().pages.entry(key).or_default().rows.push((tid.offset, id));
            }
        }
    }

    pub fn remove(&self, target: Target, id: Id) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        match target {
            Target::Relation(relation) | Target::Keys(relation) => {
                self.change_relation(relation, |locks| take_out(&mut locks.whole, |other| *other == id));
            }
            Target::Page(relation, block) => {
                let key = (relation, block);
                self.change_page(key, |locks| take_out(&mut locks.whole, |other| *other == id));
            }
            Target::Row(relation, tid) => {
                let key = (relation, tid.block);
                self.change_page(key, |locks| take_out(&mut locks.rows, |row| *row == (tid.offset, id)));
            }
        }
    }

    fn add_range(&self, index: RelFile, range: Arc<dyn KeyRange>, id: Id) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.relation_part(&index).lock().relations.entry(index).or_default().ranges.push((range, id));
    }

    pub fn remove_range(&self, index: RelFile, range: &Arc<dyn KeyRange>, id: Id) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.change_relation(index, |locks| {
            let same = |(other, owner): &(Arc<dyn KeyRange>, Id)| *owner == id && Arc::ptr_eq(other, range);
            if let Some(at) = locks.ranges.iter().position(same) {
                locks.ranges.swap_remove(at);
            }
        });
    }

    fn change_page(&self, key: (RelFile, BlockNo), change: impl FnOnce(&mut PageLocks)) {
        let mut part = self.page_part(&key).lock();
        let Some(locks) = part.pages.get_mut(&key) else { return };
        change(locks);
        if locks.whole.is_empty() && locks.rows.is_empty() {
            part.pages.remove(&key);
        }
    }

    fn change_relation(&self, relation: RelFile, change: impl FnOnce(&mut RelationLocks)) {
        let mut part = self.relation_part(&relation).lock();
        let Some(locks) = part.relations.get_mut(&relation) else { return };
        change(locks);
        if locks.whole.is_empty() && locks.ranges.is_empty() && locks.old == 0 {
            part.relations.remove(&relation);
        }
    }

    /// The number of the last of those that had locks within a relation and of which only a summary is left.
    pub fn old_mark(&self, relation: RelFile) -> Option<Seq> {
        let part = self.relation_part(&relation).lock();
        part.relations.get(&relation).map(|locks| locks.old).filter(|old| *old != 0)
    }

    pub fn mark_old(&self, relation: RelFile, seq: Seq) {
        let mut part = self.relation_part(&relation).lock();
        let old = &mut part.relations.entry(relation).or_default().old;
        *old = (*old).max(seq);
    }

    /// No running transaction was concurrent with those up to this number.
    pub fn clear_old_marks(&self, seq: Seq) {
        for part in &self.parts {
            part.lock().relations.retain(|_, locks| {
                if locks.old <= seq {
                    locks.old = 0;
                }
                locks.old != 0 || !locks.whole.is_empty() || !locks.ranges.is_empty()
            });
        }
    }

    /// Who has read a row, its page or its table.
    pub fn holders_of_row(&self, relation: RelFile, tid: Tid, found: &mut Holders) {
        let key = (relation, tid.block);
        if let Some(locks) = self.page_part(&key).lock().pages.get(&key) {
            found.ids.extend_from_slice(&locks.whole);
            found.ids.extend(locks.rows.iter().filter(|row| row.0 == tid.offset).map(|row| row.1));
        }
        self.holders_of_relation(relation, found);
    }

    /// Who has read a relation as a whole.
    pub fn holders_of_relation(&self, relation: RelFile, found: &mut Holders) {
        if let Some(locks) = self.relation_part(&relation).lock().relations.get(&relation) {
            found.ids.extend_from_slice(&locks.whole);
            found.old = found.old.max(locks.old);
        }
    }

    /// Who has looked for a key of an index, or where it is now.
    pub fn holders_of_key(&self, index: RelFile, key: &dyn std::any::Any, found: &mut Holders) {
        if let Some(locks) = self.relation_part(&index).lock().relations.get(&index) {
            found.ids.extend_from_slice(&locks.whole);
            found.ids.extend(locks.ranges.iter().filter(|range| range.0.holds(key)).map(|range| range.1));
            found.old = found.old.max(locks.old);
        }
    }

    /// Who has read anything of a relation.
    pub fn holders_within(&self, relation: RelFile, found: &mut Holders) {
        for part in &self.parts {
            let part = part.lock();
            let pages = part.pages.iter().filter(|(key, _)| key.0 == relation);
            for (_, locks) in pages {
                found.ids.extend_from_slice(&locks.whole);
                found.ids.extend(locks.rows.iter().map(|row| row.1));
            }
        }
        if let Some(locks) = self.relation_part(&relation).lock().relations.get(&relation) {
            found.ids.extend(locks.ranges.iter().map(|range| range.1));
        }
        self.holders_of_relation(relation, found);
        found.ids.sort_unstable();
        found.ids.dedup();
    }
}

fn take_out<A: smallvec::Array>(list: &mut SmallVec<A>, which: impl FnMut(&A::Item) -> bool) {
    if let Some(at) = list.iter().position(which) {
        list.swap_remove(at);
    }
}
