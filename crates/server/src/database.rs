//! The database behind the server: storage engine, catalogs and executor.
//!
//! # What
//! Translates settings into the engine's options, runs the loops that work beside sessions, and adapts
//! [`session::Session`] to [`Client`].

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::settings::{ServerSettings, Setting, Source, Timeouts};
use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::{BOOTSTRAP_SUPERUSER, BootstrapOptions, Reader, predefined};
use command::Commands;
use command::autovacuum::Autovacuum;
use engine::background::{self, Stop};
use engine::control::{ClusterState, ControlFile, RecordedSettings, WalLevel};
use engine::lock::DirectoryLock;
use engine::summaries::{self, SummaryOptions};
use engine::{ArchiveMode, ArchiveOptions, Engine, EngineError, EngineOptions, ReadOptions, RecoveryOptions};
use runtime::Workers;
use runtime::fs::ReadMethod;
use runtime::usage::Account;
use session::functions::SUMMARIZER_PID;
use session::replication::synchronous::{Flaw, Names};
use session::subscription::{Failure, Publisher};
use session::{
    ConnectionStrings, Format, Instance, LogSink, Notification, Output, ParamValue, Passwords, Session,
    SessionInfo, Situation, SocketSink, TransactionStatus,
};
use types::encoding::Passage;
use wire::scram::{self, Verifier};

use crate::backend::{Client, Database, Role};
use crate::cli::NewCluster;
use crate::config::access;
use crate::descriptors;
use crate::log;
use crate::loops::Loops;
use crate::publisher;
use crate::receiver::Receiver;
use crate::recovery_settings::archive_recovery;
use crate::sessions::Sessions;
use crate::upkeep;

/// The archiver's pid, behind those of the loops that always run.
const ARCHIVER_PID: i32 = 5;

/// An open database.
pub struct Stampede {
    instance: Arc<Instance>,
    autovacuum: Arc<Autovacuum>,
    /// Receives the log for a standby.
    upstream: Arc<Receiver>,
    stop: Stop,
    loops: Arc<Loops>,
    /// The launcher of automatic vacuums, and its workers.
    upkeep: Arc<Loops>,
    /// The launcher of subscriptions' workers, and these.
    appliers: Arc<Loops>,
}

/// What sessions share, with the languages that functions may be written in, the extensions, and how passwords are kept.
fn instance(engine: Arc<Engine>, settings: Arc<ServerSettings>) -> Arc<Instance> {
    let instance = Instance::new(engine, settings, &Commands);
    instance.languages().register(vec![plpgsql::language()]);
    instance.modules().register(modules::all().into_iter().chain([&plpgsql::MODULE]).collect());
    instance.on_passwords(Scram);
    instance.on_connection_strings(LibpqStrings);
    instance.on_access_files(access::shown::Files);
    instance
}

/// The replay ended, and the server with it: it is where it was to stop, or cannot go on.
fn end_of_replay(error: EngineError) {
    if let EngineError::ShutDownAtTarget = error {
        log::log(error.to_string());
        // SAFETY: a signal to ourselves, which asks for a fast shutdown.
        unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
        return;
    }
    log::report(&fatal(error), None, None);
    log::flush();
    // What was replayed is found again, and nothing was acknowledged.
    std::process::exit(1);
}

/// A loop: what it does until it is told to stop.
type Loop = fn(&Arc<Engine>, &Stop, &dyn Fn()) -> Result<(), EngineError>;

