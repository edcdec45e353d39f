//! What an operator class gives to a method that keeps summaries of many rows (BRIN).

use std::fmt::Debug;

use crate::tree::TreeQuery;
use crate::{Attr, Datum};

/// An operator class that tells of many values with few: it was resolved for a column's type and collation. A *summary* is a list of values, laid out as
/// [`attrs`](SummaryClass::attrs) says; there is none as long as all values are NULL. All functions are pure and see no NULL; they are called with pages latched and must not wait.
pub trait SummaryClass: Debug + Send + Sync {
    /// How a summary's values are stored.
    fn attrs(&self) -> Vec<Attr>;

    /// Makes a summary tell of one more value; whether that changed it.
    fn add(&self, summary: &mut Option<Vec<Datum>>, value: &Datum) -> bool;

    /// Makes a summary tell of all that another tells of.
    fn union(&self, summary: &mut Option<Vec<Datum>>, other: &[Datum]);

    /// Whether a value that a summary tells of may satisfy a query.
    fn consistent(&self, summary: &[Datum], query: TreeQuery<'_>) -> bool;
}
