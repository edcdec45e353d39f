//! Models of the lock-free parts: `frame`, `mapping` and `clock_sweep` themselves, on shuttle's atomics and scheduler.

mod shim {
    pub(crate) use crate::memory::Table;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

    /// Page contents are not part of the models.
    #[derive(Default)]
    pub(crate) struct Latch;

    #[derive(Default)]
    pub(crate) struct Short<T>(shuttle::sync::Mutex<T>);

    impl<T> Short<T> {
        pub fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}

#[allow(dead_code, reason = "the models use a part of the real modules")]
#[path = "clock_sweep.rs"]
mod clock_sweep;
#[allow(dead_code, reason = "the models use a part of the real modules")]
#[path = "frame.rs"]
mod frame;
#[allow(dead_code, reason = "the models use a part of the real modules")]
#[path = "mapping.rs"]
mod mapping;

use shuttle::sync::Arc;
use shuttle::thread;

use clock_sweep::ClockSweep;
use frame::{DIRTY, Frame, MAPPED, READING, VALID, pins};
use mapping::Mapping;
use shim::{AtomicU64, Ordering};

/// A pool without files: reading a page takes its number as content.
struct Pool {
    frames: Vec<Frame>,
    contents: Vec<AtomicU64>,
    mapping: Mapping,
    sweep: ClockSweep,
}

fn words(page: u64) -> [u64; 3] {
    [7, page, 0]
}

/// All pages in one chain, the worst case for walks.
const HASH: u64 = 0;

impl Pool {
    fn new(frames: usize) -> Arc<Pool> {
        Arc::new(Pool {
            frames: (0..frames).map(|_| Frame::default()).collect(),
            contents: (0..frames).map(|_| AtomicU64::new(u64::MAX)).collect(),
            mapping: Mapping::new(frames),
            sweep: ClockSweep::new(frames),
        })
    }

    fn unpin(&self, index: u32) {
        self.frames[index as usize].unpin(|| {});
    }

    fn victim(&self) -> Option<u32> {
        for _ in 0..8 {
            let index = self.sweep.claim(&self.frames)? as u32;
            let frame = &self.frames[index as usize];
            let free = frame.state() & MAPPED == 0
                || self.mapping.locked(HASH, |partition| {
                    let vacated = frame.try_vacate(false);
                    if vacated {
                        partition.remove(&self.frames, index);
                    }
                    vacated
                });
            if free {
                return Some(index);
            }
            self.unpin(index);
        }
        None
    }

