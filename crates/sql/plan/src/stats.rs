//! What the planner knows of data: sizes of relations and `pg_statistic`.

use std::sync::Arc;

use base::Oid;
use catalog::{ColumnStatistics, ExtendedStatistics};

use crate::cost::{IndexShape, TableShape};

/// Where statistics come from. Implemented over the catalogs; tests make some up.
pub trait Statistics {
    /// Pages, rows and all-visible share of a table.
    fn table(&self, table: &catalog::view::Table) -> TableShape;
    /// Pages, entries and height of an index; the correlation is filled in by the planner.
    fn index(&self, table: &catalog::view::Table, index: &catalog::view::Index) -> IndexShape;
    /// Statistics of a column, if ANALYZE saw it.
    fn column(&self, table: Oid, column: i16) -> Option<Arc<ColumnStatistics>>;
    /// What ANALYZE learnt for a statistics object.
    fn extended(&self, object: Oid) -> Option<Arc<ExtendedStatistics>>;
}
