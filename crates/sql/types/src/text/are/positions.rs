//! Sets of positions in a text.

use smallvec::{SmallVec, smallvec};

/// Positions as stretches, ascending and apart from each other; both ends of a stretch belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Positions(SmallVec<[(u32, u32); 2]>);

impl Positions {
    pub(super) fn one(at: usize) -> Positions {
        Positions(smallvec![(at as u32, at as u32)])
    }

    pub(super) fn all(first: usize, last: usize) -> Positions {
        Positions(smallvec![(first as u32, last as u32)])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of stretches: what it costs to copy the set.
    pub(super) fn stretches(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        self.from(at) == Some(at)
    }

    /// The first position at `at` or behind.
    pub(super) fn from(&self, at: usize) -> Option<usize> {
        let behind = self.0.partition_point(|(_, last)| (*last as usize) < at);
        self.0.get(behind).map(|(first, _)| at.max(*first as usize))
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.0.last().map(|(_, last)| *last as usize)
    }

    /// Adds a stretch that begins no earlier than the last one that was added.
    pub(super) fn push(&mut self, first: usize, last: usize) {
        let (first, last) = (first as u32, last as u32);
        match self.0.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => {
                before.0 = before.0.min(first);
                before.1 = before.1.max(last);
            }
            _ => self.0.push((first, last)),
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.0.iter().flat_map(|(first, last)| *first as usize..=*last as usize)
    }

    /// The positions that are in one of both.
    pub(super) fn union(&self, other: &Positions) -> Positions {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all = Positions::default();
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
                (_, Some(_)) => b.next(),
                (_, None) => a.next(),
            };
            match next {
                Some((first, last)) => all.push(*first as usize, *last as usize),
                None => return all,
            }
        }
    }

    /// The positions that are in both.
    pub(super) fn intersection(&self, other: &Positions) -> Positions {
        let (mut i, mut j) = (0, 0);
        let mut both = Positions::default();
        while let (Some(x), Some(y)) = (self.0.get(i), other.0.get(j)) {
            let (first, last) = (x.0.max(y.0), x.1.min(y.1));
            if first <= last {
                both.push(first as usize, last as usize);
            }
            if x.1 <= y.1 { i += 1 } else { j += 1 }
        }
        both
    }

    /// The positions that are not in the other set.
    pub(super) fn without(&self, other: &Positions) -> Positions {
        let mut rest = Positions::default();
        let mut j = 0;
        for &(first, last) in &self.0 {
            let mut at = u64::from(first);
            while let Some(&(from, to)) = other.0.get(j).filter(|(from, _)| *from <= last) {
                if u64::from(from) > at {
                    rest.push(at as usize, from as usize - 1);
                }
                at = at.max(u64::from(to) + 1);
                if to > last {
                    break;
                }
                j += 1;
            }
            if at <= u64::from(last) {
                rest.push(at as usize, last as usize);
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn positions(set: &BTreeSet<usize>) -> Positions {
        let mut positions = Positions::default();
        set.iter().for_each(|at| positions.push(*at, *at));
        positions
    }

    proptest! {
        #[test]
        fn they_are_sets(
            a in prop::collection::btree_set(0usize..40, 0..30),
            b in prop::collection::btree_set(0usize..40, 0..30),
            at in 0usize..42,
        ) {
            let (x, y) = (positions(&a), positions(&b));
            prop_assert_eq!(x.union(&y), positions(&(&a | &b)));
            prop_assert_eq!(x.intersection(&y), positions(&(&a & &b)));
            prop_assert_eq!(x.without(&y), positions(&(&a - &b)));
            prop_assert_eq!(x.from(at), a.range(at..).next().copied());
            prop_assert_eq!(x.contains(at), a.contains(&at));
            prop_assert_eq!(x.last(), a.last().copied());
            prop_assert!(x.iter().rev().eq(a.iter().rev().copied()));
        }
    }
}
