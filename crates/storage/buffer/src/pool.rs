//! The pool: reading and adding pages, finding buffers for them.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{BlockNo, Fork, Lsn, Oid, RelFile, Severity, SqlError, SqlState};
use page::PageBytes;
use runtime::fs::ReadMethod;
use runtime::usage::used;
use runtime::{WaitEvent, WaitQueue, waiting};
use smgr::{Smgr, SmgrError};
use wal::{Wal, WalError};

use crate::clock_sweep::ClockSweep;
use crate::frame::{DIRTY, Frame, MAPPED, MAX_USAGE, READING, VALID, pins};
use crate::load::Load;
use crate::mapping::Mapping;
use crate::memory::{PageMemory, Table};
use crate::overdue::{Gone, Overdue, OverdueSlot};
use crate::pin::{ExclusivePage, Pin};
use crate::ring::{Ring, RingKind};
use crate::stats::{BufferStats, IoKind, Stats, count};
use crate::tag::Tag;
use crate::write_back::{Background, Latching, Outcome};

const QUEUES: usize = 128;
/// Fewer pages than one for so many buffers are looked up one by one when they are cut off; else all buffers are gone through.
const ONE_BY_ONE: usize = 8;

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
    /// The log has no room for a change that was to begin; nothing has happened: 53100.
    NoLog(WalError),
    /// Every buffer is pinned: 53200.
    NoUnpinnedBuffers,
    /// After a crash, a record of the log cannot be replayed on a page: XX001.
    Redo {
        /// Start of the record.
        lsn: Lsn,
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Corrupt { rel, fork, block } => {
                write!(f, "invalid page in block {block} of relation \"{rel}{}\"", fork.suffix())
            }
            BufferError::File(error) => error.fmt(f),
            BufferError::Wal(error) | BufferError::NoLog(error) => error.fmt(f),
            BufferError::NoUnpinnedBuffers => f.write_str("no unpinned buffers available"),
            BufferError::Redo { lsn, reason } => {
                write!(f, "could not replay the WAL record at {lsn}: {reason}")
            }
        }
    }
}

impl std::error::Error for BufferError {}

impl BufferError {
    /// Whether nothing happened and the same may succeed later: no room, no descriptor.
    pub fn is_transient(&self) -> bool {
        match self {
            BufferError::File(error) => error.is_transient(),
            BufferError::Wal(error) | BufferError::NoLog(error) => error.transient,
            _ => false,
        }
    }
}

impl From<BufferError> for SqlError {
    fn from(error: BufferError) -> SqlError {
        let (severity, code) = match &error {
            BufferError::File(SmgrError::Io { kind, transient, message }) => {
                return base::os::file_error(*kind, *transient, message);
            }
            BufferError::NoLog(error) => {
                return base::os::file_error(error.kind, error.transient, &error.message);
            }
            BufferError::Corrupt { .. } | BufferError::Redo { .. } => {
                (Severity::Error, SqlState::DATA_CORRUPTED)
            }
            BufferError::NoUnpinnedBuffers => (Severity::Error, SqlState::INSUFFICIENT_RESOURCES),
            BufferError::File(SmgrError::MissingFile { .. }) => (Severity::Error, SqlState::UNDEFINED_FILE),
            BufferError::File(SmgrError::PastEnd { .. } | SmgrError::Cut { .. }) => {
                (Severity::Error, SqlState::DATA_CORRUPTED)
            }
            BufferError::File(SmgrError::ShortRead { .. }) => (Severity::Error, SqlState::IO_ERROR),
            BufferError::Wal(_) => (Severity::Panic, SqlState::IO_ERROR),
        };
        SqlError::with_severity(severity, code, error.to_string())
    }
}

impl From<SmgrError> for BufferError {
    fn from(error: SmgrError) -> BufferError {
        BufferError::File(error)
    }
}

impl From<WalError> for BufferError {
    fn from(error: WalError) -> BufferError {
        BufferError::Wal(error)
    }
}

