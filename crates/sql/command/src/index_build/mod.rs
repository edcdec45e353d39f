//! # What
//! Filling a new index: every row that somebody may still see, or those that a snapshot sees, sorted, packed into a tree. Large tables
//! are read and sorted by several threads.
//!
//! # Locks
//! The caller holds SHARE or a stronger lock on the table; while others write ([`Rows::Seen`]) SHARE UPDATE EXCLUSIVE.

mod scan;

use std::sync::Arc;

use base::{SqlResult, sql_err};
use catalog::{Index, SizeEstimate, Table};
use engine::OpenIndex;
use heap::HeapRel;
use session::Session;
use session::progress::{Lengthy, Progress, Running};
use session::table_rows::{Seen, SummaryRows};
use tuple::Datum;

use crate::expression::IndexKeys;
use crate::index_entries;
use crate::index_sort::{IndexSort, Sorted, Target};
use crate::names;
use crate::violation::key_text;
use scan::Found;

// Figures of `pg_stat_progress_create_index`.
pub(crate) const COMMAND: usize = 1;
pub(crate) const INDEX: usize = 7;
const METHOD: usize = 9;
pub(crate) const PHASE: usize = 10;
const STEP: usize = 11;
const TUPLES: usize = 12;
const TUPLES_DONE: usize = 13;
pub(crate) const PARTITIONS: usize = 14;
pub(crate) const PARTITIONS_DONE: usize = 15;
const BLOCKS: usize = 16;
const BLOCKS_DONE: usize = 17;

const CREATE_INDEX: i64 = 1;
/// [`COMMAND`]
pub(crate) const CREATE_CONCURRENTLY: i64 = 2;
/// [`COMMAND`]
pub(crate) const REINDEX: i64 = 3;
/// [`COMMAND`]
pub(crate) const REINDEX_CONCURRENTLY: i64 = 4;
const BUILDING: i64 = 2;
const SCANNING_TABLE: i64 = 2;
const SORTING: i64 = 3;
const LOADING: i64 = 5;

/// Which rows a new index gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// All versions that any snapshot may still see; no other session writes meanwhile.
    All,
    /// The same for an index that is not valid, nor will be: live rows may have the same key.
    Unchecked,
    /// Those that a new snapshot sees.
    Seen,
}

/// Builds the index `oid` of `table`, whose file is empty, and notes the sizes of both. Its expressions are computed as the table's owner.
pub(crate) fn build(session: &Session, table: &Table, oid: base::Oid, rows: Rows) -> SqlResult<()> {
    session.as_maintainer(table.owner, || build_as_owner(session, table, oid, rows))
}

fn build_as_owner(session: &Session, table: &Table, oid: base::Oid, rows: Rows) -> SqlResult<()> {
    let table = names::describe(session, table.oid)?;
    let index = names::find_index(&table, oid)?;
    let rel = index.storage()?;
    let work = Filling { session, table: &table, index, heap: table.heap.as_ref(), rel };
    let (filled, broken_chains) = work.run(rows)?;
    if rows == Rows::All && !index.excluders.is_empty() {
        work.check_exclusion()?;
    }
    if broken_chains {
        session.with_changer(|changer| changer.set_index_check_xmin(oid))?;
    }
    note_sizes(session, &table, index, &filled)
}

/// Rows and entries of a table and an index that was filled.
pub(super) struct Filled {
    pub(super) rows: u64,
    pub(super) entries: u64,
}

/// An index being filled, from a heap and in a file that need not be those of their descriptions.
pub(super) struct Filling<'a> {
    pub(super) session: &'a Session,
    pub(super) table: &'a Table,
    pub(super) index: &'a Index,
    pub(super) heap: Option<&'a Arc<HeapRel>>,
    pub(super) rel: &'a OpenIndex,
}

