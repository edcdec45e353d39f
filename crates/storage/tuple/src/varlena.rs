//! # What
//! Variable-length values as stored: short, plain, compressed in line, or a pointer to a TOAST table.
//!
//! # Layout
//! The first byte tells the form:
//!
//! | first byte | form | aligned |
//! |---|---|---|
//! | `0000_0000` | not a value: padding before an aligned one | |
//! | `0000_0001` | external pointer, [`EXTERNAL_LEN`] bytes: `1, 18, raw_size u32, method_and_size u32, value_id u32, toast_relation u32` | no |
//! | `xxxx_xxx1` | short: the byte shifted right by 1 is the length with this header (2 to 127), then at most 126 bytes | no |
//! | `xxxx_xx00` | plain: u32 shifted right by 2 is the length with this header of 4 bytes | yes |
//! | `xxxx_xx10` | compressed: the same header, then `method_and_size` u32, then the compressed bytes | yes |
//!
//! `method_and_size`: the low 30 bits are a size (of a compressed value in line: uncompressed; of an external one: as stored in
//! chunks), the high 2 bits the method: 0 none, 1 lz4 (block format, no prefix), 2 pglz. `raw_size` is the payload's size once fetched
//! and decompressed. An aligned form that begins with a zero byte cannot be mistaken for padding: padding ends where alignment does.
//!
//! # PostgreSQL counterpart and differences
//! `varatt.h`, little-endian form. Sizes never include headers except in the header word itself. lz4 is the method unless another is asked for.

use std::sync::Arc;

use crate::{BadRow, Bytes, Datum};

pub use compress::Method as Compression;

/// Bytes of an external pointer.
pub const EXTERNAL_LEN: usize = 18;
/// Longest payload with a 1-byte header.
pub const SHORT_MAX: usize = 126;
/// Longest value: PostgreSQL's limit of 1 GiB less headers.
pub const VALUE_MAX: usize = 0x3fff_ffff - 8;

/// A method's number in headers.
fn bits(method: Compression) -> u32 {
    match method {
        Compression::Lz4 => 1,
        Compression::Pglz => 2,
    }
}

/// The method of a number; `None` for a value that is not compressed.
fn of_bits(bits: u32) -> Result<Option<Compression>, BadRow> {
    match bits {
        0 => Ok(None),
        1 => Ok(Some(Compression::Lz4)),
        2 => Ok(Some(Compression::Pglz)),
        _ => Err(BadRow),
    }
}

const SIZE_MASK: u32 = 0x3fff_ffff;

/// Pointer to a value stored in chunks in a TOAST table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// Payload size once fetched and decompressed.
    pub raw_size: u32,
    /// Bytes stored in the chunks.
    pub stored_size: u32,
    /// How those bytes are compressed, if they are.
    pub compression: Option<Compression>,
    /// `chunk_id` of its chunks.
    pub value_id: u32,
    /// OID of the TOAST table.
    pub toast_relation: u32,
}

impl External {
    /// The bytes of the pointer.
    pub fn to_bytes(self) -> [u8; EXTERNAL_LEN] {
        let mut out = [0; EXTERNAL_LEN];
        out[0] = 1;
        out[1] = EXTERNAL_LEN as u8;
        out[2..6].copy_from_slice(&self.raw_size.to_le_bytes());
        let method = self.compression.map_or(0, bits);
        out[6..10].copy_from_slice(&(self.stored_size & SIZE_MASK | method << 30).to_le_bytes());
        out[10..14].copy_from_slice(&self.value_id.to_le_bytes());
        out[14..18].copy_from_slice(&self.toast_relation.to_le_bytes());
        out
    }

    fn parse(bytes: &[u8]) -> Result<External, BadRow> {
        let word = |at: usize| read_u32(bytes, at);
        if bytes.get(1) != Some(&(EXTERNAL_LEN as u8)) {
            return Err(BadRow);
        }
        let packed = word(6)?;
        let (stored_size, compression) = (packed & SIZE_MASK, of_bits(packed >> 30)?);
        Ok(External {
            raw_size: word(2)?,
            stored_size,
            compression,
            value_id: word(10)?,
            toast_relation: word(14)?,
        })
    }
}

/// A stored value, looked at without copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// The payload itself.
    Plain(&'a [u8]),
    /// Compressed bytes of a payload of `raw_size` bytes.
    Compressed {
        /// By which method.
        method: Compression,
        /// Size when decompressed.
        raw_size: u32,
        /// The compressed bytes.
        bytes: &'a [u8],
    },
    /// Somewhere else.
    External(External),
}

