//! # What
//! The seam between SQL and index access methods: the trait [`IndexAccessMethod`] of an open index, [`IndexScan`] of a scan of it, and what goes through them. A method
//! is a crate of its own that implements both; the engine has the list of methods (`engine::indexes`), and everything above asks that list.
//!
//! # Layout
//! * [`method`](IndexAccessMethod): the traits. What operator classes of trees without an order give is in [`tuple::tree`]. `facts`: what a method can do, as constants. `desc`: what an index is, handed down from the catalog, and how
//!   values of its columns compare.
//! * What methods share: [`asking`](asking()) compares by orders that code of users tells, [`bytes`] reads and writes pages and records, [`changes`] are records that say what becomes of which bytes, [`Pages`] reaches pages, [`FreeList`] keeps those that are free, [`sweep`](sweep()) goes over all of them for VACUUM, [`Records`] shows records, [`conditions`](conditions()) are what serializable transactions lock, [`vectors`] is of those that find the nearest of vectors. `access`: what operations need: pages, the horizon, and what the heap says of rows. `keys`: the conditions of a scan. `measure`: what pages are used for. `upkeep`: VACUUM and verification.
//!   `error`.
//!
//! # Invariants
//! 1. A method never waits for another transaction. [`IndexAccessMethod::insert`] answers [`InsertOutcome::WaitFor`], holds no latch and has entered
//!    nothing; the executor waits and asks again.
//! 2. An index finds every row that satisfies the conditions and that it has been given. It may find more, only if [`IndexScan::recheck`] says so of the entry. Rows
//!    that nobody sees any more come until VACUUM has removed them.
//! 3. TIDs are roots of HOT chains. Nobody gives one to another row before [`IndexAccessMethod::bulk_delete`] has been told of it in all indexes of the table.
//! 4. The log has one resource manager for each method ([`IndexAccessMethod::MANAGER`]); redo is a pure function of a page.
//! 5. Calls are resolved at compile time: the traits are not object safe on purpose. The engine's enums of open indexes and scans choose the method by one branch, and the
//!    prepared point query goes straight to the method's code.
//!
//! # How further methods fit
//! * **hash** is there: one strategy, equality (its number is in the facts), and no order: a build [makes codes](IndexAccessMethod::prepare) of values and sorts these.
//!   Hash functions come down in [`IndexDesc::hashes`]. Scans compare codes only, so they [recheck](IndexScan::recheck).
//! * **GIN**: [`insert`](IndexAccessMethod::insert) is given a row's values, not an entry, so a method makes as many entries of them as it likes. No plain scan
//!   (`index_scan` of the facts is false): only [`IndexScan::bitmap`], which says of each row whether it is to be checked again. The pending list is the method's; it is emptied by
//!   [`cleanup`](IndexAccessMethod::cleanup), by insertions beyond its limit and before a bitmap is trusted.
//! * **GiST** is there: its operator classes come down as [`TreeClass`] in [`IndexDesc::trees`], conditions as [`ScanOp::Operator`]; lossy entries by
//!   [`IndexScan::recheck`], nearest first by [`IndexScan::order_by`] with the distances in [`IndexScan::distances`]; options of a class by [`TreeClass::with_options`]. **SP-GiST** is there in the same way, its operator
//!   classes as [`SpaceClass`] in [`IndexDesc::spaces`].
//! * **BRIN** is there: no TIDs. Operator classes come down as [`SummaryClass`] in [`IndexDesc::summaries`]; rows come by [`TableRows`], when the index is built and when ranges are summarized
//!   later. [`bitmap`](IndexScan::bitmap) names whole pages; [`insert`](IndexAccessMethod::insert) widens a range's summary; [`bulk_delete`](IndexAccessMethod::bulk_delete) does nothing.
//!
//! # Locks
//! A method's own page latches. [`Liveness`] and [`DeadRows`] are called with a page of the index latched exclusively.
//!
//! # PostgreSQL counterpart
//! `access/amapi.h` (`IndexAmRoutine`), `access/index/indexam.c`. Different: a row's lookup of unique keys is asked of the heap by a trait, not by the access
//! method reading the heap; whoever inserts waits for transactions, never the method.

mod access;
mod asking;
mod bloom;
pub mod bytes;
pub mod changes;
mod conditions;
mod desc;
mod distance;
mod error;
mod facts;
mod free_list;
mod gallop;
mod inclusion;
mod keys;
mod measure;
mod method;
mod minmax;
mod multi;
mod nearest;
mod pages;
mod per_index;
mod records;
mod sort_number;
mod sweep;
mod upkeep;
pub mod vectors;

pub use access::{Access, DeadRows, Horizon, InsertOutcome, Limits, Liveness, TupleState, UniqueCheck};
pub use asking::{asking, asks, check_answers, decide, decide_column};
pub use bloom::Bloom;
pub use conditions::{Finds, conditions};
pub use desc::{
    Compare, HashBy, IndexDesc, KeyColumn, OrderBy, as_bytes, autosummarize, compare_column, compare_values,
    null_order, pages_per_range,
};
pub use distance::{NULL_DISTANCE, compare_distances, distance};
pub use error::{IndexError, IndexResult};
pub use facts::{Facts, OptionKind, StorageOption, strategy};
pub use free_list::{FreeList, Unused};
pub use gallop::gallop;
pub use inclusion::Inclusion;
pub use keys::{Direction, ScanKey, ScanKeys, ScanOp, Wants};
pub use measure::{ItemSum, PageMeasure, PageUse};
pub use method::{BitmapSink, IndexAccessMethod, IndexScan, Ranges, SortedEntries, TableRows};
pub use minmax::MinMax;
pub use multi::MinMaxMulti;
pub use nearest::{Distances, Nearest, NearestQueue};
pub use pages::{Exclusive, INIT, Pages, Shared, create_pages, interrupts, log_page};
pub use per_index::{PerIndex, TURNS};
pub use records::Records;
pub use sort_number::SortNumber;
pub use sweep::{Cleaned, Sweep, Swept, Visited, sweep};
pub use tuple::space::SpaceClass;
pub use tuple::summary::SummaryClass;
pub use tuple::tree::{Match, TreeClass, TreeQuery};
pub use upkeep::{EntryCheck, Manner, VacuumStats, VerifyOptions, each_block};

/// How a session's searches of HNSW and IVFFlat go about it: words of its fiber ([`runtime::word`]).
pub mod settings {
    /// The word of `hnsw.ef_search`; 0: 40.
    pub const EF_SEARCH: usize = 4;
    /// The word of `hnsw.iterative_scan`: 0: off, 1: `relaxed_order`, 2: `strict_order`.
    pub const ITERATIVE: usize = 5;
    /// The word of `hnsw.max_scan_tuples`; 0: 20,000.
    pub const MAX_SCAN_TUPLES: usize = 6;
    /// The word of `ivfflat.probes`; 0: 1.
    pub const PROBES: usize = 7;
    /// The word of `ivfflat.iterative_scan`: 0: off, 1: `relaxed_order`.
    pub const ITERATIVE_PROBES: usize = 8;
    /// The word of `ivfflat.max_probes`; 0: 32,768.
    pub const MAX_PROBES: usize = 9;

    /// All of them, in the order of the settings that they are of.
    pub const ALL: [usize; 6] = [EF_SEARCH, ITERATIVE, MAX_SCAN_TUPLES, PROBES, ITERATIVE_PROBES, MAX_PROBES];
}
