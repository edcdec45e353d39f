//! # What
//! A Bloom filter: what was added is found again, and hardly anything else.
//!
//! # PostgreSQL counterpart
//! `lib/bloomfilter.c`

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Bits for each element that is expected: one in a thousand of those that were not added seems to have been.
const BITS_PER_ELEMENT: u64 = 16;
/// Bits set for each element.
const HASHES: u64 = 8;
/// Least number of bits: half a page's worth of memory.
const LEAST: u64 = 1 << 15;

/// A Bloom filter: a set that may claim to contain an element that it does not.
pub(super) struct Filter {
    words: Vec<u64>,
    /// Number of bits, less one; a power of two.
    mask: u64,
    /// Differs from filter to filter, so that what one misses another finds.
    seed: u64,
}

impl Filter {
    /// For about so many elements, in at most `memory` bytes (but 4 KiB at least).
    pub fn new(elements: u64, memory: usize) -> Filter {
        let wanted = elements.saturating_mul(BITS_PER_ELEMENT).clamp(LEAST, 1 << 40).next_power_of_two();
        let most = (memory as u64).saturating_mul(8).max(LEAST);
        // The greatest power of two that there is room for.
        let bits = wanted.min(1 << most.ilog2());
        Filter { words: vec![0; (bits / 64) as usize], mask: bits - 1, seed: runtime::random_u64() }
    }

    fn bits(&self, element: &[u8]) -> impl Iterator<Item = (usize, u64)> + use<> {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.seed);
        hasher.write(element);
        let first = mix(hasher.finish());
        // Odd, so that all places are different.
        let step = mix(first ^ self.seed) | 1;
        let mask = self.mask;
        (0..HASHES).map(move |n| {
            let bit = first.wrapping_add(step.wrapping_mul(n)) & mask;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// Adds an element.
    pub fn add(&mut self, element: &[u8]) {
        for (word, bit) in self.bits(element) {
            self.words[word] |= bit;
        }
    }

    /// Whether an element was added; sometimes also if it was not.
    pub fn may_have(&self, element: &[u8]) -> bool {
        self.bits(element).all(|(word, bit)| self.words[word] & bit != 0)
    }
}

/// All bits of the result depend on all of `n` (the finalizer of SplitMix64).
fn mix(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_hardly_anything_else() {
        let mut filter = Filter::new(10_000, 1 << 20);
        (0..10_000u32).for_each(|n| filter.add(&n.to_le_bytes()));
        assert!((0..10_000u32).all(|n| filter.may_have(&n.to_le_bytes())));
        let wrong = (10_000..110_000u32).filter(|n| filter.may_have(&n.to_le_bytes())).count();
        assert!(wrong < 500, "{wrong} of 100000");
    }

    #[test]
    fn it_keeps_to_its_memory() {
        assert_eq!(Filter::new(u64::MAX, 3 << 20).words.len() * 8, 2 << 20);
        assert_eq!(Filter::new(0, 0).words.len() * 8, 4 << 10);
    }
}
