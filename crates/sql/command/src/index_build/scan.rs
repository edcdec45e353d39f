//! # What
//! Reading a table for a new index. The session takes one piece of the table after the other and sorts what it finds; if the table is
//! large and its entries are plain columns, threads that help do the same beside it.
//!
//! # Invariants
//! 1. Pieces are taken in the order of the table: each sort is given its entries in the order of their TIDs.
//! 2. All threads have ended before their sorts are merged.
//! 3. Here are no more helpers than `max_parallel_maintenance_workers`, and in the server no more than `max_parallel_workers`.
//!
//! # PostgreSQL counterpart and differences
//! `plan_create_index_workers`, and the parallel parts of `access/nbtree/nbtsort.c`. Every access method whose entries are sorted is
//! helped. Helpers are threads of the process: they have no row in `pg_stat_activity`. Expressions and predicates are computed by
//! the session alone.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use base::settings::Setting;
use base::{Severity, SqlError, SqlResult, SqlState, Xid};
use engine::{Engine, OpenIndex};
use eval::spill::TempDir;
use heap::{HeapError, HeapRel, HeapResult};
use runtime::usage::{self, Usage};
use session::progress::Progress;
use session::table_rows::Entries;
use tuple::Datum;

use crate::expression::{IndexKeys, PlainKeys};
use crate::index_sort::{IndexSort, Ordered, Sorted, Target};

use super::{BLOCKS, BLOCKS_DONE, Filling, SORTING, STEP, TUPLES_DONE};

/// Blocks that a thread takes at a time.
const PIECE: u32 = 128;
/// A thread that sorts has at least so many bytes, or there are fewer.
const LEAST_MEMORY: usize = 32 << 20;

/// What was read.
pub(super) struct Found<'a> {
    /// Rows that are live.
    pub live: u64,
    /// Versions that only older snapshots see were left out: those of HOT chains whose live end has other keys.
    pub broken_chains: bool,
    pub entries: Sorted<'a>,
}

/// What one thread read.
struct Share<'a> {
    live: u64,
    broken_chains: bool,
    entries: Ordered<'a>,
}

/// What threads share that read a table.
struct Scan<'a, 's> {
    engine: &'s Engine,
    heap: &'s Arc<HeapRel>,
    rel: &'a OpenIndex,
    is_mine: &'s (dyn Fn(Xid) -> bool + Sync),
    pages: u32,
    progress: &'s Progress,
    /// Bytes for each thread.
    memory: usize,
    temp: TempDir,
    /// Pieces that were taken.
    taken: AtomicU64,
    stop: AtomicBool,
}

impl<'a> Filling<'a> {
    /// Reads all rows that an index must have an entry for, and sorts the entries.
    pub(super) fn scan(&self, progress: &Progress) -> SqlResult<Found<'a>> {
        let &Filling { session, table, index, rel, .. } = self;
        let memory = session.settings.borrow().fast().maintenance_work_mem as usize;
        let Some(heap) = self.heap else {
            let entries = IndexSort::new(rel, memory, session.temp_dir().clone()).finish()?;
            return Ok(Found { live: 0, broken_chains: false, entries });
        };
        let mut keys = IndexKeys::new(session, table, index)?;
        let pages = session.blocks(heap.desc.file)?;
        progress.set(BLOCKS, i64::from(pages));
        let (plain, upto) = (keys.plain(), keys.upto());
        let wanted = if plain.is_some() { self.helpers(pages, memory) } else { 0 };
        self.tell(wanted);
        let claim = session.claim_helpers(wanted);
        let is_mine = session.txn.borrow().owner();
        let scan = Scan {
            engine: session.engine(),
            heap,
            rel,
            is_mine: &is_mine,
            pages,
            progress,
            memory: memory / (claim.count() + 1),
            temp: session.temp_dir().clone(),
            taken: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        let timed = session.settings.borrow().fast().track_io_timing;
        let read_ahead = runtime::ReadAhead::current();
        let (own, helped) = runtime::alongside(
            claim.count(),
            || {
                read_ahead.enter();
                scan.help(plain.as_ref(), timed)
            },
            || scan.stop.store(true, Relaxed),
            |_| {
                let mut compute = |row: &[Datum], entry: &mut Vec<Datum>| keys.entry(session, row, entry);
                scan.share(Entries::new(plain.as_ref(), upto, &mut compute))
            },
        );
        let mut shares = vec![own.map_err(HeapError::into_sql)?];
        for (share, used) in helped? {
            used.add_to_running();
            shares.push(share.map_err(HeapError::into_sql)?);
        }
        Ok(Found {
            live: shares.iter().map(|share| share.live).sum(),
            broken_chains: shares.iter().any(|share| share.broken_chains),
            entries: Sorted::of(rel, shares.into_iter().map(|share| share.entries).collect())?,
        })
    }

