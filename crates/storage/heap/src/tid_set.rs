//! A compact set of places of tuples: for each page a bitmap. VACUUM keeps in it what it found dead, and asks of every index entry whether it is
//! among these.
//!
//! Looking one up costs three loads, whatever the size of the set: the page's chunk, where in it the page's bitmap begins, the bitmap's word.

use base::{BlockNo, OffsetNo, Tid};

/// Pages of a chunk.
const CHUNK: usize = 1024;
const BITS: u32 = u64::BITS;

/// Where the bitmaps of neighbouring pages begin in `words`; 0: the page has none.
type Chunk = Box<[u32; CHUNK]>;

/// Places of tuples, entered page by page in ascending order.
#[derive(Debug)]
pub struct TidSet {
    chunks: Vec<Option<Chunk>>,
    /// Bitmaps one behind the other: a word with the number of those that follow, then these. Bit `n` of them is offset `n`.
    words: Vec<u64>,
    blocks: Vec<BlockNo>,
    len: usize,
    made: usize,
}

impl Default for TidSet {
    fn default() -> TidSet {
        // No bitmap begins at 0.
        TidSet { chunks: Vec::new(), words: vec![0], blocks: Vec::new(), len: 0, made: 0 }
    }
}

impl TidSet {
    /// Adds places on a page behind all pages so far; no offsets: nothing.
    pub fn push(&mut self, block: BlockNo, offsets: &[OffsetNo]) {
        debug_assert!(self.blocks.last().is_none_or(|last| *last < block), "pages come in order");
        let Some(&most) = offsets.iter().max() else { return };
        let (chunk, at) = (block.0 as usize / CHUNK, block.0 as usize % CHUNK);
        if chunk >= self.chunks.len() {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let begin = self.words.len();
        let count = (u32::from(most) / BITS + 1) as usize;
        self.words.resize(begin + 1 + count, 0);
        self.words[begin] = count as u64;
        for &n in offsets {
            let n = u32::from(n);
            self.words[begin + 1 + (n / BITS) as usize] |= 1 << (n % BITS);
        }
        let made = &mut self.made;
        let places = self.chunks[chunk].get_or_insert_with(|| {
            *made += 1;
            Box::new([0; CHUNK])
        });
        places[at] = begin as u32;
        self.blocks.push(block);
        self.len += offsets.len();
    }

    /// Whether a place is in the set.
    #[inline]
    pub fn contains(&self, tid: Tid) -> bool {
        self.bitmap(tid.block).is_some_and(|bitmap| {
            let n = u32::from(tid.offset);
            bitmap.get((n / BITS) as usize).is_some_and(|word| word >> (n % BITS) & 1 != 0)
        })
    }

    #[inline]
    fn bitmap(&self, block: BlockNo) -> Option<&[u64]> {
        let chunk = self.chunks.get(block.0 as usize / CHUNK)?.as_ref()?;
        let begin = chunk[block.0 as usize % CHUNK] as usize;
        if begin == 0 {
            return None;
        }
        let count = self.words[begin] as usize;
        self.words.get(begin + 1..begin + 1 + count)
    }

    /// The pages that it has places on, ascending.
    pub fn blocks(&self) -> &[BlockNo] {
        &self.blocks
    }

    /// Puts the places on a page into `out`, ascending.
    pub fn offsets(&self, block: BlockNo, out: &mut Vec<OffsetNo>) {
        out.clear();
        for (i, &word) in self.bitmap(block).unwrap_or(&[]).iter().enumerate() {
            let mut left = word;
            while left != 0 {
                out.push((i as u32 * BITS + left.trailing_zeros()) as OffsetNo);
                left &= left - 1;
            }
        }
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
            + size_of_val(&self.blocks[..])
            + size_of_val(&self.chunks[..])
            + self.made * size_of::<[u32; CHUNK]>()
    }

    /// Forgets all places, and keeps the memory.
    pub fn clear(&mut self) {
        for block in self.blocks.drain(..) {
            if let Some(chunk) = &mut self.chunks[block.0 as usize / CHUNK] {
                chunk[block.0 as usize % CHUNK] = 0;
            }
        }
        self.words.truncate(1);
        self.len = 0;
    }
}

impl FromIterator<Tid> for TidSet {
    /// Of places in any order.
    fn from_iter<T: IntoIterator<Item = Tid>>(tids: T) -> TidSet {
        let mut tids: Vec<Tid> = tids.into_iter().collect();
        tids.sort_unstable();
        tids.dedup();
        let mut set = TidSet::default();
        for page in tids.chunk_by(|a, b| a.block == b.block) {
            let offsets: Vec<OffsetNo> = page.iter().map(|tid| tid.offset).collect();
            set.push(page[0].block, &offsets);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(block: u32, offset: OffsetNo) -> Tid {
        Tid::new(BlockNo(block), offset)
    }

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let all: Vec<Tid> =
            (0..40u32).flat_map(|i| (1..=i % 9).map(move |n| at(i * 700, n as u16 * 31))).collect();
        let mut set: TidSet = all.iter().rev().copied().collect();
        assert_eq!(set.len(), all.len());
        for block in 0..30_000 {
            for offset in [0, 1, 30, 31, 62, 63, 64, 93, 248, 279, 291, u16::MAX] {
                assert_eq!(
                    set.contains(at(block, offset)),
                    all.contains(&at(block, offset)),
                    "{block} {offset}"
                );
            }
        }
        let mut offsets = Vec::new();
        set.offsets(BlockNo(8 * 700), &mut offsets);
        assert_eq!(offsets, [31, 62, 93, 124, 155, 186, 217, 248]);
        assert_eq!(set.blocks().first(), Some(&BlockNo(700)));
        set.clear();
        assert!(set.is_empty() && all.iter().all(|&tid| !set.contains(tid)));
        set.push(BlockNo(3), &[2]);
        assert!(set.contains(at(3, 2)) && !set.contains(at(3, 1)) && !set.contains(at(700, 31)));
    }
}
