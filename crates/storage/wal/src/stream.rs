//! The log as bytes, for those who send it elsewhere: only what is on disk, as it lies in the files.
//!
//! # Invariants
//! 1. Nothing is read that is not flushed: what a receiver has, the server cannot lose in a crash.
//! 2. A file that is recycled while it is read is noticed: the header that names its place is rewritten before any other byte, and it is
//!    looked at after the bytes were read.

use std::io;

use base::{Lsn, TimelineId};
use runtime::fs::{File, OpenOptions};

use crate::geometry::{Geometry, SEGMENT_HEADER};
use crate::log::{Wal, WalError};
use crate::segment::SegmentHeader;
use crate::timeline::History;

/// Why bytes of the log cannot be had.
#[derive(Debug)]
pub enum StreamError {
    /// The file of this name is not there any more.
    Removed(String),
    /// It cannot be read.
    Failed(WalError),
}

/// Reads the bytes of the log in order; keeps one file open.
pub struct WalStream<'a> {
    wal: &'a Wal,
    timeline: TimelineId,
    file: Option<(u64, File)>,
}

impl Wal {
    /// Reads what is on disk of a time line as it lies there.
    pub fn stream(&self, timeline: TimelineId) -> WalStream<'_> {
        WalStream { wal: self, timeline, file: None }
    }

    /// End of the bytes on disk: as [`flushed`](Self::flushed), but where that is the beginning of a segment without records, whose file need not be there yet,
    /// the end of the one before.
    pub fn flushed_bytes(&self) -> Lsn {
        self.received_end(self.durable_end())
    }

    /// Where who receives the log has all records that end before or at `lsn`.
    pub fn received_end(&self, lsn: Lsn) -> Lsn {
        let offset = lsn.0 % self.geometry.segment_size();
        if offset == SEGMENT_HEADER { Lsn(lsn.0 - offset) } else { lsn }
    }

    /// Waits until more than this is on disk, or the log is broken.
    pub fn until_flushed_behind(&self, position: Lsn) -> impl Future<Output = ()> + '_ {
        self.flush_watchers
            .until(move || (self.flushed_bytes() > position || self.failure().is_some()).then_some(()))
    }

    /// Whether the file is there that a position lies in, of whatever time line.
    pub fn has_segment(&self, position: Lsn) -> Result<bool, WalError> {
        let segment = self.geometry.segment_of(position);
        Ok(self.segments.list()?.iter().any(|(number, _)| *number == segment))
    }

    /// Where the oldest segment begins from which on, along a history, all segments up to the one with `end` are there.
    pub fn oldest_segment(&self, history: &History, end: Lsn) -> Result<Lsn, WalError> {
        let there = self.segments.list()?;
        let is_there = |segment: u64| {
            history.of_segment(self.geometry, segment).any(|timeline| there.contains(&(segment, timeline)))
        };
        let last = self.geometry.segment_of(end);
        let oldest = (0..last).rev().take_while(|segment| is_there(*segment)).last();
        Ok(self.geometry.segment_start(oldest.unwrap_or(last)))
    }

    /// Bytes of a segment file.
    pub fn segment_size(&self) -> u64 {
        self.geometry.segment_size()
    }
}

impl WalStream<'_> {
    /// Appends the bytes from `from` on to `out`: up to `to`, to the end of the segment, or `most` bytes. `to` is on disk. Returns how many.
    pub fn read(&mut self, from: Lsn, to: Lsn, most: usize, out: &mut Vec<u8>) -> Result<usize, StreamError> {
        let geometry = self.wal.geometry;
        let segment = geometry.segment_of(from);
        let offset = from.0 % geometry.segment_size();
        let left = to.0.saturating_sub(from.0).min(geometry.segment_size() - offset);
        let length = left.min(most as u64) as usize;
        if length == 0 {
            return Ok(0);
        }
        let removed = || StreamError::Removed(geometry.file_name(self.timeline, segment));
        let failed = |error| StreamError::Failed(self.wal.segments.failed("read", segment, &error));
        let file = match self.file.take().filter(|(number, _)| *number == segment) {
            Some((_, file)) => file,
            None => match self.open(segment) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(removed()),
                Err(error) => return Err(failed(error)),
            },
        };
        let start = out.len();
        out.resize(start + length, 0);
        let read =
            file.read_exact_at(&mut out[start..], offset).and_then(|()| belongs(&file, geometry, segment));
        match read {
            Ok(true) => {
                self.file = Some((segment, file));
                Ok(length)
            }
            Ok(false) => {
                out.truncate(start);
                Err(removed())
            }
            Err(error) => {
                out.truncate(start);
                Err(failed(error))
            }
        }
    }
}