impl<'a> Filling<'a> {
    /// Fills it. Changes no catalog. Also returns whether versions that only older snapshots see were left out: those of HOT chains whose
    /// live end has other keys.
    pub(super) fn run(&self, rows: Rows) -> SqlResult<(Filled, bool)> {
        let &Filling { session, table, index, rel, .. } = self;
        if index.method.summarizes {
            return self.run_as_they_lie(rows);
        }
        let progress = self.begin();
        let Found { live, broken_chains, entries: mut sorted } = match rows {
            Rows::All | Rows::Unchecked => self.scan(&progress)?,
            Rows::Seen => {
                let memory = session.settings.borrow().fast().maintenance_work_mem as usize;
                let mut sort = IndexSort::new(rel, memory, session.temp_dir().clone());
                let live = self.scan_seen((&mut sort, &progress))?;
                progress.set(STEP, SORTING);
                Found { live, broken_chains: false, entries: sort.finish()? }
            }
        };
        progress.set(STEP, LOADING);
        progress.set(TUPLES, progress.get(TUPLES_DONE));
        progress.set(TUPLES_DONE, 0);
        let xid = session.txn.borrow_mut().xid()?;
        let access = session.index_access(xid);
        let checked = index.refuses_duplicates() && rows != Rows::Unchecked;
        let mut unique = checked.then_some(Uniqueness { session, table, index, last: Vec::new() });
        let mut next = |out: &mut Vec<Datum>| {
            progress.add(TUPLES_DONE, 1);
            next_entry(&mut sorted, unique.as_mut(), out)
        };
        let entries = rel.build(&access, &mut next).map_err(|e| e.into_sql(&index.name, &table.name))?;
        Ok((Filled { rows: live, entries }, broken_chains))
    }

    /// Shows that the build has begun.
    fn begin(&self) -> Running<'_> {
        let progress = self.session.progress(Lengthy::CreateIndex, self.table.oid);
        if progress.get(COMMAND) == 0 {
            progress.set(COMMAND, CREATE_INDEX);
        }
        progress.set(INDEX, i64::from(self.index.oid.0));
        progress.set(METHOD, i64::from(self.index.method.oid.0));
        progress.set(PHASE, BUILDING);
        progress.set(STEP, SCANNING_TABLE);
        progress
    }

    /// Fails if rows of the table exclude each other by the index, which has been filled.
    fn check_exclusion(&self) -> SqlResult<()> {
        let &Filling { session, table, index, .. } = self;
        let Some(heap) = self.heap else { return Ok(()) };
        let snapshot = session.txn.borrow().system().snapshot();
        let (mut keys, mut theirs) =
            (IndexKeys::new(session, table, index)?, IndexKeys::new(session, table, index)?);
        let mut entry = Vec::new();
        let pages = session.blocks(heap.desc.file)?;
        Seen { session, heap, snapshot: &snapshot, pages: 0..pages }.each(keys.upto(), &mut |root, row| {
            if !keys.entry(session, row, &mut entry)? {
                return Ok(());
            }
            let found = index_entries::rival(session, (table, heap), (index, &mut theirs), (&entry, root))?;
            let Some(rival) = found else { return Ok(()) };
            let new = key_text(session, table, index, &entry)?;
            let detail = match new.zip(key_text(session, table, index, &rival.key)?) {
                Some((new, old)) => format!("Key {new} conflicts with key {old}."),
                None => "Key conflicts exist.".to_owned(),
            };
            Err(sql_err!(EXCLUSION_VIOLATION, "could not create exclusion constraint \"{}\"", index.name)
                .detail(detail)
                .table(&table.schema_name, &table.name)
                .constraint(&index.name))
        })
    }

    /// As [`run`](Filling::run), for an index that has summaries: rows are not sorted.
    fn run_as_they_lie(&self, which: Rows) -> SqlResult<(Filled, bool)> {
        let &Filling { session, table, index, rel, heap } = self;
        // Shown until it goes.
        let _progress = self.begin();
        let xid = session.txn.borrow_mut().xid()?;
        let access = session.index_access(xid);
        let mut rows = SummaryRows::new(session, table, index, heap)?;
        let built =
            rel.build_of_rows(&access, &mut rows).map_err(|e| e.into_sql(&index.name, &table.name))?;
        // While others write, snapshots that see broken chains are waited for.
        let broken_chains = rows.broken_chains && which != Rows::Seen;
        Ok((Filled { rows: rows.live, entries: built }, broken_chains))
    }

    /// Hands the rows that a snapshot sees to the sort, and says how many there are. Chains that grew before the index was entered may be broken;
    /// snapshots that see their older versions must not use it.
    fn scan_seen(&self, (sort, progress): (&mut IndexSort<'_>, &Progress)) -> SqlResult<u64> {
        let &Filling { session, table, index, .. } = self;
        let Some(heap) = self.heap else { return Ok(0) };
        let snapshot = session.txn.borrow_mut().statement_snapshot()?;
        let mut keys = IndexKeys::new(session, table, index)?;
        let pages = session.blocks(heap.desc.file)?;
        progress.set(BLOCKS, i64::from(pages));
        let (mut entry, mut rows) = (Vec::new(), 0);
        Seen { session, heap, snapshot: &snapshot, pages: 0..pages }.each(
            keys.upto(),
            &mut |root, row| {
                progress.set(BLOCKS_DONE, i64::from(root.block.0));
                rows += 1;
                if keys.entry(session, row, &mut entry)? {
                    progress.add(TUPLES_DONE, 1);
                    sort.add(&mut entry, Target { tid: root, live: true })?;
                }
                Ok(())
            },
        )?;
        progress.set(BLOCKS_DONE, i64::from(pages));
        Ok(rows)
    }
}

