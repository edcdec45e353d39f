//! The log as recovery reads it: stretches of whole records, checked once, and any of them again.
//!
//! # What
//! [`WalReader::next_chunk`] reads and checks the log a stretch at a time, which one thread can do ahead of another that looks at the
//! records. [`Replayed`] gives back any record of what was read, out of the mapped files: the page cache has them since they were read and checked, so the
//! log takes no memory of ours, whatever its length, and nothing is copied.
//!
//! # Invariants
//! 1. A [`Chunk`] has whole records only, one behind the other; all their check sums are right. That what is in them can be decoded is known once
//!    [`Chunk::records`] has gone over them.
//! 2. A file is opened when bytes of it are wanted for a record, not before: what lies behind the end of the log is nobody's business.
//! 3. A mapped byte is looked at only if a chunk had it. So an error of the disk is met by the reader, which can tell it, and not by whoever looks at the
//!    mapping; a page that the cache has dropped meanwhile and cannot be read a second time ends the process, and the next start recovers.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use base::{Lsn, TimelineId};
use runtime::fs::{File, Mapping, OpenOptions};

use crate::geometry::{Geometry, align};
use crate::log::WalError;
use crate::reader::{Opened, Stop, WINDOW, WalReader};
use crate::record::{HEADER_SIZE, Header, Invalid, Record, RecordRef};

/// Bytes of a chunk, unless a single record is longer.
const CHUNK: usize = 1 << 20;

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordAt {
    /// Bytes of records before it; ascending as LSNs are.
    pub position: u64,
    /// Bytes of the record.
    pub length: u32,
}

/// Records that follow one another.
pub struct Chunk {
    geometry: Geometry,
    start: u64,
    bytes: Vec<u8>,
    /// Where records begin, in `bytes`, and their lengths.
    records: Vec<(u32, u32)>,
}

impl Chunk {
    /// All records, in order, with their LSNs. An error is no end of the log: who wrote the record meant what we cannot read.
    pub fn records(&self) -> impl Iterator<Item = (RecordAt, Lsn, Result<RecordRef<'_>, Invalid>)> {
        self.records.iter().map(|&(at, length)| {
            let at = RecordAt { position: self.start + u64::from(at), length };
            (at, self.geometry.lsn(at.position), self.get(at))
        })
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// The record at `at`, which lies in this chunk.
    fn get(&self, at: RecordAt) -> Result<RecordRef<'_>, Invalid> {
        let from = (at.position - self.start) as usize;
        let bytes = self.bytes.get(from..from + at.length as usize).ok_or(Invalid::Length)?;
        let (lsn, end) = bounds(self.geometry, at);
        let mut record = Record::decode_checked(bytes, lsn, end)?;
        if record.is_switch() {
            record.end = self.geometry.lsn(self.geometry.behind(at.position, u64::from(at.length), true));
        }
        Ok(record)
    }
}

/// LSN of a record and of the next one.
fn bounds(geometry: Geometry, at: RecordAt) -> (Lsn, Lsn) {
    (geometry.lsn(at.position), geometry.lsn(at.position + align(u64::from(at.length))))
}

/// Why there is not one more record in a chunk.
enum Lack {
    /// So many bytes from its start on are needed to tell.
    Bytes(usize),
    Stop(Stop),
}

impl WalReader {
    /// Some more records; none once the log has ended. Not to be mixed with reading record by record.
    pub fn next_chunk(&mut self) -> Option<Result<Chunk, WalError>> {
        while self.ended.is_none() {
            match self.read_chunk() {
                Ok(chunk) => return Some(Ok(chunk)),
                Err(stop) => match self.stopped(stop) {
                    Some(error) => return Some(Err(error)),
                    None => continue,
                },
            }
        }
        None
    }

