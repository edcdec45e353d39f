//! Segment files: naming, headers, creation ahead, recycling.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{Lsn, PAGE_SIZE, TimelineId};
use parking_lot::Mutex;
use runtime::fs::{self, File, OpenOptions};

use crate::archive::ArchiveStatus;
use crate::geometry::{Geometry, SEGMENT_HEADER};
use crate::log::WalError;

/// What PostgreSQL 18's segment files begin with.
const PAGE_MAGIC: u16 = 0xD118;
/// That the long header of a segment's first page follows.
const LONG_HEADER: u16 = 2;
/// Behind that header: `stmp`.
const MAGIC: u32 = u32::from_le_bytes(*b"stmp");
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// What a segment file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub timeline: TimelineId,
    pub system_identifier: u64,
    pub start: Lsn,
    pub segment_size: u32,
}

impl SegmentHeader {
    pub fn encode(&self) -> [u8; SEGMENT_HEADER as usize] {
        let mut bytes = [0; SEGMENT_HEADER as usize];
        bytes[0..2].copy_from_slice(&PAGE_MAGIC.to_le_bytes());
        bytes[2..4].copy_from_slice(&LONG_HEADER.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.timeline.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.start.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.system_identifier.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.segment_size.to_le_bytes());
        bytes[36..40].copy_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
        bytes[40..44].copy_from_slice(&MAGIC.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..60]);
        bytes[60..64].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; SEGMENT_HEADER as usize]) -> Option<SegmentHeader> {
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if u32_at(40) != MAGIC || u32_at(60) != crc32c::crc32c(&bytes[..60]) {
            return None;
        }
        Some(SegmentHeader {
            timeline: TimelineId(u32_at(4)),
            system_identifier: u64_at(24),
            start: Lsn(u64_at(8)),
            segment_size: u32_at(32),
        })
    }

    /// Whether it may stand in the file of a segment on a time line. The segment in which a time line left another has the header of that one.
    pub fn is_of(&self, geometry: Geometry, timeline: TimelineId, segment: u64) -> bool {
        self.start == geometry.segment_start(segment)
            && self.timeline <= timeline
            && u64::from(self.segment_size) == geometry.segment_size()
    }
}

/// The directory of segment files.
///
/// `open` is the file that the leader writes to; `prepare` serialises creation and recycling, which wait for the disk.
pub(crate) struct Segments {
    dir: PathBuf,
    geometry: Geometry,
    system_identifier: u64,
    /// The time line that is written.
    timeline: AtomicU32,
    fsync: bool,
    pub archive: ArchiveStatus,
    open: Mutex<Option<(u64, Arc<File>)>>,
    prepare: runtime::sync::Mutex<()>,
}

