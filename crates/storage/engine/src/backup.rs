//! # What
//! Base backups: copies of the data directory's files, taken while the server runs. Pages are copied as they happen to be; redo from the backup's start makes
//! them right.
//!
//! # Layout
//! [`Engine::begin_backup`] and [`Engine::end_backup`] enclose the copying, whoever does it. What recovery needs to know of it is the file [`LABEL`], which goes into
//! the copy only: lines of `WORD: value`, as PostgreSQL writes them. With its last lines it is the backup's history file in the log's folder,
//! `<segment>.<offset>.backup`.
//!
//! # Invariants
//! 1. A backup begins with a checkpoint of its own, behind which every first change of a page logs its image, also with `full_page_writes = off`
//!    ([`wal::Wal::force_images`]), until the backup has ended.
//! 2. It ends with a record (BACKUP_END) that names its start. Before that record redo has not mended all pages that were copied.
//! 3. *Of a standby*, which can neither have a checkpoint made nor write a record, it begins at the restart point, and ends where the control file said
//!    that the data on disk are consistent again when it was copied, behind all other files. Whether the log has the images of pages is up to the server that
//!    writes it: it tells when `full_page_writes` is off (FPW_CHANGE, and each checkpoint), and a backup whose log that would be part of fails.
//!
//! # Why a copy of any moment is mended
//! Whatever is in a copied file was written before the end of the copying, and what was written after the start checkpoint's redo point is in the log from there
//! on. So redo from there repeats it, whether the copy has it or not, in the order of the log. What that means for each kind of file:
//!
//! * *Pages of relations.* The first change behind the redo point brings an image, which replaces what was copied, torn or not. A page without a change is as the
//!   checkpoint left it, and nobody writes it. Hints that are set without a record of their own log an image first ([`wal::Wal::needs_image`]).
//!   Free-space maps are not logged: a page that is torn fails its check sum and counts as empty, as after a crash.
//! * *Lengths of files.* A file that was copied too short is made longer by redo; one that was copied before it was cut, or dropped, is cut or dropped again.
//!   `global/pg_lengths` says what files must have at least; if a later checkpoint wrote it, it may ask for more than was copied. So who copies by
//!   [`BASE_BACKUP`](Engine::begin_backup) takes the file as the start checkpoint left it ([`Backup::lengths`]).
//! * *Commit log, multixacts.* Sectors are whole or found to be damaged; bits behind the redo point are set again by redo of the records that set them. Pages that
//!   are new since then are made by records of their own.
//! * *Maps of the catalogs' files.* A file is replaced as a whole, and is never behind the redo point; if it is ahead, redo repeats the changes in
//!   their order.
//! * *Prepared transactions.* A state file is whole or not there. One of a transaction that has ended since is not needed, for its end is in the log; one that is missing
//!   because it ended is not missed, for the same reason; one that is newer is repeated by its record.
//! * *The control file* is replaced as a whole. Recovery takes the checkpoint from the label, not from there.
//! * *Folders of databases.* One that is being made has the name of its transaction in it, or no name that counts yet; one that is removed meanwhile is removed again
//!   by redo. As in PostgreSQL, what is changed in a template while a backup runs that CREATE DATABASE with the strategy FILE_COPY has copied
//!   meanwhile may be in the new database too.
//! * *The log* of the time of the copying is not copied with the rest, but brought along afterwards, or by whoever receives it meanwhile.
//! * *Tablespaces* that lie elsewhere are copied each by itself. The copy's links are made of [`TABLESPACE_MAP`], or by whoever makes it, and may lead elsewhere than the
//!   server's. One that is made meanwhile is made again by redo, one that is dropped is dropped again.
//! * *Unlogged relations* are emptied by recovery, as after any crash: only their initial forks are copied.
//!
//! # Locks
//! None of its own.
//!
//! # PostgreSQL counterpart
//! `do_pg_backup_start`, `do_pg_backup_stop` in `xlog.c`; `xlogbackup.c`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{Lsn, Oid, TimelineId, Xid};
use runtime::{WaitEvent, fs};
use wal::{RecordBuilder, Rmgr, xlog_info};

use crate::{CheckpointCause, Engine, EngineError, tablespace_map};

/// The file in a copy that says how to recover it.
pub const LABEL: &str = "backup_label";
/// The file in a copy that says where tablespaces lie.
pub const TABLESPACE_MAP: &str = "tablespace_map";

/// How often a backup that waits for the archive says so, at first.
const FIRST_WARNING: Duration = Duration::from_secs(60);
/// Between two looks at the archive.
const LOOK: Duration = Duration::from_millis(500);

/// Backups that run.
#[derive(Debug, Default)]
pub(crate) struct Backups(AtomicUsize);

