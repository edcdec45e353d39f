//! Hints: where the buckets of hash codes are, or were when somebody last looked. With a right one a search reads one page.
//!
//! # Invariants
//! 1. A hint is never trusted. It names a page that was a bucket at some time; who reads it looks whether it is one now, and whether the key lies there or to its right.
//! 2. Tables only grow: one is made when there are twice as many pages, and hints of the smaller one are taken over. None goes as long as the index is open.
//!
//! # Locks
//! None. Hints are single words that are read and written without order: each is right or wrong by itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use base::{BlockNo, Fork, RelFile};
use index::Access;

use crate::format::NONE;

/// Bits of the code that the largest table goes by: half a megabyte.
const MOST_BITS: usize = 17;
/// [`Hints::bits`] while there is no table.
const NO_TABLE: u32 = u32::MAX;

/// Blocks by the leading bits of hash codes; 0 where nothing is known.
#[derive(Debug)]
pub(crate) struct Hints {
    tables: [OnceLock<Box<[AtomicU32]>>; MOST_BITS + 1],
    /// Bits that the present table goes by. Stored (Release) when its table is there; read with Acquire.
    bits: AtomicU32,
    /// Descents since a table was made: after as many as it has places, the file is measured again.
    misses: AtomicU32,
}

impl Default for Hints {
    fn default() -> Hints {
        let tables = std::array::from_fn(|_| OnceLock::new());
        Hints { tables, bits: NO_TABLE.into(), misses: 0.into() }
    }
}

fn place(code: u32, bits: u32) -> usize {
    (u64::from(code) >> (32 - bits)) as usize
}

impl Hints {
    fn table(&self) -> Option<(u32, &[AtomicU32])> {
        let bits = self.bits.load(Acquire);
        Some((bits, self.tables.get(bits as usize)?.get()?))
    }

    /// Where the bucket of a code may be; [`NONE`] if nothing is known.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> BlockNo {
        let Some((bits, table)) = self.table() else { return NONE };
        BlockNo(table[place(code, bits)].load(Relaxed))
    }

    /// The bucket of a code was found here through the directory.
    pub(crate) fn set(&self, access: &Access<'_>, file: RelFile, code: u32, block: BlockNo) {
        let size = self.table().map_or(0, |(_, table)| table.len() as u32);
        if self.misses.fetch_add(1, Relaxed) >= size {
            self.measure(access, file);
        }
        if let Some((bits, table)) = self.table() {
            table[place(code, bits)].store(block.0, Relaxed);
        }
    }

    /// The bucket of a code was found to the right of its hint, and has keys from the code `low` on: a better hint if all codes that share it are at least that.
    pub(crate) fn improve(&self, code: u32, low: u32, block: BlockNo) {
        let Some((bits, table)) = self.table() else { return };
        let at = place(code, bits);
        if u64::from(low) <= (at as u64) << (32 - bits) {
            table[at].store(block.0, Relaxed);
        }
    }

    /// Makes a larger table if the file has outgrown the present one.
    fn measure(&self, access: &Access<'_>, file: RelFile) {
        self.misses.store(0, Relaxed);
        let Ok(pages) = access.pool.nblocks(file, Fork::Main) else { return };
        let wanted = (pages.max(1).ilog2() + 1).min(MOST_BITS as u32);
        let old = self.table();
        if old.is_some_and(|(bits, _)| bits >= wanted) {
            return;
        }
        let hint = |at: usize| old.map_or(0, |(bits, table)| table[at >> (wanted - bits)].load(Relaxed));
        self.tables[wanted as usize].get_or_init(|| (0..1 << wanted).map(|at| hint(at).into()).collect());
        self.bits.store(wanted, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_leading_bits() {
        assert_eq!(place(u32::MAX, 0), 0);
        assert_eq!(place(0x8000_0000, 1), 1);
        assert_eq!(place(0x7fff_ffff, 1), 0);
        assert_eq!(place(u32::MAX, 17), (1 << 17) - 1);
    }
}
