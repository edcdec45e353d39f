//! The summary that several intervals give: values that lie far from all others do not make one of them wide.
//!
//! A summary is a list of intervals in their order, none of which touch. An interval takes two places: its least value, and its greatest or, of one value alone, NULL, which
//! takes no room; places behind the last interval are NULL too. When there are too many values, the two neighbours that lie closest become one.

use std::cmp::Ordering;

use base::Oid;
use tuple::options::{ClassOption, ClassOptionKind, ClassOptions};
use tuple::summary::SummaryClass;
use tuple::tree::TreeQuery;
use tuple::{Attr, Datum};

use crate::{Compare, compare_values, strategy};

/// The intervals of a column's values. Strategies are those of an order.
#[derive(Clone, Debug)]
pub struct MinMaxMulti {
    /// How values compare.
    pub compare: Compare,
    /// How they are stored.
    pub attr: Attr,
    /// Whether they compare with values of this type: nothing is told of others.
    pub compares_with: fn(column: Oid, operand: Oid) -> bool,
    /// Type of the column.
    pub column: Oid,
    /// Where a value lies on a line: what is close there is put together. It need not be exact.
    pub place: fn(&Datum) -> f64,
    /// Most values of a summary.
    pub values: usize,
}

/// A least and a greatest value.
type Interval = (Datum, Datum);

impl MinMaxMulti {
    /// What its classes take.
    pub const OPTIONS: &'static [ClassOption] = &[ClassOption {
        name: "values_per_range",
        kind: ClassOptionKind::Int { default: 32, least: 8, most: 256, step: 1 },
    }];

    /// Most values of a summary, as options say.
    pub fn values(options: &ClassOptions) -> usize {
        usize::try_from(options.int("values_per_range")).unwrap_or_default()
    }

    fn order(&self, a: &Datum, b: &Datum) -> Ordering {
        compare_values(self.compare, a, b)
    }

    fn intervals(&self, summary: &[Datum]) -> Vec<Interval> {
        let pairs = summary.as_chunks::<2>().0.iter().take_while(|[least, _]| !least.is_null());
        pairs
            .map(|[least, greatest]| {
                (least.clone(), if greatest.is_null() { least.clone() } else { greatest.clone() })
            })
            .collect()
    }

    fn is_one(&self, (least, greatest): &Interval) -> bool {
        self.order(least, greatest).is_eq()
    }

    fn summary(&self, intervals: Vec<Interval>) -> Vec<Datum> {
        let mut out = Vec::with_capacity(2 * self.values);
        for interval in intervals {
            let one = self.is_one(&interval);
            out.push(interval.0);
            out.push(if one { Datum::Null } else { interval.1 });
        }
        out.resize(2 * self.values, Datum::Null);
        out
    }

    /// Whether one of the intervals has a value.
    fn has(&self, summary: &[Datum], value: &Datum) -> bool {
        let pairs = summary.as_chunks::<2>().0;
        let count = pairs.partition_point(|[least, _]| !least.is_null());
        let below = pairs[..count].partition_point(|[least, _]| self.order(least, value).is_le());
        let Some([least, greatest]) = below.checked_sub(1).map(|at| &pairs[at]) else { return false };
        self.order(if greatest.is_null() { least } else { greatest }, value).is_ge()
    }

    /// Adds an interval, which takes in those that it touches.
    fn insert(&self, intervals: &mut Vec<Interval>, (mut least, mut greatest): Interval) {
        let from = intervals.partition_point(|(_, end)| self.order(end, &least).is_lt());
        let to = intervals.partition_point(|(begin, _)| self.order(begin, &greatest).is_le());
        for (begin, end) in intervals.drain(from..to.max(from)) {
            if self.order(&begin, &least).is_lt() {
                least = begin;
            }
            if self.order(&end, &greatest).is_gt() {
                greatest = end;
            }
        }
        intervals.insert(from, (least, greatest));
        self.reduce(intervals);
    }

    /// Merges neighbouring intervals until there are few enough values.
    fn reduce(&self, intervals: &mut Vec<Interval>) {
        let count =
            |list: &[Interval]| -> usize { list.iter().map(|i| if self.is_one(i) { 1 } else { 2 }).sum() };
        while count(intervals) > self.values && intervals.len() > 1 {
            let gap = |pair: &[Interval]| {
                let gap = (self.place)(&pair[1].0) - (self.place)(&pair[0].1);
                if gap.is_nan() { f64::INFINITY } else { gap }
            };
            let gaps = intervals.windows(2).map(gap).enumerate();
            let closest = gaps.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at);
            let (_, greatest) = intervals.remove(closest + 1);
            intervals[closest].1 = greatest;
        }
    }
}

impl SummaryClass for MinMaxMulti {
    fn attrs(&self) -> Vec<Attr> {
        vec![self.attr; 2 * self.values]
    }

