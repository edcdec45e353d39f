//! What · The commit log: two bits for each xid that say how it ended.
//!
//! Layout · [`Slru`] pages in `pg_xact/`; xid `x` has bits `x % 32 * 2` of word `x / 32 % 1008` of page `x / 32256`:
//! 0 not ended (or lost in a crash), 1 committed, 2 aborted. Permanent xids (bootstrap, frozen) are not looked up.
//!
//! Invariants
//! 1. A page exists, and its zeroing is logged, before any of its xids is given out ([`Clog::extend`]).
//! 2. Subtransactions are marked before their top level, and the whole tree before it leaves the running set: who asks the
//!    running set (or a snapshot) first never sees half a commit.
//! 3. Nobody asks for an xid before [`Clog::oldest`], whose pages may have been removed, but out of curiosity: who does so looks at
//!    [`Clog::oldest`] afterwards.
//! 4. A page's LSN covers the commit and abort records of all it says: on disk the log is never ahead of WAL.
//!
//! Locks · `extending`, fiber-aware, held over logging and zeroing a page.
//!
//! WAL and crash · [`ZERO_PAGE`] with the page number as little-endian u64; [`TRUNCATE`] with the first xid that is kept; commit and
//! abort records mark the tree again.
//! Transactions with no end in WAL keep their 0, which reads as aborted when they do not run.
//!
//! PostgreSQL counterpart · `clog.c`. Differences: no sub-committed state (invariant 2 makes it needless), an LSN for each
//! 32 xids only from the first asynchronous commit on.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Lsn, Xid};
use runtime::WaitEvent;
use wal::Rmgr;

use crate::slru::{HitCounter, PagePin, Slru, SlruError, SlruStats, WORDS};
use crate::system::Log;

/// `info` of the record that a page was zeroed.
pub const ZERO_PAGE: u8 = 0;
/// `info` of the record that older xids were removed.
pub const TRUNCATE: u8 = 1;

const XIDS_PER_WORD: u64 = 32;
/// Transactions of a page.
pub const XIDS_PER_PAGE: u64 = WORDS as u64 * XIDS_PER_WORD;
/// Every xid's low bit.
const LOW_BITS: u64 = 0x5555_5555_5555_5555;

/// How a transaction ended, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Nothing said.
    Open = 0,
    /// Committed.
    Committed = 1,
    /// Rolled back.
    Aborted = 2,
}

/// The commit log.
pub struct Clog {
    pages: Slru,
    log: Arc<dyn Log>,
    /// First xid whose page is not known to exist.
    limit: AtomicU64,
    /// First xid that is kept.
    oldest: AtomicU64,
    /// First xid not given out when the log was opened.
    opened: Xid,
    extending: runtime::Mutex<()>,
}

fn place(xid: Xid) -> (u64, usize, u32) {
    let page = xid.0 / XIDS_PER_PAGE;
    let word = (xid.0 % XIDS_PER_PAGE / XIDS_PER_WORD) as usize;
    (page, word, (xid.0 % XIDS_PER_WORD) as u32 * 2)
}

impl Clog {
    /// Opens the log in `dir` (`pg_xact`); xids from `xids.start` on may be asked for, those below `xids.end` were given out.
    pub fn open(dir: &Path, buffers: usize, log: Arc<dyn Log>, xids: Range<Xid>, recovering: bool) -> Clog {
        let shown: (_, HitCounter) = (WaitEvent::XactPages, |c| &c.xact_hits);
        let pages = Slru::new(dir.to_owned(), buffers, log.clone(), recovering, shown);
        let clog = Clog {
            pages,
            log,
            limit: AtomicU64::new(0),
            oldest: AtomicU64::new(xids.start.0),
            opened: xids.end,
            extending: runtime::Mutex::new(WaitEvent::XidGen, ()),
        };
        clog.set_limit(xids.end);
        clog
    }

    /// All xids below `next_xid` were given out, so their pages exist.
    fn set_limit(&self, next_xid: Xid) {
        let pages = next_xid.0.div_ceil(XIDS_PER_PAGE);
        self.limit.store(pages * XIDS_PER_PAGE, Ordering::Release);
    }

    /// Nobody gets an xid until replay is over.
    pub fn begin_recovery(&self) {
        self.limit.store(0, Ordering::Release);
    }

    /// Replay is over: every page must be there from now on. Fails with an xid whose page is not; the one in use is looked at, too.
    pub fn end_recovery(&self, next_xid: Xid) -> Result<(), (Xid, SlruError)> {
        self.set_limit(next_xid);
        let pages = self.oldest().0 / XIDS_PER_PAGE..self.opened.0.div_ceil(XIDS_PER_PAGE);
        let first = |page: u64| (page * XIDS_PER_PAGE).max(Xid::FIRST_NORMAL.0);
        self.pages.end_recovery(pages, first).map_err(|(xid, error)| (Xid(xid), error))?;
        let last = Xid(next_xid.0 - 1);
        self.get(last).map(drop).map_err(|error| (last, error))
    }

