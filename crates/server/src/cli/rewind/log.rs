//! What the target's log says: where the two histories part, the checkpoint to begin from again, and what was changed behind it.

use std::path::{Path, PathBuf};

use base::{Lsn, TimelineId};
use engine::changes::Changes;
use engine::control::{Checkpoint, ControlFile};
use engine::shell;
use engine::xlog::as_checkpoint;
use runtime::{WaitEvent, fs};
use wal::{History, SegmentSource, WalError, WalReader};

use super::super::messages::{Failure, Messages};

/// The log of a data directory, along a time line.
pub(super) struct Log {
    dir: PathBuf,
    system_identifier: u64,
    segment_size: u64,
    history: History,
    /// Fetches segments that are not there any more.
    restore_command: Option<String>,
    messages: Messages,
}

/// The last checkpoint that both clusters have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommonCheckpoint {
    /// Its record.
    pub at: Lsn,
    /// Its contents.
    pub checkpoint: Checkpoint,
}

/// The point where two histories part, and the time line that they have in common there; none if they have none.
pub(super) fn divergence(source: &History, target: &History) -> Option<(Lsn, TimelineId)> {
    let mut common = None;
    for (one, other) in source.stretches().iter().zip(target.stretches()) {
        if (one.timeline, one.begin) != (other.timeline, other.begin) {
            break;
        }
        let end = [one.end, other.end].into_iter().flatten().min();
        common = Some((end.unwrap_or(Lsn(u64::MAX)), one.timeline));
    }
    common
}

impl Log {
    pub fn new(
        dir: &Path,
        control: &ControlFile,
        history: History,
        restore_command: Option<String>,
        messages: Messages,
    ) -> Log {
        let (system_identifier, segment_size) =
            (control.system_identifier, u64::from(control.wal_segment_size));
        Log { dir: dir.to_path_buf(), system_identifier, segment_size, history, restore_command, messages }
    }

    fn reader(&self, from: Lsn) -> WalReader {
        let reader =
            WalReader::open(&self.dir.join("pg_wal"), self.segment_size, Some(self.system_identifier), from)
                .along(self.history.clone());
        match &self.restore_command {
            None => reader,
            Some(command) => reader.bringing(Box::new(Restoring {
                dir: self.dir.clone(),
                segment_size: self.segment_size,
                command: command.clone(),
                messages: self.messages,
            })),
        }
    }

    /// Why there is no record at a position, as PostgreSQL says it: a missing file has a line of its own.
    fn unreadable(&self, what: &str, at: Lsn, reason: &str) -> Failure {
        let Some(name) = reason.strip_prefix("no segment file ") else {
            return format!("could not {what} WAL record at {at}: {reason}").into();
        };
        let path = self.dir.join("pg_wal").join(name);
        let missing = format!("could not open file \"{}\": No such file or directory", path.display());
        format!("{missing}\ncould not {what} WAL record at {at}").into()
    }

    /// Where the record ends that begins here.
    pub fn end_of_record(&self, at: Lsn) -> Result<Lsn, Failure> {
        let mut reader = self.reader(at);
        match reader.next().transpose().map_err(|error| error.to_string())? {
            Some(record) => Ok(record.end),
            None => Err(self.unreadable("read", at, reader.end_reason().unwrap_or_default())),
        }
    }

    /// The last checkpoint that begins before `end`. Segments are looked through from the last one back, for records do not say what came before.
    pub fn last_checkpoint_before(&self, end: Lsn) -> Result<CommonCheckpoint, Failure> {
        let mut segment = Lsn((end.0 - 1) / self.segment_size * self.segment_size);
        loop {
            let mut reader = self.reader(segment);
            let mut last = None;
            let first =
                reader.find(Lsn(segment.0 + self.segment_size).min(end)).map_err(|e| e.to_string())?;
            let records = first.into_iter().map(Ok).chain(reader.by_ref());
            for record in records {
                let record = record.map_err(|error| error.to_string())?;
                if record.lsn >= end {
                    break;
                }
                if let Some(checkpoint) = as_checkpoint(&record) {
                    last = Some(CommonCheckpoint { at: record.lsn, checkpoint });
                }
                if record.end.0 >= segment.0 + self.segment_size {
                    break;
                }
            }
            if let Some(last) = last {
                return Ok(last);
            }
            if !self.has_segment(segment)? {
                let name = wal::segment_file_name(self.history.at(segment), segment, self.segment_size);
                return Err(self.unreadable("find previous", end, &format!("no segment file {name}")));
            }
            if segment.0 < 2 * self.segment_size {
                return Err(format!("could not find previous WAL record at {end}").into());
            }
            segment = Lsn(segment.0 - self.segment_size);
        }
    }