    fn add(&self, summary: &mut Option<Vec<Datum>>, value: &Datum) -> bool {
        if summary.as_ref().is_some_and(|summary| self.has(summary, value)) {
            return false;
        }
        let mut intervals = summary.take().map(|summary| self.intervals(&summary)).unwrap_or_default();
        self.insert(&mut intervals, (value.clone(), value.clone()));
        *summary = Some(self.summary(intervals));
        true
    }

    fn union(&self, summary: &mut Option<Vec<Datum>>, other: &[Datum]) {
        let mut intervals = summary.take().map(|summary| self.intervals(&summary)).unwrap_or_default();
        self.intervals(other).into_iter().for_each(|interval| self.insert(&mut intervals, interval));
        *summary = Some(self.summary(intervals));
    }

    fn consistent(&self, summary: &[Datum], query: TreeQuery<'_>) -> bool {
        if !(self.compares_with)(self.column, query.operand) {
            return true;
        }
        let Some(first) = summary.first().filter(|least| !least.is_null()) else { return true };
        let last = || summary.iter().rev().find(|value| !value.is_null()).unwrap_or(first);
        match query.strategy {
            strategy::LESS => self.order(first, query.value).is_lt(),
            strategy::LESS_EQUAL => self.order(first, query.value).is_le(),
            strategy::EQUAL => self.has(summary, query.value),
            strategy::GREATER_EQUAL => self.order(last(), query.value).is_ge(),
            strategy::GREATER => self.order(last(), query.value).is_gt(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuple::Physical;

    fn class(values: usize) -> MinMaxMulti {
        MinMaxMulti {
            compare: Compare::Int4,
            attr: Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None },
            compares_with: |a, b| a == b,
            column: Oid(23),
            place: |value| if let Datum::Int4(n) = value { f64::from(*n) } else { 0.0 },
            values,
        }
    }

    fn may(class: &MinMaxMulti, summary: &[Datum], strategy: u16, value: i32) -> bool {
        class.consistent(summary, TreeQuery { strategy, operand: Oid(23), value: &Datum::Int4(value) })
    }

    fn intervals(class: &MinMaxMulti, summary: &[Datum]) -> Vec<(i32, i32)> {
        let number = |value: &Datum| if let Datum::Int4(n) = value { *n } else { panic!("{value:?}") };
        class.intervals(summary).iter().map(|(a, b)| (number(a), number(b))).collect()
    }

    #[test]
    fn what_lies_far_away_stays_alone() {
        let class = class(8);
        let mut summary = None;
        for value in (0..100).chain([100_000, -5000]) {
            assert!(class.add(&mut summary, &Datum::Int4(value)));
            assert_eq!(summary.as_ref().unwrap().len(), 16);
        }
        assert!(!class.add(&mut summary, &Datum::Int4(50)));
        let summary = summary.unwrap();
        let found = intervals(&class, &summary);
        assert_eq!((found[0], found.last()), ((-5000, -5000), Some(&(100_000, 100_000))), "{found:?}");
        assert!([-5000, 0, 7, 99, 100_000].iter().all(|value| may(
            &class,
            &summary,
            strategy::EQUAL,
            *value
        )));
        assert!([-4999, -1, 100, 99_999].iter().all(|value| !may(&class, &summary, strategy::EQUAL, *value)));
        assert_eq!([-5000, -4999].map(|v| may(&class, &summary, strategy::LESS, v)), [false, true]);
        assert_eq!([-5001, -5000].map(|v| may(&class, &summary, strategy::LESS_EQUAL, v)), [false, true]);
        assert_eq!(
            [100_001, 100_000].map(|v| may(&class, &summary, strategy::GREATER_EQUAL, v)),
            [false, true]
        );
        assert_eq!([100_000, 99_999].map(|v| may(&class, &summary, strategy::GREATER, v)), [false, true]);
    }

    #[test]
    fn all_values_stay_within_in_any_order() {
        let class = class(9);
        let mut seed = 7_u32;
        for _ in 0..200 {
            let mut values = Vec::new();
            let (mut summary, mut other) = (None, None);
            for n in 0..60 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                values.push((seed >> 20) as i32);
                let into = if n % 3 == 0 { &mut other } else { &mut summary };
                class.add(into, &Datum::Int4(values[n]));
            }
            class.union(&mut summary, &other.unwrap());
            let summary = summary.unwrap();
            assert!(values.iter().all(|value| may(&class, &summary, strategy::EQUAL, *value)));
            let found = intervals(&class, &summary);
            assert!(found.windows(2).all(|pair| pair[0].1 < pair[1].0), "{found:?}");
            assert!(found.iter().map(|(a, b)| if a == b { 1 } else { 2 }).sum::<usize>() <= 9);
        }
    }
}
