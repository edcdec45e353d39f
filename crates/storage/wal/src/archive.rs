//! # What
//! What is yet to be archived of the log, and what is: `pg_wal/archive_status/<file>.ready`, `.done`.
//!
//! # Invariants
//! 1. A file that has neither mark may not have been noticed (a crash came in between): who wants to remove it asks
//!    [`ArchiveStatus::may_remove`], which marks it as ready. So nothing is removed before it is archived.
//! 2. A segment is ready when it never changes again: the record at its end is on disk as a whole.
//!
//! # PostgreSQL counterpart
//! `xlogarchive.c`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use runtime::fs;
use runtime::{Event, WaitEvent};

use crate::geometry::is_segment_name;
use crate::log::WalError;
use crate::timeline::History;

/// Folder of the marks, below that of the log.
pub const ARCHIVE_STATUS: &str = "archive_status";

/// The marks of the log's files.
pub struct ArchiveStatus {
    dir: PathBuf,
    /// Files are archived.
    active: AtomicBool,
    /// Something became ready.
    news: Event,
}

impl ArchiveStatus {
    pub(crate) fn new(wal_dir: &Path) -> ArchiveStatus {
        ArchiveStatus {
            dir: wal_dir.join(ARCHIVE_STATUS),
            active: AtomicBool::new(false),
            news: Event::new(),
        }
    }

    /// Whether files are archived from now on.
    pub fn set_active(&self, active: bool) {
        self.active.store(active, Ordering::Relaxed);
    }

    /// Whether files are archived.
    pub fn is_active(&self) -> bool {
        // Relaxed: set when the server starts, and when it ends a recovery.
        self.active.load(Ordering::Relaxed)
    }

    fn path(&self, name: &str, mark: &str) -> PathBuf {
        self.dir.join(format!("{name}.{mark}"))
    }

    fn has(&self, name: &str, mark: &str) -> Result<bool, WalError> {
        let path = self.path(name, mark);
        fs::exists(&path).map_err(|error| WalError::new("stat", &path, &error))
    }

    fn put(&self, name: &str, mark: &str) -> Result<(), WalError> {
        let path = self.path(name, mark);
        let written = match fs::write_file(&path, b"") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&self.dir).and_then(|()| fs::write_file(&path, b""))
            }
            written => written,
        };
        written.map_err(|error| WalError::new("create archive status", &path, &error))
    }

    /// A file is complete: it is to be archived, if files are.
    pub fn notify(&self, name: &str) -> Result<(), WalError> {
        if !self.is_active() {
            return Ok(());
        }
        self.put(name, "ready")?;
        self.news.set();
        Ok(())
    }

    /// As [`notify`](Self::notify), for callers that cannot report an error: it is tried again when the file is to be removed.
    pub(crate) fn notify_later(&self, name: &str) {
        let _ = self.notify(name);
    }

    /// Whether the archive has a file.
    pub fn is_done(&self, name: &str) -> Result<bool, WalError> {
        self.has(name, "done")
    }

    /// Whether a file waits for being archived.
    pub fn is_ready(&self, name: &str) -> Result<bool, WalError> {
        self.has(name, "ready")
    }

    /// Whether a file may go, for all that the archive needs. One without a mark gets it.
    pub fn may_remove(&self, name: &str) -> Result<bool, WalError> {
        if !self.is_active() || self.is_done(name)? {
            return Ok(true);
        }
        if !self.is_ready(name)? {
            self.notify(name)?;
        }
        Ok(false)
    }

    /// The archive has the file.
    pub fn set_done(&self, name: &str) -> Result<(), WalError> {
        let (ready, done) = (self.path(name, "ready"), self.path(name, "done"));
        match fs::rename(&ready, &done) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.put(name, "done"),
            Err(error) => Err(WalError::new("rename", &ready, &error)),
        }
    }

    /// The file is gone: its marks go.
    pub fn forget(&self, name: &str) -> Result<(), WalError> {
        for mark in ["ready", "done"] {
            let path = self.path(name, mark);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WalError::new("remove", &path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The files that wait, in the order in which they are to be archived: histories of time lines first.
    pub fn waiting(&self) -> Result<Vec<String>, WalError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(WalError::new("read", &self.dir, &error)),
        };
        let names = entries.iter().filter_map(|entry| entry.name.strip_suffix(".ready"));
        let mut names: Vec<String> = names.filter(|name| is_archived(name)).map(str::to_owned).collect();
        names.sort_by_key(|name| (History::timeline_of_file(name).is_none(), name.clone()));
        Ok(names)
    }

    /// Rests until something is ready, or so long.
    pub fn wait(&self, most: std::time::Duration) {
        let resting = runtime::time::timeout(most, self.news.until_set());
        runtime::waiting(WaitEvent::ArchiverMain, || runtime::wait(resting));
        self.news.reset();
    }

    /// Ends that rest.
    pub fn wake(&self) {
        self.news.set();
    }
}

/// Whether files of this name are archived: segments, also partial ones, histories of time lines, labels of backups.
fn is_archived(name: &str) -> bool {
    let is_backup = |name: &str| {
        let (segment, rest) = name.split_at_checked(24).unwrap_or((name, ""));
        is_segment_name(segment) && rest.starts_with('.') && rest.ends_with(".backup")
    };
    is_segment_name(name.strip_suffix(".partial").unwrap_or(name))
        || History::timeline_of_file(name).is_some()
        || is_backup(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_file() {
        let dir = std::env::temp_dir().join(format!("stampede-archive-{:x}", runtime::random_u64()));
        let status = ArchiveStatus::new(&dir);
        let name = "000000010000000000000003";
        assert!(status.may_remove(name).unwrap(), "nothing is archived");
        status.notify(name).unwrap();
        assert_eq!(status.waiting().unwrap(), Vec::<String>::new());
        status.set_active(true);
        assert!(!status.may_remove(name).unwrap());
        assert!(status.is_ready(name).unwrap(), "who wants to remove it has noticed");
        for other in ["000000010000000000000001", "00000002.history", "000000010000000000000002.partial"] {
            status.notify(other).unwrap();
        }
        status.notify("rubbish").unwrap();
        assert_eq!(
            status.waiting().unwrap(),
            [
                "00000002.history",
                "000000010000000000000001",
                "000000010000000000000002.partial",
                "000000010000000000000003"
            ]
        );
        status.set_done(name).unwrap();
        assert!(status.is_done(name).unwrap() && !status.is_ready(name).unwrap());
        assert!(status.may_remove(name).unwrap());
        status.forget(name).unwrap();
        assert!(!status.is_done(name).unwrap());
        runtime::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_is_archived() {
        for name in
            ["000000010000000000000003.00000028.backup", "000000010000000000000003", "0000000A.history"]
        {
            assert!(is_archived(name), "{name}");
        }
        for name in ["x", "000000010000000000000003.backup2", "00000001000000000000000"] {
            assert!(!is_archived(name), "{name}");
        }
    }
}
