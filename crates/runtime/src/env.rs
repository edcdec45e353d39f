//! Where the current code runs: on a worker, in a simulation, or on a plain thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::sim::SimCore;

/// Kind of thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Test, tool, recovery: a wait parks the thread.
    Plain,
    /// Worker with this number: tokio's event loop runs here.
    Worker(usize),
    /// The one thread of a simulation, while it runs.
    Sim,
}

thread_local! {
    static KIND: Cell<Kind> = const { Cell::new(Kind::Plain) };
    static SIM: RefCell<Option<Rc<SimCore>>> = const { RefCell::new(None) };
}

/// What this thread is.
pub(crate) fn kind() -> Kind {
    KIND.get()
}

/// Marks this thread as a worker, until the guard is dropped.
pub(crate) fn enter_worker(index: usize) -> EnterGuard {
    EnterGuard { kind: KIND.replace(Kind::Worker(index)), sim: None }
}

/// Marks this thread as running a simulation, until the guard is dropped.
pub(crate) fn enter_sim(core: Rc<SimCore>) -> EnterGuard {
    let sim = SIM.replace(Some(core));
    EnterGuard { kind: KIND.replace(Kind::Sim), sim }
}

/// Restores what the thread was.
pub(crate) struct EnterGuard {
    kind: Kind,
    sim: Option<Rc<SimCore>>,
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        KIND.set(self.kind);
        SIM.replace(self.sim.take());
    }
}

/// The simulation that runs on this thread.
pub(crate) fn sim() -> Option<Rc<SimCore>> {
    if KIND.get() != Kind::Sim {
        return None;
    }
    SIM.with_borrow(Clone::clone)
}
