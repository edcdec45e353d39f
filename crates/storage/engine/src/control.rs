//! # What
//! The control file `global/pg_control`: the few facts that recovery needs before it can read anything else.
//!
//! # Layout
//! 160 bytes, little-endian. It is replaced as a whole (new file, fsync, rename, fsync of the directory), so a reader sees
//! the old facts or the new ones.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `STAMPEDE` |
//! | 8 | 4 | format version of the data directory |
//! | 12 | 4 | cluster state |
//! | 16 | 8 | system identifier |
//! | 24 | 8 | time of the last update, microseconds since 2000-01-01 UTC |
//! | 32 | 8 | start of the latest checkpoint record |
//! | 40 | 80 | that [`Checkpoint`] |
//! | 120 | 4 | page size |
//! | 124 | 4 | WAL segment size |
//! | 128 | 28 | reserved, zero |
//! | 156 | 4 | CRC-32C of the bytes before |
//!
//! # Invariants
//! 1. The checkpoint named here is complete: all pages dirtied before its redo point are on disk.
//! 2. State `ShutDown` is written only after a shutdown checkpoint with nothing inserted behind it.
//!
//! # PostgreSQL counterpart and differences
//! `pg_control`; PostgreSQL overwrites one sector in place and relies on sector atomicity.

use std::path::Path;

use base::{Lsn, Oid, PAGE_SIZE, Xid};

use crate::EngineError;

/// Version of the data directory's formats. A server starts only on its own.
pub const FORMAT_VERSION: u32 = 13;

const MAGIC: &[u8; 8] = b"STAMPEDE";
const SIZE: usize = 160;
const FILE: &str = "global/pg_control";

/// What the cluster was doing when the control file was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ClusterState {
    /// Bootstrap is not finished.
    Initializing = 0,
    /// Stopped after a shutdown checkpoint.
    ShutDown = 1,
    /// Replaying WAL after a crash.
    InRecovery = 2,
    /// Running; if nobody runs it now, it crashed.
    InProduction = 3,
}

impl ClusterState {
    fn from_u32(n: u32) -> Option<ClusterState> {
        [Self::Initializing, Self::ShutDown, Self::InRecovery, Self::InProduction].get(n as usize).copied()
    }
}

/// Where redo begins and what the counters were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Redo starts here: every later record may not be in the files yet.
    pub redo: Lsn,
    /// First xid not assigned at the redo point.
    pub next_xid: Xid,
    /// First OID not handed out.
    pub next_oid: Oid,
    /// First multixact id not handed out; those before it have their pages.
    pub next_multixact: u64,
    /// Oldest xid that was running at the redo point.
    pub oldest_running: Xid,
    /// When it was taken, microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Whether the server had stopped accepting work.
    pub shutdown: bool,
    /// Oldest xid that rows may hold; 0 stands for the first.
    pub oldest_xid: Xid,
    /// Oldest multixact entry that rows may need; 0 stands for the first.
    pub oldest_multixact: u64,
}

impl Checkpoint {
    /// Encoded size, in the control file and as main data of the WAL record.
    pub const SIZE: usize = 80;

    /// Fixed-size little-endian form.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let words = [
            self.redo.0,
            self.next_xid.0,
            u64::from(self.next_oid.0),
            self.next_multixact,
            self.oldest_running.0,
            self.time as u64,
            u64::from(self.shutdown),
            self.oldest_xid.0,
            self.oldest_multixact,
        ];
        let mut out = [0; Self::SIZE];
        for (slot, word) in out.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Reads what [`Checkpoint::encode`] wrote; `None` if it is too short.
    pub fn decode(bytes: &[u8]) -> Option<Checkpoint> {
        let word = |i: usize| Some(u64::from_le_bytes(bytes.get(i * 8..i * 8 + 8)?.try_into().ok()?));
        if bytes.len() < Self::SIZE {
            return None;
        }
        Some(Checkpoint {
            redo: Lsn(word(0)?),
            next_xid: Xid(word(1)?),
            next_oid: Oid(u32::try_from(word(2)?).ok()?),
            next_multixact: word(3)?,
            oldest_running: Xid(word(4)?),
            time: word(5)? as i64,
            shutdown: word(6)? != 0,
            oldest_xid: Xid(word(7)?),
            oldest_multixact: word(8)?,
        })
    }
}

/// The control file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFile {
    /// What the cluster is doing.
    pub state: ClusterState,
    /// Drawn at initdb; WAL segments carry it.
    pub system_identifier: u64,
    /// When this was written.
    pub time: i64,
    /// Start of the latest checkpoint record.
    pub checkpoint_lsn: Lsn,
    /// Its contents.
    pub checkpoint: Checkpoint,
    /// Bytes per WAL segment file.
    pub wal_segment_size: u32,
}

