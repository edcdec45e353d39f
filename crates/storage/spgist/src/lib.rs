//! # What
//! The SP-GiST index: a tree that divides space into parts which do not overlap, as quad-trees, k-d trees and radix trees do. Its operator classes ([`index::SpaceClass`]) say how; it need not be
//! balanced.
//!
//! # Layout
//! One file per module: `format` (bytes), `ops` (pure changes of one page), `rel` (an open index; what changes of several pages share), `work` (changes of several pages), `insert`, `scan`,
//! `vacuum`, `build`, `redo` (records), `verify`, `method` (what the rest of the server sees). Byte tables are in `format`, records in `redo`.
//!
//! An *inner tuple* divides a part of the space: it has a node for each smaller part. A *bucket* has the entries of a part that is not divided, in one item. Pages have items of both kinds, so that
//! what is close together in the tree is on few pages. Blocks 0 to 2 are the head of the list of free pages, the root, and the entries whose key is NULL.
//!
//! Entries that nothing can divide, for their values are equal, are on many pages nevertheless: an item may have a `rest`, another item that stands for the same part of the space. New entries go to
//! the first of these only, which may be divided when others come; whoever reads one reads its rest too.
//!
//! # Invariants
//! 1. A place (`format::Place`) stands for the same part of the space for as long as anybody may know it: what is there becomes something that stands for the same, or a redirect to it. A redirect
//!    goes when every snapshot is younger than it; only then can its number be used again.
//! 2. Each item is reached by one link, which is changed in the same record that moves the item. So a redirect is met only by who has read a link before.
//! 3. The root and the bucket of NULLs are alone on their pages, where an item of any size that there may be fits; they never move.
//! 4. Every record leaves a sound tree.
//! 5. A page whose items are all gone is known to nobody, and may go on the list of free pages at once.
//! 6. Whatever is read from a page is checked against the page's bounds; damage is [`IndexError::Corrupt`](index::IndexError::Corrupt) naming relation and block.
//!
//! Architecture invariant: this crate knows no heap, no catalog and no SQL type.
//!
//! # Locks
//! Readers hold one page latch at a time, and so does who changes one page: an entry goes to a bucket that has room on its page, or is the first below a node of an inner tuple whose page has
//! room; VACUUM removes entries. Whoever changes several pages locks the *structure* first (`rel`), with no page latched, and latches pages in any order then: nobody else waits for a second one.
//! The head of the list of free pages comes last. VACUUM removes entries only under the cleanup latch: scans that believe TIDs without a visibility check keep a pin.
//! No latch is held where interrupts are checked.
//!
//! # WAL and crash
//! A record has, for each of its pages, the changes of that page in their order; redo carries them out by the function that made them.
//!
//! # PostgreSQL counterpart and differences
//! `access/spgist`. Different: entries of a part of the space are one item, not a chain of them; inner tuples and entries share pages; equal values are kept by `rest`, not by inner tuples whose nodes
//! are all the same; insertions do not hold the page above latched, nor begin anew where a latch is taken; a number on a page is used again without a placeholder; operator classes say what part of
//! the space a node is, and what a part can have, so one answer serves searches by distance too; serializable transactions lock conditions.

mod build;
mod format;
mod insert;
mod method;
mod ops;
mod redo;
mod rel;
mod scan;
mod vacuum;
mod verify;
mod work;

pub use rel::SpgistRel;
pub use scan::Scan;

#[cfg(test)]
mod tests;
