//! A buffer's descriptor: one word of state, the tag, the link of its chain, the latch.
//!
//! # The state word
//!
//! | bits | name | meaning | set by | cleared by |
//! |---|---|---|---|---|
//! | 0..24 | pins | who keeps the page here | [`Frame::try_pin`], [`Frame::add_pin`], [`Frame::try_claim`] | [`Frame::unpin`] |
//! | 24..28 | usage | recency, 0 to 5 | `try_pin` | `try_claim`, a tick of the sweep at a time |
//! | 32 | `MAPPED` | has a tag and is in its chain | [`Frame::occupy`] | [`Frame::try_vacate`], both under the chain's mutex |
//! | 33 | `VALID` | the bytes are the page's | [`Frame::end_io`] of a read | `try_vacate` |
//! | 34 | `DIRTY` | differs from the file | [`Frame::set_dirty`] | [`Frame::try_begin_write`]; set again if the write fails |
//! | 35 | `READING` | the holder fills the bytes | `occupy`, [`Frame::try_begin_read`] | `end_io` |
//! | 36 | `WRITING` | the holder writes a copy to the file | `try_begin_write` | `end_io` |
//! | 37 | `HINTING` | the holder logs an image, then makes the page dirty | [`Frame::try_begin_hint`] | `end_io` |
//! | 38 | `CHECKPOINT` | was dirty when the running checkpoint began | [`Frame::mark_for_checkpoint`] | `end_io` of a write, `try_vacate` |
//! | 39 | `UNLOGGED` | belongs to an unlogged or temporary relation | [`Frame::set_unlogged`] | `try_vacate` |
//! | 40 | `PIN_WAITER` | somebody waits to be the only pin | [`Frame::set_pin_waiter`] | [`Frame::clear_pin_waiter`], both by the waiter |
//! | 41 | `STALE` | the bytes are the page's, but the log that is replayed has more for it | [`Frame::mark_stale`] | [`Frame::try_catch_up`]; `end_io` of a read that failed; `try_vacate` |
//!
//! A page that is `STALE` is not `VALID`: so whoever looks for `VALID`, as every pin does, finds out without another look.
//!
//! # Invariants
//! 1. The tag changes only while the frame is not `MAPPED` and its one pin is the changer's. So whoever has a pin that was
//!    taken on a `MAPPED` frame, and then finds the expected tag, keeps that page.
//! 2. A frame without pins has no `READING`, `WRITING`, `HINTING`: their holders have pins.
//! 3. A frame that is not `MAPPED` gets no pin but by `try_claim`.
//! 4. The bytes change only under the exclusive latch or `READING`; but for hint bits and, under `HINTING`, the LSN, which change
//!    by atomic operations under the shared latch.
//! 5. `STALE` is set only where bytes are, or are being read: who finds neither reads the page with all that the log has for it.

use super::shim::{AtomicU32, AtomicU64, Latch, Ordering};

const PIN: u64 = 1;
const PIN_MASK: u64 = (1 << 24) - 1;
const USAGE: u64 = 1 << 24;
const USAGE_MASK: u64 = 0xF << 24;
/// Highest usage count: PostgreSQL's five lives.
pub(crate) const MAX_USAGE: u64 = 5;

pub(crate) const MAPPED: u64 = 1 << 32;
pub(crate) const VALID: u64 = 1 << 33;
pub(crate) const DIRTY: u64 = 1 << 34;
pub(crate) const READING: u64 = 1 << 35;
pub(crate) const WRITING: u64 = 1 << 36;
pub(crate) const HINTING: u64 = 1 << 37;
pub(crate) const CHECKPOINT: u64 = 1 << 38;
pub(crate) const UNLOGGED: u64 = 1 << 39;
pub(crate) const PIN_WAITER: u64 = 1 << 40;
pub(crate) const STALE: u64 = 1 << 41;
/// Flags whose holder is at work.
pub(crate) const BUSY: u64 = READING | WRITING | HINTING;

/// No frame: end of a chain.
pub(crate) const NIL: u32 = u32::MAX;

pub(crate) fn pins(state: u64) -> u64 {
    state & PIN_MASK
}

pub(crate) fn usage(state: u64) -> u64 {
    (state & USAGE_MASK) >> 24
}

