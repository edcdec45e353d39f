//! # What
//! Storage as SQL sees it: a data directory that is created, opened (and recovered), checkpointed and closed; relation files;
//! object identifiers. It owns the layers below and is the only place that knows all of them.
//!
//! # Layout
//! * [`control`]: the control file. [`lock`]: one server per directory.
//! * [`recovery`]: from the latest checkpoint through the log to a consistent state.
//! * [`checkpoint`]: everything dirty to disk, the log cut behind it.
//! * [`archiver`]: complete segments to the archive. [`shell`]: commands of the administrator.
//! * [`retention`]: which segments of the log must stay. [`summaries`]: which blocks the log has changed, for incremental backups.
//! * [`relation`]: making and dropping relation files; OIDs. [`database`], [`tablespace`]: making and removing databases and tablespaces. [`sequence`]: the one row of a sequence. [`xlog`]: the log records of this
//!   crate.
//! * [`slots`]: replication slots. [`decoding`]: the log as transactions of changed rows. [`backup`]: base backups; `tablespace_map`: where a copy's tablespaces lie. [`incremental`]: files of those that are based on earlier ones. [`changes`]: which blocks a stretch of the log has changed.
//! * [`files`]: whether all pages of all files are whole. [`reset`]: a new log for a data directory that has lost its own.
//! * `map`: which files the system catalogs have. `lengths`: how long files must be. `unlogged`: relations that a crash empties.
//! * [`indexes`]: the index access methods. `managers`: the table of the log's resource managers. `access`: the traits by which heaps and indexes reach each other. [`background`]: the loops of checkpointer, background writer and WAL writer; the server gives them fibers.
//!
//! A data directory:
//!
//! | path | contents |
//! |---|---|
//! | `PG_VERSION` | major version whose behaviour this server follows |
//! | `global/pg_control` | [`control::ControlFile`] |
//! | `global/N`, `base/D/N`, … `_fsm`, `_vm`, `_init` | relations, 1 GiB segments |
//! | `global/pg_lengths` | how long those are at least |
//! | `global/pg_filenode.map`, `base/D/pg_filenode.map` | which files the catalogs have |
//! | `pg_wal/` | the write-ahead log |
//! | `pg_wal/summaries/` | [`summaries`]: which blocks stretches of it have changed |
//! | `pg_xact/` | the commit log |
//! | `base/pgsql_tmp/` | temporary files, emptied at start |
//! | `stampede.lock` | what [`lock`] locks |
//! | `pg_twophase/` | [`txn::prepared_state`]: prepared transactions older than the latest checkpoint |
//! | `pg_multixact/` | sets of row lockers |
//! | `pg_replslot/` | [`slots`]: replication slots |
//! | `pg_tblspc/N` | [`tablespace`]: where a tablespace is that a user made |
//!
//! # Invariants
//! 1. A server that holds the directory's lock is the only one that writes below it.
//! 2. After [`Engine::open`] whoever reads a page finds every committed change, and no other.
//! 3. The layers below never call up: redo dispatch, checkpoints and file removal are done from here.
//!
//! # PostgreSQL counterpart and differences
//! `xlog.c`, `xlogrecovery.c`, `checkpointer.c`, `catalog/storage.c`.

mod access;
pub mod archiver;
pub mod background;
pub mod backup;
pub mod changes;
pub mod checkpoint;
pub mod control;
pub mod database;
pub mod decoding;
mod error;
pub mod files;
pub mod incremental;
pub mod indexes;
pub mod inspect;
mod lengths;
pub mod lock;
mod managers;
mod map;
pub mod recovery;
pub mod relation;
pub mod reset;
pub mod retention;
pub mod sequence;
pub mod shell;
pub mod slots;
pub mod summaries;
pub mod tablespace;
mod tablespace_map;
mod unlogged;
pub mod xlog;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::{Lsn, MultiXactId, Oid, TimelineId, Xid};
pub use buffer::ReadOptions;
use buffer::{BufferPool, PoolOptions};
use parking_lot::{Mutex, RwLock};
use smgr::{Smgr, SmgrOptions};
use txn::{OldestIds, StandbyHolder, TxnOptions, TxnStart, TxnSystem};
use wal::{History, Wal, WalOptions, WalStart};

