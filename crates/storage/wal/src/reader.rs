//! Reading records.

use std::path::Path;

use base::Lsn;

use crate::log::WalError;
use crate::record::Record;

/// Reads records in order and ends at the first that is not valid.
pub struct WalReader {}

impl WalReader {
    /// Reads the log in `dir` from `from` on (a record's start), without a [`Wal`](crate::Wal).
    pub fn open(_dir: &Path, _segment_size: u64, _system_identifier: Option<u64>, _from: Lsn) -> WalReader {
        todo!()
    }
    /// End of the last valid record read: where insertion may go on.
    pub fn position(&self) -> Lsn {
        todo!()
    }
    /// Why reading ended, once the iterator returned `None` (`invalid record length`, …).
    pub fn end_reason(&self) -> Option<&str> {
        todo!()
    }
}

impl Iterator for WalReader {
    type Item = Result<Record, WalError>;
    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}
