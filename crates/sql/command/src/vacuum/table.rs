//! # What
//! VACUUM of one heap with its indexes, and what is noted of it afterwards.
//!
//! # Locks
//! ACCESS EXCLUSIVE for a moment when the empty tail is cut off, if it can be had without waiting.
//!
//! # Invariants
//! 1. The transaction that goes through a table holds no horizon back and writes no catalog row. What it found is noted in the next one, in place.

use std::sync::Arc;
use std::time::Duration;

use base::settings::{Setting, parse_bool};
use base::{BlockNo, SqlError, SqlResult, SqlState};
use buffer::Ring;
use catalog::system::pg_class;
use catalog::{Index, NotedIds, SizeEstimate, Table};
use engine::OpenIndex;
use heap::vacuum::{IndexCleanup, VacuumCallbacks, VacuumOptions, VacuumPhase, VacuumStats};
use heap::{Access, HeapError, HeapRel, HeapResult, TidSet};
use index::{Ranges, VacuumStats as IndexStats};
use runtime::WaitEvent;
use session::Session;
use session::progress::{Lengthy, Running};
use session::table_rows;
use txn::{LockMode, LockTag, LockWait, OldestIds, XidHolds};

use super::maintenance::Maintenance;
use super::pace::Pace;
use super::parallel::{Helpers, Pass, Task};
use super::report::{Effort, VacuumReport};
use crate::{oldest_ids, rewrite};

/// How often, and how long, the lock for cutting is tried.
const RETRY: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(5);

/// One heap with its indexes, then their sizes in a transaction of their own.
pub(super) fn vacuum(
    session: &Session,
    table: &Table,
    how: &Maintenance,
    tag: LockTag,
) -> SqlResult<Option<VacuumReport>> {
    let Some(heap) = &table.heap else { return Ok(None) };
    let full_name = full_name(session, table);
    session.next_transaction()?;
    session.txn.borrow_mut().set_holds(XidHolds::Nothing);
    let (counters, database) = (session.instance.counters(), session.catalog.database());
    let counted = counters.relation(database, table.oid).unwrap_or_default();
    let options = heap_options(session, table, how);
    if how.verbose {
        let aggressively =
            if how.disable_page_skipping || how.freeze_ages.xid == 0 { "aggressively " } else { "" };
        rewrite::info(session, format!("{aggressively}vacuuming \"{full_name}\""), None);
    }
    let effort = Effort::begin(session.settings.borrow().fast().track_io_timing);
    let progress = session.progress(Lengthy::Vacuum, table.oid);
    progress.set(MAX_DEAD_BYTES, options.memory as i64);
    let pace = Pace::new(&how.budget, &session.settings.borrow());
    let indexes = open_indexes(table)?;
    let helpers = Helpers::plan(session, (table, how), &indexes, options.index_cleanup)?;
    let mut work = Work { session, table, heap, tag, indexes, progress: &progress, pace: &pace, helpers };
    let access = session.engine().heap_access();
    let began = runtime::now();
    let stats = heap::vacuum::vacuum(&access, heap, &options, &mut work).map_err(HeapError::into_sql)?;
    let Work { indexes, .. } = work;
    for open in indexes.iter().filter(|open| open.index.method.summarizes) {
        table_rows::summarize(session, table, &open.index, Ranges::Full)?;
    }
    if how.verbose {
        tell_truncation(session, table, &stats);
    }
    progress.set(PHASE, FINAL_CLEANUP);
    session.next_transaction()?;
    let before = noted_ids(session, table)?;
    note_sizes(session, table, &stats, &indexes)?;
    let live = f64::from(estimate_rows(table.size, &stats)) as i64;
    counters.replace(database, table.oid, |all| {
        all.live = live;
        // What died meanwhile was counted meanwhile.
        all.dead = (stats.died_before + stats.tuples_missed) as i64 + (all.dead - counted.dead).max(0);
        all.inserted_since_vacuum = (all.inserted_since_vacuum - counted.inserted_since_vacuum).max(0);
        all.vacuumed(how.automatic, began.elapsed().as_micros() as i64, runtime::wall_clock_micros());
    });
    let gone_through = |open: Vacuumed| Some((open.index.name.clone(), open.stats.filter(|s| !s.estimated)?));
    let report = VacuumReport {
        table: full_name,
        stats,
        indexes: indexes.into_iter().filter_map(gone_through).collect(),
        cutoff: options.usable.xid,
        next: session.engine().txns().next_xid(),
        before,
        used: effort.end(&pace),
    };
    if how.verbose {
        rewrite::info(session, report.verbose(), None);
    }
    session.next_transaction()?;
    Ok(Some(report))
}

/// `database.schema.table`
pub(crate) fn full_name(session: &Session, table: &Table) -> String {
    format!("{}.{}.{}", session.catalog.database_name(), table.schema_name, table.name)
}

