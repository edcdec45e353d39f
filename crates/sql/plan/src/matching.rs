//! Which partitions of two tables can have rows that join, and what bounds the rows of each such pair have.
//!
//! # What
//! [`Bounds`] are the bounds of a partitioned relation, be it a table or a join of tables by their partitions. Where two relations have the
//! same bounds, partitions match one to one. Else lists and ranges are merged: two partitions match that a value may be in both of.
//!
//! # Invariants
//! 1. A partition matches one partition of the other side at most, or the relations do not match.
//! 2. A partition whose rows an outer join keeps has a match, or the relations do not match: nothing stands for rows that are not there.
//! 3. What was left out before (a partition that conditions exclude) matches nothing.
//!
//! # PostgreSQL counterpart
//! `partition_bounds_equal` and `partition_bounds_merge` of `partitioning/partbounds.c`.

use std::cmp::Ordering;

use catalog::partition::{Bound, Limit, Strategy};
use tuple::Datum;

use crate::partition::{KeyColumn, PartitionMap, compare_ends, compare_values};
use crate::plan::JoinKind;

type End = Vec<Limit<Datum>>;

/// The bounds of a partitioned relation.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    keys: Vec<KeyColumn>,
    strategy: Strategy,
    /// How many partitions there are.
    count: usize,
    /// List: values in order, and the partition of each.
    values: Vec<(Datum, usize)>,
    /// List: the partition of NULL.
    null: Option<usize>,
    /// Range: lower and upper ends in order, and the partition of each.
    ranges: Vec<(End, End, usize)>,
    /// Hash: modulus and remainder of each partition.
    remainders: Vec<(i32, i32)>,
    /// The partition of what no other takes.
    default: Option<usize>,
    /// Whether they are what merging made of others.
    merged: bool,
}

/// One side of a match: its bounds, and which of its partitions are read.
#[derive(Clone, Copy)]
pub(crate) struct Side<'b> {
    pub bounds: &'b Bounds,
    pub read: &'b [bool],
}

/// What matching finds: for each partition of the join the two that it is of, by number, or none if it has no rows; and its bounds.
pub(crate) struct Matched {
    pub pairs: Vec<Option<(usize, usize)>>,
    pub bounds: Bounds,
}

impl Bounds {
    /// The bounds of a table.
    pub fn of(map: &PartitionMap) -> Bounds {
        let mut bounds = Bounds::like(&map.keys, map.strategy, map.bounds.len());
        bounds.default = map.default;
        for (number, bound) in map.bounds.iter().enumerate() {
            match bound {
                Bound::Default => {}
                Bound::List(list) => {
                    bounds.null = bounds.null.or(list.contains(&Datum::Null).then_some(number));
                    let values = list.iter().filter(|value| !value.is_null());
                    bounds.values.extend(values.map(|value| (value.clone(), number)));
                }
                Bound::Range(lower, upper) => bounds.ranges.push((lower.clone(), upper.clone(), number)),
                Bound::Hash(modulus, remainder) => bounds.remainders.push((*modulus, *remainder)),
            }
        }
        if !bounds.asks() {
            bounds.values.sort_by(|a, b| compare_values(&map.keys, &a.0, &b.0));
        }
        bounds
    }

    fn like(keys: &[KeyColumn], strategy: Strategy, count: usize) -> Bounds {
        let (values, ranges, remainders) = (Vec::new(), Vec::new(), Vec::new());
        let (null, default, merged) = (None, None, false);
        Bounds { keys: keys.to_vec(), strategy, count, values, null, ranges, remainders, default, merged }
    }

    /// Whether functions of users tell the order of keys: they are not asked while planning.
    fn asks(&self) -> bool {
        self.keys.iter().any(KeyColumn::asks)
    }

    fn is_same(&self, other: &Bounds) -> bool {
        let same_value = |a: &Datum, b: &Datum| match self.asks() {
            true => a == b,
            false => compare_values(&self.keys, a, b).is_eq(),
        };
        let same_end = |a: &End, b: &End| match self.asks() {
            true => a == b,
            false => compare_ends(&self.keys, a, b).is_eq(),
        };
        self.count == other.count
            && (self.default, self.null) == (other.default, other.null)
            && self.remainders == other.remainders
            && self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(|(a, b)| a.1 == b.1 && same_value(&a.0, &b.0))
            && self.ranges.len() == other.ranges.len()
            && self
                .ranges
                .iter()
                .zip(&other.ranges)
                .all(|(a, b)| same_end(&a.0, &b.0) && same_end(&a.1, &b.1))
    }
}

/// Which partitions of two relations match in a join of a kind whose left side the first one is; none if the relations do not match.
pub(crate) fn matched(kind: JoinKind, left: Side<'_>, right: Side<'_>) -> Option<Matched> {
    let (a, b) = (left.bounds, right.bounds);
    if !a.merged && !b.merged && a.is_same(b) {
        return one_to_one(kind, left, right);
    }
    if a.strategy == Strategy::Hash || a.asks() {
        return None;
    }
    let mut merge = Merge::new(kind, left, right);
    match a.strategy {
        Strategy::List => merge.lists()?,
        _ => merge.ranges()?,
    }
    merge.defaults()?;
    merge.finish()
}

