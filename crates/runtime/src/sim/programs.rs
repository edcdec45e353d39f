//! What stands in for programs that a simulated server runs: there is no shell.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::SimCore;
use crate::env;
use crate::program::Exit;

/// Does what a command line is to do, in a working directory.
pub(super) type Answer = dyn Fn(&str, &Path) -> Exit;

/// From now on programs that are only run, neither read nor written, are carried out by `answer`, in the fiber of who waits for their end.
pub fn answer_with(answer: impl Fn(&str, &Path) -> Exit + 'static) {
    let sim = env::sim().expect("a simulation runs on this thread");
    *sim.programs.borrow_mut() = Some(Rc::new(answer));
}

/// A program to be carried out.
#[derive(Debug)]
pub(crate) struct SimProgram {
    command: String,
    dir: PathBuf,
}

impl SimProgram {
    /// None if nobody stands in for programs.
    pub(crate) fn new(sim: &SimCore, command: &str, dir: &Path) -> Option<SimProgram> {
        sim.programs.borrow().is_some().then(|| SimProgram { command: command.into(), dir: dir.into() })
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Exit {
        let answer = env::sim().and_then(|sim| sim.programs.borrow().clone());
        answer.map_or(Exit::Code(127), |answer| answer(&self.command, &self.dir))
    }
}
