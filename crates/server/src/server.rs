//! The server's life: from the command line to the last log line.
//!
//! # What
//! The main thread runs an event loop of its own for sockets and signals; the workers run the sessions. The data directory
//! is opened (and recovered) on a thread beside them, while clients are told that the server is starting.
//!
//! # PostgreSQL counterpart and differences
//! `postmaster.c`. SIGTERM, SIGINT and SIGQUIT mean smart, fast and immediate; SIGHUP reloads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::settings::{ServerSettings, Setting, Source};
use base::{SqlError, SqlResult, SqlState};
use engine::EngineError;
use engine::lock::DirectoryLock;
use runtime::{Workers, spawn_thread};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::allocator::purge;
use crate::backend::Database;
use crate::config::access::{Maps, Rules};
use crate::config::{self, CommandLine, ConfigError};
use crate::control::Control;
use crate::listener::Listeners;
use crate::log;
use crate::memory_limit;
use crate::pidfile::{self, Contents, ExternalPidFile, PidFile, Status};
use crate::service_manager::{self, State};
use crate::session::{Phase, Shared};
use crate::tls::Tls;
use crate::{descriptors, directory};

/// Opens the database in a data directory, which the server has locked; none if the server is to stop instead, as the flag asks for.
pub type Open =
    fn(&Path, DirectoryLock, Arc<ServerSettings>, &Arc<AtomicBool>) -> SqlResult<Option<Arc<dyn Database>>>;

/// What differs between the ways to start a server.
pub struct Start {
    /// Command line.
    pub command_line: CommandLine,
    /// Opens the database.
    pub open: Open,
    /// Called once clients are let in.
    pub ready: fn(&ServerSettings),
}

/// Runs a server until it is told to stop; returns the exit code.
pub fn run(start: Start) -> i32 {
    log::install_tracing();
    let loaded = match config::load(&start.command_line) {
        Ok(loaded) => loaded,
        Err(error) => return config_failed(&error),
    };
    log::configure(&loaded.settings);
    if let Err(error) = log::start() {
        // Lines are written by who has them.
        log::log(format!("could not start thread of the log: {}", base::os_error(&error)));
    }
    if let Err(error) = purge::start() {
        // Memory is given back by who frees it.
        log::log(format!("could not start thread that gives memory back: {}", base::os_error(&error)));
    }
    loaded.notes.iter().for_each(|note| log::log(note.clone()));
    let code = match serve(start, Arc::new(loaded.settings)) {
        Ok(()) => 0,
        Err(error) => {
            log::report(&error, None, None);
            1
        }
    };
    log::flush();
    code
}

pub(crate) fn config_failed(error: &ConfigError) -> i32 {
    if error.exit_code == 2 {
        eprintln!("{}", error.fatal);
    } else {
        error.details.iter().for_each(|detail| log::log(detail.clone()));
        log::report(
            &SqlError::fatal(SqlState::CONFIG_FILE_ERROR, error.fatal.trim_start_matches("FATAL:  ")),
            None,
            None,
        );
    }
    error.exit_code
}

fn serve(start: Start, settings: Arc<ServerSettings>) -> SqlResult<()> {
    let dir = Path::new(settings.text(Setting::data_directory)).to_path_buf();
    directory::check(&dir)?;
    let contents = Contents {
        pid: std::process::id() as i32,
        data_directory: dir.clone(),
        started: runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS,
        port: settings.int(Setting::port) as u16,
        socket_directory: String::new(),
        address: String::new(),
    };
    let lock = lock_directory(&dir)?;
    let pid_file = PidFile::create(contents.clone(), &lock)?;
    log::collect(&settings);
    write_options_file(&dir);
    descriptors::raise_limit();
    log::log(format!(
        "starting PostgreSQL {}-compatible Stampede {} on {}-{}",
        crate::PG_VERSION,
        crate::VERSION,
        std::env::consts::ARCH,
        std::env::consts::OS
    ));
    memory_limit::apply(&settings).map_err(as_fatal)?;
    check_connections(&settings)?;
    let tls = Tls::load(&settings)?.map(Arc::new);
    let rules = load_rules(&settings)?;
    let count = worker_count(&settings);
    let workers = Workers::start(count).map_err(|error| {
        SqlError::fatal(
            SqlState::INSUFFICIENT_RESOURCES,
            format!("could not start workers: {}", base::os_error(&error)),
        )
    })?;
    let mock_secret = directory::mock_secret(&dir)?;
    let shared = Arc::new(Shared::new(settings.clone(), rules, count, mock_secret));
    *shared.tls.write() = tls;
    // Without maps nobody comes in by a method that needs one; all others do.
    *shared.maps.write() = Arc::new(load_maps(&settings).unwrap_or_default());
    let server = Server { start, dir, contents, pid_file, shared, workers };
    runtime::run_async(server.live(lock)).map_err(|error| {
        SqlError::fatal(
            SqlState::INSUFFICIENT_RESOURCES,
            format!("could not start event loop: {}", base::os_error(&error)),
        )
    })?
}

