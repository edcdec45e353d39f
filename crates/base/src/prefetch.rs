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

/// Ranges of lines that are looked at together, noted while what leads to them is in the cache: to find them later would mean to wait for one
/// pointer after the other. What has moved since is fetched in vain, which does no harm.
#[derive(Debug, Default)]
pub struct Lines {
    /// Address of the first line, with the number of lines in the bits below.
    ranges: [usize; Lines::RANGES],
    len: usize,
}

impl Lines {
    /// Ranges kept; others are passed over.
    const RANGES: usize = 15;

    /// Forgets them.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Notes a value.
    #[inline]
    pub fn add<T>(&mut self, value: *const T) {
        self.add_bytes(value, size_of::<T>());
    }

    /// Notes the first bytes of a value, up to 63 lines.
    #[inline]
    pub fn add_bytes<T>(&mut self, value: *const T, bytes: usize) {
        let first = value.addr() & !(LINE - 1);
        let lines = (value.addr() + bytes - first).div_ceil(LINE).min(LINE - 1);
        if let Some(range) = self.ranges.get_mut(self.len) {
            *range = first | lines;
            self.len += 1;
        }
    }

    /// Has the processor fetch them. A hint, as above.
    #[inline]
    pub fn fetch(&self) {
        for range in &self.ranges[..self.len] {
            let (mut line, lines) = (range & !(LINE - 1), range & (LINE - 1));
            let end = line + lines * LINE;
            while line < end {
                prefetch_line(std::ptr::without_provenance::<u8>(line));
                line += LINE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_lines() {
        let mut lines = Lines::default();
        lines.add(std::ptr::without_provenance::<[u8; 64]>(1 << 20));
        lines.add(std::ptr::without_provenance::<[u8; 2]>((1 << 20) + 63));
        lines.add_bytes(std::ptr::without_provenance::<u8>((1 << 20) + 64), 1 << 16);
        assert_eq!(lines.ranges[..lines.len], [(1 << 20) | 1, (1 << 20) | 2, ((1 << 20) + 64) | 63]);
        (0..20).for_each(|_| lines.add(&0));
        assert_eq!(lines.len, Lines::RANGES);
        lines.fetch();
        lines.clear();
        assert_eq!(lines.len, 0);
    }
}
