//! # What
//! What serializable transactions tell of the rows that they read ([`txn::serializable`]).
//!
//! # Invariants
//! 1. A version is read and its lock taken under one latch of its page; a writer looks for locks under the exclusive latch.
//! 2. A scan of all rows locks the table before it asks how many pages there are: who then adds one finds the lock. If it looks for a range of an
//!    index's keys it locks that instead, and of the rows those in it: who then adds one finds the range when he comes to the index.
//!
//! # PostgreSQL counterpart
//! `HeapCheckForSerializableConflictOut`, and the calls of `PredicateLock*` in `heapam.c`.

use std::sync::Arc;

use base::{BlockNo, Tid};
use tuple::{Datum, RowLayout};
use txn::{KeyRange, Serial, Transaction, TxnSystem};

use crate::error::HeapResult;
use crate::header::Header;
use crate::rel::HeapRel;
use crate::row::TupleRef;
use crate::visibility::ender;

/// Whether there is anything to tell of a version: a few comparisons. `rows`: whether those that are seen are locked one by one.
#[inline]
fn is_worth_noting(serial: &Serial<'_>, header: &Header, sees: bool, rows: bool) -> bool {
    match sees {
        true => rows || !(header.xmax_invalid() || header.lock_only()),
        false => {
            !header.xmin_hinted_aborted() && !header.xmin_frozen() && serial.is_concurrent(header.raw_xmin)
        }
    }
}

/// A version was met; whether the transaction sees it. Its lock is taken if `rows` are locked one by one. `is_sought` is asked only where there is
/// something to tell, as for most versions of a table that is scanned there is not.
#[inline]
pub(crate) fn note_version(
    serial: &Serial<'_>,
    txns: &TxnSystem,
    (rel, tid): (&HeapRel, Tid),
    header: &Header,
    (me, sees): (&Transaction, bool),
    rows: bool,
    is_sought: impl FnOnce() -> bool,
) -> HeapResult<()> {
    serial.check()?;
    if !is_worth_noting(serial, header, sees, rows) || !is_sought() {
        return Ok(());
    }
    if !sees {
        return Ok(serial.conflict_out(header.raw_xmin)?);
    }
    // No other transaction can change what it wrote itself before it ends.
    if rows && (header.xmin_hinted_committed() || !me.is_mine(header.raw_xmin)) {
        serial.read_row(rel.desc.file, tid);
    }
    if !header.xmax_invalid() && !header.lock_only() {
        serial.conflict_out(ender(txns, header)?)?;
    }
    Ok(())
}

/// What a scan of a whole table looks for.
#[derive(Debug)]
pub struct SoughtRows {
    range: Arc<dyn KeyRange>,
    /// The index's columns among the table's.
    columns: Box<[usize]>,
    /// A row's values of them.
    key: Vec<Datum>,
}

impl SoughtRows {
    /// Rows in a range of an index, which has these columns of the table's, counted from 0.
    pub fn new(range: Arc<dyn KeyRange>, columns: Box<[usize]>) -> SoughtRows {
        SoughtRows { range, columns, key: Vec::new() }
    }

    /// Whether a version may be in the range; if its columns cannot be known here, it may.
    pub(crate) fn may_hold(&mut self, layout: &RowLayout, version: Option<TupleRef<'_>>) -> bool {
        let Some(version) = version else { return true };
        self.key.clear();
        for &column in &self.columns {
            match version.decode_column(layout, column) {
                Err(_) | Ok(Datum::Toasted(_)) => return true,
                Ok(value) => self.key.push(value),
            }
        }
        self.range.holds(&self.key)
    }
}

/// All rows of a table are about to be read.
#[inline]
pub fn watch_scan(rel: &HeapRel, me: &Transaction) {
    if let Some(serial) = rel.serial(me) {
        serial.read_relation(rel.desc.file);
    }
}

/// A row of a page is about to be read without a look at the page, if the visibility map allows it; to be called before that is asked.
#[inline]
pub fn watch_page(rel: &HeapRel, me: &Transaction, block: BlockNo) {
    if let Some(serial) = rel.serial(me) {
        serial.read_page(rel.desc.file, block);
    }
}

/// All rows of a table go.
pub fn watch_removal(rel: &HeapRel, me: &Transaction) -> HeapResult<()> {
    match rel.serial(me) {
        Some(serial) => Ok(serial.write_all(rel.desc.file)?),
        None => Ok(()),
    }
}
