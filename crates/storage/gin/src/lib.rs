//! # What
//! The GIN index: for every part of the rows' values, the rows that have it. Its operator classes ([`tuple::parts::PartsClass`]) take values and queries apart.
//!
//! # Layout
//! One file per module: `format` (bytes), `posting` (lists of TIDs), `ops` (pure changes of one page), `rel` (how pages are reached; free pages), `insert` (descent, splits,
//! downlinks), `pending` (fast update), `scan`, `range` (what serializable transactions lock), `vacuum`, `build`, `redo` (records), `verify`, `method` (what the rest of the server sees). Byte
//! tables are in `format`, records in `redo`.
//!
//! Block 0 is the meta page, then come the root and the first pages of `pending`. The tree is one of Lehman and Yao, ordered by column, key and TID. A leaf's item has a key and a list of rows; a key with many rows has many items, which
//! follow each other over as many leaves as are needed, so that a short list and a long one are the same thing.
//!
//! # Invariants
//! 1. Items of a leaf do not overlap: all TIDs of one lie before the first of the next, if they have the same key.
//! 2. Every page but the last of its level has an upper bound, which is the least position of its right sibling. What lies beyond is found to the right.
//! 3. A page whose right sibling has no downlink is flagged `INCOMPLETE`. Readers ignore the flag; the next writer that meets it makes the downlink.
//! 4. A deleted page has no entries and keeps its right link. It is used again only when every snapshot is younger than its deletion, so nobody holds a link to it.
//! 5. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type; keys are bytes.
//!
//! # Locks
//! Page latches, and one cleaner of an index at a time (`pending`). Readers hold one latch at a time, but among pending pages. Writers: from left to right, from child to parent, the meta page last. A page that is going on the list of free pages before
//! the meta page, a page that is on it after the meta page. No latch is held where interrupts are checked.
//!
//! # WAL and crash
//! Each record leaves a sound tree by itself. Redo calls the functions of `ops` that made the change. A crash between a split and its downlink loses nothing.
//!
//! # PostgreSQL counterpart and differences
//! `access/gin`. Different: one tree instead of a tree of keys with a tree of rows for each long list, so that there is one way to split and to recover, and a writer latches one page at a
//! time; pending entries come in lanes; keys without rows go away; serializable transactions lock conditions, not pages.

mod build;
mod format;
mod insert;
pub mod inspect;
mod method;
mod ops;
mod pending;
mod posting;
mod range;
mod redo;
mod rel;
mod scan;
mod vacuum;
mod verify;

pub use rel::GinRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
