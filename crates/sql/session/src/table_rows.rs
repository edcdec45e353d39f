//! Rows of a table that are read without a plan: for building indexes, for their summaries of ranges, and for verifying them.

use std::ops::Range;
use std::sync::Arc;

use base::{BlockNo, SqlError, SqlResult, Tid, Xid};
use catalog::{Index, Table};
use heap::{Access, HeapError, HeapRel, HeapResult, HeapScan, TupleRef, View};
use index::{IndexResult, Ranges, TableRows};
use tuple::Datum;
use txn::Snapshot;

use crate::Session;
use crate::expression::{IndexKeys, PlainKeys};

/// The rows of some pages that a snapshot sees.
pub struct Seen<'a> {
    /// The session, in whose transaction they are read.
    pub session: &'a Session,
    /// The table.
    pub heap: &'a Arc<HeapRel>,
    /// Which versions are seen.
    pub snapshot: &'a Snapshot,
    /// The pages that are read.
    pub pages: Range<u32>,
}

impl Seen<'_> {
    /// Calls `visit` for each row, with the root of its HOT chain and its first `upto` columns.
    pub fn each(self, upto: usize, visit: &mut dyn FnMut(Tid, &[Datum]) -> SqlResult<()>) -> SqlResult<()> {
        let Seen { session, heap, snapshot, pages } = self;
        let access = session.engine().heap_access();
        let curcid = session.txn.borrow().current_command();
        let mut scan = HeapScan::new(&access, heap.clone(), Some(pages)).map_err(HeapError::into_sql)?;
        let mut row = Vec::new();
        loop {
            {
                // Not held over the visit: expressions may call functions, which use the transaction.
                let me = session.txn.borrow();
                let view = View { snapshot, curcid, me: &me, combo: &session.combo };
                let Some(found) = scan.next(&access, &view).map_err(HeapError::into_sql)? else {
                    return Ok(());
                };
                row.clear();
                decode(&access, heap, &found, upto, &mut row).map_err(HeapError::into_sql)?;
            }
            visit(scan.root(&access).map_err(HeapError::into_sql)?, &row)?;
        }
    }
}

/// The leading columns of a version, large values fetched.
pub fn decode(
    access: &Access<'_>,
    heap: &HeapRel,
    found: &TupleRef<'_>,
    upto: usize,
    row: &mut Vec<Datum>,
) -> HeapResult<()> {
    found.decode(&heap.desc.layout, upto, row).map_err(|_| corrupt())?;
    fetch(access, heap, row)
}

/// Computes the entry of a row from its leading columns; false if it has none.
pub type ComputeEntry<'m> = dyn FnMut(&[Datum], &mut Vec<Datum>) -> SqlResult<bool> + 'm;

/// Makes the entries of an index from stored versions.
pub struct Entries<'m> {
    plain: Option<&'m PlainKeys>,
    upto: usize,
    compute: &'m mut ComputeEntry<'m>,
    row: Vec<Datum>,
}

impl<'m> Entries<'m> {
    /// `plain`: of an index that computes nothing. Otherwise the first `upto` columns of a row go to `compute`.
    pub fn new(plain: Option<&'m PlainKeys>, upto: usize, compute: &'m mut ComputeEntry<'m>) -> Entries<'m> {
        Entries { plain, upto, compute, row: Vec::new() }
    }

    /// Replaces `entry` by the one of a version; false if it has none.
    pub fn make(
        &mut self,
        access: &Access<'_>,
        heap: &HeapRel,
        found: &TupleRef<'_>,
        entry: &mut Vec<Datum>,
    ) -> HeapResult<bool> {
        let Some(plain) = self.plain else {
            self.row.clear();
            decode(access, heap, found, self.upto, &mut self.row)?;
            return (self.compute)(&self.row, entry).map_err(HeapError::Callback);
        };
        // Other columns are not decoded.
        entry.clear();
        for column in plain.columns() {
            entry.push(found.decode_column(&heap.desc.layout, column).map_err(|_| corrupt())?);
        }
        fetch(access, heap, entry)?;
        Ok(true)
    }
}

fn corrupt() -> HeapError {
    HeapError::Callback(SqlError::internal("corrupt row"))
}

/// Fetches large values.
fn fetch(access: &Access<'_>, heap: &HeapRel, values: &mut [Datum]) -> HeapResult<()> {
    for value in values.iter_mut().filter(|v| matches!(v, Datum::Toasted(_))) {
        *value = heap::detoast(access, heap.desc.toast.as_ref(), value)?;
    }
    Ok(())
}

/// The rows of a table, for an index that has summaries of them.
pub struct SummaryRows<'a> {
    session: &'a Session,
    heap: Option<&'a Arc<HeapRel>>,
    keys: IndexKeys,
    /// Rows that are live, of those that were given.
    pub live: u64,
    /// Versions that only older snapshots see were left out.
    pub broken_chains: bool,
}

impl<'a> SummaryRows<'a> {
    /// Those of a table, as the entries of one of its indexes.
    pub fn new(
        session: &'a Session,
        table: &Table,
        index: &Index,
        heap: Option<&'a Arc<HeapRel>>,
    ) -> SqlResult<SummaryRows<'a>> {
        let keys = IndexKeys::new(session, table, index)?;
        Ok(SummaryRows { session, heap, keys, live: 0, broken_chains: false })
    }
}

impl TableRows for SummaryRows<'_> {
    fn pages(&mut self) -> IndexResult<u32> {
        match self.heap {
            Some(heap) => Ok(self.session.blocks(heap.desc.file)?),
            None => Ok(0),
        }
    }

    fn rows(
        &mut self,
        first: BlockNo,
        count: u32,
        each: &mut dyn FnMut(Tid, &[Datum]) -> IndexResult<()>,
    ) -> IndexResult<()> {
        let (Some(heap), session) = (self.heap, self.session) else { return Ok(()) };
        let access = session.engine().heap_access();
        let is_mine = |xid| session.txn.borrow().is_mine(xid);
        let (mut entry, mut failed) = (Vec::new(), None);
        let (keys, live) = (&mut self.keys, &mut self.live);
        let (plain, upto) = (keys.plain(), keys.upto());
        let mut compute = |row: &[Datum], entry: &mut Vec<Datum>| keys.entry(session, row, entry);
        let mut entries = Entries::new(plain.as_ref(), upto, &mut compute);
        let stop = || HeapError::Callback(SqlError::internal("summarizing failed"));
        let done = heap::build_scan(&access, heap, &is_mine, first.0..first.0 + count, &mut |found| {
            *live += u64::from(found.live);
            if entries.make(&access, heap, &found.row, &mut entry)?
                && let Err(error) = each(found.root, &entry)
            {
                failed = Some(error);
                return Err(stop());
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => {
                self.broken_chains |= done.map_err(HeapError::into_sql)?;
                Ok(())
            }
        }
    }
}

/// Summarizes ranges of a table in one of its indexes. Returns how many. The caller holds SHARE UPDATE EXCLUSIVE on the table.
pub fn summarize(session: &Session, table: &Table, index: &Index, which: Ranges) -> SqlResult<u64> {
    let rel = index.storage()?;
    session.as_maintainer(table.owner, || {
        let mut rows = SummaryRows::new(session, table, index, table.heap.as_ref())?;
        let access = session.index_access(Xid::INVALID);
        rel.summarize(&access, &mut rows, which).map_err(|e| e.into_sql(&index.name, &table.name))
    })
}
