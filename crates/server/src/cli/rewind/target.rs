//! The cluster that is rewound.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use runtime::fs::{self, File, OpenOptions};

use base::TABLESPACE_VERSION;

use super::super::messages::Failure;
use super::files::Kind;

/// Changes files of the target, or only counts what would be changed.
pub(super) struct Target {
    dir: PathBuf,
    /// Nothing is changed.
    dry: bool,
    /// The file that was written last.
    open: Option<(String, File)>,
    /// Bytes written, and to be written.
    progress: Option<Progress>,
}

/// How far the copying is.
pub(super) struct Progress {
    pub all: u64,
    pub done: u64,
    /// Hundredths that were told of.
    pub told: u64,
}

impl Target {
    pub fn new(dir: &Path, dry: bool, progress: Option<Progress>) -> Target {
        Target { dir: dir.to_path_buf(), dry, open: None, progress }
    }

    fn failed(&self, what: &str, path: &str, error: &std::io::Error) -> Failure {
        format!("could not {what} \"{}\": {}", self.dir.join(path).display(), base::os_error(error)).into()
    }

    /// What is written next goes into this file; `anew`: which is to be made, or emptied.
    pub fn open(&mut self, path: &str, anew: bool) -> Result<(), Failure> {
        if self.dry || (!anew && self.open.as_ref().is_some_and(|(name, _)| name == path)) {
            return Ok(());
        }
        let options = if anew { OpenOptions::TRUNCATE } else { OpenOptions::CREATE };
        let file = File::open(&self.dir.join(path), options)
            .map_err(|error| self.failed("open target file", path, &error))?;
        self.open = Some((path.to_owned(), file));
        Ok(())
    }

    /// Writes into the open file.
    pub fn write(&mut self, bytes: &[u8], at: u64) -> Result<(), Failure> {
        if let Some((path, file)) = &self.open {
            file.write_all_at(bytes, at).map_err(|error| self.failed("write file", path, &error))?;
        }
        self.advance(bytes.len() as u64);
        Ok(())
    }

    fn advance(&mut self, bytes: u64) {
        let Some(progress) = &mut self.progress else { return };
        progress.done += bytes;
        let hundredths = (progress.done * 100).checked_div(progress.all).unwrap_or(100).min(100);
        if hundredths == progress.told {
            return;
        }
        progress.told = hundredths;
        self.tell(false);
    }

    /// Shows the progress. The last time the line ends.
    pub fn tell(&self, last: bool) {
        let Some(Progress { all, done, .. }) = &self.progress else { return };
        let (all, done) = (all / 1024, done / 1024);
        let hundredths = (done * 100).checked_div(all).unwrap_or(100).min(100);
        let width = all.to_string().len();
        let mut out = std::io::stderr();
        let end = if !last && out.is_terminal() { "\r" } else { "\n" };
        // Nobody reads it any more: no reason to stop.
        let _ = write!(out, "{done:>width$}/{all} kB ({hundredths}%) copied{end}");
    }

    /// Makes a folder.
    pub fn create_folder(&mut self, path: &str) -> Result<(), Failure> {
        match self.dry {
            true => Ok(()),
            false => fs::create_dir(&self.dir.join(path))
                .map_err(|error| self.failed("create directory", path, &error)),
        }
    }

    /// Fails unless a tablespace can lie at this place, which no server has in use.
    pub fn check_location(&self, location: &Path) -> Result<(), Failure> {
        let folder = location.join(TABLESPACE_VERSION);
        let (location, shown) = (location.display(), folder.display());
        let found = |path: &Path| {
            fs::exists(path).map_err(|e| {
                Failure::from(format!("could not stat \"{}\": {}", path.display(), base::os_error(&e)))
            })
        };
        match (found(folder.parent().unwrap_or(&folder))?, found(&folder)?) {
            (_, true) => Err(format!("directory \"{shown}\" already in use as a tablespace").into()),
            (false, _) => Err(Failure::from(format!("directory \"{location}\" does not exist"))
                .hint("Create this directory for the tablespace of the source.")),
            (true, false) => Ok(()),
        }
    }

    /// Makes the link of a tablespace.
    pub fn create_link(&mut self, path: &str, leads: &Path) -> Result<(), Failure> {
        match self.dry {
            true => Ok(()),
            false => fs::symlink(leads, &self.dir.join(path))
                .map_err(|error| self.failed("create symbolic link", path, &error)),
        }
    }

    /// Cuts a file.
    pub fn truncate(&mut self, path: &str, length: u64) -> Result<(), Failure> {
        self.open = None;
        if self.dry {
            return Ok(());
        }
        let full = self.dir.join(path);
        let cut = File::open(&full, OpenOptions::READ_WRITE).and_then(|file| file.set_len(length));
        cut.map_err(|e| {
            format!("could not truncate file \"{}\" to {length}: {}", full.display(), base::os_error(&e))
                .into()
        })
    }

    /// Removes a file, a link, or a folder that is empty.
    pub fn remove(&mut self, path: &str, kind: Kind) -> Result<(), Failure> {
        self.open = None;
        let full = self.dir.join(path);
        match (self.dry, kind) {
            (true, _) => Ok(()),
            (false, Kind::Folder) => {
                fs::remove_dir_all(&full).map_err(|error| self.failed("remove directory", path, &error))
            }
            (false, Kind::File | Kind::Link) => {
                fs::remove_file(&full).map_err(|error| self.failed("remove file", path, &error))
            }
        }
    }
}
