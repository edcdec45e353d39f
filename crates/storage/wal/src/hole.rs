//! # What
//! Whether the log goes on behind its end. Reading ends at the first record that is not valid; after a crash that is the torn tail. If something in
//! the middle was lost, what was acknowledged lies behind, and nobody may take the log for ended.
//!
//! # How it is told
//! A torn tail may be followed by valid records too: what was written and not synced reaches the disk in any order. But the log is written
//! by one leader after the other, each write lies in one segment, and the next one begins when it is synced ([`Wal`](crate::Wal)'s `write_in_segment`). So
//! when a byte of a segment is written, all of the segment before it is on disk. **A valid record in a later segment than the one where the
//! record that is not valid would end proves a hole.** Within a segment nothing can be proved.

use std::io;

use base::Lsn;
use runtime::fs::{self, File, OpenOptions};

use crate::geometry::{ALIGN, Geometry, SEGMENT_HEADER};
use crate::log::WalError;
use crate::reader::WalReader;
use crate::record::{HEADER_SIZE, Header, Record};

/// Bytes looked through from the start of a segment. Only the end of a longer record can fill them.
const SOUGHT: usize = 1 << 20;

impl WalReader {
    /// The first valid record in a segment behind that where the record at the reader's [position](WalReader::position), the end of the log, may be torn; none
    /// as it should be. A longer record than the stretch looked through (1 MiB a segment) may hide those behind it in its segment.
    pub fn record_behind(&mut self) -> Result<Option<Lsn>, WalError> {
        let ended_in = self.torn_in();
        let names = fs::read_dir(&self.dir).map_err(|error| WalError::new("read", &self.dir, &error))?;
        let last = self.history.timeline();
        let parsed = names.iter().filter_map(|entry| self.geometry.parse_file_name(&entry.name));
        // What another time line has there is another history.
        for (timeline, segment) in parsed.filter(|(timeline, number)| *timeline == last && *number > ended_in)
        {
            let path = self.dir.join(self.geometry.file_name(timeline, segment));
            let mut bytes = vec![0; SOUGHT.min(self.geometry.segment_size() as usize)];
            let read = File::open(&path, OpenOptions::READ).and_then(|file| file.read_at(&mut bytes, 0));
            match read {
                Ok(got) => bytes.truncate(got),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(WalError::new("read", &path, &error)),
            }
            let start = self.geometry.segment_start(segment);
            if let Some(at) = first_record(self.geometry, &bytes, start) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The last segment that the record at the end of the log reaches into, if it was torn: as far as its header says, or can be.
    fn torn_in(&mut self) -> u64 {
        let mut head = [0; HEADER_SIZE];
        let header = self.read(self.next, &mut head).ok().and_then(|()| Header::decode(&head).ok());
        let length = header.map_or(HEADER_SIZE, |header| header.total_length);
        self.geometry.locate(self.next + length as u64 - 1).0
    }
}

/// The first valid record that lies wholly in these bytes of a segment, the first of which has the LSN `start`.
fn first_record(geometry: Geometry, bytes: &[u8], start: Lsn) -> Option<Lsn> {
    let places = (SEGMENT_HEADER as usize..bytes.len()).step_by(ALIGN as usize);
    for at in places {
        let Some(head) = bytes[at..].first_chunk::<HEADER_SIZE>() else { break };
        let Ok(header) = Header::decode(head) else { continue };
        let Some(record) = bytes[at..].get(..header.total_length) else { continue };
        let lsn = Lsn(start.0 + at as u64);
        let end = geometry.lsn(geometry.position(lsn) + (header.total_length as u64).next_multiple_of(ALIGN));
        if Record::decode(record, lsn, end).is_ok() {
            return Some(lsn);
        }
    }
    None
}
