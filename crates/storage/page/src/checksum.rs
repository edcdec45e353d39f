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

/// The check sum that a page has. It is right only for who has just read it from disk.
pub fn stored(page: &PageBytes) -> u32 {
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

/// Writes pages without content, from `first` on, as files are extended by: zero but for their checksums. So a page of zeros alone is one
/// that never reached the disk.
pub fn write_blank(pages: &mut [PageBytes], first: BlockNo) {
    for (page, block) in pages.iter_mut().zip(first.0..) {
        page.fill(0);
        set_checksum(page, BlockNo(block));
    }
}

/// What a page from disk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A page with content.
    Written,
    /// One that the file was extended by ([`write_blank`]); the page in memory is all zero now.
    Blank,
    /// All zero: a page that never reached the disk. Valid after a crash only, where the file had just been extended.
    Zero,
}

/// Checks a page that was read from disk. A blank one is all zero afterwards.
pub fn verify(page: &mut PageBytes, block: BlockNo) -> Result<State, Corrupt> {
    let state = check(page, block);
    if state == Ok(State::Blank) {
        page.fill(0);
    }
    state
}

/// Checks the bytes of a page as they are on disk.
pub fn check(page: &PageBytes, block: BlockNo) -> Result<State, Corrupt> {
    let is_empty = header::upper(page) == 0
        && page[..CHECKSUM].iter().chain(&page[CHECKSUM + 4..]).all(|&byte| byte == 0);
    if is_empty && stored(page) == 0 {
        return Ok(State::Zero);
    }
    let (computed, found) = (compute(page, block), stored(page));
    if computed != found {
        return Err(Corrupt::Checksum { computed, found });
    }
    if is_empty {
        return Ok(State::Blank);
    }
    if header::bounds_ok(page) { Ok(State::Written) } else { Err(Corrupt::Structure) }
}
