//! What those share who run a part of a plan beside each other, and their places.

use std::sync::Arc;

use heap::SharedPages;

/// What the participants share of the part of a plan that they run.
#[derive(Debug)]
pub struct Team {
    /// Of each table that they read in pieces, by the number of its scan.
    pages: Box<[Arc<SharedPages>]>,
}

impl Team {
    /// For a part of a plan with so many scans in pieces.
    pub fn new(scans: usize) -> Team {
        Team { pages: (0..scans).map(|_| Arc::default()).collect() }
    }

    /// The pages of a scan.
    pub fn pages(&self, scan: usize) -> Option<&Arc<SharedPages>> {
        self.pages.get(scan)
    }

    /// Lets all participants come to an end soon: no scan takes another piece.
    pub fn end(&self) {
        self.pages.iter().for_each(|pages| pages.end());
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
