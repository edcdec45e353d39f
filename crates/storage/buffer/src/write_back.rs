//! Writing pages back: on eviction, by the background writer, at checkpoints.
//!
//! A page is copied under the shared latch, the latch is given back, the log is flushed up to the copy's LSN, and the copy is
//! checksummed and written: readers are never held up, writers only while 8 KiB are copied.

use base::{Lsn, Oid, RelFile};
use page::PageBytes;
use parking_lot::Mutex;
use runtime::time::timeout;
use runtime::usage::{timed, used};
use runtime::{WaitEvent, WaitQueue, waiting};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock_sweep::SweepPosition;
use crate::frame::{BUSY, CHECKPOINT, DIRTY, HINTING, UNLOGGED, WRITING, pins, usage};
use crate::pin::Pin;
use crate::pool::{BufferError, BufferPool, Inner};
use crate::stats::{IoKind, add, count};
use crate::tag::Tag;

/// The background writer scans the whole pool in so many rounds even when nobody needs buffers.
const ROUNDS_PER_POOL: f64 = 600.0;
/// Rounds over which its estimates are smoothed.
const SMOOTHING: f64 = 16.0;

/// How to get a page's shared latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latching {
    /// Wait for it.
    Wait,
    /// Do without the page if it is not free.
    Try,
}

/// How writing a page back went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was written by the caller.
    Written,
    /// There was nothing to write, or another did.
    Clean,
    /// A latch or another's work was in the way (only with [`Latching::Try`]).
    Skipped,
}

/// What the background writer's step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BgwriterStep {
    /// Pages written.
    pub written: usize,
    /// Nothing is being allocated: [`BufferPool::bgwriter_wait`] until that changes.
    pub may_hibernate: bool,
}

/// The background writer's memory between rounds, and where it sleeps.
#[derive(Default)]
pub(crate) struct Background {
    estimate: Mutex<Estimate>,
    sleeping: WaitQueue,
}

impl Background {
    pub fn wake(&self) {
        self.sleeping.wake_all();
    }
}

/// Running averages over rounds.
#[derive(Clone, Copy, Default)]
struct Estimate {
    /// Hand and allocations at the last round.
    hand: u64,
    allocations: u64,
    /// Tick up to which the pool ahead of the hand has been cleaned.
    cleaned: u64,
    /// Frames visited for each allocation.
    density: f64,
    /// Allocations in a round.
    need: f64,
}

/// Page bytes on the way to the file.
#[repr(align(4096))]
struct Copy(PageBytes);

impl Inner {
    /// A copy of a page that others may be setting hints on.
    ///
    /// # Safety
    /// The caller holds the shared latch of frame `index` (or `HINTING`, under it).
    unsafe fn copy_page(&self, index: u32) -> Box<Copy> {
        let mut copy = Box::new(Copy([0; base::PAGE_SIZE]));
        let source = self.page_ptr(index).cast::<AtomicU64>();
        for (i, word) in copy.0.chunks_exact_mut(8).enumerate() {
            // SAFETY: within the page, which is 8-aligned; the shared latch excludes all writers but those that
            // set hints and the LSN by atomic operations.
            let value = unsafe { &*source.add(i) }.load(Ordering::Relaxed);
            word.copy_from_slice(&value.to_ne_bytes());
        }
        copy
    }

    /// Whether the page's last change is not on disk yet. Needs a pin only: the answer may be old.
    pub(crate) fn needs_wal_flush(&self, index: u32) -> bool {
        // SAFETY: the LSN is the page's first word; see `copy_page`.
        let lsn = unsafe { &*self.page_ptr(index).cast::<AtomicU64>() }.load(Ordering::Relaxed);
        u64::from_le(lsn) > self.wal.flushed().0
    }
}

/// A write in progress: one that fails leaves the page dirty.
struct Writing<'a> {
    pool: &'a Inner,
    index: u32,
    result: u64,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.pool.end_io(self.index, WRITING, self.result);
    }
}

/// A shared latch without a page guard.
struct Latched<'a>(&'a runtime::Latch);

impl Drop for Latched<'_> {
    fn drop(&mut self) {
        // SAFETY: `write_back` took the hold that this stands for.
        unsafe { self.0.unlock_shared() };
    }
}

impl BufferPool {
    /// Writes the page if it is dirty.
    pub(crate) fn write_back(
        &self,
        pin: &Pin,
        latching: Latching,
        kind: IoKind,
    ) -> Result<Outcome, BufferError> {
        let (index, frame) = (pin.index(), self.inner().frame(pin.index()));
        let copy = loop {
            if frame.state() & (DIRTY | BUSY) == 0 {
                return Ok(Outcome::Clean);
            }
            match latching {
                Latching::Wait => frame.latch.lock_shared(),
                Latching::Try if !frame.latch.try_lock_shared() => return Ok(Outcome::Skipped),
                Latching::Try => {}
            }
            let latched = Latched(&frame.latch);
            if frame.try_begin_write() {
                // SAFETY: latched.
                break unsafe { self.inner().copy_page(index) };
            }
            drop(latched);
            if latching == Latching::Try {
                let clean = frame.state() & (DIRTY | BUSY) == 0;
                return Ok(if clean { Outcome::Clean } else { Outcome::Skipped });
            }
            // Somebody writes it (to no avail, perhaps), or makes it dirty just now.
            self.inner().wait_while(index, BUSY);
        };
        let mut writing = Writing { pool: self.inner(), index, result: DIRTY };
        let (written, time) = timed(|c| &c.shared_write_time, || self.write_copy(pin.tag(), copy));
        written?;
        writing.result = 0;
        drop(writing);
        used(|c| &c.shared_written, 1);
        let io = self.inner().stats.here().of(kind);
        count(&io.writes);
        add(&io.write_time, time);
        Ok(Outcome::Written)
    }