/// Locks the data directory, or tells which server has it.
pub(crate) fn lock_directory(dir: &Path) -> SqlResult<DirectoryLock> {
    DirectoryLock::acquire(dir).map_err(|error| match error {
        EngineError::Locked(_) => pidfile::directory_in_use(dir),
        EngineError::Io(..) => SqlError::fatal(SqlState::IO_ERROR, error.to_string()),
        _ => SqlError::fatal(SqlState::INTERNAL_ERROR, error.to_string()),
    })
}

/// `postmaster.opts`: the command line, for `pg_ctl restart` and `pg_ctl status`.
fn write_options_file(dir: &Path) {
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    let mut line = crate::cli::program_path(&program);
    // As `stampede postgres` the name of the command is no option.
    for word in words.enumerate().filter(|(at, word)| *at > 0 || word != "postgres").map(|(_, word)| word) {
        line.push_str(&format!(" \"{word}\""));
    }
    line.push('\n');
    if let Err(error) = runtime::fs::write_file(&dir.join("postmaster.opts"), line.as_bytes()) {
        log::log(format!("could not create file \"postmaster.opts\": {}", base::os_error(&error)));
    }
}

/// Writes the file that `external_pid_file` names, if it names one.
fn external_pid_file(settings: &ServerSettings) -> Option<ExternalPidFile> {
    let name = settings.text(Setting::external_pid_file);
    let path = Path::new(settings.text(Setting::data_directory)).join(name);
    let written = (!name.is_empty()).then(|| ExternalPidFile::write(&path))?;
    written.map_err(|error| log::report(&error, None, None)).ok()
}

/// One worker for each processor, unless `stampede.workers` says otherwise.
fn worker_count(settings: &ServerSettings) -> usize {
    match settings.int(Setting::stampede_workers) {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        number => number as usize,
    }
}

fn load_rules(settings: &ServerSettings) -> SqlResult<Rules> {
    let path = settings.text(Setting::hba_file);
    Rules::read(Path::new(path), settings.bool(Setting::ssl)).map_err(|flaws| {
        flaws.iter().for_each(|flaw| log::report(flaw, None, None));
        SqlError::fatal(SqlState::CONFIG_FILE_ERROR, format!("could not load {path}"))
    })
}

/// Maps of user names; none if they cannot be read, which the log tells.
fn load_maps(settings: &ServerSettings) -> Option<Maps> {
    let maps = Maps::read(Path::new(settings.text(Setting::ident_file)));
    maps.map_err(|flaws| flaws.iter().for_each(|flaw| log::report(flaw, None, None))).ok()
}

/// Connections must be left for all.
pub(crate) fn check_connections(settings: &ServerSettings) -> SqlResult<()> {
    let number = |setting| settings.int(setting);
    let (superuser, reserved) =
        (number(Setting::superuser_reserved_connections), number(Setting::reserved_connections));
    let max = number(Setting::max_connections);
    if superuser + reserved < max {
        return Ok(());
    }
    Err(SqlError::fatal(
        SqlState::INVALID_PARAMETER_VALUE,
        format!(
            "\"superuser_reserved_connections\" ({superuser}) plus \"reserved_connections\" ({reserved}) \
             must be less than \"max_connections\" ({max})"
        ),
    ))
}

struct Server {
    start: Start,
    dir: std::path::PathBuf,
    contents: Contents,
    pid_file: PidFile,
    shared: Arc<Shared>,
    workers: Workers,
}

/// How the server is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shutdown {
    Smart,
    Fast,
    Immediate,
}

