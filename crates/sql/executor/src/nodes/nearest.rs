//! Index scans that give rows by their distances, nearest first.
//!
//! An index may know of an entry only that its row is no nearer than so far. The row's own distance is computed then, and it waits until all that the index has is
//! at least as far.
//!
//! # PostgreSQL counterpart
//! `IndexNextWithReorder` of `executor/nodeIndexscan.c`. Different: index-only scans may have such entries too.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use base::{SqlResult, Tid};
use eval::code::{Code, Rows};
use eval::cx::Cx;
use index::{NULL_DISTANCE, compare_distances, distance};
use plan::ParamId;
use tuple::Datum;

use super::table_scan::IndexScan;
use super::{Node, Origin};

/// A row that waits for its turn; among rows at the same distance the one that was read first comes first.
struct Waiting {
    distances: Vec<f64>,
    number: u64,
    row: (Tid, Vec<Datum>),
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        compare_distances(&self.distances, &other.distances).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// A distance of a row, and what number its value is.
pub(super) type Distance = (Code, fn(&Datum) -> f64);

/// The scan, which gives rows by what the index knows of their distances, and the rows that wait.
pub(super) struct NearestScan {
    scan: IndexScan,
    /// The distances of a row.
    distances: Box<[Distance]>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    number: u64,
    /// What the index told of the row that it gave last: all others are at least as far.
    reached: Vec<f64>,
    ended: bool,
}

impl NearestScan {
    pub(super) fn new(scan: IndexScan, distances: Box<[Distance]>) -> NearestScan {
        let (waiting, reached) = (BinaryHeap::new(), Vec::new());
        NearestScan { scan, distances, waiting, number: 0, reached, ended: false }
    }

    fn restart(&mut self) {
        self.waiting.clear();
        self.reached.clear();
        (self.number, self.ended) = (0, false);
    }

    /// Whether the first of the rows that wait comes before all that the index has.
    fn is_due(&self) -> bool {
        let first = self.waiting.peek();
        first.is_some_and(|Reverse(w)| self.ended || compare_distances(&w.distances, &self.reached).is_le())
    }

    /// Distances of the row last read, if it has to wait.
    fn wait(&self, inexact: bool, cx: &mut Cx<'_>) -> SqlResult<Option<Vec<f64>>> {
        let mut distances = self.reached.clone();
        if inexact {
            for (known, (code, place)) in distances.iter_mut().zip(&self.distances) {
                let own = code.eval(Rows::one(self.scan.values()), cx)?;
                *known = if own.is_null() { NULL_DISTANCE } else { distance(place(&own)) };
            }
        }
        let before_others = match self.waiting.peek() {
            Some(Reverse(first)) => compare_distances(&distances, &first.distances).is_lt(),
            None => true,
        };
        let waits = !before_others || compare_distances(&distances, &self.reached).is_gt();
        Ok(waits.then_some(distances))
    }
}

impl Node for NearestScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            if self.is_due() {
                let Some(Reverse(first)) = self.waiting.pop() else { continue };
                self.scan.give_row(first.row);
            } else if self.ended {
                return Ok(false);
            } else if !self.scan.fetch_next(cx)? {
                self.ended = true;
                continue;
            } else {
                let (distances, inexact) = self.scan.distances();
                self.reached.clear();
                self.reached.extend_from_slice(distances);
                if (inexact || !self.waiting.is_empty())
                    && let Some(distances) = self.wait(inexact, cx)?
                {
                    self.number += 1;
                    let (number, row) = (self.number, self.scan.take_row());
                    self.waiting.push(Reverse(Waiting { distances, number, row }));
                    continue;
                }
            }
            if self.scan.project(cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.scan.row()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        self.scan.origins(found);
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.restart();
        self.scan.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.restart();
        self.scan.close(cx);
    }
}
