//! # What
//! `pg_freespacemap`: how much room a table's free-space map believes its pages to have.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_freespacemap` 1.3. Indexes have no map: theirs is 0.

use base::{BlockNo, Oid, SqlResult, sql_err};
use heap::HeapError;
use session::Session;
use session::module::{Module, ModuleFunction};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use crate::relation::Relation;

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_freespacemap",
    version: "1.3",
    comment: "examine the free space map (FSM)",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[("pg_freespace", ModuleFunction::Session(free_space))],
    ..Module::LIBRARY
};

fn free_space(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = Relation::open(session, Oid(u32::from_datum(&invocation.args[0])))?;
    if relation.file().is_none() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" does not have storage", relation.name())
            .detail(relation.not_for_kind()));
    }
    let block = u32::try_from(i64::from_datum(&invocation.args[1])).ok().filter(|block| *block != u32::MAX);
    let block = block.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid block number"))?;
    let free = match relation.table.heap.as_ref().filter(|_| relation.index.is_none()) {
        Some(heap) => heap::fsm::recorded(&session.engine().heap_access(), heap, BlockNo(block))
            .map_err(HeapError::into_sql)?,
        None => 0,
    };
    Ok(Returned::Value(Datum::Int2(free as i16)))
}