impl ControlFile {
    /// Reads and checks the control file below `dir`.
    pub fn read(dir: &Path) -> Result<ControlFile, EngineError> {
        let bytes = runtime::fs::read_to_vec(&dir.join(FILE))
            .map_err(|e| EngineError::Io(format!("could not open file \"{FILE}\""), e))?;
        Self::decode(&bytes)
    }

    /// Replaces the control file durably.
    pub fn write(&self, dir: &Path) -> Result<(), EngineError> {
        runtime::fs::write_file_durably(&dir.join(FILE), &self.encode())
            .map_err(|e| EngineError::Io(format!("could not write file \"{FILE}\""), e))
    }

    fn encode(&self) -> [u8; SIZE] {
        let mut b = [0; SIZE];
        b[0..8].copy_from_slice(MAGIC);
        b[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        b[12..16].copy_from_slice(&(self.state as u32).to_le_bytes());
        b[16..24].copy_from_slice(&self.system_identifier.to_le_bytes());
        b[24..32].copy_from_slice(&self.time.to_le_bytes());
        b[32..40].copy_from_slice(&self.checkpoint_lsn.0.to_le_bytes());
        b[40..120].copy_from_slice(&self.checkpoint.encode());
        b[120..124].copy_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
        b[124..128].copy_from_slice(&self.wal_segment_size.to_le_bytes());
        let crc = crc32c::crc32c(&b[..SIZE - 4]);
        b[SIZE - 4..].copy_from_slice(&crc.to_le_bytes());
        b
    }

    fn decode(bytes: &[u8]) -> Result<ControlFile, EngineError> {
        let corrupt = |what: &str| EngineError::ControlFile(what.to_owned());
        let b: &[u8; SIZE] = bytes.try_into().map_err(|_| corrupt("wrong size"))?;
        let u32_at = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
        if &b[..8] != MAGIC {
            return Err(corrupt("not a Stampede data directory"));
        }
        if crc32c::crc32c(&b[..SIZE - 4]) != u32_at(SIZE - 4) {
            return Err(corrupt("incorrect checksum"));
        }
        if u32_at(8) != FORMAT_VERSION {
            return Err(EngineError::FormatVersion { found: u32_at(8), expected: FORMAT_VERSION });
        }
        if u32_at(120) as usize != PAGE_SIZE {
            return Err(corrupt("made with another page size"));
        }
        Ok(ControlFile {
            state: ClusterState::from_u32(u32_at(12)).ok_or_else(|| corrupt("unknown cluster state"))?,
            system_identifier: u64_at(16),
            time: u64_at(24) as i64,
            checkpoint_lsn: Lsn(u64_at(32)),
            checkpoint: Checkpoint::decode(&b[40..120]).ok_or_else(|| corrupt("bad checkpoint"))?,
            wal_segment_size: u32_at(124),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ControlFile {
        ControlFile {
            state: ClusterState::InProduction,
            system_identifier: 0x0123_4567_89AB_CDEF,
            time: -5,
            checkpoint_lsn: Lsn(0x1_0000_0028),
            checkpoint: Checkpoint {
                redo: Lsn(0x1_0000_0000),
                next_xid: Xid(1 << 40),
                next_oid: Oid(16_400),
                next_multixact: 7,
                oldest_running: Xid(99),
                time: 42,
                shutdown: true,
                oldest_xid: Xid(1 << 33),
                oldest_multixact: 5,
            },
            wal_segment_size: 16 << 20,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(ControlFile::decode(&sample().encode()).unwrap(), sample());
    }

    #[test]
    fn another_format_is_refused_by_its_name() {
        let mut other = sample().encode();
        other[8..12].copy_from_slice(&5_u32.to_le_bytes());
        let crc = crc32c::crc32c(&other[..SIZE - 4]);
        other[SIZE - 4..].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(
            ControlFile::decode(&other).unwrap_err().to_string(),
            format!(
                "database files are incompatible with server: the data directory has format version 5, \
                 this server reads {FORMAT_VERSION}"
            )
        );
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = sample().encode();
        for byte in 0..SIZE {
            for bit in 0..8 {
                let mut bad = good;
                bad[byte] ^= 1 << bit;
                assert!(ControlFile::decode(&bad).is_err(), "byte {byte} bit {bit}");
            }
        }
    }

    #[test]
    fn a_short_file_is_refused() {
        assert!(ControlFile::decode(&sample().encode()[..SIZE - 1]).is_err());
    }
}
