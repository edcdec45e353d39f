//! From scan keys to the places where a scan begins and ends.
//!
//! Conditions on a column become one range in *index order*: DESC turns comparisons round, and NULL is a value like any other, first or last. Columns
//! with one single value extend the common prefix; the first other column's range ends it. Where a column behind others has a condition, and one before it has
//! several values or any, the scan goes from group to group instead ([`Groups`]).

use std::cmp::Ordering;

use index::{
    Direction, IndexDesc, KeyColumn, ScanKey, ScanKeys, ScanOp, compare_column, compare_values, strategy,
};
use smallvec::SmallVec;
use tuple::Datum;

use crate::groups::{Groups, Member};
use crate::key::SearchKey;

/// A place between entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub values: SmallVec<[Datum; 2]>,
    /// Behind everything equal to `values` instead of before it.
    pub behind: bool,
}

impl Place {
    /// Order of two places in an index.
    pub fn compare(&self, desc: &IndexDesc, other: &Place) -> Ordering {
        let columns = desc.keys.iter().zip(self.values.iter().zip(&other.values));
        let mut orders = columns.map(|(key, (a, b))| compare_column(key, a, b));
        let order = orders.find(|order| order.is_ne());
        order.unwrap_or_else(|| match self.values.len().cmp(&other.values.len()) {
            // Of all that begins like the shorter one, that is on one side.
            Ordering::Less if self.behind => Ordering::Greater,
            Ordering::Greater if other.behind => Ordering::Less,
            Ordering::Equal => self.behind.cmp(&other.behind),
            different => different,
        })
    }

    /// Whether it is before an entry with these values.
    fn is_before(&self, desc: &IndexDesc, values: &[Datum]) -> bool {
        match self.order(desc, values) {
            Ordering::Equal => !self.behind,
            order => order.is_lt(),
        }
    }

    /// Order of its values and those of an entry.
    fn order(&self, desc: &IndexDesc, values: &[Datum]) -> Ordering {
        let columns = desc.keys.iter().zip(self.values.iter().zip(values));
        let mut orders = columns.map(|(key, (a, b))| compare_column(key, a, b));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// To search by; `None`: an end of the index.
    pub fn key<'a>(&'a self, desc: &'a IndexDesc) -> Option<SearchKey<'a>> {
        (!self.values.is_empty()).then(|| SearchKey::new(desc, &self.values, self.behind))
    }
}

/// Behind which entry a scan ends.
#[derive(Clone, Debug, Default)]
pub(crate) enum End {
    /// The last of the index.
    #[default]
    Right,
    /// The last of those equal to the values of the place where the scan begins, which is before them.
    Equal,
    /// The last before a place.
    At(Place),
}

/// A value and whether it belongs to the range.
type Bound = Option<(Datum, bool)>;

/// Range of one column in index order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Range {
    low: Bound,
    high: Bound,
}

/// What a column must be.
#[derive(Clone, Debug, Default)]
struct Wanted {
    range: Range,
    /// One of these, in the type's order.
    list: Option<Vec<Datum>>,
}

impl Wanted {
    /// Adds a condition; `false` if nothing can satisfy it.
    fn add(&mut self, key: &KeyColumn, op: ScanOp) -> bool {
        let ScanOp::Any(list) = op else { return self.range.add(key, &op) };
        let order = |a: &Datum, b: &Datum| compare_values(key.compare, a, b);
        match &mut self.list {
            None => self.list = Some(list),
            Some(old) => old.retain(|old| list.binary_search_by(|new| order(new, old)).is_ok()),
        }
        true
    }

    /// Takes list and range together; `false` if nothing is left.
    fn settle(&mut self, key: &KeyColumn) -> bool {
        if let Some(list) = &mut self.list {
            if !self.range.is_all() {
                list.retain(|value| self.range.holds(key, value));
            }
            match &list[..] {
                [] => return false,
                [one] => {
                    self.range.add(key, &ScanOp::Strategy(strategy::EQUAL, one.clone()));
                    self.list = None;
                }
                _ => {}
            }
        }
        !self.range.is_empty(key)
    }

