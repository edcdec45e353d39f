//! Files read and written around the page cache (`O_DIRECT`): memory, places and lengths are multiples of a unit. Who brings others has
//! them copied.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io::{self, IoSliceMut};
use std::ptr::NonNull;

/// A unit that all file systems are content with.
pub(super) const UNIT: usize = 4096;

/// Whether these pieces may be read or written as they are.
pub(super) fn fits<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, offset: u64) -> bool {
    let in_units = |n: usize| n.is_multiple_of(UNIT);
    in_units(offset as usize)
        && pieces.into_iter().all(|piece| in_units(piece.as_ptr().addr()) && in_units(piece.len()))
}

/// Bytes in whole units.
struct Units {
    at: NonNull<u8>,
    layout: Layout,
}

impl Units {
    /// Zeros, `len` at least.
    fn new(len: usize) -> Units {
        let size = len.next_multiple_of(UNIT).max(UNIT);
        let layout = Layout::from_size_align(size, UNIT).expect("no more than the caller has in memory");
        // SAFETY: the size is not zero.
        let at = unsafe { alloc_zeroed(layout) };
        Units { at: NonNull::new(at).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this size, and ours.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Units {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}

/// Reads by way of a copy: `read` fills units from a place that is one.
pub(super) fn read_copied(
    pieces: &mut [IoSliceMut<'_>],
    offset: u64,
    read: impl FnOnce(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let before = offset as usize % UNIT;
    let wanted: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut units = Units::new(before + wanted);
    let got = read(units.bytes(), offset - before as u64)?.saturating_sub(before).min(wanted);
    let mut from = &units.bytes()[before..before + got];
    for piece in pieces {
        let (here, rest) = from.split_at(piece.len().min(from.len()));
        piece[..here.len()].copy_from_slice(here);
        from = rest;
    }
    Ok(got)
}

/// Writes by way of a copy. All of it has to be whole units.
pub(super) fn write_copied(pieces: &[&[u8]], write: impl FnOnce(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut units = Units::new(pieces.iter().map(|piece| piece.len()).sum());
    let mut at = 0;
    for piece in pieces {
        units.bytes()[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
    }
    write(&units.bytes()[..at])
}
