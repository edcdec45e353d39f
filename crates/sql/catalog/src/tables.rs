//! # What
//! The system catalogs of one database as open tables: descriptors of their heaps and indexes, scans by index, and changes
//! of rows with all indexes maintained.
//!
//! # Invariants
//! 1. The number of a system catalog's file is its OID and never changes: the catalogs can be read before anything is known.
//! 2. Every row change enters the row's keys in all indexes of its table, unless the heap made a HOT version.
//!
//! # PostgreSQL counterpart and differences
//! `catalog/indexing.c`, `genam.c`. PostgreSQL maps some catalogs' files through `pg_filenode.map`; here they stay,
//! and these catalogs' relfilenode is 0 all the same ([`SystemTable::is_mapped`]).

use std::sync::Arc;

use base::{Oid, RelFile, SqlError, SqlResult, Tid, Xid};
use btree::{
    BtreeDesc, BtreeRel, Compare, Direction, InsertOutcome, KeyColumn, ScanKey, ScanKeys, ScanOp, UniqueCheck,
};
use buffer::Persistence;
use engine::{Engine, RowLiveness};
use heap::{
    DeleteOutcome, Fetched, HeapDesc, HeapRel, HeapScan, HeapTuple, InsertOptions, Refusal, UpdateOutcome,
    View, Writer,
};
use rustc_hash::FxHashMap;
use tuple::{Datum, RowLayout};
use txn::RelKind;

use crate::row::Row;
use crate::system::{self, ColumnType, SystemIndex, SystemTable};
use crate::toast_index::{open_toast, toast_layout};

/// OID of tablespace `pg_default`.
pub const PG_DEFAULT: Oid = Oid(1663);
/// OID of tablespace `pg_global`.
pub const PG_GLOBAL: Oid = Oid(1664);

/// A system catalog, open.
pub struct OpenTable {
    /// Its shape.
    pub shape: &'static SystemTable,
    /// Its rows.
    pub heap: Arc<HeapRel>,
    /// Its indexes, in the order of the shape.
    pub indexes: Vec<OpenIndex>,
}

/// An index of a system catalog, open.
pub struct OpenIndex {
    /// Its shape.
    pub shape: &'static SystemIndex,
    /// The tree.
    pub btree: Arc<BtreeRel>,
}

impl OpenIndex {
    /// The key of a row.
    pub fn key(&self, row: &[Datum]) -> Vec<Datum> {
        self.shape.keys.iter().map(|&column| row[column].clone()).collect()
    }
}

/// All system catalogs of one database.
pub struct OpenTables {
    engine: Arc<Engine>,
    tables: FxHashMap<Oid, OpenTable>,
}

/// The files of a catalog, one of its indexes or its TOAST table.
pub fn catalog_file(database: Oid, shared: bool, number: Oid) -> RelFile {
    if shared {
        RelFile { tablespace: PG_GLOBAL, database: Oid::INVALID, number: number.0 }
    } else {
        RelFile { tablespace: PG_DEFAULT, database, number: number.0 }
    }
}

impl OpenTables {
    /// Describes the catalogs of `database`. No I/O.
    pub fn new(engine: &Arc<Engine>, database: Oid) -> OpenTables {
        let tables = system::tables().map(|shape| (shape.oid, open(engine, database, shape))).collect();
        OpenTables { engine: engine.clone(), tables }
    }

    /// The storage they lie in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// One catalog.
    pub fn table(&self, shape: &SystemTable) -> &OpenTable {
        &self.tables[&shape.oid]
    }

