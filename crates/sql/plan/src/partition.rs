//! # What
//! Partitioned tables: bounds sorted for searches ([`PartitionMap`]), and which partitions remain to be read under given conditions.
//!
//! # Invariants
//! 1. Partitions are numbered in the order of their bounds, the DEFAULT partition last. EXPLAIN shows them so.
//! 2. Bounds of a table do not overlap: its description says so, and who adds a partition checks it.
//!
//! # PostgreSQL counterpart
//! `partitioning/partbounds.c`, `partitioning/partprune.c`.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult};
use catalog::partition::{Bound, Limit, Partition, Partitioning, Strategy};
use catalog::view::{CatalogView, Table};
use tuple::Datum;
use types::comparator::SeededHash;
use types::hashing::{PARTITION_SEED, combine};
use types::{Comparator, Order};

/// A column of a partition key.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn {
    /// Its type.
    pub type_oid: Oid,
    /// The built-in type that it compares as.
    pub comparable: Oid,
    /// The function, called with [`types::hashing::PARTITION_SEED`], that hashes it instead of the built-in one: a user made its operator
    /// class. Hashes stand for values then where rows find their partitions.
    pub hash_function: Option<Oid>,
    /// Its collation, 0 if its type has none.
    pub collation: Oid,
    order: Option<Order>,
    hash: Option<SeededHash>,
}

impl KeyColumn {
    /// Whether a function of a user tells its order.
    pub(crate) fn asks(&self) -> bool {
        self.order.is_some_and(Order::asks)
    }

    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        match (integer(a), integer(b)) {
            (Some(a), Some(b)) if !self.asks() => a.cmp(&b),
            _ => self.order.map_or(Ordering::Equal, |order| order.compare(a, b)),
        }
    }
}

fn integer(value: &Datum) -> Option<i64> {
    match value {
        Datum::Int2(v) => Some(i64::from(*v)),
        Datum::Int4(v) => Some(i64::from(*v)),
        Datum::Int8(v) => Some(*v),
        _ => None,
    }
}

/// Bounds with their values.
pub type BoundValues = Bound<Datum>;

/// The partitions of one table.
#[derive(Clone, Debug)]
pub struct PartitionMap {
    /// The key.
    pub keys: Vec<KeyColumn>,
    /// Strategy.
    pub strategy: Strategy,
    /// The partitions in the order of their bounds.
    pub partitions: Vec<Oid>,
    /// Their bounds.
    pub bounds: Vec<BoundValues>,
    /// The partition of what no other takes.
    pub default: Option<usize>,
    /// List: the values in order and the partition of each.
    values: Vec<(Datum, usize)>,
    /// List: the partition of NULL.
    null: Option<usize>,
    /// Hash: the partition of each remainder of the greatest modulus.
    slots: Vec<Option<usize>>,
}

/// Types of a table's partition key.
pub fn key_columns(table: &Table, catalog: &dyn CatalogView) -> SqlResult<Vec<KeyColumn>> {
    let Some(key) = &table.partitioning else {
        return Err(SqlError::internal(format!("relation \"{}\" is not partitioned", table.name)));
    };
    let mut expressions = key.expressions.iter();
    let array_of =
        |element: Oid| catalog.type_by_oid(element).ok().flatten().map_or(Oid::INVALID, |def| def.array);
    let mut columns = Vec::with_capacity(key.keys.len());
    for &number in &key.keys {
        let type_oid = match number {
            0 => {
                let text = expressions.next().map_or("", |text| text);
                analyze::facts::expr_type(&analyze::stored::load_expr(text, catalog)?, &array_of)
            }
            n => table.columns.get(n as usize - 1).map_or(Oid::INVALID, |c| c.type_oid),
        };
        let collation = key.collations.get(columns.len()).copied().unwrap_or_default();
        let mut column = key_column(type_oid, collation, catalog)?;
        let class = key.opclasses.get(columns.len()).copied().unwrap_or_default();
        match key.strategy {
            _ if class.is_pinned() => {}
            Strategy::Hash => column.hash_function = catalog.hash_function(class)?,
            Strategy::List | Strategy::Range => {
                let asked = catalog::families::class_order(catalog, class, collation)?;
                column.order = asked.map(Order::Asked).or(column.order);
            }
        }
        columns.push(column);
    }
    Ok(columns)
}