impl WalStream<'_> {
    /// The file of a segment. The last one of an old time line may be there only as the beginning of that of the next.
    fn open(&self, segment: u64) -> io::Result<File> {
        let dir = self.wal.segments.dir();
        let of = |timeline| {
            File::open(&dir.join(self.wal.geometry.file_name(timeline, segment)), OpenOptions::READ)
        };
        match of(self.timeline) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.timeline != self.wal.timeline() => {
                of(self.wal.timeline())
            }
            opened => opened,
        }
    }
}

/// Whether a file still is the one of its segment.
fn belongs(file: &File, geometry: Geometry, segment: u64) -> io::Result<bool> {
    let mut bytes = [0; SEGMENT_HEADER as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(SegmentHeader::decode(&bytes).is_some_and(|header| header.start == geometry.segment_start(segment)))
}

#[cfg(test)]
mod tests {
    use base::Xid;

    use super::*;
    use crate::{RecordBuilder, Rmgr, WalOptions};

    struct Dir(std::path::PathBuf);

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = runtime::fs::remove_dir_all(&self.0);
        }
    }

    fn log() -> (Dir, Wal) {
        let dir = std::env::temp_dir().join(format!("stampede-wal-stream-{:x}", runtime::random_u64()));
        let options = WalOptions { segment_size: 64 << 10, buffers: 64 << 10, ..WalOptions::default() };
        let options = WalOptions { min_size: 0, max_size: 0, ..options };
        let wal = Wal::create(&dir, options, 7).unwrap();
        (Dir(dir), wal)
    }

    fn insert(wal: &Wal, bytes: usize) -> Lsn {
        let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(3));
        let data = vec![7; bytes];
        record.data(&data);
        wal.insert(&record)
    }

    #[test]
    fn the_bytes_of_a_stream_are_those_of_the_files() {
        let (dir, wal) = log();
        for _ in 0..40 {
            insert(&wal, 5000);
        }
        wal.flush(wal.insert_end()).unwrap();
        let (start, end) = (Lsn(64 << 10), wal.flushed_bytes());
        let mut stream = wal.stream(TimelineId::FIRST);
        let (mut at, mut bytes) = (start, Vec::new());
        while at < end {
            let before = at.0;
            at = Lsn(at.0 + stream.read(at, end, 10_000, &mut bytes).unwrap() as u64);
            assert!(at.0 > before);
        }
        let mut files = Vec::new();
        for segment in 1..=(end.0 - 1) >> 16 {
            files.extend(runtime::fs::read_to_vec(&dir.0.join(wal.segments.name(segment))).unwrap());
        }
        files.truncate(bytes.len());
        assert_eq!(bytes.len() as u64, end.0 - start.0);
        assert!(bytes == files);
    }

    #[test]
    fn a_removed_or_recycled_segment_is_named() {
        let (_dir, wal) = log();
        while wal.insert_end() < Lsn(5 << 16) {
            insert(&wal, 5000);
        }
        wal.flush(wal.insert_end()).unwrap();
        let mut stream = wal.stream(TimelineId::FIRST);
        let mut bytes = Vec::new();
        stream.read(Lsn(1 << 16), Lsn(2 << 16), 100, &mut bytes).unwrap();
        let oldest = |wal: &Wal| wal.oldest_segment(&History::of(TimelineId::FIRST), wal.flushed()).unwrap();
        assert_eq!(oldest(&wal), Lsn(1 << 16));
        wal.segments.recycle(3, 5, 1).unwrap();
        assert_eq!(oldest(&wal), Lsn(3 << 16));
        let error = stream.read(Lsn((1 << 16) + 100), Lsn(2 << 16), 100, &mut bytes);
        assert!(matches!(error, Err(StreamError::Removed(name)) if name == wal.segments.name(1)));
        let error = wal.stream(TimelineId::FIRST).read(Lsn(2 << 16), Lsn(3 << 16), 100, &mut bytes);
        assert!(matches!(error, Err(StreamError::Removed(_))));
        assert_eq!(bytes.len(), 100);
    }

    #[test]
    fn who_waits_for_more_log_is_woken_by_the_flush() {
        let (_dir, wal) = log();
        let at = wal.flushed_bytes();
        assert_eq!(at.0 % (64 << 10), 0, "nothing but a header is there");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| runtime::wait(wal.until_flushed_behind(at)));
            insert(&wal, 10);
            wal.flush(wal.insert_end()).unwrap();
            waits.join().unwrap();
        });
        assert!(wal.flushed_bytes() > at);
    }
}