    fn access(&self) -> heap::Access<'_> {
        self.engine.heap_access()
    }

    /// Visible rows whose index key begins with `key`, in index order.
    pub fn find(
        &self,
        view: &View<'_>,
        shape: &SystemTable,
        index: Oid,
        key: &[Datum],
    ) -> SqlResult<Vec<(Tid, Row)>> {
        let table = self.table(shape);
        let open = table.indexes.iter().find(|i| i.shape.oid == index).expect("an index of this catalog");
        let keys = key
            .iter()
            .enumerate()
            .map(|(column, value)| ScanKey { column, op: ScanOp::Equal(value.clone()) })
            .collect();
        let mut scan = btree::Scan::new(
            open.btree.clone(),
            ScanKeys { keys, direction: Direction::Forward },
            false,
            false,
        );
        let (mut rows, mut tuple) = (Vec::new(), HeapTuple::new());
        let index_access = self.engine.index_access(Xid::INVALID);
        let named = |e: btree::BtreeError| e.into_sql(open.shape.name, shape.name);
        while let Some(tid) = scan.next(&index_access).map_err(named)? {
            match heap::fetch(&self.access(), &table.heap, view, tid, &mut tuple)
                .map_err(heap::HeapError::into_sql)?
            {
                Fetched::Visible => {
                    let found =
                        tuple.get().ok_or_else(|| SqlError::internal("a fetched catalog row is empty"))?;
                    rows.push((found.tid, self.decode(table, &found)?));
                }
                Fetched::AllDead => scan.kill_current(),
                Fetched::Invisible => {}
            }
        }
        scan.finish(&index_access);
        Ok(rows)
    }

    /// Who wrote this version of a row.
    pub fn inserter(&self, shape: &SystemTable, tid: Tid) -> SqlResult<Xid> {
        let mut tuple = HeapTuple::new();
        let heap = &self.table(shape).heap;
        heap::fetch_version(&self.access(), heap, tid, &mut tuple).map_err(heap::HeapError::into_sql)?;
        let found = tuple.get().ok_or_else(|| SqlError::internal("a catalog row is gone"))?;
        Ok(found.xmin())
    }

    /// All visible rows.
    pub fn scan(&self, view: &View<'_>, shape: &SystemTable) -> SqlResult<Vec<(Tid, Row)>> {
        let table = self.table(shape);
        let mut scan =
            HeapScan::new(&self.access(), table.heap.clone(), None).map_err(heap::HeapError::into_sql)?;
        let mut rows = Vec::new();
        while let Some(found) = scan.next(&self.access(), view).map_err(heap::HeapError::into_sql)? {
            rows.push((found.tid, self.decode(table, &found)?));
        }
        Ok(rows)
    }

    /// Columns of a row, large values fetched.
    fn decode(&self, table: &OpenTable, found: &heap::TupleRef<'_>) -> SqlResult<Row> {
        let desc = &table.heap.desc;
        let mut row = Row::with_capacity(desc.layout.len());
        found
            .decode(&desc.layout, desc.layout.len(), &mut row)
            .map_err(|_| SqlError::internal(format!("corrupt row in catalog \"{}\"", table.shape.name)))?;
        for value in row.iter_mut().filter(|v| matches!(v, Datum::Toasted(_))) {
            *value = heap::detoast(&self.access(), desc.toast.as_ref(), value)
                .map_err(heap::HeapError::into_sql)?;
        }
        Ok(row)
    }

    /// Enters a row.
    pub fn insert(&self, writer: &Writer<'_>, shape: &SystemTable, row: &[Datum]) -> SqlResult<Tid> {
        let table = self.table(shape);
        let tid = heap::insert(&self.access(), &table.heap, writer, row, InsertOptions::default())
            .map_err(heap::HeapError::into_sql)?;
        self.enter(writer, table, row, tid)?;
        Ok(tid)
    }

    /// Replaces the row at `tid`. A concurrent change of the same row is an error, as in PostgreSQL.
    pub fn update(
        &self,
        writer: &Writer<'_>,
        shape: &SystemTable,
        tid: Tid,
        old: &[Datum],
        row: &[Datum],
    ) -> SqlResult<()> {
        match self.try_update(writer, shape, tid, old, row)? {
            None => Ok(()),
            Some(_) => Err(SqlError::internal("tuple concurrently updated")),
        }
    }

    /// The same; returns what is in the way, if anything is.
    pub fn try_update(
        &self,
        writer: &Writer<'_>,
        shape: &SystemTable,
        tid: Tid,
        old: &[Datum],
        row: &[Datum],
    ) -> SqlResult<Option<Refusal>> {
        let table = self.table(shape);
        let hot = table.shape.indexes.iter().all(|i| i.keys.iter().all(|&column| old[column] == row[column]));
        match heap::update(&self.access(), &table.heap, writer, tid, row, hot, false)
            .map_err(heap::HeapError::into_sql)?
        {
            UpdateOutcome::Updated { hot: true, .. } => {}
            UpdateOutcome::Updated { tid, .. } => self.enter(writer, table, row, tid)?,
            UpdateOutcome::Refused(refusal) => return Ok(Some(refusal)),
        }
        Ok(None)
    }

    /// Removes the row at `tid`.
    pub fn delete(&self, writer: &Writer<'_>, shape: &SystemTable, tid: Tid) -> SqlResult<()> {
        let table = self.table(shape);
        match heap::delete(&self.access(), &table.heap, writer, tid).map_err(heap::HeapError::into_sql)? {
            DeleteOutcome::Deleted => Ok(()),
            DeleteOutcome::Refused(_) => Err(SqlError::internal("tuple concurrently deleted")),
        }
    }

    fn enter(&self, writer: &Writer<'_>, table: &OpenTable, row: &[Datum], tid: Tid) -> SqlResult<()> {
        for index in &table.indexes {
            let key = index.key(row);
            loop {
                let liveness = RowLiveness { engine: &self.engine, heap: &table.heap, me: writer.me };
                let check = if index.shape.unique { UniqueCheck::Yes(&liveness) } else { UniqueCheck::No };
                let outcome =
                    btree::insert(&self.engine.index_access(writer.xid), &index.btree, &key, tid, check)
                        .map_err(|e| e.into_sql(index.shape.name, table.shape.name))?;
                match outcome {
                    InsertOutcome::Conflict { .. } => return Err(duplicate(index, table)),
                    InsertOutcome::WaitFor { xid, .. } => {
                        writer.me.wait_for(xid).map_err(SqlError::from)?;
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }
}

fn duplicate(index: &OpenIndex, table: &OpenTable) -> SqlError {
    base::sql_err!(
        UNIQUE_VIOLATION,
        "duplicate key value violates unique constraint \"{}\"",
        index.shape.name
    )
    .table("pg_catalog", table.shape.name)
    .constraint(index.shape.name)
}

fn open(engine: &Arc<Engine>, database: Oid, shape: &'static SystemTable) -> OpenTable {
    let kind = if shape.shared { RelKind::Shared } else { RelKind::Catalog };
    let heap = |number, layout, toast| {
        Arc::new(HeapRel::new(HeapDesc {
            file: catalog_file(database, shape.shared, number),
            layout: Arc::new(layout),
            fillfactor: 100,
            persistence: Persistence::Permanent,
            kind,
            toast,
        }))
    };
    let toast = shape.toast.is_valid().then(|| {
        let index = catalog_file(database, shape.shared, shape.toast_index);
        open_toast(engine, shape.toast, heap(shape.toast, toast_layout(), None), index)
    });
    let layout = RowLayout::new(shape.columns.iter().map(|c| c.ty.attr).collect());
    let indexes = shape.indexes.iter().map(|index| open_index(database, shape, index)).collect();
    OpenTable { shape, heap: heap(shape.oid, layout, toast), indexes }
}

fn open_index(database: Oid, table: &'static SystemTable, shape: &'static SystemIndex) -> OpenIndex {
    let types = || shape.keys.iter().map(|&column| table.columns[column].ty);
    let desc = BtreeDesc {
        file: catalog_file(database, table.shared, shape.oid),
        layout: Arc::new(RowLayout::new(types().map(|t| t.attr).collect())),
        keys: types().map(|t| KeyColumn::ascending(order_of(t))).collect(),
        unique: shape.unique,
        nulls_not_distinct: false,
        deduplicate: true,
        fillfactor: 90,
        persistence: Persistence::Permanent,
    };
    OpenIndex { shape, btree: Arc::new(BtreeRel::new(desc)) }
}

/// How keys of a catalog index compare: as through any other description of the same index.
fn order_of(ty: &ColumnType) -> Compare {
    crate::compare_of(ty.oid).unwrap_or_else(|_| panic!("keys of type {} have no order", ty.name))
}
