//! # What
//! Which blocks of which relations a stretch of the log has changed: what `pg_rewind` copies. Sets of blocks, which summaries of the log are made of too.
//!
//! # Layout
//! [`Changes`] has a [`BlockSet`] for each fork. A set is cut into pieces of 65,536 blocks, each a sorted list while it has few and a bitmap when it has
//! many: at most 8 KiB for half a gigabyte of a relation, however often it changes. Equal sets need not be made of equal pieces.
//!
//! # PostgreSQL counterpart
//! `datapagemap.c` of `pg_rewind`, `blkreftable.c`.

use std::collections::BTreeMap;
use std::ops::Range;

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
#[derive(Clone, Debug, Default)]
pub struct BlockSet {
    pieces: BTreeMap<u32, Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// All blocks of it.
    All,
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

    /// Adds all blocks of a range.
    pub fn insert_range(&mut self, range: Range<BlockNo>) {
        let mut next = range.start.0;
        while next < range.end.0 {
            let end = (next / PIECE * PIECE).saturating_add(PIECE).min(range.end.0);
            if end - next == PIECE {
                self.pieces.insert(next / PIECE, Piece::All);
            } else {
                (next..end).for_each(|block| self.insert(BlockNo(block)));
            }
            next = end;
        }
    }

    /// How many blocks there are.
    pub fn len(&self) -> u64 {
        self.pieces.values().map(Piece::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out all blocks from `limit` on.
    pub fn cut(&mut self, limit: BlockNo) {
        self.pieces.retain(|number, _| u64::from(*number) * u64::from(PIECE) < u64::from(limit.0));
        if let Some(piece) = self.pieces.get_mut(&(limit.0 / PIECE)) {
            let mut kept = piece.offsets();
            kept.retain(|offset| u32::from(*offset) < limit.0 % PIECE);
            *piece = Piece::List(Vec::new());
            kept.into_iter().for_each(|offset| piece.insert(offset));
        }
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

impl PartialEq for BlockSet {
    fn eq(&self, other: &BlockSet) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for BlockSet {}

impl Piece {
    fn insert(&mut self, offset: u16) {
        match self {
            Piece::All => {}
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

    fn len(&self) -> u64 {
        match self {
            Piece::All => PIECE.into(),
            Piece::List(list) => list.len() as u64,
            Piece::Bits(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
        }
    }

    fn offsets(&self) -> Vec<u16> {
        match self {
            Piece::All => (0..=u16::MAX).collect(),
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

    #[test]
    fn ranges_are_their_blocks() {
        for (start, end) in [(0, 0), (5, 9), (PIECE - 2, PIECE + 3), (PIECE, 3 * PIECE), (7, 2 * PIECE + 1)] {
            let (mut ranged, mut single) = (BlockSet::default(), BlockSet::default());
            for set in [&mut ranged, &mut single] {
                set.insert(BlockNo(2 * PIECE));
            }
            ranged.insert_range(BlockNo(start)..BlockNo(end));
            ranged.insert(BlockNo(start));
            (start..end.max(start + 1)).for_each(|block| single.insert(BlockNo(block)));
            assert_eq!(ranged, single, "{start} to {end}");
            ranged.cut(BlockNo(PIECE + 1));
            single.cut(BlockNo(PIECE + 1));
            assert_eq!(ranged, single, "{start} to {end}, cut");
        }
    }

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
            for limit in [7 * PIECE + 9, PIECE, 30_000, 3, 0] {
                set.cut(BlockNo(limit));
                expected.retain(|block| block.0 < limit);
                assert_eq!(set.iter().collect::<Vec<_>>(), expected, "{count} cut to {limit}");
            }
        }
    }
}