fn options(
    settings: &ServerSettings,
    stop: &Arc<AtomicBool>,
    upstream: &Arc<Receiver>,
) -> SqlResult<EngineOptions> {
    let mut options = EngineOptions {
        shared_buffers: settings.int(Setting::shared_buffers).max(16) as usize,
        reads: reads(settings),
        // What else may be named is refused.
        direct: !settings.text(Setting::debug_io_direct).is_empty(),
        max_open_files: descriptors::for_relations(settings)?,
        max_slots: settings.int(Setting::max_replication_slots) as usize,
        slot_keep_size: (settings.int(Setting::max_slot_wal_keep_size) >= 0)
            .then(|| settings.bytes(Setting::max_slot_wal_keep_size)),
        slot_idle: Some(settings.duration(Setting::idle_replication_slot_timeout))
            .filter(|most| !most.is_zero()),
        checkpoint_segments: settings.int(Setting::checkpoint_segments) as u64,
        checkpoint_timeout: settings.duration(Setting::checkpoint_timeout),
        checkpoint_completion_target: settings.real(Setting::checkpoint_completion_target),
        log_checkpoints: settings.bool(Setting::log_checkpoints),
        checkpoint_warning: settings.duration(Setting::checkpoint_warning),
        startup_progress: settings.duration(Setting::log_startup_progress_interval),
        recovery: RecoveryOptions {
            open_early: settings.bool(Setting::stampede_open_during_recovery),
            workers: settings.int(Setting::stampede_workers) as usize,
        },
        summaries: SummaryOptions {
            on: settings.bool(Setting::summarize_wal),
            keep: Some(settings.duration(Setting::wal_summary_keep_time)).filter(|keep| !keep.is_zero()),
        },
        bgwriter_delay: settings.duration(Setting::bgwriter_delay),
        wal_writer_delay: settings.duration(Setting::wal_writer_delay),
        ..EngineOptions::default()
    };
    options.wal.full_page_writes = settings.bool(Setting::full_page_writes);
    options.wal.compression = match settings.text(Setting::wal_compression) {
        "on" => Some(compress::Method::Pglz),
        word => compress::Method::of_word(word),
    };
    options.wal_keep_size = settings.bytes(Setting::wal_keep_size);
    options.recorded = recorded(settings);
    options.archive = ArchiveOptions {
        mode: ArchiveMode::named(settings.text(Setting::archive_mode)),
        command: settings.text(Setting::archive_command).into(),
        timeout: settings.duration(Setting::archive_timeout),
    };
    options.archive_recovery = archive_recovery(settings, stop.clone(), Some(upstream.clone()))?;
    check_wal_level(&options)?;
    options.wal.fsync = settings.bool(Setting::fsync);
    options.wal.min_size = settings.bytes(Setting::min_wal_size);
    options.wal.max_size = settings.bytes(Setting::max_wal_size);
    // -1 leaves the size to the engine.
    if settings.int(Setting::wal_buffers) > 0 {
        options.wal.buffers = settings.bytes(Setting::wal_buffers) as usize;
    }
    if settings.int(Setting::old_snapshot_threshold) >= 0 {
        options.txn.old_snapshot_threshold = Some(settings.duration(Setting::old_snapshot_threshold));
    }
    // 0 leaves the size to the engine.
    if settings.int(Setting::transaction_buffers) > 0 {
        options.txn.transaction_buffers = settings.int(Setting::transaction_buffers) as usize;
    }
    options.txn.multixact_buffers = multixact_buffers(settings, options.shared_buffers);
    options.txn.predicate = txn::PredicateLimits {
        per_transaction: settings.int(Setting::max_pred_locks_per_transaction) as usize,
        per_relation: settings.int(Setting::max_pred_locks_per_relation),
        per_page: settings.int(Setting::max_pred_locks_per_page),
        transactions: (settings.int(Setting::max_connections)
            + settings.int(Setting::max_prepared_transactions).max(0)) as usize,
    };
    options.txn.max_origins = settings.int(Setting::max_active_replication_origins).max(0) as usize;
    options.txn.max_prepared = settings.int(Setting::max_prepared_transactions).max(0) as usize;
    let owners = settings.int(Setting::max_connections).max(1) as usize + options.txn.max_prepared;
    options.txn.max_locks = settings.int(Setting::max_locks_per_transaction).max(1) as usize * owners;
    Ok(options)
}

/// Slots for which the log says too little would miss changes.
fn check_logical_slots(engine: &Engine) -> SqlResult<()> {
    if engine.options().recorded.wal_level >= WalLevel::Logical {
        return Ok(());
    }
    let slots = engine.slots().list();
    let Some(slot) = slots.iter().find(|slot| slot.logical().is_some()) else { return Ok(()) };
    let message =
        format!("logical replication slot \"{}\" exists, but \"wal_level\" < \"logical\"", slot.name());
    Err(SqlError::fatal(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Change \"wal_level\" to be \"logical\" or higher."))
}

