//! # What
//! VACUUM and ANALYZE as statements: options, the list of tables, one transaction a table.
//!
//! # Locks
//! ACCESS SHARE for a moment on each table that is named, so that who drops or renames it is waited for. SHARE UPDATE EXCLUSIVE on each table, held by the session over VACUUM's two transactions; ACCESS EXCLUSIVE for a moment when
//! the empty tail is cut off. The lock of a TOAST table is that of the table which it belongs to ([`names::guard`]).
//!
//! # Invariants
//! 1. The transaction that goes through a table holds no horizon back and writes no catalog row. What it found is noted in the next
//!    one, in place.
//!
//! # PostgreSQL counterpart and differences
//! `commands/vacuum.c`. No PARALLEL work.

use std::sync::Arc;

use base::settings::Setting;
use base::{BlockNo, Oid, Severity, SqlError, SqlResult, SqlState, Xid, sql_err};
use btree::{BtreeRel, VacuumStats as IndexStats};
use catalog::system::pg_class;
use catalog::{Index, RelationKind, RowExt, SizeEstimate, Table};
use heap::vacuum::{VacuumCallbacks, VacuumOptions, VacuumPhase, VacuumStats};
use heap::{Access, HeapError, HeapRel, HeapResult};
use parse::ast::{DefElem, RangeVar, Vacuum, VacuumRelation};
use txn::{BlockState, LockMode, LockTag, LockWait, XidHolds};

use super::names::{self, at};
use super::{analyze, oldest_ids, options, rewrite};
use crate::output::Output;
use crate::session::Session;
use crate::session::progress::{Lengthy, Running};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    vacuum: bool,
    analyze: bool,
    verbose: bool,
    full: bool,
    freeze: bool,
    disable_page_skipping: bool,
    skip_locked: bool,
    index_cleanup: bool,
    process_main: bool,
    process_toast: bool,
    truncate: Option<bool>,
    database_stats: bool,
    only_database_stats: bool,
    /// The table in turn was named: what is wrong with it is said.
    named: bool,
}

/// A table to go through, with the columns named for ANALYZE.
struct Item {
    oid: Oid,
    columns: Vec<String>,
    named: bool,
}

/// VACUUM or ANALYZE.
pub(crate) fn run(session: &Session, statement: &Vacuum, text: &str, out: &mut dyn Output) -> SqlResult<()> {
    let asked = read(statement, text)?;
    if asked.vacuum {
        session.prevent_in_block("VACUUM")?;
    }
    if !asked.analyze && statement.relations.iter().any(|r| !r.columns.is_empty()) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "ANALYZE option must be specified when a column list is provided"
        ));
    }
    if asked.only_database_stats {
        return oldest_ids::settle(session);
    }
    let own = asked.vacuum || session.txn.borrow().state() == BlockState::Started;
    for Item { oid, columns, named } in targets(session, &statement.relations, &asked)? {
        let asked = Asked { named, ..asked };
        if own {
            session.next_transaction()?;
        }
        // What could not be vacuumed is not analysed either.
        let done = !asked.vacuum || vacuum_table(session, oid, &asked)?;
        if asked.analyze && done {
            if asked.vacuum {
                session.next_transaction()?;
            }
            analyze_table(session, oid, &columns, &asked)?;
        }
        session.send_notices(out);
    }
    if asked.vacuum && asked.database_stats {
        session.next_transaction()?;
        oldest_ids::settle(session)?;
    }
    Ok(())
}

