//! Open files.

use std::io::{self, IoSliceMut};
use std::os::fd::RawFd;
use std::path::Path;

use super::map::Mapping;
use super::real::RealFile;
use crate::env;
use crate::sim::SimFile;

/// How to open a file. Without `create` or `create_new` it must exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// To be read.
    pub read: bool,
    /// To be written.
    pub write: bool,
    /// Make it if it does not exist.
    pub create: bool,
    /// Make it; fail if it exists.
    pub create_new: bool,
    /// Empty it.
    pub truncate: bool,
    /// Read and write around the page cache. All writes are of whole units of 4096 bytes.
    pub direct: bool,
}

impl OpenOptions {
    /// An existing file, to be read.
    pub const READ: OpenOptions = OpenOptions {
        read: true,
        write: false,
        create: false,
        create_new: false,
        truncate: false,
        direct: false,
    };
    /// An existing file, to be read and written.
    pub const READ_WRITE: OpenOptions = OpenOptions { write: true, ..OpenOptions::READ };
    /// A file to be read and written, made if it does not exist.
    pub const CREATE: OpenOptions = OpenOptions { create: true, ..OpenOptions::READ_WRITE };
    /// A file to be read and written that must not exist yet.
    pub const CREATE_NEW: OpenOptions = OpenOptions { create_new: true, ..OpenOptions::READ_WRITE };
    /// A file to be read and written, empty.
    pub const TRUNCATE: OpenOptions = OpenOptions { truncate: true, ..OpenOptions::CREATE };
}

#[derive(Debug)]
enum Inner {
    Real(RealFile),
    Sim(SimFile),
}

/// An open file. Shared by reference: all calls name their position.
#[derive(Debug)]
pub struct File(Inner);

impl File {
    /// Opens or makes a file. New files get mode 0600.
    pub fn open(path: &Path, options: OpenOptions) -> io::Result<File> {
        match env::sim() {
            Some(sim) => SimFile::open(&sim, path, options).map(|f| File(Inner::Sim(f))),
            None => RealFile::open(path, options).map(|f| File(Inner::Real(f))),
        }
    }

    /// Reads until the buffer is full or the file ends; returns how many bytes came.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(f) => f.read_at(buffer, offset),
            Inner::Sim(f) => f.read_at(buffer, offset),
        }
    }

    /// Fills the pieces one behind the other, until all are full or the file ends; returns how many bytes came.
    pub fn read_vectored_at(&self, pieces: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(f) => f.read_vectored_at(pieces, offset),
            Inner::Sim(f) => f.read_vectored_at(pieces, offset),
        }
    }

    /// As [`read_vectored_at`](Self::read_vectored_at), of what can be had without waiting for the disk.
    pub(super) fn read_vectored_cached(
        &self,
        pieces: &mut [IoSliceMut<'_>],
        offset: u64,
    ) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(f) => f.read_cached(pieces, offset),
            Inner::Sim(_) => Ok(0),
        }
    }

    /// The system's number of it; none of a simulated file.
    pub(super) fn descriptor(&self) -> Option<RawFd> {
        match &self.0 {
            Inner::Real(f) => Some(f.descriptor()),
            Inner::Sim(_) => None,
        }
    }

    /// Fills the buffer; `UnexpectedEof` when the file ends before.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.read_at(buffer, offset)? < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// The first `len` bytes as memory (not 0); the file may be shorter. A byte that is not in the page cache is read from the disk when it is looked at, and if
    /// that fails the process ends (`SIGBUS`): for what was read without error a moment ago.
    pub fn map(&self, len: usize) -> io::Result<Mapping> {
        match &self.0 {
            Inner::Real(f) => f.map(len),
            Inner::Sim(f) => {
                let mut bytes = vec![0; len];
                let got = f.read_at(&mut bytes, 0)?;
                bytes.truncate(got);
                Ok(Mapping::of_bytes(bytes))
            }
        }
    }

    /// Asks the system to read this range ahead. Never waits.
    pub fn prefetch(&self, offset: u64, len: u64) {
        if let Inner::Real(f) = &self.0 {
            f.prefetch(offset, len);
        }
    }

    /// Writes all of `data`.
    pub fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.write_vectored_at(&[data], offset)
    }

    /// Writes all pieces one behind the other.
    pub fn write_vectored_at(&self, pieces: &[&[u8]], offset: u64) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.write(pieces, offset, false),
            Inner::Sim(f) => f.write(pieces, offset),
        }
    }

    /// Writes all pieces one behind the other and makes the file's data durable, in one trip to the thread pool, or in none if the
    /// worker has nobody else to serve: for the log.
    pub fn write_and_sync_at(&self, pieces: &[&[u8]], offset: u64) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.write(pieces, offset, true),
            Inner::Sim(f) => f.write(pieces, offset).and_then(|()| f.sync()),
        }
    }

    /// Makes data and length durable (`fdatasync`).
    pub fn sync_data(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.sync(false),
            Inner::Sim(f) => f.sync(),
        }
    }

    /// Makes data, length and all metadata durable (`fsync`). Not the name: see [`super::sync_dir`].
    pub fn sync_all(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.sync(true),
            Inner::Sim(f) => f.sync(),
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> io::Result<u64> {
        match &self.0 {
            Inner::Real(f) => f.len(),
            Inner::Sim(f) => f.len(),
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Cuts the file off or fills it up with zeros.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.set_len(len),
            Inner::Sim(f) => f.set_len(len),
        }
    }

    /// Makes sure that the range has room on disk and lies within the file; new bytes are zero.
    pub fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        match &self.0 {
            Inner::Real(f) => f.allocate(offset, len),
            Inner::Sim(f) => f.allocate(offset, len),
        }
    }
}
