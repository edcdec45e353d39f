//! # What
//! What serializable transactions tell of the rows that they read ([`txn::serializable`]).
//!
//! # Invariants
//! 1. A version is read and its lock taken under one latch of its page; who changes it looks for locks under the exclusive one.
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

/// A version was met; whether the transaction sees it. Its lock is taken if `rows` are locked one by one.
pub(crate) fn note_version(
    serial: &Serial<'_>,
    txns: &TxnSystem,
    (rel, tid): (&HeapRel, Tid),
    header: &Header,
    (me, sees): (&Transaction, bool),
    rows: bool,
) -> HeapResult<()> {
    serial.check()?;
    if !sees {
        if !header.xmin_hinted_aborted() && !header.xmin_frozen() {
            serial.conflict_out(header.raw_xmin)?;
        }
        return Ok(());
    }
    // What it wrote itself nobody else can change before it ends.
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
    /// A row's columns up to the last of them, and they themselves.
    row: Vec<Datum>,
    key: Vec<Datum>,
}

impl SoughtRows {
    /// Rows in a range of an index, which has these columns of the table's, counted from 0.
    pub fn new(range: Arc<dyn KeyRange>, columns: Box<[usize]>) -> SoughtRows {
        SoughtRows { range, columns, row: Vec::new(), key: Vec::new() }
    }

    /// Whether a version may be in the range.
    pub(crate) fn may_hold(&mut self, layout: &RowLayout, version: Option<TupleRef<'_>>) -> bool {
        let upto = self.columns.iter().max().map_or(0, |last| last + 1);
        self.row.clear();
        if version.is_none_or(|version| version.decode(layout, upto, &mut self.row).is_err()) {
            return true;
        }
        let values = self.columns.iter().map(|column| self.row[*column].clone());
        self.key.clear();
        self.key.extend(values);
        self.key.iter().any(|value| matches!(value, Datum::Toasted(_))) || self.range.holds(&self.key)
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