/// Habits of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// Number of pages (`shared_buffers`), at least 16.
    pub buffers: usize,
    /// Log a page's image at its first hint after a checkpoint (needed with checksums).
    pub log_hints: bool,
    /// Most pages that a round of the background writer writes (`bgwriter_lru_maxpages`).
    pub bgwriter_max_pages: usize,
    /// How far ahead of the expected need it cleans (`bgwriter_lru_multiplier`).
    pub bgwriter_multiplier: f64,
    /// How pages are read ahead.
    pub reads: ReadOptions,
}

/// How pages are read ahead: what is the server's to say.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// `io_method`
    pub method: ReadMethod,
    /// Pages of a read at most, whatever the session says (`io_max_combine_limit`).
    pub most_pages: u32,
    /// Reads under way of one stream at most, whatever the session says (`io_max_concurrency`).
    pub most_reads: u32,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { method: ReadMethod::default(), most_pages: 16, most_reads: u32::MAX }
    }
}

impl Default for PoolOptions {
    fn default() -> Self {
        PoolOptions {
            buffers: 16384,
            log_hints: true,
            bgwriter_max_pages: 100,
            bgwriter_multiplier: 2.0,
            reads: ReadOptions::default(),
        }
    }
}

/// Everything behind the pool and its pins.
pub(crate) struct Inner {
    pub frames: Table<Frame>,
    memory: PageMemory,
    pub mapping: Mapping,
    pub sweep: ClockSweep,
    pub smgr: Arc<Smgr>,
    pub wal: Arc<Wal>,
    pub options: PoolOptions,
    pub stats: Stats,
    pub background: Background,
    pub overdue: OverdueSlot,
    queues: Box<[WaitQueue]>,
    /// Threads between giving up their last pin and waking somebody through `queues`.
    wakers: AtomicUsize,
    /// Buffers that reads fill which were started, or bring several pages.
    pub under_way: AtomicUsize,
}

/// The pool of shared buffers.
///
/// Pins and page guards do not borrow it: they keep the memory alive by being counted.
pub struct BufferPool {
    inner: NonNull<Inner>,
}

// SAFETY: `Inner` is Sync (atomics, latches, mutexes; page bytes are guarded by frames), and is freed by the last owner.
unsafe impl Send for BufferPool {}
// SAFETY: as above.
unsafe impl Sync for BufferPool {}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // Acquire: pairs with the Release of unpinning and of `wakers`; whoever is counted out touches nothing any more.
        let inner = self.inner();
        let used = inner.wakers.load(Ordering::Acquire) != 0
            || inner.frames.iter().any(|frame| pins(frame.state()) != 0);
        if !used {
            // SAFETY: made by `Box::into_raw`; nobody has a pin, and nobody can get one without the pool.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
        // With pins outstanding the memory stays: leaking is sound, freeing is not.
    }
}

impl Inner {
    pub fn page_ptr(&self, index: u32) -> *mut PageBytes {
        self.memory.page(index)
    }

    pub fn frame(&self, index: u32) -> &Frame {
        &self.frames[index as usize]
    }

    /// Where one waits for this frame's I/O or pins. Frames share queues: waiters look again.
    pub fn queue(&self, index: u32) -> &WaitQueue {
        &self.queues[index as usize % QUEUES]
    }

    /// Marks the frame's page dirty; see [`Frame::set_dirty`].
    pub fn set_dirty(&self, index: u32) {
        if self.frame(index).set_dirty() {
            used(|c| &c.shared_dirtied, 1);
        }
    }

    pub fn unpin(&self, index: u32) {
        // `wakers` keeps the queue alive: the one we wake may end the pool before we get to it.
        let unpinned = self.frame(index).unpin(|| {
            self.wakers.fetch_add(1, Ordering::Relaxed);
        });
        if unpinned.wakes {
            self.queue(index).wake_all();
        }
        if unpinned.announced {
            // Release: pairs with the Acquire in the pool's drop.
            self.wakers.fetch_sub(1, Ordering::Release);
        }
    }