/// A tablespace that users made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tablespace {
    /// Its name in `pg_tblspc`.
    pub oid: Oid,
    /// Where it lies; none: in place.
    pub location: Option<PathBuf>,
}

/// A backup that runs. It is to be ended by [`Engine::end_backup`] or [`Engine::abandon_backup`].
#[derive(Clone, Debug)]
pub struct Backup {
    /// What its user calls it.
    pub label: String,
    /// Redo begins here.
    pub start: Lsn,
    /// The start checkpoint's record.
    pub checkpoint: Lsn,
    /// The time line of the log then.
    pub timeline: TimelineId,
    /// When it began, microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// `global/pg_lengths` as the start checkpoint left it.
    pub lengths: Vec<u8>,
    /// Where the backup began that this one is based on, if it is incremental.
    pub from: Option<(Lsn, TimelineId)>,
    /// The tablespaces that were there when it began; later ones are made by redo.
    pub tablespaces: Vec<Tablespace>,
    /// The server replays another one's log.
    pub of_standby: bool,
}

/// Why a backup of a standby is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoiled {
    /// The log from its beginning on lacks images of pages.
    BareBefore,
    /// The log since it began does.
    BareMeanwhile,
    /// The standby has become a server of its own.
    Promoted,
}

impl Spoiled {
    pub(crate) fn message(self) -> &'static str {
        match self {
            Spoiled::BareBefore => {
                "WAL generated with \"full_page_writes=off\" was replayed since last restartpoint"
            }
            Spoiled::BareMeanwhile => {
                "WAL generated with \"full_page_writes=off\" was replayed during online backup"
            }
            Spoiled::Promoted => "the standby was promoted during online backup",
        }
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            Spoiled::BareBefore | Spoiled::BareMeanwhile => {
                "This means that the backup being taken on the standby is corrupt and should not be used. Enable \"full_page_writes\" and run CHECKPOINT on the primary, and then try an online backup again."
            }
            Spoiled::Promoted => {
                "This means that the backup being taken is corrupt and should not be used. Try taking another online backup."
            }
        }
    }
}

/// The end of a backup.
#[derive(Clone, Copy, Debug)]
pub struct BackupEnd {
    /// All log before this is needed.
    pub stop: Lsn,
    /// On which time line.
    pub timeline: TimelineId,
    /// When, microseconds since 2000-01-01 UTC.
    pub time: i64,
}

impl Backup {
    /// The text of [`LABEL`]. `segment`: name of the log's file in which redo begins; `time` shows a moment as the log's time zone has it, to the second.
    pub fn label_text(&self, segment: &str, time: &dyn Fn(i64) -> String) -> String {
        self.plain_label(segment, time) + &self.basis_text()
    }

    /// The text of [`TABLESPACE_MAP`].
    pub fn tablespace_map(&self) -> String {
        tablespace_map::text(&self.tablespaces)
    }

    /// What it is based on.
    fn basis_text(&self) -> String {
        self.from.map_or(String::new(), |(lsn, timeline)| {
            format!("INCREMENTAL FROM LSN: {lsn}\nINCREMENTAL FROM TLI: {timeline}\n")
        })
    }

    fn plain_label(&self, segment: &str, time: &dyn Fn(i64) -> String) -> String {
        let from = if self.of_standby { "standby" } else { "primary" };
        format!(
            "START WAL LOCATION: {} (file {segment})\nCHECKPOINT LOCATION: {}\nBACKUP METHOD: streamed\n\
             BACKUP FROM: {from}\nSTART TIME: {}\nLABEL: {}\nSTART TIMELINE: {}\n",
            self.start,
            self.checkpoint,
            time(self.time),
            self.label,
            self.timeline
        )
    }

    /// The text of the history file.
    fn history_text(
        &self,
        (first, last): (&str, &str),
        end: &BackupEnd,
        time: &dyn Fn(i64) -> String,
    ) -> String {
        let label = self.plain_label(first, time);
        let (head, rest) = label.split_once('\n').unwrap_or((&label, ""));
        format!(
            "{head}\nSTOP WAL LOCATION: {} (file {last})\n{rest}STOP TIME: {}\nSTOP TIMELINE: {}\n{}",
            end.stop,
            time(end.time),
            end.timeline,
            self.basis_text()
        )
    }
}

impl Engine {
    /// Begins a backup: takes a checkpoint, at once if it is to be `fast`, else as spread as others; or, on a standby, a restart point.
    pub fn begin_backup(&self, label: &str, fast: bool) -> Result<Backup, EngineError> {
        self.wal.force_images(true);
        self.backups.0.fetch_add(1, Ordering::SeqCst);
        let began = self.start_of_backup(label, fast);
        if began.is_err() {
            self.abandon_backup();
        }
        began
    }

