//! Names, directories and whole files.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::descriptors::with_descriptor;
use super::file::{File, OpenOptions};
use super::real::of_sync;
use crate::env;
use crate::pool::blocking;

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name, without the directory. Names that are not UTF-8 are made so with replacement characters.
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Length in bytes.
    pub len: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Permission bits.
    pub mode: u32,
    /// User id of the owner; on a simulated disk, where all is ours, 0.
    pub owner: u32,
    /// Whether it is a plain file: neither a directory nor a device, a pipe or a socket.
    pub is_file: bool,
    /// When it was last read, when its contents and when anything about it changed; microseconds since 1970-01-01 UTC, 0 on a simulated disk.
    pub times: [i64; 3],
}

/// Gives a file another name, replacing what had it.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_rename(from, to),
        None => blocking(|| fs::rename(from, to)),
    }
}

/// Removes a file's name.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_remove_file(path),
        None => blocking(|| fs::remove_file(path)),
    }
}

static GROUP_MAY_READ: AtomicBool = AtomicBool::new(false);

/// Whether the group of the process may read files and directories that are made from now on (0640 and 0750 instead of 0600 and 0700).
pub fn set_group_access(allowed: bool) {
    // Relaxed: set while a program starts, before it makes files.
    GROUP_MAY_READ.store(allowed, Ordering::Relaxed);
}

/// Permission bits of a new file.
pub(super) fn file_mode() -> u32 {
    if GROUP_MAY_READ.load(Ordering::Relaxed) { 0o640 } else { 0o600 }
}

/// Permission bits of a new directory.
pub fn directory_mode() -> u32 {
    if GROUP_MAY_READ.load(Ordering::Relaxed) { 0o750 } else { 0o700 }
}

/// Makes a directory; see [`set_group_access`] for its mode.
pub fn create_dir(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_create_dir(path),
        None => blocking(|| make_dir(path, false)),
    }
}

/// Makes a directory and those above it that are missing; see [`set_group_access`] for their mode.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_create_dir_all(path),
        None => blocking(|| make_dir(path, true)),
    }
}

fn make_dir(path: &Path, recursive: bool) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(recursive).mode(directory_mode()).create(path)
}

/// The names in a directory, sorted.
pub fn read_dir(path: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = match env::sim() {
        Some(sim) => sim.disk_read_dir(path)?,
        None => with_descriptor(|| blocking(|| entries_of(path)))?,
    };
    entries.sort();
    Ok(entries)
}

fn entries_of(path: &Path) -> io::Result<Vec<DirEntry>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok(DirEntry { name, is_dir: entry.file_type()?.is_dir() })
    };
    fs::read_dir(path)?.map(entry).collect()
}

/// Whether something has this name.
pub fn exists(path: &Path) -> io::Result<bool> {
    match metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Length and kind of what has this name.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    match env::sim() {
        Some(sim) => sim.disk_metadata(path),
        None => blocking(|| {
            let meta = fs::metadata(path)?;
            let micros = |(seconds, nanos): (i64, i64)| seconds * 1_000_000 + nanos / 1000;
            let times = [
                (meta.atime(), meta.atime_nsec()),
                (meta.mtime(), meta.mtime_nsec()),
                (meta.ctime(), meta.ctime_nsec()),
            ];
            Ok(Metadata {
                len: meta.len(),
                is_dir: meta.is_dir(),
                mode: meta.permissions().mode() & 0o7777,
                owner: meta.uid(),
                is_file: meta.is_file(),
                times: times.map(micros),
            })
        }),
    }
}

/// The absolute path without symbolic links. A simulated disk has none: the path itself.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match env::sim() {
        Some(_) => Ok(path.to_path_buf()),
        None => blocking(|| fs::canonicalize(path)),
    }
}

/// Sets the permission bits. A simulated disk has none.
pub fn set_permissions(path: &Path, mode: u32) -> io::Result<()> {
    match env::sim() {
        Some(_) => Ok(()),
        None => blocking(|| fs::set_permissions(path, fs::Permissions::from_mode(mode))),
    }
}

/// Makes `link` another name of the directory `target`. A simulated disk has no such names.
pub fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    match env::sim() {
        Some(_) => Err(io::ErrorKind::Unsupported.into()),
        None => blocking(|| std::os::unix::fs::symlink(target, link)),
    }
}

/// Where a symbolic link leads to; none if `link` is something else.
pub fn read_link(link: &Path) -> io::Result<Option<PathBuf>> {
    match env::sim() {
        Some(sim) => sim.disk_metadata(link).map(|_| None),
        None => blocking(|| match fs::read_link(link) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
            target => target.map(Some),
        }),
    }
}

/// Makes a directory durable, with all that it holds. Symbolic links below it are followed.
pub fn sync_tree(path: &Path) -> io::Result<()> {
    for entry in read_dir(path)? {
        let below = path.join(&entry.name);
        if metadata(&below)?.is_dir {
            sync_tree(&below)?;
        } else {
            File::open(&below, OpenOptions::READ)?.sync_all()?;
        }
    }
    sync_dir(path)
}

/// Makes the names in a directory durable: what was made, removed or renamed there.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_sync_dir(path),
        None => with_descriptor(|| blocking(|| fs::File::open(path)))
            .and_then(|dir| blocking(|| dir.sync_all()).map_err(of_sync)),
    }
}

/// Removes an empty directory.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => match sim.disk_read_dir(path)?.is_empty() {
            true => sim.disk_remove_dir_all(path),
            false => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        },
        None => blocking(|| fs::remove_dir(path)),
    }
}

/// Removes a directory with everything in it.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    match env::sim() {
        Some(sim) => sim.disk_remove_dir_all(path),
        None => blocking(|| fs::remove_dir_all(path)),
    }
}

/// A whole file.
pub fn read_to_vec(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path, OpenOptions::READ)?;
    let mut bytes = vec![0; usize::try_from(file.len()?).map_err(io::Error::other)?];
    let n = file.read_at(&mut bytes, 0)?;
    bytes.truncate(n);
    Ok(bytes)
}

/// A whole file of text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read_to_vec(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Makes or replaces a file's contents, with no promise about crashes.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::open(path, OpenOptions::TRUNCATE)?.write_all_at(bytes, 0)
}

/// Makes or replaces a file so that after a crash it has either the old or the new contents, and after a return the new:
/// a temporary file, synced, renamed, and its directory synced.
pub fn write_file_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let file = File::open(&temporary, OpenOptions::TRUNCATE)?;
    file.write_all_at(bytes, 0)?;
    file.sync_all()?;
    drop(file);
    rename(&temporary, path)?;
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_dir(parent),
        _ => sync_dir(Path::new(".")),
    }
}

/// An exclusive lock on a file, until it is dropped or the process ends.
#[derive(Debug)]
pub struct LockedFile {
    _lock: Option<fs::File>,
    _simulated: Option<crate::sim::SimLock>,
}

/// Locks a file (made if it is missing) against other processes; `WouldBlock` when another has it.
pub fn lock_file(path: &Path) -> io::Result<LockedFile> {
    if let Some(sim) = env::sim() {
        return Ok(LockedFile { _lock: None, _simulated: Some(sim.disk_lock(path)?) });
    }
    blocking(|| {
        let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(LockedFile { _lock: Some(file), _simulated: None }),
            Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    })
}
