//! The log of a running server: insertion, flushing, checkpoints.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;
use std::{fmt, io};

use base::os::is_transient;
use base::{Lsn, TimelineId, Xid};
use compress::Method;
use parking_lot::Mutex;
use runtime::time::timeout;
use runtime::usage::{Account, timed_wal, used};
use runtime::{Event, WaitEvent, WaitQueue, waiting};

use crate::archive::ArchiveStatus;
use crate::builder::{Assembled, AtomicImageOptions, ImageOptions, RecordBuilder};
use crate::flush_queue::{FlushQueue, Turn};
use crate::geometry::{Geometry, align};
use crate::reader::WalReader;
use crate::record::{HEADER_SIZE, Rmgr, xlog_info};
use crate::reserve::{Announced, Reservations};
use crate::ring::Ring;
use crate::room::Room;
use crate::segment::{Recycled, Segments};
use crate::timeline::History;

/// Concurrent copies into the ring; more threads than this at once wait for each other.
const SLOTS: usize = 128;
/// What a segment that is left early is filled with.
static NOTHING: [u8; 8 << 10] = [0; 8 << 10];
/// Looks at the slots before the flush leader goes to sleep over a copy in progress.
const COPY_SPINS: usize = 200;
/// How long the flush leader waits before it tries a full disk again.
const DISK_RETRY: Duration = Duration::from_millis(100);

/// Sizes and habits of the log.
#[derive(Clone, Debug)]
pub struct WalOptions {
    /// Bytes of a segment file, a power of two (1 MiB to 1 GiB; tests go down to 4 KiB).
    pub segment_size: u64,
    /// Bytes of the ring buffer (`wal_buffers`), rounded up to a power of two.
    pub buffers: usize,
    /// Log an image of each page at its first change after a checkpoint (`full_page_writes`).
    pub full_page_writes: bool,
    /// How those images are compressed (`wal_compression`).
    pub compression: Option<Method>,
    /// Keep at least so many bytes of segments for recycling (`min_wal_size`).
    pub min_size: u64,
    /// Recycle no more segments than this (`max_wal_size`).
    pub max_size: u64,
    /// Wait for the disk at flush (`fsync`).
    pub fsync: bool,
}

impl WalOptions {
    fn images(&self) -> ImageOptions {
        ImageOptions { full_page_writes: self.full_page_writes, compression: self.compression }
    }
}

impl Default for WalOptions {
    fn default() -> Self {
        WalOptions {
            segment_size: 16 << 20,
            buffers: 16 << 20,
            full_page_writes: true,
            compression: None,
            min_size: 80 << 20,
            max_size: 1 << 30,
            fsync: true,
        }
    }
}

/// Where insertion goes on, as recovery found it.
#[derive(Clone, Copy, Debug)]
pub struct WalStart {
    /// Identifies the cluster; written into every segment.
    pub system_identifier: u64,
    /// The time line that was read.
    pub read: TimelineId,
    /// The time line that is written: the same, or a new one that leaves it at `end`.
    pub timeline: TimelineId,
    /// End of the last valid record: insertion starts here.
    pub end: Lsn,
    /// Redo pointer of the last checkpoint.
    pub redo: Lsn,
}

/// The log could not be written or read. An error of a flush is sticky: after the first, every flush fails and the server must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalError {
    /// What the operating system said.
    pub kind: io::ErrorKind,
    /// What was tried, on which file.
    pub message: String,
    /// There was no room or no descriptor: what was tried did not happen, and may succeed later.
    pub transient: bool,
}

/// See [`Wal::on_flush_in_recovery`].
pub type FlushInRecovery = Box<dyn Fn(Lsn) -> Result<(), WalError> + Send + Sync>;

impl WalError {
    pub(crate) fn new(what: &str, path: &Path, error: &io::Error) -> WalError {
        WalError {
            kind: error.kind(),
            message: format!("could not {what} file \"{}\": {}", shown(path), base::os_error(error)),
            transient: is_transient(error),
        }
    }
}

/// As people know it: below the data directory.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

impl fmt::Display for WalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WalError {}

