//! From group to group of an index: what a scan does whose leading columns have several values each, or any.
//!
//! A *group* is what shares values of the leading columns (the *members*): all up to the last one that is to equal something. A member has a list of values, or
//! takes what it finds in a range (which may be everything). What the scan finds next on its way tells which group is next: values without an entry cost a
//! binary search in their list and not in the index, and a leading column without a condition is skipped from value to value.
//!
//! # Invariants
//! 1. Nothing that the scan wants lies between where it is and `seek`, in its direction.
//! 2. Everything here is in the scan's direction: lists, comparisons, and which end of a range is near.

use std::cmp::Ordering;

use index::{Compare, Direction, IndexDesc, KeyColumn, compare_column, gallop};
use smallvec::SmallVec;
use tuple::Datum;

use crate::bounds::{Place, Range};
use crate::key::{IntList, SearchKey};

/// What a leading column of a group is.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    /// One of these values, each once, in the scan's order; not empty.
    Of(Vec<Datum>),
    /// Any value in a range.
    In(Range),
}

/// Where an entry lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// In the present group, and in its range of the column behind the members.
    Here,
    /// Before the next place to look at.
    Seek,
    /// Behind everything.
    Done,
}

/// The groups of a scan, and where it is among them.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    direction: Direction,
    members: Vec<Member>,
    /// The values of the only member, if they are integers and nothing is said of the column behind it.
    ints: Option<IntList>,
    /// What the column behind the members may be.
    behind: Range,
    /// Number of each list's present value.
    at: Vec<usize>,
    /// The present group's values, as many as are known.
    present: SmallVec<[Datum; 2]>,
    /// Where the next entry is looked for.
    seek: Place,
}

impl Groups {
    /// Before the first of them.
    pub fn new(desc: &IndexDesc, direction: Direction, members: Vec<Member>, behind: Range) -> Groups {
        let at = vec![0; members.len()];
        let (present, seek) = (SmallVec::new(), Place::default());
        let ints = match &members[..] {
            [Member::Of(list)] if behind.is_all() => IntList::new(&desc.keys[0], list),
            _ => None,
        };
        let mut groups = Groups { direction, members, ints, behind, at, present, seek };
        groups.seek_from(0);
        groups
    }

    /// Whether an entry with these values is in one of the groups.
    pub fn hold_key(&self, desc: &IndexDesc, values: &[Datum]) -> bool {
        let is_in = |((key, value), member): ((&KeyColumn, &Datum), &Member)| match member {
            Member::Of(list) => list.iter().any(|one| compare_column(key, one, value).is_eq()),
            Member::In(range) => range.holds(key, value),
        };
        let behind = desc.keys.iter().zip(values).nth(self.members.len());
        desc.keys.iter().zip(values).zip(&self.members).all(is_in)
            && behind.is_none_or(|(key, value)| self.behind.holds(key, value))
    }

    /// Columns of an entry that tell where it lies.
    pub fn width(&self) -> usize {
        self.members.len() + usize::from(!self.behind.is_all())
    }

    /// The values of the only member, if that is all that the groups are and they are integers, and the number of the present one.
    pub fn ints(&self) -> Option<(&IntList, usize)> {
        self.ints.as_ref().map(|ints| (ints, self.at[0]))
    }

    /// Makes a later value of the only member the present one: all entries before it have been looked at.
    pub fn go_to(&mut self, at: usize) {
        self.be(0, at);
    }

    /// Where the next entry is looked for.
    pub fn seek_place(&self) -> Place {
        self.seek.clone()
    }

    /// To search it by; `None`: the end of the index.
    pub fn seek<'a>(&'a self, desc: &'a IndexDesc) -> Option<SearchKey<'a>> {
        self.seek.key(desc)
    }

    /// Where the present group ends.
    pub fn end(&self) -> Place {
        let forward = self.direction == Direction::Forward;
        let mut values = self.present.clone();
        let bound = if forward { self.behind.high() } else { self.behind.low() };
        let behind = match bound {
            None => forward,
            Some((value, inclusive)) => {
                values.push(value.clone());
                *inclusive == forward
            }
        };
        Place { values, behind }
    }

