//! From scan keys to the places where a scan begins and ends, and to what must be checked on each entry between.
//!
//! Conditions on a column become one range in *index order*: DESC turns comparisons round, and NULL is a value like any other, first or last. Columns
//! with one single value extend the common prefix; the first other column's range ends it; ranges of columns behind are filters.

use std::cmp::Ordering;

use smallvec::SmallVec;
use tuple::Datum;

use crate::format::{Check, Item};
use crate::key::{SearchKey, compare_column};
use crate::rel::{BtreeDesc, KeyColumn};
use crate::scan::{ScanKey, ScanOp};

/// A place between entries.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub values: SmallVec<[Datum; 2]>,
    /// Behind everything equal to `values` instead of before it.
    pub behind: bool,
}

impl Place {
    pub fn key<'a>(&'a self, desc: &'a BtreeDesc) -> SearchKey<'a> {
        SearchKey::new(desc, &self.values, self.behind)
    }
}

/// A value and whether it belongs to the range.
type Bound = Option<(Datum, bool)>;

/// Range of one column in index order.
#[derive(Clone, Debug, Default)]
struct Range {
    low: Bound,
    high: Bound,
}

impl Range {
    fn at_least(&mut self, key: &KeyColumn, value: Datum, inclusive: bool) {
        self.low = Some(match self.low.take() {
            None => (value, inclusive),
            Some(old) => match compare_column(key, &value, &old.0) {
                Ordering::Greater => (value, inclusive),
                Ordering::Less => old,
                Ordering::Equal => (value, inclusive && old.1),
            },
        });
    }

    fn at_most(&mut self, key: &KeyColumn, value: Datum, inclusive: bool) {
        self.high = Some(match self.high.take() {
            None => (value, inclusive),
            Some(old) => match compare_column(key, &value, &old.0) {
                Ordering::Less => (value, inclusive),
                Ordering::Greater => old,
                Ordering::Equal => (value, inclusive && old.1),
            },
        });
    }

    fn not_null(&mut self, key: &KeyColumn) {
        if key.nulls_first {
            self.at_least(key, Datum::Null, false);
        } else {
            self.at_most(key, Datum::Null, false);
        }
    }

    /// Adds a condition; `false` if nothing can satisfy it.
    fn add(&mut self, key: &KeyColumn, op: &ScanOp) -> bool {
        let (value, inclusive, low) = match op {
            ScanOp::IsNull => {
                self.at_least(key, Datum::Null, true);
                self.at_most(key, Datum::Null, true);
                return true;
            }
            ScanOp::IsNotNull => {
                self.not_null(key);
                return true;
            }
            ScanOp::Equal(value) => {
                self.at_least(key, value.clone(), true);
                self.at_most(key, value.clone(), true);
                return !value.is_null();
            }
            ScanOp::Less(value) => (value, false, false),
            ScanOp::LessEqual(value) => (value, true, false),
            ScanOp::GreaterEqual(value) => (value, true, true),
            ScanOp::Greater(value) => (value, false, true),
        };
        self.not_null(key);
        if low != key.descending {
            self.at_least(key, value.clone(), inclusive);
        } else {
            self.at_most(key, value.clone(), inclusive);
        }
        !value.is_null()
    }

    fn is_empty(&self, key: &KeyColumn) -> bool {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => match compare_column(key, &low.0, &high.0) {
                Ordering::Less => false,
                Ordering::Equal => !(low.1 && high.1),
                Ordering::Greater => true,
            },
            _ => false,
        }
    }

    /// The one value of the range.
    fn single(&self, key: &KeyColumn) -> Option<&Datum> {
        match (&self.low, &self.high) {
            (Some((low, true)), Some((high, true))) if compare_column(key, low, high).is_eq() => Some(low),
            _ => None,
        }
    }

    fn holds(&self, key: &KeyColumn, value: &Datum) -> bool {
        let above = self.low.as_ref().is_none_or(|(low, inclusive)| match compare_column(key, value, low) {
            Ordering::Greater => true,
            Ordering::Equal => *inclusive,
            Ordering::Less => false,
        });
        above
            && self.high.as_ref().is_none_or(|(high, inclusive)| match compare_column(key, value, high) {
                Ordering::Less => true,
                Ordering::Equal => *inclusive,
                Ordering::Greater => false,
            })
    }
}

/// What this column is to equal, if that is all that the key says.
fn equal_value(column: usize, key: &ScanKey) -> Option<&Datum> {
    match &key.op {
        ScanOp::Equal(value) if key.column == column && !value.is_null() => Some(value),
        _ => None,
    }
}

