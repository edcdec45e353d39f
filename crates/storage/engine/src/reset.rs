//! # What
//! A new, empty log for a data directory whose own is lost or damaged: what `pg_resetwal` does.
//!
//! # Invariants
//! 1. The new log begins behind all segments that there are, or were archived: no page is ahead of it, and none of its files has the name of another.
//!
//! # WAL and crash
//! The control file is written first, then the old log goes, then the new one is made. Until that is done no server starts, and it can be done once more.
//!
//! # PostgreSQL counterpart
//! `pg_resetwal.c`.

use std::io;
use std::path::Path;

use base::{Lsn, Xid};
use runtime::fs;
use wal::{ARCHIVE_STATUS, History, Wal, WalOptions, WalReader, WalStart};

use crate::control::{Checkpoint, ClusterState, ControlFile, RecordedSettings};
use crate::{EngineError, relation, xlog};

fn failed(what: &str, path: &Path, error: io::Error) -> EngineError {
    EngineError::Io(format!("could not {what} \"{}\"", path.display()), error)
}

/// The names in a folder; none if it is not there.
fn names(folder: &Path) -> Result<Vec<String>, EngineError> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.into_iter().map(|entry| entry.name).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("open directory", folder, error)),
    }
}

/// The segment that a file of the log's folders is about, if it is: of a segment, of a part of one, of a backup, and their marks.
fn segment_name(name: &str) -> Option<&str> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    wal::is_segment_name(stem).then_some(stem)
}

/// First byte behind all segments that there are, or whose archiving is remembered; and behind the last checkpoint.
pub fn end_of_log(dir: &Path, control: &ControlFile) -> Result<Lsn, EngineError> {
    let size = u64::from(control.wal_segment_size);
    let wal = dir.join("pg_wal");
    let known = [names(&wal)?, names(&wal.join(ARCHIVE_STATUS))?].concat();
    let starts = known.iter().filter_map(|name| wal::parse_segment_file_name(segment_name(name)?, size));
    let last = starts.map(|(_, start)| start).max().unwrap_or_default();
    Ok(Lsn((last.0.max(control.checkpoint.redo.0) / size + 1) * size))
}

/// What a lost control file may have said: by the newest checkpoint in the log, if there is one, and by nothing else if there is none.
pub fn guess(dir: &Path) -> Result<ControlFile, EngineError> {
    let wal = dir.join("pg_wal");
    let mut segments: Vec<String> =
        names(&wal)?.into_iter().filter(|name| wal::is_segment_name(name)).collect();
    // By place, whatever the time line.
    segments.sort_by_key(|name| name[8..].to_owned());
    let now = (runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS) as u64;
    let initial = Checkpoint {
        next_xid: Xid::FIRST_NORMAL,
        next_oid: relation::FIRST_INITIAL,
        next_multixact: txn::multixact::FIRST.0,
        oldest_running: Xid::FIRST_NORMAL,
        full_page_writes: true,
        ..Checkpoint::default()
    };
    let mut control = ControlFile::new(now << 32, WalOptions::default().segment_size as u32, initial);
    for name in segments.iter().rev() {
        let Some(inspected) = WalReader::inspect_segment(&wal.join(name))? else { continue };
        control.system_identifier = inspected.system_identifier;
        control.wal_segment_size = inspected.segment_size as u32;
        let start = Lsn(inspected.first.0 / inspected.segment_size * inspected.segment_size);
        let mut reader =
            WalReader::open(&wal, inspected.segment_size, Some(inspected.system_identifier), start)
                .along(History::of(inspected.timeline));
        let first = reader.find(Lsn(start.0 + inspected.segment_size))?;
        let mut last = None;
        for record in first.into_iter().map(Ok).chain(&mut reader) {
            last = xlog::as_checkpoint(&record?).or(last);
        }
        if let Some(checkpoint) = last {
            control.checkpoint = checkpoint;
            break;
        }
    }
    Ok(control)
}

/// Gives the data directory an empty log that begins with the segment at `start`, and a control file that says what `control` does. No server may run.
pub fn reset(dir: &Path, control: &ControlFile, start: Lsn) -> Result<(), EngineError> {
    let options = WalOptions { segment_size: u64::from(control.wal_segment_size), ..WalOptions::default() };
    let wal_dir = dir.join("pg_wal");
    let now = runtime::wall_clock_micros();
    let mut control = control.clone();
    control.end_recovery();
    control.state = ClusterState::ShutDown;
    control.time = now;
    control.settings = RecordedSettings {
        max_connections: 100,
        max_worker_processes: 8,
        max_wal_senders: 10,
        max_locks_per_transaction: 64,
        wal_level: crate::control::WalLevel::Minimal,
        ..RecordedSettings::default()
    };
    control.checkpoint.redo = start;
    control.checkpoint_lsn = start;
    control.checkpoint.previous_timeline = control.checkpoint.timeline;
    (control.checkpoint.time, control.checkpoint.shutdown) = (now, true);
    control.write(dir)?;
    remove_log(&wal_dir)?;

    let (system_identifier, timeline) = (control.system_identifier, control.checkpoint.timeline);
    let from = WalStart { system_identifier, read: timeline, timeline, end: start, redo: start };
    let wal = Wal::open(&wal_dir, options, from)?;
    control.checkpoint.redo = wal.insert_end();
    let inserted = wal.insert_range(&xlog::checkpoint_record(&control.checkpoint, &prepared(dir)?));
    wal.flush(inserted.end)?;
    control.checkpoint_lsn = inserted.start;
    control.write(dir)
}

/// Removes all segments, what is known of their archiving, and summaries of them.
fn remove_log(wal: &Path) -> Result<(), EngineError> {
    for folder in [wal.to_path_buf(), wal.join(ARCHIVE_STATUS)] {
        for name in names(&folder)? {
            if segment_name(&name).is_some() {
                let path = folder.join(&name);
                fs::remove_file(&path).map_err(|error| failed("delete file", &path, error))?;
            }
        }
    }
    fs::sync_dir(wal).map_err(|error| failed("fsync directory", wal, error))
}

/// Transactions that are prepared, by their state files.
fn prepared(dir: &Path) -> Result<Vec<Xid>, EngineError> {
    let of_name = |name: String| u64::from_str_radix(&name, 16).ok().map(Xid);
    Ok(names(&dir.join("pg_twophase"))?.into_iter().filter_map(of_name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_about_segments() {
        let segment = "0000000100000000000000AB";
        for end in ["", ".partial", ".ready", ".done", ".00000028.backup", ".00000028.backup.done"] {
            assert_eq!(segment_name(&format!("{segment}{end}")), Some(segment), "{end}");
        }
        for other in ["00000002.history", "archive_status", "summaries", "x"] {
            assert_eq!(segment_name(other), None, "{other}");
        }
    }
}
