//! Segment files: naming, headers, creation ahead, recycling.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Lsn;
use parking_lot::Mutex;
use runtime::fs::{self, File, OpenOptions};

use crate::geometry::{Geometry, SEGMENT_HEADER};
use crate::log::WalError;

/// First bytes of a segment file: `stampwal`.
const MAGIC: u64 = u64::from_le_bytes(*b"stampwal");
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// What a segment file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub system_identifier: u64,
    pub start: Lsn,
    pub segment_size: u32,
}

impl SegmentHeader {
    pub fn encode(&self) -> [u8; SEGMENT_HEADER as usize] {
        let mut bytes = [0; SEGMENT_HEADER as usize];
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.system_identifier.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.start.0.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.segment_size.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..28]);
        bytes[28..32].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; SEGMENT_HEADER as usize]) -> Option<SegmentHeader> {
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if u64_at(0) != MAGIC || u32_at(28) != crc32c::crc32c(&bytes[..28]) {
            return None;
        }
        Some(SegmentHeader { system_identifier: u64_at(8), start: Lsn(u64_at(16)), segment_size: u32_at(24) })
    }
}

/// The directory of segment files.
///
/// `open` is the file that the leader writes to; `prepare` serialises creation and recycling, which wait for the disk.
pub(crate) struct Segments {
    dir: PathBuf,
    geometry: Geometry,
    system_identifier: u64,
    fsync: bool,
    open: Mutex<Option<(u64, Arc<File>)>>,
    prepare: runtime::sync::Mutex<()>,
}

impl Segments {
    pub fn new(dir: &Path, geometry: Geometry, system_identifier: u64, fsync: bool) -> Segments {
        Segments {
            dir: dir.to_path_buf(),
            geometry,
            system_identifier,
            fsync,
            open: Mutex::new(None),
            prepare: runtime::sync::Mutex::new(runtime::WaitEvent::WalInit, ()),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, segment: u64) -> PathBuf {
        self.dir.join(self.geometry.file_name(segment))
    }

    /// The error of a call on a segment's file.
    pub fn failed(&self, what: &str, segment: u64, error: &io::Error) -> WalError {
        WalError::new(what, &self.path(segment), error)
    }

    fn header(&self, segment: u64) -> [u8; SEGMENT_HEADER as usize] {
        SegmentHeader {
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

    /// Makes the file of a segment if it is not there: all bytes written, so that later syncs need no metadata.
    pub fn prepare(&self, segment: u64) -> Result<(), WalError> {
        let _guard = self.prepare.lock();
        let path = self.path(segment);
        if fs::exists(&path).map_err(|error| WalError::new("stat", &path, &error))? {
            return Ok(());
        }
        base::stop_point!("wal-switch-segment");
        let temporary = self.dir.join("xlogtemp");
        let make = || -> io::Result<()> {
            let file = File::open(&temporary, OpenOptions::TRUNCATE)?;
            let mut offset = 0;
            while offset < self.geometry.segment_size() {
                let n = (self.geometry.segment_size() - offset).min(ZEROS.len() as u64);
                file.write_all_at(&ZEROS[..n as usize], offset)?;
                offset += n;
            }
            file.write_all_at(&self.header(segment), 0)?;
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

    /// Numbers of the segment files that there are.
    pub fn list(&self) -> Result<BTreeSet<u64>, WalError> {
        let names = fs::read_dir(&self.dir).map_err(|error| WalError::new("read", &self.dir, &error))?;
        Ok(names.iter().filter_map(|entry| self.geometry.parse_file_name(&entry.name)).collect())
    }

    /// Wipes everything from `position` on: a valid record of the time before the crash must never follow a new one of
    /// the same length as the record that was torn there.
    pub fn wipe_from(&self, position: u64) -> Result<(), WalError> {
        let (segment, mut offset) = self.geometry.locate(position);
        let numbers = self.list()?;
        let mut removed = false;
        for number in numbers.into_iter().filter(|number| *number > segment) {
            let path = self.path(number);
            fs::remove_file(&path).map_err(|error| WalError::new("remove", &path, &error))?;
            removed = true;
        }
        if removed {
            self.sync_dir().map_err(|error| WalError::new("sync", &self.dir, &error))?;
        }
        let file = self.file(segment)?;
        let path = self.path(segment);
        let mut wipe = || -> io::Result<()> {
            // The header is written anew: a segment that ended exactly before `position` may be a foreign file.
            file.write_all_at(&self.header(segment), 0)?;
            let mut chunk = vec![0; ZEROS.len()];
            while offset < self.geometry.segment_size() {
                let n = (self.geometry.segment_size() - offset).min(ZEROS.len() as u64) as usize;
                let got = file.read_at(&mut chunk[..n], offset)?;
                if got < n || chunk[..n].iter().any(|byte| *byte != 0) {
                    file.write_all_at(&ZEROS[..n], offset)?;
                }
                offset += n as u64;
            }
            if self.fsync { file.sync_all() } else { Ok(()) }
        };
        wipe().map_err(|error| WalError::new("write", &path, &error))
    }

    /// Gives old segments new names behind `current`, up to `ahead` of them, and removes the others.
    pub fn recycle(&self, keep_from: u64, current: u64, ahead: u64) -> Result<Recycled, WalError> {
        let _guard = self.prepare.lock();
        let numbers = self.list()?;
        let mut free = (current + 1..=current + ahead).filter(|number| !numbers.contains(number));
        let mut done = Recycled::default();
        for &number in numbers.range(..keep_from) {
            let path = self.path(number);
            match free.next() {
                Some(new) => {
                    let recycle = || -> io::Result<()> {
                        let file = File::open(&path, OpenOptions::READ_WRITE)?;
                        // Under the old name the new header only says that the file does not belong there.
                        if self.fsync {
                            file.write_and_sync_at(&[&self.header(new)], 0)?;
                        } else {
                            file.write_all_at(&self.header(new), 0)?;
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
