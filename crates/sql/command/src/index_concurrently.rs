//! # What
//! CREATE INDEX, DROP INDEX and REINDEX CONCURRENTLY: in several transactions, while others write.
//!
//! # How an index comes
//! 1. Its catalog entry is committed, neither ready nor valid. Then all transactions are waited for that may write with the table's old description: from
//!    now on every HOT chain that grows respects the index's columns.
//! 2. It is built from the rows that a snapshot sees. Once this is committed it is ready: inserts maintain it. Again, transactions that may not know this are
//!    waited for.
//! 3. The rows that a second snapshot sees are compared with the index, and missing ones are added ([`validate`]). When no older snapshot is left, which could
//!    see rows that the index lacks, the index becomes valid: queries use it.
//!
//! An error in between leaves an index that is not valid: to be dropped, or made again.
//!
//! # How an index goes
//! First queries stop using it, then inserts stop maintaining it. After each step, transactions that may not know of it are waited for.
//!
//! # How an index is made again
//! A copy is built as above, but does not become valid. Then the two swap their files in one transaction, and the copy, which now has the old file, is
//! dropped as above. As long as some transaction may still read the old file, inserts maintain both.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the table from beginning to end: no other schema change, no VACUUM. So the root of a HOT chain that is in the index is not
//! reused for another row. A TOAST table is read and written under the lock of the table that it belongs to: for its indexes, that table stays locked, and
//! its lockers are waited for ([`used_through`]).
//!
//! # PostgreSQL counterpart and differences
//! `DefineIndex`, `ReindexRelationConcurrently` of `commands/indexcmds.c`; `validate_index`, `index_drop` of `catalog/index.c`. An index made again keeps
//! its OID, and all that hangs on it; PostgreSQL gives everything to the copy.

use std::ops::Range;
use std::sync::Arc;

use base::{Oid, PAGE_SIZE, SqlError, SqlResult, Tid, Xid, sql_err};
use catalog::change::{Behavior, ObjectAddress};
use catalog::{Index, RelationKind, Table};
use heap::HeapRel;
use index::{Manner, VacuumStats};
use parse::ast::{Drop as DropStatement, DropBehavior};
use session::Session;
use session::progress::{Lengthy, Progress};
use session::table_rows::Seen;
use tuple::Datum;
use txn::LockMode;

use super::concurrently::{KeptLock, wait_for_lockers, wait_for_older_snapshots};
use super::expression::IndexKeys;
use super::index_build::{self, Rows};
use super::index_entries::{self, Check};
use super::{inherit, names, object_name, violation};

/// Phases in `pg_stat_progress_create_index`.
const WAITING_FOR_WRITERS: i64 = 1;
const WAITING_BEFORE_VALIDATION: i64 = 3;
const SCANNING_INDEX: i64 = 4;
const SCANNING_TABLE: i64 = 6;
const WAITING_FOR_SNAPSHOTS: i64 = 7;
const WAITING_FOR_READERS: i64 = 8;
const WAITING_BEFORE_DROP: i64 = 9;

/// Lets queries use the index `index` of `table`, which the running transaction has entered as neither ready nor valid.
pub(super) fn build(session: &Session, table: Oid, index: Oid) -> SqlResult<()> {
    let progress = session.progress(Lengthy::CreateIndex, table);
    progress.set(index_build::COMMAND, index_build::CREATE_CONCURRENTLY);
    let _kept = KeptLock::take(session, used_through(session, table)?, LockMode::ShareUpdateExclusive)?;
    fill(session, table, index, &progress)?;
    session.with_changer(|changer| changer.set_index_state(index, true, true))
}

/// REINDEX CONCURRENTLY of an index: a copy is built, and the two change files. The transaction holds SHARE UPDATE EXCLUSIVE on the table.
/// `tablespace`: the index' `reltablespace` from then on, if it changes.
pub(super) fn rebuild(
    session: &Session,
    table: &Table,
    index: &Index,
    tablespace: Option<Oid>,
) -> SqlResult<()> {
    let progress = session.progress(Lengthy::CreateIndex, table.oid);
    progress.set(index_build::COMMAND, index_build::REINDEX_CONCURRENTLY);
    let _kept = KeptLock::take(session, used_through(session, table.oid)?, LockMode::ShareUpdateExclusive)?;
    let name = |label| object_name::free_relation(session, table.schema, (&index.name, None, label), false);
    let (new, old) = (name("ccnew")?, name("ccold")?);
    let copy = session.with_changer(|changer| changer.copy_index(index.oid, &new, tablespace))?;
    fill(session, table.oid, copy, &progress)?;
    session.with_changer(|changer| changer.swap_index_files(index.oid, copy, &old))?;
    retire(session, table.oid, copy, Some(&progress))
}

