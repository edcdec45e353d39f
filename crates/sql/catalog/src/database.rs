//! # What
//! The catalogs of one database as its sessions share them ([`Catalog`]), what each session adds ([`SessionCatalog`]), and
//! both together as a statement reads them ([`Reader`]).
//!
//! # Invariants
//! 1. A reader whose transaction changed no catalog asks the shared cache; one whose transaction did asks the session's
//!    overlay, filled under its own view, so that it alone sees its changes.
//! 2. The overlay is emptied at every catalog change of the session, at every end of a (sub)transaction that changed
//!    catalogs, and never outlives the transaction. It is emptied too when it is asked after a change of another session was committed:
//!    what a session finds once it has a lock is as the one before it left it.
//!
//! # PostgreSQL counterpart
//! `namespace.c`, `syscache.c`, `relcache.c`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock, Weak};

use base::{CommandId, Oid, RelFile, SqlError, SqlResult, SqlState};
use engine::Engine;
use heap::{ComboCids, View};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::{LockTag, Transaction};

use crate::cache::{Entries, SharedCache, Stale};
use crate::row::{Row, RowExt};
use crate::system::{SystemTable, catalog_of, pg_class, pg_database, pg_index, pg_namespace};
use crate::tables::{InUse, OpenTable, OpenTables, Place, SharedTables};
use crate::validity::Validity;

/// Schema `pg_catalog`.
pub const PG_CATALOG: Oid = Oid(11);
/// Schema `pg_toast`.
pub const PG_TOAST: Oid = Oid(99);
/// Schema `public`.
pub const PUBLIC: Oid = Oid(2200);

/// What stands for a database among heavyweight locks: shared by who enters it or copies it, exclusive for who removes or renames it.
pub fn database_lock(database: Oid) -> LockTag {
    LockTag::Object { database: Oid::INVALID, class: pg_database::TABLE.oid, object: database, sub: 0 }
}

/// The databases whose catalogs are open: a change of what they share reaches all of them.
#[derive(Default)]
pub struct Cluster {
    open: Mutex<FxHashMap<Oid, Arc<Catalog>>>,
    shared: OnceLock<Arc<SharedTables>>,
}

impl Cluster {
    /// The catalogs of a database. No I/O.
    pub fn catalog(self: &Arc<Cluster>, engine: &Arc<Engine>, database: Oid, name: &str) -> Arc<Catalog> {
        let shared = self.shared.get_or_init(|| Arc::new(SharedTables::new(engine)));
        let make = || Catalog::in_cluster(engine, (database, name), shared.clone(), Arc::downgrade(self));
        self.open.lock().entry(database).or_insert_with(make).clone()
    }

    /// The shared catalogs, for a session without a database. No I/O.
    pub fn shared_catalog(self: &Arc<Cluster>, engine: &Arc<Engine>) -> Arc<Catalog> {
        self.catalog(engine, Oid::INVALID, "")
    }

    /// A database was removed or renamed while it had no sessions: the next session of a database with this OID opens its catalogs anew.
    pub fn forget(&self, database: Oid) {
        let _gone = self.open.lock().remove(&database);
    }

    /// What commits that are replayed change leaves the caches, and catalogs that were written anew are opened anew.
    pub fn follow(self: &Arc<Cluster>, engine: &Arc<Engine>) {
        let cluster = Arc::downgrade(self);
        engine.txns().on_replayed_commit(move |mapped, invalidations| {
            let Some(cluster) = cluster.upgrade() else { return };
            let all = cluster.all();
            for catalog in &all {
                if mapped.iter().any(|file| file.database == catalog.database) {
                    catalog.tables.reload();
                }
                // Of relation 0: the database has moved, and all its files with it.
                let has_moved =
                    |file: &txn::MappedFile| file.database == catalog.database && !file.relation.is_valid();
                if mapped.iter().any(has_moved) {
                    catalog.cache.remove_all();
                }
            }
            if let Some(shared) = cluster.shared.get()
                && let Some(any) = all.first()
                && mapped.iter().any(|file| !file.database.is_valid())
            {
                shared.reload(any.engine());
            }
            match Stale::decode_all(invalidations) {
                // Of which database they are is not known, and too much may be forgotten.
                Some(stale) => all.iter().for_each(|catalog| catalog.cache.remove(&stale)),
                None => all.iter().for_each(|catalog| catalog.cache.remove_all()),
            }
        });
    }