    /// The steps of `BufferPool::read_as`; the frame is pinned. `None` where the real one would wait or fail.
    fn read(&self, page: u64) -> Option<u32> {
        let unpin = |index| self.unpin(index);
        let found =
            self.mapping.lookup(&self.frames, words(page), HASH, 1, |_| (), unpin).map(|(index, _)| index);
        let index = match found {
            Some(index) => index,
            None => {
                let victim = self.victim()?;
                let other = self.mapping.locked(HASH, |partition| {
                    if let Some(index) = partition.find(&self.frames, words(page)) {
                        assert!(self.frames[index as usize].try_pin(1).is_some(), "mapped under the mutex");
                        return Some(index);
                    }
                    self.frames[victim as usize].occupy(words(page));
                    partition.insert(&self.frames, victim);
                    None
                });
                match other {
                    Some(index) => {
                        self.unpin(victim);
                        index
                    }
                    None => {
                        self.contents[victim as usize].store(page, Ordering::SeqCst);
                        self.frames[victim as usize].end_io(READING, VALID);
                        victim
                    }
                }
            }
        };
        if self.frames[index as usize].state() & VALID == 0 {
            self.unpin(index);
            return None;
        }
        Some(index)
    }
}

/// A pinned page keeps its content, and no page is in two frames.
fn lookups_evictions_and_insertions_agree() {
    let pool = Pool::new(2);
    let readers: Vec<_> = [[1, 2], [2, 3], [3, 1]]
        .map(|pages| {
            let pool = pool.clone();
            thread::spawn(move || {
                for page in pages {
                    let Some(index) = pool.read(page) else { continue };
                    assert!(pool.frames[index as usize].tag_is(words(page)));
                    assert_eq!(
                        pool.contents[index as usize].load(Ordering::SeqCst),
                        page,
                        "a pinned page was replaced"
                    );
                    let twice = pool.mapping.locked(HASH, |_| {
                        let holds = |f: &Frame| f.tag_is(words(page)) && f.state() & MAPPED != 0;
                        pool.frames.iter().filter(|frame| holds(frame)).count() > 1
                    });
                    assert!(!twice, "page {page} is in two frames");
                    pool.unpin(index);
                }
            })
        })
        .into();
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    assert!(pool.frames.iter().all(|frame| pins(frame.state()) == 0), "pins are left");
}

/// A page that is dirtied under a pin is never evicted unwritten.
fn dirty_pages_are_not_lost() {
    let pool = Pool::new(2);
    let writer = {
        let pool = pool.clone();
        thread::spawn(move || {
            if let Some(index) = pool.read(1) {
                pool.frames[index as usize].set_dirty();
                pool.unpin(index);
                return true;
            }
            false
        })
    };
    let reader = {
        let pool = pool.clone();
        thread::spawn(move || {
            for page in [2, 3, 4] {
                if let Some(index) = pool.read(page) {
                    pool.unpin(index);
                }
            }
        })
    };
    reader.join().unwrap();
    if writer.join().unwrap() {
        let kept =
            pool.frames.iter().any(|f| f.tag_is(words(1)) && f.state() & (MAPPED | DIRTY) == MAPPED | DIRTY);
        assert!(kept, "a dirty page is gone");
    }
}

/// Claims are exclusive, ticks are not lost, position and pass agree.
fn the_sweep_gives_each_frame_to_one() {
    let frames: Arc<Vec<Frame>> = Arc::new((0..3).map(|_| Frame::default()).collect());
    let sweep = Arc::new(ClockSweep::new(3));
    let owners: Arc<Vec<AtomicU64>> = Arc::new((0..3).map(|_| AtomicU64::new(0)).collect());
    let claimers: Vec<_> = (1..=2u64)
        .map(|thread| {
            let (frames, sweep, owners) = (frames.clone(), sweep.clone(), owners.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    let before = sweep.position();
                    let index = sweep.claim(&frames).expect("at most two are claimed at once");
                    assert_eq!(owners[index].swap(thread, Ordering::SeqCst), 0, "claimed twice");
                    let after = sweep.position();
                    assert!(after > before);
                    assert!(sweep.passes(after) * 3 + sweep.frame_at(after) as u64 == after.0);
                    owners[index].store(0, Ordering::SeqCst);
                    frames[index].unpin(|| {});
                }
            })
        })
        .collect();
    claimers.into_iter().for_each(|claimer| claimer.join().unwrap());
    assert!(frames.iter().all(|frame| pins(frame.state()) == 0));
}

/// Invariant 4 of the sweep: the sleeping writer is reported, or it saw the allocation.
fn the_background_writer_is_not_forgotten() {
    let sweep = Arc::new(ClockSweep::new(3));
    let allocator = {
        let sweep = sweep.clone();
        thread::spawn(move || sweep.count_allocation())
    };
    sweep.writer_sleeps();
    let saw = sweep.allocations() != 0;
    let woken = allocator.join().unwrap();
    assert!(saw || woken);
}

fn check(model: fn()) {
    shuttle::check_random(model, 2_000);
    shuttle::check_pct(model, 1_000, 3);
}

#[test]
fn mapping_in_any_order() {
    check(lookups_evictions_and_insertions_agree);
}

#[test]
fn dirty_pages_in_any_order() {
    check(dirty_pages_are_not_lost);
}

#[test]
fn sweep_in_any_order() {
    check(the_sweep_gives_each_frame_to_one);
}

#[test]
fn background_writer_in_any_order() {
    check(the_background_writer_is_not_forgotten);
}
