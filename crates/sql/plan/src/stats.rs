//! What the planner knows of data: sizes of relations and `pg_statistic`.

use std::sync::Arc;

use base::Oid;
use tuple::Datum;

use crate::cost::{IndexShape, TableShape};

/// Statistics of one column, as ANALYZE left them.
#[derive(Clone, Debug, Default)]
pub struct ColumnStats {
    /// Share of NULLs.
    pub null_fraction: f64,
    /// Average width in bytes.
    pub width: f64,
    /// Number of distinct values; negative: minus the share of rows that are distinct; 0: unknown.
    pub distinct: f64,
    /// Most common values and the share of rows of each.
    pub common: Vec<(Datum, f64)>,
    /// Histogram: bounds of buckets that hold equally many of the remaining rows.
    pub histogram: Vec<Datum>,
    /// Correlation of column order and row order, if the type has an order.
    pub correlation: Option<f64>,
    /// Most common lexemes of documents.
    pub lexemes: Option<catalog::CommonLexemes>,
}

impl ColumnStats {
    /// Number of distinct values in a table of `rows` rows.
    pub fn distinct_values(&self, rows: f64) -> Option<f64> {
        match self.distinct {
            d if d > 0.0 => Some(d.min(rows.max(1.0))),
            d if d < 0.0 => Some((-d * rows).max(1.0)),
            _ => None,
        }
    }

    /// Share of rows in `common`.
    pub fn common_share(&self) -> f64 {
        self.common.iter().map(|(_, share)| share).sum()
    }
}

/// Where statistics come from. Implemented over the catalogs; tests make some up.
pub trait Statistics {
    /// Pages, rows and all-visible share of a table.
    fn table(&self, table: &catalog::view::Table) -> TableShape;
    /// Pages, entries and height of an index; the correlation is filled in by the planner.
    fn index(&self, table: &catalog::view::Table, index: &catalog::view::Index) -> IndexShape;
    /// Statistics of a column, if ANALYZE saw it.
    fn column(&self, table: Oid, column: i16) -> Option<Arc<ColumnStats>>;
}
