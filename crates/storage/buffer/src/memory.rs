//! The bytes of the pool.

use std::ptr::NonNull;

use base::PAGE_SIZE;
use page::PageBytes;

/// One anonymous mapping: pages cost memory only once they are used.
pub(crate) struct PageMemory {
    base: NonNull<PageBytes>,
    pages: usize,
}

// SAFETY: a plain range of memory; who may touch which page when is the frames' business.
unsafe impl Send for PageMemory {}
// SAFETY: as above.
unsafe impl Sync for PageMemory {}

impl PageMemory {
    /// # Panics
    /// When the system has no room for the pool.
    pub fn new(pages: usize) -> PageMemory {
        // SAFETY: a fresh private mapping, of non-zero length.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                pages * PAGE_SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(base != libc::MAP_FAILED, "no memory for {pages} shared buffers");
        let base = NonNull::new(base.cast()).expect("a mapping is not at zero");
        PageMemory { base, pages }
    }

    /// The page of a frame: 4096-aligned, valid as long as this lives.
    pub fn page(&self, index: u32) -> *mut PageBytes {
        debug_assert!((index as usize) < self.pages);
        // SAFETY: within the mapping.
        unsafe { self.base.as_ptr().add(index as usize) }
    }
}

impl Drop for PageMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`; nobody has a pin any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.pages * PAGE_SIZE) };
    }
}