    /// Says how many helpers there may be.
    fn tell(&self, wanted: usize) {
        let (index, table) = (&self.index.name, &self.table.name);
        let how = match wanted {
            0 => "serially".to_owned(),
            _ => format!("with request for {wanted} parallel workers"),
        };
        let message = format!("building index \"{index}\" on table \"{table}\" {how}");
        self.session.notice(SqlError::with_severity(
            Severity::Debug,
            SqlState::SUCCESSFUL_COMPLETION,
            message,
        ));
    }

    fn number(&self, setting: Setting) -> usize {
        self.session.settings.borrow().get(setting).as_int().max(0) as usize
    }

    /// How many threads are to help: one for a table of `min_parallel_table_scan_size`, one more each time that it is three times as
    /// large; or what the table's `parallel_workers` says.
    fn helpers(&self, pages: u32, memory: usize) -> usize {
        // A function of a user is called by the session alone.
        if self.table.persistence == 't' || index::asks(&self.rel.desc().keys) {
            return 0;
        }
        let told = self.table.option("parallel_workers").and_then(|text| text.parse().ok());
        let by_size = || {
            let least = self.number(Setting::min_parallel_table_scan_size).max(1);
            (pages as usize / least).checked_ilog(3).map_or(0, |more| more as usize + 1)
        };
        let fit = (memory / LEAST_MEMORY).saturating_sub(1);
        told.unwrap_or_else(by_size).min(self.number(Setting::max_parallel_maintenance_workers)).min(fit)
    }
}

impl<'a> Scan<'a, '_> {
    /// A helper's part, and what it used. There are helpers only if nothing is computed.
    fn help(&self, keys: Option<&PlainKeys>, timed: bool) -> (HeapResult<Share<'a>>, Usage) {
        let before = Usage::so_far();
        usage::time_io(timed);
        let share = self.share(Entries::new(keys, 0, &mut |_, _| Ok(false)));
        (share, Usage::so_far() - before)
    }

    /// What one thread finds in the pieces that it takes. If it fails, the others stop.
    fn share(&self, entries: Entries<'_>) -> HeapResult<Share<'a>> {
        let share = self.read(entries);
        if share.is_err() {
            // Relaxed: who reads the flag late only stops later.
            self.stop.store(true, Relaxed);
        }
        share
    }

    fn read(&self, mut entries: Entries<'_>) -> HeapResult<Share<'a>> {
        let callback = |e: SqlError| HeapError::Callback(e);
        let access = self.engine.heap_access();
        let mut sort = IndexSort::new(self.rel, self.memory, self.temp.clone());
        let (mut entry, mut live, mut broken_chains) = (Vec::new(), 0, false);
        while let Some(blocks) = self.piece() {
            let (mut at, end) = (blocks.start, blocks.end);
            let mut reached = |block: u32| {
                self.progress.add(BLOCKS_DONE, i64::from(block.saturating_sub(at)));
                at = at.max(block);
            };
            broken_chains |= heap::build_scan(&access, self.heap, self.is_mine, blocks, &mut |found| {
                reached(found.root.block.0);
                live += u64::from(found.live);
                if entries.make(&access, self.heap, &found.row, &mut entry)? {
                    self.progress.add(TUPLES_DONE, 1);
                    let target = Target { tid: found.root, live: found.live };
                    sort.add(&mut entry, target).map_err(callback)?;
                }
                Ok(())
            })?;
            reached(end);
        }
        self.progress.set(STEP, SORTING);
        Ok(Share { live, broken_chains, entries: sort.ordered().map_err(callback)? })
    }

    /// The next blocks that nobody has taken.
    fn piece(&self) -> Option<Range<u32>> {
        if self.stop.load(Relaxed) {
            return None;
        }
        let from = self.taken.fetch_add(1, Relaxed) * u64::from(PIECE);
        let from = u32::try_from(from).ok().filter(|from| *from < self.pages)?;
        Some(from..self.pages.min(from.saturating_add(PIECE)))
    }
}
