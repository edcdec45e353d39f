//! # What
//! How long relations' files are at a checkpoint: a file that has lost pages does not say so itself ([`smgr::Smgr::lengths`]).
//!
//! # Layout
//! `global/pg_lengths`, little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `STMPLENS` |
//! | 4 | number of entries |
//! | 16 each | tablespace, database, number of the file, pages; ascending |
//! | 4 | CRC-32C of all before |
//!
//! # Invariants
//! 1. It is written, durably, after what it tells of was synced and before the control file names the checkpoint. A file that is cut later
//!    has a record behind that checkpoint's redo point: cutting passes the gate of commits.
//!
//! # PostgreSQL counterpart and differences
//! None: PostgreSQL takes a file that has become shorter for a smaller table.

use std::path::Path;

use base::{Oid, RelFile};

use crate::EngineError;

/// Its name below the data directory.
pub const FILE: &str = "global/pg_lengths";
const MAGIC: &[u8; 8] = b"STMPLENS";
const ENTRY: usize = 16;

pub(crate) type Lengths = Vec<(RelFile, u32)>;

pub(crate) fn read(dir: &Path) -> Result<Lengths, EngineError> {
    let bytes = runtime::fs::read_to_vec(&dir.join(FILE))
        .map_err(|e| EngineError::Io(format!("could not open file \"{FILE}\""), e))?;
    decode(&bytes).ok_or_else(|| EngineError::Map(format!("file \"{FILE}\" is damaged")))
}

pub(crate) fn write(dir: &Path, lengths: &Lengths) -> Result<(), EngineError> {
    runtime::fs::write_file_durably(&dir.join(FILE), &encode(lengths))
        .map_err(|e| EngineError::Io(format!("could not write file \"{FILE}\""), e))
}

fn encode(lengths: &Lengths) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&(lengths.len() as u32).to_le_bytes());
    for (rel, pages) in lengths {
        for word in [rel.tablespace.0, rel.database.0, rel.number, *pages] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
    let crc = crc32c::crc32c(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    out
}

fn decode(bytes: &[u8]) -> Option<Lengths> {
    let (body, crc) = bytes.split_last_chunk::<4>()?;
    let entries = body.strip_prefix(MAGIC)?;
    let (count, entries) = entries.split_first_chunk::<4>()?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc)
        || entries.len() != u32::from_le_bytes(*count) as usize * ENTRY
    {
        return None;
    }
    let entry = |entry: &[u8; ENTRY]| {
        let word = |i: usize| u32::from_le_bytes([entry[i], entry[i + 1], entry[i + 2], entry[i + 3]]);
        (RelFile { tablespace: Oid(word(0)), database: Oid(word(4)), number: word(8) }, word(12))
    };
    Some(entries.as_chunks::<ENTRY>().0.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let rel = |number| RelFile { tablespace: Oid(1663), database: Oid(5), number };
        let lengths = vec![(rel(1), 0), (rel(2), 77), (rel(9), smgr::DAMAGED)];
        let bytes = encode(&lengths);
        assert_eq!(decode(&bytes), Some(lengths));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 4;
            assert_eq!(decode(&bad), None, "byte {at}");
            assert_eq!(decode(&bytes[..at]), None, "{at} bytes");
        }
        assert_eq!(decode(&encode(&Vec::new())), Some(Vec::new()));
    }
}
