//! Files of the operating system.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::descriptors::with_descriptor;
use super::file::OpenOptions;
use super::map::Mapping;
use crate::env::{self, Kind};
use crate::pool::{blocking, short};

#[derive(Debug)]
pub(super) struct RealFile {
    file: fs::File,
    /// The file system does not support reads that never block.
    no_nowait: AtomicBool,
}

/// Most pieces that one `pwritev` takes here.
const MAX_PIECES: usize = 64;

impl RealFile {
    pub(super) fn open(path: &Path, options: OpenOptions) -> io::Result<RealFile> {
        let open = || {
            fs::OpenOptions::new()
                .read(options.read)
                .write(options.write)
                .create(options.create)
                .create_new(options.create_new)
                .truncate(options.truncate)
                .mode(super::dir::file_mode())
                .open(path)
        };
        let file = with_descriptor(|| blocking(open))?;
        Ok(RealFile { file, no_nowait: AtomicBool::new(false) })
    }

    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        // Relaxed: a hint.
        if matches!(env::kind(), Kind::Worker(_)) && !self.no_nowait.load(Ordering::Relaxed) {
            done = self.read_cached(buffer, offset)?;
            if done == buffer.len() {
                return Ok(done);
            }
        }
        let rest = &mut buffer[done..];
        let more = blocking(|| read_all(&self.file, rest, offset + done as u64))?;
        Ok(done + more)
    }

    /// Reads what is in the page cache, without waiting for the disk.
    fn read_cached(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: `piece` describes `buffer`, which is borrowed mutably for the call.
        let n = unsafe {
            libc::preadv2(self.file.as_raw_fd(), &piece, 1, offset as libc::off_t, libc::RWF_NOWAIT)
        };
        if let Ok(n) = usize::try_from(n) {
            return Ok(n);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(0),
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => {
                // Relaxed: a hint.
                self.no_nowait.store(true, Ordering::Relaxed);
                Ok(0)
            }
            _ => Err(error),
        }
    }

    pub(super) fn map(&self, len: usize) -> io::Result<Mapping> {
        Mapping::of_file(self.file.as_raw_fd(), len)
    }

    pub(super) fn prefetch(&self, offset: u64, len: u64) {
        // SAFETY: plain system call on an open descriptor. Its result does not matter: it is advice.
        unsafe {
            libc::posix_fadvise(
                self.file.as_raw_fd(),
                offset as libc::off_t,
                len as libc::off_t,
                libc::POSIX_FADV_WILLNEED,
            );
        }
    }

    pub(super) fn write(&self, pieces: &[&[u8]], offset: u64, sync: bool) -> io::Result<()> {
        let write = || write_all(&self.file, pieces, offset);
        match sync {
            false => blocking(write),
            true => short(|| write().and_then(|()| self.file.sync_data().map_err(of_sync))),
        }
    }

    pub(super) fn sync(&self, metadata: bool) -> io::Result<()> {
        blocking(|| if metadata { self.file.sync_all() } else { self.file.sync_data() }).map_err(of_sync)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        // The inode of an open file is in memory, so the call need not go through the thread pool.
        self.file.metadata().map(|m| m.len())
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        blocking(|| self.file.set_len(len))
    }

    pub(super) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        blocking(|| {
            // SAFETY: plain system call on an open descriptor.
            let rc = unsafe {
                libc::posix_fallocate(self.file.as_raw_fd(), offset as libc::off_t, len as libc::off_t)
            };
            if rc == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(rc)) }
        })
    }
}

/// An error of a sync has no kind, whatever it is: bytes may be lost, so it must never be taken for a full disk that one waits for.
pub(super) fn of_sync(error: io::Error) -> io::Error {
    io::Error::other(error)
}

fn read_all(file: &fs::File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn write_all(file: &fs::File, pieces: &[&[u8]], mut offset: u64) -> io::Result<()> {
    for pieces in pieces.chunks(MAX_PIECES) {
        let total: usize = pieces.iter().map(|p| p.len()).sum();
        let written = if pieces.len() == 1 { 0 } else { write_pieces(file, pieces, offset)? };
        // A short write is rare: finish piece by piece.
        let mut skip = written;
        let mut at = offset;
        for piece in pieces {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            if skipped < piece.len() {
                file.write_all_at(&piece[skipped..], at + skipped as u64)?;
            }
            at += piece.len() as u64;
        }
        offset += total as u64;
    }
    Ok(())
}

/// One `pwritev`; returns how many bytes it wrote.
fn write_pieces(file: &fs::File, pieces: &[&[u8]], offset: u64) -> io::Result<usize> {
    let mut vector = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MAX_PIECES];
    for (slot, piece) in vector.iter_mut().zip(pieces) {
        *slot = libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
    }
    // SAFETY: the vector describes `pieces`, which are borrowed for the call and only read.
    let n = unsafe {
        libc::pwritev(file.as_raw_fd(), vector.as_ptr(), pieces.len() as libc::c_int, offset as libc::off_t)
    };
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