    /// Ends a read, write or hint and wakes those who wait for it.
    pub fn end_io(&self, index: u32, work: u64, and_set: u64) {
        self.frame(index).end_io(work, and_set);
        self.queue(index).wake_all();
    }

    /// Waits until the frame has none of these flags. The caller has a pin.
    pub fn wait_while(&self, index: u32, busy: u64) {
        if self.frame(index).state() & busy == 0 {
            return;
        }
        waiting(WaitEvent::BufferIo, || {
            self.queue(index).wait_until(|| (self.frame(index).state() & busy == 0).then_some(()));
        });
    }
}

impl BufferPool {
    /// A pool of `nbuffers` pages.
    pub fn new(nbuffers: usize, smgr: Arc<Smgr>, wal: Arc<Wal>) -> BufferPool {
        BufferPool::with_options(PoolOptions { buffers: nbuffers, ..PoolOptions::default() }, smgr, wal)
    }

    /// A pool with these options.
    pub fn with_options(options: PoolOptions, smgr: Arc<Smgr>, wal: Arc<Wal>) -> BufferPool {
        let buffers = options.buffers.clamp(16, u32::MAX as usize / 2);
        let inner = Box::new(Inner {
            frames: Table::new(buffers, Frame::default),
            memory: PageMemory::new(buffers),
            mapping: Mapping::new(buffers),
            sweep: ClockSweep::new(buffers),
            smgr,
            wal,
            options: PoolOptions { buffers, ..options },
            stats: Stats::default(),
            background: Background::default(),
            overdue: OverdueSlot::default(),
            queues: (0..QUEUES).map(|_| WaitQueue::new()).collect(),
            wakers: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
        });
        BufferPool { inner: NonNull::from(Box::leak(inner)) }
    }

    pub(crate) fn inner(&self) -> &Inner {
        // SAFETY: lives until drop.
        unsafe { self.inner.as_ref() }
    }

    /// The log that this pool's pages go to.
    pub fn wal(&self) -> &Arc<Wal> {
        &self.inner().wal
    }

    /// Asked before a change to a relation of this persistence begins, with no latch held: refused if it is logged and the log has
    /// no room for it.
    #[inline]
    pub fn admit(&self, persistence: Persistence) -> Result<(), BufferError> {
        match persistence {
            Persistence::Permanent => self.wal().admit().map_err(BufferError::NoLog),
            _ => Ok(()),
        }
    }

    /// After a crash: what the log still has for pages that are brought in, until there is nothing left of it.
    pub fn set_overdue(&self, overdue: Option<Arc<dyn Overdue>>) {
        self.inner().overdue.set(overdue);
    }

    /// The files below.
    pub fn smgr(&self) -> &Arc<Smgr> {
        &self.inner().smgr
    }

    /// Number of buffers.
    pub fn buffers(&self) -> usize {
        self.inner().frames.len()
    }

    /// The guard of a pin that the caller just took on the frame.
    pub(crate) fn pin_of(&self, index: u32) -> Pin {
        debug_assert!(pins(self.inner().frame(index).state()) > 0);
        // SAFETY: the caller's pin becomes the guard's.
        unsafe { Pin::adopt(self.inner, index) }
    }

    /// The page, pinned.
    pub fn read(&self, tag: Tag) -> Result<Pin, BufferError> {
        self.read_as(tag, None, Load::Read)
    }

    /// The page, pinned; a miss takes a buffer of the ring, if there is one.
    pub fn read_with(&self, tag: Tag, ring: Option<&Ring>) -> Result<Pin, BufferError> {
        self.read_as(tag, ring, Load::Read)
    }

    /// The page; a damaged one becomes an empty new page. For forks that repair themselves (the free-space map).
    pub fn read_or_reset(&self, tag: Tag) -> Result<Pin, BufferError> {
        self.read_as(tag, None, Load::ReadOrReset)
    }

