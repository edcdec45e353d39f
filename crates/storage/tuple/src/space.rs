//! What an operator class gives to a method that divides a space into parts which do not overlap, and these again (SP-GiST).

use std::fmt::Debug;

use smallvec::SmallVec;

use crate::Datum;
use crate::tree::{Match, TreeQuery};

/// Bytes of a node: its label, then what the method keeps there.
pub const NODE: usize = 8;

/// A part of the space, in bytes of the class's own making: what values in it have in common. Most take no more than there is room for without an allocation.
pub type Space = SmallVec<[u8; 64]>;

/// Tells whether a leaf in a space, both as bytes, satisfies a query.
pub type LeafMatcher<'a> = Box<dyn Fn(&[u8], &[u8]) -> Match + 'a>;

/// An inner tuple: how a part of the space is divided. Its bytes come from a page, so a class must take any.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// What the class needs to know to tell the nodes apart.
    pub prefix: &'a [u8],
    /// One for each part.
    pub nodes: &'a [[u8; NODE]],
}

impl Branch<'_> {
    /// The label of a node, which there must be.
    pub fn label(&self, node: usize) -> i16 {
        i16::from_le_bytes([self.nodes[node][0], self.nodes[node][1]])
    }
}

/// Where a value belongs below an inner tuple.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Below a node, where `rest` of the value is what remains to be told.
    Down {
        /// Number of the node.
        node: usize,
        /// What is kept of the value below it.
        rest: Datum,
    },
    /// No node is its: one with this label is to be added as number `at`.
    Add {
        /// The label.
        label: i16,
        /// Its number; later ones move up.
        at: usize,
    },
    /// The value has only the beginning of the prefix: an inner tuple with that is to come above this one, which becomes its only node.
    Above {
        /// Prefix of the tuple above.
        prefix: Vec<u8>,
        /// Label of its node.
        label: i16,
        /// Prefix that this one keeps.
        rest: Vec<u8>,
    },
    /// It belongs nowhere: the tuple is not one of this class.
    Nowhere,
}

/// How values are divided.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// Prefix of the inner tuple.
    pub prefix: Vec<u8>,
    /// Labels of its nodes: one for each, whether or not values belong there.
    pub labels: Vec<i16>,
    /// The node of each value.
    pub node_of: Vec<usize>,
    /// What is kept of each value below its node.
    pub rest: Vec<Datum>,
}

/// An operator class that divides space. All functions are pure and see no NULL; they are called with pages latched and must not wait. A *leaf* is what is kept of a row's
/// value: all of it at the root, below it [what remains](Choice::Down).
pub trait SpaceClass: Debug + Send + Sync {
    /// What the index keeps of a row's value.
    fn leaf(&self, value: &Datum) -> Datum {
        value.clone()
    }

    /// Whether that is the value itself.
    fn returns(&self) -> bool {
        true
    }

    /// The whole space.
    fn whole(&self) -> Space {
        Space::new()
    }

    /// Where a leaf belongs.
    fn choose(&self, branch: Branch<'_>, leaf: &Datum) -> Choice;

    /// Divides leaves, one at least. If all of them are in one node and none is shorter than before, nothing is won by dividing them.
    fn divide(&self, leaves: &[Datum]) -> Division;

    /// The part of a space that is a node's.
    fn part(&self, branch: Branch<'_>, node: usize, space: &Space) -> Space;

    /// Whether anything in a space may satisfy a query.
    fn may_meet(&self, space: &Space, query: TreeQuery<'_>) -> bool;

    /// Whether a leaf does.
    fn meets(&self, space: &Space, leaf: &Datum, query: TreeQuery<'_>) -> Match;

    /// [`meets`](SpaceClass::meets) for one query and many leaves; none of a class that has no shorter way.
    fn matcher<'a>(&'a self, _query: TreeQuery<'a>) -> Option<LeafMatcher<'a>> {
        None
    }

    /// [`leaf`](SpaceClass::leaf) of the row whose leaf this is.
    fn value(&self, _space: &Space, leaf: &Datum) -> Datum {
        leaf.clone()
    }

    /// The least distance of anything in a space, by an ordering operator.
    fn least_distance(&self, _space: &Space, _query: TreeQuery<'_>) -> f64 {
        0.0
    }

    /// Distance of a leaf; with it whether the row's own may be greater.
    fn distance(&self, _space: &Space, _leaf: &Datum, _query: TreeQuery<'_>) -> (f64, bool) {
        (0.0, true)
    }
}
