//! Sets of relations.
//!
//! Members of inheritance trees, which are numbered from [`FIRST_MEMBER`] on, share a few bits: conditions and paths are made for one
//! member of a tree at a time, which takes its parent's place, so that no set ever holds two of them. Trees whose members are joined with
//! each other number them so that they have different bits ([`SLOTS`]).

use std::ops::{BitAnd, BitOr, Sub};

use crate::expr::{Expr, RelId};

/// Bits of a set.
const BITS: usize = 1344;

/// Most relations that a statement may have, members of inheritance trees not counted.
pub const MAX_RELATIONS: usize = 1279;

/// Number of the first member of an inheritance tree.
pub const FIRST_MEMBER: RelId = MAX_RELATIONS;

/// Bits of members: one whose number is so many greater has the same.
pub const SLOTS: usize = 16;

/// The bit of a relation.
fn bit(rel: RelId) -> usize {
    if rel < FIRST_MEMBER { rel } else { FIRST_MEMBER + (rel - FIRST_MEMBER) % SLOTS }
}

/// A set of relations of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelSet([u64; BITS / 64]);

impl RelSet {
    /// No relation.
    pub const EMPTY: RelSet = RelSet([0; BITS / 64]);

    /// One relation.
    pub fn one(rel: RelId) -> RelSet {
        let mut set = RelSet::EMPTY;
        set.insert(rel);
        set
    }

    /// Adds a relation.
    pub fn insert(&mut self, rel: RelId) {
        let bit = bit(rel);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Whether it is in.
    pub fn contains(&self, rel: RelId) -> bool {
        let bit = bit(rel);
        self.0[bit / 64] >> (bit % 64) & 1 != 0
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

    /// In ascending order. Of a member it is known only what tree it is of ([`crate::level::Level::rels_in`]).
    pub fn iter(self) -> impl Iterator<Item = RelId> {
        self.0.into_iter().enumerate().flat_map(|(at, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
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
