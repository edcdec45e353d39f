//! Recovery of an archive: of a copy of the data to a moment of the log, and of a standby that follows an archive.
//!
//! # Steps
//! 1. `backup_label`, or else the control file, names the checkpoint to begin from. The control file takes over what the label says, and the label is put
//!    aside: from now on the control file alone knows.
//! 2. The time line to follow is found, and its history.
//! 3. The log is read in passes (`course`). Pages are brought up to date beside them, and checkpoints that the log brings become *restart points* (`restart`):
//!    redo would begin there. So neither memory nor disk grows with the archive.
//! 4. Where the data are consistent the server opens, if sessions may look, and the rest goes on in a thread of its own (`standby`).
//! 5. Where the target is, or the archive has no more, the data must be consistent. Then a new time line begins, whose history is written first.
//!
//! # Invariants
//! 1. Before a page is written, the control file says how far the log must be replayed before the data are consistent again (`reached`).
//! 2. A copy of a running server is consistent only behind the record of the backup's end: its files are of different moments. All that they hold beside
//!    pages comes right by redo from the label's checkpoint on:
//!    * *commit log, multixacts*: their bits are set again, pages that were new then are made again; what was removed meanwhile is missed only until its
//!      removal is replayed;
//!    * *pages*: the backup keeps `full_page_writes` on, so the list of a page that changed meanwhile begins with an image, however its copy was torn;
//!    * *lengths of files*: a file is as long as its copy was, and is extended and cut as records say. `pg_lengths` may be newer than the copies and is not asked;
//!    * *maps of catalogs' files*: a map may be newer than the checkpoint, never older; commits put in theirs again in order;
//!    * *prepared transactions*: those with a state file are known by it, the others by their record; who ended meanwhile is told by the log;
//!    * *unlogged relations* are emptied at the end; *counters* of the server are not taken over; *OIDs* come from the checkpoint and the records behind it.
//! 3. The control file names the new time line before the files go that asked for recovery. A crash before that recovers the archive once more; one behind it is
//!    an ordinary crash, on the new time line.
//! 4. The pages of a server that crashed may have changes of all of its log. So without a label its data are consistent only at the end of the log in its folder,
//!    and a time line that parted before that is refused.
//!
//! # PostgreSQL counterpart
//! `xlogrecovery.c`, `xlogarchive.c`; `StartupXLOG`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::{Lsn, TimelineId};
use runtime::{WaitEvent, fs};
use wal::{History, Wal, WalReader, WalStart};

use super::CheckpointRecord;
use super::course::{self, Course, Ended, Outcome};
use super::label::BackupLabel;
use super::pass::{Consistency, Read, Why};
use super::restore::{Archive, RestartPoint};
use super::supply::{Ending, Supply};
use super::target::{Stopper, Target, TargetAction, TargetTimeline};
use super::time::shown;
use super::upstream::Upstream;
use crate::control::{ClusterState, ControlFile};
use crate::lock::DirectoryLock;
use crate::{ArchiveMode, Engine, EngineError, EngineOptions, shell};

/// Asks for the recovery of an archive, to a target.
const RECOVERY_SIGNAL: &str = "recovery.signal";
/// Asks for a standby.
const STANDBY_SIGNAL: &str = "standby.signal";
/// Asks a standby to become a server of its own.
pub(super) const PROMOTE_SIGNAL: &str = "promote";

/// How an archive is recovered.
#[derive(Clone, Debug, Default)]
pub struct ArchiveRecovery {
    /// `restore_command`.
    pub restore_command: String,
    /// `recovery_end_command`.
    pub end_command: String,
    /// `archive_cleanup_command`.
    pub cleanup_command: String,
    /// `recovery_target` and its kin.
    pub target: Option<Target>,
    /// `recovery_target_inclusive`.
    pub inclusive: bool,
    /// `recovery_target_timeline`.
    pub timeline: TargetTimeline,
    /// `recovery_target_action`.
    pub action: TargetAction,
    /// `hot_standby`: sessions may read while the log is replayed.
    pub hot_standby: bool,
    /// `max_standby_archive_delay`: how far replay may lag for the sake of sessions; none: any time.
    pub archive_delay: Option<Duration>,
    /// `max_standby_streaming_delay`, as [`archive_delay`](Self::archive_delay), for what is streamed.
    pub streaming_delay: Option<Duration>,
    /// How long replay waits for sessions before it says so, if it is to (`log_recovery_conflict_waits`, `deadlock_timeout`).
    pub tell_conflicts: Option<Duration>,
    /// `recovery_min_apply_delay`.
    pub apply_delay: Duration,
    /// `wal_retrieve_retry_interval`.
    pub retry: Duration,
    /// Set by who wants the server to stop while it recovers.
    pub stop: Arc<AtomicBool>,
    /// Who receives the log for a standby.
    pub upstream: Option<Arc<dyn Upstream>>,
}