fn next_entry(
    sorted: &mut Sorted<'_>,
    unique: Option<&mut Uniqueness<'_>>,
    out: &mut Vec<Datum>,
) -> SqlResult<Option<base::Tid>> {
    let Some(target) = sorted.next(out)? else { return Ok(None) };
    if target.live
        && let Some(unique) = unique
    {
        unique.check(out)?;
    }
    Ok(Some(target.tid))
}

/// Finds equal keys among live rows that follow each other.
struct Uniqueness<'a> {
    session: &'a Session,
    table: &'a Table,
    index: &'a Index,
    /// The key that came last; empty before the first one.
    last: Vec<Datum>,
}

impl Uniqueness<'_> {
    fn check(&mut self, entry: &[Datum]) -> SqlResult<()> {
        let key = &entry[..self.index.keys.len()];
        if !self.index.nulls_not_distinct && key.iter().any(Datum::is_null) {
            return Ok(());
        }
        let desc = self.index.storage()?.desc();
        if !self.last.is_empty() && desc.compare_keys(&self.last, key).is_eq() {
            let detail = match key_text(self.session, self.table, self.index, key)? {
                Some(key) => format!("Key {key} is duplicated."),
                None => "Duplicate keys exist.".to_owned(),
            };
            return Err(sql_err!(UNIQUE_VIOLATION, "could not create unique index \"{}\"", self.index.name)
                .detail(detail)
                .table(&self.table.schema_name, &self.table.name)
                .constraint(&self.index.name));
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(())
    }
}

fn note_sizes(session: &Session, table: &Table, index: &Index, filled: &Filled) -> SqlResult<()> {
    let &Filled { rows, entries } = filled;
    let (heap_pages, index_pages) = (session.blocks(table.file)?, session.blocks(index.file)?);
    session.with_changer(|changer| {
        let all_visible = table.size.all_visible;
        // An empty table may be about to be filled: its size stays unknown, as in PostgreSQL.
        if rows > 0 || heap_pages > 0 {
            let size = SizeEstimate { pages: heap_pages, tuples: rows as f32, all_visible };
            changer.set_size(table.oid, size)?;
        }
        let size = SizeEstimate { pages: index_pages, tuples: entries as f32, all_visible: 0 };
        changer.set_size(index.oid, size)
    })
}