pub use access::{DeadRows, RowLiveness};
pub use archiver::{ArchiveMode, ArchiveOptions, ArchiverStats};
pub use checkpoint::{CheckpointCause, CheckpointStats, CheckpointTotals};
pub use database::CopyStrategy;
pub use error::EngineError;
pub use indexes::{OpenIndex, OpenScan};
pub use managers::describe;
pub use recovery::{
    ArchiveRecovery, Begin, Conflicts, Inflow, Phase, Progress, RecoveryOptions, RecoveryProgress,
    ReplayPause, ReplayedTo, Sender, Target, TargetAction, TargetTimeline, Upstream,
};
pub use recovery::{is_archive_recovery, is_standby};

use checkpoint::Checkpointer;
use control::{Checkpoint, ClusterState, ControlFile, RecordedSettings};
use lock::DirectoryLock;
use map::RelationMaps;
use recovery::Recovery;
use relation::{Files, OidCounter};
use slots::Slots;
use summaries::SummaryOptions;

/// Major version of PostgreSQL whose behaviour is the specification.
pub const PG_VERSION: &str = "18";

/// Sizes and habits of storage, from settings.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// `shared_buffers`, in pages.
    pub shared_buffers: usize,
    /// How pages are read ahead.
    pub reads: ReadOptions,
    /// Relations are read and written around the page cache.
    pub direct: bool,
    /// Files of relations that are kept open at most (`max_files_per_process`, or fewer).
    pub max_open_files: usize,
    /// The log's sizes.
    pub wal: WalOptions,
    /// The transaction system's sizes.
    pub txn: TxnOptions,
    /// `wal_keep_size`, in bytes: log that is kept behind its end.
    pub wal_keep_size: u64,
    /// How an archive is recovered, if the data directory asks for that.
    pub archive_recovery: ArchiveRecovery,
    /// Archiving.
    pub archive: ArchiveOptions,
    /// What the control file says of settings.
    pub recorded: RecordedSettings,
    /// `checkpoint_segments`: files of the log that cause a checkpoint; 0 leaves it to the log's greatest size.
    pub checkpoint_segments: u64,
    /// `max_slot_wal_keep_size`, bytes; none: any amount.
    pub slot_keep_size: Option<u64>,
    /// `idle_replication_slot_timeout`; none: never.
    pub slot_idle: Option<Duration>,
    /// `max_replication_slots`.
    pub max_slots: usize,
    /// `checkpoint_timeout`.
    pub checkpoint_timeout: Duration,
    /// `checkpoint_completion_target`: share of the way to the next checkpoint, in time and in log volume, over which writes are spread.
    pub checkpoint_completion_target: f64,
    /// Whether checkpoints are told of in the log (`log_checkpoints`).
    pub log_checkpoints: bool,
    /// `checkpoint_warning`; zero: never.
    pub checkpoint_warning: Duration,
    /// `log_startup_progress_interval`; zero: never.
    pub startup_progress: Duration,
    /// What a crash is recovered from with.
    pub recovery: RecoveryOptions,
    /// Summaries of the log.
    pub summaries: SummaryOptions,
    /// `bgwriter_delay`.
    pub bgwriter_delay: Duration,
    /// `wal_writer_delay`.
    pub wal_writer_delay: Duration,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            shared_buffers: 16_384,
            reads: ReadOptions::default(),
            direct: false,
            max_open_files: 1000,
            wal: WalOptions::default(),
            txn: TxnOptions::default(),
            wal_keep_size: 0,
            archive_recovery: ArchiveRecovery::default(),
            archive: ArchiveOptions::default(),
            recorded: RecordedSettings::default(),
            checkpoint_segments: 0,
            slot_keep_size: None,
            slot_idle: None,
            max_slots: 10,
            checkpoint_timeout: Duration::from_secs(300),
            checkpoint_completion_target: 0.9,
            log_checkpoints: true,
            checkpoint_warning: Duration::from_secs(30),
            startup_progress: Duration::from_secs(10),
            recovery: RecoveryOptions::default(),
            summaries: SummaryOptions::default(),
            bgwriter_delay: Duration::from_millis(200),
            wal_writer_delay: Duration::from_millis(200),
        }
    }
}

