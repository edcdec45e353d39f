//! The log.

use std::path::Path;
use std::{fmt, io};

use base::Lsn;

use crate::builder::RecordBuilder;
use crate::reader::WalReader;

/// Sizes and habits of the log.
#[derive(Clone, Debug)]
pub struct WalOptions {
    /// Bytes of a segment file, a power of two from 1 MiB (64 KiB in tests) to 1 GiB.
    pub segment_size: u64,
    /// Bytes of the ring buffer (`wal_buffers`).
    pub buffers: usize,
    /// Log an image of each page at its first change after a checkpoint.
    pub full_page_writes: bool,
    /// Keep at least so many bytes of segments for recycling (`min_wal_size`).
    pub min_size: u64,
    /// Recycle no more segments than this (`max_wal_size`).
    pub max_size: u64,
    /// Wait for the disk at flush (`fsync`).
    pub fsync: bool,
}

impl Default for WalOptions {
    fn default() -> Self {
        WalOptions {
            segment_size: 16 << 20,
            buffers: 16 << 20,
            full_page_writes: true,
            min_size: 80 << 20,
            max_size: 1 << 30,
            fsync: true,
        }
    }
}

/// Where insertion goes on, as recovery found it.
#[derive(Clone, Copy, Debug)]
pub struct WalStart {
    /// Identifies the cluster; written into every segment.
    pub system_identifier: u64,
    /// End of the last valid record: insertion starts here.
    pub end: Lsn,
    /// Redo pointer of the last checkpoint.
    pub redo: Lsn,
}

/// The log could not be written or read. Sticky for a [`Wal`]: after the first, every flush fails and the server must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalError {
    /// What the operating system said.
    pub kind: io::ErrorKind,
    /// What was tried, on which file.
    pub message: String,
}

impl fmt::Display for WalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WalError {}

/// The write-ahead log of a server.
pub struct Wal {}

impl Wal {
    /// Makes the first segment of a new cluster in `dir` (created if missing) and opens the log.
    pub fn create(_dir: &Path, _options: WalOptions, _system_identifier: u64) -> Result<Wal, WalError> {
        todo!()
    }
    /// Opens an existing log for insertion at `start.end`.
    pub fn open(_dir: &Path, _options: WalOptions, _start: WalStart) -> Result<Wal, WalError> {
        todo!()
    }
    /// Inserts a record; returns its end, the LSN for its pages and for [`flush`](Self::flush). Cannot fail: after a write error
    /// the record goes nowhere and every flush fails.
    pub fn insert(&self, _record: &RecordBuilder<'_>) -> Lsn {
        todo!()
    }
    /// Returns once everything before `upto` is on disk.
    pub fn flush(&self, _upto: Lsn) -> Result<(), WalError> {
        todo!()
    }
    /// The WAL writer's step: writes and syncs what was inserted so far, prepares the next segment.
    pub fn write_some(&self) -> Result<(), WalError> {
        todo!()
    }
    /// End of what was inserted.
    pub fn insert_end(&self) -> Lsn {
        todo!()
    }
    /// End of what is on disk.
    pub fn flushed(&self) -> Lsn {
        todo!()
    }
    /// The current redo pointer.
    pub fn redo(&self) -> Lsn {
        todo!()
    }
    /// Inserts the CHECKPOINT_REDO record and moves the redo pointer to its start, which is returned.
    pub fn begin_checkpoint(&self) -> Lsn {
        todo!()
    }
    /// Recycles or removes the segments that end at or before `lsn`.
    pub fn remove_segments_before(&self, _lsn: Lsn) -> Result<(), WalError> {
        todo!()
    }
    /// Reads records from `from` on, up to the end of valid WAL.
    pub fn reader(&self, _from: Lsn) -> WalReader {
        todo!()
    }
}
