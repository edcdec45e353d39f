//! Several machines in one simulation. Each task belongs to one; what it starts belongs to the same.
//!
//! The closure of [`Simulation::run`](super::Simulation::run) is on [`OPERATOR`], which stands outside: it starts the others, and has them fail. Files
//! of a machine are those below a folder that the caller names.

use std::path::Path;

use super::{Place, SimCore};
use crate::env;
use crate::fiber::run_fiber;

/// Number of a machine.
pub type Machine = u32;

/// The machine of who runs the simulation.
pub const OPERATOR: Machine = 0;

fn with_sim<T>(f: impl FnOnce(&SimCore) -> T) -> T {
    f(&env::sim().expect("a simulation runs on this thread"))
}

/// Starts a fiber on a machine.
pub fn spawn_on(machine: Machine, name: &'static str, f: impl FnOnce() + 'static) {
    with_sim(|sim| {
        let before = sim.current.replace(Place { worker: 0, machine });
        sim.spawn(name, None, run_fiber(f));
        sim.current.set(before);
    });
}

/// A machine loses power: its tasks are gone where they stand, its connections are lost, and of what was not synced below `dir` a random part. Not to be
/// called by its own tasks. `silently`: nobody is told that its connections are lost.
pub fn crash(machine: Machine, dir: &Path, silently: bool) {
    with_sim(|sim| {
        sim.end_machine(machine, silently);
        sim.disk.crash_below(dir, &mut |bound| sim.random_below(bound));
    });
}

/// The processes of a machine are killed; the machine goes on, and its disk with what was not synced. Files that they had locked below `dir` are free.
pub fn kill(machine: Machine, dir: &Path) {
    with_sim(|sim| {
        sim.end_machine(machine, false);
        sim.disk.unlock_below(dir);
    });
}

/// The disk of a machine takes so many times as long as usual; 1: no longer.
pub fn slow_disk(machine: Machine, times: u32) {
    with_sim(|sim| sim.slow_disks.borrow_mut().insert(machine, times));
}

impl SimCore {
    fn end_machine(&self, machine: Machine, silently: bool) {
        assert_ne!(self.machine(), machine, "a machine does not end its own tasks");
        self.break_connections(machine, silently);
        // What a destructor starts would be the machine's too.
        let before = self.current.replace(Place { worker: 0, machine });
        loop {
            let first = {
                let mut tasks = self.tasks.borrow_mut();
                let id = tasks.iter().find(|(_, task)| task.place.machine == machine).map(|(id, _)| *id);
                id.and_then(|id| tasks.remove(&id))
            };
            match first {
                Some(task) => drop(task),
                None => break,
            }
        }
        self.current.set(before);
    }
}
