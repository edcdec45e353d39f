//! # What
//! The system catalogs of one database as open tables: descriptors of their heaps and indexes, scans by index, and changes
//! of rows with all indexes maintained.
//!
//! # Invariants
//! 1. The engine's maps say which file a catalog's relation has, and so the catalogs can be read before anything is known. The file changes when
//!    a transaction that wrote the catalog anew commits.
//! 2. Every row change enters the row's keys in all indexes of its table, unless the heap made a HOT version.
//! 3. When the record of such a commit is logged, nobody reads the old files any more, and nobody will: the catalog is closed from before
//!    until the commit can be seen (`OpenTables::close`, `OpenTables::reopen`). A reader loads the catalog after it took its snapshot,
//!    and keeps it ([`InUse`]) while it reads.
//! 4. Nobody else writes to a catalog that is being rewritten: writers hold ROW EXCLUSIVE ([`crate::Changer`]).
//!
//! # Locks
//! Readers take none. The longest that one waits is for the flush of the commit's record; the commit waits before it for reads that have
//! begun, which wait for nothing but pages.
//!
//! # PostgreSQL counterpart and differences
//! `catalog/indexing.c`, `genam.c`. There readers lock, and wait while a catalog is being rewritten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use base::{Oid, RelFile, SqlError, SqlResult, Tid, Xid};
use buffer::Persistence;
use engine::{DeadRows, Engine, OpenIndex, RowLiveness};
use heap::{
    DeleteOutcome, Fetched, HeapDesc, HeapRel, HeapScan, HeapTuple, InsertOptions, Refusal, UpdateOutcome,
    View, Writer,
};
use index::{
    Compare, Direction, IndexDesc, IndexError, InsertOutcome, KeyColumn, ScanKey, ScanKeys, ScanOp,
    UniqueCheck, Wants, strategy,
};
use rustc_hash::FxHashMap;
use tuple::{Datum, RowLayout};
use txn::RelKind;

use crate::row::Row;
use crate::system::{self, ColumnType, SystemIndex, SystemTable};
use crate::toast_index::{open_toast, open_toast_index, toast_layout};

/// OID of tablespace `pg_default`.
pub const PG_DEFAULT: Oid = Oid(1663);
/// OID of tablespace `pg_global`.
pub const PG_GLOBAL: Oid = Oid(1664);

/// Where a version of a row lay when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the catalog's file.
    file: u32,
    tid: Tid,
    /// Who wrote the version.
    pub inserter: Xid,
}

/// A system catalog, open.
pub struct OpenTable {
    engine: Arc<Engine>,
    /// Its shape.
    pub shape: &'static SystemTable,
    /// Its rows.
    pub heap: Arc<HeapRel>,
    /// Its indexes, in the order of the shape.
    pub indexes: Vec<CatalogIndex>,
    /// The index of its TOAST table, if it has one.
    pub toast_index: Option<OpenIndex>,
}

/// An index of a system catalog, open.
pub struct CatalogIndex {
    /// Its shape.
    pub shape: &'static SystemIndex,
    /// The tree.
    pub rel: OpenIndex,
}

impl CatalogIndex {
    /// The key of a row.
    pub fn key(&self, row: &[Datum]) -> Vec<Datum> {
        self.shape.keys.iter().map(|&column| row[column].clone()).collect()
    }
}

/// A catalog in use, whose files stay as long as this lives.
pub type InUse = Guard<Arc<OpenTable>>;

/// What is open of a catalog.
struct Slot {
    table: ArcSwap<OpenTable>,
    /// The commit that puts in another is under way.
    closed: AtomicBool,
}

impl Slot {
    /// How long a waiter sleeps between two looks.
    const NAP: Duration = Duration::from_millis(1);

    fn new(table: OpenTable) -> Slot {
        Slot { table: ArcSwap::from_pointee(table), closed: AtomicBool::new(false) }
    }

