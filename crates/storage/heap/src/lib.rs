//! # What
//! Tables: row versions in slotted pages, their visibility, HOT chains, pruning, free-space and visibility maps, TOAST, VACUUM.
//!
//! * [`header`]: bits and bytes of a row version. [`ops`]: what may be done to a page, as pure functions. `records`: their WAL.
//! * [`insert()`], [`multi_insert()`], [`update()`], [`delete()`], [`lock_tuple()`], [`lock_later()`], [`lock_rows()`]: changes; [`is_held()`]: who wants a lock only if it is free.
//! * [`fetch()`], [`HeapScan`], [`GatheredRows`], [`visibility`]: reading. `shortcut`: past the old versions of long chains.
//! * [`prune`], [`vacuum`]: getting rid of dead versions. [`fsm`], [`vm`]: the maps. [`toast`]: large values.
//! * [`rewrite`]: a table's versions in a new file.
//! * [`logical`]: what records say to those who decode the log.
//! * [`redo`]: the same page functions, driven by the log. [`verify`]: whether all of it is sound. [`measure`]: how full pages are, and what their maps say.
//!
//! # Invariants
//! 1. Everything that a WAL action can fail at is checked or allocated before the first byte changes.
//! 2. Normal running and redo change heap pages only through [`ops`].
//! 3. A tuple's bytes, hints excepted, are read under a latch; what is wanted later is copied. See [`HeapScan`] for why.
//! 4. Items move on a page ([`prune`]) only under a cleanup latch: nobody else has the page pinned.
//! 5. While a heap page's all-visible bit in the visibility map is set, so is the page's own; whoever makes the page not all-visible clears
//!    both under the page's exclusive latch in one WAL action.
//!
//! # Locks
//! One rank order: toast table pages (no latch of the main table is held) < heap pages, lower block first < visibility-map page. The
//! free-space map is only touched while no other latch is held. Nothing waits for another transaction while a latch is held: functions
//! return [`Refusal::WouldBlock`] instead.
//!
//! # PostgreSQL counterpart and differences
//! `heapam.c` and its neighbours. Waiting and re-checking is the caller's.

pub mod combo;
mod delete_rows;
mod error;
mod fetch;
pub mod fsm;
mod gathered;
pub mod header;
mod insert;
mod latest;
mod lock;
mod lock_rows;
pub mod logical;
pub mod measure;
pub mod ops;
mod place;
pub mod prune;
mod records;
pub mod redo;
mod rel;
pub mod rewrite;
mod row;
mod scan;
mod serial;
mod shortcut;
mod tid_set;
pub mod toast;
mod truncate;
mod update;
pub mod vacuum;
pub mod verify;
pub mod visibility;
pub mod vm;

pub use combo::ComboCids;
pub use delete_rows::delete_rows;
pub use error::{DeleteOutcome, HeapError, HeapResult, Later, LockOutcome, Refusal, UpdateOutcome};
pub use fetch::{
    Fetched, FetchedRows, Liveness, dead_chains, fetch, fetch_exact, fetch_rows, fetch_version,
    unique_liveness,
};
pub use gathered::GatheredRows;
pub use insert::{FormedRows, InsertOptions, insert, multi_insert, stores_alike};
pub use latest::fetch_latest;
pub use lock::{Wanted, is_held, lock_later, lock_tuple};
pub use lock_rows::{KnownHolders, fetch_and_lock_rows, lock_rows};
pub use logical::{Identity, Logged};
pub use prune::prune_opt;
pub use rel::{Access, Chunks, HeapDesc, HeapRel, View, Writer};
pub use row::{HeapTuple, TupleRef};
pub use scan::{BuildRow, HeapScan, SampleCounts, SharedPages, build_scan, sample_page};
pub use serial::{SoughtRows, watch_page, watch_removal, watch_scan};
pub use tid_set::TidSet;
pub use toast::{THRESHOLD as TOAST_THRESHOLD, ToastIndex, ToastTable, detoast};
pub use txn::LockStrength;
pub use update::{delete, move_away, take_back, update, update_in_place};

#[cfg(test)]
mod tests;