/// An open data directory.
pub struct Engine {
    dir: PathBuf,
    options: RwLock<Arc<EngineOptions>>,
    smgr: Arc<Smgr>,
    wal: Arc<Wal>,
    pool: Arc<BufferPool>,
    txns: Arc<TxnSystem>,
    control: Arc<runtime::Mutex<ControlFile>>,
    oids: OidCounter,
    slots: Slots,
    backups: backup::Backups,
    maps: Arc<RelationMaps>,
    files: Arc<Files>,
    checkpointer: Checkpointer,
    archiver: archiver::Archiver,
    summarizer: summaries::Summarizer,
    /// What the recovery that the server began with has replayed.
    replayed: Mutex<Option<Arc<recovery::Reached>>>,
    /// The replay while sessions read.
    standby: recovery::Standby,
    /// Until a recovery's last checkpoint.
    recovery: Mutex<Option<Arc<Recovery>>>,
    index_horizon: access::IndexHorizon,
    _lock: DirectoryLock,
}

/// The database that bootstrap fills; the others begin as copies of it.
pub const BOOTSTRAP_DATABASE: Oid = Oid(1);

/// Folders of a new data directory.
const FOLDERS: [&str; 20] = [
    "global",
    "base",
    "base/1",
    "base/pgsql_tmp",
    "pg_wal",
    "pg_wal/archive_status",
    "pg_wal/summaries",
    "pg_commit_ts",
    "pg_dynshmem",
    "pg_logical",
    "pg_notify",
    "pg_replslot",
    "pg_serial",
    "pg_snapshots",
    "pg_stat_tmp",
    "pg_subtrans",
    "pg_xact",
    "pg_multixact",
    "pg_twophase",
    "pg_tblspc",
];

/// Makes the folders of a data directory, `dir` and what is missing above it; all of them survive a crash.
fn create_folders(dir: &Path) -> std::io::Result<()> {
    let above = |path: &Path| match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_path_buf(),
        None => PathBuf::from("/"),
    };
    let mut changed = vec![dir.to_path_buf(), dir.join("base")];
    for path in dir.ancestors().filter(|path| !path.as_os_str().is_empty()) {
        if runtime::fs::exists(path)? {
            break;
        }
        changed.push(above(path));
    }
    for folder in FOLDERS {
        runtime::fs::create_dir_all(&dir.join(folder))?;
    }
    changed.iter().try_for_each(|path| runtime::fs::sync_dir(path))
}

/// Leaves an empty folder, which need not be there: a crash may have come in the middle of the last emptying.
fn empty_folder(path: &Path) -> std::io::Result<()> {
    match runtime::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => runtime::fs::create_dir_all(path),
    }
}

/// Removes the temporary files that a server has left.
fn remove_temporary_files(dir: &Path) -> Result<(), EngineError> {
    let failed = |what: &str, e| EngineError::Io(format!("could not {what}"), e);
    for tablespace in smgr::tablespaces(dir).map_err(|e| failed("open directory \"pg_tblspc\"", e))? {
        let folder = temporary_folder(tablespace);
        let path = dir.join(&folder);
        let emptied = match tablespace {
            Oid::PG_DEFAULT => empty_folder(&path),
            _ => match runtime::fs::remove_dir_all(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                done => done,
            },
        };
        emptied.map_err(|e| failed(&format!("empty directory \"{folder}\""), e))?;
    }
    Ok(())
}

/// Where the temporary files of a tablespace are, below the data directory.
pub fn temporary_folder(tablespace: Oid) -> String {
    format!("{}/pgsql_tmp", base::tablespace_folder(tablespace))
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(recovery) = self.recovery.lock().take() {
            recovery.stop();
            self.pool.set_overdue(None);
        }
    }
}

