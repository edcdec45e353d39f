//! Hints to the processor's cache.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Has the processor fetch the line of an address. A hint: nothing is read, and any address will do.
#[inline]
pub fn prefetch_line<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Has the processor fetch all of a value, that is soon to be looked at. A hint, as above.
#[inline]
pub fn prefetch<T>(value: *const T) {
    prefetch_bytes(value, size_of::<T>());
}

/// Has the processor fetch the first bytes of a value. A hint, as above.
#[inline]
pub fn prefetch_bytes<T>(value: *const T, bytes: usize) {
    let start = value.cast::<u8>();
    for offset in (0..bytes).step_by(LINE) {
        prefetch_line(start.wrapping_add(offset));
    }
}
