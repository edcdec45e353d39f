//! # What
//! Base backups: BASE_BACKUP, which copies the data directory to the client as an archive, and `pg_backup_start` and `pg_backup_stop` around copies
//! that others make.
//!
//! # Layout
//! `options`: what BASE_BACKUP can be told. `files`: what is copied and what is not. `incremental`: which blocks need not be copied because an earlier backup has them. `tar`, `manifest`: the form of what is sent; `compression`: how it is compressed. `sink`: where it goes.
//! Why copies of a running server's files can be recovered stands in [`engine::backup`].
//!
//! # Invariants
//! 1. A backup that does not come to its end is given up: by its command, or with its session.
//! 2. No transaction runs while files are copied.
//!
//! # PostgreSQL counterpart
//! `basebackup.c` and its sinks; `xlogfuncs.c`.

mod compression;
mod files;
mod incremental;
pub mod manifest;
mod options;
mod sink;
mod tar;

use base::settings::Setting;
use base::{Lsn, Oid, Severity, SqlError, SqlResult, SqlState, TimelineId, sql_err, tablespace_folder};
use catalog::predefined;
use engine::Engine;
use engine::backup::{self, Backup, BackupEnd, Tablespace};
use engine::files::TABLESPACES;
use tuple::Datum;
use types::SessionFn;
use types::moment::Moment;
use types::oids;
use types::timezone::TimeZone;

use super::SenderState;
use super::grammar::OptionItem;
use crate::Session;
use crate::functions::{Row, arg};
use crate::output::Output;
use crate::progress::Lengthy;
use files::Copier;
use manifest::{Range, Writer};
use options::{LABEL_LENGTH, Manifest, Options, Target, label_too_long};
use sink::Sink;

/// Figures of progress, and phases.
mod figures {
    pub const PHASE: usize = 1;
    pub const TOTAL: usize = 2;
    pub const TABLESPACES: usize = 4;
    pub const TABLESPACES_DONE: usize = 5;
    pub const WAIT_CHECKPOINT: i64 = 1;
    pub const ESTIMATE: i64 = 2;
    pub const STREAM: i64 = 3;
    pub const WAIT_ARCHIVE: i64 = 4;
    pub const STREAM_LOG: i64 = 5;
}

/// A backup that is given up unless it ends.
struct Guarded<'a> {
    engine: &'a Engine,
    backup: Option<Backup>,
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        if self.backup.is_some() {
            self.engine.abandon_backup();
        }
    }
}

/// Where a tablespace lies; in place, below the data directory.
fn location_of(Tablespace { oid, location }: &Tablespace) -> String {
    location
        .as_ref()
        .map_or_else(|| format!("{TABLESPACES}/{oid}"), |location| location.to_string_lossy().into_owned())
}

