//! The ring buffer that records wait in until they are written.

use std::cell::UnsafeCell;

/// Bytes of the log by position modulo size.
///
/// Who may touch which bytes follows from reservation: a range that was reserved and not yet completed belongs to its
/// inserter; a range that is completed and not yet written is read only; every other range belongs to nobody.
pub(crate) struct Ring {
    bytes: Box<[UnsafeCell<u8>]>,
}

// SAFETY: accesses to the cells are disjoint or read-only by the rule above, which the callers of the two unsafe
// functions uphold.
unsafe impl Sync for Ring {}
// SAFETY: plain bytes.
unsafe impl Send for Ring {}

impl Ring {
    pub fn new(size: usize) -> Ring {
        assert!(size.is_power_of_two(), "ring of {size} bytes");
        let bytes: Box<[u8]> = vec![0; size].into_boxed_slice();
        // SAFETY: UnsafeCell<u8> has the layout of u8.
        let bytes = unsafe { Box::from_raw(Box::into_raw(bytes) as *mut [UnsafeCell<u8>]) };
        Ring { bytes }
    }

    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Copies bytes to `position` on, round the end if need be.
    ///
    /// # Safety
    /// The caller has reserved the range, it is not completed, and nothing before `position + bytes.len() - size` waits to be written.
    pub unsafe fn write(&self, position: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.size());
        let at = position as usize & (self.size() - 1);
        let first = bytes.len().min(self.size() - at);
        let base = self.bytes.as_ptr() as *mut u8;
        // SAFETY: both ranges lie in the buffer; nobody else touches them (the caller's promise); interior mutability
        // is UnsafeCell's.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.add(at), first);
            std::ptr::copy_nonoverlapping(bytes.as_ptr().add(first), base, bytes.len() - first);
        }
    }

    /// The bytes of `from..to` in one or two pieces.
    ///
    /// # Safety
    /// The range is completed and is not marked written while the slices live.
    pub unsafe fn read(&self, from: u64, to: u64) -> [&[u8]; 2] {
        let length = (to - from) as usize;
        debug_assert!(length <= self.size());
        let at = from as usize & (self.size() - 1);
        let first = length.min(self.size() - at);
        let base = self.bytes.as_ptr() as *const u8;
        // SAFETY: both ranges lie in the buffer, and nobody writes to them (the caller's promise).
        unsafe {
            [
                std::slice::from_raw_parts(base.add(at), first),
                std::slice::from_raw_parts(base, length - first),
            ]
        }
    }
}
