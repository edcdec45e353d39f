//! # What
//! The slotted page of heaps and indexes: header, line pointers, items, compaction, checksum.
//!
//! # Layout
//! 8192 bytes, little-endian. Line pointers grow up from byte 32, items grow down from `special`.
//!
//! | byte | field | |
//! |---|---|---|
//! | 0 | `lsn` u64 | end of the last WAL record that changed the page |
//! | 8 | `checksum` u32 | CRC-32C of the page with this field zero, seeded with the block number; set when the page is written |
//! | 12 | `flags` u16 | [`flags`] |
//! | 14 | `lower` u16 | end of the line pointers |
//! | 16 | `upper` u16 | start of the items |
//! | 18 | `special` u16 | start of the access method's own area |
//! | 20 | `version` u16 | [`VERSION`] |
//! | 22 | reserved u16 | |
//! | 24 | `prune_xid` u64 | heap: oldest xid whose end may make a tuple here prunable, 0 for none |
//! | 32 | line pointers | see [`LinePointer`] |
//!
//! # Invariants
//! 1. `32 <= lower <= upper <= special <= 8192`, `special` a multiple of 8.
//! 2. A normal line pointer's item lies within `upper..special`, starts at a multiple of 8, and overlaps no other.
//! 3. A page that was never initialised is all zero ([`is_new`]); it is valid and holds nothing.
//! 4. Nothing here trusts a page so far that damaged bytes could make it panic: readers return `None`, changes return
//!    an error or `None` and leave the page as it was.
//!
//! # Locks
//! None: pure bytes. Callers hold the content latch; whoever moves items ([`repair`], [`delete_items`], [`overwrite`]) must
//! also know that nobody keeps references to them over a released latch (for heaps: a cleanup latch).
//!
//! # WAL and crash
//! Functions are deterministic, so that redo repeats them byte by byte.
//!
//! # PostgreSQL counterpart and differences
//! `bufpage.c`. The header is 32 bytes and not 24, as LSN and prune xid are 64 bits wide and the checksum 32.

mod checksum;
mod compact;
mod header;
mod items;

pub use base::PAGE_SIZE;
pub use checksum::{Corrupt, State, check, set_checksum, stored as checksum, verify, write_blank};
pub use compact::{Item, compact};
pub use header::{
    HEADER_SIZE, VERSION, flags, flags_of, free_space, free_space_for_item, has_flag, init, is_new, lower,
    lsn, prune_xid, set_flag, set_lower, set_lsn, set_prune_xid, special, special_mut, special_offset, upper,
    version,
};
pub use items::{
    LinePointer, LpFlags, MAX_ITEM, add_item, delete_items, has_unused_line_pointer, insert_at, item,
    item_at, item_head, item_mut, line_pointer, live_head, max_offset, overwrite, past_dead, repair,
    set_line_pointer, slot, truncate_line_pointers,
};

/// The bytes of one page.
pub type PageBytes = [u8; PAGE_SIZE];

/// Rounds up to the alignment of items.
#[inline]
pub const fn align8(n: usize) -> usize {
    (n + 7) & !7
}

#[cfg(test)]
mod tests;