    /// xids below this may be given out.
    #[inline]
    pub fn limit(&self) -> Xid {
        Xid(self.limit.load(Ordering::Acquire))
    }

    /// Adds one page, unless another thread did so since the caller saw `limit`.
    #[cold]
    pub fn extend(&self, limit: Xid) -> Result<(), SlruError> {
        let _extending = self.extending.lock();
        if self.limit() != limit {
            return Ok(());
        }
        let page = limit.0 / XIDS_PER_PAGE;
        let lsn = self.log.insert(Rmgr::Clog, ZERO_PAGE, Xid::INVALID, &page.to_le_bytes());
        self.pages.zero(page, lsn)?;
        self.limit.store(limit.0 + XIDS_PER_PAGE, Ordering::Release);
        Ok(())
    }

    /// Replays [`ZERO_PAGE`].
    pub fn redo_zero_page(&self, page: u64, lsn: Lsn) -> Result<(), SlruError> {
        self.pages.zero(page, lsn)
    }

    /// First xid that may be asked for.
    pub fn oldest(&self) -> Xid {
        Xid(self.oldest.load(Ordering::Acquire))
    }

    /// Removes the files of xids before `oldest`, which are never looked up any more.
    pub fn truncate(&self, oldest: Xid) -> Result<(), SlruError> {
        // Set first, so that a reader that misses a file knows why, and a later checkpoint records it.
        let known = self.oldest.fetch_max(oldest.0, Ordering::AcqRel).min(oldest.0);
        let record = || self.log.insert(Rmgr::Clog, TRUNCATE, Xid::INVALID, &oldest.0.to_le_bytes());
        self.pages.truncate(known / XIDS_PER_PAGE..oldest.0 / XIDS_PER_PAGE, record)
    }

    /// Replays [`TRUNCATE`].
    pub fn redo_truncate(&self, oldest: Xid) -> Result<(), SlruError> {
        self.oldest.fetch_max(oldest.0, Ordering::AcqRel);
        self.pages.remove_before(oldest.0 / XIDS_PER_PAGE)
    }

    /// What the log says of a normal `xid`.
    pub fn get(&self, xid: Xid) -> Result<Outcome, SlruError> {
        let (page, word, shift) = place(xid);
        Ok(match self.pages.read(page, word)? >> shift & 3 {
            1 => Outcome::Committed,
            2 => Outcome::Aborted,
            _ => Outcome::Open,
        })
    }

    /// WAL position that must be durable before a hint bit may repeat that `xid` committed; 0 if it is.
    pub fn hint_lsn(&self, xid: Xid) -> Lsn {
        let (page, word, _) = place(xid);
        self.pages.word_lsn(page, word)
    }

    /// Marks `children` (ascending), then `top` if there is one. `lsn`: end of the record that says so. `asynchronous`: it is
    /// not flushed yet.
    pub fn mark(
        &self,
        top: Option<Xid>,
        children: &[Xid],
        outcome: Outcome,
        lsn: Lsn,
        asynchronous: bool,
    ) -> Result<(), SlruError> {
        let mut pinned: Option<(u64, PagePin<'_>)> = None;
        let mut rest = children.iter().chain(top.as_ref()).copied().peekable();
        while let Some(first) = rest.next() {
            let (page, word, shift) = place(first);
            let mut low_bits = 1_u64 << shift;
            while let Some(next) = rest.next_if(|&next| place(next).0 == page && place(next).1 == word) {
                low_bits |= 1 << place(next).2;
            }
            if pinned.as_ref().is_none_or(|(pinned, _)| *pinned != page) {
                // One page at a time stays in memory.
                drop(pinned.take());
                let Some(pin) = self.pages.pin_in_redo(page, first.0)? else { continue };
                pin.raise_lsn(lsn);
                pinned = Some((page, pin));
            }
            let Some((_, pin)) = &pinned else { continue };
            if asynchronous {
                pin.raise_word_lsn(word, lsn);
            }
            debug_assert_eq!(low_bits & !LOW_BITS, 0);
            pin.change(word, low_bits * 3, low_bits * outcome as u64);
        }
        Ok(())
    }

    /// What its pages have been through.
    pub fn slru_stats(&self) -> SlruStats {
        self.pages.stats()
    }

    /// Writes everything and makes it durable.
    pub fn checkpoint(&self) -> Result<(), SlruError> {
        self.pages.checkpoint()
    }
}