/// The signals that mean something.
struct Signals {
    hangup: Signal,
    user: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

/// What a signal asks for.
enum Request {
    Reload,
    /// `pg_ctl promote`.
    Promote,
    Stop(Shutdown),
}

impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            user: signal(SignalKind::user_defined1())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.hangup.recv() => Request::Reload,
            // Who sends it has put a file there too, which recovery finds.
            _ = self.user.recv() => Request::Promote,
            _ = self.terminate.recv() => {
                log::log("received smart shutdown request");
                Request::Stop(Shutdown::Smart)
            }
            _ = self.interrupt.recv() => {
                log::log("received fast shutdown request");
                Request::Stop(Shutdown::Fast)
            }
            _ = self.quit.recv() => {
                log::log("received immediate shutdown request");
                Request::Stop(Shutdown::Immediate)
            }
        }
    }
}

impl Server {
    async fn live(mut self, lock: DirectoryLock) -> SqlResult<()> {
        let io_failed = |error: std::io::Error| SqlError::fatal(SqlState::IO_ERROR, base::os_error(&error));
        let mut signals = Signals::new().map_err(io_failed)?;
        let settings = self.shared.settings();
        let listeners = Listeners::open(&settings, &self.contents)?;
        let address = settings.text(Setting::listen_addresses).split(',').next().unwrap_or_default().trim();
        self.pid_file.set_addresses(listeners.socket_directory(), address.to_string());
        self.pid_file.write(Status::Starting)?;
        let external = external_pid_file(&settings);
        let accepting = tokio::task::spawn_local(listeners.accept(self.shared.clone(), self.workers.clone()));

        let Some(database) = self.open_database(lock, &mut signals).await? else {
            accepting.abort();
            let _ = accepting.await;
            return Ok(());
        };
        database.start_background(&self.workers, &self.shared.sessions);
        database.set_control(Arc::new(Control::new(self.shared.clone(), self.start.command_line.clone())));
        // Set once: this is the only place.
        let _ = self.shared.database.set(database.clone());
        *self.shared.phase.write() = Phase::Running;
        self.pid_file.write(Status::Ready)?;
        log::log(match database.is_standby() {
            true => "database system is ready to accept read-only connections",
            false => "database system is ready to accept connections",
        });
        (self.start.ready)(&settings);
        service_manager::tell(State::Ready);

        let mode = self.until_stopped(&mut signals).await;
        service_manager::tell(State::Stopping);
        *self.shared.phase.write() = Phase::Stopping;
        database.stop_replication();
        self.pid_file.write(Status::Stopping)?;
        let mode = self.until_sessions_end(mode, &mut signals).await;
        accepting.abort();
        // Cancelled by the line above; its sockets are closed when it is gone.
        let _ = accepting.await;
        if mode == Shutdown::Immediate {
            log::log("database system is shut down");
            drop(external);
            drop(self.pid_file);
            log::flush();
            // Whatever still runs is not to write anything any more.
            std::process::exit(0);
        }
        let closed = self.close(database, &mut signals).await;
        drop(external);
        closed
    }

    /// Opens the data directory on a thread beside; `None` when the server was told to stop meanwhile.
    async fn open_database(
        &self,
        lock: DirectoryLock,
        signals: &mut Signals,
    ) -> SqlResult<Option<Arc<dyn Database>>> {
        let (open, dir, settings) = (self.start.open, self.dir.clone(), self.shared.settings());
        if engine::is_standby(&self.dir) {
            self.pid_file.write(Status::Standby)?;
        }
        let stop = Arc::<AtomicBool>::default();
        let stopping = stop.clone();
        let opening = spawn_thread("startup", move || open(&dir, lock, settings, &stopping))
            .map_err(|error| SqlError::fatal(SqlState::INSUFFICIENT_RESOURCES, base::os_error(&error)))?;
        let mut opening = std::pin::pin!(opening);
        loop {
            tokio::select! {
                opened = &mut opening => {
                    let opened = opened.map_err(|error| {
                        SqlError::fatal(SqlState::INTERNAL_ERROR, format!("startup failed: {error}"))
                    })?;
                    let opened = opened.map_err(as_fatal)?;
                    if opened.is_none() {
                        log::log("database system is shut down");
                    }
                    return Ok(opened);
                }
                request = signals.next() => if let Request::Stop(mode) = request {
                    // A recovery of an archive is left where it can go on; one behind a crash just begins anew.
                    if mode != Shutdown::Immediate && engine::is_archive_recovery(&self.dir) {
                        stop.store(true, Ordering::Relaxed);
                        continue;
                    }
                    log::log("database system is shut down");
                    return Ok(None);
                }
            }
        }
    }

