//! # What
//! The file of an incremental base backup that stands for a file of a relation: the blocks that have changed since an earlier backup.
//!
//! # Layout
//! Numbers are little-endian. The file is named as the relation's, with [`PREFIX`] before its last part.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `stmpinc1` |
//! | 4 | number of blocks that are here |
//! | 4 | kept: only below this block what the earlier backup has is still good |
//! | 4 | blocks of the relation's file |
//! | 4 | CRC-32C of all before, and of the block numbers |
//! | 4 each | block numbers, ascending, counted from the beginning of the relation's file |
//! | | zeros, up to a multiple of the page size, if there are blocks |
//! | | the blocks |
//!
//! # PostgreSQL counterpart and differences
//! `basebackup_incremental.c`. PostgreSQL's head has no check sum, and gives a file's length only together with what is kept.

use base::PAGE_SIZE;

use crate::files::SEGMENT_PAGES;

/// What the names of such files begin with.
pub const PREFIX: &str = "INCREMENTAL.";
/// Bytes before the block numbers.
pub const HEAD: usize = 24;

const MAGIC: &[u8; 8] = b"stmpinc1";

/// What the head of such a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incremental {
    /// Blocks that are here, ascending, from the beginning of the relation's file.
    pub blocks: Vec<u32>,
    /// Below this block what the earlier backup has is still good, where there is none here.
    pub kept: u32,
    /// Blocks of the relation's file.
    pub length: u32,
}

impl Incremental {
    /// All before the blocks themselves.
    pub fn head(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for number in [self.blocks.len() as u32, self.kept, self.length] {
            out.extend(number.to_le_bytes());
        }
        let numbers: Vec<u8> = self.blocks.iter().flat_map(|block| block.to_le_bytes()).collect();
        out.extend(crc32c::crc32c_append(crc32c::crc32c(&out), &numbers).to_le_bytes());
        out.extend(numbers);
        out.resize(head_size(self.blocks.len()), 0);
        out
    }

    /// Bytes of the whole file.
    pub fn size(&self) -> u64 {
        head_size(self.blocks.len()) as u64 + (self.blocks.len() * PAGE_SIZE) as u64
    }

    /// Where a block lies in the file, by its place in `blocks`.
    pub fn offset(&self, place: usize) -> u64 {
        (head_size(self.blocks.len()) + place * PAGE_SIZE) as u64
    }

    /// How many blocks a file that begins so says it has; the error is why it is none of these files.
    pub fn count(head: &[u8]) -> Result<usize, String> {
        let head = head.first_chunk::<HEAD>().filter(|head| head.starts_with(MAGIC));
        let head = head.ok_or("it does not begin as an incremental file of a backup does")?;
        let [count, kept, length] = [8, 12, 16].map(|at| number(head, at));
        if length > SEGMENT_PAGES {
            return Err(format!("it has {length} blocks in excess of segment size {SEGMENT_PAGES}"));
        }
        for (what, blocks) in [("block count", count), ("truncation block length", kept)] {
            if blocks > length {
                return Err(format!("it has {what} {blocks} in excess of the length {length} of its file"));
            }
        }
        Ok(count as usize)
    }

    /// Reads what comes before the blocks, all of it.
    pub fn decode(bytes: &[u8]) -> Result<Incremental, String> {
        let count = Incremental::count(bytes)?;
        let numbers = bytes.get(HEAD..HEAD + 4 * count).ok_or("it is too short")?;
        if crc32c::crc32c_append(crc32c::crc32c(&bytes[..20]), numbers) != number(bytes, 20) {
            return Err("the check sum of its head is wrong".into());
        }
        let blocks: Vec<u32> = numbers.as_chunks().0.iter().map(|block| u32::from_le_bytes(*block)).collect();
        let (kept, length) = (number(bytes, 12), number(bytes, 16));
        let ascend = blocks.is_sorted_by(|one, next| one < next);
        if !ascend || blocks.last().is_some_and(|last| *last >= length) {
            return Err("its block numbers do not ascend, or lead out of its file".into());
        }
        Ok(Incremental { blocks, kept, length })
    }
}

/// Bytes before the first of so many blocks.
pub fn head_size(blocks: usize) -> usize {
    match HEAD + 4 * blocks {
        HEAD => HEAD,
        size => size.next_multiple_of(PAGE_SIZE),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for blocks in [vec![], vec![0], vec![3, 4, 131_071], (0..5000).collect()] {
            let file = Incremental { blocks, kept: 4, length: 131_072 };
            let head = file.head();
            assert_eq!(head.len(), head_size(file.blocks.len()));
            assert_eq!(file.size(), file.offset(file.blocks.len()));
            assert_eq!(Incremental::decode(&head), Ok(file));
        }
    }

    #[test]
    fn damage_is_told() {
        let head = Incremental { blocks: vec![1, 2, 7], kept: 2, length: 8 }.head();
        for at in 0..HEAD + 12 {
            for bit in 0..8 {
                let mut damaged = head.clone();
                damaged[at] ^= 1 << bit;
                assert!(Incremental::decode(&damaged).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert!(Incremental::decode(&head[..30]).is_err() && Incremental::decode(b"").is_err());
        for (blocks, length) in [(vec![2, 2], 8), (vec![3, 1], 8), (vec![8], 8), (vec![], SEGMENT_PAGES + 1)]
        {
            assert!(Incremental::decode(&Incremental { blocks, kept: 0, length }.head()).is_err());
        }
    }
}
