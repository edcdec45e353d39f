//! INSERT and COPY.

use base::Tid;
use tuple::Datum;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel, Writer};

/// How rows are inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertOptions {
    /// Do not look for room in old pages: a load.
    pub skip_fsm: bool,
    /// Rows are visible to everybody at once: a table created in this very (sub)transaction that nobody else can see (COPY FREEZE, rewrite).
    pub frozen: bool,
}

/// Inserts a row and returns its place. Large values go to the toast table first.
pub fn insert(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    values: &[Datum],
    options: InsertOptions,
) -> HeapResult<Tid> {
    let _ = (access, rel, writer, values, options);
    todo!()
}

/// Inserts many rows with one WAL record for each page, and appends their places to `tids` in order.
pub fn multi_insert(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    rows: &[Vec<Datum>],
    options: InsertOptions,
    tids: &mut Vec<Tid>,
) -> HeapResult<()> {
    let _ = (access, rel, writer, rows, options, tids);
    todo!()
}