fn read(statement: &Vacuum, text: &str) -> SqlResult<Asked> {
    let mut asked = Asked {
        vacuum: statement.vacuum,
        analyze: !statement.vacuum,
        verbose: false,
        full: false,
        freeze: false,
        disable_page_skipping: false,
        skip_locked: false,
        index_cleanup: true,
        process_main: true,
        process_toast: true,
        truncate: None,
        database_stats: true,
        only_database_stats: false,
        named: false,
    };
    for option in &statement.options {
        let known =
            read_common(&mut asked, option)? || statement.vacuum && read_vacuum(&mut asked, option, text)?;
        if !known {
            let command = if statement.vacuum { "VACUUM" } else { "ANALYZE" };
            let error = sql_err!(SYNTAX_ERROR, "unrecognized {command} option \"{}\"", option.name);
            return Err(at(error, text, option.location));
        }
    }
    if asked.full {
        check_full(&asked, statement)?;
    }
    if asked.only_database_stats && !statement.relations.is_empty() {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "ONLY_DATABASE_STATS cannot be specified with a list of tables"
        ));
    }
    Ok(asked)
}

/// What FULL cannot do.
fn check_full(asked: &Asked, statement: &Vacuum) -> SqlResult<()> {
    let option = |name: &str| statement.options.iter().find(|option| option.name == name);
    if option("parallel").is_some_and(|workers| options::integer(workers).is_ok_and(|n| n > 0)) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "VACUUM FULL cannot be performed in parallel"));
    }
    if option("buffer_usage_limit").is_some() && !asked.analyze {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "BUFFER_USAGE_LIMIT cannot be specified for VACUUM FULL"
        ));
    }
    if asked.disable_page_skipping {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL"
        ));
    }
    if !asked.process_toast {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "PROCESS_TOAST required with VACUUM FULL"));
    }
    Ok(())
}

