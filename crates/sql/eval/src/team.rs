//! # What
//! What those share who run a part of a plan beside each other, and their places.
//!
//! # Invariants
//! 1. The places of a bitmap are found once: by the session, where it takes part, or else by the helper who comes first. Only helpers wait for
//!    them, which are threads of their own.
//! 2. Nobody waits for who has ended, or failed ([`Team::end`], [`Team::leader_leaves`]).
//!
//! # Locks
//! That of [`SharedPlaces`], held for a few instructions; nothing is locked beneath it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use base::{SqlError, SqlResult, Tid};
use heap::SharedPages;
use parking_lot::{Condvar, Mutex};

/// What the participants share of the part of a plan that they run.
#[derive(Debug)]
pub struct Team {
    /// Of each table that they read in pieces, by the number of its scan.
    pages: Box<[Arc<SharedPages>]>,
    /// The same of those that are read by bitmap.
    places: Box<[Arc<SharedPlaces>]>,
}

impl Team {
    /// For a part of a plan with so many scans in pieces. `leads`: the session takes part.
    pub fn new(scans: usize, leads: bool) -> Team {
        Team {
            pages: (0..scans).map(|_| Arc::default()).collect(),
            places: (0..scans).map(|_| Arc::new(SharedPlaces::new(leads))).collect(),
        }
    }

    /// The pages of a scan.
    pub fn pages(&self, scan: usize) -> Option<&Arc<SharedPages>> {
        self.pages.get(scan)
    }

    /// The places of a scan by bitmap.
    pub fn places(&self, scan: usize) -> Option<&Arc<SharedPlaces>> {
        self.places.get(scan)
    }

    /// Lets all participants come to an end soon: no scan takes another piece.
    pub fn end(&self) {
        self.pages.iter().for_each(|pages| pages.end());
        self.places.iter().for_each(|places| places.end());
    }

    /// The session has done its part.
    pub fn leader_leaves(&self) {
        self.places.iter().for_each(|places| places.leader_leaves());
    }
}

/// Places of a table's rows that a bitmap names, in order, each once.
#[derive(Debug, Default)]
pub struct FoundPlaces {
    /// The places; the offset 0 stands for all rows of a page.
    pub tids: Vec<Tid>,
    /// Rows there may not satisfy the conditions.
    pub recheck: bool,
}

impl FoundPlaces {
    /// A piece of about so many places from one on: of each page all or none.
    fn piece(&self, start: usize, about: usize) -> Range<usize> {
        let last = (start + about.max(1)).min(self.tids.len()) - 1;
        let block = self.tids[last].block;
        start..last + self.tids[last..].iter().take_while(|tid| tid.block == block).count()
    }
}

/// Places that several scans find once, and take for themselves piece by piece.
#[derive(Debug)]
pub struct SharedPlaces {
    search: Mutex<Search>,
    changed: Condvar,
    /// The first that nobody has taken.
    taken: AtomicUsize,
}

/// How far the search for places is.
#[derive(Debug)]
enum Search {
    /// Nobody has begun. `leads`: it is for the session to do.
    Open {
        leads: bool,
    },
    /// Somebody is at it.
    Runs,
    Done(Arc<FoundPlaces>),
    /// They are not wanted any more, or could not be found.
    Ended,
}

impl SharedPlaces {
    /// A piece is this part of what is left.
    const PART: usize = 64;
    /// Places of the largest piece, about.
    const LARGEST: usize = 1 << 16;

    fn new(leads: bool) -> SharedPlaces {
        let search = Mutex::new(Search::Open { leads });
        SharedPlaces { search, changed: Condvar::new(), taken: AtomicUsize::new(0) }
    }

    /// The places; `find` finds them if that is up to this participant. `helps`: it is a helper.
    pub fn get(
        &self,
        helps: bool,
        find: impl FnOnce() -> SqlResult<FoundPlaces>,
    ) -> SqlResult<Arc<FoundPlaces>> {
        let mut search = self.search.lock();
        loop {
            match &*search {
                Search::Open { leads } if !(helps && *leads) => break,
                Search::Done(found) => return Ok(found.clone()),
                Search::Open { .. } | Search::Runs if helps => self.changed.wait(&mut search),
                _ => return Err(SqlError::internal("places that another participant has not found")),
            }
        }
        *search = Search::Runs;
        drop(search);
        // Who waits is let go also if it fails.
        let failed = AtDrop(self);
        let found = Arc::new(find()?);
        std::mem::forget(failed);
        self.change(|search| {
            if let Search::Runs = search {
                *search = Search::Done(found.clone());
            }
        });
        Ok(found)
    }