impl Segments {
    pub fn new(dir: &Path, geometry: Geometry, system_identifier: u64, fsync: bool) -> Segments {
        Segments {
            dir: dir.to_path_buf(),
            geometry,
            system_identifier,
            timeline: AtomicU32::new(TimelineId::FIRST.0),
            fsync,
            archive: ArchiveStatus::new(dir),
            open: Mutex::new(None),
            prepare: runtime::sync::Mutex::new(runtime::WaitEvent::WalInit, ()),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The time line that is written.
    pub fn timeline(&self) -> TimelineId {
        // Relaxed: it changes before anything is inserted.
        TimelineId(self.timeline.load(Ordering::Relaxed))
    }

    /// The time line that is replayed; nothing is written yet.
    pub fn replays(&self, timeline: TimelineId) {
        self.timeline.store(timeline.0, Ordering::Relaxed);
    }

    /// The file name of a segment on the time line that is written.
    pub fn name(&self, segment: u64) -> String {
        self.geometry.file_name(self.timeline(), segment)
    }

    fn path(&self, segment: u64) -> PathBuf {
        self.path_on(self.timeline(), segment)
    }

    pub fn path_on(&self, timeline: TimelineId, segment: u64) -> PathBuf {
        self.dir.join(self.geometry.file_name(timeline, segment))
    }

    pub fn segment_size(&self) -> u64 {
        self.geometry.segment_size()
    }

    /// The time line that is written from now on; nothing is inserted yet. If it leaves another in the middle of a segment, what that segment has
    /// before `position` is copied, its header too: who follows the other line up to here is sent these bytes ([`crate::WalStream`]).
    pub fn begin_timeline(
        &self,
        from: TimelineId,
        timeline: TimelineId,
        position: u64,
    ) -> Result<(), WalError> {
        let (segment, offset) = self.geometry.locate(position);
        self.timeline.store(timeline.0, Ordering::Relaxed);
        *self.open.lock() = None;
        if from == timeline || offset == SEGMENT_HEADER {
            return Ok(());
        }
        let old = self.dir.join(self.geometry.file_name(from, segment));
        let source =
            File::open(&old, OpenOptions::READ).map_err(|error| WalError::new("open", &old, &error))?;
        let mut copy = |out: &File| {
            let mut chunk = vec![0; ZEROS.len()];
            let mut at = 0;
            while at < offset {
                let n = (offset - at).min(chunk.len() as u64) as usize;
                source.read_exact_at(&mut chunk[..n], at)?;
                out.write_all_at(&chunk[..n], at)?;
                at += n as u64;
            }
            Ok(())
        };
        let path = self.path(segment);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WalError::new("remove", &path, &error))
            }
            _ => self.make(timeline, segment, &mut copy),
        }
    }

    /// The error of a call on a segment's file.
    pub fn failed(&self, what: &str, segment: u64, error: &io::Error) -> WalError {
        WalError::new(what, &self.path(segment), error)
    }

    fn header(&self, timeline: TimelineId, segment: u64) -> [u8; SEGMENT_HEADER as usize] {
        SegmentHeader {
            timeline,
            system_identifier: self.system_identifier,
            start: self.geometry.segment_start(segment),
            segment_size: self.geometry.segment_size() as u32,
        }
        .encode()
    }

    /// The file of a segment, made if it is not there yet.
    pub fn file(&self, segment: u64) -> Result<Arc<File>, WalError> {
        if let Some((number, file)) = &*self.open.lock()
            && *number == segment
        {
            return Ok(file.clone());
        }
        self.prepare(segment)?;
        let path = self.path(segment);
        let file = File::open(&path, OpenOptions::READ_WRITE)
            .map_err(|error| WalError::new("open", &path, &error))?;
        let file = Arc::new(file);
        *self.open.lock() = Some((segment, file.clone()));
        Ok(file)
    }

    /// Segments are made and recycled by one at a time.
    pub fn lock_preparing(&self) -> runtime::MutexGuard<'_, ()> {
        self.prepare.lock()
    }

    /// Makes the file of a segment if it is not there: all bytes written, so that later syncs need no metadata.
    pub fn prepare(&self, segment: u64) -> Result<(), WalError> {
        let _guard = self.prepare.lock();
        let path = self.path(segment);
        if fs::exists(&path).map_err(|error| WalError::new("stat", &path, &error))? {
            return Ok(());
        }
        base::stop_point!("wal-switch-segment");
        self.make(self.timeline(), segment, &mut |_| Ok(()))
    }

    /// Makes the file of a segment that is not there; `fill` writes what is not zero.
    pub fn make(
        &self,
        timeline: TimelineId,
        segment: u64,
        fill: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> Result<(), WalError> {
        let path = self.path_on(timeline, segment);
        let temporary = self.dir.join("xlogtemp");
        let mut make = || -> io::Result<()> {
            let file = File::open(&temporary, OpenOptions::TRUNCATE)?;
            let mut offset = 0;
            while offset < self.geometry.segment_size() {
                let n = (self.geometry.segment_size() - offset).min(ZEROS.len() as u64);
                file.write_all_at(&ZEROS[..n as usize], offset)?;
                offset += n;
            }
            file.write_all_at(&self.header(timeline, segment), 0)?;
            fill(&file)?;
            if self.fsync {
                file.sync_all()?;
            }
            fs::rename(&temporary, &path)?;
            self.sync_dir()
        };
        make().map_err(|error| {
            // What there was room for is others' again. No second error is worth a word: the file is overwritten by the next attempt.
            let _ = fs::remove_file(&temporary);
            WalError::new("write to", &temporary, &error)
        })
    }

    fn sync_dir(&self) -> io::Result<()> {
        if self.fsync { fs::sync_dir(&self.dir) } else { Ok(()) }
    }

    /// Numbers and time lines of the segment files that there are.
    pub fn list(&self) -> Result<BTreeSet<(u64, TimelineId)>, WalError> {
        let names = fs::read_dir(&self.dir).map_err(|error| WalError::new("read", &self.dir, &error))?;
        let parsed = names.iter().filter_map(|entry| self.geometry.parse_file_name(&entry.name));
        Ok(parsed.map(|(timeline, segment)| (segment, timeline)).collect())
    }

    /// Wipes everything from `position` on: a valid record of the time before the crash must never follow a new one of
    /// the same length as the record that was torn there. Of other time lines what waits for being archived stays.
    pub fn wipe_from(&self, position: u64) -> Result<(), WalError> {
        let (segment, mut offset) = self.geometry.locate(position);
        let numbers = self.list()?;
        let mut removed = false;
        for (number, timeline) in numbers.into_iter().filter(|(number, _)| *number > segment) {
            let name = self.geometry.file_name(timeline, number);
            let path = self.dir.join(&name);
            if timeline == self.timeline() {
                self.archive.forget(&name)?;
            } else if self.archive.is_ready(&name)? {
                continue;
            }
            fs::remove_file(&path).map_err(|error| WalError::new("remove", &path, &error))?;
            removed = true;
        }
        if removed {
            self.sync_dir().map_err(|error| WalError::new("sync", &self.dir, &error))?;
        }
        let file = self.file(segment)?;
        let path = self.path(segment);
        let mut wipe = || -> io::Result<()> {
            // A segment that ended exactly before `position` may be a foreign file.
            let mut header = [0; SEGMENT_HEADER as usize];
            file.read_exact_at(&mut header, 0)?;
            let is_own = SegmentHeader::decode(&header).is_some_and(|header| {
                header.is_of(self.geometry, self.timeline(), segment)
                    && header.system_identifier == self.system_identifier
            });
            if !is_own {
                file.write_all_at(&self.header(self.timeline(), segment), 0)?;
            }
            let mut chunk = vec![0; ZEROS.len()];
            while offset < self.geometry.segment_size() {
                let n = (self.geometry.segment_size() - offset).min(ZEROS.len() as u64) as usize;
                let got = file.read_at(&mut chunk[..n], offset)?;
                if got < n || chunk[..n] != ZEROS[..n] {
                    file.write_all_at(&ZEROS[..n], offset)?;
                }
                offset += n as u64;
            }
            if self.fsync { file.sync_all() } else { Ok(()) }
        };
        wipe().map_err(|error| WalError::new("write", &path, &error))
    }

    /// Removes segments before this one, on whatever time line, that are not to be archived: nothing is written yet that could use them.
    pub fn remove_before(&self, keep_from: u64) -> Result<usize, WalError> {
        let _guard = self.prepare.lock();
        let mut removed = 0;
        for (number, timeline) in self.list()?.range(..(keep_from, TimelineId(0))) {
            let name = self.geometry.file_name(*timeline, *number);
            if self.archive.may_remove(&name)? {
                let path = self.dir.join(&name);
                fs::remove_file(&path).map_err(|error| WalError::new("remove", &path, &error))?;
                self.archive.forget(&name)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Gives old segments new names behind `current`, up to `ahead` of them, and removes the others, on whatever time line. Those that are yet to be
    /// archived stay.
    pub fn recycle(&self, keep_from: u64, current: u64, ahead: u64) -> Result<Recycled, WalError> {
        let _guard = self.prepare.lock();
        let numbers = self.list()?;
        let there = |number: &u64| numbers.contains(&(*number, self.timeline()));
        let mut free = (current + 1..=current + ahead).filter(|number| !there(number));
        let mut done = Recycled::default();
        for &(number, timeline) in numbers.range(..(keep_from, TimelineId(0))) {
            let name = self.geometry.file_name(timeline, number);
            if !self.archive.may_remove(&name)? {
                continue;
            }
            let path = self.dir.join(&name);
            match free.next() {
                Some(new) => {
                    let recycle = || -> io::Result<()> {
                        let file = File::open(&path, OpenOptions::READ_WRITE)?;
                        // Under the old name the new header only says that the file does not belong there.
                        if self.fsync {
                            file.write_and_sync_at(&[&self.header(self.timeline(), new)], 0)?;
                        } else {
                            file.write_all_at(&self.header(self.timeline(), new), 0)?;
                        }
                        fs::rename(&path, &self.path(new))
                    };
                    recycle().map_err(|error| WalError::new("recycle", &path, &error))?;
                    done.recycled += 1;
                }
                None => {
                    fs::remove_file(&path).map_err(|error| WalError::new("remove", &path, &error))?;
                    done.removed += 1;
                }
            }
            self.archive.forget(&name)?;
        }
        if done.recycled + done.removed > 0 {
            self.sync_dir().map_err(|error| WalError::new("sync", &self.dir, &error))?;
        }
        Ok(done)
    }
}

/// Syncs all files in `dir`: before recovery believes records that the crashed server may have written without syncing. Pages
/// that redo changes could otherwise get to disk before the log.
pub fn sync_segments(dir: &Path) -> Result<(), WalError> {
    let entries = fs::read_dir(dir).map_err(|error| WalError::new("read", dir, &error))?;
    for entry in entries.iter().filter(|entry| !entry.is_dir) {
        let path = dir.join(&entry.name);
        File::open(&path, OpenOptions::READ_WRITE)
            .and_then(|file| file.sync_all())
            .map_err(|error| WalError::new("fsync", &path, &error))?;
    }
    fs::sync_dir(dir).map_err(|error| WalError::new("fsync", dir, &error))
}

/// What a checkpoint did with old segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recycled {
    /// Segments renamed for later use.
    pub recycled: usize,
    /// Segments removed.
    pub removed: usize,
}
