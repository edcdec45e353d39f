//! Bytes of pages and log records, as the methods read and write them: little-endian, and never trusted.

use base::{BlockNo, Xid};
use page::PageBytes;

/// What was read, or what is wrong with the bytes.
pub type Check<T> = Result<T, &'static str>;

/// A number at a place; 0 where the bytes end.
#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

/// As [`u16_at`].
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// As [`u16_at`].
#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Reads what records hold, from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Check<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n).ok_or("record is too short")?;
        self.0 = tail;
        Ok(head)
    }

    /// A number of two bytes.
    pub fn u16(&mut self) -> Check<u16> {
        Ok(u16_at(self.take(2)?, 0))
    }

    /// A number of four bytes.
    pub fn u32(&mut self) -> Check<u32> {
        Ok(u32_at(self.take(4)?, 0))
    }

    /// A number of eight bytes.
    pub fn u64(&mut self) -> Check<u64> {
        Ok(u64_at(self.take(8)?, 0))
    }

    /// The number of a block.
    pub fn block(&mut self) -> Check<BlockNo> {
        Ok(BlockNo(self.u32()?))
    }

    /// What [`put_sized`] wrote.
    pub fn sized(&mut self) -> Check<&'a [u8]> {
        let n = self.u16()?;
        self.take(n as usize)
    }
}

/// Appends a length and bytes.
pub fn put_sized(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Appends a length and the bytes that `put` appends.
pub fn put_sized_with(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 2]);
    put(out);
    let length = (out.len() - at - 2) as u16;
    out[at..at + 2].copy_from_slice(&length.to_le_bytes());
}

/// Appends all items of a page, each behind its length.
pub fn put_items(page: &PageBytes, out: &mut Vec<u8>) -> Check<()> {
    for n in 1..=page::max_offset(page) {
        put_sized(page::item(page, n).ok_or("line pointer names no item")?, out);
    }
    Ok(())
}

/// The only item of a deleted page: the xid that must be older than every snapshot before the page is used again, and the next free page, if it is on
/// the list of them.
pub fn deleted_item(safe: Xid, next: BlockNo) -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&safe.0.to_le_bytes());
    out[8..12].copy_from_slice(&next.0.to_le_bytes());
    out
}

/// What [`deleted_item`] says on a page.
pub fn read_deleted(page: &PageBytes) -> (Xid, BlockNo) {
    let item = page::item(page, 1).unwrap_or(&[]);
    (Xid(u64_at(item, 0)), BlockNo(u32_at(item, 8)))
}
