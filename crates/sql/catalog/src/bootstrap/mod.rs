//! # What
//! The first rows of all system catalogs: what initdb writes before SQL can run. They describe the catalogs themselves, the
//! built-in types, functions and operators from the registry, and the cluster's first roles and databases.
//!
//! # WAL and crash
//! Rows are written under [`Xid::BOOTSTRAP`], which counts as committed for ever, and the caller takes a checkpoint behind.
//! A crash before that leaves a directory that the engine refuses to open, so nothing here needs to be undone.
//!
//! # PostgreSQL counterpart and differences
//! `bootstrap.c` and the `.dat` files. There is no bootstrap language: the registry is the source.

mod cluster;
mod conversions;
mod descriptions;
mod itself;
mod registry;
mod text_search;

pub(crate) use cluster::is_of_extension;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{CommandId, Encoding, Oid, SqlError, SqlResult, Tid, Xid};
use collation::Provider;
use engine::Engine;
use heap::{ComboCids, InsertOptions, Writer};
use tuple::Datum;
use txn::{SessionId, Transaction};
use types::acl::AclItem;

use crate::C_LANGUAGE;
use crate::database::PG_CATALOG;
use crate::row::{Row, RowBuilder};
use crate::system::{self, SystemTable, pg_proc};
use crate::tables::{OpenTable, OpenTables, SharedTables};
use crate::vectors::oid_vector;

/// The database that bootstrap fills; the others begin as copies of it.
pub const TEMPLATE1: Oid = engine::BOOTSTRAP_DATABASE;
/// The template that is never changed.
pub const TEMPLATE0: Oid = Oid(4);
/// The database that clients connect to by default.
pub const POSTGRES: Oid = Oid(5);
/// The superuser that initdb makes.
pub const BOOTSTRAP_SUPERUSER: Oid = Oid(10);

/// The system views, to be made by a superuser in [`TEMPLATE1`] once SQL can run.
pub const SYSTEM_VIEWS: &str = include_str!("../system_views.sql");

/// The views of what the server does; after [`SYSTEM_VIEWS`].
pub const STATISTICS_VIEWS: &str = include_str!("../statistics_views.sql");

/// What was granted so far becomes what pg_dump does not tell; after [`STATISTICS_VIEWS`], as in PostgreSQL.
pub const INITIAL_PRIVILEGES: &str = include_str!("../initial_privileges.sql");

/// Statements that make the information schema.
pub const INFORMATION_SCHEMA: &str = concat!(
    include_str!("../information_schema.sql"),
    include_str!("../information_schema_rest.sql"),
    include_str!("../information_schema_features.sql")
);

/// Choices of initdb.
#[derive(Clone, Debug)]
pub struct BootstrapOptions {
    /// Name of the superuser.
    pub superuser: String,
    /// Its password verifier.
    pub password: Option<String>,
    /// Encoding of the databases: `UTF8` or `SQL_ASCII`.
    pub encoding: Encoding,
    /// `LC_COLLATE` and `LC_CTYPE` of the databases.
    pub locale: String,
    /// Who says how texts are ordered.
    pub provider: Provider,
    /// The locale of a provider that is not the C library.
    pub provider_locale: Option<String>,
}

/// Rows by catalog.
type Rows = BTreeMap<Oid, Vec<Row>>;

/// Fills the catalogs of [`TEMPLATE1`] and the shared ones. The engine has just created its data directory.
pub fn bootstrap(engine: &Arc<Engine>, options: &BootstrapOptions) -> SqlResult<()> {
    let tables = OpenTables::new(engine, TEMPLATE1, Arc::new(SharedTables::new(engine)));
    let mut rows = Rows::new();
    itself::describe(&mut rows)?;
    registry::describe(&mut rows)?;
    cluster::describe(&mut rows, options)?;
    conversions::describe(&mut rows);
    text_search::describe(&mut rows);
    descriptions::describe(&mut rows);
    let loader = Loader::new(engine);
    for shape in system::tables() {
        loader.load(&tables.table(shape), rows.remove(&shape.oid).unwrap_or_default())?;
    }
    Ok(())
}

/// What the bootstrap superuser grants to PUBLIC.
fn everybody(privileges: u32) -> AclItem {
    AclItem { grantee: Oid::INVALID, grantor: BOOTSTRAP_SUPERUSER, privileges, grantable: 0 }
}