/// What the sweep did to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It was free: it has one pin now, the caller's.
    Claimed,
    /// It lost a life.
    Aged,
    /// It is pinned.
    Pinned,
}

/// How a pin was given back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpinned {
    /// `may_wake` was called.
    pub announced: bool,
    /// Somebody is to be woken.
    pub wakes: bool,
}

/// See the module.
#[repr(align(64))]
#[derive(Default)]
pub(crate) struct Frame {
    state: AtomicU64,
    tag: [AtomicU64; 3],
    /// Next frame of the chain. Changed under the chain's mutex only.
    pub next: AtomicU32,
    pub latch: Latch,
}

impl Frame {
    pub fn state(&self) -> u64 {
        // Acquire: pairs with the Release of `end_io` and `occupy`; a flag that is seen stands for its bytes.
        self.state.load(Ordering::Acquire)
    }

    /// One compare-and-swap after another until `change` declines or one succeeds; the state before.
    fn update(&self, change: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        // AcqRel: every change of the word may hand bytes or the tag over to whoever sees it next.
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok()
    }

    /// Compares the tag; certain only for who holds a pin (invariant 1).
    pub fn tag_is(&self, words: [u64; 3]) -> bool {
        // Relaxed: a torn tag is found out after pinning, where the pin's Acquire orders these loads.
        (0..3).all(|i| self.tag[i].load(Ordering::Relaxed) == words[i])
    }

    /// The tag; certain only for who holds a pin.
    pub fn tag_words(&self) -> [u64; 3] {
        std::array::from_fn(|i| self.tag[i].load(Ordering::Relaxed))
    }

    /// Pins a mapped frame; gives the state before. `bump`: the most that usage is raised to (a ring's pages stay at 1).
    pub fn try_pin(&self, bump: u64) -> Option<u64> {
        self.update(|state| {
            let raise = if usage(state) < bump { USAGE } else { 0 };
            (state & MAPPED != 0).then_some(state + PIN + raise)
        })
    }

    /// A second pin of who has one.
    pub fn add_pin(&self) {
        // Relaxed: the pin that the caller has orders everything.
        let before = self.state.fetch_add(PIN, Ordering::Relaxed);
        debug_assert!((1..PIN_MASK).contains(&pins(before)), "add_pin without a pin");
    }

