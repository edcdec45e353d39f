//! What analysis and planning see of a session: catalogs with a record of what was looked at, sizes of relations, settings.

use std::cell::RefCell;
use std::sync::Arc;

use base::settings::{SessionSettings, Setting};
use base::{Fork, Oid, SqlResult};
use catalog::{
    CastDef, CatalogView, CollationDef, FunctionDef, Index, OperatorDef, SizeEstimate, Table, TypeDef,
};
use plan::cost::{IndexShape, TableShape};
use plan::{ColumnStats, Statistics};

use super::Session;

/// Passes every question of [`CatalogView`] but those for relations on to what `$target` gives for `$this`.
macro_rules! pass_on {
    ($this:ident, $target:ident) => {
        fn schema(&$this, name: &str) -> SqlResult<Option<Oid>> {
            $this.$target(|c| c.schema(name))
        }
        fn schema_name(&$this, oid: Oid) -> SqlResult<Option<String>> {
            $this.$target(|c| c.schema_name(oid))
        }
        fn search_path(&$this) -> SqlResult<Vec<Oid>> {
            $this.$target(|c| c.search_path())
        }
        fn type_by_name(&$this, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>> {
            $this.$target(|c| c.type_by_name(schema, name))
        }
        fn type_by_oid(&$this, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>> {
            $this.$target(|c| c.type_by_oid(oid))
        }
        fn functions(&$this, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>> {
            $this.$target(|c| c.functions(schema, name))
        }
        fn function_by_oid(&$this, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
            $this.$target(|c| c.function_by_oid(oid))
        }
        fn operators(&$this, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<OperatorDef>>> {
            $this.$target(|c| c.operators(schema, name))
        }
        fn operator_by_oid(&$this, oid: Oid) -> SqlResult<Option<Arc<OperatorDef>>> {
            $this.$target(|c| c.operator_by_oid(oid))
        }
        fn cast(&$this, source: Oid, target: Oid) -> SqlResult<Option<CastDef>> {
            $this.$target(|c| c.cast(source, target))
        }
        fn collation(&$this, schema: Option<&str>, name: &str) -> SqlResult<Option<CollationDef>> {
            $this.$target(|c| c.collation(schema, name))
        }
        fn collation_by_oid(&$this, oid: Oid) -> SqlResult<Option<CollationDef>> {
            $this.$target(|c| c.collation_by_oid(oid))
        }
        fn constraint_index(&$this, table: Oid, name: &str) -> SqlResult<Option<Oid>> {
            $this.$target(|c| c.constraint_index(table, name))
        }
        fn database(&$this) -> String {
            $this.$target(|c| c.database())
        }
        fn current_user(&$this) -> Oid {
            $this.$target(|c| c.current_user())
        }
    };
}

impl CatalogView for Session {
    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        self.with_reader(|r| r.relation(schema, name))
    }
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        self.with_reader(|r| r.relation_by_oid(oid))
    }
    pass_on!(self, with_reader);
}

/// A catalog that remembers the relations asked for: what a plan depends on.
pub(crate) struct RecordingView<'a> {
    catalog: &'a dyn CatalogView,
    seen: RefCell<Vec<Arc<Table>>>,
}

impl<'a> RecordingView<'a> {
    pub(crate) fn new(catalog: &'a dyn CatalogView) -> RecordingView<'a> {
        RecordingView { catalog, seen: RefCell::new(Vec::new()) }
    }

    /// The relations asked for.
    pub(crate) fn into_tables(self) -> Vec<Arc<Table>> {
        self.seen.into_inner()
    }

    fn record(&self, table: Option<Arc<Table>>) -> Option<Arc<Table>> {
        if let Some(table) = &table {
            let mut seen = self.seen.borrow_mut();
            if !seen.iter().any(|known| Arc::ptr_eq(known, table)) {
                seen.push(table.clone());
            }
        }
        table
    }

    fn ask<T>(&self, question: impl FnOnce(&dyn CatalogView) -> T) -> T {
        question(self.catalog)
    }
}

impl CatalogView for RecordingView<'_> {
    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        Ok(self.record(self.catalog.relation(schema, name)?))
    }
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        Ok(self.record(self.catalog.relation_by_oid(oid)?))
    }
    pass_on!(self, ask);
}

/// Sizes as they are now, densities as ANALYZE saw them.
pub(crate) struct Sizes<'a> {
    pub(crate) session: &'a Session,
}

/// A table that was never analysed and is small now is taken for one that will grow, as in PostgreSQL.
const SMALLEST_UNSEEN: f64 = 10.0;