    async fn until_stopped(&mut self, signals: &mut Signals) -> Shutdown {
        loop {
            match signals.next().await {
                Request::Stop(mode) => return mode,
                Request::Promote => {}
                Request::Reload => {
                    service_manager::tell(State::Reloading);
                    self.reload();
                    service_manager::tell(State::Ready);
                }
            }
        }
    }

    /// Waits until the last session has ended; a second signal may make it more urgent.
    async fn until_sessions_end(&mut self, mut mode: Shutdown, signals: &mut Signals) -> Shutdown {
        loop {
            match mode {
                Shutdown::Immediate => return mode,
                Shutdown::Fast => {
                    log::log("aborting any active transactions");
                    self.shared.sessions.terminate_all();
                }
                Shutdown::Smart => {}
            }
            tokio::select! {
                () = self.until_all_end() => return mode,
                request = signals.next() => if let Request::Stop(more) = request {
                    mode = mode.max(more);
                }
            }
        }
    }

    /// Waits for the last client, then ends connections of replication; those that send the log end by themselves, with its last byte.
    async fn until_all_end(&self) {
        self.shared.sessions.until_no_clients().await;
        self.shared.sessions.terminate_all();
        self.shared.sessions.until_ended().await;
    }

    async fn close(self, database: Arc<dyn Database>, signals: &mut Signals) -> SqlResult<()> {
        log::log("shutting down");
        let (workers, closing) = (self.workers, database);
        let closed = spawn_thread("shutdown", move || {
            let result = closing.shutdown();
            workers.shutdown();
            result
        });
        let closed = match closed {
            Ok(mut thread) => loop {
                tokio::select! {
                    ended = &mut thread => break ended,
                    // Receivers of the log may keep it waiting.
                    request = signals.next() => if let Request::Stop(Shutdown::Immediate) = request {
                        log::flush();
                        std::process::exit(0);
                    }
                }
            },
            Err(error) => {
                return Err(SqlError::fatal(SqlState::INSUFFICIENT_RESOURCES, base::os_error(&error)));
            }
        };
        match closed {
            Ok(result) => result.map_err(as_fatal)?,
            Err(error) => return Err(SqlError::fatal(SqlState::INTERNAL_ERROR, error.to_string())),
        }
        log::log("database system is shut down");
        Ok(())
    }

    fn reload(&mut self) {
        log::log("received SIGHUP, reloading configuration files");
        let running = self.shared.settings();
        match config::reload(&running, &self.start.command_line) {
            Err(error) => {
                error.details.into_iter().for_each(log::log);
                log::log(error.fatal);
            }
            Ok((reload, errors)) => {
                for setting in &reload.changed {
                    let name = setting.name();
                    log::log(match reload.settings.source(*setting) {
                        Source::Default => {
                            format!("parameter \"{name}\" removed from configuration file, reset to default")
                        }
                        _ => {
                            format!("parameter \"{name}\" changed to \"{}\"", reload.settings.show(*setting))
                        }
                    });
                }
                errors.into_iter().for_each(log::log);
                let settings = Arc::new(reload.settings);
                log::configure(&settings);
                if let Err(error) = memory_limit::apply(&settings) {
                    log::report(&error, None, None);
                }
                *self.shared.settings.write() = settings.clone();
                if let Some(database) = self.shared.database.get() {
                    database.reload(settings);
                }
            }
        }
        match Tls::load(&self.shared.settings()) {
            Ok(tls) => *self.shared.tls.write() = tls.map(Arc::new),
            Err(mut error) => {
                error.report_mut().severity = base::Severity::Log;
                log::report(&error, None, None);
                log::log("SSL configuration was not reloaded");
            }
        }
        match load_rules(&self.shared.settings()) {
            Ok(rules) => *self.shared.rules.write() = Arc::new(rules),
            Err(_) => log::log(format!("{} was not reloaded", running.text(Setting::hba_file))),
        }
        match load_maps(&self.shared.settings()) {
            Some(maps) => *self.shared.maps.write() = Arc::new(maps),
            None => log::log(format!("{} was not reloaded", running.text(Setting::ident_file))),
        }
    }
}

fn as_fatal(mut error: SqlError) -> SqlError {
    error.report_mut().severity = error.report().severity.max(base::Severity::Fatal);
    error
}