/// The table by whose locks this one is used: the table that a TOAST table belongs to, or itself.
fn used_through(session: &Session, table: Oid) -> SqlResult<Oid> {
    Ok(session.with_reader(|reader| reader.toast_owner(table))?.unwrap_or(table))
}

/// Makes a new index complete, and waits until no snapshot is left that might miss rows in it.
fn fill(session: &Session, table: Oid, index: Oid, progress: &Progress) -> SqlResult<()> {
    progress.set(index_build::INDEX, i64::from(index.0));
    let locked = used_through(session, table)?;
    session.next_transaction()?;
    progress.set(index_build::PHASE, WAITING_FOR_WRITERS);
    wait_for_lockers(session, locked, LockMode::Share, Some(progress))?;

    index_build::build(session, &*reopen(session, table)?, index, Rows::Seen)?;
    session.with_changer(|changer| changer.set_index_state(index, false, true))?;
    session.next_transaction()?;
    progress.set(index_build::PHASE, WAITING_BEFORE_VALIDATION);
    wait_for_lockers(session, locked, LockMode::Share, Some(progress))?;

    let described = reopen(session, table)?;
    let limit = session.as_maintainer(described.owner, || validate(session, &described, index, progress))?;
    session.next_transaction()?;
    progress.set(index_build::PHASE, WAITING_FOR_SNAPSHOTS);
    wait_for_older_snapshots(session, limit, Some(progress))?;
    reopen(session, table).map(|_| ())
}

/// The table in the next transaction.
fn reopen(session: &Session, table: Oid) -> SqlResult<Arc<Table>> {
    let found = inherit::open_child(session, table, LockMode::ShareUpdateExclusive)?;
    found.ok_or_else(|| SqlError::internal(format!("relation {table} is gone in spite of its lock")))
}

/// Which rows of some pages have an entry.
struct Entered {
    pages: Range<u32>,
    /// A bit for each line pointer.
    bits: Vec<[u64; Entered::WORDS]>,
}

impl Entered {
    /// A row takes a line pointer of 4 bytes and at least 24 more.
    const WORDS: usize = (PAGE_SIZE / 28).div_ceil(64);

    /// How many pages fit into so many bytes.
    fn pages_in(bytes: usize) -> u32 {
        u32::try_from(bytes / (Entered::WORDS * 8)).unwrap_or(u32::MAX).max(1)
    }

    fn new(pages: Range<u32>) -> Entered {
        Entered { bits: vec![[0; Entered::WORDS]; pages.len()], pages }
    }

    fn place(&self, tid: Tid) -> Option<(usize, usize, u32)> {
        let bit = u32::from(tid.offset);
        let inside = self.pages.contains(&tid.block.0) && (bit as usize) < Entered::WORDS * 64;
        inside.then(|| ((tid.block.0 - self.pages.start) as usize, bit as usize / 64, bit % 64))
    }

    fn add(&mut self, tid: Tid) {
        if let Some((page, word, bit)) = self.place(tid) {
            self.bits[page][word] |= 1 << bit;
        }
    }

    fn contains(&self, tid: Tid) -> bool {
        self.place(tid).is_some_and(|(page, word, bit)| self.bits[page][word] & 1 << bit != 0)
    }
}

/// Enters the rows that a new snapshot sees and the index does not have. Returns the snapshot's `xmin`: an older snapshot may see rows
/// that are not in the index.
fn validate(session: &Session, table: &Table, index: Oid, progress: &Progress) -> SqlResult<Xid> {
    let index = names::find_index(table, index)?;
    let open = index.storage()?;
    let heap = table.heap.as_ref().ok_or_else(|| SqlError::internal("an indexed table has no storage"))?;
    // Taken before the index is read: transactions that know the index have already entered all of their rows that this snapshot sees.
    let snapshot = session.txn.borrow_mut().statement_snapshot()?;
    let xid = session.txn.borrow_mut().xid_for(heap.is_logged())?;
    let access = session.index_access(xid);
    let all = session.blocks(heap.desc.file)?;
    let memory = session.settings.borrow().fast().maintenance_work_mem as usize;
    let mut keys = IndexKeys::new(session, table, index)?;
    let step = Entered::pages_in(memory);
    for start in (0..all).step_by(step as usize) {
        let pages = start..all.min(start.saturating_add(step));
        let mut entered = Entered::new(pages.clone());
        progress.set(index_build::PHASE, SCANNING_INDEX);
        let mut note = |tid| {
            entered.add(tid);
            false
        };
        let mut manner = Manner { ring: None, pause: &mut runtime::check_interrupts };
        open.bulk_delete(&access, &mut note, &mut manner, &mut VacuumStats::default())
            .map_err(|e| e.into_sql(&index.name, &table.name))?;
        progress.set(index_build::PHASE, SCANNING_TABLE);
        let scan = Seen { session, heap, snapshot: &snapshot, pages };
        scan.each(keys.upto(), &mut |root, row| {
            if entered.contains(root) {
                return Ok(());
            }
            let mut entry = Vec::new();
            match keys.entry(session, row, &mut entry)? {
                true => enter(session, (table, heap), index, &entry, root),
                false => Ok(()),
            }
        })?;
    }
    Ok(snapshot.xmin())
}