fn read_u32(bytes: &[u8], at: usize) -> Result<u32, BadRow> {
    let word = bytes.get(at..at + 4).ok_or(BadRow)?;
    Ok(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// Looks at the value at the start of `bytes`, which is not padding. Returns it with its length, header included.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<(View<'_>, usize), BadRow> {
    let first = *bytes.first().ok_or(BadRow)?;
    if first == 1 {
        return Ok((View::External(External::parse(bytes)?), EXTERNAL_LEN));
    }
    if first & 1 == 1 {
        let len = (first >> 1) as usize;
        let payload = bytes.get(1..len).ok_or(BadRow)?;
        return Ok((View::Plain(payload), len));
    }
    let header = read_u32(bytes, 0)?;
    let len = (header >> 2) as usize;
    if header & 3 == 0 {
        return Ok((View::Plain(bytes.get(4..len).ok_or(BadRow)?), len));
    }
    let packed = read_u32(bytes, 4)?;
    let method = of_bits(packed >> 30)?.ok_or(BadRow)?;
    let payload = bytes.get(8..len).ok_or(BadRow)?;
    Ok((View::Compressed { method, raw_size: packed & SIZE_MASK, bytes: payload }, len))
}

/// The payload of the value at the start of `bytes`, if that is a short one.
#[inline]
pub fn short(bytes: &[u8]) -> Option<&[u8]> {
    match *bytes.first()? {
        first if first & 1 == 1 && first > 1 => bytes.get(1..usize::from(first >> 1)),
        _ => None,
    }
}

/// Length with header of the value at the start of `bytes`.
#[inline]
pub(crate) fn stored_len(bytes: &[u8]) -> Result<usize, BadRow> {
    let first = *bytes.first().ok_or(BadRow)?;
    let len = match first {
        1 => EXTERNAL_LEN,
        short if short & 1 == 1 => (short >> 1) as usize,
        _ => (read_u32(bytes, 0)? >> 2) as usize,
    };
    if len == 0 || len > bytes.len() { Err(BadRow) } else { Ok(len) }
}

/// Whether stored bytes of a [`Datum::Toasted`] are an external pointer.
pub fn is_external(stored: &[u8]) -> bool {
    stored.first() == Some(&1)
}

/// The pointer in a value's stored bytes, if it is one.
pub fn external(stored: &[u8]) -> Option<External> {
    match parse(stored) {
        Ok((View::External(pointer), _)) => Some(pointer),
        _ => None,
    }
}

/// The payload's size of a value's stored bytes, without fetching or decompressing it.
pub fn raw_size(stored: &[u8]) -> Result<usize, BadRow> {
    Ok(match parse(stored)?.0 {
        View::Plain(payload) => payload.len(),
        View::Compressed { raw_size, .. } => raw_size as usize,
        View::External(pointer) => pointer.raw_size as usize,
    })
}

/// Size of a payload once stored in line without compression, header included, alignment not.
#[inline]
pub(crate) fn plain_len(payload: usize) -> usize {
    if payload <= SHORT_MAX { payload + 1 } else { payload + 4 }
}

/// Appends a payload, short if it can be; `start` is where the row's data begin in `out`.
#[inline]
pub(crate) fn write_plain(payload: &[u8], align: u8, start: usize, out: &mut Vec<u8>) {
    if payload.len() <= SHORT_MAX {
        out.push(((payload.len() as u8 + 1) << 1) | 1);
    } else {
        crate::encode::pad(align, start, out);
        out.extend_from_slice(&((payload.len() as u32 + 4) << 2).to_le_bytes());
    }
    out.extend_from_slice(payload);
}

/// Compresses a payload: the stored bytes of a compressed value, or `None` if that saves too little (less than a quarter, as in PostgreSQL's
/// default strategy).
pub fn compress(payload: &[u8], method: Compression) -> Option<Arc<[u8]>> {
    if payload.len() < 32 {
        return None;
    }
    let most = (payload.len() - payload.len() / 4).checked_sub(8)?;
    let mut out = vec![0; 8];
    compress::compress(method, payload, most, &mut out)?;
    let total = out.len() as u32;
    out[..4].copy_from_slice(&(total << 2 | 2).to_le_bytes());
    out[4..8].copy_from_slice(&(payload.len() as u32 | bits(method) << 30).to_le_bytes());
    Some(out.into())
}

/// Undoes [`compress()`], given the bytes behind the headers.
pub fn decompress(bytes: &[u8], raw_size: usize, method: Compression) -> Result<Vec<u8>, BadRow> {
    if raw_size > VALUE_MAX {
        return Err(BadRow);
    }
    compress::decompress(method, bytes, raw_size).ok_or(BadRow)
}

/// How stored bytes are compressed, if they are.
pub fn compression(stored: &[u8]) -> Result<Option<Compression>, BadRow> {
    Ok(match parse(stored)?.0 {
        View::Plain(_) => None,
        View::Compressed { method, .. } => Some(method),
        View::External(pointer) => pointer.compression,
    })
}

/// The value of stored bytes that need no fetching: plain or compressed. External pointers come back as `None`.
pub fn resolve_inline(stored: &[u8]) -> Result<Option<Datum>, BadRow> {
    Ok(match parse(stored)?.0 {
        View::Plain(payload) => Some(Datum::Bytes(Bytes::new(payload))),
        View::Compressed { method, raw_size, bytes } => {
            Some(Datum::Bytes(Bytes::from(decompress(bytes, raw_size as usize, method)?)))
        }
        View::External(_) => None,
    })
}
