//! Which frame holds which page: chains of frames, looked up without a lock.
//!
//! # Layout
//! `heads` has the first frame of each bucket's chain, [`Frame::next`] the next ones. Neighbouring blocks have neighbouring buckets (`Tag::hash`): a
//! point query finds its pages' buckets in the processor's cache long after the frames do not fit there. A bucket belongs to one of the partitions, whose
//! short mutex whoever changes a chain holds.
//!
//! # Invariants
//! 1. A hit is certain: the frame is pinned, was mapped when it was, and has the tag (invariant 1 of `frame`).
//! 2. A miss of [`Mapping::lookup`] is not: the walk may have followed a frame into another chain. It is confirmed by
//!    [`Partition::find`] under the mutex before a page is loaded, so a page is never in two frames.
//! 3. A walk is bounded: frames moving under it cannot lead it in circles for ever.

use super::frame::{Frame, NIL};
use super::shim::{AtomicU32, Ordering, Short, Table};

/// Longest walk without the mutex; chains are of length one or two, as there are as many buckets as frames, twice over.
const MAX_STEPS: usize = 64;
const PARTITIONS: usize = 128;

#[repr(align(64))]
#[derive(Default)]
struct Lock(Short<()>);

pub(crate) struct Mapping {
    heads: Table<AtomicU32>,
    locks: Box<[Lock]>,
}

impl Mapping {
    pub fn new(frames: usize) -> Mapping {
        let buckets = (frames * 2).next_power_of_two();
        Mapping {
            heads: Table::new(buckets, || AtomicU32::new(NIL)),
            locks: (0..PARTITIONS.min(buckets)).map(|_| Lock::default()).collect(),
        }
    }

    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// Finds and pins a page. `bump` as in [`Frame::try_pin`]. `unpin` gives back a pin that hit another page. `guess` hears of a frame before it
    /// is looked at, and it is the right one nearly always: what the processor is to fetch of the page comes while it waits for the frame.
    #[inline(always)]
    pub fn lookup(
        &self,
        frames: &[Frame],
        words: [u64; 3],
        hash: u64,
        bump: u64,
        guess: impl Fn(u32),
        unpin: impl Fn(u32),
    ) -> Option<(u32, u64)> {
        // Acquire: pairs with the Release of `Partition::insert`; the frame's tag is there.
        let mut at = self.heads[self.bucket(hash)].load(Ordering::Acquire);
        for _ in 0..MAX_STEPS {
            let frame = frames.get(at as usize)?;
            guess(at);
            if frame.tag_is(words) {
                let before = frame.try_pin(bump)?;
                if frame.tag_is(words) {
                    return Some((at, before));
                }
                unpin(at);
                return None;
            }
            at = frame.next.load(Ordering::Acquire);
        }
        None
    }

    /// Whether the page seems to be here: a hint for read-ahead.
    pub fn probably_has(&self, frames: &[Frame], words: [u64; 3], hash: u64) -> bool {
        let mut at = self.heads[self.bucket(hash)].load(Ordering::Acquire);
        for _ in 0..MAX_STEPS {
            match frames.get(at as usize) {
                None => return false,
                Some(frame) if frame.tag_is(words) => return true,
                Some(frame) => at = frame.next.load(Ordering::Acquire),
            }
        }
        false
    }

    /// Runs `f` with the chain's partition locked. `f` must not wait.
    pub fn locked<T>(&self, hash: u64, f: impl FnOnce(Partition<'_>) -> T) -> T {
        let bucket = self.bucket(hash);
        let _guard = self.locks[bucket % self.locks.len()].0.lock();
        f(Partition { head: &self.heads[bucket] })
    }
}

/// A chain whose mutex is held.
pub(crate) struct Partition<'a> {
    head: &'a AtomicU32,
}

impl Partition<'_> {
    /// The frame of a page, for certain. It is not pinned; while the mutex is held it stays mapped.
    pub fn find(&self, frames: &[Frame], words: [u64; 3]) -> Option<u32> {
        // Relaxed here and below: the mutex orders all changes of the chain.
        let mut at = self.head.load(Ordering::Relaxed);
        while let Some(frame) = frames.get(at as usize) {
            if frame.tag_is(words) {
                return Some(at);
            }
            at = frame.next.load(Ordering::Relaxed);
        }
        None
    }

    /// Puts a frame that was just occupied at the front of its chain.
    pub fn insert(&self, frames: &[Frame], index: u32) {
        frames[index as usize].next.store(self.head.load(Ordering::Relaxed), Ordering::Relaxed);
        // Release: pairs with the Acquire loads of `lookup`.
        self.head.store(index, Ordering::Release);
    }

    /// Takes a frame that was just vacated out of its chain. Walkers that stand on it go on from there.
    pub fn remove(&self, frames: &[Frame], index: u32) {
        let after = frames[index as usize].next.load(Ordering::Relaxed);
        let mut link = self.head;
        loop {
            let at = link.load(Ordering::Relaxed);
            if at == index {
                link.store(after, Ordering::Release);
                return;
            }
            match frames.get(at as usize) {
                Some(frame) => link = &frame.next,
                None => unreachable!("a mapped frame is in its chain"),
            }
        }
    }
}