    /// Goes on to an entry with these values, or to the place behind it where there may be one that is wanted. A pivot may have fewer
    /// columns: those that it lacks are below everything.
    pub fn advance(&mut self, desc: &IndexDesc, entry: &[Datum]) -> Next {
        // Whether the group is the present one so far: lists go on from their present values.
        let mut same = true;
        for column in 0..self.members.len() {
            let Some(value) = entry.get(column) else { return self.seek_from(column) };
            let (key, direction) = (&desc.keys[column], self.direction);
            let order = |a: &Datum, b: &Datum| direction.of(compare_column(key, a, b));
            match &self.members[column] {
                Member::Of(list) => {
                    let from = if same { self.at[column] } else { 0 };
                    let at = from + gallop(&list[from..], |listed| order(listed, value).is_lt());
                    let Some(found) = list.get(at) else { return self.carry(desc, column) };
                    same &= at == self.at[column] && self.present.len() > column;
                    let equal = order(found, value).is_eq();
                    if !same {
                        self.be(column, at);
                    }
                    if !equal {
                        return self.seek_from(column + 1);
                    }
                }
                Member::In(range) => match direction.of(range.side(key, value)) {
                    Ordering::Less => return self.seek_from(column),
                    Ordering::Greater => return self.carry(desc, column),
                    Ordering::Equal => {
                        same &= self.present.get(column).is_some_and(|p| order(p, value).is_eq());
                        if !same {
                            self.present.truncate(column);
                            self.present.push(value.clone());
                        }
                    }
                },
            }
        }
        self.advance_behind(desc, entry)
    }

    /// The entry's group is the present one; the column behind the members decides.
    fn advance_behind(&mut self, desc: &IndexDesc, entry: &[Datum]) -> Next {
        let column = self.members.len();
        if self.behind.is_all() {
            return Next::Here;
        }
        let Some(value) = entry.get(column) else { return self.seek_from(column) };
        match self.direction.of(self.behind.side(&desc.keys[column], value)) {
            Ordering::Less => self.seek_from(column),
            Ordering::Equal => Next::Here,
            Ordering::Greater => self.carry(desc, column),
        }
    }

    /// Nothing is left in the present group's values before this column: the last of them that can goes one further.
    fn carry(&mut self, desc: &IndexDesc, column: usize) -> Next {
        for column in (0..column).rev() {
            match &self.members[column] {
                Member::Of(list) if self.at[column] + 1 < list.len() => {
                    self.be(column, self.at[column] + 1);
                    return self.seek_from(column + 1);
                }
                Member::Of(_) => {}
                Member::In(range) => {
                    let (key, value) = (&desc.keys[column], &self.present[column]);
                    let up = (self.direction == Direction::Forward) != key.descending;
                    if let Some(next) = neighbour(key, value, up).filter(|next| range.side(key, next).is_eq())
                    {
                        self.present.truncate(column);
                        self.present.push(next);
                        return self.seek_from(column + 1);
                    }
                    let values = self.present[..=column].into();
                    self.seek = Place { values, behind: self.direction == Direction::Forward };
                    return Next::Seek;
                }
            }
        }
        Next::Done
    }

    /// The place before everything wanted that has the present group's values before this column.
    fn seek_from(&mut self, column: usize) -> Next {
        let forward = self.direction == Direction::Forward;
        self.present.truncate(column);
        for column in column..self.members.len() {
            if let Member::Of(_) = self.members[column] {
                self.be(column, 0);
            } else {
                break;
            }
        }
        let mut values = self.present.clone();
        let range = match self.members.get(values.len()) {
            Some(Member::In(range)) => range,
            _ => &self.behind,
        };
        let bound = if forward { range.low() } else { range.high() };
        let behind = match bound {
            None => !forward,
            Some((value, inclusive)) => {
                values.push(value.clone());
                *inclusive != forward
            }
        };
        self.seek = Place { values, behind };
        Next::Seek
    }

    /// The list's value becomes the column's in the present group.
    fn be(&mut self, column: usize, at: usize) {
        let Member::Of(list) = &self.members[column] else { return };
        self.present.truncate(column);
        self.present.push(list[at].clone());
        self.at[column] = at;
    }
}

