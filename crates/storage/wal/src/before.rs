//! The record before a place: the log has no pointers back, so it is searched for.

use base::Lsn;

use crate::geometry::{ALIGN, align};
use crate::reader::{Stop, WalReader};
use crate::record::{HEADER_SIZE, Header};

impl WalReader {
    /// Start of the record that ends where one begins at `lsn`: it lies in the same segment or the one before. `None` if there is none there, as before
    /// the first record of the log.
    pub fn record_before(&mut self, lsn: Lsn) -> Result<Option<Lsn>, crate::WalError> {
        let target = align(self.geometry.position(lsn));
        let (segment, _) = self.geometry.locate(target);
        for first in [segment, segment.saturating_sub(1)] {
            let start = first * self.geometry.usable();
            let mut bytes = vec![0; (target - start) as usize];
            match self.read(start, &mut bytes) {
                Ok(()) => {}
                Err(Stop::End(_) | Stop::Short(..)) => return Ok(None),
                Err(Stop::Failed(error)) => return Err(error),
            }
            let last = (bytes.len() as u64).saturating_sub(HEADER_SIZE as u64) / ALIGN * ALIGN;
            let found =
                (0..=last).rev().step_by(ALIGN as usize).find(|at| self.ends_at(&bytes, start, *at, target));
            if let Some(at) = found {
                return Ok(Some(self.geometry.lsn(start + at)));
            }
        }
        Ok(None)
    }

    /// Whether a valid record begins `at` bytes behind `start` and ends at `target`.
    fn ends_at(&self, bytes: &[u8], start: u64, at: u64, target: u64) -> bool {
        let rest = &bytes[at as usize..];
        let Some(Ok(header)) = rest.first_chunk::<HEADER_SIZE>().map(Header::decode) else { return false };
        let end = self.geometry.behind(start + at, header.total_length as u64, header.is_switch());
        let Some(record) = rest.get(..header.total_length).filter(|_| end == target) else { return false };
        let (lsn, end) = (self.geometry.lsn(start + at), self.geometry.lsn(end));
        crate::Record::decode(record.to_vec().into_boxed_slice(), lsn, end).is_ok()
    }
}
