//! Scans.

use std::sync::Arc;

use base::Tid;
use tuple::Datum;

use crate::{Access, BtreeRel, BtreeResult};

/// Which way a scan goes, in index order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// In index order.
    #[default]
    Forward,
    /// Against index order.
    Backward,
}

/// Condition on one column. Comparisons are in the order of the *type*, whatever DESC says; NULL satisfies none of them.
#[derive(Clone, Debug)]
pub enum ScanOp {
    /// `column < value`
    Less(Datum),
    /// `column <= value`
    LessEqual(Datum),
    /// `column = value`
    Equal(Datum),
    /// `column >= value`
    GreaterEqual(Datum),
    /// `column > value`
    Greater(Datum),
    /// `column IS NULL`
    IsNull,
    /// `column IS NOT NULL`
    IsNotNull,
}

/// Condition on one key column.
#[derive(Clone, Debug)]
pub struct ScanKey {
    /// Key column, from 0.
    pub column: usize,
    /// What it must satisfy. A comparison with NULL is never true: the scan is empty.
    pub op: ScanOp,
}

/// All conditions of a scan, in any order, and its direction. They are ANDed; several on one column are fine.
#[derive(Clone, Debug, Default)]
pub struct ScanKeys {
    /// Conditions.
    pub keys: Vec<ScanKey>,
    /// Which way.
    pub direction: Direction,
}

/// A scan of an index. Copies the matching items of one leaf at a time; holds no latch between calls, and no pin either
/// unless asked to.
pub struct Scan {
    #[allow(dead_code)]
    rel: Arc<BtreeRel>,
}

impl Scan {
    /// A scan that has not started. With `want_values` it keeps the items' bytes for [`Scan::values`] (index-only scans).
    /// With `keep_pin` the leaf stays pinned until the scan leaves it, so that VACUUM cannot recycle the TIDs that came from it: needed by
    /// index-only scans (which trust the visibility map instead of looking at the row) and by scans under other than MVCC snapshots.
    pub fn new(rel: Arc<BtreeRel>, keys: ScanKeys, want_values: bool, keep_pin: bool) -> Scan {
        let _ = (keys, want_values, keep_pin);
        Scan { rel }
    }

    /// Starts again with other conditions, keeping allocations.
    pub fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        let _ = (access, keys);
        todo!()
    }

    /// The next entry in the scan's direction. Every condition has been checked: no recheck is needed.
    pub fn next(&mut self, access: &Access<'_>) -> BtreeResult<Option<Tid>> {
        let _ = access;
        todo!()
    }

    /// One step in any direction (scrollable cursors).
    pub fn step(&mut self, access: &Access<'_>, direction: Direction) -> BtreeResult<Option<Tid>> {
        let _ = (access, direction);
        todo!()
    }

    /// Column values of the entry that the last [`Scan::next`] returned, INCLUDE columns too; appended to `out`.
    pub fn values(&self, out: &mut Vec<Datum>) -> BtreeResult<()> {
        let _ = out;
        todo!()
    }

    /// The row of the current entry is dead to everybody: its entry is marked when the scan leaves the page.
    pub fn kill_current(&mut self) {
        todo!()
    }

    /// Remembers the current position.
    pub fn mark(&mut self) {
        todo!()
    }

    /// Goes back to the marked position: `next` returns what followed it.
    pub fn restore(&mut self, access: &Access<'_>) -> BtreeResult<()> {
        let _ = access;
        todo!()
    }

    /// Ends the scan: applies pending kills and drops the pin. Dropping the scan without it only loses the kills.
    pub fn finish(&mut self, access: &Access<'_>) {
        let _ = access;
        todo!()
    }
}
