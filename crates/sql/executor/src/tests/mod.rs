//! Statements from text to rows, over a real data directory, within one transaction each test.

mod gather;
mod joins;
mod queries;
mod rows;
mod spilling;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use analyze::ParamTypes;
use base::{CommandId, Oid, SqlError, SqlResult};
use catalog::change::{Changer, NewColumn, NewIndex, NewTable};
use catalog::view::{CatalogView, RelationKind};
use catalog::{BOOTSTRAP_SUPERUSER, BootstrapOptions, Catalog, PUBLIC, Reader, SessionCatalog, TEMPLATE1};
use engine::{Engine, EngineOptions};
use eval::cx::{Env, Facilities};
use eval::spill::TempDir;
use eval::team::Places;
use heap::ComboCids;
use tuple::Datum;
use txn::{SessionId, Snapshot, Transaction};
use types::{Call, FormatContext, SessionFn};

use crate::run::{Execution, Prepared};
use crate::statistics::CatalogStatistics;

/// A database of its own.
pub(super) struct Db {
    engine: Arc<Engine>,
    catalog: Arc<Catalog>,
    names: Rc<SessionCatalog>,
    txn: RefCell<Transaction>,
    combo: ComboCids,
    holders: RefCell<heap::KnownHolders>,
    format: FormatContext,
    temp: TempDir,
    facilities: TestFacilities,
    pub work_mem: usize,
    pub settings: plan::Settings,
    _dir: Scratch,
}

/// A folder that goes away with the test.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is left of a session: as many helpers as are asked for.
struct TestFacilities {
    /// How many were.
    claimed: Cell<usize>,
    leader_works: Cell<bool>,
}

impl Default for TestFacilities {
    fn default() -> TestFacilities {
        TestFacilities { claimed: Cell::new(0), leader_works: Cell::new(true) }
    }
}

impl types::Session for TestFacilities {}

impl Facilities for TestFacilities {
    fn claim_helpers(&self, wanted: usize) -> Places<'_> {
        self.claimed.set(self.claimed.get() + wanted);
        Places { count: wanted, leader_works: self.leader_works.get(), held: None }
    }

    fn current_of(&self, _: &str, _: Oid) -> SqlResult<Option<base::Tid>> {
        Err(SqlError::not_supported("WHERE CURRENT OF"))
    }

    fn count_change(&self, _: Oid, _: u32, _: counters::Change) {}
    fn count_chunks(&self, _: &heap::HeapRel, _: u32, _: &heap::Chunks) {}
    fn count_scan(&self, _: &mut counters::Counted) {}
    fn ask_for_summary(&self, _: Oid, _: base::BlockNo) {}
    fn partition_key_columns(&self, _: &catalog::Table) -> SqlResult<String> {
        Ok(String::new())
    }

    fn call(&self, id: SessionFn, _: &Call<'_>, _: &[Datum], _: &Snapshot) -> SqlResult<Datum> {
        Err(SqlError::not_supported(format!("{id:?}")))
    }
    fn call_set(&self, id: SessionFn, _: &Call<'_>, _: &[Datum]) -> SqlResult<Vec<Vec<Datum>>> {
        Err(SqlError::not_supported(format!("{id:?}")))
    }
    fn call_routine(
        &self,
        function: &Arc<catalog::FunctionDef>,
        _: &Call<'_>,
        _: &[Datum],
        _: (&Snapshot, CommandId),
    ) -> SqlResult<Datum> {
        Err(SqlError::not_supported(&function.name))
    }
    fn call_routine_set(
        &self,
        function: &Arc<catalog::FunctionDef>,
        _: &Call<'_>,
        _: &[Datum],
        _: (&Snapshot, CommandId),
    ) -> SqlResult<eval::row_store::RowStore> {
        Err(SqlError::not_supported(&function.name))
    }
    fn begin_foreign(&self, table: &Arc<catalog::Table>, _: &[bool]) -> SqlResult<Box<dyn std::any::Any>> {
        Err(SqlError::not_supported(&table.name))
    }
    fn next_foreign(&self, _: &mut dyn std::any::Any, _: &mut Vec<Datum>) -> SqlResult<bool> {
        Ok(false)
    }
    fn index_limits(&self) -> index::Limits {
        index::Limits::default()
    }

    fn shown_columns(&self, _: &catalog::Table, _: &[i16]) -> Option<Vec<i16>> {
        None
    }
    fn types(&self) -> &dyn types::Session {
        self
    }
    fn sql_value(&self, kind: plan::SqlValueKind, _: Oid, _: i32) -> SqlResult<Datum> {
        match kind {
            plan::SqlValueKind::CurrentUser => Ok(Datum::text("postgres")),
            _ => Err(SqlError::not_supported("CURRENT_DATE")),
        }
    }
}