    fn load(&self) -> InUse {
        loop {
            let table = self.table.load();
            // After the load: who got a table that was put in since the slot was closed sees that.
            if !self.closed.load(Ordering::SeqCst) {
                return table;
            }
            drop(table);
            runtime::waiting(runtime::WaitEvent::RelationMapping, || {
                runtime::wait(runtime::sleep(Slot::NAP))
            });
        }
    }

    fn close(&self, next: Arc<OpenTable>) {
        self.closed.store(true, Ordering::SeqCst);
        let old = self.table.swap(next);
        while Arc::strong_count(&old) > 1 {
            runtime::waiting(runtime::WaitEvent::RelationMapping, || {
                runtime::wait(runtime::sleep(Slot::NAP))
            });
        }
    }
}

/// Catalogs by OID.
type Slots = FxHashMap<Oid, Slot>;

/// The catalogs that all databases of a cluster share.
pub struct SharedTables(Slots);

impl SharedTables {
    /// Describes them. No I/O.
    pub fn new(engine: &Arc<Engine>) -> SharedTables {
        SharedTables(open_all(engine, Oid::INVALID, true))
    }

    /// Other files are theirs now. Returns when nobody uses what was open till now.
    pub(crate) fn reload(&self, engine: &Arc<Engine>) {
        reload(&self.0, open_all(engine, Oid::INVALID, true));
    }
}

/// All system catalogs of one database.
pub struct OpenTables {
    engine: Arc<Engine>,
    database: Oid,
    own: Slots,
    shared: Arc<SharedTables>,
}

/// The files of a catalog, one of its indexes or its TOAST table.
fn catalog_file(engine: &Engine, database: Oid, shared: bool, number: u32) -> RelFile {
    if shared {
        RelFile { tablespace: PG_GLOBAL, database: Oid::INVALID, number }
    } else {
        RelFile { tablespace: engine.home_of_database(database), database, number }
    }
}

impl OpenTables {
    /// Describes the catalogs of `database`, beside the shared ones. No I/O.
    pub fn new(engine: &Arc<Engine>, database: Oid, shared: Arc<SharedTables>) -> OpenTables {
        OpenTables { engine: engine.clone(), database, own: open_all(engine, database, false), shared }
    }

    /// Other files are theirs now, but for the shared ones. Returns when nobody uses what was open till now.
    pub(crate) fn reload(&self) {
        reload(&self.own, open_all(&self.engine, self.database, false));
    }

    /// The storage they lie in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    fn slot(&self, shape: &SystemTable) -> &Slot {
        let slots = if shape.shared { &self.shared.0 } else { &self.own };
        &slots[&shape.oid]
    }

    /// Where a relation of a catalog lies, as committed transactions left it.
    pub(crate) fn mapped_file(&self, shape: &SystemTable, relation: Oid) -> RelFile {
        let database = if shape.shared { Oid::INVALID } else { self.database };
        catalog_file(&self.engine, database, shape.shared, self.engine.mapped_file(database, relation))
    }

    /// One catalog, as committed transactions left it.
    pub fn table(&self, shape: &SystemTable) -> InUse {
        self.slot(shape).load()
    }

    /// The transaction that wrote a catalog anew is about to commit: from now on everybody else waits who wants it. Returns when nobody uses
    /// what was open till now.
    pub(crate) fn close(&self, next: Arc<OpenTable>) {
        self.slot(next.shape).close(next);
    }

    /// The transaction committed: from now on all sessions use the new files.
    pub(crate) fn reopen(&self, shape: &SystemTable) {
        self.slot(shape).closed.store(false, Ordering::SeqCst);
    }
}

impl OpenTable {
    /// The file of one of its relations: itself, its TOAST table, an index of either.
    pub(crate) fn file(&self, relation: Oid) -> RelFile {
        let toast = || self.heap.desc.toast.as_ref().filter(|toast| toast.oid == relation);
        match self.index(relation) {
            Some(index) => index.desc().file,
            None => toast().map_or(self.heap.desc.file, |toast| toast.rel.desc.file),
        }
    }