    fn start_of_backup(&self, label: &str, fast: bool) -> Result<Backup, EngineError> {
        let of_standby = self.is_following();
        // The lengths are those of the restart point.
        let _alone = of_standby.then(|| self.hold_checkpoints());
        let (start, checkpoint, timeline) =
            if of_standby { self.start_of_standby()? } else { self.start_checkpoint(fast)? };
        Ok(Backup {
            label: label.to_owned(),
            start,
            checkpoint,
            timeline,
            time: runtime::wall_clock_micros(),
            lengths: fs::read_to_vec(&self.dir.join(crate::lengths::FILE)).map_err(|e| {
                EngineError::Io(format!("could not open file \"{}\"", crate::lengths::FILE), e)
            })?,
            from: None,
            tablespaces: self.tablespaces()?,
            of_standby,
        })
    }

    /// Takes the checkpoint with which a backup begins: its redo point, its record and their time line.
    fn start_checkpoint(&self, fast: bool) -> Result<(Lsn, Lsn, TimelineId), EngineError> {
        // Segments of before are not needed then, and no two backups begin in one.
        self.switch_wal()?;
        let cause = if fast { CheckpointCause::Requested } else { CheckpointCause::Backup };
        let stats = self.checkpoint(cause)?;
        Ok((stats.redo, stats.record, self.wal.timeline()))
    }

    /// The same of a standby's restart point. The caller holds checkpoints.
    fn start_of_standby(&self) -> Result<(Lsn, Lsn, TimelineId), EngineError> {
        self.newest_restart_point()?;
        let control = self.control.lock();
        let checkpoint = &control.checkpoint;
        if !checkpoint.full_page_writes || self.lacks_images(checkpoint.redo) {
            return Err(EngineError::Backup(Spoiled::BareBefore));
        }
        Ok((checkpoint.redo, control.checkpoint_lsn, checkpoint.timeline))
    }

    /// Whether the log that was replayed from a position on lacks images of pages.
    fn lacks_images(&self, from: Lsn) -> bool {
        self.replayed.lock().as_ref().is_some_and(|reached| reached.bare() >= from)
    }