impl Db {
    pub fn new() -> Db {
        let path = std::env::temp_dir().join(format!("exec-test-{:016x}", runtime::random_u64()));
        let options = EngineOptions { shared_buffers: 2000, ..EngineOptions::default() };
        let engine = Arc::new(Engine::create(&path, options).expect("a new data directory"));
        let bootstrap = BootstrapOptions {
            superuser: "postgres".into(),
            password: None,
            encoding: base::Encoding::Utf8,
            locale: "C".into(),
            provider: collation::Provider::Libc,
            provider_locale: None,
        };
        catalog::bootstrap(&engine, &bootstrap).expect("bootstrap");
        let catalog = Catalog::new(&engine, TEMPLATE1, "template1");
        let mut txn = Transaction::new(engine.txns().clone(), SessionId(1));
        txn.start(txn::Characteristics::default());
        let temp = TempDir::new(path.clone(), base::Oid::PG_DEFAULT, 1);
        Db {
            engine,
            catalog,
            names: Rc::new(SessionCatalog::new(BOOTSTRAP_SUPERUSER)),
            txn: RefCell::new(txn),
            combo: ComboCids::default(),
            holders: RefCell::default(),
            format: FormatContext::default(),
            temp,
            facilities: TestFacilities::default(),
            work_mem: 4 << 20,
            settings: plan::Settings::default(),
            _dir: Scratch(path),
        }
    }

    /// `CREATE TABLE name (columns)`: each column is `name type`.
    pub fn table(&self, name: &str, columns: &[(&str, &str)]) -> Oid {
        let columns = columns.iter().map(|(name, ty)| NewColumn {
            name: (*name).into(),
            type_oid: types::type_named(ty).expect("type").oid,
            typmod: -1,
            collation: types::type_named(ty).expect("type").collation,
            ..NewColumn::default()
        });
        let new = NewTable {
            name: name.into(),
            schema: PUBLIC,
            owner: BOOTSTRAP_SUPERUSER,
            kind: RelationKind::Table,
            persistence: b'p',
            columns: columns.collect(),
            options: Vec::new(),
            method: Oid::INVALID,
            tablespace: Oid::INVALID,
        };
        self.change(|c| c.create_table(&new)).expect("create table")
    }

    /// Commits, and begins another transaction.
    pub fn next_transaction(&self) {
        let mut txn = self.txn.borrow_mut();
        txn.commit(txn::SyncCommit::Off, &[]).expect("commit");
        txn.start(txn::Characteristics::default());
    }

    /// A unique index on `int4` columns.
    pub fn unique_index(&self, name: &str, table: Oid, numbers: &[i16]) {
        let column = |n: &i16| NewColumn {
            name: format!("c{n}"),
            type_oid: Oid(23),
            typmod: -1,
            ..NewColumn::default()
        };
        let new = NewIndex {
            method: catalog::DEFAULT_INDEX_METHOD.oid,
            name: name.into(),
            table,
            schema: PUBLIC,
            owner: BOOTSTRAP_SUPERUSER,
            persistence: b'p',
            columns: numbers.iter().map(column).collect(),
            numbers: numbers.to_vec(),
            keys: numbers.len(),
            opclasses: vec![Oid(1978); numbers.len()],
            options: vec![0; numbers.len()],
            expressions: Vec::new(),
            predicate: None,
            used: Vec::new(),
            needs: Vec::new(),
            unique: true,
            nulls_not_distinct: false,
            primary: true,
            exclusion: false,
            immediate: true,
            for_constraint: false,
            parameters: Vec::new(),
            tablespace: Oid::INVALID,
            partitioned: false,
            valid: true,
            ready: true,
        };
        self.change(|c| {
            let oid = c.create_index(&new)?;
            c.next_command()?;
            c.create_empty_index(oid)?;
            c.set_index_state(oid, true, true)
        })
        .expect("create index");
    }