fn heap_options(session: &Session, table: &Table, how: &Maintenance) -> VacuumOptions {
    let cutoffs = oldest_ids::cutoffs(session, kind_of(table), how.freeze_ages);
    let by_setting = || session.settings.borrow().get(Setting::vacuum_truncate).as_bool();
    let truncate = how.truncate.or_else(|| table.option("vacuum_truncate").and_then(parse_bool));
    let index_cleanup = how.index_cleanup.unwrap_or_else(|| match table.option("vacuum_index_cleanup") {
        Some(word) if !word.eq_ignore_ascii_case("auto") => match parse_bool(word) {
            Some(true) => IndexCleanup::On,
            _ => IndexCleanup::Off,
        },
        _ => IndexCleanup::Auto,
    });
    VacuumOptions {
        memory: how.memory,
        disable_page_skipping: how.disable_page_skipping,
        freeze_limit: cutoffs.freeze_limit,
        usable: cutoffs.usable,
        // Catalogs are also open elsewhere, with places to insert that cutting would take away.
        truncate: truncate.unwrap_or_else(by_setting) && !table.oid.is_pinned(),
        index_cleanup,
        ring: how.ring,
    }
}

fn kind_of(table: &Table) -> txn::RelKind {
    table.heap.as_ref().map_or(txn::RelKind::Plain, |heap| heap.desc.kind)
}

/// An index being vacuumed.
pub(super) struct Vacuumed {
    pub index: Arc<Index>,
    pub rel: OpenIndex,
    pub stats: Option<IndexStats>,
}

fn open_indexes(table: &Table) -> SqlResult<Vec<Vacuumed>> {
    let open = |index: &Arc<Index>| {
        Ok(Vacuumed { index: index.clone(), rel: index.storage()?.clone(), stats: None })
    };
    table.indexes.iter().filter(|index| index.ready).map(open).collect()
}

/// What the heap's VACUUM calls back.
struct Work<'a> {
    session: &'a Session,
    table: &'a Table,
    heap: &'a HeapRel,
    tag: LockTag,
    indexes: Vec<Vacuumed>,
    progress: &'a Running<'a>,
    pace: &'a Pace<'a>,
    helpers: Helpers,
}

// Figures of `pg_stat_progress_vacuum`.
const PHASE: usize = 1;
const BLOCKS: usize = 2;
const BLOCKS_SCANNED: usize = 3;
const BLOCKS_VACUUMED: usize = 4;
const INDEX_ROUNDS: usize = 5;
const MAX_DEAD_BYTES: usize = 6;
const DEAD_BYTES: usize = 7;
const DEAD_ITEMS: usize = 8;
const INDEXES: usize = 9;
pub(super) const INDEXES_DONE: usize = 10;
pub(super) const DELAY_TIME: usize = 11;
const FINAL_CLEANUP: i64 = 6;

impl Work<'_> {
    /// Tells how many indexes a pass is over, and that it has done none of them; of none, that it has ended.
    fn begin_indexes(&self, count: usize) {
        self.progress.set(INDEXES, count as i64);
        self.progress.set(INDEXES_DONE, 0);
    }

    fn over_indexes(&mut self, task: Task<'_>, ring: Option<&Ring>) -> HeapResult<()> {
        let pass = Pass::new(self.session, &self.table.name, (task, self.progress, self.pace));
        pass.run(&mut self.indexes, &self.helpers, ring)?;
        self.begin_indexes(0);
        Ok(())
    }
}

