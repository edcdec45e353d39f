//! Sizes of relations and `pg_statistic`, as the planner asks for them.

use std::sync::Arc;

use base::{Fork, Oid, RelFile, SqlError, SqlResult};
use buffer::BufferPool;
use catalog::view::{Index, SizeEstimate, Table};
use catalog::{ColumnStatistics, ExtendedStatistics, PageCosts, Reader};
use plan::Statistics;
use plan::cost::{IndexShape, TableShape};

/// Statistics as one session sees them now.
pub struct CatalogStatistics<'a> {
    /// The catalog.
    pub reader: &'a Reader<'a>,
    /// For the present sizes of files.
    pub pool: &'a BufferPool,
}

/// Pages assumed of a table that never was vacuumed and seems smaller.
const NEW_TABLE_PAGES: f64 = 10.0;

impl CatalogStatistics<'_> {
    fn pages(&self, file: RelFile) -> f64 {
        f64::from(self.pool.nblocks(file, Fork::Main).unwrap_or(0))
    }

    /// Present pages and rows: the density that was counted, times the present size.
    fn size(&self, file: RelFile, counted: SizeEstimate, row_width: f64, table: bool) -> (f64, f64) {
        let mut pages = self.pages(file);
        if table && counted.tuples < 0.0 && pages < NEW_TABLE_PAGES {
            pages = NEW_TABLE_PAGES;
        }
        let density = if counted.tuples >= 0.0 && counted.pages > 0 {
            f64::from(counted.tuples) / f64::from(counted.pages)
        } else {
            (8168.0 / (row_width + 28.0)).floor().max(1.0)
        };
        (pages, (density * pages).round())
    }
}

fn row_width(table: &Table) -> f64 {
    let width =
        |oid: Oid| types::builtin_type(oid).map_or(32.0, |t| if t.len > 0 { f64::from(t.len) } else { 32.0 });
    table.columns.iter().filter(|c| !c.dropped).map(|c| width(c.type_oid)).sum()
}

impl CatalogStatistics<'_> {
    fn page_costs(&self, file: RelFile) -> PageCosts {
        // As with statistics: what cannot be read now makes a plan only less good.
        self.reader.page_costs(file.tablespace).unwrap_or_default()
    }
}

impl Statistics for CatalogStatistics<'_> {
    fn table(&self, table: &Table) -> TableShape {
        let (pages, tuples) = self.size(table.file, table.size, row_width(table), true);
        let all_visible = match table.size.pages {
            0 => 0.0,
            _ if pages == 0.0 => 0.0,
            _ => (f64::from(table.size.all_visible) / pages).min(1.0),
        };
        TableShape { pages, tuples, all_visible, costs: self.page_costs(table.file) }
    }

    fn index(&self, table: &Table, index: &Index) -> IndexShape {
        let table_rows = self.table(table).tuples;
        let (pages, tuples) = self.size(index.file, index.size, 16.0, false);
        let tuples = if index.predicate.is_none() { table_rows } else { tuples };
        let height = (pages.max(1.0).ln() / 300.0_f64.ln()).floor();
        let (descends, costs) = (!index.method.keeps_codes(), self.page_costs(index.file));
        IndexShape { pages, tuples, height, descends, correlation: 0.0, costs }
    }

    fn column(&self, table: Oid, column: i16) -> Option<Arc<ColumnStatistics>> {
        // Without statistics a plan is only less good.
        self.reader.statistics(table, column).ok().flatten()
    }

    fn extended(&self, object: Oid) -> Option<Arc<ExtendedStatistics>> {
        self.reader.extended_statistics(object).ok().flatten()
    }

    fn foreign(&self, table: &Table, _: &plan::Settings) -> SqlResult<plan::ForeignRows> {
        Err(SqlError::not_supported(format!("reading foreign table \"{}\" without a session", table.name)))
    }
}
