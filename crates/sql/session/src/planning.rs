//! What analysis and planning see of a session: catalogs with a record of what was looked at, and settings.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use base::settings::{SessionSettings, Setting};
use base::{Oid, SqlResult};
use catalog::families::OperatorFamilies;
use catalog::{
    CastDef, CatalogView, CollationDef, ColumnStatistics, ExtendedStatistics, FunctionDef, Index,
    OperatorDef, Table, Transition, TypeDef, Validity,
};
use executor::statistics::CatalogStatistics;
use plan::Statistics;
use plan::cost::{IndexShape, TableShape};
use txn::{LockMode, LockWait};

use super::Session;
use crate::lookup::names;

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
        fn operator_class_named(&$this, method: Oid, schema: Option<&str>, name: &str) -> SqlResult<Option<Oid>> {
            $this.$target(|c| c.operator_class_named(method, schema, name))
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
    fn row_security_applies(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool> {
        self.secures(table, role)
    }
    fn has_role_of(&self, role: Option<Oid>, other: Oid) -> SqlResult<bool> {
        self.with_reader(|r| r.has_role_of(Some(role.unwrap_or(self.names.user())), other))
    }

    fn transition(&self, name: &str) -> Option<Transition> {
        self.transition_named(name)
    }
    fn replicates(&self) -> bool {
        self.settings.borrow().text(Setting::session_replication_role) == "replica"
    }
    fn maintained(&self) -> Oid {
        self.identity.maintained.get()
    }
    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        let found = self.with_reader(|r| r.relation(schema, name))?;
        Ok(found.map(|table| table.for_snapshot(|| self.next_snapshot())))
    }
    fn absences(&self, name: &str, schema: Oid) -> SqlResult<Vec<Validity>> {
        self.with_reader(|r| r.absences(name, schema))
    }
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        let found = self.with_reader(|r| r.relation_by_oid(oid))?;
        Ok(found.map(|table| table.for_snapshot(|| self.next_snapshot())))
    }
    fn type_by_name(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>> {
        self.with_reader(|c| c.type_by_name(schema, name))
    }
    fn type_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>> {
        self.with_reader(|c| c.type_by_oid(oid))
    }
    fn functions(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>> {
        self.with_reader(|c| c.functions(schema, name))
    }
    fn function_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
        self.with_reader(|c| c.function_by_oid(oid))
    }
    fn operators(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<OperatorDef>>> {
        self.with_reader(|c| c.operators(schema, name))
    }
    fn operator_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<OperatorDef>>> {
        self.with_reader(|c| c.operator_by_oid(oid))
    }
    fn hash_function(&self, class: Oid) -> SqlResult<Option<Oid>> {
        self.with_reader(|c| c.hash_function(class))
    }
    fn operator_families(&self) -> SqlResult<Arc<OperatorFamilies>> {
        self.with_reader(|c| c.operator_families())
    }
    fn cast(&self, source: Oid, target: Oid) -> SqlResult<Option<CastDef>> {
        self.with_reader(|c| c.cast(source, target))
    }
    pass_on!(self, with_reader);
}

/// A catalog that remembers the relations asked for: what a plan depends on.
pub(crate) struct RecordingView<'a> {
    catalog: &'a dyn CatalogView,
    seen: RefCell<Vec<Arc<Table>>>,
    /// That no relations came before them in the search path.
    absent: RefCell<Vec<Validity>>,
    /// Names of relations and types that were looked up along the search path.
    names: RefCell<Vec<Box<str>>>,
    /// Whether a type, function, operator or cast of a user was found.
    users: Cell<bool>,
    /// Whether any but a type was: code that planning may run.
    code: Cell<bool>,
}