    /// The page if it is in the pool, without I/O.
    pub fn read_cached(&self, tag: Tag) -> Option<Pin> {
        let (index, state) = self.lookup(tag, MAX_USAGE)?;
        let pin = self.pin_of(index);
        (state & VALID != 0).then_some(pin)
    }

    /// The page if it is in the pool and valid; counted as found.
    #[inline]
    pub(crate) fn find(&self, tag: Tag, ring: Option<&Ring>) -> Option<Pin> {
        let (index, state) = self.lookup(tag, if ring.is_some() { 1 } else { MAX_USAGE })?;
        let pin = self.pin_of(index);
        if state & VALID == 0 {
            return None;
        }
        self.inner().stats.hit(IoKind::of(ring));
        Some(pin)
    }

    /// Whether the page seems to be in the pool.
    pub(crate) fn probably_has(&self, tag: Tag) -> bool {
        self.inner().mapping.probably_has(&self.inner().frames, tag.words(), tag.hash())
    }

    /// A ring for one scan or load.
    pub fn ring(&self, kind: RingKind) -> Ring {
        Ring::new(kind, self.inner().frames.len())
    }

    /// A ring of so many bytes.
    pub fn ring_of(&self, kind: RingKind, bytes: usize) -> Ring {
        Ring::with_bytes(kind, bytes, self.inner().frames.len())
    }

    /// Starts to read a page that will be wanted.
    pub fn prefetch(&self, tag: Tag) {
        if !self.inner().mapping.probably_has(&self.inner().frames, tag.words(), tag.hash()) {
            self.inner().smgr.prefetch(tag.rel, tag.fork, tag.block, 1);
        }
    }

    /// Starts to read those of `count` neighbouring pages that are not in the pool.
    pub fn prefetch_run(&self, first: Tag, count: u32) {
        let inner = self.inner();
        let missing = |n: &u32| {
            let tag = Tag { block: BlockNo(first.block.0 + n), ..first };
            !inner.mapping.probably_has(&inner.frames, tag.words(), tag.hash())
        };
        let Some(from) = (0..count).find(missing) else { return };
        let to = (from..count).rev().find(missing).unwrap_or(from);
        inner.smgr.prefetch(first.rel, first.fork, BlockNo(first.block.0 + from), to + 1 - from);
    }

    /// The page, zeroed without reading if it is not in the pool; the fork is created and extended as needed. For forks that nobody logs.
    pub fn read_or_zero(&self, tag: Tag) -> Result<Pin, BufferError> {
        let nblocks = match self.inner().smgr.nblocks(tag.rel, tag.fork) {
            Err(SmgrError::MissingFile { .. }) => {
                self.inner().smgr.create(tag.rel, tag.fork, true)?;
                0
            }
            nblocks => nblocks?,
        };
        if tag.block.0 >= nblocks {
            let fork = self.inner().smgr.fork(tag.rel, tag.fork);
            let _extension = fork.lock_extension();
            let nblocks = self.inner().smgr.nblocks(tag.rel, tag.fork)?;
            if tag.block.0 >= nblocks {
                self.inner().smgr.extend(tag.rel, tag.fork, BlockNo(nblocks), tag.block.0 + 1 - nblocks)?;
            }
        }
        self.read_as(tag, None, Load::Zero)
    }

    #[inline(always)]
    pub(crate) fn lookup(&self, tag: Tag, bump: u64) -> Option<(u32, u64)> {
        let inner = self.inner();
        let (guess, unpin) = (|index| inner.memory.touch(index), |index| inner.unpin(index));
        inner.mapping.lookup(&inner.frames, tag.words(), tag.hash(), bump, guess, unpin)
    }

