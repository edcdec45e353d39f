//! State trees, kept between two runs of their plan.
//!
//! # What
//! A plan is shared by all sessions; a state tree is one run's. What a worker's sessions finish with is kept here for whichever of them
//! runs the plan next: thousands of sessions with the same statement then work in the same few cache lines, and an idle session keeps none.
//!
//! # Invariants
//! 1. A tree that is kept is not running: it holds no pin, no latch, no temporary file, and nothing of a session.
//! 2. A slot's tree keeps its plan alive, so that nobody takes another plan at the same address for it.
//! 3. A tree still has the values that its run computed last: of a statement that took more than `LIGHT` none is kept.
//! 4. Trees hold on to the storage that they read. What a thread keeps goes with the thread, and when the thread closes an instance.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::run::{Execution, Prepared};

/// Trees kept by each worker, a power of two.
const SLOTS: usize = 256;

/// Bytes that a statement may have taken whose tree is kept.
pub(crate) const LIGHT: usize = 256 << 10;

thread_local! {
    static KEPT: RefCell<Slots> = RefCell::new(empty());
    /// Plans that this thread has made.
    static MADE: Cell<usize> = const { Cell::new(0) };
}

type Slots = Vec<Option<Box<Execution>>>;

fn empty() -> Slots {
    (0..SLOTS).map(|_| None).collect()
}

/// A number for a new plan, by which its slot is found: plans that are made one after the other have different ones. Not by its address, which differs from run to
/// run of a simulation.
pub(crate) fn number() -> usize {
    /// Slots between the plans of two workers.
    const APART: usize = 97;
    let number = MADE.get();
    MADE.set(number.wrapping_add(1));
    number.wrapping_add(runtime::worker_index().unwrap_or(0) * APART)
}

fn slot(prepared: &Arc<Prepared>) -> usize {
    prepared.number % SLOTS
}

/// The tree that this worker has kept of a plan.
pub(crate) fn take(prepared: &Arc<Prepared>) -> Option<Box<Execution>> {
    KEPT.with_borrow_mut(|kept| kept[slot(prepared)].take_if(|tree| Arc::ptr_eq(tree.prepared(), prepared)))
}

/// Keeps a tree that has ended, in the place of another if there is one.
pub(crate) fn keep(tree: Box<Execution>) {
    let slot = slot(tree.prepared());
    // Dropped after the borrow has ended.
    let _other = KEPT.with_borrow_mut(|kept| kept[slot].replace(tree));
}

/// Lets go of all trees that this thread has kept.
pub fn clear() {
    // An error is the end of the thread, with which they have gone.
    let _trees = KEPT.try_with(|kept| kept.replace(empty()));
}