impl Engine {
    /// Makes a data directory in `dir` (created if missing; must be empty) and opens it, ready for bootstrap: no relations,
    /// OIDs below those that users get. A crash before [`Engine::shutdown`] leaves a directory that
    /// [`Engine::open`] refuses.
    pub fn create(dir: &Path, options: EngineOptions) -> Result<Engine, EngineError> {
        let io = |what: &str, e| EngineError::Io(format!("could not {what} \"{}\"", dir.display()), e);
        create_folders(dir).map_err(|e| io("create directory", e))?;
        let lock = DirectoryLock::acquire(dir)?;
        runtime::fs::write_file_durably(&dir.join("PG_VERSION"), format!("{PG_VERSION}\n").as_bytes())
            .map_err(|e| io("write version file in", e))?;
        // As PostgreSQL's: the seconds, then something else. It fits into a bigint.
        let seconds = (runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS) as u64;
        let system_identifier = (seconds << 32 | runtime::random_u64() >> 32) & i64::MAX as u64;
        [Oid::INVALID, BOOTSTRAP_DATABASE].iter().try_for_each(|&database| map::create(dir, database))?;
        lengths::write(dir, &Vec::new())?;
        TxnSystem::create(dir).map_err(|e| io("create commit log in", e))?;
        let wal = Wal::create(&dir.join("pg_wal"), options.wal.clone(), system_identifier)?;
        let checkpoint = Checkpoint {
            redo: wal.insert_end(),
            next_xid: Xid::FIRST_NORMAL,
            next_oid: relation::FIRST_INITIAL,
            next_multixact: txn::multixact::FIRST.0,
            oldest_running: Xid::FIRST_NORMAL,
            ..Checkpoint::default()
        };
        let control = ControlFile::new(system_identifier, options.wal.segment_size as u32, checkpoint);
        control.write(dir)?;
        let engine = Self::assemble(dir, options, lock, control, Arc::new(wal))?;
        engine.checkpointer.start(engine.wal.redo());
        Ok(engine)
    }

    /// Opens the data directory, replaying the log if the last server did not shut down; with [`RecoveryOptions::open_early`] pages are
    /// replayed behind, and [`finish_recovery`](Self::finish_recovery) waits for them.
    pub fn open(dir: &Path, options: EngineOptions) -> Result<Engine, EngineError> {
        Self::open_locked(dir, DirectoryLock::acquire(dir)?, options)
    }

    /// As [`open`](Self::open), by whoever has locked the directory before.
    pub fn open_locked(
        dir: &Path,
        lock: DirectoryLock,
        mut options: EngineOptions,
    ) -> Result<Engine, EngineError> {
        let mut control = ControlFile::read(dir)?;
        options.wal.segment_size = u64::from(control.wal_segment_size);
        if control.state == ClusterState::Initializing {
            return Err(EngineError::ControlFile(
                "initialization of the data directory was not finished".into(),
            ));
        }
        tablespace_map::follow(dir)?;
        remove_temporary_files(dir)?;
        smgr::remove_leftovers(dir)
            .map_err(|e| EngineError::Io("could not clean directory \"base\"".into(), e))?;
        if let Some(asked) = recovery::Asked::read(dir)? {
            return Self::open_archive(dir, lock, options, control, asked);
        }
        let history = recovery::history(dir, control.timeline())?;
        let (record, is_last) = recovery::checkpoint_record(dir, &control, &history)?;
        control.checkpoint = record.checkpoint;
        let clean = control.state == ClusterState::ShutDown && is_last;
        if !clean {
            control.state = ClusterState::InRecovery;
            control.write(dir)?;
            // Records that the crashed server wrote without syncing: their effects must not reach the disk before them.
            wal::sync_segments(&dir.join("pg_wal"))?;
        }
        let redo = control.checkpoint.redo;
        let wal = Arc::new(Self::new_log(dir, &options, &control));
        let lengths = lengths::read(dir)?;
        let engine = Self::begin_recovery(dir, options, lock, control, record.prepared, wal, lengths)?;
        let end = if clean { record.end } else { engine.read_log(redo, record.end, &history)? };
        let (system_identifier, timeline) = (engine.wal.system_identifier(), history.timeline());
        engine.wal.start(WalStart { system_identifier, read: timeline, timeline, end, redo })?;
        engine.wal.archive().set_active(engine.options().archive.mode != ArchiveMode::Off);
        engine.tell_standbys();
        engine.txns.end_recovery()?;
        if !clean {
            engine.reset_unlogged()?;
        }
        engine.smgr.end_recovery();
        engine.settle_databases()?;
        engine.settle_tablespaces()?;
        for prepared in engine.txns.prepared().list() {
            tracing::info!("recovering prepared transaction {}", prepared.xid);
        }
        engine.checkpointer.start(redo);
        match clean {
            true => engine.set_state(ClusterState::InProduction)?,
            false => engine.start_redo(engine.options().recovery.open_early)?,
        }
        Ok(engine)
    }

