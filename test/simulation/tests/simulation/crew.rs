//! Fibers that work beside one another until they are told to stop.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use runtime::{now, sleep, spawn_fiber, wait};

/// Virtual time in which they must come to an end when they are told to.
const PATIENCE: Duration = Duration::from_secs(60);

/// The fibers of one life of a machine. A crash drops it with them.
#[derive(Clone, Default)]
pub struct Crew(Rc<State>);

#[derive(Default)]
struct State {
    told: Cell<bool>,
    working: Cell<u64>,
}

impl Crew {
    /// One more; it looks at the crew now and then whether it is [`told_to_stop`](Crew::told_to_stop).
    pub fn start(&self, name: &'static str, work: impl FnOnce(&Crew) + 'static) {
        // What a fiber is given must be small.
        let (crew, work) = (self.clone(), Box::new(work));
        self.0.working.set(self.0.working.get() + 1);
        spawn_fiber(name, move || {
            work(&crew);
            crew.0.working.set(crew.0.working.get() - 1);
        });
    }

    /// Whether it is time to come to an end.
    pub fn told_to_stop(&self) -> bool {
        self.0.told.get()
    }

    /// Whether all have come to an end but the one who asks.
    pub fn alone(&self) -> bool {
        self.0.working.get() == 1
    }

    /// Tells all to stop, and waits for them.
    pub fn stop(self) {
        self.0.told.set(true);
        let asked = now();
        while self.0.working.get() > 0 {
            assert!(asked.elapsed() < PATIENCE, "{} sessions hang", self.0.working.get());
            wait(sleep(Duration::from_millis(10)));
        }
    }
}
