//! A server of the test's own: the real binary on a data directory, a port and a socket directory that nobody else has.
//!
//! Everything lies in one temporary directory, which goes away with the [`Server`], together with whatever runs in it.

pub mod authority;
pub mod backups;
pub mod batches;
pub mod client;
pub mod copies;
pub mod pair;
pub mod relay;
pub mod sums;
pub mod xids;

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use client::{Client, Failure};

/// The log line after which clients are let in.
pub const READY: &str = "database system is ready to accept connections";

/// A hang fails the test instead of blocking it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Changes the command that starts a server.
type Prepare = Box<dyn Fn(&mut Command) + Send + Sync>;

/// A data directory, and the server that runs on it, if one does.
pub struct Server {
    base: PathBuf,
    /// TCP port; also in the socket's name.
    pub port: u16,
    options: Vec<String>,
    /// What else is done to the command that starts it.
    prepare: Option<Prepare>,
    child: Option<Child>,
    /// Length of the log when the running server was started.
    log_start: u64,
}

/// The server's program. Another build may be put to the test, an optimised one for long runs.
fn binary() -> PathBuf {
    let built = env!("CARGO_BIN_EXE_stampede").into();
    std::env::var_os("STAMPEDE_BINARY").unwrap_or(built).into()
}

impl Server {
    /// A new data directory, with more options for `initdb`. Those with the same options have one system identifier.
    pub fn init(options: &[&str]) -> Server {
        let server = Server::without_data();
        // Options with a path mean something else each time.
        if options.iter().any(|option| option.contains('/')) {
            server.initdb(&server.data(), options);
            return server;
        }
        let kind = format!("server{}", options.concat());
        let templates = Path::new(env!("CARGO_TARGET_TMPDIR"));
        template::copy_of(&kind, &binary(), templates, &server.data(), |folder| {
            server.initdb(folder, options)
        });
        server
    }

    /// As [`Server::init`], with a system identifier that no other has.
    pub fn init_anew(options: &[&str]) -> Server {
        let server = Server::without_data();
        server.initdb(&server.data(), options);
        server
    }

    fn initdb(&self, folder: &Path, options: &[&str]) {
        let mut initdb = self.program("initdb");
        let made = output(initdb.args(["-N", "-U", "postgres", "-D"]).arg(folder).args(options));
        assert!(made.status.success(), "initdb: {}", text(&made));
    }