    fn all(&self) -> Vec<Arc<Catalog>> {
        self.open.lock().values().cloned().collect()
    }
}

/// One database's catalogs.
pub struct Catalog {
    database: Oid,
    name: String,
    tables: OpenTables,
    cache: SharedCache,
    cluster: Weak<Cluster>,
}

impl Catalog {
    /// The catalogs of database `database`, beside no others. No I/O.
    pub fn new(engine: &Arc<Engine>, database: Oid, name: &str) -> Arc<Catalog> {
        let shared = Arc::new(SharedTables::new(engine));
        Catalog::in_cluster(engine, (database, name), shared, Weak::new())
    }

    fn in_cluster(
        engine: &Arc<Engine>,
        (database, name): (Oid, &str),
        shared: Arc<SharedTables>,
        cluster: Weak<Cluster>,
    ) -> Arc<Catalog> {
        Arc::new(Catalog {
            database,
            name: name.to_owned(),
            tables: OpenTables::new(engine, database, shared),
            cache: SharedCache::default(),
            cluster,
        })
    }

    /// OID of the database.
    pub fn database(&self) -> Oid {
        self.database
    }

    /// What stands for a relation among heavyweight locks: shared catalogs and their parts are locked across databases.
    pub fn lock_tag(&self, relation: Oid) -> LockTag {
        let shared = catalog_of(relation).is_some_and(|catalog| catalog.shared);
        LockTag::Relation { database: if shared { Oid::INVALID } else { self.database }, relation }
    }

    /// Lock of an object that is no relation.
    pub(crate) fn object_tag(&self, class: Oid, object: Oid) -> LockTag {
        let shared = catalog_of(class).is_some_and(|catalog| catalog.shared);
        LockTag::Object { database: if shared { Oid::INVALID } else { self.database }, class, object, sub: 0 }
    }

    /// Name of the database.
    pub fn database_name(&self) -> &str {
        &self.name
    }

    /// The storage it lies in.
    pub fn engine(&self) -> &Arc<Engine> {
        self.tables.engine()
    }

    /// The database's own tablespace: where its catalogs are, and all relations whose `reltablespace` is 0.
    pub fn tablespace(&self) -> Oid {
        self.engine().home_of_database(self.database())
    }

    /// The system catalogs as tables.
    pub fn tables(&self) -> &OpenTables {
        &self.tables
    }

    /// Flag that goes down when a role, a membership, or the name or rights of a schema change. To be read before names are
    /// looked up.
    pub fn authority(&self) -> Validity {
        self.cache.with(|entries| entries.authority.clone())
    }

    /// Takes what a committed transaction made stale out of the shared caches.
    pub(crate) fn forget(&self, stale: &[Stale]) {
        self.cache.remove(stale);
        let of_all = |stale: &&Stale| match stale {
            Stale::Authority => true,
            Stale::Relation(catalog) | Stale::Catalog(catalog) => {
                catalog_of(*catalog).is_some_and(|catalog| catalog.shared)
            }
            _ => false,
        };
        let everywhere: Vec<Stale> = stale.iter().filter(of_all).cloned().collect();
        if everywhere.is_empty() {
            return;
        }
        for other in self.others() {
            other.cache.remove(&everywhere);
        }
    }

    /// The other databases of the cluster that are open.
    fn others(&self) -> Vec<Arc<Catalog>> {
        let all = self.cluster.upgrade().map(|cluster| cluster.all()).unwrap_or_default();
        all.into_iter().filter(|other| other.database != self.database).collect()
    }