/// Where a scan runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// Nothing can match.
    pub empty: bool,
    /// Before the first entry; `None`: the left end of the index.
    pub begin: Option<Place>,
    /// Behind the last entry; `None`: the right end.
    pub end: Option<Place>,
    /// Ranges of columns that the places say nothing of.
    filters: Vec<(usize, Range)>,
}

impl Bounds {
    pub fn new(desc: &BtreeDesc, keys: &[ScanKey]) -> Bounds {
        Bounds::of_equal(desc, keys).unwrap_or_else(|| Bounds::of_any(desc, keys))
    }

    /// The bounds of a point query: one value for each of the leading columns, in their order.
    fn of_equal(desc: &BtreeDesc, keys: &[ScanKey]) -> Option<Bounds> {
        if keys.is_empty() || keys.len() > desc.keys.len() {
            return None;
        }
        let mut values = SmallVec::new();
        for (column, key) in keys.iter().enumerate() {
            values.push(equal_value(column, key)?.clone());
        }
        let begin = Some(Place { values: values.clone(), behind: false });
        Some(Bounds { empty: false, begin, end: Some(Place { values, behind: true }), filters: Vec::new() })
    }

    /// Puts other values into the bounds of a point query; `false`, some of them perhaps changed, if the bounds or the keys are not of this kind.
    pub fn replace_equal(&mut self, keys: &[ScanKey]) -> bool {
        let (Some(begin), Some(end)) = (&mut self.begin, &mut self.end) else { return false };
        let all = |place: &Place| place.values.len() == keys.len();
        if begin.behind || !end.behind || !all(begin) || !all(end) || !self.filters.is_empty() {
            return false;
        }
        for (column, key) in keys.iter().enumerate() {
            let Some(value) = equal_value(column, key) else { return false };
            begin.values[column].clone_from(value);
            end.values[column].clone_from(value);
        }
        true
    }

    fn of_any(desc: &BtreeDesc, keys: &[ScanKey]) -> Bounds {
        let mut ranges = vec![Range::default(); desc.keys.len()];
        let mut possible = true;
        for key in keys {
            let (Some(column), Some(range)) = (desc.keys.get(key.column), ranges.get_mut(key.column)) else {
                // No such key column: a caller's mistake must not return rows that do not match.
                possible = false;
                continue;
            };
            possible &= range.add(column, &key.op);
        }
        if !possible || desc.keys.iter().zip(&ranges).any(|(key, range)| range.is_empty(key)) {
            return Bounds { empty: true, ..Bounds::default() };
        }
        let single = |(key, range): (&KeyColumn, &Range)| range.single(key).cloned();
        let prefix: SmallVec<[Datum; 2]> = desc.keys.iter().zip(&ranges).map_while(single).collect();
        let covered = prefix.len();
        let range = ranges.get(covered);
        let place = |bound: Option<&(Datum, bool)>, side: bool| {
            let mut values = prefix.clone();
            let mut behind = side;
            if let Some((value, inclusive)) = bound {
                values.push(value.clone());
                behind = *inclusive == side;
            }
            (!values.is_empty()).then_some(Place { values, behind })
        };
        let begin = place(range.and_then(|range| range.low.as_ref()), false);
        let end = place(range.and_then(|range| range.high.as_ref()), true);
        let filters = ranges
            .into_iter()
            .enumerate()
            .skip(covered + 1)
            .filter(|(_, range)| range.low.is_some() || range.high.is_some())
            .collect();
        Bounds { empty: false, begin, end, filters }
    }

