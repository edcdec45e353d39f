//! # What
//! The B-tree index: Lehman and Yao's tree with right links and high keys, as PostgreSQL's nbtree. Entries are `(key columns, TID)`; the TID is the last,
//! tie-breaking column, so that no two entries are equal and every duplicate has one place.
//!
//! # Layout
//! One file per module: `format` (bytes), `key` (comparison on page bytes), `ops` (pure changes of one page), `split` (where to cut, what a pivot keeps), `search`
//! (root, descent, moving right, free pages), `insert` (leaf), `unique`, `churn` (entries of dead rows), `ascend` (splits and downlinks), `bounds`, `groups` and `scan`, `range` (what serializable
//! transactions lock), `vacuum`,
//! `delete` (pages), `build`, `redo` (records), `verify`, `inspect` (pages as people look at them), `method` (what the rest of the server sees). Byte tables are in `format`, records in `redo`.
//!
//! Block 0 is the meta page: root, fast root (the lowest page alone on its level, where searches start), list of free pages. Every other page has left and right
//! links to its siblings and, unless it is the right-most of its level, a high key as item 1: no entry on it is above. Item 1 behind that on an
//! internal page is minus infinity; each further item holds a separator and the child whose entries are above it.
//!
//! # Invariants
//! 1. Following right links from the left-most page of a level meets all its entries in order, whatever splits and deletions go on: a page's key space
//!    only ever moves to the right, and searches that arrive too far to the left move right.
//! 2. Of two neighbouring pages, `last entry on the left ≤ high key on the left < first entry on the right`, where columns and the TID that a pivot lacks are
//!    minus infinity. The separator of the right one, in its parent, is that high key.
//! 3. A page without a downlink is the right half of a split whose left half is flagged `INCOMPLETE_SPLIT`, or belongs to the branch of a
//!    half-dead leaf. Only writers that have finished the splits they met on their way down add downlinks.
//! 4. A half-dead or deleted page has no entries, is never right-most, and its right link leads towards the pages that took over its key space. A deleted page is
//!    used again only when every snapshot is younger than its deletion, so nobody holds a link to it.
//! 5. TIDs in a posting list ascend; TID ranges of items with equal keys do not overlap.
//! 6. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type. Comparisons, liveness of rows and horizons come in through
//! [`index::Compare`], [`index::Liveness`] and [`index::Horizon`]; whoever uses an index does so through [`index::IndexAccessMethod`] (`method`).
//!
//! # One insertion with a split
//! `insert into t values (42)` for an index on an `int4`:
//!
//! 1. `insert` makes the leaf item: 8 bytes of header with the TID, 4 of key, 4 of padding. If the right-most leaf is remembered, has room and the key
//!    belongs there, steps 2 and 3 are skipped.
//! 2. The descent starts at the fast root, which the [`BtreeRel`] remembers. On each level: shared latch, right while the key is above the
//!    high key, binary search, latch dropped, child. The pages passed go on a stack. No two latches are held.
//! 3. The leaf is latched exclusively, and it may have been split since: move right again, now with the left page latched until the right one is.
//! 4. For a unique index the search was for `(42)` without TID: the first page that could hold a duplicate. Every equal entry is looked up in the heap
//!    through [`index::Liveness`]. No conflict: move on to the place of `(42, tid)`, still under latches, so that no other inserter of 42 gets past.
//! 5. The page is full. Entries marked as dead go (record `DELETE`); then those that the heap says are dead, asked through [`index::DeadRows`]; then duplicates
//!    merge (`DEDUP`). Still full: split.
//! 6. A new page is taken off the free list or added to the file. The cut is chosen; both halves are made; the old right sibling gets its new left link; record
//!    `SPLIT`. From here the right half can be reached, through its left sibling only: the left one is flagged.
//! 7. The parent is latched (from the stack, moving right), the downlink inserted and the flag taken away, record `INSERT_UPPER`, while the left half stays latched. The parent may
//!    be full in turn: step 6. If the old page was the root: `NEWROOT` makes one above.
//!
//! A crash between 6 and 7 loses nothing; the next writer that meets the flag does step 7.
//!
//! # One page deletion
//! VACUUM has removed the last entry of leaf B between A and C, whose parent P has downlinks to all three:
//!
//! 1. B is looked at again without the cleanup latch: empty, not right-most, not root, A's split not incomplete. A descent to B's high key gives the stack.
//! 2. B is latched, then P. B's downlink is pointed at C and C's old one removed: C now owns B's key space. B becomes half-dead. Record
//!    `MARK_PAGE_HALFDEAD`. Searches that come to B now, from A or from memory, move right to C. (Were B its parent's only child, P would go too,
//!    with the downlink removed from *its* parent, and B would remember P.)
//! 3. A, B and C are latched, left to right. A and C are linked with each other; B keeps its own links and gets the next xid. Record `UNLINK_PAGE`.
//! 4. Once no snapshot is older than that xid, VACUUM puts B on the free list (`PUT_FREE`), and a split takes it from there (`TAKE_FREE`).
//!
//! A scan that leaves a leaf on which every entry is marked as dead removes them and does the same (`delete` says when), so that the front of a queue is
//! never long. A crash between 2 and 3 leaves a half-dead page for the next VACUUM; one between `TAKE_FREE` and the split leaves a deleted page that is on no list, which
//! VACUUM puts back.
//!
//! # Locks
//! Only page latches. Readers hold one at a time. Writers: from left to right, from child to parent, the meta page after all pages of the tree and after a page that is
//! going on the free list, a page that is on it after the meta page. A leaf may be latched while heap pages are (unique checks), never the other way round. VACUUM removes entries,
//! and scans delete leaves, only under the cleanup latch: scans that believe TIDs without a visibility check keep a pin; `scan` has the argument. No latch is held
//! where interrupts are checked.
//!
//! # WAL and crash
//! Each record leaves a sound tree by itself: incomplete splits and half-dead pages are states of it, not damage. Redo calls the functions of `ops` that made the change.
//!
//! # PostgreSQL counterpart and differences
//! `access/nbtree`. The same: algorithm, sizes (three entries a page, 2704 bytes), fill factors, suffix truncation, deduplication, fast root, page deletion in two stages.
//! Different: free pages are a logged list in the tree's pages, not a map in a fork of its own, so that none is lost or used twice after a crash; pages split
//! during a VACUUM are told by the WAL position of their split, not by a cycle id in shared memory;
//! bottom-up deletion also looks at entries whose columns have changed; splits do not look for a spot of localised insertion; hints are not logged for standbys.

mod ascend;
mod bounds;
mod build;
mod churn;
mod delete;
mod format;
mod groups;
mod insert;
pub mod inspect;
mod key;
mod method;
mod ops;
mod range;
mod redo;
mod rel;
mod scan;
mod search;
mod split;
mod unique;
mod vacuum;
mod verify;

pub use rel::BtreeRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