impl Session {
    /// BASE_BACKUP.
    pub(super) fn base_backup(&self, items: &[OptionItem], out: &mut dyn Output) -> SqlResult<()> {
        let options = options::read(items, self.engine().options().summaries.on)?;
        if let Target::Server(_) = options.target
            && !self.has_role(predefined::WRITE_SERVER_FILES)?
        {
            return Err(sql_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to create backup stored on server"
            )
            .detail(
                "Only roles with privileges of the \"pg_write_server_files\" role may create a backup stored on the server.",
            ));
        }
        self.end_statement()?;
        let sender = self.instance.senders().enter(self.info.pid);
        sender.update(|figures| figures.state = SenderState::Backup);
        let done = self.copy_all(&options, out);
        sender.update(|figures| figures.state = SenderState::Startup);
        done
    }

    fn copy_all(&self, options: &Options, out: &mut dyn Output) -> SqlResult<()> {
        let progress = self.progress(Lengthy::BaseBackup, Oid::INVALID);
        progress.set(figures::TOTAL, -1);
        progress.set(figures::PHASE, figures::WAIT_CHECKPOINT);
        let engine = self.engine();
        // Another one may be uploaded only when this command is over.
        let earlier = self.manifest.borrow();
        let earlier = match options.incremental {
            false => None,
            true => Some(earlier.as_ref().ok_or_else(|| {
                let message = "must UPLOAD_MANIFEST before performing an incremental BASE_BACKUP";
                SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            })?),
        };
        let mut begun = engine.begin_backup(&options.label, options.fast)?;
        let mut guarded = Guarded { engine, backup: Some(begun.clone()) };
        let basis = earlier.map(|earlier| self.basis(earlier, &begun)).transpose()?;
        begun.from = basis.as_ref().and_then(|basis| basis.start());
        progress.set(figures::TABLESPACES, begun.tablespaces.len() as i64 + 1);
        self.send_position(begun.start, begun.timeline, out)?;
        let sizes = match options.progress {
            false => None,
            true => {
                progress.set(figures::PHASE, figures::ESTIMATE);
                let sizes = self.sizes(&begun)?;
                progress.set(figures::TOTAL, sizes.iter().sum::<u64>() as i64);
                Some(sizes)
            }
        };
        self.send_tablespaces(&begun, sizes.as_deref(), out)?;
        progress.set(figures::PHASE, figures::STREAM);
        let writer = (options.manifest != Manifest::No).then(|| {
            let encodes = options.manifest == Manifest::ForceEncode;
            Writer::new(options.checksum, encodes, engine.wal().system_identifier())
        });
        let sink = Sink::new(out, &progress, (&options.target, options.compression), options.rate)?;
        let mut copier = Copier::new(self, sink, writer, (&begun, basis.as_ref()), options);
        for (number, tablespace) in begun.tablespaces.iter().enumerate() {
            copier.sink.begin_archive(&format!("{}.tar", tablespace.oid), &location_of(tablespace))?;
            copier.tablespace(tablespace)?;
            copier.end_archive()?;
            progress.set(figures::TABLESPACES_DONE, number as i64 + 1);
        }
        copier.sink.begin_archive("base.tar", "")?;
        let label = begun.label_text(&engine.first_file(&begun), &|at| self.log_time(at));
        copier.text(backup::LABEL, label.as_bytes())?;
        if options.tablespace_map {
            copier.text(backup::TABLESPACE_MAP, begun.tablespace_map().as_bytes())?;
        }
        copier.data_directory()?;
        progress.set(figures::TABLESPACES_DONE, begun.tablespaces.len() as i64 + 1);
        progress.set(figures::PHASE, figures::WAIT_ARCHIVE);
        guarded.backup = None;
        let end = engine.end_backup(&begun, &|at| self.log_time(at))?;
        self.await_archive(&begun, &end, options.wait)?;
        let needed = self.needed_log(&begun, &end)?;
        if options.wal {
            progress.set(figures::PHASE, figures::STREAM_LOG);
            copier.log(&needed)?;
        }
        copier.end_archive()?;
        let damaged = copier.damaged;
        let (mut sink, writer) = (copier.sink, copier.manifest);
        if let Some(writer) = writer {
            sink.manifest(&writer.finish(&needed))?;
        }
        sink.finish()?;
        self.send_notices(out);
        self.send_position(end.stop, end.timeline, out)?;
        match damaged {
            0 => Ok(()),
            _ => Err(SqlError::new(
                SqlState::DATA_CORRUPTED,
                "checksum verification failure during base backup",
            )),
        }
    }

    /// The log that a backup needs, the newest first: a standby may have followed another time line meanwhile.
    fn needed_log(&self, begun: &Backup, end: &BackupEnd) -> SqlResult<Vec<Range>> {
        let history = engine::recovery::history(self.engine().dir(), end.timeline)?;
        let ranges = history.stretches().iter().rev().map(|stretch| Range {
            timeline: stretch.timeline,
            start: begun.start.max(stretch.begin),
            end: stretch.end.map_or(end.stop, |left| left.min(end.stop)),
        });
        Ok(ranges.filter(|range| range.start < range.end).collect())
    }

    fn send_position(&self, position: Lsn, timeline: TimelineId, out: &mut dyn Output) -> SqlResult<()> {
        let row = [Datum::text(&position.to_string()), Datum::Int8(timeline.0.into())];
        self.answer(&[("recptr", oids::text), ("tli", oids::int8)], &row, out)?;
        out.command_complete("SELECT")
    }

    /// About how many bytes the archives have, that of the data directory last.
    fn sizes(&self, begun: &Backup) -> SqlResult<Vec<u64>> {
        let own = begun.tablespaces.iter().map(|tablespace| tablespace_folder(tablespace.oid));
        own.chain([String::new()]).map(|folder| files::estimate(self.engine().dir(), &folder)).collect()
    }

    /// The tablespaces, in the order of their archives, the data directory last. Their sizes in bytes, if they were asked for.
    fn send_tablespaces(&self, begun: &Backup, sizes: Option<&[u64]>, out: &mut dyn Output) -> SqlResult<()> {
        let columns = [("spcoid", oids::oid), ("spclocation", oids::text), ("size", oids::int8)];
        let place =
            |tablespace: &Tablespace| [Datum::Oid(tablespace.oid.0), Datum::text(&location_of(tablespace))];
        let places = begun.tablespaces.iter().map(place).chain([[Datum::Null, Datum::Null]]);
        let rows: Vec<[Datum; 3]> = places
            .enumerate()
            .map(|(number, [oid, location])| {
                let size = sizes.map_or(Datum::Null, |sizes| Datum::Int8((sizes[number] / 1024) as i64));
                [oid, location, size]
            })
            .collect();
        self.answer_rows(&columns, &rows, out)?;
        out.command_complete("SELECT")
    }

    /// Waits until the archive has all log of a backup, or says that it must get into the backup otherwise.
    fn await_archive(&self, begun: &Backup, end: &BackupEnd, wait: bool) -> SqlResult<()> {
        if !wait {
            return Ok(());
        }
        let warn = |seconds: u64| {
            let message = format!(
                "still waiting for all required WAL segments to be archived ({seconds} seconds elapsed)"
            );
            let warning = SqlError::with_severity(Severity::Warning, SqlState::WARNING, message).hint(
                "Check that your \"archive_command\" is executing properly.  You can safely cancel this backup, but the database backup will not be usable without all the WAL segments.",
            );
            self.notice(warning);
        };
        let notice = match self.engine().wait_for_archive(begun, end, &warn)? {
            true => "all required WAL segments have been archived",
            false => {
                "WAL archiving is not enabled; you must ensure that all required WAL segments are copied through other means to complete the backup"
            }
        };
        self.notice(SqlError::with_severity(
            Severity::Notice,
            SqlState::SUCCESSFUL_COMPLETION,
            notice.to_owned(),
        ));
        Ok(())
    }

    /// A moment as the log's time zone has it, to the second.
    fn log_time(&self, at: i64) -> String {
        let zone =
            TimeZone::named(self.settings.borrow().text(Setting::log_timezone)).unwrap_or_else(TimeZone::utc);
        Moment::new(at, &zone).text(false)
    }

    /// `pg_backup_start`.
    pub(crate) fn backup_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        if id != SessionFn::PgBackupStart {
            return Ok(None);
        }
        let (label, fast) = (arg::<&str>(args, 0), arg::<bool>(args, 1));
        if self.backup.borrow().is_some() {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "a backup is already in progress in this session"
            ));
        }
        if label.len() > LABEL_LENGTH {
            return Err(label_too_long());
        }
        let begun = self.engine().begin_backup(label, fast)?;
        let start = begun.start;
        *self.backup.borrow_mut() = Some(begun);
        Ok(Some(Datum::Int8(start.0 as i64)))
    }

    /// `pg_backup_stop`.
    pub(crate) fn backup_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        if id != SessionFn::PgBackupStop {
            return Ok(None);
        }
        let begun = self.backup.borrow_mut().take().ok_or_else(|| {
            sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "backup is not in progress")
                .hint("Did you call pg_backup_start()?")
        })?;
        let engine = self.engine();
        let end = engine.end_backup(&begun, &|at| self.log_time(at))?;
        self.await_archive(&begun, &end, arg(args, 0))?;
        let label = begun.label_text(&engine.first_file(&begun), &|at| self.log_time(at));
        Ok(Some(vec![vec![
            Datum::Int8(end.stop.0 as i64),
            Datum::text(&label),
            Datum::text(&begun.tablespace_map()),
        ]]))
    }

    /// The session ends: a backup that it has begun does too.
    pub(crate) fn give_up_backup(&self) {
        if self.backup.borrow_mut().take().is_some() {
            self.engine().abandon_backup();
            let message = "aborting backup due to backend exiting before pg_backup_stop was called";
            self.log_report(&SqlError::with_severity(
                Severity::Warning,
                SqlState::WARNING,
                message.to_owned(),
            ));
        }
    }
}
