//! What · The predicate locks of one transaction, as it knows them, and when many fine ones become a coarse one.
//!
//! Invariants
//! 1. What is in here is in [`targets`](super::targets) too: the caller makes the [`Steps`] there, in their order and with this locked. A coarse lock comes
//!    before those that it replaces go, so a writer always finds one of them.
//! 2. Under a coarse lock there are no finer ones: none of rows under their page's, and nothing under a relation's.
//!
//! PostgreSQL counterpart · `LocalPredicateLockHash`, `CheckAndPromotePredicateLockRequest`. An index counts for itself, as there.

use std::sync::Arc;

use base::{BlockNo, OffsetNo, RelFile, Tid};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::KeyRange;
use super::targets::Target;

/// Locks from which on coarser ones take their place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub per_relation: usize,
    pub per_page: usize,
}

/// What is to change among the targets.
#[derive(Debug)]
pub(super) enum Step {
    Add(Target),
    Remove(Target),
    AddRange(RelFile, Arc<dyn KeyRange>),
    RemoveRange(RelFile, Arc<dyn KeyRange>),
}

pub(super) type Steps = SmallVec<[Step; 2]>;

#[derive(Debug, Default)]
struct Page {
    block: BlockNo,
    whole: bool,
    rows: SmallVec<[OffsetNo; 4]>,
}

#[derive(Debug, Default)]
struct Relation {
    whole: bool,
    pages: Vec<Page>,
    /// Locks on pages and rows.
    count: usize,
    ranges: Vec<Arc<dyn KeyRange>>,
}

/// A transaction's locks.
#[derive(Debug, Default)]
pub(super) struct Owned {
    closed: bool,
    relations: FxHashMap<RelFile, Relation>,
}

impl Owned {
    /// No locks, and never one more.
    pub fn closed() -> Owned {
        Owned { closed: true, ..Owned::default() }
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The relation, if locks within it are still to be noted.
    fn open(&mut self, relation: RelFile) -> Option<&mut Relation> {
        if self.closed {
            return None;
        }
        Some(self.relations.entry(relation).or_default()).filter(|known| !known.whole)
    }

    pub fn lock_row(&mut self, relation: RelFile, tid: Tid, limits: Limits, steps: &mut Steps) {
        let Some(known) = self.open(relation) else { return };
        let page = known.page(tid.block);
        if page.whole || page.rows.contains(&tid.offset) {
            return;
        }
        page.rows.push(tid.offset);
        steps.push(Step::Add(Target::Row(relation, tid)));
        let crowded = page.rows.len() > limits.per_page;
        known.count += 1;
        if crowded {
            known.promote_page(relation, tid.block, steps);
        }
        known.promote_if_crowded(relation, limits, steps);
    }

    pub fn lock_page(&mut self, relation: RelFile, block: BlockNo, limits: Limits, steps: &mut Steps) {
        let Some(known) = self.open(relation) else { return };
        if known.page(block).whole {
            return;
        }
        known.promote_page(relation, block, steps);
        known.promote_if_crowded(relation, limits, steps);
    }

    pub fn lock_relation(&mut self, relation: RelFile, steps: &mut Steps) {
        if let Some(known) = self.open(relation) {
            known.promote(relation, steps);
        }
    }

    /// `table`: that of the index.
    pub fn lock_range(
        &mut self,
        (index, table): (RelFile, RelFile),
        range: Arc<dyn KeyRange>,
        limits: Limits,
        steps: &mut Steps,
    ) {
        // Who has read the whole table has read whatever comes into its indexes.
        if self.relations.get(&table).is_some_and(|known| known.whole) {
            return;
        }
        let Some(known) = self.open(index) else { return };
        if known.ranges.iter().any(|other| other.covers(&*range)) {
            return;
        }
        known.ranges.push(range.clone());
        steps.push(Step::AddRange(index, range));
        if known.ranges.len() > limits.per_relation.max(1) {
            known.join_ranges(index, steps);
        }
    }

    /// Of a range only this part was read.
    pub fn narrow_range(
        &mut self,
        index: RelFile,
        range: &Arc<dyn KeyRange>,
        part: Arc<dyn KeyRange>,
        steps: &mut Steps,
    ) {
        let Some(known) = self.open(index) else { return };
        let Some(place) = known.ranges.iter_mut().find(|other| Arc::ptr_eq(other, range)) else { return };
        let old = std::mem::replace(place, part.clone());
        steps.push(Step::AddRange(index, part));
        steps.push(Step::RemoveRange(index, old));
    }

    /// The transaction itself has written the row, so that no other can write it.
    pub fn forget_row(&mut self, relation: RelFile, tid: Tid, steps: &mut Steps) {
        let Some(known) = self.relations.get_mut(&relation) else { return };
        let Some(page) = known.pages.iter_mut().find(|page| page.block == tid.block) else { return };
        let Some(at) = page.rows.iter().position(|row| *row == tid.offset) else { return };
        page.rows.swap_remove(at);
        known.count -= 1;
        steps.push(Step::Remove(Target::Row(relation, tid)));
    }

    /// Locks a relation as a whole beside finer locks, whose files go; whether that is new.
    pub fn add_relation(&mut self, relation: RelFile) -> bool {
        !std::mem::replace(&mut self.relations.entry(relation).or_default().whole, true)
    }

    /// Takes a lock that a prepared transaction had before a restart; whether that is new.
    pub fn add(&mut self, target: Target) -> bool {
        let mut steps = Steps::new();
        let limits = Limits { per_relation: usize::MAX, per_page: usize::MAX };
        match target {
            Target::Row(relation, tid) => self.lock_row(relation, tid, limits, &mut steps),
            Target::Page(relation, block) => self.lock_page(relation, block, limits, &mut steps),
            Target::Relation(relation) | Target::Keys(relation) => self.lock_relation(relation, &mut steps),
        }
        !steps.is_empty()
    }

    /// Whether there are locks within a relation.
    pub fn has(&self, relation: RelFile) -> bool {
        self.relations
            .get(&relation)
            .is_some_and(|known| known.whole || known.count > 0 || !known.ranges.is_empty())
    }

    /// Relations with locks in them.
    pub fn each_relation(&self, visit: &mut dyn FnMut(RelFile)) {
        self.relations.keys().copied().filter(|relation| self.has(*relation)).for_each(visit);
    }

    /// All locks but ranges.
    pub fn each_target(&self, visit: &mut dyn FnMut(Target)) {
        for (&relation, known) in &self.relations {
            if known.whole {
                visit(Target::Relation(relation));
            }
            known.each_page(relation, visit);
        }
    }

    /// All ranges, with their indexes.
    pub fn each_range(&self, visit: &mut dyn FnMut(RelFile, &Arc<dyn KeyRange>)) {
        for (&index, known) in &self.relations {
            known.ranges.iter().for_each(|range| visit(index, range));
        }
    }
}

impl Relation {
    fn page(&mut self, block: BlockNo) -> &mut Page {
        let at = self.pages.iter().position(|page| page.block == block).unwrap_or_else(|| {
            self.pages.push(Page { block, ..Page::default() });
            self.pages.len() - 1
        });
        &mut self.pages[at]
    }

