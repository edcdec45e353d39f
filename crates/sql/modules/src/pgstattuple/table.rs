//! Tables: every page, or those that the visibility map does not vouch for.

use std::sync::Arc;

use base::{BlockNo, Fork, SqlError, SqlResult, sql_err};
use buffer::{Ring, RingKind};
use catalog::{RelationKind as K, SizeEstimate};
use heap::measure::{self, Found};
use heap::vm::VmCursor;
use heap::{HeapError, HeapRel};
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::Datum;

use super::{Figures, number};
use crate::relation::{Relation, bytes_of, percent};

/// The heap of a table, and how many pages it has.
fn open<'a>(session: &Session, relation: &'a Relation) -> SqlResult<(&'a Arc<HeapRel>, u32)> {
    let heap = relation.table.heap.as_ref();
    let heap = heap.ok_or_else(|| SqlError::internal("a table without rows of its own"))?;
    Ok((heap, Relation::blocks(session, heap.desc.file, Fork::Main)?))
}

fn ring(session: &Session) -> Ring {
    session.engine().pool().ring(RingKind::BulkRead)
}

pub(super) fn figures(session: &Session, relation: &Relation) -> SqlResult<Figures> {
    let (heap, pages) = open(session, relation)?;
    let (access, ring, mut found) = (session.engine().heap_access(), ring(session), Found::default());
    for block in (0..pages).map(BlockNo) {
        runtime::check_interrupts()?;
        let me = session.txn.borrow();
        measure::page(&access, heap, &me, block, &ring, &mut found).map_err(HeapError::into_sql)?;
    }
    let Found { live, dead, free } = found;
    Ok(Figures { pages, live: (live.count, live.bytes), dead: (dead.count, dead.bytes), free })
}

pub(super) fn approximate(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = Relation::open(session, Relation::oid(session, &invocation.args[0])?)?;
    relation.check_not_others(session, "tables")?;
    if !matches!(relation.kind(), K::Table | K::MaterializedView | K::Toast) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "relation \"{}\" is of wrong relation kind",
            relation.name()
        )
        .detail(relation.not_for_kind()));
    }
    let (heap, pages) = open(session, &relation)?;
    let (access, ring, mut map) = (session.engine().heap_access(), ring(session), VmCursor::default());
    let (mut found, mut scanned) = (Found::default(), 0);
    for block in (0..pages).map(BlockNo) {
        runtime::check_interrupts()?;
        let looked = measure::page_or_maps(&access, heap, block, (&mut map, &ring), &mut found);
        scanned += u32::from(looked.map_err(HeapError::into_sql)?);
    }
    let rows_there = estimate(relation.table.size, pages, scanned, found.live.count);
    let whole = bytes_of(pages);
    let part = |bytes: u64| Datum::Float8(percent(bytes, whole));
    let row = vec![
        number(whole),
        Datum::Float8(percent(u64::from(scanned), u64::from(pages))),
        Datum::Int8(rows_there as i64),
        number(found.live.bytes),
        part(found.live.bytes),
        number(found.dead.count),
        number(found.dead.bytes),
        part(found.dead.bytes),
        number(found.free),
        part(found.free),
    ];
    rows(session, invocation, [row])
}

/// Rows of a table whose pages were looked at in part: the others have as many as they had by the last count.
fn estimate(old: SizeEstimate, pages: u32, scanned: u32, found: u64) -> f64 {
    let (pages, scanned, found) = (f64::from(pages), f64::from(scanned), found as f64);
    if scanned >= pages {
        return found;
    }
    let (old_rows, old_pages) = (f64::from(old.tuples), f64::from(old.pages));
    if (old_pages == pages && scanned < pages * 0.02) || scanned <= 1.0 {
        return old_rows;
    }
    if old_rows < 0.0 || old_pages == 0.0 {
        return (found / scanned * pages + 0.5).floor();
    }
    (old_rows / old_pages * (pages - scanned) + found + 0.5).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_estimated_from_the_pages_looked_at() {
        let old = SizeEstimate { pages: 100, tuples: 1000.0, all_visible: 0 };
        assert_eq!(estimate(old, 100, 100, 70), 70.0, "all pages");
        assert_eq!(estimate(old, 100, 1, 70), 1000.0, "too few");
        assert_eq!(estimate(old, 100, 50, 700), 1200.0, "the others as they were");
        assert_eq!(estimate(SizeEstimate { tuples: -1.0, ..old }, 100, 50, 700), 1400.0, "never counted");
    }
}