    /// Opens a data directory that was shut down cleanly to look at it: nothing in it is changed. No row can be written, and no hint is set.
    /// A standby's directory is as its server has left it: transactions that had not ended there count as rolled back, and unlogged relations
    /// [hold nothing](Self::has_unlogged).
    pub fn inspect(dir: &Path, mut options: EngineOptions) -> Result<Engine, EngineError> {
        let lock = DirectoryLock::acquire(dir)?;
        let mut control = ControlFile::read(dir)?;
        let of_standby = control.state == ClusterState::ShutDownInRecovery;
        let is_whole = control.backup_start == Lsn::INVALID && !control.backup_end_required;
        if !(control.state == ClusterState::ShutDown || of_standby && is_whole) {
            return Err(EngineError::NotShutDown);
        }
        options.wal.segment_size = u64::from(control.wal_segment_size);
        let history = match of_standby {
            true => recovery::history(dir, control.timeline())?,
            false => History::of(control.timeline()),
        };
        let (mut record, is_last) = recovery::checkpoint_record(dir, &control, &history)?;
        if !is_last && !of_standby {
            return Err(EngineError::NotShutDown);
        }
        if of_standby {
            // Those that are prepared still have their files, whatever the checkpoint says.
            record.prepared.clear();
            record.end = record.end.max(control.min_recovery_point);
        }
        control.checkpoint = record.checkpoint;
        let redo = control.checkpoint.redo;
        let wal = Arc::new(Self::new_log(dir, &options, &control));
        let lengths = lengths::read(dir)?;
        let engine = Self::begin_recovery(dir, options, lock, control, record.prepared, wal, lengths)?;
        if of_standby {
            engine.observe_replayed(redo, record.end, &history)?;
        }
        let (system_identifier, timeline) = (engine.wal.system_identifier(), history.timeline());
        let start = WalStart { system_identifier, read: timeline, timeline, end: record.end, redo };
        engine.wal.start_closed(start)?;
        engine.txns.end_recovery()?;
        engine.smgr.end_recovery();
        engine.maps.check(&engine.dir)?;
        Ok(engine)
    }

    /// Reads again what a standby had replayed when it was shut down: files have all of it, but say not which ids have been given out.
    fn observe_replayed(&self, redo: Lsn, end: Lsn, history: &History) -> Result<(), EngineError> {
        let mut reader = self.wal.reader(redo).along(history.clone());
        while reader.position() < end {
            let Some(record) = reader.next().transpose()? else {
                let reason = reader.end_reason().unwrap_or_default().to_owned();
                return Err(EngineError::LogEnds { at: reader.position(), known: end, reason });
            };
            self.txns.observe(&record);
        }
        Ok(())
    }

    /// Whether unlogged relations can be read: a standby does not have them.
    pub fn has_unlogged(&self) -> bool {
        self.control.lock().state != ClusterState::ShutDownInRecovery
    }

    /// The log of a data directory, before it is started.
    fn new_log(dir: &Path, options: &EngineOptions, control: &ControlFile) -> Wal {
        Wal::recovering(&dir.join("pg_wal"), options.wal.clone(), control.system_identifier)
    }