    #[inline]
    fn read_as(&self, tag: Tag, ring: Option<&Ring>, load: Load) -> Result<Pin, BufferError> {
        let bump = if ring.is_some() { 1 } else { MAX_USAGE };
        let Some((index, state)) = self.lookup(tag, bump) else { return self.load(tag, ring, load) };
        let pin = self.pin_of(index);
        if state & VALID == 0 {
            return self.finish_load(pin, IoKind::of(ring), load);
        }
        self.inner().stats.hit(IoKind::of(ring));
        Ok(pin)
    }

    /// A frame without a page, pinned by the caller alone.
    pub(crate) fn take_victim(&self, ring: Option<&Ring>) -> Result<Pin, BufferError> {
        if self.inner().sweep.count_allocation() {
            self.inner().background.wake();
        }
        let kind = IoKind::of(ring);
        loop {
            let from_ring = ring.and_then(|ring| ring.claim(&self.inner().frames));
            let index = match from_ring {
                Some(index) => index,
                None => {
                    self.inner().sweep.claim(&self.inner().frames).ok_or(BufferError::NoUnpinnedBuffers)?
                        as u32
                }
            };
            let pin = self.pin_of(index);
            let state = self.inner().frame(index).state();
            if state & DIRTY != 0 {
                if from_ring.is_some()
                    && ring.is_some_and(|ring| ring.declines(self.inner().needs_wal_flush(index)))
                {
                    continue;
                }
                // Waiting for a latch here, with latches of other pages held, could be a deadlock: another frame will do.
                if self.write_back(&pin, Latching::Try, kind)? == Outcome::Skipped {
                    continue;
                }
            }
            if state & MAPPED == 0 || self.evict(&pin) {
                let io = self.inner().stats.here().of(kind);
                match from_ring {
                    Some(_) => count(&io.reuses),
                    None if state & MAPPED != 0 => count(&io.evictions),
                    None => {}
                }
                if let Some(ring) = ring {
                    ring.keep(index);
                }
                return Ok(pin);
            }
        }
    }

    /// Takes the page out of a frame that the caller has pinned, unless somebody else wants it or made it dirty.
    pub(crate) fn evict(&self, pin: &Pin) -> bool {
        let frame = self.inner().frame(pin.index());
        self.inner().mapping.locked(pin.tag().hash(), |partition| {
            let vacated = frame.try_vacate(false);
            if vacated {
                partition.remove(&self.inner().frames, pin.index());
            }
            vacated
        })
    }