    /// Gives a pin back. `may_wake` is called, once, before a pin goes that may have to wake somebody who waits to be the
    /// only one: without the pin the caller has no claim on the pool's memory any more.
    pub fn unpin(&self, may_wake: impl Fn()) -> Unpinned {
        let mut announced = false;
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            debug_assert!(pins(state) > 0, "unpin without a pin");
            let wakes = state & PIN_WAITER != 0 && pins(state) == 2;
            if wakes && !announced {
                may_wake();
                announced = true;
            }
            // AcqRel: what was done under the pin happens before the frame's next owner. Waiters are woken through a queue,
            // which has fences of its own.
            match self.state.compare_exchange_weak(state, state - PIN, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Unpinned { announced, wakes },
                Err(now) => state = now,
            }
        }
    }

    /// The sweep's visit.
    pub fn try_claim(&self) -> Claim {
        let before = self.update(|state| match (pins(state), usage(state)) {
            (0, 0) => Some(state + PIN),
            (0, _) => Some(state - USAGE),
            _ => None,
        });
        match before {
            None => Claim::Pinned,
            Some(state) if usage(state) == 0 => Claim::Claimed,
            Some(_) => Claim::Aged,
        }
    }

    /// A ring's visit to one of its frames: claimed if nobody else has taken a liking to it.
    pub fn try_claim_from_ring(&self) -> bool {
        self.update(|state| (pins(state) == 0 && usage(state) <= 1).then_some((state & !USAGE_MASK) + PIN))
            .is_some()
    }

    /// Pins whatever page is here, for write-back: no bump of usage. Gives the state before.
    pub fn try_pin_if(&self, condition: impl Fn(u64) -> bool) -> Option<u64> {
        self.update(|state| (state & MAPPED != 0 && condition(state)).then_some(state + PIN))
    }

    /// Under the chain's mutex: takes the page from a frame whose only pin is the caller's. Fails if somebody else pinned it, or
    /// made it dirty (unless `discard`).
    pub fn try_vacate(&self, discard: bool) -> bool {
        let unwanted = if discard { BUSY } else { BUSY | DIRTY };
        self.update(|state| (pins(state) == 1 && state & unwanted == 0).then_some(PIN)).is_some()
    }

    /// Under the chain's mutex: gives a frame that is not mapped, and only ours, a new page, to be read or made by the caller.
    pub fn occupy(&self, words: [u64; 3]) {
        debug_assert_eq!(self.state.load(Ordering::Relaxed), PIN, "invariant 1");
        for (cell, word) in self.tag.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        // Release: pairs with the Acquire of `try_pin`; who pins the mapped frame sees its tag.
        self.state.store(MAPPED | READING | USAGE | PIN, Ordering::Release);
    }

    /// Becomes the one who fills a page that an earlier reader could not.
    pub fn try_begin_read(&self) -> bool {
        self.update(|state| (state & (VALID | STALE | READING) == 0).then_some(state | READING)).is_some()
    }

    /// The log has more for the page, which a list has got just now.
    pub fn mark_stale(&self) {
        self.update(|state| (state & (VALID | READING) != 0).then_some((state | STALE) & !VALID));
    }

    /// Under the exclusive latch: the caller brings the page up to date, if that is still to be done. It is `VALID` at once, for who pins it now waits
    /// for the latch; what the log brings from now on makes it `STALE` again.
    pub fn try_catch_up(&self) -> bool {
        self.update(|state| (state & STALE != 0).then_some((state & !STALE) | VALID)).is_some()
    }

    /// Becomes the one who writes the page. Dirtied again from now on means dirty again.
    pub fn try_begin_write(&self) -> bool {
        self.update(|state| (state & DIRTY != 0 && state & BUSY == 0).then_some((state | WRITING) & !DIRTY))
            .is_some()
    }

    /// Becomes the one who logs a clean page's image because of a hint.
    pub fn try_begin_hint(&self) -> bool {
        self.update(|state| (state & (DIRTY | HINTING) == 0).then_some(state | HINTING)).is_some()
    }

    /// Ends `work` (one of the busy flags) and sets `and_set`. The caller then wakes those who wait for the frame.
    pub fn end_io(&self, work: u64, and_set: u64) {
        self.update(|state| {
            debug_assert!(state & work != 0);
            // Dirtied again while it was written: the checkpoint may have marked the page for that change.
            let clean = work == WRITING && (state | and_set) & DIRTY == 0;
            let done = if clean { work | CHECKPOINT } else { work };
            match (work, and_set & VALID != 0) {
                // The log had more for the page since its list was asked.
                (READING, true) if state & STALE != 0 => Some((state & !done) | (and_set & !VALID)),
                (READING, false) => Some((state & !(done | STALE)) | and_set),
                _ => Some((state & !done) | and_set),
            }
        });
    }

    /// The caller holds the exclusive latch, or set a hint that needs no image. Returns whether the page was clean.
    pub fn set_dirty(&self) -> bool {
        // Release: pairs with the Acquire of `try_begin_write`, whose copy must have the bytes changed before.
        self.state.fetch_or(DIRTY, Ordering::Release) & DIRTY == 0
    }

    /// The relation is not logged.
    pub fn set_unlogged(&self) {
        self.state.fetch_or(UNLOGGED, Ordering::Relaxed);
    }

    /// Marks a page that is dirty, about to be, being written, or being read: reading may bring it up to date. `unlogged` ones are the business of a shutdown only.
    pub fn mark_for_checkpoint(&self, unlogged: bool) -> bool {
        let wanted = |state: u64| {
            state & MAPPED != 0
                && state & (DIRTY | WRITING | HINTING | READING) != 0
                && (unlogged || state & UNLOGGED == 0)
        };
        self.update(|state| wanted(state).then_some(state | CHECKPOINT)).is_some()
    }

    pub fn set_pin_waiter(&self) {
        self.state.fetch_or(PIN_WAITER, Ordering::SeqCst);
    }

    pub fn clear_pin_waiter(&self) {
        self.state.fetch_and(!PIN_WAITER, Ordering::Relaxed);
    }
}
