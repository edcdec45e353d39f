//! What · What a transaction did that its end must settle, beside its rows and its locks. Most transactions have none of it.
//!
//! Layout · One list for each kind of effect, in the order in which they came about; a level of the transaction remembers in [`Marks`] where
//! its part of each begins.
//!
//! PostgreSQL counterpart · `smgrDoPendingDeletes`, `AtEOXact_*` and their lists.

use base::{RelFile, Xid};

use crate::commit::MappedFile;
use crate::lock::LockTag;
use crate::transaction::{End, Phase};

pub(crate) type Action = (Phase, Box<dyn FnOnce(End)>);

/// Effects of a transaction, or of one of its levels.
#[derive(Default)]
pub(crate) struct Effects {
    /// Live subtransactions' xids.
    pub subxids: Vec<Xid>,
    /// Go when the transaction commits.
    pub commit_files: Vec<RelFile>,
    /// Go when it is rolled back.
    pub abort_files: Vec<RelFile>,
    /// Take other files' places when it commits.
    pub mapped: Vec<MappedFile>,
    /// What caches must forget when a prepared transaction commits.
    pub invalidations: Vec<u8>,
    pub actions: Vec<Action>,
    /// Rows whose queue goes on to a new version when it commits: from and to.
    pub row_moves: Vec<(LockTag, LockTag)>,
}

/// A place in each list.
#[derive(Default)]
pub(crate) struct Marks {
    pub subxids: u32,
    commit_files: u32,
    abort_files: u32,
    mapped: u32,
    invalidations: u32,
    actions: u32,
    row_moves: u32,
}

impl Marks {
    /// Where the level's part of the rows' moves begins.
    pub fn row_moves(&self) -> usize {
        self.row_moves as usize
    }
}

impl Effects {
    /// The move that took a row's queue to this version.
    pub fn row_move_to(&self, version: LockTag) -> Option<usize> {
        self.row_moves.iter().rposition(|(_, to)| *to == version)
    }

    /// Where the next level's part begins.
    pub fn end(&self) -> Marks {
        Marks {
            subxids: self.subxids.len() as u32,
            commit_files: self.commit_files.len() as u32,
            abort_files: self.abort_files.len() as u32,
            mapped: self.mapped.len() as u32,
            invalidations: self.invalidations.len() as u32,
            actions: self.actions.len() as u32,
            row_moves: self.row_moves.len() as u32,
        }
    }

    /// A subtransaction has got its xid. Returns where it is.
    pub fn add_subxid(&mut self, xid: Xid) -> u32 {
        self.subxids.push(xid);
        self.subxids.len() as u32 - 1
    }

    /// The files that are there since.
    pub fn files_since(&self, from: &Marks) -> &[RelFile] {
        &self.abort_files[from.abort_files as usize..]
    }

    /// Takes out what came about since.
    pub fn split_off(&mut self, from: &Marks) -> Effects {
        Effects {
            subxids: self.subxids.split_off(from.subxids as usize),
            commit_files: self.commit_files.split_off(from.commit_files as usize),
            abort_files: self.abort_files.split_off(from.abort_files as usize),
            mapped: self.mapped.split_off(from.mapped as usize),
            invalidations: self.invalidations.split_off(from.invalidations as usize),
            actions: self.actions.split_off(from.actions as usize),
            row_moves: self.row_moves.split_off(from.row_moves as usize),
        }
    }
}

/// Runs the early actions, and gives the late ones in the order in which to run them.
pub(crate) fn run_actions(mut actions: Vec<Action>, end: End) -> Vec<Action> {
    if end == End::Abort {
        actions.reverse();
    }
    let early = take_if(&mut actions, |phase| phase != Phase::AfterLocks);
    run_all(early, end);
    actions
}

/// Takes out the actions of these phases.
pub(crate) fn take_if(actions: &mut Vec<Action>, which: impl Fn(Phase) -> bool) -> Vec<Action> {
    actions.extract_if(.., |action| which(action.0)).collect()
}

/// Runs actions in their order.
pub(crate) fn run_all(actions: Vec<Action>, end: End) {
    for (_, action) in actions {
        action(end);
    }
}
