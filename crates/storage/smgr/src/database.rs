//! The folders of a database, one in each tablespace where it has files, and their removal.
//!
//! A folder of many files appears under its name, and goes, by renaming: `base/N.new` is one that is being filled, `base/N.gone` one that is being emptied.
//! What a crash leaves of them, the next start removes ([`remove_leftovers`]).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use base::{Oid, RelFile, stop_point, tablespace_folder};
use runtime::fs;

use crate::{Smgr, SmgrError, SmgrResult, tablespaces};

/// Ending of a folder that is being filled.
const NEW: &str = "new";
/// Ending of a folder that is being emptied.
const GONE: &str = "gone";

/// The folder of a database's files in a tablespace.
pub fn database_folder(data_dir: &Path, tablespace: Oid, database: Oid) -> PathBuf {
    data_dir.join(RelFile::whole_database(tablespace, database).to_string())
}

/// Where such a folder of a new database is filled.
pub fn unfinished_folder(data_dir: &Path, tablespace: Oid, database: Oid) -> PathBuf {
    database_folder(data_dir, tablespace, database).with_extension(NEW)
}

/// Removes what a crash has left of folders that were being filled or emptied.
pub fn remove_leftovers(data_dir: &Path) -> io::Result<()> {
    for tablespace in tablespaces(data_dir)? {
        let folder = data_dir.join(tablespace_folder(tablespace));
        let entries = match fs::read_dir(&folder) {
            // Of a tablespace that is yet to be made, or dropped, again by redo.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries.iter().filter(|entry| entry.is_dir) {
            let ending = Path::new(&entry.name).extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some(NEW | GONE)) {
                fs::remove_dir_all(&folder.join(&entry.name))?;
            }
        }
    }
    Ok(())
}

impl Smgr {
    /// Forgets all that is known of a database's relations in a tablespace.
    pub fn forget_database(&self, tablespace: Oid, database: Oid) {
        let gone = |rel: &RelFile| rel.tablespace == tablespace && rel.database == database;
        for shard in &self.shards {
            let forks: Vec<_> =
                shard.write().extract_if(|(rel, _), _| gone(rel)).map(|(_, state)| state).collect();
            let closed: usize = forks.iter().map(|state| state.close()).sum();
            self.open_files.fetch_sub(closed, Ordering::Relaxed);
        }
        // After the entries: whoever collects lengths now does not note them again.
        self.lengths.remove_where(gone);
    }

    /// Removes all files of a database in a tablespace. One that is gone is no error. The caller has discarded its buffers, and nobody uses it any more.
    pub fn remove_database(&self, tablespace: Oid, database: Oid) -> SmgrResult<()> {
        let whole = RelFile::whole_database(tablespace, database);
        let folder = database_folder(&self.dir, tablespace, database);
        let failed = |error: io::Error| SmgrError::io("remove directory", &whole.to_string(), &error);
        // A sync that finds its file gone asks whether it was cancelled, so that comes first.
        self.pending.cancel_database(whole);
        stop_point!("database-before-removal");
        let gone = folder.with_extension(GONE);
        remove_folder(&gone).map_err(failed)?;
        let renamed = match fs::rename(&folder, &gone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            done => done.map(|()| true).map_err(failed)?,
        };
        self.forget_database(tablespace, database);
        if renamed {
            fs::sync_dir(&self.dir.join(tablespace_folder(tablespace))).map_err(failed)?;
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
