//! The cluster that the target is to become like.

use std::path::{Path, PathBuf};

use base::{Lsn, TimelineId};
use engine::control::{ClusterState, ControlFile};
use runtime::fs::{self, File, OpenOptions};

use super::super::messages::Failure;
use super::files::{Found, walk};
use super::target::Target;

/// Bytes copied at a time.
pub(super) const PIECE: usize = 1 << 20;

/// A stretch of a file that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The file, below the data directory.
    pub path: String,
    /// Where the stretch begins.
    pub offset: u64,
    /// How long it is; none: all that the file has, which replaces what the target has.
    pub length: Option<u64>,
    /// Bytes of the source's file when it was listed.
    pub known: u64,
}

/// Where the files come from.
pub(super) trait Source {
    /// The control file as it is now.
    fn control(&mut self) -> Result<ControlFile, Failure>;
    /// All files and folders.
    fn list(&mut self) -> Result<Vec<Found>, Failure>;
    /// The whole of a small file.
    fn read(&mut self, path: &str) -> Result<Vec<u8>, Failure>;
    /// Copies stretches of files to the target.
    fn copy(&mut self, wanted: &[Wanted], target: &mut Target) -> Result<(), Failure>;
    /// How far its log must be replayed, and the control file then, once all is copied. `before`: the control file when it began.
    fn end(&mut self, before: &ControlFile) -> Result<(Lsn, TimelineId, ControlFile), Failure>;
}

/// The data directory of a server that was shut down.
pub(super) struct Folder {
    dir: PathBuf,
}

impl Folder {
    pub fn new(dir: &Path) -> Folder {
        Folder { dir: dir.to_path_buf() }
    }

    fn copy_stretch(&self, wanted: &Wanted, target: &mut Target) -> Result<(), Failure> {
        let Wanted { path, offset, length, .. } = wanted;
        let full = self.dir.join(path);
        let failed = |what: &str, e| {
            Failure::from(format!("could not {what} \"{}\": {}", full.display(), base::os_error(&e)))
        };
        let file = File::open(&full, OpenOptions::READ).map_err(|e| failed("open source file", e))?;
        let size = file.len().map_err(|e| failed("stat source file", e))?;
        let end = length.map_or(size, |length| offset + length);
        target.open(path, length.is_none())?;
        let mut buffer = vec![0; PIECE];
        let mut at = *offset;
        while at < end {
            let piece = &mut buffer[..(end - at).min(PIECE as u64) as usize];
            let read = file.read_at(piece, at).map_err(|e| failed("read file", e))?;
            if read == 0 {
                return Err(format!("unexpected EOF while reading file \"{}\"", full.display()).into());
            }
            target.write(&piece[..read], at)?;
            at += read as u64;
        }
        Ok(())
    }
}

impl Source for Folder {
    fn control(&mut self) -> Result<ControlFile, Failure> {
        Ok(super::super::controldata::read(&self.dir)?)
    }

    fn list(&mut self) -> Result<Vec<Found>, Failure> {
        walk(&self.dir)
    }

    fn read(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        let path = self.dir.join(path);
        fs::read_to_vec(&path).map_err(|e| {
            format!("could not open file \"{}\" for reading: {}", path.display(), base::os_error(&e)).into()
        })
    }

    fn copy(&mut self, wanted: &[Wanted], target: &mut Target) -> Result<(), Failure> {
        wanted.iter().try_for_each(|wanted| self.copy_stretch(wanted, target))
    }

    fn end(&mut self, before: &ControlFile) -> Result<(Lsn, TimelineId, ControlFile), Failure> {
        let control = self.control()?;
        if control != *before {
            return Err("source system was modified while pg_rewind was running".into());
        }
        // What a standby has replayed may be ahead of its last restart point.
        let least = control.min_recovery_point;
        match control.state == ClusterState::ShutDownInRecovery && least > control.checkpoint_lsn {
            true => Ok((least, control.min_recovery_timeline, control)),
            false => Ok((control.checkpoint_lsn, control.checkpoint.timeline, control)),
        }
    }
}
