//! The allocator of the process: mimalloc, asked in the way that is short for it.
//!
//! # Why not the `mimalloc` crate's own
//! That one asks for every block with its alignment. mimalloc then has a short way only for sizes that are powers of two: for most others the
//! list of the size's own blocks is nearly always empty, and a larger block of another list is cut to measure, in six times the instructions.
//! What every block of mimalloc has anyway is not asked for here.
//!
//! # What is counted
//! Every block, by the size that was asked for: `runtime::memory` charges it to whoever runs. The limit that is kept there is the only defence: when
//! the system itself has no memory left, Rust knows no way on from here, and the process ends ("memory allocation of N bytes failed"), to
//! recover at its next start.

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

// SAFETY: mimalloc's functions allocate, resize and free as `GlobalAlloc` demands: they do not unwind (nor does counting, which does not
// allocate either), give null when memory is out, and a
// block has at least the size asked for. Its alignment is asked for, or natural: blocks are aligned to 16 bytes, those of less than 16 to 8,
// which is the only smaller size of blocks.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        memory::allocated(size);
        // SAFETY: any size will do, and the alignment is a power of two.
        let block = unsafe {
            if is_natural(size, align) { mi::mi_malloc(size) } else { mi::mi_malloc_aligned(size, align) }
        };
        block.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        memory::allocated(size);
        // SAFETY: as in `alloc`.
        let block = unsafe {
            if is_natural(size, align) { mi::mi_zalloc(size) } else { mi::mi_zalloc_aligned(size, align) }
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        memory::freed(layout.size());
        // SAFETY: the caller's: a block of this allocator. All of its functions give blocks that are freed alike.
        unsafe { mi::mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        memory::freed(layout.size());
        memory::allocated(size);
        // SAFETY: as in `dealloc` and `alloc`.
        let block = unsafe {
            if is_natural(size, align) {
                mi::mi_realloc(block.cast(), size)
            } else {
                mi::mi_realloc_aligned(block.cast(), size, align)
            }
        };
        block.cast()
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
}