/// What the files in the data directory ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Redo from a backup's label, of what lies in the log's folder.
    Label,
    /// `recovery.signal`
    Recovery,
    /// `standby.signal`
    Standby,
}

/// Whether a data directory is that of a standby.
pub fn is_standby(dir: &Path) -> bool {
    fs::exists(&dir.join(STANDBY_SIGNAL)).unwrap_or(false)
}

/// Whether the archive of a data directory is being recovered, or is to be.
pub fn is_archive_recovery(dir: &Path) -> bool {
    is_standby(dir) || fs::exists(&dir.join(RECOVERY_SIGNAL)).unwrap_or(false)
}

/// A recovery that was asked for.
pub(crate) struct Asked {
    request: Request,
    label: Option<BackupLabel>,
}

impl Asked {
    /// What the files in a data directory ask for, if they do.
    pub(crate) fn read(dir: &Path) -> Result<Option<Asked>, EngineError> {
        let there = |name: &str| {
            fs::exists(&dir.join(name)).map_err(|e| EngineError::Io(format!("could not stat \"{name}\""), e))
        };
        let label = BackupLabel::read(dir)?;
        let request = match (there(STANDBY_SIGNAL)?, there(RECOVERY_SIGNAL)?, &label) {
            (true, _, _) => Request::Standby,
            (_, true, _) => Request::Recovery,
            (_, _, Some(_)) => Request::Label,
            _ => return Ok(None),
        };
        Ok(Some(Asked { request, label }))
    }
}

pub(super) fn no_recovery(message: String) -> EngineError {
    EngineError::NoRecovery { message, hint: String::new() }
}

