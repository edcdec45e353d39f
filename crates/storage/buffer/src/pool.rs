//! The pool.

use std::fmt;
use std::sync::Arc;

use base::{BlockNo, Fork, RelFile};
use smgr::{Smgr, SmgrError};
use wal::{Wal, WalError};

use crate::pin::{ExclusivePage, Pin};

/// Identity of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Relation.
    pub rel: RelFile,
    /// Fork.
    pub fork: Fork,
    /// Page.
    pub block: BlockNo,
}

/// What a crash may take from a relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persistence {
    /// Logged.
    #[default]
    Permanent,
    /// Not logged: emptied by recovery.
    Unlogged,
    /// Not logged and of one session.
    Temporary,
}

/// A page could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferError {
    /// The page's checksum or header is wrong: XX001.
    Corrupt {
        /// Relation.
        rel: RelFile,
        /// Fork.
        fork: Fork,
        /// Page.
        block: BlockNo,
    },
    /// Its file failed, is missing or too short.
    File(SmgrError),
    /// The log could not be flushed before a page was written: the server must stop.
    Wal(WalError),
    /// Every buffer is pinned.
    NoUnpinnedBuffers,
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Corrupt { rel, fork, block } => {
                write!(f, "invalid page in block {block} of relation \"{rel}{}\"", fork.suffix())
            }
            BufferError::File(error) => error.fmt(f),
            BufferError::Wal(error) => error.fmt(f),
            BufferError::NoUnpinnedBuffers => f.write_str("no unpinned buffers available"),
        }
    }
}

impl std::error::Error for BufferError {}

/// How a big scan or load keeps to few buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingKind {
    /// Sequential scans: 256 KiB.
    BulkRead,
    /// COPY and CREATE TABLE AS: 16 MiB.
    BulkWrite,
    /// VACUUM: 2 MiB.
    Vacuum,
}

/// The few buffers that one big scan or load goes round in.
pub struct Ring {}

/// Habits of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// Number of pages (`shared_buffers`).
    pub buffers: usize,
    /// Log a page's first hint after a checkpoint (needed with checksums).
    pub log_hints: bool,
}

/// Counters since start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStats {
    /// Pages found.
    pub hits: u64,
    /// Pages read.
    pub reads: u64,
    /// Pages written by whoever needed the buffer.
    pub backend_writes: u64,
    /// Pages written by the background writer.
    pub bgwriter_writes: u64,
    /// Pages written by checkpoints.
    pub checkpoint_writes: u64,
    /// Buffers given a new page.
    pub allocations: u64,
    /// Pages thrown out for another.
    pub evictions: u64,
    /// Pages added to relations.
    pub extends: u64,
}

/// What the background writer's step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BgwriterStep {
    /// Pages written.
    pub written: usize,
    /// Nothing is being allocated: sleep until woken.
    pub may_hibernate: bool,
}

/// The pool.
pub struct BufferPool {}

impl BufferPool {
    /// A pool of `nbuffers` pages.
    pub fn new(_nbuffers: usize, _smgr: Arc<Smgr>, _wal: Arc<Wal>) -> BufferPool {
        todo!()
    }
    /// A pool with these options.
    pub fn with_options(_options: PoolOptions, _smgr: Arc<Smgr>, _wal: Arc<Wal>) -> BufferPool {
        todo!()
    }
    /// The log that this pool's pages go to.
    pub fn wal(&self) -> &Arc<Wal> {
        todo!()
    }
    /// The files below.
    pub fn smgr(&self) -> &Arc<Smgr> {
        todo!()
    }
    /// The page, pinned.
    pub fn read(&self, _tag: Tag) -> Result<Pin, BufferError> {
        todo!()
    }
    /// The page, pinned; a miss takes a buffer of the ring.
    pub fn read_with(&self, _tag: Tag, _ring: &Ring) -> Result<Pin, BufferError> {
        todo!()
    }
    /// The page if it is in the pool, without I/O.
    pub fn read_cached(&self, _tag: Tag) -> Option<Pin> {
        todo!()
    }
    /// A ring for one scan or load.
    pub fn ring(&self, _kind: RingKind) -> Ring {
        todo!()
    }
    /// Starts to read a page that will be wanted.
    pub fn prefetch(&self, _tag: Tag) {
        todo!()
    }
    /// A new zero page at the end of the fork, latched. Serialised per fork.
    pub fn extend(
        &self,
        _rel: RelFile,
        _fork: Fork,
        _persistence: Persistence,
    ) -> Result<ExclusivePage<'static>, BufferError> {
        todo!()
    }
    /// Redo: the page, zeroed without reading if it is not in the pool; the fork is extended (and created) as needed.
    pub fn read_or_zero(&self, _tag: Tag) -> Result<Pin, BufferError> {
        todo!()
    }
    /// Number of pages of a fork.
    pub fn nblocks(&self, _rel: RelFile, _fork: Fork) -> Result<u32, BufferError> {
        todo!()
    }
    /// Discards the pages from `nblocks` on and cuts the file. The caller has the relation to itself and has logged it.
    pub fn truncate(&self, _rel: RelFile, _fork: Fork, _nblocks: u32) -> Result<(), BufferError> {
        todo!()
    }
    /// Discards all pages of relations that are to be unlinked.
    pub fn drop_relations(&self, _rels: &[RelFile]) {
        todo!()
    }
    /// Writes all dirty pages of a relation.
    pub fn flush_relation(&self, _rel: RelFile) -> Result<(), BufferError> {
        todo!()
    }
    /// Writes all pages that are dirty now, in file order. `everything`: unlogged and temporary ones too (shutdown).
    /// `progress(done, total)` is called after each page and may sleep.
    pub fn checkpoint_write(
        &self,
        _everything: bool,
        _progress: &mut dyn FnMut(usize, usize),
    ) -> Result<usize, BufferError> {
        todo!()
    }
    /// One round of the background writer.
    pub fn bgwriter_step(&self) -> Result<BgwriterStep, BufferError> {
        todo!()
    }
    /// Sleeps until somebody needs a buffer (after a step that may hibernate).
    pub fn bgwriter_wait(&self) {
        todo!()
    }
    /// Counters.
    pub fn stats(&self) -> BufferStats {
        todo!()
    }
    /// Number of pins held now; tests end with zero.
    pub fn pins(&self) -> usize {
        todo!()
    }
}
