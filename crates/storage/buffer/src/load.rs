//! Bringing pages in: who fills a buffer, who waits for it, what is checked.

use page::PageBytes;
use runtime::usage::{timed, used};
use runtime::{WaitEvent, waiting};

use crate::frame::{DIRTY, MAX_USAGE, READING, STALE, VALID};
use crate::overdue::UpToDate;
use crate::pin::Pin;
use crate::pool::{BufferError, BufferPool, Inner};
use crate::ring::Ring;
use crate::stats::{IoKind, add};
use crate::tag::Tag;

/// What to do with a page that is not in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Read it.
    Read,
    /// Read it; a damaged one becomes a new page.
    ReadOrReset,
    /// Start from zeros.
    Zero,
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Its checksum; or it is all zero, and a checkpoint has seen it otherwise.
    Content,
    /// Its header.
    Structure,
}

/// A read in progress: a reader that gives up, or unwinds, lets the next one try.
struct Reading<'a> {
    pool: &'a Inner,
    index: u32,
    result: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.pool.end_io(self.index, READING, self.result);
    }
}

impl Inner {
    /// Checks a page that came from its file.
    pub(crate) fn verify(&self, tag: Tag, bytes: &mut PageBytes) -> Result<(), Damage> {
        match page::verify(bytes, tag.block) {
            // A page of zeros never reached the disk, and those that a checkpoint has seen all did.
            Ok(page::State::Zero) if tag.block.0 < self.smgr.settled_pages(tag.rel, tag.fork) => {
                Err(Damage::Content)
            }
            Ok(_) => Ok(()),
            Err(page::Corrupt::Checksum { .. }) => Err(Damage::Content),
            Err(page::Corrupt::Structure) => Err(Damage::Structure),
        }
    }

    /// Unmaps a page that could not be filled, if nobody else waits for it.
    pub(crate) fn forget(&self, pin: &Pin) {
        let frame = self.frame(pin.index());
        self.mapping.locked(pin.tag().hash(), |partition| {
            if frame.state() & (VALID | STALE) == 0 && frame.try_vacate(true) {
                partition.remove(&self.frames, pin.index());
            }
        });
    }
}

impl BufferPool {
    /// Brings a page in that was not found.
    #[cold]
    pub(crate) fn load(&self, tag: Tag, ring: Option<&Ring>, load: Load) -> Result<Pin, BufferError> {
        let victim = self.take_victim(ring)?;
        let (pin, ours) = self.map(tag, victim);
        if ours {
            let reading = Reading { pool: self.inner(), index: pin.index(), result: 0 };
            self.fill(&pin, IoKind::of(ring), load, reading)?;
            return Ok(pin);
        }
        self.finish_load(pin, IoKind::of(ring), load)
    }

    /// Puts a page into a frame that the caller took, unless it is in another already. Gives the page's frame, pinned, and whether
    /// the caller has to fill it (has `READING`).
    pub(crate) fn map(&self, tag: Tag, victim: Pin) -> (Pin, bool) {
        let (words, hash) = (tag.words(), tag.hash());
        let found = self.inner().mapping.locked(hash, |partition| {
            if let Some(index) = partition.find(&self.inner().frames, words) {
                let pinned = self.inner().frame(index).try_pin(MAX_USAGE);
                debug_assert!(pinned.is_some(), "a frame stays mapped under its mutex");
                return Some(index);
            }
            self.inner().frame(victim.index()).occupy(words);
            partition.insert(&self.inner().frames, victim.index());
            None
        });
        match found {
            // The victim goes back unused: the sweep finds it.
            Some(index) => (self.pin_of(index), false),
            None => (victim, true),
        }
    }

    /// Waits for whoever reads the page; if that failed, tries it here. Brings it up to date if the log has had more for it.
    #[cold]
    pub(crate) fn finish_load(&self, pin: Pin, kind: IoKind, load: Load) -> Result<Pin, BufferError> {
        if self.begin_fill(&pin) {
            let reading = Reading { pool: self.inner(), index: pin.index(), result: 0 };
            self.fill(&pin, kind, load, reading)?;
        } else {
            self.inner().stats.hit(kind);
            if self.inner().frame(pin.index()).state() & STALE != 0 {
                self.catch_up(&pin)?;
            }
        }
        Ok(pin)
    }