fn keeps_left(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Left | JoinKind::Anti | JoinKind::Full)
}

fn one_to_one(kind: JoinKind, left: Side<'_>, right: Side<'_>) -> Option<Matched> {
    let full = kind == JoinKind::Full;
    let mut pairs = Vec::with_capacity(left.bounds.count);
    for (number, there) in left.read.iter().zip(right.read).enumerate() {
        match there {
            (true, false) if keeps_left(kind) => return None,
            (false, true) if full => return None,
            (true, true) => pairs.push(Some((number, number))),
            _ => pairs.push(None),
        }
    }
    Some(Matched { pairs, bounds: left.bounds.clone() })
}

/// One side's partitions while bounds are merged.
struct Half<'b> {
    side: Side<'b>,
    /// The partition of the other side that each matches.
    partner: Vec<Option<usize>>,
    /// When each was come across first.
    seen: Vec<Option<usize>>,
    default: Option<usize>,
}

impl<'b> Half<'b> {
    fn new(side: Side<'b>) -> Half<'b> {
        let count = side.bounds.count;
        let default = side.bounds.default.filter(|at| side.read[*at]);
        Half { side, partner: vec![None; count], seen: vec![None; count], default }
    }

    fn see(&mut self, at: usize, now: usize) {
        self.seen[at] = self.seen[at].or(Some(now));
    }
}

/// The partitions that a part of the merged bounds is of, by their numbers.
type Of = (Option<usize>, Option<usize>);

struct Merge<'b> {
    left: Half<'b>,
    right: Half<'b>,
    /// The left side's rows without a match are kept, and the right side's.
    keeps: (bool, bool),
    values: Vec<(Datum, Of)>,
    ranges: Vec<((End, End), Of)>,
    null: Option<Of>,
    default: Option<Of>,
    now: usize,
}

