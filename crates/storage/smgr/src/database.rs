//! The folder of a database, and its removal.
//!
//! A folder appears under its name, and goes, by renaming: `base/N.new` is one that is being filled, `base/N.gone` one that is being emptied.
//! What a crash leaves of them, the next start removes ([`remove_leftovers`]).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use base::{Oid, stop_point};
use runtime::fs;

use crate::{Smgr, SmgrError, SmgrResult};

/// Ending of a folder that is being filled.
const NEW: &str = "new";
/// Ending of a folder that is being emptied.
const GONE: &str = "gone";

/// The folder of a database in a data directory.
pub fn database_folder(data_dir: &Path, database: Oid) -> PathBuf {
    data_dir.join(format!("base/{database}"))
}

/// Where the folder of a new database is filled.
pub fn unfinished_folder(data_dir: &Path, database: Oid) -> PathBuf {
    database_folder(data_dir, database).with_extension(NEW)
}

/// Removes what a crash has left of folders that were being filled or emptied.
pub fn remove_leftovers(data_dir: &Path) -> io::Result<()> {
    let base = data_dir.join("base");
    for entry in fs::read_dir(&base)?.iter().filter(|entry| entry.is_dir) {
        let ending = Path::new(&entry.name).extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some(NEW | GONE)) {
            fs::remove_dir_all(&base.join(&entry.name))?;
        }
    }
    Ok(())
}

impl Smgr {
    /// Forgets all that is known of a database's relations.
    pub fn forget_database(&self, database: Oid) {
        for shard in &self.shards {
            let forks: Vec<_> = shard
                .write()
                .extract_if(|(rel, _), _| rel.database == database)
                .map(|(_, state)| state)
                .collect();
            let closed: usize = forks.iter().map(|state| state.close()).sum();
            self.open_files.fetch_sub(closed, Ordering::Relaxed);
        }
        // After the entries: whoever collects lengths now does not note them again.
        self.lengths.remove_database(database);
    }

    /// Removes all files of a database. One that is gone is no error. The caller has discarded its buffers, and nobody uses it any more.
    pub fn remove_database(&self, database: Oid) -> SmgrResult<()> {
        let folder = database_folder(&self.dir, database);
        let failed =
            |error: io::Error| SmgrError::io("remove directory", &format!("base/{database}"), &error);
        // A sync that finds its file gone asks whether it was cancelled, so that comes first.
        self.pending.cancel_database(database);
        stop_point!("database-before-removal");
        let gone = folder.with_extension(GONE);
        remove_folder(&gone).map_err(failed)?;
        let renamed = match fs::rename(&folder, &gone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            done => done.map(|()| true).map_err(failed)?,
        };
        self.forget_database(database);
        if renamed {
            fs::sync_dir(&self.dir.join("base")).map_err(failed)?;
            stop_point!("database-before-emptying");
            remove_folder(&gone).map_err(failed)?;
        }
        Ok(())
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
