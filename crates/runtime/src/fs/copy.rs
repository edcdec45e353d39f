//! Copies whole files, for programs that run without fibers.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// How a file is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// Byte by byte.
    Copy,
    /// Both files share their blocks on the disk until one is changed.
    Clone,
    /// By `copy_file_range`.
    CopyRange,
    /// It gets another name.
    Link,
}

/// Copies a file to a name that is new, with its permissions.
pub fn copy_file(from: &Path, to: &Path, how: CopyMethod) -> io::Result<()> {
    match how {
        CopyMethod::Copy => fs::copy(from, to).map(drop),
        CopyMethod::Link => fs::hard_link(from, to),
        CopyMethod::Clone | CopyMethod::CopyRange => {
            let source = fs::File::open(from)?;
            let target = fs::File::create_new(to)?;
            target.set_permissions(source.metadata()?.permissions())?;
            if how == CopyMethod::Clone { clone(&source, &target) } else { copy_range(&source, &target) }
        }
    }
}

fn clone(source: &fs::File, target: &fs::File) -> io::Result<()> {
    // SAFETY: both descriptors are open, and the call takes nothing else.
    match unsafe { libc::ioctl(target.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn copy_range(source: &fs::File, target: &fs::File) -> io::Result<()> {
    loop {
        let (from, to, none) = (source.as_raw_fd(), target.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: both descriptors are open; without offsets the call uses and moves on the files' own positions.
        match unsafe { libc::copy_file_range(from, none, to, none, 1 << 30, 0) } {
            -1 => return Err(io::Error::last_os_error()),
            0 => return Ok(()),
            _ => {}
        }
    }
}