    fn change<T>(&self, f: impl FnOnce(&mut Changer<'_>) -> SqlResult<T>) -> SqlResult<T> {
        let mut me = self.txn.borrow_mut();
        let mut changer =
            Changer { catalog: &self.catalog, session: &self.names, me: &mut me, combo: &self.combo };
        let result = f(&mut changer)?;
        changer.next_command()?;
        Ok(result)
    }

    fn with_reader<T>(&self, f: impl FnOnce(&Reader<'_>) -> T) -> T {
        let me = self.txn.borrow();
        f(&Reader { catalog: &self.catalog, session: &self.names, me: &me, combo: &self.combo })
    }

    pub fn prepare(&self, sql: &str) -> SqlResult<Arc<Prepared>> {
        let raw = parse::parse(sql)?;
        self.with_reader(|reader| {
            let call = Call::new(&self.format);
            let analyzed = analyze::analyze(&raw[0], sql, ParamTypes::Infer(Vec::new()), reader, &call)?;
            let statistics = CatalogStatistics { reader, pool: self.engine.pool() };
            let context = plan::Context {
                settings: &self.settings,
                statistics: &statistics,
                catalog: reader as &dyn CatalogView,
                params: None,
                fraction: 0.0,
                read_at_once: true,
                routes_to_hidden: false,
                bodies: None,
            };
            Prepared::plan(&analyzed, &context)
        })
    }

    fn env<'s>(&'s self, snapshot: &'s txn::Snapshot) -> Env<'s> {
        let txn = self.txn.borrow();
        Env {
            access: self.engine.heap_access(),
            txn: &self.txn,
            combo: &self.combo,
            holders: &self.holders,
            snapshot,
            command: txn.current_command(),
            fixed_snapshot: false,
            format: &self.format,
            session: &self.facilities,
            work_mem: self.work_mem,
            hash_mem: self.work_mem * 2,
            temp: &self.temp,
            compression: Default::default(),
        }
    }

    /// Runs a statement once more; rows as text, columns separated by `|`.
    pub fn execute(&self, execution: &mut Execution, params: &[Datum]) -> SqlResult<Vec<String>> {
        let types: Vec<Oid> = execution.prepared().statement.result.iter().map(|c| c.type_oid).collect();
        let mut rows = Vec::new();
        let call = Call::new(&self.format);
        let snapshot = self.engine.txns().snapshot();
        execution.run(&self.env(&snapshot), params, &mut |row| {
            let mut line = String::new();
            for (i, value) in row.iter().enumerate() {
                if i > 0 {
                    line.push('|');
                }
                let mut text = Vec::new();
                if value.is_null() {
                    text.extend_from_slice(b"null");
                } else {
                    types::output(types[i], value, &call, &mut text)?;
                }
                line.push_str(&String::from_utf8_lossy(&text));
            }
            rows.push(line);
            Ok(())
        })?;
        self.txn.borrow_mut().next_command().map_err(eval::error::txn)?;
        Ok(rows)
    }

    pub fn run(&self, sql: &str) -> SqlResult<Vec<String>> {
        let prepared = self.prepare(sql)?;
        self.execute(&mut Execution::new(&prepared)?, &[])
    }

    /// Rows of a statement that must succeed, separated by spaces.
    pub fn rows(&self, sql: &str) -> String {
        match self.run(sql) {
            Ok(rows) => rows.join(" "),
            Err(error) => panic!("{sql}: {error} {:?}", error.report().detail),
        }
    }

    /// Rows sorted: for statements without ORDER BY.
    pub fn sorted(&self, sql: &str) -> String {
        let mut rows = self.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        rows.sort();
        rows.join(" ")
    }

    /// The plan, without costs.
    pub fn explain(&self, sql: &str) -> String {
        struct Shown<'a>(&'a FormatContext);
        impl plan::explain::Display for Shown<'_> {
            fn value(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
                types::output(type_oid, value, &Call::new(self.0), out)
            }
            fn collation(&self, oid: Oid) -> String {
                oid.to_string()
            }
            fn type_name(&self, type_oid: Oid, typmod: Option<i32>) -> String {
                types::format_type(type_oid, typmod).unwrap_or_default()
            }
        }
        let prepared = self.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let options = plan::explain::Options { costs: false, ..plan::explain::Options::default() };
        plan::explain::text_lines(&prepared.statement, options, &Shown(&self.format)).join("\n")
    }
}

/// How often each row occurs.
pub(super) fn counted(rows: Vec<String>) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    rows.into_iter().for_each(|r| *out.entry(r).or_default() += 1);
    out
}
