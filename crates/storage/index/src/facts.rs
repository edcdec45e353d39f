//! What an access method can do, as constants: the catalog, the planner and `pg_indexam_has_property` ask these instead of naming a method.

use base::Oid;

/// Strategy numbers of methods that keep an order, as operator families of `btree` have them.
pub mod strategy {
    /// `<`
    pub const LESS: u16 = 1;
    /// `<=`
    pub const LESS_EQUAL: u16 = 2;
    /// `=`
    pub const EQUAL: u16 = 3;
    /// `>=`
    pub const GREATER_EQUAL: u16 = 4;
    /// `>`
    pub const GREATER: u16 = 5;
}

/// What values a storage parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Whole numbers from the first to the second, both included.
    Int(i64, i64),
    /// `on` and `off`.
    Bool,
    /// One of these words; how an error lists them.
    Enum(&'static [&'static str], &'static str),
}

/// A storage parameter of an index (`WITH (…)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageOption {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub kind: OptionKind,
}

/// An access method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Row of `pg_am`.
    pub oid: Oid,
    /// Name in `USING`.
    pub name: &'static str,
    /// Strategy number of equality, if the method has one for all its operator classes.
    pub equality: Option<u16>,
    /// Entries come in the order of the key: ASC, DESC and NULLS FIRST mean something.
    pub can_order: bool,
    /// Entries may come by their distance from a value ([`order_by`](crate::IndexScan::order_by)).
    pub can_order_by_operator: bool,
    /// Scans go backwards.
    pub can_backward: bool,
    /// UNIQUE.
    pub can_unique: bool,
    /// Several key columns.
    pub can_multi_column: bool,
    /// INCLUDE.
    pub can_include: bool,
    /// Scans give TIDs one by one; exclusion constraints need that too.
    pub index_scan: bool,
    /// Scans fill bitmaps.
    pub bitmap_scan: bool,
    /// Entries hold the values of the row: index-only scans.
    pub returnable: bool,
    /// CLUSTER may sort a table by it.
    pub clusterable: bool,
    /// [`Any`](crate::ScanOp::Any)
    pub search_array: bool,
    /// [`IsNull`](crate::ScanOp::IsNull) and [`IsNotNull`](crate::ScanOp::IsNotNull)
    pub search_nulls: bool,
    /// Scans may find entries that are to be [checked again](crate::IndexScan::recheck).
    pub lossy: bool,
    /// Entries are summaries of ranges of the table's pages: bitmaps contain whole pages, and builds read rows through [`TableRows`](crate::TableRows).
    pub summarizes: bool,
    /// Storage parameters.
    pub options: &'static [StorageOption],
    /// The steps of a build, as `pg_stat_progress_create_index` names them: beginning, scan, sort, sort of dead rows, loading.
    pub build_steps: [&'static str; 5],
}

impl Facts {
    /// Entries hold hash codes, one for each value ([`IndexDesc::hashes`](crate::IndexDesc::hashes)): what tells equal values and has no order.
    pub const fn keeps_codes(&self) -> bool {
        self.equality.is_some() && !self.can_order
    }
}
