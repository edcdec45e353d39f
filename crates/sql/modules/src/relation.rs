//! Relations as functions of modules are given them: locked for reading, whatever kind they have.

use std::sync::Arc;

use base::{Fork, Oid, PAGE_SIZE, RelFile, SqlError, SqlResult, sql_err};
use buffer::BufferError;
use catalog::{Index, RelationKind, Table};
use session::Session;
use session::lookup::names;
use tuple::Datum;
use txn::{LockMode, LockWait};
use types::call::RegKind;
use types::value::FromDatum;

/// A relation that is locked.
pub(crate) struct Relation {
    /// It, or the table of the index that it is.
    pub table: Arc<Table>,
    /// The index that it is.
    pub index: Option<Arc<Index>>,
}

impl Relation {
    /// Locks a relation in ACCESS SHARE, an index by its table.
    pub fn open(session: &Session, oid: Oid) -> SqlResult<Relation> {
        Relation::open_in(session, oid, LockMode::AccessShare)
    }

    /// Locks a relation in a mode.
    pub fn open_in(session: &Session, oid: Oid, mode: LockMode) -> SqlResult<Relation> {
        let owner = names::table_of_index(session, oid)?;
        let locked = if owner.is_valid() { owner } else { oid };
        let before = names::describe(session, locked)?;
        names::lock_relation(session, names::guard(session, &before)?, mode, LockWait::Block)?;
        let table = names::describe(session, locked)?;
        let index = table.indexes.iter().find(|index| index.oid == oid).cloned();
        if owner.is_valid() && index.is_none() {
            return Err(SqlError::internal(format!("could not open relation with OID {oid}")));
        }
        Ok(Relation { table, index })
    }

    /// The relation of a `regclass`, or of a text with a name.
    pub fn oid(session: &Session, argument: &Datum) -> SqlResult<Oid> {
        match argument {
            Datum::Oid(oid) => Ok(Oid(*oid)),
            name => types::Session::reg_lookup(session, RegKind::Class, <&str>::from_datum(name)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.index.as_ref().map_or(&self.table.name, |index| &index.name)
    }

    /// Its kind.
    pub fn kind(&self) -> RelationKind {
        match (&self.index, self.table.kind) {
            (Some(_), RelationKind::PartitionedTable) => RelationKind::PartitionedIndex,
            (Some(_), _) => RelationKind::Index,
            (None, kind) => kind,
        }
    }

    /// Its files, if it has some.
    pub fn file(&self) -> Option<RelFile> {
        let file = self.index.as_ref().map_or(self.table.file, |index| index.file);
        let has_files =
            !matches!(self.kind(), RelationKind::PartitionedIndex | RelationKind::PartitionedTable);
        (has_files && file.number != 0).then_some(file)
    }

    /// What its kind is called where an operation is not for it.
    pub fn not_for_kind(&self) -> String {
        format!("This operation is not supported for {}.", names::plural(self.kind()))
    }

    /// Fails for a temporary relation of another session; `what` relations of its kind are called.
    pub fn check_not_others(&self, session: &Session, what: &str) -> SqlResult<()> {
        if self.table.persistence == 't' && session.names.temporary_schema() != Some(self.table.schema) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot access temporary {what} of other sessions"));
        }
        Ok(())
    }

    /// Pages of a fork, 0 if there is none.
    pub fn blocks(session: &Session, file: RelFile, fork: Fork) -> SqlResult<u32> {
        let pool = session.engine().pool();
        if fork != Fork::Main && !pool.smgr().exists(file, fork).map_err(BufferError::File)? {
            return Ok(0);
        }
        Ok(pool.nblocks(file, fork)?)
    }
}

/// A share in percent; 0 of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Bytes of so many pages.
pub(crate) fn bytes_of(pages: u32) -> u64 {
    u64::from(pages) * PAGE_SIZE as u64
}