/// The write-ahead log of a server.
pub struct Wal {
    pub(crate) geometry: Geometry,
    options: WalOptions,
    /// Least and most bytes of segments, which may change.
    sizes: [AtomicU64; 2],
    /// Which pages are logged whole.
    images: AtomicImageOptions,
    pub(crate) reservations: Reservations,
    pub(crate) room: Room,
    ring: Ring,
    queue: FlushQueue,
    pub(crate) segments: Segments,
    system_identifier: u64,
    /// One record longer than the ring at a time: it keeps its slot across waits.
    long_record: runtime::sync::Mutex<()>,
    /// Where that record begins, while it is being copied; otherwise beyond all.
    long_start: AtomicU64,
    /// Segments that are full, in order, but not known to be complete: the record at their end may go on behind what is on disk. Only the leader looks.
    full: Mutex<VecDeque<u64>>,
    /// Flush leaders that wait for a copy in progress.
    copied: WaitQueue,
    copy_waiters: AtomicU32,
    /// The WAL writer, waiting for a backlog.
    backlog: WaitQueue,
    backlog_wanted: AtomicBool,
    /// Who sends the log elsewhere, waiting for more of it to be on disk.
    pub(crate) flush_watchers: WaitQueue,
    /// A segment was filled since the checkpointer looked.
    segment_full: Event,
    failed: AtomicBool,
    recovering: AtomicBool,
    in_recovery: OnceLock<FlushInRecovery>,
    /// While it is replayed: so much of it is here, and durable.
    received: AtomicU64,
    /// LSN of the last removal and smoothed distance between two, for recycling.
    last_removal: AtomicU64,
    distance: AtomicU64,
    /// By [`Account`] of who led.
    written: [Written; Account::COUNT],
}

/// Log I/O, counted for one account.
#[derive(Debug, Default)]
struct Written {
    writes: AtomicU64,
    bytes: AtomicU64,
    /// Nanoseconds of those writes that were timed.
    time: AtomicU64,
}

/// What was written of the log since it was opened; each write syncs too, unless `fsync` is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalStats {
    /// Writes.
    pub writes: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Nanoseconds that those writes took, syncing included, which the fibers that made them have timed.
    pub time: u64,
}

thread_local! {
    /// The slot that this thread tries first.
    static PREFERRED_SLOT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Leadership of a flush; a leader that unwinds breaks the log rather than leave its followers waiting.
struct Leading<'a> {
    wal: &'a Wal,
    result: Option<Result<u64, WalError>>,
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let result = self.result.take().unwrap_or_else(|| {
            let message = "writing the WAL was interrupted".into();
            Err(WalError { kind: io::ErrorKind::Other, message, transient: false })
        });
        if result.is_err() {
            self.wal.failed.store(true, Ordering::SeqCst);
        }
        self.wal.queue.finish(result);
        self.wal.flush_watchers.wake_all();
        if self.wal.failed.load(Ordering::Relaxed) {
            self.wal.copied.wake_all();
            self.wal.backlog.wake_all();
        }
    }
}

