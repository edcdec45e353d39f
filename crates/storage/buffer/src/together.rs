//! Reads that bring several pages at once, straight into their buffers.
//!
//! # What
//! [`BufferPool::read_together`] takes buffers for neighbouring pages and has them filled by one read: in place, or by one that goes on
//! while the fiber does something else. Whoever wants one of the pages meanwhile waits for it as for any page that is being read.
//!
//! # Invariants
//! 1. Between taking the first page's place in the mapping and the start of the read nothing waits: buffers are found before.
//! 2. A read that was started belongs to nobody: it has pins of its own, and ends whatever becomes of who started it.
//! 3. What went wrong is not told. A page that has not come, or is damaged, leaves its buffer as one that was never read; who wants it reads it
//!    alone and gets the error that is due to it. So a fault costs the pages that it hits, and names them.
//! 4. Such reads have at most a part of all buffers, so that those who want single pages find some.
//!
//! # WAL and crash
//! While the log may have more for pages that come in ([`Overdue`]), reads are made in place, by who can wait for that.

use std::io::{self, IoSliceMut};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use base::{BlockNo, PAGE_SIZE};
use runtime::usage::timed;
use runtime::{WaitEvent, waiting};
use smgr::PageRun;

use crate::frame::{DIRTY, READING, VALID};
use crate::overdue::{Overdue, UpToDate};
use crate::pin::Pin;
use crate::pool::{BufferError, BufferPool, Inner};
use crate::ring::Ring;
use crate::stats::{IoKind, add};
use crate::tag::Tag;

/// One in so many buffers may be filled by such reads.
const PART: usize = 4;

/// Buffers that one read fills, of neighbouring pages. Each has a pin of its own and `READING`, until its page has come or has not.
struct Together {
    pool: NonNull<Inner>,
    /// The first of the pages that are left.
    next: Tag,
    frames: std::vec::IntoIter<u32>,
}

// SAFETY: the pool is Sync and kept alive by the pins that this stands for; they are counts, of no thread in particular.
unsafe impl Send for Together {}

impl Together {
    fn inner<'a>(&self) -> &'a Inner {
        // SAFETY: a pool with pins is not freed; who uses the reference has one that is left.
        unsafe { self.pool.as_ref() }
    }

    /// The memory of all pages.
    fn pieces(&self) -> Vec<IoSliceMut<'static>> {
        let inner = self.inner();
        let piece = |index: &u32| {
            // SAFETY: `READING` is ours, and the page is not valid: nobody has a reference to the bytes until `end`, and the reader gives the
            // pieces up before that. They stay where they are while there is a pin.
            let bytes: &'static mut [u8; PAGE_SIZE] = unsafe { &mut *inner.page_ptr(*index) };
            IoSliceMut::new(bytes)
        };
        self.frames.as_slice().iter().map(piece).collect()
    }

    /// The read has ended, and brought so many bytes: checks what has come of each page.
    fn complete(mut self, result: io::Result<usize>, check: impl Fn(Tag, u32) -> Option<UpToDate>) {
        for _ in 0..result.map_or(0, |bytes| bytes / PAGE_SIZE) {
            let Some(&index) = self.frames.as_slice().first() else { return };
            let checked = check(self.next, index);
            self.end(checked);
        }
    }

    /// Ends with the first of the pages: it has come, or has not. False if there is none left.
    fn end(&mut self, checked: Option<UpToDate>) -> bool {
        let Some(index) = self.frames.next() else { return false };
        self.next.block.0 += 1;
        let inner = self.inner();
        // SAFETY: this pin is the frame's, given up here once.
        let pin = unsafe { Pin::adopt(self.pool, index) };
        let result = match checked {
            None => 0,
            Some(UpToDate { changed, more }) => {
                if more {
                    inner.frame(index).mark_stale();
                }
                if changed { VALID | DIRTY } else { VALID }
            }
        };
        inner.end_io(index, READING, result);
        if result == 0 {
            inner.forget(&pin);
        }
        // Relaxed: a number that nothing else depends on.
        inner.under_way.fetch_sub(1, Ordering::Relaxed);
        true
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        while self.end(None) {}
    }
}

