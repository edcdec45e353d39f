//! What · The range of keys that a scan reads, as serializable transactions lock it ([`txn::KeyRange`]).
//!
//! A range has the scan's own bounds, so what lies in it is what the scan would return were it there: keys beside the values of a list, or that a condition
//! on a later column excludes, do not. The gap around a key that is not there is part of it as any other place.
//!
//! Pages play no part: they may split and merge.
//!
//! Ranges are compared under short locks, where code of users cannot run: of an index whose order it tells, every range is all of the index.

use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;

use index::{Direction, IndexDesc, ScanKeys};
use tuple::Datum;
use txn::KeyRange;

use crate::bounds::{Bounds, Place};
use crate::rel::BtreeRel;

/// The range of keys of a scan.
#[derive(Debug)]
pub(crate) struct ScanRange {
    rel: Arc<BtreeRel>,
    bounds: Bounds,
}

impl ScanRange {
    pub fn new(rel: Arc<BtreeRel>, bounds: Bounds) -> ScanRange {
        let bounds = if rel.asks { Bounds::default() } else { bounds };
        ScanRange { rel, bounds }
    }

    /// The part of a range up to a key, in the direction of a scan.
    pub fn up_to(
        rel: Arc<BtreeRel>,
        bounds: &Bounds,
        key: &[Datum],
        direction: Direction,
    ) -> Arc<dyn KeyRange> {
        let values = key.iter().take(rel.nkeys()).cloned().collect();
        let (begin, end) = bounds.extent();
        let (begin, end) = match direction {
            Direction::Forward => (begin, Some(Place { values, behind: true })),
            Direction::Backward => (Some(Place { values, behind: false }), end),
        };
        let mut part = Bounds::between(begin, end);
        part.groups.clone_from(&bounds.groups);
        Arc::new(ScanRange::new(rel, part))
    }

    fn desc(&self) -> &IndexDesc {
        &self.rel.desc
    }
}

/// The keys that satisfy conditions; none if they contradict each other.
pub fn key_range(rel: &Arc<BtreeRel>, keys: ScanKeys) -> Option<Arc<dyn KeyRange>> {
    let bounds = Bounds::new(&rel.desc, keys);
    (!bounds.empty).then(|| Arc::new(ScanRange::new(rel.clone(), bounds)) as Arc<dyn KeyRange>)
}