    /// Whether an entry between the places satisfies the filters too.
    pub fn holds(&self, desc: &BtreeDesc, item: &Item<'_>, scratch: &mut Vec<Datum>) -> Check<bool> {
        let Some((last, _)) = self.filters.last() else { return Ok(true) };
        scratch.clear();
        item.decode(&desc.layout, last + 1, scratch)?;
        Ok(self.filters.iter().all(|(column, range)| {
            scratch.get(*column).is_some_and(|value| range.holds(&desc.keys[*column], value))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compare;
    use std::sync::Arc;
    use tuple::{Attr, Physical, RowLayout};

    fn desc(keys: &[(bool, bool)]) -> BtreeDesc {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p' };
        BtreeDesc {
            file: Default::default(),
            layout: Arc::new(RowLayout::new(vec![attr; keys.len()])),
            keys: keys
                .iter()
                .map(|&(descending, nulls_first)| KeyColumn {
                    compare: Compare::Int4,
                    descending,
                    nulls_first,
                })
                .collect(),
            persistence: Default::default(),
            unique: false,
            nulls_not_distinct: false,
            deduplicate: true,
            fillfactor: 90,
        }
    }

    fn key(column: usize, op: ScanOp) -> ScanKey {
        ScanKey { column, op }
    }

    fn show(place: &Option<Place>) -> String {
        place.as_ref().map_or("-".into(), |p| format!("{:?}{}", p.values, if p.behind { ">" } else { "<" }))
    }

    #[test]
    fn ranges_become_places() {
        let int = Datum::Int4;
        let asc = desc(&[(false, false), (false, false)]);
        let b = Bounds::new(&asc, &[key(0, ScanOp::Equal(int(1))), key(1, ScanOp::Greater(int(5)))]);
        assert_eq!(show(&b.begin), "[Int4(1), Int4(5)]>");
        // `> 5` is never NULL, and NULLs are last.
        assert_eq!(show(&b.end), "[Int4(1), Null]<");
        let b = Bounds::new(&asc, &[key(0, ScanOp::Less(int(7))), key(0, ScanOp::LessEqual(int(7)))]);
        assert_eq!((show(&b.begin), show(&b.end)), ("-".into(), "[Int4(7)]<".into()));
        let b = Bounds::new(&asc, &[key(1, ScanOp::Equal(int(7)))]);
        assert_eq!((show(&b.begin), show(&b.end), b.filters.len()), ("-".into(), "-".into(), 1));
        let b = Bounds::new(&asc, &[key(0, ScanOp::IsNull)]);
        assert_eq!((show(&b.begin), show(&b.end)), ("[Null]<".into(), "[Null]>".into()));
    }

    #[test]
    fn point_queries_get_the_same_bounds_either_way() {
        let d = desc(&[(false, false), (true, true), (false, false)]);
        for n in 1..=3 {
            let keys: Vec<ScanKey> = (0..n).map(|i| key(i, ScanOp::Equal(Datum::Int4(i as i32)))).collect();
            let (short, long) = (Bounds::of_equal(&d, &keys).unwrap(), Bounds::of_any(&d, &keys));
            assert_eq!((show(&short.begin), show(&short.end)), (show(&long.begin), show(&long.end)));
            assert!(short.filters.is_empty() && long.filters.is_empty() && !long.empty);
            let others: Vec<ScanKey> = (0..n).map(|i| key(i, ScanOp::Equal(Datum::Int4(7)))).collect();
            let (mut replaced, fresh) = (short, Bounds::new(&d, &others));
            assert!(replaced.replace_equal(&others));
            assert_eq!((show(&replaced.begin), show(&replaced.end)), (show(&fresh.begin), show(&fresh.end)));
            assert!(!replaced.replace_equal(&others[1..]));
            assert!(!replaced.replace_equal(&[key(0, ScanOp::Less(Datum::Int4(7)))]));
        }
        assert!(Bounds::of_equal(&d, &[key(1, ScanOp::Equal(Datum::Int4(1)))]).is_none());
        assert!(Bounds::of_equal(&d, &[key(0, ScanOp::Equal(Datum::Null))]).is_none());
    }

    #[test]
    fn descending_columns_turn_ranges_round() {
        let int = Datum::Int4;
        let d = desc(&[(true, true)]);
        let b = Bounds::new(&d, &[key(0, ScanOp::GreaterEqual(int(3))), key(0, ScanOp::Less(int(9)))]);
        assert_eq!((show(&b.begin), show(&b.end)), ("[Int4(9)]>".into(), "[Int4(3)]>".into()));
        let b = Bounds::new(&d, &[key(0, ScanOp::GreaterEqual(int(3)))]);
        assert_eq!((show(&b.begin), show(&b.end)), ("[Null]>".into(), "[Int4(3)]>".into()));
    }

    #[test]
    fn contradictions_are_empty() {
        let int = Datum::Int4;
        let d = desc(&[(false, false)]);
        for ops in [
            vec![ScanOp::Equal(int(1)), ScanOp::Equal(int(2))],
            vec![ScanOp::Greater(int(1)), ScanOp::Less(int(1))],
            vec![ScanOp::Equal(Datum::Null)],
            vec![ScanOp::Less(Datum::Null)],
            vec![ScanOp::IsNull, ScanOp::IsNotNull],
            vec![ScanOp::IsNull, ScanOp::Equal(int(1))],
            vec![ScanOp::IsNull, ScanOp::Less(int(1))],
        ] {
            let keys: Vec<ScanKey> = ops.iter().cloned().map(|op| key(0, op)).collect();
            assert!(Bounds::new(&d, &keys).empty, "{ops:?}");
        }
    }
}
