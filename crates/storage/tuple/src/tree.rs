//! What an operator class gives to a method that keeps a tree of keys which need no order (GiST).

use std::cmp::Ordering;
use std::fmt::Debug;

use crate::Datum;
use crate::options::{ClassOption, ClassOptions};
use base::Oid;

/// A value that keys are asked about: the right side of `column operator value`.
#[derive(Clone, Copy, Debug)]
pub struct TreeQuery<'a> {
    /// Strategy number of the operator in the class's family.
    pub strategy: u16,
    /// Type of the value, as the operator's row in the family names it: one number may stand for operators with several.
    pub operand: Oid,
    /// The value, not NULL.
    pub value: &'a Datum,
}

/// Whether a key satisfies a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It does not, and nothing below it does.
    No,
    /// It may: the row is to be asked. Also of a key that has others below it.
    Maybe,
    /// The row does.
    Yes,
}

impl Match {
    /// What a condition that is as good as exact, or not, has found.
    pub fn of(satisfied: bool, exact: bool) -> Match {
        match (satisfied, exact) {
            (false, _) => Match::No,
            (true, true) => Match::Yes,
            (true, false) => Match::Maybe,
        }
    }
}

/// Tells whether a key, of which these are the bytes, satisfies a query, in a leaf or above.
pub type Matcher<'a> = Box<dyn Fn(&[u8], bool) -> Match + 'a>;

/// What it costs to put a new key below another, of which these are the bytes.
pub type Costs<'a> = Box<dyn Fn(&[u8]) -> f32 + 'a>;

/// An operator class of a tree: how its keys stand for rows and for the keys below them. All functions are pure and see no NULL; they are called with pages
/// latched and must not wait. A *key* is what [`compress`](TreeClass::compress) or [`union`](TreeClass::union) made.
pub trait TreeClass: Debug + Send + Sync {
    /// Options that indexes may give it.
    fn options(&self) -> &'static [ClassOption] {
        &[]
    }

    /// The class as these options have it; the same one for the same options, for it stays for good. None of a class without options.
    fn with_options(&self, _options: &ClassOptions) -> Option<&'static dyn TreeClass> {
        None
    }

    /// The key of a row's value.
    fn compress(&self, value: &Datum) -> Datum {
        value.clone()
    }

    /// Whether keys hold the rows' values: [`fetch`](TreeClass::fetch).
    fn returns(&self) -> bool {
        true
    }

    /// The row's value of a key in a leaf, if the class [returns](TreeClass::returns) it.
    fn fetch(&self, key: &Datum) -> Datum {
        key.clone()
    }

    /// Whether the row of a key in a leaf satisfies a query, or any below a key may.
    fn consistent(&self, key: &Datum, query: TreeQuery<'_>, leaf: bool) -> Match;

    /// [`consistent`](TreeClass::consistent) for one query and many keys, by the bytes of these, and whether they are in a leaf; none of a class whose keys are no byte strings, or that has no
    /// shorter way.
    fn matcher<'a>(&'a self, _query: TreeQuery<'a>) -> Option<Matcher<'a>> {
        None
    }

    /// A key for all of `keys`, which are one at least.
    fn union(&self, keys: &[&Datum]) -> Datum;

    /// Whether two keys stand for the same rows.
    fn same(&self, a: &Datum, b: &Datum) -> bool;

    /// What it costs to put `new` below `key`: not negative, 0 for nothing.
    fn penalty(&self, key: &Datum, new: &Datum) -> f32;

    /// The [`penalty`](TreeClass::penalty) of one `new` key below any other.
    fn penalties<'a>(&'a self, new: &'a Datum) -> Box<dyn Fn(&Datum) -> f32 + 'a> {
        Box::new(move |key| self.penalty(key, new))
    }

    /// The same by the bytes of the other keys; none of a class as in [`matcher`](TreeClass::matcher).
    fn costs<'a>(&'a self, _new: &'a Datum) -> Option<Costs<'a>> {
        None
    }

    /// Distributes keys, two at least, to two pages: `true` for those that go to the right one. A class that leaves one of them empty gets halves.
    fn split(&self, keys: &[&Datum]) -> Vec<bool>;

    /// Distance of a row's value, or the least of any below a key, by an ordering operator; with it whether the row's own may be greater.
    fn distance(&self, _key: &Datum, _query: TreeQuery<'_>, _leaf: bool) -> (f64, bool) {
        (0.0, true)
    }

    /// The distance of two keys in leaves by the ordering operator with strategy number 1, by their bytes; NaN of keys that have none.
    fn between(&self, a: &[u8], b: &[u8]) -> f64 {
        let [a, b] = [a, b].map(|bytes| Datum::Bytes(bytes.into()));
        self.distance(&a, TreeQuery { strategy: 1, operand: Oid::INVALID, value: &b }, true).0
    }

    /// An order in which neighbours lie close together, for the build.
    fn order(&self, a: &Datum, b: &Datum) -> Ordering;

    /// A number that tells as much as it can of this [order](TreeClass::order): of two keys the one with the smaller number comes first.
    fn place(&self, _key: &Datum) -> u64 {
        0
    }
}