/// Order of two places where a range begins; none is before all.
fn begins(desc: &IndexDesc, a: Option<&Place>, b: Option<&Place>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.compare(desc, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// Order of two places where a range ends; none is behind all.
fn ends(desc: &IndexDesc, a: Option<&Place>, b: Option<&Place>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.compare(desc, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn known(range: &dyn KeyRange) -> Option<&ScanRange> {
    (range as &dyn Any).downcast_ref()
}

impl KeyRange for ScanRange {
    fn holds(&self, key: &dyn Any) -> bool {
        key.downcast_ref::<Vec<Datum>>().is_none_or(|values| self.bounds.hold_key(self.desc(), values))
    }

    fn covers(&self, other: &dyn KeyRange) -> bool {
        let Some(other) = known(other).filter(|_| self.bounds.groups.is_none()) else {
            return false;
        };
        let (mine, its) = (self.bounds.extent(), other.bounds.extent());
        begins(self.desc(), mine.0.as_ref(), its.0.as_ref()).is_le()
            && ends(self.desc(), mine.1.as_ref(), its.1.as_ref()).is_ge()
    }

    fn begins_before(&self, other: &dyn KeyRange) -> bool {
        let Some(other) = known(other) else { return false };
        begins(self.desc(), self.bounds.extent().0.as_ref(), other.bounds.extent().0.as_ref()).is_lt()
    }

    fn join(&self, later: &dyn KeyRange) -> Arc<dyn KeyRange> {
        let (begin, end) = self.bounds.extent();
        let last = known(later).and_then(|later| later.bounds.extent().1);
        let end = match ends(self.desc(), end.as_ref(), last.as_ref()) {
            Ordering::Less => last,
            _ => end,
        };
        Arc::new(ScanRange { rel: self.rel.clone(), bounds: Bounds::between(begin, end) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::tests::desc;
    use index::{ScanKey, ScanOp, strategy};

    fn index(descending: bool) -> Arc<BtreeRel> {
        Arc::new(BtreeRel::new(desc(&[(descending, descending), (false, false)])))
    }

    fn key(column: usize, op: ScanOp) -> ScanKey {
        ScanKey { column, op }
    }

    fn bounds(rel: &BtreeRel, keys: &[ScanKey]) -> Bounds {
        Bounds::new(&rel.desc, ScanKeys { keys: keys.to_vec(), direction: Direction::Forward })
    }

    fn range(rel: &Arc<BtreeRel>, keys: &[ScanKey]) -> ScanRange {
        ScanRange::new(rel.clone(), bounds(rel, keys))
    }

    fn holds(range: &dyn KeyRange, a: i32, b: i32) -> bool {
        range.holds(&vec![Datum::Int4(a), Datum::Int4(b)])
    }

    #[test]
    fn a_range_holds_what_its_scan_would_return() {
        let int = Datum::Int4;
        for descending in [false, true] {
            let rel = index(descending);
            let between = [
                key(0, ScanOp::Strategy(strategy::GREATER_EQUAL, int(3))),
                key(0, ScanOp::Strategy(strategy::LESS, int(7))),
                key(1, ScanOp::Strategy(strategy::EQUAL, int(1))),
            ];
            let some = range(&rel, &between);
            for a in 0..10 {
                for b in 0..3 {
                    assert_eq!(holds(&some, a, b), (3..7).contains(&a) && b == 1, "{descending} {a} {b}");
                }
            }
            let point = range(&rel, &[key(0, ScanOp::Strategy(strategy::EQUAL, int(5)))]);
            assert!(holds(&point, 5, 9) && !holds(&point, 4, 9) && !holds(&point, 6, 9));
            let open = range(&rel, &[]);
            assert!(holds(&open, i32::MIN, 0) && open.covers(&point) && open.covers(&some));
            assert!(!some.covers(&point), "a condition on the other column may exclude it");
        }
    }

    #[test]
    fn a_list_of_values_holds_those_and_nothing_between() {
        let rel = index(false);
        let list = [2, 5, 9].map(Datum::Int4).to_vec();
        let any = range(&rel, &[key(0, ScanOp::Any(list))]);
        let held: Vec<i32> = (0..12).filter(|&a| holds(&any, a, 0)).collect();
        assert_eq!(held, [2, 5, 9]);
        let other = range(&rel, &[key(0, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(11)))]);
        let point = range(&rel, &[key(0, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(3)))]);
        assert!(point.begins_before(&other) && !other.begins_before(&point));
        let joined = point.join(&other);
        let held: Vec<i32> = (0..14).filter(|&a| holds(&*joined, a, 0)).collect();
        assert_eq!(held, (3..12).collect::<Vec<_>>());
        assert!(joined.covers(&other) && any.join(&other).covers(&any));
    }

    #[test]
    fn the_part_that_was_read_ends_with_its_last_key() {
        let rel = index(false);
        let whole = bounds(&rel, &[key(0, ScanOp::Strategy(strategy::GREATER, Datum::Int4(3)))]);
        let last = [Datum::Int4(6), Datum::Int4(4)];
        let forward = ScanRange::up_to(rel.clone(), &whole, &last, Direction::Forward);
        assert!(holds(&*forward, 4, 0) && holds(&*forward, 6, 4) && !holds(&*forward, 6, 5));
        let backward = ScanRange::up_to(rel, &whole, &last, Direction::Backward);
        assert!(!holds(&*backward, 6, 3) && holds(&*backward, 6, 4) && holds(&*backward, 100, 0));
    }
}