    /// Programs, a port and a place for a data directory.
    pub fn without_data() -> Server {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Not in a build directory: the names of sockets must be short.
        let base = std::env::temp_dir().join(format!("stampede-test-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("bin")).unwrap();
        fs::create_dir(base.join("socket")).unwrap();
        let binary = binary();
        let tools = [
            "pg_checksums",
            "pg_combinebackup",
            "pg_config",
            "pg_controldata",
            "pg_resetwal",
            "pg_rewind",
            "pg_waldump",
            "pg_walsummary",
        ];
        for name in ["initdb", "pg_ctl", "postgres", "stampede"].iter().chain(&tools) {
            std::os::unix::fs::symlink(&binary, base.join("bin").join(name)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Server { base, port, options: Vec::new(), prepare: None, child: None, log_start: 0 }
    }

    /// A new server that lets everybody in, with some settings (`name=value`). Nothing is vacuumed by itself: tests would depend on when.
    pub fn start(settings: &[&str]) -> Server {
        let mut server = Server::init(&[]);
        server.set_option("autovacuum=off");
        server.run_with(settings)
    }

    /// As [`Server::start`], with tables vacuumed by themselves.
    pub fn start_with_upkeep(settings: &[&str]) -> Server {
        Server::init(&[]).run_with(settings)
    }

    fn run_with(mut self, settings: &[&str]) -> Server {
        settings.iter().for_each(|setting| self.set_option(setting));
        self.run();
        self
    }

    /// One more setting (`name=value`) for the next start; the last one of a name counts.
    pub fn set_option(&mut self, setting: &str) {
        self.options.extend(["-c".to_string(), setting.to_string()]);
    }

    /// Changes the command that starts it, from the next start on.
    pub fn prepare(&mut self, prepare: impl Fn(&mut Command) + Send + Sync + 'static) {
        self.prepare = Some(Box::new(prepare));
    }

    /// Starts it and waits until it lets clients in.
    pub fn run(&mut self) {
        self.launch();
        self.wait_for_log(READY);
    }

    /// Starts it.
    pub fn launch(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log_path()).unwrap();
        self.log_start = log.metadata().unwrap().len();
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-k"]).arg(self.socket());
        command.args(&self.options).stdin(Stdio::null());
        if let Some(prepare) = &self.prepare {
            prepare(&mut command);
        }
        self.child = Some(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
    }

    /// One of the programs that the binary is, by its name.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.base.join("bin").join(name));
        for variable in ["PGDATA", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS"] {
            command.env_remove(variable);
        }
        command
    }

    /// Data directory.
    pub fn data(&self) -> PathBuf {
        self.base.join("data")
    }

    /// A place for other files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Directory of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.base.join("socket")
    }

    /// File that the server logs to.
    pub fn log_path(&self) -> PathBuf {
        self.base.join("log")
    }

    /// What the running server, or the last one, has logged.
    pub fn log(&self) -> String {
        self.let_log_settle();
        let mut bytes = Vec::new();
        let mut file = fs::File::open(self.log_path()).unwrap();
        file.seek(SeekFrom::Start(self.log_start)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for words in the log of the running server.
    pub fn wait_for_log(&mut self, words: &str) {
        let child = self.child.as_mut().expect("a server");
        let mut ended = child.try_wait().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !self.log().contains(words) {
            assert!(ended.is_none(), "the server ended: {}", self.log());
            assert!(Instant::now() < deadline, "no \"{words}\" in the log: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
            ended = self.child.as_mut().and_then(|child| child.try_wait().unwrap());
        }
    }

    /// Lines go through a thread of the server's own: a client may hear of an error a moment before its line is in the file. Waits while the
    /// file grows, but not for ever.
    fn let_log_settle(&self) {
        let length = || fs::metadata(self.log_path()).map_or(0, |file| file.len());
        let mut before = length();
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(25));
            match length() {
                now if now == before => return,
                now => before = now,
            }
        }
    }

    /// Waits until it lets clients in (true) or has ended by itself.
    pub fn becomes_ready(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let child = self.child.as_mut().expect("a server");
            let ended = child.try_wait().unwrap().is_some();
            if self.log().contains(READY) {
                return true;
            }
            if ended {
                self.child = None;
                return false;
            }
            assert!(Instant::now() < deadline, "it neither starts nor ends: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        if self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_some()) {
            self.child = None;
        }
        self.child.is_none()
    }

    /// Process of the server.
    pub fn pid(&self) -> i32 {
        self.child.as_ref().expect("a server").id() as i32
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        signal_to(self.pid(), signal);
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let child = self.child.as_mut().expect("a server");
        let status = wait(child).unwrap_or_else(|| panic!("it does not end: {}", self.log()));
        self.child = None;
        status
    }

    /// Fast shutdown.
    pub fn stop(&mut self) {
        self.signal(libc::SIGINT);
        let status = self.wait();
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// What `stampede verify` says of the data directory, which no server runs on, and its exit code.
    pub fn verify(&self) -> (Option<i32>, String) {
        let done = output(self.program("stampede").args(["verify", "-D"]).arg(self.data()));
        (done.status.code(), text(&done))
    }

    /// Nothing is wrong with the data directory, which no server runs on.
    pub fn assert_sound(&self) {
        assert_eq!(self.verify(), (Some(0), "verify: nothing is wrong\n".into()));
    }

    /// The end that no program can prepare for.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        self.wait();
    }

    /// As [`kill`](Self::kill), if it still runs.
    pub fn kill_if_running(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }

    /// A client of the database `postgres`, over TCP.
    pub fn client(&self) -> Client {
        self.connect(&[]).unwrap()
    }

    /// A client with more start-up parameters.
    pub fn connect(&self, parameters: &[(&str, &str)]) -> Result<Client, Failure> {
        Client::connect(self.port, parameters)
    }

    /// A client program (`psql`, `pgbench`) that finds this server, by its socket.
    pub fn tool(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PG")) {
            command.env_remove(name);
        }
        command.env("PGHOST", self.socket()).env("PGPORT", self.port.to_string());
        command.env("PGUSER", "postgres").env("PGDATABASE", "postgres").env("PGCONNECT_TIMEOUT", "30");
        command.env("LC_ALL", "C").stdin(Stdio::null()).current_dir(&self.base);
        command
    }

    /// What `psql` prints of a statement over a connection by these options, as a user of their own: values, or the error.
    pub fn psql(&self, options: &str, statement: &str) -> String {
        let mut command = self.tool("psql");
        command.env_remove("PGHOST").args(["-X", "-A", "-t", "-w", "-c", statement]);
        command.arg(format!("user=postgres dbname=postgres port={} {options}", self.port));
        text(&output(&mut command))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        } else if let Some(pid) = self.pid_file() {
            // Started by `pg_ctl`.
            signal_to(pid, libc::SIGKILL);
        }
        if std::thread::panicking() && self.log_path().exists() {
            eprintln!("log of the server:\n{}", self.log());
        }
        let _ = fs::remove_dir_all(&self.base);
    }
}

impl Server {
    /// Process in `postmaster.pid`.
    pub fn pid_file(&self) -> Option<i32> {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        text.lines().next()?.parse().ok()
    }
}

/// Sends a signal to a process that the test started.
pub fn signal_to(pid: i32, signal: i32) {
    // SAFETY: a plain system call.
    unsafe { libc::kill(pid, signal) };
}

/// Waits for the end of a process; none if it takes too long.
pub fn wait(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// Carries out statements; each must succeed.
pub fn run(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        client.query(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    }
}

/// SQLSTATE of a failure.
pub fn code(failure: &Failure) -> &str {
    match failure {
        Failure::Error { code, .. } => code,
        Failure::Lost => "lost",
    }
}

/// Repeats until it is true.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a session does over and over; it is told which time it is, from 0 on.
pub type Repeated<'a> = &'a (dyn Fn(&mut Client, u64) + Sync);

/// Runs `work` beside sessions, one for each of `others`, until it ends, well or not.
pub fn beside(server: &Server, others: &[Repeated<'_>], work: impl FnOnce()) {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for other in others {
            scope.spawn(|| {
                let mut client = server.client();
                (0..)
                    .take_while(|_| !stop.load(Ordering::Relaxed))
                    .for_each(|round| other(&mut client, round));
            });
        }
        work();
    });
}

/// Runs a program to its end.
pub fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Both outputs of a program.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a client program is installed. If not, says which test is skipped.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// A number that the environment may set, for longer runs.
pub fn knob(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// A small random generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Whether a path is there.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
