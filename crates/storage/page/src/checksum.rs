//! Page checksum: CRC-32C, seeded with the block number so that a page written to the wrong place is noticed.

use std::fmt;

use base::BlockNo;

use crate::{PageBytes, header};

const CHECKSUM: usize = 8;

/// A page that is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// The bytes do not match the checksum in the header.
    Checksum {
        /// Checksum computed from the bytes.
        computed: u32,
        /// Checksum found in the header.
        found: u32,
    },
    /// Header or line pointers contradict each other.
    Structure,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Corrupt::Checksum { computed, found } => {
                write!(f, "page verification failed, calculated checksum {computed} but expected {found}")
            }
            Corrupt::Structure => f.write_str("corrupted page pointers"),
        }
    }
}

impl std::error::Error for Corrupt {}

fn stored(page: &PageBytes) -> u32 {
    u32::from_le_bytes([page[CHECKSUM], page[CHECKSUM + 1], page[CHECKSUM + 2], page[CHECKSUM + 3]])
}

fn compute(page: &PageBytes, block: BlockNo) -> u32 {
    let crc = crc32c::crc32c_append(block.0, &page[..CHECKSUM]);
    let crc = crc32c::crc32c_append(crc, &[0; 4]);
    crc32c::crc32c_append(crc, &page[CHECKSUM + 4..])
}

/// Writes the checksum, as the last thing before the page goes to disk.
pub fn set_checksum(page: &mut PageBytes, block: BlockNo) {
    let crc = compute(page, block);
    page[CHECKSUM..CHECKSUM + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Checks a page that was read from disk. An all-zero page is valid: the file was extended and the page never written.
pub fn verify(page: &PageBytes, block: BlockNo) -> Result<(), Corrupt> {
    if header::is_new(page) && page.iter().all(|&b| b == 0) {
        return Ok(());
    }
    let (computed, found) = (compute(page, block), stored(page));
    if computed != found {
        return Err(Corrupt::Checksum { computed, found });
    }
    if header::bounds_ok(page) { Ok(()) } else { Err(Corrupt::Structure) }
}
