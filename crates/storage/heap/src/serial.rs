//! # What
//! What serializable transactions tell of the rows that they read ([`txn::serializable`]).
//!
//! # Invariants
//! 1. A version is read and its lock taken under one latch of its page; who changes it looks for locks under the exclusive one.
//! 2. A scan of all rows locks the table before it asks how many pages there are: who then adds one finds the lock.
//!
//! # PostgreSQL counterpart
//! `HeapCheckForSerializableConflictOut`, and the calls of `PredicateLock*` in `heapam.c`.

use base::{BlockNo, Tid};
use txn::{Serial, Transaction, TxnSystem};

use crate::error::HeapResult;
use crate::header::Header;
use crate::rel::HeapRel;
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
