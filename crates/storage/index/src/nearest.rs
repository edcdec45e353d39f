//! What a scan by distances has yet to visit and to give, nearest first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::{ScanKey, compare_distances};

/// Distances of a key, one for each order of a scan. There is one most of the time, and no allocation then.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    first: f64,
    more: Box<[f64]>,
}

impl Distances {
    /// What `distance` says by each order.
    pub fn of(orders: &[ScanKey], mut distance: impl FnMut(&ScanKey) -> f64) -> Distances {
        let Some((first, more)) = orders.split_first() else { return Distances::default() };
        Distances { first: distance(first), more: more.iter().map(distance).collect() }
    }

    /// Puts them in place of what is in `out`.
    pub fn copy_to(&self, out: &mut Vec<f64>) {
        out.clear();
        out.push(self.first);
        out.extend_from_slice(&self.more);
    }

    fn compare(&self, other: &Distances) -> Ordering {
        self.first.total_cmp(&other.first).then_with(|| compare_distances(&self.more, &other.more))
    }
}

/// What comes next.
#[derive(Debug)]
pub enum Nearest<P, E> {
    /// A place to visit.
    Place(P),
    /// An entry to give.
    Entry(E),
}

#[derive(Debug)]
struct Waiting<P, E> {
    distances: Distances,
    number: u64,
    what: Nearest<P, E>,
}

impl<P, E> Waiting<P, E> {
    fn among_equals(&self) -> (bool, u64) {
        (matches!(self.what, Nearest::Place(_)), self.number)
    }
}

impl<P, E> Ord for Waiting<P, E> {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives its greatest first.
        let order = other.distances.compare(&self.distances);
        order.then_with(|| other.among_equals().cmp(&self.among_equals()))
    }
}

impl<P, E> PartialOrd for Waiting<P, E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P, E> PartialEq for Waiting<P, E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P, E> Eq for Waiting<P, E> {}

/// Places and entries in the order of their distances; of equals, entries come before places, and who was found first.
#[derive(Debug)]
pub struct NearestQueue<P, E> {
    heap: BinaryHeap<Waiting<P, E>>,
    number: u64,
}

impl<P, E> Default for NearestQueue<P, E> {
    fn default() -> Self {
        NearestQueue { heap: BinaryHeap::new(), number: 0 }
    }
}

impl<P, E> NearestQueue<P, E> {
    /// Adds a place, or an entry.
    pub fn push(&mut self, distances: Distances, what: Nearest<P, E>) {
        self.number += 1;
        self.heap.push(Waiting { distances, number: self.number, what });
    }

    /// Takes what is nearest.
    pub fn pop(&mut self) -> Option<(Distances, Nearest<P, E>)> {
        self.heap.pop().map(|next| (next.distances, next.what))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
