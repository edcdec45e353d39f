//! # What
//! Rewrites a system catalog and its indexes into new files: VACUUM FULL, CLUSTER and REINDEX of catalogs. The new files are complete before any catalog row
//! is changed, because that row may belong to this catalog ([`catalog::Changer::swap_catalog`]).
//!
//! # Locks
//! On the catalog itself, also for its TOAST table or an index of it, so that two sessions never switch to new files of one catalog at the same time: ACCESS
//! EXCLUSIVE to rewrite rows, taken here; SHARE ROW EXCLUSIVE for an index alone, which the caller holds ([`super::reindex`]). Look-ups by
//! other sessions take no lock and read the old files until the commit.
//!
//! # PostgreSQL counterpart and differences
//! `cluster_rel`, `reindex_index` with `relmapper.c`. As there, keys of unique indexes are not checked, because catalogs contain rows of transactions that
//! still run.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::system::SystemTable;
use catalog::tables::OpenTable;
use catalog::{Index, RelationKind, SizeEstimate, Table};
use heap::HeapRel;
use heap::rewrite::RewriteStats;
use session::Session;
use session::progress::Lengthy;
use txn::{LockMode, LockWait};

use super::index_build::{Filled, Filling, Rows};
use super::{names, rewrite};

/// Writes a catalog and its TOAST table anew, or the TOAST table alone if `table` is that.
pub(super) fn table(
    session: &Session,
    table: &Table,
    shape: &SystemTable,
    order: Option<&Index>,
) -> SqlResult<RewriteStats> {
    for relation in [shape.oid, shape.toast].into_iter().filter(|oid| oid.is_valid()) {
        names::lock_relation(session, relation, LockMode::AccessExclusive, LockWait::Block)?;
    }
    let toast = match shape.toast.is_valid() && table.kind != RelationKind::Toast {
        true => Some(names::describe(session, shape.toast)?),
        false => None,
    };
    let described = || std::iter::once(table).chain(toast.as_deref());
    let relations = described().flat_map(|t| std::iter::once(t.oid).chain(t.indexes.iter().map(|i| i.oid)));
    let new = new_files(session, shape, &relations.collect::<Vec<_>>())?;
    let (mut stats, mut sizes) = (RewriteStats::default(), Vec::new());
    for part in described() {
        let (Some(old), Some(to)) = (&part.heap, new_heap(&new, part)) else { continue };
        let copied = rewrite::copy(session, part, (old, to), order.filter(|_| part.oid == table.oid))?;
        sizes.push((part.oid, size(copied.pages, copied.live)));
        let progress = session.progress(Lengthy::Cluster, part.oid);
        progress.set(rewrite::PHASE, rewrite::REBUILDING);
        for index in &part.indexes {
            let filled = fill(session, (part, index), to, &new)?;
            sizes.push((index.oid, size(pages(session, &new, index.oid)?, filled.entries)));
            progress.add(rewrite::INDEXES_REBUILT, 1);
        }
        if part.oid == table.oid {
            stats = copied;
        }
    }
    swap(session, new, &sizes)?;
    Ok(stats)
}

/// Builds an index of a catalog, or of its TOAST table, anew. The caller holds the catalog's lock since before it had `table` described.
pub(super) fn index(session: &Session, table: &Table, shape: &SystemTable, index: &Index) -> SqlResult<()> {
    let Some(heap) = &table.heap else { return Ok(()) };
    let new = new_files(session, shape, &[index.oid])?;
    let filled = fill(session, (table, index), heap, &new)?;
    let heap_size = SizeEstimate {
        all_visible: table.size.all_visible,
        ..size(session.blocks(heap.desc.file)?, filled.rows)
    };
    let index_size = size(pages(session, &new, index.oid)?, filled.entries);
    swap(session, new, &[(table.oid, heap_size), (index.oid, index_size)])
}

fn new_files(session: &Session, shape: &SystemTable, relations: &[Oid]) -> SqlResult<OpenTable> {
    session.with_changer(|changer| changer.catalog_with_new_files(shape, relations))
}

/// The heap of a catalog, or of its TOAST table.
fn new_heap<'n>(new: &'n OpenTable, table: &Table) -> Option<&'n Arc<HeapRel>> {
    match table.kind {
        RelationKind::Toast => new.heap.desc.toast.as_ref().map(|toast| &toast.rel),
        _ => Some(&new.heap),
    }
}

fn fill(
    session: &Session,
    (table, index): (&Table, &Index),
    heap: &Arc<HeapRel>,
    new: &OpenTable,
) -> SqlResult<Filled> {
    let rel = new.index(index.oid).ok_or_else(|| SqlError::internal("a catalog has no such index"))?;
    // Versions of a HOT chain have the same keys: these indexes are as old as their tables.
    let (filled, _) = Filling { session, table, index, heap: Some(heap), rel }.run(Rows::Unchecked)?;
    Ok(filled)
}

fn swap(session: &Session, new: OpenTable, sizes: &[(Oid, SizeEstimate)]) -> SqlResult<()> {
    session.with_changer(|changer| {
        changer.swap_catalog(new)?;
        sizes.iter().try_for_each(|&(relation, size)| changer.set_size(relation, size))
    })
}

fn size(pages: u32, tuples: u64) -> SizeEstimate {
    SizeEstimate { pages, tuples: tuples as f32, all_visible: 0 }
}

fn pages(session: &Session, new: &OpenTable, index: Oid) -> SqlResult<u32> {
    new.index(index).map_or(Ok(0), |rel| session.blocks(rel.desc().file))
}