/// Adds a row.
fn add(rows: &mut Rows, shape: &SystemTable, row: Row) {
    rows.entry(shape.oid).or_default().push(row);
}

/// Adds a function that stands for one of a library in PostgreSQL, with the library's name: arguments and result; whether it is strict, how
/// volatile it is (`provolatile`), and whether it may run beside others (`proparallel`).
fn add_c_function(
    rows: &mut Rows,
    oid: Oid,
    (name, library): (&str, &str),
    (args, result): (&[Oid], Oid),
    (strict, volatility, parallel): (bool, u8, u8),
) {
    use pg_proc as p;
    let row = RowBuilder::new(&p::TABLE)
        .set(p::OID, oid)
        .set(p::PRONAME, name)
        .set(p::PRONAMESPACE, PG_CATALOG)
        .set(p::PROOWNER, BOOTSTRAP_SUPERUSER)
        .set(p::PROLANG, Oid(C_LANGUAGE))
        .set(p::PROCOST, 1.0f32)
        .set(p::PROKIND, b'f')
        .set(p::PROISSTRICT, strict)
        .set(p::PROVOLATILE, volatility)
        .set(p::PROPARALLEL, parallel)
        .set(p::PRONARGS, args.len() as i16)
        .set(p::PRORETTYPE, result)
        .set(p::PROARGTYPES, oid_vector(args))
        .set(p::PROSRC, name)
        .set(p::PROBIN, format!("$libdir/{library}").as_str());
    add(rows, &p::TABLE, row.build());
}

/// Writes rows and builds indexes.
struct Loader<'a> {
    engine: &'a Engine,
    me: Transaction,
    combo: ComboCids,
}

impl<'a> Loader<'a> {
    fn new(engine: &'a Engine) -> Loader<'a> {
        let me = Transaction::new(engine.txns().clone(), SessionId(0));
        Loader { engine, me, combo: ComboCids::new() }
    }

    fn load(&self, table: &OpenTable, rows: Vec<Row>) -> SqlResult<()> {
        let access = self.engine.heap_access();
        let writer = Writer {
            xid: Xid::BOOTSTRAP,
            cid: CommandId(0),
            me: &self.me,
            combo: &self.combo,
            compression: Default::default(),
            chunks: None,
        };
        self.create_files(table)?;
        let mut tids = Vec::with_capacity(rows.len());
        heap::multi_insert(
            &access,
            &table.heap,
            &writer,
            rows.iter().map(Vec::as_slice),
            InsertOptions::default(),
            &mut tids,
        )
        .map_err(heap::HeapError::into_sql)?;
        for index in &table.indexes {
            let entries = rows.iter().map(|row| index.key(row)).zip(tids.iter().copied()).collect();
            self.build(index.shape.name, table.shape.name, &index.rel, entries)?;
        }
        Ok(())
    }

    fn create_files(&self, table: &OpenTable) -> SqlResult<()> {
        let create =
            |file| self.engine.create_bootstrap_relation(file).map_err(|e| SqlError::internal(e.to_string()));
        create(table.heap.desc.file)?;
        for index in &table.indexes {
            create(index.rel.desc().file)?;
        }
        if let Some(toast) = &table.heap.desc.toast {
            create(toast.rel.desc.file)?;
        }
        if let Some(index) = &table.toast_index {
            create(index.desc().file)?;
            self.build("TOAST index", table.shape.name, index, Vec::new())?;
        }
        Ok(())
    }

    fn build(
        &self,
        name: &str,
        table: &str,
        open: &engine::OpenIndex,
        mut entries: Vec<(Vec<Datum>, Tid)>,
    ) -> SqlResult<()> {
        entries.sort_by(|a, b| open.compare_entries((&a.0, a.1), (&b.0, b.1)));
        let access = self.engine.index_access(Xid::BOOTSTRAP);
        let mut entries = entries.into_iter();
        let mut next = |values: &mut Vec<Datum>| {
            values.clear();
            Ok(entries.next().map(|(key, tid)| {
                values.extend(key);
                tid
            }))
        };
        open.build(&access, &mut next).map_err(|e| e.into_sql(name, table))?;
        Ok(())
    }
}