    /// Whether the segment's file is there, once a reader has asked for it.
    fn has_segment(&self, start: Lsn) -> Result<bool, Failure> {
        let timelines = self.history.stretches().iter().map(|stretch| stretch.timeline);
        for timeline in timelines {
            let name = wal::segment_file_name(timeline, start, self.segment_size);
            let path = self.dir.join("pg_wal").join(name);
            let there = fs::exists(&path).map_err(|error| {
                format!("could not stat file \"{}\": {}", path.display(), base::os_error(&error))
            })?;
            if there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What was changed by records from `from` to `end`.
    pub fn changes(&self, from: Lsn, end: Lsn) -> Result<Changes, Failure> {
        let mut reader = self.reader(from);
        let mut changes = Changes::default();
        while reader.position() < end {
            let at = reader.position();
            match reader.next().transpose().map_err(|error| error.to_string())? {
                Some(record) => changes.note(&record),
                None => return Err(self.unreadable("read", at, reader.end_reason().unwrap_or_default())),
            }
        }
        Ok(changes)
    }

    /// Whether a file of the target's log has to stay, for redo from `redo` to `end`.
    pub fn is_needed(&self, path: &str, redo: Lsn, end: Lsn) -> bool {
        let Some(name) = path.strip_prefix("pg_wal/") else { return false };
        wal::parse_segment_file_name(name, self.segment_size).is_some_and(|(timeline, start)| {
            self.history.stretch(timeline).is_some() && start.0 + self.segment_size > redo.0 && start < end
        })
    }
}

/// Fetches segments from an archive.
struct Restoring {
    dir: PathBuf,
    segment_size: u64,
    command: String,
    messages: Messages,
}

impl Restoring {
    fn failed(message: String) -> WalError {
        WalError { kind: std::io::ErrorKind::Other, message, transient: false }
    }

    /// Runs the command; whether it says that it has put the file there.
    fn run(&self, name: &str) -> Result<bool, WalError> {
        let path = format!("pg_wal/{name}");
        let filled = shell::fill(&self.command, &[('f', name), ('p', &path)]);
        match filled.and_then(|command| shell::run(&command, &self.dir, WaitEvent::RestoreCommand)) {
            Ok(()) => Ok(true),
            Err(failure @ shell::Failure::Code(_)) if !failure.is_signal() => Ok(false),
            Err(failure) => Err(Self::failed(failure.message("restore command", "restore_command"))),
        }
    }
}

impl SegmentSource for Restoring {
    fn bring(&mut self, _timeline: TimelineId, _start: Lsn, name: &str) -> Result<bool, WalError> {
        let path = self.dir.join("pg_wal").join(name);
        let stat = |e: std::io::Error| {
            Self::failed(format!("could not stat file \"{}\": {}", path.display(), base::os_error(&e)))
        };
        if fs::exists(&path).map_err(stat)? {
            return Ok(false);
        }
        if !self.run(name)? {
            return Ok(false);
        }
        if !fs::exists(&path).map_err(stat)? {
            return Ok(false);
        }
        let length = fs::metadata(&path).map_err(stat)?.len;
        if length != self.segment_size {
            return Err(Self::failed(format!(
                "unexpected file size for \"{name}\": {length} instead of {}",
                self.segment_size
            )));
        }
        self.messages.debug(format!("using file \"{name}\" restored from archive"));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_part_where_one_is_left_first() {
        let first = History::of(TimelineId(1));
        let second = first.child(TimelineId(2), Lsn(0x500), "");
        let third = second.child(TimelineId(3), Lsn(0x900), "");
        let other = first.child(TimelineId(2), Lsn(0x400), "");
        let parting = |one: &History, two: &History| divergence(one, two).map(|(at, on)| (at.0, on.0));
        assert_eq!(parting(&second, &first), Some((0x500, 1)));
        assert_eq!(parting(&third, &second), Some((0x900, 2)));
        assert_eq!(parting(&third, &first), Some((0x500, 1)));
        assert_eq!(parting(&third, &other), Some((0x400, 1)));
        assert_eq!(parting(&History::of(TimelineId(7)), &first), None);
    }
}