/// How values of a type compare in a partition key of a collation, 0 if the type has none.
pub fn key_column(type_oid: Oid, collation: Oid, catalog: &dyn CatalogView) -> SqlResult<KeyColumn> {
    let comparable = catalog::type_shape(catalog, type_oid)?.comparable;
    let rules =
        if collation.is_valid() { catalog::collation_rules(catalog, collation)? } else { &collation::C };
    let Comparator { order, seeded_hash: hash, .. } = Comparator::of(comparable, rules);
    Ok(KeyColumn { type_oid, comparable, hash_function: None, collation, order, hash })
}

/// The values of a stored bound.
pub fn bound_values(bound: &Bound, catalog: &dyn CatalogView) -> SqlResult<BoundValues> {
    bound.try_map(&mut |stored| match analyze::stored::load_expr(stored, catalog)? {
        analyze::Expr::Const(constant) => Ok(constant.value),
        _ => Err(SqlError::internal("a partition bound is no constant")),
    })
}

/// Sorts by the order of a key.
fn sorted<T>(keys: &[KeyColumn], mut items: Vec<T>, order: impl Fn(&T, &T) -> Ordering) -> SqlResult<Vec<T>> {
    if !keys.iter().any(KeyColumn::asks) {
        items.sort_by(order);
        return Ok(items);
    }
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    let by_item = |a: &Option<T>, b: &Option<T>| match (a, b) {
        (Some(a), Some(b)) => order(a, b),
        _ => Ordering::Equal,
    };
    types::piece::sort_by_any(&mut items, by_item)?;
    Ok(items.into_iter().flatten().collect())
}

fn partitioning(table: &Table) -> SqlResult<&Partitioning> {
    table.partitioning.as_deref().ok_or_else(|| SqlError::internal("a table without partitions"))
}

impl PartitionMap {
    /// The partitions of a table.
    pub fn of(table: &Table, catalog: &dyn CatalogView) -> SqlResult<PartitionMap> {
        let key = partitioning(table)?;
        PartitionMap::new(table, (key, &mut key.partitions.iter()), catalog)
    }

    /// The partitions of a table, a hidden one among them.
    pub fn of_all(table: &Table, catalog: &dyn CatalogView) -> SqlResult<PartitionMap> {
        let key = partitioning(table)?;
        PartitionMap::new(table, (key, &mut key.all_partitions()), catalog)
    }

    fn new(
        table: &Table,
        (key, partitions): (&Partitioning, &mut dyn Iterator<Item = &Partition>),
        catalog: &dyn CatalogView,
    ) -> SqlResult<PartitionMap> {
        let keys = key_columns(table, catalog)?;
        let mut bounds = Vec::with_capacity(key.partitions.len());
        for partition in partitions {
            bounds.push((partition.oid, bound_values(&partition.bound, catalog)?));
        }
        let bounds = sorted(&keys, bounds, |a, b| order_of(&keys, &a.1, &b.1))?;
        let (partitions, bounds): (Vec<Oid>, Vec<BoundValues>) = bounds.into_iter().unzip();
        let default = bounds.iter().position(|b| *b == Bound::Default);
        let (mut values, mut null, mut slots) = (Vec::new(), None, Vec::new());
        let greatest = bounds.iter().map(|b| if let Bound::Hash(m, _) = b { *m } else { 0 }).max();
        slots.resize(greatest.unwrap_or(0).max(0) as usize, None);
        for (number, bound) in bounds.iter().enumerate() {
            match bound {
                Bound::List(list) => {
                    for value in list {
                        match value {
                            Datum::Null => null = Some(number),
                            value => values.push((value.clone(), number)),
                        }
                    }
                }
                Bound::Hash(modulus, remainder) if *modulus > 0 => {
                    let places = (*remainder as usize..slots.len()).step_by(*modulus as usize);
                    places.for_each(|place| slots[place] = Some(number));
                }
                _ => {}
            }
        }
        if let Some(key) = keys.first() {
            values = sorted(&keys, values, |a, b| key.compare(&a.0, &b.0))?;
        }
        types::asked::check()?;
        Ok(PartitionMap { keys, strategy: key.strategy, partitions, bounds, default, values, null, slots })
    }