impl Engine {
    /// Opens a data directory whose files ask for a recovery.
    pub(crate) fn open_archive(
        dir: &Path,
        lock: DirectoryLock,
        options: EngineOptions,
        mut control: ControlFile,
        asked: Asked,
    ) -> Result<Engine, EngineError> {
        let Asked { request, label } = asked;
        let settings = options.archive_recovery.clone();
        announce(request, &settings)?;
        let wal = Arc::new(Engine::new_log(dir, &options, &control));
        let archive = Archive {
            dir: dir.to_path_buf(),
            wal: wal.clone(),
            command: if request == Request::Label { String::new() } else { settings.restore_command.clone() },
            mode: options.archive.mode,
            waits: request == Request::Standby,
            restart: Arc::new(RestartPoint::default()),
            brought: None,
        };
        wal.archive().set_active(request != Request::Label && options.archive.mode == ArchiveMode::Always);
        let (at, timeline) = match &label {
            // A copy of a standby, and a cluster that was rewound, know more than the label.
            Some(label) => (label.checkpoint, label.timeline.max(control.timeline())),
            None => (control.checkpoint_lsn, control.timeline()),
        };
        archive.restart.set(label.as_ref().map_or(control.checkpoint.redo, |label| label.start), timeline);
        let history = target_history(request, &archive, &settings, timeline)?;
        let own = label.as_ref().map_or(control.checkpoint.timeline, |label| label.timeline);
        let by_control = label.is_none();
        check_history(&history, (at, own), by_control)?;
        if by_control && matches!(control.state, ClusterState::InProduction | ClusterState::InRecovery) {
            let own = archive.history(timeline)?.unwrap_or_else(|| History::of(timeline));
            control.min_recovery_point = end_in_folder(&wal, own, control.checkpoint.redo)?;
            control.min_recovery_timeline = timeline;
        }
        let end = Ending::new(dir.to_path_buf(), settings.stop.clone());
        let upstream = settings.upstream.clone().filter(|_| request == Request::Standby);
        let mut supply = Supply::new(archive, history, upstream, end.clone());
        supply.from = label.as_ref().map(|label| label.start);
        let mut reader =
            WalReader::open(wal.dir(), options.wal.segment_size, Some(control.system_identifier), at)
                .along(supply.history.clone())
                .bringing(Box::new(supply.clone()));
        let record = super::read_checkpoint(&mut reader, at).map_err(|error| match (&error, &label) {
            (EngineError::NoCheckpoint(_), _) if end.is_stopped() => EngineError::Stopped,
            (EngineError::NoCheckpoint(_), Some(_)) => lost_checkpoint(dir, at, reader.end_reason()),
            _ => error,
        })?;
        drop(reader);
        supply.from = None;
        take_over(&mut control, request, label.as_ref(), &record, at);
        if by_control {
            check_least(&supply.history, &control)?;
        }
        control.write(dir)?;
        if label.is_some() {
            BackupLabel::put_aside(dir)?;
            crate::tablespace_map::put_aside(dir)?;
        }
        wal::sync_segments(&dir.join("pg_wal"))?;
        supply.archive.restart.set(record.checkpoint.redo, record.checkpoint.timeline);
        let consistency = Consistency::of(&control);
        let (redo, oldest) = (record.checkpoint.redo, record.checkpoint.oldest_running);
        let engine = Engine::begin_recovery(dir, options, lock, control, record.prepared, wal, Vec::new())?;
        engine.txns.begin_replay(oldest);
        if let Some(upstream) = &settings.upstream {
            let txns = engine.txns.clone();
            upstream.inflow().set_horizon(move || Some(txns.rows_needed_from()));
        }
        let target = if request == Request::Label { None } else { settings.target.clone() };
        let stopper = Stopper { target, inclusive: settings.inclusive };
        let start = course::Start { request, supply, end, stopper, consistency, redo };
        let mut course = Course::new(&engine, start);
        let opens = settings.hot_standby && request != Request::Label;
        match course.run(&engine, opens)? {
            Outcome::Ended(ended) => engine.end_archive(&course, &ended)?,
            Outcome::Consistent => engine.open_following(course)?,
        }
        Ok(engine)
    }

    /// The log is replayed so far: the server goes on, on a new time line unless only a label was followed.
    pub(super) fn end_archive(
        &self,
        course: &Course,
        Ended { read, log }: &Ended,
    ) -> Result<(), EngineError> {
        let (request, archive, history) = (course.request(), course.archive(), course.history());
        course.close();
        // A restart point under way would name a checkpoint behind the one from which this begins.
        let mut progress = self.hold_checkpoints();
        let end = read.end;
        let from = log.timeline_at(end).unwrap_or(history.at(end));
        let timeline = match request {
            Request::Label => history.timeline(),
            _ => self.begin_timeline(history, archive, read)?,
        };
        let redo = self.control.lock().checkpoint.redo;
        let system_identifier = self.wal.system_identifier();
        self.wal.start(WalStart { system_identifier, read: from, timeline, end, redo })?;
        {
            let mut control = self.control.lock();
            control.end_recovery();
            (control.min_recovery_point, control.min_recovery_timeline) = (end, timeline);
            control.time = runtime::wall_clock_micros();
            control.write(&self.dir)?;
        }
        base::stop_point!("archive-before-signals-go");
        for name in [RECOVERY_SIGNAL, STANDBY_SIGNAL, PROMOTE_SIGNAL] {
            remove(&self.dir, name)?;
        }
        self.wal.archive().set_active(self.options().archive.mode != ArchiveMode::Off);
        if request != Request::Label && from != timeline {
            self.keep_partial(from, end)?;
        }
        self.tell_standbys();
        self.txns.end_recovery()?;
        self.reset_unlogged()?;
        self.smgr.end_recovery();
        self.settle_databases()?;
        self.settle_tablespaces()?;
        progress.start(redo);
        drop(progress);
        self.start_redo(self.options().recovery.open_early)?;
        if request != Request::Label {
            let command = self.options().archive_recovery.end_command.clone();
            let restart = archive.restart.file_name(self.wal.options().segment_size);
            self.run_beside(&command, "recovery_end_command", &restart, WaitEvent::RecoveryEndCommand);
            tracing::info!("archive recovery complete");
        }
        Ok(())
    }