    fn each_page(&self, relation: RelFile, visit: &mut dyn FnMut(Target)) {
        for page in &self.pages {
            if page.whole {
                visit(Target::Page(relation, page.block));
            }
            page.rows.iter().for_each(|row| visit(Target::Row(relation, Tid::new(page.block, *row))));
        }
    }

    /// One lock on a page in the place of those on its rows.
    fn promote_page(&mut self, relation: RelFile, block: BlockNo, steps: &mut Steps) {
        let page = self.page(block);
        page.whole = true;
        let rows = std::mem::take(&mut page.rows);
        self.count = self.count + 1 - rows.len();
        steps.push(Step::Add(Target::Page(relation, block)));
        let row = |row| Step::Remove(Target::Row(relation, Tid::new(block, row)));
        steps.extend(rows.into_iter().map(row));
    }

    fn promote_if_crowded(&mut self, relation: RelFile, limits: Limits, steps: &mut Steps) {
        if self.count > limits.per_relation {
            self.promote(relation, steps);
        }
    }

    /// One lock on the relation in the place of all others.
    fn promote(&mut self, relation: RelFile, steps: &mut Steps) {
        steps.push(Step::Add(Target::Relation(relation)));
        self.each_page(relation, &mut |target| steps.push(Step::Remove(target)));
        steps.extend(self.ranges.drain(..).map(|range| Step::RemoveRange(relation, range)));
        *self = Relation { whole: true, ..Relation::default() };
    }

    /// Half as many ranges, each of them all that lies between two neighbours too.
    fn join_ranges(&mut self, index: RelFile, steps: &mut Steps) {
        let mut old = std::mem::take(&mut self.ranges);
        old.sort_by(|a, b| match (a.begins_before(&**b), b.begins_before(&**a)) {
            (true, _) => std::cmp::Ordering::Less,
            (_, true) => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Equal,
        });
        for pair in old.chunks(2) {
            match pair {
                [one, other] => {
                    let joined = one.join(&**other);
                    self.ranges.push(joined.clone());
                    steps.push(Step::AddRange(index, joined));
                }
                rest => self.ranges.extend_from_slice(rest),
            }
        }
        let kept = old.len() % 2;
        let gone = old.len() - kept;
        steps.extend(old.into_iter().take(gone).map(|range| Step::RemoveRange(index, range)));
    }
}