    /// The partition for a row with these key values.
    pub fn route(&self, values: &[Datum]) -> Option<usize> {
        let found = match self.strategy {
            Strategy::List => match values.first() {
                Some(Datum::Null) | None => self.null,
                Some(value) => {
                    let at = self.values.binary_search_by(|(v, _)| self.keys[0].compare(v, value));
                    at.ok().map(|at| self.values[at].1)
                }
            },
            Strategy::Range if values.iter().any(Datum::is_null) => None,
            Strategy::Range => self.range_of(values),
            Strategy::Hash => self.slot_of(values),
        };
        found.or(self.default)
    }

    fn range_of(&self, values: &[Datum]) -> Option<usize> {
        let ranges = self.default.unwrap_or(self.bounds.len());
        let below = self.bounds[..ranges].partition_point(|bound| match bound {
            Bound::Range(lower, _) => self.compare_limits(lower, values).is_le(),
            _ => false,
        });
        let at = below.checked_sub(1)?;
        let Bound::Range(_, upper) = &self.bounds[at] else { return None };
        self.compare_limits(upper, values).is_gt().then_some(at)
    }

    fn slot_of(&self, values: &[Datum]) -> Option<usize> {
        let hash = self.hash(values)?;
        match self.slots.len() {
            0 => None,
            n => self.slots[(hash % n as u64) as usize],
        }
    }

    /// Hash of a row's key.
    pub fn hash(&self, values: &[Datum]) -> Option<u64> {
        hash_of(&self.keys, values)
    }