    fn read_chunk(&mut self) -> Result<Chunk, Stop> {
        if let Some(stop) = self.stop_ahead.take() {
            return Err(stop);
        }
        let mut bytes = Vec::with_capacity(CHUNK);
        bytes.append(&mut self.ahead);
        let mut records = Vec::new();
        let mut at = 0;
        let mut switched = false;
        let stop = loop {
            match self.check(&bytes[at..], self.next + at as u64) {
                Ok((length, switch)) => {
                    records.push((at as u32, length as u32));
                    at += align(length as u64) as usize;
                    if switch {
                        switched = true;
                        break None;
                    }
                }
                Err(Lack::Bytes(wanted)) if !records.is_empty() && at + wanted > CHUNK => break None,
                Err(Lack::Bytes(wanted)) => {
                    if let Err(stop) = self.read_ahead(&mut bytes, CHUNK.max(at + wanted)) {
                        break Some(stop);
                    }
                }
                Err(Lack::Stop(stop)) => break Some(stop),
            }
        };
        let start = self.next;
        self.next += at as u64;
        if switched {
            self.next = self.next.next_multiple_of(self.geometry.usable());
        } else {
            self.ahead.extend_from_slice(&bytes[at..]);
        }
        bytes.truncate(at);
        match stop {
            Some(stop) if records.is_empty() => Err(stop),
            stop => {
                self.stop_ahead = stop;
                Ok(Chunk { geometry: self.geometry, start, bytes, records })
            }
        }
    }

    /// The length of the record at the front of `bytes`, and whether the next one begins the next segment.
    fn check(&self, bytes: &[u8], position: u64) -> Result<(usize, bool), Lack> {
        let Some(head) = bytes.first_chunk::<HEADER_SIZE>() else { return Err(Lack::Bytes(HEADER_SIZE)) };
        let lsn = self.geometry.lsn(position);
        let invalid = |invalid| Lack::Stop(Stop::End(format!("{invalid} at {lsn}")));
        let header = Header::decode(head).map_err(invalid)?;
        let length = header.total_length;
        let padded = align(length as u64);
        if (bytes.len() as u64) < padded {
            return Err(Lack::Bytes(padded as usize));
        }
        header.check(&bytes[..length], lsn).map_err(invalid)?;
        Ok((length, header.is_switch()))
    }

    /// Adds bytes to those behind [`WalReader::next`], so that there are `wanted` at most. A damaged length must not make us reserve a
    /// gigabyte: it grows with what is really there.
    fn read_ahead(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<(), Stop> {
        let position = self.next + bytes.len() as u64;
        let (segment, offset) = self.geometry.locate(position);
        let have = bytes.len();
        let more = (wanted - have).min(4 * WINDOW).min((self.geometry.segment_size() - offset) as usize);
        bytes.resize(have + more, 0);
        let got = self.read_segment(segment, offset, &mut bytes[have..]);
        bytes.truncate(have + *got.as_ref().unwrap_or(&0));
        let from = self.geometry.lsn(position);
        match got? {
            0 => Err(Stop::Short(from, format!("end of segment file at {from}"))),
            _ => Ok(()),
        }
    }
}

/// What was read of the log, for who wants a record again.
#[derive(Clone)]
pub struct Replayed {
    geometry: Geometry,
    dir: PathBuf,
    /// Segments from the first that was read on.
    segments: Vec<Arc<Mapping>>,
    /// Number of the first of them.
    first: u64,
    /// Which time lines they are of.
    opened: Opened,
    /// Positions of what was read.
    read: Range<u64>,
}

impl Replayed {
    /// Of what `reader` is about to read.
    pub fn new(reader: &WalReader) -> Replayed {
        let (geometry, dir) = (reader.geometry, reader.dir.clone());
        Replayed {
            geometry,
            dir,
            segments: Vec::new(),
            first: geometry.locate(reader.next).0,
            opened: reader.opened.clone(),
            read: reader.next..reader.next,
        }
    }

    /// Another reader goes on, behind what was read: the file that it begins in may be another one now, with the same bytes so far.
    pub fn go_on(&mut self, reader: &WalReader) {
        let from = self.geometry.locate(reader.next).0;
        self.segments.truncate(from.saturating_sub(self.first) as usize);
        self.opened = reader.opened.clone();
    }

    /// Where in the log an LSN is, as [`RecordAt::position`].
    pub fn position(&self, lsn: Lsn) -> u64 {
        self.geometry.position(lsn)
    }