    /// The next time line behind this history, whose file is written.
    fn begin_timeline(
        &self,
        history: &History,
        archive: &Archive,
        read: &Read,
    ) -> Result<TimelineId, EngineError> {
        let timeline = archive.newest(history.timeline())?.next();
        tracing::info!("selected new timeline ID: {timeline}");
        let reason = match &read.why {
            Why::Target(reached) => reached.reason.clone(),
            _ => "no recovery target specified".into(),
        };
        let past = history.until(read.end);
        let child = past.child(timeline, read.end, &reason);
        child.write(self.wal.dir())?;
        self.wal.archive().set_active(self.options().archive.mode != ArchiveMode::Off);
        self.wal.archive().notify(&History::file_name(timeline))?;
        Ok(timeline)
    }

    /// The segment in which the old time line was left is complete nowhere: it is archived under a name of its own.
    fn keep_partial(&self, old: TimelineId, end: Lsn) -> Result<(), EngineError> {
        if self.wal.begins_segment(end) {
            return Ok(());
        }
        let name = wal::segment_file_name(old, end, self.wal.options().segment_size);
        let (path, status) = (self.wal.dir().join(&name), self.wal.archive());
        let io = |e| EngineError::Io(format!("could not rename file \"pg_wal/{name}\""), e);
        if !fs::exists(&path).map_err(io)? || status.is_done(&name)? || status.is_ready(&name)? {
            return Ok(());
        }
        let partial = format!("{name}.partial");
        fs::rename(&path, &self.wal.dir().join(&partial)).map_err(io)?;
        fs::sync_dir(self.wal.dir()).map_err(io)?;
        Ok(status.notify(&partial)?)
    }

    /// Runs a command whose failure is worth a line only.
    pub(super) fn run_beside(&self, command: &str, setting: &str, restart: &str, event: WaitEvent) {
        if command.is_empty() {
            return;
        }
        let filled = shell::fill(command, &[('r', restart)]);
        let result = filled.and_then(|command| shell::run(&command, &self.dir, event));
        if let Err(failure) = result {
            let what = format!("{setting} \"{command}\"");
            tracing::warn!("{}", failure.message(&what, setting));
        }
    }
}

/// Tells what begins, or why it cannot.
fn announce(request: Request, settings: &ArchiveRecovery) -> Result<(), EngineError> {
    match request {
        Request::Label => return Ok(()),
        Request::Recovery if settings.restore_command.is_empty() => {
            return Err(no_recovery(
                "must specify \"restore_command\" when standby mode is not enabled".into(),
            ));
        }
        Request::Standby => {
            tracing::info!("entering standby mode");
            let streams = settings.upstream.as_ref().is_some_and(|upstream| upstream.is_configured());
            if settings.restore_command.is_empty() && !streams {
                tracing::warn!(
                    hint = "The database server will regularly poll the pg_wal subdirectory to check for files placed there.",
                    "specified neither \"primary_conninfo\" nor \"restore_command\""
                );
            }
        }
        Request::Recovery => match &settings.target {
            None => tracing::info!("starting archive recovery"),
            Some(Target::Immediate) => {
                tracing::info!("starting point-in-time recovery to earliest consistent point");
            }
            Some(Target::Time(time)) => {
                tracing::info!("starting point-in-time recovery to {}", shown(*time));
            }
            Some(Target::Xid(xid)) => tracing::info!("starting point-in-time recovery to XID {xid}"),
            Some(Target::Name(name)) => tracing::info!("starting point-in-time recovery to \"{name}\""),
            Some(Target::Lsn(lsn)) => {
                tracing::info!("starting point-in-time recovery to WAL location (LSN) \"{lsn}\"");
            }
        },
    }
    Ok(())
}

/// The history that is to be followed from a checkpoint on this time line.
fn target_history(
    request: Request,
    archive: &Archive,
    settings: &ArchiveRecovery,
    timeline: TimelineId,
) -> Result<History, EngineError> {
    let wanted = match (request, settings.timeline) {
        (Request::Label, _) | (_, TargetTimeline::Current) => timeline,
        (_, TargetTimeline::Latest) => archive.newest(timeline)?,
        (_, TargetTimeline::Number(number)) => {
            let missing = || no_recovery(format!("recovery target timeline {number} does not exist"));
            return archive.history(number)?.ok_or_else(missing);
        }
    };
    // Whose file was removed has no segment of an ancestor any more.
    Ok(archive.history(wanted)?.unwrap_or_else(|| History::of(wanted)))
}