/// What needs more in the log than `wal_level` puts there.
fn check_wal_level(options: &EngineOptions) -> SqlResult<()> {
    if options.recorded.wal_level > WalLevel::Minimal {
        return Ok(());
    }
    let refuse = |message: &str| Err(SqlError::fatal(SqlState::INVALID_PARAMETER_VALUE, message));
    if options.archive.mode != ArchiveMode::Off {
        return refuse("WAL archival cannot be enabled when \"wal_level\" is \"minimal\"");
    }
    if options.summaries.on {
        return refuse("WAL cannot be summarized when \"wal_level\" is \"minimal\"");
    }
    if options.recorded.max_wal_senders > 0 {
        return refuse(
            "WAL streaming (\"max_wal_senders\" > 0) requires \"wal_level\" to be \"replica\" or \"logical\"",
        );
    }
    Ok(())
}

/// What the control file says of settings.
fn recorded(settings: &ServerSettings) -> RecordedSettings {
    let number = |setting| settings.int(setting).max(0) as u32;
    RecordedSettings {
        wal_level: WalLevel::named(settings.text(Setting::wal_level)).unwrap_or_default(),
        max_connections: number(Setting::max_connections),
        max_worker_processes: number(Setting::max_worker_processes),
        max_wal_senders: number(Setting::max_wal_senders),
        max_prepared_transactions: number(Setting::max_prepared_transactions),
        max_locks_per_transaction: number(Setting::max_locks_per_transaction),
        track_commit_timestamp: settings.bool(Setting::track_commit_timestamp),
    }
}

/// How pages are read ahead.
fn reads(settings: &ServerSettings) -> ReadOptions {
    ReadOptions {
        method: match settings.text(Setting::io_method) {
            "sync" => ReadMethod::Sync,
            "io_uring" => ReadMethod::IoUring,
            _ => ReadMethod::Worker,
        },
        most_pages: settings.int(Setting::io_max_combine_limit).max(1) as u32,
        // -1 leaves it to the other settings.
        most_reads: u32::try_from(settings.int(Setting::io_max_concurrency)).unwrap_or(u32::MAX),
    }
}

/// Gets what reads need of the system, or says that it does not give it.
fn prepare_reads(settings: &ServerSettings) -> SqlResult<()> {
    runtime::fs::set_readers(settings.int(Setting::io_workers).max(1) as usize);
    runtime::fs::prepare_reads(reads(settings).method).map_err(|error| {
        let message = format!("could not setup io_uring queue: {}", base::os_error(&error));
        let refused = SqlError::fatal(SqlState::IO_ERROR, message);
        match error.kind() {
            ErrorKind::PermissionDenied => refused
                .hint("Look at \"/proc/sys/kernel/io_uring_disabled\", or set \"io_method\" to \"worker\"."),
            _ => refused.hint("The kernel may be without io_uring: set \"io_method\" to \"worker\"."),
        }
    })
}

/// Pages for sets of lockers: as many as were asked for, times 16, since an entry holds what PostgreSQL keeps in two places and takes more room
/// than in either. If nothing was asked for, enough that asking would not help; they are allocated as they are used.
fn multixact_buffers(settings: &ServerSettings, shared_buffers: usize) -> usize {
    let [members, offsets] = [Setting::multixact_member_buffers, Setting::multixact_offset_buffers];
    let asked = (settings.int(members) + settings.int(offsets)).max(1) as usize * 16;
    match [members, offsets].iter().all(|setting| settings.source(*setting) == Source::Default) {
        true => asked.max(shared_buffers / 4),
        false => asked,
    }
}

fn fatal(error: EngineError) -> SqlError {
    if let EngineError::Txn(error) = error {
        let mut error = SqlError::from(error);
        error.report_mut().severity = Severity::Fatal;
        return error;
    }
    let code = match &error {
        EngineError::Locked(_) => SqlState::LOCK_FILE_EXISTS,
        EngineError::ControlFile(_)
        | EngineError::History(_)
        | EngineError::NoRecovery { .. }
        | EngineError::Redo { .. }
        | EngineError::LogEnds { .. }
        | EngineError::LogHole { .. }
        | EngineError::NoCheckpoint(_) => SqlState::DATA_CORRUPTED,
        EngineError::FormatVersion { .. } => SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        _ => SqlState::IO_ERROR,
    };
    let hint = match &error {
        EngineError::NoRecovery { hint, .. } if !hint.is_empty() => Some(hint.clone()),
        _ => None,
    };
    let mut report = SqlError::fatal(code, error.to_string());
    report.report_mut().hint = hint;
    report
}

