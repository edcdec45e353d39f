//! Huge blocks, each a mapping of its own: growing one moves its pages in the page table and copies no byte.
//!
//! A vector of hundreds of megabytes that doubles would copy them in one go, for a third of a second in which nobody else runs on
//! the worker. Such blocks are rare, so that a system call for each costs nothing that counts. Huge pages are asked for: there
//! are fewer to move and to give back.

use std::alloc::Layout;
use std::ptr;

/// Blocks from this size on. Copying less takes a few milliseconds.
const HUGE: usize = 32 << 20;
/// Alignment that every mapping has.
const PAGE: usize = 4096;

/// Whether such a block has a mapping of its own.
#[inline]
pub(super) fn is_huge(size: usize, align: usize) -> bool {
    size >= HUGE && align <= PAGE
}

/// A block of zeros; null if there is no memory.
pub(super) fn map(size: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping, at a place of the system's choice; the advice is about that mapping, and its failure does not matter.
    unsafe {
        let block = libc::mmap(ptr::null_mut(), size, access, kind, -1, 0);
        if block == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        libc::madvise(block, size, libc::MADV_HUGEPAGE);
        block.cast()
    }
}

/// Gives a block back.
///
/// # Safety
/// It is one of [`map`] or [`remap`], of this size, and nobody uses it any more.
pub(super) unsafe fn unmap(block: *mut u8, size: usize) {
    // SAFETY: the caller's. It cannot fail for a whole mapping, and if it did, only memory would be lost.
    unsafe { libc::munmap(block.cast(), size) };
}

/// Changes the size of a huge block, which stays huge; null, and the block as it was, if there is no memory.
///
/// # Safety
/// As [`unmap`]; the block may be elsewhere afterwards.
pub(super) unsafe fn remap(block: *mut u8, old: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's.
    let moved = unsafe { libc::mremap(block.cast(), old, new, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED { ptr::null_mut() } else { moved.cast() }
}

/// Moves a block over the border between huge ones and others, with its bytes; null, and the block as it was, if there is no memory.
///
/// # Safety
/// `block` has this layout and is not used afterwards unless null came back; `alloc` and `dealloc` are those of one allocator.
#[cold]
pub(super) unsafe fn replace(
    block: *mut u8,
    old: Layout,
    new: Layout,
    alloc: unsafe fn(Layout) -> *mut u8,
    dealloc: unsafe fn(*mut u8, Layout),
) -> *mut u8 {
    // SAFETY: the caller's; two blocks do not overlap, and both have the bytes that are copied.
    unsafe {
        let moved = alloc(new);
        if !moved.is_null() {
            ptr::copy_nonoverlapping(block, moved, old.size().min(new.size()));
            dealloc(block, old);
        }
        moved
    }
}
