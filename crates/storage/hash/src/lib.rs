//! # What
//! The hash index: entries are hash codes and TIDs, in buckets that split one by one when they are full; a directory leads from a code to its bucket.
//!
//! # Layout
//! One file per module: `format` (bytes), `ops` (pure changes of one page), `rel` (how pages are reached; free pages), `hints` (where buckets were last), `insert`
//! (splits, the directory), `scan`, `range` (what serializable transactions lock), `vacuum`, `build`, `redo` (records), `verify`, `method` (what the rest of the server
//! sees). Byte tables are in `format`, records in `redo`.
//!
//! A *bucket* is a page with all entries from its least key, included, to that of its right sibling, excluded. A key is a code and a TID, so no two are equal,
//! and rows with one code may fill any number of buckets. The *directory* is levels of pages with the least keys of the pages below, up to the root in block 0. Every page but the
//! root has a right link. An index of one page is a bucket alone.
//!
//! # Invariants
//! 1. On each level, the keys of a page end where those of its right sibling begin; the first page begins with the least key there is.
//! 2. A page that the directory does not know is the right sibling of one that is flagged `INCOMPLETE`. A search steps right from there; the next insertion that meets the flag
//!    makes the missing entry.
//! 3. A deleted page has no entries and keeps its right link, to the page that took over its keys. It is used again only when every snapshot is younger than its deletion, so
//!    nobody holds a link to it. Hints are no links: who follows one looks at what he finds.
//! 4. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type. Hash functions come down in [`IndexDesc::hashes`](index::IndexDesc::hashes).
//!
//! # One search
//! 1. The leading bits of the code choose a hint: the block where somebody last found the bucket of such a code. The page is latched. If it is a bucket with keys that are not greater, the
//!    search goes right from there, usually by no step at all.
//! 2. Otherwise it goes down the directory from the root, one latch at a time, and leaves a hint.
//!
//! # One insertion with a split
//! 1. The bucket is latched exclusively. It is full, and stays so without its dead entries.
//! 2. The greater half of its entries goes to a new page, which is linked to the right; the left page is flagged (record `SPLIT`).
//! 3. The directory gets the new page's entry and the left page, latched until now, loses its flag (`INSERT_UPPER`). A full page of the directory is split before in the same way. A full root
//!    gives its entries to two new pages and becomes their directory, in one record (`SPLIT_ROOT`).
//! 4. The insertion begins anew.
//!
//! A crash between 2 and 3 loses nothing; the next insertion that meets the flag does step 3.
//!
//! # Locks
//! Only page latches. Searches hold one at a time. Writers: from left to right on a level, from bucket to directory, the root last. A page that is going on the list of free
//! pages before the root, a page that is on it after the root. VACUUM removes entries only under the cleanup latch: scans that must not see a TID given away keep a pin. No latch
//! is held where interrupts are checked.
//!
//! # WAL and crash
//! Each record leaves a sound index by itself. Redo calls the functions of `ops` that made the change.
//!
//! # PostgreSQL counterpart and differences
//! `access/hash`. There, buckets are numbered and split in the order of their numbers, whichever is full, so that full ones have chains of overflow pages; a split keeps others from the two
//! buckets, and a meta page says how many there are. Here a full bucket splits by itself under the latches of two pages, there are no overflow pages, and nothing that every
//! insertion writes to.

mod build;
mod format;
mod hints;
mod insert;
pub mod inspect;
mod method;
mod ops;
mod range;
mod redo;
mod rel;
mod scan;
mod vacuum;
mod verify;

pub use rel::HashRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
