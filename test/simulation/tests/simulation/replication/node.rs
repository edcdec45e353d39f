//! One server of a cluster, on a machine of its own: started, crashed, promoted, rebuilt.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::settings::{ServerSettings, Source};
use engine::background::{self, Stop};
use engine::{ArchiveMode, ArchiveOptions, ArchiveRecovery, Engine, EngineError, EngineOptions};
use runtime::sim::machines::{self, Machine};
use runtime::sim::net;
use runtime::{fs, sleep, spawn_fiber, wait};
use server::receiver::Receiver;
use session::Instance;

use super::{archive, wire};
use crate::cluster::Server;
use crate::seeds::number;
use crate::session::Client;

/// Virtual time in which whatever is waited for must come.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Pids of walsenders begin here.
const SENDERS: i32 = 1000;

/// What a cluster's servers are like.
#[derive(Clone, Debug)]
pub struct Manner {
    pub options: EngineOptions,
    /// `archive_command`.
    pub archive_command: &'static str,
    /// `synchronous_standby_names`.
    pub names: String,
    /// `hot_standby_feedback`.
    pub feedback: bool,
}

/// A server, whether it runs or not.
#[derive(Clone)]
pub struct Node(Rc<State>);

struct State {
    number: Machine,
    dir: PathBuf,
    manner: Manner,
    /// Whom it follows as a standby.
    upstream: Cell<Option<Machine>>,
    life: RefCell<Option<Life>>,
    /// Why a loop has ended, and the server with it.
    failed: RefCell<Option<String>>,
    /// Loops that have not ended.
    loops: Cell<usize>,
}

/// A server that runs.
#[derive(Clone)]
struct Life {
    server: Rc<Server>,
    receiver: Arc<Receiver>,
    stop: Stop,
}

/// How others find a machine.
fn host(number: Machine) -> String {
    format!("s{number}")
}

/// Waits until something is so.
///
/// # Panics
/// If it does not come.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = runtime::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain: {what}");
        wait(sleep(Duration::from_millis(20)));
    }
}

/// Who looks at one seed sees what the servers log; otherwise there is too much of it.
fn quieten() {
    if number("STAMPEDE_SIM_SEED").is_none() {
        let mut settings = ServerSettings::new();
        settings.set("log_min_messages", "panic", Source::CommandLine, None).expect("it is a setting");
        server::log::configure(&settings);
    }
}

impl Node {
    /// A server whose data directory is `dir`.
    pub fn new(number: Machine, dir: &Path, manner: &Manner) -> Node {
        let (upstream, life, failed, loops) = Default::default();
        Node(Rc::new(State {
            number,
            dir: dir.into(),
            manner: manner.clone(),
            upstream,
            life,
            failed,
            loops,
        }))
    }

    pub fn number(&self) -> Machine {
        self.0.number
    }

    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Makes it a standby of another one, from its next start on; where it runs, at once.
    pub fn follow(&self, upstream: Machine) {
        self.0.upstream.set(Some(upstream));
        let life = self.0.life.borrow().clone();
        match life {
            Some(life) => {
                life.receiver.take_settings(self.settings());
                life.server.instance.set_settings(self.settings());
            }
            None => fs::write_file_durably(&self.0.dir.join("standby.signal"), b"").expect("there is room"),
        }
    }

    fn settings(&self) -> Arc<ServerSettings> {
        let mut settings = ServerSettings::new();
        let mut set = |name: &str, value: &str| {
            settings.set(name, value, Source::CommandLine, None).expect("it is a setting");
        };
        if let Some(upstream) = self.0.upstream.get() {
            let (there, here) = (host(upstream), host(self.0.number));
            set(
                "primary_conninfo",
                &format!("host={there} port=5432 user=postgres sslmode=disable application_name={here}"),
            );
        }
        set("synchronous_standby_names", &self.0.manner.names);
        set("hot_standby_feedback", if self.0.manner.feedback { "on" } else { "off" });
        set("wal_receiver_timeout", "400ms");
        set("wal_sender_timeout", "400ms");
        set("wal_receiver_status_interval", "1s");
        Arc::new(settings)
    }

    fn options(&self, receiver: &Arc<Receiver>) -> EngineOptions {
        let manner = &self.0.manner;
        EngineOptions {
            archive: ArchiveOptions {
                mode: ArchiveMode::On,
                command: manner.archive_command.into(),
                timeout: Duration::ZERO,
            },
            archive_recovery: ArchiveRecovery {
                restore_command: archive::RESTORE.into(),
                hot_standby: true,
                streaming_delay: Some(Duration::from_millis(50)),
                archive_delay: Some(Duration::from_millis(50)),
                retry: Duration::from_millis(100),
                upstream: Some(receiver.clone()),
                ..ArchiveRecovery::default()
            },
            ..manner.options.clone()
        }
    }

    /// Starts it; it is [up](Self::is_up) some time later.
    pub fn start(&self) {
        quieten();
        let node = self.clone();
        machines::spawn_on(self.0.number, "server", move || node.run());
    }

