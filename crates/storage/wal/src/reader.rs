//! Reading the log.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Lsn, TimelineId};
use parking_lot::Mutex;
use runtime::Event;
use runtime::fs::{File, OpenOptions};

use crate::geometry::{ALIGN, Geometry, SEGMENT_HEADER, align};
use crate::log::WalError;
use crate::record::{HEADER_SIZE, Header, Invalid, Record};
use crate::segment::SegmentHeader;
use crate::timeline::History;

/// Bytes read ahead at a time.
pub(crate) const WINDOW: usize = 256 << 10;

/// Brings the log into its folder when a reader wants it: files from an archive, bytes from another server.
pub trait SegmentSource: Send {
    /// A segment of a time line is wanted, whose file has this name and whose first byte is at `start`; whether it was brought. A file of that name that is in
    /// the folder anyway is found without.
    fn bring(&mut self, timeline: TimelineId, start: Lsn, name: &str) -> Result<bool, WalError>;

    /// How far the files may be looked at: what lies behind is still being written. None: to their ends.
    fn end_of_written(&self) -> Option<Lsn> {
        None
    }

    /// The files have no record here. Waits until they may have one, or until `given_up`, when the reader is not wanted any more. Returns whether they may have.
    fn wait_for_more(&mut self, _gap: &Gap<'_>, _given_up: &Event) -> Result<bool, WalError> {
        Ok(false)
    }
}

/// Where the files have no record.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// The next record would begin here.
    pub at: Lsn,
    /// From here on the log is wanted: a record that goes on in a segment that is missing has its beginning.
    pub from: Lsn,
    /// Why there is none.
    pub reason: &'a str,
    /// There are bytes, which are no record.
    pub is_invalid: bool,
}

/// The time lines of the segments that a reader has opened, by number.
pub(crate) type Opened = Arc<Mutex<BTreeMap<u64, TimelineId>>>;

/// Reads records in order and ends at the first that is not valid: that is the end of the log after a crash. Only a disk
/// that fails gives an error.
pub struct WalReader {
    pub(crate) dir: PathBuf,
    pub(crate) geometry: Geometry,
    system_identifier: Option<u64>,
    pub(crate) history: History,
    source: Option<Box<dyn SegmentSource>>,
    given_up: Arc<Event>,
    pub(crate) opened: Opened,
    /// That of a segment on a time line.
    file: Option<(u64, TimelineId, File)>,
    /// Position of the next record.
    pub(crate) next: u64,
    /// Bytes of the log from position `window_start` on.
    window: Vec<u8>,
    window_start: u64,
    pub(crate) ended: Option<String>,
    /// Bytes from `next` on, of which no chunk was made yet.
    pub(crate) ahead: Vec<u8>,
    /// What comes behind the last chunk.
    pub(crate) stop_ahead: Option<Stop>,
}

/// What a segment file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedSegment {
    /// Where the first record could begin.
    pub first: Lsn,
    /// Bytes of a segment.
    pub segment_size: u64,
    /// That of the cluster.
    pub system_identifier: u64,
    /// Which time line it is of, by its name if it has that of a segment.
    pub timeline: TimelineId,
}

/// Why the bytes of a record could not be had.
pub(crate) enum Stop {
    /// They are no record.
    End(String),
    /// There are no more bytes from here on.
    Short(Lsn, String),
    Failed(WalError),
}

impl From<WalError> for Stop {
    fn from(error: WalError) -> Stop {
        Stop::Failed(error)
    }
}

impl WalReader {
    /// Reads the log in `dir` from `from` on (a record's start), without a [`Wal`](crate::Wal), on the first time line. With a system identifier,
    /// segments of another cluster end the log.
    pub fn open(dir: &Path, segment_size: u64, system_identifier: Option<u64>, from: Lsn) -> WalReader {
        let geometry = Geometry::new(segment_size);
        WalReader {
            dir: dir.to_path_buf(),
            geometry,
            system_identifier,
            history: History::of(TimelineId::FIRST),
            source: None,
            given_up: Arc::default(),
            opened: Opened::default(),
            file: None,
            next: align(geometry.position(from)),
            window: Vec::new(),
            window_start: 0,
            ended: None,
            ahead: Vec::new(),
            stop_ahead: None,
        }
    }

    /// Reads along this history.
    pub fn along(mut self, history: History) -> WalReader {
        self.history = history;
        self
    }

    /// Lets segments be brought from elsewhere.
    pub fn bringing(mut self, source: Box<dyn SegmentSource>) -> WalReader {
        self.source = Some(source);
        self
    }

    /// To be set by who does not want the reader to wait for more of the log.
    pub fn given_up(&self) -> Arc<Event> {
        self.given_up.clone()
    }

