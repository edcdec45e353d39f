//! Log files: their names, when the next ones begin, and where to find them.
//!
//! # PostgreSQL counterpart
//! `syslogger.c`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::calendar::UNIX_SECONDS;
use base::settings::{ServerSettings, Setting};
use parking_lot::Mutex;
use runtime::fs::{self, File, OpenOptions};
use types::moment::Moment;
use types::timezone::TimeZone;

use super::writer::Forms;

/// File in the data directory that names the current ones.
pub const LIST: &str = "current_logfiles";

/// The current files by format, for `pg_current_logfile`.
static CURRENT: Mutex<Vec<(&'static str, String)>> = Mutex::new(Vec::new());

/// The file that is being written in a format (`None`: in the first there is).
pub fn current(format: Option<&str>) -> Option<String> {
    let files = CURRENT.lock();
    files.iter().find(|(known, _)| format.is_none_or(|format| format == *known)).map(|(_, path)| path.clone())
}

/// What the settings say about the files.
#[derive(Clone)]
struct Wanted {
    data: PathBuf,
    directory: String,
    pattern: String,
    mode: u32,
    /// Seconds; 0: any age.
    age: i64,
    /// Bytes; 0: any size.
    size: u64,
    truncate: bool,
    formats: [bool; 3],
    zone: Arc<TimeZone>,
}

const FORMATS: [&str; 3] = ["stderr", "csvlog", "jsonlog"];
const ENDINGS: [&str; 3] = [".log", ".csv", ".json"];

#[derive(Default)]
struct Open {
    path: PathBuf,
    file: Option<File>,
}

/// The files that are being written.
pub struct Files {
    wanted: Wanted,
    open: [Open; 3],
    /// When new ones begin, seconds since 2000-01-01 UTC.
    next: i64,
}

impl Files {
    /// As the settings say; opened by the first use.
    pub fn new(settings: &ServerSettings, formats: [bool; 3], zone: Arc<TimeZone>) -> Files {
        let wanted = Wanted {
            data: PathBuf::from(settings.text(Setting::data_directory)),
            directory: settings.text(Setting::log_directory).to_string(),
            pattern: settings.text(Setting::log_filename).to_string(),
            mode: settings.int(Setting::log_file_mode).unsigned_abs(),
            age: i64::from(settings.int(Setting::log_rotation_age)) * 60,
            size: settings.bytes(Setting::log_rotation_size),
            truncate: settings.bool(Setting::log_truncate_on_rotation),
            formats,
            zone,
        };
        Files { wanted, open: Default::default(), next: 0 }
    }

    /// Applies changed settings. Files stay open unless their names change.
    pub fn change(&mut self, fresh: Files) {
        let (old, new) = (&self.wanted, &fresh.wanted);
        let renamed = (&old.directory, &old.pattern) != (&new.directory, &new.pattern);
        let again = renamed || old.formats != new.formats || old.age != new.age;
        self.wanted = fresh.wanted;
        if again {
            self.begin(false, false);
        }
    }

    /// Begins new files if it is time, or if somebody asks.
    pub fn keep_up(&mut self, asked: bool) {
        let aged = self.wanted.age > 0 && self.next > 0 && now() >= self.next;
        let first = self.next == 0;
        let is_full = |open: &Open| {
            let size = open.file.as_ref().and_then(|file| file.len().ok()).unwrap_or(0);
            self.wanted.size > 0 && size >= self.wanted.size
        };
        let missing = |(open, wanted): (&Open, bool)| wanted && open.file.is_none();
        let missing = self.open.iter().zip(self.wanted.formats).any(missing);
        if first || missing || aged || asked || self.open.iter().any(is_full) {
            self.begin(aged, asked);
        }
    }

    /// `aged`: because of the time, so that files of these names may be old ones. `again`: even if the names stay.
    fn begin(&mut self, aged: bool, again: bool) {
        let at = now();
        let moment = Moment::new(at * 1_000_000, &self.wanted.zone);
        let base = moment.format(&self.wanted.pattern);
        let directory = self.wanted.data.join(&self.wanted.directory);
        // A directory that cannot be made shows when its files cannot be opened.
        let _ = fs::create_dir_all(&directory);
        for format in 0..3 {
            if !self.wanted.formats[format] {
                self.open[format] = Open::default();
                continue;
            }
            let path = directory.join(file_name(&base, format));
            let known = &mut self.open[format];
            if known.file.is_some() && known.path == path && !again {
                continue;
            }
            let empty = aged && self.wanted.truncate && known.file.is_some() && known.path != path;
            match open(&path, empty, self.wanted.mode) {
                Ok(file) => *known = Open { path, file: Some(file) },
                Err(error) => super::to_stderr(format!(
                    "could not open log file \"{}\": {}",
                    path.display(),
                    base::os_error(&error)
                )),
            }
        }
        self.next = self.next_time(at);
        self.announce();
    }

    /// The next multiple of the age, in the zone's time.
    fn next_time(&self, at: i64) -> i64 {
        let age = self.wanted.age;
        if age == 0 {
            return i64::MAX;
        }
        let offset = i64::from(self.wanted.zone.at(at * 1_000_000).offset);
        // Counted from 1970, as PostgreSQL does.
        let local = at + UNIX_SECONDS + offset;
        local - local.rem_euclid(age) + age - offset - UNIX_SECONDS
    }

    /// Tells functions and `current_logfiles` where the files are.
    fn announce(&self) {
        let mut list = Vec::new();
        for (format, open) in self.open.iter().enumerate().filter(|(_, open)| open.file.is_some()) {
            let path = open.path.strip_prefix(&self.wanted.data).unwrap_or(&open.path);
            list.push((FORMATS[format], path.display().to_string()));
        }
        if *CURRENT.lock() == list {
            return;
        }
        let text: String = list.iter().map(|(format, path)| format!("{format} {path}\n")).collect();
        let path = self.wanted.data.join(LIST);
        let temporary = self.wanted.data.join(format!("{LIST}.tmp"));
        let done = fs::write_file(&temporary, text.as_bytes())
            .and_then(|()| fs::set_permissions(&temporary, self.wanted.mode))
            .and_then(|()| fs::rename(&temporary, &path));
        if let Err(error) = done {
            super::to_stderr(format!("could not write file \"{LIST}\": {}", base::os_error(&error)));
        }
        *CURRENT.lock() = list;
    }

    /// Writes lines to the files of their forms.
    pub fn write(&mut self, lines: &[Forms]) -> io::Result<()> {
        let texts: [Vec<&str>; 3] = [
            lines.iter().filter_map(|line| line.stderr.as_deref()).collect(),
            lines.iter().filter_map(|line| line.csv.as_deref()).collect(),
            lines.iter().filter_map(|line| line.json.as_deref()).collect(),
        ];
        for (open, texts) in self.open.iter_mut().zip(texts).filter(|(_, texts)| !texts.is_empty()) {
            let file = open.file.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            // At the end as it is now: others may have cut the file.
            file.write_all_at(texts.concat().as_bytes(), file.len()?)?;
        }
        Ok(())
    }
}

fn now() -> i64 {
    runtime::wall_clock_micros().div_euclid(1_000_000)
}

/// Another ending for each format.
fn file_name(base: &str, format: usize) -> String {
    match format {
        0 => base.to_string(),
        other => format!("{}{}", base.strip_suffix(ENDINGS[0]).unwrap_or(base), ENDINGS[other]),
    }
}

fn open(path: &Path, empty: bool, mode: u32) -> io::Result<File> {
    let is_new = fs::metadata(path).is_err();
    let file = File::open(path, if empty { OpenOptions::TRUNCATE } else { OpenOptions::CREATE })?;
    if is_new {
        fs::set_permissions(path, mode)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_times() {
        assert_eq!(file_name("a.log", 0), "a.log");
        assert_eq!(file_name("a.log", 1), "a.csv");
        assert_eq!(file_name("a", 2), "a.json");
        let zone = TimeZone::named("Europe/Berlin").unwrap();
        let mut files = Files::new(&ServerSettings::new(), [true, false, false], zone);
        // A day from one midnight in Berlin to the next.
        let midnight = 820_540_800 - 3600;
        assert_eq!(files.next_time(midnight + 5), midnight + 86_400);
        assert_eq!(files.next_time(midnight - 1), midnight);
        files.wanted.age = 0;
        assert_eq!(files.next_time(0), i64::MAX);
    }
}
