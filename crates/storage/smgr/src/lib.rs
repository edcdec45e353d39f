//! Relation files.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use base::{BlockNo, Fork, PAGE_SIZE, RelFile};

/// Pages of a segment file: 1 GiB.
pub const SEGMENT_PAGES: u32 = (1 << 30) / PAGE_SIZE as u32;

/// A file could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmgrError {
    /// The operating system failed.
    Io {
        /// Its condition.
        kind: io::ErrorKind,
        /// `could not read blocks 1..1 in file "base/5/16384": Input/output error`.
        message: String,
    },
    /// A file of the relation is not there.
    MissingFile {
        /// Path below the data directory.
        path: String,
    },
    /// The file ends before the block.
    PastEnd {
        /// Path below the data directory.
        path: String,
        /// The block that was asked for.
        block: BlockNo,
        /// Number of blocks there are.
        nblocks: u32,
    },
}

impl fmt::Display for SmgrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SmgrError::Io { message, .. } => f.write_str(message),
            SmgrError::MissingFile { path } => {
                write!(f, "could not open file \"{path}\": No such file or directory")
            }
            SmgrError::PastEnd { path, block, nblocks } => {
                write!(f, "could not read block {block} in file \"{path}\": file has {nblocks} blocks")
            }
        }
    }
}

impl std::error::Error for SmgrError {}

/// The files of all relations of a data directory.
pub struct Smgr {
    _dir: PathBuf,
}

/// Result of file operations.
pub type SmgrResult<T> = Result<T, SmgrError>;

impl Smgr {
    /// Relation files below `data_dir`.
    pub fn new(_data_dir: &Path) -> Smgr {
        todo!()
    }
    /// Makes the first file of a fork. An existing one is an error unless `redo`.
    pub fn create(&self, _rel: RelFile, _fork: Fork, _redo: bool) -> SmgrResult<()> {
        todo!()
    }
    /// Whether the fork has a file.
    pub fn exists(&self, _rel: RelFile, _fork: Fork) -> SmgrResult<bool> {
        todo!()
    }
    /// Removes all files of a relation and forgets their pending syncs. Missing files are no error.
    pub fn unlink(&self, _rel: RelFile) -> SmgrResult<()> {
        todo!()
    }
    /// Number of pages; cached after the first call. A missing file is an error.
    pub fn nblocks(&self, _rel: RelFile, _fork: Fork) -> SmgrResult<u32> {
        todo!()
    }
    /// Appends `count` zero pages starting at `first`, which must be the current end.
    pub fn extend(&self, _rel: RelFile, _fork: Fork, _first: BlockNo, _count: u32) -> SmgrResult<()> {
        todo!()
    }
    /// Reads a page.
    pub fn read(
        &self,
        _rel: RelFile,
        _fork: Fork,
        _block: BlockNo,
        _page: &mut [u8; PAGE_SIZE],
    ) -> SmgrResult<()> {
        todo!()
    }
    /// Writes a page that exists; the file is synced by the next checkpoint.
    pub fn write(
        &self,
        _rel: RelFile,
        _fork: Fork,
        _block: BlockNo,
        _page: &[u8; PAGE_SIZE],
    ) -> SmgrResult<()> {
        todo!()
    }
    /// Cuts the fork to `nblocks` pages.
    pub fn truncate(&self, _rel: RelFile, _fork: Fork, _nblocks: u32) -> SmgrResult<()> {
        todo!()
    }
    /// Syncs all files written, and directories changed, since the last call. An error is sticky: the server must stop.
    pub fn sync_all_pending(&self) -> SmgrResult<usize> {
        todo!()
    }
    /// Syncs one relation's files now.
    pub fn sync_relation(&self, _rel: RelFile) -> SmgrResult<()> {
        todo!()
    }
}
