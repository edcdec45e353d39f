//! Room for records before they are made, so that a full disk refuses changes and does not stop them half way.
//!
//! # Protocol
//! Segment files are made ahead, every byte written. Whoever is about to begin a change asks first, with no latch held
//! ([`Wal::admit`]): it is admitted while the log ends before the last quarter of the segments that are there. That quarter is
//! for what may not fail: changes that were admitted and are under way, ends of transactions, checkpoints. If the next segment
//! cannot be made, who asks is refused; nothing of its change has happened, and its transaction rolls back, for which it needs no
//! record.
//!
//! What pruning and hints log is left undone without room ([`Wal::has_room`]): reading goes on.
//!
//! Should the quarter not suffice, the flush leader waits for the disk (`Wal::write`), and all that need its flush wait too: an
//! end of a transaction whose record may reach the disk later can be told neither as done nor as undone.
//!
//! # Invariants
//! 1. All segments that hold positions before `admitted` are on the disk: only [`Room::made`] moves it, a segment at a time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::geometry::Geometry;
use crate::log::{Wal, WalError};

/// What is known of the segments made ahead.
pub(crate) struct Room {
    geometry: Geometry,
    /// Changes may begin while the next position is not behind this.
    admitted: AtomicU64,
    /// The last attempt to make a segment failed.
    short: AtomicBool,
    /// Nothing is admitted, ever.
    closed: AtomicBool,
}

impl Room {
    /// Before the log is started nothing is inserted. What can be left undone is.
    pub fn new(geometry: Geometry) -> Room {
        Room {
            geometry,
            admitted: AtomicU64::new(0),
            short: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    /// Positions kept for what may not fail.
    fn reserve(&self) -> u64 {
        self.geometry.usable() / 4
    }

    /// The segment of `next` is there: insertion starts in it.
    pub fn restart(&self, next: u64) {
        let (segment, _) = self.geometry.locate(next);
        self.admitted.store((segment + 1) * self.geometry.usable() - self.reserve(), Ordering::Release);
    }

    /// Nothing is admitted from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.admitted.store(0, Ordering::Release);
    }

    /// The first segment of which it is not known that it is there.
    fn missing(&self) -> u64 {
        // Acquire: pairs with the Release below, behind which the file is there.
        self.geometry.locate(self.admitted.load(Ordering::Acquire) + self.reserve()).0
    }

    /// `segment`, which was [`missing`](Self::missing), is there now.
    fn made(&self, segment: u64) {
        let end = (segment + 1) * self.geometry.usable();
        self.admitted.fetch_max(end - self.reserve(), Ordering::Release);
    }
}

impl Wal {
    /// Asked before a change that is logged begins, with no latch held: makes the next segment if its time has come. An error
    /// means that nothing has happened and that the change is not to begin.
    #[inline]
    pub fn admit(&self) -> Result<(), WalError> {
        if self.has_room() { Ok(()) } else { self.make_segments() }
    }

    /// Whether records may be made that can as well be left undone.
    #[inline]
    pub fn has_room(&self) -> bool {
        // Relaxed: writers open a segment's file anew.
        self.reservations.next() <= self.room.admitted.load(Ordering::Relaxed)
    }

    /// Whether the last attempt to make a segment failed: a checkpoint may free some.
    pub fn is_short(&self) -> bool {
        // Relaxed: a hint.
        self.room.short.load(Ordering::Relaxed)
    }

    /// Whether the log was opened to be looked at only ([`Wal::start_closed`]).
    pub fn is_closed(&self) -> bool {
        // Relaxed: set once, before there are sessions.
        self.room.closed.load(Ordering::Relaxed)
    }

    #[cold]
    fn make_segments(&self) -> Result<(), WalError> {
        if self.is_closed() {
            return Err(WalError {
                kind: std::io::ErrorKind::ReadOnlyFilesystem,
                message: "the write-ahead log is open for reading only".into(),
                transient: false,
            });
        }
        // In a broken log everything is admitted: the flush reports the error.
        while !self.has_room() && self.failure().is_none() {
            self.make_segment(self.room.missing())?;
        }
        Ok(())
    }

    /// The WAL writer's other step: the segment behind the one that is half full. An error costs nothing yet.
    pub fn prepare_ahead(&self) -> Result<(), WalError> {
        if self.is_recovering() {
            return Ok(());
        }
        let (segment, offset) = self.geometry.locate(self.reservations.completed());
        let wanted = if offset > self.geometry.segment_size() / 2 { segment + 1 } else { segment };
        while self.room.missing() <= wanted {
            self.make_segment(self.room.missing())?;
        }
        Ok(())
    }

    fn make_segment(&self, segment: u64) -> Result<(), WalError> {
        let made = self.segments.prepare(segment);
        // Relaxed: a hint.
        self.room.short.store(made.is_err(), Ordering::Relaxed);
        made?;
        self.room.made(segment);
        Ok(())
    }
}
