//! # What
//! Tablespaces as files: one is made or removed with the end of a transaction.
//!
//! # Layout
//! [`smgr::make_tablespace`]: a link or folder in `pg_tblspc`, and the folder that has the databases' folders. `global/tablespace_N.unfinished`, until it is known that
//! the tablespace was made: the xid of the transaction that makes it, then its location, a line each.
//!
//! # Invariants
//! 1. The unfinished file is durable before anything else of the tablespace is made. Who aborts removes all of it; after a crash the next start does, for the commit log does
//!    not have the xid as committed.
//! 2. Nothing of anybody else is removed: a folder that is in the way is an error before the unfinished file is written, and only an empty one goes without its link.
//!
//! # Locks
//! None of its own. The caller has the heavyweight lock of a tablespace that is removed; who makes files there has it too, in a weaker mode, so that it stays empty.
//!
//! # WAL and crash
//! Making is logged behind the deed, so that what the disk refuses is never redone. A removal is part of the end of its transaction ([`RelFile::whole_tablespace`]), as that of any
//! relation's files.
//!
//! # PostgreSQL counterpart and differences
//! `tablespace.c`. There a crash in CREATE TABLESPACE leaves a link and a folder that nobody removes, and DROP TABLESPACE removes them before it commits.

use std::io;
use std::path::{Path, PathBuf};

use base::{Oid, RelFile, SqlError, SqlState, TABLESPACE_VERSION, Xid, stop_point};
use runtime::fs;
use txn::{End, Phase, Transaction};
use wal::RecordRef;

use crate::{Engine, EngineError, xlog};

/// Why there can be no tablespace at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is no such directory.
    Missing,
    /// A tablespace is there; its folder.
    InUse(PathBuf),
}

impl Engine {
    /// Makes a tablespace, to be removed if `txn` aborts. An empty location: in place.
    pub fn create_tablespace(
        &self,
        txn: &mut Transaction,
        tablespace: Oid,
        location: &str,
    ) -> Result<(), EngineError> {
        let path = Path::new(location);
        if !location.is_empty() {
            check_location(path)?;
            let folder = path.join(TABLESPACE_VERSION);
            if fs::exists(&folder).map_err(|e| failed("stat directory", &folder, e))? {
                return Err(EngineError::Location(location.into(), Unusable::InUse(folder)));
            }
        }
        let xid = txn.xid()?;
        txn.drop_at_abort(RelFile::whole_tablespace(tablespace));
        self.make_tablespace(xid, tablespace, path)?;
        let end = self.wal.insert(&xlog::create_tablespace_record(xid, tablespace, location));
        self.wal.flush(end)?;
        stop_point!("tablespace-made");
        let unfinished = smgr::unfinished_tablespace(&self.dir, tablespace);
        let made = move |end| {
            if end == End::Commit
                && let Err(error) = fs::remove_file(&unfinished)
            {
                tracing::warn!("could not remove file \"{}\": {error}", unfinished.display());
            }
        };
        txn.on_end(Phase::AfterLocks, Box::new(made));
        Ok(())
    }

    fn make_tablespace(&self, xid: Xid, tablespace: Oid, location: &Path) -> Result<(), EngineError> {
        let unfinished = smgr::unfinished_tablespace(&self.dir, tablespace);
        let text = format!("{xid}\n{}\n", location.display());
        fs::write_file_durably(&unfinished, text.as_bytes())
            .map_err(|e| failed("write file", &unfinished, e))?;
        stop_point!("tablespace-before-folder");
        smgr::make_tablespace(&self.dir, tablespace, location).map_err(|e| {
            if !location.as_os_str().is_empty() {
                remove_empty(location);
            }
            failed("create directory", Path::new(&base::tablespace_folder(tablespace)), e)
        })
    }

    /// Fails where redo misses a file because its whole tablespace is missing, as when a disk is not mounted: nothing of it may be skipped.
    pub(crate) fn check_tablespace(&self, tablespace: Oid) -> Result<(), EngineError> {
        let folder = base::tablespace_folder(tablespace);
        let there = fs::exists(&self.dir.join(&folder));
        match there.map_err(|e| failed("stat directory", Path::new(&folder), e))? {
            true => Ok(()),
            false => Err(EngineError::NoRecovery {
                message: format!("directory \"{folder}\" does not exist"),
                hint: "Make the tablespace's location available before restarting the server.".into(),
            }),
        }
    }

    /// Whether a tablespace has any file, temporary ones too.
    pub fn has_files(&self, tablespace: Oid) -> Result<bool, EngineError> {
        smgr::has_files(&self.dir, tablespace)
            .map_err(|e| failed("open directory", Path::new(&base::tablespace_folder(tablespace)), e))
    }

    /// Where a tablespace that a user made lies; none if it is in place.
    pub fn tablespace_location(&self, tablespace: Oid) -> io::Result<Option<PathBuf>> {
        smgr::tablespace_location(&self.dir, tablespace)
    }