/// Options of both; false if it is none.
fn read_common(asked: &mut Asked, option: &DefElem) -> SqlResult<bool> {
    match option.name.as_str() {
        "verbose" => asked.verbose = options::boolean(option)?,
        "skip_locked" => asked.skip_locked = options::boolean(option)?,
        // How many buffers the ring has is fixed.
        "buffer_usage_limit" => {
            options::string(option)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options of VACUUM; false if it is none.
fn read_vacuum(asked: &mut Asked, option: &DefElem, text: &str) -> SqlResult<bool> {
    match option.name.as_str() {
        "analyze" => asked.analyze = options::boolean(option)?,
        "freeze" => asked.freeze = options::boolean(option)?,
        "full" => asked.full = options::boolean(option)?,
        "disable_page_skipping" => asked.disable_page_skipping = options::boolean(option)?,
        "index_cleanup" => {
            let auto =
                option.value.as_ref().and_then(options::text).is_some_and(|w| w.eq_ignore_ascii_case("auto"));
            asked.index_cleanup = auto || options::boolean(option)?;
        }
        "process_main" => asked.process_main = options::boolean(option)?,
        "process_toast" => asked.process_toast = options::boolean(option)?,
        "truncate" => asked.truncate = Some(options::boolean(option)?),
        // One worker goes through a table.
        "parallel" => check_parallel(option, text)?,
        "skip_database_stats" => asked.database_stats = !options::boolean(option)?,
        "only_database_stats" => asked.only_database_stats = options::boolean(option)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn check_parallel(option: &DefElem, text: &str) -> SqlResult<()> {
    if option.value.is_none() {
        let error = sql_err!(SYNTAX_ERROR, "parallel option requires a value between 0 and 1024");
        return Err(at(error, text, option.location));
    }
    if !(0..=1024).contains(&options::integer(option)?) {
        let error = sql_err!(SYNTAX_ERROR, "parallel workers for vacuum must be between 0 and 1024");
        return Err(at(error, text, option.location));
    }
    Ok(())
}

/// The tables to go through. Nobody is waited for to go through a named one that the user may not.
fn targets(session: &Session, named: &[VacuumRelation], asked: &Asked) -> SqlResult<Vec<Item>> {
    let mut targets = Vec::new();
    for target in named {
        let verb = if asked.vacuum { "vacuum" } else { "analyze" };
        let Some(table) = find(session, &target.relation, (asked, verb))? else { continue };
        if analyze::may(session, &table, verb)? {
            targets.push(Item { oid: table.oid, columns: target.columns.clone(), named: true });
        }
        if target.relation.inherit {
            add_children(session, &table, &target.columns, &mut targets)?;
        }
    }
    if !named.is_empty() {
        return Ok(targets);
    }
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    for (_, row) in rows {
        if matches!(row.char(pg_class::RELKIND), b'r' | b'm') {
            targets.push(Item { oid: row.oid(pg_class::OID), columns: Vec::new(), named: false });
        }
    }
    Ok(targets)
}

/// The table with this name once nobody alters it; none if that is not waited for. The lock is not kept: each table is gone through in a
/// transaction of its own.
fn find(session: &Session, name: &RangeVar, (asked, verb): (&Asked, &str)) -> SqlResult<Option<Arc<Table>>> {
    let mode = LockMode::AccessShare;
    let wait = if asked.skip_locked { LockWait::NoWait } else { LockWait::Block };
    match names::try_open_with(session, name, mode, wait) {
        Ok(Some(table)) => {
            session.txn.borrow_mut().unlock(session.catalog.lock_tag(table.oid), mode);
            Ok(Some(table))
        }
        Ok(None) => Err(names::missing(session, name)?),
        Err(error) if asked.skip_locked && error.code() == SqlState::LOCK_NOT_AVAILABLE => {
            warn_locked(session, verb, &name.name);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The partitions of a table, or what inherits it, are meant too.
fn add_children(
    session: &Session,
    table: &Table,
    columns: &[String],
    targets: &mut Vec<Item>,
) -> SqlResult<()> {
    for &oid in &table.children {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        targets.push(Item { oid, columns: columns.to_vec(), named: false });
        if let Some(child) = session.with_reader(|r| catalog::CatalogView::relation_by_oid(r, oid))? {
            add_children(session, &child, columns, targets)?;
        }
    }
    Ok(())
}

fn warn(session: &Session, code: SqlState, message: String) {
    session.notice(SqlError::with_severity(Severity::Warning, code, message));
}

fn warn_locked(session: &Session, verb: &str, name: &str) {
    let message = format!("skipping {verb} of \"{name}\" --- lock not available");
    warn(session, SqlState::LOCK_NOT_AVAILABLE, message);
}

/// The table, locked ([`names::guard`]), if it is still there and may be gone through; and the lock, which is the session's if `for_session`.
fn lock(
    session: &Session,
    oid: Oid,
    asked: &Asked,
    (verb, mode, for_session): (&str, LockMode, bool),
) -> SqlResult<Option<(Arc<Table>, LockTag)>> {
    let find = || session.with_reader(|reader| catalog::CatalogView::relation_by_oid(reader, oid));
    let Some(before) = find()? else { return Ok(None) };
    let tag = session.catalog.lock_tag(names::guard(session, &before)?);
    let wait = if asked.skip_locked { LockWait::NoWait } else { LockWait::Block };
    let locked = {
        let mut txn = session.txn.borrow_mut();
        if for_session { txn.lock_for_session(tag, mode, wait) } else { txn.lock(tag, mode, wait) }
    };
    match locked {
        Ok(()) => {}
        Err(txn::LockError::NotAvailable) if !asked.named => return Ok(None),
        Err(txn::LockError::NotAvailable) => {
            warn_locked(session, verb, &before.name);
            return Ok(None);
        }
        Err(other) => return Err(other.into()),
    }
    let allowed = match find()? {
        Some(table) => check(session, &table, verb)?.then_some(table),
        None => {
            if asked.named {
                let message = format!("skipping {verb} of \"{}\" --- relation no longer exists", before.name);
                warn(session, SqlState::UNDEFINED_TABLE, message);
            }
            None
        }
    };
    if allowed.is_none() && for_session {
        session.txn.borrow_mut().unlock_for_session(tag, mode);
    }
    Ok(allowed.map(|table| (table, tag)))
}

fn check(session: &Session, table: &Table, verb: &str) -> SqlResult<bool> {
    // Its owner alone knows which of its rows are needed. No warning, as one without a list of tables meets many.
    if table.persistence == 't' && session.names.temporary_schema() != Some(table.schema) {
        return Ok(false);
    }
    // It has no rows of its own; its partitions follow.
    if table.kind == RelationKind::PartitionedTable {
        return Ok(false);
    }
    let fits = matches!(table.kind, RelationKind::Table | RelationKind::MaterializedView)
        || (verb == "vacuum" && table.kind == RelationKind::Toast);
    if !fits {
        let message =
            format!("skipping \"{}\" --- cannot {verb} non-tables or special system tables", table.name);
        warn(session, SqlState::WARNING, message);
        return Ok(false);
    }
    analyze::may(session, table, verb)
}

fn analyze_table(session: &Session, oid: Oid, columns: &[String], asked: &Asked) -> SqlResult<()> {
    match lock(session, oid, asked, ("analyze", LockMode::ShareUpdateExclusive, false))? {
        Some((table, _)) => analyze::table(session, &table, columns, asked.verbose),
        None => Ok(()),
    }
}

/// VACUUM of a table and its TOAST table; false if it was skipped.
fn vacuum_table(session: &Session, oid: Oid, asked: &Asked) -> SqlResult<bool> {
    if asked.full {
        return rewrite_table(session, oid, asked);
    }
    let how = ("vacuum", LockMode::ShareUpdateExclusive, true);
    let Some((table, tag)) = lock(session, oid, asked, how)? else { return Ok(false) };
    let done = (|| {
        if asked.process_main || table.kind == RelationKind::Toast {
            vacuum_heap(session, &table, asked, tag)?;
        }
        if asked.process_toast && table.toast.is_valid() {
            let toast = names::describe(session, table.toast)?;
            vacuum_heap(session, &toast, asked, tag)?;
        }
        Ok(true)
    })();
    session.txn.borrow_mut().unlock_for_session(tag, LockMode::ShareUpdateExclusive);
    done
}

/// VACUUM FULL of a table and its TOAST table, in the running transaction; false if it was skipped.
fn rewrite_table(session: &Session, oid: Oid, asked: &Asked) -> SqlResult<bool> {
    let how = ("vacuum", LockMode::AccessExclusive, false);
    let Some((table, _)) = lock(session, oid, asked, how)? else { return Ok(false) };
    let verb = asked.verbose.then_some("vacuuming");
    if asked.process_main || table.kind == RelationKind::Toast {
        let progress = session.progress(Lengthy::Cluster, table.oid);
        progress.set(rewrite::COMMAND, rewrite::VACUUM_FULL);
        rewrite::table(session, &table, None, verb)?;
    } else if table.toast.is_valid() {
        rewrite::table(session, names::describe(session, table.toast)?.as_ref(), None, verb)?;
    }
    Ok(true)
}

/// One heap with its indexes, then their sizes in a transaction of their own.
fn vacuum_heap(session: &Session, table: &Table, asked: &Asked, tag: LockTag) -> SqlResult<()> {
    let Some(heap) = &table.heap else { return Ok(()) };
    if asked.verbose {
        let (database, schema) = (session.catalog.database_name(), &table.schema_name);
        rewrite::info(session, format!("vacuuming \"{database}.{schema}.{}\"", table.name), None);
    }
    session.next_transaction()?;
    session.txn.borrow_mut().set_holds(XidHolds::Nothing);
    let options = heap_options(session, table, asked);
    let progress = session.progress(Lengthy::Vacuum, table.oid);
    progress.set(MAX_DEAD_BYTES, options.memory as i64);
    let mut work = Work { session, table, heap, tag, asked, indexes: open_indexes(table)?, progress };
    let access = session.engine().heap_access();
    let began = runtime::now();
    let stats = heap::vacuum::vacuum(&access, heap, &options, &mut work).map_err(HeapError::into_sql)?;
    let Work { indexes, progress, .. } = work;
    progress.set(PHASE, FINAL_CLEANUP);
    session.next_transaction()?;
    note_sizes(session, table, &stats, &indexes)?;
    let live = f64::from(estimate_rows(table.size, &stats)) as i64;
    session.instance.counters().replace(session.catalog.database(), table.oid, |all| {
        (all.live, all.dead) = (live, stats.recently_dead_tuples as i64);
        all.inserted_since_vacuum = 0;
        all.vacuums += 1;
        all.vacuum_time += began.elapsed().as_micros() as i64;
        all.last_vacuum = runtime::wall_clock_micros();
    });
    if asked.verbose {
        report(session, table, &stats);
    }
    session.next_transaction()
}

fn heap_options(session: &Session, table: &Table, asked: &Asked) -> VacuumOptions {
    let cutoffs = oldest_ids::cutoffs(session, kind_of(table), asked.freeze);
    let settings = session.settings.borrow();
    let truncate = asked.truncate.unwrap_or_else(|| settings.get(Setting::vacuum_truncate).as_bool());
    VacuumOptions {
        memory: settings.fast().maintenance_work_mem as usize,
        disable_page_skipping: asked.disable_page_skipping,
        freeze_limit: cutoffs.freeze_limit,
        usable: cutoffs.usable,
        // Catalogs are also open elsewhere, with places to insert that cutting would take away.
        truncate: truncate && !table.oid.is_pinned(),
    }
}

fn kind_of(table: &Table) -> txn::RelKind {
    table.heap.as_ref().map_or(txn::RelKind::Plain, |heap| heap.desc.kind)
}

/// An index being vacuumed.
struct OpenIndex {
    index: Arc<Index>,
    tree: Arc<BtreeRel>,
    stats: Option<IndexStats>,
}

fn open_indexes(table: &Table) -> SqlResult<Vec<OpenIndex>> {
    let open = |index: &Arc<Index>| {
        let tree = index.btree.clone().ok_or_else(|| SqlError::internal("an index has no tree"))?;
        Ok(OpenIndex { index: index.clone(), tree, stats: None })
    };
    table.indexes.iter().filter(|index| index.ready).map(open).collect()
}

/// What the heap's VACUUM calls back.
struct Work<'a> {
    session: &'a Session,
    table: &'a Table,
    heap: &'a HeapRel,
    tag: LockTag,
    asked: &'a Asked,
    indexes: Vec<OpenIndex>,
    progress: Running<'a>,
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
const INDEXES_DONE: usize = 10;
const FINAL_CLEANUP: i64 = 6;

impl Work<'_> {
    /// Tells how many of the indexes a pass has been over; of none, that it has ended.
    fn indexes_done(&self, done: Option<usize>) {
        self.progress.set(INDEXES, if done.is_some() { self.indexes.len() as i64 } else { 0 });
        self.progress.set(INDEXES_DONE, done.unwrap_or(0) as i64);
    }

    fn failed(&self, index: &str, error: btree::BtreeError) -> HeapError {
        HeapError::Callback(error.into_sql(index, &self.table.name))
    }
}

impl VacuumCallbacks for Work<'_> {
    fn bulk_delete(&mut self, _: &Access<'_>, is_dead: &mut dyn FnMut(base::Tid) -> bool) -> HeapResult<()> {
        let access = self.session.engine().index_access(Xid::INVALID);
        for i in 0..self.indexes.len() {
            let mut stats = self.indexes[i].stats.unwrap_or_default();
            let done = btree::bulk_delete(&access, &self.indexes[i].tree, is_dead, &mut stats);
            done.map_err(|e| self.failed(&self.indexes[i].index.name, e))?;
            self.indexes[i].stats = Some(stats);
            self.indexes_done(Some(i + 1));
        }
        self.indexes_done(None);
        self.progress.add(INDEX_ROUNDS, 1);
        Ok(())
    }

    fn cleanup_indexes(&mut self, _: &Access<'_>) -> HeapResult<()> {
        if !self.asked.index_cleanup {
            return Ok(());
        }
        let access = self.session.engine().index_access(Xid::INVALID);
        for i in 0..self.indexes.len() {
            let open = &self.indexes[i];
            let stats = btree::cleanup(&access, &open.tree, open.stats);
            let stats = stats.map_err(|e| self.failed(&open.index.name, e))?;
            self.indexes[i].stats = Some(stats);
            self.indexes_done(Some(i + 1));
        }
        self.indexes_done(None);
        Ok(())
    }

    fn has_indexes(&self) -> bool {
        !self.indexes.is_empty()
    }

    fn lock_for_truncation(&mut self) -> bool {
        let mut txn = self.session.txn.borrow_mut();
        txn.lock(self.tag, LockMode::AccessExclusive, LockWait::NoWait).is_ok()
    }

    fn unlock_after_truncation(&mut self) {
        self.session.txn.borrow_mut().unlock(self.tag, LockMode::AccessExclusive);
    }

    fn truncate(&mut self, _: &Access<'_>, nblocks: u32) -> HeapResult<()> {
        let done = self.session.engine().truncate_relation(self.heap.desc.file, nblocks);
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
        let progress = &self.progress;
        progress.set(PHASE, phase as i64 + 1);
        match phase {
            VacuumPhase::ScanningHeap => {
                progress.set(BLOCKS, i64::from(total));
                progress.set(BLOCKS_SCANNED, i64::from(block.0) + 1);
            }
            VacuumPhase::VacuumingIndexes => {
                progress.set(BLOCKS_SCANNED, i64::from(total));
                self.indexes_done(Some(0));
            }
            VacuumPhase::VacuumingHeap => progress.add(BLOCKS_VACUUMED, 1),
            VacuumPhase::CleaningUpIndexes => self.indexes_done(Some(0)),
            VacuumPhase::TruncatingHeap => {}
        }
        progress.set(DEAD_ITEMS, dead.0 as i64);
        progress.set(DEAD_BYTES, dead.1 as i64);
        runtime::check_interrupts().map_err(HeapError::Interrupted)
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

fn note_sizes(session: &Session, table: &Table, stats: &VacuumStats, indexes: &[OpenIndex]) -> SqlResult<()> {
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

fn report(session: &Session, table: &Table, stats: &VacuumStats) {
    let (database, schema) = (session.catalog.database_name(), &table.schema_name);
    let share = 100.0 * f64::from(stats.pages_scanned) / f64::from(stats.pages.max(1));
    rewrite::info(
        session,
        format!(
            "finished vacuuming \"{database}.{schema}.{}\": index scans: {}\n\
             pages: {} removed, {} remain, {} scanned ({share:.2}% of total)\n\
             tuples: {} removed, {} remain, {} are dead but not yet removable",
            table.name,
            stats.index_passes,
            stats.pages_removed,
            stats.pages,
            stats.pages_scanned,
            stats.tuples_removed,
            stats.live_tuples,
            stats.recently_dead_tuples
        ),
        None,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(sql: &str) -> SqlResult<Asked> {
        let statements = parse::parse(sql).unwrap();
        let parse::Statement::Vacuum(vacuum) = &statements[0].stmt else { panic!("not a VACUUM") };
        read(vacuum, sql)
    }

    #[test]
    fn options_are_read_in_both_syntaxes() {
        assert!(asked("vacuum analyze t").unwrap().analyze);
        assert!(asked("vacuum (freeze, verbose off) t").unwrap().freeze);
        assert!(!asked("vacuum (index_cleanup off) t").unwrap().index_cleanup);
        assert!(!asked("analyze verbose t").unwrap().vacuum);
        let error = asked("vacuum (frobnicate) t").unwrap_err();
        assert_eq!(error.message(), "unrecognized VACUUM option \"frobnicate\"");
        assert_eq!(error.report().position, Some(9));
        assert_eq!(
            asked("analyze (freeze) t").unwrap_err().message(),
            "unrecognized ANALYZE option \"freeze\""
        );
        assert!(asked("vacuum full t").unwrap().full);
        let error = asked("vacuum (full, disable_page_skipping) t").unwrap_err();
        assert_eq!(error.message(), "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL");
        assert!(asked("vacuum (full, parallel 2) t").is_err());
        assert!(asked("vacuum (full, parallel 0) t").is_ok());
    }

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