    /// Whether there is no condition.
    fn is_any(&self) -> bool {
        self.list.is_none() && self.range.is_all()
    }

    /// Whether it has one value, or some that are listed.
    fn is_equal(&self, key: &KeyColumn) -> bool {
        self.list.is_some() || self.range.single(key).is_some()
    }

    fn member(self, key: &KeyColumn, direction: Direction) -> Member {
        match (self.list, self.range.single(key)) {
            (Some(mut list), _) => {
                if key.descending != (direction == Direction::Backward) {
                    list.reverse();
                }
                Member::Of(list)
            }
            (None, Some(value)) => Member::Of(vec![value.clone()]),
            (None, None) => Member::In(self.range),
        }
    }
}

impl Range {
    /// The end that is first in index order.
    pub fn low(&self) -> Option<&(Datum, bool)> {
        self.low.as_ref()
    }

    /// The other one.
    pub fn high(&self) -> Option<&(Datum, bool)> {
        self.high.as_ref()
    }

    /// Whether it has no ends.
    pub fn is_all(&self) -> bool {
        self.low.is_none() && self.high.is_none()
    }

    /// Whether a value lies before the range in index order, in it, or behind it.
    pub fn side(&self, key: &KeyColumn, value: &Datum) -> Ordering {
        let outside = |end: &(Datum, bool), side| {
            let order = compare_column(key, value, &end.0);
            order == side || (order.is_eq() && !end.1)
        };
        if self.low.as_ref().is_some_and(|low| outside(low, Ordering::Less)) {
            return Ordering::Less;
        }
        match self.high.as_ref().is_some_and(|high| outside(high, Ordering::Greater)) {
            true => Ordering::Greater,
            false => Ordering::Equal,
        }
    }

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
            ScanOp::Strategy(strategy::EQUAL, value) => {
                self.at_least(key, value.clone(), true);
                self.at_most(key, value.clone(), true);
                return !value.is_null();
            }
            // Lists are not for ranges.
            ScanOp::Any(_) => return true,
            ScanOp::Strategy(strategy::LESS, value) => (value, false, false),
            ScanOp::Strategy(strategy::LESS_EQUAL, value) => (value, true, false),
            ScanOp::Strategy(strategy::GREATER_EQUAL, value) => (value, true, true),
            ScanOp::Strategy(strategy::GREATER, value) => (value, false, true),
            // No operator of an order.
            ScanOp::Strategy(..) | ScanOp::Operator { .. } => return false,
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

    /// Whether a value is in the range.
    pub fn holds(&self, key: &KeyColumn, value: &Datum) -> bool {
        self.side(key, value).is_eq()
    }
}

/// What this column is to equal, if that is all that the key says.
fn equal_value(column: usize, key: &ScanKey) -> Option<&Datum> {
    match &key.op {
        ScanOp::Strategy(strategy::EQUAL, value) if key.column == column && !value.is_null() => Some(value),
        _ => None,
    }
}

/// Where a scan runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// Nothing can match.
    pub empty: bool,
    /// Before the first entry; `None`: the left end of the index.
    begin: Option<Place>,
    end: End,
    /// Instead of the places: it goes from group to group.
    pub groups: Option<Box<Groups>>,
}

impl Bounds {
    /// All between two places.
    pub fn between(begin: Option<Place>, end: Option<Place>) -> Bounds {
        Bounds { begin, end: end.map_or(End::Right, End::At), ..Bounds::default() }
    }

    /// The place before the first entry and that behind the last; `None`: the end of the index.
    pub fn extent(&self) -> (Option<Place>, Option<Place>) {
        let end = match &self.end {
            End::Right => None,
            End::Equal => self.begin.clone().map(|place| Place { behind: true, ..place }),
            End::At(place) => Some(place.clone()),
        };
        (self.begin.clone(), end)
    }