    /// Whether the log ends here: its source may have more. Then it is to be read again from the last record's end on.
    fn has_more(&mut self, stop: &Stop) -> Result<bool, WalError> {
        let at = self.geometry.lsn(self.next);
        let (from, reason, is_invalid) = match stop {
            Stop::End(reason) => (at, reason, true),
            Stop::Short(from, reason) => (*from, reason, false),
            Stop::Failed(_) => return Ok(false),
        };
        let Some(source) = &mut self.source else { return Ok(false) };
        let more = source.wait_for_more(&Gap { at, from, reason, is_invalid }, &self.given_up)?;
        if more {
            // Whatever was read behind the end may be other bytes now, and be in another file.
            self.file = None;
            self.window.clear();
            self.ahead.clear();
        }
        Ok(more)
    }

    /// There was nothing to read: an error, or, unless its source has more, the end of the log.
    pub(crate) fn stopped(&mut self, stop: Stop) -> Option<WalError> {
        match self.has_more(&stop) {
            Ok(true) => None,
            Ok(false) => self.end(stop),
            Err(error) => self.end(error.into()),
        }
    }

    /// What a segment file says of itself; for tools that are given a file name. `None` if it is no segment file.
    pub fn inspect_segment(path: &Path) -> Result<Option<InspectedSegment>, WalError> {
        let mut bytes = [0; SEGMENT_HEADER as usize];
        let read = File::open(path, OpenOptions::READ)
            .and_then(|file| file.read_at(&mut bytes, 0))
            .map_err(|error| WalError::new("read", path, &error))?;
        if read < bytes.len() {
            return Ok(None);
        }
        Ok(SegmentHeader::decode(&bytes).map(|header| {
            let segment_size = u64::from(header.segment_size);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // The header may be that of the time line which this one left in the middle of the segment.
            let named = Geometry::new(segment_size).parse_file_name(&name);
            InspectedSegment {
                first: Lsn(header.start.0 + SEGMENT_HEADER),
                segment_size,
                system_identifier: header.system_identifier,
                timeline: named.map_or(header.timeline, |(timeline, _)| timeline),
            }
        }))
    }

    /// End of the last valid record read: where insertion may go on.
    pub fn position(&self) -> Lsn {
        self.geometry.lsn(self.next)
    }