    /// The tablespaces that users made.
    pub fn tablespaces(&self) -> Result<Vec<Tablespace>, EngineError> {
        let failed = |e| EngineError::Io("could not open directory \"pg_tblspc\"".into(), e);
        let mut found = Vec::new();
        for oid in
            smgr::tablespaces(&self.dir).map_err(failed)?.into_iter().filter(|oid| *oid != Oid::PG_DEFAULT)
        {
            match self.tablespace_location(oid) {
                Ok(location) => found.push(Tablespace { oid, location }),
                // It has gone since.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    let link = format!("could not read symbolic link \"pg_tblspc/{oid}\"");
                    return Err(EngineError::Io(link, error));
                }
            }
        }
        Ok(found)
    }

    /// A backup was given up.
    pub fn abandon_backup(&self) {
        self.backups.0.fetch_sub(1, Ordering::SeqCst);
        self.wal.force_images(false);
    }

    /// How many backups run.
    pub fn running_backups(&self) -> usize {
        self.backups.0.load(Ordering::SeqCst)
    }

    /// Ends a backup whose files are copied: logs its end, and leaves the segment that it is in. The log is on disk up to there on return. Of a
    /// standby, finds out where it ends.
    pub fn end_backup(
        &self,
        backup: &Backup,
        time: &dyn Fn(i64) -> String,
    ) -> Result<BackupEnd, EngineError> {
        let ended = if backup.of_standby { self.end_on_standby(backup) } else { self.log_end(backup, time) };
        self.abandon_backup();
        ended
    }

    fn end_on_standby(&self, backup: &Backup) -> Result<BackupEnd, EngineError> {
        if !self.is_following() {
            return Err(EngineError::Backup(Spoiled::Promoted));
        }
        if self.lacks_images(backup.start) {
            return Err(EngineError::Backup(Spoiled::BareMeanwhile));
        }
        let control = self.control.lock();
        let (stop, timeline) = (control.min_recovery_point, control.min_recovery_timeline);
        Ok(BackupEnd { stop, timeline, time: runtime::wall_clock_micros() })
    }

    fn log_end(&self, backup: &Backup, time: &dyn Fn(i64) -> String) -> Result<BackupEnd, EngineError> {
        self.wal.admit()?;
        let mut record = RecordBuilder::new(Rmgr::Xlog, xlog_info::BACKUP_END, Xid::INVALID);
        let start = backup.start.0.to_le_bytes();
        record.data(&start);
        let stop = self.wal.insert(&record);
        self.wal.flush(stop)?;
        let end = BackupEnd { stop, timeline: self.wal.timeline(), time: runtime::wall_clock_micros() };
        self.switch_wal()?;
        let files = (self.first_file(backup), self.last_file(&end));
        let text = backup.history_text((&files.0, &files.1), &end, time);
        let name = self.history_name(backup);
        let path = self.wal.dir().join(&name);
        fs::write_file_durably(&path, text.as_bytes())
            .map_err(|e| EngineError::Io(format!("could not write file \"pg_wal/{name}\""), e))?;
        self.remove_old_histories(&name)?;
        self.wal.archive().notify(&name)?;
        Ok(end)
    }

    /// Name of the last segment that a backup needs.
    pub fn last_file(&self, end: &BackupEnd) -> String {
        self.segment_name(end.timeline, Lsn(end.stop.0 - 1))
    }

    /// Name of the log's file in which a backup's redo begins.
    pub fn first_file(&self, backup: &Backup) -> String {
        self.segment_name(backup.timeline, backup.start)
    }

    fn segment_name(&self, timeline: TimelineId, at: Lsn) -> String {
        wal::segment_file_name(timeline, at, self.wal.segment_size())
    }

    fn history_name(&self, backup: &Backup) -> String {
        let offset = backup.start.0 - self.wal.segment_start(backup.start).0;
        format!("{}.{offset:08X}.backup", self.wal.file_name(backup.start))
    }

    /// History files of older backups go; those that wait for the archive stay.
    fn remove_old_histories(&self, newest: &str) -> Result<(), EngineError> {
        let dir = self.wal.dir();
        let io = |e| EngineError::Io("could not read directory \"pg_wal\"".into(), e);
        for entry in fs::read_dir(dir).map_err(io)? {
            let name = &entry.name;
            let is_history = name.ends_with(".backup") && name.len() == newest.len();
            if is_history && name.as_str() < newest && self.wal.archive().may_remove(name)? {
                fs::remove_file(&dir.join(name)).map_err(io)?;
                self.wal.archive().forget(name)?;
            }
        }
        Ok(())
    }

    /// Waits until the archive has all log of a backup. `warn` is told now and then, after how many seconds, that it has not. Returns whether there
    /// is an archive.
    pub fn wait_for_archive(
        &self,
        backup: &Backup,
        end: &BackupEnd,
        warn: &dyn Fn(u64),
    ) -> Result<bool, EngineError> {
        if !self.is_archiving() {
            return Ok(false);
        }
        let files = [self.last_file(end), self.history_name(backup)];
        let began = runtime::now();
        let mut next_warning = FIRST_WARNING;
        for file in &files {
            while !self.has_archived(file)? {
                let pause = || runtime::wait_interruptible(runtime::sleep(LOOK));
                runtime::waiting(WaitEvent::BackupArchive, pause).map_err(EngineError::Interrupted)?;
                if began.elapsed() >= next_warning {
                    warn(next_warning.as_secs());
                    next_warning *= 2;
                }
            }
        }
        Ok(true)
    }

    /// Whether the archive has a file of the log: its mark says so, or the file is gone because it had.
    fn has_archived(&self, name: &str) -> Result<bool, EngineError> {
        let archive = self.wal.archive();
        if archive.is_done(name)? {
            return Ok(true);
        }
        if archive.is_ready(name)? {
            return Ok(false);
        }
        let there = fs::exists(&self.wal.dir().join(name))
            .map_err(|e| EngineError::Io(format!("could not stat file \"pg_wal/{name}\""), e))?;
        if there {
            archive.notify(name)?;
        }
        Ok(!there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_postgresqls() {
        let backup = Backup {
            label: "x".into(),
            start: Lsn(0x600_0028),
            checkpoint: Lsn(0x600_0080),
            timeline: TimelineId(1),
            time: 5,
            lengths: Vec::new(),
            from: None,
            tablespaces: Vec::new(),
            of_standby: false,
        };
        let time = |at: i64| format!("second {at} UTC");
        let file = "000000010000000000000006";
        assert_eq!(
            backup.label_text(file, &time),
            "START WAL LOCATION: 0/6000028 (file 000000010000000000000006)\n\
             CHECKPOINT LOCATION: 0/6000080\nBACKUP METHOD: streamed\nBACKUP FROM: primary\n\
             START TIME: second 5 UTC\nLABEL: x\nSTART TIMELINE: 1\n"
        );
        let end = BackupEnd { stop: Lsn(0x600_0120), timeline: TimelineId(1), time: 9 };
        assert_eq!(
            backup.history_text((file, file), &end, &time),
            "START WAL LOCATION: 0/6000028 (file 000000010000000000000006)\n\
             STOP WAL LOCATION: 0/6000120 (file 000000010000000000000006)\n\
             CHECKPOINT LOCATION: 0/6000080\nBACKUP METHOD: streamed\nBACKUP FROM: primary\n\
             START TIME: second 5 UTC\nLABEL: x\nSTART TIMELINE: 1\nSTOP TIME: second 9 UTC\nSTOP TIMELINE: 1\n"
        );
    }
}
