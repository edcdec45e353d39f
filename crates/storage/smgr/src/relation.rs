//! A fork's entry: its length and open files. Errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{fmt, io};

use base::BlockNo;
use parking_lot::Mutex;
use runtime::fs::File;

/// A file could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmgrError {
    /// The operating system failed.
    Io {
        /// Its condition (`StorageFull` is SQLSTATE 53100).
        kind: io::ErrorKind,
        /// Nothing happened, and it may succeed later: no room, no descriptor.
        transient: bool,
        /// `could not read block 1 in file "base/5/16384": Input/output error`.
        message: String,
    },
    /// A file of the relation is not there.
    MissingFile {
        /// Path below the data directory.
        path: String,
    },
    /// The relation has fewer pages.
    PastEnd {
        /// Path below the data directory.
        path: String,
        /// The block that was asked for.
        block: BlockNo,
        /// Number of blocks there are.
        nblocks: u32,
    },
    /// The files have fewer pages than the last checkpoint left, or none: damaged.
    Cut {
        /// Path below the data directory.
        path: String,
        /// Number of blocks there are.
        nblocks: u32,
        /// How many there must be.
        expected: u32,
    },
    /// The file is shorter than the relation: damaged.
    ShortRead {
        /// Path below the data directory.
        path: String,
        /// The block that was asked for.
        block: BlockNo,
        /// How much of it there is.
        bytes: usize,
    },
}

/// Result of file operations.
pub type SmgrResult<T> = Result<T, SmgrError>;

impl SmgrError {
    pub(crate) fn io(what: &str, path: &str, error: &io::Error) -> SmgrError {
        SmgrError::Io {
            kind: error.kind(),
            transient: base::os::is_transient(error),
            message: format!("could not {what} \"{path}\": {}", base::os_error(error)),
        }
    }

    /// Whether nothing happened and the same may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, SmgrError::Io { transient: true, .. })
    }

    pub(crate) fn open(path: &str, error: &io::Error) -> SmgrError {
        if error.kind() == io::ErrorKind::NotFound {
            SmgrError::MissingFile { path: path.into() }
        } else {
            SmgrError::io("open file", path, error)
        }
    }
}

impl fmt::Display for SmgrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SmgrError::Io { message, .. } => f.write_str(message),
            SmgrError::MissingFile { path } => {
                write!(f, "could not open file \"{path}\": No such file or directory")
            }
            SmgrError::PastEnd { path, block, nblocks } => {
                write!(f, "could not access block {block} in file \"{path}\": the file has {nblocks} blocks")
            }
            SmgrError::Cut { path, nblocks, expected } => {
                write!(f, "could not read block {nblocks} in file \"{path}\": ")?;
                match *expected == crate::DAMAGED {
                    true => f.write_str("blocks were found to be missing"),
                    false => write!(f, "the file has {nblocks} of {expected} blocks"),
                }
            }
            SmgrError::ShortRead { path, block, bytes } => {
                write!(f, "could not read block {block} in file \"{path}\": read only {bytes} of 8192 bytes")
            }
        }
    }
}

impl std::error::Error for SmgrError {}

const UNKNOWN: u32 = u32::MAX;

/// What is known of a fork. Stays in the map until the relation is removed.
pub struct ForkState {
    nblocks: AtomicU32,
    /// Pages that the files have room for; written only under `extension` (and once when learnt).
    physical: AtomicU32,
    used: AtomicBool,
    /// [`SmgrError::Cut`].
    cut: AtomicBool,
    files: Mutex<Vec<Option<Arc<File>>>>,
    extension: runtime::Mutex<()>,
    /// Held by who finds out how long the files are.
    learning: runtime::Mutex<()>,
}

impl Default for ForkState {
    fn default() -> Self {
        ForkState {
            nblocks: AtomicU32::new(UNKNOWN),
            physical: AtomicU32::new(0),
            used: AtomicBool::new(true),
            cut: AtomicBool::new(false),
            files: Mutex::new(Vec::new()),
            extension: runtime::Mutex::new(runtime::WaitEvent::DataFileExtend, ()),
            learning: runtime::Mutex::new(runtime::WaitEvent::DataFileExtend, ()),
        }
    }
}

impl ForkState {
    /// Taken by whoever adds pages to the fork or cuts it; held over I/O.
    pub fn lock_extension(&self) -> runtime::MutexGuard<'_, ()> {
        self.extension.lock()
    }

    pub(crate) fn lock_learning(&self) -> runtime::MutexGuard<'_, ()> {
        self.learning.lock()
    }

    pub(crate) fn nblocks(&self) -> Option<u32> {
        // Acquire: pairs with the Release of `set_nblocks`; who sees a page counted may read it.
        let nblocks = self.nblocks.load(Ordering::Acquire);
        (nblocks != UNKNOWN).then_some(nblocks)
    }

    /// Takes the number read from the files. The caller holds `learning`, and nobody did so before.
    pub(crate) fn learn_nblocks(&self, read: u32) {
        self.physical.store(read, Ordering::Relaxed);
        self.nblocks.store(read, Ordering::Release);
    }

    pub(crate) fn set_nblocks(&self, nblocks: u32) {
        self.nblocks.store(nblocks, Ordering::Release);
    }

    pub(crate) fn is_cut(&self) -> bool {
        // Relaxed: set while nobody but recovery reads, or before `nblocks` becomes known.
        self.cut.load(Ordering::Relaxed)
    }

    pub(crate) fn set_cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }

    pub(crate) fn physical(&self) -> u32 {
        // Relaxed: ordered by `extension`.
        self.physical.load(Ordering::Relaxed)
    }

    pub(crate) fn set_physical(&self, pages: u32) {
        self.physical.store(pages, Ordering::Relaxed);
    }

    pub(crate) fn file(&self, segment: u32) -> Option<Arc<File>> {
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        self.files.lock().get(segment as usize)?.clone()
    }

    /// Keeps an opened file; if somebody else was quicker, theirs is used. True if this one was added.
    pub(crate) fn keep_file(&self, segment: u32, file: Arc<File>) -> (Arc<File>, bool) {
        let mut files = self.files.lock();
        if files.len() <= segment as usize {
            files.resize(segment as usize + 1, None);
        }
        match &files[segment as usize] {
            Some(first) => (first.clone(), false),
            None => {
                files[segment as usize] = Some(file.clone());
                (file, true)
            }
        }
    }

    /// Closes all files, returns how many.
    pub(crate) fn close(&self) -> usize {
        let files = std::mem::take(&mut *self.files.lock());
        files.iter().filter(|file| file.is_some()).count()
    }

    /// Closes all files if the fork was not used since the last call.
    pub(crate) fn close_if_unused(&self) -> usize {
        if self.used.swap(false, Ordering::Relaxed) { 0 } else { self.close() }
    }
}