    /// Why reading ended, once the iterator returned `None` (`invalid record length`, …).
    pub fn end_reason(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// The first valid record that begins at the reader's position or behind it, before `end`: for who does not know where records begin.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn find(&mut self, end: Lsn) -> Result<Option<Record>, WalError> {
        let end = self.geometry.position(end);
        while self.next < end {
            match self.read_record() {
                Ok(record) => return Ok(Some(record)),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::End(_) | Stop::Short(..)) => self.next += ALIGN,
            }
        }
        Ok(None)
    }

    fn read_record(&mut self) -> Result<Record, Stop> {
        let lsn = self.geometry.lsn(self.next);
        let mut head = [0; HEADER_SIZE];
        self.read(self.next, &mut head)?;
        let header = Header::decode(&head).map_err(|invalid| self.stop(invalid))?;
        let mut bytes = head.to_vec();
        // A damaged length must not make us reserve a gigabyte: grow with what is really there.
        while bytes.len() < header.total_length {
            let from = bytes.len();
            bytes.resize(header.total_length.min(from + WINDOW), 0);
            self.read(self.next + from as u64, &mut bytes[from..])?;
        }
        let end = self.geometry.behind(self.next, header.total_length as u64, header.is_switch());
        let record = Record::decode(bytes.into_boxed_slice(), lsn, self.geometry.lsn(end))
            .map_err(|invalid| self.stop(invalid))?;
        self.next = end;
        Ok(record)
    }

    fn stop(&self, invalid: Invalid) -> Stop {
        Stop::End(format!("{invalid} at {}", self.position()))
    }

    /// Fills `out` from `position` on.
    pub(crate) fn read(&mut self, mut position: u64, mut out: &mut [u8]) -> Result<(), Stop> {
        while !out.is_empty() {
            let offset = position.wrapping_sub(self.window_start);
            if offset >= self.window.len() as u64 {
                self.fill_window(position)?;
                continue;
            }
            let available = &self.window[offset as usize..];
            let n = available.len().min(out.len());
            out[..n].copy_from_slice(&available[..n]);
            out = &mut out[n..];
            position += n as u64;
        }
        Ok(())
    }

    /// Loads what follows `position` in its segment.
    fn fill_window(&mut self, position: u64) -> Result<(), Stop> {
        let (segment, offset) = self.geometry.locate(position);
        let mut window = std::mem::take(&mut self.window);
        window.resize((self.geometry.segment_size() - offset).min(WINDOW as u64) as usize, 0);
        let got = self.read_segment(segment, offset, &mut window)?;
        if got == 0 {
            let from = self.geometry.lsn(position);
            return Err(Stop::Short(from, format!("end of segment file at {from}")));
        }
        window.truncate(got);
        (self.window, self.window_start) = (window, position);
        Ok(())
    }

    /// Reads from a segment's file, which stays open until another is wanted. Nothing is there behind the end of what was written, nor behind the place where
    /// the history leaves the file's time line: a server that failed may have sent more of that.
    pub(crate) fn read_segment(&mut self, segment: u64, offset: u64, out: &mut [u8]) -> Result<usize, Stop> {
        let start = Lsn(self.geometry.segment_start(segment).0 + offset);
        let length = out.len();
        let before =
            |end: Option<Lsn>| end.map_or(length, |end| length.min(end.0.saturating_sub(start.0) as usize));
        let written = before(self.source.as_ref().and_then(|source| source.end_of_written()));
        if written == 0 {
            return Ok(0);
        }
        if self.file.as_ref().is_none_or(|(number, ..)| *number != segment) {
            let (timeline, file) = self.open_segment(segment)?;
            self.file = Some((segment, timeline, file));
        }
        let (_, timeline, file) = self.file.as_ref().expect("opened above");
        let left = before(self.history.stretch(*timeline).and_then(|stretch| stretch.end));
        file.read_at(&mut out[..written.min(left)], offset).map_err(|error| {
            let name = self.geometry.file_name(*timeline, segment);
            WalError::new("read", &self.dir.join(name), &error).into()
        })
    }

    /// Takes note of why there is no more; the error, if it is one.
    fn end(&mut self, stop: Stop) -> Option<WalError> {
        match stop {
            Stop::End(reason) | Stop::Short(_, reason) => {
                self.ended = Some(reason);
                None
            }
            Stop::Failed(error) => {
                self.ended = Some(error.to_string());
                Some(error)
            }
        }
    }

    /// The file of a segment, on the newest time line that has it.
    fn open_segment(&mut self, segment: u64) -> Result<(TimelineId, File), Stop> {
        let start = self.geometry.segment_start(segment);
        let timelines: Vec<TimelineId> = self.history.of_segment(self.geometry, segment).collect();
        for timeline in &timelines {
            let name = self.geometry.file_name(*timeline, segment);
            if let Some(source) = &mut self.source {
                source.bring(*timeline, start, &name)?;
            }
            let path = self.dir.join(&name);
            match File::open(&path, OpenOptions::READ) {
                Ok(file) => {
                    self.check_segment(&file, *timeline, segment, &path)?;
                    self.opened.lock().insert(segment, *timeline);
                    return Ok((*timeline, file));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(WalError::new("open", &path, &error).into()),
            }
        }
        let name = self.geometry.file_name(timelines.first().copied().unwrap_or_default(), segment);
        Err(Stop::Short(start, format!("no segment file {name}")))
    }

    /// Whether the file that has a segment's name is that segment.
    fn check_segment(
        &self,
        file: &File,
        timeline: TimelineId,
        segment: u64,
        path: &Path,
    ) -> Result<(), Stop> {
        let failed = |error: io::Error| WalError::new("read", path, &error);
        let damaged = |why: String| failed(io::Error::new(io::ErrorKind::InvalidData, why));
        // A segment file gets its name when it has its length and its header: another one was damaged, and is no end of the log.
        let (length, size) = (file.len().map_err(failed)?, self.geometry.segment_size());
        if length != size {
            return Err(damaged(format!("it has {length} of {size} bytes")).into());
        }
        let mut bytes = [0; SEGMENT_HEADER as usize];
        file.read_exact_at(&mut bytes, 0).map_err(failed)?;
        let header = SegmentHeader::decode(&bytes).ok_or_else(|| damaged("its header is damaged".into()))?;
        let name = || self.geometry.file_name(timeline, segment);
        if let Some(id) = self.system_identifier.filter(|id| *id != header.system_identifier) {
            return Err(Stop::End(format!(
                "segment file {} is from a different database system: its system identifier is {}, that of pg_control is {id}",
                name(),
                header.system_identifier
            )));
        }
        match header.is_of(self.geometry, timeline, segment) {
            true => Ok(()),
            false => Err(Stop::End(format!("segment file {} belongs elsewhere", name()))),
        }
    }
}

impl Iterator for WalReader {
    type Item = Result<Record, WalError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ended.is_none() {
            match self.read_record() {
                Ok(record) => return Some(Ok(record)),
                Err(stop) => match self.stopped(stop) {
                    Some(error) => return Some(Err(error)),
                    None => continue,
                },
            }
        }
        None
    }
}
