//! The four views: each a table made of what was read.

mod locks;
mod sessions;
mod statements;
mod waits;

pub use locks::{Place, tree};
pub(crate) use sessions::pids;

use crate::model::{Snapshot, WaitHistory};
use crate::table::{Column, Table};

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Who is connected and does what.
    Sessions,
    /// What sessions waited for in the last minute.
    Waits,
    /// Which statements take the time.
    Statements,
    /// Who waits for whom.
    Locks,
}

impl View {
    /// In the order of their keys.
    pub const ALL: [View; 4] = [View::Sessions, View::Waits, View::Statements, View::Locks];

    /// Its name.
    pub fn title(self) -> &'static str {
        match self {
            View::Sessions => "Sessions",
            View::Waits => "Waits",
            View::Statements => "Statements",
            View::Locks => "Locks",
        }
    }

    /// Its place in [`View::ALL`].
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|view| *view == self).unwrap_or(0)
    }

    /// Whether its rows can be sorted; the order of a tree says something.
    pub fn is_sorted(self) -> bool {
        self != View::Locks
    }

    /// By which column it is sorted at first.
    pub fn first_sorting(self) -> usize {
        match self {
            View::Sessions => sessions::STATE,
            View::Waits => waits::AVERAGE,
            View::Statements => statements::TOTAL,
            View::Locks => 0,
        }
    }

    /// Its table. `width`: what there is for histograms to grow into.
    pub fn table(self, snapshot: &Snapshot, history: &WaitHistory, shown: Shown, width: usize) -> Table {
        match self {
            View::Sessions => sessions::table(snapshot, shown),
            View::Waits => waits::table(history, width),
            View::Statements => statements::table(snapshot, shown),
            View::Locks => locks::table(snapshot),
        }
    }
}

/// Which sessions are shown beside those that do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Our own.
    pub own: bool,
    /// Those that wait for their client, outside a transaction.
    pub idle: bool,
    /// Background processes.
    pub background: bool,
}

const fn column(title: &'static str, min: usize, max: usize, rank: u8) -> Column {
    Column { title, min, max, rank, right: false, falling: false }
}

/// A column of numbers, the largest first.
const fn figures(title: &'static str, min: usize, max: usize, rank: u8) -> Column {
    Column { title, min, max, rank, right: true, falling: true }
}
