//! What an operator class gives to a method that keeps the parts of values (GIN): which parts a value has, and which ones tell whether it satisfies a query.

use std::cmp::Ordering;
use std::fmt::Debug;

use base::SqlError;

use crate::tree::{Match, TreeQuery};
use crate::{Bytes, Datum};

/// A part of a value, as bytes that only its class reads; none: a NULL, as an array may have among its elements.
pub type Part = Option<Bytes>;

/// Which rows a query may be satisfied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// Those that have one at least of the parts sought.
    Some,
    /// Those, and values without any part.
    SomeOrEmpty,
    /// All that are not NULL.
    All,
}

/// What becomes of a part that lies behind the beginning of a range of parts sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InRange {
    /// It is sought.
    Yes,
    /// It is not, but one behind it may be.
    No,
    /// Neither it nor any behind it is.
    Beyond,
}

/// A part that a query seeks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The part.
    pub part: Part,
    /// It is the beginning of a range: [`PartsQuery::in_range`] tells what belongs to it.
    pub range: bool,
}

impl Sought {
    /// Just this part.
    pub fn exactly(part: Part) -> Sought {
        Sought { part, range: false }
    }
}

/// A query, taken apart. All functions are pure; they are called with pages latched and must not wait.
pub trait PartsQuery: Debug + Send + Sync {
    /// The parts that matter.
    fn sought(&self) -> &[Sought];

    /// Which rows a search has to consider.
    fn mode(&self) -> SearchMode {
        SearchMode::Some
    }

    /// Whether a row satisfies the query, given which parts it is known to have: `Maybe` where that is not enough. An answer to more knowledge never contradicts one
    /// to less.
    fn satisfied(&self, present: &[Match]) -> Match;

    /// Whether a part belongs to the range that the `n`th part sought begins.
    fn in_range(&self, _n: usize, _part: &[u8]) -> InRange {
        InRange::Beyond
    }
}

/// An operator class that takes values apart. All functions are pure and see no NULL; [`compare`](PartsClass::compare) is called with pages latched and must not wait.
pub trait PartsClass: Debug + Send + Sync {
    /// Order of two parts: total, equal for parts that stand for the same.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        a.cmp(b)
    }

    /// Whether [`compare`](PartsClass::compare) is the order of the bytes.
    fn orders_bytes(&self) -> bool {
        true
    }

    /// Whether parts that compare as equal have equal bytes.
    fn equal_image(&self) -> bool {
        true
    }

    /// Appends the parts of a row's value, in any order; one may come several times.
    fn parts(&self, value: &Datum, out: &mut Vec<Part>);

    /// Extracts the parts that the right side of `column operator value` asks for.
    ///
    /// # Errors
    /// The value is none that the operator takes.
    fn query(&self, query: TreeQuery<'_>) -> Result<Box<dyn PartsQuery>, SqlError>;
}