    /// The rule of write-ahead logging: the log first.
    fn write_copy(&self, tag: Tag, mut copy: Box<Copy>) -> Result<(), BufferError> {
        let lsn = page::lsn(&copy.0);
        if lsn > Lsn::INVALID {
            self.inner().wal.flush(lsn)?;
        }
        page::set_checksum(&mut copy.0, tag.block);
        base::stop_result!("buffer-before-write").map_err(|error| smgr::SmgrError::Io {
            transient: false,
            kind: std::io::ErrorKind::Other,
            message: error.to_string(),
        })?;
        let write = || self.inner().smgr.write(tag.rel, tag.fork, tag.block, &copy.0);
        Ok(waiting(WaitEvent::DataFileWrite, write)?)
    }

    /// Writes all dirty pages of a relation.
    pub fn flush_relation(&self, rel: RelFile) -> Result<(), BufferError> {
        self.flush_where(|tag| tag.rel == rel)
    }

    /// Writes all dirty pages of a database.
    pub fn flush_database(&self, database: Oid) -> Result<(), BufferError> {
        self.flush_where(|tag| tag.rel.database == database)
    }

    /// Writes the dirty pages that `wanted` names.
    fn flush_where(&self, wanted: impl Fn(Tag) -> bool) -> Result<(), BufferError> {
        for (index, frame) in self.inner().frames.iter().enumerate() {
            if !wanted(Tag::from_words(frame.tag_words())) {
                continue;
            }
            if frame.try_pin_if(|state| state & (DIRTY | BUSY) != 0).is_some() {
                let pin = self.pin_of(index as u32);
                if wanted(pin.tag()) {
                    self.write_back(&pin, Latching::Wait, IoKind::Normal)?;
                }
            }
        }
        Ok(())
    }