    /// Storage over a log that is not started yet. `prepared`: transactions that the checkpoint names; `lengths`: how long files are at least.
    fn begin_recovery(
        dir: &Path,
        options: EngineOptions,
        lock: DirectoryLock,
        control: ControlFile,
        prepared: Vec<Xid>,
        wal: Arc<Wal>,
        lengths: lengths::Lengths,
    ) -> Result<Engine, EngineError> {
        let engine = Self::assemble(dir, options, lock, control, wal)?;
        engine.smgr.begin_recovery(lengths.into_iter());
        engine.txns.begin_recovery()?;
        engine.txns.prepared().expect(prepared);
        Ok(engine)
    }

    fn assemble(
        dir: &Path,
        options: EngineOptions,
        lock: DirectoryLock,
        control: ControlFile,
        wal: Arc<Wal>,
    ) -> Result<Engine, EngineError> {
        let files = SmgrOptions {
            max_open_files: options.max_open_files,
            fsync: options.wal.fsync,
            direct: options.direct,
        };
        let smgr = Arc::new(Smgr::with_options(dir, files));
        runtime::fs::give_way(&smgr);
        let redo = matches!(control.state, ClusterState::InRecovery | ClusterState::InArchiveRecovery);
        let maps = Arc::new(RelationMaps::read(dir, redo)?);
        let pool_options = PoolOptions {
            buffers: options.shared_buffers,
            log_hints: true,
            reads: options.reads,
            ..PoolOptions::default()
        };
        let pool = Arc::new(BufferPool::with_options(pool_options, smgr.clone(), wal.clone()));
        let files = Arc::new(Files { pool: pool.clone(), smgr: smgr.clone(), maps: maps.clone() });
        let start = TxnStart {
            next_xid: control.checkpoint.next_xid,
            next_multi: MultiXactId(control.checkpoint.next_multixact),
            oldest: OldestIds {
                xid: control.checkpoint.oldest_xid.max(Xid::FIRST_NORMAL),
                multi: MultiXactId(control.checkpoint.oldest_multixact).max(txn::multixact::FIRST),
            },
        };
        let txns = Arc::new(TxnSystem::open(dir, wal.clone(), files.clone(), &options.txn, start));
        let slots = Slots::open(dir, options.max_slots)?;
        slots.on_hold({
            let txns = txns.clone();
            move |xmin| txns.hold_for_standby(StandbyHolder::Slots, xmin)
        });
        Ok(Engine {
            dir: dir.to_path_buf(),
            smgr,
            pool,
            index_horizon: access::IndexHorizon(txns.clone()),
            txns,
            maps,
            files,
            oids: OidCounter::new(control.checkpoint.next_oid),
            slots,
            backups: Default::default(),
            checkpointer: Checkpointer::default(),
            archiver: archiver::Archiver::default(),
            summarizer: Default::default(),
            replayed: Mutex::default(),
            standby: Default::default(),
            recovery: Mutex::default(),
            control: Arc::new(runtime::Mutex::new(runtime::WaitEvent::ControlFile, control)),
            wal,
            options: RwLock::new(Arc::new(options)),
            _lock: lock,
        })
    }

    /// Writes everything out and marks the directory as cleanly closed. Nothing may write any more.
    ///
    /// Where the log is archived, all that is in it but the last checkpoint's record is.
    pub fn shutdown(&self) -> Result<(), EngineError> {
        if self.is_following() {
            // The replay has left everything where it can go on.
            return Ok(());
        }
        if self.is_archiving() {
            self.finish_recovery()?;
            self.switch_wal()?;
        }
        self.checkpoint(CheckpointCause::Shutdown)?;
        self.set_state(ClusterState::ShutDown)?;
        self.archive_waiting(&|| false)
    }

    /// The log is open: it says what standbys must know, if `wal_level` wants that.
    fn tell_standbys(&self) {
        let options = self.options();
        self.txns.tell_standbys(options.recorded.wal_level > control::WalLevel::Minimal);
        if !options.wal.full_page_writes {
            self.log_images(false);
        }
    }

    /// Tells who copies a standby's files whether torn pages in them are mended by the log from here on.
    fn log_images(&self, whole: bool) {
        if !self.wal.is_recovering() && !self.wal.is_closed() {
            self.wal.insert(&xlog::images_record(whole));
        }
    }