impl VacuumCallbacks for Work<'_> {
    fn bulk_delete(&mut self, dead: &TidSet, ring: Option<&Ring>) -> HeapResult<()> {
        self.over_indexes(Task::BulkDelete(dead), ring)?;
        self.progress.add(INDEX_ROUNDS, 1);
        Ok(())
    }

    fn cleanup_indexes(&mut self, ring: Option<&Ring>) -> HeapResult<()> {
        let first = self.indexes.iter().all(|open| open.stats.is_none());
        self.over_indexes(Task::Cleanup { first }, ring)
    }

    fn has_indexes(&self) -> bool {
        !self.indexes.is_empty()
    }

    fn lock_for_truncation(&mut self) -> HeapResult<bool> {
        let began = runtime::now();
        let lock = || {
            let mut txn = self.session.txn.borrow_mut();
            txn.lock(self.tag, LockMode::AccessExclusive, LockWait::NoWait).is_ok()
        };
        while !lock() {
            if began.elapsed() >= PATIENCE {
                return Ok(false);
            }
            let sleep = || runtime::wait_interruptible(runtime::sleep(RETRY));
            runtime::waiting(WaitEvent::VacuumTruncate, sleep).map_err(HeapError::Interrupted)?;
        }
        Ok(true)
    }

    fn is_lock_wanted(&mut self) -> bool {
        self.session.engine().txns().locks().is_waited_for(self.tag)
    }

    fn unlock_after_truncation(&mut self) {
        self.session.txn.borrow_mut().unlock(self.tag, LockMode::AccessExclusive);
    }

    fn truncate(&mut self, _: &Access<'_>, nblocks: u32) -> HeapResult<()> {
        let done = self.session.engine().truncate_relation(self.tag, self.heap.desc.file, nblocks);
        self.heap.forget_targets();
        done.map_err(|e| HeapError::Callback(SqlError::new(SqlState::IO_ERROR, e.to_string())))
    }

    fn progress(
        &mut self,
        phase: VacuumPhase,
        block: BlockNo,
        total: u32,
        dead: (usize, usize),
    ) -> HeapResult<()> {
        let progress = self.progress;
        progress.set(PHASE, phase as i64 + 1);
        match phase {
            VacuumPhase::ScanningHeap => {
                progress.set(BLOCKS, i64::from(total));
                progress.set(BLOCKS_SCANNED, i64::from(block.0) + 1);
            }
            VacuumPhase::VacuumingIndexes => {
                progress.set(BLOCKS_SCANNED, i64::from(total));
                self.begin_indexes(self.indexes.len());
            }
            VacuumPhase::VacuumingHeap => progress.add(BLOCKS_VACUUMED, 1),
            VacuumPhase::CleaningUpIndexes => self.begin_indexes(self.indexes.len()),
            VacuumPhase::TruncatingHeap => {}
        }
        progress.set(DEAD_ITEMS, dead.0 as i64);
        progress.set(DEAD_BYTES, dead.1 as i64);
        self.pace.pause(self.progress, DELAY_TIME).map_err(HeapError::Interrupted)
    }
}

/// Rows of the whole table from those on the pages looked at, the others being as dense as they were.
fn estimate_rows(old: SizeEstimate, stats: &VacuumStats) -> f32 {
    let (total, scanned, rows) = (stats.pages, stats.pages_scanned, stats.live_tuples as f64);
    if scanned >= total {
        return rows as f32;
    }
    if (old.pages == total && f64::from(scanned) < f64::from(total) * 0.02) || scanned <= 1 {
        return old.tuples;
    }
    if old.tuples < 0.0 || old.pages == 0 {
        return (rows / f64::from(scanned) * f64::from(total) + 0.5).floor() as f32;
    }
    let density = f64::from(old.tuples) / f64::from(old.pages);
    (density * f64::from(total - scanned) + rows + 0.5).floor() as f32
}

/// The oldest ids that the table is known to have.
fn noted_ids(session: &Session, table: &Table) -> SqlResult<Option<OldestIds>> {
    let txns = session.engine().txns();
    let noted = NotedIds::new(txns);
    let key = [table.oid.into()];
    let row = session.with_reader(|r| r.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key))?;
    Ok(row.and_then(|(_, row)| noted.of_relation(&row, txns.oldest_ids())))
}

fn note_sizes(session: &Session, table: &Table, stats: &VacuumStats, indexes: &[Vacuumed]) -> SqlResult<()> {
    let tuples = estimate_rows(table.size, stats);
    let size = SizeEstimate { pages: stats.pages, tuples, all_visible: stats.pages_all_visible };
    session.with_changer(|changer| {
        changer.note_vacuum(table.oid, size, Some(stats.oldest))?;
        for open in indexes {
            let Some(stats) = open.stats.filter(|stats| !stats.estimated) else { continue };
            let size = SizeEstimate { pages: stats.pages, tuples: stats.tuples as f32, all_visible: 0 };
            if size != open.index.size {
                changer.note_vacuum(open.index.oid, size, None)?;
            }
        }
        Ok(())
    })
}

fn tell_truncation(session: &Session, table: &Table, stats: &VacuumStats) {
    let (name, left) = (&table.name, stats.pages);
    if stats.truncation_stopped {
        let message = format!("\"{name}\": stopping truncate due to conflicting lock request");
        rewrite::info(session, message, None);
    }
    if stats.pages_removed > 0 {
        let before = left + stats.pages_removed;
        rewrite::info(session, format!("table \"{name}\": truncated {before} to {left} pages"), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_extrapolated_from_the_pages_seen() {
        let old = SizeEstimate { pages: 100, tuples: 1000.0, all_visible: 0 };
        let stats = |pages, scanned, live| VacuumStats {
            pages,
            pages_scanned: scanned,
            live_tuples: live,
            ..VacuumStats::default()
        };
        assert_eq!(estimate_rows(old, &stats(100, 100, 700)), 700.0);
        assert_eq!(estimate_rows(old, &stats(100, 50, 100)), 600.0);
        assert_eq!(estimate_rows(old, &stats(100, 1, 0)), 1000.0);
        let never = SizeEstimate { pages: 0, tuples: -1.0, all_visible: 0 };
        assert_eq!(estimate_rows(never, &stats(100, 10, 50)), 500.0);
    }
}
