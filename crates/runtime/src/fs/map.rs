//! Files as memory.

use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// The beginning of a file, mapped to be read. Its bytes are the page cache's: they take no memory of ours and are not copied. Lives longer than
/// the open file.
#[derive(Debug)]
pub struct Mapping(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped {
        start: NonNull<u8>,
        len: usize,
    },
    /// The simulated disk has no page cache.
    Copied(Vec<u8>),
}

// SAFETY: memory that is only read, and unmapped by its owner alone.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes, which must not be 0, from the start of the file behind `descriptor`.
    pub(super) fn of_file(descriptor: libc::c_int, len: usize) -> io::Result<Mapping> {
        // SAFETY: a new mapping, at a place of the system's choice.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping(Bytes::Mapped { start, len }))
    }

    pub(super) fn of_bytes(bytes: Vec<u8>) -> Mapping {
        Mapping(Bytes::Copied(bytes))
    }

    /// Whether it has what is written to the file later.
    pub fn is_live(&self) -> bool {
        matches!(self.0, Bytes::Mapped { .. })
    }

    /// Some of the bytes; none if the range goes beyond what was mapped.
    ///
    /// # Safety
    /// The range lies in the file, which nobody shortens, and nobody writes to it while the bytes are borrowed.
    pub unsafe fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        match &self.0 {
            Bytes::Mapped { start, len } => {
                let inside = range.start <= range.end && range.end <= *len;
                // SAFETY: inside of the mapping, which lives as long as `self`; the rest is the caller's.
                inside.then(|| unsafe {
                    std::slice::from_raw_parts(start.add(range.start).as_ptr(), range.len())
                })
            }
            Bytes::Copied(bytes) => bytes.get(range),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Bytes::Mapped { start, len } = self.0 {
            // SAFETY: a mapping of this length that nobody borrows any more. It cannot fail for a whole mapping.
            unsafe { libc::munmap(start.as_ptr().cast(), len) };
        }
    }
}
