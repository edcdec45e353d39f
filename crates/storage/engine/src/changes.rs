//! # What
//! Which blocks of which relations a stretch of the log has changed: what `pg_rewind` copies.
//!
//! # Layout
//! [`Changes`] has a [`BlockSet`] for each fork. A set is cut into pieces of 65,536 blocks, each a sorted list while it has few and a bitmap when it has
//! many: at most 8 KiB for half a gigabyte of a relation, however often it changes.
//!
//! # PostgreSQL counterpart
//! `datapagemap.c` of `pg_rewind`, `blkreftable.c`.

use std::collections::BTreeMap;

use base::{BlockNo, Fork, RelFile};
use wal::Record;

/// Blocks of a piece.
const PIECE: u32 = 1 << 16;
/// Blocks in a list; with more a bitmap takes less room.
const LIST: usize = 4096;

/// The changed blocks of all relations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    forks: BTreeMap<(RelFile, Fork), BlockSet>,
}

impl Changes {
    /// Notes the blocks that a record changes.
    pub fn note(&mut self, record: &Record) {
        for block in record.blocks() {
            self.insert(block.rel, block.fork, block.block);
        }
    }

    /// Adds a block.
    pub fn insert(&mut self, rel: RelFile, fork: Fork, block: BlockNo) {
        self.forks.entry((rel, fork)).or_default().insert(block);
    }

    /// The forks with changed blocks, in order.
    pub fn forks(&self) -> impl Iterator<Item = (RelFile, Fork, &BlockSet)> {
        self.forks.iter().map(|(&(rel, fork), blocks)| (rel, fork, blocks))
    }
}

/// A set of block numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSet {
    pieces: BTreeMap<u32, Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Offsets in the piece, ascending.
    List(Vec<u16>),
    /// A bit for each.
    Bits(Box<[u64; PIECE as usize / 64]>),
}

impl BlockSet {
    /// Adds a block.
    pub fn insert(&mut self, block: BlockNo) {
        let piece = self.pieces.entry(block.0 / PIECE).or_insert_with(|| Piece::List(Vec::new()));
        piece.insert((block.0 % PIECE) as u16);
    }

    /// All blocks, ascending.
    pub fn iter(&self) -> impl Iterator<Item = BlockNo> {
        let blocks = |(number, piece): (&u32, &'_ Piece)| {
            let first = number * PIECE;
            piece.offsets().into_iter().map(move |offset| BlockNo(first + u32::from(offset)))
        };
        self.pieces.iter().flat_map(blocks)
    }
}

impl Piece {
    fn insert(&mut self, offset: u16) {
        match self {
            Piece::Bits(bits) => bits[usize::from(offset / 64)] |= 1 << (offset % 64),
            Piece::List(list) => {
                let Err(at) = list.binary_search(&offset) else { return };
                if list.len() < LIST {
                    return list.insert(at, offset);
                }
                let mut bits = Box::new([0; PIECE as usize / 64]);
                for known in list.iter().chain([&offset]) {
                    bits[usize::from(known / 64)] |= 1 << (known % 64);
                }
                *self = Piece::Bits(bits);
            }
        }
    }

    fn offsets(&self) -> Vec<u16> {
        match self {
            Piece::List(list) => list.clone(),
            Piece::Bits(bits) => {
                let is_set = |offset: &u16| bits[usize::from(offset / 64)] & (1 << (offset % 64)) != 0;
                (0..=u16::MAX).filter(is_set).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many they are, and in whatever order they come.
    #[test]
    fn blocks_come_back_in_order() {
        for count in [0, 1, 4096, 4097, 30_000, 65_536] {
            let mut set = BlockSet::default();
            // Seventeen has no divisor with the number of blocks.
            let blocks = |n: u32| BlockNo((n * 17) % PIECE + if n.is_multiple_of(3) { 7 * PIECE } else { 0 });
            (0..count).for_each(|n| set.insert(blocks(n)));
            (0..count.min(100)).for_each(|n| set.insert(blocks(n)));
            let mut expected: Vec<BlockNo> = (0..count).map(blocks).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(set.iter().collect::<Vec<_>>(), expected, "{count}");
        }
    }
}
