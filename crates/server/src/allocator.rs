//! The allocator of the process: mimalloc, asked in the way that is short for it.
//!
//! # Why not the `mimalloc` crate's own
//! That one asks for every block with its alignment. mimalloc then has a short way only for sizes that are powers of two: for most others the
//! list of the size's own blocks is nearly always empty, and a larger block of another list is cut to measure, in six times the instructions.
//! What every block of mimalloc has anyway is not asked for here.
//!
//! # Huge blocks
//! Those from 32 MiB on are mappings of their own (`huge`), so that a vector of hundreds of megabytes grows without a stop.
//! All others lie on small pages (`pages`). What was freed goes back to the system on a thread beside ([`purge`]).
//!
//! # What is counted
//! Every block, by the size that was asked for: `runtime::memory` charges it to whoever runs. The limit that is kept there is the only defence: when
//! the system itself has no memory left, Rust knows no way on from here, and the process ends ("memory allocation of N bytes failed"), to
//! recover at its next start.

mod huge;
mod pages;
pub mod purge;

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;
use runtime::memory;

/// Alignment that every block of at least as many bytes has.
const NATURAL: usize = 16;

/// mimalloc.
pub struct Allocator;

/// Whether a block of `size` bytes has this alignment without being asked for it.
#[inline]
fn is_natural(size: usize, align: usize) -> bool {
    align <= NATURAL && align <= size
}

/// A block that is not counted yet.
///
/// # Safety
/// As [`GlobalAlloc::alloc`].
#[inline]
unsafe fn take(layout: Layout) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    if huge::is_huge(size, align) {
        return huge::map(size);
    }
    // SAFETY: any size will do, and the alignment is a power of two.
    let block = unsafe {
        if is_natural(size, align) { mi::mi_malloc(size) } else { mi::mi_malloc_aligned(size, align) }
    };
    block.cast()
}

/// Frees a block that is no longer counted.
///
/// # Safety
/// As [`GlobalAlloc::dealloc`].
#[inline]
unsafe fn give_back(block: *mut u8, layout: Layout) {
    // SAFETY: the caller's: a block of this allocator, of this layout, which says which kind it is. All of mimalloc's functions give
    // blocks that are freed alike.
    unsafe {
        if huge::is_huge(layout.size(), layout.align()) {
            huge::unmap(block, layout.size());
        } else {
            mi::mi_free(block.cast());
        }
    }
}

// SAFETY: mimalloc's functions and those of `huge` allocate, resize and free as `GlobalAlloc` demands: they do not unwind (nor does
// counting, which does not allocate either), give null when memory is out, and a block has at least the size asked for. Its
// alignment is asked for, or natural: mimalloc's blocks are aligned to 16 bytes, those of less than 16 to 8, which is the only
// smaller size of blocks; mappings are aligned to pages.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        memory::allocated(layout.size());
        // SAFETY: the caller's.
        unsafe { take(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        memory::allocated(size);
        if huge::is_huge(size, align) {
            return huge::map(size);
        }
        // SAFETY: as in `take`.
        let block = unsafe {
            if is_natural(size, align) { mi::mi_zalloc(size) } else { mi::mi_zalloc_aligned(size, align) }
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        memory::freed(layout.size());
        // SAFETY: the caller's.
        unsafe { give_back(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        memory::freed(layout.size());
        memory::allocated(size);
        // SAFETY: the caller's: a block of this allocator, of this layout; the new size, rounded up to the alignment, is a valid one.
        unsafe {
            match (huge::is_huge(layout.size(), align), huge::is_huge(size, align)) {
                (true, true) => huge::remap(block, layout.size(), size),
                (false, false) if is_natural(size, align) => mi::mi_realloc(block.cast(), size).cast(),
                (false, false) => mi::mi_realloc_aligned(block.cast(), size, align).cast(),
                _ => {
                    let new = Layout::from_size_align_unchecked(size, align);
                    huge::replace(block, layout, new, take, give_back)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of all small sizes and alignments, kept together so that no list is empty by chance.
    #[test]
    fn blocks_are_aligned_and_keep_their_bytes() {
        for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
            let mut blocks = Vec::new();
            for size in (1..200).chain([1000, 1024, 1500, 5000, 70_000]) {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout is not empty; what is written and read lies in the block.
                unsafe {
                    let (filled, zeroed) = (Allocator.alloc(layout), Allocator.alloc_zeroed(layout));
                    filled.write_bytes(7, size);
                    assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0));
                    blocks.push((filled, layout));
                    blocks.push((zeroed, layout));
                }
            }
            for (block, layout) in blocks {
                assert!(block.addr().is_multiple_of(align), "{layout:?}");
                let larger = Layout::from_size_align(layout.size() + 100, align).unwrap();
                // SAFETY: a block of this layout, freed once, by the layout that it has then.
                unsafe {
                    let first = *block;
                    let moved = Allocator.realloc(block, layout, larger.size());
                    assert!(moved.addr().is_multiple_of(align), "{larger:?}");
                    assert_eq!((*moved, *moved.add(layout.size() - 1)), (first, first));
                    Allocator.dealloc(moved, larger);
                }
            }
        }
    }

    /// Through all sizes about the border, up and down.
    #[test]
    fn huge_blocks_keep_their_bytes_when_they_grow_and_shrink() {
        let sizes =
            [1 << 20, 40 << 20, (40 << 20) + 1, 300 << 20, 33 << 20, 32 << 20, (32 << 20) - 1, 5, 64 << 20];
        for align in [1, 8, 4096, 8192] {
            let layout = |size| Layout::from_size_align(size, align).unwrap();
            let mut size = 100;
            // SAFETY: what is written and read lies in the block, which is freed once, by the layout that it has then.
            unsafe {
                let mut block = Allocator.alloc(layout(size));
                block.write_bytes(7, size);
                for next in sizes {
                    block = Allocator.realloc(block, layout(size), next);
                    assert!(block.addr().is_multiple_of(align));
                    let kept = size.min(next);
                    assert_eq!(
                        (*block, *block.add(kept / 2), *block.add(kept - 1)),
                        (7, 7, 7),
                        "{size} to {next}"
                    );
                    if next > size {
                        block.add(size).write_bytes(7, next - size);
                    }
                    size = next;
                }
                Allocator.dealloc(block, layout(size));
                let zeroed = Allocator.alloc_zeroed(layout(40 << 20));
                assert!(
                    std::slice::from_raw_parts(zeroed, 40 << 20).iter().step_by(4096).all(|byte| *byte == 0)
                );
                Allocator.dealloc(zeroed, layout(40 << 20));
            }
        }
    }
}