    /// The next piece of `found` that nobody has taken; empty at the end.
    pub fn take(&self, found: &FoundPlaces) -> Range<usize> {
        let count = found.tids.len();
        let piece = |taken: usize| found.piece(taken, ((count - taken) / Self::PART).min(Self::LARGEST));
        let next = |taken: usize| (taken < count).then(|| piece(taken).end);
        // Relaxed: a number that nothing else depends on.
        self.taken.fetch_update(Relaxed, Relaxed, next).map_or(0..0, piece)
    }

    fn change(&self, change: impl FnOnce(&mut Search)) {
        change(&mut self.search.lock());
        self.changed.notify_all();
    }

    fn end(&self) {
        self.taken.store(usize::MAX, Relaxed);
        self.change(|search| *search = Search::Ended);
    }

    fn leader_leaves(&self) {
        self.change(|search| {
            if let Search::Open { leads } = search {
                *leads = false;
            }
        });
    }
}

/// Ends the search for places when it goes away.
struct AtDrop<'a>(&'a SharedPlaces);

impl Drop for AtDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Places for threads that help, until it is dropped.
#[derive(Default)]
pub struct Places<'a> {
    /// How many.
    pub count: usize,
    /// The session does its part too.
    pub leader_works: bool,
    /// What has to be held for them.
    pub held: Option<Box<dyn Held + 'a>>,
}

/// Anything that is held.
pub trait Held {}

impl<T> Held for T {}

#[cfg(test)]
mod tests {
    use base::BlockNo;

    use super::*;

    /// Three places on each even page, all of each fifth one.
    fn found(pages: u32) -> FoundPlaces {
        let of = |block: u32| match block.is_multiple_of(5) {
            true => vec![Tid::new(BlockNo(block), 0)],
            false => (1..4).map(|n| Tid::new(BlockNo(block), n)).collect(),
        };
        FoundPlaces { tids: (0..pages).map(|n| n * 2).flat_map(of).collect(), recheck: false }
    }

    #[test]
    fn each_page_is_taken_once() {
        for pages in [0, 1, 2, 7, 1000] {
            let shared = SharedPlaces::new(true);
            let all = shared.get(false, || Ok(found(pages))).unwrap();
            let taken: Vec<Vec<Tid>> = std::thread::scope(|scope| {
                let helper = || {
                    let again = shared.get(true, || panic!("they are there")).unwrap();
                    let mut own = Vec::new();
                    loop {
                        let piece = shared.take(&again);
                        if piece.is_empty() {
                            return own;
                        }
                        own.extend_from_slice(&again.tids[piece]);
                    }
                };
                let helpers: Vec<_> = (0..3).map(|_| scope.spawn(helper)).collect();
                helpers.into_iter().map(|helper| helper.join().unwrap()).collect()
            });
            let blocks = |tids: &[Tid]| tids.iter().map(|tid| tid.block).collect::<Vec<_>>();
            for (n, own) in taken.iter().enumerate() {
                let others = taken.iter().enumerate().filter(|other| other.0 != n);
                let others: Vec<_> = others.flat_map(|other| blocks(other.1)).collect();
                assert!(blocks(own).iter().all(|block| !others.contains(block)));
            }
            let mut taken = taken.concat();
            taken.sort_unstable();
            assert_eq!(taken, all.tids);
        }
    }

    #[test]
    fn helpers_wait_for_the_leader_as_long_as_it_may_come() {
        let shared = SharedPlaces::new(true);
        let count = std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| shared.get(true, || Ok(found(3))).map(|found| found.tids.len())))
                .collect();
            assert_eq!(shared.get(false, || Ok(found(9))).unwrap().tids.len(), found(9).tids.len());
            helpers.into_iter().map(|helper| helper.join().unwrap().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(count, [found(9).tids.len(); 2]);

        let shared = SharedPlaces::new(true);
        let waiting = std::thread::scope(|scope| {
            let helper = scope.spawn(|| shared.get(true, || Ok(found(3))).map(|found| found.tids.len()));
            shared.leader_leaves();
            helper.join().unwrap()
        });
        assert_eq!(waiting.unwrap(), found(3).tids.len());
    }

    #[test]
    fn nobody_waits_for_who_has_failed() {
        let shared = SharedPlaces::new(true);
        std::thread::scope(|scope| {
            let helper = scope.spawn(|| shared.get(true, || Ok(found(3))).map(|found| found.tids.len()));
            assert!(shared.get(false, || Err(SqlError::internal("no"))).is_err());
            assert!(helper.join().unwrap().is_err());
        });
        assert!(shared.take(&found(3)).is_empty());
    }
}
