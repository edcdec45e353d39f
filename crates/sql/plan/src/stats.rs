//! What the planner knows of data: sizes of relations and `pg_statistic`.

use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::{ColumnStatistics, ExtendedStatistics};

use crate::cost::{IndexShape, Settings, TableShape};
use crate::foreign::ForeignRows;

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
    /// What the wrapper of a foreign table says of its rows; an error if there is nobody who could read them.
    fn foreign(&self, table: &catalog::view::Table, settings: &Settings) -> SqlResult<ForeignRows>;
}
