//! # What
//! A table and its indexes in new files, without dead rows: what VACUUM FULL and CLUSTER share. The old files go with the commit.
//!
//! # Locks
//! The caller holds ACCESS EXCLUSIVE on the table.
//!
//! # PostgreSQL counterpart and differences
//! `cluster_rel` in `commands/cluster.c`. System catalogs go another way: [`super::rewrite_catalog`].

use base::{Oid, Severity, SqlError, SqlResult, SqlState, Tid, Xid};
use catalog::system::catalog_of;
use catalog::{Index, SizeEstimate, Table};
use heap::rewrite::{RewriteStats, Rewriter};
use heap::{HeapError, HeapRel, Writer};
use runtime::time::Stopwatch;
use session::Session;
use session::progress::{Lengthy, Progress};
use session::table_rows;
use txn::Transaction;

use super::expression::IndexKeys;
use super::index_sort::{IndexSort, Target};
use super::{index_build, names, rewrite_catalog};

// Figures of `pg_stat_progress_cluster`.
pub(crate) const COMMAND: usize = 1;
pub(crate) const PHASE: usize = 2;
pub(crate) const ORDER: usize = 3;
const TUPLES_SCANNED: usize = 4;
const TUPLES_WRITTEN: usize = 5;
const BLOCKS: usize = 6;
const BLOCKS_SCANNED: usize = 7;
pub(crate) const INDEXES_REBUILT: usize = 8;

/// [`COMMAND`]
pub(crate) const CLUSTER: i64 = 1;
/// [`COMMAND`]
pub(crate) const VACUUM_FULL: i64 = 2;

const SCANNING: i64 = 1;
const SORTING: i64 = 3;
const WRITING: i64 = 4;
const SWAPPING: i64 = 5;
pub(super) const REBUILDING: i64 = 6;
const FINAL_CLEANUP: i64 = 7;

/// Rewrites a table and its TOAST table, in the order of an index if one is given.
pub(crate) fn table(
    session: &Session,
    table: &Table,
    order: Option<&Index>,
    verb: Option<&str>,
) -> SqlResult<()> {
    let watch = Stopwatch::start();
    if let Some(verb) = verb {
        let how = match order {
            Some(_) => " using sequential scan and sort",
            None => "",
        };
        let (database, schema) = (session.catalog.database_name(), &table.schema_name);
        let whole = match order {
            Some(_) => format!("\"{schema}.{}\"", table.name),
            None => format!("\"{database}.{schema}.{}\"", table.name),
        };
        info(session, format!("{verb} {whole}{how}"), None);
    }
    // Expressions of indexes may call functions, which look at a snapshot.
    drop(session.txn.borrow_mut().statement_snapshot()?);
    let pages = table.heap.as_ref().map_or(Ok(0), |heap| session.blocks(heap.desc.file))?;
    let stats = match catalog_of(table.oid) {
        Some(shape) => rewrite_catalog::table(session, table, shape, order)?,
        None => {
            let stats = relation(session, table, order)?;
            if table.toast.is_valid() {
                relation(session, names::describe(session, table.toast)?.as_ref(), None)?;
            }
            stats
        }
    };
    session.progress(Lengthy::Cluster, table.oid).set(PHASE, FINAL_CLEANUP);
    if verb.is_some() {
        report(session, table, &stats, pages, &watch);
    }
    Ok(())
}

/// One relation with rows, then its indexes.
fn relation(session: &Session, table: &Table, order: Option<&Index>) -> SqlResult<RewriteStats> {
    let Some(old) = &table.heap else { return Ok(RewriteStats::default()) };
    session.with_changer(|changer| {
        changer.new_file(table.oid)?;
        changer.clear_missing(table.oid)
    })?;
    let now = names::describe(session, table.oid)?;
    let new = now.heap.as_ref().ok_or_else(|| SqlError::internal("a table has no heap"))?;
    let stats = copy(session, table, (old, new), order)?;
    let size = SizeEstimate { pages: stats.pages, tuples: stats.live as f32, all_visible: 0 };
    session.with_changer(|changer| changer.set_size(table.oid, size))?;
    let progress = session.progress(Lengthy::Cluster, table.oid);
    progress.set(PHASE, REBUILDING);
    for index in &table.indexes {
        if index.valid {
            rebuild(session, table, index)?;
        } else {
            // What failed once stays as it is until REINDEX or DROP.
            session.with_changer(|changer| changer.new_file(index.oid).map(drop))?;
            index_build::build(session, table, index.oid, index_build::Rows::Unchecked)?;
        }
        progress.add(INDEXES_REBUILT, 1);
    }
    Ok(stats)
}