impl Wal {
    /// Makes the first segment of a new cluster in `dir` (created if missing) and opens the log. The first record begins
    /// in segment 1, as PostgreSQL's does.
    pub fn create(dir: &Path, options: WalOptions, system_identifier: u64) -> Result<Wal, WalError> {
        runtime::fs::create_dir_all(dir).map_err(|error| WalError::new("create", dir, &error))?;
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            runtime::fs::sync_dir(parent).map_err(|error| WalError::new("sync", parent, &error))?;
        }
        let geometry = Geometry::new(options.segment_size);
        let end = geometry.lsn(geometry.usable());
        let timeline = TimelineId::FIRST;
        Wal::open(dir, options, WalStart { system_identifier, read: timeline, timeline, end, redo: end })
    }

    /// Opens an existing log for insertion at `start.end`. What is behind is wiped: it was never acknowledged, and it
    /// must not be taken for part of the log once new records stand before it.
    pub fn open(dir: &Path, options: WalOptions, start: WalStart) -> Result<Wal, WalError> {
        let wal = Wal::recovering(dir, options, start.system_identifier);
        wal.start(start)?;
        Ok(wal)
    }

    /// The log of a server that replays it: nothing can be inserted, everything counts as flushed, no page needs an image.
    /// [`start`](Self::start) ends that state.
    pub fn recovering(dir: &Path, options: WalOptions, system_identifier: u64) -> Wal {
        let geometry = Geometry::new(options.segment_size);
        let ring_size = options.buffers.max(64 << 10).next_power_of_two();
        Wal {
            geometry,
            sizes: [AtomicU64::new(options.min_size), AtomicU64::new(options.max_size)],
            images: AtomicImageOptions::new(options.images()),
            // Behind what is admitted: there is no room.
            reservations: Reservations::new(1, 0, SLOTS),
            room: Room::new(geometry),
            ring: Ring::new(ring_size),
            queue: FlushQueue::new(0),
            segments: Segments::new(dir, geometry, system_identifier, options.fsync),
            system_identifier,
            long_record: runtime::sync::Mutex::new(WaitEvent::WalInsert, ()),
            long_start: AtomicU64::new(u64::MAX),
            full: Mutex::default(),
            copied: WaitQueue::new(),
            copy_waiters: AtomicU32::new(0),
            backlog: WaitQueue::new(),
            backlog_wanted: AtomicBool::new(false),
            flush_watchers: WaitQueue::new(),
            segment_full: Event::new(),
            failed: AtomicBool::new(false),
            recovering: AtomicBool::new(true),
            in_recovery: OnceLock::new(),
            received: AtomicU64::new(0),
            last_removal: AtomicU64::new(0),
            distance: AtomicU64::new(0),
            written: Default::default(),
            options,
        }
    }

    /// Ends recovery: insertion starts at `start.end`, what is behind is wiped (see [`open`](Self::open)).
    ///
    /// # Panics
    /// When the log was started before.
    pub fn start(&self, start: WalStart) -> Result<(), WalError> {
        assert!(self.is_recovering(), "the log is started once");
        assert_eq!(start.system_identifier, self.system_identifier, "a log of another cluster");
        let next = align(self.geometry.position(start.end));
        self.segments.begin_timeline(start.read, start.timeline, next)?;
        self.segments.wipe_from(next)?;
        self.last_removal.store(start.redo.0, Ordering::Relaxed);
        self.room.restart(next);
        self.reservations.restart(next, start.redo.0);
        self.queue.restart(next);
        // Release: pairs with the Acquire in `is_recovering`; an inserter that is let in sees the position.
        self.recovering.store(false, Ordering::Release);
        // Who sends an old time line sends no more of it than this.
        self.flush_watchers.wake_all();
        Ok(())
    }

    /// While the log is replayed: the time line that it is replayed on, and up to where it is here, durably, for those who send it elsewhere.
    pub fn note_received(&self, timeline: Option<TimelineId>, end: Lsn) {
        if let Some(timeline) = timeline {
            self.segments.replays(timeline);
        }
        self.received.fetch_max(end.0, Ordering::AcqRel);
        self.flush_watchers.wake_all();
    }

    /// As [`start`](Self::start), for a log that is only looked at: no byte of it changes. No change is [admitted](Self::admit), and what can be left
    /// undone is, for want of [room](Self::has_room).
    pub fn start_closed(&self, start: WalStart) -> Result<(), WalError> {
        assert!(self.is_recovering(), "the log is started once");
        let next = align(self.geometry.position(start.end));
        self.segments.begin_timeline(start.timeline, start.timeline, next)?;
        self.room.close();
        self.reservations.restart(next, start.redo.0);
        self.queue.restart(next);
        // Release: as in `start`.
        self.recovering.store(false, Ordering::Release);
        Ok(())
    }

    /// While the log is replayed everything counts as flushed. This is asked then, before what the log said up to there is written. At most once in a log's life.
    pub fn on_flush_in_recovery(&self, asked: FlushInRecovery) {
        let _ = self.in_recovery.set(asked);
    }

    /// Whether the log is being replayed.
    pub fn is_recovering(&self) -> bool {
        self.recovering.load(Ordering::Acquire)
    }

    /// Inserts a record; returns its end, the LSN for its pages and for [`flush`](Self::flush). Waits only when the ring
    /// is full. Cannot fail: after a write error the record goes nowhere and every flush fails.
    pub fn insert(&self, record: &RecordBuilder<'_>) -> Lsn {
        self.insert_range(record).end
    }

    /// As [`insert`](Self::insert); returns where the record begins and ends.
    pub fn insert_range(&self, record: &RecordBuilder<'_>) -> Range<Lsn> {
        debug_assert!(!self.is_recovering(), "nothing is logged during recovery");
        let images = self.images.load();
        let mut assembled = record.assemble(Lsn(self.reservations.redo()), images);
        let long = (assembled.length > self.ring.size() / 4).then(|| self.long_record.lock());
        let mut announced: Option<Announced<'_>> = None;
        let start = loop {
            // The order matters: position, then redo pointer (invariant 2 of `reserve`).
            let position = self.reservations.next();
            let redo = Lsn(self.reservations.redo());
            if redo != assembled.redo {
                // Whole pages may be wanted since the redo pointer moved.
                assembled = record.assemble(redo, self.images.load());
            }
            let length = align(assembled.length as u64);
            // A long record waits for the rest of its room while it copies.
            let room = length.min(self.ring.size() as u64 / 4);
            if position + room > self.queue.flushed() + self.ring.size() as u64 {
                announced = None;
                used(|c| &c.wal_buffers_full, 1);
                if self.make_room(position + room).is_err() {
                    let nowhere = self.geometry.lsn(position);
                    return nowhere..nowhere;
                }
                continue;
            }
            let announced = match &announced {
                Some(announced) => {
                    announced.advance(position);
                    announced
                }
                None => {
                    announced.insert(self.reservations.announce(position, preferred_slot(&self.reservations)))
                }
            };
            if self.reservations.reserve(announced, position, length) {
                break position;
            }
        };
        let length = align(assembled.length as u64);
        if let Some(announced) = &announced {
            if long.is_some() {
                // Release: pairs with the Acquire of who sees a part of the record as completed.
                self.long_start.store(start, Ordering::Release);
            }
            self.copy(&assembled, start, length, announced);
        }
        drop(announced);
        if long.is_some() {
            self.long_start.store(u64::MAX, Ordering::Release);
        }
        used(|c| &c.wal_records, 1);
        used(|c| &c.wal_images, assembled.images() as u64);
        used(|c| &c.wal_bytes, assembled.length as u64);
        self.copied_some();
        self.wake_writer(start + length);
        self.geometry.lsn(start)..self.geometry.lsn(start + length)
    }

    /// Copies a record into the room that was reserved for it, `room` bytes. Suspends only for more than a quarter of the ring.
    fn copy(&self, record: &Assembled<'_, '_>, start: u64, room: u64, announced: &Announced<'_>) {
        let header = record.header(self.geometry.lsn(start));
        let mut at = start;
        let mut put = |bytes: &[u8]| {
            for piece in bytes.chunks(self.ring.size() / 8) {
                let end = at + piece.len() as u64;
                if end > self.queue.flushed() + self.ring.size() as u64 {
                    announced.advance(at);
                    self.copied_some();
                    if self.make_room(end).is_err() {
                        at = end;
                        continue;
                    }
                }
                // SAFETY: the range is ours since `reserve`, and `make_room` or the check before reserving made sure
                // that what the ring held there is on disk.
                unsafe { self.ring.write(at, piece) };
                at = end;
            }
        };
        put(&header);
        record.for_each_body_part(&mut put);
        let mut padding = room as usize - record.length;
        while padding > 0 {
            let piece = padding.min(NOTHING.len());
            put(&NOTHING[..piece]);
            padding -= piece;
        }
    }

    /// After bytes were completed: wakes flush leaders that need them.
    fn copied_some(&self) {
        // Pairs with the fence in `wait_for_copies`: either we see the waiter, or it sees our slot.
        fence(Ordering::SeqCst);
        if self.copy_waiters.load(Ordering::Relaxed) > 0 {
            self.copied.wake_all();
        }
    }

    fn wake_writer(&self, end: u64) {
        if end.saturating_sub(self.queue.flushed()) > self.ring.size() as u64 / 8
            && self.backlog_wanted.load(Ordering::Relaxed)
            && self.backlog_wanted.swap(false, Ordering::SeqCst)
        {
            self.backlog.wake_all();
        }
    }

    /// Waits until the ring can take bytes before position `end`. The caller has nothing announced before `end - ring`.
    fn make_room(&self, end: u64) -> Result<(), WalError> {
        self.flush_position(end - self.ring.size() as u64)
    }

    /// Returns once everything before `upto` is on disk. The caller may hold latches; must not be inside an insertion.
    pub fn flush(&self, upto: Lsn) -> Result<(), WalError> {
        if self.is_recovering() {
            return self.in_recovery.get().map_or(Ok(()), |asked| asked(upto));
        }
        self.flush_position(self.geometry.position(upto).min(self.reservations.next()))
    }

    fn flush_position(&self, target: u64) -> Result<(), WalError> {
        loop {
            if self.queue.flushed() >= target && !self.failed.load(Ordering::SeqCst) {
                return Ok(());
            }
            match waiting(WaitEvent::WalFlush, || runtime::wait(self.queue.wait(target))) {
                Turn::Flushed => return Ok(()),
                Turn::Failed(error) => return Err(error),
                Turn::Lead => self.lead(target),
            }
            if self.queue.flushed() < target && !self.failed.load(Ordering::SeqCst) {
                self.wait_for_copies(target);
            }
        }
    }

    /// Writes and syncs everything inserted so far.
    fn lead(&self, target: u64) {
        let mut leading = Leading { wal: self, result: None };
        let mut end = self.reservations.completed();
        for _ in 0..COPY_SPINS {
            if end >= target {
                break;
            }
            std::hint::spin_loop();
            end = self.reservations.completed();
        }
        leading.result = Some(self.write(end));
    }

    /// Sleeps until there are completed bytes that are not on disk, or another leader has brought everything before `target` there (or the
    /// log is broken).
    fn wait_for_copies(&self, target: u64) {
        self.copy_waiters.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let may_go_on = || {
            let flushed = self.queue.flushed();
            let go_on = flushed >= target
                || self.reservations.completed() > flushed
                || self.failed.load(Ordering::SeqCst);
            go_on.then_some(())
        };
        waiting(WaitEvent::WalInsert, || self.copied.wait_until(may_go_on));
        self.copy_waiters.fetch_sub(1, Ordering::SeqCst);
    }

    /// Leader only: writes the ring up to `end`, a segment at a time. On a full disk it comes back with what is done, or waits until
    /// something is.
    fn write(&self, end: u64) -> Result<u64, WalError> {
        let begin = self.queue.flushed();
        let mut from = begin;
        // What is completed ends with a record, or in the midst of the long one, which cannot go on before this is written.
        let whole = end.min(self.long_start.load(Ordering::Acquire));
        base::stop_result!("wal-before-flush")
            .map_err(|error| WalError::new("write to", self.segments.dir(), &error.into()))?;
        while from < end {
            match self.write_in_segment(from, end) {
                Ok(to) => from = to,
                Err(error) if !error.transient => return Err(error),
                Err(_) if from > begin => break,
                Err(_) => {
                    waiting(WaitEvent::WalWrite, || runtime::wait(runtime::time::sleep(DISK_RETRY)));
                }
            }
        }
        base::stop_point!("wal-after-flush");
        if from == end {
            self.archive_complete(whole);
        }
        Ok(from)
    }

    /// Leader only: all records before `whole` are on disk. Segments that end before it are complete, and never change again, not even by a crash: behind one, the
    /// log goes on where the last whole record ends.
    fn archive_complete(&self, whole: u64) {
        loop {
            let Some(segment) = ({
                let mut full = self.full.lock();
                let is_complete = |segment: &u64| (segment + 1) * self.geometry.usable() <= whole;
                if full.front().is_some_and(is_complete) { full.pop_front() } else { None }
            }) else {
                return;
            };
            self.segments.archive.notify_later(&self.segments.name(segment));
        }
    }

    /// Leader only: writes from `from` to the end of its segment, or to `end`. Returns how far. A transient error is one of writing, not
    /// of syncing: the same bytes may be written again.
    pub(crate) fn write_in_segment(&self, from: u64, end: u64) -> Result<u64, WalError> {
        let (segment, offset) = self.geometry.locate(from);
        let to = end.min(from + self.geometry.segment_size() - offset);
        let file = self.segments.file(segment)?;
        // SAFETY: the range is completed, and only this leader can mark it written.
        let [first, second] = unsafe { self.ring.read(from, to) };
        let pieces = if second.is_empty() { &[first][..] } else { &[first, second][..] };
        let (result, time) = timed_wal(|| match self.options.fsync {
            true => waiting(WaitEvent::WalSync, || file.write_and_sync_at(pieces, offset)),
            false => waiting(WaitEvent::WalWrite, || file.write_vectored_at(pieces, offset)),
        });
        result.map_err(|error| self.segments.failed("write to", segment, &error))?;
        // Relaxed: shown to people, orders nothing.
        let written = &self.written[Account::current() as usize];
        written.writes.fetch_add(1, Ordering::Relaxed);
        written.bytes.fetch_add(to - from, Ordering::Relaxed);
        written.time.fetch_add(time, Ordering::Relaxed);
        if offset + (to - from) == self.geometry.segment_size() {
            self.full.lock().push_back(segment);
            self.segment_full.set();
        }
        Ok(to)
    }

    /// What was written so far on this account.
    pub fn stats(&self, account: Account) -> WalStats {
        let written = &self.written[account as usize];
        let figure = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        let writes = figure(&written.writes);
        let syncs = if self.options.fsync { writes } else { 0 };
        WalStats { writes, bytes: figure(&written.bytes), syncs, time: figure(&written.time) }
    }

    /// The WAL writer's step: writes and syncs what was inserted so far.
    pub fn write_some(&self) -> Result<(), WalError> {
        if self.is_recovering() {
            return Ok(());
        }
        // Whether the last bytes are still being copied does not matter here.
        self.flush_position(self.reservations.completed())
    }

    /// Sleeps until an eighth of the ring can be written (or the log is broken, or `stop` says so): the WAL writer's other reason to work, beside its
    /// clock. What is reserved and not yet copied does not count: who copies it may wait for a turn that only a sleep here gives.
    pub fn wait_for_backlog(&self, stop: &dyn Fn() -> bool) {
        self.backlog.wait_until(|| {
            self.backlog_wanted.store(true, Ordering::SeqCst);
            let waiting = self.reservations.completed().saturating_sub(self.queue.flushed());
            let go_on = waiting > self.ring.size() as u64 / 8 || self.failed.load(Ordering::SeqCst) || stop();
            go_on.then_some(())
        });
    }

    /// Lets [`wait_for_backlog`](Self::wait_for_backlog) look at its `stop` again.
    pub fn wake_backlog_writer(&self) {
        self.backlog.wake_all();
    }

    /// Sleeps until a segment is full that was not when this returned last, `most` at most: for the checkpointer alone.
    pub fn wait_for_full_segment(&self, most: Duration) {
        runtime::wait(timeout(most, self.segment_full.until_set()));
        self.segment_full.reset();
    }

    /// Ends that sleep.
    pub fn wake_checkpointer(&self) {
        self.segment_full.set();
    }

    /// End of what was inserted.
    pub fn insert_end(&self) -> Lsn {
        self.geometry.lsn(self.reservations.next())
    }

    /// How many segments `to` is behind that of `from`.
    pub fn segments_between(&self, from: Lsn, to: Lsn) -> u64 {
        self.geometry.segment_of(to).saturating_sub(self.geometry.segment_of(from))
    }

    /// An end of the log, as this or another server has it, as clients are told of it.
    pub fn told_end(&self, end: Lsn) -> Lsn {
        self.geometry.told_end(end)
    }

    /// End of what is on disk.
    pub fn flushed(&self) -> Lsn {
        self.geometry.lsn(self.queue.flushed())
    }

    /// End of what is on disk, or, while the log is replayed, of what is here of it.
    pub fn durable_end(&self) -> Lsn {
        match self.is_recovering() {
            true => Lsn(self.received.load(Ordering::Acquire)),
            false => self.flushed(),
        }
    }

    /// The sticky error, if the log is broken.
    pub fn failure(&self) -> Option<WalError> {
        if self.failed.load(Ordering::SeqCst) { self.queue.failure() } else { None }
    }

    /// The current redo pointer.
    pub fn redo(&self) -> Lsn {
        Lsn(self.reservations.redo())
    }

    /// Whether a page with this LSN needs an image at its next change.
    pub fn needs_image(&self, page_lsn: Lsn) -> bool {
        // The redo pointer first: a reader that sees a new one also sees what was forced before it was set.
        page_lsn <= self.redo() && !self.is_recovering() && self.images.load().full_page_writes
    }

    /// The options in force.
    pub fn options(&self) -> &WalOptions {
        &self.options
    }

    /// The time line that is written.
    pub fn timeline(&self) -> TimelineId {
        self.segments.timeline()
    }

    /// The folder of the segments.
    pub fn dir(&self) -> &Path {
        self.segments.dir()
    }

    /// What of the log is archived.
    pub fn archive(&self) -> &ArchiveStatus {
        &self.segments.archive
    }

    /// Name of the segment file that has the byte at `lsn`, on the time line that is written.
    pub fn file_name(&self, lsn: Lsn) -> String {
        self.segments.name(self.geometry.segment_of(lsn))
    }

    /// The first byte of the segment of `lsn`.
    pub fn segment_start(&self, lsn: Lsn) -> Lsn {
        self.geometry.segment_start(self.geometry.segment_of(lsn))
    }

    /// Where a record without contents that begins at `lsn` ends.
    pub fn behind_bare_record(&self, lsn: Lsn) -> Lsn {
        let position = self.geometry.position(lsn);
        self.geometry.lsn(self.geometry.behind(position, HEADER_SIZE as u64, false))
    }

    /// The identifier that is written into every segment.
    pub fn system_identifier(&self) -> u64 {
        self.system_identifier
    }

    /// Inserts the CHECKPOINT_REDO record and moves the redo pointer to its start, which is returned. One checkpoint at a time.
    pub fn begin_checkpoint(&self) -> Lsn {
        let record = RecordBuilder::new(Rmgr::Xlog, xlog_info::CHECKPOINT_REDO, Xid::INVALID);
        let assembled = record.assemble(Lsn::INVALID, ImageOptions::default());
        let length = align(assembled.length as u64);
        loop {
            let position = self.reservations.next();
            if position + length > self.queue.flushed() + self.ring.size() as u64 {
                if self.make_room(position + length).is_err() {
                    return self.redo();
                }
                continue;
            }
            let lsn = self.geometry.lsn(position);
            let announced = self.reservations.announce(position, preferred_slot(&self.reservations));
            self.reservations.set_redo(lsn.0);
            if self.reservations.reserve(&announced, position, length) {
                self.copy(&assembled, position, length, &announced);
                drop(announced);
                self.copied_some();
                return lsn;
            }
        }
    }

    /// Leaves the rest of the segment empty: the next record begins the next one. Returns the end of the record that says so, or the end of the log if it is
    /// at the beginning of a segment already. Nothing is flushed yet.
    pub fn switch_segment(&self) -> Lsn {
        let record = RecordBuilder::new(Rmgr::Xlog, xlog_info::SWITCH, Xid::INVALID);
        let assembled = record.assemble(Lsn::INVALID, ImageOptions::default());
        let _long = self.long_record.lock();
        loop {
            let position = self.reservations.next();
            if position.is_multiple_of(self.geometry.usable()) {
                return self.geometry.lsn(position);
            }
            let end = self.geometry.behind(position, assembled.length as u64, true);
            let room = (end - position).min(self.ring.size() as u64 / 4);
            if position + room > self.queue.flushed() + self.ring.size() as u64 {
                if self.make_room(position + room).is_err() {
                    return self.geometry.lsn(position);
                }
                continue;
            }
            let announced = self.reservations.announce(position, preferred_slot(&self.reservations));
            if self.reservations.reserve(&announced, position, end - position) {
                self.copy(&assembled, position, end - position, &announced);
                drop(announced);
                self.copied_some();
                return self.geometry.lsn(position + align(assembled.length as u64));
            }
        }
    }

    /// A shutdown checkpoint: nothing else inserts, and the redo pointer is the end of the log itself.
    pub fn begin_shutdown_checkpoint(&self) -> Lsn {
        let lsn = self.insert_end();
        self.reservations.set_redo(lsn.0);
        lsn
    }

    /// Takes over what may change while the log is written: how much is kept for recycling, which pages are logged whole, and how.
    pub fn tune(&self, wanted: &WalOptions) {
        // Relaxed: they are looked at by the next checkpoint.
        self.sizes[0].store(wanted.min_size, Ordering::Relaxed);
        self.sizes[1].store(wanted.max_size, Ordering::Relaxed);
        self.images.store(wanted.images());
    }

    /// From now on pages are logged whole at their first change after a checkpoint, whatever `full_page_writes` says, until this is called with `false` as often as
    /// with `true`.
    pub fn force_images(&self, force: bool) {
        self.images.force(force);
    }

    /// Recycles or removes the segments that lie wholly before `keep`; called by each checkpoint. `lsn`: what recovery needs, which tells how much log there is
    /// between two checkpoints.
    pub fn remove_segments_before(&self, lsn: Lsn, keep: Lsn) -> Result<Recycled, WalError> {
        let last = self.last_removal.swap(lsn.0, Ordering::Relaxed);
        let distance = lsn.0.saturating_sub(last);
        let old = self.distance.load(Ordering::Relaxed);
        // Up at once, down slowly: PostgreSQL's estimate of the distance between checkpoints.
        let estimate = if distance > old { distance } else { (old * 9 + distance) / 10 };
        self.distance.store(estimate, Ordering::Relaxed);
        // Relaxed: new sizes count soon enough.
        let [least, most] = [0, 1].map(|at| self.sizes[at].load(Ordering::Relaxed));
        let wanted = (estimate + estimate / 10).clamp(least, most.max(least));
        let current = self.geometry.segment_of(self.insert_end());
        // Counted from what recovery needs: all files together are not to be more than wanted.
        let last = self.geometry.segment_of(lsn) + wanted / self.geometry.segment_size();
        self.segments.recycle(self.geometry.segment_of(keep), current, last.saturating_sub(current + 1))
    }

    /// Removes the segments that lie wholly before `lsn`, while the log is replayed; how many.
    pub fn remove_restored_before(&self, lsn: Lsn) -> Result<usize, WalError> {
        self.segments.remove_before(self.geometry.segment_of(lsn))
    }

    /// Whether a record at `lsn` would be the first of its segment.
    pub fn begins_segment(&self, lsn: Lsn) -> bool {
        self.geometry.position(lsn).is_multiple_of(self.geometry.usable())
    }

    /// How much log is expected between two checkpoints.
    pub fn expected_distance(&self) -> u64 {
        // Relaxed: shown to people.
        self.distance.load(Ordering::Relaxed)
    }

    /// Reads records from `from` on (a record's start), up to the end of what is on disk, on the time line that is written.
    pub fn reader(&self, from: Lsn) -> WalReader {
        let size = self.geometry.segment_size();
        let history = History::of(self.timeline());
        WalReader::open(self.segments.dir(), size, Some(self.system_identifier), from).along(history)
    }
}