    /// Counts the changes of definitions that were committed. Who reads it before he looks something up, and again when he has locked what he found,
    /// knows whether it is so still.
    pub fn generation(&self) -> u64 {
        self.cache.generation()
    }

    /// Flag that goes down when a type, function, operator or cast of a user changes. To be read before them.
    pub fn definitions(&self) -> crate::Validity {
        self.cache.with(|entries| entries.definitions.clone())
    }

    /// A prepared transaction of this database commits: what it changed leaves the shared cache. `invalidations` are the bytes
    /// that its changes left with it ([`Transaction::invalidate_at_commit_prepared`]); should they be unknown, everything goes.
    pub fn forget_prepared(&self, invalidations: &[u8]) {
        match Stale::decode_all(invalidations) {
            Some(stale) if stale.is_empty() => {}
            Some(stale) => self.forget(&stale),
            None => {
                self.cache.remove_all();
                self.others().iter().for_each(|other| other.cache.remove_all());
            }
        }
    }
}

/// What one session adds: who it is, where it looks for names, what its transaction changed.
///
/// In the order of its fields in memory: what every statement looks at comes first.
#[repr(C)]
pub struct SessionCatalog {
    /// Current user.
    user: Cell<Oid>,
    /// User of the session: who logged in, unless SET SESSION AUTHORIZATION said otherwise.
    session_user: Cell<Oid>,
    /// Its temporary schema, once it has one.
    temporary: Cell<Oid>,
    /// Changes of the running transaction that may be committed: overlay in use.
    changes: Cell<usize>,
    /// Number of changes so far, so that what was read through the overlay can be told to be stale.
    version: Cell<u64>,
    /// Relations and functions that ended transactions and subtransactions have dropped, or made and rolled back, since this was last asked.
    gone: RefCell<Vec<Oid>>,
    /// `search_path` as set, quotes resolved.
    path: RefCell<Vec<String>>,
    /// `path` as OIDs, valid while the generation of the shared cache is the one noted and nothing was changed.
    resolved: RefCell<Option<(u64, Rc<[Oid]>)>>,
    overlay: RefCell<Entries>,
    /// Generation of the shared cache that the overlay was begun at.
    overlay_since: Cell<u64>,
    /// The extension that what comes about is a member of; 0: none.
    members_of: Cell<Oid>,
    /// Catalogs that the running transaction wrote anew, complete: it alone uses them until it commits.
    rewritten: RefCell<FxHashMap<Oid, Arc<OpenTable>>>,
    /// Rows written since this was last asked.
    written: RefCell<Vec<Written>>,
}

/// Rows of a catalog that were written at a depth of subtransactions.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The catalog.
    pub catalog: Oid,
    /// Depth of subtransactions.
    pub depth: u32,
    /// Rows inserted, updated and deleted.
    pub rows: [u32; 3],
}

impl SessionCatalog {
    /// A session of `user`.
    pub fn new(user: Oid) -> SessionCatalog {
        SessionCatalog {
            user: Cell::new(user),
            session_user: Cell::new(user),
            path: RefCell::new(vec!["$user".into(), "public".into()]),
            temporary: Cell::new(Oid::INVALID),
            resolved: RefCell::new(None),
            changes: Cell::new(0),
            version: Cell::new(0),
            overlay: RefCell::new(Entries::default()),
            overlay_since: Cell::new(0),
            members_of: Cell::new(Oid::INVALID),
            rewritten: RefCell::default(),
            written: RefCell::default(),
            gone: RefCell::default(),
        }
    }

    /// The relations and functions that are gone since this was last asked: dropped with a commit, or made and rolled back.
    #[inline]
    pub fn take_gone(&self) -> Vec<Oid> {
        self.gone.take()
    }

    /// The rows written since this was last asked.
    #[inline]
    pub fn take_written(&self) -> Vec<Written> {
        self.written.take()
    }