    /// Order of a range's end and a row's key, as far as the shorter goes.
    fn compare_limits(&self, limits: &[Limit<Datum>], values: &[Datum]) -> Ordering {
        for ((limit, value), key) in limits.iter().zip(values).zip(&self.keys) {
            let order = match limit {
                Limit::Min => Ordering::Less,
                Limit::Max => Ordering::Greater,
                Limit::Value(limit) => key.compare(limit, value),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Hash of a row's key, with hashes for values where a user's function makes them; none if a type cannot be hashed.
pub fn hash_of(keys: &[KeyColumn], values: &[Datum]) -> Option<u64> {
    keys.iter().zip(values).try_fold(0, |row, (key, value)| match value {
        Datum::Null => Some(row),
        Datum::Int8(hash) if key.hash_function.is_some() => Some(combine(row, *hash as u64)),
        value => Some(combine(row, key.hash?.hash(value, PARTITION_SEED))),
    })
}

/// Order of two ends of ranges.
pub fn compare_ends(keys: &[KeyColumn], a: &[Limit<Datum>], b: &[Limit<Datum>]) -> Ordering {
    for ((a, b), key) in a.iter().zip(b).zip(keys) {
        let order = match (a, b) {
            (Limit::Value(a), Limit::Value(b)) => key.compare(a, b),
            // What stands behind MINVALUE or MAXVALUE does not matter.
            (Limit::Min, Limit::Min) | (Limit::Max, Limit::Max) => return Ordering::Equal,
            (Limit::Min, _) | (_, Limit::Max) => Ordering::Less,
            (Limit::Max, _) | (_, Limit::Min) => Ordering::Greater,
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Order of values of a key's first column, NULL last.
pub fn compare_values(keys: &[KeyColumn], a: &Datum, b: &Datum) -> Ordering {
    match (a, b, keys.first()) {
        (Datum::Null, Datum::Null, _) => Ordering::Equal,
        (Datum::Null, ..) => Ordering::Greater,
        (_, Datum::Null, _) => Ordering::Less,
        (a, b, Some(key)) => key.compare(a, b),
        _ => Ordering::Equal,
    }
}

/// Order of partitions: by least value, lower end, or modulus and remainder; DEFAULT last.
fn order_of(keys: &[KeyColumn], a: &BoundValues, b: &BoundValues) -> Ordering {
    let least = |list: &[Datum]| {
        let least = list.iter().min_by(|a, b| compare_values(keys, a, b));
        least.cloned().unwrap_or(Datum::Null)
    };
    match (a, b) {
        (Bound::Default, Bound::Default) => Ordering::Equal,
        (Bound::Default, _) => Ordering::Greater,
        (_, Bound::Default) => Ordering::Less,
        (Bound::Hash(m1, r1), Bound::Hash(m2, r2)) => (m1, r1).cmp(&(m2, r2)),
        (Bound::List(a), Bound::List(b)) => compare_values(keys, &least(a), &least(b)),
        (Bound::Range(a, _), Bound::Range(b, _)) => compare_ends(keys, a, b),
        _ => Ordering::Equal,
    }
}

/// A set of partitions, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSet(pub Vec<bool>);

impl PartitionSet {
    /// Whether a partition is in.
    pub fn contains(&self, partition: usize) -> bool {
        self.0.get(partition).copied().unwrap_or(false)
    }
}

/// How a key's column compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
    NotEqual,
}

/// Gives the value of a condition, or the elements of an array (true); none if they are not known yet.
pub type Values<'f, V> = dyn FnMut(&V, bool) -> SqlResult<Option<Vec<Datum>>> + 'f;

/// The end of a range.
type End<'b> = &'b [Limit<Datum>];

/// What conditions say of the columns of a partition key, with values as `V`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<V> {
    /// A column and a value.
    Compare(usize, Comparison, V),
    /// A column equals an element of an array.
    Any(usize, V),
    /// A column equals no element of an array.
    NoneOf(usize, V),
    /// A column is NULL.
    Null(usize),
    /// A column is not NULL.
    NotNull(usize),
    /// All of these.
    And(Vec<Condition<V>>),
    /// One of these.
    Or(Vec<Condition<V>>),
    /// Nothing.
    Never,
}

/// Partitions that may have a row: ordinary ones by bound, and where other rows are.
#[derive(Clone)]
struct Matches {
    /// List: by value. Else by partition.
    bounds: Vec<bool>,
    null: bool,
    default: bool,
}

impl Matches {
    fn zip(mut self, other: &Matches, f: fn(bool, bool) -> bool) -> Matches {
        self.bounds.iter_mut().zip(&other.bounds).for_each(|(a, b)| *a = f(*a, *b));
        self.null = f(self.null, other.null);
        self.default = f(self.default, other.default);
        self
    }
}

/// What is known of the columns of a key before a partition is looked for.
#[derive(Clone, Default)]
struct Interval {
    equal: Vec<Option<Datum>>,
    lower: Vec<Option<(Datum, bool)>>,
    upper: Vec<Option<(Datum, bool)>>,
    /// Columns that are NULL.
    null: Vec<bool>,
}

impl PartitionMap {
    /// The partitions that may have rows that satisfy a condition. `value` gives a value of the condition, or the elements of an array
    /// (true), or none if they are not known yet.
    pub fn matching<V>(
        &self,
        condition: &Condition<V>,
        value: &mut Values<'_, V>,
    ) -> SqlResult<PartitionSet> {
        if self.keys.iter().any(|key| key.hash_function.is_some()) {
            // What users' functions make of the values is known when rows come.
            return Ok(PartitionSet(vec![true; self.partitions.len()]));
        }
        let matches = self.matches(condition, value)?;
        let mut set = vec![false; self.partitions.len()];
        match self.strategy {
            Strategy::List => {
                for ((_, partition), matching) in self.values.iter().zip(&matches.bounds) {
                    set[*partition] |= matching;
                }
            }
            _ => set.iter_mut().zip(&matches.bounds).for_each(|(slot, matching)| *slot = *matching),
        }
        if let Some(null) = self.null {
            set[null] |= matches.null;
        }
        if let Some(default) = self.default {
            set[default] = matches.default || matches.null && self.null.is_none();
        }
        Ok(PartitionSet(set))
    }

    fn all(&self, matching: bool) -> Matches {
        let bounds = match self.strategy {
            Strategy::List => self.values.len(),
            _ => self.partitions.len(),
        };
        Matches { bounds: vec![matching; bounds], null: matching, default: matching }
    }

    fn matches<V>(&self, condition: &Condition<V>, value: &mut Values<'_, V>) -> SqlResult<Matches> {
        match condition {
            Condition::Never => Ok(self.all(false)),
            Condition::Or(arms) => {
                let mut any = self.all(false);
                for arm in arms {
                    any = any.zip(&self.matches(arm, value)?, |a, b| a | b);
                }
                Ok(any)
            }
            Condition::And(list) => self.conjunction(list, value),
            one => self.conjunction(std::slice::from_ref(one), value),
        }
    }

    /// Conditions on columns are considered together, others one by one.
    fn conjunction<V>(&self, list: &[Condition<V>], value: &mut Values<'_, V>) -> SqlResult<Matches> {
        let mut result = self.all(true);
        let mut interval = Interval {
            equal: vec![None; self.keys.len()],
            lower: vec![None; self.keys.len()],
            upper: vec![None; self.keys.len()],
            null: vec![false; self.keys.len()],
        };
        let mut compared = false;
        for condition in list {
            let one = match condition {
                Condition::Compare(_, _, v) => value(v, false)?,
                Condition::Any(_, v) | Condition::NoneOf(_, v) => value(v, true)?,
                _ => Some(Vec::new()),
            };
            // What is not known restricts nothing.
            let Some(values) = one else { continue };
            let next = match condition {
                Condition::Compare(column, comparison, _) => match values.first() {
                    Some(Datum::Null) | None => self.all(false),
                    Some(v) if *comparison == Comparison::NotEqual => {
                        self.other_than(std::slice::from_ref(v))
                    }
                    Some(v) => {
                        compared = true;
                        self.narrow(&mut interval, *column, *comparison, v)
                    }
                },
                Condition::NoneOf(_, _) if values.iter().any(Datum::is_null) => self.all(false),
                Condition::NoneOf(..) => self.other_than(&values),
                Condition::Any(column, _) => {
                    let mut any = self.all(false);
                    for v in values.iter().filter(|v| !v.is_null()) {
                        let mut alone = interval.clone();
                        self.narrow(&mut alone, *column, Comparison::Equal, v);
                        any = any.zip(&self.within(&alone), |a, b| a | b);
                    }
                    any
                }
                Condition::Null(column) => {
                    compared = true;
                    interval.null[*column] = true;
                    self.all(true)
                }
                Condition::NotNull(column) => self.not_null(*column),
                nested => self.matches(nested, value)?,
            };
            result = result.zip(&next, |a, b| a & b);
        }
        if compared {
            result = result.zip(&self.within(&interval), |a, b| a & b);
        }
        Ok(result)
    }

    /// Adds a comparison to what is known; a contradiction matches nothing.
    fn narrow(&self, interval: &mut Interval, column: usize, comparison: Comparison, v: &Datum) -> Matches {
        let key = self.keys[column];
        let tighter = |slot: &mut Option<(Datum, bool)>, wanted: Ordering, inclusive: bool| {
            let replace = match slot {
                None => true,
                Some((old, old_inclusive)) => match key.compare(v, old) {
                    Ordering::Equal => *old_inclusive && !inclusive,
                    order => order == wanted,
                },
            };
            if replace {
                *slot = Some((v.clone(), inclusive));
            }
        };
        match comparison {
            Comparison::Less => tighter(&mut interval.upper[column], Ordering::Less, false),
            Comparison::LessEqual => tighter(&mut interval.upper[column], Ordering::Less, true),
            Comparison::Greater => tighter(&mut interval.lower[column], Ordering::Greater, false),
            Comparison::GreaterEqual => tighter(&mut interval.lower[column], Ordering::Greater, true),
            Comparison::NotEqual => {}
            Comparison::Equal => match &interval.equal[column] {
                Some(old) if key.compare(old, v).is_ne() => return self.all(false),
                _ => interval.equal[column] = Some(v.clone()),
            },
        }
        self.all(true)
    }

    fn not_null(&self, _column: usize) -> Matches {
        let mut matches = self.all(true);
        if self.strategy == Strategy::List {
            matches.null = false;
        }
        matches
    }

    /// List: everything but rows with these values.
    fn other_than(&self, values: &[Datum]) -> Matches {
        let mut matches = self.all(true);
        if self.strategy == Strategy::List {
            matches.null = false;
            for (slot, (v, _)) in matches.bounds.iter_mut().zip(&self.values) {
                *slot = !values.iter().any(|other| self.keys[0].compare(v, other).is_eq());
            }
        }
        matches
    }

    fn within(&self, interval: &Interval) -> Matches {
        match self.strategy {
            Strategy::List => self.list_within(interval),
            Strategy::Range => self.ranges_within(interval),
            Strategy::Hash => self.slots_within(interval),
        }
    }

    fn list_within(&self, interval: &Interval) -> Matches {
        let mut matches = self.all(false);
        let bounded =
            interval.equal[0].is_some() || interval.lower[0].is_some() || interval.upper[0].is_some();
        if interval.null[0] {
            matches.null = !bounded;
            return matches;
        }
        if !bounded {
            return self.all(true);
        }
        let key = &self.keys[0];
        for (slot, (v, _)) in matches.bounds.iter_mut().zip(&self.values) {
            *slot = interval.equal[0].as_ref().is_none_or(|e| key.compare(v, e).is_eq())
                && interval.lower[0].as_ref().is_none_or(|(l, inclusive)| match key.compare(v, l) {
                    Ordering::Equal => *inclusive,
                    order => order.is_gt(),
                })
                && interval.upper[0].as_ref().is_none_or(|(u, inclusive)| match key.compare(v, u) {
                    Ordering::Equal => *inclusive,
                    order => order.is_lt(),
                });
        }
        // A value that some partition lists is in no other.
        matches.default = interval.equal[0].is_none() || !matches.bounds.contains(&true);
        matches
    }

    fn slots_within(&self, interval: &Interval) -> Matches {
        let mut values = Vec::with_capacity(self.keys.len());
        for i in 0..self.keys.len() {
            match &interval.equal[i] {
                Some(v) => values.push(v.clone()),
                None if interval.null[i] => values.push(Datum::Null),
                None => return self.all(true),
            }
        }
        let mut matches = self.all(false);
        if let Some(at) = self.slot_of(&values) {
            matches.bounds[at] = true;
        }
        matches
    }

    fn ranges_within(&self, interval: &Interval) -> Matches {
        let mut matches = self.all(false);
        // Ranges have no NULL.
        if interval.null.contains(&true) {
            matches.default = true;
            return matches;
        }
        let low = Edge::of(interval, &interval.lower);
        let high = Edge::of(interval, &interval.upper);
        if low.values.is_empty() && high.values.is_empty() {
            return self.all(true);
        }
        if self.is_empty(&low, &high) {
            return matches;
        }
        for (slot, bound) in matches.bounds.iter_mut().zip(&self.bounds) {
            if let Bound::Range(lower, upper) = bound {
                *slot = !self.all_below(&high, lower) && !self.all_above(&low, upper);
            }
        }
        matches.default = self.leaves_gap(&low, &high, &matches.bounds);
        matches
    }

    /// Whether nothing is between two edges.
    fn is_empty(&self, low: &Edge, high: &Edge) -> bool {
        for ((l, h), key) in low.values.iter().zip(&high.values).zip(&self.keys) {
            match key.compare(l, h) {
                Ordering::Less => return false,
                Ordering::Greater => return true,
                Ordering::Equal => {}
            }
        }
        low.values.len() == high.values.len() && !(low.inclusive && high.inclusive)
    }

    /// Whether all rows up to `high` are below the lower end of a range.
    fn all_below(&self, high: &Edge, lower: &[Limit<Datum>]) -> bool {
        if high.values.is_empty() {
            return false;
        }
        match self.compare_limits(lower, &high.values) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal if !high.inclusive => true,
            Ordering::Equal => matches!(lower.get(high.values.len()), Some(Limit::Max)),
        }
    }

    /// Whether all rows from `low` on are at or above the upper end of a range.
    fn all_above(&self, low: &Edge, upper: &[Limit<Datum>]) -> bool {
        if low.values.is_empty() {
            return false;
        }
        match self.compare_limits(upper, &low.values) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal if !low.inclusive => true,
            Ordering::Equal => match upper.get(low.values.len()) {
                None | Some(Limit::Min) => true,
                Some(_) => false,
            },
        }
    }

    /// Whether rows between two bounds may fall into no range: a key column may be NULL, or ranges leave a gap.
    fn leaves_gap(&self, low: &Edge, high: &Edge, matching: &[bool]) -> bool {
        if low.values.len() < self.keys.len() && high.values.len() < self.keys.len() {
            return true;
        }
        let ranges: Vec<(End<'_>, End<'_>)> = self
            .bounds
            .iter()
            .zip(matching)
            .filter_map(|(bound, matching)| match bound {
                Bound::Range(lower, upper) if *matching => Some((lower.as_slice(), upper.as_slice())),
                _ => None,
            })
            .collect();
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return true };
        let open_below = match low.values.is_empty() {
            true => !matches!(first.0.first(), Some(Limit::Min)),
            false => match self.compare_limits(first.0, &low.values) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => {
                    low.inclusive && !matches!(first.0.get(low.values.len()), None | Some(Limit::Min))
                }
            },
        };
        let open_above = match high.values.is_empty() {
            true => !matches!(last.1.first(), Some(Limit::Max)),
            false => match self.compare_limits(last.1, &high.values) {
                Ordering::Greater => false,
                Ordering::Less => true,
                Ordering::Equal => {
                    high.inclusive && !matches!(last.1.get(high.values.len()), Some(Limit::Max))
                }
            },
        };
        let apart = |pair: &[(End<'_>, End<'_>)]| compare_ends(&self.keys, pair[0].1, pair[1].0).is_ne();
        open_below || open_above || ranges.windows(2).any(apart)
    }
}

/// The first or last row of an interval, as far as its columns are known.
struct Edge {
    values: Vec<Datum>,
    inclusive: bool,
}

impl Edge {
    /// Columns that are equal to something, and the bound on the next.
    fn of(interval: &Interval, bounds: &[Option<(Datum, bool)>]) -> Edge {
        let mut edge = Edge { values: Vec::new(), inclusive: true };
        for (equal, bound) in interval.equal.iter().zip(bounds) {
            match (equal, bound) {
                (Some(v), _) => edge.values.push(v.clone()),
                (None, Some((v, inclusive))) => {
                    edge.values.push(v.clone());
                    edge.inclusive = *inclusive;
                    return edge;
                }
                (None, None) => return edge,
            }
        }
        edge
    }
}

/// A key column of integers.
#[cfg(test)]
pub(crate) fn key_of_integers() -> KeyColumn {
    KeyColumn {
        type_oid: types::oids::int4,
        comparable: types::oids::int4,
        hash_function: None,
        collation: base::Oid::INVALID,
        order: types::compare(types::oids::int4).map(Order::Plain),
        hash: Comparator::of(types::oids::int4, &collation::C).seeded_hash,
    }
}

#[cfg(test)]
impl PartitionMap {
    /// Partitions whose bounds are in order already.
    pub(crate) fn for_tests(
        keys: Vec<KeyColumn>,
        strategy: Strategy,
        bounds: Vec<BoundValues>,
    ) -> PartitionMap {
        let list = |partition: (usize, &BoundValues)| match partition {
            (i, Bound::List(values)) => values.iter().cloned().map(|v| (v, i)).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let all: Vec<(Datum, usize)> = bounds.iter().enumerate().flat_map(list).collect();
        let null = all.iter().find(|(v, _)| v.is_null()).map(|(_, i)| *i);
        PartitionMap {
            keys,
            strategy,
            partitions: (0..bounds.len() as u32).map(Oid).collect(),
            default: bounds.iter().position(|b| *b == Bound::Default),
            values: all.into_iter().filter(|(v, _)| !v.is_null()).collect(),
            null,
            slots: Vec::new(),
            bounds,
        }
    }
}

#[cfg(test)]
#[path = "partition_tests.rs"]
mod tests;
