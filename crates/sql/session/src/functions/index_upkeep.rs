//! Functions that look after an index, and what settings say to access methods.

use base::{Oid, SqlResult, Xid, sql_err};
use catalog::{CatalogView, RelationKind};
use index::Limits;
use tuple::Datum;
use txn::{LockMode, LockWait};
use types::SessionFn;

use super::arg;
use crate::Session;
use crate::lookup::names;

impl Session {
    /// What settings say to access methods.
    pub fn index_limits(&self) -> Limits {
        let settings = self.settings.borrow();
        let fast = settings.fast();
        Limits {
            memory: fast.maintenance_work_mem as usize,
            pending_list: fast.gin_pending_list_limit as usize,
            fuzzy: fast.gin_fuzzy_search_limit,
            scan: (fast.work_mem as f64 * fast.hnsw_scan_mem_multiplier) as usize,
        }
    }

    /// What index operations need; `xid` is the writing transaction, invalid for readers.
    pub fn index_access(&self, xid: Xid) -> index::Access<'_> {
        index::Access { limits: self.index_limits(), ..self.engine().index_access(xid) }
    }

    pub(super) fn index_upkeep(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        match id {
            SessionFn::GinCleanPendingList => self.clean_pending_list(Oid(arg(args, 0))).map(Some),
            _ => Ok(None),
        }
    }

    /// Moves an index's pending entries into its main structure; returns the number of pages that these took.
    fn clean_pending_list(&self, oid: Oid) -> SqlResult<Datum> {
        let owner = names::table_of_index(self, oid)?;
        if !owner.is_valid() {
            let Some(other) = self.with_reader(|reader| reader.relation_by_oid(oid))? else {
                return Err(sql_err!(UNDEFINED_TABLE, "could not open relation with OID {oid}"));
            };
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", other.name));
        }
        names::lock_relation(self, owner, LockMode::RowExclusive, LockWait::Block)?;
        let table = names::describe(self, owner)?;
        let index = names::find_index(&table, oid)?;
        let not_gin = || sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a GIN index", index.name);
        if table.kind == RelationKind::PartitionedTable || index.storage()?.desc().parts.is_empty() {
            return Err(not_gin());
        }
        if table.persistence == 't' && self.names.temporary_schema() != Some(table.schema) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot access temporary indexes of other sessions"));
        }
        if !names::owns(self, table.owner)? {
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of index {}", index.name));
        }
        let cleaned = index.storage()?.enter_pending(&self.index_access(Xid::INVALID));
        let pages = cleaned.map_err(|error| error.into_sql(&index.name, &table.name))?;
        Ok(Datum::Int8(pages.ok_or_else(not_gin)? as i64))
    }
}
