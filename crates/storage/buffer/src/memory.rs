//! The memory of the pool: pages, descriptors, buckets.
//!
//! Point queries touch all three at random. With the processor's small pages nearly every touch would miss the TLB, so the kernel is advised to use
//! huge ones. Only advice: a kernel without them serves as well.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use base::PAGE_SIZE;
use page::PageBytes;

/// One anonymous mapping: zero, and it costs memory only where it is touched.
struct Region {
    base: NonNull<u8>,
    len: usize,
}

impl Region {
    /// # Panics
    /// When the system has no room for it.
    fn new(len: usize) -> Region {
        let len = len.max(1);
        // SAFETY: a fresh private mapping, of non-zero length.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(base != libc::MAP_FAILED, "no memory for {len} bytes of shared buffers");
        // SAFETY: the mapping just made; the answer does not matter.
        unsafe { libc::madvise(base, len, libc::MADV_HUGEPAGE) };
        runtime::memory::mapped(len as isize);
        Region { base: NonNull::new(base.cast()).expect("a mapping is not at zero"), len }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`; its owner is gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
        runtime::memory::mapped(-(self.len as isize));
    }
}

/// The bytes of the pages.
pub(crate) struct PageMemory {
    region: Region,
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
        PageMemory { region: Region::new(pages * PAGE_SIZE), pages }
    }

    /// The page of a frame: 4096-aligned, valid as long as this lives.
    pub fn page(&self, index: u32) -> *mut PageBytes {
        debug_assert!((index as usize) < self.pages);
        // SAFETY: within the mapping.
        unsafe { self.region.base.cast::<PageBytes>().as_ptr().add(index as usize) }
    }

    /// Has the processor fetch what every reader of a page looks at first: its header, and the end of the page, where the special area is.
    #[inline]
    pub fn touch(&self, index: u32) {
        let page = self.page(index).cast::<u8>();
        base::prefetch_line(page);
        base::prefetch_line(page.wrapping_add(PAGE_SIZE - 64));
    }
}

/// A slice of fixed length in huge pages.
pub(crate) struct Table<T> {
    region: Region,
    len: usize,
    _owns: PhantomData<T>,
}

// SAFETY: owns its elements like a boxed slice.
unsafe impl<T: Send> Send for Table<T> {}
// SAFETY: gives out shared references only.
unsafe impl<T: Sync> Sync for Table<T> {}

impl<T> Table<T> {
    /// `len` elements made by `make`.
    ///
    /// # Panics
    /// When the system has no room for it.
    pub fn new(len: usize, make: impl Fn() -> T) -> Table<T> {
        const { assert!(align_of::<T>() <= 4096) };
        let region = Region::new(len * size_of::<T>());
        for i in 0..len {
            // SAFETY: within the mapping, which is aligned to 4096; nothing was there.
            unsafe { region.base.cast::<T>().as_ptr().add(i).write(make()) };
        }
        Table { region, len, _owns: PhantomData }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: `new` wrote `len` elements, dropped here once; the memory goes after them.
        unsafe {
            std::ptr::drop_in_place(std::ptr::slice_from_raw_parts_mut(
                self.region.base.cast::<T>().as_ptr(),
                self.len,
            ));
        }
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` wrote `len` elements.
        unsafe { std::slice::from_raw_parts(self.region.base.cast::<T>().as_ptr(), self.len) }
    }
}
