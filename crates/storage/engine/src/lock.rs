//! One server per data directory.
//!
//! An advisory lock on a file in the directory, held while the engine is open; the kernel drops it with the process, so a
//! killed server leaves nothing to clean up. `postmaster.pid`, which tools read, is the server's business.

use std::path::Path;

use crate::EngineError;

/// Its name below the data directory.
pub const FILE: &str = "stampede.lock";

/// Holds the directory until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    _file: runtime::fs::LockedFile,
}

impl DirectoryLock {
    /// Takes the lock, or says who seems to hold it.
    pub fn acquire(dir: &Path) -> Result<DirectoryLock, EngineError> {
        let path = dir.join(FILE);
        match runtime::fs::lock_file(&path) {
            Ok(file) => Ok(DirectoryLock { _file: file }),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => Err(EngineError::Locked(format!(
                "lock file \"{}\" is held: another server is running in data directory \"{}\"",
                path.display(),
                dir.display()
            ))),
            Err(e) => Err(EngineError::Io(format!("could not open lock file \"{}\"", path.display()), e)),
        }
    }
}
