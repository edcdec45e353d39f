//! What the tree must know of its relation: columns, order, uniqueness; and what it remembers between calls.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use base::{RelFile, Tid};
use buffer::Persistence;
use tuple::{Datum, RowLayout};

use crate::key::compare_column;

/// How two values of a key column compare, ascending. The named ones read the key straight from the page.
#[derive(Clone, Copy, Debug)]
pub enum Compare {
    /// `bool`: false before true.
    Bool,
    /// `"char"`, as an unsigned byte.
    Char,
    /// `int2`; the search value may be any integer [`Datum`].
    Int2,
    /// `int4` and `date`; the search value may be any integer [`Datum`].
    Int4,
    /// `int8`, `timestamp`, `timestamptz`, `time`; the search value may be any integer [`Datum`].
    Int8,
    /// `oid` and its aliases: unsigned.
    Oid,
    /// `float4`; NaN equals itself and sorts after all other values.
    Float4,
    /// `float8`; NaN equals itself and sorts after all other values. The search value may be `float4`.
    Float8,
    /// Byte order: text under the C collation, `name`, `bytea`, `uuid`.
    Bytes,
    /// Anything else. Must be a total order; never sees NULL.
    With(fn(&Datum, &Datum) -> Ordering),
}

/// Order of one key column.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn {
    /// How values compare, ascending.
    pub compare: Compare,
    /// `DESC`.
    pub descending: bool,
    /// `NULLS FIRST` (the default of `DESC`).
    pub nulls_first: bool,
}

impl KeyColumn {
    /// Ascending, NULLs last.
    pub fn ascending(compare: Compare) -> KeyColumn {
        KeyColumn { compare, descending: false, nulls_first: false }
    }
}

/// Description of an index, handed down from the catalog.
#[derive(Clone, Debug)]
pub struct BtreeDesc {
    /// Its files.
    pub file: RelFile,
    /// Its columns: key columns first, then INCLUDE columns. At most 32.
    pub layout: Arc<RowLayout>,
    /// Order of each key column; the remaining columns of `layout` are INCLUDE columns.
    pub keys: Arc<[KeyColumn]>,
    /// What a crash may take from it.
    pub persistence: Persistence,
    /// No two live rows may have equal keys.
    pub unique: bool,
    /// NULLs count as equal for `unique`.
    pub nulls_not_distinct: bool,
    /// Values that compare as equal have equal bytes (not so for `numeric`, floats, nondeterministic collations) and
    /// `deduplicate_items` is on: duplicates may share one key in a posting list. Ignored when there are INCLUDE columns.
    pub deduplicate: bool,
    /// Percentage of a leaf that the build and the split of the right-most leaf fill; PostgreSQL's default is 90.
    pub fillfactor: u8,
}

/// An open index. Share it by `Arc`: it caches the root and hints for insertion, all of which may be stale at any time.
#[derive(Debug)]
pub struct BtreeRel {
    /// The description.
    pub desc: BtreeDesc,
    /// Cached fast root: `level << 32 | block`, 0 when unknown.
    pub(crate) root: AtomicU64,
    /// Block of the right-most leaf as far as the last inserter knew, 0 when unknown.
    pub(crate) rightmost: AtomicU32,
}

impl BtreeRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: BtreeDesc) -> BtreeRel {
        BtreeRel { desc, root: AtomicU64::new(0), rightmost: AtomicU32::new(0) }
    }

    /// Number of key columns.
    pub fn nkeys(&self) -> usize {
        self.desc.keys.len()
    }

    /// Order of two keys in this index (DESC and NULLS FIRST applied); only the key columns are looked at. For sorts before [`crate::build()`].
    pub fn compare_keys(&self, a: &[Datum], b: &[Datum]) -> Ordering {
        self.desc
            .keys
            .iter()
            .zip(a.iter().zip(b))
            .map(|(key, (a, b))| compare_column(key, a, b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// [`BtreeRel::compare_keys`], equal keys by their TID: the order of entries in the tree.
    pub fn compare_entries(&self, a: (&[Datum], Tid), b: (&[Datum], Tid)) -> Ordering {
        self.compare_keys(a.0, b.0).then(a.1.cmp(&b.1))
    }
}