/// The value next to another one, if the type has such a thing.
fn neighbour(key: &KeyColumn, value: &Datum, up: bool) -> Option<Datum> {
    Some(match (key.compare, value) {
        (Compare::Int2, Datum::Int2(v)) => {
            Datum::Int2(if up { v.checked_add(1)? } else { v.checked_sub(1)? })
        }
        (Compare::Int4, Datum::Int4(v)) => {
            Datum::Int4(if up { v.checked_add(1)? } else { v.checked_sub(1)? })
        }
        (Compare::Int8, Datum::Int8(v)) => {
            Datum::Int8(if up { v.checked_add(1)? } else { v.checked_sub(1)? })
        }
        (Compare::Oid, Datum::Oid(v)) => Datum::Oid(if up { v.checked_add(1)? } else { v.checked_sub(1)? }),
        (Compare::Bool, Datum::Bool(v)) if *v != up => Datum::Bool(up),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::bounds::tests::desc;
    use index::{ScanKey, ScanKeys, ScanOp, strategy};

    /// Small numbers, the same in each run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
        fn value(&mut self) -> Datum {
            Datum::Int4(self.below(6) as i32)
        }
    }

    fn condition(random: &mut Random, column: usize) -> Vec<ScanKey> {
        let key = |op| ScanKey { column, op };
        match random.below(9) {
            0..3 => vec![],
            3 => vec![key(ScanOp::Strategy(strategy::EQUAL, random.value()))],
            4 => vec![key(ScanOp::IsNull)],
            5 => vec![
                key(ScanOp::Strategy(strategy::GREATER, random.value())),
                key(ScanOp::Strategy(strategy::LESS_EQUAL, random.value())),
            ],
            6 => vec![key(ScanOp::IsNotNull)],
            _ => {
                let list = (0..6).filter(|_| random.below(2) == 0).map(Datum::Int4).collect();
                vec![key(ScanOp::Any(list)), key(ScanOp::Strategy(strategy::LESS, Datum::Int4(5)))]
            }
        }
    }

    fn holds(key: &ScanKey, row: &[Datum]) -> bool {
        let number = |value: &Datum| if let Datum::Int4(n) = value { *n } else { 0 };
        let value = &row[key.column];
        match &key.op {
            ScanOp::IsNull => value.is_null(),
            _ if value.is_null() => false,
            ScanOp::IsNotNull => true,
            ScanOp::Strategy(strategy::EQUAL, other) => value == other,
            ScanOp::Any(list) => list.contains(value),
            ScanOp::Strategy(strategy::GREATER, other) => number(value) > number(other),
            ScanOp::Strategy(strategy::LESS_EQUAL, other) => number(value) <= number(other),
            ScanOp::Strategy(strategy::GREATER_EQUAL, other) => number(value) >= number(other),
            ScanOp::Strategy(strategy::LESS, other) => number(value) < number(other),
            ScanOp::Strategy(..) | ScanOp::Operator { .. } => unreachable!("no operator of an order"),
        }
    }

    fn order(desc: &IndexDesc, a: &[Datum], b: &[Datum]) -> Ordering {
        let columns = desc.keys.iter().zip(a.iter().zip(b));
        columns.map(|(key, (a, b))| compare_column(key, a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// What a scan over these rows, in index order, finds by going where the groups send it.
    fn walk(desc: &IndexDesc, groups: &mut Groups, rows: &[Vec<Datum>]) -> Vec<Vec<Datum>> {
        let forward = groups.direction == Direction::Forward;
        // Rows before a place.
        let before = |place: &Place| match place.values.is_empty() {
            true if forward => 0,
            true => rows.len(),
            false => rows.partition_point(|row| match order(desc, row, &place.values) {
                Ordering::Equal => place.behind,
                other => other.is_lt(),
            }),
        };
        let mut at = before(&groups.seek_place());
        let mut found = Vec::new();
        while let Some(row) = if forward { rows.get(at) } else { at.checked_sub(1).map(|at| &rows[at]) } {
            let next = groups.advance(desc, row);
            let to = match next {
                Next::Done => break,
                Next::Seek => before(&groups.seek_place()),
                Next::Here => before(&groups.end()),
            };
            assert!(if forward { to > at } else { to < at }, "it goes on");
            if next == Next::Here {
                let mut part = rows[at.min(to)..at.max(to)].to_vec();
                if !forward {
                    part.reverse();
                }
                found.extend(part);
            }
            at = to;
        }
        found
    }

    #[test]
    fn groups_lead_to_every_row_that_satisfies_the_conditions() {
        let mut random = Random(3);
        let mut walks = 0;
        for round in 0..3000 {
            let desc = desc(&[(round % 2 == 0, round % 3 == 0), (false, false), (true, true)]);
            let mut rows: Vec<Vec<Datum>> = (0..random.below(80))
                .map(|_| {
                    (0..3).map(|_| if random.below(8) == 0 { Datum::Null } else { random.value() }).collect()
                })
                .collect();
            rows.sort_by(|a, b| order(&desc, a, b));
            let keys: Vec<ScanKey> = (0..3).flat_map(|column| condition(&mut random, column)).collect();
            let direction = if round % 5 < 2 { Direction::Backward } else { Direction::Forward };
            let bounds = Bounds::new(&desc, ScanKeys { keys: keys.clone(), direction });
            let Some(mut groups) = bounds.groups.clone() else { continue };
            walks += 1;
            // What the column behind the group's range says is checked of each entry.
            let width = groups.width();
            let mut expected: Vec<_> = rows
                .iter()
                .filter(|row| keys.iter().filter(|key| key.column < width).all(|key| holds(key, row)))
                .cloned()
                .collect();
            if direction == Direction::Backward {
                expected.reverse();
            }
            assert_eq!(walk(&desc, &mut groups, &rows), expected, "{direction:?} {keys:?}");
        }
        assert!(walks > 1000, "{walks}");
    }
}