    /// Writes all pages that are dirty now, in file order; returns how many. `everything`: unlogged and temporary ones too
    /// (shutdown). `progress(done, total)` is called after each page and may sleep.
    ///
    /// The redo pointer has been moved before: whatever is changed from now on is logged behind it.
    pub fn checkpoint_write(
        &self,
        everything: bool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<usize, BufferError> {
        let mut marked: Vec<(Tag, u32)> = Vec::new();
        for (index, frame) in self.inner().frames.iter().enumerate() {
            if frame.mark_for_checkpoint(everything) {
                // Without a pin the tag may be gone with the page, written by whoever took the frame: then the mark is too.
                marked.push((Tag::from_words(frame.tag_words()), index as u32));
            }
        }
        marked.sort_unstable();
        let total = marked.len();
        let mut written = 0;
        for (done, (_, index)) in marked.into_iter().enumerate() {
            if self.inner().frame(index).try_pin_if(|state| state & CHECKPOINT != 0).is_some() {
                let pin = self.pin_of(index);
                let outcome = self.write_back(&pin, Latching::Wait, IoKind::Checkpointer)?;
                written += usize::from(outcome == Outcome::Written);
            }
            progress(done + 1, total);
        }
        Ok(written)
    }

    /// One round of the background writer: cleans what the sweep will reach until the next round, as the last rounds let expect.
    pub fn bgwriter_step(&self) -> Result<BgwriterStep, BufferError> {
        let hand = self.inner().sweep.position().0;
        let allocations = self.inner().sweep.allocations();
        let mut estimate = *self.inner().background.estimate.lock();
        let moved = hand - estimate.hand;
        let allocated = allocations - estimate.allocations;
        estimate.hand = hand;
        estimate.allocations = allocations;
        estimate.cleaned = estimate.cleaned.max(hand);
        if moved > 0 && allocated > 0 {
            let density = moved as f64 / allocated as f64;
            estimate.density += (density - estimate.density) / SMOOTHING;
        }
        // Up at once, down slowly.
        estimate.need =
            (estimate.need + (allocated as f64 - estimate.need) / SMOOTHING).max(allocated as f64);
        let buffers = self.inner().frames.len() as f64;
        let ahead = (estimate.cleaned - hand) as f64;
        let mut reusable = if estimate.density > 0.0 { ahead / estimate.density } else { 0.0 };
        let wanted = (estimate.need * self.inner().options.bgwriter_multiplier)
            .max(reusable + buffers / ROUNDS_PER_POOL);
        let mut step = BgwriterStep { written: 0, may_hibernate: moved == 0 && allocated == 0 };
        while estimate.cleaned < hand + self.inner().frames.len() as u64 && reusable < wanted {
            if step.written >= self.inner().options.bgwriter_max_pages {
                count(&self.inner().stats.here().bgwriter_maxwritten);
                break;
            }
            let index = self.inner().sweep.frame_at(SweepPosition(estimate.cleaned)) as u32;
            estimate.cleaned += 1;
            let (is_reusable, was_written) = self.clean(index)?;
            reusable += f64::from(u8::from(is_reusable));
            step.written += usize::from(was_written);
        }
        *self.inner().background.estimate.lock() = estimate;
        Ok(step)
    }

    /// Writes a frame's page if the sweep would take it. Whether it could be taken, and whether it was written.
    fn clean(&self, index: u32) -> Result<(bool, bool), BufferError> {
        let frame = self.inner().frame(index);
        let idle = |state: u64| pins(state) == 0 && usage(state) == 0;
        let state = frame.state();
        if !idle(state) || state & DIRTY == 0 {
            return Ok((idle(state), false));
        }
        if frame.try_pin_if(|state| idle(state) && state & DIRTY != 0).is_none() {
            return Ok((false, false));
        }
        let pin = self.pin_of(index);
        let outcome = self.write_back(&pin, Latching::Try, IoKind::BackgroundWriter)?;
        Ok((outcome != Outcome::Skipped, outcome == Outcome::Written))
    }

    /// Sleeps until somebody needs a buffer, `stopped` says so, or `most` has passed: the background writer's rest after a step that
    /// may hibernate. No lock is taken on the allocating side (thread 2).
    pub fn bgwriter_wait(&self, most: Duration, stopped: &dyn Fn() -> bool) {
        let seen = self.inner().background.estimate.lock().allocations;
        let needed = self.inner().background.sleeping.until(|| {
            self.inner().sweep.writer_sleeps();
            (self.inner().sweep.allocations() != seen || stopped()).then_some(())
        });
        runtime::wait(timeout(most, needed));
    }

    /// Lets [`bgwriter_wait`](Self::bgwriter_wait) look at its `stopped` again.
    pub fn wake_bgwriter(&self) {
        self.inner().background.sleeping.wake_all();
    }

    /// Complete passes of the sweep, and the frame it will visit next.
    pub fn sweep_position(&self) -> (u64, usize) {
        let position = self.inner().sweep.position();
        (self.inner().sweep.passes(position), self.inner().sweep.frame_at(position))
    }
}

impl Inner {
    /// After hint bits were set under the shared latch: makes the page dirty, and logs its image first if a torn write of it could
    /// not be repaired otherwise.
    ///
    /// A page with LSN 0 was never logged (an unlogged relation, the free-space map): nothing would repair it anyway.
    ///
    /// A page whose image is being logged is `HINTING` and not yet dirty. So nobody writes it before the image's LSN is on
    /// it, and a checkpoint that begins meanwhile waits for it.
    ///
    /// # Safety
    /// The caller holds the latch of frame `index`, shared or exclusive.
    pub(crate) unsafe fn mark_hint(&self, index: u32, tag: impl Fn() -> Tag) {
        let frame = self.frame(index);
        let state = frame.state();
        if state & DIRTY != 0 {
            return;
        }
        let may_need_image = self.options.log_hints && state & UNLOGGED == 0;
        if !may_need_image {
            if !self.wal.is_closed() {
                self.set_dirty(index);
            }
            return;
        }
        if !self.wal.has_room() {
            // The hint is lost with the page in memory: somebody will set it again.
            return;
        }
        if !frame.try_begin_hint() {
            // Dirty by now, or another one's hint is about to make it dirty.
            return;
        }
        let hinting = Hinting { pool: self, index };
        // SAFETY: latched by the caller.
        let copy = unsafe { self.copy_page(index) };
        let lsn = page::lsn(&copy.0);
        if lsn > Lsn::INVALID && self.wal.needs_image(lsn) {
            let tag = tag();
            let mut record =
                wal::RecordBuilder::new(wal::Rmgr::Xlog, wal::xlog_info::FPI_FOR_HINT, base::Xid::INVALID);
            let options = wal::BlockOptions { force_image: true, ..Default::default() };
            record.block(tag.rel, tag.fork, tag.block, options, &copy.0);
            let lsn = self.wal.insert(&record);
            // SAFETY: the LSN is the page's first word; `HINTING` makes us the only one to change it under the latch.
            let word = unsafe { &*self.page_ptr(index).cast::<AtomicU64>() };
            word.store(lsn.0.to_le(), Ordering::Relaxed);
        }
        drop(hinting);
    }
}

/// A hint being logged; ends with the page dirty in any case.
struct Hinting<'a> {
    pool: &'a Inner,
    index: u32,
}

impl Drop for Hinting<'_> {
    fn drop(&mut self) {
        self.pool.end_io(self.index, HINTING, DIRTY);
        used(|c| &c.shared_dirtied, 1);
    }
}