    fn run(&self) {
        let settings = self.settings();
        let receiver = Receiver::new(settings.clone());
        let engine = match Engine::open(&self.0.dir, self.options(&receiver)) {
            Ok(engine) => Arc::new(engine),
            Err(error) => return self.fail("start", &error),
        };
        let server = Rc::new(Server::over(engine, settings));
        let stop = Stop::default();
        self.start_loops(&server.engine, &stop);
        let instance = server.instance.clone();
        *self.0.life.borrow_mut() = Some(Life { server, receiver, stop });
        let listener = net::listen(&host(self.0.number));
        for pid in SENDERS.. {
            let (instance, stream) = (instance.clone(), wait(listener.accept()));
            spawn_fiber("walsender", move || wire::serve(&instance, stream, pid));
        }
    }

    fn start_loops(&self, engine: &Arc<Engine>, stop: &Stop) {
        type Loop = fn(&Arc<Engine>, &Stop, &dyn Fn()) -> Result<(), EngineError>;
        let loops: [(&'static str, Loop); 6] = [
            ("recovery", background::recovery),
            ("checkpointer", background::checkpointer),
            ("background writer", background::background_writer),
            ("wal writer", background::wal_writer),
            ("wal backlog writer", background::wal_backlog_writer),
            ("archiver", background::archiver),
        ];
        for (name, body) in loops {
            let (node, engine, stop) = (self.clone(), engine.clone(), stop.clone());
            self.0.loops.set(self.0.loops.get() + 1);
            spawn_fiber(name, move || {
                if let Err(error) = body(&engine, &stop, &|| {}) {
                    node.fail(name, &error);
                }
                node.0.loops.set(node.0.loops.get() - 1);
            });
        }
    }

    /// The real server ends itself then, and is started again.
    fn fail(&self, what: &str, error: &EngineError) {
        let reason = format!("server {}: {what}: {error}", self.0.number);
        eprintln!("{reason}");
        *self.0.failed.borrow_mut() = Some(reason);
    }

    /// Why it has ended itself, if it has.
    pub fn failure(&self) -> Option<String> {
        self.0.failed.borrow().clone()
    }

    pub fn is_up(&self) -> bool {
        self.0.life.borrow().is_some() && self.failure().is_none()
    }

    /// Whether it is up and follows another one.
    pub fn is_standby(&self) -> bool {
        self.engine().is_some_and(|engine| engine.is_following())
    }

    pub fn engine(&self) -> Option<Arc<Engine>> {
        self.0.life.borrow().as_ref().map(|life| life.server.engine.clone())
    }

    pub fn server(&self) -> Option<Rc<Server>> {
        self.0.life.borrow().as_ref().map(|life| life.server.clone())
    }

    pub fn instance(&self) -> Option<Arc<Instance>> {
        self.0.life.borrow().as_ref().map(|life| life.server.instance.clone())
    }

    /// Loses power. `silently`: its peers are not told.
    pub fn crash(&self, silently: bool) {
        self.forget();
        machines::crash(self.0.number, &self.0.dir, silently);
    }

    /// Its process is killed.
    pub fn kill(&self) {
        self.forget();
        machines::kill(self.0.number, &self.0.dir);
    }

    fn forget(&self) {
        drop(self.0.life.borrow_mut().take());
        drop(self.0.failed.borrow_mut().take());
        self.0.loops.set(0);
    }

    /// A new session; none while the server is down.
    pub fn connect(&self, pid: i32) -> Option<Client> {
        self.is_up().then(|| Client::connect(&self.instance().expect("it is up"), pid))
    }

    /// What a query shows.
    pub fn show(&self, sql: &str) -> String {
        let client = self.connect(2).expect("the server is up");
        let shown = client.show(sql);
        client.close();
        shown
    }

    /// How far its log goes, as a standby knows.
    pub fn reached(&self) -> base::Lsn {
        let sql = "select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())";
        self.show(sql).parse().unwrap_or_default()
    }

    /// Waits until a standby has replayed the log up to there.
    pub fn wait_for(&self, end: &str) {
        let replayed = format!("select pg_last_wal_replay_lsn() >= '{end}'");
        wait_until("a standby to catch up", || {
            assert_eq!(self.failure(), None);
            self.show(&replayed) == "t"
        });
    }

    /// Has it become a server of its own, and waits until it is.
    pub fn promote(&self) {
        self.0.upstream.set(None);
        self.engine().expect("the server is up").promote().expect("there is room");
        wait_until("promotion", || {
            assert_eq!(self.failure(), None);
            !self.is_standby()
        });
    }

    /// Stops it cleanly.
    pub fn stop(&self) {
        let life = self.0.life.borrow().clone().expect("the server is up");
        life.server.instance.senders().stop();
        life.stop.stop(&life.server.engine);
        wait_until("the end of all loops", || self.0.loops.get() == 0);
        assert_eq!(self.failure(), None);
        life.server.engine.shutdown().expect("the server shuts down");
        life.server.instance.senders().finish();
        drop(life);
        self.kill();
    }
}