/// A label names a checkpoint that is not to be found.
fn lost_checkpoint(dir: &Path, at: Lsn, reason: Option<&str>) -> EngineError {
    let dir = dir.display();
    EngineError::NoRecovery {
        message: format!(
            "could not locate required checkpoint record at {at}: {}",
            reason.unwrap_or_default()
        ),
        hint: format!(
            "If you are restoring from a backup, touch \"{dir}/{RECOVERY_SIGNAL}\" or \"{dir}/{STANDBY_SIGNAL}\" and add required recovery options.\n\
             If you are not restoring from a backup, try removing the file \"{dir}/backup_label\".\n\
             Be careful: removing \"{dir}/backup_label\" will result in a corrupt cluster if restoring from a backup."
        ),
    }
}

/// Whether the time line that is wanted comes from the data's own.
fn check_history(
    history: &History,
    (at, own): (Lsn, TimelineId),
    by_control: bool,
) -> Result<(), EngineError> {
    if history.at(at) == own {
        return Ok(());
    }
    let wanted = history.timeline();
    let left = history.stretch(own).and_then(|stretch| stretch.end).unwrap_or_default();
    let file = if by_control { "global/pg_control" } else { "backup_label" };
    Err(no_recovery(format!(
        "requested timeline {wanted} is not a child of this server's history: Latest checkpoint in file \"{file}\" is at {at} on timeline {own}, \
         but in the history of the requested timeline, the server forked off from that timeline at {left}."
    )))
}

/// Whether the time line that is wanted has all that the data may have already.
fn check_least(history: &History, control: &ControlFile) -> Result<(), EngineError> {
    let (least, own) = (control.min_recovery_point, control.min_recovery_timeline);
    if history.before(least) == own {
        return Ok(());
    }
    let wanted = history.timeline();
    Err(no_recovery(format!(
        "requested timeline {wanted} does not contain minimum recovery point {least} on timeline {own}"
    )))
}

/// Where the log in the folder ends: pages of a server that crashed may have changes of all of it, and the control file does not say how far it goes.
fn end_in_folder(wal: &Wal, history: History, redo: Lsn) -> Result<Lsn, EngineError> {
    let mut reader = wal.reader(redo).along(history);
    while let Some(chunk) = reader.next_chunk() {
        chunk?;
    }
    Ok(reader.position())
}

/// The control file takes over where redo begins, and what has to come before the data are consistent.
fn take_over(
    control: &mut ControlFile,
    request: Request,
    label: Option<&BackupLabel>,
    record: &CheckpointRecord,
    at: Lsn,
) {
    let CheckpointRecord { checkpoint, .. } = record;
    if let Some(label) = label {
        tracing::info!(
            "starting backup recovery with redo LSN {}, checkpoint LSN {}, on timeline ID {}",
            label.start,
            label.checkpoint,
            label.timeline
        );
        control.backup_end = if label.from_standby { control.min_recovery_point } else { Lsn::INVALID };
        control.backup_start = checkpoint.redo;
        control.backup_end_required = label.end_required && !label.from_standby;
        (control.min_recovery_point, control.min_recovery_timeline) = (checkpoint.redo, checkpoint.timeline);
    }
    // The log of a server that was shut down goes no further than its last checkpoint, and redo must come so far.
    if control.min_recovery_point < record.end && label.is_none() {
        (control.min_recovery_point, control.min_recovery_timeline) = (record.end, checkpoint.timeline);
    }
    control.checkpoint = *checkpoint;
    control.checkpoint_lsn = at;
    control.state = match request {
        Request::Label => ClusterState::InRecovery,
        _ => ClusterState::InArchiveRecovery,
    };
    control.time = runtime::wall_clock_micros();
}

fn remove(dir: &Path, name: &str) -> Result<(), EngineError> {
    match fs::remove_file(&dir.join(name)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(EngineError::Io(format!("could not remove file \"{name}\""), error)),
        Ok(()) => fs::sync_dir(dir).map_err(|e| EngineError::Io("could not fsync data directory".into(), e)),
    }
}
