//! The log as recovery reads it: stretches of whole records, checked once, that stay in memory or are read again.
//!
//! # What
//! [`WalReader::next_chunk`] reads and checks the log a stretch at a time, which one thread can do ahead of another that looks at the
//! records. [`Replayed`] gives back any record of what was read.
//!
//! # Invariants
//! 1. A [`Chunk`] has whole records only, one behind the other; all their check sums are right. That what is in them can be decoded is known once
//!    [`Chunk::records`] has gone over them.
//! 2. Files are opened when bytes of them are wanted for a record, not before: what lies behind the end of the log is nobody's business.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base::Lsn;
use parking_lot::Mutex;
use runtime::fs::{File, OpenOptions};

use crate::geometry::{Geometry, align};
use crate::log::WalError;
use crate::reader::{Stop, WINDOW, WalReader};
use crate::record::{HEADER_SIZE, Header, Invalid, Record, RecordRef};

/// Bytes of a chunk, unless a single record is longer.
const CHUNK: usize = 1 << 20;
/// Files that stay open for records that are read again.
const OPEN_FILES: usize = 32;

/// Files of segments, by number.
type Files = Vec<(u64, Arc<File>)>;

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
        Record::decode_checked(bytes, lsn, end)
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
        if self.ended.is_some() {
            return None;
        }
        if let Some(stop) = self.stop_ahead.take() {
            return self.end(stop).map(Err);
        }
        let mut bytes = Vec::with_capacity(CHUNK);
        bytes.append(&mut self.ahead);
        let mut records = Vec::new();
        let mut at = 0;
        let stop = loop {
            match self.check(&bytes[at..], self.next + at as u64) {
                Ok(length) => {
                    records.push((at as u32, length as u32));
                    at += align(length as u64) as usize;
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
        self.ahead.extend_from_slice(&bytes[at..]);
        bytes.truncate(at);
        let start = self.next;
        self.next += at as u64;
        match stop {
            Some(stop) if records.is_empty() => self.end(stop).map(Err),
            stop => {
                self.stop_ahead = stop;
                Some(Ok(Chunk { geometry: self.geometry, start, bytes, records }))
            }
        }
    }

    /// The length of the record at the front of `bytes`.
    fn check(&self, bytes: &[u8], position: u64) -> Result<usize, Lack> {
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
        Ok(length)
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
        match got? {
            0 => Err(Stop::End(format!("end of segment file at {}", self.geometry.lsn(position)))),
            _ => Ok(()),
        }
    }
}

/// What was read of the log, for who wants a record again.
#[derive(Clone)]
pub struct Replayed {
    geometry: Geometry,
    dir: PathBuf,
    /// From the start on, as far as memory goes; in order.
    chunks: Vec<Arc<Chunk>>,
    /// Where each of them begins.
    starts: Vec<u64>,
    /// Bytes that `chunks` may still take.
    room: usize,
    /// Bytes of records in `chunks`, and of all that was read.
    bytes: [u64; 2],
    files: Arc<Mutex<Files>>,
}

impl Replayed {
    /// Of what `reader` reads so many bytes are kept at most.
    pub fn new(reader: &WalReader, room: usize) -> Replayed {
        let (geometry, dir) = (reader.geometry, reader.dir.clone());
        Replayed {
            geometry,
            dir,
            chunks: Vec::new(),
            starts: Vec::new(),
            room,
            bytes: [0; 2],
            files: Arc::default(),
        }
    }

    /// The next chunk was read: keeps it if there is room.
    pub fn keep(&mut self, chunk: &Arc<Chunk>) {
        let bytes = chunk.bytes.capacity();
        self.bytes[1] += chunk.bytes.len() as u64;
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                self.bytes[0] += chunk.bytes.len() as u64;
                self.chunks.push(chunk.clone());
                self.starts.push(chunk.start);
            }
            // Nothing behind it is kept either, or there would be holes.
            None => self.room = 0,
        }
    }

    /// Bytes of records that are in memory, and of all that were read.
    pub fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// The chunk that a record lies in, if it is in memory.
    fn chunk(&self, at: RecordAt) -> Option<&Chunk> {
        let behind = self.starts.partition_point(|start| *start <= at.position);
        let chunk = &self.chunks[behind.checked_sub(1)?];
        (at.position < chunk.end()).then_some(chunk)
    }

    /// Tells the processor that a record is wanted soon.
    #[inline]
    pub fn prefetch(&self, at: RecordAt) {
        #[cfg(target_arch = "x86_64")]
        if let Some(chunk) = self.chunk(at) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let from = (at.position - chunk.start) as usize;
            let bytes = &chunk.bytes[from..(from + at.length as usize).min(chunk.bytes.len())];
            for line in bytes.chunks(64).take(2) {
                // SAFETY: a hint, about bytes that are there.
                unsafe { _mm_prefetch(line.as_ptr().cast(), _MM_HINT_T0) };
            }
        }
    }

    /// A record that was read. `scratch` has its bytes if they are no longer in memory.
    pub fn record<'a>(&'a self, at: RecordAt, scratch: &'a mut Vec<u8>) -> Result<RecordRef<'a>, WalError> {
        if let Some(chunk) = self.chunk(at) {
            return Ok(chunk.get(at).expect("it was decoded when the chunk was read"));
        }
        self.read_again(at, scratch)?;
        let (lsn, end) = bounds(self.geometry, at);
        Record::decode(&scratch[..], lsn, end).map_err(|invalid| {
            let (segment, _) = self.geometry.locate(at.position);
            let why = io::Error::new(io::ErrorKind::InvalidData, format!("{invalid} at {lsn}"));
            WalError::new("read", &self.dir.join(self.geometry.file_name(segment)), &why)
        })
    }

    fn read_again(&self, at: RecordAt, scratch: &mut Vec<u8>) -> Result<(), WalError> {
        scratch.resize(at.length as usize, 0);
        let mut have = 0;
        while have < scratch.len() {
            let (segment, offset) = self.geometry.locate(at.position + have as u64);
            let more = (scratch.len() - have).min((self.geometry.segment_size() - offset) as usize);
            let read = self
                .file(segment)
                .and_then(|file| file.read_exact_at(&mut scratch[have..have + more], offset));
            read.map_err(|error| {
                WalError::new("read", &self.dir.join(self.geometry.file_name(segment)), &error)
            })?;
            have += more;
        }
        Ok(())
    }

    /// The file of a segment that was read before; some stay open.
    fn file(&self, segment: u64) -> io::Result<Arc<File>> {
        let known = |files: &[(u64, Arc<File>)]| {
            files.iter().find(|(number, _)| *number == segment).map(|(_, file)| file.clone())
        };
        if let Some(file) = known(&self.files.lock()) {
            return Ok(file);
        }
        let file = File::open(&self.dir.join(self.geometry.file_name(segment)), OpenOptions::READ)?;
        let file = Arc::new(file);
        let mut files = self.files.lock();
        if files.len() >= OPEN_FILES {
            files.swap_remove((segment % OPEN_FILES as u64) as usize);
        }
        files.push((segment, file.clone()));
        Ok(file)
    }
}