    /// Brings a page up to date that is in the pool, unless somebody does.
    fn catch_up(&self, pin: &Pin) -> Result<(), BufferError> {
        let frame = self.inner().frame(pin.index());
        let mut page = pin.exclusive();
        if !frame.try_catch_up() {
            return Ok(());
        }
        let Some(overdue) = self.inner().overdue.get() else { return Ok(()) };
        // Before the list is shorter: a checkpoint that finds it so finds the page dirty.
        page.mark_dirty();
        match overdue.catch_up(pin.tag(), &mut page) {
            Ok(UpToDate { more: false, .. }) => Ok(()),
            Ok(_) => {
                frame.mark_stale();
                Ok(())
            }
            Err(error) => {
                frame.mark_stale();
                Err(error)
            }
        }
    }

    /// The log has more for a page, which its list has got: if the page is in the pool, who wants it next brings it up to date.
    pub fn mark_stale(&self, tag: Tag) {
        self.inner().mapping.locked(tag.hash(), |partition| {
            if let Some(index) = partition.find(&self.inner().frames, tag.words()) {
                self.inner().frame(index).mark_stale();
            }
        });
    }

    /// Waits until the page is there (false) or the caller is the one to fill it (true).
    pub(crate) fn begin_fill(&self, pin: &Pin) -> bool {
        let frame = self.inner().frame(pin.index());
        loop {
            if frame.try_begin_read() {
                return true;
            }
            let state = frame.state();
            if state & READING == 0 && state & (VALID | STALE) != 0 {
                return false;
            }
            self.inner().wait_while(pin.index(), READING);
        }
    }

    /// Fills a page that nobody else looks at before it is valid.
    fn fill(&self, pin: &Pin, kind: IoKind, load: Load, mut reading: Reading<'_>) -> Result<(), BufferError> {
        // SAFETY: `READING` is ours and the page is not valid, so nobody has a reference to the bytes.
        let bytes = unsafe { &mut *self.inner().page_ptr(pin.index()) };
        let mut read = |bytes: &mut PageBytes| self.read_page(pin.tag(), bytes, kind, load);
        let filled = match (load, self.inner().overdue.get()) {
            (Load::Zero, _) => {
                bytes.fill(0);
                Ok(UpToDate::default())
            }
            (_, None) => read(bytes).map(|()| UpToDate::default()),
            (_, Some(overdue)) => overdue.fill(pin.tag(), bytes, &mut read),
        };
        match filled {
            Ok(UpToDate { changed, more }) => {
                if more {
                    self.inner().frame(pin.index()).mark_stale();
                }
                reading.result = if changed { VALID | DIRTY } else { VALID };
                Ok(())
            }
            Err(error) => {
                drop(reading);
                self.inner().forget(pin);
                Err(error)
            }
        }
    }

    /// Reads what a page's file has.
    fn read_page(
        &self,
        tag: Tag,
        bytes: &mut PageBytes,
        kind: IoKind,
        load: Load,
    ) -> Result<(), BufferError> {
        let Tag { rel, fork, block } = tag;
        self.inner().stats.read(kind, 1);
        let read = || self.inner().smgr.read(rel, fork, block, bytes);
        let (read, time) = waiting(WaitEvent::DataFileRead, || timed(|c| &c.shared_read_time, read));
        add(&self.inner().stats.here().of(kind).read_time, time);
        read?;
        match self.inner().verify(tag, bytes) {
            Ok(()) => Ok(()),
            Err(_) if load == Load::ReadOrReset => {
                bytes.fill(0);
                Ok(())
            }
            Err(damage) => {
                if damage != Damage::Structure {
                    used(|c| &c.checksum_failures, 1);
                }
                Err(BufferError::Corrupt { rel, fork, block })
            }
        }
    }

    /// A page that a stream has had read: waits for it, and does not count it once more.
    pub(crate) fn read_started(&self, tag: Tag, ring: Option<&Ring>) -> Result<Pin, BufferError> {
        let kind = IoKind::of(ring);
        let Some((index, state)) = self.lookup(tag, 1) else { return self.load(tag, ring, Load::Read) };
        let pin = self.pin_of(index);
        if state & VALID != 0 {
            return Ok(pin);
        }
        let wait = || self.inner().wait_while(index, READING);
        let ((), time) = waiting(WaitEvent::DataFileRead, || timed(|c| &c.shared_read_time, wait));
        add(&self.inner().stats.here().of(kind).read_time, time);
        match self.inner().frame(index).state() & VALID != 0 {
            true => Ok(pin),
            // It could not be read with others, or the log has more for it.
            false => self.finish_load(pin, kind, Load::Read),
        }
    }
}
