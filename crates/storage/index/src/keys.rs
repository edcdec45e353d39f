//! What a scan of an index looks for.

use std::cmp::Ordering;

use base::Oid;
use tuple::Datum;

/// Which way a scan goes, in index order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// In index order.
    #[default]
    Forward,
    /// Against index order.
    Backward,
}

impl Direction {
    /// An order in index order, as the scan meets it.
    #[inline]
    pub fn of(self, order: Ordering) -> Ordering {
        match self {
            Direction::Forward => order,
            Direction::Backward => order.reverse(),
        }
    }
}

/// Condition on one column. NULL satisfies none that compares.
#[derive(Clone, Debug)]
pub enum ScanOp {
    /// `column operator value`: the operator has this strategy number in the family of the column's operator class. What the numbers mean is the method's
    /// business, or the operator class's; those of an order are in [`strategy`](crate::strategy), and go by the order of the *type*, whatever DESC says.
    Strategy(u16, Datum),
    /// `column operator value` of a method whose operator classes say what the numbers mean ([`IndexDesc::trees`](crate::IndexDesc::trees)).
    Operator {
        /// Strategy number of the operator in the family.
        strategy: u16,
        /// Type of the value.
        operand: Oid,
        /// The value.
        value: Datum,
    },
    /// `column = ANY (values)`, with the method's operator of equality: in the order of the type, each once, none of them NULL. Only of a method that
    /// [searches arrays](crate::Facts::search_array).
    Any(Vec<Datum>),
    /// `column IS NULL`; only of a method that [searches NULLs](crate::Facts::search_nulls).
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

/// What a scan is to keep of the entries it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Their values, for [`IndexScan::values`](crate::IndexScan::values).
    pub values: bool,
    /// What keeps VACUUM from giving their TIDs away until the scan has gone on: needed by index-only scans (which trust the visibility map instead of looking at
    /// the row) and by scans under other than MVCC snapshots.
    pub pin: bool,
}

impl Wants {
    /// TIDs only, under an MVCC snapshot.
    pub const TIDS: Wants = Wants { values: false, pin: false };
    /// Of an index-only scan.
    pub const ONLY: Wants = Wants { values: true, pin: true };
}