impl<'a> RecordingView<'a> {
    pub(crate) fn new(catalog: &'a dyn CatalogView) -> RecordingView<'a> {
        RecordingView {
            catalog,
            seen: RefCell::default(),
            absent: RefCell::default(),
            names: RefCell::default(),
            users: Cell::new(false),
            code: Cell::new(false),
        }
    }

    /// Whether the answers depend on definitions that users may change.
    pub(crate) fn found_users_definitions(&self) -> bool {
        self.users.get()
    }

    /// Whether code of users may have run.
    pub(crate) fn found_users_code(&self) -> bool {
        self.code.get()
    }

    /// The relations asked for.
    pub(crate) fn into_tables(self) -> Vec<Arc<Table>> {
        self.seen.into_inner()
    }

    /// What goes down when one of their names comes to mean another relation.
    pub(crate) fn take_absences(&self) -> Box<[Validity]> {
        self.absent.take().into()
    }

    /// The names whose meaning a session's temporary relations and types may change.
    pub(crate) fn take_names(&self) -> Box<[Box<str>]> {
        self.names.take().into()
    }

    fn note_name(&self, schema: Option<&str>, name: &str) {
        let mut names = self.names.borrow_mut();
        if schema.is_none() && !names.iter().any(|known| &**known == name) {
            names.push(name.into());
        }
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

    fn note(&self, users: bool) {
        self.users.set(self.users.get() || users);
    }

    fn note_code(&self, users: bool) {
        self.note(users);
        self.code.set(self.code.get() || users);
    }

    fn ask<T>(&self, question: impl FnOnce(&dyn CatalogView) -> T) -> T {
        question(self.catalog)
    }
}

impl CatalogView for RecordingView<'_> {
    fn row_security_applies(&self, table: &Table, role: Option<Oid>) -> SqlResult<bool> {
        self.catalog.row_security_applies(table, role)
    }
    fn has_role_of(&self, role: Option<Oid>, other: Oid) -> SqlResult<bool> {
        self.catalog.has_role_of(role, other)
    }

    fn transition(&self, name: &str) -> Option<Transition> {
        let found = self.catalog.transition(name)?;
        self.record(Some(found.table.clone()));
        Some(found)
    }
    fn replicates(&self) -> bool {
        self.catalog.replicates()
    }
    fn maintained(&self) -> Oid {
        self.catalog.maintained()
    }
    fn relation(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<Table>>> {
        self.note_name(schema, name);
        let found = self.record(self.catalog.relation(schema, name)?);
        if let (None, Some(table)) = (schema, &found) {
            self.absent.borrow_mut().extend(self.absences(name, table.schema)?);
        }
        Ok(found)
    }
    fn absences(&self, name: &str, schema: Oid) -> SqlResult<Vec<Validity>> {
        self.catalog.absences(name, schema)
    }
    fn relation_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        Ok(self.record(self.catalog.relation_by_oid(oid)?))
    }
    fn type_by_name(&self, schema: Option<&str>, name: &str) -> SqlResult<Option<Arc<TypeDef>>> {
        self.note_name(schema, name);
        let found = self.ask(|c| c.type_by_name(schema, name))?;
        self.note(matches!(&found, Some(def) if !def.oid.is_pinned()));
        Ok(found)
    }
    fn type_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<TypeDef>>> {
        let found = self.ask(|c| c.type_by_oid(oid))?;
        self.note(matches!(&found, Some(def) if !def.oid.is_pinned()));
        Ok(found)
    }
    fn functions(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<FunctionDef>>> {
        let found = self.ask(|c| c.functions(schema, name))?;
        self.note_code(!found.is_empty());
        Ok(found)
    }
    fn function_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<FunctionDef>>> {
        let found = self.ask(|c| c.function_by_oid(oid))?;
        self.note_code(found.is_some());
        Ok(found)
    }
    fn operators(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<Arc<OperatorDef>>> {
        let found = self.ask(|c| c.operators(schema, name))?;
        self.note_code(!found.is_empty());
        Ok(found)
    }
    fn operator_by_oid(&self, oid: Oid) -> SqlResult<Option<Arc<OperatorDef>>> {
        let found = self.ask(|c| c.operator_by_oid(oid))?;
        self.note_code(found.is_some());
        Ok(found)
    }
    fn hash_function(&self, class: Oid) -> SqlResult<Option<Oid>> {
        let found = self.ask(|c| c.hash_function(class))?;
        self.note_code(found.is_some());
        Ok(found)
    }
    fn operator_families(&self) -> SqlResult<Arc<OperatorFamilies>> {
        let found = self.ask(|c| c.operator_families())?;
        self.note(found.has_users());
        Ok(found)
    }
    fn cast(&self, source: Oid, target: Oid) -> SqlResult<Option<CastDef>> {
        let found = self.ask(|c| c.cast(source, target))?;
        self.note_code(found.is_some());
        Ok(found)
    }
    pass_on!(self, ask);
}

impl Session {
    /// What `attempt` makes of definitions, with the locks that it takes for it; once more if others have changed definitions before it had them.
    pub fn settled<T, L: Default + PartialEq>(
        &self,
        attempt: impl Fn() -> SqlResult<(T, L)>,
    ) -> SqlResult<T> {
        let mut held = L::default();
        loop {
            let before = self.catalog.generation();
            let (made, locks) = attempt()?;
            // What is locked since before it was looked at has not changed.
            if self.catalog.generation() == before || locks == held {
                return Ok(made);
            }
            held = locks;
        }
    }

    /// Analyses something, and locks the relations that it names as their readers do.
    pub fn with_relations_locked<T>(
        &self,
        analyze: impl Fn(&dyn CatalogView) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.settled(|| {
            let view = RecordingView::new(self);
            let analyzed = analyze(&view)?;
            let tables = view.into_tables();
            tables
                .iter()
                .try_for_each(|table| names::lock(self, table, LockMode::AccessShare, LockWait::Block))?;
            Ok((analyzed, tables.iter().map(|table| table.oid).collect::<Vec<_>>()))
        })
    }
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
        enable_incremental_sort: on(Setting::enable_incremental_sort),
        enable_presorted_aggregate: on(Setting::enable_presorted_aggregate),
        enable_group_by_reordering: on(Setting::enable_group_by_reordering),
        enable_partition_pruning: on(Setting::enable_partition_pruning),
        enable_partitionwise_join: on(Setting::enable_partitionwise_join),
        enable_material: on(Setting::enable_material),
        enable_memoize: on(Setting::enable_memoize),
        geqo_threshold: int(Setting::geqo_threshold).max(2) as usize,
        join_collapse_limit: int(Setting::join_collapse_limit).max(1) as usize,
        from_collapse_limit: int(Setting::from_collapse_limit).max(1) as usize,
        cursor_tuple_fraction: real(Setting::cursor_tuple_fraction),
        batch_execution: on(Setting::stampede_batch_execution),
        max_parallel_workers_per_gather: int(Setting::max_parallel_workers_per_gather).max(0) as u32,
        min_parallel_table_scan_size: f64::from(int(Setting::min_parallel_table_scan_size)),
        parallel_setup_cost: real(Setting::parallel_setup_cost),
        parallel_tuple_cost: real(Setting::parallel_tuple_cost),
        enable_gathermerge: on(Setting::enable_gathermerge),
        parallel_leader_participation: on(Setting::parallel_leader_participation),
        debug_parallel_query: match settings.get(Setting::debug_parallel_query).as_text() {
            "on" => plan::ForcedParallel::On,
            "regress" => plan::ForcedParallel::Regress,
            _ => plan::ForcedParallel::Off,
        },
    }
}

/// What is known of tables. It holds nothing of the session between two questions: what plans may call functions.
pub(crate) struct SessionStatistics<'s>(pub(crate) &'s Session);

impl SessionStatistics<'_> {
    fn ask<T>(&self, ask: impl FnOnce(&CatalogStatistics<'_>) -> T) -> T {
        let pool = self.0.engine().pool();
        self.0.with_reader(|reader| ask(&CatalogStatistics { reader, pool }))
    }
}

impl Statistics for SessionStatistics<'_> {
    fn table(&self, table: &Table) -> TableShape {
        self.ask(|known| known.table(table))
    }

    fn index(&self, table: &Table, index: &Index) -> IndexShape {
        self.ask(|known| known.index(table, index))
    }

    fn column(&self, table: Oid, column: i16) -> Option<Arc<ColumnStatistics>> {
        self.ask(|known| known.column(table, column))
    }

    fn extended(&self, object: Oid) -> Option<Arc<ExtendedStatistics>> {
        self.ask(|known| known.extended(object))
    }

    fn foreign(&self, table: &Table, settings: &plan::Settings) -> SqlResult<plan::ForeignRows> {
        self.0.expect_foreign(table, settings)
    }
}
