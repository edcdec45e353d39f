//! How far a command that takes long has come: `pg_stat_progress_*`.
//!
//! A command keeps its figures in a [`Progress`] that others may read at any time; there is one while it runs. The numbers of figures are
//! those of `pg_stat_get_progress_info`, which the views know; so are those of phases.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use base::Oid;

use super::Session;
use super::registry::Backend;

/// A command that tells how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengthy {
    /// VACUUM without FULL.
    Vacuum,
    /// ANALYZE.
    Analyze,
    /// CLUSTER and VACUUM FULL.
    Cluster,
    /// CREATE INDEX and REINDEX.
    CreateIndex,
    /// COPY.
    Copy,
    /// BASE_BACKUP.
    BaseBackup,
}

impl Lengthy {
    /// The name that `pg_stat_get_progress_info` knows, if any command has it.
    pub(crate) fn named(name: &str) -> Option<Lengthy> {
        Some(match name.to_ascii_uppercase().as_str() {
            "VACUUM" => Lengthy::Vacuum,
            "ANALYZE" => Lengthy::Analyze,
            "CLUSTER" => Lengthy::Cluster,
            "CREATE INDEX" => Lengthy::CreateIndex,
            "COPY" => Lengthy::Copy,
            "BASEBACKUP" => Lengthy::BaseBackup,
            _ => return None,
        })
    }
}

/// Figures of a command.
const FIGURES: usize = 20;

/// How far a command is. The command and its helpers alone change it, anybody may look.
#[derive(Debug)]
pub struct Progress {
    pub(crate) command: Lengthy,
    /// The relation that it works on.
    pub relation: Oid,
    figures: [AtomicI64; FIGURES],
}

impl Progress {
    /// At the command's beginning.
    pub fn new(command: Lengthy, relation: Oid) -> Progress {
        Progress { command, relation, figures: Default::default() }
    }

    /// Sets a figure, numbered from 1.
    pub fn set(&self, figure: usize, value: i64) {
        self.figures[figure - 1].store(value, Relaxed);
    }

    /// Adds to a figure.
    pub fn add(&self, figure: usize, more: i64) {
        self.figures[figure - 1].fetch_add(more, Relaxed);
    }

    /// A figure.
    pub fn get(&self, figure: usize) -> i64 {
        self.figures[figure - 1].load(Relaxed)
    }

    /// All figures.
    pub(crate) fn figures(&self) -> Vec<i64> {
        (1..=FIGURES).map(|figure| self.get(figure)).collect()
    }
}

/// A command's progress; it ends when the first of its kind is dropped.
pub struct Running<'a> {
    backend: &'a Backend,
    progress: Arc<Progress>,
    first: bool,
}

impl Deref for Running<'_> {
    type Target = Progress;
    fn deref(&self) -> &Progress {
        &self.progress
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.first {
            *self.backend.progress.lock() = None;
        }
    }
}

impl Session {
    /// A command begins that reports its progress. Inside a command of the same kind it goes on with that one's figures; inside one of another kind it reports nothing.
    pub fn progress(&self, command: Lengthy, relation: Oid) -> Running<'_> {
        let backend: &Backend = &self.backend;
        let mut shown = backend.progress.lock();
        let progress = match &*shown {
            Some(outer) if outer.command == command => outer.clone(),
            _ => Arc::new(Progress::new(command, relation)),
        };
        let first = shown.is_none();
        shown.get_or_insert_with(|| progress.clone());
        Running { backend, progress, first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case() {
        assert_eq!(Lengthy::named("create index"), Some(Lengthy::CreateIndex));
        assert_eq!(Lengthy::named("BASEBACKUP"), Some(Lengthy::BaseBackup));
        assert_eq!(Lengthy::named("nix"), None);
    }
}