    /// A row was written; of [`Written::rows`] the one with this number grows.
    pub(crate) fn note_written(&self, catalog: Oid, depth: u32, number: usize) {
        let mut written = self.written.borrow_mut();
        let known = written.iter_mut().rfind(|known| known.catalog == catalog && known.depth == depth);
        match known {
            Some(known) => known.rows[number] += 1,
            None => {
                let mut rows = [0; 3];
                rows[number] = 1;
                written.push(Written { catalog, depth, rows });
            }
        }
    }

    /// A relation or function is gone.
    pub(crate) fn note_gone(&self, object: Oid) {
        self.gone.borrow_mut().push(object);
    }

    /// Current user.
    pub fn user(&self) -> Oid {
        self.user.get()
    }

    /// User of the session.
    pub fn session_user(&self) -> Oid {
        self.session_user.get()
    }

    /// SET ROLE; also while a function runs with its owner's rights.
    pub fn set_user(&self, user: Oid) {
        self.user.set(user);
        self.forget_path();
    }

    /// SET SESSION AUTHORIZATION.
    pub fn set_session_user(&self, user: Oid) {
        self.session_user.set(user);
    }

    /// SET search_path: the names in order.
    pub fn set_search_path(&self, path: Vec<String>) {
        *self.path.borrow_mut() = path;
        self.forget_path();
    }

    /// The extension that what comes about is a member of.
    pub(crate) fn members_of(&self) -> Option<Oid> {
        Some(self.members_of.get()).filter(|oid| oid.is_valid())
    }

    /// Whether what comes about is a member of an extension.
    pub fn is_making_extension(&self) -> bool {
        self.members_of().is_some()
    }

    /// Has everything that comes about be a member of this extension, until told otherwise. Returns what was said before.
    pub fn make_members_of(&self, extension: Oid) -> Oid {
        self.members_of.replace(extension)
    }

    /// The temporary schema, if this session made one.
    pub fn temporary_schema(&self) -> Option<Oid> {
        Some(self.temporary.get()).filter(|oid| oid.is_valid())
    }

    /// Notes the temporary schema.
    pub fn set_temporary_schema(&self, schema: Oid) {
        self.temporary.set(schema);
        self.forget_path();
    }

    fn forget_path(&self) {
        *self.resolved.borrow_mut() = None;
    }

    /// 0 while the running transaction changed no catalog; otherwise a number that the next change makes another, be it the transaction's own or one
    /// that others commit.
    pub fn changes_version(&self, catalog: &Catalog) -> u64 {
        if !self.has_changes() {
            return 0;
        }
        self.keep_up(catalog);
        self.version.get()
    }

    /// As [`Self::changes_version`], but once there is a temporary schema it is another number after each change, ended transactions' too: a
    /// new temporary relation hides others of its name.
    pub fn names_version(&self, catalog: &Catalog) -> u64 {
        let changes = self.changes_version(catalog);
        if self.temporary_schema().is_some() { self.version.get() } else { changes }
    }

    fn has_changes(&self) -> bool {
        self.changes.get() > 0
    }

    pub(crate) fn forget_overlay(&self) {
        self.version.set(self.version.get() + 1);
        *self.overlay.borrow_mut() = Entries::default();
        self.forget_path();
    }

    /// Empties the overlay if others have committed a change since it was begun. Returns the generation of the shared cache that it is of now.
    fn keep_up(&self, catalog: &Catalog) -> u64 {
        let generation = catalog.cache.generation();
        if self.overlay_since.replace(generation) != generation {
            self.forget_overlay();
        }
        generation
    }

    /// So many changes of the running transaction have begun, or (negative) ended.
    fn count_changes(&self, by: isize) {
        self.changes.set(self.changes.get().saturating_add_signed(by));
    }

    /// A catalog, as this session is to read and write it.
    pub(crate) fn table(&self, tables: &OpenTables, shape: &SystemTable) -> InUse {
        let own = self.rewritten(shape);
        own.map_or_else(|| tables.table(shape), InUse::from_inner)
    }

