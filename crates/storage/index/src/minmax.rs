//! The summary that any order gives: the least value and the greatest.

use std::cmp::Ordering;

use base::Oid;
use tuple::summary::SummaryClass;
use tuple::tree::TreeQuery;
use tuple::{Attr, Datum};

use crate::{Compare, compare_values, strategy};

/// The least and the greatest value of a column. Strategies are those of an order.
#[derive(Clone, Debug)]
pub struct MinMax {
    /// How values compare.
    pub compare: Compare,
    /// How they are stored.
    pub attr: Attr,
    /// Whether they compare with values of this type: nothing is told of others.
    pub compares_with: fn(column: Oid, operand: Oid) -> bool,
    /// Type of the column.
    pub column: Oid,
}

impl SummaryClass for MinMax {
    fn attrs(&self) -> Vec<Attr> {
        vec![self.attr; 2]
    }

    fn add(&self, summary: &mut Option<Vec<Datum>>, value: &Datum) -> bool {
        let Some(bounds) = summary else {
            *summary = Some(vec![value.clone(), value.clone()]);
            return true;
        };
        let mut changed = false;
        for (bound, beyond) in bounds.iter_mut().zip([Ordering::Less, Ordering::Greater]) {
            if compare_values(self.compare, value, bound) == beyond {
                *bound = value.clone();
                changed = true;
            }
        }
        changed
    }

    fn union(&self, summary: &mut Option<Vec<Datum>>, other: &[Datum]) {
        for value in other {
            self.add(summary, value);
        }
    }

    fn consistent(&self, summary: &[Datum], query: TreeQuery<'_>) -> bool {
        let [least, greatest] = summary else { return true };
        if !(self.compares_with)(self.column, query.operand) {
            return true;
        }
        let least = || compare_values(self.compare, least, query.value);
        let greatest = || compare_values(self.compare, greatest, query.value);
        match query.strategy {
            strategy::LESS => least().is_lt(),
            strategy::LESS_EQUAL => least().is_le(),
            strategy::EQUAL => least().is_le() && greatest().is_ge(),
            strategy::GREATER_EQUAL => greatest().is_ge(),
            strategy::GREATER => greatest().is_gt(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuple::Physical;

    #[test]
    fn bounds_grow_and_tell_what_may_be_between() {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        let class = MinMax { compare: Compare::Int4, attr, compares_with: |a, b| a == b, column: Oid(23) };
        let mut summary = None;
        for (value, changes) in [(5, true), (5, false), (9, true), (7, false), (-1, true)] {
            assert_eq!(class.add(&mut summary, &Datum::Int4(value)), changes, "{value}");
        }
        let summary = summary.unwrap();
        assert_eq!(summary, [Datum::Int4(-1), Datum::Int4(9)]);
        let may = |strategy, value, operand| {
            let value = &Datum::Int4(value);
            class.consistent(&summary, TreeQuery { strategy, operand, value })
        };
        let int = Oid(23);
        assert_eq!([may(1, -1, int), may(1, 0, int)], [false, true]);
        assert_eq!([may(2, -2, int), may(2, -1, int)], [false, true]);
        assert_eq!([may(3, -2, int), may(3, 5, int), may(3, 10, int)], [false, true, false]);
        assert_eq!([may(4, 10, int), may(4, 9, int)], [false, true]);
        assert_eq!([may(5, 9, int), may(5, 8, int)], [false, true]);
        assert!(may(1, -1, Oid(20)), "nothing is told of another type");
        let mut union = None;
        class.union(&mut union, &summary);
        assert_eq!(union, Some(summary.clone()));
    }
}