    /// Whether an entry with these values lies between the places, and in one of the groups.
    pub fn hold_key(&self, desc: &IndexDesc, values: &[Datum]) -> bool {
        let begun = || self.begin.as_ref().is_none_or(|place| place.is_before(desc, values));
        let within = match &self.end {
            End::Right => begun(),
            End::Equal => self.begin.as_ref().is_none_or(|place| place.order(desc, values).is_eq()),
            End::At(place) => !place.is_before(desc, values) && begun(),
        };
        !self.empty && within && self.groups.as_ref().is_none_or(|groups| groups.hold_key(desc, values))
    }

    pub fn new(desc: &IndexDesc, keys: ScanKeys) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.set(desc, keys);
        bounds
    }

    /// Makes them those of other conditions.
    pub fn set(&mut self, desc: &IndexDesc, conditions: ScanKeys) {
        let keys = &conditions.keys;
        let value = |column: usize| equal_value(column, &keys[column]).cloned().ok_or(());
        let leading = (1..=desc.keys.len()).contains(&keys.len());
        if !leading || self.set_equal(keys.len(), value).is_err() {
            *self = Bounds::of_any(desc, conditions);
        }
    }

    /// Makes them those of a point query: a value for each of the leading `columns`, at least one. `false`, and nothing matches, if one is NULL;
    /// nothing does after an error either.
    #[inline]
    pub fn set_equal<E>(
        &mut self,
        columns: usize,
        mut value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        self.empty = true;
        let begin = self.begin.get_or_insert_default();
        if begin.values.len() != columns {
            begin.values.resize(columns, Datum::Null);
        }
        for (column, place) in begin.values.iter_mut().enumerate() {
            *place = value(column)?;
            if place.is_null() {
                return Ok(false);
            }
        }
        begin.behind = false;
        self.end = End::Equal;
        if self.groups.is_some() {
            self.groups = None;
        }
        self.empty = false;
        Ok(true)
    }

    /// The place before the first entry; `None`: the left end of the index.
    #[inline(always)]
    pub fn begin<'a>(&'a self, desc: &'a IndexDesc) -> Option<SearchKey<'a>> {
        self.begin.as_ref().and_then(|place| place.key(desc))
    }

    /// The place behind the last entry; `None`: the right end of the index.
    #[inline(always)]
    pub fn end<'a>(&'a self, desc: &'a IndexDesc) -> Option<SearchKey<'a>> {
        match &self.end {
            End::Right => None,
            End::Equal => self.begin(desc).map(|key| SearchKey { behind: true, ..key }),
            End::At(place) => place.key(desc),
        }
    }

    fn of_any(desc: &IndexDesc, ScanKeys { keys, direction }: ScanKeys) -> Bounds {
        if keys.is_empty() {
            return Bounds::default();
        }
        let mut wanted = vec![Wanted::default(); desc.keys.len()];
        let mut possible = true;
        for key in keys {
            let (Some(column), Some(wanted)) = (desc.keys.get(key.column), wanted.get_mut(key.column)) else {
                // No such key column: a caller's mistake must not return rows that do not match.
                possible = false;
                continue;
            };
            possible &= wanted.add(column, key.op);
        }
        let mut columns = desc.keys.iter().zip(&mut wanted);
        if !possible || columns.any(|(key, wanted)| !wanted.settle(key)) {
            return Bounds { empty: true, ..Bounds::default() };
        }
        Bounds::of_wanted(desc, wanted, direction)
    }

    fn of_wanted(desc: &IndexDesc, wanted: Vec<Wanted>, direction: Direction) -> Bounds {
        let columns = || desc.keys.iter().zip(&wanted);
        let single = |(key, wanted): (&KeyColumn, &Wanted)| wanted.range.single(key).cloned();
        let prefix: SmallVec<[Datum; 2]> = columns().map_while(single).collect();
        let mut members = columns().rposition(|(_, wanted)| !wanted.is_any()).unwrap_or(0);
        members += usize::from(columns().nth(members).is_some_and(|(key, wanted)| wanted.is_equal(key)));
        let range = wanted.get(members).map(|wanted| &wanted.range);
        let mut bounds = Bounds::default();
        if members > prefix.len() {
            let behind = range.cloned().unwrap_or_default();
            let columns = desc.keys.iter().zip(wanted).take(members);
            let members = columns.map(|(key, wanted)| wanted.member(key, direction)).collect();
            bounds.groups = Some(Groups::new(desc, direction, members, behind).into());
            return bounds;
        }
        let place = |bound: Option<&(Datum, bool)>, side: bool| {
            let mut values = prefix.clone();
            let mut behind = side;
            if let Some((value, inclusive)) = bound {
                values.push(value.clone());
                behind = *inclusive == side;
            }
            (!values.is_empty()).then_some(Place { values, behind })
        };
        bounds.begin = place(range.and_then(Range::low), false);
        bounds.end = place(range.and_then(Range::high), true).map_or(End::Right, End::At);
        bounds
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use index::Compare;
    use std::sync::Arc;
    use tuple::{Attr, Physical, RowLayout};

    pub(crate) fn desc(keys: &[(bool, bool)]) -> IndexDesc {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        IndexDesc {
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
            trees: Vec::new(),
            hashes: Vec::new(),
            parts: Vec::new(),
            spaces: Vec::new(),
            summaries: Vec::new(),
            persistence: Default::default(),
            unique: false,
            nulls_not_distinct: false,
            equal_image: true,
            options: Vec::new(),
        }
    }

    fn key(column: usize, op: ScanOp) -> ScanKey {
        ScanKey { column, op }
    }

    fn bounds(desc: &IndexDesc, keys: &[ScanKey]) -> Bounds {
        Bounds::new(desc, forward(keys))
    }

    fn forward(keys: &[ScanKey]) -> ScanKeys {
        ScanKeys { keys: keys.to_vec(), direction: Direction::Forward }
    }

    fn show(bounds: &Bounds, desc: &IndexDesc) -> (String, String) {
        let place = |key: Option<SearchKey<'_>>| match key {
            None => "-".into(),
            Some(key) => format!("{:?}{}", key.values, if key.behind { ">" } else { "<" }),
        };
        let (begin, end) = (bounds.begin(desc), bounds.end(desc));
        (place(begin), place(end))
    }

    fn pair(begin: &str, end: &str) -> (String, String) {
        (begin.into(), end.into())
    }

    #[test]
    fn ranges_become_places() {
        let int = Datum::Int4;
        let asc = desc(&[(false, false), (false, false)]);
        let b = bounds(
            &asc,
            &[
                key(0, ScanOp::Strategy(strategy::EQUAL, int(1))),
                key(1, ScanOp::Strategy(strategy::GREATER, int(5))),
            ],
        );
        // `> 5` is never NULL, and NULLs are last.
        assert_eq!(show(&b, &asc), pair("[Int4(1), Int4(5)]>", "[Int4(1), Null]<"));
        let b = bounds(
            &asc,
            &[
                key(0, ScanOp::Strategy(strategy::LESS, int(7))),
                key(0, ScanOp::Strategy(strategy::LESS_EQUAL, int(7))),
            ],
        );
        assert_eq!(show(&b, &asc), pair("-", "[Int4(7)]<"));
        let b = bounds(&asc, &[key(1, ScanOp::Strategy(strategy::EQUAL, int(7)))]);
        assert_eq!((show(&b, &asc), b.groups.is_some()), (pair("-", "-"), true));
        let b = bounds(&asc, &[key(0, ScanOp::IsNull)]);
        assert_eq!(show(&b, &asc), pair("[Null]<", "[Null]>"));
    }

    #[test]
    fn point_queries_get_the_same_bounds_either_way() {
        let d = desc(&[(false, false), (true, true), (false, false)]);
        let equal = |n: usize, value: i32| -> Vec<ScanKey> {
            (0..n).map(|i| key(i, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(value + i as i32)))).collect()
        };
        let mut kept = bounds(&d, &[key(1, ScanOp::Strategy(strategy::LESS, Datum::Int4(3)))]);
        for n in [1, 3, 2] {
            for value in [0, 7] {
                let keys = equal(n, value);
                let long = Bounds::of_any(&d, forward(&keys));
                kept.set(&d, forward(&keys));
                for short in [&kept, &bounds(&d, &keys)] {
                    assert_eq!(show(short, &d), show(&long, &d));
                    assert!(matches!(short.end, End::Equal) && !short.empty);
                }
            }
        }
        // What is no point query leaves nothing of one.
        let others = [
            vec![key(0, ScanOp::Strategy(strategy::LESS, Datum::Int4(7)))],
            vec![key(1, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(1)))],
            vec![
                key(0, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(1))),
                key(0, ScanOp::Strategy(strategy::EQUAL, Datum::Int4(1))),
            ],
            vec![],
        ];
        for keys in others {
            kept.set(&d, forward(&equal(3, 0)));
            kept.set(&d, forward(&keys));
            assert_eq!(show(&kept, &d), show(&Bounds::of_any(&d, forward(&keys)), &d), "{keys:?}");
        }
    }

    #[test]
    fn a_point_query_for_null_or_an_error_finds_nothing() {
        let d = desc(&[(false, false), (false, false)]);
        let mut b = Bounds::default();
        assert_eq!(b.set_equal(2, |i| Ok::<_, ()>(Datum::Int4(i as i32))), Ok(true));
        assert!(!b.empty);
        assert_eq!(
            b.set_equal(2, |i| Ok::<_, ()>(if i == 0 { Datum::Int4(1) } else { Datum::Null })),
            Ok(false)
        );
        assert!(b.empty);
        assert_eq!(b.set_equal(1, |_| Ok::<_, ()>(Datum::Int4(5))), Ok(true));
        assert_eq!((b.empty, show(&b, &d)), (false, pair("[Int4(5)]<", "[Int4(5)]>")));
        assert_eq!(b.set_equal(1, |_| Err(())), Err(()));
        assert!(b.empty);
    }

    #[test]
    fn descending_columns_turn_ranges_round() {
        let int = Datum::Int4;
        let d = desc(&[(true, true)]);
        let b = bounds(
            &d,
            &[
                key(0, ScanOp::Strategy(strategy::GREATER_EQUAL, int(3))),
                key(0, ScanOp::Strategy(strategy::LESS, int(9))),
            ],
        );
        assert_eq!(show(&b, &d), pair("[Int4(9)]>", "[Int4(3)]>"));
        let b = bounds(&d, &[key(0, ScanOp::Strategy(strategy::GREATER_EQUAL, int(3)))]);
        assert_eq!(show(&b, &d), pair("[Null]>", "[Int4(3)]>"));
    }

    #[test]
    fn contradictions_are_empty() {
        let int = Datum::Int4;
        let d = desc(&[(false, false)]);
        for ops in [
            vec![ScanOp::Strategy(strategy::EQUAL, int(1)), ScanOp::Strategy(strategy::EQUAL, int(2))],
            vec![ScanOp::Strategy(strategy::GREATER, int(1)), ScanOp::Strategy(strategy::LESS, int(1))],
            vec![ScanOp::Strategy(strategy::EQUAL, Datum::Null)],
            vec![ScanOp::Strategy(strategy::LESS, Datum::Null)],
            vec![ScanOp::IsNull, ScanOp::IsNotNull],
            vec![ScanOp::IsNull, ScanOp::Strategy(strategy::EQUAL, int(1))],
            vec![ScanOp::IsNull, ScanOp::Strategy(strategy::LESS, int(1))],
        ] {
            let keys: Vec<ScanKey> = ops.iter().cloned().map(|op| key(0, op)).collect();
            assert!(bounds(&d, &keys).empty, "{ops:?}");
        }
    }
}
