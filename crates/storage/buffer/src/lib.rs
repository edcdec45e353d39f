//! The buffer pool: mapping, pins, content latches, clock sweep, write-back, and the one recipe for logged changes.
//!
//! # What
//! [`BufferPool`] keeps pages of relations in memory. [`BufferPool::read`] gives a [`Pin`]: the page stays. [`Pin::shared`] and
//! [`Pin::exclusive`] give its bytes under its latch. [`WalAction`] logs a change; [`redo_block`] is the other side of it, and [`Overdue`] what is left of that after a crash.
//!
//! # Layout
//! * `frame`: a buffer's descriptor; the table of its state word's bits is there. `tag`: what page it is.
//! * `mapping`: which frame has which page; lookups take no lock.
//! * `clock_sweep`: which frame is given up next (thread 2). `ring`: big scans keep to few frames.
//! * `pool`: finding, adding, discarding pages. `load`: reading one; `together`: reading neighbours at once; `stream`: reading ahead. `write_back`: writing them. `pin`: guards. `action`: WAL. `overdue`: what recovery
//!   has left to do.
//! * `inspect`: what buffers hold, for who looks at all of them.
//! * `model`: shuttle models of `frame`, `mapping` and `clock_sweep`.
//!
//! # Invariants
//! 1. A page is in at most one frame, and a pinned frame keeps its page.
//! 2. Bytes change only under the exclusive latch; but for hint bits (and the LSN of a page whose hint is logged), which change by
//!    atomic operations under the shared latch.
//! 3. A page is written only after the log is on disk up to the LSN of the copy that is written.
//! 4. A page is marked dirty before the record of its change is inserted. So a checkpoint, which moves the redo pointer and then
//!    looks for dirty pages, writes every page whose change lies before the pointer.
//! 5. A page that is clean and whose LSN is not behind the redo pointer gets no hint without its image being logged first: a torn
//!    write of it could not be repaired.
//! 6. A write that fails leaves the page dirty.
//!
//! # Locks
//! * `Frame::latch` (latch): the page's bytes. Held over waits. Order among pages is the access methods' business. Whoever evicts a
//!   page only tries its latch; who waits for one here (checkpoint, flush of a relation) holds no other.
//! * The partitions of `mapping` (short): a chain. Nothing is taken under it.
//! * [`smgr::ForkState::lock_extension`] (fiber-aware): taken before a new page's latch, which nobody else can have.
//! * A cleanup latch ([`Pin::cleanup`]) is the exclusive latch of a page that nobody else has pinned.
//!
//! # WAL and crash
//! While the log is read after a crash ([`wal::Wal::is_recovering`]) nothing is logged and it counts as flushed. Pages that it has changes for get
//! them when they are brought in, whoever brings them, before anybody sees them ([`Overdue`]). Pages of unlogged and temporary relations have LSN 0 and need no flush; checkpoints leave them alone but for the
//! one at shutdown.
//!
//! # PostgreSQL counterpart and differences
//! `bufmgr.c`, `buf_table.c`, `freelist.c`. The mapping is read without a lock and has its links in the descriptors; there is no list of
//! free buffers and no descriptor spin lock. Writing copies the page first, so hints may be set meanwhile, and marks it clean
//! before and not after the copy is written.

#![cfg_attr(test, allow(clippy::duplicate_mod, reason = "models compile the real modules once more"))]

mod action;
mod clock_sweep;
mod frame;
mod inspect;
mod load;
mod mapping;
mod memory;
mod overdue;
mod pin;
mod pool;
mod ring;
mod shim;
mod stats;
mod stream;
mod tag;
mod together;
mod write_back;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use action::{PageChange, WalAction, needs, redo_block, replay};
pub use inspect::{Evicted, FrameFacts};
pub use overdue::{Gone, Overdue, UpToDate};
pub use pin::{ExclusivePage, Pin, SharedPage};
pub use pool::{BufferError, BufferPool, Persistence, PoolOptions, ReadOptions};
pub use ring::{Ring, RingKind};
pub use stats::{BufferStats, IoKind, IoStats};
pub use stream::{Purpose, ReadStream};
pub use tag::Tag;
pub use write_back::BgwriterStep;