    /// The databases that have files in a tablespace; none if there is no such tablespace.
    pub fn databases_in(&self, tablespace: Oid) -> Result<Option<Vec<Oid>>, EngineError> {
        let tablespaces = smgr::tablespaces(&self.dir);
        if !tablespaces
            .map_err(|e| failed("open directory", Path::new("pg_tblspc"), e))?
            .contains(&tablespace)
        {
            return Ok(None);
        }
        let mut databases = Vec::new();
        for (found, database) in crate::map::database_folders(&self.dir)? {
            let folder = smgr::database_folder(&self.dir, found, database);
            // A folder stays when its last file goes.
            if found == tablespace && !fs::read_dir(&folder).is_ok_and(|entries| entries.is_empty()) {
                databases.push(database);
            }
        }
        Ok(Some(databases))
    }

    /// Removes a tablespace without files when `txn` commits.
    pub fn drop_tablespace(&self, txn: &mut Transaction, tablespace: Oid) {
        txn.drop_at_commit(RelFile::whole_tablespace(tablespace));
    }

    /// Redo of the making of a tablespace.
    pub(crate) fn redo_tablespace(&self, record: &RecordRef<'_>) -> Result<(), EngineError> {
        let Some((tablespace, location)) = xlog::as_new_tablespace(record) else {
            return Err(EngineError::Redo {
                lsn: record.lsn,
                reason: "malformed record of a tablespace".into(),
            });
        };
        if !location.is_empty() {
            check_location(Path::new(location)).map_err(|error| match error {
                EngineError::Location(_, Unusable::Missing) => EngineError::NoRecovery {
                    message: error.to_string(),
                    hint: "Create this directory for the tablespace before restarting the server.".into(),
                },
                error => error,
            })?;
        }
        self.make_tablespace(record.xid, tablespace, Path::new(location))
    }

    /// At a start, when it is known which transactions committed: tablespaces whose making was cut off go, those that were made are finished.
    pub(crate) fn settle_tablespaces(&self) -> Result<(), EngineError> {
        let unfinished = smgr::unfinished_tablespaces(&self.dir);
        for tablespace in unfinished.map_err(|e| failed("open directory", Path::new("global"), e))? {
            let path = smgr::unfinished_tablespace(&self.dir, tablespace);
            let text = fs::read_to_string(&path).map_err(|e| failed("read file", &path, e))?;
            let lines = text.split_once('\n').map(|(xid, location)| (xid.parse().map(Xid), location));
            let Some((Ok(xid), location)) = lines else {
                let message = format!("file \"{}\" contains invalid data", path.display());
                return Err(EngineError::Map(message));
            };
            if self.was_committed(xid)? {
                fs::remove_file(&path).map_err(|e| failed("remove file", &path, e))?;
            } else {
                tracing::info!("removing tablespace {tablespace}, which was not made");
                let location = location.trim_end_matches('\n');
                // A copy's link may lead elsewhere: what lies at the location is not its own then.
                let has_link = self.tablespace_location(tablespace).is_ok();
                if !location.is_empty() && !has_link {
                    remove_empty(Path::new(location));
                }
                self.smgr.remove_tablespace(tablespace)?;
            }
        }
        Ok(())
    }
}

/// Removes the folder of a tablespace that has had no files yet, and may have no link.
fn remove_empty(location: &Path) {
    let folder = location.join(TABLESPACE_VERSION);
    match fs::remove_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("could not remove directory \"{}\": {error}", folder.display());
        }
        _ => {}
    }
}

/// Fails unless a directory is there, which becomes the server's own.
fn check_location(location: &Path) -> Result<(), EngineError> {
    match fs::set_permissions(location, fs::directory_mode()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(EngineError::Location(location.display().to_string(), Unusable::Missing))
        }
        done => done.map_err(|e| failed("set permissions on directory", location, e)),
    }
}

fn failed(what: &str, path: &Path, error: io::Error) -> EngineError {
    EngineError::Io(format!("could not {what} \"{}\"", path.display()), error)
}

impl From<&Unusable> for SqlState {
    fn from(why: &Unusable) -> SqlState {
        match why {
            Unusable::Missing => SqlState::UNDEFINED_FILE,
            Unusable::InUse(_) => SqlState::OBJECT_IN_USE,
        }
    }
}

impl Unusable {
    /// PostgreSQL's error about a location.
    pub(crate) fn error(&self, location: &str) -> SqlError {
        SqlError::new(self.into(), self.message(location))
    }

    pub(crate) fn message(&self, location: &str) -> String {
        match self {
            Unusable::Missing => format!("directory \"{location}\" does not exist"),
            Unusable::InUse(folder) => {
                format!("directory \"{}\" already in use as a tablespace", folder.display())
            }
        }
    }
}
