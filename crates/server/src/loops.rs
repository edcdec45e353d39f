//! Fibers that work beside sessions, and the wait for their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::Event;

/// Those that have not ended yet.
#[derive(Debug, Default)]
pub struct Loops {
    running: AtomicUsize,
    ended: Event,
}

/// One of them; it has ended when this is dropped.
#[derive(Debug)]
pub struct Running(Arc<Loops>);

impl Loops {
    /// One begins.
    pub fn enter(self: &Arc<Self>) -> Running {
        // AcqRel: pairs with the decrement below.
        self.running.fetch_add(1, Ordering::AcqRel);
        Running(self.clone())
    }

    /// Waits until the last one has ended, of those that were there at a time.
    pub fn wait(&self) {
        if self.running.load(Ordering::Acquire) > 0 {
            self.ended.wait();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // AcqRel: whoever sees zero sees what they did.
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.set();
        }
    }
}
