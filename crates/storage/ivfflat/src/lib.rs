//! # What
//! IVFFlat indexes: rows lie in lists, each around a centre that was found when the index was built. A search looks through the lists whose centres are nearest.
//!
//! # Layout
//! * Block 0 has one item: how many lists there are, and the first of their pages.
//! * Pages of *lists* have an item for each list: its first page, the page where new entries go, its centre. Pages of *entries* belong to one list each and are chained; an entry is a row's TID
//!   and its key. Byte tables are in `format`.
//! * `rel`: an open index. `lists`: the lists as a whole. `centres`: where they lie. `insert`, `build`, `scan`, `vacuum`, `verify`: what is done with them. Records are
//!   [changes](index::changes) of bytes.
//!
//! # Invariants
//! 1. The build makes the lists. An index that was empty when it was built gets a single list without a centre, with its first row. Lists are never removed, and their centres never change.
//! 2. A row is in the list whose centre is nearest, so that it is found by whoever looks through all of them.
//! 3. A page of entries, once chained, stays where it is. So who follows the links meets all entries that were there when he began and are not dead.
//! 4. The page for new entries is a hint: whoever finds it full goes on to the right.
//!
//! # Locks
//! Page latches. Readers hold one at a time. Writers: a page of entries, then the new one behind it, which nobody else can want; or a page of lists, then the new one; the page of lists that is told where new
//! entries go is latched alone.
//!
//! # WAL and crash
//! A record holds for each of its pages the changes of bytes, which redo repeats. After each the index is sound; a hint may be missing.
//!
//! # PostgreSQL counterpart and differences
//! `ivfflat` of pgvector. There are never more lists than rows that differ were sampled, and an empty index has one. The sample is what comes first in an order of rows by chance.

mod build;
mod centres;
mod format;
mod insert;
mod lists;
mod method;
mod rel;
mod scan;
#[cfg(test)]
mod tests;
mod vacuum;
mod verify;

pub use rel::IvfflatRel;
pub use scan::Scan;
