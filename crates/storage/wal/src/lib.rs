//! The write-ahead log: record format, parallel insertion, group commit, reading.
//!
//! # What
//! [`Wal`] takes records ([`RecordBuilder`]) from any number of threads at once and brings them to disk in order;
//! [`WalReader`] reads them back. What records mean is their resource manager's business ([`Rmgr`]).
//!
//! # Layout
//! The log is one sequence of bytes; an [`Lsn`](base::Lsn) is a place in it. It lies in segment files of equal size, named as
//! PostgreSQL's. Insertion starts in segment 1.
//!
//! A segment file begins with a header, so that a foreign or recycled file is recognised; all other bytes belong to records,
//! which may span segments. Integers are little-endian.
//!
//! | byte | segment header |
//! |---|---|
//! | 0 | 0xD118 and 2, as PostgreSQL 18 begins a segment's first page, u16 each |
//! | 4 | time line u32 |
//! | 8 | LSN of the segment's first byte u64 |
//! | 16 | 0 |
//! | 24 | system identifier u64 |
//! | 32 | segment size, page size u32 each |
//! | 40 | magic `stmp` |
//! | 44 | 0 |
//! | 60 | CRC-32C of the above u32 |
//!
//! A [time line](History) is a course of history: a recovery that ends before the log does begins a new one. Its first segment is a copy of its parent's, up to where
//! it leaves it, under the name of the new time line; so a position on a time line is found in the file of the newest of its ancestors that has its segment.
//!
//! A record begins at a multiple of 8 (not counting segment headers):
//!
//! | byte | record header |
//! |---|---|
//! | 0 | length of the record in bytes, padding excluded u32 |
//! | 4 | CRC-32C u32: of everything from byte 12, then bytes 0..4 and 8..12, then the record's own LSN u64 |
//! | 8 | resource manager u8 |
//! | 9 | info u8: kind of record |
//! | 10 | number of block references u8 |
//! | 11 | low 4 bits: width of the xid; high 4 bits: width of the main data's length |
//! | 12 | xid, of as many bytes as its width says (0: none), then the length of the main data likewise |
//! | | block references, then images, then block data, then main data |
//!
//! | bytes | block reference |
//! |---|---|
//! | 1 | flags: 1 redo initialises the page, 2 image, 4 same relation as the reference before, 8 and 16 the fork, 32 long data, 64 in `pg_default`, 128 compressed image |
//! | 1 | length of the block's data; 2 bytes with flag 32 |
//! | 4 | block number |
//! | 4 | tablespace, unless flag 4 or 64 |
//! | 8 | database and file number, unless flag 4 |
//! | 4 | start of the hole u16, length of the hole u16, if flag 2 |
//! | 3 | method of compression (1 pglz, 2 lz4), bytes of the image u16, if flag 128 |
//!
//! An image is the page without its hole, the bytes between `lower` and `upper`. Only pages of main forks have one: **a page of a
//! main fork that keeps bytes between `lower` and `upper` loses them.** The image has the LSN that the page had before the record.
//!
//! # Invariants
//! 1. A byte is overwritten in the ring only after it is on disk.
//! 2. `flushed` ≤ completed ≤ next: what is flushed was copied, what is copied was reserved.
//! 3. An error of write or sync is sticky. After it no flush succeeds, so nothing is acknowledged, and no page whose
//!    LSN is not on disk is written. Want of room or of descriptors is no such error: it shows before anything is synced,
//!    and the flush waits for it to end.
//! 4. A record is valid only at the place where it was inserted: its check sum covers its own LSN.
//! 5. Before insertion starts, everything behind the starting point is wiped ([`Wal::open`]): no record of the time
//!    before a crash can follow a new one.
//!
//! See `reserve` for those of insertion and the redo pointer, `ring` for who may touch which bytes, `room` for what happens on
//! a full disk.
//!
//! # Locks
//! Insertion takes none: one compare-and-swap on the position and one on a slot. The flush queue's short mutex protects
//! leadership and the list of waiters. `Segments::open` (short) holds the leader's file, `Wal::full` (short) what it is to tell the archive of; `Segments::prepare` (fiber-aware,
//! held over I/O) serialises creation and recycling of files; `Wal::long_record` (fiber-aware) lets one record at a
//! time keep its slot over waits. Callers of insert and flush may hold page latches; nothing in here takes one.
//!
//! # WAL and crash
//! The reader stops at the first record that is not valid: length, check sum, structure. Unsynced bytes may be
//! lost or torn in any order; what was flushed before is intact, because writes only append (the last partial disk block is
//! written again with the same bytes at its front). A hole in the middle is no end: see `hole`.
//!
//! # PostgreSQL counterpart and differences
//! `xloginsert.c`, `xlog.c`, `xlogreader.c`. Positions are reserved by compare-and-swap and not under a spinlock; the redo
//! pointer is checked within that step, so there is no "full-page-writes changed" retry under a lock. No page headers, no
//! previous-record pointer, 64-bit xids that take the bytes they need, time lines in segment headers only. Where PostgreSQL ends with a PANIC when a
//! segment cannot be made, changes are refused (`room`).

#![cfg_attr(test, allow(clippy::duplicate_mod, reason = "models compile the real modules once more"))]

mod archive;
mod before;
mod builder;
mod figures;
mod flush_queue;
mod geometry;
mod hole;
mod incoming;
mod log;
mod reader;
mod record;
mod replay;
mod reserve;
mod ring;
mod room;
mod segment;
mod shim;
mod stream;
mod timeline;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use archive::{ARCHIVE_STATUS, ArchiveStatus};
pub use builder::{BlockOptions, MAX_BLOCKS, RecordBuilder};
pub use figures::Figures;
pub use geometry::{is_segment_name, parse_segment_file_name, segment_file_name};
pub use incoming::{Incoming, Syncing};
pub use log::{FlushInRecovery, Wal, WalError, WalOptions, WalStart, WalStats};
pub use reader::{Gap, InspectedSegment, SegmentSource, WalReader};
pub use record::{
    BlockRef, Image, Invalid, Record, RecordRef, RedoBlock, ResourceManager, Rmgr, WalDescribe, XlogDescribe,
    byte_width, restore_point, xlog_info,
};
pub use replay::{Chunk, RecordAt, Replayed};
pub use segment::{Recycled, sync_segments};
pub use stream::{StreamError, WalStream};
pub use timeline::{History, HistoryError, Stretch};
