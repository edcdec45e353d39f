//! # What
//! `pg_visibility`: what the visibility map says of a table's pages, and whether that is true.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_visibility` 1.2. `pg_truncate_visibility_map` clears the map; its pages stay.

use std::sync::Arc;

use base::{BlockNo, Fork, Oid, SqlError, SqlResult, sql_err};
use buffer::{Ring, RingKind};
use catalog::RelationKind as K;
use heap::vm::{self, VmCursor};
use heap::{HeapError, HeapRel, measure};
use session::Session;
use session::module::{Module, ModuleFunction, one_column, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use txn::LockMode;
use types::value::FromDatum;

use crate::relation::Relation;

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_visibility",
    version: "1.2",
    comment: "examine the visibility map (VM) and page-level visibility info",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pg_visibility_map", F(|session, invocation| one_page(session, invocation, false))),
        ("pg_visibility", F(|session, invocation| one_page(session, invocation, true))),
        ("pg_visibility_map_rel", F(|session, invocation| all_pages(session, invocation, false))),
        ("pg_visibility_rel", F(|session, invocation| all_pages(session, invocation, true))),
        ("pg_visibility_map_summary", F(summary)),
        ("pg_check_frozen", F(|session, invocation| check(session, invocation, vm::ALL_FROZEN))),
        ("pg_check_visible", F(|session, invocation| check(session, invocation, vm::ALL_VISIBLE))),
        ("pg_truncate_visibility_map", F(clear)),
    ],
    ..Module::LIBRARY
};

/// A table whose map is looked at.
struct Mapped<'a> {
    session: &'a Session,
    heap: Arc<HeapRel>,
    pages: u32,
    map: VmCursor,
    ring: Ring,
}

impl<'a> Mapped<'a> {
    fn open(session: &'a Session, argument: &Datum, mode: LockMode) -> SqlResult<Mapped<'a>> {
        let relation = Relation::open_in(session, Oid(u32::from_datum(argument)), mode)?;
        if !matches!(relation.kind(), K::Table | K::MaterializedView | K::Toast) {
            return Err(sql_err!(
                WRONG_OBJECT_TYPE,
                "relation \"{}\" is of wrong relation kind",
                relation.name()
            )
            .detail(relation.not_for_kind()));
        }
        let heap = relation.table.heap.clone();
        let heap = heap.ok_or_else(|| SqlError::internal("a table without rows of its own"))?;
        let pages = Relation::blocks(session, heap.desc.file, Fork::Main)?;
        let ring = session.engine().pool().ring(RingKind::BulkRead);
        Ok(Mapped { session, heap, pages, map: VmCursor::default(), ring })
    }

    /// What the map says of a page, and the page itself if that is asked. A page that is not there is not visible.
    fn bits(&mut self, block: BlockNo, of_page: bool) -> SqlResult<Vec<Datum>> {
        let access = self.session.engine().heap_access();
        let bits = vm::bits(&access, &self.heap, block, &mut self.map).map_err(HeapError::into_sql)?;
        let mut row = vec![Datum::Bool(bits & vm::ALL_VISIBLE != 0), Datum::Bool(bits & vm::ALL_FROZEN != 0)];
        if of_page {
            let seen = block.0 < self.pages
                && measure::is_page_all_visible(&access, &self.heap, block, &self.ring)
                    .map_err(HeapError::into_sql)?;
            row.push(Datum::Bool(seen));
        }
        Ok(row)
    }
}

fn one_page(session: &Session, invocation: &Invocation<'_>, of_page: bool) -> SqlResult<Returned> {
    let mut mapped = Mapped::open(session, &invocation.args[0], LockMode::AccessShare)?;
    let block = u32::try_from(i64::from_datum(&invocation.args[1])).ok().filter(|block| *block != u32::MAX);
    let block = block.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid block number"))?;
    let row = mapped.bits(BlockNo(block), of_page)?;
    rows(session, invocation, [row])
}

fn all_pages(session: &Session, invocation: &Invocation<'_>, of_page: bool) -> SqlResult<Returned> {
    let mut mapped = Mapped::open(session, &invocation.args[0], LockMode::AccessShare)?;
    let mut list = Vec::new();
    for block in 0..mapped.pages {
        runtime::check_interrupts()?;
        let mut row = vec![Datum::Int8(i64::from(block))];
        row.extend(mapped.bits(BlockNo(block), of_page)?);
        list.push(row);
    }
    rows(session, invocation, list)
}

fn summary(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let mapped = Mapped::open(session, &invocation.args[0], LockMode::AccessShare)?;
    let access = session.engine().heap_access();
    let counted = vm::count(&access, &mapped.heap, mapped.pages);
    let (visible, frozen) = counted.map_err(HeapError::into_sql)?;
    let row = vec![Datum::Int8(i64::from(visible)), Datum::Int8(i64::from(frozen))];
    rows(session, invocation, [row])
}

/// The versions that are not what the map says of all on their pages.
fn check(session: &Session, invocation: &Invocation<'_>, bit: u8) -> SqlResult<Returned> {
    let mut mapped = Mapped::open(session, &invocation.args[0], LockMode::AccessShare)?;
    let (access, mut found) = (session.engine().heap_access(), Vec::new());
    for block in (0..mapped.pages).map(BlockNo) {
        runtime::check_interrupts()?;
        let Mapped { heap, map, ring, .. } = &mut mapped;
        measure::contradictions(&access, heap, block, (map, ring, bit), &mut found)
            .map_err(HeapError::into_sql)?;
    }
    let tids = found.into_iter().map(|tid| types::ids::tid_datum(tid.block.0, tid.offset));
    one_column(session, tids)
}

fn clear(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let mapped = Mapped::open(session, &invocation.args[0], LockMode::AccessExclusive)?;
    let pool = session.engine().pool();
    pool.admit(mapped.heap.desc.persistence)?;
    vm::clear(pool, mapped.heap.desc.file, mapped.heap.desc.persistence)?;
    Ok(Returned::Value(Datum::text("")))
}
