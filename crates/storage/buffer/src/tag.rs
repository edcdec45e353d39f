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

    /// Place in the mapping: neighbouring blocks and relations are spread.
    pub(crate) fn hash(self) -> u64 {
        let [a, b, c] = self.words();
        let mut h = (a ^ c << 17).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h = (h ^ b).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        h ^= h >> 32;
        h.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 16
    }
}