impl Sizes<'_> {
    fn pages(&self, file: base::RelFile) -> f64 {
        let pages = self.session.engine().pool().nblocks(file, Fork::Main);
        f64::from(pages.unwrap_or(0))
    }

    /// Rows: the density of the last count times the pages there are, or a guess from the width of a row.
    fn tuples(pages: f64, size: SizeEstimate, width: f64) -> f64 {
        if size.tuples >= 0.0 && size.pages > 0 {
            return (f64::from(size.tuples) / f64::from(size.pages) * pages).round();
        }
        if size.tuples == 0.0 && size.pages == 0 && pages == 0.0 {
            return 0.0;
        }
        let page = base::PAGE_SIZE as f64 - 48.0;
        ((page / (width + 28.0)).floor().max(1.0) * pages).round()
    }
}

impl Statistics for Sizes<'_> {
    fn table(&self, table: &Table) -> TableShape {
        let mut pages = self.pages(table.file);
        if table.size.tuples < 0.0 && pages < SMALLEST_UNSEEN {
            pages = SMALLEST_UNSEEN;
        }
        let visible = f64::from(table.size.all_visible) / f64::from(table.size.pages.max(1));
        TableShape { pages, tuples: Self::tuples(pages, table.size, row_width(table)), all_visible: visible.min(1.0) }
    }

    fn index(&self, table: &Table, index: &Index) -> IndexShape {
        let pages = self.pages(index.file);
        // A tree with hundreds of entries a page: three levels hold a hundred million.
        let height = if pages <= 2.0 { 0.0 } else { (pages.ln() / 300f64.ln()).floor() };
        IndexShape { pages, tuples: self.table(table).tuples, height, correlation: 0.0 }
    }

    fn column(&self, table: Oid, column: i16) -> Option<Arc<ColumnStats>> {
        let stats = self.session.with_reader(|r| r.statistics(table, column)).ok()??;
        Some(Arc::new(ColumnStats {
            null_fraction: f64::from(stats.null_fraction),
            width: f64::from(stats.width),
            distinct: f64::from(stats.distinct),
            common: stats.common.iter().map(|(value, share)| (value.clone(), f64::from(*share))).collect(),
            histogram: stats.histogram.clone(),
            correlation: stats.correlation.map(f64::from),
        }))
    }
}

/// Bytes of an average row, guessed from its types.
fn row_width(table: &Table) -> f64 {
    let width = |c: &catalog::Column| match types::builtin_type(c.type_oid) {
        Some(info) if info.len > 0 => f64::from(info.len),
        _ if c.typmod > 4 => f64::from(c.typmod - 4).min(1000.0),
        _ => 32.0,
    };
    table.columns.iter().filter(|c| !c.dropped).map(width).sum()
}

/// The planner's settings.
pub(crate) fn planner_settings(settings: &SessionSettings) -> plan::Settings {
    let real = |s: Setting| settings.get(s).as_real();
    let on = |s: Setting| settings.get(s).as_bool();
    let int = |s: Setting| settings.get(s).as_int();
    plan::Settings {
        seq_page_cost: real(Setting::seq_page_cost),
        random_page_cost: real(Setting::random_page_cost),
        cpu_tuple_cost: real(Setting::cpu_tuple_cost),
        cpu_index_tuple_cost: real(Setting::cpu_index_tuple_cost),
        cpu_operator_cost: real(Setting::cpu_operator_cost),
        effective_cache_size: f64::from(int(Setting::effective_cache_size)),
        work_mem: settings.fast().work_mem as f64,
        hash_mem_multiplier: settings.fast().hash_mem_multiplier,
        default_statistics_target: int(Setting::default_statistics_target),
        enable_seqscan: on(Setting::enable_seqscan),
        enable_indexscan: on(Setting::enable_indexscan),
        enable_indexonlyscan: on(Setting::enable_indexonlyscan),
        enable_bitmapscan: on(Setting::enable_bitmapscan),
        enable_tidscan: on(Setting::enable_tidscan),
        enable_nestloop: on(Setting::enable_nestloop),
        enable_hashjoin: on(Setting::enable_hashjoin),
        enable_mergejoin: on(Setting::enable_mergejoin),
        enable_hashagg: on(Setting::enable_hashagg),
        enable_sort: on(Setting::enable_sort),
        enable_material: on(Setting::enable_material),
        geqo_threshold: int(Setting::geqo_threshold).max(2) as usize,
        join_collapse_limit: int(Setting::join_collapse_limit).max(1) as usize,
        from_collapse_limit: int(Setting::from_collapse_limit).max(1) as usize,
        cursor_tuple_fraction: real(Setting::cursor_tuple_fraction),
    }
}