    /// A new zero page at the end of the fork, exclusively latched. Extending is serialised per fork; the file grows ahead of need.
    pub fn extend(
        &self,
        rel: RelFile,
        fork: Fork,
        persistence: Persistence,
    ) -> Result<ExclusivePage<'static>, BufferError> {
        self.extend_with(rel, fork, persistence, None)
    }

    /// As [`extend`](Self::extend), with a buffer of the ring.
    pub fn extend_with(
        &self,
        rel: RelFile,
        fork: Fork,
        persistence: Persistence,
        ring: Option<&Ring>,
    ) -> Result<ExclusivePage<'static>, BufferError> {
        // Before the lock: finding a buffer may mean to write one.
        let victim = self.take_victim(ring)?;
        let state = self.inner().smgr.fork(rel, fork);
        let _extension = state.lock_extension();
        let block = BlockNo(self.inner().smgr.nblocks(rel, fork)?);
        let (pin, ours) = self.map(Tag { rel, fork, block }, victim);
        let frame = self.inner().frame(pin.index());
        if persistence != Persistence::Permanent {
            frame.set_unlogged();
        }
        // Not ours if somebody read behind the end: wait until it fails, or take over what is left of it.
        let filling = ours || self.begin_fill(&pin);
        let mut page = pin.into_exclusive();
        page.fill(0);
        if filling {
            // Latched before it is valid: who finds the page waits for us.
            self.inner().end_io(page.index(), READING, VALID);
        }
        let extended = waiting(WaitEvent::DataFileExtend, || self.inner().smgr.extend(rel, fork, block, 1));
        if let Err(error) = extended {
            let pin = page.into_pin();
            self.discard(pin);
            return Err(error.into());
        }
        count(&self.inner().stats.here().of(IoKind::of(ring)).extends);
        used(|c| &c.shared_written, 1);
        Ok(page)
    }

    /// Number of pages of a fork.
    pub fn nblocks(&self, rel: RelFile, fork: Fork) -> Result<u32, BufferError> {
        Ok(self.inner().smgr.nblocks(rel, fork)?)
    }

    /// Throws a page away, changes included. Waits for others' pins, which can only be passing.
    fn discard(&self, pin: Pin) {
        let frame = self.inner().frame(pin.index());
        loop {
            pin.wait_to_be_alone();
            let gone = self.inner().mapping.locked(pin.tag().hash(), |partition| {
                let vacated = frame.try_vacate(true);
                if vacated {
                    partition.remove(&self.inner().frames, pin.index());
                }
                vacated
            });
            if gone {
                return;
            }
        }
    }

    /// Discards the pages that `unwanted` names, without writing them.
    fn discard_where(&self, unwanted: impl Fn(Tag) -> bool) {
        for (index, frame) in self.inner().frames.iter().enumerate() {
            // A glance without a pin may be wrong about a frame that changes just now; but such a page is not one of a
            // relation that nobody uses any more.
            if frame.state() & MAPPED == 0 || !unwanted(Tag::from_words(frame.tag_words())) {
                continue;
            }
            if frame.try_pin_if(|_| true).is_some() {
                let pin = self.pin_of(index as u32);
                if unwanted(pin.tag()) {
                    self.discard(pin);
                }
            }
        }
    }

    /// Discards the pages from `nblocks` on and cuts the file. The caller has the relation to itself and has logged it.
    pub fn truncate(&self, rel: RelFile, fork: Fork, nblocks: u32) -> Result<(), BufferError> {
        self.inner().overdue.forget(Gone::From(Tag { rel, fork, block: BlockNo(nblocks) }));
        let end = self.inner().smgr.nblocks(rel, fork).unwrap_or(u32::MAX);
        if (end.saturating_sub(nblocks) as usize) < self.buffers() / ONE_BY_ONE {
            for block in (nblocks..end).map(BlockNo) {
                if let Some((index, _)) = self.lookup(Tag { rel, fork, block }, 1) {
                    self.discard(self.pin_of(index));
                }
            }
        } else {
            self.discard_where(|tag| tag.rel == rel && tag.fork == fork && tag.block.0 >= nblocks);
        }
        Ok(self.inner().smgr.truncate(rel, fork, nblocks)?)
    }

    /// Discards all pages of relations that are to be unlinked. Nobody uses them any more.
    pub fn drop_relations(&self, rels: &[RelFile]) {
        self.inner().overdue.forget(Gone::Relations(rels));
        let mut sorted = rels.to_vec();
        sorted.sort_unstable();
        self.discard_where(|tag| sorted.binary_search(&tag.rel).is_ok());
    }

    /// Discards all pages that a database has in a tablespace, whose files are to be removed. Nobody uses it any more.
    pub fn drop_database(&self, tablespace: Oid, database: Oid) {
        self.inner().overdue.forget(Gone::Database(tablespace, database));
        self.discard_where(|tag| tag.rel.tablespace == tablespace && tag.rel.database == database);
    }

    /// Discards all pages, which have been written; nobody uses any.
    pub fn discard_all(&self) {
        self.discard_where(|_| true);
    }

    /// Counters.
    pub fn stats(&self) -> BufferStats {
        let mut stats = self.inner().stats.sum();
        stats.allocations = self.inner().sweep.allocations();
        stats
    }

    /// Number of pins held now; tests end with zero.
    pub fn pins(&self) -> usize {
        self.inner().frames.iter().map(|frame| pins(frame.state()) as usize).sum()
    }

    /// Number of dirty pages now.
    pub fn dirty(&self) -> usize {
        self.inner().frames.iter().filter(|frame| frame.state() & DIRTY != 0).count()
    }
}