fn preferred_slot(reservations: &Reservations) -> usize {
    PREFERRED_SLOT.get().unwrap_or_else(|| {
        let slot = reservations.arrival();
        PREFERRED_SLOT.set(Some(slot));
        slot
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// A leader that sleeps until another inserter has copied its record may find afterwards that another leader has written everything.
    #[test]
    fn a_sleeping_leader_sees_that_another_has_led() {
        let dir = std::env::temp_dir().join(format!("stampede-wal-lead-{:x}", runtime::random_u64()));
        runtime::fs::create_dir_all(&dir).unwrap();
        let options = WalOptions { segment_size: 64 << 10, buffers: 64 << 10, ..WalOptions::default() };
        let wal = Arc::new(Wal::create(&dir, options, 7).unwrap());
        let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(3));
        record.data(b"copied by someone slow");
        let slow = wal.reservations.announce(wal.reservations.next(), 0);
        let end = wal.insert(&record);

        let (done, flushed) = mpsc::channel();
        let sleeper = std::thread::spawn({
            let wal = wal.clone();
            move || done.send(wal.flush(end).is_ok())
        });
        while wal.copy_waiters.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        // The copy is done, and before anybody says so another leader comes.
        drop(slow);
        wal.flush(end).unwrap();
        wal.copied_some();
        assert_eq!(flushed.recv_timeout(Duration::from_secs(60)), Ok(true), "the sleeper sleeps on");
        sleeper.join().unwrap().unwrap();
        drop(wal);
        runtime::fs::remove_dir_all(&dir).unwrap();
    }
}
