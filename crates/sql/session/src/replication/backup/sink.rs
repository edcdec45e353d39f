//! Where the archives of a backup go.
//!
//! What is written is counted, compressed, held to the rate that was asked for, and sent, in this order.

use std::path::PathBuf;
use std::time::Duration;

use base::{SqlError, SqlResult};
use runtime::fs::{self, File, OpenOptions};
use runtime::{Instant, WaitEvent, waiting};

use super::compression::{Compression, Encoder};
use super::options::Target;
use crate::output::{Format, Output};
use crate::progress::Progress;

/// The figure of progress that counts bytes sent.
const STREAMED: usize = 3;
/// Bytes after which others run: a backup takes turns with the statements on its worker, which are short, and does not wait for the end of its time slice.
const TURN: usize = 64 << 10;
/// A client is told of progress at most so often.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Fails as files do.
pub(super) fn file_error(what: &str, path: &str, error: &std::io::Error) -> SqlError {
    let message = format!("could not {what} \"{path}\": {}", base::os_error(error));
    base::os::file_error(error.kind(), base::os::is_transient(error), message)
}

/// The file of an archive that stays with the server.
struct Stored {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Stored {
    fn new(folder: &str, name: &str) -> SqlResult<Stored> {
        let path = PathBuf::from(folder).join(name);
        let file = File::open(&path, OpenOptions::TRUNCATE)
            .map_err(|error| file_error("create file", &path.to_string_lossy(), &error))?;
        Ok(Stored { path, file, length: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> SqlResult<()> {
        let written = waiting(WaitEvent::BackupWrite, || self.file.write_all_at(bytes, self.length));
        written.map_err(|error| file_error("write file", &self.path.to_string_lossy(), &error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn end(self) -> SqlResult<()> {
        self.file.sync_all().map_err(|error| file_error("fsync file", &self.path.to_string_lossy(), &error))
    }
}

/// Holds a backup to its rate.
struct Throttle {
    rate: u64,
    began: Instant,
    sent: u64,
}

impl Throttle {
    fn sends(&mut self, bytes: usize) -> SqlResult<()> {
        self.sent += bytes as u64;
        let due = Duration::from_secs_f64(self.sent as f64 / self.rate as f64);
        let pause = due.saturating_sub(self.began.elapsed());
        if pause < Duration::from_millis(1) {
            return Ok(());
        }
        waiting(WaitEvent::BackupThrottle, || runtime::wait_interruptible(runtime::sleep(pause)))
            .map_err(eval::error::interrupted)
    }
}

/// Takes the archives of a backup one after the other, then its manifest.
pub(super) struct Sink<'a> {
    out: &'a mut dyn Output,
    progress: &'a Progress,
    target: &'a Target,
    compression: Compression,
    encoder: Option<Encoder>,
    throttle: Option<Throttle>,
    stored: Option<Stored>,
    done: u64,
    reported: Instant,
    /// Bytes since others ran.
    turn: usize,
}

impl<'a> Sink<'a> {
    pub fn new(
        out: &'a mut dyn Output,
        progress: &'a Progress,
        (target, compression): (&'a Target, Compression),
        rate: Option<u64>,
    ) -> SqlResult<Sink<'a>> {
        if let Target::Server(folder) = target {
            make_folder(folder)?;
        }
        out.copy_out(Format::Text, 0)?;
        let now = runtime::now();
        let throttle = rate.map(|rate| Throttle { rate, began: now, sent: 0 });
        Ok(Sink {
            out,
            progress,
            target,
            compression,
            encoder: None,
            throttle,
            stored: None,
            done: 0,
            reported: now,
            turn: 0,
        })
    }

    /// Begins the archive of this name, of what lies at a location; of the data directory, if that is empty.
    pub fn begin_archive(&mut self, name: &str, location: &str) -> SqlResult<()> {
        let name = format!("{name}{}", self.compression.suffix());
        self.encoder = Encoder::new(self.compression)?;
        if let Target::Server(folder) = self.target {
            self.stored = Some(Stored::new(folder, &name)?);
        }
        let message = [b"n", name.as_bytes(), b"\0", location.as_bytes(), b"\0"].concat();
        self.out.copy_out_data(&message)
    }

    /// Bytes of the archive.
    pub fn write(&mut self, bytes: &[u8]) -> SqlResult<()> {
        self.take_turns(bytes.len())?;
        self.done += bytes.len() as u64;
        self.progress.set(STREAMED, self.done as i64);
        match &mut self.encoder {
            Some(encoder) => {
                let ready = encoder.write(bytes)?;
                self.pass(&ready)?;
            }
            None => self.pass(bytes)?,
        }
        if self.reported.elapsed() >= REPORT_EVERY {
            self.report()?;
        }
        Ok(())
    }

    fn take_turns(&mut self, bytes: usize) -> SqlResult<()> {
        self.turn += bytes;
        if self.turn >= TURN {
            self.turn = 0;
            runtime::yield_now();
        }
        Ok(runtime::check_interrupts()?)
    }

    fn pass(&mut self, bytes: &[u8]) -> SqlResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.sends(bytes.len())?;
        }
        match (self.target, &mut self.stored) {
            (Target::Client, _) => self.out.copy_out_parts(&[b"d", bytes]),
            (Target::Server(_), Some(stored)) => stored.write(bytes),
            _ => Ok(()),
        }
    }

    fn report(&mut self) -> SqlResult<()> {
        self.reported = runtime::now();
        let message = [b"p", &self.done.to_be_bytes()[..]].concat();
        self.out.copy_out_data(&message)
    }

    /// The archive is complete.
    pub fn end_archive(&mut self) -> SqlResult<()> {
        if let Some(encoder) = self.encoder.take() {
            let rest = encoder.finish()?;
            self.pass(&rest)?;
        }
        if let Some(stored) = self.stored.take() {
            stored.end()?;
        }
        self.report()
    }

    /// The manifest, as a whole.
    pub fn manifest(&mut self, text: &str) -> SqlResult<()> {
        if let Target::Server(folder) = self.target {
            // It gets its name when it is complete: a backup without it is none.
            let (path, temporary) = (
                PathBuf::from(folder).join("backup_manifest"),
                PathBuf::from(folder).join("backup_manifest.tmp"),
            );
            self.stored = Some(Stored::new(folder, "backup_manifest.tmp")?);
            self.out.copy_out_data(b"m")?;
            self.pass(text.as_bytes())?;
            if let Some(stored) = self.stored.take() {
                stored.end()?;
            }
            return fs::rename(&temporary, &path)
                .and_then(|()| fs::sync_dir(&PathBuf::from(folder)))
                .map_err(|error| file_error("rename file", &temporary.to_string_lossy(), &error));
        }
        self.out.copy_out_data(b"m")?;
        for piece in text.as_bytes().chunks(32 << 10) {
            self.pass(piece)?;
        }
        Ok(())
    }

    /// All is sent.
    pub fn finish(self) -> SqlResult<()> {
        self.out.copy_out_done()
    }
}

/// The folder of a backup that stays with the server: new, or empty.
fn make_folder(folder: &str) -> SqlResult<()> {
    let path = PathBuf::from(folder);
    match fs::read_dir(&path) {
        Ok(entries) if entries.is_empty() => Ok(()),
        Ok(_) => Err(SqlError::new(
            base::SqlState::DUPLICATE_FILE,
            format!("directory \"{folder}\" exists but is not empty"),
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::create_dir(&path).map_err(|error| file_error("create directory", folder, &error))
        }
        Err(error) => Err(file_error("access directory", folder, &error)),
    }
}
