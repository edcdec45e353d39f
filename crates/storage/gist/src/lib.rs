//! # What
//! The GiST index: Hellerstein's generalized search tree, with Kornacker's concurrency. Its operator classes ([`index::TreeClass`]) say what keys mean; it keeps them
//! balanced.
//!
//! # Layout
//! One file per module: `format` (bytes), `ops` (pure changes of one page), `keys` (unions and penalties of several columns, distribution of a page's items), `rel` (how
//! pages are reached; free pages), `insert` (descent, splits, downlinks), `scan`, `vacuum`, `build`, `redo` (records),
//! `verify`, `method` (what the rest of the server sees). Byte tables are in `format`, records in `redo`.
//!
//! Block 0 is the root. Every other page has a right link. An internal item is the key of a child and its block; a leaf's is the key of a row and its TID.
//!
//! # Invariants
//! 1. A key in an internal page holds all keys of the page below it. Keys only grow, but when a page is split: then its key is that of what stays.
//! 2. A page without a downlink is the right sibling of one that is flagged `FOLLOW_RIGHT`. Whoever reads a flagged page reads its right sibling too; the next insertion that meets
//!    it makes the missing downlinks.
//! 3. `nsn` of a page is the `version` that its parent got with the downlinks of the page's last split. Who read the downlink from a parent of a smaller version visits the
//!    right sibling too, up to one whose `nsn` is not greater. A page made by splitting an internal page goes on counting where that one was, so the rule holds wherever
//!    a downlink lies.
//! 4. A deleted page has no entries and keeps its right link. It is used again only when every snapshot is younger than its deletion, so nobody holds a link to it.
//! 5. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type.
//!
//! # One insertion with a split
//! 1. The descent begins at the root. On each page the downlink with the least penalty is chosen; if its key does not hold the new entry, the page is latched exclusively
//!    and the key made larger (record `PAGE_UPDATE`). No two latches are held.
//! 2. The leaf is latched exclusively. If it was split since its parent was read, the larger key above it may be gone again: the descent begins anew.
//! 3. The leaf is full, and stays so without its dead entries. The operator class distributes its items to two or more pages, which are linked to the right; all but
//!    the last are flagged (record `PAGE_SPLIT`).
//! 4. The parent is latched while the pages stay latched. The old downlink is replaced, the others are added, its version counted up; the pages get that number and lose their
//!    flags (`PAGE_UPDATE`, or `PAGE_SPLIT` if the parent is full in turn). A full root gives its items to new pages and becomes their parent, in one record.
//!
//! A crash between 3 and 4 loses nothing; the next insertion that meets the flag does step 4.
//!
//! # Locks
//! Only page latches. Readers hold one at a time. Writers: from left to right, from child to parent, the root last. A page that is going on the list of free pages before
//! the root, a page that is on it after the root. VACUUM removes entries only under the cleanup latch: scans that believe TIDs without a visibility check keep a
//! pin. No latch is held where interrupts are checked.
//!
//! # WAL and crash
//! Each record leaves a sound tree by itself. Redo calls the functions of `ops` that made the change.
//!
//! # PostgreSQL counterpart and differences
//! `access/gist`. Different: splits are told by counters of the pages, not by WAL positions, so unlogged indexes need no counter of their own; free pages are a logged list; every
//! class has an order, so that every build sorts; serializable transactions lock conditions, not pages; who finds a split begins at the root again.

mod build;
mod format;
mod insert;
pub mod inspect;
mod keys;
mod method;
mod ops;
mod redo;
mod rel;
mod scan;
mod vacuum;
mod verify;

pub use rel::GistRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
