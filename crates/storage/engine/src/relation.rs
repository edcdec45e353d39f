//! # What
//! Relation files as transactions make and drop them, and object identifiers.
//!
//! # WAL and crash
//! A new file is logged before it is made, so that redo makes it too; it is removed if its transaction aborts. A dropped
//! relation's files go when the drop commits: the commit record lists them. A crash between creation and commit leaves an
//! orphan file, as in PostgreSQL.
//!
//! OIDs are logged in batches ahead of use: after a crash the counter goes on behind the batch.

use std::sync::Arc;

use base::{Fork, Oid, RelFile};
use buffer::{BufferPool, Persistence};
use runtime::Mutex;
use smgr::Smgr;
use txn::{LockTag, MappedFile, RelationFiles, Transaction};

use crate::map::RelationMaps;
use crate::{Engine, EngineError, xlog};

/// OIDs reserved by one log record.
const OID_BATCH: u32 = 8192;

/// First OID of objects that initdb makes with SQL: pinned, and above those that are fixed.
pub(crate) const FIRST_INITIAL: Oid = Oid(12_000);

/// Hands out OIDs. They wrap around to [`Oid::FIRST_NORMAL`]; whoever enters one in a catalog checks that it is free there.
///
/// The mutex is fiber-aware: a new batch is logged under it, and the log may have to wait for room.
pub(crate) struct OidCounter(Mutex<OidState>);

struct OidState {
    next: u32,
    /// Logged: OIDs below it may be handed out without a record.
    limit: u32,
}

impl OidCounter {
    pub(crate) fn new(next: Oid) -> OidCounter {
        OidCounter(Mutex::new(runtime::WaitEvent::OidGen, OidState { next: next.0, limit: next.0 }))
    }

    /// For a checkpoint: OIDs handed out from now on lie at or above this, or are logged behind the redo point.
    pub(crate) fn bound(&self) -> Oid {
        Oid(self.0.lock().limit)
    }

    /// Redo: OIDs below `limit` may be in use.
    pub(crate) fn advance_to(&self, limit: Oid) {
        let mut state = self.0.lock();
        if limit.0 > state.next || limit == Oid::FIRST_NORMAL {
            *state = OidState { next: limit.0, limit: limit.0 };
        }
    }
}

/// Changes relations' files for the transaction system.
pub(crate) struct Files {
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) smgr: Arc<Smgr>,
    pub(crate) maps: Arc<RelationMaps>,
}

impl RelationFiles for Files {
    fn map_files(&self, files: &[MappedFile]) {
        self.maps.apply(files);
    }

    fn drop_files(&self, files: &[RelFile]) {
        self.pool.drop_relations(files);
        for &file in files {
            let removed = if file.is_whole_database() {
                self.drop_database(file.tablespace, file.database)
            } else if file.is_whole_tablespace() {
                self.smgr.remove_tablespace(file.tablespace)
            } else {
                self.smgr.unlink(file)
            };
            if let Err(error) = removed {
                tracing::warn!("could not remove file \"{file}\": {error}");
            }
        }
    }
}

impl Files {
    fn drop_database(&self, tablespace: Oid, database: Oid) -> smgr::SmgrResult<()> {
        if self.maps.home(database) == tablespace {
            // The map first: a checkpoint that cannot write it asks whether it is wanted.
            self.maps.remove(database);
        }
        self.pool.drop_database(tablespace, database);
        self.smgr.remove_database(tablespace, database)
    }
}

impl Engine {
    /// A new OID: unused since the counter last wrapped around.
    pub fn next_oid(&self) -> Oid {
        let mut state = self.oids.0.lock();
        if state.next < FIRST_INITIAL.0 {
            // It wrapped around.
            *state = OidState { next: Oid::FIRST_NORMAL.0, limit: Oid::FIRST_NORMAL.0 };
        }
        if state.next >= state.limit {
            state.limit = state.next.saturating_add(OID_BATCH);
            self.wal.insert(&xlog::next_oid_record(Oid(state.limit)));
        }
        let oid = state.next;
        state.next = oid.wrapping_add(1);
        Oid(oid)
    }

    /// Initialisation is done: what is made from now on belongs to users.
    pub fn begin_user_oids(&self) {
        self.oids.advance_to(Oid::FIRST_NORMAL);
    }

    /// A file number that no relation of the database has.
    pub fn new_rel_file(&self, tablespace: Oid, database: Oid) -> Result<RelFile, EngineError> {
        loop {
            let file = RelFile { tablespace, database, number: self.next_oid().0 };
            if !self.smgr.exists(file, Fork::Main)? {
                return Ok(file);
            }
        }
    }

    /// The own tablespace of a database: where its catalogs are, and what has no other.
    pub fn home_of_database(&self, database: Oid) -> Oid {
        self.maps.home(database)
    }

    /// Number of the file that a system catalog's relation has. Database 0 stands for the shared catalogs.
    pub fn mapped_file(&self, database: Oid, relation: Oid) -> u32 {
        self.maps.number(database, relation)
    }

    /// The system catalog's relation that has a file of this number, if that is not its OID.
    pub fn relation_of_mapped_file(&self, database: Oid, number: u32) -> Option<Oid> {
        self.maps.relation(database, number)
    }

    /// Makes the main fork of a new relation, to be removed if `txn` aborts; an unlogged one gets its initial fork too.
    pub fn create_relation(
        &self,
        txn: &mut Transaction,
        file: RelFile,
        persistence: Persistence,
    ) -> Result<(), EngineError> {
        let xid = txn.xid()?;
        txn.drop_at_abort(file);
        let initial = (persistence == Persistence::Unlogged).then_some(Fork::Init);
        for fork in std::iter::once(Fork::Main).chain(initial) {
            self.wal.insert(&xlog::create_record(xid, file, fork));
            self.smgr.create(file, fork, false)?;
        }
        Ok(())
    }

    /// Makes the main fork of a relation that bootstrap writes.
    pub fn create_bootstrap_relation(&self, file: RelFile) -> Result<(), EngineError> {
        Ok(self.smgr.create(file, Fork::Main, false)?)
    }

    /// Drops a relation's files when `txn` commits.
    pub fn drop_relation(&self, txn: &mut Transaction, file: RelFile) {
        txn.drop_at_commit(file);
    }

    /// Cuts a relation to `pages` pages; maps keep what belongs to these. The caller holds it exclusively, by this lock.
    pub fn truncate_relation(&self, tag: LockTag, file: RelFile, pages: u32) -> Result<(), EngineError> {
        // A checkpoint whose redo starts behind the record must not note the old length.
        self.txns.within_gate(|| {
            if let LockTag::Relation { database, relation } = tag {
                self.txns.note_cut((database, relation), file);
            }
            let end = self.wal.insert(&xlog::truncate_record(file, pages));
            self.wal.flush(end)?;
            self.pool.truncate(file, Fork::Main, pages)?;
            heap::vm::truncate(&self.pool, file, pages)?;
            Ok(())
        })
    }
}