    /// Nobody looks at anything before `position` any more.
    pub fn forget_before(&mut self, position: u64) {
        let wanted = self.geometry.locate(position).0;
        let gone = (wanted.saturating_sub(self.first) as usize).min(self.segments.len());
        self.segments.drain(..gone);
        self.first += gone as u64;
        self.read.start = self.read.start.max(position.min(self.read.end));
    }

    /// The next chunk was read.
    pub fn keep(&mut self, chunk: &Chunk) -> Result<(), WalError> {
        let (last, _) = self.geometry.locate(chunk.end().saturating_sub(1));
        let (next, _) = self.geometry.locate(self.read.end);
        let is_written = self.first + self.segments.len() as u64 > next;
        if is_written && self.segments.last().is_some_and(|mapping| !mapping.is_live()) {
            // It has more now.
            self.segments.pop();
        }
        while self.first + (self.segments.len() as u64) <= last {
            let path = self.path(self.first + self.segments.len() as u64);
            let file = File::open(&path, OpenOptions::READ);
            let mapping = file.and_then(|file| file.map(self.geometry.segment_size() as usize));
            self.segments.push(Arc::new(mapping.map_err(|error| WalError::new("map", &path, &error))?));
        }
        self.read.end = chunk.end();
        Ok(())
    }

    fn path(&self, segment: u64) -> PathBuf {
        let timeline = self.opened.lock().get(&segment).copied().unwrap_or_default();
        self.dir.join(self.geometry.file_name(timeline, segment))
    }

    /// The time line of the file in which the byte at `lsn` was read, or would have been.
    pub fn timeline_at(&self, lsn: Lsn) -> Option<TimelineId> {
        self.opened.lock().get(&self.geometry.segment_of(lsn)).copied()
    }

    /// Bytes of records that were read.
    pub fn bytes(&self) -> u64 {
        self.read.end - self.read.start
    }

    /// Bytes from `position` on, `length` at most: as many as lie in its segment. None unless they were read.
    fn stretch(&self, position: u64, length: usize) -> Option<&[u8]> {
        if position < self.read.start || position + length as u64 > self.read.end {
            return None;
        }
        let (segment, offset) = self.geometry.locate(position);
        let mapping = self.segments.get((segment - self.first) as usize)?;
        let end = (offset + length as u64).min(self.geometry.segment_size());
        // SAFETY: a chunk had these bytes, so they are in the file ([`Replayed::keep`]). The log is written behind its end only, and its files
        // are not used anew before recovery is over.
        unsafe { mapping.get(offset as usize..end as usize) }
    }

    /// Tells the processor that a record is wanted soon.
    #[inline]
    pub fn prefetch(&self, at: RecordAt) {
        #[cfg(target_arch = "x86_64")]
        if let Some(bytes) = self.stretch(at.position, at.length as usize) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in bytes.chunks(64).take(2) {
                // SAFETY: a hint, about bytes that are there.
                unsafe { _mm_prefetch(line.as_ptr().cast(), _MM_HINT_T0) };
            }
        }
    }

    /// A record that was read. `scratch` has its bytes if they lie in several files.
    pub fn record<'a>(&'a self, at: RecordAt, scratch: &'a mut Vec<u8>) -> Result<RecordRef<'a>, WalError> {
        let length = at.length as usize;
        let (lsn, end) = bounds(self.geometry, at);
        let bytes = match self.stretch(at.position, length) {
            Some(bytes) if bytes.len() == length => bytes,
            _ => self.gather(at, scratch),
        };
        Record::decode_checked(bytes, lsn, end).map_err(|invalid| {
            let (segment, _) = self.geometry.locate(at.position);
            let why = io::Error::new(io::ErrorKind::InvalidData, format!("{invalid} at {lsn}"));
            WalError::new("read", &self.path(segment), &why)
        })
    }

    /// A record's bytes, as far as they were read.
    fn gather<'a>(&self, at: RecordAt, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        scratch.clear();
        while let Some(rest) = (at.length as usize).checked_sub(scratch.len()).filter(|rest| *rest > 0) {
            match self.stretch(at.position + scratch.len() as u64, rest) {
                Some(bytes) if !bytes.is_empty() => scratch.extend_from_slice(bytes),
                _ => break,
            }
        }
        scratch
    }
}