    /// A catalog that the running transaction wrote anew.
    pub(crate) fn rewritten(&self, shape: &SystemTable) -> Option<Arc<OpenTable>> {
        self.rewritten.borrow().get(&shape.oid).cloned()
    }

    /// The running transaction uses this instead of what is open of the catalog, or no longer.
    pub(crate) fn set_rewritten(&self, shape: &SystemTable, table: Option<Arc<OpenTable>>) {
        let mut rewritten = self.rewritten.borrow_mut();
        match table {
            Some(table) => rewritten.insert(shape.oid, table),
            None => rewritten.remove(&shape.oid),
        };
    }

    /// Where a relation of a catalog lies, as this session is to see it.
    pub(crate) fn catalog_file(&self, catalog: &Catalog, shape: &SystemTable, relation: Oid) -> RelFile {
        match self.rewritten(shape) {
            Some(table) => table.file(relation),
            None => catalog.tables.mapped_file(shape, relation),
        }
    }
}

/// The catalog as one statement of one session reads it.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// What sessions share.
    pub catalog: &'a Catalog,
    /// What this one adds.
    pub session: &'a SessionCatalog,
    /// Its transaction.
    pub me: &'a Transaction,
    /// That one's combo command ids.
    pub combo: &'a ComboCids,
}

impl Reader<'_> {
    /// Visible rows of a catalog whose index key begins with `key`, as of now.
    pub fn find(&self, shape: &SystemTable, index: Oid, key: &[Datum]) -> SqlResult<Vec<(Place, Row)>> {
        let snapshot = self.catalog.engine().txns().snapshot();
        self.table(shape).find(&self.view(&snapshot), index, key)
    }

    /// Calls `each` with the visible rows of a catalog that an index finds for these keys, as of a snapshot or now, until it has enough.
    pub(crate) fn visit(
        &self,
        shape: &SystemTable,
        index: Oid,
        (keys, direction): (Vec<index::ScanKey>, index::Direction),
        snapshot: Option<&txn::Snapshot>,
        each: impl FnMut(Place, Row) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let now = snapshot.is_none().then(|| self.catalog.engine().txns().snapshot());
        let Some(snapshot) = snapshot.or(now.as_ref()) else { return Ok(()) };
        self.table(shape).visit(&self.view(snapshot), index, index::ScanKeys { keys, direction }, each)
    }

    /// Whether there is a row with this key, entered by the running command perhaps.
    pub(crate) fn is_there(&self, shape: &SystemTable, index: Oid, key: &[Datum]) -> SqlResult<bool> {
        let snapshot = self.catalog.engine().txns().snapshot();
        let view = View { curcid: CommandId(u32::MAX), ..self.view(&snapshot) };
        Ok(!self.table(shape).find(&view, index, key)?.is_empty())
    }

    /// The one visible row with this key.
    pub fn find_one(
        &self,
        shape: &SystemTable,
        index: Oid,
        key: &[Datum],
    ) -> SqlResult<Option<(Place, Row)>> {
        Ok(self.find(shape, index, key)?.into_iter().next())
    }

    /// All visible rows of a catalog, as of now.
    pub fn scan(&self, shape: &SystemTable) -> SqlResult<Vec<(Place, Row)>> {
        let snapshot = self.catalog.engine().txns().snapshot();
        self.table(shape).scan(&self.view(&snapshot))
    }

    /// What `pg_index` says of an index.
    pub fn index_row(&self, index: Oid) -> SqlResult<Option<Row>> {
        let found = self.find_one(&pg_index::TABLE, pg_index::PG_INDEX_INDEXRELID_INDEX, &[index.into()])?;
        Ok(found.map(|(_, row)| row))
    }

    /// The table that a relation is the TOAST table of, if it is one.
    pub fn toast_owner(&self, relation: Oid) -> SqlResult<Option<Oid>> {
        let class = self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()])?;
        if class.is_none_or(|(_, row)| row.char(pg_class::RELKIND) != b't') {
            return Ok(None);
        }
        let tables = self.scan(&pg_class::TABLE)?;
        let owner = tables.iter().find(|(_, row)| row.oid(pg_class::RELTOASTRELID) == relation);
        Ok(owner.map(|(_, row)| row.oid(pg_class::OID)))
    }

    /// A catalog to read. To be asked for once the snapshot is there: who committed before that wrote to what this gives.
    pub(crate) fn table(&self, shape: &SystemTable) -> InUse {
        self.session.table(&self.catalog.tables, shape)
    }

    fn view<'s>(&'s self, snapshot: &'s txn::Snapshot) -> View<'s> {
        View { snapshot, curcid: self.me.current_command(), me: self.me, combo: self.combo }
    }

    /// The cached value, or what `load` reads, which is then cached.
    pub(crate) fn cached<T: Clone>(
        &self,
        get: impl Fn(&Entries) -> Option<T>,
        load: impl Fn() -> SqlResult<T>,
        put: impl Fn(&mut Entries, T),
    ) -> SqlResult<T> {
        self.cached_or_doubted(get, load, put, |_| {})
    }

    /// The same. A value that was read while others changed something, each time it was tried, is not cached but `doubted`: a change of it
    /// may have been missed, and nobody would take its flag down.
    pub(crate) fn cached_or_doubted<T: Clone>(
        &self,
        get: impl Fn(&Entries) -> Option<T>,
        load: impl Fn() -> SqlResult<T>,
        put: impl Fn(&mut Entries, T),
        doubted: impl FnOnce(&T),
    ) -> SqlResult<T> {
        const TRIES: usize = 4;
        for _ in 1..TRIES {
            if let (value, true) = self.cached_once(&get, &load, &put)? {
                return Ok(value);
            }
        }
        let (value, certain) = self.cached_once(&get, &load, &put)?;
        if !certain {
            doubted(&value);
        }
        Ok(value)
    }

    /// One try: the value, and whether it was cached, or is now.
    fn cached_once<T: Clone>(
        &self,
        get: impl Fn(&Entries) -> Option<T>,
        load: impl Fn() -> SqlResult<T>,
        put: impl Fn(&mut Entries, T),
    ) -> SqlResult<(T, bool)> {
        let (session, shared) = (self.session, &self.catalog.cache);
        if session.has_changes() {
            let since = session.keep_up(self.catalog);
            if let Some(found) = get(&session.overlay.borrow()) {
                return Ok((found, true));
            }
            let value = self.load_whole(load)?;
            let certain = session.keep_up(self.catalog) == since;
            if certain {
                put(&mut session.overlay.borrow_mut(), value.clone());
            }
            return Ok((value, certain));
        }
        if let Some(found) = shared.with(&get) {
            return Ok((found, true));
        }
        let generation = shared.generation();
        let value = self.load_whole(load)?;
        // Another reader may have been faster: all are to have the same flag.
        let filled = shared.fill(generation, |entries| {
            get(entries).unwrap_or_else(|| {
                put(entries, value.clone());
                value.clone()
            })
        });
        Ok(filled.map_or((value, false), |value| (value, true)))
    }

    /// What `load` reads. Each of its look-ups has a snapshot of its own: what does not fit together may come of a commit between two of them, and
    /// is an error only if there was none, or if it happens time and again.
    fn load_whole<T>(&self, load: impl Fn() -> SqlResult<T>) -> SqlResult<T> {
        const TRIES: usize = 16;
        let completions = || self.catalog.engine().txns().snapshot().data().completions;
        for _ in 1..TRIES {
            let before = completions();
            let loaded = load();
            let torn = |error: &SqlError| error.code() == SqlState::INTERNAL_ERROR && completions() != before;
            if !loaded.as_ref().is_err_and(torn) {
                return loaded;
            }
        }
        load()
    }

    /// Schemas searched for names, in order: `pg_temp` and `pg_catalog` first where the setting does not place them.
    pub(crate) fn resolved_path(&self) -> SqlResult<Rc<[Oid]>> {
        let generation = self.catalog.cache.generation();
        if !self.session.has_changes()
            && let Some((at, path)) = &*self.session.resolved.borrow()
            && *at == generation
        {
            return Ok(path.clone());
        }
        let names = self.session.path.borrow().clone();
        let mut path = Vec::with_capacity(names.len() + 2);
        for name in &names {
            if let Some(schema) = self.path_entry(name)?
                && !path.contains(&schema)
                && self.may_use_schema(schema)?
            {
                path.push(schema);
            }
        }
        if !path.contains(&PG_CATALOG) {
            path.insert(0, PG_CATALOG);
        }
        if let Some(temporary) = self.session.temporary_schema()
            && !path.contains(&temporary)
        {
            path.insert(0, temporary);
        }
        let path: Rc<[Oid]> = path.into();
        if !self.session.has_changes() {
            *self.session.resolved.borrow_mut() = Some((generation, path.clone()));
        }
        Ok(path)
    }

    fn path_entry(&self, name: &str) -> SqlResult<Option<Oid>> {
        match name {
            "$user" => match self.role_name(self.session.user())? {
                Some(user) => self.schema_by_name(&user),
                None => Ok(None),
            },
            "pg_temp" => Ok(self.session.temporary_schema()),
            name => self.schema_by_name(name),
        }
    }

    /// OID of a schema that names are looked up in: the current user must be allowed to.
    pub fn schema_to_look_in(&self, name: &str) -> SqlResult<Option<Oid>> {
        let schema = self.schema_by_name(name)?;
        if let Some(schema) = schema {
            self.check_schema_usage(schema, name)?;
        }
        Ok(schema)
    }

    /// OID of a schema.
    pub fn schema_by_name(&self, name: &str) -> SqlResult<Option<Oid>> {
        if name == "pg_temp" {
            return Ok(self.session.temporary_schema());
        }
        self.cached(
            |e| e.schemas.get(name).copied(),
            || {
                let row = self.find_one(
                    &pg_namespace::TABLE,
                    pg_namespace::PG_NAMESPACE_NSPNAME_INDEX,
                    &[name.into()],
                )?;
                Ok(row.map(|(_, row)| crate::RowExt::oid(&row[..], pg_namespace::OID)))
            },
            |e, oid| {
                e.schemas.insert(name.into(), oid);
            },
        )
    }

    /// The schema where new objects without a schema go: the first of the search path that the setting names.
    pub fn creation_schema(&self) -> SqlResult<Option<Oid>> {
        let names = self.session.path.borrow().clone();
        for name in &names {
            if let Some(schema) = self.path_entry(name)?
                && self.may_use_schema(schema)?
            {
                return Ok(Some(schema));
            }
        }
        Ok(None)
    }

    /// Makes entries stale: at once for this session, for the others when the transaction commits.
    pub(crate) fn forget(&self) {
        self.session.forget_overlay();
    }
}

/// Registers the end of a change with the transaction: when it commits, `stale` leaves the shared cache before locks are
/// released, or later, when it was prepared ([`Catalog::forget_prepared`]); whatever its end, the session's overlay is no longer valid.
pub(crate) fn register_change(
    catalog: &Arc<Catalog>,
    session: &Rc<SessionCatalog>,
    me: &mut Transaction,
    stale: Vec<Stale>,
) {
    let (catalog, session) = (catalog.clone(), session.clone());
    session.forget_overlay();
    session.count_changes(1);
    let mut encoded = Vec::new();
    stale.iter().for_each(|stale| stale.encode(&mut encoded));
    me.invalidate_at_commit_prepared(&encoded);
    me.on_end(
        txn::Phase::BeforeLocks,
        Box::new(move |end| {
            if end == txn::End::Commit {
                catalog.forget(&stale);
            }
            session.count_changes(-1);
            session.forget_overlay();
        }),
    );
}