    /// The tree of an index, or of the TOAST table's.
    pub fn index(&self, relation: Oid) -> Option<&OpenIndex> {
        match &self.toast_index {
            Some(index) if relation == self.shape.toast_index => Some(index),
            _ => self.indexes.iter().find(|index| index.shape.oid == relation).map(|index| &index.rel),
        }
    }

    /// The same catalog, but for some relations with other files.
    pub(crate) fn with_files(&self, files: &FxHashMap<Oid, u32>) -> OpenTable {
        let file = |relation| {
            let now = self.file(relation);
            RelFile { number: files.get(&relation).copied().unwrap_or(now.number), ..now }
        };
        open(&self.engine, self.shape, &file)
    }

    fn access(&self) -> heap::Access<'_> {
        self.engine.heap_access()
    }

    /// Visible rows whose index key begins with `key`, in index order.
    pub fn find(&self, view: &View<'_>, index: Oid, key: &[Datum]) -> SqlResult<Vec<(Place, Row)>> {
        let keys = key
            .iter()
            .enumerate()
            .map(|(column, value)| ScanKey { column, op: ScanOp::Strategy(strategy::EQUAL, value.clone()) })
            .collect();
        let mut rows = Vec::new();
        self.visit(view, index, ScanKeys { keys, direction: Direction::Forward }, |place, row| {
            rows.push((place, row));
            Ok(true)
        })?;
        Ok(rows)
    }

    /// Calls `each` with the visible rows that an index finds, in its order, until it has enough.
    pub(crate) fn visit(
        &self,
        view: &View<'_>,
        index: Oid,
        keys: ScanKeys,
        mut each: impl FnMut(Place, Row) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let open = self.indexes.iter().find(|i| i.shape.oid == index).expect("an index of this catalog");
        let mut scan = open.rel.scan(keys, Wants::TIDS);
        let mut tuple = HeapTuple::new();
        let index_access = self.engine.index_access(Xid::INVALID);
        let named = |e: IndexError| e.into_sql(open.shape.name, self.shape.name);
        while let Some(tid) = scan.next(&index_access).map_err(named)? {
            match heap::fetch(&self.access(), &self.heap, view, tid, &mut tuple)
                .map_err(heap::HeapError::into_sql)?
            {
                Fetched::Visible => {
                    let found =
                        tuple.get().ok_or_else(|| SqlError::internal("a fetched catalog row is empty"))?;
                    if !each(self.place(&found), self.decode(&found)?)? {
                        break;
                    }
                }
                Fetched::AllDead => scan.kill_current(),
                Fetched::Invisible => {}
            }
        }
        scan.finish(&index_access);
        Ok(())
    }

    /// All visible rows.
    pub fn scan(&self, view: &View<'_>) -> SqlResult<Vec<(Place, Row)>> {
        let mut scan =
            HeapScan::new(&self.access(), self.heap.clone(), None).map_err(heap::HeapError::into_sql)?;
        let mut rows = Vec::new();
        while let Some(found) = scan.next(&self.access(), view).map_err(heap::HeapError::into_sql)? {
            rows.push((self.place(&found), self.decode(&found)?));
        }
        Ok(rows)
    }

    fn place(&self, found: &heap::TupleRef<'_>) -> Place {
        Place { file: self.heap.desc.file.number, tid: found.tid, inserter: found.xmin() }
    }

    /// Columns of a row, large values fetched.
    fn decode(&self, found: &heap::TupleRef<'_>) -> SqlResult<Row> {
        let desc = &self.heap.desc;
        let mut row = Row::with_capacity(desc.layout.len());
        found
            .decode(&desc.layout, desc.layout.len(), &mut row)
            .map_err(|_| SqlError::internal(format!("corrupt row in catalog \"{}\"", self.shape.name)))?;
        for value in row.iter_mut().filter(|v| matches!(v, Datum::Toasted(_))) {
            *value = heap::detoast(&self.access(), desc.toast.as_ref(), value)
                .map_err(heap::HeapError::into_sql)?;
        }
        Ok(row)
    }

    /// The current place of a row that was read as `old`; `None` if it is gone.
    fn locate(&self, writer: &Writer<'_>, place: Place, old: &[Datum]) -> SqlResult<Option<Tid>> {
        if place.file == self.heap.desc.file.number {
            return Ok(Some(place.tid));
        }
        // Written anew since.
        let snapshot = self.engine.txns().snapshot();
        let view = View { snapshot: &snapshot, curcid: writer.cid, me: writer.me, combo: writer.combo };
        let rows = match self.indexes.first() {
            Some(index) => self.find(&view, index.shape.oid, &index.key(old))?,
            None => self.scan(&view)?,
        };
        Ok(rows.into_iter().find(|(_, row)| row == old).map(|(place, _)| place.tid))
    }

    /// Enters a row.
    pub fn insert(&self, writer: &Writer<'_>, row: &[Datum]) -> SqlResult<()> {
        let tid = heap::insert(&self.access(), &self.heap, writer, row, InsertOptions::default())
            .map_err(heap::HeapError::into_sql)?;
        self.enter(writer, row, tid)
    }

    /// Replaces a row; returns what is in the way, if anything is.
    pub fn update(
        &self,
        writer: &Writer<'_>,
        place: Place,
        old: &[Datum],
        row: &[Datum],
    ) -> SqlResult<Option<Refusal>> {
        let Some(tid) = self.locate(writer, place, old)? else {
            return Err(concurrently("updated"));
        };
        let hot = self.shape.indexes.iter().all(|i| i.keys.iter().all(|&column| old[column] == row[column]));
        match heap::update(&self.access(), &self.heap, writer, tid, row, hot, false)
            .map_err(heap::HeapError::into_sql)?
        {
            UpdateOutcome::Updated { hot: true, .. } => {}
            UpdateOutcome::Updated { tid, .. } => self.enter(writer, row, tid)?,
            UpdateOutcome::Refused(refusal) => return Ok(Some(refusal)),
        }
        Ok(None)
    }

    /// Overwrites columns of a row in place; `edit` says whether it changed any. Returns who is in the way, if somebody is. The caller found
    /// the row with its lock held.
    pub(crate) fn overwrite(
        &self,
        place: Place,
        edit: impl FnOnce(&mut [Datum]) -> bool,
    ) -> SqlResult<Option<Xid>> {
        debug_assert_eq!(place.file, self.heap.desc.file.number, "the catalog was written anew meanwhile");
        heap::update_in_place(&self.access(), &self.heap, place.tid, edit).map_err(heap::HeapError::into_sql)
    }

    /// Removes a row; returns the transaction that prevents it, if one does.
    pub fn delete(&self, writer: &Writer<'_>, place: Place, old: &[Datum]) -> SqlResult<Option<Refusal>> {
        let tid = self.locate(writer, place, old)?.ok_or_else(|| concurrently("deleted"))?;
        let outcome =
            heap::delete(&self.access(), &self.heap, writer, tid).map_err(heap::HeapError::into_sql)?;
        Ok(match outcome {
            DeleteOutcome::Deleted => None,
            DeleteOutcome::Refused(refusal) => Some(refusal),
        })
    }

    fn enter(&self, writer: &Writer<'_>, row: &[Datum], tid: Tid) -> SqlResult<()> {
        for index in &self.indexes {
            let key = index.key(row);
            loop {
                let liveness = RowLiveness { engine: &self.engine, heap: &self.heap, me: writer.me };
                let check = if index.shape.unique { UniqueCheck::Yes(&liveness) } else { UniqueCheck::No };
                let rows = DeadRows { access: self.access(), heap: &self.heap };
                let access = self.engine.index_access(writer.xid);
                let outcome = index
                    .rel
                    .insert(&access, &key, tid, check, &rows)
                    .map_err(|e| e.into_sql(index.shape.name, self.shape.name))?;
                match outcome {
                    InsertOutcome::Conflict { .. } => return Err(duplicate(index, self)),
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

/// Another transaction has done that to a row which this one is to change.
pub(crate) fn concurrently(done: &str) -> SqlError {
    SqlError::internal(format!("tuple concurrently {done}"))
}

fn duplicate(index: &CatalogIndex, table: &OpenTable) -> SqlError {
    base::sql_err!(
        UNIQUE_VIOLATION,
        "duplicate key value violates unique constraint \"{}\"",
        index.shape.name
    )
    .table("pg_catalog", table.shape.name)
    .constraint(index.shape.name)
}

/// The shared catalogs, or those of a database.
/// Puts in what was opened anew.
fn reload(slots: &Slots, anew: Slots) {
    for (oid, slot) in anew {
        if let Some(open) = slots.get(&oid) {
            open.close(slot.table.load_full());
            open.closed.store(false, Ordering::SeqCst);
        }
    }
}

fn open_all(engine: &Arc<Engine>, database: Oid, shared: bool) -> Slots {
    let file = |relation| catalog_file(engine, database, shared, engine.mapped_file(database, relation));
    let tables = system::tables().filter(|shape| shape.shared == shared);
    tables.map(|shape| (shape.oid, Slot::new(open(engine, shape, &file)))).collect()
}

/// Describes a catalog whose relations have these files.
fn open(engine: &Arc<Engine>, shape: &'static SystemTable, file: &dyn Fn(Oid) -> RelFile) -> OpenTable {
    let kind = if shape.shared { RelKind::Shared } else { RelKind::Catalog };
    let heap = |relation, layout, toast| {
        Arc::new(HeapRel::new(HeapDesc {
            file: file(relation),
            layout: Arc::new(layout),
            fillfactor: 100,
            persistence: Persistence::Permanent,
            kind,
            toast,
            logged: None,
        }))
    };
    let toast_index =
        shape.toast.is_valid().then(|| open_toast_index(file(shape.toast_index), Persistence::Permanent));
    let toast = toast_index.clone().map(|index| {
        open_toast(engine, shape.toast, heap(shape.toast, toast_layout(), None), (index, Vec::new()))
    });
    let layout = RowLayout::new(shape.columns.iter().map(|c| c.ty.attr).collect());
    let indexes = shape.indexes.iter().map(|index| open_index(file(index.oid), shape, index)).collect();
    OpenTable { engine: engine.clone(), shape, heap: heap(shape.oid, layout, toast), indexes, toast_index }
}

fn open_index(file: RelFile, table: &'static SystemTable, shape: &'static SystemIndex) -> CatalogIndex {
    let types = || shape.keys.iter().map(|&column| table.columns[column].ty);
    let desc = IndexDesc {
        file,
        layout: Arc::new(RowLayout::new(types().map(|t| t.attr).collect())),
        keys: types().map(|t| KeyColumn::ascending(order_of(t))).collect(),
        unique: shape.unique,
        nulls_not_distinct: false,
        equal_image: true,
        options: Vec::new(),
        trees: Vec::new(),
        hashes: Vec::new(),
        parts: Vec::new(),
        spaces: Vec::new(),
        summaries: Vec::new(),
        persistence: Persistence::Permanent,
    };
    CatalogIndex { shape, rel: OpenIndex::open_default(desc) }
}

/// How keys of a catalog index compare: as through any other description of the same index.
fn order_of(ty: &ColumnType) -> Compare {
    crate::compare_of(ty.oid).unwrap_or_else(|_| panic!("keys of type {} have no order", ty.name))
}
