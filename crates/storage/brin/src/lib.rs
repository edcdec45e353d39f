//! # What
//! The BRIN index: for each range of a table's pages a summary of its rows. Operator classes ([`tuple::summary::SummaryClass`]) say what a summary is; a search finds the pages of the ranges
//! whose summaries do not rule them out.
//!
//! # Layout
//! One file per module: `format` (bytes), `ops` (pure changes of one page), `rel` (how pages are reached; entering, replacing, moving summaries), `summarize` (builds, ranges, rows), `scan`,
//! `build`, `redo` (records), `verify`, `method` (what the rest of the server sees). Byte tables are in `format`, records in `redo`.
//!
//! The meta page in block 0 leads to directories, these to maps, and a map to the summary of each of its ranges, which lies on a data page. Pages come in the order in which they are needed;
//! none moves, and none goes before the index is made again.
//!
//! # Invariants
//! 1. A range that has a summary has all its rows in it, but for a placeholder. A range without one is read by every scan.
//! 2. A summary only grows, until its range is summarized anew.
//! 3. A place in a map and the summary there change together, in one record. Who has read a place may find nothing of the range there any more, and reads the map again.
//! 4. A map, once made, stays where it is. So what is remembered of it is right as long as the file is.
//! 5. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type. Rows of the table come by [`index::TableRows`].
//!
//! # Locks
//! Page latches, and a short mutex for what is remembered, under which nothing else is taken. Readers hold one latch at a time. Writers: data pages, lower block first, then the map; meta page,
//! directory and map from above to below, with a new page last. Who summarizes or takes summaries away has SHARE UPDATE EXCLUSIVE on the table, so there is one at a time.
//!
//! # WAL and crash
//! Each record leaves a sound index by itself. Redo calls the functions of `ops` that made the change. A placeholder that a crash leaves is summarized again.
//!
//! # PostgreSQL counterpart and differences
//! `access/brin`. There, maps lie one behind the other at the beginning of the file, and summaries are evacuated when one more is needed; free space has a map of its own.

mod build;
mod format;
pub mod inspect;
mod method;
mod ops;
mod redo;
mod rel;
mod scan;
mod summarize;
mod verify;

pub use rel::BrinRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
