//! Summaries of BRIN indexes, made and taken away.
//!
//! # PostgreSQL counterpart
//! The functions at the end of `access/brin/brin.c`.

use std::sync::Arc;

use base::{BlockNo, Oid, SqlError, SqlResult, Xid, sql_err};
use catalog::{CatalogView, Index, RelationKind, Table};
use index::Ranges;
use tuple::Datum;
use txn::LockMode;
use types::SessionFn;

use super::arg;
use crate::Session;
use crate::lookup::names;
use crate::table_rows::summarize;

/// What a block number is that stands for the whole table.
const ALL_BLOCKS: i64 = u32::MAX as i64;

impl Session {
    pub(super) fn brin_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        let index = || Oid(arg(args, 0));
        Ok(Some(match id {
            SessionFn::BrinSummarizeNewValues => self.summarize_ranges(index(), ALL_BLOCKS)?,
            SessionFn::BrinSummarizeRange => self.summarize_ranges(index(), arg(args, 1))?,
            SessionFn::BrinDesummarizeRange => {
                self.desummarize_range(index(), arg(args, 1))?;
                Datum::Null
            }
            _ => return Ok(None),
        }))
    }

    /// The table of a BRIN index, locked against others who summarize.
    fn table_to_summarize(&self, oid: Oid) -> SqlResult<Arc<Table>> {
        let owner = names::table_of_index(self, oid)?;
        if !owner.is_valid() {
            return Err(match self.with_reader(|reader| reader.relation_by_oid(oid))? {
                Some(other) => sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", other.name),
                None => SqlError::internal(format!("could not open relation with OID {oid}")),
            });
        }
        let mode = LockMode::ShareUpdateExclusive;
        names::lock(self, &*names::describe(self, owner)?, mode, txn::LockWait::Block)?;
        // It may be gone, or be another's, since it was looked at.
        if names::table_of_index(self, oid)? != owner {
            return Err(sql_err!(UNDEFINED_TABLE, "could not open parent table of index with OID {oid}"));
        }
        names::describe(self, owner)
    }

    fn check_index(&self, table: &Table, index: &Index) -> SqlResult<()> {
        if !index.method.summarizes || table.kind == RelationKind::PartitionedTable {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a BRIN index", index.name));
        }
        match names::check_owner(self, table) {
            Ok(()) => Ok(()),
            Err(_) => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of index {}", index.name)),
        }
    }

    /// Summarizes the range of a table that a block is in, in an index of it.
    pub fn summarize_range(&self, index: Oid, block: BlockNo) -> SqlResult<()> {
        self.summarize_ranges(index, i64::from(block.0)).map(drop)
    }

    fn summarize_ranges(&self, oid: Oid, block: i64) -> SqlResult<Datum> {
        let which = match block_number(block)? {
            BlockNo(u32::MAX) => Ranges::All,
            block => Ranges::Of(block),
        };
        let table = self.table_to_summarize(oid)?;
        let index = names::find_index(&table, oid)?;
        self.check_index(&table, index)?;
        if !index.valid {
            return Ok(Datum::Int4(0));
        }
        Ok(Datum::Int4(summarize(self, &table, index, which)? as i32))
    }

    fn desummarize_range(&self, oid: Oid, block: i64) -> SqlResult<()> {
        let block = block_number(block)?;
        let table = self.table_to_summarize(oid)?;
        let index = names::find_index(&table, oid)?;
        self.check_index(&table, index)?;
        if !index.valid {
            return Ok(());
        }
        let access = self.index_access(Xid::INVALID);
        let done = index.storage()?.desummarize(&access, block);
        done.map_err(|error| error.into_sql(&index.name, &table.name))
    }
}

fn block_number(block: i64) -> SqlResult<BlockNo> {
    let error = || sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "block number out of range: {block}");
    u32::try_from(block).map(BlockNo).map_err(|_| error())
}