/// Checks texts of settings that `base` cannot judge.
fn check_setting(setting: Setting, text: &str) -> SqlResult<Option<String>> {
    if setting == Setting::log_connections
        && let Some(word) = crate::session::unknown_step(text)
    {
        let message = format!("invalid value for parameter \"{}\": \"{text}\"", setting.name());
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
            .detail(format!("Invalid option \"{word}\".")));
    }
    if setting == Setting::synchronous_standby_names {
        return check_standby_names(text).map(|()| None);
    }
    if setting == Setting::primary_slot_name && !text.is_empty() {
        return check_slot_name(text).map(|()| None);
    }
    if !matches!(setting, Setting::TimeZone | Setting::log_timezone) {
        return Ok(None);
    }
    match types::timezone::TimeZone::named(text) {
        Some(zone) => Ok(Some(zone.name().to_owned())),
        None => Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"{}\": \"{text}\"",
            setting.name()
        )),
    }
}

fn check_slot_name(text: &str) -> SqlResult<()> {
    session::replication::check_slot_name(text).map_err(|flaw| {
        let name = Setting::primary_slot_name.name();
        let message = format!("invalid value for parameter \"{name}\": \"{text}\"");
        let error = SqlError::new(flaw.code(), message).detail(flaw.message().to_owned());
        match &flaw.report().hint {
            Some(hint) => error.hint(hint.clone()),
            None => error,
        }
    })
}

fn check_standby_names(text: &str) -> SqlResult<()> {
    match Names::parse(text) {
        Ok(_) => Ok(()),
        Err(Flaw::Count(count)) => Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "number of synchronous standbys ({count}) must be greater than zero"
        )),
        Err(Flaw::Syntax(why)) => {
            let name = Setting::synchronous_standby_names.name();
            Err(sql_err!(SYNTAX_ERROR, "invalid value for parameter \"{name}\": \"{text}\"").detail(why))
        }
    }
}

/// Opens a data directory, recovering it if need be; none if recovery is to end with the server's stop: because `stop` is set, or at its target. Called on a
/// plain thread.
pub fn open(
    dir: &Path,
    lock: DirectoryLock,
    settings: Arc<ServerSettings>,
    stop: &Arc<AtomicBool>,
) -> SqlResult<Option<Arc<dyn Database>>> {
    base::settings::set_text_check(check_setting);
    log_last_state(dir);
    let upstream = Receiver::new(settings.clone());
    let shut_down = ControlFile::read(dir).is_ok_and(|control| control.state == ClusterState::ShutDown);
    prepare_reads(&settings)?;
    let engine = match Engine::open_locked(dir, lock, options(&settings, stop, &upstream)?) {
        Err(EngineError::Stopped) => return Ok(None),
        Err(error @ EngineError::ShutDownAtTarget) => {
            log::log(error.to_string());
            return Ok(None);
        }
        engine => engine.map_err(fatal)?,
    };
    check_logical_slots(&engine)?;
    // What was counted belongs to data that were replayed.
    let clean = shut_down && engine.replayed().is_none();
    let gives_files = crate::directory::gives_files(&settings);
    let instance = instance(Arc::new(engine), settings);
    if !gives_files {
        instance.confine_files(dir);
    }
    instance.counters().load(dir, clean);
    instance.preload().map_err(|error| SqlError::fatal(error.code(), error.message().to_owned()))?;
    let (stop, loops, upkeep, appliers) = Default::default();
    let autovacuum = Autovacuum::new(&instance);
    Ok(Some(Arc::new(Stampede { instance, autovacuum, upstream, stop, loops, upkeep, appliers })))
}

/// Tells how the last server ended. What is wrong with the control file is the engine's to say.
fn log_last_state(dir: &Path) {
    let Ok(control) = ControlFile::read(dir) else { return };
    let time = crate::log::timestamp(control.time, false);
    match control.state {
        ClusterState::Initializing => {}
        ClusterState::ShutDown => crate::log::log(format!("database system was shut down at {time}")),
        ClusterState::ShutDownInRecovery => {
            crate::log::log(format!("database system was shut down in recovery at {time}"));
        }
        ClusterState::InArchiveRecovery => {
            let line = format!("database system was interrupted while in recovery at log time {time}");
            crate::log::log(line);
        }
        ClusterState::InRecovery => {
            crate::log::log(format!("database system was interrupted while in recovery at {time}"));
        }
        ClusterState::InProduction => {
            crate::log::log(format!("database system was interrupted; last known up at {time}"));
        }
    }
}