/// The page that was read into a frame, if it is sound.
fn sound(inner: &Inner, tag: Tag, index: u32) -> Option<UpToDate> {
    // SAFETY: as in `Together::pieces`, which are given up.
    let bytes = unsafe { &mut *inner.page_ptr(index) };
    inner.verify(tag, bytes).ok().map(|()| UpToDate::default())
}

impl BufferPool {
    /// Reads the first of `count` neighbouring pages that seem not to be in the pool, at once; `starts`: goes on by itself. How many
    /// those are; 0 if a page is to be read alone.
    pub(crate) fn read_together(&self, first: Tag, count: u32, ring: Option<&Ring>, starts: bool) -> u32 {
        let Ok(Some(run)) = self.inner().smgr.run(first.rel, first.fork, first.block, count) else {
            return 0;
        };
        let Some(together) = self.take_together(first, run.count(), ring) else { return 0 };
        let pages = together.frames.len() as u32;
        let kind = IoKind::of(ring);
        self.inner().stats.read(kind, u64::from(pages));
        let overdue = self.inner().overdue.get();
        let read = || match overdue {
            None if starts => start(together, run),
            overdue => fill(together, &run, overdue.as_deref()),
        };
        let ((), time) = waiting(WaitEvent::DataFileRead, || timed(|c| &c.shared_read_time, read));
        add(&self.inner().stats.here().of(kind).read_time, time);
        pages
    }

    /// Takes buffers for pages that are not in the pool: for the first, and those behind it up to one that is.
    fn take_together(&self, first: Tag, count: u32, ring: Option<&Ring>) -> Option<Together> {
        let inner = self.inner();
        // Relaxed: as many come at once may be a few more.
        let room = (inner.frames.len() / PART).saturating_sub(inner.under_way.load(Ordering::Relaxed));
        let victims: Vec<Pin> = (0..count).take(room).map_while(|_| self.take_victim(ring).ok()).collect();
        let mut frames = Vec::with_capacity(victims.len());
        for (block, victim) in (first.block.0..).zip(victims) {
            let (pin, ours) = self.map(Tag { block: BlockNo(block), ..first }, victim);
            if !ours {
                break;
            }
            frames.push(pin.index());
            // `Together` stands for it.
            std::mem::forget(pin);
        }
        inner.under_way.fetch_add(frames.len(), Ordering::Relaxed);
        let together = Together { pool: NonNull::from(inner), next: first, frames: frames.into_iter() };
        (together.frames.len() > 0).then_some(together)
    }
}

/// Has the read go on by itself.
fn start(together: Together, run: PageRun) {
    let pieces = together.pieces();
    let inner = together.inner();
    let method = inner.options.reads.method;
    run.start(
        method,
        pieces,
        Box::new(move |result| together.complete(result, |tag, index| sound(inner, tag, index))),
    );
}

/// Reads in place, and brings the pages up to date.
fn fill(together: Together, run: &PageRun, overdue: Option<&dyn Overdue>) {
    let mut pieces = together.pieces();
    let result = run.read(&mut pieces);
    drop(pieces);
    let inner = together.inner();
    together.complete(result, |tag, index| {
        let Some(overdue) = overdue else { return sound(inner, tag, index) };
        // SAFETY: as in `Together::pieces`, which are given up.
        let bytes = unsafe { &mut *inner.page_ptr(index) };
        let Tag { rel, fork, block } = tag;
        let mut read =
            |bytes: &mut _| inner.verify(tag, bytes).map_err(|_| BufferError::Corrupt { rel, fork, block });
        overdue.fill(tag, bytes, &mut read).ok()
    });
}
