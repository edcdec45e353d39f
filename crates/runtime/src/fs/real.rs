//! Files of the operating system.

use std::fs;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::descriptors::with_descriptor;
use super::direct;
use super::file::OpenOptions;
use super::map::Mapping;
use crate::env::{self, Kind};
use crate::pool::{blocking, short};

#[derive(Debug)]
pub(super) struct RealFile {
    file: fs::File,
    /// The file system does not support reads that never block.
    no_nowait: AtomicBool,
    /// Opened to be read and written around the page cache.
    direct: bool,
}

/// Most pieces that one call takes here.
const MAX_PIECES: usize = 128;

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
                .custom_flags(if options.direct { libc::O_DIRECT } else { 0 })
                .open(path)
        };
        let file = with_descriptor(|| blocking(open))?;
        // Past the page cache nothing can be had at once.
        Ok(RealFile { file, no_nowait: AtomicBool::new(options.direct), direct: options.direct })
    }

    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_vectored_at(&mut [IoSliceMut::new(buffer)], offset)
    }

    pub(super) fn read_vectored_at(
        &self,
        pieces: &mut [IoSliceMut<'_>],
        mut offset: u64,
    ) -> io::Result<usize> {
        if self.direct && !direct::fits(pieces.iter().map(|piece| &**piece), offset) {
            return direct::read_copied(pieces, offset, |units, at| {
                blocking(|| read_all((&self.file, true), &mut [IoSliceMut::new(units)], at))
            });
        }
        let mut done = 0;
        let mut rest = pieces;
        if matches!(env::kind(), Kind::Worker(_)) {
            done = self.read_cached(rest, offset)?;
            offset += done as u64;
            IoSliceMut::advance_slices(&mut rest, done);
            if rest.is_empty() {
                return Ok(done);
            }
        }
        let more = blocking(|| read_all((&self.file, self.direct), rest, offset))?;
        Ok(done + more)
    }

    /// Reads what is in the page cache, without waiting for the disk.
    pub(super) fn read_cached(&self, pieces: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        // Relaxed: a hint.
        if self.no_nowait.load(Ordering::Relaxed) {
            return Ok(0);
        }
        match read_pieces(&self.file, pieces, offset, libc::RWF_NOWAIT) {
            Ok(n) => Ok(n),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => Ok(0),
                Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => {
                    // Relaxed: a hint.
                    self.no_nowait.store(true, Ordering::Relaxed);
                    Ok(0)
                }
                _ => Err(error),
            },
        }
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    pub(super) fn map(&self, len: usize) -> io::Result<Mapping> {
        Mapping::of_file(self.file.as_raw_fd(), len)
    }

    pub(super) fn prefetch(&self, offset: u64, len: u64) {
        if self.direct {
            return;
        }
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
        let write = || match self.direct && !direct::fits(pieces.iter().copied(), offset) {
            true => direct::write_copied(pieces, |units| write_all(&self.file, &[units], offset)),
            false => write_all(&self.file, pieces, offset),
        };
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

fn read_all(
    (file, direct): (&fs::File, bool),
    pieces: &mut [IoSliceMut<'_>],
    offset: u64,
) -> io::Result<usize> {
    let mut done = 0;
    let mut rest = pieces;
    while !rest.is_empty() {
        match read_pieces(file, rest, offset + done as u64, 0) {
            Ok(0) => break,
            Ok(n) => {
                done += n;
                IoSliceMut::advance_slices(&mut rest, n);
                if direct && !n.is_multiple_of(direct::UNIT) {
                    // The file ends here, and around the page cache there is no reading on from such a place.
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// One `preadv2` of no more than [`MAX_PIECES`].
fn read_pieces(
    file: &fs::File,
    pieces: &mut [IoSliceMut<'_>],
    offset: u64,
    flags: libc::c_int,
) -> io::Result<usize> {
    let count = pieces.len().min(MAX_PIECES) as libc::c_int;
    // SAFETY: `IoSliceMut` has the layout of `iovec`; the pieces are borrowed mutably for the call.
    let n = unsafe {
        libc::preadv2(file.as_raw_fd(), pieces.as_mut_ptr().cast(), count, offset as libc::off_t, flags)
    };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
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