/// Checks a data directory that no server runs on, and changes nothing of it. Called on a plain thread.
pub fn verify(dir: &Path, watcher: &mut dyn verify::Watcher) -> Result<(), String> {
    let mut options = EngineOptions::default();
    // However many were allowed when they were prepared.
    options.txn.max_prepared = 1 << 18;
    let engine = Engine::inspect(dir, options).map_err(|error| error.to_string())?;
    let instance = instance(Arc::new(engine), Arc::new(ServerSettings::new()));
    verify::databases(&instance, watcher).map_err(|error| error.message().to_owned())
}

/// Makes a data directory's database. Called on a plain thread.
pub fn create(cluster: &NewCluster) -> Result<(), String> {
    let mut options = EngineOptions::default();
    options.wal.segment_size = cluster.wal_segment_size;
    let password =
        cluster.password.as_ref().map(|password| Scram.verifier(password, scram::DEFAULT_ITERATIONS));
    let bootstrap = BootstrapOptions {
        superuser: cluster.superuser.clone(),
        password,
        encoding: cluster.encoding,
        locale: "C.UTF-8".into(),
        provider: cluster.provider,
        provider_locale: cluster.provider_locale.clone(),
    };
    command::initialize(&cluster.dir, options, &bootstrap).map_err(|error| error.message().to_string())
}

/// Connection strings are libpq's.
struct LibpqStrings;

impl ConnectionStrings for LibpqStrings {
    fn read(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        client::options::named(text).map(|options| options.into_iter().collect())
    }

    fn connect(&self, text: &str, name: &str, asked: bool) -> Result<Box<dyn Publisher>, Failure> {
        publisher::connect(text, name, asked)
    }
}

/// Passwords are stored as SCRAM verifiers.
struct Scram;

impl Passwords for Scram {
    fn verifier(&self, password: &str, iterations: u32) -> String {
        let mut salt = [0; scram::SALT_LENGTH];
        runtime::spawn::fill_random(&mut salt);
        Verifier::new(password, &salt, iterations).to_string()
    }

    fn is_verifier(&self, text: &str) -> bool {
        Verifier::parse(text).is_some()
    }

    fn matches(&self, verifier: &str, password: &str) -> bool {
        Verifier::parse(verifier).is_some_and(|verifier| verifier.matches(password))
    }
}

