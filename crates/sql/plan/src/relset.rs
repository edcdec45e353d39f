//! Sets of relations.

use std::ops::{BitAnd, BitOr, Sub};

use crate::expr::{Expr, RelId};

/// Most relations that a statement may have.
pub const MAX_RELATIONS: usize = 256;

/// A set of relations of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelSet([u64; MAX_RELATIONS / 64]);

impl RelSet {
    /// No relation.
    pub const EMPTY: RelSet = RelSet([0; MAX_RELATIONS / 64]);

    /// One relation.
    pub fn one(rel: RelId) -> RelSet {
        let mut set = RelSet::EMPTY;
        set.insert(rel);
        set
    }

    /// Adds a relation.
    pub fn insert(&mut self, rel: RelId) {
        self.0[rel / 64] |= 1 << (rel % 64);
    }

    /// Whether it is in.
    pub fn contains(&self, rel: RelId) -> bool {
        self.0[rel / 64] >> (rel % 64) & 1 != 0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == RelSet::EMPTY
    }

    /// Whether all of these are in `other`.
    pub fn is_subset(&self, other: RelSet) -> bool {
        (*self - other).is_empty()
    }

    /// Whether any of these is in `other`.
    pub fn overlaps(&self, other: RelSet) -> bool {
        !(*self & other).is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = RelId> + '_ {
        (0..MAX_RELATIONS).filter(|rel| self.contains(*rel))
    }

    /// The relations that an expression mentions.
    pub fn of(expr: &Expr) -> RelSet {
        let mut set = RelSet::EMPTY;
        expr.for_rels(&mut |rel| set.insert(rel));
        set
    }
}

impl BitOr for RelSet {
    type Output = RelSet;
    fn bitor(mut self, other: RelSet) -> RelSet {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
        self
    }
}

impl BitAnd for RelSet {
    type Output = RelSet;
    fn bitand(mut self, other: RelSet) -> RelSet {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= b);
        self
    }
}

impl Sub for RelSet {
    type Output = RelSet;
    fn sub(mut self, other: RelSet) -> RelSet {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
        self
    }
}