/// Copies the rows of a table from a heap to an empty one, in the order of an index if one is given.
pub(super) fn copy(
    session: &Session,
    table: &Table,
    (old, new): (&HeapRel, &HeapRel),
    order: Option<&Index>,
) -> SqlResult<RewriteStats> {
    let dropped = (0..table.columns.len()).filter(|&i| table.columns[i].dropped).collect();
    let xid = session.txn.borrow_mut().xid()?;
    let mut rewriter = Rewriter::new(session.engine().heap_access(), (old, new), xid, dropped);
    let progress = session.progress(Lengthy::Cluster, table.oid);
    progress.set(PHASE, SCANNING);
    progress.set(BLOCKS, i64::from(session.blocks(old.desc.file)?));
    match order {
        Some(index) => session.as_maintainer(table.owner, || {
            copy_in_order(session, table, index, xid, (&mut rewriter, &progress))
        })?,
        None => {
            let mut copied = |tid: Tid| {
                progress.add(TUPLES_SCANNED, 1);
                progress.add(TUPLES_WRITTEN, 1);
                progress.set(BLOCKS_SCANNED, i64::from(tid.block.0) + 1);
            };
            let me = session.txn.borrow();
            rewriter.copy_all(&writer(session, xid, &me), &mut copied).map_err(HeapError::into_sql)?;
        }
    }
    progress.set(PHASE, SWAPPING);
    rewriter.finish().map_err(HeapError::into_sql)
}

/// Who writes large values of rows that become larger.
fn writer<'a>(session: &'a Session, xid: Xid, me: &'a Transaction) -> Writer<'a> {
    let (cid, combo) = (me.current_command(), &session.combo);
    Writer { xid, cid, me, combo, compression: session.compression(), chunks: None }
}

/// Builds an index of a table anew, in a new file.
pub(crate) fn rebuild(session: &Session, table: &Table, index: &Index) -> SqlResult<()> {
    rebuild_in(session, table, index, None)
}

/// The same, in another tablespace (`reltablespace`) if one is given.
pub(crate) fn rebuild_in(
    session: &Session,
    table: &Table,
    index: &Index,
    tablespace: Option<Oid>,
) -> SqlResult<()> {
    if let Some(shape) = catalog_of(index.oid) {
        return rewrite_catalog::index(session, table, shape, index);
    }
    session.with_changer(|changer| changer.new_file_in(index.oid, tablespace).map(drop))?;
    if index.check_xmin.is_some() || !index.valid || !index.ready {
        session.with_changer(|changer| changer.set_index_rebuilt(index.oid))?;
    }
    index_build::build(session, table, index.oid, index_build::Rows::All)
}

/// Copies a table's versions as an index sorts them.
fn copy_in_order(
    session: &Session,
    table: &Table,
    index: &Index,
    xid: Xid,
    (rewriter, progress): (&mut Rewriter<'_>, &Progress),
) -> SqlResult<()> {
    let Some(heap) = &table.heap else { return Ok(()) };
    let tree = index.storage()?;
    let memory = session.settings.borrow().fast().maintenance_work_mem as usize;
    let mut sort = IndexSort::new(tree, memory, session.temp_dir().clone());
    let mut keys = IndexKeys::new(session, table, index)?;
    let access = session.engine().heap_access();
    let (mut row, mut entry) = (Vec::new(), Vec::new());
    heap::rewrite::each_version(&access, heap, &mut |found| {
        progress.add(TUPLES_SCANNED, 1);
        progress.set(BLOCKS_SCANNED, i64::from(found.tid.block.0) + 1);
        row.clear();
        table_rows::decode(&access, heap, found, keys.upto(), &mut row)?;
        keys.entry(session, &row, &mut entry).map_err(HeapError::Callback)?;
        sort.add(&mut entry, Target { tid: found.tid, live: true }).map_err(HeapError::Callback)
    })
    .map_err(HeapError::into_sql)?;
    progress.set(PHASE, SORTING);
    let mut sorted = sort.finish()?;
    progress.set(PHASE, WRITING);
    while let Some(target) = sorted.next(&mut entry)? {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        let me = session.txn.borrow();
        rewriter.copy(&writer(session, xid, &me), target.tid).map_err(HeapError::into_sql)?;
        progress.add(TUPLES_WRITTEN, 1);
    }
    Ok(())
}

fn report(session: &Session, table: &Table, stats: &RewriteStats, pages: u32, watch: &Stopwatch) {
    let message = format!(
        "\"{}.{}\": found {} removable, {} nonremovable row versions in {pages} pages",
        table.schema_name,
        table.name,
        stats.removed,
        stats.live + stats.recently_dead,
    );
    let detail = format!("{} dead row versions cannot be removed yet.\n{watch}.", stats.recently_dead);
    info(session, message, Some(detail));
}

/// A message that was asked for.
pub(crate) fn info(session: &Session, message: String, detail: Option<String>) {
    let report = SqlError::with_severity(Severity::Info, SqlState::SUCCESSFUL_COMPLETION, message);
    session.notice(match detail {
        Some(detail) => report.detail(detail),
        None => report,
    });
}