impl Stampede {
    fn read<T>(&self, read: impl FnOnce(&Reader<'_>) -> SqlResult<T>) -> SqlResult<T> {
        self.instance.read_shared(0, read)
    }

    fn start(&self, workers: &Workers, worker: usize, (name, account): (&'static str, Account), body: Loop) {
        let (instance, stop, running) = (self.instance.clone(), self.stop.clone(), self.loops.enter());
        workers.spawn_fiber_on(worker, move || {
            let _running = running;
            let after_round = || {
                instance.counters().count_background();
                let settings = instance.settings();
                runtime::usage::time_io(settings.bool(Setting::track_io_timing));
                runtime::usage::time_wal(settings.bool(Setting::track_wal_io_timing));
            };
            account.enter();
            after_round();
            if let Err(error) = body(instance.engine(), &stop, &after_round) {
                if instance.engine().is_following() {
                    return end_of_replay(error);
                }
                // Storage is no longer to be trusted: what was acknowledged is in the log, so stop and recover from there.
                let report = SqlError::with_severity(
                    Severity::Panic,
                    SqlState::IO_ERROR,
                    format!("{name} failed: {error}"),
                );
                log::report(&report, None, None);
                log::flush();
                std::process::abort();
            }
        });
    }
}

impl Stampede {
    /// The summarizer is shown as long as it has something to do.
    fn show_summarizer(&self) {
        let sessions = self.instance.sessions();
        sessions.remove_background(SUMMARIZER_PID);
        if self.instance.engine().options().summaries.on {
            sessions.add_background(SUMMARIZER_PID, "walsummarizer", "WalSummarizerWal");
        }
    }

    /// Starts the loops without which storage does not go on.
    fn start_storage(&self, workers: &Workers) {
        let wal_writer = ("WAL writer", Account::WalWriter);
        self.start(workers, 0, ("recovery", Account::Checkpointer), background::recovery);
        self.start(workers, 0, ("checkpointer", Account::Checkpointer), background::checkpointer);
        let writer = ("background writer", Account::BackgroundWriter);
        self.start(workers, 1, writer, background::background_writer);
        self.start(workers, 0, wal_writer, background::wal_writer);
        self.start(workers, 1, wal_writer, background::wal_backlog_writer);
    }
}

impl Database for Stampede {
    fn role(&self, name: &str) -> SqlResult<Option<Role>> {
        self.read(|reader| {
            let Some(role) = reader.role(name)? else { return Ok(None) };
            Ok(Some(Role {
                superuser: role.superuser,
                can_login: role.login,
                password: role.password,
                password_expired: role.valid_until.is_some_and(|end| end < runtime::wall_clock_micros()),
                uses_reserved: reader.has_privileges_of(role.oid, predefined::USE_RESERVED_CONNECTIONS)?,
            }))
        })
    }

    fn is_member(&self, user: &str, role: &str) -> SqlResult<bool> {
        self.read(|reader| match (reader.role(user)?, reader.role(role)?) {
            // Superusers are members of what they were made members of only.
            (Some(user), Some(role)) => Ok(reader.role_facts(user.oid)?.member_of.contains(&role.oid)),
            _ => Ok(false),
        })
    }

    fn connect(&self, info: SessionInfo) -> SqlResult<Box<dyn Client>> {
        Ok(Box::new(Session::new(self.instance.clone(), info)?))
    }

    fn is_standby(&self) -> bool {
        self.instance.engine().is_following()
    }

    fn reload(&self, settings: Arc<ServerSettings>) {
        match options(&settings, &self.instance.engine().options().archive_recovery.stop, &self.upstream) {
            Ok(wanted) => self.instance.engine().tune(&wanted),
            // What may not be at start is no reason to stop a server that runs.
            Err(error) => log::report(&error, None, None),
        }
        runtime::fs::set_readers(settings.int(Setting::io_workers).max(1) as usize);
        self.show_summarizer();
        self.upstream.take_settings(settings.clone());
        self.instance.set_settings(settings.clone());
        self.autovacuum.take_settings(&settings);
        self.instance.subscribers().wake().set();
    }

    fn start_background(&self, workers: &Workers, sessions: &Arc<Sessions>) {
        let shown = [
            ("checkpointer", "CheckpointerMain"),
            ("background writer", "BgwriterMain"),
            ("walwriter", "WalWriterMain"),
        ];
        for (pid, (kind, wait)) in (1..crate::sessions::FIRST_PID).zip(shown) {
            self.instance.sessions().add_background(pid, kind, wait);
        }
        if self.instance.engine().options().archive.mode != ArchiveMode::Off {
            self.instance.sessions().add_background(ARCHIVER_PID, "archiver", "ArchiverMain");
        }
        self.show_summarizer();
        self.start_storage(workers);
        self.start(workers, 1, ("walsummarizer", Account::WalWriter), summaries::summarizer);
        if self.instance.engine().options().archive.mode != ArchiveMode::Off {
            self.start(workers, 1, ("archiver", Account::WalWriter), background::archiver);
        }
        let over = (self.instance.clone(), self.autovacuum.clone());
        upkeep::start(over, workers, sessions, &self.upkeep);
        upkeep::start_appliers(self.instance.clone(), workers, sessions, &self.appliers);
    }

    fn start_standalone(&self, workers: &Workers) {
        let engine = self.instance.engine();
        engine.leave_archiving();
        self.instance.senders().leave_standbys(engine.txns().standbys());
        self.start_storage(workers);
    }

    fn first_superuser(&self) -> SqlResult<Option<String>> {
        self.read(|reader| Ok(reader.role_by_oid(BOOTSTRAP_SUPERUSER)?.map(|role| role.name)))
    }

    fn shutdown(&self) -> SqlResult<()> {
        self.autovacuum.stop();
        self.instance.subscribers().shut_down();
        self.upkeep.wait();
        self.appliers.wait();
        self.stop.stop(self.instance.engine());
        self.loops.wait();
        let closed = self.instance.engine().shutdown().map_err(fatal);
        // Those who send the log send its last record too, and end.
        self.instance.senders().finish();
        closed?;
        // Counters that cannot be kept are not worth an error.
        if let Err(error) = self.instance.save_counters() {
            log::log(format!("could not write statistics file: {error}"));
        }
        Ok(())
    }

    fn stop_replication(&self) {
        self.instance.senders().stop();
    }

    fn set_control(&self, control: Arc<dyn session::ServerControl>) {
        self.instance.set_control(control);
    }
}

impl Client for Session {
    fn note_lines(&self, lines: &mut base::Lines) {
        Session::note_lines(self, lines);
    }

    fn simple_query(&mut self, text: &str, out: &mut dyn Output) -> SqlResult<()> {
        Session::simple_query(self, text, out)
    }

    fn parse(&mut self, name: &str, text: &str, types: &[Oid], out: &mut dyn Output) -> SqlResult<()> {
        Session::parse(self, name, text, types, out)
    }

    fn bind(
        &mut self,
        portal: &str,
        statement: &str,
        parameter_formats: &[Format],
        parameters: &[ParamValue<'_>],
        result_formats: &[Format],
    ) -> SqlResult<()> {
        Session::bind(self, portal, statement, parameter_formats, parameters, result_formats)
    }

    fn describe_statement(&mut self, name: &str, out: &mut dyn Output) -> SqlResult<()> {
        Session::describe_statement(self, name, out)
    }

    fn describe_portal(&mut self, name: &str, out: &mut dyn Output) -> SqlResult<()> {
        Session::describe_portal(self, name, out)
    }

    fn execute(&mut self, portal: &str, max_rows: u32, out: &mut dyn Output) -> SqlResult<()> {
        Session::execute(self, portal, max_rows, out)
    }

    fn function_call(
        &mut self,
        function: Oid,
        formats: &[Format],
        args: &[ParamValue<'_>],
        result: Format,
        out: &mut dyn Output,
    ) -> SqlResult<Option<Vec<u8>>> {
        Session::function_call(self, function, formats, args, result, out)
    }

    fn close_statement(&mut self, name: &str) {
        Session::close_statement(self, name);
    }

    fn close_portal(&mut self, name: &str) {
        Session::close_portal(self, name);
    }

    fn sync(&mut self, out: &mut dyn Output) -> SqlResult<()> {
        Session::sync(self, out)
    }

    fn fail(&mut self, error: &SqlError) {
        Session::fail(self, error);
    }

    fn failed_statement(&mut self, severity: Severity) -> Option<Arc<str>> {
        Session::take_failed_statement(self, severity)
    }

    fn situation(&self) -> Situation {
        Session::situation(self)
    }

    fn socket_to(&mut self, sink: SocketSink) {
        Session::socket_to(self, sink);
    }

    fn setting(&self, name: &str) -> Option<String> {
        Session::setting(self, name)
    }

    fn log_to(&mut self, sink: LogSink) {
        Session::log_to(self, sink);
    }

    fn transaction_status(&self) -> TransactionStatus {
        Session::transaction_status(self)
    }

    fn take_chained(&mut self) -> bool {
        Session::take_chained(self)
    }

    fn timeouts(&self) -> Timeouts {
        Session::timeouts(self)
    }

    fn exits_on_error(&self) -> bool {
        Session::exits_on_error(self)
    }

    fn passage(&self) -> Option<Passage> {
        Session::passage(self)
    }

    fn reported_settings(&self) -> Vec<(String, String)> {
        Session::reported_settings(self)
    }

    fn take_notifications(&mut self) -> VecDeque<Arc<Notification>> {
        Session::take_notifications(self)
    }

    fn close(&mut self, how: counters::SessionEnd) {
        Session::close_because(self, how);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_slots_are_checked_where_they_are_set() {
        let check = |text| check_setting(Setting::primary_slot_name, text);
        assert!(check("").is_ok() && check("slot_1").is_ok());
        let error = check("Slot-1").unwrap_err();
        assert_eq!(error.code(), SqlState::INVALID_NAME);
        assert_eq!(error.message(), "invalid value for parameter \"primary_slot_name\": \"Slot-1\"");
        let report = error.report();
        let detail = "replication slot name \"Slot-1\" contains invalid character";
        assert_eq!(report.detail.as_deref(), Some(detail));
        assert!(report.hint.is_some());
        let long = "s".repeat(64);
        assert_eq!(check(&long).unwrap_err().code(), SqlState::NAME_TOO_LONG);
    }
}