impl<'b> Merge<'b> {
    fn new(kind: JoinKind, left: Side<'b>, right: Side<'b>) -> Merge<'b> {
        Merge {
            left: Half::new(left),
            right: Half::new(right),
            keeps: (keeps_left(kind), kind == JoinKind::Full),
            values: Vec::new(),
            ranges: Vec::new(),
            null: None,
            default: None,
            now: 0,
        }
    }

    /// Notes that two partitions match; none if either matches another one.
    fn pair(&mut self, left: usize, right: usize) -> Option<Of> {
        self.now += 1;
        self.left.see(left, self.now);
        self.right.see(right, self.now);
        let fits = |partner: &mut Option<usize>, other: usize| *partner.get_or_insert(other) == other;
        let both = fits(&mut self.left.partner[left], right) && fits(&mut self.right.partner[right], left);
        both.then_some((Some(left), Some(right)))
    }

    /// What a part of the left side's bounds that the right side has not goes to: outer none if that cannot be, inner none if rows of it
    /// join with nothing.
    #[allow(clippy::option_option)]
    fn left_alone(&mut self, at: usize) -> Option<Option<Of>> {
        if let Some(default) = self.right.default {
            // It could match the left side's DEFAULT partition as well.
            if self.left.default.is_some() {
                return None;
            }
            let pair = self.pair(at, default)?;
            self.default = self.default.or(self.keeps.1.then_some(pair));
            return Some(Some(pair));
        }
        self.now += 1;
        if self.keeps.0 {
            self.left.see(at, self.now);
        }
        Some(self.keeps.0.then_some((Some(at), None)))
    }

    /// The same for the right side.
    #[allow(clippy::option_option)]
    fn right_alone(&mut self, at: usize) -> Option<Option<Of>> {
        if let Some(default) = self.left.default {
            if self.right.default.is_some() {
                return None;
            }
            let pair = self.pair(default, at)?;
            self.default = self.default.or(self.keeps.0.then_some(pair));
            return Some(Some(pair));
        }
        self.now += 1;
        if self.keeps.1 {
            self.right.see(at, self.now);
        }
        Some(self.keeps.1.then_some((None, Some(at))))
    }

    fn lists(&mut self) -> Option<()> {
        let keys = &self.left.side.bounds.keys;
        let read = |side: Side<'b>| -> Vec<&'b (Datum, usize)> {
            side.bounds.values.iter().filter(|(_, at)| side.read[*at]).collect()
        };
        let (left, right) = (read(self.left.side), read(self.right.side));
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let order = match (left.get(i), right.get(j)) {
                (Some(a), Some(b)) => compare_values(keys, &a.0, &b.0),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let value = if order.is_le() { &left[i].0 } else { &right[j].0 };
            let pair = match order {
                Ordering::Equal => Some(self.pair(left[i].1, right[j].1)?),
                Ordering::Less => self.left_alone(left[i].1)?,
                Ordering::Greater => self.right_alone(right[j].1)?,
            };
            self.values.extend(pair.map(|pair| (value.clone(), pair)));
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
        self.nulls()
    }

    /// NULL equals nothing, but an outer join keeps its rows.
    fn nulls(&mut self) -> Option<()> {
        let of = |half: &Half<'_>| {
            half.side.bounds.null.filter(|at| half.side.read[*at] && half.seen[*at].is_none())
        };
        self.now += 1;
        match (of(&self.left), of(&self.right)) {
            (Some(left), Some(right)) if self.keeps.0 => self.null = Some(self.pair(left, right)?),
            (Some(left), None) if self.keeps.0 => self.left.see(left, self.now),
            (None, Some(right)) if self.keeps.1 => self.right.see(right, self.now),
            _ => {}
        }
        Some(())
    }

    fn ranges(&mut self) -> Option<()> {
        let keys = &self.left.side.bounds.keys;
        let read = |side: Side<'b>| -> Vec<&'b (End, End, usize)> {
            side.bounds.ranges.iter().filter(|(.., at)| side.read[*at]).collect()
        };
        let (left, right) = (read(self.left.side), read(self.right.side));
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let before =
                |a: &(End, End, usize), b: &(End, End, usize)| compare_ends(keys, &a.1, &b.0).is_le();
            match (left.get(i), right.get(j)) {
                (Some(a), Some(b)) if !before(a, b) && !before(b, a) => {
                    let lower = compare_ends(keys, &a.0, &b.0);
                    let upper = compare_ends(keys, &a.1, &b.1);
                    // What sticks out on one side would be in the other's DEFAULT partition.
                    if (self.left.default.is_some() && (lower.is_gt() || upper.is_lt()))
                        || (self.right.default.is_some() && (lower.is_lt() || upper.is_gt()))
                    {
                        return None;
                    }
                    let pair = self.pair(a.2, b.2)?;
                    let range = self.joint(a, b, (lower, upper));
                    self.ranges.push((range, pair));
                    i += usize::from(upper.is_le());
                    j += usize::from(upper.is_ge());
                }
                (Some(a), b) if b.is_none_or(|b| before(a, b)) => {
                    let pair = self.left_alone(a.2)?;
                    self.ranges.extend(pair.map(|pair| ((a.0.clone(), a.1.clone()), pair)));
                    i += 1;
                }
                (_, Some(b)) => {
                    let pair = self.right_alone(b.2)?;
                    self.ranges.extend(pair.map(|pair| ((b.0.clone(), b.1.clone()), pair)));
                    j += 1;
                }
                (_, None) => break,
            }
        }
        Some(())
    }

    /// The keys of rows that two ranges' rows make when they are joined.
    fn joint(
        &self,
        a: &(End, End, usize),
        b: &(End, End, usize),
        (lower, upper): (Ordering, Ordering),
    ) -> (End, End) {
        let (least, greatest) = match self.keeps {
            (true, true) => (lower.is_le(), upper.is_ge()),
            (true, false) => (true, true),
            _ => (lower.is_ge(), upper.is_le()),
        };
        (if least { &a.0 } else { &b.0 }.clone(), if greatest { &a.1 } else { &b.1 }.clone())
    }

    fn defaults(&mut self) -> Option<()> {
        self.now += 1;
        match (self.left.default, self.right.default) {
            (Some(left), Some(right)) => self.default = Some(self.pair(left, right)?),
            (Some(left), None) if self.keeps.0 => self.left.see(left, self.now),
            (None, Some(right)) if self.keeps.1 => self.right.see(right, self.now),
            _ => {}
        }
        Some(())
    }

    fn finish(self) -> Option<Matched> {
        let lonely = |half: &Half<'_>| {
            half.side.read.iter().zip(&half.partner).any(|(read, partner)| *read && partner.is_none())
        };
        if (self.keeps.0 && lonely(&self.left)) || (self.keeps.1 && lonely(&self.right)) {
            return None;
        }
        let mut pairs: Vec<(usize, usize)> = self
            .left
            .partner
            .iter()
            .enumerate()
            .filter_map(|(left, right)| Some((left, (*right)?)))
            .collect();
        pairs.sort_by_key(|(left, right)| self.left.seen[*left].min(self.right.seen[*right]));
        // A piece that was one side's alone when it was come across belongs to the pair that its partition is in.
        let number = |piece: Of| {
            pairs.iter().position(|(left, right)| piece.0 == Some(*left) || piece.1 == Some(*right))
        };
        let default = self.default.and_then(number);
        let listed = |piece| number(piece).filter(|at| Some(*at) != default);
        let old = self.left.side.bounds;
        let mut bounds = Bounds::like(&old.keys, old.strategy, pairs.len());
        bounds.values = self.values.into_iter().filter_map(|(v, piece)| Some((v, listed(piece)?))).collect();
        let ranges = self.ranges.into_iter();
        bounds.ranges = ranges.filter_map(|((l, u), piece)| Some((l, u, listed(piece)?))).collect();
        (bounds.null, bounds.default, bounds.merged) = (self.null.and_then(number), default, true);
        Some(Matched { pairs: pairs.into_iter().map(Some).collect(), bounds })
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