    fn set_state(&self, state: ClusterState) -> Result<(), EngineError> {
        let mut control = self.control.lock();
        control.state = state;
        if state == ClusterState::InProduction {
            control.end_recovery();
        }
        control.settings = self.options().recorded;
        control.time = runtime::wall_clock_micros();
        control.write(&self.dir)
    }

    /// How the log comes from another server, or came; none if it never did.
    pub fn received(&self) -> Option<Progress> {
        let options = self.options();
        let progress = options.archive_recovery.upstream.as_ref()?.inflow().progress();
        progress.start.is_valid().then_some(progress)
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Sizes and habits it was opened with.
    pub fn options(&self) -> Arc<EngineOptions> {
        self.options.read().clone()
    }

    /// Takes over what may change while the engine runs: times, and how much log there may be.
    pub fn tune(&self, wanted: &EngineOptions) {
        let mut options = self.options.write();
        let mut tuned = EngineOptions::clone(&options);
        tuned.wal_keep_size = wanted.wal_keep_size;
        tuned.summaries = wanted.summaries;
        (tuned.archive.command, tuned.archive.timeout) =
            (wanted.archive.command.clone(), wanted.archive.timeout);
        let (archive, wanted_archive) = (&mut tuned.archive_recovery, &wanted.archive_recovery);
        archive.archive_delay = wanted_archive.archive_delay;
        archive.streaming_delay = wanted_archive.streaming_delay;
        archive.tell_conflicts = wanted_archive.tell_conflicts;
        tuned.checkpoint_timeout = wanted.checkpoint_timeout;
        tuned.checkpoint_completion_target = wanted.checkpoint_completion_target;
        (tuned.log_checkpoints, tuned.checkpoint_warning) =
            (wanted.log_checkpoints, wanted.checkpoint_warning);
        tuned.bgwriter_delay = wanted.bgwriter_delay;
        tuned.wal_writer_delay = wanted.wal_writer_delay;
        (tuned.slot_keep_size, tuned.slot_idle) = (wanted.slot_keep_size, wanted.slot_idle);
        (tuned.wal.min_size, tuned.wal.max_size) = (wanted.wal.min_size, wanted.wal.max_size);
        let before = std::mem::replace(&mut tuned.wal.full_page_writes, wanted.wal.full_page_writes);
        tuned.wal.compression = wanted.wal.compression;
        // No page is logged in part before the log tells so.
        if before && !tuned.wal.full_page_writes {
            self.log_images(false);
        }
        self.wal.tune(&tuned.wal);
        if !before && tuned.wal.full_page_writes {
            self.log_images(true);
        }
        tuned.txn.predicate = wanted.txn.predicate;
        self.txns.serializable().set_limits(&wanted.txn.predicate);
        *options = Arc::new(tuned);
        self.summarizer.wake();
    }

    /// The buffer pool.
    pub fn pool(&self) -> &Arc<BufferPool> {
        &self.pool
    }

    /// The log.
    pub fn wal(&self) -> &Arc<Wal> {
        &self.wal
    }

    /// Relation files.
    pub fn smgr(&self) -> &Arc<Smgr> {
        &self.smgr
    }

    /// Replication slots.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Transactions and locks.
    pub fn txns(&self) -> &Arc<TxnSystem> {
        &self.txns
    }

    /// How far the recovery that the server began with has replayed the log; none if there was nothing to replay.
    pub fn replayed(&self) -> Option<ReplayedTo> {
        let reached = self.replayed.lock().clone()?;
        Some(ReplayedTo { end: reached.end(), last_end: reached.last_end() })
    }

    /// The control file as it was last written.
    pub fn control(&self) -> ControlFile {
        self.control.lock().clone()
    }

    /// The time line that is written, or was read last while the log is replayed.
    pub fn timeline(&self) -> TimelineId {
        self.wal.timeline()
    }

    /// Drawn when the directory was made.
    pub fn system_identifier(&self) -> u64 {
        self.control.lock().system_identifier
    }
}