/// Enters one row. A row that was deleted meanwhile conflicts with no other, but older snapshots need its entry.
fn enter(
    session: &Session,
    (table, heap): (&Table, &HeapRel),
    index: &Index,
    entry: &[Datum],
    root: Tid,
) -> SqlResult<()> {
    let check = if index.refuses_duplicates() { Check::Unique } else { Check::None };
    if index_entries::insert(session, (table, heap), index, (entry, root), check)? {
        return Ok(());
    }
    if !index_entries::is_dead(session, heap, root)? {
        return Err(violation::duplicate(session, table, index, entry)?);
    }
    index_entries::insert(session, (table, heap), index, (entry, root), Check::None).map(|_| ())
}

/// What DROP INDEX CONCURRENTLY does not do, known before any lock is taken.
pub(super) fn check_drop(statement: &DropStatement) -> SqlResult<()> {
    let refused = match statement {
        DropStatement { objects, .. } if objects.len() > 1 => "dropping multiple objects",
        DropStatement { behavior: DropBehavior::Cascade, .. } => "CASCADE",
        _ => return Ok(()),
    };
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "DROP INDEX CONCURRENTLY does not support {refused}"))
}

/// Drops an index of a table; the running transaction holds SHARE UPDATE EXCLUSIVE on both.
pub(super) fn drop(session: &Session, table: Oid, index: &Table) -> SqlResult<()> {
    if index.kind == RelationKind::PartitionedIndex {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot drop partitioned index \"{}\" concurrently",
            index.name
        ));
    }
    session.with_changer(|changer| changer.check_droppable(ObjectAddress::relation(index.oid)))?;
    let _table = KeptLock::take(session, used_through(session, table)?, LockMode::ShareUpdateExclusive)?;
    let _index = KeptLock::take(session, index.oid, LockMode::ShareUpdateExclusive)?;
    retire(session, table, index.oid, None)
}

/// Takes an index out of use, step by step, and drops it.
fn retire(session: &Session, table: Oid, index: Oid, progress: Option<&Progress>) -> SqlResult<()> {
    let locked = used_through(session, table)?;
    let wait = |phase| {
        session.next_transaction()?;
        progress.into_iter().for_each(|progress| progress.set(index_build::PHASE, phase));
        wait_for_lockers(session, locked, LockMode::AccessExclusive, progress)?;
        reopen(session, table).map(|_| ())
    };
    session.with_changer(|changer| changer.set_index_invalid(index))?;
    wait(WAITING_FOR_READERS)?;
    session.with_changer(|changer| changer.set_index_dead(index))?;
    wait(WAITING_BEFORE_DROP)?;
    let object = ObjectAddress::relation(index);
    session.with_changer(|changer| changer.drop_objects(&[object], Behavior::Restrict)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::BlockNo;

    #[test]
    fn entries_are_noted_by_page_and_line_pointer() {
        let mut entered = Entered::new(5..7);
        let tid = |block, offset| Tid::new(BlockNo(block), offset);
        for known in [tid(5, 1), tid(6, 64), tid(6, 291), tid(4, 1), tid(7, 1), tid(6, u16::MAX)] {
            entered.add(known);
        }
        let all = (4..8).flat_map(|block| (0..400).map(move |offset| tid(block, offset)));
        let found: Vec<Tid> = all.filter(|&tid| entered.contains(tid)).collect();
        assert_eq!(found, [tid(5, 1), tid(6, 64), tid(6, 291)], "pages outside belong to another round");
        assert_eq!(Entered::pages_in(1), 1);
    }
}
