//! Identity of a page.

use base::{BlockNo, Fork, Oid, RelFile};

/// Identity of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Relation.
    pub rel: RelFile,
    /// Fork.
    pub fork: Fork,
    /// Page.
    pub block: BlockNo,
}

impl Tag {
    /// Names a page.
    pub fn new(rel: RelFile, fork: Fork, block: BlockNo) -> Tag {
        Tag { rel, fork, block }
    }

    /// As the three words that a frame keeps.
    pub(crate) fn words(self) -> [u64; 3] {
        [
            (self.rel.tablespace.0 as u64) << 32 | self.rel.database.0 as u64,
            (self.rel.number as u64) << 32 | self.block.0 as u64,
            self.fork as u64,
        ]
    }

    pub(crate) fn from_words(words: [u64; 3]) -> Tag {
        Tag {
            rel: RelFile {
                tablespace: Oid((words[0] >> 32) as u32),
                database: Oid(words[0] as u32),
                number: (words[1] >> 32) as u32,
            },
            fork: Fork::from_u8(words[2] as u8).unwrap_or_default(),
            block: BlockNo(words[1] as u32),
        }
    }

    /// Place in the mapping. Relations and stretches of [`Tag::STRETCH`] blocks are spread; the blocks of a stretch stand side by side, so that
    /// all that is cached of a relation takes as many cache lines of the mapping as it has stretches.
    pub(crate) fn hash(self) -> u64 {
        let [a, b, c] = self.words();
        let mut h = (a ^ c << 17).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h = (h ^ (b / Tag::STRETCH)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        h ^= h >> 32;
        ((h.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 16) << Tag::STRETCH.ilog2()) | (b % Tag::STRETCH)
    }

    /// Blocks whose places in the mapping fill a cache line.
    const STRETCH: u64 = 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u32, block: u32) -> u64 {
        let rel = RelFile { tablespace: Oid(1663), database: Oid(5), number };
        Tag::new(rel, Fork::Main, BlockNo(block)).hash()
    }

    #[test]
    fn a_stretch_fills_a_line_and_the_next_is_elsewhere() {
        for stretch in 0..100 {
            let line = hash(16384, stretch * 16) / 16;
            assert!((0..16).all(|n| hash(16384, stretch * 16 + n) == line * 16 + u64::from(n)));
        }
        let lines = |number| (0..1000).map(move |stretch| hash(number, stretch * 16) / 16 % 4096);
        let used: std::collections::HashSet<_> = lines(16384).chain(lines(16385)).collect();
        // As many as 2,000 throws into 4,096 bins hit.
        assert!((1500..1700).contains(&used.len()), "{}", used.len());
    }
}
