//! What the next checkpoint has to sync.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use base::{Fork, RelFile};
use parking_lot::Mutex;

use crate::{SegmentId, SmgrError, SmgrResult};

#[derive(Default)]
struct Sets {
    files: BTreeSet<SegmentId>,
    dirs: BTreeSet<PathBuf>,
    /// Relations removed since the current cycle took its files.
    cancelled: HashSet<RelFile>,
    /// Databases removed from tablespaces since then.
    cancelled_databases: HashSet<RelFile>,
    failed: Option<SmgrError>,
}

/// Files and directories that were changed and not synced since.
pub(crate) struct Pending {
    sets: Mutex<Sets>,
    cycle: runtime::Mutex<()>,
}

impl Default for Pending {
    fn default() -> Self {
        Pending { sets: Mutex::default(), cycle: runtime::Mutex::new(runtime::WaitEvent::DataFileSync, ()) }
    }
}

impl Pending {
    pub fn add_file(&self, id: SegmentId) {
        self.sets.lock().files.insert(id);
    }

    pub fn add_dir(&self, dir: PathBuf) {
        self.sets.lock().dirs.insert(dir);
    }

    /// Forgets a relation that is about to be removed.
    pub fn cancel(&self, rel: RelFile) {
        let mut sets = self.sets.lock();
        let first = SegmentId { rel, fork: Fork::Main, segment: 0 };
        let of_rel: Vec<_> = sets.files.range(first..).take_while(|id| id.rel == rel).copied().collect();
        for id in of_rel {
            sets.files.remove(&id);
        }
        sets.cancelled.insert(rel);
    }

    /// Forgets all relations of a database that is about to be removed from a tablespace.
    pub fn cancel_database(&self, database: RelFile) {
        let mut sets = self.sets.lock();
        sets.files.retain(|id| whole_database_of(id.rel) != database);
        sets.cancelled_databases.insert(database);
    }

    pub fn was_cancelled(&self, rel: RelFile) -> bool {
        let sets = self.sets.lock();
        sets.cancelled.contains(&rel) || sets.cancelled_databases.contains(&whole_database_of(rel))
    }

    /// Starts a cycle: one at a time, and none after a failure.
    pub fn begin(&self) -> SmgrResult<runtime::MutexGuard<'_, ()>> {
        let cycle = self.cycle.lock();
        let mut sets = self.sets.lock();
        sets.cancelled.clear();
        sets.cancelled_databases.clear();
        match &sets.failed {
            Some(error) => Err(error.clone()),
            None => {
                drop(sets);
                Ok(cycle)
            }
        }
    }

    /// Everything that is pending; what is written from now on is for the next cycle.
    pub fn take(&self) -> (BTreeSet<SegmentId>, BTreeSet<PathBuf>) {
        let mut sets = self.sets.lock();
        (std::mem::take(&mut sets.files), std::mem::take(&mut sets.dirs))
    }

    /// Makes an error sticky.
    pub fn fail(&self, error: SmgrError) -> SmgrError {
        self.sets.lock().failed.get_or_insert(error).clone()
    }
}

fn whole_database_of(rel: RelFile) -> RelFile {
    RelFile::whole_database(rel.tablespace, rel.database)
}
